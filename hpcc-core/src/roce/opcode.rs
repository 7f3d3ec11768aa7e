// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet does.

/// An opcode; any byte is one. The upper three bits name the transport service, the lower five the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode(pub u8);

/// Transport services by the upper three bits. The last two are the manufacturer's own.
const SERVICES: [&str; 8] = ["RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer", "manufacturer"];

/// An operation that is not assigned.
const RESERVED: &str = "reserved";

/// Operations by their lower five bits; a service has some of them.
const OPERATIONS: [&str; 32] = [
    "send first",
    "send middle",
    "send last",
    "send last with immediate",
    "send only",
    "send only with immediate",
    "write first",
    "write middle",
    "write last",
    "write last with immediate",
    "write only",
    "write only with immediate",
    "read request",
    "read response first",
    "read response middle",
    "read response last",
    "read response only",
    "acknowledge",
    "atomic acknowledge",
    "compare and swap",
    "fetch and add",
    RESERVED,
    "send last with invalidate",
    "send only with invalidate",
    RESERVED,
    RESERVED,
    RESERVED,
    RESERVED,
    "flush",
    "atomic write",
    RESERVED,
    RESERVED,
];

impl Opcode {
    /// First packet of an RDMA WRITE.
    pub const WRITE_FIRST: Opcode = Opcode(0x06);
    /// Neither the first nor the last packet of an RDMA WRITE.
    pub const WRITE_MIDDLE: Opcode = Opcode(0x07);
    /// Last packet of an RDMA WRITE.
    pub const WRITE_LAST: Opcode = Opcode(0x08);
    /// An RDMA WRITE of one packet.
    pub const WRITE_ONLY: Opcode = Opcode(0x0a);
    /// Acknowledgement, positive or negative.
    pub const ACKNOWLEDGE: Opcode = Opcode(0x11);
    /// Congestion notification packet of RoCEv2.
    pub const CNP: Opcode = Opcode(0x81);

    /// A probe for telemetry, which carries nothing else. Not registered: one of the manufacturer's own.
    pub const PROBE: Opcode = Opcode(0xc0);
    /// Feedback that is no acknowledgement. Not registered either.
    pub const FEEDBACK: Opcode = Opcode(0xc1);

    /// The transport service.
    #[expect(clippy::indexing_slicing, reason = "three bits, and a service for each")]
    pub fn service(self) -> &'static str {
        SERVICES[usize::from(self.0 >> 5)]
    }

    /// The operation; `reserved` where InfiniBand assigns none.
    #[expect(clippy::indexing_slicing, reason = "five bits, and an operation for each")]
    pub fn operation(self) -> &'static str {
        match self {
            Opcode::CNP => "congestion notification",
            Opcode::PROBE => "probe",
            Opcode::FEEDBACK => "feedback",
            Opcode(0xc0..) => "manufacturer's own",
            _ if self.is_assigned() => OPERATIONS[usize::from(self.0 & 0x1f)],
            _ => RESERVED,
        }
    }

    /// Whether InfiniBand assigns the operation, or it is one of ours.
    pub fn is_assigned(self) -> bool {
        match self.0 {
            0x00..0x20 | 0xa0..0xc0 => !matches!(self.0 & 0x1f, 0x15 | 0x18..=0x1b | 0x1e..),
            0x20..0x2c | 0x40..0x55 | 0x5c | 0x64 | 0x65 => true,
            _ => [Opcode::CNP, Opcode::PROBE, Opcode::FEEDBACK].contains(&self),
        }
    }

    /// Whether a RETH follows at once: first and only packets of a WRITE, READ requests, atomic WRITEs. Requests of XRC have
    /// another header in front of it, and so have reliable datagrams, which are not in use and not looked into.
    pub fn has_reth(self) -> bool {
        matches!(self.0, 0x06 | 0x0a | 0x0b | 0x0c | 0x1d | 0x26 | 0x2a | 0x2b)
    }

    /// Whether an AETH follows: acknowledgements, of atomic operations, too; first, last and only packets of a READ response.
    pub fn has_aeth(self) -> bool {
        matches!(self.0, 0x0d | 0x0f..=0x12 | 0xad | 0xaf..=0xb2)
    }

    /// Whether a DETH follows: unreliable datagrams.
    pub fn has_deth(self) -> bool {
        matches!(self.0, 0x64 | 0x65)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The opcodes of the InfiniBand specification, as tshark, Linux's `ib_pack.h` (0x1c and 0x1d) and open designs of adapters
    /// (XRC) list them.
    #[test]
    fn opcodes_have_their_published_names_and_headers() {
        for (code, service, operation, reth, aeth) in [
            (0x04, "RC", "send only", false, false),
            (0x06, "RC", "write first", true, false),
            (0x07, "RC", "write middle", false, false),
            (0x0a, "RC", "write only", true, false),
            (0x0c, "RC", "read request", true, false),
            (0x0e, "RC", "read response middle", false, false),
            (0x10, "RC", "read response only", false, true),
            (0x11, "RC", "acknowledge", false, true),
            (0x12, "RC", "atomic acknowledge", false, true),
            (0x13, "RC", "compare and swap", false, false),
            (0x17, "RC", "send only with invalidate", false, false),
            (0x1c, "RC", "flush", false, false),
            (0x1d, "RC", "atomic write", true, false),
            (0x24, "UC", "send only", false, false),
            (0x2b, "UC", "write only with immediate", true, false),
            (0x53, "RD", "compare and swap", false, false),
            (0x64, "UD", "send only", false, false),
            (0x81, "CNP", "congestion notification", false, false),
            (0xa0, "XRC", "send first", false, false),
            (0xaa, "XRC", "write only", false, false),
            (0xb0, "XRC", "read response only", false, true),
            (0xb1, "XRC", "acknowledge", false, true),
            (0xb7, "XRC", "send only with invalidate", false, false),
        ] {
            let opcode = Opcode(code);
            assert_eq!((opcode.service(), opcode.operation()), (service, operation), "{code:#x}");
            assert_eq!((opcode.has_reth(), opcode.has_aeth()), (reth, aeth), "{code:#x}");
        }
        for reserved in [0x15, 0x18, 0x1f, 0x2c, 0x31, 0x55, 0x5d, 0x60, 0x71, 0x80, 0x82, 0x9f, 0xb5, 0xb8, 0xbf] {
            let opcode = Opcode(reserved);
            assert_eq!((opcode.operation(), opcode.is_assigned()), ("reserved", false), "{reserved:#x}");
            assert!(!opcode.has_reth() && !opcode.has_aeth(), "{reserved:#x}");
        }
        assert!(Opcode(0x64).has_deth() && Opcode(0x65).has_deth() && !Opcode(0x04).has_deth());
    }

    /// A service has 25 operations (RC, XRC), 12 (UC), 22 (RD), 2 (UD), 1 (CNP); the manufacturer's own are two here.
    #[test]
    fn as_many_operations_are_assigned_as_the_services_have() {
        let all = (0..=u8::MAX).map(Opcode);
        assert_eq!(all.clone().filter(|it| it.is_assigned()).count(), 25 + 12 + 22 + 2 + 1 + 25 + 2);
        let names_agree = |it: Opcode| it.is_assigned() || ["reserved", "manufacturer's own"].contains(&it.operation());
        assert!(all.clone().all(names_agree));
        assert_eq!(all.filter(|it| it.service() == "manufacturer").map(|it| it.0).min(), Some(0xc0));
    }
}
