// SPDX-License-Identifier: GPL-2.0-only
//! What this version claims to reproduce.

use crate::case::Case;

/// Values of `CC_MODE` whose runs must equal the reference's: 0 and 5 none, 1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP,
/// 10 HPCC-PINT. The simulator must refuse what is not listed.
pub const CLAIMED_MODES: &[u32] = &[0, 1, 3, 5, 7, 8, 10];

/// Whether runs that take a link down must equal the reference's, too.
pub const LINK_DOWN_CLAIMED: bool = true;

/// Whether this version claims to reproduce a run.
pub fn is_claimed(case: &Case) -> bool {
    CLAIMED_MODES.contains(&case.run.cc_mode) && (LINK_DOWN_CLAIMED || !case.has_link_down())
}
