// SPDX-License-Identifier: GPL-2.0-only
//! What is made from the settings: JSON schemas, a scenario with every key, and pages of keys for the site.

mod annotated;
mod pages;
mod words;

use std::fs;
use std::path::Path;

use anyhow::Result;
use hpcc_analysis::settings::Schema;
use hpcc_analysis::{human, rewrite_figures, save};

pub use pages::write as write_pages;

/// Rewrites the scenario with every key of a source tree, its figures of the papers, and its schemas.
///
/// # Errors
/// If a file cannot be read or written; the files before it are written then.
pub fn rewrite(tree: &Path) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_analysis::settings::class;
    use hpcc_core::node::NodeSettings;

    fn read(name: &str) -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect(name)
    }

    #[test]
    fn what_is_kept_is_current() {
        let schemas = Schema::ALL.map(|schema| (schema.path(), schema.text()));
        for (path, text) in schemas.into_iter().chain([(annotated::FILE, annotated::text())]) {
            assert!(read(path) == text, "{path} does not say what the settings are: run ./hpcc docs");
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
