// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared-buffer switch: route, admission, pause, ECN mark, telemetry stamp.
//!
//! The queues themselves belong to the simulator: it asks the switch where a frame goes ([`Switch::route`]) and whether it may
//! wait there ([`Switch::admit`]), tells when it [departs](Switch::depart), or that it [passes](Switch::cut_through) without waiting,
//! and does what the answers say.

mod as_plan;
mod buffer;
mod buffer_plan;
mod cell_buffer;
recurs! {
    Switch {
        ports: part,
        buffer: part,
        reference: constant,
        id: constant,
        hop_limits: constant,
        reports_plainly: constant,
        keeps: elsewhere,
        routes: constant,
        marks: constant,
        watchdog: absent,
        balancer: constant,
        stopped: plain,
        layout: constant,
        told_id: constant,
        meter: absent,
        strips: constant,
        last_links: constant,
        trimming: absent,
        report: absent,
        records: absent,
    }
}

#[cfg(test)]
mod cell_buffer_tests;
mod class_limits;
mod classes;
mod config;
mod credit_buffer;
mod egress;
mod lossy_buffer;
mod passing;
mod records;
mod report;
mod scheduler;
mod settings;
mod shared_buffer;
pub mod source_pause;
mod stamping;
#[cfg(test)]
mod tests;
mod trimming;

pub use crate::balance::{FlowKey, HOST_SEED};
pub use crate::pfc::PRIORITIES;
pub use crate::priorities::Priorities;
pub use as_plan::AsPlan;
pub use buffer_plan::{BufferPlan, BufferPool, BufferProfile, PortPlace, ProfileUse, Side, Threshold};
pub use cell_buffer::{CellBuffer, NoRoom};
pub use class_limits::ByPriority;
pub use classes::{Classes, MAX_QUANTUM};
pub use config::{BufferMode, SwitchConfig};
pub use passing::{Arriving, Departing, Departure, Head, Route, Section};
pub use records::{Records, RecordsConfig, Reported};
pub use report::{ReportConfig, Scope, Wait};
pub use scheduler::{Backlog, Scheduler, Service};
pub use settings::{BufferKind, Overflow, SwitchSettings, USUAL_HEADERS, WatchdogAction, WatchdogConfig};
pub use shared_buffer::{Admission, PauseConfig, RESERVE, SharedBuffer};
pub use trimming::TrimConfig;

use crate::recurrence::recurs;
use buffer::Buffer;
use egress::{EgressPort, Marks, View};
use report::Report;

use crate::balance::{Choice, EcmpBalancer, LoadBalancer};
use crate::random::Rng;
use crate::telemetry::{Layout, Meter, Reference};
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::offset_of;

