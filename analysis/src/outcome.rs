// SPDX-License-Identifier: GPL-2.0-only
//! What a command's exit status says.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All flows finished, or all flows equal.
    Good,
    /// The simulator crashed, a fault ended a run early, or flows differ.
    Failed,
    /// The input makes no sense; nothing was written.
    BadInput,
    /// Flows were left unfinished.
    Unfinished,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Good => 0,
            Outcome::Failed => 1,
            Outcome::BadInput => 2,
            Outcome::Unfinished => 3,
        })
    }
}
