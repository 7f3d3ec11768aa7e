// SPDX-License-Identifier: GPL-2.0-only
//! Has cmake build the module and programs.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hpcc_model::results::FolderLock;
use nix::fcntl::{Flock, FlockArg};

use crate::human;
use crate::outcome::Failed;
use crate::packages::on_path;

use super::{EVERYTHING, Home, Place, SIMULATOR, is_writable};

impl Place {
    /// Builds a target: [`EVERYTHING`], or a program. Returns the path of the simulator.
    pub(super) fn build(&self, home: &Home, target: &str) -> Result<PathBuf> {
        if let Home::Installed(_) = home {
            self.own_cache()?;
        }
        let folder = self.folder(home);
        let made = fs::create_dir_all(&folder);
        let is_usable = made.is_ok() && is_writable(&folder);
        if !is_usable {
            let words = "cannot be written to, and the module is built there: set HPCC_CACHE or NS3_DIR to another one";
            bail!(Failed(format!("the folder {} {words}", folder.display())));
        }
        let _lock = locked(&folder, "builds in")?;
        let log = match home {
            Home::Tree(tree) => {
                self.link_into(tree)?;
                self.configure_tree(tree)?;
                tree.join("hpcc-build.log")
            }
            Home::Installed(ns3) => {
                self.configure_beside(ns3, &folder)?;
                folder.join("hpcc-build.log")
            }
        };
        let is_in_tree = matches!(home, Home::Tree(_));
        let wanted = if is_in_tree && target != EVERYTHING { format!("scratch_{target}") } else { target.to_owned() };
        if !folder.join(".ninja_log").exists() {
            let what = if is_in_tree { "ns-3 and the module, some minutes" } else { "the module, a minute or two" };
            let log = log.display();
            human::note(format_args!("building {what} the first time, with {} jobs; log: {log}", self.jobs));
        }
        self.compile(&folder, &wanted, &log)?;
        self.built(home, SIMULATOR).with_context(|| format!("the build made no program {SIMULATOR}"))
    }

    /// The folder in which cmake builds.
    fn folder(&self, home: &Home) -> PathBuf {
        match home {
            Home::Tree(tree) => tree.join("cmake-cache"),
            Home::Installed(ns3) => {
                let hash = blake3::hash(ns3.as_os_str().as_encoded_bytes()).to_hex();
                self.own().unwrap_or_default().join(format!("beside-{}", &hash[..8]))
            }
        }
    }

    /// The folder for the sources of users' programs.
    pub(super) fn programs(&self, home: &Home) -> PathBuf {
        match home {
            Home::Tree(tree) => tree.join("scratch"),
            Home::Installed(_) => self.folder(home).join("programs"),
        }
    }

    /// A program that was built; in a tree its name carries version and profile.
    pub(super) fn built(&self, home: &Home, name: &str) -> Option<PathBuf> {
        match home {
            Home::Tree(tree) => {
                let entries = fs::read_dir(tree.join("build/scratch")).ok()?.flatten().map(|entry| entry.path());
                let is_it = |path: &PathBuf| {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    path.is_file() && file.split_once('-').is_some_and(|(_, rest)| rest.contains(name))
                };
                entries.filter(is_it).max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
            }
            Home::Installed(_) => Some(self.folder(home).join(name)).filter(|path| path.is_file()),
        }
    }

    /// Links module and programs into a tree.
    fn link_into(&self, tree: &Path) -> Result<()> {
        let (module, ours) = (tree.join("contrib/hpcc"), self.source.join("ns3-module"));
        // A clone in the tree itself: its CMakeLists.txt does all this.
        if module.canonicalize().is_ok_and(|module| module == self.source) {
            return Ok(());
        }
        if fs::read_link(&module).ok().as_ref() != Some(&ours) {
            ensure!(
                module.is_symlink() || !module.exists(),
                Failed(format!("{} exists and is not a link: please move it away", module.display()))
            );
            // Nothing that was compiled from another checkout may be used again, whatever its time stamp.
            let built = tree.join("cmake-cache");
            let _ = fs::remove_file(configured(&built));
            let _ = fs::remove_dir_all(built.join("contrib/hpcc"));
            for entry in entries(&built.join("scratch/CMakeFiles")) {
                if has_prefix(&entry, "scratch_hpcc-") {
                    let _ = fs::remove_dir_all(entry);
                }
            }
            let _ = fs::remove_file(&module);
            symlink(&ours, &module).with_context(|| module.display().to_string())?;
        }
        let (scratch, programs) = (tree.join("scratch"), self.source.join("scratch"));
        // Of programs that are gone, too: ns-3 cannot be configured with them. A user's copy takes a program's place.
        let is_ours =
            |link: &PathBuf| has_prefix(link, "hpcc-") && link.parent().is_some_and(|dir| dir.ends_with("scratch"));
        for link in entries(&scratch) {
            if fs::read_link(&link).is_ok_and(|to| !link.exists() || is_ours(&to) && to.parent() != Some(&programs)) {
                fs::remove_file(&link).with_context(|| link.display().to_string())?;
            }
        }
        for program in entries(&programs) {
            let link = scratch.join(program.file_name().unwrap_or_default());
            if !link.exists() {
                symlink(&program, &link).with_context(|| link.display().to_string())?;
            }
        }
        Ok(())
    }

