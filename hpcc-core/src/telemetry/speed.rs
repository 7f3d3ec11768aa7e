// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link rates as the 4-bit codes that telemetry carries.
//!
//! No draft of HPCC++ defines them. These are IFA 2.0's, with 800 Gb/s added (SPEC sections 2.1 and 2.4).

use crate::units::BitRate;

/// The rates that have a code, by their codes.
pub const RATES: [BitRate; 8] = [
    BitRate::gbps(10),
    BitRate::gbps(25),
    BitRate::gbps(40),
    BitRate::gbps(50),
    BitRate::gbps(100),
    BitRate::gbps(200),
    BitRate::gbps(400),
    BitRate::gbps(800),
];

/// The code of a rate; `None` if it has none.
#[inline]
pub fn code(rate: BitRate) -> Option<u8> {
    RATES.iter().position(|&r| r == rate).map(|code| code as u8)
}

/// The rate of a code, whose upper bits must be 0; `None` if none has it.
#[inline]
pub fn rate(code: u8) -> Option<BitRate> {
    RATES.get(usize::from(code)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_ifa() {
        let gbps = [10, 25, 40, 50, 100, 200, 400];
        for (n, gbps) in (0..).zip(gbps) {
            assert_eq!((code(BitRate::gbps(gbps)), rate(n)), (Some(n), Some(BitRate::gbps(gbps))));
        }
        assert_eq!((code(BitRate::gbps(1)), rate(8), rate(15)), (None, None, None));
    }
}
