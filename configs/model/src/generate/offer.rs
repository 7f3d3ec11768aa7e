// SPDX-License-Identifier: GPL-2.0-only
//! What random traffic brings to receivers on average.

use hpcc_core::units::Nanos;

/// Mean payload that random traffic sends to each host while it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// When the first flow may start.
    pub start: Nanos,
    /// From then on no flow starts.
    pub end: Nanos,
    /// Priority of its flows.
    pub priority: u8,
    /// Hosts, and bits per second that they are sent.
    pub rates: Vec<(u32, f64)>,
    /// Which share stays in the rack of its sender, if that was chosen.
    pub rack_share: Option<f64>,
}
