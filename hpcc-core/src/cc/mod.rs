// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: feedback in, sending rate out.
//!
//! A controller is a plain state machine that implements [`CongestionControl`]. To add one, write a file
//! beside `dctcp.rs` with its configuration and its state, then add a line to the list in `registry.rs`;
//! `ns3-module/doc/adding-a-controller.md` shows a complete one.
//!
//! | controller | hears | decides |
//! | --- | --- | --- |
//! | [`Hpcc`] | telemetry of each hop | at every acknowledgement |
//! | [`HpccPlus`] | telemetry of each hop | at every acknowledgement |
//! | [`RxHpccSender`] | the window that its receiver computed | at every message that brings one |
//! | [`HpccPint`] | one utilisation code | at every sampled acknowledgement |
//! | [`Dcqcn`] | congestion marks | by timers |
//! | [`Timely`] | its own echoed send time | once in a round trip |
//! | [`Dctcp`] | congestion marks | once in a round trip |
//!
//! A switch may also notify the sender itself ([`Notification`]): [`Hpcc`], [`HpccPlus`] and [`Dcqcn`] react.

mod control_law;
mod dcqcn;
mod dctcp;
mod flow_count;
mod hpcc;
mod hpcc_pint;
pub mod hpcc_plus;
mod notification;
mod path_choice;
mod registry;
pub mod rx_hpcc;
#[cfg(test)]
pub(crate) mod testing;
mod timely;
mod timers;

pub use control_law::{ControlLaw, Stage};
pub use dcqcn::{Dcqcn, DcqcnConfig};
pub use dctcp::{Dctcp, DctcpConfig};
pub use flow_count::FlowCount;
pub use hpcc::{Hpcc, HpccConfig};
pub use hpcc_pint::{HpccPint, HpccPintConfig};
pub use hpcc_plus::{HpccPlus, HpccPlusConfig};
pub use notification::{Notification, Origin};
pub use path_choice::{MAX_PATHS, PathChoice, PathChoiceConfig};
pub use registry::{Algorithm, Controller};
pub use rx_hpcc::{RxHpccConfig, RxHpccReceiver, RxHpccSender};
pub use timely::{Timely, TimelyConfig};
pub use timers::{Armed, MAX_TIMERS, Timers};

use crate::quirks::Quirks;
use crate::random::Chance;
use crate::telemetry::{Layout, Telemetry};
use crate::units::{BitRate, Nanos};

/// What a controller must know of its flow and never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLimits {
    /// Line rate of the sender's port; no rate above it is useful.
    pub line_rate: BitRate,
    /// Base round-trip time T: the longest of the network, or that of the pair.
    pub base_rtt: Nanos,
    /// Window at line rate in bytes, normally line rate * T; 0 stands for no window.
    pub window: u64,
    /// Bytes on the path at line rate, against which HPCC weighs a queue: the window, or line rate * T
    /// without one.
    pub path_bytes: u64,
    /// Most payload bytes in a packet; at least 1.
    pub mtu: u32,
    /// Faults of the reference that are repeated.
    pub quirks: Quirks,
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
    /// Telemetry of the acknowledged packet; [`Telemetry::Nothing`] where it is malformed or incomplete.
    pub telemetry: Telemetry<'a>,
}

/// What a controller wants done after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// Nothing changes.
    Keep,
    /// The rate applies at once: the wait before the next packet is recomputed for it.
    Repace(BitRate),
    /// The rate paces the packets after the next one; the window follows at once.
    Set(BitRate),
    /// Rate and window apply at once, each as it is given.
    Window {
        /// Bytes that may be in flight; at least 1.
        bytes: u64,
        /// The pace.
        rate: BitRate,
    },
}

/// The parameters of an algorithm.
pub trait Parameters: Copy {
    /// The algorithm's state for one flow.
    type Flow: CongestionControl;

    /// The state of a new flow, which sends at line rate until the algorithm decides otherwise.
    fn start(self, limits: FlowLimits) -> Self::Flow;

    /// The rate never falls below this; above 0.
    fn min_rate(&self) -> BitRate;

    /// Whether telemetry of this layout tells the algorithm what it must hear.
    fn hears(_: &Layout) -> bool {
        true
    }
}

/// A congestion-control algorithm for one flow.
///
/// `chance` is shared by the whole network: a controller that draws from it changes what others draw.
pub trait CongestionControl {
    /// Takes in one acknowledgement.
    fn on_feedback(&mut self, feedback: &Feedback<'_>, chance: &mut Chance) -> RateDecision;

    /// Takes in a notification that was accepted as being about this flow.
    fn on_notification(&mut self, _notification: &Notification<'_>) -> RateDecision {
        RateDecision::Keep
    }

    /// The flow moved to a port of this rate. As in the reference only DCQCN's target follows.
    fn on_port(&mut self, _line_rate: BitRate) {}

    /// The time of an armed timer has come; it is no longer armed.
    fn on_timeout(&mut self, _timer: u8, _now: Nanos) -> RateDecision {
        RateDecision::Keep
    }

    /// The timers of this flow; only a controller that owns some says so.
    fn timers(&self) -> Option<&Timers> {
        None
    }

    /// The same, to be told what was done with them.
    fn timers_mut(&mut self) -> Option<&mut Timers> {
        None
    }
}
