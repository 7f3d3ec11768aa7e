// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared-buffer switch: route, admission, pause, ECN mark, telemetry stamp.
//!
//! The queues themselves belong to the simulator: it asks the switch where a frame goes ([`Switch::route`]) and whether it may
//! wait there ([`Switch::admit`]), tells when it [departs](Switch::depart), or that it [passes](Switch::cut_through) without waiting,
//! and does what the answers say.

mod class_limits;
mod classes;
mod lossy_buffer;
mod records;
mod report;
mod scheduler;
mod settings;
mod shared_buffer;
pub mod source_pause;
#[cfg(test)]
mod tests;
mod trimming;

pub use crate::balance::{FlowKey, HOST_SEED};
pub use crate::pfc::PRIORITIES;
pub use crate::priorities::Priorities;
pub use class_limits::ByPriority;
pub use classes::{Classes, MAX_QUANTUM};
pub use records::{Records, RecordsConfig, Reported};
pub use report::{ReportConfig, Scope, Wait};
pub use scheduler::{Backlog, Scheduler, Service};
pub use settings::{BufferKind, Overflow, SwitchSettings, WatchdogAction, WatchdogConfig};
pub use shared_buffer::{Admission, PauseConfig, RESERVE, SharedBuffer};
pub use trimming::TrimConfig;

use lossy_buffer::LossyBuffer;
use report::Report;

use crate::balance::{Choice, EcmpBalancer, LoadBalancer, Ports};
use crate::ecn::EcnThreshold;
use crate::random::Rng;
use crate::reference_faults::ReferenceFaults;
use crate::telemetry::{Codec, Layout, Met, Meter, Reference, Snapshot};
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::offset_of;

/// What a full buffer does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BufferMode {
    /// It pauses who sends into it (PFC).
    #[default]
    Lossless,
    /// It drops what exceeds a queue's dynamic threshold.
    Lossy {
        /// A queue may hold this many times the free memory; above 0.
        alpha: f64,
    },
}

/// What all switches of a network are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchConfig {
    /// Shared packet memory in bytes.
    pub buffer_bytes: u64,
    /// What happens when it is full.
    pub mode: BufferMode,
    /// When a lossless buffer pauses.
    pub pause: PauseConfig,
    /// The priorities that a lossless buffer does not pause, and how many times the free memory a queue of theirs may hold.
    pub lossy: Option<(Priorities, f64)>,
    /// The same, and the part of the free memory above which others are paused, of priorities that have their own.
    pub alphas: ByPriority<f64>,
    /// When packets are cut to their headers, if they are.
    pub trimming: Option<TrimConfig>,
    /// Whether packets are ECN-marked at all.
    pub ecn: bool,
    /// One entry for each link rate in the network.
    pub ecn_thresholds: Vec<EcnThreshold>,
    /// Those of priorities that have their own, at 100 Gb/s.
    pub class_ecn: ByPriority<EcnThreshold>,
    /// How the queues of a port are served; `None`: in turn, a frame each.
    pub classes: Option<Classes>,
    /// What telemetry reports of a port.
    pub report: ReportConfig,
    /// To which packets telemetry is added.
    pub records: RecordsConfig,
    /// What it does about pauses that last too long, if anything.
    pub watchdog: Option<WatchdogConfig>,
    /// Whether frames have a hop limit, and are dropped where it ends (RFC 791, RFC 8200); the reference's have none.
    pub hop_limits: bool,
    /// Faults of the reference that are repeated.
    pub faults: ReferenceFaults,
}

/// A port's rate and counters: what each frame touches, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct EgressPort {
    rate: BitRate,
    /// Bytes that left, all frames.
    tx_bytes: u64,
    /// Bytes that wait, by priority; of priority 0 headers of cut packets alone are accounted.
    queued: [u32; PRIORITIES],
    /// Up to so many bytes behind it in its queue no frame is marked; most queues never have more.
    unmarked: u32,
    /// Place of the ECN threshold that says what is marked beyond, in the switch's list.
    ecn: u16,
    /// Bytes beyond which data in a queue is cut, and headers are dropped.
    most_data: u32,
    most_headers: u32,
}

const _: () = assert!(size_of::<EgressPort>() == 64);

