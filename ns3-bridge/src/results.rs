// SPDX-License-Identifier: GPL-2.0-only
//! The output folder of a run, as the ns-3 program fills it.

use crate::attack;
use crate::fast_cnp;
use crate::scenario::{Scenario, as_path};
use crate::switch::Switch;
use cxx::CxxString;
use hpcc_core::transport::CongestionNotification;
use hpcc_core::units::Nanos;
use hpcc_formats::results::control_csv::ControlRow;
use hpcc_formats::results::{
    FctRecord, Port, RankSummary, ReceiveSummary, RefusedAnswers, ResultError, ResultWriter, RowPlace, Summary,
    UnfinishedFlow, Versions,
};
use hpcc_simulate::goodput::GoodputMeter;
use hpcc_simulate::usage::{cpu_time, peak_rss_bytes};
use std::mem;
use std::time::{Duration, Instant};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// A flow of a scenario, as far as it got.
    #[derive(Clone, Copy)]
    struct FlowOutcome {
        flow: FlowSpec,
        sport: u16,
        /// Time until its last acknowledgement; not used for an unfinished flow.
        fct_ns: u64,
        ideal_ns: u64,
        acked_bytes: u64,
    }

    /// What the simulator alone knows of a run.
    #[derive(Clone, Debug)]
    struct RunTotals {
        ns3_version: String,
        build_profile: String,
        /// Why the run ended early; empty if it did not.
        stopped: String,
        base_rtt_ns: u64,
        simulated_ns: u64,
        events: u64,
        packet_hops: u64,
        drops: u64,
        losses: u64,
        /// Data frames that switches marked.
        marks: u64,
        telemetry_bytes: u64,
        hosts: HostCounters,
        /// Whether switches, hosts or borders did anything about Fast CNP.
        fast_cnp_on: bool,
        fast_cnp: FastCnpCounters,
        /// What attackers did, one after the other.
        attacks: Vec<AttackCounters>,
        queue: QueueFigures,
        /// The largest bandwidth-delay product between two hosts.
        bdp_bytes: u64,
        uncontrolled: UncontrolledFlows,
        /// What each process did; none if there was one.
        ranks: Vec<RankFigures>,
    }

    /// `hpcc_formats::results::QueueStats`.
    #[derive(Clone, Copy, Debug)]
    struct QueueFigures {
        max_bytes: u64,
        p99_bytes: u64,
        /// Of the port with the longest queue; it counts if that is not 0.
        node: u32,
        port: u32,
    }

    /// Flows longer than a bandwidth-delay product whose congestion control never moved rate or window, though they took more
    /// than twice as long as alone.
    #[derive(Clone, Copy, Debug)]
    struct UncontrolledFlows {
        count: u64,
        /// The first of them; it counts if there is one.
        first: u64,
    }

    /// `hpcc_formats::results::RankSummary`.
    #[derive(Clone, Copy, Debug)]
    struct RankFigures {
        nodes: u64,
        devices: u64,
        events: u64,
        packet_hops: u64,
        sent_frames: u64,
        sent_bytes: u64,
        windows: u64,
        cpu_ns: u64,
        busy_ns: u64,
        waited_ns: u64,
        peak_rss_bytes: u64,
    }

    /// `hpcc_formats::results::packet_trace::TraceRecord`, as far as the simulator knows it.
    #[derive(Clone, Copy)]
    struct PacketEvent {
        time_ns: u64,
        node: u32,
        port: u32,
        queue: u8,
        qlen_bytes: u64,
        event: PacketEventKind,
        is_switch: bool,
        size_bytes: u32,
        /// Of a PFC frame: microseconds that a pause says.
        pause_us: u32,
        frame: FrameRecord,
    }

    /// What happened to a packet.
    #[derive(Clone, Copy)]
    enum PacketEventKind {
        /// The frame was received whole.
        Receive,
        /// It joined a queue.
        Enqueue,
        /// It left its queue.
        Dequeue,
        /// It was dropped.
        Drop,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/attack.rs.h");
        include!("ns3-bridge/src/fast_cnp.rs.h");
        include!("ns3-bridge/src/flows.rs.h");
        include!("ns3-bridge/src/frame.rs.h");
        include!("ns3-bridge/src/host.rs.h");
        include!("ns3-bridge/src/scenario.rs.h");
        include!("ns3-bridge/src/switch.rs.h");
        type AttackCounters = crate::attack::ffi::AttackCounters;
        type FastCnpCounters = crate::fast_cnp::ffi::FastCnpCounters;
        type FlowSpec = crate::flows::ffi::FlowSpec;
        type FrameRecord = crate::frame::ffi::FrameRecord;
        type ControlState = crate::host::ffi::ControlState;
        type HostCounters = crate::host::ffi::HostCounters;
        type Scenario = crate::scenario::Scenario;
        type Switch = crate::switch::Switch;
    }

    extern "Rust" {
        /// The output folder of a run.
        #[derive(ExternType)]
        type Results;
        /// Opens the folder, or says why it cannot be used; what goes wrong later is reported by `finish`.
        fn create_results(out: &CxxString) -> Result<Box<Results>>;
        /// Results of a process whose rows another one writes.
        fn results_without_folder() -> Box<Results>;
        /// Other processes share the run: rows wait until `write_rows`.
        fn share(self: &mut Results);
        /// Takes the rows that wait, for another process.
        fn take_rows(self: &mut Results) -> Vec<u8>;
        /// Adds rows that another process has taken.
        fn add_rows(self: &mut Results, rows: &[u8]);
        /// Writes the rows that wait; no process may still add any of the time up to now.
        fn write_rows(self: &mut Results);
        /// The queues so far, or until all flows had finished.
        fn queue_figures(self: &mut Results) -> QueueFigures;
        /// Peak memory of this process.
        fn peak_memory() -> u64;
        /// Set-up is over, the simulation begins.
        fn begin_run(self: &mut Results);
        /// Watches `ports` ports of a switch; returns the index of the first.
        fn add_queues(self: &mut Results, node: u32, ports: u16) -> usize;
        /// Takes a sample of every queue for histogram and statistics, which equals its last one unless `sample_queues`
        /// follows.
        fn begin_samples(self: &mut Results);
        /// What the sample finds at a switch; returns whether any of its queues holds something.
        fn sample_queues(self: &mut Results, first: usize, source: &Switch, ports: u16) -> bool;
        /// So many further samples equal the last one of every queue.
        fn repeat_samples(self: &mut Results, count: u64);
        /// Adds a point to the time series of a switch's queues; returns whether any of them holds something.
        fn trace_queues(self: &mut Results, now_ns: u64, first: usize, source: &Switch, ports: u16) -> bool;
        /// Writes the histograms so far.
        fn print_queues(self: &mut Results, now_ns: u64);
        /// Goodput is recorded from now on: each flow has a first point where it starts and a last one where it ends.
        fn begin_goodput(self: &mut Results);
        /// A flow starts.
        fn flow_started(self: &mut Results, now_ns: u64, flow: u32);
        /// Adds a point to the time series of a flow's goodput.
        fn trace_goodput(self: &mut Results, now_ns: u64, flow: u32, acked_bytes: u64);
        /// The state of flows is recorded from now on.
        fn begin_control(self: &mut Results);
        /// Adds a point to the time series of what congestion control makes of a flow; its newest round-trip time is 0 before the first.
        fn trace_control(self: &mut Results, now_ns: u64, flow: u32, state: &ControlState, rtt_ns: u64);
        /// A PFC frame was received.
        fn pfc(self: &mut Results, now_ns: u64, node: u32, is_switch: bool, port: u32, pause: bool);
        fn flow_finished(self: &mut Results, outcome: &FlowOutcome);
        /// The flow is not finished when the run ends; `place` says where it stands among those.
        fn flow_unfinished(self: &mut Results, now_ns: u64, place: u64, outcome: &FlowOutcome);
        /// Begins the packet trace.
        fn begin_trace(self: &mut Results, scenario: &Scenario, window_bytes: u64);
        /// Something happened to a packet at a traced node.
        fn packet(self: &mut Results, event: &PacketEvent, telemetry: &[u8]);
        /// Begins the capture.
        fn begin_capture(self: &mut Results, scenario: &Scenario);
        /// A frame of a captured node, as bytes.
        fn capture(self: &mut Results, now_ns: u64, node: u32, frame: &[u8]);
        /// All flows have finished: queue statistics end here.
        fn flows_completed(self: &mut Results);
        /// How many bytes a switch sent by a port, counted from 1, by the end of the run.
        fn port_sent(self: &mut Results, node: u32, port: u32, bytes: u64);
        /// What a user should know of how the run went: also in the summary.
        fn notes_of_run(totals: &RunTotals) -> Vec<String>;
        /// Closes the folder, or says what went wrong.
        fn finish(self: &mut Results, scenario: &Scenario, totals: &RunTotals) -> Result<()>;
    }
}

