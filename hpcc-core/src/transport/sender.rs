// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a flow as its host stores it.

use super::feedback::{Heard, Listener};
use super::host::{Counters, PROBE_TIMER, Probe};
use super::nic::NicRules;
use super::queue_pair::{Effects, QueuePair};
use super::{Ack, SenderSpec};
use crate::cc::{Armed, Feedback};
use crate::random::Chance;
use crate::units::Nanos;
use alloc::boxed::Box;

/// A flow's sending end.
#[derive(Clone, Debug)]
pub struct Sender {
    pub qp: QueuePair,
    pub spec: SenderSpec,
    /// Port that it sends on.
    pub nic: usize,
    /// Which packets collect telemetry, and what to believe of it; `None`: all, and everything.
    pub listener: Option<Box<Listener>>,
}

impl Sender {
    /// A data packet leaves. Returns whether it collects telemetry, and timers that were armed.
    #[inline]
    pub fn sample(&mut self, now: Nanos) -> (bool, Armed) {
        let Some(listener) = &mut self.listener else { return (true, Armed(0)) };
        let sampler = listener.sampler();
        let waits = sampler.poll_timeout().is_some();
        let collects = sampler.on_data(now);
        let probes = !waits && sampler.poll_timeout().is_some();
        (collects, Armed(u8::from(probes) << PROBE_TIMER))
    }

    /// Tells the controller what an acknowledgement brought.
    #[inline]
    pub fn hear(
        &mut self,
        rules: &NicRules,
        heard: &mut Heard,
        counters: &mut Counters,
        now: Nanos,
        ack: &Ack<'_>,
        chance: &mut Chance,
    ) -> Effects {
        counters.feedback += u64::from(!ack.telemetry.is_empty());
        let NicRules { transport, layout, answer, .. } = rules;
        let telemetry = match &mut self.listener {
            None => heard.read(*answer, layout, ack.telemetry),
            Some(listener) => {
                let rejected = listener.rejected();
                let telemetry = heard.read(*answer, layout, listener.open(ack.seq, ack.telemetry));
                let delivered = if transport.is_selective() { 0 } else { ack.seq };
                let admitted = listener.admit(now, delivered, telemetry);
                counters.rejected += listener.rejected() - rejected;
                admitted
            }
        };
        let feedback = Feedback {
            now,
            ack_seq: ack.seq,
            snd_nxt: self.qp.snd_nxt(),
            congestion_marked: ack.congestion_marked,
            telemetry,
        };
        let rate = self.qp.rate();
        let effects = self.qp.on_feedback(transport, &feedback, chance);
        if let Some(listener) = self.listener.as_mut().filter(|_| self.qp.rate() < rate) {
            listener.sampler().on_slow_down(now);
        }
        effects
    }

    /// When the next probe is due, if probes are.
    pub fn next_probe(&mut self) -> Option<Nanos> {
        self.listener.as_mut().and_then(|listener| listener.sampler().poll_timeout())
    }

    /// The time of a probe has come: it leaves if data is in flight.
    pub fn take_probe(&mut self, rules: &NicRules, now: Nanos) -> Option<Probe> {
        let leaves = self.listener.as_mut()?.sampler().on_timeout(now, self.qp.in_flight());
        let frame = rules.sizes.data(0, false, rules.layout.initial_len() as u32);
        leaves.then(|| Probe { sender: self.spec, seq: self.qp.snd_nxt(), frame })
    }
}
