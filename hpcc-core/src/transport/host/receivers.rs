// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving queue pairs: what they answer to data, and what goes back of telemetry.

use super::Host;
use crate::cc::dcqcn::DEFAULT_NOTIFICATION_INTERVAL;
use crate::cc::{FlowCount, FlowLimits, RxHpccConfig};
use crate::recurrence::recurs;
use crate::switch::Section;
use crate::transport::feedback::{Arrived, Reporting};
use crate::transport::flow::{NicRules, flow_id};
use crate::transport::receiver::{AckDecision, Data, Receiver};
use crate::transport::{CongestionNotification, SealedAnswer};
use crate::units::Nanos;
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// What a receiver is told of a flow that will arrive.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSpec {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// What its sender's controller is given.
    pub limits: Arc<FlowLimits>,
    /// Least time between two answers that echo a congestion mark: [`Host::echo_interval`] of its sender.
    pub echo_interval: Nanos,
    /// Whether other messages may follow the first:
    /// [`shares_queue_pairs`](crate::transport::TransportConfig::shares_queue_pairs) of its sender, for such a flow.
    pub is_shared: bool,
}

/// A flow's receiving end as its host stores it.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Inbound {
    /// What goes back of telemetry; `None`: each acknowledgement echoes it.
    pub reporting: Option<Box<Reporting>>,
    receiver: Receiver,
    /// Least time between two answers that echo a congestion mark.
    echo_interval: Nanos,
    /// The flow's identity for both ends.
    flow: u64,
}

/// Rounds of T in which a flow must have brought data to be counted.
const COUNTED_ROUNDS: usize = 2;

impl Host {
    /// Prepares for a flow that will arrive. `None` if there is no room for another queue pair.
    pub fn open_receiver(&mut self, spec: &ReceiverSpec) -> Option<u32> {
        let receiver = if spec.is_shared { Receiver::of_messages(spec.limits.mtu) } else { Receiver::default() };
        let inbound = Inbound { receiver, echo_interval: spec.echo_interval, reporting: None, flow: 0 };
        let key = self.receivers.insert(inbound)?;
        let NicRules { feedback, needs, .. } = &*self.rules;
        if let Some(inbound) = self.receivers.get_mut(key) {
            inbound.flow = flow_id(spec.src, spec.dst, key);
            let reporting = || Box::new(Reporting::new(feedback, needs, Arc::clone(&spec.limits), inbound.flow));
            inbound.reporting = (!feedback.is_echo(needs)).then(reporting);
        }
        if let Some(config @ RxHpccConfig { count_flows: true, .. }) = needs.receiver {
            self.count_flows(&config, spec.limits.base_rtt);
        }
        Some(key)
    }

    /// Each port counts its flows from now on, if it does not yet.
    fn count_flows(&mut self, config: &RxHpccConfig, base_rtt: Nanos) {
        for flows in &mut self.flows {
            flows.get_or_insert_with(|| FlowCount::new(base_rtt, COUNTED_ROUNDS, config.law.expected_flows));
        }
    }

    /// The flow of a receiving queue pair has finished. Packets that still arrive are for nobody. (In the
    /// 2019 simulator they find it as it was at the start.)
    pub fn close_receiver(&mut self, receiver: u32) {
        let reporting = self.receivers.get(receiver).and_then(|inbound| inbound.reporting.as_ref());
        self.counters.baseline_resets += reporting.map_or(0, |reporting| reporting.baseline_resets());
        if !self.rules.transport.faults.nack_late_packets {
            self.receivers.remove(receiver);
            return;
        }
        if let Some(inbound) = self.receivers.get_mut(receiver) {
            *inbound = Inbound::default();
            self.receivers.retire(receiver);
        }
    }

    /// The answer to a data packet.
    #[inline]
    pub fn on_data(&mut self, now: Nanos, receiver: u32, data: &Data) -> AckDecision {
        let transport = &self.rules.transport;
        let answer = match self.receivers.get_mut(receiver) {
            Some(inbound) => inbound.receiver.answer(transport, now, inbound.echo_interval, data),
            None if transport.faults.nack_late_packets => Receiver::default().answer(transport, now, Nanos(0), data),
            None => AckDecision { untold: data.congestion_marked, ..AckDecision::NONE },
        };
        self.count_answer(&answer);
        answer
    }

