// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control: feedback in, sending rate out.
//!
//! An [`Algorithm`] has parameters and starts flows; the state of a flow is a [`CongestionControl`]. To add one, write a
//! file beside `dctcp.rs`, its `mod` and its line in `algorithms!` in this file; `ns3-module/doc/adding-a-controller.md` follows
//! one through. An algorithm outside this crate implements the same two traits.
//!
//! | algorithm | reads | decides |
//! | --- | --- | --- |
//! | [`HpccConfig`] | telemetry of each hop | at every acknowledgement |
//! | [`HpccPlusConfig`] | telemetry of each hop | at every acknowledgement |
//! | [`RxHpccConfig`] | the window that its receiver computed | at every message that brings one |
//! | [`HpccPintConfig`] | one utilisation code | at every sampled acknowledgement |
//! | [`DcqcnConfig`] | congestion marks | by timers |
//! | [`TimelyConfig`] | its own echoed send time | once in a round trip |
//! | [`DctcpConfig`] | congestion marks | once in a round trip |
//! | [`PowerTcpConfig`] | telemetry of each hop | at every acknowledgement |
//! | [`ThetaPowerTcpConfig`] | round-trip times | at every acknowledgement |
//! | [`SwiftConfig`] | round-trip times | at every acknowledgement |
//! | [`StrackConfig`] | round-trip times | at every acknowledgement |
//! | [`BoltConfig`] | Bolt's header, and what switches send back | at every acknowledgement, and at once |
//!
//! A switch may also notify the sender itself ([`Notification`]); [`Reaction`] says who does what about it.

mod algorithm;
mod bolt;
mod control_law;
pub mod dcqcn;
mod dctcp;
mod flow_count;
mod hpcc;
mod hpcc_pint;
pub mod hpcc_plus;
mod line_rate;
mod notification;
mod path_choice;
mod power_tcp;
mod rx_hpcc;
mod share;
mod strack;
mod swift;
mod tcp_class;
#[cfg(test)]
pub(crate) mod testing;
mod theta_power_tcp;
pub mod timely;
mod timers;
mod words;

/// Makes exports and [`all`] from one line for each algorithm.
macro_rules! algorithms {
    ($($module:ident::$config:ident;)*) => {
        $(pub use $module::$config;)*

        /// All algorithms of this crate, with their defaults.
        pub fn all() -> Vec<Box<dyn Algorithm>> {
            vec![$(Box::new(<$config>::default())),*]
        }
    };
}

algorithms! {
    hpcc::HpccConfig;
    hpcc_plus::HpccPlusConfig;
    rx_hpcc::RxHpccConfig;
    hpcc_pint::HpccPintConfig;
    dcqcn::DcqcnConfig;
    timely::TimelyConfig;
    dctcp::DctcpConfig;
    power_tcp::PowerTcpConfig;
    theta_power_tcp::ThetaPowerTcpConfig;
    swift::SwiftConfig;
    strack::StrackConfig;
    bolt::BoltConfig;
    line_rate::LineRate;
}

pub use algorithm::{Algorithm, CloneAlgorithm, Needs, Steers};
pub use control_law::{ControlLaw, Stage};
pub use flow_count::FlowCount;
pub use hpcc::Hpcc;
pub use hpcc_plus::HpccPlus;
pub use notification::{Effect, NoEffect, Notification, Origin, Reaction, Signal};
pub use path_choice::{MAX_PATHS, PathChoice, PathChoiceConfig};
pub use rx_hpcc::{Rounds, RxHpccReceiver};
pub use tcp_class::TcpClass;
pub use timers::{Armed, MAX_TIMERS, Timers};

