// SPDX-License-Identifier: GPL-2.0-only
//! What there is to say of a scenario that can run.

use serde::{Deserialize, Serialize};

/// What a lint found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The lint's name.
    pub id: &'static str,
    /// How much it matters.
    pub level: Level,
    /// A sentence for the user.
    pub message: String,
}

/// A default that decides results, of a key that nobody has given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumed {
    /// Section and key.
    pub key: String,
    /// What counts.
    pub value: String,
    /// Why that.
    pub reason: String,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Results may not mean what the scenario seems to ask.
    Warning,
    /// Good to know.
    Note,
}

impl Level {
    /// As `check` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}