    /// The answer to a packet without its payload.
    pub fn on_trimmed(&mut self, now: Nanos, receiver: u32, data: &Data, at_last_hop: bool) -> AckDecision {
        self.counters.trims_heard += 1;
        let transport = &self.rules.transport;
        let answer = match self.receivers.get_mut(receiver) {
            Some(inbound) => inbound.receiver.answer_trimmed(transport, now, inbound.echo_interval, data, at_last_hop),
            None => AckDecision { untold: data.congestion_marked, ..AckDecision::NONE },
        };
        self.count_answer(&answer);
        answer
    }

    #[inline]
    fn count_answer(&mut self, answer: &AckDecision) {
        self.counters.cnps += u64::from(answer.notify);
        self.counters.marks_merged += u64::from(answer.merged);
        self.counters.marks_untold += u64::from(answer.untold);
    }

    /// Least time between two answers to packets of a flow from here that echo a congestion mark: DCQCN hears once in
    /// an interval, all others of every packet. Notification packets have an interval under any algorithm. `own`: the number of its
    /// [congestion control](Host::add_control), if it has its own.
    pub fn echo_interval(&self, own: Option<u16>) -> Nanos {
        let transport = &self.rules.transport;
        match self.control(own).1.notification_interval {
            Some(interval) if !transport.faults.notify_every_mark => interval,
            Some(_) | None => match transport.notification {
                CongestionNotification::Packet | CongestionNotification::FastCnp => DEFAULT_NOTIFICATION_INTERVAL,
                CongestionNotification::Echo => Nanos(0),
            },
        }
    }

    /// The first byte that has not arrived in order; `None` for a flow that is not known.
    pub fn expected(&self, receiver: u32) -> Option<u64> {
        self.receivers.get(receiver).map(|inbound| inbound.receiver.expected())
    }

    /// How many of the `size` bytes from `start` on have arrived at a receiving queue pair; `None` for one that is not known.
    pub fn arrived(&self, receiver: u32, start: u64, size: u64) -> Option<u64> {
        let transport = &self.rules.transport;
        self.receivers.get(receiver).map(|inbound| inbound.receiver.arrived(transport, start, size))
    }

    /// Whether all bytes from `start` to `end` have arrived at a receiving queue pair.
    pub fn has_arrived(&self, receiver: u32, start: u64, end: u64) -> bool {
        let transport = &self.rules.transport;
        self.receivers.get(receiver).is_some_and(|inbound| inbound.receiver.has_arrived(transport, start, end))
    }

    /// Puts what goes back for a packet that came by port `nic` in place of its telemetry; data packets go through
    /// [`Host::on_data`] first. Returns whether that takes a packet of its own.
    pub fn on_telemetry(&mut self, nic: usize, receiver: u32, arrived: &Arrived, section: &mut Section<'_>) -> bool {
        let reporting = self.receivers.get_mut(receiver).and_then(|inbound| inbound.reporting.as_mut());
        let Some(reporting) = reporting else {
            section.len = 0;
            return false;
        };
        let flows = self.flows.get_mut(nic).and_then(Option::as_mut);
        reporting.on_packet(&self.rules.layout, arrived, section, self.decoder.stack(), flows)
    }

    /// Whether what goes back must be [sealed](Host::seal_answer).
    pub fn seals_answers(&self) -> bool {
        self.seal.is_some()
    }

    /// Seals the answer of a receiving queue pair, which brings `len` bytes of telemetry at the front of `bytes`. Returns how
    /// many bytes there are then.
    pub fn seal_answer(&self, receiver: u32, answer: &SealedAnswer, bytes: &mut [u8], len: usize) -> usize {
        let Some(seal) = &self.seal else { return len };
        let flow = self.receivers.get(receiver).map_or(0, |inbound| inbound.flow);
        seal.seal(flow, answer, bytes, len)
    }

    /// Whether acknowledgements echo telemetry, and that is all: [`Host::on_telemetry`] need not be asked.
    pub fn echoes(&self) -> bool {
        self.rules.feedback.is_echo(&self.rules.needs)
    }

    /// Bytes on the link of an acknowledgement that carries `telemetry` bytes and, if `selective`, names a packet that
    /// arrived out of order.
    #[inline]
    pub fn ack_bytes(&self, telemetry: u32, selective: bool) -> u32 {
        let selective = if selective { FrameSizes::SELECTIVE_ACK } else { 0 };
        self.rules.sizes.ack(telemetry + selective)
    }

    /// Bytes on the link of telemetry of `telemetry` bytes that comes back by itself.
    pub fn feedback_bytes(&self, telemetry: u32) -> u32 {
        self.rules.sizes.feedback(telemetry)
    }
}

recurs! { Inbound { reporting: absent, receiver: part, echo_interval: constant, flow: constant, } }
