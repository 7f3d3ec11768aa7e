// SPDX-License-Identifier: GPL-2.0-only
//! What other tools do for us: pages, audits, fuzzing, releases, measurements of the core.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use duct::{Expression, cmd};
use hpcc_analysis::ns3::{Place, distribution, jobs};
use hpcc_analysis::packages::need;
use hpcc_analysis::script::source_tree;
use hpcc_analysis::{human, save, write_figure_pages};

use crate::stages::command;
use crate::tables;

/// Tools that make pages.
const PAGE_TOOLS: [&str; 3] =
    ["doxygen:doxygen", "sphinx-build:python3-sphinx", "myst-docutils-html:python3-myst-parser"];
/// Folders of fuzz targets.
const FUZZ: [&str; 2] = ["hpcc-core/fuzz", "tests/fuzz"];

/// A command line in the source tree.
pub fn here(line: &str) -> Result<Expression> {
    Ok(command(&source_tree()?, line))
}

/// Executes a command line in the source tree; its output is for the user.
fn run(line: &str) -> Result<()> {
    here(line)?.run().map(drop).with_context(|| line.to_owned())
}

/// Has the tools that make pages, and the theme of the manual, which is no command.
pub fn need_page_tools() -> Result<()> {
    need(&PAGE_TOOLS)?;
    // The distribution's Python, which need not be the first on the PATH.
    let imports = |python: &str| cmd(python, ["-c", "import furo"]).stderr_null().run().is_ok();
    let has_theme = ["/usr/bin/python3", "python3"].into_iter().any(imports);
    if has_theme { Ok(()) } else { need(&[":furo"]) }
}

/// Measures what the core costs per packet.
pub fn measure_core() -> Result<()> {
    run("cargo bench --locked --package hpcc-core")
}

/// The test prints them. It would take a reader that goes away, such as `head`, for a failure.
pub fn list_requirements() -> Result<()> {
    let line = "cargo test --quiet --locked --package hpcc-tests --test requirements -- --nocapture --exact every_claim_has_a_test";
    let output = here(line)?.stdout_capture().unchecked().run()?;
    human::print(&String::from_utf8_lossy(&output.stdout))?;
    ensure!(output.status.success(), "a requirement is claimed without a test");
    Ok(())
}

/// The findings of cargo-deny in other crates: licences, sources, versions, and advisories where their database can be
/// reached.
pub fn audit() -> Result<()> {
    let asked = here("cargo deny --version")?.stdout_null().stderr_null().run();
    asked.context("cargo-deny is not installed: cargo install --locked cargo-deny")?;
    let mut checks = "licenses bans sources".to_owned();
    match here("cargo deny fetch db")?.stderr_null().run() {
        Ok(_) => checks += " advisories",
        Err(_) => human::warn("the database of advisories cannot be reached: they are not looked for"),
    }
    let config = source_tree()?.join("deny.toml");
    for folder in [&["."][..], &FUZZ].concat() {
        // One list of older versions serves all three, so that each lacks some.
        let manifest = format!("cargo deny --manifest-path {folder}/Cargo.toml --config");
        run(&format!("{manifest} {} check --allow unmatched-skip {checks}", config.display()))?;
    }
    Ok(())
}

/// The manual and the pages of the classes and crates, as HTML. A warning is an error.
pub fn make_pages() -> Result<()> {
    need_page_tools()?;
    let tree = source_tree()?;
    let (pages, module) = (tree.join("target/pages"), tree.join("ns3-module"));
    fs::create_dir_all(&pages)?;
    // Private items have pages, too, so that links to them work.
    let crates = here("cargo doc --quiet --locked --workspace --no-deps --document-private-items")?;
    crates.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private-intra-doc-links").run().context("rustdoc warns")?;
    command(&module, "doxygen doc/Doxyfile").run().context("doxygen")?;
    let log = fs::read_to_string(pages.join("doxygen.log"))?;
    // Functions that override ns-3's are documented there.
    let warnings: Vec<&str> = log.lines().filter(|line| !line.contains(" override (function) ")).collect();
    ensure!(warnings.is_empty(), "doxygen warns:\n{}", warnings.join("\n"));
    tables::write_pages(&tree)?;
    write_figure_pages(&tree)?;
    run("sphinx-build -q -E -W --keep-going -c ns3-module/doc . target/pages/manual")?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.join("target"), PathBuf::from);
    copy_pages(&target.join("doc"), &pages.join("rust"))?;
    // The folder as a whole is a site; GitHub leaves out files such as _static without the second of these.
    let start =
        format!("<meta http-equiv=\"refresh\" content=\"0; url={START}\"><a href=\"{START}\">The manual of hpcc</a>\n");
    fs::write(pages.join("index.html"), start)?;
    fs::write(pages.join(".nojekyll"), "")?;
    let pages = pages.display();
    human::note(format_args!(
        "{pages}/index.html, with the manual, {pages}/doxygen/index.html, {pages}/rust/hpcc_core/index.html"
    ));
    Ok(())
}

