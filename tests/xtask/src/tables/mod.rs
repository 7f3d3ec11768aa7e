// SPDX-License-Identifier: GPL-2.0-only
//! What of the source tree is made from the settings: JSON schemas, and the tables of keys with text by hand around them.
//!
//! A table stands between two comments, the first of which names it and the command that renews it.

mod annotated;
mod words;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use hpcc_analysis::settings::{Schema, section};
use hpcc_analysis::{human, rewrite_figures, save};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Setting;

/// The page with the tables.
const PAGE: &str = "configs/README.md";
/// The head of a table.
const HEAD: &str = "| key | default, range | meaning |\n| --- | --- | --- |\n";
/// The first comment of a table, before and behind the table's name.
const BEGIN: (&str, &str) = ("<!-- settings of ", ": rewritten by ./hpcc docs -->");
/// The last comment.
const END: &str = "<!-- end of settings -->";

/// Rewrites the tables of a source tree, its plots of queues, and its schemas.
///
/// # Errors
/// If a file cannot be read or written, or has a table that there is not; the files before it are written then.
pub fn rewrite(tree: &Path) -> Result<()> {
    let path = tree.join(PAGE);
    let old = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    write(tree, PAGE, &renewed(&old, &NodeSettings::default())?)?;
    write(tree, annotated::FILE, &annotated::text())?;
    rewrite_figures(tree)?;
    Schema::ALL.into_iter().try_for_each(|schema| write(tree, schema.path(), &schema.text()))
}

/// Writes a file whose text has changed.
fn write(tree: &Path, name: &str, text: &str) -> Result<()> {
    let path = tree.join(name);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    save::replace(&path, text)?;
    human::tell(&format!("rewrote {name}\n"))
}

/// A page's text with its tables made anew.
fn renewed(text: &str, settings: &NodeSettings) -> Result<String> {
    let mut renewed = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        renewed += &format!("{line}\n");
        let Some(name) = line.strip_prefix(BEGIN.0).and_then(|rest| rest.strip_suffix(BEGIN.1)) else { continue };
        let rows = rows(settings, name);
        ensure!(!rows.is_empty(), "{PAGE}: there are no settings of {name}");
        lines.by_ref().find(|line| *line == END).ok_or_else(|| anyhow!("{PAGE}: no \"{END}\" behind {name}"))?;
        renewed += &format!("\n{HEAD}{}\n{END}\n", rows.concat());
    }
    Ok(renewed)
}

/// The rows of a section of files, or of all `algorithms`; none if there is nothing of that name.
fn rows(settings: &NodeSettings, name: &str) -> Vec<String> {
    if name == "algorithms" { algorithms(settings) } else { keys(&section(settings, name)) }
}

/// Each algorithm, and its parameters; of those that an earlier one has in the same way, only the names.
fn algorithms(settings: &NodeSettings) -> Vec<String> {
    let mut told: Vec<(&str, Setting)> = Vec::new();
    let mut rows = Vec::new();
    for algorithm in settings.control.all() {
        let (mut own, mut shared) = (Vec::new(), String::new());
        let mut last = "";
        for setting in settings.section("congestion_control", Some(algorithm.name())) {
            match told.iter().find(|(_, known)| *known == setting) {
                Some(&(of, _)) => {
                    let before = if of == last { ", ".into() } else { format!("; as with `{of}`: ") };
                    shared += &format!("{before}`{}`", setting.key);
                    last = of;
                }
                None => own.push(setting),
            }
        }
        rows.push(format!("| **{}** | | {}{shared} |\n", algorithm.name(), algorithm.summary()));
        rows.extend(keys(&own));
        told.extend(own.into_iter().map(|setting| (algorithm.name(), setting)));
    }
    rows
}

/// A row for each setting of a section.
fn keys(section: &[Setting]) -> Vec<String> {
    let row = |setting: &Setting| {
        let meaning = words::meaning(setting, section).replace('|', "\\|");
        format!("| `{}` | {} | {meaning} |\n", setting.key, words::value(setting))
    };
    section.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_analysis::settings::{class, of_part};

    fn read(name: &str) -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect(name)
    }

    #[test]
    fn the_tables_are_current() {
        let text = read(PAGE);
        let renewed = renewed(&text, &NodeSettings::default()).expect(PAGE);
        assert!(renewed == text, "{PAGE} does not say what the settings are: run ./hpcc docs");
        let schemas = Schema::ALL.map(|schema| (schema.path(), schema.text()));
        for (path, text) in schemas.into_iter().chain([(annotated::FILE, annotated::text())]) {
            assert!(read(path) == text, "{path} does not say what the settings are: run ./hpcc docs");
        }
    }

    #[test]
    fn every_setting_has_its_row() {
        let (settings, text) = (NodeSettings::default(), read(PAGE));
        for part in settings.parts() {
            for setting in of_part(&part) {
                assert!(text.contains(&format!("\n| `{}` |", setting.key)), "{}", setting.key);
            }
        }
    }

    /// The manual says which attributes keys are: the class of a section, and what their names begin with.
    #[test]
    fn the_manual_has_the_class_of_every_section() {
        let (settings, manual) = (NodeSettings::default(), read("ns3-module/doc/hpcc.rst"));
        let row = |class: &str, section: &str| {
            let mut rows = manual.lines().filter(|line| line.starts_with(&format!("``{class}``")));
            rows.find(|line| line.contains(&format!("``{section}``"))).map(str::to_owned)
        };
        for part in settings.parts() {
            let owners = part.settings.list().iter().map(|setting| part.owner_of(setting)).collect::<Vec<_>>();
            for class in owners.into_iter().filter_map(class) {
                assert!(row(class, part.section).is_some(), "no row of {class} and {}", part.section);
            }
            let Some(row) = class(part.owner).and_then(|class| row(class, part.section)) else { continue };
            assert!(part.prefix.is_empty() || part.algorithm.is_some() || row.contains(&part.prefix), "{row}");
        }
    }
}
