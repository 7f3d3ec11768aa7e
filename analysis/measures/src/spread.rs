// SPDX-License-Identifier: GPL-2.0-only
//! How values are distributed: each of them, or, of very many, how many there are in steps so narrow that nobody sees them.

/// Of more values than this, rounded ones are counted.
pub const EXACT: u64 = 1 << 20;
/// Steps between a power of two and the next. A value is at most half a step from its class: 0.05 %.
const STEPS: usize = 1 << 10;
const STEP_BITS: u32 = STEPS.ilog2();
/// Bits of a number behind its exponent.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Values up to this one are in the first step.
const LEAST: f64 = 1.0 / 1024.0;

/// Values, none of them negative, as they come.
#[derive(Clone, Debug)]
pub enum Spread {
    /// All of them.
    Each(Vec<f64>),
    /// How many are in each step.
    Counted(Counts),
}

/// How many values are in each step.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By power of two; empty where there is none.
    octaves: Vec<Vec<u64>>,
    sum: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// An empty one for so many values.
    pub fn of(values: u64) -> Spread {
        if values > EXACT { Spread::Counted(Counts::default()) } else { Spread::Each(Vec::new()) }
    }

    /// One more value.
    pub fn push(&mut self, value: f64) {
        match self {
            Spread::Each(values) => values.push(value),
            Spread::Counted(counts) => counts.push(value),
        }
    }

    /// All values, in order.
    pub fn sorted(self) -> Distribution {
        match self {
            Spread::Each(mut values) => {
                values.sort_by(f64::total_cmp);
                let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
                Distribution { values, up_to: None, mean }
            }
            Spread::Counted(counts) => counts.sorted(),
        }
    }
}

impl Counts {
    fn push(&mut self, value: f64) {
        let step = (value.max(LEAST).to_bits() - LEAST.to_bits()) >> (FRACTION_BITS - STEP_BITS);
        let (octave, step) = (step as usize / STEPS, step as usize % STEPS);
        if self.octaves.len() <= octave {
            self.octaves.resize(octave + 1, Vec::new());
        }
        let steps = &mut self.octaves[octave];
        if steps.is_empty() {
            steps.resize(STEPS, 0);
        }
        steps[step] += 1;
        self.least = if self.most == 0.0 { value } else { self.least.min(value) };
        self.most = self.most.max(value);
        self.sum += value;
    }

    fn sorted(self) -> Distribution {
        let steps = self.octaves.iter().enumerate().flat_map(|(octave, steps)| {
            let middle =
                move |step: usize| (1.0 + (step as f64 + 0.5) / STEPS as f64) * LEAST * 2f64.powi(octave as i32);
            steps.iter().enumerate().map(move |(step, times)| (middle(step), *times))
        });
        let values = steps.filter(|(_, times)| *times > 0);
        let distribution =
            Distribution::weighted(0, values.map(|(middle, times)| (middle.clamp(self.least, self.most), times)));
        Distribution { mean: self.sum / distribution.len().max(1) as f64, ..distribution }
    }
}

/// Values in order.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Ascending.
    values: Vec<f64>,
    /// How many there are up to each; without it, each is there once.
    up_to: Option<Vec<u64>>,
    mean: f64,
}

impl Distribution {
    /// Values, ascending, each with how often it is there, behind so many zeros.
    pub fn weighted(zeros: u64, values: impl Iterator<Item = (f64, u64)>) -> Distribution {
        let (mut distinct, mut up_to, mut count, mut sum) = (vec![0.0], vec![zeros], zeros, 0.0);
        for (value, times) in values {
            count += times;
            sum += value * times as f64;
            distinct.push(value);
            up_to.push(count);
        }
        Distribution { values: distinct, up_to: Some(up_to), mean: sum / count.max(1) as f64 }
    }

    /// How many values there are.
    pub fn len(&self) -> u64 {
        self.count(self.values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their mean, exact however many they are; 0 without values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// A percentile as [`crate::stats::percentile`] has it; 0 without values.
    pub fn percentile(&self, percent: u8) -> f64 {
        let rank = self.len() * u64::from(percent) / 100;
        let index = match &self.up_to {
            Some(up_to) => up_to.partition_point(|count| *count <= rank),
            None => rank as usize,
        };
        self.values.get(index).or(self.values.last()).copied().unwrap_or(0.0)
    }

    /// The share of values up to this one; NaN without values.
    pub fn share_up_to(&self, value: f64) -> f64 {
        self.count(self.values.partition_point(|one| *one <= value)) as f64 / self.len() as f64
    }

    /// How many are among the first so many different ones.
    fn count(&self, values: usize) -> u64 {
        match &self.up_to {
            Some(up_to) => values.checked_sub(1).map_or(0, |last| up_to[last]),
            None => values as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn spread(of: u64, values: impl Iterator<Item = f64>) -> Distribution {
        let mut spread = Spread::of(of);
        values.for_each(|value| spread.push(value));
        spread.sorted()
    }

    #[test]
    fn very_many_values_are_within_a_half_step_of_exact_ones() {
        // From 1 to 3 million, by steps that grow.
        let values = || (0..40_000).map(|index| 1.000_373_f64.powi(index));
        let (exact, counted) = (spread(1, values()), spread(EXACT + 1, values()));
        assert!(matches!((&exact.up_to, &counted.up_to), (None, Some(up_to)) if up_to.len() < 33 * STEPS));
        let apart = |a: f64, b: f64| (a - b).abs() / b;
        let mut different = 0;
        for percent in 0..=100 {
            let (a, b) = (counted.percentile(percent), exact.percentile(percent));
            assert!(apart(a, b) <= 0.5 / STEPS as f64, "{percent} {a} {b}");
            different += u32::from(a != b);
            assert_abs_diff_eq!(counted.share_up_to(b), exact.share_up_to(b), epsilon = 2e-4);
        }
        assert!(different > 90, "they are counted");
        assert!(apart(counted.mean(), exact.mean()) < 1e-12);
        assert_eq!((counted.len(), exact.len()), (40_000, 40_000));
    }

    /// As of a queue in each nanosecond: what is longest for one percent of the time is the 99th percentile.
    #[test]
    fn weights_are_as_good_as_values() {
        let lengths = [[0.0; 490].as_slice(), &[10.0; 500], &[900.0; 10]].concat();
        let (each, weighted) = (spread(1, lengths.into_iter()), [(10.0, 500), (900.0, 10)].into_iter());
        let weighted = Distribution::weighted(490, weighted);
        for percent in 0..=100 {
            assert_eq!(weighted.percentile(percent), each.percentile(percent), "{percent}");
        }
        assert_eq!((weighted.percentile(99), weighted.mean()), (900.0, each.mean()));
        assert_eq!(Distribution::weighted(1_000, std::iter::empty()).percentile(99), 0.0);
    }

    #[test]
    fn equal_values_stay_what_they_are_and_none_have_no_percentile() {
        let same = spread(EXACT + 1, [1.25; 9].into_iter());
        assert_eq!([0, 50, 99, 100].map(|percent| same.percentile(percent)), [1.25; 4]);
        for of in [0, EXACT + 1] {
            let none = spread(of, std::iter::empty());
            assert_eq!((none.len(), none.percentile(99), none.mean()), (0, 0.0, 0.0));
        }
        let below = spread(EXACT + 1, [0.5, 2.0].into_iter());
        assert_abs_diff_eq!(below.percentile(0), 0.5, epsilon = 5e-4);
        assert_eq!(spread(EXACT + 1, [0.0, 0.0].into_iter()).percentile(50), 0.0);
    }
}
