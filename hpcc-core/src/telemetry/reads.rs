// SPDX-License-Identifier: MIT OR Apache-2.0
//! What there is to be read of telemetry, and which layouts say it.

use super::Layout;

/// The telemetry that an algorithm reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// It reads no telemetry.
    #[default]
    Nothing,
    /// A record of each hop.
    Records,
    /// The time when the packet left its sender.
    SendTime,
    /// The utilisation of the busiest hop.
    Utilisation,
    /// Free share and queue of the bottleneck, in turns.
    Load,
    /// The bottleneck's delay or queue.
    Delay,
    /// Bolt's header.
    Bolt,
}

impl Reads {
    /// Whether telemetry of this layout says it.
    pub fn is_in(self, layout: &Layout) -> bool {
        self == Reads::Nothing || self == layout.tells()
    }
}
