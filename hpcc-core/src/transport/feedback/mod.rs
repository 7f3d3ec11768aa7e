// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a flow's telemetry comes back to its sender (draft-miao-rtgwg-hpccplus-00, sections 6.2, 6.3.2, 7.1 and 9.1).
//!
//! ```text
//! sender                      switches        receiver                          sender
//! Listener: which packets  -> stamp them ->   Reporting: what goes back, and -> Listener: is it true?
//! collect (Sampling)                          in what (Answer, Return)          the controller hears it
//! ```
//! A host without any of it, which echoes the records of every packet in its acknowledgement, spends no time here.

mod listener;
mod reporting;
#[cfg(test)]
mod tests;

pub use listener::{Heard, Listener};
pub use reporting::{Arrived, Reporting};

use super::path_probes::PathConfig;
use crate::cc::Algorithm;
use crate::telemetry::{Layout, Sampling, link_codec, seal};

/// What goes back for a packet that collected telemetry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// All of its records (REQ-03).
    #[default]
    Records,
    /// The record of the most loaded link (REQ-17).
    BusiestLink,
    /// The load of each link, without what it was computed from (REQ-25).
    Loads,
    /// The window that the receiver computed, once in T (REQ-04, REQ-19).
    Window,
    /// Nothing: a receiver that does not know telemetry.
    Nothing,
}

impl Answer {
    /// All answers that can be chosen, and their names in configurations.
    pub const NAMES: [(&'static str, Answer); 4] = [
        ("records", Answer::Records),
        ("busiest_link", Answer::BusiestLink),
        ("loads", Answer::Loads),
        ("none", Answer::Nothing),
    ];
}

/// In what (REQ-16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Return {
    /// In the next acknowledgement: the newest answer, where one acknowledgement is for several packets.
    #[default]
    Acknowledgement,
    /// In a packet of its own, one for each answer.
    Notification,
}

impl Return {
    /// Both, and their names in configurations.
    pub const NAMES: [(&'static str, Return); 2] =
        [("ack", Return::Acknowledgement), ("notification", Return::Notification)];
}

/// Most bytes of telemetry in a frame, on its way there or back, sealed or not.
pub fn room(layout: &Layout) -> usize {
    if layout.max_hops().is_none() {
        return layout.max_len();
    }
    layout.max_len().max(link_codec::LEN) + seal::TAG_LEN
}

/// How telemetry comes back; the same at both ends of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedbackConfig {
    /// Which packets collect telemetry. Answers to [probes](Sampling::Probes) are always packets of their own.
    pub sampling: Sampling,
    /// What goes back, except where the algorithm is Rx-HPCC.
    pub answer: Answer,
    /// In what.
    pub by: Return,
    /// Whether the sender rejects records that cannot be true (REQ-27).
    pub guard: bool,
    /// The key with which answers are [sealed](seal), if they are (REQ-26).
    pub seal: Option<[u8; 16]>,
    /// Paths that a flow chooses from (REQ-30).
    pub paths: PathConfig,
}

impl FeedbackConfig {
    /// Of a host that knows nothing of telemetry: neither its flows collect any, nor does it answer.
    pub const NONE: FeedbackConfig = FeedbackConfig {
        sampling: Sampling::Never,
        answer: Answer::Nothing,
        by: Return::Acknowledgement,
        guard: false,
        seal: None,
        paths: PathConfig { candidates: 1, interval: 1 },
    };

    /// What goes back under an algorithm.
    pub fn answer_to(&self, algorithm: &Algorithm) -> Answer {
        let by_receiver = matches!(algorithm, Algorithm::RxHpcc(_)) && self.answer != Answer::Nothing;
        if by_receiver { Answer::Window } else { self.answer }
    }

    /// Whether the acknowledgement of a packet echoes its section, and that is all.
    pub fn is_echo(&self, algorithm: &Algorithm) -> bool {
        let plain = self.sampling == Sampling::EveryPacket && self.by == Return::Acknowledgement;
        plain
            && self.answer_to(algorithm) == Answer::Records
            && !self.guard
            && self.seal.is_none()
            && self.paths.candidates <= 1
    }

    /// What keeps these settings from working with an algorithm and a layout: a setting, by its name in configurations,
    /// and what it needs.
    pub fn unsuitable(&self, algorithm: &Algorithm, layout: &Layout) -> Option<(&'static str, &'static str)> {
        let plain = FeedbackConfig::default();
        if self.paths.candidates > 1 && self.answer_to(algorithm) != Answer::Records {
            return Some((
                "paths",
                "looks at records: needs answer = \"records\" and a sender that computes the window",
            ));
        }
        let has_records = layout.max_hops().is_some();
        let needs_records = "needs a telemetry layout with a record of each hop";
        let is_digest = matches!(self.answer, Answer::BusiestLink | Answer::Loads);
        if is_digest && !matches!(algorithm, Algorithm::HpccPlus(_)) {
            return Some(("answer", "needs the algorithm hpcc_plus"));
        }
        if self.guard && self.answer_to(algorithm) != Answer::Records {
            return Some((
                "guard",
                "looks at records: needs answer = \"records\" and a sender that computes the window",
            ));
        }
        [
            ("packets", self.sampling != plain.sampling && self.sampling != Sampling::Never),
            ("feedback", self.by != plain.by),
            ("guard", self.guard),
            ("seal", self.seal.is_some()),
            ("paths", self.paths.candidates > 1),
        ]
        .into_iter()
        .find(|&(_, is_set)| is_set && !has_records)
        .map(|(setting, _)| (setting, needs_records))
    }
}
