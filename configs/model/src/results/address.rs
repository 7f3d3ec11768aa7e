// SPDX-License-Identifier: GPL-2.0-only
//! The IPv4 address that the 2019 simulator gives to a node.

pub use hpcc_core::address::{host_address as of_node, host_of as node};

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
