// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of addresses: whom to accept, who belongs to the domain.

use super::Address;
use alloc::vec::Vec;

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    bits: u128,
    mask: u128,
}

impl Prefix {
    /// The addresses that agree with this one in the first `len` bits; `None` above 128.
    pub fn new(address: Address, len: u8) -> Option<Prefix> {
        let mask = match len {
            0 => 0,
            1..=128 => u128::MAX << (128 - len),
            _ => return None,
        };
        Some(Prefix { bits: u128::from_be_bytes(address) & mask, mask })
    }

    /// One address.
    pub fn host(address: Address) -> Prefix {
        Prefix { bits: u128::from_be_bytes(address), mask: u128::MAX }
    }

    /// Whether an address is one of them.
    #[inline]
    pub fn contains(&self, address: &Address) -> bool {
        u128::from_be_bytes(*address) & self.mask == self.bits
    }
}

/// The addresses of any of some prefixes; by default none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes(pub Vec<Prefix>);

impl Prefixes {
    /// Whether an address is one of them.
    #[inline]
    pub fn contains(&self, address: &Address) -> bool {
        self.0.iter().any(|prefix| prefix.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(first: u8, last: u8) -> Address {
        let mut address = [0; 16];
        (address[0], address[15]) = (first, last);
        address
    }

    #[test]
    fn prefixes_hold_what_agrees_in_their_bits() {
        let contains = |len| Prefix::new(address(0xfd, 1), len).map(|prefix| prefix.contains(&address(0xfc, 2)));
        assert_eq!([0, 7, 8, 128].map(contains), [Some(true), Some(true), Some(false), Some(false)]);
        assert_eq!(contains(129), None);
        assert_eq!(Prefix::new(address(1, 2), 128), Some(Prefix::host(address(1, 2))));
    }

    #[test]
    fn an_empty_list_holds_nothing() {
        assert!(!Prefixes::default().contains(&address(0xfd, 1)));
        let list = Prefixes([3, 4].map(|last| Prefix::host(address(0xfd, last))).into());
        assert_eq!([2, 3, 4].map(|last| list.contains(&address(0xfd, last))), [false, true, true]);
    }
}