use crate::random::Rng;
use crate::recurrence::{Recurs, Walk};
use crate::reference_faults::ReferenceFaults;
pub use crate::telemetry::Reads;
use crate::telemetry::Telemetry;
use crate::units::{BitRate, Nanos};
use algorithm::known_as;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Facts of a flow that never change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLimits {
    /// Line rate of the sender's port; no rate above it is useful.
    pub line_rate: BitRate,
    /// Most that the flow may send at, whatever port it is at.
    pub most: BitRate,
    /// Base round-trip time T: the network's longest, or the pair's.
    pub base_rtt: Nanos,
    /// Window at line rate in bytes, normally line rate * T; 0 stands for no window.
    pub window: u64,
    /// Bytes on the path at line rate, against which HPCC weighs a queue: the window, or line rate * T
    /// without one.
    pub path_bytes: u64,
    /// Most payload bytes in a packet; at least 1.
    pub mtu: u32,
    /// Links on the shortest path; 0 if not known.
    pub hops: u8,
    /// Whether packets may bring the records of some hops of their path only.
    pub some_hops: bool,
    /// Faults of the 2019 simulator that are repeated.
    pub faults: ReferenceFaults,
}

impl FlowLimits {
    /// Of a flow with this window and packets of 1000 bytes, of whose path nothing else is known.
    pub const fn of(line_rate: BitRate, base_rtt: Nanos, window: u64) -> FlowLimits {
        let (path_bytes, mtu, hops, some_hops, faults) = (window, 1_000, 0, false, ReferenceFaults::NONE);
        FlowLimits { line_rate, most: BitRate(u64::MAX), base_rtt, window, path_bytes, mtu, hops, some_hops, faults }
    }
}

/// One acknowledgement (positive or negative) as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Simulated time of its arrival.
    pub now: Nanos,
    /// First byte that the receiver still expects.
    pub ack_seq: u64,
    /// First byte that the sender has not sent yet.
    pub snd_nxt: u64,
    /// Bytes that it acknowledged for the first time.
    pub acked: u64,
    /// From the sending of the newest packet that it acknowledged to now, where [`Needs::rtt`] asks for it and that packet
    /// was sent only once.
    pub rtt: Option<Nanos>,
    /// Whether the acknowledged packet carried a congestion mark.
    pub congestion_marked: bool,
    /// Telemetry of the acknowledged packet; [`Telemetry::Nothing`] where it is malformed or incomplete.
    pub telemetry: Telemetry<'a>,
}

/// A controller's answer to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// Rate and window stay as they are.
    Keep,
    /// The rate applies at once: the wait before the next packet is recomputed for it.
    Repace(BitRate),
    /// The rate paces the packets after the next one; the window follows at once.
    Set(BitRate),
    /// Rate and window apply at once, each as it is given.
    Window {
        /// Bytes that may be in flight; at least 1.
        bytes: u64,
        /// The pace of packets, in bits per second.
        rate: BitRate,
    },
}

impl RateDecision {
    /// The window that it sets, in bytes.
    #[must_use]
    pub fn window_bytes(self) -> Option<u64> {
        match self {
            RateDecision::Window { bytes, .. } => Some(bytes),
            RateDecision::Keep | RateDecision::Repace(_) | RateDecision::Set(_) => None,
        }
    }
}

/// A packet that leaves, with payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Simulated time at which it leaves.
    pub now: Nanos,
    /// Its first byte.
    pub seq: u64,
    /// Bytes of payload, 1 to the MTU.
    pub bytes: u32,
    /// Bytes sent and not acknowledged, this packet included.
    pub in_flight: u64,
    /// Whether its first byte was sent before.
    pub retransmission: bool,
    /// Bytes of its message from its first byte to the end.
    pub left: u64,
}

/// How the transport learnt that packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// The receiver reported a missing byte.
    Nack,
    /// A switch has cut a packet to its headers.
    Trimmed {
        /// Whether it was the last on the packet's way, so that the receiver's link is the bottleneck.
        at_last_hop: bool,
    },
    /// Nothing was acknowledged for too long.
    Timeout,
}

/// Packets taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When that was noticed.
    pub now: Nanos,
    /// The first byte that is missing.
    pub seq: u64,
    /// Bytes that were in flight.
    pub in_flight: u64,
    /// How it was noticed.
    pub signal: LossSignal,
}

