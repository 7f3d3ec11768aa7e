// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers of sending queue pairs.

use super::{Host, TimeoutResult};
use crate::cc::{Armed, LossSignal};
use crate::transport::flow::{PATH_TIMER, PROBE_TIMER};
use crate::transport::queue_pair::QueuePair;
use crate::transport::timeout::RETRANSMISSION_TIMER;
use crate::units::Nanos;

impl Host {
    /// When a timer of a flow is due, if it is armed.
    pub fn timeout(&mut self, queue_pair: u32, timer: u8) -> Option<Nanos> {
        let sender = self.senders.get_mut(queue_pair)?;
        if timer == PROBE_TIMER || timer == PATH_TIMER {
            return sender.next_probe(timer);
        }
        sender.qp.timeout(timer)
    }

    /// The time of a flow's timer has come. `None` if the flow is not under way.
    pub fn on_timeout(&mut self, now: Nanos, queue_pair: u32, timer: u8) -> Option<TimeoutResult> {
        if timer == PROBE_TIMER || timer == PATH_TIMER {
            return self.on_probe_timer(now, timer, queue_pair);
        }
        // A program's controller looks at a clock: its timers fire while nothing is to be sent, too. Others' fire then when something is.
        let is_clocked = |qp: &QueuePair| timer != RETRANSMISSION_TIMER && qp.controller().object().is_some();
        let is_done = |qp: &QueuePair| if is_clocked(qp) { qp.is_over() } else { qp.is_finished() };
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !is_done(&sender.qp))?;
        if timer == RETRANSMISSION_TIMER {
            let in_flight = sender.qp.in_flight();
            let send = sender.qp.on_retransmission_timer(&self.rules.transport, now);
            self.counters.timeouts += u64::from(send);
            if !send {
                if sender.qp.is_cut_off && in_flight == 0 {
                    sender.qp.park_timer(now);
                }
                return Some(TimeoutResult { nic: sender.nic(), armed: sender.qp.take_armed(), send, probe: None });
            }
            if let Some(entropies) = &mut sender.entropies {
                entropies.on_timeout(now);
            }
            let effects = sender.qp.on_loss(&self.rules.transport, now, in_flight, LossSignal::Timeout);
            let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
            return Some(TimeoutResult { nic: sender.nic(), armed, send, probe: None });
        }
        let effects = sender.qp.on_timer(&self.rules.transport, timer, now);
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(TimeoutResult { nic: sender.nic(), armed, send: false, probe: None })
    }

    fn on_probe_timer(&mut self, now: Nanos, timer: u8, queue_pair: u32) -> Option<TimeoutResult> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_over())?;
        let probe = sender.take_probe(&self.rules, timer, now);
        self.counters.probes += u64::from(probe.is_some());
        let armed = Armed(u8::from(sender.next_probe(timer).is_some()) << timer);
        let (nic, own) = (sender.nic(), sender.nic_of_own);
        let elsewhere = probe.as_ref().filter(|_| timer == PATH_TIMER);
        let elsewhere = elsewhere.and_then(|probe| self.port_of_spec(&probe.sender, own));
        let nic = elsewhere.unwrap_or(nic);
        Some(TimeoutResult { nic, armed, send: false, probe })
    }
}