use crate::host::ffi::HostCounters;
use ffi::{ControlState, FlowOutcome, QueueFigures, RankFigures, RunTotals};

pub struct Results {
    /// One without a folder once that is closed.
    pub(crate) writer: ResultWriter,
    /// Whether telemetry is the time when a packet left its sender.
    pub(crate) is_stamped: bool,
    /// `None` if it is not recorded.
    goodput: Option<GoodputMeter>,
    start: Instant,
    setup_cpu: Duration,
}

pub fn create_results(out: &CxxString) -> Result<Box<Results>, ResultError> {
    let start = Instant::now();
    let writer = ResultWriter::create(as_path(out))?;
    Ok(Box::new(Results::new(start, writer)))
}

pub fn results_without_folder() -> Box<Results> {
    Box::new(Results::new(Instant::now(), ResultWriter::without_folder()))
}

pub fn peak_memory() -> u64 {
    peak_rss_bytes()
}

impl Results {
    fn new(start: Instant, writer: ResultWriter) -> Results {
        Results { writer, is_stamped: false, goodput: None, start, setup_cpu: Duration::ZERO }
    }

    pub fn share(&mut self) {
        self.writer.share();
    }

    pub fn take_rows(&mut self) -> Vec<u8> {
        self.writer.take_rows()
    }

