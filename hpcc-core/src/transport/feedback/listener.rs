// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's part: which of its packets collect telemetry, and whether to believe what comes back.

use super::{FeedbackConfig, FeedbackContent, Return, Silence};
use crate::cc::FlowLimits;
use crate::counters::counters;
use crate::telemetry::seal::{SealKey, TAG_LEN};
use crate::telemetry::{
    FeedbackGuard, GuardConfig, HopStack, Layout, LinkRecord, Sampler, Telemetry, link_codec, normalised,
};
use crate::transport::path_probes::PathProbes;
use crate::units::{BitRate, Nanos};

/// Where feedback is decoded.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    hops: HopStack,
    link: Option<LinkRecord>,
}

impl Decoder {
    /// Where records of hops are decoded.
    pub fn stack(&mut self) -> &mut HopStack {
        &mut self.hops
    }

    /// Reads an answer to telemetry of this layout; [`Telemetry::Nothing`] if it cannot be used.
    #[inline]
    pub fn read(&mut self, answer: FeedbackContent, layout: &Layout, bytes: &[u8]) -> Telemetry<'_> {
        match answer {
            FeedbackContent::Records => layout.read(bytes, &mut self.hops),
            FeedbackContent::BusiestLink => {
                let modulus = layout.modulus();
                self.link = modulus.and_then(|modulus| link_codec::read(bytes, modulus).ok());
                self.link.as_ref().map_or(Telemetry::Nothing, Telemetry::Link)
            }
            FeedbackContent::Nothing => Telemetry::Nothing,
            FeedbackContent::Loads => normalised::read(bytes).map_or(Telemetry::Nothing, Telemetry::Utilisation),
            FeedbackContent::Window => bytes
                .try_into()
                .map_or(Telemetry::Nothing, |window| Telemetry::Window(u64::from(u32::from_be_bytes(window)))),
        }
    }
}

counters! {
    /// How much feedback was not believed, and for what.
    pub struct Rejected {
        /// It was not sealed as it must be.
        pub by_seal: u64,
        /// The guard found that it cannot be true.
        pub by_guard: u64,
    }
}

impl Rejected {
    /// What came to this since it was `earlier`, added to `sum`.
    pub fn add_since(self, earlier: Rejected, sum: &mut Rejected) {
        let Rejected { by_seal, by_guard } = earlier;
        *sum += Rejected { by_seal: self.by_seal - by_seal, by_guard: self.by_guard - by_guard };
    }
}

/// The listening end of one flow.
#[derive(Clone, Debug)]
pub struct Listener {
    sampler: Sampler,
    guard: Option<FeedbackGuard>,
    seal: Option<SealKey>,
    by: Return,
    flow: u64,
    rejected: Rejected,
    paths: Option<PathProbes>,
    silence: Option<Silence>,
}

impl Listener {
    /// The listener of a flow of this priority whose receiver reports by the same `config` and `flow`. It begins with source
    /// port `sport`; `least` is the rate to which it falls without feedback, if it goes by any.
    pub fn new(
        config: &FeedbackConfig,
        limits: &FlowLimits,
        flow: u64,
        sport: u16,
        priority: u8,
        least: Option<BitRate>,
    ) -> Self {
        let share = config.classes.map_or(1.0, |classes| classes.share(priority));
        let paths = Some(&config.paths).filter(|paths| paths.candidates > 1);
        Listener {
            paths: paths.map(|paths| PathProbes::new(paths, limits.base_rtt, sport)),
            sampler: Sampler::new(config.sampling, limits.base_rtt),
            guard: config.guard.then(|| {
                let byte_slack = GuardConfig::default().byte_slack + u64::from(config.ack_every);
                FeedbackGuard::new(GuardConfig { share, byte_slack, ..GuardConfig::default() })
            }),
            seal: config.seal.as_ref().map(SealKey::new),
            by: config.by,
            flow,
            rejected: Rejected::default(),
            silence: least
                .filter(|_| config.decay_after > 0)
                .map(|least| Silence::new(config.decay_after, limits.base_rtt, least)),
        }
    }

    /// What the flow has missed of feedback, if it slows down for want of it.
    pub fn silence(&mut self) -> Option<&mut Silence> {
        self.silence.as_mut()
    }

    /// Which packets collect telemetry.
    pub fn sampler(&mut self) -> &mut Sampler {
        &mut self.sampler
    }

    /// The paths that the flow chooses from, if there are several.
    pub fn paths(&mut self) -> Option<&mut PathProbes> {
        self.paths.as_mut()
    }

    /// Feedback that was not believed.
    pub fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// The answer without its seal; nothing if the seal is missing, or not that of this flow and acknowledgement. Where
    /// answers come in packets of their own, acknowledgements have none.
    pub fn open<'a>(&mut self, seq: u64, bytes: &'a [u8]) -> &'a [u8] {
        let Some(seal) = &self.seal else { return bytes };
        if self.by == Return::Notification && bytes.is_empty() {
            return bytes;
        }
        seal.open(self.flow, seq, bytes).unwrap_or_else(|_| {
            self.rejected.by_seal += 1;
            &[]
        })
    }

    /// Whether a frame brings an answer, be it true or not: more than a seal that there is none.
    pub fn is_answer(&self, bytes: &[u8]) -> bool {
        bytes.len() > if self.seal.is_some() { TAG_LEN } else { 0 }
    }

    /// Whether a packet of feedback always has a seal, if nobody took it out.
    pub fn seals_packets(&self) -> bool {
        self.seal.is_some() && self.by == Return::Notification
    }

    /// So many bytes of the flow have left.
    pub fn on_sent(&mut self, sent: u64) {
        if let Some(guard) = &mut self.guard {
            guard.on_sent(sent);
        }
    }

    /// What the controller may hear. `delivered` as [`FeedbackGuard::admit`] wants it.
    pub fn admit<'a>(&mut self, now: Nanos, delivered: u64, telemetry: Telemetry<'a>) -> Telemetry<'a> {
        let (Some(guard), Telemetry::Hops(stack)) = (&mut self.guard, telemetry) else { return telemetry };
        if guard.admit(now, delivered, stack).is_err() {
            self.rejected.by_guard += 1;
            return Telemetry::Nothing;
        }
        telemetry
    }

    /// What the controller may hear of the records that a notification brought. No switch can seal them.
    pub fn admit_notified<'a>(&mut self, now: Nanos, telemetry: Telemetry<'a>) -> Telemetry<'a> {
        let Telemetry::Hops(stack) = telemetry else { return telemetry };
        let distrusted = self.guard.as_mut().is_some_and(|guard| guard.admit_first_hops(now, stack).is_err());
        self.rejected.by_guard += u64::from(distrusted);
        self.rejected.by_seal += u64::from(self.seal.is_some() && !distrusted);
        if self.seal.is_some() || distrusted {
            return Telemetry::Nothing;
        }
        telemetry
    }
}
