// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: feedback in, sending rate out.
//!
//! A controller is a plain state machine that implements [`CongestionControl`]. To add one, write a file
//! beside `hpcc.rs`, then name it in [`Algorithm`] (its configuration) and [`Controller`] (its state).

mod hpcc;

pub use hpcc::{Hpcc, HpccConfig};

use crate::telemetry::HopStack;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;

/// What a controller must know of its flow and never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLimits {
    /// Line rate of the sender's port; no rate above it is useful.
    pub line_rate: BitRate,
    /// Base round-trip time T: the longest of the network, or that of the pair.
    pub base_rtt: Nanos,
    /// Window at line rate in bytes, normally line rate * T; 0 stands for no window.
    pub window: u64,
}

/// One acknowledgement (positive or negative) as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Arrival time.
    pub now: Nanos,
    /// First byte that the receiver still expects.
    pub ack_seq: u64,
    /// First byte that the sender has not sent yet.
    pub snd_nxt: u64,
    /// Whether the acknowledged packet carried a congestion mark.
    pub congestion_marked: bool,
    /// Telemetry of the acknowledged packet; `None` where it is missing, malformed or incomplete.
    pub hops: Option<&'a HopStack>,
}

/// What a controller wants done after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// Nothing changes.
    Keep,
    /// The rate applies at once: the wait before the next packet is recomputed for it.
    Repace(BitRate),
}

/// A congestion-control algorithm for one flow.
pub trait CongestionControl {
    /// Takes in one acknowledgement.
    fn on_feedback(&mut self, feedback: &Feedback<'_>) -> RateDecision;
}

/// Which algorithm a flow uses, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// No congestion control: line rate, bounded by the window alone.
    LineRate,
    /// HPCC in the reference's rate form.
    Hpcc(HpccConfig),
}

/// The algorithm's state for one flow.
#[derive(Clone, Debug)]
pub enum Controller {
    /// See [`Algorithm::LineRate`].
    LineRate,
    /// See [`Algorithm::Hpcc`]. Boxed: its records of each hop would make every queue pair large.
    Hpcc(Box<Hpcc>),
}

impl Algorithm {
    /// The state of a new flow, which starts at line rate (REQ-08, SPEC section 1.3).
    pub fn start(&self, limits: FlowLimits) -> Controller {
        match self {
            Algorithm::LineRate => Controller::LineRate,
            Algorithm::Hpcc(config) => Controller::Hpcc(Box::new(Hpcc::new(*config, limits))),
        }
    }
}

impl CongestionControl for Controller {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback<'_>) -> RateDecision {
        match self {
            Controller::LineRate => RateDecision::Keep,
            Controller::Hpcc(hpcc) => hpcc.on_feedback(feedback),
        }
    }
}
