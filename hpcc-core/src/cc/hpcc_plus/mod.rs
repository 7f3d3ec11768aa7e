// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC++ as the drafts write it, in bytes of window (draft-miao-rtgwg-hpccplus-00, section 4.2, and
//! draft-pan-tsvwg-hpccplus-02; REQ-05 to REQ-10, REQ-22).
//!
//! | draft's algorithm | lines | here |
//! | --- | --- | --- |
//! | `MeasureInflight` | 1-10 | [`Inflight::measure`] |
//! | txRate, u' of a link | 4, 5 | [`Comparison::of`](crate::telemetry::Comparison::of) |
//! | worst link; average over T | 6-7; 8-9 | the loop of `measure`; [`LinkLoad::average`](crate::telemetry::LinkLoad::average) |
//! | `ComputeWind` | 11-20 | [`Window::compute`] |
//! | `NewAck`; `lastUpdateSeq` | 21-26 | `HpccPlus::decide` and `react`; `last_update_seq` |
//! | R = W / T; L = ack.L | 27 | [`Window::decision`]; [`LastHops::keep`](crate::telemetry::LastHops::keep) |
//! | W_init = line rate * T | - | [`Window::new`] |
//! | `NewINT`, at the receiver | 28-34 | [`super::rx_hpcc`] |
//!
//! The drafts leave open what follows; the choices are this project's:
//! the first feedback is only kept; so is the first of another path, or after a silence in which a counter may have
//! wrapped, and U and incStage start over; a hop whose clock has not moved does not count, an overtaken packet
//! counts for nothing, and neither does one without records; W is clamped.
//! Where only the [record of the busiest link](crate::telemetry::BusiestLink) comes back, or switches
//! [leave records out](crate::switch::Reported), each link has a U of its own:
//! [`KnownLinks`](crate::telemetry::KnownLinks). Of CSIG's signals the last of each kind count, whichever hop each is of. Where the network tells only an averaged U ([normalised](crate::telemetry::normalised) telemetry), that U counts
//! as it is. Sequence numbers are bytes in 64 bits, so they are compared without a modulus.
//!
//! Beside [`super::Hpcc`], the 2019 simulator's rate form: both take the same steps, to the rounding of a rate
//! to whole bits per second, where the flow's window is line rate * T, W_ai = ai * T / 8, and no guard above acts.
//! They part where U divides by 0; with
//! [`narrow_window`](crate::reference_faults::ReferenceFaults::narrow_window) also on a path narrower than its sender's port, where the rate
//! form scales the path's window with the rate and weighs queues by it.

mod inflight;
mod notices;
mod window;

#[cfg(test)]
mod fluid_tests;
#[cfg(test)]
mod tests;

pub use inflight::{Inflight, LinkRate, Measured};
pub use notices::Notices;
pub use window::{Window, WindowLaw};

use super::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Needs, NoEffect, Notification, RateDecision, Reaction, Reads,
    known_as,
};
use crate::random::Rng;
use crate::settings::Conflict;
use crate::telemetry::Telemetry;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

crate::named! {
    /// When feedback changes W, and against which window.
    #[derive(Default)]
    pub enum Reacting {
        /// Every acknowledgement, against Wc, which moves once in a round trip: the drafts' listing.
        #[default]
        Both = "both",
        /// One acknowledgement in a round trip: the others move U only.
        Rtt = "rtt",
        /// Every acknowledgement, against the last W: Wc moves with each.
        Ack = "ack",
    }
}

crate::settings! {
    /// Parameters of HPCC++.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct HpccPlusConfig {
        /// When feedback changes the window: at every acknowledgement, once in a round trip (`rtt`), or both. `ack`
        /// reacts against the window before, `both` against the window of the last round trip.
        #[change = "Choose another than the drafts' `both` to see its reason: `rtt` reacts late, and `ack` many times to \
            one queue."]
        pub react: Reacting = Reacting::Both;
        /// Rate of a link that counts beside its queue: what it sends (`tx`), or what arrives at it (`rx`). `rx` needs
        /// records of queue lengths.
        #[change = "Choose `rx` to see the reason for the drafts' `tx`: it counts a growing queue twice, and oscillates."]
        pub link_rate: LinkRate = LinkRate::Sent;
        ..law: WindowLaw = WindowLaw::default();
    }
}

impl Algorithm for HpccPlusConfig {
    known_as!("hpcc_plus", "HPCC++ in the window form of the IETF drafts");

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(HpccPlus::new(*self, limits))
    }

    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate> {
        Some(self.law.least(line_rate))
    }

    fn window_step(&self, line_rate: BitRate, base_rtt: Nanos) -> Option<f64> {
        Some(self.law.window_step(line_rate, base_rtt))
    }

    fn needs(&self) -> Needs {
        let sent = self.link_rate == LinkRate::Sent;
        Needs {
            reads: Reads::Records,
            also: Reads::Load,
            digests: sent,
            some_hops: true,
            accumulates: true,
            queue_lengths: !sent,
            reaction: Reaction::RecordsOrHalf,
            ..Needs::default()
        }
    }

    fn check(&self) -> Result<(), Conflict> {
        self.law.check()
    }
}