impl EgressPort {
    /// A port that has sent nothing. It marks by the threshold for its rate; without one, never.
    fn new(rate: BitRate, marks: &Marks, trimming: Option<&TrimConfig>) -> Self {
        let (most_data, most_headers) = trimming.map_or((u32::MAX, 0), |trimming| trimming.limits(rate));
        let ecn = (0..).zip(&marks.thresholds).find(|(_, threshold)| threshold.rate == rate);
        EgressPort {
            rate,
            tx_bytes: 0,
            queued: [0; PRIORITIES],
            unmarked: marks.least(rate, ecn.map(|(_, ecn)| ecn)),
            ecn: ecn.map_or(0, |(place, _)| place),
            most_data,
            most_headers,
        }
    }

    fn set_rate(&mut self, rate: BitRate, marks: &Marks) {
        (self.rate, self.unmarked) = (rate, marks.least(rate, marks.thresholds.get(usize::from(self.ecn))));
    }

    /// Whether a frame of a priority that leaves so many bytes of its queue behind is marked.
    #[inline]
    fn marks(&self, marks: &Marks, priority: usize, queue: u32, rng: &mut Rng) -> bool {
        queue > self.unmarked && self.may_mark(marks, priority, queue, rng)
    }

    fn may_mark(&self, marks: &Marks, priority: usize, queue: u32, rng: &mut Rng) -> bool {
        let own = marks.classes.as_ref().and_then(|classes| classes[priority]).map(|own| own.scaled(self.rate));
        let threshold = own.or_else(|| marks.thresholds.get(usize::from(self.ecn)).copied());
        threshold.is_some_and(|threshold| threshold.marks(queue.into(), || rng.marks.uniform()))
    }

    /// What telemetry may report of it.
    #[inline]
    fn snapshot(&self, switch_id: u32, egress: u16, now: Nanos, head: &Head) -> Snapshot {
        Snapshot {
            switch_id,
            ingress: head.ingress,
            egress,
            queue: head.priority,
            hop_limit: head.hop_limit,
            rate: self.rate,
            arrived: head.arrived,
            now,
            tx_bytes: self.tx_bytes,
            qlen: head.queue,
        }
    }
}

/// A frame that has come in, as its way depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// The node that it goes to.
    pub dst: u32,
    /// Its addresses and ports.
    pub key: FlowKey,
    /// IPv6 hop limit or IPv4 time to live with which it came.
    pub hop_limit: u8,
    /// Its priority group, 0 to 7.
    pub priority: u8,
    /// Whether it carries payload or collects telemetry: what answers it goes by the hash of its flow.
    pub is_data: bool,
}

/// Where a frame goes that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Its destination cannot be reached.
    None,
    /// Its hop limit ends here.
    Expired,
    /// To another node.
    To {
        /// Port by which it leaves.
        egress: u16,
        /// Hop limit with which it leaves.
        hop_limit: u8,
    },
}

/// A frame at the head of an egress queue, which leaves now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Port by which it came in.
    pub ingress: u16,
    /// Its priority group, 0 to 7.
    pub priority: u8,
    /// Whether it carries payload; only such frames are stamped.
    pub is_data: bool,
    /// Whether its payload was cut off.
    pub is_trimmed: bool,
    /// Its bytes on the link, before this switch adds telemetry.
    pub size: u32,
    /// Bytes that wait at the port behind it, all frames.
    pub queue: u64,
    /// When it came in.
    pub arrived: Nanos,
    /// IPv6 hop limit or IPv4 time to live with which it leaves.
    pub hop_limit: u8,
}

/// A frame that leaves, in whatever form the simulator keeps it. Read where it stands, for a copy of it in memory costs more than
/// most of what a switch does with it.
pub trait Departing {
    /// What the switch must know of it.
    fn head(&self) -> Head;
}

impl Departing for Head {
    #[inline]
    fn head(&self) -> Head {
        *self
    }
}

/// The telemetry section of a frame: bytes of which the first `len` are in use.
#[derive(Debug)]
pub struct Section<'a> {
    /// The section and room behind it.
    pub bytes: &'a mut [u8],
    /// Length of the section.
    pub len: usize,
}

/// What happens to a frame that departs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Set its ECN bits to "congestion experienced".
    pub mark: bool,
    /// Before it is sent: send a PFC resume of its priority out of its ingress port.
    pub resume: bool,
}

