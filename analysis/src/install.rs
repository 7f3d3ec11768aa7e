// SPDX-License-Identifier: GPL-2.0-only
//! `install`: puts command and simulator into a folder that needs neither the source tree nor what built them.

use std::env;
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::outcome::Outcome;
use crate::simulator::{Kind, Simulator};
use crate::{human, packages, script, version};

/// Libraries that belong to the system and its kernel: all of the C library.
const OF_SYSTEM: [&str; 6] = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux"];
/// What shares a run among processes. It needs MPI, which belongs to the system, too.
const PLUGIN: &str = "libhpcc-mpi.so";
/// What is not copied of the experiments.
const LEFT_OUT: [&str; 2] = ["formats", "results"];

/// Installs into `prefix`: `bin/hpcc`, a link to what is in `lib/hpcc`. An earlier installation is replaced.
///
/// # Errors
/// If there is no simulator, or a file cannot be written; an earlier installation is then as it was.
pub fn install(prefix: &Path) -> Result<Outcome> {
    let simulator = Simulator::find(Kind::Ns3)?;
    packages::need(&["patchelf:patchelf"])?;
    let (library, bin) = (prefix.join("lib"), prefix.join("bin"));
    for folder in [&library, &bin] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let (place, link) = (library.join("hpcc"), bin.join("hpcc"));
    let is_ours = |path: &Path| !path.exists() || path.join("hpcc-scenario").exists() || path.is_symlink();
    for path in [&place, &link] {
        ensure!(is_ours(path), "{}: is none of an earlier installation; expected another --prefix", path.display());
    }
    let draft =
        tempfile::Builder::new().prefix("hpcc.").permissions(Permissions::from_mode(0o755)).tempdir_in(&library);
    let draft = draft.with_context(|| library.display().to_string())?;
    fill(draft.path(), simulator.path())?;
    match fs::remove_dir_all(&place) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).context(place.display().to_string()),
        _ => fs::rename(draft.keep(), &place).with_context(|| place.display().to_string())?,
    }
    if !link.is_symlink() {
        symlink("../lib/hpcc/hpcc", &link).with_context(|| link.display().to_string())?;
    }
    human::tell(&format!("installed: {}\n", link.display()))?;
    Ok(Outcome::Good)
}

fn fill(folder: &Path, simulator: &Path) -> Result<()> {
    let own = env::current_exe().context("the program hpcc has no path")?;
    let mut natives = vec![(simulator.to_owned(), folder.join("hpcc-scenario"))];
    natives.extend(["hpcc", "hpcc-engine"].map(|name| (own.with_file_name(name), folder.join(name))));
    natives.extend(libraries(simulator)?.into_iter().map(|(name, path)| (path, folder.join(name))));
    let plugin = natives.iter().map(|(path, _)| path.with_file_name(PLUGIN)).find(|path| path.exists());
    natives.extend(plugin.map(|path| (path, folder.join(PLUGIN))));
    for (from, to) in &natives {
        copy(from, to)?;
    }
    // Each finds the others beside itself, before those of the system.
    let mut patchelf = Command::new("patchelf");
    patchelf.args(["--force-rpath", "--set-rpath", "$ORIGIN"]).args(natives.iter().map(|(_, to)| to));
    ensure!(patchelf.status().context("patchelf")?.success(), "patchelf failed");
    copy_folder(&script::source_tree()?.join("configs"), &folder.join("configs"))?;
    let told = folder.join(version::FILE);
    fs::write(&told, version::text()).with_context(|| told.display().to_string())
}

/// Names and places of the libraries that a program loads, but for those of the system.
///
/// # Errors
/// If one is not found.
pub fn libraries(program: &Path) -> Result<Vec<(String, PathBuf)>> {
    let output = Command::new("ldd").arg(program).output().context("ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Vec::new();
    for (name, rest) in text.lines().filter_map(|line| line.trim().split_once(" => ")) {
        let path = rest.rsplit_once(" (").map(|(path, _)| path);
        let path = path.with_context(|| format!("{}: its library {name} is not found", program.display()))?;
        if !OF_SYSTEM.iter().any(|system| name.starts_with(system)) {
            found.push((name.to_owned(), path.into()));
        }
    }
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    // Libraries of the system may be read-only.
    fs::set_permissions(to, Permissions::from_mode(0o755)).with_context(|| to.display().to_string())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if LEFT_OUT.iter().any(|left| name == *left) {
            continue;
        }
        let to = to.join(name);
        if path.is_dir() {
            copy_folder(&path, &to)?;
        } else {
            fs::copy(&path, &to).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
