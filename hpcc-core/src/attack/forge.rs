// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that an attacker makes up.

use crate::address::{host_address, ipv6};
use crate::fast_cnp::option::MAX_HEADER;
use crate::fast_cnp::unrecognised::{Judgement, judge, report};
use crate::fast_cnp::{OptionTypes, packet};
use crate::frame::{Encapsulation, PacketKind};
use crate::simulated_frame::{ETHERNET, SimulatedFrame};
use crate::transport::NOTIFICATION_PRIORITY;
use crate::wire::FrameSizes;
use alloc::vec::Vec;

/// Check sequence of an Ethernet frame, and the least bytes of a frame with it.
const CHECK_SEQUENCE: usize = 4;
const ETHERNET_MINIMUM: usize = 64;
/// Hop limit with which the notification reached the host that is said to complain about it.
const ARRIVED: u8 = 63;

/// A flow, as attackers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFlow {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// UDP source port.
    pub sport: u16,
    /// The receiver's queue pair.
    pub queue_pair: u32,
    /// The sender's.
    pub sender: u32,
    /// Sequence number behind its last byte.
    pub end: u64,
    /// Sequence number behind the last byte that its queue pair has sent.
    pub sent: u64,
}

/// A frame to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forged {
    /// Its kind: neither data nor telemetry.
    pub kind: PacketKind,
    /// Node whose address is its source.
    pub src: u32,
    /// Node that it is for.
    pub dst: u32,
    /// UDP source port.
    pub sport: u16,
    /// Queue pair.
    pub queue_pair: u32,
    /// Byte that an acknowledgement says is expected.
    pub seq: u64,
    /// Priority that it travels in or, of PFC, pauses.
    pub priority: u8,
    /// Its destination options, or the whole ICMPv6 packet.
    pub section: Vec<u8>,
    /// Bytes that it occupies on a link.
    pub size: u32,
}

/// How frames of a network are made.
#[derive(Clone, Copy, Debug)]
pub struct Forger {
    /// Types of the options.
    pub types: OptionTypes,
    /// How telemetry travels in data packets.
    pub encapsulation: Option<Encapsulation>,
    /// Sizes of frames.
    pub sizes: FrameSizes,
    /// The priority of acknowledgements.
    pub ack_priority: u8,
    /// The priority of receivers' CNPs.
    pub cnp_priority: u8,
}

impl Forger {
    /// A notification about a flow in the name of node `src`; `section` is a data packet's telemetry, of which a trace is
    /// copied.
    pub fn notification(&self, src: u32, flow: &KnownFlow, section: &[u8]) -> Forged {
        let mut room = [0; MAX_HEADER];
        let destination = ipv6(host_address(flow.dst));
        let options = packet::options(destination, self.encapsulation, section, &self.types, &mut room).to_vec();
        Forged {
            kind: PacketKind::FastCnp,
            src,
            dst: flow.src,
            sport: flow.sport,
            queue_pair: flow.queue_pair,
            seq: 0,
            priority: NOTIFICATION_PRIORITY,
            size: self.sizes.cnp(options.len() as u32),
            section: options,
        }
    }

    /// A forged answer of a flow's receiver: an acknowledgement, positive or negative, or a CNP.
    pub fn answer(&self, kind: PacketKind, flow: &KnownFlow, seq: u64) -> Forged {
        let is_cnp = kind == PacketKind::Cnp;
        Forged {
            kind,
            src: flow.dst,
            dst: flow.src,
            sport: flow.sport,
            queue_pair: flow.sender,
            seq,
            priority: if is_cnp { self.cnp_priority } else { self.ack_priority },
            section: Vec::new(),
            size: if is_cnp { self.sizes.cnp(0) } else { self.sizes.ack(0) },
        }
    }

    /// A pause for the neighbours of node `from`, or the end of one.
    pub fn pause(&self, from: u32, priority: u8) -> Forged {
        let (kind, size) = (PacketKind::Pfc, self.sizes.pfc);
        Forged { kind, src: from, dst: from, sport: 0, queue_pair: 0, seq: 0, priority, section: Vec::new(), size }
    }

    /// A forged complaint to `switch` by a sender that did not understand a notification about its flow. `None` where
    /// the types of the options ask for no answer.
    pub fn complaint(&self, switch: u32, flow: &KnownFlow) -> Option<Forged> {
        let notification = self.notification(switch, flow, &[]);
        let frame = SimulatedFrame {
            kind: PacketKind::FastCnp,
            ipv6: true,
            src: host_address(switch),
            dst: host_address(flow.src),
            sport: flow.sport,
            hop_limit: ARRIVED,
            queue_pair: flow.queue_pair,
            ..SimulatedFrame::default()
        };
        let bytes = frame.bytes(None, &notification.section).ok()?;
        let quoted = bytes.get(ETHERNET..)?;
        let Judgement::Report(pointer) = judge(quoted, |_| false) else { return None };
        let section = report(ipv6(host_address(flow.src)), quoted, pointer)?;
        let size = (ETHERNET + section.len() + CHECK_SEQUENCE).max(ETHERNET_MINIMUM) as u32;
        Some(Forged { kind: PacketKind::Icmpv6, src: flow.src, dst: switch, section, size, ..notification })
    }
}
