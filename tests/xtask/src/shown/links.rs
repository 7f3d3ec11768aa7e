// SPDX-License-Identifier: GPL-2.0-only
//! Links from page to page lead somewhere. Sphinx says so, too, where it is installed.

use std::fs;
use std::path::Path;

use super::readable::pages;

/// Where the links of a Markdown page lead, but for those to other sites.
fn targets(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    parts.map(|(target, _)| target).filter(|target| !target.contains("://") && !target.contains(['\n', ' '])).collect()
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters.chars().filter(|&letter| letter.is_alphanumeric() || "_- ".contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Why a link of a page leads nowhere.
fn complaint(page: &Path, target: &str) -> Option<String> {
    let (file, name) = target.split_once('#').unwrap_or((target, ""));
    let file = if file.is_empty() { page.to_owned() } else { page.with_file_name(file) };
    if !file.exists() {
        return Some(format!("there is no {}", file.display()));
    }
    if name.is_empty() {
        return None;
    }
    let text = fs::read_to_string(&file).expect("a page");
    let mut headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#')));
    (!headings.any(|heading| heading == name)).then(|| format!("{} has no heading {name}", file.display()))
}

#[test]
fn links_between_pages_lead_somewhere() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages().iter().filter(|page| page.extension() == Some("md".as_ref())) {
        let text = fs::read_to_string(page).expect("a page");
        for target in targets(&text) {
            count += 1;
            wrong.extend(complaint(page, target).map(|why| format!("{}: {target}: {why}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = super::readable::tree().join("README.md");
    assert_eq!(targets("[a](b.md), [c](https://d.e) ![f](g/h.svg)\n"), ["b.md", "g/h.svg"]);
    for right in ["CONTRIBUTING.md", "#what-a-run-leaves", "configs/README.md#algorithms", "configs"] {
        assert_eq!(complaint(&page, right), None, "{right}");
    }
    for wrong in ["nothing.md", "#nothing", "configs/README.md#nothing"] {
        assert!(complaint(&page, wrong).is_some(), "{wrong}");
    }
}
