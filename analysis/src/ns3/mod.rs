// SPDX-License-Identifier: GPL-2.0-only
//! The ns-3 of a checkout - fetched for it, the user's own, or installed - and what is built in it or beside it. What is out of
//! date, cargo and cmake know.

mod build;
mod doctor;
mod fetch;

pub use doctor::doctor;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::{AccessFlags, access};

use crate::outcome::Failed;
use crate::packages::{BUILD_TOOLS, is_program, need, on_path};
use crate::{human, script};

/// The oldest ns-3 that will do.
const WANTED: &str = "3.37 or newer";

/// Where ns-3 is, and where it and what is built for it is kept.
#[derive(Debug)]
pub struct Place {
    /// The source tree of this command.
    source: PathBuf,
    /// What all checkouts keep.
    cache: Option<PathBuf>,
    /// `NS3_DIR`: the user's own tree, or a folder where one is installed.
    named: Option<PathBuf>,
    /// `HPCC_PROFILE`: how to configure a tree that is not configured.
    profile: String,
    jobs: usize,
}

/// An ns-3.
#[derive(Clone, Debug)]
enum Home {
    /// Its sources, in which the module is built.
    Tree(PathBuf),
    /// The folder with the CMake files of one that is installed. The module is built beside it.
    Installed(PathBuf),
}

impl Place {
    /// What the environment says.
    ///
    /// # Errors
    /// If a variable makes no sense, or this command belongs to no source tree.
    pub fn new() -> Result<Place> {
        Place::with(|name| env::var_os(name))
    }

