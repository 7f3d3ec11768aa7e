// SPDX-License-Identifier: GPL-2.0-only
//! `test`: what is built in which way, and tested by which commands.

use std::cell::LazyCell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::{env, process};

use anyhow::{Result, anyhow, ensure};
use clap::ValueEnum;
use duct::cmd;
use hpcc_analysis::ns3::{Place, distribution, is_tree};
use hpcc_analysis::packages::need;
use hpcc_analysis::script::source_tree;
use hpcc_analysis::{Outcome, human};

use crate::build::Build;
use crate::chores::{self, checked_simulator, here};
use crate::relations;
use crate::stages::{Stages, command, is_strict};

/// What to test; without options, everything in the build that runs experiments.
#[derive(clap::Args)]
pub struct Options {
    /// Takes only the stages whose names contain this.
    #[arg(long, value_name = "PART", default_value = "", hide_default_value = true, conflicts_with_all = ["profile", "ns3"])]
    stage: String,
    /// Instead, builds a copy of the fetched ns-3 tree in another way, and runs suites, examples and programs there: 5 to 15
    /// minutes each the first time. Several are separated by commas.
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    profile: Vec<Profile>,
    /// Instead, builds the module in these ns-3 trees, and runs suites and programs there. A tree that is configured keeps its configuration.
    /// A folder where ns-3 is installed will do, too: the module is built beside it.
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "profile")]
    ns3: Vec<PathBuf>,
    /// With --ns3: repeats the 2019 simulator's runs in each tree, too.
    #[arg(long, requires = "ns3")]
    parity: bool,
}

/// A way to build ns-3.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// For debugging, with checks of memory (ASan) and arithmetic (UBSan); runs the shipped experiments, too.
    Sanitize,
    /// For debugging: with assertions and logs.
    Debug,
    /// Optimized, but not for this processor alone; without TCP.
    Release,
    /// One static library.
    Static,
    /// One shared library of all modules.
    Monolib,
}

impl Profile {
    /// Its name, and how `./ns3 configure` calls it.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Profile::Sanitize => ("sanitize", "-d debug --enable-sanitizers"),
            Profile::Debug => ("debug", "-d debug"),
            Profile::Release => ("release", "-d release --enable-modules=core;network;hpcc"),
            Profile::Static => ("static", "-d optimized --enable-static"),
            Profile::Monolib => ("monolib", "-d optimized --enable-monolib"),
        }
    }
}

