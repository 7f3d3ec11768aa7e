// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of switches, and what follows where nothing is set.

use super::class_limits::ByPriority;
use super::shared_buffer::halvings;
use super::{
    BufferMode, Classes, PauseConfig, Priorities, RecordsConfig, ReportConfig, Reported, Scope, SwitchConfig,
    TrimConfig, Wait,
};
use crate::ecn::EcnThreshold;
use crate::reference_faults::ReferenceFaults;
use crate::settings::{Conflict, Written};
use crate::units::{BitRate, Bytes, Nanos};
use crate::wire::WireProfile;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

crate::named! {
    /// What a full buffer does: [`BufferMode`] without its parameter.
    #[derive(Default)]
    pub enum BufferKind {
        /// [`BufferMode::Lossless`].
        #[default]
        Lossless = "lossless",
        /// [`BufferMode::Lossy`].
        Lossy = "lossy",
        /// [`BufferMode::Credit`].
        Credit = "credit",
    }
}

crate::named! {
    /// What a switch does about a pause that lasts too long.
    #[derive(Default)]
    pub enum WatchdogAction {
        /// Nothing.
        #[default]
        Off = "off",
        /// It drops what waits for the port, and what comes for it or by it, in the priority that is paused.
        Drop = "drop",
        /// It sends in spite of the pause.
        Forward = "forward",
        /// It notes the storm, and that is all.
        Alert = "alert",
    }
}

/// When a pause lasts too long, and what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogConfig {
    /// What happens then.
    pub action: WatchdogAction,
    /// A longer pause is too long, whether packets wait or not.
    pub after: Nanos,
    /// From the resume until pauses count again.
    pub restore: Nanos,
    /// Time between two looks, from the start of the run on; 0: it looks all the time.
    pub poll: Nanos,
}

crate::named! {
    /// What becomes of data for which a lossy queue has no room.
    #[derive(Default)]
    pub enum Overflow {
        /// It is dropped.
        #[default]
        Drop = "drop",
        /// It is cut to its headers, or the last packet of the queue is.
        Trim = "trim",
    }
}

