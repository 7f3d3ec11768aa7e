// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many bytes a frame occupies on a link.

use crate::roce::{self, CNP_RESERVED};
use crate::units::{BitRate, Bytes, Nanos};

crate::named! {
    /// The header stack of every frame.
    #[derive(Default)]
    pub enum WireProfile {
        /// The 2019 simulator's: a private header in place of RoCEv2's, no trailers.
        #[default]
        Reference = "reference",
        /// RoCEv2 over IPv4: Ethernet 14, IPv4 20, UDP 8, BTH 12; ICRC 4, FCS 4.
        RoceV4 = "rocev2_ipv4",
        /// RoCEv2 over IPv6, whose header takes 40.
        RoceV6 = "rocev2_ipv6",
    }
}

crate::settings! {
    /// What frames look like.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WireSettings {
        /// Headers of every frame: the 2019 simulator's private ones (`reference`), or those of RoCEv2.
        #[change = "Choose a `rocev2` profile for real sizes, captures, and Fast CNP (IPv6)."]
        #[assumed = "the 2019 simulator's headers, which are 10 to 30 bytes shorter than RoCEv2's"]
        pub profile: WireProfile = WireProfile::Reference;
        /// Whether a frame occupies its link for 20 bytes more, Ethernet's preamble and gap; `auto`: with the `rocev2`
        /// profiles.
        #[change = "Turn it off for frames without a gap, as in the 2019 simulator."]
        pub preamble_and_gap: Option<bool> = None;
        /// Whether links and hosts keep their rates exactly, so that times differ from the formula by less than a nanosecond
        /// a link however many frames follow each other; otherwise each frame takes the nearest nanosecond. `auto`: yes, unless
        /// `floored_times` of `[compatibility]` rounds them down.
        #[change = "Turn it off for numbers of before: at 800 Gb/s links with frames of 338 bytes are then 11 % too fast."]
        pub exact_rates: Option<bool> = None;
        /// Whether links send again what they lose (link-level retry of Ultra Ethernet 1.0), in order: hosts see no loss but that of
        /// links which have failed.
        #[change = "Turn it on for links with bit errors, to see what a loss costs there in place of a round trip between hosts."]
        pub llr: bool = false;
        /// Bytes of frames without an acknowledgement of the link that its transmitter keeps: it stops while there is no room for
        /// another; `auto`: what leaves in a round trip of the link, and three frames.
        #[change = "Set it to a device's replay buffer: with less than `auto` links are slower."]
        pub llr_buffer: Option<Bytes> {1..=MOST_REPLAY} = None => llr = "true";
    }
}

/// The largest replay buffer of a link.
const MOST_REPLAY: u64 = u32::MAX as u64;

impl WireSettings {
    /// Settles what was left to the simulator; whether times are rounded as the 2019 simulator does.
    pub fn resolve(&mut self, floored_times: bool) {
        self.preamble_and_gap.get_or_insert(self.profile.is_real());
        self.exact_rates.get_or_insert(!floored_times);
    }

    /// Bytes that a frame occupies its link for besides its own.
    pub fn frame_gap(&self) -> u32 {
        if self.preamble_and_gap.unwrap_or(self.profile.is_real()) { PREAMBLE_AND_GAP } else { 0 }
    }
}

/// Preamble, start delimiter and inter-frame gap of Ethernet in bytes: time on the link, but no part of a frame.
pub const PREAMBLE_AND_GAP: u32 = 7 + 1 + 12;

/// Bytes that leave by a link of this rate and delay until its far end has answered, with the frames, of `largest` bytes at most, that
/// begin and end in that time.
pub fn in_a_round_trip(largest: u64, (rate, delay): (BitRate, Nanos)) -> u64 {
    rate.bytes_in(Nanos(delay.0.saturating_mul(2))).saturating_add(3 * largest)
}

impl WireProfile {
    /// Whether its frames have real bytes.
    pub fn is_real(self) -> bool {
        self != WireProfile::Reference
    }

    /// The UDP destination port of its frames, answers included; `None`: each flow has its own, where answers go back to the
    /// data's source port.
    pub fn port(self) -> Option<u16> {
        self.is_real().then_some(roce::PORT)
    }

    /// The sizes of its frames.
    pub fn sizes(self) -> FrameSizes {
        match self {
            WireProfile::Reference => FrameSizes::REFERENCE,
            WireProfile::RoceV4 => FrameSizes::roce(20),
            WireProfile::RoceV6 => FrameSizes::roce(40),
        }
    }
}

