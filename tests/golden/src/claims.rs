// SPDX-License-Identifier: GPL-2.0-only
//! What this version claims to reproduce.

use crate::case::Case;

/// Values of `CC_MODE` whose runs must equal the reference's: 0 none, 3 HPCC.
///
/// Later: 1 DCQCN, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT. Until then the simulator must refuse them.
pub const CLAIMED_MODES: &[u32] = &[0, 3];

/// Whether runs that take a link down must equal the reference's, too.
pub const LINK_DOWN_CLAIMED: bool = false;

/// Whether this version claims to reproduce a run.
pub fn is_claimed(case: &Case) -> bool {
    CLAIMED_MODES.contains(&case.run.cc_mode) && (LINK_DOWN_CLAIMED || !case.has_link_down())
}
