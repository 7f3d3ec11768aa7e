// SPDX-License-Identifier: GPL-2.0-only
//! Distributions on one logarithmic axis, which all lines of a chart share.

use hpcc_measures::spread::Distribution;

use super::number::short;

/// Points of the axis.
const POINTS: usize = 240;

/// Values from `low` to `high` at equal distances of their logarithms; none up to 0.
pub fn axis(low: f64, high: f64) -> Vec<f64> {
    if high <= 0.0 {
        return Vec::new();
    }
    let low = low.max(f64::MIN_POSITIVE);
    if high <= low {
        return vec![low];
    }
    let step = (high / low).ln() / (POINTS - 1) as f64;
    let mut axis: Vec<f64> = (0..POINTS).map(|index| short(low * (step * index as f64).exp())).collect();
    // Rounding must not leave the largest value out.
    axis[POINTS - 1] = high;
    axis.dedup();
    axis
}

/// The share of some values that is at most each point of the axis.
pub fn share_up_to(values: &Distribution, axis: &[f64]) -> Vec<Option<f64>> {
    axis.iter().map(|x| Some(values.share_up_to(*x))).collect()
}

/// The share of `whole` in which a weighted value, ascending, is above each point of the axis.
pub fn share_above(weighted: &[(u64, u64)], whole: f64, axis: &[f64]) -> Vec<Option<f64>> {
    let mut shares = Vec::with_capacity(axis.len());
    let mut above: u64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut rest = weighted.iter().peekable();
    for x in axis {
        while let Some((_, weight)) = rest.next_if(|(value, _)| *value as f64 <= *x) {
            above -= weight;
        }
        // A logarithmic axis has no place for 0.
        shares.push((above > 0).then(|| above as f64 / whole));
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_measures::spread::Spread;

    #[test]
    fn a_distribution_rises_to_1() {
        let axis = axis(1.0, 1_000.0);
        let mut values = Spread::of(4);
        [1.0, 1_000.0, 10.0, 1_000.0].into_iter().for_each(|value| values.push(value));
        let shares = share_up_to(&values.sorted(), &axis);
        assert_eq!((axis.len(), shares[0], shares[axis.len() - 1]), (POINTS, Some(0.25), Some(1.0)));
        assert!(axis.is_sorted() && shares.is_sorted());
        assert_eq!(super::axis(5.0, 5.0), [5.0]);
    }

    #[test]
    fn a_complement_falls_and_ends() {
        let shares = share_above(&[(10, 30), (20, 10)], 100.0, &[5.0, 10.0, 15.0, 20.0]);
        assert_eq!(shares, [Some(0.4), Some(0.1), Some(0.1), None]);
    }
}