    pub fn add_rows(&mut self, rows: &[u8]) {
        self.writer.add_rows(rows);
    }

    pub fn write_rows(&mut self) {
        self.writer.write_rows();
    }

    pub fn queue_figures(&mut self) -> QueueFigures {
        let stats = self.writer.measured(Nanos(0)).queue;
        let Port { node, port } = stats.busiest.unwrap_or_default();
        QueueFigures { max_bytes: stats.max_bytes, p99_bytes: stats.p99_bytes, node, port }
    }

    pub fn begin_run(&mut self) {
        self.setup_cpu = cpu_time();
    }

    pub fn add_queues(&mut self, node: u32, ports: u16) -> usize {
        let indices: Vec<usize> = (1..=u32::from(ports)).map(|port| self.writer.add_queue(node, port)).collect();
        indices.first().copied().unwrap_or(0)
    }

    pub fn begin_samples(&mut self) {
        self.writer.begin_queue_samples();
    }

    pub fn sample_queues(&mut self, first: usize, source: &Switch, ports: u16) -> bool {
        let mut queued = 0;
        for port in 0..ports {
            let bytes = source.queued(port);
            queued |= bytes;
            self.writer.queue_sample(first + usize::from(port), bytes.into());
        }
        queued > 0
    }

    pub fn repeat_samples(&mut self, count: u64) {
        self.writer.repeat_queue_samples(count);
    }

    pub fn trace_queues(&mut self, now_ns: u64, first: usize, source: &Switch, ports: u16) -> bool {
        let mut queued = 0;
        for port in 0..ports {
            let bytes = source.queued(port);
            queued |= bytes;
            self.writer.queue_point(Nanos(now_ns), first + usize::from(port), bytes.into());
        }
        queued > 0
    }

    pub fn print_queues(&mut self, now_ns: u64) {
        self.writer.print_queues(Nanos(now_ns));
    }

    pub fn begin_goodput(&mut self) {
        self.goodput = Some(GoodputMeter::default());
    }

    pub fn flow_started(&mut self, now_ns: u64, flow: u32) {
        let Some(goodput) = &mut self.goodput else { return };
        goodput.start(Nanos(now_ns), flow);
    }

    pub fn trace_goodput(&mut self, now_ns: u64, flow: u32, acked_bytes: u64) {
        self.put_goodput(RowPlace::of_sample(now_ns, flow), now_ns, flow, acked_bytes);
    }

    fn put_goodput(&mut self, place: RowPlace, now_ns: u64, flow: u32, acked_bytes: u64) {
        let Some(goodput) = &mut self.goodput else { return };
        if let Some((rate, bytes)) = goodput.advance(Nanos(now_ns), flow, acked_bytes) {
            self.writer.goodput(place, Nanos(now_ns), flow, rate, bytes);
        }
    }

