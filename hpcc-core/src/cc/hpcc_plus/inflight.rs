// SPDX-License-Identifier: MIT OR Apache-2.0
//! `MeasureInflight` of the drafts: U from the records of the path's hops (lines 1 to 10).

use crate::cc::NoEffect;
use crate::telemetry::{Compare, Comparison, HopStack, KnownLinks, LastHops, Learnt, LinkLoad, LinkRecord, Signal};
use crate::units::Nanos;
use alloc::boxed::Box;

crate::named! {
    /// Which rate of a link counts beside its queue.
    #[derive(Default)]
    pub enum LinkRate {
        /// txRate, what the link sends.
        #[default]
        Sent = "tx",
        /// rxRate, what arrives at it.
        Arriving = "rx",
    }
}

/// The outcome of one packet's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Nothing can be learnt from them; they were not kept.
    Nothing,
    /// They are the first, or the first of another path, or the last ones are too old to be compared with: they
    /// were kept, and U starts at 1 again.
    Armed,
    /// U has moved. This hop, counted from the sender, is the busiest.
    Load {
        /// Its place on the path, from 0.
        busiest: usize,
    },
}

/// U, and the records that the next ones are compared with (L).
#[derive(Clone, Debug)]
pub struct Inflight {
    base_rtt: Nanos,
    rate: LinkRate,
    utilisation: f64,
    last: LastHops,
    /// Where packets bring the records of some hops only.
    some: Option<Box<KnownLinks>>,
    /// Where packets bring the record of one link at a time.
    one: Option<Box<KnownLinks>>,
    /// Whether a U of elsewhere was heard.
    armed: bool,
    /// Where packets bring one signal at a time.
    signals: Option<Box<Signals>>,
}

/// The last free share and queue of the path's bottlenecks, and when the last signal came.
#[derive(Clone, Copy, Debug, Default)]
struct Signals {
    share: Option<f64>,
    queue: Option<Nanos>,
    last: Nanos,
}

impl Inflight {
    /// Nothing was heard yet: U is 1. `base_rtt` is T.
    pub fn new(base_rtt: Nanos) -> Self {
        Inflight {
            base_rtt,
            rate: LinkRate::Sent,
            utilisation: 1.0,
            last: LastHops::default(),
            some: None,
            one: None,
            armed: false,
            signals: None,
        }
    }

    /// Measures this rate of links.
    #[must_use]
    pub fn counting(self, rate: LinkRate) -> Self {
        Inflight { rate, ..self }
    }

    /// Expects records of some hops only.
    #[must_use]
    pub fn of_some_hops(self, some: bool) -> Self {
        Inflight { some: some.then(Box::default), ..self }
    }

    fn compare(&self) -> Compare {
        match self.rate {
            LinkRate::Sent => Comparison::of,
            LinkRate::Arriving => Comparison::by_arrivals,
        }
    }

