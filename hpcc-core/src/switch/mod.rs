// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared-buffer switch: route, admission, pause, ECN mark, telemetry stamp.

mod ecmp;
mod ecn;
mod shared_buffer;

pub use ecn::EcnThreshold;

/// What a switch is given at start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchConfig {
    /// Shared packet memory in bytes.
    pub buffer_bytes: u64,
    /// Whether packets are ECN-marked at all.
    pub ecn: bool,
    /// One entry for each link rate in the network.
    pub ecn_thresholds: alloc::vec::Vec<EcnThreshold>,
}
