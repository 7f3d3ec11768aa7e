// SPDX-License-Identifier: GPL-2.0-only
//! Whether the simulator under test was built with MPI.

use crate::programs::simulator;
use crate::skipped;
use std::process::Command;

/// Whether several processes can share a run here; if not, the test is among the skipped ones.
///
/// # Panics
/// If it cannot be found out.
pub fn has_mpi() -> bool {
    // Without a scenario it says what it lacks, or that there is none.
    let output = Command::new(simulator()).arg("--shared").output().expect("the simulator starts");
    let is_missing = String::from_utf8_lossy(&output.stderr).contains("by MPI, which is not here");
    if is_missing {
        skipped("the simulator was built without MPI, by which processes share a run");
    }
    !is_missing
}