/// One switch. What every frame needs stands in two cache lines: between two frames of a switch a large network touches much
/// else.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Switch {
    ports: Box<[EgressPort]>,
    buffer: Buffer,
    /// The layout, if it is the 2019 simulator's, whose stamp needs no call.
    reference: Option<Reference>,
    id: u32,
    hop_limits: bool,
    /// Whether telemetry is none or the 2019 simulator's, and of each frame the port's own counters, as mostly.
    reports_plainly: bool,
    /// Whether frames of a flow leave by one port until routes change, data as well.
    keeps: bool,
    // The second cache line: see the assertion below.
    routes: RouteTable,
    // Fields that few frames need.
    marks: Marks,
    watchdog: Option<WatchdogConfig>,
    balancer: Box<dyn LoadBalancer>,
    /// Priorities that the far end of each port pauses: bit n stands for priority n.
    stopped: Vec<u8>,
    layout: Layout,
    /// Id of the switch in telemetry.
    told_id: u32,
    /// What the layout tells beyond a snapshot.
    meter: Option<Box<dyn Meter>>,
    /// Of each port, whether telemetry is taken off what leaves by it.
    strips: Vec<bool>,
    /// Of each port, whether it leads to a host that has several links here; empty if there is none.
    last_links: Vec<bool>,
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
            buffer: Buffer::new(id, config, host_rate, ports),
            ports: rates().map(|rate| EgressPort::new(rate, &marks, config.trimming.as_ref())).collect(),
            trimming: config.trimming,
            marks,
            keeps: true,
            balancer: Box::new(EcmpBalancer { seed: id, weighted: false }),
            stopped: alloc::vec![0; ports.len()],
            reports_plainly: is_short && report.is_none() && records.is_none(),
            meter,
            strips: Vec::new(),
            last_links: Vec::new(),
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

    /// Whether what chooses among paths is a program's, which looks at its clock.
    pub fn is_programmed(&self) -> bool {
        self.balancer.is_programmed()
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

    /// These ports lead to hosts with several links here.
    pub fn lead_to_hosts(&mut self, ports: Vec<bool>) {
        self.last_links = ports;
    }

    /// Whether next hops are links to their destination, whose addresses say which one a flow takes.
    #[inline]
    fn are_last(&self, hops: &[u16]) -> bool {
        hops.first().is_some_and(|&hop| self.last_links.get(usize::from(hop)) == Some(&true))
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
        let hops = self.routes.next_hops(frame.dst);
        let has_choice = frame.is_data && !self.keeps && hops.len() > 1 && !self.are_last(hops);
        if has_choice { None } else { self.egress(Nanos(0), frame, rng) }
    }

    /// The port by which a frame leaves, if there is a route.
    fn egress(&mut self, now: Nanos, frame: &Arriving, rng: &mut Rng) -> Option<u16> {
        let &Arriving { dst, ref key, priority, is_data, .. } = frame;
        let hops = self.routes.next_hops(dst);
        if hops.len() > 1 && self.are_last(hops) {
            return key.last_link(self.id, hops);
        }
        if hops.len() < 2 || !(is_data || self.keeps) {
            return key.choose(self.id, hops);
        }
        let ports = &View { ports: &self.ports, paused: &self.stopped };
        Some(self.balancer.choose(&Choice { now, dst, key, priority, hops, ports }, &mut rng.rand))
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
        let admission = self.buffer.admit(ingress.into(), Some(egress.into()), *queued, priority, size);
        if admission != Admission::Drop {
            *queued += size;
        }
        admission
    }

    /// Whether a frame that came in by port `ingress` may wait for others of its flow, in a queue of its own.
    pub fn may_wait(&self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority == 0 || self.buffer.has_room(ingress.into(), priority, size)
    }

    /// It waits. Returns whether its sender is to pause.
    pub fn hold(&mut self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority != 0 && self.buffer.admit(ingress.into(), None, 0, priority, size) == Admission::Admit { pause: true }
    }

    /// A frame that was held waits no longer. Returns whether to resume its sender.
    pub fn let_go(&mut self, ingress: u16, priority: u8, size: u32) -> bool {
        let priority = usize::from(priority) % PRIORITIES;
        priority != 0 && self.buffer.release(ingress.into(), None, priority, size)
    }

    /// A frame that was held waits at port `egress` from now on.
    pub fn hand_on(&mut self, egress: u16, priority: u8, size: u32) {
        let priority = usize::from(priority) % PRIORITIES;
        if priority != 0 {
            self.ports[usize::from(egress)].queued[priority] += size;
            self.buffer.join(egress.into(), priority, size);
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
            if !self.buffer.can_cut_through(head.ingress.into(), egress.into(), queued, priority, head.size) {
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

    /// A frame that waits at port `egress` is thrown away: frees its buffer. Returns whether to tell its sender.
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
        self.buffer.paused(ingress.into())
    }

    /// The priorities whose senders at port `ingress` wait: they are paused, or have no credits for a frame.
    pub fn stops(&self, ingress: u16) -> u8 {
        self.buffer.stops(ingress.into())
    }

    /// Why the last frame that was dropped found no room, if memory is divided by a [plan](BufferPlan).
    pub fn refused(&self) -> Option<NoRoom> {
        self.buffer.refused()
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
        (*queued, self.buffer.release(head.ingress.into(), Some(egress.into()), priority, head.size))
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