/// When frames are marked.
#[derive(Debug, Default)]
struct Marks {
    /// By the rate of a port.
    thresholds: Vec<EcnThreshold>,
    /// Of priorities that have their own.
    classes: Option<Box<ByPriority<EcnThreshold>>>,
}

impl Marks {
    /// Up to so many bytes of a queue no frame is marked at a port of this rate, which has this threshold.
    fn least(&self, rate: BitRate, ecn: Option<&EcnThreshold>) -> u32 {
        let of_classes = self.classes.iter().flat_map(|classes| classes.iter().flatten());
        let least = of_classes.map(|own| own.scaled(rate).kmin).chain(ecn.map(|ecn| ecn.kmin)).min();
        least.map_or(u32::MAX, |kmin| u32::try_from(kmin).unwrap_or(u32::MAX))
    }

    fn new(config: &SwitchConfig) -> Marks {
        if !config.ecn {
            return Marks::default();
        }
        let own = config.class_ecn;
        let classes = own.iter().any(Option::is_some).then(|| Box::new(own));
        Marks { thresholds: config.ecn_thresholds.clone(), classes }
    }
}

/// Packet memory.
#[derive(Clone, Debug)]
enum Buffer {
    Lossless(SharedBuffer),
    Lossy(LossyBuffer),
}

impl Buffer {
    /// An empty memory between ports of these rates and delays.
    fn new(config: &SwitchConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) -> Self {
        match config.mode {
            BufferMode::Lossless => {
                let buffer = SharedBuffer::new(config.buffer_bytes, config.pause, host_rate, ports);
                let (lossy, alpha) = config.lossy.unwrap_or((Priorities::NONE, 1.0));
                let rates = ports.iter().map(|&(rate, _)| rate);
                Buffer::Lossless(buffer.with_classes(lossy, alpha, &config.alphas, host_rate, rates))
            }
            BufferMode::Lossy { alpha } => {
                let alphas = config.alphas.map(|own| own.unwrap_or(alpha));
                Buffer::Lossy(LossyBuffer::new(config.buffer_bytes, alphas))
            }
        }
    }

    /// A frame came in by `ingress` for a queue of `queue` bytes.
    #[inline]
    fn admit(&mut self, ingress: usize, queue: u32, priority: usize, size: u32) -> Admission {
        match self {
            Buffer::Lossless(buffer) => buffer.admit(ingress, queue, priority, size),
            Buffer::Lossy(buffer) => buffer.admit(priority, queue, size),
        }
    }

    /// Whether a frame that comes in by `ingress` for a queue of `queue` bytes is not dropped.
    fn has_room(&self, ingress: usize, queue: u32, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.has_room(ingress, queue, priority, size),
            Buffer::Lossy(buffer) => buffer.has_room(priority, queue, size),
        }
    }

    /// Whether a frame that comes and goes at once leaves all accounts as they are, pauses and resumes nobody, and is not
    /// dropped.
    #[inline]
    fn can_cut_through(&self, ingress: usize, queue: u32, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.can_cut_through(ingress, priority, size),
            Buffer::Lossy(buffer) => buffer.has_room(priority, queue, size),
        }
    }

    /// A frame that had come in by `ingress` left. Returns whether a paused upstream may go on.
    #[inline]
    fn release(&mut self, ingress: usize, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.release(ingress, priority, size),
            Buffer::Lossy(buffer) => {
                buffer.release(size);
                false
            }
        }
    }
}

/// What is known of all ports.
struct View<'a> {
    ports: &'a [EgressPort],
    /// What each may not send, as bits.
    paused: &'a [u8],
}

impl Ports for View<'_> {
    fn queued(&self, port: u16) -> u32 {
        self.ports[usize::from(port)].queued.iter().sum()
    }

    fn rate(&self, port: u16) -> BitRate {
        self.ports[usize::from(port)].rate
    }

    fn is_paused(&self, port: u16, priority: u8) -> bool {
        self.paused[usize::from(port)] >> (priority & 7) & 1 != 0
    }
}

