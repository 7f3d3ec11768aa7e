// SPDX-License-Identifier: MIT OR Apache-2.0
//! What frames are for.

crate::named! {
    /// What a frame is for.
    #[derive(Default, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub enum PacketKind {
        /// Payload.
        #[default]
        Data = "data",
        /// Positive acknowledgement: all bytes before the frame's have arrived.
        Ack = "ack",
        /// Negative acknowledgement: so have they, but another packet arrived in place of the next.
        Nack = "nack",
        /// Pause or resume of one priority of one link (802.1Qbb).
        Pfc = "pfc",
        /// A packet without payload that collects telemetry, sent before the frame's byte.
        Probe = "probe",
        /// Telemetry that comes back by itself.
        Feedback = "feedback",
        /// Congestion notification by the receiver.
        Cnp = "cnp",
        /// Congestion notification by a switch, with destination options.
        FastCnp = "fast_cnp",
        /// ICMPv6 about one of those.
        Icmpv6 = "icmpv6",
        /// The headers of a data packet whose payload a switch has cut off.
        Trimmed = "trimmed",
    }
}

impl PacketKind {
    /// Whether telemetry stands in its place, and nothing else does.
    #[must_use]
    pub const fn has_telemetry(self) -> bool {
        match self {
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::Nack
            | PacketKind::Probe
            | PacketKind::Feedback
            | PacketKind::Trimmed => true,
            PacketKind::Pfc | PacketKind::Cnp | PacketKind::FastCnp | PacketKind::Icmpv6 => false,
        }
    }
}
