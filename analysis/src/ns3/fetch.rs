// SPDX-License-Identifier: GPL-2.0-only
//! Gets ns-3: compiled by the distribution, as its source package, or by pip.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::{User, geteuid};

use super::build::{entries, has_prefix, locked};
use super::{WANTED, is_tree};
use crate::human;
use crate::outcome::Failed;
use crate::packages::{BUILD_TOOLS, install, missing, need, on_path};

/// ns-3 as the distribution has compiled it: libraries and headers, and programs that its CMake files ask for.
const LIBRARIES: [&str; 2] = ["libns3-dev", "ns3"];

/// The source archive of ns-3 that this was tested with, and its SHA-256.
const KNOWN_ARCHIVE: (&str, &str) =
    ("ns3_3.37.orig.tar.bz2", "dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d");

/// The ns-3 that pip installs where there is no apt-get.
pub const PIP_RELEASE: &str = "ns3==3.44.post0";
/// SHA-256 of its files, for CPython 3.8 to 3.13 of x86_64: pip takes no other.
const PIP_HASHES: [&str; 6] = [
    "19e95da588744893c0d7724cda07eda7e76f8ec1e838984c9cf7d3d94295f6d7",
    "64a4f5a3128f726b90ab3d5884068f7c4dc1223361ee2a290f8a62b05bcb10d6",
    "7c10adec6be54d91658c00989fd1df5c54916fecc2a42b02d7fdf9d129d69d8a",
    "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce",
    "4d24fd23c9a2bfdb0ee158599c555e10ffdda37c09988c0b4efb577b3445c15b",
    "897bda8ce579a05f17dde77ebde311b5177761db8d73cb53b1ed0e1e4f33da28",
];
/// Its folder in the cache.
pub const PIP: &str = "pip-ns3";

/// Whether the distribution's compiled ns-3 is installed. Its packages do not say that some headers ask for those of Boost.
pub fn have_libraries() -> bool {
    let is_installed = |package| asked("dpkg-query", &["-W", "-f", "${db:Status-Status}", package]) == "installed";
    LIBRARIES.into_iter().all(is_installed) && have_boost()
}

fn have_boost() -> bool {
    let asks = fs::read_to_string("/usr/include/ns3/length.h").is_ok_and(|text| text.contains("<boost/"));
    !asks || Path::new("/usr/include/boost").is_dir()
}

/// The version of the distribution's ns-3.
pub fn version_of_libraries() -> String {
    asked("dpkg-query", &["-W", "-f", "${source:Upstream-Version}", LIBRARIES[0]])
}

/// Whether ns-3 can be got where there is none.
pub fn is_possible() -> bool {
    on_path("apt-get").is_some() || runs(Command::new("python3").args(["-m", "pip", "--version"]))
}

/// Has the distribution's compiled ns-3, if that can be. For its sake alone nobody is asked for a password.
pub fn libraries() -> bool {
    let missing = missing(&BUILD_TOOLS);
    let is_asked = || geteuid().is_root() || runs(Command::new("sudo").args(["-n", "true"]));
    have_libraries()
        || (!missing.is_empty() || is_asked())
            && install(&[&missing[..], &LIBRARIES].concat())
            && (have_boost() || install(&["libboost-dev"]))
}

