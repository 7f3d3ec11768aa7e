// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many bytes a frame occupies on a link.

use crate::telemetry::Layout;

/// Sizes of the frames of one header stack, telemetry excluded.
///
/// Sizes are what the links of the simulation carry and time; preamble and gap are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    /// Headers of a data frame.
    pub data_headers: u32,
    /// Headers of an acknowledgement.
    pub ack_headers: u32,
    /// An acknowledgement is padded to this.
    pub ack_minimum: u32,
    /// A PFC frame.
    pub pfc: u32,
}

impl FrameSizes {
    /// What an acknowledgement takes to name a packet that arrived out of order.
    pub const SELECTIVE_ACK: u32 = 4;

    /// The reference's: 14 link, 20 IPv4; then 8 UDP and 6 sequence for data, 12 for an acknowledgement.
    pub const REFERENCE: FrameSizes =
        FrameSizes { data_headers: 14 + 20 + 8 + 6, ack_headers: 14 + 20 + 12, ack_minimum: 60, pfc: 43 };

    /// A data frame with `payload` bytes as it leaves its sender.
    #[inline]
    pub fn data(&self, payload: u32, layout: &Layout) -> u32 {
        self.data_headers + layout.initial_len() as u32 + payload
    }

    /// An acknowledgement that carries `telemetry` bytes.
    #[inline]
    pub fn ack(&self, telemetry: u32) -> u32 {
        (self.ack_headers + telemetry).max(self.ack_minimum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_frames_have_the_published_sizes() {
        let sizes = FrameSizes::REFERENCE;
        assert_eq!(sizes.data(1000, &Layout::Reference { multiplier: 1 }), 1090);
        assert_eq!(sizes.data(1000, &Layout::Timestamp), 1056);
        assert_eq!(sizes.data(1000, &Layout::pint(1.05, true)), 1050);
        assert_eq!(sizes.data(1000, &Layout::pint(1.05, false)), 1049);
        assert_eq!(sizes.data(1000, &Layout::None), 1048);
        assert_eq!(sizes.ack(42), 88);
        assert_eq!(sizes.ack(0), 60);
        assert_eq!(sizes.pfc, 43);
    }
}