/// Sizes of the frames of one header stack, telemetry excluded: what links carry and queues hold, FCS included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    /// Headers and trailers of a data frame.
    pub data_overhead: u32,
    /// What the first frame of a message has besides.
    pub first_overhead: u32,
    /// Headers and trailers of an acknowledgement.
    pub ack_overhead: u32,
    /// Headers and trailers of feedback that is no acknowledgement.
    pub feedback_overhead: u32,
    /// Payload is padded to a multiple of this.
    pub alignment: u32,
    /// No acknowledgement is shorter.
    pub ack_minimum: u32,
    /// A PFC frame.
    pub pfc: u32,
    /// A frame that opens a connection, or accepts one; 0: flows have none.
    pub opening: u32,
}

impl FrameSizes {
    /// What an acknowledgement takes to name a packet that arrived out of order.
    pub const SELECTIVE_ACK: u32 = 4;

    /// The 2019 simulator's: 14 link, 20 IPv4; then 8 UDP and 6 sequence for data, 12 for an acknowledgement.
    pub const REFERENCE: FrameSizes = FrameSizes {
        data_overhead: 14 + 20 + 8 + 6,
        first_overhead: 0,
        ack_overhead: 14 + 20 + 12,
        feedback_overhead: 14 + 20 + 12,
        alignment: 1,
        ack_minimum: 60,
        pfc: 43,
        opening: 0,
    };

    /// Those of Ultra Ethernet: 64 bytes for all headers, as in its own simulator; nothing is shorter.
    pub const ULTRA_ETHERNET: FrameSizes = FrameSizes {
        data_overhead: 64,
        first_overhead: 0,
        ack_overhead: 64,
        feedback_overhead: 64,
        alignment: 1,
        ack_minimum: 64,
        pfc: 64,
        opening: 0,
    };

    /// TCP behind an IP header of `ip` bytes: Ethernet 14, TCP 20, its time stamps 12; FCS 4. The options that open a
    /// connection take 16.
    pub const fn tcp(ip: u32) -> FrameSizes {
        FrameSizes {
            data_overhead: 14 + ip + 20 + 12 + 4,
            first_overhead: 0,
            ack_overhead: 14 + ip + 20 + 12 + 4,
            feedback_overhead: 14 + ip + 20 + 4,
            alignment: 1,
            ack_minimum: 64,
            pfc: 64,
            opening: 14 + ip + 20 + 16 + 4,
        }
    }

    /// Datagrams behind an IP header of `ip` bytes: Ethernet 14, UDP 8; FCS 4. What comes back is the answer to a probe, with
    /// 8 bytes that say which.
    pub const fn udp(ip: u32) -> FrameSizes {
        FrameSizes {
            data_overhead: 14 + ip + 8 + 4,
            first_overhead: 0,
            ack_overhead: 14 + ip + 8 + 8 + 4,
            feedback_overhead: 14 + ip + 8 + 8 + 4,
            alignment: 1,
            ack_minimum: 64,
            pfc: 64,
            opening: 0,
        }
    }

    /// RoCEv2 behind an IP header of `ip` bytes: RDMA WRITEs, the first packet of each with a RETH,
    /// and acknowledgements with an AETH. All are longer than Ethernet's least, 64 bytes, which PFC frames have.
    const fn roce(ip: u32) -> FrameSizes {
        let overhead = 14 + ip + 8 + 12 + 4 + 4;
        FrameSizes {
            data_overhead: overhead,
            first_overhead: 16,
            ack_overhead: overhead + 4,
            feedback_overhead: overhead,
            alignment: 4,
            ack_minimum: 64,
            pfc: 64,
            opening: 0,
        }
    }

    /// A data frame with `payload` bytes and a telemetry section of `telemetry` bytes; `first` of its message or not.
    #[inline]
    pub fn data(&self, payload: u32, first: bool, telemetry: u32) -> u32 {
        let first = if first { self.first_overhead } else { 0 };
        self.data_overhead + first + telemetry + payload.next_multiple_of(self.alignment)
    }

    /// An acknowledgement that carries `telemetry` bytes back, as its payload.
    #[inline]
    pub fn ack(&self, telemetry: u32) -> u32 {
        (self.ack_overhead + telemetry.next_multiple_of(self.alignment)).max(self.ack_minimum)
    }

    /// Telemetry of `telemetry` bytes that comes back by itself.
    #[inline]
    pub fn feedback(&self, telemetry: u32) -> u32 {
        (self.feedback_overhead + telemetry.next_multiple_of(self.alignment)).max(self.ack_minimum)
    }

    /// A congestion notification with `options` bytes of destination options.
    #[inline]
    pub fn cnp(&self, options: u32) -> u32 {
        self.data(CNP_RESERVED as u32, false, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_frames_have_the_published_sizes() {
        let sizes = FrameSizes::REFERENCE;
        assert_eq!(sizes.data(1000, true, 42), 1090);
        assert_eq!(sizes.data(1000, false, 8), 1056);
        assert_eq!(sizes.data(1000, false, 0), 1048);
        assert_eq!(sizes.ack(42), 88);
        assert_eq!(sizes.ack(0), 60);
        assert_eq!(sizes.pfc, 43);
    }
}
