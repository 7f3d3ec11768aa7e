// SPDX-License-Identifier: GPL-2.0-only
//! The simulator, a program of its own: the engine of hpcc-core, or the same engine in ns-3 where a scenario needs that.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use hpcc_core::settings::Named;
use hpcc_model::results::{Remains, remains};
use hpcc_model::scenario::Scenario;

use crate::ns3::Place;
use crate::ranks::launcher;
use crate::{children, control, human, script};

/// What simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Kind {
    /// The engine of hpcc-core. It has no TCP, UDP, controllers in C++, and no --ranks.
    Core,
    /// The same engine as a module of ns-3, with the same results to the byte.
    Ns3,
    /// No packets: flows and messages of jobs at max-min fair rates, in seconds where packets take hours.
    Fluid,
}

impl Kind {
    /// What simulates a scenario where the command line does not [choose](chosen), and what it needs ns-3 for.
    pub fn of(scenario: &Scenario) -> (Kind, Option<String>) {
        if let Some(kind) = chosen() {
            return (kind, None);
        }
        let algorithm = scenario.algorithm().name();
        let why = match scenario.stack() {
            Some(protocol) => Some(format!("hosts have its {}", protocol.name().to_uppercase())),
            None => control::is_in_cpp(algorithm).then(|| format!("{algorithm} is written in C++")),
        };
        (if why.is_some() { Kind::Ns3 } else { Kind::Core }, why)
    }

    /// As [`Kind::of`], of a file. What is wrong with it, the simulator tells: also of a class of ns-3's TCP, whose attributes ns-3
    /// alone knows.
    pub fn of_file(config: &Path, set: &[String]) -> (Kind, Option<String>) {
        match hpcc_formats::load_network(config, set, control::defaults()) {
            Ok(scenario) => Kind::of(&scenario),
            Err(_) => {
                let has_class = |text: &str| text.contains("ns3::");
                let in_file = || {
                    hpcc_formats::is_toml_file(config) && fs::read_to_string(config).is_ok_and(|text| has_class(&text))
                };
                let names_ns3 = set.iter().any(|set| has_class(set)) || in_file();
                (chosen().unwrap_or(if names_ns3 { Kind::Ns3 } else { Kind::Core }), None)
            }
        }
    }

    /// The value of `--simulator`.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Core => "core",
            Kind::Ns3 => "ns3",
            Kind::Fluid => "fluid",
        }
    }
}

static CHOSEN: OnceLock<Kind> = OnceLock::new();

/// What the command line chooses, if it does.
pub fn choose(kind: Option<Kind>) {
    kind.map(|kind| CHOSEN.get_or_init(|| kind));
}

/// What the command line has chosen.
pub fn chosen() -> Option<Kind> {
    CHOSEN.get().copied()
}

/// Names the ns-3 program that simulates scenarios.
pub const PROGRAM_VARIABLE: &str = "HPCC_SCENARIO_PROGRAM";
/// Tunables of the GNU C library, and the one that asks the kernel for huge pages: a large network's state spans more
/// pages than a processor remembers the places of.
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

/// The program that simulates scenarios.
#[derive(Clone, Debug)]
pub struct Simulator {
    program: PathBuf,
    kind: Kind,
}

impl Simulator {
    /// The engine beside this command, or with the user's own controllers; or that in ns-3: the program that the environment names,
    /// or is installed beside this command, or else the one that the source tree's script builds.
    ///
    /// # Errors
    /// If there is none, or the build fails.
    pub fn find(kind: Kind) -> Result<Simulator> {
        let program = match kind {
            Kind::Core | Kind::Fluid => match control::program() {
                Some(program) => program.to_owned(),
                None => {
                    existing(&env::current_exe().context("the file of this program")?.with_file_name("hpcc-engine"))?
                }
            },
            Kind::Ns3 => in_ns3()?,
        };
        Ok(Simulator { program, kind })
    }

    /// This program.
    pub fn at(program: PathBuf) -> Simulator {
        Simulator { program, kind: Kind::Ns3 }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.program
    }

    /// Its command line for a scenario, results in `out`, with overrides (`KEY=VALUE` each).
    pub fn command(&self, config: &Path, out: &Path, set: &[String]) -> Command {
        self.fill(Command::new(&self.program), config, out, set)
    }

