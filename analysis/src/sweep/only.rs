// SPDX-License-Identifier: GPL-2.0-only
//! `--only`: a part of a sweep's variants, values of axes and seeds.

use super::axes::Axes;
use super::keys::Variant;
use super::placed::Placed;

/// What the command line names; nothing named means all.
#[derive(Debug, Default)]
pub struct Only {
    words: Vec<String>,
}

/// The word before the number of a seed.
const SEED: &str = "seed";

impl Only {
    /// Of words such as `dcqcn`, `load=0.5` and `seed=1`.
    pub fn new(words: &[String]) -> Only {
        Only { words: words.to_vec() }
    }

    /// Whether it leaves nothing out.
    pub fn is_all(&self) -> bool {
        self.words.is_empty()
    }

    /// As a heading has it.
    pub fn words(&self) -> String {
        self.words.join(", ")
    }

    /// Refuses a word that the sweep does not know.
    ///
    /// # Errors
    /// With the words that it knows.
    pub fn check(&self, variants: &[Variant], axes: &Axes, seeds: &[Placed<u64>]) -> Result<(), String> {
        let values = axes.iter().flat_map(|axis| axis.values.iter().map(|(value, _)| of(&axis.name, value)));
        let names = variants.iter().map(|variant| variant.name.to_string());
        let seeds = seeds.iter().map(|seed| of(SEED, &seed.to_string()));
        let known: Vec<String> = names.chain(values).chain(seeds).collect();
        match self.words.iter().find(|word| !known.contains(word)) {
            Some(unknown) => {
                Err(format!("--only {unknown}: no such variant, value or seed; expected {}", known.join(" | ")))
            }
            None => Ok(()),
        }
    }

    /// Whether it has a variant.
    pub fn has_variant(&self, name: &str) -> bool {
        let mut names = self.words.iter().filter(|word| !word.contains('='));
        names.clone().next().is_none() || names.any(|word| word == name)
    }

    /// Whether it has a value of an axis.
    pub fn has_value(&self, axis: &str, value: &str) -> bool {
        let begin = of(axis, "");
        let mut values = self.words.iter().filter_map(|word| word.strip_prefix(&begin));
        values.clone().next().is_none() || values.any(|known| known == value)
    }

    /// Whether it has a seed.
    pub fn has_seed(&self, seed: u64) -> bool {
        self.has_value(SEED, &seed.to_string())
    }
}

fn of(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_word_speaks_of_is_whole() {
        let only = Only::new(&["a".to_owned(), "load=0.5".to_owned(), "load=0.7".to_owned()]);
        assert!(only.has_variant("a") && !only.has_variant("b") && only.has_seed(9));
        assert_eq!(["0.3", "0.5", "0.7"].map(|value| only.has_value("load", value)), [false, true, true]);
        assert!(only.has_value("eta", "0.9") && Only::default().has_variant("b"));
    }
}
