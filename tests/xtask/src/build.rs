// SPDX-License-Identifier: GPL-2.0-only
//! A build of the module, in a tree of ns-3 or beside one that is installed, and how it is tested.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use duct::{Expression, cmd};
use hpcc_analysis::human;
use hpcc_analysis::ns3::{Place, is_tree, jobs};
use hpcc_analysis::script::{script, source_tree};

use crate::stages::{Stages, command};

/// Variables of the environment.
type Variables = Vec<(&'static str, OsString)>;

/// Where its programs are, and the variables by which tests find them.
pub struct Build {
    simulator: PathBuf,
    variables: Variables,
}

/// Where ns-3 is with these variables in place of the environment's.
fn place(variables: &Variables) -> Result<Place> {
    let given = |name: &str| Some(variables.iter().find(|(given, _)| *given == name)?.1.clone());
    Place::with(|name| given(name).or_else(|| env::var_os(name)))
}

impl Build {
    /// What cargo alone builds: the programs beside this one.
    pub fn without_ns3() -> Result<Build> {
        Build::of(PathBuf::new(), Variables::new())
    }

    /// Builds all that there is in a tree, or beside the ns-3 that `NS3_DIR` names.
    pub fn everything(variables: Variables) -> Result<Build> {
        let simulator = place(&variables)?.everything()?;
        Build::of(simulator, variables)
    }

    /// Builds the simulator alone, as for a run.
    pub fn simulator(variables: Variables) -> Result<Build> {
        let simulator = place(&variables)?.simulator()?;
        Build::of(simulator, variables)
    }

    fn of(simulator: PathBuf, mut variables: Variables) -> Result<Build> {
        let hpcc = env::current_exe()?.with_file_name("hpcc");
        variables.extend([("HPCC_SCENARIO_PROGRAM", simulator.clone().into()), ("HPCC_ANALYSIS_PROGRAM", hpcc.into())]);
        Ok(Build { simulator, variables })
    }

    /// The tree, or the folder of what was built beside an installed ns-3.
    pub fn folder(&self) -> Result<&Path> {
        let tree = self.simulator.ancestors().nth(3).filter(|tree| is_tree(tree));
        tree.or(self.simulator.parent()).context("no folder")
    }

    /// One of the module's test suites.
    pub fn suite(&self, stages: &Stages, name: &str) -> Result<()> {
        let folder = self.folder()?;
        if is_tree(folder) {
            return self.test_py(stages, &format!("--suite={name}"));
        }
        stages.run(self.with(cmd!(folder.join("test-runner"), format!("--test-name={name}"))))
    }

    /// The suite of TCP and UDP hosts.
    pub fn suite_of_stack(&self, stages: &Stages) -> Result<()> {
        let headers = ["build/include", "include"].map(|folder| Path::new(folder).join("ns3/packet-host.h"));
        let folder = self.folder()?;
        if !headers.iter().any(|header| folder.join(header).exists()) {
            return stages.skip("suite hpcc-tcp: the module was built without TCP and UDP hosts");
        }
        self.suite(stages, "hpcc-tcp")
    }

    /// The programs of examples/. test.py knows no way to choose a module's, and a user's tree may have hundreds.
    pub fn examples(&self, stages: &Stages) -> Result<()> {
        self.test_py(stages, "--constrain=example")
    }

    fn test_py(&self, stages: &Stages, option: &str) -> Result<()> {
        let command = command(self.folder()?, &format!("./test.py --no-build {option}"));
        stages.watch(self.with(command), |line| line.contains("SKIP: "))
    }

    /// Tests of crates.
    pub fn cargo(&self, stages: &Stages, which: &str) -> Result<()> {
        let command = crate::chores::here(&format!("cargo test --quiet --locked --no-fail-fast {which}"))?;
        let is_ignored = |line: &str| line.starts_with("test result: ") && !line.contains("; 0 ignored;");
        stages.watch(self.with(command), is_ignored)
    }

    /// Each program of scratch/ runs as it does without options; the shipped experiments are for hpcc-scenario.
    pub fn programs(&self) -> Result<()> {
        let folder = self.simulator.parent().context("no folder")?;
        for source in fs::read_dir(source_tree()?.join("scratch"))? {
            let source = source?.path();
            let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if name == "hpcc-scenario" {
                continue;
            }
            let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
            let is_it = |path: &PathBuf| path.is_file() && path.to_string_lossy().contains(&name);
            let newest = entries.filter(is_it).max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
            let program = newest.with_context(|| format!("the build made no program {name}"))?;
            self.with(cmd!(program)).stdout_null().run()?;
        }
        Ok(())
    }

    /// All runs of the 2019 simulator, repeated by the ns-3 module or by the `core`; the table is shown if one differs.
    pub fn parity(&self, simulator: &str) -> Result<()> {
        let command = self.with(cmd!(script()?, "parity", "--jobs", jobs()?.to_string(), "--simulator", simulator));
        let output = command.stdout_capture().unchecked().run()?;
        let (text, is_exact) = (String::from_utf8(output.stdout)?, output.status.success());
        let shown = text.lines().filter(|line| !is_exact || line.contains(" runs of "));
        human::print(&shown.map(|line| format!("{line}\n")).collect::<String>())?;
        ensure!(is_exact, "runs differ");
        Ok(())
    }

    /// A command of hpcc that leaves its results in `out`.
    pub fn hpcc(&self, words: &[&str], out: &Path) -> Result<()> {
        let command = cmd(
            env::current_exe()?.with_file_name("hpcc"),
            words.iter().map(OsString::from).chain(["--out".into(), out.into()]),
        );
        self.with(command.dir(source_tree()?)).stdout_null().run()?;
        Ok(())
    }

    /// A command with the variables of this build, and with the command `hpcc` for Python.
    pub fn with_command(&self, command: Expression) -> Expression {
        let hpcc = self.variables.iter().find(|(name, _)| *name == "HPCC_ANALYSIS_PROGRAM");
        hpcc.iter().fold(self.with(command), |command, (_, program)| command.env("HPCC_COMMAND", program))
    }

    /// A command with the variables of this build, where it has none of its own.
    pub fn with(&self, command: Expression) -> Expression {
        self.variables.iter().fold(command, |command, (name, value)| command.env(name, value))
    }
}
