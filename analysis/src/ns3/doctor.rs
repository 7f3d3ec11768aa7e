// SPDX-License-Identifier: GPL-2.0-only
//! `doctor`: what is installed and what is missing.

use std::env;
use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::Result;

use super::{Place, SIMULATOR};
use crate::outcome::Outcome;
use crate::packages::{BUILD_TOOLS, on_path};
use crate::{human, version};

/// Variables that change what is found.
const VARIABLES: [&str; 7] =
    ["NS3_DIR", "HPCC_CACHE", "XDG_CACHE_HOME", "HPCC_JOBS", "HPCC_MEMORY", "HPCC_STRICT", "CARGO_TARGET_DIR"];

/// Says what is there. The outcome is whether `./hpcc run` has what it needs, or can get it.
///
/// # Errors
/// If a variable makes no sense, or nothing can be printed.
pub fn doctor() -> Result<Outcome> {
    let place = Place::new()?;
    let mut text = version::text();
    let mut tell = |name: &str, what: &str| {
        let _ = writeln!(text, "{name:<12} {what}");
    };
    let how = if on_path("apt-get").is_some() { "a command that needs it installs it" } else { "please install it" };
    for name in ["cargo", "rustc"] {
        let rust = fs::read_to_string(place.source.join("Cargo.toml")).unwrap_or_default();
        let oldest =
            rust.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap_or_default().replace('"', "");
        tell(name, &version_of(name).unwrap_or(format!("MISSING: install Rust {oldest} or newer with rustup")));
    }
    for tool in BUILD_TOOLS.into_iter().chain(["rsvg-convert:librsvg2-bin", "tshark:tshark"]) {
        let (name, package) = tool.split_once(':').unwrap_or_default();
        tell(name, &version_of(name).unwrap_or(format!("MISSING (package {package}): {how}")));
    }
    let none = || "NONE: neither HOME nor HPCC_CACHE is set".into();
    tell("cache", &place.own().map_or_else(none, |folder| folder.display().to_string()));
    let (ns3, is_there) = place.which();
    tell("ns-3", &ns3);
    let built = place.found().ok().flatten().and_then(|home| place.built(&home, SIMULATOR));
    let none = || "not built yet: a command that needs ns-3 does it".into();
    tell("simulator", &built.map_or_else(none, |program| program.display().to_string()));
    for name in VARIABLES {
        if let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) {
            tell(name, &value.to_string_lossy());
        }
    }
    human::print(&text)?;
    Ok(if is_there && on_path("cargo").is_some() { Outcome::Good } else { Outcome::Failed })
}

/// The line with a program's version, if it is there.
fn version_of(name: &str) -> Option<String> {
    let output = Command::new(on_path(name)?).arg("--version").stdin(Stdio::null()).output();
    let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let is_version = |line: &&str| {
        line.split('.').zip(line.split('.').skip(1)).any(|(before, after)| {
            before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    Some(said.lines().find(is_version).unwrap_or("of unknown version").to_owned())
}
