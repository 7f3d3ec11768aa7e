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

use crate::cc::Algorithm;
use crate::telemetry::{Sampling, seal};

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
}

impl Answer {
    /// Most bytes of an answer to a section of at most `section` bytes.
    pub fn max_len(self, section: usize) -> usize {
        match self {
            Answer::BusiestLink => crate::telemetry::link_codec::LEN,
            Answer::Records | Answer::Loads | Answer::Window => section,
        }
    }
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
}

impl FeedbackConfig {
    /// What goes back under an algorithm.
    pub fn answer_to(&self, algorithm: &Algorithm) -> Answer {
        if matches!(algorithm, Algorithm::RxHpcc(_)) { Answer::Window } else { self.answer }
    }

    /// Whether the acknowledgement of a packet echoes its section, and that is all.
    pub fn is_echo(&self, algorithm: &Algorithm) -> bool {
        let plain = self.sampling == Sampling::EveryPacket && self.by == Return::Acknowledgement;
        plain && self.answer_to(algorithm) == Answer::Records && !self.guard && self.seal.is_none()
    }

    /// Most bytes of telemetry in a frame where its section has at most `section` bytes.
    pub fn room(&self, algorithm: &Algorithm, section: usize) -> usize {
        let tag = if self.seal.is_some() { seal::TAG_LEN } else { 0 };
        section.max(self.answer_to(algorithm).max_len(section) + tag)
    }
}
