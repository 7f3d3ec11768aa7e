// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios drawn at random: the choices of each, and how many there are.

use hpcc_core::random::Mrg32k3a;
use std::env;
use std::ops::Range;

/// Random choices, the same for the same seed and stream.
pub struct ScenarioRng(Mrg32k3a);

impl ScenarioRng {
    /// Choices of a scenario; campaigns have a stream each.
    pub fn new(seed: u64, stream: u64) -> ScenarioRng {
        ScenarioRng(Mrg32k3a::new(seed, stream))
    }

    /// A number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.0.uniform() * bound as f64) as u64
    }

    /// One of some words.
    ///
    /// # Panics
    /// If there is none.
    pub fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Puts a list into another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// True as often as this percentage says.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The seeds of a campaign: `count` from 1 on, unless `HPCC_RANDOM_SCENARIOS` and `HPCC_RANDOM_SEED` say otherwise.
///
/// # Panics
/// If one of them is no number.
pub fn seeds(count: u64) -> Range<u64> {
    let from_environment = |variable, default| {
        env::var(variable)
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
    };
    let first = from_environment("HPCC_RANDOM_SEED", 1);
    first..first + from_environment("HPCC_RANDOM_SCENARIOS", count)
}
