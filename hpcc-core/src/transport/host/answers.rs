// SPDX-License-Identifier: MIT OR Apache-2.0
//! What senders make of acknowledgements and feedback.

use super::{AckResult, Host};
use crate::cc::{Armed, LossSignal};
use crate::frame::PacketKind;
use crate::random::Rng;
use crate::transport::SealedAnswer;
use crate::transport::flow::{Ack, SenderSpec, flow_id};
use crate::transport::queue_pair::Acked;
use crate::transport::recovery::Sack;
use crate::units::Nanos;

impl Host {
    /// The answer without its seal; `None`, and counted, if that is missing or another's.
    pub(in crate::transport) fn opened<'a>(&mut self, kind: PacketKind, answer: &Ack<'a>) -> Option<Ack<'a>> {
        let Some(seal) = &self.seal else { return Some(*answer) };
        let SenderSpec { src, dst, receiver, .. } = self.senders.get(answer.queue_pair)?.spec;
        let &Ack { seq, congestion_marked: congestion_echo, selective, trimmed, telemetry, .. } = answer;
        let sealed = SealedAnswer { kind, seq, congestion_echo, selective, trimmed };
        let opened = seal.open(flow_id(src, dst, receiver), &sealed, telemetry);
        self.counters.refused.unsealed += u64::from(opened.is_none());
        opened.map(|telemetry| Ack { telemetry, ..*answer })
    }

    /// Takes in an acknowledgement. `None` if it is for no flow that is under way, or not sealed as it must be.
    #[inline]
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let result = if self.seal.is_none() {
            self.take_ack(now, ack, rng)
        } else {
            let opened = self.opened(if ack.nack { PacketKind::Nack } else { PacketKind::Ack }, ack);
            opened.and_then(|ack| self.take_ack(now, &ack, rng))
        };
        self.counters.marks_untold += u64::from(ack.congestion_marked && result.is_none());
        result
    }

    #[inline]
    fn take_ack(&mut self, now: Nanos, ack: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let sender = self.senders.get_mut(ack.queue_pair).filter(|sender| !sender.qp.is_finished())?;
        let (transport, qp) = (&self.rules.transport, &mut sender.qp);
        let last = |sack: Sack| sack.packets(transport.mtu).next_back();
        let named = ack.selective.or(ack.trimmed.map(|trimmed| trimmed.seq)).or(ack.sack.and_then(last)).unwrap_or(0);
        if !qp.may_be_expected(transport, ack.seq.max(named)) {
            self.counters.refused.unsent += 1;
            return None;
        }
        if let Some(entropies) = &mut sender.entropies {
            entropies.on_ack(ack.port, ack.congestion_marked);
        }
        let in_flight = qp.in_flight();
        let Acked { bytes: acked, messages: finished } = qp.on_ack(transport, ack.seq);
        if transport.recovers() {
            qp.recover(transport, now, acked > 0, ack);
        } else if ack.nack {
            qp.go_back();
        }
        let signal = match ack.trimmed {
            Some(trimmed) => Some(LossSignal::Trimmed { at_last_hop: trimmed.at_last_hop }),
            None => {
                let has_gap = ack.nack || ack.sack.is_some();
                (has_gap && qp.misses_packets(transport)).then_some(LossSignal::Nack)
            }
        };
        let lost = signal.map(|signal| qp.on_loss(transport, now, in_flight, signal));
        self.counters.marks_heard += u64::from(ack.congestion_marked);
        let mut effects = sender.on_feedback(&self.rules, &mut self.decoder, &mut self.counters, now, ack, acked, rng);
        let is_finished = sender.qp.is_finished();
        if is_finished && sender.qp.is_over() {
            self.counters.baseline_resets += sender.qp.controller().baseline_resets();
        }
        if let Some(lost) = lost {
            effects = effects.and(lost);
        }
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(AckResult { nic: sender.nic(), finished, armed: if is_finished { Armed(0) } else { armed } })
    }

    /// Takes in feedback that came in a packet of its own, about the path of its UDP source port: of an acknowledgement,
    /// only queue pair, byte, port and telemetry. `None` if it is for no flow that is under way.
    pub fn on_feedback(&mut self, now: Nanos, feedback: &Ack<'_>, rng: &mut Rng) -> Option<AckResult> {
        let port = feedback.port;
        let feedback = &self.opened(PacketKind::Feedback, feedback)?;
        let sender = self.senders.get_mut(feedback.queue_pair).filter(|sender| !sender.qp.is_over())?;
        let (rules, decoder, counters) = (&self.rules, &mut self.decoder, &mut self.counters);
        if !sender.qp.may_be_expected(&rules.transport, feedback.seq) {
            counters.refused.unsent += 1;
            return None;
        }
        let lacks_seal =
            feedback.telemetry.is_empty() && sender.listener.as_ref().is_some_and(|listener| listener.seals_packets());
        counters.rejected.by_seal += u64::from(lacks_seal);
        if port != sender.spec.sport && sender.entropies.is_none() {
            let moves = sender.on_path_feedback(rules, decoder, counters, now, port, feedback, rng);
            counters.moves += u64::from(moves);
            let nic = if moves { self.follow_path(feedback.queue_pair)? } else { sender.nic() };
            return Some(AckResult { nic, finished: 0, armed: Armed(0) });
        }
        if rules.feedback.notification_acks {
            return self.take_ack(now, feedback, rng);
        }
        let effects = sender.on_feedback(rules, decoder, counters, now, feedback, 0, rng);
        let armed = self.nics[sender.nic()].take_effects(&effects, sender, now);
        Some(AckResult { nic: sender.nic(), finished: 0, armed })
    }
}
