// SPDX-License-Identifier: GPL-2.0-only
//! The bytes of frames.

use crate::mirror::mirror;
use crate::settings::Settings;
use hpcc_core::frame::{self, Encapsulation};
use hpcc_core::settings::Named;
use hpcc_core::simulated_frame::SimulatedFrame;
use hpcc_core::wire::WireProfile;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// A frame as the simulator knows it. Fields that its kind does not have may be anything.
    #[derive(Clone, Copy)]
    struct FrameRecord {
        src_mac: [u8; 6],
        dst_mac: [u8; 6],
        kind: PacketKind,
        priority: u8,
        hop_limit: u8,
        congestion_marked: bool,
        congestion_echo: bool,
        pause: bool,
        ack_requested: bool,
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
        /// Queue pair that it is for.
        queue_pair: u32,
        seq: u64,
        /// As in `Reply`.
        selective: u64,
        payload_bytes: u32,
        mtu: u32,
        flow_bytes: u64,
        earlier_packets: u32,
        earlier_writes: u32,
    }

    /// `hpcc_core::frame::PacketKind`.
    #[derive(Clone, Copy, Default)]
    enum PacketKind {
        /// Payload.
        #[default]
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
        fn bytes(self: &FrameWriter, frame: &FrameRecord, telemetry: &[u8]) -> Vec<u8>;
    }
}

use ffi::{FrameRecord, PacketKind};

/// No packet arrived out of order.
pub const NONE: u64 = u64::MAX;

pub struct FrameWriter {
    profile: WireProfile,
    encapsulation: Option<Encapsulation>,
}

pub fn new_frame_writer(settings: &Settings) -> Result<Box<FrameWriter>, String> {
    let profile = settings.node.wire.profile;
    if !profile.is_real() {
        let name = profile.name();
        return Err(format!("frames of wire profile \"{name}\" have no bytes; choose rocev2_ipv4 or rocev2_ipv6"));
    }
    Ok(Box::new(FrameWriter { profile, encapsulation: settings.encapsulation() }))
}

use frame::PacketKind as CoreKind;
pub fn initial_hop_limit() -> u8 {
    frame::INITIAL_HOP_LIMIT
}

mirror! { PacketKind = CoreKind { Data, Ack, Nack, Pfc, Probe, Feedback, Cnp, FastCnp, Icmpv6, Trimmed } }

impl FrameWriter {
    pub fn bytes(&self, frame: &FrameRecord, telemetry: &[u8]) -> Vec<u8> {
        let frame = SimulatedFrame {
            kind: frame.kind.into(),
            src_mac: frame.src_mac,
            dst_mac: frame.dst_mac,
            ipv6: self.profile == WireProfile::RoceV6,
            src: frame.src_address,
            dst: frame.dst_address,
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
            mtu: frame.mtu,
            payload: frame.payload_bytes,
            ack_requested: frame.ack_requested,
            selective: Some(frame.selective).filter(|&seq| seq != NONE),
            trimmed: None,
            sacked: None,
            pause: frame.pause,
        };
        // A frame that cannot be built is longer than IP allows. A trace without it is no reason to stop the simulation.
        frame.bytes(self.encapsulation, telemetry).unwrap_or_default()
    }
}
