// SPDX-License-Identifier: GPL-2.0-only
//! What a command's exit status says.

use std::error::Error;
use std::fmt;
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

/// What could not be done although the input makes sense, such as a build: [`Outcome::Failed`].
#[derive(Debug)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failed {}
