// SPDX-License-Identifier: GPL-2.0-only
//! `--version`: of the project, and of the ns-3 tree that its simulator is built in.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::script;

/// Both versions, a line each.
pub fn text() -> String {
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
    let Some(tree) = script::ns3_tree() else { return "ns-3: no tree known".into() };
    if !tree.is_dir() {
        return format!("ns-3: no tree in {} yet", tree.display());
    }
    let version = fs::read_to_string(tree.join("VERSION")).unwrap_or_default();
    let version = if version.trim().is_empty() { "of unknown version" } else { version.trim() };
    format!("ns-3 {version} ({})", tree.display())
}
