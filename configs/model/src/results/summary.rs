// SPDX-License-Identifier: GPL-2.0-only
//! `summary.json`: the run as a whole.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use hpcc_core::cc::NoEffect;
use hpcc_core::engine::{NoticeTotals, Totals};
use hpcc_core::fast_cnp::{Refusal, Suppression};
use hpcc_core::settings::Named;
use hpcc_core::switch::{BufferKind, NoRoom, Overflow};
use hpcc_core::transport::feedback::Rejected;
use hpcc_core::transport::receive::ReceiveCounters;
use hpcc_core::transport::{CongestionNotification, Counters, Refused};
use serde::{Deserialize, Serialize, Serializer};

use super::output_file::OutputFile;
use super::{FailureCost, FileDigest, MeasuredError, ResultError};
use crate::input;
use crate::scenario::{Assumed, Scenario};

/// Number of the format of result folders: raised whenever a file changes so that older readers misread it.
pub const FORMAT: u32 = 3;

/// The simulator without packets, in [`Summary::simulator`].
pub const FLUID: &str = "fluid";

/// The inputs of a run, its results, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Of the folder's files: [`FORMAT`].
    pub format: u32,
    /// The effective scenario: every key with the value in force.
    pub scenario: serde_json::Value,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Of the programs that made the results.
    pub versions: Versions,
    /// `fluid`: flows went at fair rates, without packets; empty of the engine, which has packets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub simulator: String,
    /// How far times are from those of packets; only of a fluid run that was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_error: Option<MeasuredError>,
    /// What failures have cost; only where the run was compared with one without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_cost: Option<FailureCost>,
    /// How the simulator was compiled, such as `optimized`.
    pub build_profile: String,
    /// Flows in the scenario, without those that have no end.
    pub flows_total: u64,
    /// Flows without end that were under way at the end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flows_endless: u64,
    /// Flows that completed.
    pub flows_finished: u64,
    /// The longest base round-trip time T between two hosts, in ns; 0 in summaries of versions that did not say.
    #[serde(default)]
    pub base_rtt_ns: u64,
    /// Simulated time at the end, in ns.
    pub simulated_ns: u64,
    /// When the last flow finished, in ns: the end, where some were under way or to come. 0 in summaries of versions that did not
    /// say.
    #[serde(default)]
    pub busy_until_ns: u64,
    /// Why the run ended before its time, so that results are of a part of it; only where a fault has ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Simulator events executed.
    pub events: u64,
    /// Frames put on a link, summed over links.
    pub packet_hops: u64,
    /// Processor time before the first event, in seconds.
    #[serde(serialize_with = "finite")]
    pub setup_cpu_s: f64,
    /// Processor time of the simulation, in seconds.
    #[serde(serialize_with = "finite")]
    pub run_cpu_s: f64,
    /// Time on the clock, in seconds.
    #[serde(serialize_with = "finite")]
    pub wall_s: f64,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Processor time of the simulation per packet-hop, in ns.
    #[serde(serialize_with = "finite")]
    pub ns_per_packet_hop: f64,
    /// 99th percentile of the samples of the queue of the busiest port, in bytes.
    pub queue_p99_bytes: u64,
    /// Longest queue of any port in a sample, in bytes: one that grows and drains between two samples is not seen.
    pub queue_max_bytes: u64,
    /// The port with the longest queue; none if every sample found all queues empty.
    pub queue_busiest: Option<Port>,
    /// PFC pause frames received.
    pub pfc_pauses: u64,
    /// PFC pause frames sent, repeated ones too; only where pauses end by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc_sent: Option<u64>,
    /// Time that ports were paused, summed over ports, in ns.
    pub pfc_pause_ns: u64,
    /// Pauses that switches asked sources for; none where they do not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_pauses: Option<u64>,
    /// Frames that were dropped: by switches for lack of buffer or of a route, or at the end of their hop limit, and by hosts.
    pub drops: u64,
    /// Of them, packets that hosts with TCP or UDP dropped themselves, because too many waited at their port.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub host_drops: u64,
    /// Frames for which switches had no room, by reason: their lossy group or their queue had its part, their group's headroom or
    /// the pool's was full. Only where memory is divided into pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_room: Option<BTreeMap<String, u64>>,
    /// Packets that switches cut to their headers; only where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<TrimSummary>,
    /// Frames lost on links.
    pub losses: u64,
    /// What links sent again; only where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_retry: Option<LinkRetry>,
    /// How long ports waited for credits; only where switches give them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<CreditWaits>,
    /// Of both, what links that had failed are the reason of; only where some do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_links: Option<FailedLinks>,
    /// Data packets that switches marked (ECN).
    #[serde(default)]
    pub marks: u64,
    /// Of them, those that arrived and were told with others: they waited for the same answer, or came less than an interval
    /// after one.
    #[serde(default)]
    pub marks_merged: u64,
    /// Answers and notifications of receivers by which flows in progress heard of marks.
    #[serde(default)]
    pub marks_heard: u64,
    /// Marks on frames, and on answers and notifications about them, that were dropped or lost on links, and of packets that a
    /// receiver threw away in silence.
    #[serde(default)]
    pub marks_lost: u64,
    /// Packets that were sent again; 0 in summaries of versions that did not count them.
    #[serde(default)]
    pub resent_packets: u64,
    /// Retransmission timeouts, of RDMA.
    #[serde(default)]
    pub timeouts: u64,
    /// Bytes of telemetry on links, summed over links: sections, and all of probes and of feedback by itself.
    #[serde(default)]
    pub telemetry_bytes: u64,
    /// Probes that hosts sent.
    #[serde(default)]
    pub probes: u64,
    /// Packets that brought telemetry back to a sender.
    #[serde(default)]
    pub feedback_packets: u64,
    /// Telemetry that came back and was not believed.
    #[serde(default)]
    pub rejected_feedback: u64,
    /// Of it, what was not authentic.
    #[serde(default)]
    pub rejected_by_seal: u64,
    /// Of it, what the guard found that cannot be true.
    #[serde(default)]
    pub rejected_by_guard: u64,
    /// Telemetry that nothing was compared with, because a counter may have wrapped since the last, or the path changed.
    #[serde(default)]
    pub baseline_resets: u64,
    /// Times that a flow moved to another path by telemetry.
    #[serde(default)]
    pub path_moves: u64,
    /// Congestion notification packets that receivers sent; only where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnps: Option<u64>,
    /// Answers that senders did not heed, because no honest receiver sends them; only where there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_answers: Option<Refused>,
    /// What the NICs of slow receivers did; only where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive: Option<ReceiveCounters>,
    /// What came of Fast CNP; only where it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_cnp: Option<FastCnpSummary>,
    /// What was left out of the run; only where something may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkipSummary>,
    /// What attackers did, in the order of the scenario; only where there are some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<AttackSummary>,
    /// What each process did; only where several shared the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankSummary>,
    /// What is to be known of the numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Defaults that decide results, of keys that nobody has given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<Assumed>,
    /// Names of the groups of flows, by number.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The other files of the folder, by name.
    #[serde(default)]
    pub files: BTreeMap<String, FileDigest>,
}

