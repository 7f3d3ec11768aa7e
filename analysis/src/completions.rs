// SPDX-License-Identifier: GPL-2.0-only
//! `completions`: what a shell reads to complete command lines of `hpcc`. It asks the command itself then.

use anyhow::Result;
use clap::{CommandFactory, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use crate::{human, script};

/// Names the shell that asks.
const VARIABLE: &str = "COMPLETE";
/// The command that is completed, wherever it is.
const NAME: &str = "hpcc";

/// A shell.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Shell {
    /// source <(./hpcc completions bash)
    Bash,
    /// source <(./hpcc completions zsh)
    Zsh,
    /// ./hpcc completions fish | source
    Fish,
}

/// Prints the shell's script.
///
/// # Errors
/// If there is no script to ask, or nothing can be printed.
pub fn print(shell: Shell) -> Result<()> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut text = Vec::new();
    completer.write_registration(VARIABLE, NAME, NAME, &script::script()?.to_string_lossy(), &mut text)?;
    human::print(&String::from_utf8(text)?)
}

/// Answers a shell, if one asks, and ends.
pub fn answer<T: CommandFactory>() {
    CompleteEnv::with_factory(T::command).var(VARIABLE).complete();
}