    /// Our tree gets our configuration. A user's tree that is configured already keeps its own.
    fn configure_tree(&self, tree: &Path) -> Result<()> {
        let (built, log) = (tree.join("cmake-cache"), tree.join("hpcc-configure.log"));
        let is_configured = built.join("CMakeCache.txt").exists();
        let is_fetched = self.named.is_none();
        let mut options = vec![
            "-G",
            "Ninja",
            "--enable-tests",
            "--enable-examples",
            "--filter-module-examples-and-tests=hpcc",
            "--enable-modules=core;network;internet;applications;flow-monitor;hpcc",
        ];
        options.extend(self.profile.split_whitespace());
        // Which sources go together is known of this version.
        if is_fetched && fs::read_to_string(tree.join("VERSION")).is_ok_and(|version| version.trim_end() == "3.37") {
            options.extend(["--", "-DHPCC_UNITE_SOURCES=ON"]);
        }
        let programs: Vec<String> =
            entries(&self.source.join("scratch")).iter().map(|path| path.display().to_string()).collect();
        let wanted = format!("{} {} {} {}", tree.display(), options.join(" "), mpi(), programs.join(" "));
        let stamp = configured(&built);
        if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
            return Ok(());
        }
        human::note(format_args!("configuring ns-3 in {}", tree.display()));
        if !is_fetched && is_configured {
            options.clear();
        }
        let mut configure = Command::new(tree.join("ns3"));
        configure.current_dir(tree).arg("configure").args(options);
        let output = File::create(&log).and_then(|log| configure.stdout(log.try_clone()?).stderr(log).status());
        let said = fs::read_to_string(&log).unwrap_or_default();
        if !output.is_ok_and(|status| status.success()) {
            let lines: Vec<&str> = said.lines().collect();
            let end = lines[lines.len().saturating_sub(20)..].join("\n");
            bail!(Failed(format!("ns-3 cannot be configured: {}\n{end}", log.display())));
        }
        let targets = Command::new(tree.join("ns3")).current_dir(tree).args(["show", "targets"]).output();
        let knows = |text: &str| text.contains("hpcc");
        ensure!(
            knows(&said) || targets.is_ok_and(|told| knows(&String::from_utf8_lossy(&told.stdout))),
            Failed(
                "this ns-3 tree is configured without the module hpcc: run './ns3 configure --enable-modules=...;hpcc' there"
                    .into()
            )
        );
        fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())
    }

    /// Configures the build beside the ns-3 with the CMake files in a folder.
    fn configure_beside(&self, ns3: &Path, built: &Path) -> Result<()> {
        let is_ours = ns3.starts_with("/usr/lib") || self.of_pip().as_deref() == Some(ns3);
        let options: &[&str] =
            if is_ours { &["-DHPCC_UNITE_SOURCES=ON", "-DCMAKE_CXX_FLAGS=-march=native"] } else { &[] };
        let (stamp, wanted) = (configured(built), format!("{} {}", options.join(" "), mpi()));
        if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
            return Ok(());
        }
        let _ = fs::remove_file(&stamp);
        let mut cmake = Command::new("cmake");
        cmake.args(["-G", "Ninja", "-S"]).arg(self.source.join("ns3-module/installed")).arg("-B").arg(built);
        cmake.arg(format!("-Dns3_DIR={}", ns3.display())).args(options);
        let output = cmake.output().context("cmake")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let words = if is_ours { "cannot be used; ./hpcc build fetches a tree" } else { "cannot be used" };
            bail!(Failed(format!("the ns-3 of {} {words}\n{}", ns3.display(), said.trim_end())));
        }
        fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())
    }

    /// Has cmake build a target in a folder, and keeps what it says in the log. On a terminal its last step is shown in place.
    fn compile(&self, folder: &Path, target: &str, log: &Path) -> Result<()> {
        wait_for_cargo();
        let failed = || log.display().to_string();
        let (reader, writer) = io::pipe()?;
        let mut cmake = Command::new("cmake");
        cmake.arg("--build").arg(folder).args(["-j", &self.jobs.to_string(), "--target", target]);
        // As ./ns3 configure sets it: cmake, where it configures anew, would otherwise compile all of ns-3 with another flag.
        cmake.env("CLICOLOR", "1").stdout(writer.try_clone()?).stderr(writer);
        let mut child = cmake.spawn().context("cmake")?;
        // Its end of the pipe would keep the reader waiting.
        drop(cmake);
        let (mut said, mut file) = (Vec::new(), File::create(log).with_context(failed)?);
        let mut is_told = io::stderr().is_terminal();
        for line in BufReader::new(reader).split(b'\n') {
            let line = line?;
            file.write_all(&line).and_then(|()| file.write_all(b"\n")).with_context(failed)?;
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.starts_with('[') {
                human::show_step(&line);
            }
            let steps = line.strip_prefix('[').and_then(|rest| rest.split_once("] Building ")?.0.split_once('/'));
            if let Some((_, steps)) = steps.filter(|_| !is_told) {
                human::note(format_args!("compiling, about {steps} steps; log: {}", log.display()));
                is_told = true;
            }
            said.push(line);
        }
        human::clear_step();
        if child.wait()?.success() {
            return Ok(());
        }
        let is_fault = |line: &String| line.contains("error") || line.contains("FAILED");
        let begin = said.iter().position(is_fault).unwrap_or_default();
        let shown = said[begin..].iter().take(40).fold(String::new(), |text, line| text + "\n" + line);
        bail!(Failed(format!("the build failed: {}{shown}", log.display())))
    }

    /// Copies the source of a user's program to where programs are built from: a link that leads nowhere would stop ns-3.
    pub(super) fn copy_program(&self, source: &Path, folder: &Path) -> Result<()> {
        let name = source.file_name().unwrap_or_default();
        let (copy, list) = (folder.join(name), folder.join(".hpcc-programs"));
        let named = || copy.display().to_string();
        fs::create_dir_all(folder).with_context(named)?;
        let ours = self.source.join("scratch").join(name);
        let is_same = |other: &Path| other.canonicalize().is_ok_and(|other| other == source);
        if is_same(&copy) || is_same(&ours) {
            return Ok(());
        }
        let mut copied = fs::read_to_string(&list).unwrap_or_default();
        let is_copied = copied.lines().any(|line| name == line);
        ensure!(
            !ours.exists()
                && !self.source.join("ns3-module/examples").join(name).exists()
                && (is_copied || !copy.exists()),
            "there is another program {} already: please rename {}",
            name.display(),
            source.display()
        );
        if !is_copied {
            copied += &format!("{}\n", name.display());
            fs::write(&list, copied).with_context(named)?;
        }
        let text = fs::read(source).with_context(|| source.display().to_string())?;
        if fs::read(&copy).is_ok_and(|there| there == text) {
            Ok(())
        } else {
            fs::write(&copy, text).with_context(named)
        }
    }
}

/// Takes a folder for this process alone.
pub(super) fn locked(folder: &Path, what: &str) -> Result<Option<FolderLock>> {
    if let Some(lock) = FolderLock::try_take(folder)? {
        return Ok(Some(lock));
    }
    human::note(format_args!("another hpcc {what} {}: waiting", folder.display()));
    Ok(FolderLock::wait(folder)?)
}

/// The file that says how a build is configured.
fn configured(built: &Path) -> PathBuf {
    built.join("hpcc-configured")
}

/// The MPI by which several processes can share a run, if there is one.
fn mpi() -> String {
    on_path("mpicc").unwrap_or_default().display().to_string()
}

/// Says so if cargo will wait for another one, which it does without a word.
fn wait_for_cargo() {
    let release = env::current_exe().unwrap_or_default().with_file_name(".cargo-lock");
    let Ok(file) = File::open(&release) else { return };
    if Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err() {
        human::note(format_args!("another cargo builds in {}: waiting", release.with_file_name("").display()));
    }
}

pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

pub(super) fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}