/// Something to know of a run's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is about, in a word: the lint that found it, `scenario` for other remarks on the input, or what happened in the run.
    pub id: String,
    /// A sentence for the user.
    pub text: String,
}

impl Note {
    /// A note of a run.
    pub fn new(id: &str, text: impl Into<String>) -> Note {
        Note { id: id.into(), text: text.into() }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Summary {
    /// Takes in what the network and its hosts counted; a mechanism that the scenario does not have stays out.
    pub fn counted(self, scenario: &Scenario, network: Totals, hosts: Counters) -> Summary {
        // Complete lists: a counter that is added has to be told here, or left out knowingly.
        let Totals {
            frames: _,
            drops,
            marks,
            trims,
            trims_at_last_hop,
            resumes_by_own_port: _,
            headers_lost,
            marks_lost,
            pauses_sent,
            source_pauses,
            no_room,
            failed_link_drops: dropped,
            losses,
            failed_link_losses: lost,
            link_nacks,
            link_resends,
            credit_waits: waits,
            credit_wait_ns: waited_ns,
            telemetry_bytes,
        } = network;
        let Counters {
            resent,
            timeouts,
            probes,
            feedback,
            rejected: Rejected { by_seal, by_guard },
            baseline_resets,
            moves,
            cnps,
            refused,
            marks_merged,
            marks_untold,
            marks_heard,
            trims_heard,
            receive,
        } = hosts;
        let (switch, transport) = (&scenario.settings.switch, scenario.transport());
        Summary {
            pfc_sent: switch.pfc_quanta.map(|_| pauses_sent),
            source_pauses: switch.source_pause.map(|_| source_pauses),
            drops,
            trims: (switch.overflow == Overflow::Trim).then_some(TrimSummary {
                cut: trims,
                at_last_hop: trims_at_last_hop,
                heard: trims_heard,
                headers_lost,
            }),
            no_room: scenario
                .settings
                .buffer_plan
                .is_some()
                .then(|| NoRoom::NAMES.iter().zip(no_room).map(|(why, frames)| (why.to_string(), frames)).collect()),
            losses,
            link_retry: scenario.settings.wire.llr.then_some(LinkRetry { lost: link_nacks, resent: link_resends }),
            credits: (switch.mode == BufferKind::Credit).then_some(CreditWaits { waits, waited_ns }),
            failed_links: (!scenario.link_failures.is_empty()).then_some(FailedLinks { lost, dropped }),
            marks,
            marks_merged,
            marks_heard,
            marks_lost: marks_lost + marks_untold,
            resent_packets: resent,
            timeouts,
            telemetry_bytes,
            probes,
            feedback_packets: feedback,
            rejected_feedback: by_seal + by_guard,
            rejected_by_seal: by_seal,
            rejected_by_guard: by_guard,
            baseline_resets,
            path_moves: moves,
            cnps: (transport.notification != CongestionNotification::Echo).then_some(cnps),
            refused_answers: (refused != Refused::default()).then_some(refused),
            receive: scenario.settings.receivers().next().map(|_| receive),
            ..self
        }
    }

    /// Whether there were no packets.
    pub fn is_fluid(&self) -> bool {
        self.simulator == FLUID
    }

    /// Frames that switches, hosts, or the NICs of slow receivers, dropped.
    pub fn dropped(&self) -> u64 {
        self.drops + self.receive.as_ref().map_or(0, |receive| receive.dropped)
    }
}

/// Frames that failed links cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLinks {
    /// Lost on them: on their way when they failed, or sent before that was noticed.
    pub lost: u64,
    /// Dropped by switches: they waited for them, came before routes had changed, or had no route left.
    pub dropped: u64,
}

/// What links sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRetry {
    /// Frames that they lost.
    pub lost: u64,
    /// Frames that they sent again: those, and what had left behind them.
    pub resent: u64,
}

