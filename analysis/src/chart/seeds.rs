// SPDX-License-Identifier: GPL-2.0-only
//! Several runs that differ in nothing but their seed: their mean, and how far they are apart.

use schemars::JsonSchema;
use serde::Deserialize;

/// What bars and bands show of several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// From the lowest to the highest value.
    #[default]
    MinMax,
    /// The 95 % confidence interval of the mean, by Student's distribution.
    Interval,
    /// Nothing.
    None,
}

/// Values of a line's places, and where each lies between.
pub type OverSeeds = (Vec<Option<f64>>, Vec<Option<(f64, f64)>>);

impl Spread {
    /// For a caption.
    pub fn words(self) -> &'static str {
        match self {
            Spread::MinMax => ", lowest to highest",
            Spread::Interval => ", 95 % interval",
            Spread::None => "",
        }
    }

    /// The mean of those seeds that have a value at a place, with the spread where there are two at least.
    pub fn of(self, samples: &[Vec<Option<f64>>]) -> OverSeeds {
        let places = samples.iter().map(Vec::len).max().unwrap_or(0);
        let at = |place: usize| -> Vec<f64> {
            samples.iter().filter_map(|sample| sample.get(place).copied().flatten()).collect()
        };
        let of_place = |place| {
            let values = at(place);
            (!values.is_empty()).then(|| mean_and_deviation(&values).0).zip(Some(values))
        };
        let means: Vec<_> = (0..places).map(of_place).collect();
        let mean = means.iter().map(|found| found.as_ref().map(|(mean, _)| *mean)).collect();
        let spread = |found: &Option<(f64, Vec<f64>)>| found.as_ref().and_then(|(_, values)| self.around(values));
        let bands: Vec<_> = means.iter().map(spread).collect();
        (mean, if bands.iter().all(Option::is_none) { Vec::new() } else { bands })
    }

    fn around(self, values: &[f64]) -> Option<(f64, f64)> {
        let (mean, deviation) = mean_and_deviation(values);
        let deviation = deviation?;
        match self {
            Spread::MinMax => Some(values.iter().fold((mean, mean), |(a, b), v| (a.min(*v), b.max(*v)))),
            Spread::Interval => {
                let half = student(values.len() - 1) * deviation / (values.len() as f64).sqrt();
                Some((mean - half, mean + half))
            }
            Spread::None => None,
        }
    }
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
        let (mean, band) = Spread::MinMax.of(&samples);
        assert_eq!(mean, [Some(4.0), Some(1.0), None]);
        assert_eq!(band, [Some((2.0, 6.0)), None, None]);
        // 4.303 * 2 / sqrt(3).
        let (low, high) = Spread::Interval.of(&samples).1[0].expect("of three");
        assert!((low - (4.0 - 4.968_7)).abs() < 1e-3 && (high - 8.968_7).abs() < 1e-3, "{low} {high}");
        assert_eq!(Spread::None.of(&samples).1, []);
        assert_eq!(Spread::MinMax.of(&samples[..1]).1, [], "one seed has none");
    }

    #[test]
    fn student_s_factors_are_those_of_tables() {
        for (freedom, factor) in [(1, 12.706), (10, 2.228), (11, 2.201), (20, 2.086), (100, 1.984)] {
            assert!((student(freedom) - factor).abs() < 1e-3, "{freedom}: {}", student(freedom));
        }
    }
}
