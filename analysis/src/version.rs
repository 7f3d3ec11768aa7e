// SPDX-License-Identifier: GPL-2.0-only
//! `--version`: of the project, and of the ns-3 that its simulator is built with.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::ns3::Place;
use crate::{human, script};

/// The file beside an installed command that has them.
pub const FILE: &str = "version.txt";

/// Both versions, a line each.
pub fn text() -> String {
    if let Some(installed) = script::beside(FILE).and_then(|file| fs::read_to_string(file).ok()) {
        return installed;
    }
    let own = env!("CARGO_PKG_VERSION");
    let revision = script::source_tree().ok().and_then(|tree| revision(&tree));
    format!("hpcc {own}{}\n{}\n", revision.map_or_else(String::new, |name| format!(" ({name})")), ns3())
}

/// The revision of a source tree that git keeps, with a word if files were changed.
fn revision(tree: &Path) -> Option<String> {
    if !tree.join(".git").exists() {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(tree).args(["describe", "--always", "--exclude=*", "--dirty=, changed"]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(format!("revision {}", String::from_utf8(output.stdout).ok()?.trim_end()))
}

fn ns3() -> String {
    let which = Place::new().map(|place| place.which().0);
    format!("ns-3 {}", which.unwrap_or_else(|error| format!("unknown: {}", human::reason(&error))))
}