/// What ports waited for, where switches give credits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditWaits {
    /// How often a port was idle until credits came, and sent then.
    pub waits: u64,
    /// For how many nanoseconds, all ports together.
    pub waited_ns: u64,
}

/// Periods of traffic that were left out, with which all other results are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkipSummary {
    /// Events that were not run, of all.
    pub events: u64,
    /// Simulated time that was left out, in ns.
    pub time_ns: u64,
    /// Periods that were.
    pub periods: u64,
    /// How often some were left out at once.
    pub leaps: u64,
    /// How often a period was looked for.
    pub tries: u64,
    /// What is not known to repeat itself, if the last of these found such a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// Packets that switches cut to their headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimSummary {
    /// How many.
    pub cut: u64,
    /// Of them, those that were to leave for their host.
    pub at_last_hop: u64,
    /// Headers that receivers heard.
    pub heard: u64,
    /// Headers that were dropped, or lost on links.
    pub headers_lost: u64,
}

/// What switches, hosts and borders did about Fast CNP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastCnpSummary {
    /// Notifications that switches sent.
    pub sent: u64,
    /// Notifications that they withheld although there was congestion, by reason.
    pub withheld: BTreeMap<String, u64>,
    /// Packets that were not marked because a notification was sent instead.
    pub unmarked: u64,
    /// Notifications that hosts believed and acted on.
    pub accepted: u64,
    /// Notifications that they believed, and that changed nothing, by reason.
    #[serde(default)]
    pub without_effect: BTreeMap<String, u64>,
    /// Notifications that they did not believe, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Other paths that flows took.
    pub migrations: u64,
    /// ICMPv6 packets from hosts that do not understand notifications.
    pub icmpv6_sent: u64,
    /// ICMPv6 packets that taught a switch.
    pub icmpv6_learnt: u64,
    /// ICMPv6 packets about notifications that the switch did not send.
    #[serde(default)]
    pub icmpv6_unasked: u64,
    /// Flows and senders that had to make room in switches' memories while they still counted.
    #[serde(default)]
    pub forgotten: u64,
    /// Notifications that borders dropped on their way in.
    pub dropped_inbound: u64,
    /// Notifications that they dropped on their way out.
    pub dropped_outbound: u64,
}

