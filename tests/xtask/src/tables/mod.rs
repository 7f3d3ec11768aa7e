// SPDX-License-Identifier: GPL-2.0-only
//! What of the source tree is made from the settings: JSON schemas, and blocks of pages with text by hand around them.
//!
//! A block stands between two comments, the first of which names it and the command that renews it.

mod words;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use hpcc_analysis::settings::{Schema, class, section};
use hpcc_analysis::{human, rewrite_figures, save};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Setting;

/// A page with blocks.
struct Page {
    /// Its place in the source tree.
    path: &'static str,
    /// What a comment begins and ends with.
    comment: (&'static str, &'static str),
    /// What stands above the rows of a block.
    head: &'static str,
    /// Makes a row.
    row: fn(&Row) -> String,
}

/// A setting: key or attribute, default, and meaning; or an algorithm whose parameters follow. Backticks are around what is
/// written in files.
type Row = [String; 3];

const PAGES: [Page; 2] = [
    Page {
        path: "configs/README.md",
        comment: ("<!-- ", " -->"),
        head: "| key | default | meaning |\n| --- | --- | --- |\n",
        row: |[name, default, meaning]| {
            let meaning = meaning.replace('|', "\\|");
            format!("| {name} | {default} | {meaning} |\n").replace(" |  | ", " | | ")
        },
    },
    Page {
        path: "ns3-module/doc/hpcc.rst",
        comment: (".. ", ""),
        head: "",
        row: |[name, default, meaning]| format!("* {name}, {default}: {meaning}\n").replace('`', "``"),
    },
];

/// What the first comment of a block says before and behind the block's name.
const BEGIN: (&str, &str) = ("settings of ", ": rewritten by ./hpcc docs");
/// What the last one says.
const END: &str = "end of settings";

/// Rewrites the blocks of all pages of a source tree.
///
/// # Errors
/// If a page cannot be read or written, or has a block that there is not; the pages before it are written then.
pub fn rewrite(tree: &Path) -> Result<()> {
    let settings = NodeSettings::default();
    for page in &PAGES {
        let path = tree.join(page.path);
        let old = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        write(tree, page.path, &page.renewed(&old, &settings)?)?;
    }
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

impl Page {
    /// The page's text with its blocks made anew.
    fn renewed(&self, text: &str, settings: &NodeSettings) -> Result<String> {
        let (open, close) = self.comment;
        let end = format!("{open}{END}{close}");
        let mut renewed = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            renewed += &format!("{line}\n");
            let Some(name) = self.begins(line) else { continue };
            let rows: String = rows(settings, name).iter().map(self.row).collect();
            ensure!(!rows.is_empty(), "{}: there are no settings of {name}", self.path);
            lines
                .by_ref()
                .find(|line| *line == end)
                .ok_or_else(|| anyhow!("{}: no \"{end}\" behind {name}", self.path))?;
            renewed += &format!("\n{}{rows}\n{end}\n", self.head);
        }
        Ok(renewed)
    }

    /// The name of the block that begins with this line.
    fn begins<'a>(&self, line: &'a str) -> Option<&'a str> {
        let said = line.strip_prefix(self.comment.0)?.strip_suffix(self.comment.1)?;
        said.strip_prefix(BEGIN.0)?.strip_suffix(BEGIN.1)
    }
}

/// The rows of a section of files, of all `algorithms`, or of the attributes of a class; none if there is nothing of that name.
fn rows(settings: &NodeSettings, name: &str) -> Vec<Row> {
    if name == "algorithms" {
        return settings.control.all().flat_map(|known| algorithm(settings, known.name(), known.summary())).collect();
    }
    let parts = settings.parts();
    let attributes = parts
        .iter()
        .filter(|part| class(part.owner) == Some(name))
        .flat_map(|part| part.settings.list().into_iter().map(|setting| row(part.attribute(setting.key), &setting)));
    attributes.chain(keys(section(settings, name))).collect()
}

/// An algorithm, and its parameters.
fn algorithm(settings: &NodeSettings, name: &str, summary: &str) -> Vec<Row> {
    let head = [format!("**{name}**"), String::new(), summary.to_owned()];
    [head].into_iter().chain(keys(settings.section("congestion_control", Some(name)))).collect()
}

fn keys(settings: Vec<Setting>) -> impl Iterator<Item = Row> {
    settings.into_iter().map(|setting| row(setting.key, &setting))
}

fn row(name: impl std::fmt::Display, setting: &Setting) -> Row {
    [format!("`{name}`"), words::default(setting), words::meaning(setting)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_analysis::settings::of_part;

    fn read(name: &str) -> String {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect(name)
    }

    fn text(page: &Page) -> String {
        read(page.path)
    }

    #[test]
    fn the_pages_are_current() {
        for page in &PAGES {
            let text = text(page);
            let renewed = page.renewed(&text, &NodeSettings::default()).expect(page.path);
            assert!(renewed == text, "{} does not say what the settings are: run ./hpcc docs", page.path);
        }
        for schema in Schema::ALL {
            let path = schema.path();
            assert!(read(path) == schema.text(), "{path} does not say what the settings are: run ./hpcc docs");
        }
    }

    #[test]
    fn every_setting_is_on_its_page() {
        let settings = NodeSettings::default();
        let [keys, attributes] = PAGES.each_ref().map(text);
        for part in settings.parts() {
            for setting in of_part(&part) {
                assert!(keys.contains(&format!("\n| `{}` |", setting.key)), "{}", setting.key);
            }
            let Some(class) = class(part.owner) else { continue };
            for setting in part.settings.list() {
                let attribute = part.attribute(setting.key);
                assert!(attributes.contains(&format!("\n* ``{attribute}``,")), "{attribute}");
            }
            assert!(attributes.contains(&format!("{}{}{}", BEGIN.0, class, BEGIN.1)));
        }
    }
}
