// SPDX-License-Identifier: GPL-2.0-only
//! Several runs that differ in nothing but their seed: their mean, and how far they are apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What tables, claims, bars and bands show of several seeds beside their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The standard deviation: it does not depend on how many seeds there are.
    #[default]
    Deviation,
    /// From the lowest to the highest value.
    MinMax,
    /// The 95 % confidence interval of the mean, by Student's distribution.
    Interval,
    /// Nothing.
    None,
}

/// The values of a line's places.
#[derive(Clone, Debug, Default)]
pub struct Pooled {
    /// Means of those seeds that have a value.
    pub y: Vec<Option<f64>>,
    /// Where each lies between; empty if none has a spread.
    pub band: Vec<Option<(f64, f64)>>,
    /// How many seeds each is of; empty if all are of as many as there are.
    pub seeds: Vec<usize>,
}

impl Spread {
    /// For a caption.
    pub fn words(self) -> &'static str {
        match self {
            Spread::Deviation => " ± standard deviation",
            Spread::MinMax => ", lowest to highest",
            Spread::Interval => " with its 95 % interval",
            Spread::None => "",
        }
    }

    /// The mean of those seeds that have a value at a place, with the spread where there are two at least. No spread leaves what
    /// is possible.
    pub fn of(self, samples: &[Vec<Option<f64>>], possible: (f64, f64)) -> Pooled {
        let places = samples.iter().map(Vec::len).max().unwrap_or(0);
        let at = |place: usize| -> Vec<f64> {
            samples.iter().filter_map(|sample| sample.get(place).copied().flatten()).collect()
        };
        let values: Vec<Vec<f64>> = (0..places).map(at).collect();
        let mean = |values: &Vec<f64>| (!values.is_empty()).then(|| mean_and_deviation(values).0);
        let band: Vec<_> = values.iter().map(|values| self.around(values, possible)).collect();
        let is_less = |values: &Vec<f64>| (1..samples.len()).contains(&values.len());
        let seeds = if values.iter().any(is_less) { values.iter().map(Vec::len).collect() } else { Vec::new() };
        let band = if band.iter().all(Option::is_none) { Vec::new() } else { band };
        Pooled { y: values.iter().map(mean).collect(), band, seeds }
    }

    /// From where to where values are.
    pub fn around(self, values: &[f64], possible: (f64, f64)) -> Option<(f64, f64)> {
        let (mean, deviation) = mean_and_deviation(values);
        let deviation = deviation?;
        // What was measured is possible, too.
        let possible = values.iter().fold(possible, |(low, high), value| (low.min(*value), high.max(*value)));
        let half = match self {
            Spread::Deviation => deviation,
            Spread::MinMax => return Some(values.iter().fold((mean, mean), |(a, b), v| (a.min(*v), b.max(*v)))),
            Spread::Interval => student(values.len() - 1) * deviation / (values.len() as f64).sqrt(),
            Spread::None => return None,
        };
        Some(((mean - half).max(possible.0), (mean + half).min(possible.1)))
    }
}

impl Spread {
    /// The mean of some values with what is around it, in words: `2.00 ±0.50`, or with both ends. A deviation is a distance, which
    /// no limit shortens.
    pub fn words_of(self, values: &[f64], possible: (f64, f64), write: impl Fn(f64) -> String) -> String {
        let (mean, deviation) = mean_and_deviation(values);
        match (self, deviation.filter(|deviation| *deviation > 0.0)) {
            (_, None) => write(mean),
            (Spread::Deviation, Some(deviation)) => format!("{} ±{}", write(mean), write(deviation)),
            (_, Some(_)) => write(mean) + &ends_words(self.around(values, possible), write),
        }
    }
}

/// From where to where, in words; empty of one value.
pub fn ends_words(band: Option<(f64, f64)>, write: impl Fn(f64) -> String) -> String {
    let ends = band.filter(|(low, high)| low < high);
    ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", write(low), write(high)))
}

/// Mean and standard deviation of a sample, the latter of at least two.
pub fn mean_and_deviation(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()))
}

/// Student's factor of a two-sided 95 % interval.
fn student(freedom: usize) -> f64 {
    const FACTORS: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    // From there on Cornish and Fisher's expansion is exact to 0.001.
    let (z, n) = (1.959_964_f64, freedom as f64);
    let first = (z.powi(3) + z) / (4.0 * n);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n.powi(2));
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * n.powi(3));
    FACTORS.get(freedom.wrapping_sub(1)).copied().unwrap_or(z + first + second + third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_deviation(&[2.0, 4.0, 6.0]), (4.0, Some(2.0)));
        assert_eq!(mean_and_deviation(&[5.0]), (5.0, None));
    }

    #[test]
    fn seeds_have_a_mean_and_a_spread_where_there_are_two() {
        let samples = [vec![Some(2.0), None, None], vec![Some(4.0), Some(1.0), None], vec![Some(6.0)]];
        let any = (0.0, f64::INFINITY);
        let Pooled { y, band, seeds } = Spread::MinMax.of(&samples, any);
        assert_eq!((y, seeds), (vec![Some(4.0), Some(1.0), None], vec![3, 1, 0]));
        assert_eq!(band, [Some((2.0, 6.0)), None, None]);
        assert_eq!(Spread::Deviation.of(&samples, any).band[0], Some((2.0, 6.0)));
        // 4.303 * 2 / sqrt(3) = 4.9687, of which what is below 0 is impossible.
        let (low, high) = Spread::Interval.of(&samples, any).band[0].expect("of three");
        assert!(low == 0.0 && (high - 8.968_7).abs() < 1e-3, "{low} {high}");
        assert!(Spread::None.of(&samples, any).band.is_empty());
        assert!(Spread::MinMax.of(&samples[..1], any).band.is_empty(), "one seed has none");
        assert!(Spread::MinMax.of(&samples[..1], any).seeds.is_empty(), "all of it");
    }

    #[test]
    fn words_have_a_distance_or_both_ends() {
        let words = |spread: Spread, values: &[f64]| spread.words_of(values, (0.0, 1.0), |value| format!("{value:.2}"));
        let values = [1.0, 0.0, 0.0, 0.0];
        assert_eq!(words(Spread::Deviation, &values), "0.25 ±0.50", "which no limit shortens");
        // 3.182 * 0.5 / 2 = 0.7955 around 0.25, of which what is above 1 or below 0 is impossible.
        assert_eq!(words(Spread::Interval, &values), "0.25 (0.00 to 1.00)");
        assert_eq!([words(Spread::None, &values), words(Spread::MinMax, &[0.5, 0.5])], ["0.25", "0.50"]);
    }

    #[test]
    fn student_s_factors_are_those_of_tables() {
        for (freedom, factor) in [(1, 12.706), (10, 2.228), (11, 2.201), (20, 2.086), (100, 1.984)] {
            assert!((student(freedom) - factor).abs() < 1e-3, "{freedom}: {}", student(freedom));
        }
    }
}
