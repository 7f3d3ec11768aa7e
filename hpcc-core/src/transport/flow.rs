// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host, its ports and its flows tell each other.

use super::TransportConfig;
use super::feedback::{FeedbackConfig, FeedbackContent, Rejected};
use super::receive::ReceiveCounters;
use super::recovery::Sack;
use super::timeout::RETRANSMISSION_TIMER;
use crate::cc::Needs;
use crate::counters::counters;
use crate::telemetry::Layout;
use crate::wire::FrameSizes;

/// Number of the timer of probes among the timers of a queue pair.
pub const PROBE_TIMER: u8 = RETRANSMISSION_TIMER + 1;
/// Number of the timer of other paths' probes, likewise.
pub const PATH_TIMER: u8 = PROBE_TIMER + 1;
// The last of them: each has a bit in `Armed`.
const _: () = assert!((PATH_TIMER as u32) < u8::BITS);

/// What identifies a flow on the wire, and where it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderSpec {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// UDP source port: the flow's entropy.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group, 0 to 7.
    pub priority: u8,
    /// Key of the receiving queue pair at the destination.
    pub receiver: u32,
}

/// A probe: a packet of a flow without payload, which collects telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Which flow it belongs to.
    pub sender: SenderSpec,
    /// The first byte that was not sent yet: the probe follows all that were.
    pub seq: u64,
    /// Bytes on the link.
    pub frame: u32,
}

/// A packet of which the headers alone have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// Its first byte.
    pub seq: u64,
    /// Whether the last switch on its way has cut it.
    pub at_last_hop: bool,
}

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack<'a> {
    /// Key of the sending queue pair that it is for.
    pub queue_pair: u32,
    /// First byte that the receiver still expects.
    pub seq: u64,
    /// Whether it says that this byte is missing.
    pub nack: bool,
    /// First byte of the packet that arrived in its place, under selective repeat.
    pub selective: Option<u64>,
    /// The packet without payload that it answers, if it answers one.
    pub trimmed: Option<Trimmed>,
    /// What else has arrived, where receivers tell it by bitmaps.
    pub sack: Option<Sack>,
    /// UDP source port of the packet that caused it.
    pub port: u16,
    /// Whether the packet that caused it carried a congestion mark.
    pub congestion_marked: bool,
    /// That packet's telemetry section.
    pub telemetry: &'a [u8],
}

counters! {
    /// What a host did, besides what its flows say.
    pub struct Counters {
        /// Packets that were sent again.
        pub resent: u64,
        /// How often a retransmission timer ran out.
        pub timeouts: u64,
        /// Probes sent.
        pub probes: u64,
        /// Packets that brought feedback.
        pub feedback: u64,
        /// Feedback that was not believed.
        pub rejected: Rejected,
        /// Telemetry that could not be compared with the last, here or where it was read, and was kept for the next.
        pub baseline_resets: u64,
        /// Times that a flow moved to another path.
        pub moves: u64,
        /// Congestion notification packets sent.
        pub cnps: u64,
        /// Answers of receivers that it did not heed.
        pub refused: Refused,
        /// Congestion marks that arrived and were told with others: they waited for one answer, or came within its interval.
        pub marks_merged: u64,
        /// Congestion marks that arrived and that no sender hears of: nothing went back that told of them, or its flow was over.
        pub marks_untold: u64,
        /// Answers of receivers that told a flow of a congestion mark.
        pub marks_heard: u64,
        /// Headers that arrived without their payload.
        pub trims_heard: u64,
        /// What its NICs did with what it took slowly.
        pub receive: ReceiveCounters,
    }
}

counters! {
    /// Answers that no honest receiver sends.
    pub struct Refused {
        /// Of bytes that were never sent.
        pub unsent: u64,
        /// Congestion notification packets where none are configured.
        pub unasked: u64,
        /// Not sealed as they must be.
        pub unsealed: u64,
    }
}

/// What all ports of a host share.
#[derive(Clone, Debug)]
pub struct NicRules {
    pub transport: TransportConfig,
    pub sizes: FrameSizes,
    pub layout: Layout,
    pub feedback: FeedbackConfig,
    /// What the algorithm needs.
    pub needs: Needs,
    /// What comes back for telemetry.
    pub answer: FeedbackContent,
}

/// A flow's identity for both of its ends: nodes, and the key of the receiving queue pair.
pub(super) fn flow_id(src: u32, dst: u32, receiver: u32) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    [src, dst, receiver].iter().fold(0xcbf2_9ce4_8422_2325, |id, &part| (id ^ u64::from(part)).wrapping_mul(PRIME))
}
