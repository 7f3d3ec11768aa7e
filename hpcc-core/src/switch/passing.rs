// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a switch is told of a frame that passes, and what it answers.

use super::FlowKey;
use crate::units::Nanos;

/// A frame that has come in, as its way depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// The node that it goes to.
    pub dst: u32,
    /// Its addresses and ports.
    pub key: FlowKey,
    /// IPv6 hop limit or IPv4 time to live with which it came.
    pub hop_limit: u8,
    /// Its priority group, 0 to 7.
    pub priority: u8,
    /// Whether it carries payload or collects telemetry: what answers it goes by the hash of its flow.
    pub is_data: bool,
}

/// Where a frame goes that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Its destination cannot be reached.
    None,
    /// Its hop limit ends here.
    Expired,
    /// To another node.
    To {
        /// Port by which it leaves.
        egress: u16,
        /// Hop limit with which it leaves.
        hop_limit: u8,
    },
}

/// A frame at the head of an egress queue, which leaves now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Port by which it came in.
    pub ingress: u16,
    /// Its priority group, 0 to 7.
    pub priority: u8,
    /// Whether it carries payload; only such frames are stamped.
    pub is_data: bool,
    /// Whether its payload was cut off.
    pub is_trimmed: bool,
    /// Its bytes on the link, before this switch adds telemetry.
    pub size: u32,
    /// Bytes that wait at the port behind it, all frames.
    pub queue: u64,
    /// When it came in.
    pub arrived: Nanos,
    /// IPv6 hop limit or IPv4 time to live with which it leaves.
    pub hop_limit: u8,
}

/// A frame that leaves, in whatever form the simulator keeps it. Read where it stands, for a copy of it in memory costs more than
/// most of what a switch does with it.
pub trait Departing {
    /// What the switch must know of it.
    fn head(&self) -> Head;
}

impl Departing for Head {
    #[inline]
    fn head(&self) -> Head {
        *self
    }
}

/// The telemetry section of a frame: bytes of which the first `len` are in use.
#[derive(Debug)]
pub struct Section<'a> {
    /// The section and room behind it.
    pub bytes: &'a mut [u8],
    /// Length of the section.
    pub len: usize,
}

/// What happens to a frame that departs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Set its ECN bits to "congestion experienced".
    pub mark: bool,
    /// Before it is sent: send a PFC resume of its priority out of its ingress port.
    pub resume: bool,
}
