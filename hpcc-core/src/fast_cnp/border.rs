// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edge of the domain, which no notification crosses (REQ-47, REQ-50, REQ-51).

use super::{OptionTypes, extensions};

/// Which way a packet crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Into the domain.
    Inbound,
    /// Out of it.
    Outbound,
}

/// A node at the edge. It filters whether or not the domain uses Fast CNP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Border {
    types: OptionTypes,
    dropped: [u64; 2],
}

impl Border {
    /// A border of a domain that uses these types.
    pub fn new(types: OptionTypes) -> Self {
        Border { types, dropped: [0; 2] }
    }

    /// Whether an IPv6 packet may cross. One with our option may not, whatever else is in it.
    pub fn passes(&mut self, packet: &[u8], crossing: Crossing) -> bool {
        let passes = extensions::fast_cnp(packet, &self.types).is_none();
        if !passes {
            self.dropped[crossing as usize] += 1;
        }
        passes
    }

    /// Packets dropped.
    pub fn dropped(&self, crossing: Crossing) -> u64 {
        self.dropped[crossing as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vector;
    use alloc::vec::Vec;

    const NOTIFICATIONS: [&str; 2] = ["fastcnp_opt1", "fastcnp_opt2"];

    fn packet(name: &str) -> Vec<u8> {
        vector(name).split_off(14)
    }

    fn drops_all(crossing: Crossing) -> Border {
        let mut border = Border::default();
        for name in NOTIFICATIONS {
            assert!(!border.passes(&packet(name), crossing), "{name}");
        }
        border
    }

    #[test]
    fn req_50_no_notification_comes_in() {
        let border = drops_all(Crossing::Inbound);
        assert_eq!((border.dropped(Crossing::Inbound), border.dropped(Crossing::Outbound)), (2, 0));
    }

    #[test]
    fn req_51_no_notification_goes_out() {
        let border = drops_all(Crossing::Outbound);
        assert_eq!((border.dropped(Crossing::Inbound), border.dropped(Crossing::Outbound)), (0, 2));
    }

    #[test]
    fn req_47_everything_else_crosses() {
        let mut border = Border::default();
        for name in ["roce_cnp_ipv6", "roce_cnp_ipv4", "ioam_linux_0xf22000_after_hop1"] {
            assert!(border.passes(&packet(name), Crossing::Inbound), "{name}");
            assert!(border.passes(&packet(name), Crossing::Outbound), "{name}");
        }
        assert_eq!(border.dropped(Crossing::Inbound) + border.dropped(Crossing::Outbound), 0);
    }

    /// A host would drop it; the border does not leave that to hosts.
    #[test]
    fn req_50_malformed_ones_do_not_cross_either() {
        let mut bytes = packet("fastcnp_opt1");
        bytes[43] = 15;
        bytes[59] = 0;
        assert!(!Border::default().passes(&bytes, Crossing::Inbound));
    }
}