crate::settings! {
    /// The packet memory of a switch, and how it treats frames.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SwitchSettings {
        /// What a full buffer does: it pauses the sender by PFC (`lossless`), or drops what exceeds a queue's share
        /// (`lossy`). With `credit` it is never full: a port sends to a switch only what that has given it credits for
        /// (credit-based flow control, CBFC, of Ultra Ethernet 1.0).
        #[change = "Choose `lossy` for networks without PFC, mostly with `transport.recovery` = `selective_repeat`."]
        #[assumed = "RDMA's usual network: PFC pauses, and nothing is dropped"]
        pub mode: BufferKind = BufferKind::Lossless;
        /// How many times the free memory a queue may hold before frames are dropped: every queue where `mode` = `lossy`, else
        /// those of `lossy_priorities`.
        #[change = "A larger value lets one queue take more memory for a burst; a smaller one keeps more for the others."]
        pub alpha: f64 {0.001..=1000.0} = 1.0;
        /// How many times the free memory some priorities may hold, such as `1:2, 2:0.5`: a lossy one before it drops
        /// frames, a lossless one before its sender is paused (there a power of 2 up to 1; without the key 1/8). Ports
        /// that are faster than the hosts' may hold more.
        #[change = "Give classes their parts of the memory, as switches are configured."]
        pub class_alpha: Written<ByPriority<f64>> = Written::default();
        /// What becomes of data for which a lossy queue has no room: it is dropped (`drop`), or cut to its headers (`trim`), which go
        /// ahead of all data and tell the receiver at once what is missing. `trim` needs `transport.recovery` =
        /// `selective_repeat`.
        #[change = "Choose `trim` for losses that are repaired within a round trip, as Ultra Ethernet does."]
        pub overflow: Overflow = Overflow::Drop;
        /// Bytes of a data queue of a port of 100 Gb/s above which packets are cut; `auto`: 150 kB, with `transport.kind` = `uec` a
        /// bandwidth-delay product, beside `buffer_queues` as these say. Other ports scale it by their rate.
        #[change = "Less keeps queues shorter, more cuts fewer packets: a bandwidth-delay product, as a rule."]
        pub trim_threshold: Option<Bytes> {1..=MOST_BUFFER} = None => overflow = "trim";
        /// Bytes of such a port's queue of headers, above which they are dropped; `auto`: twice `trim_threshold`, beside
        /// `buffer_queues` 300 kB.
        #[change = "Less loses headers in large incasts, which then wait for a timeout."]
        pub trim_headers: Option<Bytes> {0..=MOST_BUFFER} = None => overflow = "trim";
        /// Probability that the last packet of the queue is cut, and the one that arrives takes its place.
        #[change = "0 always cuts what arrives, which may hit the same flows again and again."]
        pub trim_last: f64 {0.0..=1.0} = 0.5 => overflow = "trim";
        /// Whether a packet that is cut keeps its telemetry, and collects more.
        #[change = "Turn it off for headers of 64 bytes; senders then learn of the loss, but not from records."]
        pub trim_telemetry: bool = true => overflow = "trim";
        /// Bytes on the link to which a packet is cut: its headers, and the begin of its payload, which the receiver ignores; `auto`:
        /// the headers alone. SONiC's switches keep 128 by default.
        #[change = "Set it to your switch's size: larger ones take more of the links that are full."]
        pub trim_size: Option<Bytes> {64..=16_384} = None => overflow = "trim";
        /// Queue of a port in which headers of cut packets wait, and their priority from there on: 0 goes ahead of all, others as
        /// `classes` says. SONiC calls it `queue_index`.
        #[change = "Set it to your switch's queue of trimmed packets, to see whether they are served in time."]
        pub trim_queue: u32 {0..=7} = 0 => overflow = "trim";
        /// Packet memory that all ports of a switch share, headroom included.
        #[change = "Set it to the memory of the switch that you study."]
        #[assumed = "32 MiB, as the 2019 simulator's switches and many of 100 Gb/s have"]
        pub buffer: Bytes {1..=MOST_BUFFER} = Bytes(32 << 20);
        /// Priorities that PFC pauses, or that have credits, such as `3, 4`; `auto`: those of a file's flows and
        /// acknowledgements, 3 for a program. Each port keeps reserve and headroom for each, or its credits, and frames have
        /// no other priority but 0, which is neither paused nor counted.
        #[change = "Set it in a program whose flows have other priorities; each takes memory."]
        #[network]
        pub pfc_priorities: Option<Priorities> = None => mode = "lossless" | "credit";
        /// Bytes that a port keeps for each of these priorities, which whoever sends to it knows as credits; `auto`: what leaves
        /// in a round trip of its link, and three packets. At least a packet.
        #[change = "Less slows down the link: a packet, and what `credits` hold beyond one, pass in each round trip."]
        pub credits: Option<Bytes> {1..=MOST_BUFFER} = None => mode = "credit";
        /// Priorities in use that PFC does not pause, such as `1, 2`; `auto`: none. Their queues drop frames beyond
        /// `alpha` times the free memory.
        #[change = "Set it to run lossy classes beside lossless ones on the same switches, as operators do."]
        #[network]
        pub lossy_priorities: Option<Priorities> = None => mode = "lossless";
        /// Bytes that a port keeps for what arrives in a priority after its pause; `auto`: enough that nothing is
        /// dropped. At least a packet. Enough is three times what fits on its link in one direction, or twice that and
        /// three packets if it is more.
        #[change = "Set it to a real switch's value; with less than `auto` frames may be dropped in spite of PFC."]
        pub headroom: Option<Bytes> {0..=MOST_BUFFER} = None => mode = "lossless";
        /// Bytes of shared memory above which a port pauses the sender of a priority; `auto`: only its share of the free
        /// memory counts. The share is 1/8 at the hosts' rate.
        #[change = "Set it to a switch's fixed threshold; above the share it has no effect."]
        pub pause_threshold: Option<Bytes> {1..=MOST_BUFFER} = None => mode = "lossless";
        /// Pause that a PFC frame has in a packet trace, in whole microseconds. Devices ignore it, for a resume ends each
        /// pause.
        #[change = "Change it only to write the trace of another configuration."]
        pub pause_time: Nanos {Nanos::MICROSECOND..=MOST_PAUSE} = Nanos(5_000) => mode = "lossless";
        /// Length of a pause in quanta of 512 bit times of its link. The switch or NIC repeats the pause half-way,
        /// while it is needed. `auto`: each pause holds until the resume. Devices take 65535; 300 or less may end
        /// behind a long frame.
        #[change = "Set it to count pauses as devices do, or to see what a lost resume costs."]
        #[network]
        pub pfc_quanta: Option<u32> {64..=65_535} = None => mode = "lossless";
        /// What a switch does about a queue that the far end pauses too long, until the far end has resumed: nothing (`off`), it
        /// drops its packets (`drop`), sends them all the same (`forward`), or only records the storm (`alert`).
        #[change = "Turn it on as operators do against NICs that pause without end, and deadlocks."]
        pub pfc_watchdog: WatchdogAction = WatchdogAction::Off => mode = "lossless";
        /// Time after which a pause is too long, also of a queue that is empty. SONiC's switches take 200 ms.
        #[change = "Raise it above the pauses of congestion."]
        pub pfc_watchdog_after: Nanos {Nanos::MICROSECOND..=MOST_PAUSE} = Nanos(1_000_000) => pfc_watchdog = "drop" | "forward" | "alert";
        /// Time from the resume of the far end until pauses count again.
        #[change = "A longer one keeps a NIC that storms again and again from pausing."]
        pub pfc_watchdog_restore: Nanos {Nanos::MICROSECOND..=MOST_PAUSE} = Nanos(1_000_000) => pfc_watchdog = "drop" | "forward" | "alert";
        /// Time between two looks of the watchdog, which finds and ends storms at multiples of it; 0: at once. SONiC's
        /// switches look each 200 ms.
        #[change = "Set it to your switch's polling interval: storms are found up to that much later."]
        pub pfc_watchdog_poll: Nanos {Nanos(0)..=MOST_PAUSE} = Nanos(0) => pfc_watchdog = "drop" | "forward" | "alert";
        /// Queue length of a port of 100 Gb/s above which a switch asks the source of a packet to hold its flow for the time that
        /// the queue takes to drain (source flow control, in the manner of IEEE 802.1Qdw); `auto`: never. Other ports scale it by
        /// their rate.
        #[change = "Set it below the lengths at which PFC pauses, which spares neighbours that have no part in a queue."]
        pub source_pause: Option<Bytes> {1..=MOST_BUFFER} = None;
        /// Whether switches mark frames (ECN).
        #[change = "Turn it off to see what marks contribute."]
        pub ecn: bool = true;
        /// Queue length of a port of 100 Gb/s up to which no frame is marked; `auto`: 400 kB, with `dctcp` 300 kB. Other
        /// ports scale it by their rate. Where the main algorithm reads no marks, `auto` follows the algorithm of
        /// `[legacy]`.
        #[change = "Lower it for shorter queues at the cost of throughput."]
        #[assumed = "of a port of 100 Gb/s, as published for the algorithm; others scale it by their rate"]
        pub ecn_kmin: Option<Bytes> = None;
        /// Queue length of a port of 100 Gb/s above which every frame is marked; `auto`: 1600 kB, with `dctcp` 300 kB.
        /// Other ports scale it by their rate.
        #[change = "Lower it towards `ecn_kmin` for a sharper threshold."]
        #[assumed = "of a port of 100 Gb/s, as published for the algorithm; others scale it by their rate"]
        pub ecn_kmax: Option<Bytes> = None;
        /// Probability that a frame is marked at `ecn_kmax`, growing from 0 at `ecn_kmin`; `auto`: 0.2, with `dctcp` 1.
        #[change = "A larger value slows down more flows between the two lengths."]
        #[assumed = "as published for the algorithm"]
        pub ecn_pmax: Option<f64> {0.0..=1.0} = None;
        /// Thresholds of some priorities at 100 Gb/s, `kmin kmax pmax`, such as `3:100KB 400KB 0.2, 4:none`, in place of those of all.
        #[change = "Set it where classes are marked differently: TCP's and RDMA's, as a rule."]
        pub class_ecn: Written<ByPriority<EcnThreshold>> = Written::default();
        /// How a port serves its queues, such as `3:3000, 4:1000, 5:strict`; empty: round robin, a frame each. Queues with a
        /// number share the link by deficit round robin with so many bytes a turn, strict ones go ahead of these; queues
        /// that are not named send while no other may.
        #[change = "Set it to share a link by priorities; name every priority that must not starve, that of \
            acknowledgements included."]
        pub classes: Written<Option<Classes>> = Written::default();
        /// Whose bytes telemetry reports: the port's against the link (`port`), or the queue's against the share of its
        /// class (`queue`).
        #[change = "Choose `queue` to keep each class to its share; a class then leaves idle what others do not use."]
        #[network]
        pub telemetry_scope: Scope = Scope::Port;
        /// What telemetry reports as a queue: the bytes behind the frame (`length`), or its time in the switch
        /// (`sojourn`). `ifa` has a field for that time; other formats have it in place of the
        /// queue, as bytes of the link.
        #[change = "Choose `sojourn` where classes make a wait differ from the length."]
        #[network]
        pub telemetry_queue: Wait = Wait::Length;
        /// Packets to which a port adds its record: all that collect telemetry, one in each `telemetry_interval`, or
        /// (`congestion`) also all that leave more than `telemetry_threshold` behind. The
        /// latter two need `hpcc_plus` and a format whose records name their link.
        #[change = "Choose `interval` or `congestion` to save bytes; senders learn of queues later."]
        #[network]
        pub telemetry_records: Reported = Reported::All;
        /// Least time between two records of a port without congestion; `auto`: the longest T of the network.
        #[change = "A longer one saves records; senders know a link less well."]
        pub telemetry_interval: Option<Nanos> = None => telemetry_records = "interval" | "congestion";
        /// Queue length above which a port is congested and adds its record to every packet.
        #[change = "A smaller value reports shorter queues; a larger one saves records."]
        pub telemetry_threshold: Bytes = Bytes(10_000) => telemetry_records = "congestion";
        /// Nodes of another domain, from which the others hide capacities, queues and counters. None, all, hosts,
        /// switches, or numbers and ranges. Each record is then that of a link of 800 Gb/s under the same load. Domains
        /// that hide from each other stand one behind the other: `"0-3,8; 4-7,9"`.
        #[change = "Set it for networks that must not show each other their links; flows are controlled as before."]
        pub telemetry_hidden_from: String = "none".to_string();
        /// Whether a switch adds its record to telemetry.
        #[change = "Turn it off at switches without telemetry, whose queues senders do not see; a file names them in \
            `legacy.nodes`."]
        pub stamp_telemetry: bool = true;
    }
}