/// The state of an algorithm for one flow.
///
/// The transport calls, each time with the present time in the event: [`on_sent`](CongestionControl::on_sent) after a
/// packet has left; for an acknowledgement that reports a missing byte first [`on_loss`](CongestionControl::on_loss), then,
/// for every acknowledgement, [`on_feedback`](CongestionControl::on_feedback); `on_loss` for a retransmission timeout;
/// [`on_notification`](CongestionControl::on_notification) for a Fast CNP or a congestion notification packet that was
/// accepted; [`on_timer`](CongestionControl::on_timer) for a timer of its own; [`on_port`](CongestionControl::on_port) after
/// a failed link has moved the flow to another port. A decision takes effect before the next call. Nothing is called after the last byte was acknowledged.
///
/// `rng` is shared by the flows whose feedback comes in by the same port of a host, in the 2019 simulator by the whole
/// network: a controller that draws from it changes what these draw.
pub trait CongestionControl: Send + Debug {
    /// Takes in one acknowledgement.
    fn on_feedback(&mut self, feedback: &Feedback<'_>, rng: &mut Rng) -> RateDecision;

    /// A packet has left, where [`Needs::sent`] asks for it.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// What a packet that leaves says of its flow, where [`Needs::sent`] asks for it: [`Codec::label`](crate::telemetry::Codec::label).
    fn label(&mut self, _sent: &Sent) -> u8 {
        0
    }

    /// Packets are taken for lost and will be sent again.
    fn on_loss(&mut self, _loss: &Loss) -> RateDecision {
        RateDecision::Keep
    }

    /// Takes in a notification that was accepted as being about this flow, if [`Needs::reaction`] says that it reacts.
    ///
    /// # Errors
    /// Why it changes nothing.
    fn on_notification(&mut self, _notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        Err(NoEffect::NoReaction)
    }

    /// The flow moved to a port of this rate. As in the 2019 simulator only DCQCN's target follows.
    fn on_port(&mut self, _line_rate: BitRate) {}

    /// The time of an armed timer has come; it is no longer armed.
    fn on_timer(&mut self, _timer: u8, _now: Nanos) -> RateDecision {
        RateDecision::Keep
    }

    /// U of the busiest link as far as this flow knows: 1 where the bytes in flight there equal capacity * T. For those who
    /// watch a flow; `None` where the algorithm reckons with none.
    fn utilisation(&self) -> Option<f64> {
        None
    }

    /// The link that moved [`CongestionControl::utilisation`] last: its place on the path, 0 for the first switch's.
    /// `None` before the first, and where telemetry does not say.
    fn bottleneck(&self) -> Option<u8> {
        None
    }

    /// Records of telemetry that could not be compared with the last ones, because a counter may have wrapped or the
    /// path has changed. The first of a flow does not count.
    fn baseline_resets(&self) -> u64 {
        0
    }

    /// Its state, where that comes back in steady traffic, each field with its [rule](crate::recurrence): only then is such
    /// traffic skipped. One that says nothing, or whose state moves for ever, such as an average that comes nearer to its end at each
    /// step, is always run.
    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        None
    }

    /// Where a program has this state, if it is an object of a program: a number that says something to the program alone.
    fn object(&self) -> Option<usize> {
        None
    }

    /// The timers of this flow; only a controller that owns some says so, from its start on.
    fn timers(&self) -> Option<&Timers> {
        None
    }

    /// The timers, to be told that they were armed or are due.
    fn timers_mut(&mut self) -> Option<&mut Timers> {
        None
    }
}

impl Walk {
    /// The state of a controller: the same, if it says that it recurs.
    pub fn controller<T: CongestionControl + ?Sized>(&mut self, controller: &mut Box<T>) {
        match controller.recurring() {
            Some(state) => self.part(state),
            None => self.refuse("a congestion control whose state is not known to recur"),
        }
    }
}
