// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RDMA host: which segment leaves next, what a receiver answers.

mod answer_seal;
mod datagrams;
mod entropy;
pub mod feedback;
mod flow;
mod host;
mod ideal_fct;
pub mod message;
mod nic;
mod notified;
mod packet_set;
pub mod path_probes;
mod posted;
mod probed;
mod protocol;
mod queue_pair;
pub mod receive;
mod receiver;
mod receiver_keys;
pub mod recovery;
mod send_times;
mod sender;
mod settings;
mod slab;
mod timeout;
mod turns;

#[cfg(test)]
mod host_tests;

pub use answer_seal::{AnswerSeal, SealedAnswer};
pub use datagrams::DatagramPacer;
pub(crate) use entropy::Entropies;
pub use entropy::Entropy;
pub use flow::{Ack, Counters, PATH_TIMER, PROBE_TIMER, Probe, Refused, SenderSpec, Trimmed};
pub use host::{AckResult, Host, HostConfig, PostResult, ReceiverSpec, TimeoutResult};
pub use ideal_fct::{Layer, LinkSpec, UnloadedFlow, UnloadedLink, UnloadedPath};
pub use nic::{Poll, Segment};
pub use notified::Notified;
pub(crate) use packet_set::PacketSet;
pub use posted::Message;
pub use probed::ProbedFlow;
pub use protocol::{IpVersion, Protocol, ProtocolSettings};
pub use queue_pair::{Acked, Effects, QueuePair};
pub use receiver::{AckDecision, Data, Receiver, Reply};
pub use receiver_keys::ReceiverKeys;
pub use recovery::Recovery;
pub use settings::TransportSettings;
pub(crate) use slab::{Slab, place_of};
pub use timeout::{RETRANSMISSION_TIMER, TimeoutConfig};

use crate::cc::Needs;
use crate::reference_faults::ReferenceFaults;
use crate::switch::Classes;
use crate::units::{BitRate, Nanos, Rounding};

crate::named! {
    /// Which flows share a queue pair.
    #[derive(Default)]
    pub enum QueuePairs {
        /// Messages of a job as with `per_pair`, all other flows as with `per_flow`. Where a fault of the 2019
        /// simulator is repeated, messages have a queue pair each, too.
        #[default]
        Auto = "auto",
        /// None: each flow has one of its own, which begins at line rate with a new controller.
        PerFlow = "per_flow",
        /// Those of the same source, destination, priority and destination port, of one job or of none. They are messages of one queue
        /// pair, sent one after the other in the order of their start; what congestion control has learnt stays from one to the next.
        PerPair = "per_pair",
    }
}

crate::named! {
    /// In what a receiver tells the sender of a congestion mark.
    #[derive(Default)]
    pub enum CongestionNotification {
        /// Acknowledgements echo it, as in the 2019 simulator.
        #[default]
        Echo = "ack",
        /// A congestion notification packet (REQ-34), once in [`Host::echo_interval`].
        Packet = "cnp",
        /// Fast CNPs of the receiver, with the records of the whole path where data packets bring an IOAM trace.
        FastCnp = "fast_cnp",
    }
}

/// How a host sends and acknowledges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransportConfig {
    /// Most payload bytes in a packet.
    pub mtu: u32,
    /// What is sent again after a loss.
    pub recovery: Recovery,
    /// Granularity of recovery [to chunks](Recovery::to_chunks) in bytes; at least 1.
    pub chunk: u32,
    /// The receiver acknowledges once it expects this byte or a later one (the 2019 simulator's L2_ACK_INTERVAL,
    /// which despite its name is no interval).
    pub ack_offset: u32,
    /// The sender asks for an acknowledgement after this many bytes, after half a window, with its last packet,
    /// and whenever it would have to stop otherwise; the receiver acknowledges what it is asked to, and what
    /// is out of order. 0: the receiver goes by `ack_offset` instead.
    pub ack_every: u32,
    /// Least time between two negative acknowledgements for the same byte.
    pub nack_interval: Nanos,
    /// So many packets may overtake another one before it counts as lost, where receivers [keep](Recovery::keeps) them.
    pub reorder_window: u32,
    /// Which source ports packets have.
    pub entropy: Entropy,
    /// How many a flow has then; a power of two.
    pub entropies: u16,
    /// How long REPS keeps to what came through when a packet has timed out; 0: not at all.
    pub entropy_freeze: Nanos,
    /// When to send again what is not acknowledged; `None`: never, as in the 2019 simulator.
    pub timeout: Option<TimeoutConfig>,
    /// Bound the bytes in flight by a window.
    pub window: bool,
    /// Scale the window with the sending rate.
    pub variable_window: bool,
    /// Bound them by a fixed bandwidth-delay product besides.
    pub bdp_cap: bool,
    /// Every flow uses the longest round-trip time of the network, instead of its own pair's.
    pub global_rtt: bool,
    /// T as the user gives it; `None`: as it is [computed](UnloadedFlow::base_rtt).
    pub base_rtt: Option<Nanos>,
    /// Pace at the controller's rate; otherwise at line rate (the controller then acts through the window).
    pub rate_bound: bool,
    /// The priority in which acknowledgements travel, and whose PFC pause stops them at their host.
    pub ack_priority: u8,
    /// The priority in which a receiver's CNPs travel, and whose PFC pause alone stops them at their host, 1 to 7; `None`:
    /// [`NOTIFICATION_PRIORITY`], and they wait with acknowledgements.
    pub cnp_priority: Option<u8>,
    /// How a port serves its flows; `None`: in turn, a packet each.
    pub classes: Option<Classes>,
    /// Which flows share a queue pair.
    pub queue_pairs: QueuePairs,
    /// In what marks of packets that arrive come back.
    pub notification: CongestionNotification,
    /// The key with which receivers [seal](AnswerSeal) what they answer, if they do.
    pub seal: Option<[u8; 16]>,
    /// Pace without rounding times to nanoseconds.
    pub exact_rates: bool,
    /// Bytes for which a frame occupies its link besides its own, which paces count.
    pub frame_gap: u32,
    /// Faults of the 2019 simulator that are repeated.
    pub faults: ReferenceFaults,
}

