// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host does with a congestion notification: the flow's controller hears of it.

use super::flow::NicRules;
use super::{Ack, CongestionNotification, Host, SenderSpec};
use crate::cc::{Armed, Effect, NoEffect, Notification, Origin, Signal};
use crate::fast_cnp::CopiedTrace;
use crate::frame::PacketKind;
use crate::telemetry::{HopStack, Ioam, Telemetry};
use crate::units::Nanos;

/// What a notification led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notified {
    /// The port of the flow, whose wake-up may have moved.
    pub nic: usize,
    /// Timers of the flow that were armed.
    pub armed: Armed,
}

impl Host {
    /// A notification that was believed is about a flow of this host; `trace` holds the records that it brought.
    ///
    /// Records are left out if the flow's telemetry is sealed, for a switch has no key, or if its guard finds that they
    /// cannot be true; the notification then counts as one without.
    ///
    /// # Errors
    /// Why it changes nothing.
    pub fn on_notification(
        &mut self,
        now: Nanos,
        queue_pair: u32,
        origin: Origin,
        trace: Option<&CopiedTrace<'_>>,
    ) -> Result<Notified, NoEffect> {
        let Host { senders, rules, decoder, counters, nics, .. } = self;
        let Some(sender) = senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_over()) else {
            counters.marks_untold += u64::from(origin == Origin::Receiver);
            return Err(NoEffect::Finished);
        };
        counters.marks_heard += u64::from(origin == Origin::Receiver);
        let mut telemetry = records(rules, trace, decoder.stack());
        if let Some(listener) = &mut sender.listener {
            let rejected = listener.rejected();
            telemetry = listener.admit_notified(now, telemetry);
            listener.rejected().add_since(rejected, &mut counters.rejected);
        }
        let signal = match telemetry {
            Telemetry::Hops(_) => Signal::FastCnpWithRecords,
            Telemetry::Nothing
            | Telemetry::Overwritten(_)
            | Telemetry::Link(_)
            | Telemetry::SentAt(_)
            | Telemetry::Utilisation(_)
            | Telemetry::Window(_)
            | Telemetry::Signal(_)
            | Telemetry::Bolt(_) => Signal::FastCnp,
        };
        let reaction = sender.reaction;
        match reaction.to(signal) {
            Effect::Mark | Effect::Load | Effect::Half => {}
            Effect::Nothing if reaction.to(Signal::FastCnpWithRecords) == Effect::Nothing => {
                return Err(NoEffect::NoReaction);
            }
            Effect::Nothing => return Err(NoEffect::NoRecords),
        }
        let notification = Notification { now, age: now - sender.opened, telemetry, origin };
        let effects = sender.on_notification(&rules.transport, &notification)?;
        let armed = nics[sender.nic()].take_effects(&effects, sender, now);
        Ok(Notified { nic: sender.nic(), armed })
    }

    /// A congestion notification packet of the receiver is about a flow of this host. It counts only where receivers are told to
    /// send such packets; `tag` is its seal, where it has one.
    ///
    /// # Errors
    /// Why it changes nothing.
    pub fn on_cnp(&mut self, now: Nanos, queue_pair: u32, tag: &[u8]) -> Result<Notified, NoEffect> {
        if self.rules.transport.notification != CongestionNotification::Packet {
            self.counters.refused.unasked += 1;
            return Err(NoEffect::NoReaction);
        }
        let cnp = Ack { queue_pair, seq: 0, telemetry: tag, ..Ack::default() };
        self.opened(PacketKind::Cnp, &cnp).ok_or(NoEffect::NoReaction)?;
        self.on_notification(now, queue_pair, Origin::Receiver, None)
    }

    /// A switch asks a flow to hold its packets until then.
    ///
    /// # Errors
    /// If it has finished.
    pub fn pause(&mut self, queue_pair: u32, until: Nanos) -> Result<Notified, NoEffect> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_over());
        let sender = sender.ok_or(NoEffect::Finished)?;
        sender.qp.hold(until);
        self.nics[sender.nic()].ask(sender.seat);
        Ok(Notified { nic: sender.nic(), armed: Armed(0) })
    }

    /// Bytes on the link of a notification with `options` bytes of destination options.
    pub fn notification_bytes(&self, options: u32) -> u32 {
        self.rules.sizes.cnp(options)
    }

    /// The flow goes on with another UDP source port, and so perhaps by another path.
    pub fn set_source_port(&mut self, queue_pair: u32, sport: u16) {
        if let Some(sender) = self.senders.get_mut(queue_pair) {
            sender.spec = SenderSpec { sport, ..sender.spec };
        }
    }

    /// The UDP source port of a flow; `None` for one that is not known.
    pub fn source_port(&self, queue_pair: u32) -> Option<u16> {
        self.senders.get(queue_pair).map(|sender| sender.spec.sport)
    }
}

/// The records of a trace, if it is one of this deployment's.
fn records<'s>(rules: &NicRules, trace: Option<&CopiedTrace<'_>>, stack: &'s mut HopStack) -> Telemetry<'s> {
    match (trace, rules.layout.codec::<Ioam>()) {
        (Some(trace), Some(ioam)) => trace.telemetry(ioam.profile, stack),
        _ => Telemetry::Nothing,
    }
}
