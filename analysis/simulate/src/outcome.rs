// SPDX-License-Identifier: GPL-2.0-only
//! How a run ended, and what is said on the way there.

use hpcc_model::visible;
use std::fmt::Display;
use std::process::ExitCode;

/// How a run ended, as an exit status says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All flows have finished.
    Finished = 0,
    /// Results could not be written.
    Failed = 1,
    /// The input was refused.
    BadInput = 2,
    /// Some flows have not finished by the end.
    Unfinished = 3,
    /// The run could not go on; results are of the time until then.
    Stopped = 4,
}

impl Outcome {
    /// The outcome with this status.
    pub(crate) fn of(status: u64) -> Outcome {
        use Outcome::{BadInput, Failed, Finished, Stopped, Unfinished};
        let all = [Finished, Failed, BadInput, Unfinished, Stopped];
        all.into_iter().find(|&outcome| outcome as u64 == status).unwrap_or(Failed)
    }

    /// Says why the input is refused.
    pub fn refused(why: &dyn Display) -> Outcome {
        say(why);
        Outcome::BadInput
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(outcome as u8)
    }
}

pub(crate) fn say(message: &dyn Display) {
    eprintln!("hpcc: {}", visible::lines(&message.to_string()));
}
