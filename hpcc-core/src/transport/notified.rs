// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host does with a congestion notification: the flow's controller hears of it.

use super::{Host, SenderSpec};
use crate::cc::{Armed, Notification, Origin};
use crate::fast_cnp::CopiedTrace;
use crate::telemetry::{Layout, Telemetry};
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
    /// `None` if the flow is not under way.
    pub fn on_notification(
        &mut self,
        now: Nanos,
        queue_pair: u32,
        origin: Origin,
        trace: Option<&CopiedTrace<'_>>,
    ) -> Option<Notified> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_finished())?;
        let telemetry = match (trace, self.rules.layout) {
            (Some(trace), Layout::Ioam { profile, .. }) => trace.telemetry(profile, self.decoder.stack()),
            _ => Telemetry::Nothing,
        };
        let effects = sender.qp.on_notification(&self.rules.transport, &Notification { now, telemetry, origin });
        let armed = self.nics.get_mut(sender.nic)?.take_effects(&effects, sender, now);
        Some(Notified { nic: sender.nic, armed })
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