/// One switch. What every frame needs stands in two cache lines: between two frames of a switch a large network touches much
/// else.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Switch {
    ports: Box<[EgressPort]>,
    buffer: Buffer,
    /// The layout, if it is the reference's, whose stamp needs no call.
    reference: Option<Reference>,
    id: u32,
    hop_limits: bool,
    /// Whether telemetry is none or the reference's, and of each frame the port's own counters, as mostly.
    reports_plainly: bool,
    /// Whether frames of a flow leave by one port until routes change, data as well.
    keeps: bool,
    // The second line.
    routes: RouteTable,
    // What few frames need.
    marks: Marks,
    watchdog: Option<WatchdogConfig>,
    balancer: Box<dyn LoadBalancer>,
    /// Priorities that the far end of each port pauses: bit n stands for priority n.
    stopped: Vec<u8>,
    layout: Layout,
    /// What telemetry calls the switch.
    told_id: u32,
    /// What the layout tells beyond a snapshot.
    meter: Option<Box<dyn Meter>>,
    /// Of each port, whether telemetry is taken off what leaves by it.
    strips: Vec<bool>,
    trimming: Option<TrimConfig>,
    /// `None`: telemetry reports the ports' own counters.
    report: Option<Report>,
    /// `None`: every packet that collects gets a record.
    records: Option<Records>,
}

const _: () = assert!(offset_of!(Switch, routes) == 64 && offset_of!(Switch, marks) <= 128);

impl Switch {
    /// Switch `id` with ports of these rates and delays, counted from 0. PINT averages over `base_rtt`, the
    /// longest of the network, and records once in T are so far apart.
    pub fn new(
        id: u32,
        config: &SwitchConfig,
        layout: Layout,
        host_rate: BitRate,
        base_rtt: Nanos,
        ports: &[(BitRate, Nanos)],
        routes: RouteTable,
    ) -> Self {
        let marks = Marks::new(config);
        let rates = || ports.iter().map(|&(rate, _)| rate);
        let meter = layout.meter(&rates().collect::<Vec<_>>(), base_rtt);
        let report = Report::if_asked(config, &layout, rates());
        let picks = config.records.to != Reported::All;
        let records = picks.then(|| Records::new(config.records, base_rtt, ports.len()));
        let reference = layout.codec().copied();
        let is_short = reference.is_some() || layout.initial_len() == 0;
        Switch {
            id,
            told_id: id,
            layout,
            routes,
            buffer: Buffer::new(config, host_rate, ports),
            ports: rates().map(|rate| EgressPort::new(rate, &marks, config.trimming.as_ref())).collect(),
            trimming: config.trimming,
            marks,
            keeps: true,
            balancer: Box::new(EcmpBalancer { seed: id, weighted: false }),
            stopped: alloc::vec![0; ports.len()],
            reports_plainly: is_short && report.is_none() && records.is_none(),
            meter,
            strips: Vec::new(),
            reference,
            report,
            records,
            watchdog: config.watchdog,
            hop_limits: config.hop_limits,
        }
    }

    /// Replaces all routes.
    pub fn set_routes(&mut self, routes: RouteTable) {
        self.routes = routes;
    }

    /// A port has another rate, which records tell and thresholds of classes follow.
    pub fn set_rate(&mut self, port: u16, rate: BitRate) {
        self.ports[usize::from(port)].set_rate(rate, &self.marks);
    }

    /// Data chooses among paths so, in place of ECMP by the switch's number.
    pub fn balance(&mut self, balancer: Box<dyn LoadBalancer>) {
        (self.keeps, self.balancer) = (balancer.keeps(), balancer);
    }

    /// What chooses among paths.
    pub fn balancer(&mut self) -> &mut dyn LoadBalancer {
        self.balancer.as_mut()
    }

    /// The same, and its next hops to a node.
    pub fn balancer_to(&mut self, dst: u32) -> (&mut dyn LoadBalancer, &[u16]) {
        (self.balancer.as_mut(), self.routes.next_hops(dst))
    }

    /// Telemetry has this id for the switch, in place of its number.
    pub fn call(&mut self, id: u32) {
        self.told_id = id;
    }

    /// Telemetry is taken off what leaves by these ports.
    pub fn strip(&mut self, ports: Vec<bool>) {
        self.strips = ports;
    }

    /// Whether all data of a flow leaves by one port until routes change; answers always do.
    pub fn keeps(&self) -> bool {
        self.keeps
    }

    /// The far end of a port pauses these priorities from now on, and no others: bit n stands for priority n.
    pub fn hear_pause(&mut self, egress: u16, priorities: u8) {
        self.stopped[usize::from(egress)] = priorities;
    }