impl FastCnpSummary {
    /// What all agents counted.
    pub fn of(totals: NoticeTotals) -> FastCnpSummary {
        let NoticeTotals {
            sent,
            withheld,
            unmarked,
            accepted,
            without_effect,
            refused,
            migrations,
            reports,
            learnt,
            unasked,
            forgotten,
            dropped_inbound,
            dropped_outbound,
        } = totals;
        FastCnpSummary {
            sent,
            withheld: by_name(&Suppression::WITHHELD, &withheld),
            unmarked,
            accepted,
            without_effect: by_name(&NoEffect::NAMES, &without_effect),
            refused: by_name(&Refusal::NAMES, &refused),
            migrations,
            icmpv6_sent: reports,
            icmpv6_learnt: learnt,
            icmpv6_unasked: unasked,
            forgotten,
            dropped_inbound,
            dropped_outbound,
        }
    }
}

fn by_name<T>(reasons: &[(&str, T)], counts: &[u64]) -> BTreeMap<String, u64> {
    reasons.iter().zip(counts).map(|((name, _), count)| (name.to_string(), *count)).collect()
}

/// What an attacker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttackSummary {
    /// Which attack.
    pub kind: String,
    /// The node.
    pub from: u32,
    /// Frames that it sent.
    pub frames_sent: u64,
    /// Frames that it changed.
    pub frames_altered: u64,
}

/// What a process of a run that several shared did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankSummary {
    /// Nodes that it simulated.
    pub nodes: u64,
    /// Ports that it knows: all of the network.
    #[serde(default)]
    pub devices: u64,
    /// Their events.
    pub events: u64,
    /// Frames that they sent.
    pub packet_hops: u64,
    /// Frames that left for other processes.
    pub sent_frames: u64,
    /// Bytes that it sent to other processes, results included.
    pub sent_bytes: u64,
    /// How often it exchanged with the others what had been sent.
    #[serde(default)]
    pub windows: u64,
    /// Seconds of processor time in which it simulated.
    #[serde(default)]
    pub cpu_s: f64,
    /// Seconds in which it simulated, of real time.
    pub busy_s: f64,
    /// Seconds in which it waited for others, and exchanged with them.
    pub waited_s: f64,
    /// Its peak memory in bytes.
    pub peak_rss_bytes: u64,
}

/// Versions of the programs that made the results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Of this project.
    pub hpcc: String,
    /// Of ns-3.
    pub ns3: String,
}

/// A port of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Number of the node.
    pub node: u32,
    /// Number of its port, in the order of its links.
    pub port: u32,
}

