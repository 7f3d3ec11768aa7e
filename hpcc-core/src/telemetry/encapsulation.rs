// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a telemetry section travels in a frame, what announces it, and how a reader finds its end.

/// The low bits of the DSCP, which the priorities leave 0, of packets that carry compact INT, PINT or a timestamp in front
/// of the base transport header. The drafts leave open what announces it. An own UDP port would lead a probe, or one packet
/// in eight that collects, over another path than its flow's data (REQ-13, REQ-63).
pub const TELEMETRY_MARK: u8 = 1;
/// The low bits of the DSCP of packets that carry INT-MD, as P4 INT v2.1 allows.
pub const INT_MARK: u8 = 2;
/// IP protocol of IFA. Sources differ: this is the first of the two that RFC 3692 reserves for
/// experiments, and what captures of a vendor's switches show.
pub const IFA_PROTOCOL: u8 = 253;

/// EtherTypes of CSIG's tags, compact and wide. They are not registered: a public test of switches has the first.
pub const CSIG_ETHER_TYPES: [u16; 2] = [0x9900, 0x9901];

/// Where a telemetry section travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// Between the UDP header, whose destination port says so, and the base transport header.
    BehindUdp {
        /// The UDP destination port in place of RoCEv2's.
        port: u16,
    },
    /// Between the UDP header and the base transport header; low bits of the DSCP say so.
    Marked {
        /// The bits, of the 3 lowest of the DSCP.
        mark: u8,
    },
    /// Between the MAC addresses and the EtherType of what follows, as a VLAN's tag.
    Tag {
        /// The EtherType with which it begins.
        ether_type: u16,
    },
    /// The section is a whole IPv6 hop-by-hop header; its first byte names the next one.
    HopByHop,
    /// The first 4 bytes, whose second names the next header, stand between IP and UDP; the rest behind UDP, whose
    /// length and checksum do not count it.
    Ifa {
        /// The IP protocol in place of UDP.
        protocol: u8,
    },
}

/// How the length of a section behind UDP is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionLen {
    /// Compact INT (figure 7 of the HPCC paper): the first 4 bits count hops of 8 bytes behind a header.
    Compact {
        /// Bytes of the header: 2 in the paper, 4 in the draft.
        header: u8,
    },
    /// INT-MD (P4 INT v2.1): the second byte counts words behind the first. The shim must name RoCEv2 as the
    /// packet's own port, or its DSCP.
    IntMd,
    /// As many bytes in any packet.
    Fixed(u16),
}
