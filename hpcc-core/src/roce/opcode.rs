// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a packet does.

/// An opcode; any byte is one. The upper three bits name the transport service, the lower five the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode(pub u8);

/// Operations by their lower five bits; a service has some of them. 0x15 is not assigned.
const OPERATIONS: [&str; 24] = [
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
    "reserved",
    "send last with invalidate",
    "send only with invalidate",
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

    /// The transport service, `None` for a reserved one.
    pub fn service(self) -> Option<&'static str> {
        match self.0 >> 5 {
            0 => Some("RC"),
            1 => Some("UC"),
            2 => Some("RD"),
            3 => Some("UD"),
            4 if self == Opcode::CNP => Some("CNP"),
            _ => None,
        }
    }

    /// The operation, `None` for a reserved one.
    pub fn operation(self) -> Option<&'static str> {
        if self == Opcode::CNP {
            return Some("congestion notification");
        }
        let operation = self.0 & 0x1f;
        let defined = match self.0 >> 5 {
            0 => matches!(operation, 0x00..=0x14 | 0x16 | 0x17),
            1 => operation <= 0x0b,
            2 => operation <= 0x14,
            3 => matches!(operation, 0x04 | 0x05),
            _ => false,
        };
        OPERATIONS.get(usize::from(operation)).filter(|_| defined).copied()
    }

    /// Whether a RETH follows: first and only packets of a WRITE, READ requests. Reliable datagrams, which are not in
    /// use, have another header in front of it and are not looked into.
    pub fn has_reth(self) -> bool {
        matches!(self.0, 0x06 | 0x0a | 0x0b | 0x0c | 0x26 | 0x2a | 0x2b)
    }

    /// Whether an AETH follows: acknowledgements, of atomic operations, too; first, last and only packets of a READ response.
    pub fn has_aeth(self) -> bool {
        matches!(self.0, 0x0d | 0x0f..=0x12)
    }

    /// Whether a DETH follows: unreliable datagrams.
    pub fn has_deth(self) -> bool {
        matches!(self.0, 0x64 | 0x65)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The opcodes of the InfiniBand specification, as tshark lists them.
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
            (0x24, "UC", "send only", false, false),
            (0x2b, "UC", "write only with immediate", true, false),
            (0x53, "RD", "compare and swap", false, false),
            (0x64, "UD", "send only", false, false),
            (0x81, "CNP", "congestion notification", false, false),
        ] {
            let opcode = Opcode(code);
            assert_eq!((opcode.service(), opcode.operation()), (Some(service), Some(operation)), "{code:#x}");
            assert_eq!((opcode.has_reth(), opcode.has_aeth()), (reth, aeth), "{code:#x}");
        }
        assert_eq!((Opcode(0x80).service(), Opcode(0xa1).service()), (None, None));
        for undefined in [0x15, 0x18, 0x1f, 0x2c, 0x31, 0x55, 0x60, 0x71, 0x80, 0xff] {
            assert_eq!(Opcode(undefined).operation(), None, "{undefined:#x}");
            assert!(!Opcode(undefined).has_reth() && !Opcode(undefined).has_aeth(), "{undefined:#x}");
        }
        assert!(Opcode(0x64).has_deth() && Opcode(0x65).has_deth() && !Opcode(0x04).has_deth());
    }
}
