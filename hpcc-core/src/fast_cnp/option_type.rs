// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types of the two options, and what their upper bits must be.

use crate::telemetry::ipv6_options::{Action, action, may_change};

/// The type of a Fast CNP option: unknown to a node, it makes the node discard the packet and report it; its data do
/// not change on the way (REQ-40, REQ-41).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionType(u8);

impl OptionType {
    /// The only experimental type with these bits (RFC 4727).
    pub const EXPERIMENTAL: OptionType = OptionType(0x9e);

    /// The type of a code; `None` if its upper bits are not 100.
    pub fn new(code: u8) -> Option<OptionType> {
        (action(code) == Action::Report && !may_change(code)).then_some(OptionType(code))
    }

    /// The IPv6 option type.
    pub fn code(self) -> u8 {
        self.0
    }
}

/// The types that a deployment uses. They may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionTypes {
    /// Of option 1, the original destination.
    pub destination: OptionType,
    /// Of option 2, a copied trace and the original destination.
    pub trace: OptionType,
}

impl Default for OptionTypes {
    fn default() -> Self {
        OptionTypes { destination: OptionType::EXPERIMENTAL, trace: OptionType::EXPERIMENTAL }
    }
}

impl OptionTypes {
    /// Whether an option of this code is one of the two.
    pub fn contains(&self, code: u8) -> bool {
        code == self.destination.0 || code == self.trace.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn req_40_types_make_others_discard_and_report() {
        for code in 0..=u8::MAX {
            assert!(OptionType::new(code).is_none() || code & 0xc0 == 0x80, "{code:#x}");
        }
        assert_eq!(OptionType::new(0x9e), Some(OptionType::EXPERIMENTAL));
        assert_eq!([0x1e, 0x5e, 0xde].map(OptionType::new), [None; 3]);
    }

    #[test]
    fn req_41_types_do_not_change_on_the_way() {
        assert!((0..=u8::MAX).filter_map(OptionType::new).all(|kind| kind.code() & 0x20 == 0));
        assert_eq!((0..=u8::MAX).filter_map(OptionType::new).count(), 32);
        assert_eq!(OptionType::new(0xbe), None);
    }

    #[test]
    fn both_types_may_be_assigned_apart() {
        let [destination, trace] = [0x8a, 0x8b].map(|code| OptionType::new(code).expect("bits 100"));
        let types = OptionTypes { destination, trace };
        assert_eq!([0x8a, 0x8b, 0x9e].map(|code| types.contains(code)), [true, true, false]);
    }
}