impl Default for TransportConfig {
    /// The defaults of [`TransportSettings`] without a timeout, for a host on its own.
    fn default() -> Self {
        TransportSettings { timeout: Some(Nanos(0)), ..TransportSettings::default() }
            .config(&Needs::default(), ReferenceFaults::NONE)
    }
}

/// The priority of congestion notifications, unless [a receiver's](TransportConfig::cnp_priority) have one: before all others, and
/// never paused.
pub const NOTIFICATION_PRIORITY: u8 = 0;

impl TransportConfig {
    /// What becomes of fractions of a nanosecond.
    #[inline]
    pub fn rounding(&self) -> Rounding {
        if self.exact_rates { Rounding::Exact } else { self.faults.rounding() }
    }

    /// The priority of an answer to a frame of priority `data`. Where a fault of the 2019 simulator is repeated,
    /// acknowledgements wait with data whatever their host says.
    #[inline]
    pub fn answer_priority(&self, data: u8) -> u8 {
        if self.faults.acks_queue_with_data { data } else { self.ack_priority }
    }

    /// The priority of a receiver's CNPs.
    #[inline]
    pub fn notification_priority(&self) -> u8 {
        self.cnp_priority.unwrap_or(NOTIFICATION_PRIORITY)
    }

    /// Where a sender resumes, or a receiver continues, when `expected` is the first missing byte.
    #[inline]
    fn resume_at(&self, expected: u64) -> u64 {
        if self.recovery.to_chunks { expected - expected % u64::from(self.chunk.max(1)) } else { expected }
    }

    /// Whether a receiver acknowledges a packet in order of itself, which then expects this byte.
    #[inline]
    pub fn acknowledges(&self, expected: u64) -> bool {
        expected >= u64::from(self.ack_offset) || expected.is_multiple_of(u64::from(self.chunk.max(1)))
    }

    /// Bytes after which a sender with this window, 0 for none, asks for an acknowledgement: twice in a window keeps a small
    /// one moving.
    #[inline]
    fn asks_every(&self, window: u64) -> u64 {
        let every = u64::from(self.ack_every);
        if window == 0 { every } else { every.min(window / 2) }
    }

    /// What bounds the bytes in flight of a flow with this window, 0 for none.
    #[inline]
    pub fn bounded(&self, window: u64, line_rate: BitRate, base_rtt: Nanos) -> u64 {
        if !self.bdp_cap {
            return window;
        }
        let cap = line_rate.bytes_in(base_rtt).max(1);
        if window == 0 { cap } else { window.min(cap) }
    }

    /// The window that a flow begins with (REQ-08), 0 for none: one that scales with the rate is that of its port's `line_rate`,
    /// a fixed one `bdp`, that of the path.
    pub fn first_window(&self, line_rate: BitRate, base_rtt: Nanos, bdp: u64) -> u64 {
        let bdp = if self.faults.wrapping_window { u64::from(bdp as u32) } else { bdp };
        let scales = self.window && self.variable_window && !self.faults.narrow_window;
        match self.window {
            true if scales => line_rate.bytes_in(base_rtt),
            true => bdp,
            false => 0,
        }
    }

    /// Whether flows may be messages of one queue pair: those of jobs, or others.
    #[inline]
    pub fn shares_queue_pairs(&self, is_of_job: bool) -> bool {
        match self.queue_pairs {
            QueuePairs::PerPair => true,
            QueuePairs::PerFlow => false,
            QueuePairs::Auto => is_of_job && self.faults == ReferenceFaults::NONE,
        }
    }

    #[inline]
    fn is_selective(&self) -> bool {
        self.recovery.keeps
    }

    /// Whether hosts recover in ways that the 2019 simulator does not know.
    #[inline]
    fn recovers(&self) -> bool {
        self.timeout.is_some() || self.is_selective()
    }
}