/// The largest buffer: occupancy is counted in 32 bits.
const MOST_BUFFER: u64 = u32::MAX as u64;
/// Bytes of a queue of headers at 100 Gb/s where nothing says how many: twice those of data, beyond which packets are cut.
pub const USUAL_HEADERS: u64 = 300_000;
/// The longest pause: the trace has 32 bits of microseconds.
const MOST_PAUSE: Nanos = Nanos(u32::MAX as u64 * Nanos::MICROSECOND.0);

impl SwitchSettings {
    /// Settles what was left to the simulator: marks are set when the algorithm of the hosts wants them, at 100 Gb/s.
    pub fn resolve(&mut self, wanted: &EcnThreshold) {
        self.ecn_kmin.get_or_insert(Bytes(wanted.kmin));
        self.ecn_kmax.get_or_insert(Bytes(wanted.kmax));
        self.ecn_pmax.get_or_insert(wanted.pmax);
    }

    /// Checks settings against each other.
    ///
    /// # Errors
    /// The first that contradicts another one.
    pub fn check(&self) -> Result<(), Conflict> {
        let (kmin, kmax) = (self.ecn_kmin.unwrap_or_default().0, self.ecn_kmax.unwrap_or(Bytes(u64::MAX)).0);
        if kmin > kmax {
            let message = format!("ecn_kmin is {kmin} bytes, more than ecn_kmax, {kmax}; expected at most that");
            return Err(Conflict::new("ecn_kmin", message));
        }
        if let (Some(paused), Some(lossy)) = (self.pfc_priorities, self.lossy_priorities)
            && paused.without(lossy) != paused
        {
            let message =
                format!("priorities {lossy} are lossy, and {paused} are paused; expected each in one of them");
            return Err(Conflict::new("lossy_priorities", message));
        }
        if self.overflow == Overflow::Trim && self.trimmed() == Priorities::NONE {
            let message = "overflow = \"trim\" needs queues that may lose packets; expected mode = \"lossy\", or lossy_priorities";
            return Err(Conflict::new("overflow", message.into()));
        }
        let queue = self.trim_queue as u8;
        if queue > 0 && self.overflow == Overflow::Trim && self.pauses(queue) {
            let message = format!("queue {queue} is paused by PFC, and headers would wait; expected 0 or another");
            return Err(Conflict::new("trim_queue", message));
        }
        let may_lose = self.trimmed();
        let is_odd = |&(_, alpha): &(u8, f64)| alpha > 1.0 || alpha * f64::from(1_u32 << halvings(alpha)) != 1.0;
        let paused = (0..).zip(*self.class_alpha).filter_map(|(priority, own)| Some((priority, own?)));
        if let Some((priority, alpha)) = paused.filter(|&(priority, _)| !may_lose.serve(priority)).find(is_odd) {
            let message = format!(
                "priority {priority} is paused, and its alpha is {alpha}; expected 1, 0.5, 0.25 and so on, or a dynamic_th of buffer_profiles, for 2^-7 to 2^4"
            );
            return Err(Conflict::new("class_alpha", message));
        }
        if self.classes.is_none() && self.telemetry_scope == Scope::Queue {
            let message = "telemetry_scope = \"queue\" needs classes, of which the share of a queue follows";
            return Err(Conflict::new("telemetry_scope", message.into()));
        }
        Ok(())
    }

