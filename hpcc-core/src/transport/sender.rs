// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end of a flow as its host stores it.

use super::entropy::Entropies;
use super::feedback::{Decoder, Listener};
use super::flow::{Counters, NicRules, PATH_TIMER, PROBE_TIMER, Probe};
use super::path_probes::PathProbes;
use super::queue_pair::{Effects, QueuePair, SegmentRange};
use super::send_times::SendTimes;
use super::{Ack, SenderSpec, TransportConfig};
use crate::cc::{Armed, Feedback, NoEffect, Notification, Reaction};
use crate::random::Rng;
use crate::recurrence::recurs;
use crate::telemetry::{Sampler, Telemetry};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use core::mem::offset_of;

/// A flow's sending end. What every packet and acknowledgement needs stands first; with its key in a [`super::slab::Slab`] the
/// first cache line ends before the queue pair.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    /// Which packets collect telemetry, and what to believe of it; `None`: all, and everything.
    pub listener: Option<Box<Listener>>,
    /// When packets left, for a controller that goes by round-trip times.
    pub send_times: Option<Box<SendTimes>>,
    /// Port that it sends on.
    pub nic: u32,
    /// Its place among the members of that port, if the port keeps [`Turns`](super::turns::Turns).
    pub seat: u32,
    /// When it could send its first packet.
    pub opened: Nanos,
    pub spec: SenderSpec,
    /// The port that it was given, while that leads to its destination.
    pub nic_of_own: Option<u8>,
    pub qp: QueuePair,
    /// Source ports of its packets; `None`: all have the flow's.
    pub entropies: Option<Box<Entropies>>,
    /// What its controller does about notifications.
    pub reaction: Reaction,
}

const _: () = assert!(offset_of!(Sender, qp) == 64 - size_of::<u64>());

impl Sender {
    /// Port that it sends on.
    #[inline]
    pub fn nic(&self) -> usize {
        self.nic as usize
    }

    /// A data packet that ends before byte `end` leaves. Returns whether it collects telemetry, and timers that were armed.
    #[inline]
    pub fn sample(&mut self, now: Nanos, end: u64) -> (bool, Armed) {
        let Some(listener) = &mut self.listener else { return (true, Armed(0)) };
        let (collects, armed) = sample(listener.sampler(), now, PROBE_TIMER);
        if let Some(silence) = listener.silence().filter(|_| collects) {
            silence.on_asked(end);
        }
        let Some(paths) = listener.paths() else { return (collects, armed) };
        let (_, looks) = sample(paths.sampler(), now, PATH_TIMER);
        (collects, Armed(armed.0 | looks.0))
    }

    /// A data packet has left, of whose message these bytes were left: who asked for it hears of it, and labels it.
    pub fn tell_sent(&mut self, rules: &NicRules, now: Nanos, range: &SegmentRange, left: u64) -> u8 {
        if let Some(times) = &mut self.send_times {
            times.on_sent(now, range.seq, range.seq + u64::from(range.payload), range.again);
        }
        if rules.needs.sent { self.qp.tell_sent(now, range, left) } else { 0 }
    }

    /// Tells the controller what an acknowledgement brought, which acknowledged `acked` bytes.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "parts of the host that are borrowed one by one")]
    pub fn on_feedback(
        &mut self,
        rules: &NicRules,
        decoder: &mut Decoder,
        counters: &mut Counters,
        now: Nanos,
        ack: &Ack<'_>,
        acked: u64,
        rng: &mut Rng,
    ) -> Effects {
        let bytes = ack.telemetry;
        let brings = self.listener.as_ref().map_or(!bytes.is_empty(), |listener| listener.is_answer(bytes));
        counters.feedback += u64::from(brings);
        let NicRules { transport, layout, answer, feedback, .. } = rules;
        let rate = self.qp.rate();
        let mut effects = Effects::NONE;
        let telemetry = match &mut self.listener {
            None => decoder.read(*answer, layout, ack.telemetry),
            Some(listener) => {
                let rejected = listener.rejected();
                let (older, newest) = feedback.sections(listener.open(ack.seq, ack.telemetry));
                for section in older {
                    let telemetry = decoder.read(*answer, layout, section);
                    effects = effects.and(self.qp.on_older_records(transport, now, telemetry, rng));
                }
                let telemetry = decoder.read(*answer, layout, newest);
                let delivered = if transport.is_selective() { 0 } else { ack.seq };
                listener.on_sent(self.qp.snd_max());
                let admitted = listener.admit(now, delivered, telemetry);
                listener.rejected().add_since(rejected, &mut counters.rejected);
                if let (Some(paths), Telemetry::Hops(stack)) = (listener.paths(), admitted) {
                    paths.on_data(now, stack);
                }
                admitted
            }
        };
        let feedback = Feedback {
            now,
            ack_seq: ack.seq,
            snd_nxt: self.qp.snd_nxt(),
            acked,
            rtt: self.send_times.as_mut().and_then(|times| times.on_ack(now, ack.seq)),
            congestion_marked: ack.congestion_marked,
            telemetry,
        };
        let heard = !matches!(telemetry, Telemetry::Nothing);
        effects = effects.and(self.qp.on_feedback(transport, &feedback, rng));
        if let Some(silence) = self.listener.as_mut().and_then(|listener| listener.silence()) {
            silence.on_answer(now, ack.seq, heard, self.qp.rate());
        }
        effects = effects.and(self.fall_silent(transport));
        self.sample_more(now, rate);
        effects
    }

