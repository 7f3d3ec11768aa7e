// SPDX-License-Identifier: GPL-2.0-only
//! Frames as C++ sees them, and their bytes.

use crate::mirror::mirror;
use crate::settings::Settings;
use hpcc_core::engine::{self, Detail};
use hpcc_core::frame::{self, Encapsulation};
use hpcc_core::settings::Named;
use hpcc_core::simulated_frame::SimulatedFrame;
use hpcc_core::transport::Trimmed;
use hpcc_core::wire::WireProfile;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::engine::Frame`. Fields that its kind does not have may be anything.
    #[derive(Clone, Copy, Debug)]
    struct Frame {
        kind: PacketKind,
        /// Whether it carries a packet of a host's stack.
        of_stack: bool,
        priority: u8,
        hop_limit: u8,
        congestion_marked: bool,
        congestion_echo: bool,
        pause: bool,
        ack_requested: bool,
        src: u32,
        dst: u32,
        sport: u16,
        dport: u16,
        queue_pair: u32,
        reply_queue_pair: u32,
        seq: u64,
        /// First byte of the packet that arrived in the place of byte `seq`; the largest value: none.
        selective: u64,
        /// First byte of the packet without payload that a negative acknowledgement answers, and whether the last switch had cut
        /// it; the largest value: none.
        trimmed: u64,
        at_last_hop: bool,
        /// First byte of the first packet of an acknowledgement's bitmap; the largest value: no bitmap.
        sacked: u64,
        payload: u32,
        size: u32,
        flow_bytes: u64,
        earlier_packets: u32,
        earlier_writes: u32,
    }

    /// `hpcc_core::frame::PacketKind`.
    #[derive(Clone, Copy, Debug)]
    enum PacketKind {
        /// Payload.
        Data,
        /// Positive acknowledgement.
        Ack,
        /// Negative acknowledgement.
        Nack,
        /// PFC.
        Pfc,
        /// A packet without payload that collects telemetry.
        Probe,
        /// Telemetry that comes back by itself.
        Feedback,
        /// Congestion notification by the receiver.
        Cnp,
        /// Congestion notification by a switch.
        FastCnp,
        /// ICMPv6.
        Icmpv6,
        /// The headers of a data packet that a switch has cut.
        Trimmed,
    }

    /// Whose the ends of a frame's link are, and how many payload bytes full packets of its flow have.
    #[derive(Clone, Copy)]
    struct OnLink {
        src_mac: [u8; 6],
        dst_mac: [u8; 6],
        mtu: u32,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/settings.rs.h");
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// Makes the bytes of frames.
        #[derive(ExternType)]
        type FrameWriter;
        /// Says why such frames have no bytes, if they have none.
        fn new_frame_writer(settings: &Settings) -> Result<Box<FrameWriter>>;
        /// Hop limit of a frame as it leaves its sender.
        fn initial_hop_limit() -> u8;
        /// A frame from its Ethernet header to its ICRC.
        fn bytes(self: &FrameWriter, frame: &Frame, link: &OnLink, telemetry: &[u8]) -> Vec<u8>;
    }
}

use ffi::{OnLink, PacketKind};

/// No packet.
const NONE: u64 = u64::MAX;

fn some(seq: u64) -> Option<u64> {
    Some(seq).filter(|&seq| seq != NONE)
}

use frame::PacketKind as CoreKind;
mirror! { PacketKind = CoreKind { Data, Ack, Nack, Pfc, Probe, Feedback, Cnp, FastCnp, Icmpv6, Trimmed } }

impl From<&engine::Frame> for ffi::Frame {
    fn from(frame: &engine::Frame) -> Self {
        ffi::Frame {
            kind: frame.kind.into(),
            of_stack: frame.is_of_stack(),
            priority: frame.priority,
            hop_limit: frame.hop_limit,
            congestion_marked: frame.congestion_marked,
            congestion_echo: frame.congestion_echo,
            pause: frame.detail == Detail::Pause,
            ack_requested: frame.ack_requested,
            src: frame.src,
            dst: frame.dst,
            sport: frame.sport,
            dport: frame.dport,
            queue_pair: frame.queue_pair,
            reply_queue_pair: frame.reply_queue_pair,
            seq: frame.seq,
            selective: frame.selective().unwrap_or(NONE),
            trimmed: frame.trimmed().map_or(NONE, |trimmed| trimmed.seq),
            at_last_hop: frame.trimmed().is_some_and(|trimmed| trimmed.at_last_hop),
            sacked: frame.sacked().unwrap_or(NONE),
            payload: frame.payload(),
            size: frame.size,
            flow_bytes: frame.flow_bytes,
            earlier_packets: frame.earlier_packets,
            earlier_writes: frame.earlier_writes,
        }
    }
}

impl From<&ffi::Frame> for engine::Frame {
    fn from(frame: &ffi::Frame) -> Self {
        let mut made = engine::Frame::default();
        made.kind = frame.kind.into();
        made.priority = frame.priority;
        made.hop_limit = frame.hop_limit;
        made.congestion_marked = frame.congestion_marked;
        made.congestion_echo = frame.congestion_echo;
        made.detail = if frame.pause { Detail::Pause } else { Detail::None };
        made.ack_requested = frame.ack_requested;
        (made.src, made.dst, made.sport, made.dport) = (frame.src, frame.dst, frame.sport, frame.dport);
        (made.queue_pair, made.reply_queue_pair) = (frame.queue_pair, frame.reply_queue_pair);
        (made.seq, made.size) = (frame.seq, frame.size);
        if frame.of_stack { made.of_stack(frame.payload) } else { made }
    }
}

pub struct FrameWriter {
    profile: WireProfile,
    encapsulation: Option<Encapsulation>,
    /// DSCP of receivers' CNPs, if it is not that of their priority.
    cnp_dscp: Option<u8>,
}

pub fn new_frame_writer(settings: &Settings) -> Result<Box<FrameWriter>, String> {
    let profile = settings.node.wire.profile;
    if !profile.is_real() {
        let name = profile.name();
        return Err(format!("frames of wire profile \"{name}\" have no bytes; choose rocev2_ipv4 or rocev2_ipv6"));
    }
    Ok(Box::new(FrameWriter {
        profile,
        encapsulation: settings.encapsulation(),
        cnp_dscp: settings.node.transport.cnp_dscp,
    }))
}

pub fn initial_hop_limit() -> u8 {
    frame::INITIAL_HOP_LIMIT
}

impl FrameWriter {
    pub fn bytes(&self, frame: &ffi::Frame, link: &OnLink, telemetry: &[u8]) -> Vec<u8> {
        let frame = SimulatedFrame {
            kind: frame.kind.into(),
            src_mac: link.src_mac,
            dst_mac: link.dst_mac,
            ipv6: self.profile == WireProfile::RoceV6,
            src: hpcc_core::address::host_address(frame.src),
            dst: hpcc_core::address::host_address(frame.dst),
            sport: frame.sport,
            priority: frame.priority,
            hop_limit: frame.hop_limit,
            congestion_marked: frame.congestion_marked,
            congestion_echo: frame.congestion_echo,
            queue_pair: frame.queue_pair,
            seq: frame.seq,
            flow_bytes: frame.flow_bytes,
            earlier_packets: frame.earlier_packets,
            earlier_writes: frame.earlier_writes,
            mtu: link.mtu,
            payload: frame.payload,
            size: frame.size,
            ack_requested: frame.ack_requested,
            selective: some(frame.selective),
            trimmed: some(frame.trimmed).map(|seq| Trimmed { seq, at_last_hop: frame.at_last_hop }),
            sacked: some(frame.sacked),
            pause: frame.pause,
            cnp_dscp: self.cnp_dscp,
        };
        // A frame that cannot be built is longer than IP allows. A trace without it is no reason to stop the simulation.
        frame.bytes(self.encapsulation, telemetry).unwrap_or_default()
    }
}