    pub fn begin_control(&mut self) {
        self.writer.begin_control();
    }

    pub fn trace_control(&mut self, now_ns: u64, flow: u32, state: &ControlState, rtt_ns: u64) {
        let &ControlState { rate_bps, window_bytes, in_flight_bytes, utilisation, bottleneck, .. } = state;
        let utilisation = Some(utilisation).filter(|utilisation| !utilisation.is_nan());
        self.writer.control(&ControlRow {
            time_ns: now_ns,
            flow,
            rate_bps,
            window_bytes,
            in_flight_bytes,
            utilisation,
            bottleneck: u8::try_from(bottleneck).ok(),
            rtt_ns: Some(rtt_ns).filter(|rtt| *rtt > 0),
        });
    }

    /// The last point of a flow.
    fn end_goodput(&mut self, place: RowPlace, now_ns: u64, flow: u32, acked_bytes: u64) {
        self.put_goodput(place, now_ns, flow, acked_bytes);
        if let Some(goodput) = &mut self.goodput {
            goodput.forget(flow);
        }
    }

    pub fn pfc(&mut self, now_ns: u64, node: u32, is_switch: bool, port: u32, pause: bool) {
        self.writer.pfc(Nanos(now_ns), node, is_switch, port, pause);
    }

    pub fn flow_finished(&mut self, outcome: &FlowOutcome) {
        let flow = &outcome.flow;
        let now_ns = flow.start_ns.saturating_add(outcome.fct_ns);
        self.end_goodput(RowPlace::at_node(now_ns, flow.src), now_ns, flow.index, flow.size_bytes);
        self.writer.flow_finished(&FctRecord {
            flow: flow.index,
            src: flow.src,
            dst: flow.dst,
            sport: outcome.sport,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size_bytes,
            start_ns: flow.start_ns,
            fct_ns: outcome.fct_ns,
            ideal_ns: outcome.ideal_ns,
            group: flow.group,
        });
    }

    pub fn flow_unfinished(&mut self, now_ns: u64, place: u64, outcome: &FlowOutcome) {
        let flow = &outcome.flow;
        self.end_goodput(RowPlace::at_end(place), now_ns, flow.index, outcome.acked_bytes);
        let unfinished = UnfinishedFlow {
            flow: flow.index,
            src: flow.src,
            dst: flow.dst,
            sport: outcome.sport,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size_bytes,
            start_ns: flow.start_ns,
            acked_bytes: outcome.acked_bytes,
            group: flow.group,
        };
        self.writer.flow_unfinished(place, &unfinished);
    }

    pub fn begin_capture(&mut self, scenario: &Scenario) {
        self.writer.begin_capture(scenario.get());
    }

    pub fn capture(&mut self, now_ns: u64, node: u32, frame: &[u8]) {
        self.writer.capture(Nanos(now_ns), node, frame);
    }

    pub fn flows_completed(&mut self) {
        self.writer.flows_completed();
    }

    pub fn port_sent(&mut self, node: u32, port: u32, bytes: u64) {
        self.writer.port_sent(node, port, bytes);
    }

