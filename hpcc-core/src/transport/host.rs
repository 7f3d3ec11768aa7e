// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: its ports, its sending and its receiving queue pairs.

mod answers;
mod controls;
mod receivers;
mod recurrence;
mod results;
mod senders;
mod timers;

pub use receivers::ReceiverSpec;
pub use results::{AckResult, PostResult, TimeoutResult};

use controls::Control;
use receivers::Inbound;

use super::feedback::{Decoder, FeedbackConfig};
use super::flow::{Counters, NicRules};
use super::nic::{Nic, Poll};
use super::receive::{ReceiveBuffer, ReceiveConfig};
use super::sender::Sender;
use super::slab::Slab;
use super::{AnswerSeal, CongestionNotification, TransportConfig};
use crate::cc::{Algorithm, FlowCount, Steers};
use crate::telemetry::Layout;
use crate::topology::routes::RouteTable;
use crate::units::{BitRate, ExactNanos, Nanos};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// What a host is given and never changes.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// How it sends and acknowledges.
    pub transport: TransportConfig,
    /// Congestion control of the flows that start here.
    pub algorithm: Box<dyn Algorithm>,
    /// How telemetry is laid out in a frame.
    pub layout: Layout,
    /// Which packets collect telemetry, and how it comes back.
    pub feedback: FeedbackConfig,
    /// Sizes of the headers of every frame.
    pub sizes: FrameSizes,
}

/// A host's transport. What leads to the flows stands first; most hosts have one port.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    pub(super) nics: SmallVec<[Nic; 1]>,
    pub(super) senders: Slab<Sender>,
    receivers: Slab<Inbound>,
    routes: RouteTable,
    /// Flows that share the last hop, where receivers count them: one for each port.
    flows: Vec<Option<FlowCount>>,
    pub(super) counters: Counters,
    /// The same object for hosts that have the same.
    pub(super) rules: Arc<NicRules>,
    algorithm: Box<dyn Algorithm>,
    /// What flows may have in its place.
    own_controls: Vec<Control>,
    /// Where telemetry is decoded.
    pub(super) decoder: Decoder,
    /// What the NICs of a slow receiver hold: one for each port, or none.
    receive: Vec<ReceiveBuffer>,
    seal: Option<AnswerSeal>,
}

impl Host {
    /// A host whose ports, counted from 0, have these rates.
    pub fn new(config: HostConfig, port_rates: &[BitRate], routes: RouteTable) -> Self {
        let HostConfig { transport, algorithm, layout, feedback, sizes } = config;
        let needs = algorithm.needs().with(&layout);
        let answer = feedback.answer_to(&needs);
        Host {
            rules: Arc::new(NicRules { transport, sizes, layout, feedback, needs, answer }),
            algorithm,
            own_controls: Vec::new(),
            nics: port_rates.iter().map(|&rate| Nic::new(rate, &transport)).collect(),
            routes,
            senders: Slab::default(),
            receivers: Slab::default(),
            decoder: Decoder::default(),
            flows: port_rates.iter().map(|_| None).collect(),
            counters: Counters::default(),
            receive: Vec::new(),
            seal: transport.seal.as_ref().map(AnswerSeal::new),
        }
    }

    /// Shares what both run by with a host of the same configuration, so that it stays in the caches.
    pub fn share_rules(&mut self, other: &Host) {
        self.rules = Arc::clone(&other.rules);
    }

    /// Makes it one that takes what arrives slowly.
    pub fn receive_slowly(&mut self, config: &ReceiveConfig) {
        self.receive = self.nics.iter().map(|_| ReceiveBuffer::new(config.clone())).collect();
    }

    /// What the NIC of a port holds; `None` if frames are taken as they come, or there is no such port.
    pub fn receive_buffer(&mut self, nic: usize) -> Option<&mut ReceiveBuffer> {
        self.receive.get_mut(nic)
    }

    /// How it sends and acknowledges.
    pub fn transport(&self) -> &TransportConfig {
        &self.rules.transport
    }

    /// What of its flows follows their congestion control.
    pub fn steers(&self) -> Steers {
        self.rules.needs.steers
    }

    /// Replaces all routes. Flows stay at their ports until they are [reassigned](Host::reassign).
    pub fn set_routes(&mut self, routes: RouteTable) {
        self.routes = routes;
    }

    /// Whether congestion controls of its flows are a program's, which look at its clock.
    pub fn is_programmed(&self) -> bool {
        self.rules.needs.program
    }

    /// Whether something may call one now.
    pub fn calls_program(&self) -> bool {
        self.is_programmed() && self.senders.len() > 0
    }

    /// Whether all that goes back for data are acknowledgements.
    pub fn only_answers(&self) -> bool {
        self.echoes() && self.rules.transport.notification == CongestionNotification::Echo
    }

    /// The packet that port `nic` may send at `now`; bit n of `paused` stops priority n. Where rates are exact the port may tell the
    /// part of a nanosecond by which it was free before.
    #[inline]
    pub fn poll(&mut self, nic: usize, now: impl Into<ExactNanos>, paused: u8) -> Poll {
        let Some(port) = self.nics.get_mut(nic) else { return Poll::Wait };
        let poll = port.poll(&mut self.senders, &self.rules, now.into(), paused);
        if let Poll::Send(segment) = &poll {
            self.counters.resent += u64::from(segment.again);
        }
        poll
    }

    /// Whether port `nic`, which begins to send a frame, has to be polled when that ends, at `end`. If not, and the caller
    /// `foresees`, a [wake-up](Host::wake_at) may be planned. Bit n of `paused` stops priority n.
    #[inline]
    pub fn awaits_end(&mut self, nic: usize, end: Nanos, paused: u8, foresees: bool) -> bool {
        let port = self.nics.get_mut(nic);
        port.is_some_and(|port| port.awaits_end(&self.senders, &self.rules, end, paused, foresees))
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        let sending = self.senders.iter().filter(|sender| !sender.qp.is_over());
        let sending = sending.map(|sender| sender.qp.controller().baseline_resets());
        let receiving = self.receivers.iter().filter_map(|inbound| inbound.reporting.as_ref());
        let live: u64 = sending.chain(receiving.map(|reporting| reporting.baseline_resets())).sum();
        let receive = self.receive.iter().map(ReceiveBuffer::counters).sum();
        Counters { baseline_resets: self.counters.baseline_resets + live, receive, ..self.counters }
    }

    /// When port `nic` wants to be polled again though nothing else happens.
    #[inline]
    pub fn wake_at(&self, nic: usize) -> Option<Nanos> {
        self.nics.get(nic).and_then(Nic::wake)
    }

    /// The time of [`Host::wake_at`] has come; the caller polls next.
    #[inline]
    pub fn on_wake(&mut self, nic: usize) {
        if let Some(port) = self.nics.get_mut(nic) {
            port.on_wake();
        }
    }
}
