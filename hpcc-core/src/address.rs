// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of nodes, by the plan of the 2019 simulator, and sets of them.

use alloc::vec::Vec;
use core::net::Ipv6Addr;
use ipnet::Ipv6Net;

/// An IPv6 address.
pub type Address = [u8; 16];

/// The prefix of all hosts: the one for documentation (RFC 3849).
const IPV6_PREFIX: [u8; 12] = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0];

/// Most nodes of a network.
pub const MAX_NODES: u32 = 1 << 17;

/// The IPv4 address of a node in the 2019 simulator's plan, as an integer: 11.x.y.1 from the node id's bytes. From node
/// 65,536 on, which the plan does not reach, 12.x.y.1.
#[inline]
pub const fn host_address(node: u32) -> u32 {
    0x0b00_0001 + ((node / 256) << 16) + ((node % 256) << 8)
}

/// The node that an address of the plan stands for; `None` for any other.
#[inline]
pub const fn host_of(address: u32) -> Option<u32> {
    let node = address.wrapping_sub(host_address(0)) >> 8;
    if node < MAX_NODES && host_address(node) == address { Some(node) } else { None }
}

/// The IPv6 address of a host.
pub fn ipv6(ipv4: u32) -> Address {
    let mut address = [0; 16];
    address[..12].copy_from_slice(&IPV6_PREFIX);
    address[12..].copy_from_slice(&ipv4.to_be_bytes());
    address
}

/// The IPv4 address of the host that has this IPv6 address; `None` for any other.
pub fn ipv4(ipv6: &Address) -> Option<u32> {
    let (prefix, last) = ipv6.split_last_chunk()?;
    (*prefix == IPV6_PREFIX).then(|| u32::from_be_bytes(*last))
}

/// Addresses, by the prefixes that cover them; by default none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressSet(Vec<Ipv6Net>);

impl AddressSet {
    /// The addresses of all hosts that the plan can have.
    pub fn plan() -> AddressSet {
        /// Bits of [`IPV6_PREFIX`].
        const LEN: u8 = 8 * IPV6_PREFIX.len() as u8;
        AddressSet(Vec::from_iter(Ipv6Net::new(Ipv6Addr::from(ipv6(0)), LEN)))
    }

    /// Whether an address is one of them.
    #[inline]
    pub fn contains(&self, address: &Address) -> bool {
        let address = Ipv6Addr::from(*address);
        self.0.iter().any(|prefix| prefix.contains(&address))
    }
}

impl FromIterator<Address> for AddressSet {
    fn from_iter<T: IntoIterator<Item = Address>>(addresses: T) -> AddressSet {
        let hosts: Vec<Ipv6Net> = addresses.into_iter().map(|address| Ipv6Addr::from(address).into()).collect();
        AddressSet(Ipv6Net::aggregate(&hosts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_plan() {
        assert_eq!(host_address(0), 0x0b00_0001);
        assert_eq!(host_address(2), 0x0b00_0201);
        assert_eq!(host_address(257), 0x0b01_0101);
        for node in [0, 2, 255, 256, 65_535, 65_536, MAX_NODES - 1] {
            assert_eq!(host_of(host_address(node)), Some(node));
            assert_eq!(ipv4(&ipv6(host_address(node))), Some(host_address(node)));
        }
        assert_eq!(ipv4(&[0xfd; 16]), None);
        for other in [0x0b00_0002, 0x0a00_0001, 0xffff_ffff, 0x0d00_0001, 0] {
            assert_eq!(host_of(other), None);
        }
    }

    #[test]
    fn a_set_holds_its_addresses_and_no_other() {
        assert!(!AddressSet::default().contains(&ipv6(0)));
        let set = AddressSet::from_iter([3, 4].map(|node| ipv6(host_address(node))));
        assert_eq!([2, 3, 4].map(|node| set.contains(&ipv6(host_address(node)))), [false, true, true]);
        let plan = AddressSet::plan();
        assert!(plan.contains(&ipv6(host_address(65_535))) && !plan.contains(&[0xfd; 16]));
    }
}