impl Options {
    /// Tests.
    ///
    /// # Errors
    /// If what is to be tested cannot be built.
    pub fn run(&self) -> Result<Outcome> {
        let mut stages = Stages::new(&self.stage)?;
        if !self.profile.is_empty() {
            ensure!(!is_set("NS3_DIR"), "NS3_DIR is set, but profiles are those of the fetched ns-3 tree; try --ns3");
            for &profile in &self.profile {
                in_profile(&mut stages, profile);
            }
        } else if self.ns3.is_empty() {
            everything(&mut stages)?;
        } else {
            for folder in &self.ns3 {
                ensure!(folder.is_dir(), "{} is no ns-3 tree", folder.display());
            }
            for folder in &self.ns3 {
                let name = folder.display().to_string();
                let folder = folder.canonicalize()?;
                let variables = vec![("NS3_DIR", folder.into())];
                if let Some(build) = built(&mut stages, &name, variables)
                    && self.parity
                {
                    stages.take(format_args!("{name}: the 2019 simulator's runs"), |_| build.parity("ns3"));
                }
            }
        }
        stages.end()
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Every test; those whose names begin with `cargo` need neither ns-3 nor other tools.
fn everything(stages: &mut Stages) -> Result<()> {
    let place = Place::new()?;
    let cache = place.cache()?;
    let alone = Build::without_ns3()?;
    stages.take("cargo: format", |stages| component(stages, "cargo fmt --all --check"));
    stages.take("cargo: lint", |stages| {
        component(stages, "cargo clippy --quiet --locked --workspace --all-targets -- -D warnings")
    });
    stages.take("cargo: core, formats, bridge, analysis", |stages| {
        alone.cargo(stages, "--workspace --exclude hpcc-tests")
    });
    stages.take("cargo: core as a package", |stages| {
        stages.run(here("cargo package --quiet --locked --offline --allow-dirty --package hpcc-core")?)
    });
    stages.take("cargo: the 2019 simulator's runs", |_| alone.parity("core"));
    // When the first stage asks for them.
    let python = LazyCell::new(|| get_decoders(cache));
    let made = LazyCell::new(|| {
        let python = python.clone().into_os_string();
        Build::everything(vec![("HPCC_TEST_PYTHON", python)]).inspect_err(|error| human::warn(human::reason(error)))
    });
    let build = || made.as_ref().map_err(|_| anyhow!("it needs ns-3 with the module, which could not be built"));
    stages.take("format of C++", |stages| format_of_cpp(stages, &python, build()?));
    // Not everybody who tests has it; a release needs it.
    if here("cargo deny --version")?.stdout_null().stderr_null().run().is_ok() {
        stages.take("other crates", |_| chores::audit());
    }
    stages.take("documentation", documentation);
    stages.take("Python package", |stages| python_package(stages, cache, build()?));
    stages.take("ns-3 module", |stages| build()?.suite(stages, "hpcc"));
    stages.take("hostile bytes", |stages| stages.run(here("hpcc-core/fuzz/run 3")?));
    stages.take("hostile files", |stages| stages.run(here("tests/fuzz/run 3")?));
    stages.take("TCP hosts", |stages| build()?.suite_of_stack(stages));
    stages.take("release", release);
    stages.take("across rooms", |stages| build()?.cargo(stages, "--package hpcc-tests"));
    stages.take("relations between runs", |_| relations::test());
    stages.take("shipped experiments", |stages| build()?.cargo(stages, "--package hpcc-tests --test shipped"));
    stages.take("examples", |stages| match is_set("NS3_DIR") {
        true => stages.skip("examples: they are run in the fetched ns-3 tree only"),
        false => build()?.examples(stages),
    });
    stages.take("programs of scratch/", |_| build()?.programs());
    stages.take("a program of one's own", |stages| own_program(stages, build()?));
    stages.take("beside the distribution's ns-3", out_of_tree);
    Ok(())
}

/// Independent decoders of our bytes for the tests: tshark, scapy, the kernel's IOAM; what makes PNG files; and a
/// scheduler for sweeps. A test that finds one missing is skipped, and says so. Returns the Python that has them.
fn get_decoders(cache: &Path) -> PathBuf {
    let has_venv = cmd!("python3", "-c", "import ensurepip").stderr_null().run().is_ok();
    let is_strict = is_strict();
    for (wanted, tools) in [
        (true, &["tshark:tshark", "ip:iproute2", "rsvg-convert:librsvg2-bin"][..]),
        (!has_venv, &[":python3-venv"]),
        (true, &["chromium:chromium"]),
        // Its daemons start as services with it: only where nothing may be skipped.
        (is_strict, &["mpirun:openmpi-bin", "mpicc:libopenmpi-dev", "patchelf:patchelf"]),
        (is_strict, &["slurmctld:slurmctld", "slurmd:slurmd", "sbatch:slurm-client", "munged:munge"]),
    ] {
        if wanted && need(tools).is_err() {
            human::note(format_args!("no {}: some tests will be skipped", tools.join(" ")));
        }
    }
    let (venv, requirements) = (cache.join("python"), source_tree().unwrap_or_default().join("tests/requirements.txt"));
    let program = |name: &str| venv.join("bin").join(name);
    let has_all = cmd!(program("python"), "-c", "import scapy").stderr_null().run().is_ok();
    if !has_all || !program("clang-format").exists() {
        human::note(format_args!("installing scapy and clang-format into {}", venv.display()));
        let pip = cmd!(program("pip"), "install", "--quiet", "--require-hashes", "--requirement", requirements);
        if cmd!("python3", "-m", "venv", &venv).run().and_then(|_| pip.run()).is_err() {
            human::note("they cannot be installed: some tests will be skipped");
        }
    }
    program("python")
}

/// The packages of analysis/python as `pip install` gives them, in an environment of their own, with the notebooks.
fn python_package(stages: &Stages, cache: &Path, build: &Build) -> Result<()> {
    let venv = cache.join("python-package");
    let python = venv.join("bin/python");
    if !python.exists() && cmd!("python3", "-m", "venv", &venv).run().is_err() {
        return stages.skip("the Python package: no virtual environment can be made; package python3-venv");
    }
    let install = cmd!(
        &python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        ".[test]",
        "./analysis/python/control"
    );
    if install.dir(source_tree()?).run().is_err() {
        return stages.skip("the Python package: it, or what its tests need, cannot be installed");
    }
    let tests = cmd!(&python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "analysis/python/tests");
    stages.watch(build.with_command(tests.dir(source_tree()?)), |line| line.starts_with("SKIPPED"))
}

/// Runs a cargo command that comes as a component of its own; a minimal toolchain has not got it.
fn component(stages: &Stages, line: &str) -> Result<()> {
    let name = line.split(' ').nth(1).unwrap_or_default();
    if here(&format!("cargo {name} --version"))?.stdout_null().stderr_null().run().is_err() {
        return stages.skip(&format!("cargo {name}: this toolchain has not got it"));
    }
    stages.run(here(line)?)
}

/// ns-3's formatter, with its settings, on every C++ source of ours.
fn format_of_cpp(stages: &Stages, python: &Path, build: &Build) -> Result<()> {
    let (formatter, style) = (python.with_file_name("clang-format"), build.folder()?.join(".clang-format"));
    if !formatter.exists() || !style.exists() {
        return stages.skip("the format of C++: no clang-format, or no settings of it in the ns-3 tree");
    }
    let sources = here("find ns3-module scratch -name *.cc -o -name *.h")?.read()?;
    let style = format!("--style=file:{}", style.display());
    let options = ["--dry-run", "--Werror", &style];
    stages.run(cmd(formatter, options.into_iter().chain(sources.lines())).dir(source_tree()?))
}

fn documentation(stages: &Stages) -> Result<()> {
    if chores::need_page_tools().is_err() {
        return stages.skip("documentation: doxygen, sphinx, myst-parser or furo is missing");
    }
    chores::make_pages()
}

fn release(stages: &Stages) -> Result<()> {
    if !source_tree()?.join(".git").exists() {
        return stages.skip("release: this is no git repository");
    }
    chores::pack(tempfile::tempdir()?.path(), Some("quickly"))
}

/// A program of a user's own, by the commands of ns3-module/doc/hpcc.rst.
fn own_program(stages: &Stages, build: &Build) -> Result<()> {
    if is_set("NS3_DIR") {
        return stages.skip("a program in scratch/: it is built in the fetched ns-3 tree only");
    }
    let ns3 = build.folder()?;
    let source = ns3.join("scratch/my-program.cc");
    fs::copy(source_tree()?.join("scratch/hpcc-two-flows.cc"), &source)?;
    let told = cmd!(ns3.join("ns3"), "run", "my-program --stop=100us").dir(ns3).unchecked().read();
    fs::remove_file(source)?;
    // Now ./ns3 notices that it is gone; else it would not notice that it is there again.
    command(ns3, "./ns3 show targets").stdout_null().run()?;
    ensure!(told?.lines().any(|line| line.starts_with("time (us)")), "it does not say what it should");
    Ok(())
}

/// Builds a simulator beside the distribution's ns-3, as on a machine without an ns-3 tree, in a cache of its own.
fn out_of_tree(stages: &Stages) -> Result<()> {
    if is_strict() {
        need(&[":libns3-dev", ":ns3"]).ok().filter(|()| distribution().is_none());
    }
    let Some(ns3) = distribution() else {
        return stages.skip("the simulator beside the distribution's ns-3: libns3-dev and ns3 are not installed");
    };
    let cache = tempfile::tempdir()?;
    let variables = vec![("NS3_DIR", OsString::new()), ("HPCC_CACHE", cache.path().into())];
    let build = Build::simulator(variables)?;
    ensure!(!is_tree(build.folder()?), "a tree was built, and not beside {}", ns3.display());
    build.parity("ns3")?;
    let out = |name: &str| cache.path().join(name);
    build.hpcc(&["run", "configs/tcp.toml"], &out("tcp"))?;
    if build.folder()?.join("libhpcc-mpi.so").exists() {
        let scenario = "configs/leaf-spine-rocev2.toml";
        build.hpcc(&["run", scenario, "--simulator", "ns3"], &out("one"))?;
        build.hpcc(&["run", scenario, "--ranks", "2"], &out("two"))?;
        let [one, two] = ["one/fct.csv", "two/fct.csv"].map(|name| fs::read(out(name)));
        ensure!(one? == two?, "two processes give other results than one");
    }
    let campaign = here("cargo test --quiet --locked --package hpcc-tests --test combined_settings")?;
    let campaign = campaign.env("HPCC_SCENARIO_PROGRAM", checked_simulator(&ns3)?);
    stages.run(build.with(campaign.env("HPCC_RANDOM_SCENARIOS", "120").env("HPCC_RANDOM_SEED", "1001")))
}

/// A build, and what the module brings to test itself.
fn built(stages: &mut Stages, name: &str, variables: Vec<(&'static str, OsString)>) -> Option<Build> {
    let mut build = None;
    stages.take(name, |_| Build::everything(variables).map(|done| build = Some(done)));
    let build = build?;
    stages.take(format_args!("{name}: suite hpcc"), |stages| build.suite(stages, "hpcc"));
    stages.take(format_args!("{name}: suite hpcc-tcp"), |stages| build.suite_of_stack(stages));
    stages.take(format_args!("{name}: programs of scratch/"), |_| build.programs());
    Some(build)
}

/// The module in a copy of the fetched tree that is built in another way. With `sanitize`, the checks end a program that does wrong
/// with a status of its own.
fn in_profile(stages: &mut Stages, profile: Profile) {
    let (name, options) = profile.names();
    let mut copy = None;
    stages.take(format_args!("{name}: a copy of ns-3"), |_| copied(name).map(|done| copy = Some(done)));
    let Some(copy) = copy else { return };
    let variables = vec![("NS3_DIR", copy.into()), ("HPCC_PROFILE", options.into())];
    let Some(build) = built(stages, name, variables) else { return };
    stages.take(format_args!("{name}: examples"), |stages| build.examples(stages));
    if profile == Profile::Sanitize {
        stages.take(format_args!("{name}: shipped experiments"), |stages| {
            build.cargo(stages, "--package hpcc-tests --test shipped")
        });
    }
}

/// A copy of the fetched tree without what was built there. It is kept, so that the next time only what has changed is built.
fn copied(name: &str) -> Result<PathBuf> {
    let place = Place::new()?;
    let cache = place.own_cache()?;
    let copy = cache.join(format!("ns-3-{name}"));
    if !copy.exists() {
        let tree = place.tree()?;
        let part = cache.join(format!("ns-3-{name}.{}", process::id()));
        fs::create_dir_all(&part)?;
        let built = ["build", "cmake-cache", "testpy-output", ".lock-ns3*", "hpcc-*.log"];
        let options = built.iter().map(|name| format!("--exclude=./{name}"));
        let pack = cmd(
            "tar",
            options.map(OsString::from).chain(["-C".into(), tree.into(), "-cf".into(), "-".into(), ".".into()]),
        );
        pack.pipe(cmd!("tar", "-xf", "-", "-C", &part)).run()?;
        fs::rename(part, &copy)?;
    }
    Ok(copy)
}