    /// The port by which a frame leaves, if there is a route, and all frames like it leave by that until routes change.
    pub fn kept_egress(&mut self, frame: &Arriving, rng: &mut Rng) -> Option<u16> {
        let has_choice = frame.is_data && !self.keeps && self.routes.next_hops(frame.dst).len() > 1;
        if has_choice { None } else { self.egress(Nanos(0), frame, rng) }
    }

    /// The port by which a frame leaves, if there is a route.
    fn egress(&mut self, now: Nanos, frame: &Arriving, rng: &mut Rng) -> Option<u16> {
        let &Arriving { dst, ref key, priority, is_data, .. } = frame;
        let hops = self.routes.next_hops(dst);
        if hops.len() < 2 || !(is_data || self.keeps) {
            return key.choose(self.id, hops);
        }
        let ports = &View { ports: &self.ports, paused: &self.stopped };
        Some(self.balancer.choose(&Choice { now, dst, key, priority, hops, ports }, &mut rng.rand))
    }

    /// Address of what is looked up first to route a frame, for fetching it into the cache; 0 if there is none.
    #[inline]
    pub fn place_of_route(&self, dst: u32) -> usize {
        self.routes.address(dst)
    }

    /// Address of the account of what leaves by a port, likewise.
    #[inline]
    pub fn place_of_egress(&self, egress: u16) -> usize {
        self.ports.get(usize::from(egress)).map_or(0, |port| core::ptr::from_ref(port).addr())
    }

    /// Address of the account of what came in by a port, likewise.
    #[inline]
    pub fn place_of_ingress(&self, ingress: u16) -> usize {
        match &self.buffer {
            Buffer::Lossless(buffer) => buffer.place_of(usize::from(ingress)),
            Buffer::Lossy(_) => 0,
        }
    }

    /// Where a frame goes that came in.
    pub fn route(&mut self, now: Nanos, frame: &Arriving, rng: &mut Rng) -> Route {
        let Some(egress) = self.egress(now, frame, rng) else { return Route::None };
        let hop_limit = frame.hop_limit.saturating_sub(1);
        if hop_limit == 0 && self.hop_limits { Route::Expired } else { Route::To { egress, hop_limit } }
    }

    /// A frame that came in by port `ingress` is to wait at port `egress`. The buffer never refuses priority 0.
    #[inline(always)]
    pub fn admit(&mut self, ingress: u16, egress: u16, priority: u8, size: u32) -> Admission {
        let priority = usize::from(priority) % PRIORITIES;
        if priority == 0 {
            return Admission::Admit { pause: false };
        }
        let queued = &mut self.ports[usize::from(egress)].queued[priority];
        let admission = self.buffer.admit(usize::from(ingress), *queued, priority, size);
        if admission != Admission::Drop {
            *queued += size;
        }
        admission
    }

    /// Whether a frame that came in by port `ingress` may wait for others of its flow, in a queue of its own.
    pub fn may_wait(&self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority == 0 || self.buffer.has_room(ingress.into(), 0, priority, size)
    }

    /// It waits. Returns whether its sender is to pause.
    pub fn hold(&mut self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority != 0 && self.buffer.admit(ingress.into(), 0, priority, size) == Admission::Admit { pause: true }
    }

    /// A frame that was held waits no longer. Returns whether to resume its sender.
    pub fn let_go(&mut self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority != 0 && self.buffer.release(ingress.into(), priority, size)
    }

    /// A frame that was held waits at port `egress` from now on.
    pub fn hand_on(&mut self, egress: u16, priority: u8, size: u32) {
        let priority = usize::from(priority) % PRIORITIES;
        if priority != 0 {
            self.ports[usize::from(egress)].queued[priority] += size;
        }
    }

    /// Whether data that is to wait at port `egress` is cut to its headers, or another packet in its place, for its queue is too long.
    #[inline]
    pub fn is_too_long(&self, egress: u16, priority: u8, size: u32) -> bool {
        let port = &self.ports[usize::from(egress)];
        let queue = port.queued[usize::from(priority) % PRIORITIES].saturating_add(size);
        queue > port.most_data && self.trims(priority).is_some()
    }

    /// How data of a priority is cut, if it is.
    pub fn trims(&self, priority: u8) -> Option<&TrimConfig> {
        self.trimming.as_ref().filter(|trimming| priority != 0 && trimming.priorities.serve(priority))
    }

