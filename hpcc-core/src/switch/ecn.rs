// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN marking at dequeue, in the manner of RED (SPEC section 5).

use crate::units::BitRate;

/// When packets of an egress queue are marked, for ports of one link rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnThreshold {
    /// Ports of this rate use the entry.
    pub rate: BitRate,
    /// Up to this queue length in bytes nothing is marked.
    pub kmin: u64,
    /// Above this queue length in bytes everything is marked.
    pub kmax: u64,
    /// Probability at `kmax`, 0 to 1; grows linearly from 0 at `kmin`.
    pub pmax: f64,
}