impl Summary {
    /// Reads `summary.json`. Keys that this version does not know are skipped.
    ///
    /// # Errors
    /// If the file cannot be read, or with the line where it stops making sense, or if another version wrote it.
    pub fn read(path: &Path) -> Result<Summary, ResultError> {
        let text = input::read(path).map_err(|cause| ResultError::io(path, cause))?;
        let bad_line = |error: serde_json::Error| {
            ResultError::line(path, crate::text::json_line(&error, &text).into(), error.to_string())
        };
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(bad_line)?;
        if let Some(message) = other_version(&value) {
            return Err(ResultError::folder(path, message));
        }
        serde_json::from_slice(&text).map_err(bad_line)
    }

    /// Name of a group of flows.
    pub fn group_name(&self, group: u32) -> &str {
        self.groups.get(group as usize).map_or("flows", String::as_str)
    }

    /// Replaces `summary.json` in a folder of complete results.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace(&self, folder: &Path) -> Result<(), ResultError> {
        let mut file = OutputFile::create(folder, "summary.json")?;
        file.write(|out| self.write(out))?;
        file.finish().map(drop)
    }

    /// Writes `summary.json`, indented for readers.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

/// What to say of a summary of this project that has another format. The first one had no number.
fn other_version(summary: &serde_json::Value) -> Option<String> {
    let version = summary["versions"]["hpcc"].as_str()?;
    let format = summary["format"].as_u64().unwrap_or(1);
    (format != u64::from(FORMAT)).then(|| {
        format!("results of hpcc {version} in format {format}; this version reads format {FORMAT}: please run it again")
    })
}

/// Whether a file is a summary of this project, of whatever version.
pub(crate) fn is_ours(path: &Path) -> bool {
    let Ok(text) = input::read(path) else { return false };
    serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|summary| summary["versions"]["hpcc"].is_string())
}

/// JSON has no word for infinity, which a division by no packet-hops gives: 0 stands for it.
fn finite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(if value.is_finite() { *value } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::super::testing::file_with;
    use super::*;

    fn text(summary: &Summary) -> Vec<u8> {
        let mut text = Vec::new();
        summary.write(&mut text).expect("memory");
        text
    }

    #[test]
    fn a_summary_survives_a_round_trip() {
        let summary = Summary {
            format: FORMAT,
            scenario: serde_json::json!({"cc": {"algorithm": "hpcc"}}),
            seed: 7,
            run_cpu_s: 1.25,
            queue_busiest: Some(Port { node: 9, port: 3 }),
            ..Summary::default()
        };
        let (_folder, path) = file_with("summary.json", text(&summary));
        assert_eq!(Summary::read(&path).expect("own output"), summary);
        assert!(is_ours(&path));
        let no_hops = Summary { ns_per_packet_hop: f64::NAN, ..summary };
        let (_folder, path) = file_with("summary.json", text(&no_hops));
        assert_eq!(Summary::read(&path).expect("own output").ns_per_packet_hop, 0.0);
    }

    #[test]
    fn another_version_is_said_to_be_one() {
        let old = String::from_utf8(text(&Summary::default()))
            .expect("text")
            .replace("\"hpcc\": \"\"", "\"hpcc\": \"0.0.9\"");
        for (text, words) in [
            (old.replace("\"format\": 0,", ""), "results of hpcc 0.0.9 in format 1; this version reads format 3"),
            (old.replace("\"format\": 0,", "\"format\": 4,"), "results of hpcc 0.0.9 in format 4"),
        ] {
            let (_folder, path) = file_with("summary.json", &text);
            let message = Summary::read(&path).expect_err("accepted").to_string();
            assert!(message.contains(words), "{message}");
            assert!(is_ours(&path), "such a folder may be written to");
        }
    }

    #[test]
    fn cut_and_foreign_files_are_refused() {
        let text = text(&Summary::default());
        let (_folder, path) = file_with("summary.json", &text[..60]);
        assert!(Summary::read(&path).expect_err("accepted").to_string().contains("summary.json:"));
        assert!(!is_ours(&path));
        let (_folder, path) = file_with("summary.json", "{\"total\": 3}\n");
        assert!(Summary::read(&path).expect_err("accepted").to_string().contains("missing field"));
        assert!(!is_ours(&path));
    }
}