    /// The command line for several processes.
    pub fn shared_command(&self, ranks: u32, config: &Path, out: &Path, set: &[String]) -> Command {
        let mut command = launcher(ranks, &self.program);
        command.arg("--shared");
        self.fill(command, config, out, set)
    }

    fn fill(&self, mut command: Command, config: &Path, out: &Path, set: &[String]) -> Command {
        command
            .arg(option("--config=", config.as_os_str()))
            .arg(option("--out=", out.as_os_str()))
            .args(set.iter().map(|pair| format!("--set={pair}")))
            .stdin(Stdio::null());
        command.args((self.kind == Kind::Fluid).then_some("--fluid"));
        // The classes of a library register themselves when it is loaded.
        let libraries = if self.kind == Kind::Ns3 { control::libraries() } else { &[] };
        if !libraries.is_empty() {
            command.env("LD_PRELOAD", control::preloaded(libraries));
        }
        let (variable, huge_pages) = TUNABLES;
        if env::var_os(variable).is_none() {
            command.env(variable, huge_pages);
        }
        command
    }

    /// Runs such a command until it ends, or this process does.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn status(&self, command: &mut Command) -> io::Result<ExitStatus> {
        children::status(command)
    }
}

fn in_ns3() -> Result<PathBuf> {
    if let Some(program) = env::var_os(PROGRAM_VARIABLE).filter(|program| !program.is_empty()) {
        return Ok(program.into());
    }
    if let Some(program) = script::beside("hpcc-scenario") {
        return Ok(program);
    }
    ensure!(
        script::script().is_ok(),
        "there is no ns-3 beside this command: use ./hpcc of a source tree, which builds it"
    );
    Place::new()?.simulator()
}

/// The full path of a program that the command line names.
///
/// # Errors
/// If it is none that can be started.
pub fn existing(program: &Path) -> Result<PathBuf> {
    let named = || program.display().to_string();
    let found = program.canonicalize().with_context(named)?;
    let known = fs::metadata(&found).with_context(named)?;
    ensure!(known.is_file(), "{}: is a directory; expected a program", named());
    ensure!(known.permissions().mode() & 0o111 != 0, "{}: is no program that may be executed", named());
    Ok(found)
}

/// The option that silences progress and notes of the simulator, if they are not to be shown.
pub fn quiet_option() -> Option<&'static str> {
    human::is_quiet().then_some("--quiet")
}

/// Joins an option and its value, which need not be Unicode.
fn option(name: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push(value);
    text
}

/// How a simulator ended that did not end well, and where what it wrote for the folder `out` is.
pub fn describe_crash(status: ExitStatus, out: &Path) -> String {
    let end = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by {}", signal_name(signal)),
        (None, Some(code)) => format!("stopped with exit status {code}"),
        (None, None) => "stopped for an unknown reason".to_owned(),
    };
    let left = match remains(out) {
        Remains::Nothing => String::new(),
        Remains::Part(folder) => format!("; what it wrote is incomplete and stays in the folder {}", folder.display()),
        Remains::All(folder) => format!("; its results are complete, but stay in the folder {}", folder.display()),
    };
    format!("the simulator {end}{left}")
}

fn signal_name(signal: i32) -> String {
    let meaning = match signal {
        2 => "interrupted",
        4 => "illegal instruction: built for another processor",
        6 => "aborted",
        8 => "arithmetic error",
        9 => "killed, perhaps for lack of memory",
        11 => "segmentation fault",
        15 => "terminated",
        24 => "no more processor time, ulimit -t",
        25 => "a file may not grow, ulimit -f",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({meaning})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_crash_left_is_found_where_a_link_leads() {
        let root = tempfile::tempdir().expect("folder");
        let (link, partial) = (root.path().join("link"), root.path().join("real.partial"));
        std::fs::create_dir_all(root.path().join("real")).expect("folder");
        std::os::unix::fs::symlink("real", &link).expect("link");
        std::fs::create_dir(&partial).expect("folder");
        let told = || describe_crash(ExitStatus::from_raw(1 << 8), &link);
        assert!(told().contains("is incomplete and stays in the folder /") && told().ends_with("real.partial"));
        std::fs::write(partial.join("summary.json"), r#"{"versions":{"hpcc":"0.1.0"}}"#).expect("summary");
        assert!(told().contains("are complete, but stay in the folder /") && told().ends_with("real.partial"));
    }
}
