// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of controllers.

use super::{
    CongestionControl, DcqcnConfig, DctcpConfig, Feedback, FlowLimits, HpccConfig, HpccPintConfig, HpccPlusConfig,
    Notification, Parameters, RateDecision, RxHpccConfig, TimelyConfig, Timers,
};
use crate::random::Chance;
use crate::telemetry::Layout;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;

/// Makes [`Algorithm`] and [`Controller`] from one line for each controller: name and parameters.
macro_rules! controllers {
    ($($(#[$doc:meta])* $name:ident($config:ty),)*) => {
        /// Which algorithm a flow uses, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Algorithm {
            /// No congestion control: line rate, bounded by the window alone.
            LineRate,
            $($(#[$doc])* $name($config),)*
        }

        /// The algorithm's state for one flow, boxed so that queue pairs stay small.
        #[derive(Clone, Debug)]
        pub enum Controller {
            /// See [`Algorithm::LineRate`].
            LineRate,
            $($(#[$doc])* $name(Box<<$config as Parameters>::Flow>),)*
        }

        impl Algorithm {
            /// The state of a new flow, which starts at line rate (REQ-08, SPEC section 1.3).
            pub fn start(&self, limits: FlowLimits) -> Controller {
                match self {
                    Algorithm::LineRate => Controller::LineRate,
                    $(Algorithm::$name(config) => {
                        Controller::$name(Box::new(config.start(limits)))
                    })*
                }
            }
        }

        impl Algorithm {
            /// Whether telemetry of this layout tells the algorithm what it must hear.
            pub fn hears(&self, layout: &Layout) -> bool {
                match self {
                    Algorithm::LineRate => true,
                    $(Algorithm::$name(_) => <$config as Parameters>::hears(layout),)*
                }
            }

            /// The rate that the algorithm never falls below, if it sets a rate at all.
            pub fn min_rate(&self) -> Option<BitRate> {
                match self {
                    Algorithm::LineRate => None,
                    $(Algorithm::$name(config) => Some(config.min_rate()),)*
                }
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn on_feedback(&mut self, feedback: &Feedback<'_>, chance: &mut Chance) -> RateDecision {
                match self {
                    Controller::LineRate => RateDecision::Keep,
                    $(Controller::$name(state) => state.on_feedback(feedback, chance),)*
                }
            }

            fn on_notification(&mut self, notification: &Notification<'_>) -> RateDecision {
                match self {
                    Controller::LineRate => RateDecision::Keep,
                    $(Controller::$name(state) => state.on_notification(notification),)*
                }
            }

            fn on_port(&mut self, line_rate: BitRate) {
                match self {
                    Controller::LineRate => {}
                    $(Controller::$name(state) => state.on_port(line_rate),)*
                }
            }

            fn on_timeout(&mut self, timer: u8, now: Nanos) -> RateDecision {
                match self {
                    Controller::LineRate => RateDecision::Keep,
                    $(Controller::$name(state) => state.on_timeout(timer, now),)*
                }
            }

            fn timers(&self) -> Option<&Timers> {
                match self {
                    Controller::LineRate => None,
                    $(Controller::$name(state) => state.timers(),)*
                }
            }

            #[inline]
            fn timers_mut(&mut self) -> Option<&mut Timers> {
                match self {
                    Controller::LineRate => None,
                    $(Controller::$name(state) => state.timers_mut(),)*
                }
            }
        }
    };
}

controllers! {
    /// HPCC in the reference's rate form.
    Hpcc(HpccConfig),
    /// HPCC++ in the drafts' window form.
    HpccPlus(HpccPlusConfig),
    /// HPCC++ with the window computed by the receiver.
    RxHpcc(RxHpccConfig),
    /// HPCC with probabilistic telemetry.
    HpccPint(HpccPintConfig),
    /// DCQCN: marks and timers.
    Dcqcn(DcqcnConfig),
    /// TIMELY: round-trip times and their gradient.
    Timely(TimelyConfig),
    /// DCTCP: the fraction of marked packets.
    Dctcp(DctcpConfig),
}
