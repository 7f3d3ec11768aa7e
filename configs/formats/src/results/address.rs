// SPDX-License-Identifier: GPL-2.0-only
//! The IPv4 address that the reference simulator gives to a node.

/// Address of node 0 is the first of this network.
const BASE: u32 = 0x0b00_0001;

/// The address of a node: 11.H.L.1, H and L being the high and low byte of the node's number.
///
/// Only nodes below 65536 have an address of their own; beyond, the sum wraps.
pub fn of_node(node: u32) -> u32 {
    BASE.wrapping_add((node / 256) << 16).wrapping_add((node % 256) << 8)
}

/// The node that has an address, if it is an address that [`of_node`] gives.
pub fn node(address: u32) -> Option<u32> {
    let node = address.checked_sub(BASE)? >> 8;
    (node < 1 << 16 && of_node(node) == address).then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_reference() {
        assert_eq!(of_node(0), 0x0b00_0001);
        assert_eq!(of_node(5), 0x0b00_0501);
        assert_eq!(of_node(319), 0x0b01_3f01);
    }

    #[test]
    fn every_address_leads_back_to_its_node() {
        for number in [0, 1, 255, 256, 319, 65_535] {
            assert_eq!(node(of_node(number)), Some(number));
        }
        assert_eq!(node(0), None);
        assert_eq!(node(0x0b00_0002), None);
        assert_eq!(node(u32::MAX), None);
    }
}
