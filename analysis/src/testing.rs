// SPDX-License-Identifier: GPL-2.0-only
//! `test`: what is built in which way, and tested.

use std::ffi::OsString;
use std::iter;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::script;

/// What to test; without options, everything in the build that runs experiments.
#[derive(clap::Args)]
pub struct Options {
    /// Instead, builds a copy of the fetched ns-3 tree in another way, and runs suites, examples and programs there: 5 to 15
    /// minutes each the first time. Several are separated by commas.
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    profile: Vec<Profile>,
    /// Instead, builds the module in these ns-3 trees, and runs suites and programs there. A tree that is configured keeps its configuration.
    /// A folder where ns-3 is installed will do, too: the module is built beside it.
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "profile")]
    ns3: Vec<PathBuf>,
    /// With --ns3: repeats the reference's runs in each tree, too.
    #[arg(long, requires = "ns3")]
    parity: bool,
}

/// A way to build ns-3.
#[derive(Clone, Copy, ValueEnum)]
enum Profile {
    /// For debugging, with checks of memory (ASan) and arithmetic (UBSan), and TCP; runs the shipped experiments, too.
    Sanitize,
    /// For debugging: with assertions and logs.
    Debug,
    /// Optimized, but not for this processor alone.
    Release,
    /// One static library.
    Static,
    /// One shared library of all modules.
    Monolib,
}

impl Options {
    /// Lets the script take over. Returns only an error.
    pub fn exec(self) -> anyhow::Error {
        if !self.profile.is_empty() {
            let profiles: Vec<OsString> = self.profile.iter().map(|profile| profile.name().into()).collect();
            return script::exec("@test-profiles", &profiles);
        }
        if self.ns3.is_empty() {
            return script::exec("@test", &[]);
        }
        let how = OsString::from(if self.parity { "parity" } else { "" });
        let arguments: Vec<OsString> = iter::once(how).chain(self.ns3.into_iter().map(Into::into)).collect();
        script::exec("@test-trees", &arguments)
    }
}

impl Profile {
    /// As it is written on a command line.
    fn name(&self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