    /// Slows a flow down that has missed feedback for too long.
    fn fall_silent(&mut self, transport: &TransportConfig) -> Effects {
        let bound = self.listener.as_mut().and_then(|listener| listener.silence()?.bound());
        bound.map_or(Effects::NONE, |bound| self.qp.slow_to(transport, bound))
    }

    /// Tells the controller of a notification.
    ///
    /// # Errors
    /// Why it changes nothing.
    pub fn on_notification(
        &mut self,
        transport: &TransportConfig,
        notification: &Notification<'_>,
    ) -> Result<Effects, NoEffect> {
        let rate = self.qp.rate();
        let effects = self.qp.on_notification(transport, notification)?.and(self.fall_silent(transport));
        self.sample_more(notification.now, rate);
        Ok(effects)
    }

    /// Packets collect more telemetry if the flow has slowed down from `rate`.
    fn sample_more(&mut self, now: Nanos, rate: BitRate) {
        if let Some(listener) = self.listener.as_mut().filter(|_| self.qp.rate() < rate) {
            listener.sampler().on_slow_down(now);
        }
    }

    /// What a probe of another path brought: telemetry for the choice of a path, not for the controller. `port` is the probe's
    /// source port. Returns whether the flow moves.
    #[expect(clippy::too_many_arguments, reason = "parts of the host that are borrowed one by one")]
    pub fn on_path_feedback(
        &mut self,
        rules: &NicRules,
        decoder: &mut Decoder,
        counters: &mut Counters,
        now: Nanos,
        port: u16,
        ack: &Ack<'_>,
        rng: &mut Rng,
    ) -> bool {
        let Some(listener) = &mut self.listener else { return false };
        counters.feedback += u64::from(listener.is_answer(ack.telemetry));
        let rejected = listener.rejected();
        let telemetry = decoder.read(rules.answer, &rules.layout, listener.open(ack.seq, ack.telemetry));
        listener.rejected().add_since(rejected, &mut counters.rejected);
        let (Some(paths), Telemetry::Hops(stack)) = (listener.paths(), telemetry) else { return false };
        let line_rate = self.qp.limits().line_rate;
        let own = self.qp.rate().0 as f64 / line_rate.0.max(1) as f64;
        let moves = paths.on_probe(now, port, stack, own, || rng.marks.uniform());
        if let Some(sport) = moves {
            self.spec = SenderSpec { sport, ..self.spec };
        }
        moves.is_some()
    }

    /// When a probe is due, by the timer of probes or that of paths.
    pub fn next_probe(&mut self, timer: u8) -> Option<Nanos> {
        self.sampler(timer).and_then(|sampler| sampler.poll_timeout())
    }

    /// The time of a probe has come: it leaves if data is in flight.
    pub fn take_probe(&mut self, rules: &NicRules, timer: u8, now: Nanos) -> Option<Probe> {
        let in_flight = self.qp.in_flight();
        if !self.sampler(timer)?.on_timeout(now, in_flight) {
            return None;
        }
        let mut sender = self.spec;
        if timer == PATH_TIMER {
            sender.sport = self.listener.as_mut()?.paths()?.next_port();
        }
        let frame = rules.sizes.data(0, false, rules.layout.initial_len() as u32);
        let seq = self.qp.snd_nxt();
        if let Some(silence) = self.listener.as_mut().filter(|_| timer == PROBE_TIMER).and_then(|own| own.silence()) {
            silence.on_asked(seq);
        }
        Some(Probe { sender, seq, frame })
    }

    /// Timers that are to fire, be they new or not.
    pub fn due_timers(&mut self) -> Armed {
        // Timers that were just armed are among those that are due.
        self.qp.take_armed();
        let probes = [PROBE_TIMER, PATH_TIMER].into_iter().filter(|&timer| self.next_probe(timer).is_some());
        let probes = probes.fold(0, |armed, timer| armed | 1 << timer);
        Armed(self.qp.due_timers().0 | probes)
    }

    fn sampler(&mut self, timer: u8) -> Option<&mut Sampler> {
        let listener = self.listener.as_mut()?;
        if timer == PATH_TIMER { listener.paths().map(PathProbes::sampler) } else { Some(listener.sampler()) }
    }
}

/// A data packet leaves: whether it collects telemetry, and the timer, if a probe is due because of it.
#[inline]
fn sample(sampler: &mut Sampler, now: Nanos, timer: u8) -> (bool, Armed) {
    let waits = sampler.poll_timeout().is_some();
    let collects = sampler.on_data(now);
    let probes = !waits && sampler.poll_timeout().is_some();
    (collects, Armed(u8::from(probes) << timer))
}

// Of packets under way first: a controller's times are weighed against them.
recurs! {
    Sender {
        listener: absent,
        send_times: part,
        nic: plain,
        seat: plain,
        opened: steady,
        spec: constant,
        nic_of_own: constant,
        qp: part,
        entropies: absent,
        reaction: constant,
    }
}