/// HPCC++'s state for one flow.
#[derive(Clone, Debug)]
pub struct HpccPlus {
    reacting: Reacting,
    inflight: Inflight,
    window: Window,
    last_update_seq: u64,
    /// Place of the link that moved U last.
    bottleneck: Option<u8>,
    /// From the first notification on.
    notices: Option<Box<Notices>>,
}

impl HpccPlus {
    /// The state of a flow that has not heard of the network yet.
    pub fn new(config: HpccPlusConfig, limits: impl Into<Arc<FlowLimits>>) -> Self {
        let limits = limits.into();
        HpccPlus {
            reacting: config.react,
            inflight: Inflight::new(limits.base_rtt).counting(config.link_rate).of_some_hops(limits.some_hops),
            window: Window::new(config.law, limits),
            last_update_seq: 0,
            bottleneck: None,
            notices: None,
        }
    }

    /// U: 1.0 where the bytes in flight on the busiest link equal capacity * T.
    pub fn utilisation(&self) -> f64 {
        self.inflight.utilisation()
    }

    /// Wc, W_ai and incStage.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Does the work of [`CongestionControl::on_feedback`], which draws no random number.
    #[inline]
    pub(crate) fn decide(&mut self, feedback: &Feedback<'_>) -> RateDecision {
        let measured = match feedback.telemetry {
            Telemetry::Hops(stack) => self.inflight.measure(feedback.now, stack),
            Telemetry::Link(record) => self.inflight.measure_link(feedback.now, record),
            Telemetry::Utilisation(utilisation) => self.inflight.accept(utilisation),
            Telemetry::Signal(signal) => self.inflight.measure_signal(feedback.now, signal),
            Telemetry::Nothing
            | Telemetry::Overwritten(_)
            | Telemetry::SentAt(_)
            | Telemetry::Window(_)
            | Telemetry::Bolt(_) => Measured::Nothing,
        };
        match measured {
            Measured::Nothing => RateDecision::Keep,
            Measured::Armed => {
                self.bottleneck = None;
                self.window.restart();
                self.mark_round(feedback);
                RateDecision::Keep
            }
            Measured::Load { busiest } => {
                let is_told = matches!(feedback.telemetry, Telemetry::Hops(_) | Telemetry::Link(_));
                self.bottleneck = u8::try_from(busiest).ok().filter(|_| is_told);
                self.react(feedback)
            }
        }
    }

    /// Lines 22 to 27, with [`Reacting`]'s choice.
    #[inline]
    fn react(&mut self, feedback: &Feedback<'_>) -> RateDecision {
        let round_over = feedback.ack_seq > self.last_update_seq;
        let commit = match self.reacting {
            Reacting::Both => round_over,
            Reacting::Rtt if !round_over => return RateDecision::Keep,
            Reacting::Rtt | Reacting::Ack => true,
        };
        let window = self.window.compute(self.inflight.utilisation(), commit);
        if commit {
            self.mark_round(feedback);
        }
        self.window.decision(window)
    }

    /// The next packet is the first that leaves under the present Wc: its acknowledgement ends the round.
    ///
    /// Go-back-N takes snd_nxt back. The mark stays, even where the path changes at that moment, or acknowledgements
    /// that are still on their way would each end a round of their own (REQ-06).
    #[inline]
    fn mark_round(&mut self, feedback: &Feedback<'_>) {
        self.last_update_seq = self.last_update_seq.max(feedback.snd_nxt);
    }
}

impl CongestionControl for HpccPlus {
    fn utilisation(&self) -> Option<f64> {
        Some(self.inflight.utilisation())
    }

    fn bottleneck(&self) -> Option<u8> {
        self.bottleneck
    }

    fn baseline_resets(&self) -> u64 {
        self.inflight.baseline_resets()
    }

    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        self.decide(feedback)
    }

    /// A notification moves U and W at once, as an acknowledgement's records do. Wc waits for acknowledgements (REQ-06),
    /// for a notification tells no sequence number; only a flow without any moves Wc as [`Notices`] says, and one that
    /// [reacts](Reacting) to each acknowledgement by itself.
    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        let heard = self.last_update_seq != 0;
        let HpccPlus { reacting, inflight, window, notices, .. } = self;
        let (now, eta) = (notification.now, window.eta());
        let notices = notices.get_or_insert_with(|| Box::new(Notices::new(inflight.base_rtt())));
        let utilisation = if !heard {
            notices.judge(notification, eta)?
        } else if let Telemetry::Hops(stack) = notification.telemetry {
            match notices.load(notification, stack) {
                Some(load) => inflight.raise(load)?,
                None => inflight.measure_first_hops(now, stack)?,
            }
        } else {
            inflight.raise(notices.half(now, eta)?)?
        };
        let bytes = window.compute(utilisation, !heard || *reacting == Reacting::Ack);
        Ok(window.decision(bytes))
    }
}
