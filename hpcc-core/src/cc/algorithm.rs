// SPDX-License-Identifier: MIT OR Apache-2.0
//! An algorithm before it controls a flow: its parameters, what it needs around it, and how a flow starts.

use super::{CongestionControl, FlowLimits, Reaction, RxHpccConfig};
use crate::ecn::EcnThreshold;
use crate::settings::{Conflict, Settings};
use crate::telemetry::Reads;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use core::fmt::Debug;

/// What an algorithm needs of the hosts and switches around it. What is not set for an algorithm is [`Needs::default`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// What it reads from telemetry.
    pub reads: Reads,
    /// Whether the record of the busiest link, or loads without records, serve it as well (REQ-17, REQ-25).
    pub digests: bool,
    /// The receiver computes the window by these parameters; the sender only installs it (REQ-04).
    pub receiver: Option<RxHpccConfig>,
    /// How it reacts to notifications outside acknowledgements.
    pub reaction: Reaction,
    /// Least time between two congestion echoes of one flow; `None`: every marked packet is echoed.
    pub notification_interval: Option<Nanos>,
    /// Whether [`Feedback::rtt`](super::Feedback::rtt) is measured for it.
    pub rtt: bool,
    /// Whether it is told of each packet that is sent: [`CongestionControl::on_sent`].
    pub sent: bool,
    /// Whether a window bounds its flows, unless `transport.window` says otherwise.
    pub window: bool,
    /// Whether acknowledgements travel in priority 0, ahead of data, unless `transport.ack_priority` says otherwise.
    pub acks_first: bool,
    /// When switches mark packets for it, for a port of this rate; other ports scale the queue lengths.
    pub ecn: EcnThreshold,
}

impl Default for Needs {
    fn default() -> Self {
        Needs {
            reads: Reads::Nothing,
            digests: false,
            receiver: None,
            reaction: Reaction::Nothing,
            notification_interval: None,
            rtt: false,
            sent: false,
            window: true,
            acks_first: false,
            ecn: EcnThreshold { rate: BitRate::gbps(100), kmin: 400_000, kmax: 1_600_000, pmax: 0.2 },
        }
    }
}

/// A congestion-control algorithm and its parameters.
pub trait Algorithm: Settings + CloneAlgorithm + Debug {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &str;

    /// What it goes by, in one line.
    fn summary(&self) -> &str;

    /// The state of a new flow, which sends at line rate until the algorithm decides otherwise (REQ-08).
    fn start(&self, limits: FlowLimits) -> Box<dyn CongestionControl>;

    /// The rate never falls below this, above 0; `None` if the algorithm sets no rate.
    fn min_rate(&self) -> Option<BitRate>;

    /// What it needs around it.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Checks parameters against each other.
    ///
    /// # Errors
    /// The first that contradicts another one.
    fn check(&self) -> Result<(), Conflict> {
        Ok(())
    }
}

/// Cloning behind `dyn Algorithm`; every algorithm that is [`Clone`] has it.
pub trait CloneAlgorithm {
    /// The same algorithm with the same parameters.
    fn clone_algorithm(&self) -> Box<dyn Algorithm>;
}

impl<T: Algorithm + Clone + 'static> CloneAlgorithm for T {
    fn clone_algorithm(&self) -> Box<dyn Algorithm> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Algorithm> {
    fn clone(&self) -> Self {
        self.as_ref().clone_algorithm()
    }
}

impl PartialEq for dyn Algorithm + '_ {
    /// Whether name and parameters are the same.
    fn eq(&self, other: &Self) -> bool {
        let same = |key| self.get(key) == other.get(key);
        self.name() == other.name() && self.list().iter().all(|setting| same(setting.key))
    }
}