    /// What these variables say.
    ///
    /// # Errors
    /// As [`Place::new`].
    pub fn with(variable: impl Fn(&str) -> Option<OsString>) -> Result<Place> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let script = script::script()?;
        let source = script.parent().unwrap_or(&script);
        let source = source.canonicalize().with_context(|| source.display().to_string())?;
        ensure!(source.join("ns3-module").is_dir(), "{}: expected the script of a source tree", script.display());
        let user = given("XDG_CACHE_HOME").or_else(|| Some(PathBuf::from(given("HOME")?).join(".cache").into()));
        let cache = given("HPCC_CACHE").map(PathBuf::from).or_else(|| Some(PathBuf::from(user?).join("hpcc")));
        let cache = cache.map(std::path::absolute).transpose()?;
        let is_odd = |path: &Path| path.as_os_str().as_bytes().contains(&b'\'');
        let target = PathBuf::from(given("CARGO_TARGET_DIR").unwrap_or_default());
        // Its build would begin anew each time.
        ensure!(
            !is_odd(&source) && !cache.as_deref().is_some_and(is_odd) && !is_odd(&target),
            "an apostrophe in the path of checkout, cache or CARGO_TARGET_DIR: CMake cannot build there"
        );
        let named = given("NS3_DIR").map(|dir| fs::canonicalize(&dir).unwrap_or(dir.into()));
        let profile = given("HPCC_PROFILE").unwrap_or("-d optimized".into()).to_string_lossy().into_owned();
        Ok(Place { source, cache, named, profile, jobs: jobs()? })
    }

    /// What all checkouts keep, made if need be.
    ///
    /// # Errors
    /// [`Failed`] if it cannot be made, or nothing says where.
    pub fn cache(&self) -> Result<&Path> {
        let Some(cache) = &self.cache else {
            bail!(Failed("neither HOME nor HPCC_CACHE says where to keep ns-3: set HPCC_CACHE to a folder".into()))
        };
        let is_usable = fs::create_dir_all(cache).is_ok() && is_writable(cache);
        let why = || {
            let cache = cache.display();
            Failed(format!(
                "the folder {cache} cannot be made or written to: set HPCC_CACHE to another one, or NS3_DIR to an ns-3 tree"
            ))
        };
        if is_usable { Ok(cache) } else { Err(why().into()) }
    }

    /// What this checkout keeps: the cache's part that is named after it.
    fn own(&self) -> Option<PathBuf> {
        let name = self.source.file_name().unwrap_or_default().to_string_lossy();
        let hash = blake3::hash(self.source.as_os_str().as_bytes()).to_hex();
        Some(self.cache.as_ref()?.join(format!("{name}-{}", &hash[..8])))
    }

    /// As [`Place::cache`], of what this checkout keeps.
    ///
    /// # Errors
    /// Likewise.
    pub fn own_cache(&self) -> Result<PathBuf> {
        self.cache()?;
        let own = self.own().unwrap_or_default();
        fs::create_dir_all(&own).with_context(|| own.display().to_string())?;
        Ok(own)
    }

    /// The fetched tree, which need not be there.
    fn fetched(&self) -> Option<PathBuf> {
        Some(self.own()?.join("ns-3"))
    }

    /// The ns-3 that is there.
    ///
    /// # Errors
    /// If `NS3_DIR` names none.
    fn found(&self) -> Result<Option<Home>> {
        if let Some(named) = &self.named {
            let installed = || installed_in(named).map(Home::Installed);
            let home = if is_tree(named) { Some(Home::Tree(named.clone())) } else { installed() };
            return home.map(Some).with_context(|| no_tree(named));
        }
        if let Some(tree) = self.fetched().filter(|tree| tree.is_dir()) {
            ensure!(is_tree(&tree), no_tree(&tree));
            return Ok(Some(Home::Tree(tree)));
        }
        let installed = if fetch::have_libraries() { distribution() } else { self.of_pip() };
        Ok(installed.map(Home::Installed))
    }

    /// The ns-3 that pip has installed in the cache.
    fn of_pip(&self) -> Option<PathBuf> {
        installed_in(&self.cache.as_ref()?.join(fetch::PIP))
    }

    /// A tree of ns-3: the user's own, or one that is fetched for this checkout.
    ///
    /// # Errors
    /// If `NS3_DIR` names none, or it cannot be fetched.
    pub fn tree(&self) -> Result<PathBuf> {
        match &self.named {
            Some(named) => {
                ensure!(is_tree(named), no_tree(named));
                Ok(named.clone())
            }
            None => fetch::tree(&self.own_cache()?),
        }
    }

    /// The ns-3 to build with, which is got if need be: with sources, where `in_tree` says so and nothing else is named.
    fn home(&self, in_tree: bool) -> Result<Home> {
        let found = self.found()?;
        if self.named.is_none() {
            self.own_cache()?;
        }
        match found {
            Some(home) if self.named.is_some() || !in_tree || matches!(home, Home::Tree(_)) => return Ok(home),
            _ if on_path("apt-get").is_none() => {
                fetch::by_pip(self.cache()?)?;
                return self.of_pip().map(Home::Installed).context("pip's ns-3 has no CMake files");
            }
            _ => {}
        }
        let installed = if in_tree { None } else { fetch::libraries().then(distribution).flatten() };
        installed.map_or_else(|| self.tree().map(Home::Tree), |folder| Ok(Home::Installed(folder)))
    }

    /// Builds the program that simulates scenarios, and returns its path.
    ///
    /// # Errors
    /// [`Failed`]; if the environment makes no sense.
    pub fn simulator(&self) -> Result<PathBuf> {
        let built = self.found()?.and_then(|home| self.built(&home, SIMULATOR));
        let cannot = |program: &PathBuf| on_path("cargo").is_none() || !program.parent().is_some_and(is_writable);
        if let Some(program) = built.filter(cannot) {
            human::note(format_args!("{} is taken as it is: it cannot be built again here", program.display()));
            return Ok(program);
        }
        need(&BUILD_TOOLS)?;
        self.build(&self.home(false)?, SIMULATOR)
    }

    /// Builds module, tests and programs, in a tree or beside the ns-3 that `NS3_DIR` names. Returns the simulator.
    ///
    /// # Errors
    /// As [`Place::simulator`].
    pub fn everything(&self) -> Result<PathBuf> {
        need(&BUILD_TOOLS)?;
        let home = self.home(true)?;
        let program = self.build(&home, EVERYTHING)?;
        let mut ns3 = self.describe(&home);
        if let (Home::Tree(tree), None) = (&home, &self.named) {
            // A path that pages can name.
            let folder = self.source.join("target");
            let link = folder.join("ns-3");
            let _ = fs::remove_file(&link);
            if fs::create_dir_all(folder).and_then(|()| symlink(tree, link)).is_ok() {
                ns3 += ", to which target/ns-3 leads";
            }
        }
        human::note(format_args!("built with ns-3 {ns3}"));
        Ok(program)
    }

    /// Builds a program where the simulator was built, with the module that is there, and returns its path. Its source is a
    /// file, or one of that name in this folder, in `scratch/` or in that of the tree.
    ///
    /// # Errors
    /// As [`Place::simulator`]; if there is no such file, or another program has its name.
    pub fn program(&self, name: &Path) -> Result<PathBuf> {
        let mut file = name.as_os_str().to_owned();
        file.push(".cc");
        let tree = self.named.clone().or_else(|| self.fetched()).unwrap_or_default();
        let folders = [self.source.join("scratch"), tree.join("scratch")];
        let files =
            [name.to_owned(), file.clone().into()].into_iter().chain(folders.iter().map(|folder| folder.join(&file)));
        let source = files.filter(|file| file.extension().is_some_and(|end| end == "cc")).find(|file| file.is_file());
        let source = source.and_then(|file| file.canonicalize().ok()).with_context(|| {
            let [ours, trees] = folders.map(|folder| folder.display().to_string());
            format!("there is no program {0}: expected a file {0}.cc here, in {ours}, or in {trees}", name.display())
        })?;
        self.simulator()?;
        let home = self.home(false)?;
        self.copy_program(&source, &self.programs(&home))?;
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        self.build(&home, &name)?;
        self.built(&home, &name).context("the build made no program of it")
    }

    /// An ns-3 in words: its version, and where it is.
    fn describe(&self, home: &Home) -> String {
        match home {
            Home::Tree(tree) => {
                let version = fs::read_to_string(tree.join("VERSION")).unwrap_or("of unknown version".into());
                format!("{} in {}", version.trim_end(), tree.display())
            }
            Home::Installed(folder) => match &self.named {
                Some(named) => format!("installed in {}", named.display()),
                None if folder.starts_with("/usr/lib") => {
                    format!("{} of the distribution; ./hpcc build fetches a tree", fetch::version_of_libraries())
                }
                None => format!("{} of pip in {}", fetch::PIP_RELEASE, folder.display()),
            },
        }
    }

    /// Which ns-3 runs go by, and whether it is there or can be got.
    pub fn which(&self) -> (String, bool) {
        match self.found() {
            Ok(Some(home)) => (self.describe(&home), true),
            Ok(None) if fetch::is_possible() => ("none yet: a command that needs it gets it".into(), true),
            Ok(None) => {
                let words = "none, and neither apt-get nor pip to get it with: set NS3_DIR to where it is";
                (words.into(), false)
            }
            Err(error) => (human::reason(&error), false),
        }
    }
}