    /// The headers of a packet are to wait at port `egress`.
    pub fn admit_headers(&mut self, egress: u16, size: u32) -> Admission {
        let port = &mut self.ports[usize::from(egress)];
        if port.queued[0].saturating_add(size) > port.most_headers {
            return Admission::Drop;
        }
        port.queued[0] += size;
        Admission::Admit { pause: false }
    }

    /// A frame that came in just now leaves by port `egress`, which is idle and has none waiting: what [`Switch::admit`] and
    /// [`Switch::depart`] do one after the other. Its queue is 0. Returns whether to mark it; `None`, and nothing has happened, if
    /// it may be dropped or may pause or resume its sender.
    #[inline]
    pub fn cut_through(
        &mut self,
        egress: u16,
        now: Nanos,
        frame: &impl Departing,
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) -> Option<bool> {
        let head = frame.head();
        let port = &self.ports[usize::from(egress)];
        let priority = usize::from(head.priority) % PRIORITIES;
        let mut mark = false;
        if priority != 0 {
            let queued = port.queued[priority];
            if !self.buffer.can_cut_through(head.ingress.into(), queued, priority, head.size) {
                return None;
            }
            mark = port.marks(&self.marks, priority, queued, rng);
        }
        self.send(egress, now, (frame, Head { queue: 0, ..head }), section, rng);
        Some(mark)
    }

    /// A frame leaves port `egress`: accounts for it, decides on mark and resume, and stamps this hop into the
    /// telemetry of a data frame. PFC frames of this switch go through [`Switch::send_pfc`] instead.
    #[inline]
    pub fn depart(
        &mut self,
        egress: u16,
        now: Nanos,
        frame: &impl Departing,
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) -> Departure {
        let head = frame.head();
        let departure = self.release(egress, &head, rng);
        self.send(egress, now, (frame, head), section, rng);
        departure
    }

    /// Stamps this hop into the telemetry of a data frame, and counts the frame as sent. What it needs of the frame comes with it.
    #[inline(always)]
    fn send(
        &mut self,
        egress: u16,
        now: Nanos,
        (frame, head): (&impl Departing, Head),
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) {
        if !self.reports_plainly {
            return self.send_with_report(egress, now, frame, section, rng);
        }
        let port = &mut self.ports[usize::from(egress)];
        if let (true, Some(reference)) = (head.is_data, self.reference) {
            let snapshot = port.snapshot(self.told_id, egress, now, &head);
            section.len = reference.stamp(section.bytes, section.len, &snapshot);
        }
        port.tx_bytes += u64::from(head.size);
    }

    /// The same whatever the layout, and where telemetry may leave packets out or report other than the port's own counters.
    #[inline(never)]
    fn send_with_report(
        &mut self,
        egress: u16,
        now: Nanos,
        frame: &impl Departing,
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) {
        let (head, len) = (frame.head(), section.len);
        if head.is_data {
            if self.strips.get(usize::from(egress)) == Some(&true) {
                section.len = 0;
            }
            self.report(egress, now, head, section, rng);
        }
        let size = head.size + section.len as u32 - len as u32;
        self.count_sent(egress, now, size);
        if let Some(report) = &mut self.report {
            report.count(egress, head.priority, size);
        }
    }

    /// Adds this hop to such telemetry.
    fn report(&mut self, egress: u16, now: Nanos, head: Head, section: &mut Section<'_>, rng: &mut Rng) {
        let len = section.len;
        let left_out = |records: &mut Records| len == 0 || !records.reports(egress, now, head.queue);
        if self.records.as_mut().is_some_and(left_out) {
            return;
        }
        let port = &self.ports[usize::from(egress)];
        let queued = u64::from(port.queued[usize::from(head.priority) % PRIORITIES]);
        let own = (port.tx_bytes, head.queue);
        let load = self.report.as_ref().map_or(own, |report| report.read(egress, now, &head, port.tx_bytes, queued));
        let snapshot = Snapshot { tx_bytes: load.0, qlen: load.1, ..port.snapshot(self.told_id, egress, now, &head) };
        section.len = self.layout.stamp(section.bytes, len, &snapshot);
        if let Some(meter) = &mut self.meter {
            // The meter has the port's bytes; next to a queue's scaled ones they would say nothing.
            let bytes = section.bytes.get_mut(..len).unwrap_or_default();
            meter.stamp(bytes, &snapshot, head.queue, &mut rng.rand);
        }
    }