/// What a program prints, if it can be started.
fn asked(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

fn runs(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The stock ns-3 tree of a folder, into which it is put in one step at the end, so that an interrupted fetch leaves none.
///
/// # Errors
/// [`Failed`], with what else will do.
pub fn tree(folder: &Path) -> Result<PathBuf> {
    let tree = folder.join("ns-3");
    if tree.is_dir() {
        return Ok(tree);
    }
    ensure!(
        on_path("apt-get").is_some(),
        Failed(format!("no apt-get here to fetch ns-3 with: set NS3_DIR to an ns-3 tree, {WANTED}"))
    );
    need(&["bzip2:bzip2"])?;
    let _lock = locked(folder, "fetches ns-3 into")?;
    if tree.is_dir() {
        return Ok(tree);
    }
    human::note(format_args!(
        "no ns-3 tree: fetching the distribution's source package (40 MB) into {}, for this checkout alone",
        folder.display()
    ));
    for left in entries(folder).into_iter().filter(|entry| has_prefix(entry, "fetch.")) {
        let _ = fs::remove_dir_all(left);
    }
    let work = tempfile::Builder::new().prefix("fetch.").tempdir_in(folder)?;
    let made = download(work.path()).and_then(|archive| unpack(&archive, work.path()));
    match made {
        Ok(made) => fs::rename(made, &tree).with_context(|| tree.display().to_string())?,
        Err(error) => {
            drop(work);
            // Not even an empty cache is left.
            let _ = fs::remove_dir(folder).and_then(|()| fs::remove_dir(folder.parent().unwrap_or(folder)));
            return Err(error);
        }
    }
    Ok(tree)
}

/// Downloads the archive of the distribution's source package of ns-3, with package lists of our own: the machine's apt
/// configuration stays as it is.
fn download(work: &Path) -> Result<PathBuf> {
    let (parts, lists) = (work.join("parts"), work.join("lists"));
    fs::create_dir(&parts).and_then(|()| fs::create_dir_all(lists.join("partial")))?;
    let apt = Path::new("/etc/apt");
    for file in entries(&apt.join("sources.list.d")).into_iter().chain([apt.join("sources.list")]) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let of_sources = |line: &str| match line {
            line if line.starts_with("deb-src ") => String::new(),
            line if line.starts_with("Types:") => "Types: deb-src\n".into(),
            line => line.strip_prefix("deb ").map_or(format!("{line}\n"), |rest| format!("deb-src {rest}\n")),
        };
        fs::write(parts.join(file.file_name().unwrap_or_default()), text.lines().map(of_sources).collect::<String>())?;
    }
    let user = User::from_uid(geteuid())?.map_or_else(|| "root".into(), |user| user.name);
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(work).args(["-qq", "-o", "Dir::Etc::SourceList=/dev/null"]);
        command.arg("-o").arg(format!("Dir::Etc::SourceParts={}", parts.display()));
        command.arg("-o").arg(format!("Dir::State::Lists={}", lists.display()));
        command.arg("-o").arg(format!("APT::Sandbox::User={user}")).args(words);
        command.stdout(io::stderr()).status().is_ok_and(|status| status.success())
    };
    // Some list may be out of reach; what counts is whether the one that has ns-3 is not.
    apt(&["update"]);
    let is_loaded = apt(&["source", "--download-only", "ns3"]);
    let is_archive = |path: &PathBuf| has_prefix(path, "ns3_") && path.to_string_lossy().contains(".orig.tar.");
    let archive = entries(work).into_iter().find(is_archive).filter(|_| is_loaded);
    archive.ok_or_else(|| {
        let words = "ns-3 cannot be fetched. Without a network, set NS3_DIR to an ns-3 tree";
        Failed(format!("{words}, {WANTED}, that you have.")).into()
    })
}

/// Unpacks an archive of ns-3, if it is the one that is known by its name. Of one that is not known the distribution's
/// signature, which apt-get has checked, must be enough.
fn unpack(archive: &Path, work: &Path) -> Result<PathBuf> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let hash = asked("sha256sum", &["--", &archive.to_string_lossy()]);
    let hash = hash.split(' ').next().unwrap_or_default();
    let (known, expected) = KNOWN_ARCHIVE;
    if name == known && hash != expected {
        bail!(Failed(format!("{name} has the SHA-256 {hash}; expected {expected}")));
    }
    if name != known {
        human::note(format_args!("{name} is a version that this was not tested with (SHA-256 {hash})"));
    }
    let tree = work.join("tree");
    fs::create_dir(&tree)?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(&tree).args(["--wildcards", "--strip-components=2", "*/ns-3.*"]);
    let is_unpacked = tar.status().is_ok_and(|status| status.success());
    ensure!(
        is_unpacked && is_tree(&tree),
        Failed(
            "the package holds no ns-3 tree with a ./ns3 command (is the distribution older than Debian 12?)".into()
        )
    );
    Ok(tree)
}

/// Puts pip's ns-3 into the cache, in one step at the end.
///
/// # Errors
/// [`Failed`], with what else will do.
pub fn by_pip(cache: &Path) -> Result<()> {
    let folder = cache.join(PIP);
    let _lock = locked(cache, "installs ns-3 into")?;
    if folder.is_dir() {
        return Ok(());
    }
    human::note(format_args!(
        "no ns-3, and no apt-get to get it with: installing {PIP_RELEASE} by pip into {}",
        cache.display()
    ));
    let work = tempfile::Builder::new().prefix("pip-ns3.").tempdir_in(cache)?;
    let (list, target) = (work.path().join("list.txt"), work.path().join("ns-3"));
    fs::write(
        &list,
        PIP_HASHES.iter().fold(PIP_RELEASE.to_owned(), |line, hash| format!("{line} --hash=sha256:{hash}")),
    )?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&target);
    pip.args(["--require-hashes", "-r"]).arg(&list).stdout(io::stderr());
    ensure!(
        pip.status().is_ok_and(|status| status.success()),
        Failed(format!(
            "pip cannot install ns-3: set NS3_DIR to an ns-3 tree, {WANTED}, or to the folder where one is installed"
        ))
    );
    fs::rename(target, &folder).with_context(|| folder.display().to_string())
}