/// The program that simulates scenarios.
const SIMULATOR: &str = "hpcc-scenario";
/// The target of cmake that stands for all.
const EVERYTHING: &str = "all";

/// Jobs of a build at a time.
///
/// # Errors
/// If `HPCC_JOBS` is no number of them.
pub fn jobs() -> Result<usize> {
    match env::var("HPCC_JOBS") {
        Ok(jobs) if !jobs.is_empty() => {
            let count = jobs.parse().ok().filter(|count| (1..=9_999).contains(count));
            count.with_context(|| format!("HPCC_JOBS is \"{jobs}\"; expected a whole number from 1 to 9999"))
        }
        _ => Ok(available_parallelism().map_or(1, usize::from)),
    }
}

/// Whether a folder is an ns-3 tree; beside what pip installs there is a folder of that name.
pub fn is_tree(folder: &Path) -> bool {
    is_program(&folder.join("ns3"))
}

fn no_tree(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "{folder} is no ns-3 tree with a ./ns3 command ({WANTED}), and no ns-3 is installed there (cmake/ns3/ns3Config.cmake)"
    )
}

fn is_writable(folder: &Path) -> bool {
    access(folder, AccessFlags::W_OK).is_ok()
}

/// The folder by which CMake finds the ns-3 that is installed in one: `lib/cmake/ns3` in most, of a system's libraries deeper.
fn installed_in(folder: &Path) -> Option<PathBuf> {
    installed_below(folder, 3)
}

fn installed_below(folder: &Path, levels: u32) -> Option<PathBuf> {
    let ours = folder.join("cmake/ns3");
    if ours.join("ns3Config.cmake").is_file() {
        return ours.canonicalize().ok();
    }
    let below = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    if levels == 0 { None } else { below.into_iter().find_map(|folder| installed_below(&folder, levels - 1)) }
}

/// Where the ns-3 that the distribution has compiled has its CMake files.
pub fn distribution() -> Option<PathBuf> {
    installed_in(Path::new("/usr/lib"))
}
