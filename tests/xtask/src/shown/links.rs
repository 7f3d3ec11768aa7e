// SPDX-License-Identifier: GPL-2.0-only
//! What pages link to in the source tree is there, headings too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::readable::{pages, tree};

/// The lines of a page that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|&letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(&letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// What a page links to, without the web.
fn links(text: &str) -> Vec<&str> {
    let found = prose(text).flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    found.filter(|link| !link.contains("://")).collect()
}

/// Whether the headings of a page have this name.
fn has_heading(page: &Path, name: &str) -> bool {
    let text = fs::read_to_string(page).unwrap_or_default();
    let headings: Vec<String> = prose(&text).filter(|line| line.starts_with('#')).map(anchor).collect();
    headings.iter().any(|heading| heading == name)
}

#[test]
fn pages_link_to_what_there_is() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeMap::<(PathBuf, String), bool>::new());
    for page in pages().into_iter().filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
        let text = fs::read_to_string(&page).expect("text");
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let is_page = target.extension().is_some_and(|kind| kind == "md");
            let there = seen.entry((target.clone(), heading.to_owned())).or_insert_with(|| {
                target.exists() && (heading.is_empty() || !is_page || has_heading(&target, heading))
            });
            if !*there {
                wrong.push(format!("{}: {link}", page.strip_prefix(tree()).expect("below").display()));
            }
        }
    }
    assert!(seen.len() > 200, "only {} links were found", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_and_headings_are_found() {
    let text = "# A `flow's` end_of x, y\n[a](b.md#c), [d](https://e)\n```\n[f](g.md)\n```\n";
    assert_eq!(links(text), ["b.md#c"]);
    assert_eq!(anchor("# A `flow's` end_of x, y"), "a-flows-end_of-x-y");
}
