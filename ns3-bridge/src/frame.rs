// SPDX-License-Identifier: GPL-2.0-only
//! The bytes of frames.

use crate::ffi::{FrameRecord, PacketKind};
use crate::host::NONE;
use crate::settings::Settings;
use hpcc_core::frame::Encapsulation;
use hpcc_core::frame::simulated::{self, Kind, SimulatedFrame};
use hpcc_core::settings::Named;
use hpcc_core::wire::WireProfile;

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

impl FrameWriter {
    pub fn bytes(&self, frame: &FrameRecord, telemetry: &[u8]) -> Vec<u8> {
        let kind = match frame.kind {
            PacketKind::Data => Kind::Data { payload: frame.payload_bytes, ack_requested: frame.ack_requested },
            PacketKind::Ack => Kind::Ack,
            PacketKind::Nack => Kind::Nack { arrived: Some(frame.selective).filter(|&seq| seq != NONE) },
            PacketKind::Probe => Kind::Probe,
            PacketKind::Feedback => Kind::Feedback,
            PacketKind::Cnp | PacketKind::FastCnp => Kind::Notification,
            PacketKind::Icmpv6 => {
                return simulated::icmpv6(frame.src_mac, frame.dst_mac, frame.hop_limit, telemetry);
            }
            _ => return simulated::pfc(frame.src_mac, frame.priority, frame.pause),
        };
        let frame = SimulatedFrame {
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
            mtu: frame.mtu,
            kind,
        };
        // What cannot be built is longer than IP allows: nothing to show, and nothing to stop the simulation for.
        frame.bytes(self.encapsulation, telemetry).unwrap_or_default()
    }
}
