// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet as endpoints make and get it.

/// Bytes that a transport may keep in a packet for itself, behind telemetry.
pub type PacketHeader = [u8; 48];

/// Bytes at its front that are left to telemetry.
pub const TELEMETRY: usize = 8;

/// Where a packet lost its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimmed {
    /// At a switch before the last.
    Within,
    /// At the switch of its destination.
    LastHop,
}

/// A packet that leaves a host, or arrives there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Whether it is data, which switches queue, mark, trim and balance. Others go ahead of data, unmarked.
    pub is_data: bool,
    /// Node at the other end: its destination or, where it has arrived, its source.
    pub peer: u32,
    /// What the other end knows its connection by.
    pub connection: u32,
    /// What this end does.
    pub reply_to: u32,
    /// UDP source port, by which switches choose among paths.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group, 0 to 7.
    pub priority: u8,
    /// Its sequence number.
    pub seq: u64,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes on the link, without telemetry.
    pub size: u32,
    /// Bytes of telemetry: the first ones of its header, into which switches write.
    pub telemetry: u16,
    /// Bytes of its message.
    pub message: u64,
    /// A switch has marked it; as an answer it tells of such a one.
    pub marked: bool,
    /// A switch has cut its payload.
    pub trimmed: Option<Trimmed>,
    /// What else the transport says by it.
    pub header: PacketHeader,
}

impl Default for Packet {
    fn default() -> Self {
        Packet {
            is_data: false,
            peer: 0,
            connection: 0,
            reply_to: 0,
            sport: 0,
            dport: 0,
            priority: 0,
            seq: 0,
            payload: 0,
            size: 0,
            telemetry: 0,
            message: 0,
            marked: false,
            trimmed: None,
            header: [0; 48],
        }
    }
}