    /// U: 1.0 where the bytes in flight on the busiest link equal capacity * T.
    #[inline]
    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }

    /// Times that records could not be compared with the last ones of theirs.
    pub fn baseline_resets(&self) -> u64 {
        self.last.restarts() + self.some.as_ref().map_or(0, |links| links.restarts())
    }

    /// Takes in the record of one link of the path. The first record of a path arms; the first of a link tells nothing.
    pub fn measure_link(&mut self, now: Nanos, record: &LinkRecord) -> Measured {
        let learnt = self.one.get_or_insert_default().learn_link(now, record, self.base_rtt);
        self.on_learnt(learnt)
    }

    /// Takes in a U that was measured and averaged elsewhere. The first one arms, as the first records do.
    #[inline]
    pub fn accept(&mut self, utilisation: f64) -> Measured {
        if !self.armed {
            self.armed = true;
            return Measured::Armed;
        }
        self.utilisation = utilisation;
        Measured::Load { busiest: 0 }
    }

    /// Takes in a signal. U of the path is queue / T + 1 - free share, each the last that was heard; the first of both arms.
    pub fn measure_signal(&mut self, now: Nanos, signal: Signal) -> Measured {
        let known = self.signals.get_or_insert_default();
        let was_known = known.share.is_some() && known.queue.is_some();
        match signal {
            Signal::Share(share) => known.share = Some(share),
            Signal::Queue(queue) => known.queue = Some(queue),
            Signal::Available(_) | Signal::Delay(_) => return Measured::Nothing,
        }
        let (Some(share), Some(queue)) = (known.share, known.queue) else { return Measured::Nothing };
        let utilisation = queue.0 as f64 / self.base_rtt.0.max(1) as f64 + 1.0 - share;
        let load = LinkLoad { utilisation, elapsed: now.saturating_sub(core::mem::replace(&mut known.last, now)) };
        if !was_known {
            return Measured::Armed;
        }
        self.utilisation = load.average(self.utilisation, self.base_rtt);
        Measured::Load { busiest: 0 }
    }

    /// Takes in the records of a packet.
    #[inline]
    pub fn measure(&mut self, now: Nanos, stack: &HopStack) -> Measured {
        if stack.hops().is_empty() {
            return Measured::Nothing;
        }
        if self.some.is_some() {
            return self.measure_some(now, stack);
        }
        if !self.last.continue_in(now, stack) {
            self.utilisation = 1.0;
            self.last.restart(now, stack);
            return Measured::Armed;
        }
        let Some((busiest, worst)) = self.busiest(stack) else { return Measured::Nothing };
        self.utilisation = worst.average(self.utilisation, self.base_rtt);
        self.last.keep(now, stack);
        Measured::Load { busiest }
    }

    fn measure_some(&mut self, now: Nanos, stack: &HopStack) -> Measured {
        let compare = self.compare();
        let learnt = self.some.as_mut().map(|links| links.learn(now, stack, self.base_rtt, compare));
        self.on_learnt(learnt.unwrap_or(Learnt::Nothing))
    }

    fn on_learnt(&mut self, learnt: Learnt) -> Measured {
        match learnt {
            Learnt::First => {
                self.utilisation = 1.0;
                Measured::Armed
            }
            Learnt::Busiest(busiest, utilisation) => {
                self.utilisation = utilisation;
                Measured::Load { busiest }
            }
            Learnt::Nothing => Measured::Nothing,
        }
    }

    /// Takes in the records that a switch on the path reports at once, of the hops up to its own.
    ///
    /// They are compared with the last acknowledged ones and not kept: packets that are still to be acknowledged left
    /// before them, and next to newer records would all look overtaken. Hops behind the switch may be busier: U does
    /// not fall.
    ///
    /// # Errors
    /// If they cannot be compared, or show no more than is known.
    pub fn measure_first_hops(&mut self, now: Nanos, stack: &HopStack) -> Result<f64, NoEffect> {
        let worst = match &self.some {
            Some(links) => links.compare(now, stack, self.base_rtt, self.compare()),
            None if self.last.begin_with(now, stack) => self.busiest(stack).map(|(_, worst)| worst),
            None => None,
        };
        let worst = worst.ok_or(NoEffect::Incomparable)?;
        self.raise(worst.average(self.utilisation, self.base_rtt))
    }

    /// U, which at least one link has. Returns it.
    ///
    /// # Errors
    /// If that is no more than is known.
    pub fn raise(&mut self, utilisation: f64) -> Result<f64, NoEffect> {
        if utilisation <= self.utilisation {
            return Err(NoEffect::NotBusier);
        }
        self.utilisation = utilisation;
        Ok(utilisation)
    }

    /// The base round-trip time T.
    pub fn base_rtt(&self) -> Nanos {
        self.base_rtt
    }

    /// Lines 2 to 7: the busiest hop; `None` where the records tell nothing.
    #[inline]
    fn busiest(&self, stack: &HopStack) -> Option<(usize, LinkLoad)> {
        let compare = self.compare();
        let (mut worst, mut busiest, mut changed) = (LinkLoad::default(), 0, false);
        for (place, (earlier, later)) in self.last.pairs(stack).enumerate() {
            match compare(&stack.modulus, earlier, later, self.base_rtt) {
                Comparison::Overtaken => return None,
                Comparison::Nothing => continue,
                Comparison::Load(load) => {
                    changed = true;
                    if load.utilisation > worst.utilisation {
                        (worst, busiest) = (load, place);
                    }
                }
            }
        }
        changed.then_some((busiest, worst))
    }
}