/// The page of the manual that the site begins with.
const START: &str = "manual/ns3-module/doc/index.html";

/// Copies the pages of the crates beside the others.
fn copy_pages(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    cmd!("cp", "-r", from, to).run().map(|_| ()).context("the pages of the crates")
}

/// New random inputs: bytes for parsers and controllers, files for readers, then whole scenarios.
pub fn fuzz(seconds: u32, target: Option<&str>) -> Result<()> {
    let mut targets = vec!["scenarios".to_owned()];
    for folder in FUZZ {
        let entries = fs::read_dir(source_tree()?.join(folder).join("fuzz_targets"))?;
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let names: Vec<String> = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        if target.is_none_or(|target| names.iter().any(|name| name == target)) {
            run(format!("{folder}/run --keep {seconds} {}", target.unwrap_or_default()).trim_end())?;
        }
        targets.extend(names);
    }
    match target {
        None | Some("scenarios") => fuzz_scenarios(seconds),
        Some(target) if targets.iter().any(|known| known == target) => Ok(()),
        Some(target) => bail!("there is no fuzz target {target}; there are {}", targets.join(", ")),
    }
}

/// A scenario takes about half a second, for it is run three times.
fn fuzz_scenarios(seconds: u32) -> Result<()> {
    let simulator = Place::new()?.simulator()?;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() % (1 << 30);
    let count = u64::from(seconds) * jobs()? as u64;
    let tests = "--test random_scenarios --test ideal --test combined_settings";
    let campaign = |tests: &str, simulator: &Path, count: u64| -> Result<()> {
        let command = here(&format!("cargo test --quiet --locked --package hpcc-tests {tests}"))?;
        let command = command.env("HPCC_SCENARIO_PROGRAM", simulator).env("HPCC_RANDOM_SEED", seed.to_string());
        command.env("HPCC_RANDOM_SCENARIOS", count.to_string()).run().map(drop).context("random scenarios")
    };
    campaign(tests, &simulator, 2 * count)?;
    match distribution() {
        Some(ns3) => campaign("--test combined_settings", &checked_simulator(&ns3)?, count),
        None => Ok(()),
    }
}

/// Builds a simulator beside that ns-3 whose every access to memory (ASan) and arithmetic (UBSan, Rust's checks) is looked at.
/// Unoptimised, which is how ns-3 is built by default, the compiler warns of other things, and ns-3 takes warnings for errors.
pub fn checked_simulator(ns3: &Path) -> Result<PathBuf> {
    let tree = source_tree()?;
    let built = tree.join("target/checked-simulator");
    let flags = "-DCMAKE_CXX_FLAGS=-g1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Werror \
                 -Wno-error=deprecated-declarations";
    let configure = "-G Ninja -DHPCC_UNITE_SOURCES=ON -DCMAKE_BUILD_TYPE=Debug -DHPCC_CARGO_PROFILE=checked";
    let place = format!("-Dns3_DIR={}", ns3.display());
    let words = configure.split(' ').map(OsStr::new).chain([flags, &place].map(OsStr::new));
    let source = tree.join("ns3-module/installed");
    cmd("cmake", words.chain(["-S".as_ref(), source.as_ref(), "-B".as_ref(), built.as_ref()])).stdout_null().run()?;
    let build = ["--build".as_ref(), built.as_os_str(), "--target".as_ref(), "hpcc-scenario".as_ref()];
    cmd("cmake", build).stdout_null().run().context("the checked simulator cannot be built")?;
    Ok(built.join("hpcc-scenario"))
}

/// Packs a release into a folder; with `check`, tries it out, too: `quickly`, or all of it.
pub fn pack(folder: &Path, check: Option<&str>) -> Result<()> {
    let tree = source_tree()?;
    ensure!(tree.join(".git").exists(), "a release is packed from a git repository, and {} is none", tree.display());
    save::ensure_folder(folder)?;
    if !here("git status --porcelain")?.read()?.is_empty() {
        human::warn("what is not committed is not packed");
    }
    let archive = cmd(tree.join("tests/dist/make"), [folder]).read().context("the release cannot be packed")?;
    if let Some(how) = check {
        let ns3 = Place::new()?.tree()?;
        cmd!(tree.join("tests/dist/check"), ns3, &archive, if how == "all" { how } else { "" }).run()?;
    }
    human::print(&format!("{archive}\n"))
}
