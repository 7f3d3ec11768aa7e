// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edge of the domain, which no notification crosses, nor an answer to one (REQ-47, REQ-50, REQ-51). From outside, such
//! an answer could only be made up.

use super::capability::answers_notification;
use super::{OptionTypes, extensions};

crate::named! {
    /// Which ways a border closes.
    #[derive(Default)]
    pub enum BorderSide {
        /// Both, as the draft demands.
        #[default]
        Both = "both",
        /// Only into the domain.
        Inbound = "inbound",
        /// Only out of it.
        Outbound = "outbound",
    }
}

impl BorderSide {
    /// Whether it closes this way.
    pub fn closes(self, crossing: Crossing) -> bool {
        match self {
            BorderSide::Both => true,
            BorderSide::Inbound => crossing == Crossing::Inbound,
            BorderSide::Outbound => crossing == Crossing::Outbound,
        }
    }
}

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
    side: BorderSide,
    dropped: [u64; 2],
}

impl Border {
    /// A border of a domain that uses these types.
    pub fn new(types: OptionTypes, side: BorderSide) -> Self {
        Border { types, side, dropped: [0; 2] }
    }

    /// Whether an IPv6 packet may cross. One with our option may not, whatever else is in it, nor an ICMPv6 error about one.
    pub fn passes(&mut self, packet: &[u8], crossing: Crossing) -> bool {
        let concerns = extensions::fast_cnp(packet, &self.types).is_some() || answers_notification(packet, &self.types);
        let passes = !(concerns && self.side.closes(crossing));
        if !passes {
            self.dropped[crossing as usize] += 1;
        }
        passes
    }

    /// Packets that were dropped in this direction.
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

    /// REQ-50, REQ-51.
    #[test]
    fn no_notification_comes_in_or_goes_out() {
        for (way, expected) in [(Crossing::Inbound, (2, 0)), (Crossing::Outbound, (0, 2))] {
            let mut border = Border::default();
            assert!(NOTIFICATIONS.iter().all(|name| !border.passes(&packet(name), way)));
            assert_eq!((border.dropped(Crossing::Inbound), border.dropped(Crossing::Outbound)), expected);
        }
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

    #[test]
    fn req_50_no_made_up_answer_comes_in() {
        let answer = |name| {
            let notification = packet(name);
            crate::fast_cnp::unrecognised::report(crate::fast_cnp::tests::SENDER, &notification, 42).expect("a report")
        };
        for name in NOTIFICATIONS {
            assert!(!Border::default().passes(&answer(name), Crossing::Inbound), "{name}");
        }
        assert!(Border::default().passes(&answer("roce_cnp_ipv6"), Crossing::Inbound), "about something else");
    }

    #[test]
    fn a_border_may_close_one_way_only() {
        for (side, expected) in [(BorderSide::Inbound, [false, true]), (BorderSide::Outbound, [true, false])] {
            let mut border = Border::new(OptionTypes::default(), side);
            let passes = [Crossing::Inbound, Crossing::Outbound].map(|way| border.passes(&packet("fastcnp_opt1"), way));
            assert_eq!(passes, expected);
        }
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
