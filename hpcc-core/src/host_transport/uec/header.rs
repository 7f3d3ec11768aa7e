// SPDX-License-Identifier: MIT OR Apache-2.0
//! What packets of Ultra Ethernet say of delivery and congestion control, as the simulation carries it beside a frame's addresses
//! and sequence number: every field in as many bits as a simulation without wrap-around needs. On the link all is in 64 bytes, and
//! telemetry beside. The first 8 bytes here are left to it.

use crate::host_transport::{Packet, PacketHeader};

/// Bytes of all headers of a packet on the link; the length of a packet without payload.
pub const HEADERS: u32 = 64;
/// Index of the byte that holds the kind of packet.
const KIND: usize = 47;

/// A packet's header, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UecHeader {
    /// Payload, or its headers alone where it was trimmed.
    Data {
        /// The receiver is to acknowledge it at once.
        ack_requested: bool,
        /// Whether it is a retransmission.
        again: bool,
        /// Credit that the sender asks for, in quanta since its start.
        pull_target: i64,
    },
    /// Asks the receiver for an acknowledgement.
    Probe,
    /// A selective acknowledgement, caused by the packet whose number it has.
    Ack(Sack),
    /// The packet of this number was trimmed.
    Nack {
        /// Whether the receiver's own switch trimmed it.
        at_last_hop: bool,
    },
    /// A grant of credit.
    Pull {
        /// Quanta granted since the start.
        granted: i64,
    },
    /// Asks the receiver for credit and an answer.
    RequestToSend {
        /// As in [`UecHeader::Data`].
        pull_target: i64,
    },
}

/// A selective acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    /// All packets before this one have arrived.
    pub before: u64,
    /// Number of the packet at bit 0 of `bitmap`.
    pub base: u64,
    /// Bit n: packet `base + n` has arrived out of order.
    pub bitmap: u64,
    /// Bytes that have arrived so far, headers included.
    pub received: u64,
    /// Packets received out of order.
    pub out_of_order: u32,
    /// What caused it.
    pub cause: Cause,
    /// Whether that packet carried an ECN mark.
    pub marked: bool,
    /// Whether that packet was a retransmission.
    pub again: bool,
}

crate::named! {
    /// What causes an acknowledgement.
    #[derive(Default)]
    pub enum Cause {
        /// A data packet.
        #[default]
        Data = "data",
        /// A probe.
        Probe = "probe",
        /// A request to send.
        Request = "request",
    }
}

impl UecHeader {
    /// The header's bytes.
    pub fn encode(&self) -> PacketHeader {
        let mut bytes = [0; 48];
        let mut put = |place: usize, word: u64| bytes[place..place + 8].copy_from_slice(&word.to_le_bytes());
        let kind = match *self {
            UecHeader::Data { ack_requested, again, pull_target } => {
                put(8, pull_target as u64);
                put(16, u64::from(ack_requested) | u64::from(again) << 1);
                0
            }
            UecHeader::Probe => 1,
            UecHeader::Ack(Sack { before, base, bitmap, received, out_of_order, cause, marked, again }) => {
                put(8, before);
                put(16, base);
                put(24, bitmap);
                put(32, received);
                put(
                    40,
                    u64::from(out_of_order) | u64::from(marked) << 32 | u64::from(again) << 33 | (cause as u64) << 34,
                );
                2
            }
            UecHeader::Nack { at_last_hop } => {
                put(8, at_last_hop.into());
                3
            }
            UecHeader::Pull { granted } => {
                put(8, granted as u64);
                4
            }
            UecHeader::RequestToSend { pull_target } => {
                put(8, pull_target as u64);
                5
            }
        };
        bytes[KIND] = kind;
        bytes
    }

    /// Decodes a packet's header; `None` if its kind is unknown.
    pub fn of(packet: &Packet) -> Option<UecHeader> {
        let bytes = &packet.header;
        let word = |place: usize| bytes[place..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Some(match bytes[KIND] {
            0 => UecHeader::Data {
                pull_target: word(8) as i64,
                ack_requested: word(16) & 1 != 0,
                again: word(16) & 2 != 0,
            },
            1 => UecHeader::Probe,
            2 => UecHeader::Ack(Sack {
                before: word(8),
                base: word(16),
                bitmap: word(24),
                received: word(32),
                out_of_order: word(40) as u32,
                marked: word(40) >> 32 & 1 != 0,
                again: word(40) >> 33 & 1 != 0,
                cause: match word(40) >> 34 & 3 {
                    0 => Cause::Data,
                    1 => Cause::Probe,
                    _ => Cause::Request,
                },
            }),
            3 => UecHeader::Nack { at_last_hop: word(8) != 0 },
            4 => UecHeader::Pull { granted: word(8) as i64 },
            5 => UecHeader::RequestToSend { pull_target: word(8) as i64 },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_transport::TELEMETRY;

    #[test]
    fn what_is_said_is_understood() {
        let sack = Sack {
            before: 1 << 40,
            base: 7,
            bitmap: u64::MAX - 5,
            received: 1 << 50,
            out_of_order: u32::MAX,
            cause: Cause::Request,
            marked: true,
            again: false,
        };
        for say in [
            UecHeader::Data { ack_requested: true, again: false, pull_target: -5 },
            UecHeader::Data { ack_requested: false, again: true, pull_target: 5 },
            UecHeader::Probe,
            UecHeader::Ack(sack),
            UecHeader::Ack(Sack { cause: Cause::Probe, marked: false, again: true, ..sack }),
            UecHeader::Nack { at_last_hop: true },
            UecHeader::Pull { granted: 1 << 40 },
            UecHeader::RequestToSend { pull_target: 9 },
        ] {
            let mut packet = Packet { header: say.encode(), ..Packet::default() };
            assert_eq!(UecHeader::of(&packet), Some(say));
            packet.header[..TELEMETRY].fill(9);
            assert_eq!(UecHeader::of(&packet), Some(say));
            packet.header[KIND] = 9;
            assert_eq!(UecHeader::of(&packet), None);
        }
    }
}