    pub fn finish(&mut self, scenario: &Scenario, totals: &RunTotals) -> Result<(), ResultError> {
        let mut writer = mem::replace(&mut self.writer, ResultWriter::without_folder());
        let scenario = scenario.get();
        writer.write_rows();
        let queue = &totals.queue;
        writer.ports(&scenario.network, Nanos(totals.simulated_ns));
        let measured = writer.measured(Nanos(totals.simulated_ns));
        let run_cpu_s = cpu_time().saturating_sub(self.setup_cpu).as_secs_f64();
        let mut notes = scenario.notes.clone();
        notes.extend(notes_of_run(totals));
        let mut effective = scenario.effective();
        effective["notes"] = notes.into();
        let summary = Summary {
            scenario: effective,
            stopped: stopped(totals).cloned(),
            seed: scenario.seed,
            versions: Versions { hpcc: env!("CARGO_PKG_VERSION").into(), ns3: totals.ns3_version.clone() },
            build_profile: totals.build_profile.clone(),
            flows_total: scenario.flows.totals.count,
            flows_finished: measured.flows_finished,
            base_rtt_ns: totals.base_rtt_ns,
            simulated_ns: totals.simulated_ns,
            events: totals.events,
            packet_hops: totals.packet_hops,
            setup_cpu_s: self.setup_cpu.as_secs_f64(),
            run_cpu_s,
            wall_s: self.start.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            ns_per_packet_hop: run_cpu_s * 1e9 / totals.packet_hops.max(1) as f64,
            queue_p99_bytes: queue.p99_bytes,
            queue_max_bytes: queue.max_bytes,
            queue_busiest: (queue.max_bytes > 0).then_some(Port { node: queue.node, port: queue.port }),
            pfc_pauses: measured.pfc_pauses,
            pfc_pause_ns: measured.pfc_paused.0,
            drops: totals.drops,
            losses: totals.losses,
            marks: totals.marks,
            marks_merged: totals.hosts.marks_merged,
            marks_heard: totals.hosts.marks_heard,
            resent_packets: totals.hosts.resent,
            timeouts: totals.hosts.timeouts,
            telemetry_bytes: totals.telemetry_bytes,
            probes: totals.hosts.probes,
            feedback_packets: totals.hosts.feedback,
            rejected_feedback: totals.hosts.rejected_by_seal + totals.hosts.rejected_by_guard,
            rejected_by_seal: totals.hosts.rejected_by_seal,
            rejected_by_guard: totals.hosts.rejected_by_guard,
            baseline_resets: totals.hosts.baseline_resets,
            path_moves: totals.hosts.moves,
            cnps: (scenario.transport().notification != CongestionNotification::Echo).then_some(totals.hosts.cnps),
            refused_answers: refused(&totals.hosts),
            receive: scenario.settings.receivers().next().is_some().then_some(ReceiveSummary {
                dropped: totals.hosts.receive_dropped,
                pauses: totals.hosts.receive_pauses,
            }),
            fast_cnp: totals.fast_cnp_on.then(|| fast_cnp::summary(&totals.fast_cnp)),
            attacks: attack::summaries(&scenario.attacks, &totals.attacks),
            ranks: totals.ranks.iter().map(rank_summary).collect(),
            groups: scenario.flows.groups.clone(),
            // Format and files are the writer's to fill in.
            ..Summary::default()
        };
        writer.finish(&summary)
    }
}

/// What senders refused, if anything.
fn refused(hosts: &HostCounters) -> Option<RefusedAnswers> {
    let refused =
        RefusedAnswers { unsent: hosts.unsent_acks, unasked: hosts.unasked_cnps, unsealed: hosts.unsealed_answers };
    (refused != RefusedAnswers::default()).then_some(refused)
}

/// Why the run ended early, if it did.
fn stopped(totals: &RunTotals) -> Option<&String> {
    Some(&totals.stopped).filter(|reason| !reason.is_empty())
}

pub fn notes_of_run(totals: &RunTotals) -> Vec<String> {
    let early = stopped(totals).map(|reason| {
        format!("the run ended early, at {}: {reason}. Results are of the time until then", Nanos(totals.simulated_ns))
    });
    early.into_iter().chain(uncontrolled(totals)).collect()
}

/// What there is to say of flows that nothing controlled while a queue stood; elsewhere they had nothing to react to.
fn uncontrolled(totals: &RunTotals) -> Option<String> {
    let stood = totals.queue.max_bytes.saturating_mul(2) > totals.bdp_bytes;
    let flows = Some(&totals.uncontrolled).filter(|flows| flows.count > 0 && stood)?;
    Some(format!(
        "{} flows, the first of them flow {}, never changed rate or window, though a queue stood and they took more than twice as \
         long as alone: nothing controlled them",
        flows.count, flows.first
    ))
}

fn rank_summary(figures: &RankFigures) -> RankSummary {
    let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64();
    RankSummary {
        nodes: figures.nodes,
        devices: figures.devices,
        events: figures.events,
        packet_hops: figures.packet_hops,
        sent_frames: figures.sent_frames,
        sent_bytes: figures.sent_bytes,
        windows: figures.windows,
        cpu_s: seconds(figures.cpu_ns),
        busy_s: seconds(figures.busy_ns),
        waited_s: seconds(figures.waited_ns),
        peak_rss_bytes: figures.peak_rss_bytes,
    }
}
