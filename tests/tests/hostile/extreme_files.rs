// SPDX-License-Identifier: GPL-2.0-only
//! Every number of the 2019 simulator's files, at and beyond the ends of what types can hold.

use crate::{extremes, outcome};
use hpcc_tests::REFERENCE;

#[test]
fn every_word_of_the_references_files_has_limits_that_hold() {
    let mut runs = Vec::new();
    for (name, text) in REFERENCE {
        let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for (index, word) in words.iter().enumerate() {
            if !word.starts_with(|letter: char| letter.is_ascii_digit()) {
                continue;
            }
            let unit = word.trim_end().trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            for number in extremes::whole().into_iter().chain(extremes::real()) {
                let mut changed: Vec<String> = words.iter().map(ToString::to_string).collect();
                changed[index] = format!("{number}{unit}{}", &word[word.len() - 1..]);
                let what = format!("{name}: word {index}, {} for {}", changed[index].trim(), word.trim());
                let text =
                    |other: &(&'static str, &str)| if other.0 == *name { changed.concat() } else { other.1.into() };
                let files = REFERENCE.iter().map(|file| (file.0, text(file))).collect();
                runs.push((what, files, "config.txt".into(), Vec::new()));
            }
        }
    }
    outcome::all_end_orderly(&runs, 500);
}
