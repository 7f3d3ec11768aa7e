// SPDX-License-Identifier: MIT OR Apache-2.0

/// A compact INT layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The reference simulator's: five 64-bit hop words, then a 16-bit hop count; always 42 bytes.
    Reference {
        /// INT_MULTI: multiplies the units of 128 bytes (txBytes) and 80 bytes (qlen). At least 1.
        multiplier: u32,
    },
    /// The HPCC paper's figure 7: nHop and pathID, then one 64-bit word for each hop passed so far.
    Paper,
}

impl Layout {
    /// Whether the layout has a code for this link rate.
    pub fn covers(&self, rate: crate::units::BitRate) -> bool {
        let _ = rate;
        false
    }
}
