// SPDX-License-Identifier: GPL-2.0-only
//! Pages and help texts have the field's words, and not more of them than a reader has time for.

use std::fs;
use std::path::{Path, PathBuf};

use hpcc_analysis::settings::Schema;

use super::readable::{pages, tree};

/// Words that only this project used, and those to write instead.
const PRIVATE: [(&str, &str); 7] = [
    ("the reference simulator", "the 2019 simulator"),
    ("the reference's", "the 2019 simulator's"),
    ("as the reference", "as the 2019 simulator"),
    ("quick form", "--quick"),
    ("small form", "--quick"),
    (" a seal", "authentication"),
    ("byte layout", "format"),
];
/// What all pages may have together.
const MOST_WORDS: usize = 55_000;

/// Whether a page is kept in the repository: those of single figures are made for the site.
fn is_kept(page: &Path) -> bool {
    !page.starts_with(tree().join("configs/paper")) || page.ends_with("README.md")
}

/// The private words of a text, each with the plain one.
fn private(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let found = PRIVATE.iter().filter(|(word, _)| text.contains(word));
    found.map(|(word, plain)| format!("\"{word}\" for \"{plain}\"")).collect()
}

#[test]
fn pages_and_help_texts_have_no_words_of_this_project_alone() {
    let schemas = Schema::ALL.map(|schema| tree().join(schema.path()));
    for file in pages().into_iter().chain(schemas).filter(|file| !file.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&file).expect("text");
        assert_eq!(private(&text), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn private_words_are_found_across_lines() {
    assert_eq!(private("as in the\nreference simulator"), ["\"the reference simulator\" for \"the 2019 simulator\""]);
    assert!(private("from the reference rate, with `telemetry.seal`").is_empty());
}

#[test]
fn pages_can_be_read_in_a_day() {
    let prose = |page: &PathBuf| page.extension().is_some_and(|kind| kind != "toml") && is_kept(page);
    let words = |page: PathBuf| fs::read_to_string(page).expect("text").split_whitespace().count();
    let count: usize = pages().into_iter().filter(prose).map(words).sum();
    assert!((30_000..=MOST_WORDS).contains(&count), "{count} words on all pages; at most {MOST_WORDS}");
}