    /// A packet with this telemetry was to wait at port `egress`, and has been cut.
    pub fn cut(&mut self, egress: u16, now: Nanos, frame: &impl Departing, section: &mut [u8]) {
        if let Some(meter) = &mut self.meter {
            let head = frame.head();
            meter.cut(section, &self.ports[usize::from(egress)].snapshot(self.told_id, egress, now, &head), head.queue);
        }
    }

    /// Whether telemetry looks at data packets as they come.
    pub fn meets(&self) -> bool {
        self.meter.as_ref().is_some_and(|meter| meter.meets())
    }

    /// A data packet has come that is to wait at port `egress`: what telemetry makes of it, and of `answer`.
    pub fn meet(&mut self, egress: u16, now: Nanos, size: u32, section: &mut [u8], answer: &mut [u8]) -> usize {
        let queue = self.queued(egress).into();
        self.meter.as_mut().map_or(0, |meter| meter.meet(section, &Met { now, port: egress, size, queue }, answer))
    }

    /// A frame that waits at port `egress` is thrown away: frees its buffer. Returns whether to resume its sender.
    pub fn discard(&mut self, egress: u16, head: &Head) -> bool {
        if usize::from(head.priority) % PRIORITIES == 0 {
            self.free_headers(egress, head);
            return false;
        }
        self.free(egress, head).1
    }

    /// What the switch does about pauses that last too long, if anything.
    pub fn watchdog(&self) -> Option<WatchdogConfig> {
        self.watchdog
    }

    /// The priorities that were paused by PFC frames out of port `ingress`: bit n stands for priority n.
    pub fn paused(&self, ingress: u16) -> u8 {
        match &self.buffer {
            Buffer::Lossless(buffer) => buffer.paused(usize::from(ingress)),
            Buffer::Lossy(_) => 0,
        }
    }

    /// A PFC frame of `size` bytes leaves port `egress`.
    pub fn send_pfc(&mut self, egress: u16, now: Nanos, size: u32) {
        self.count_sent(egress, now, size);
    }

    /// Frees the frame's buffer; decides on mark and resume by what is left.
    #[inline]
    fn release(&mut self, egress: u16, head: &Head, rng: &mut Rng) -> Departure {
        let priority = usize::from(head.priority) % PRIORITIES;
        if priority == 0 {
            self.free_headers(egress, head);
            return Departure { mark: false, resume: false };
        }
        let (queue, resume) = self.free(egress, head);
        let port = &self.ports[usize::from(egress)];
        Departure { mark: port.marks(&self.marks, priority, queue, rng), resume }
    }

    #[inline]
    fn free_headers(&mut self, egress: u16, head: &Head) {
        if head.is_trimmed {
            self.ports[usize::from(egress)].queued[0] -= head.size;
        }
    }

    /// Takes a frame out of the accounts; returns the bytes left in its queue, and whether a paused upstream may go on.
    #[inline]
    fn free(&mut self, egress: u16, head: &Head) -> (u32, bool) {
        let priority = usize::from(head.priority) % PRIORITIES;
        let queued = &mut self.ports[usize::from(egress)].queued[priority];
        *queued = queued.saturating_sub(head.size);
        (*queued, self.buffer.release(usize::from(head.ingress), priority, head.size))
    }

    #[inline]
    fn count_sent(&mut self, egress: u16, now: Nanos, size: u32) {
        self.ports[usize::from(egress)].tx_bytes += u64::from(size);
        if let Some(meter) = &mut self.meter {
            meter.sent(egress, now, size);
        }
    }

    /// Bytes of all frames that left a port, with headers and telemetry, without preamble and gap.
    pub fn sent(&self, egress: u16) -> u64 {
        self.ports[usize::from(egress)].tx_bytes
    }

    /// How many ports it has.
    pub fn ports(&self) -> u16 {
        self.ports.len() as u16
    }

    /// Bytes that wait at a port, PFC frames excepted.
    #[inline]
    pub fn queued(&self, egress: u16) -> u32 {
        self.ports[usize::from(egress)].queued.iter().sum()
    }
}
