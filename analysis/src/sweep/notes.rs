// SPDX-License-Identifier: GPL-2.0-only
//! What runs of a sweep had to say of themselves: each note once, with the variants whose runs say it.

use super::file::SweepFile;
use super::group::{Group, Measured};
use super::report::TableKind;
use hpcc_measures::quantity::Series;

/// Each note of a run, in the order of the runs; with the names of its variants, unless all have it.
pub fn notes(file: &SweepFile, groups: &[Group<'_>]) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for group in groups {
        let lists = group.results().filter_map(|results| results.summary.scenario["notes"].as_array());
        for text in lists.flatten().filter_map(|note| note.as_str()) {
            let place = found.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
                found.push((text, Vec::new()));
                found.len() - 1
            });
            let variants = &mut found[place].1;
            if variants.last() != Some(&group.variant) {
                variants.push(group.variant);
            }
        }
    }
    let told = |(text, variants): (&str, Vec<&str>)| {
        if variants.len() == file.variants.len() {
            text.to_string()
        } else {
            format!("{}: {text}", variants.join(", "))
        }
    };
    found.into_iter().map(told).chain(lacks_rates(file, groups)).collect()
}

/// A note of the flows that tables of goodput leave out.
fn lacks_rates(file: &SweepFile, groups: &[Group<'_>]) -> Option<String> {
    let lacks =
        |measured: &&Measured<'_>| measured.results.window.chosen && !measured.run.facts.records(Series::Goodput);
    let shown = file.tables.contains(&TableKind::Goodput) && groups.iter().flat_map(|group| &group.runs).any(lacks);
    shown.then(|| {
        "goodput is that of flows which the measured part holds whole: of others monitor.goodput_interval tells it"
            .into()
    })
}
