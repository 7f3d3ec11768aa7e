// SPDX-License-Identifier: MIT OR Apache-2.0
//! What notifications tell a flow that has no acknowledged records to compare them with: one that has just begun, on a
//! path so long that all it has leaves before the first acknowledgement, or one whose sender never sees records.
//!
//! The drafts leave this open; the rules are this project's:
//!
//! - Two notifications of the same path, at most T apart, are compared with each other. The load of a link is then what
//!   *arrives* at it, txRate + dqlen/dt, and the queue that stands: (arrivals * T + qlen) / (B * T). HPCC's own estimate
//!   has txRate in place of the arrivals. The two are the same once windows bound the flows; before, txRate cannot exceed
//!   B however many flows send, and four flows at line rate would look like one until their queue is as long as the path.
//! - That load is not averaged over T, for there is nothing before it.
//! - A notification without records, or whose records there is nothing to compare with, halves the window, as the first
//!   mark does under DCQCN and DCTCP; once in T at most.
//! - The flow reacts to loads again as soon as its last reaction can show: after the time from its start to the first
//!   notification of this path, or T if that is less. No packet took longer to the place that notifies and no
//!   notification took longer back.

use crate::cc::{NoEffect, Notification};
use crate::telemetry::{Hop, HopStack, LastHops, Modulus, Telemetry};
use crate::units::Nanos;

/// Notifications of one flow.
#[derive(Clone, Debug)]
pub struct Notices {
    base_rtt: Nanos,
    last: LastHops,
    arrived: Nanos,
    /// After a reaction, the time until it shows.
    hold: Nanos,
    reacted: Option<Nanos>,
}

impl Notices {
    /// None has come yet. `base_rtt` is T.
    pub fn new(base_rtt: Nanos) -> Self {
        Notices { base_rtt, last: LastHops::default(), arrived: Nanos(0), hold: base_rtt, reacted: None }
    }

    /// The U to react to, for a target of `eta`.
    ///
    /// # Errors
    /// Why there is nothing to react to.
    pub fn judge(&mut self, notification: &Notification<'_>, eta: f64) -> Result<f64, NoEffect> {
        let load =
            if let Telemetry::Hops(stack) = notification.telemetry { self.load(notification, stack) } else { None };
        let Some(load) = load else { return self.half(notification.now, eta) };
        if load <= eta {
            return Err(NoEffect::NotBusier);
        }
        self.once_in(self.hold, notification.now)?;
        Ok(load)
    }

    /// The U that halves the window.
    ///
    /// # Errors
    /// If the flow has reacted within T.
    pub fn half(&mut self, now: Nanos, eta: f64) -> Result<f64, NoEffect> {
        self.once_in(self.base_rtt, now)?;
        Ok(2.0 * eta)
    }

    /// The load of the busiest link between the last notification and this one; `None` if they cannot be compared. This
    /// one is kept.
    pub fn load(&mut self, notification: &Notification<'_>, stack: &HopStack) -> Option<f64> {
        let now = notification.now;
        if !self.last.is_path_of(stack) {
            self.hold = self.base_rtt.min(notification.age);
        }
        if !self.last.continue_in(now, stack) || now - self.arrived > self.base_rtt {
            self.last.restart(now, stack);
            self.arrived = now;
            return None;
        }
        let loads =
            self.last.pairs(stack).map(|(earlier, later)| arriving(&stack.modulus, earlier, later, self.base_rtt));
        let busiest = loads.collect::<Option<alloc::vec::Vec<f64>>>()?.into_iter().reduce(f64::max);
        self.last.keep(now, stack);
        self.arrived = now;
        busiest
    }

    fn once_in(&mut self, interval: Nanos, now: Nanos) -> Result<(), NoEffect> {
        if self.reacted.is_some_and(|at| now - at < interval) {
            return Err(NoEffect::SameRound);
        }
        self.reacted = Some(now);
        Ok(())
    }
}

/// U of a link by its arrivals between two records; `None` if they are out of order.
fn arriving(modulus: &Modulus, earlier: &Hop, later: &Hop, base_rtt: Nanos) -> Option<f64> {
    let elapsed = modulus.elapsed(earlier, later);
    if elapsed == 0 || elapsed > modulus.ts / 2 || later.rate.0 == 0 {
        return None;
    }
    let bytes_per_nano = later.rate.0 as f64 / 8e9;
    let arrived = modulus.sent(earlier, later) as f64 + later.qlen as f64 - earlier.qlen as f64;
    let rate = (arrived / elapsed as f64 / bytes_per_nano).max(0.0);
    Some(rate + later.qlen as f64 / bytes_per_nano / base_rtt.0.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::NOTIFICATION;
    use crate::units::BitRate;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };
    const T: u64 = 13_000;

    fn hop(ts: u64) -> Hop {
        Hop { rate: BitRate::gbps(100), ts, tx_bytes: 0, qlen: 0 }
    }

    #[test]
    fn notifications_are_compared_up_to_t_apart() {
        let mut notices = Notices::new(Nanos(T));
        let mut is_compared = |now| {
            let mut stack = HopStack::new(MODULUS);
            stack.push(hop(now));
            notices.load(&Notification { now: Nanos(now), ..NOTIFICATION }, &stack).is_some()
        };
        assert_eq!([is_compared(1_000_000), is_compared(1_000_000 + T)], [false, true]);
        assert_eq!([is_compared(1_000_001 + 2 * T), is_compared(1_000_002 + 2 * T)], [false, true]);
    }

    #[test]
    fn records_out_of_order_or_of_no_link_have_no_load() {
        let half = MODULUS.ts / 2;
        let load = |later: &Hop| arriving(&MODULUS, &hop(7), later, Nanos(T));
        assert_eq!(
            (load(&hop(7)), load(&hop(8 + half)), load(&Hop { rate: BitRate(0), ..hop(8) })),
            (None, None, None)
        );
        assert_eq!((load(&hop(8)), load(&hop(7 + half))), (Some(0.0), Some(0.0)));
    }
}