    /// When a lossless buffer pauses that frames of at most `frame` bytes pass; see [`PauseConfig`] for 0.
    pub fn pause(&self, frame: u32) -> PauseConfig {
        let bytes = |set: Option<Bytes>| set.map(|bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX));
        PauseConfig {
            headroom: bytes(self.headroom),
            frame,
            threshold: bytes(self.pause_threshold),
            priorities: self.pfc_priorities.unwrap_or_default(),
        }
    }

    /// Bytes of a data queue above which packets are cut.
    fn most_queued(&self) -> u64 {
        self.trim_threshold.map_or(USUAL_HEADERS / 2, |threshold| threshold.0)
    }

    /// The priorities whose data is cut where it finds no room.
    fn trimmed(&self) -> Priorities {
        match self.mode {
            BufferKind::Lossy => Priorities::ALL,
            BufferKind::Lossless | BufferKind::Credit => self.lossy_priorities.unwrap_or(Priorities::NONE),
        }
    }

    /// Whether a priority is known to be paused.
    fn pauses(&self, priority: u8) -> bool {
        self.mode == BufferKind::Lossless && self.pfc_priorities.is_some_and(|paused| paused.serve(priority))
    }

    /// Whether packets that collect telemetry may leave without a record.
    pub fn leaves_hops_out(&self) -> bool {
        self.telemetry_records != Reported::All
    }

    /// The classes against whose shares telemetry reports, if it does.
    pub fn reported_classes(&self) -> Option<Classes> {
        self.classes.filter(|_| self.telemetry_scope == Scope::Queue)
    }

    /// When ports of this rate mark frames: as the attributes for 100 Gb/s say, scaled.
    pub fn ecn_threshold(&self, rate: BitRate) -> EcnThreshold {
        let threshold = EcnThreshold {
            rate: BitRate::gbps(100),
            kmin: self.ecn_kmin.unwrap_or_default().0,
            kmax: self.ecn_kmax.unwrap_or_default().0,
            pmax: self.ecn_pmax.unwrap_or_default(),
        };
        threshold.scaled(rate)
    }

    /// Microseconds that a PFC pause says. 0, which only files of the 2019 simulator can ask for, makes every pause a
    /// resume.
    pub fn pause_micros(&self) -> u32 {
        u32::try_from(self.pause_time.0.div_ceil(Nanos::MICROSECOND.0)).unwrap_or(u32::MAX)
    }

    /// What switches run by that [pause](SwitchSettings::pause) so, once all is [settled](SwitchSettings::resolve).
    ///
    /// # Errors
    /// If the classes are none.
    pub fn config(
        &self,
        ecn_thresholds: Vec<EcnThreshold>,
        profile: WireProfile,
        pause: PauseConfig,
        faults: ReferenceFaults,
    ) -> SwitchConfig {
        SwitchConfig {
            buffer_bytes: self.buffer.0,
            plan: None,
            mode: match self.mode {
                BufferKind::Lossless => BufferMode::Lossless,
                BufferKind::Lossy => BufferMode::Lossy { alpha: self.alpha },
                BufferKind::Credit => {
                    BufferMode::Credit { limit: self.credits.map(|bytes| bytes.0), largest: pause.frame }
                }
            },
            pause,
            lossy: self.lossy_priorities.map(|priorities| (priorities, self.alpha)),
            alphas: *self.class_alpha,
            trimming: (self.overflow == Overflow::Trim).then(|| TrimConfig {
                priorities: self.trimmed(),
                threshold: self.most_queued(),
                headers: self.trim_headers.map_or(2 * self.most_queued(), |bytes| bytes.0),
                last: self.trim_last,
                keeps_telemetry: self.trim_telemetry,
                queue: self.trim_queue as u8,
                size: self.trim_size.map_or(0, |size| size.0 as u32),
            }),
            ecn: self.ecn,
            ecn_thresholds,
            class_ecn: *self.class_ecn,
            classes: *self.classes,
            records: RecordsConfig {
                to: self.telemetry_records,
                interval: self.telemetry_interval,
                threshold: self.telemetry_threshold.0,
            },
            report: ReportConfig { scope: self.telemetry_scope, wait: self.telemetry_queue },
            watchdog: (self.pfc_watchdog != WatchdogAction::Off).then_some(WatchdogConfig {
                action: self.pfc_watchdog,
                after: self.pfc_watchdog_after,
                restore: self.pfc_watchdog_restore,
                poll: self.pfc_watchdog_poll,
            }),
            hop_limits: profile.is_real(),
            faults,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blamed(settings: &SwitchSettings) -> Result<(), &'static str> {
        settings.check().map_err(|conflict| conflict.key)
    }

    #[test]
    fn what_is_not_set_is_as_the_algorithm_needs_it() {
        let mut settings = SwitchSettings { ecn_kmax: Some(Bytes(7)), ..SwitchSettings::default() };
        settings.resolve(&EcnThreshold { rate: BitRate::gbps(100), kmin: 400_000, kmax: 1_600_000, pmax: 0.2 });
        let ecn = (settings.ecn_kmin, settings.ecn_kmax, settings.ecn_pmax);
        assert_eq!(ecn, (Some(Bytes(400_000)), Some(Bytes(7)), Some(0.2)));
    }

    #[test]
    fn the_lower_mark_is_at_most_the_higher() {
        let check = |kmin, kmax| {
            blamed(&SwitchSettings { ecn_kmin: Some(Bytes(kmin)), ecn_kmax: Some(Bytes(kmax)), ..Default::default() })
        };
        assert_eq!((check(5, 6), check(6, 6), check(7, 6)), (Ok(()), Ok(()), Err("ecn_kmin")));
        assert_eq!(blamed(&SwitchSettings { ecn_kmin: Some(Bytes(7)), ..Default::default() }), Ok(()));
    }

    #[test]
    fn a_queue_reports_its_share_only_where_it_has_one() {
        let check = |telemetry_scope, classes: &str| {
            let classes = Written::read(classes).expect("classes");
            blamed(&SwitchSettings { telemetry_scope, classes, ..Default::default() })
        };
        assert_eq!((check(Scope::Queue, ""), check(Scope::Queue, "3:1000")), (Err("telemetry_scope"), Ok(())));
        assert_eq!((check(Scope::Port, ""), check(Scope::Port, "3:1000")), (Ok(()), Ok(())));
    }

    #[test]
    fn a_pause_says_whole_microseconds_rounded_up() {
        let micros = |nanos| SwitchSettings { pause_time: Nanos(nanos), ..Default::default() }.pause_micros();
        assert_eq!([0, 1_000, 1_001, u64::MAX].map(micros), [0, 1, 2, u32::MAX]);
    }
}
