// SPDX-License-Identifier: MIT OR Apache-2.0
//! An algorithm before it controls a flow: its parameters, what it needs around it, and how a flow starts.

use super::{CongestionControl, FlowLimits, Reaction, RxHpccConfig};
use crate::ecn::EcnThreshold;
use crate::settings::{Conflict, Settings};
use crate::telemetry::{Layout, Reads};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt::Debug;

/// Which quantities of a flow an algorithm decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steers {
    /// Nothing: it decides nothing.
    Nothing,
    /// Its window; packets leave at line rate.
    Window,
    /// Its window, and the pace of its packets: either will do.
    WindowAndPace,
}

/// The needs of an algorithm that hosts and switches serve. An algorithm without needs has [`Needs::default`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// The telemetry that it reads.
    pub reads: Reads,
    /// Telemetry that serves it in place of that, if a layout tells it.
    pub also: Reads,
    /// Whether the record of the busiest link, or loads without records, serve it as well (REQ-17, REQ-25).
    pub digests: bool,
    /// Whether records must tell the bytes of queues, not how long packets waited.
    pub queue_lengths: bool,
    /// Whether it copes with records of a changing set of hops.
    pub some_hops: bool,
    /// Whether it may be told of several packets' records at one acknowledgement.
    pub accumulates: bool,
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
    /// Which quantities of its flows it decides.
    pub steers: Steers,
    /// Whether it is a congestion control of the simulator's own TCP, and of nothing else.
    pub tcp: bool,
    /// Whether it is a program's, which has a clock of its own: that has to be right in each of its calls.
    pub program: bool,
    /// When switches mark packets for it, for a port of this rate; other ports scale the queue lengths. `None` if it reads
    /// no marks.
    pub ecn: Option<EcnThreshold>,
}

impl Default for Needs {
    fn default() -> Self {
        Needs {
            reads: Reads::Nothing,
            also: Reads::Nothing,
            digests: false,
            queue_lengths: false,
            some_hops: false,
            accumulates: false,
            receiver: None,
            reaction: Reaction::Nothing,
            notification_interval: None,
            rtt: false,
            sent: false,
            window: true,
            acks_first: false,
            steers: Steers::WindowAndPace,
            tcp: false,
            program: false,
            ecn: None,
        }
    }
}

impl Needs {
    /// The needs where telemetry has this layout.
    #[must_use]
    pub fn with(self, layout: &Layout) -> Needs {
        if self.also == Reads::Nothing || self.also != layout.tells() {
            return self;
        }
        Needs { reads: self.also, digests: false, some_hops: false, accumulates: false, ..self }
    }
}

/// A congestion-control algorithm and its parameters.
pub trait Algorithm: Send + Settings + CloneAlgorithm + Debug {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &str;

    /// Its signal, in one line.
    fn summary(&self) -> &str;

    /// The state of a new flow, which sends at line rate until the algorithm decides otherwise (REQ-08).
    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl>;

    /// The rate of a flow whose sender's port has this line rate never falls below this, above 0; `None` if the algorithm sets no
    /// rate.
    fn min_rate(&self, line_rate: BitRate) -> Option<BitRate>;

    /// W_ai: the bytes that a flow adds to its window in each round trip below a target load, where its sender's port has this
    /// line rate, T is `base_rtt`, and it measures that load by single packets; `None` for all other laws.
    fn window_step(&self, _line_rate: BitRate, _base_rtt: Nanos) -> Option<f64> {
        None
    }

    /// Its needs.
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

/// The name and the summary of an [`Algorithm`].
macro_rules! known_as {
    ($name:literal, $summary:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn summary(&self) -> &'static str {
            $summary
        }
    };
}
pub(super) use known_as;

/// Cloning behind `dyn Algorithm`; every algorithm that is [`Clone`] has it.
pub trait CloneAlgorithm {
    /// An algorithm with the same parameters.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, survives_hostile_feedback};
    use crate::cc::{self, HpccConfig};
    use crate::settings::Input;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    /// Front ends list them by name and summary, and refuse a rate below the least one.
    #[test]
    fn every_algorithm_says_what_it_is() {
        let mut names = BTreeSet::new();
        for mut algorithm in cc::all() {
            let name = algorithm.name().to_string();
            assert!(algorithm.summary().split(' ').count() > 2, "{name}: {}", algorithm.summary());
            let has_rate = algorithm.set("min_rate", Input::Text("1500Mbps")).is_ok();
            assert_eq!(algorithm.min_rate(LIMITS.line_rate), has_rate.then_some(BitRate::mbps(1_500)), "{name}");
            let mut flow = algorithm.start(LIMITS.into());
            let timers = (flow.timers().is_some(), flow.timers_mut().is_some());
            assert_eq!((timers, flow.baseline_resets()), ((name == "dcqcn", name == "dcqcn"), 0), "{name}");
            assert!(names.insert(name.clone()), "{name} twice");
        }
        assert!(names.contains("hpcc") && names.contains("none"), "{names:?}");
    }

    #[test]
    fn hostile_feedback_keeps_every_algorithm_within_its_bounds() {
        let each_hop: Box<dyn Algorithm> = Box::new(HpccConfig { multi_rate: true, ..HpccConfig::default() });
        let some_hops = FlowLimits { some_hops: true, ..LIMITS };
        for limits in [LIMITS, some_hops, FlowLimits { window: 0, path_bytes: 0, ..LIMITS }] {
            for algorithm in cc::all().into_iter().chain([each_hop.clone()]) {
                let least = algorithm.min_rate(limits.line_rate).unwrap_or(BitRate(1));
                survives_hostile_feedback(algorithm.start(limits.into()).as_mut(), least);
            }
        }
    }
}
