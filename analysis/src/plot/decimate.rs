// SPDX-License-Identifier: GPL-2.0-only
//! Thins a time series out to what a plot can show.

/// A time and a value.
pub type Point = (f64, f64);

/// Cuts the time from 0 to `span` into `columns` and keeps the first, lowest, highest and last point of each:
/// at one pixel per column, lines through them cover the same pixels as lines through all points.
///
/// The points have to come in the order of time.
pub fn decimate(points: &[Point], span: f64, columns: usize) -> Vec<Point> {
    if points.len() <= 4 * columns {
        return points.to_vec();
    }
    let column = |point: &Point| (point.0 / span * columns as f64) as usize;
    let mut kept = Vec::new();
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        keep_extremes(group, &mut kept);
    }
    kept
}

fn keep_extremes(group: &[Point], kept: &mut Vec<Point>) {
    let by_value = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
    let lowest = (0..group.len()).min_by(by_value).unwrap_or(0);
    let highest = (0..group.len()).max_by(by_value).unwrap_or(0);
    let mut indices = [0, lowest, highest, group.len() - 1];
    indices.sort_unstable();
    for (place, index) in indices.iter().enumerate() {
        if place == 0 || indices[place - 1] != *index {
            kept.push(group[*index]);
        }
    }
}

/// Turns values that hold until the next point into the corners of a staircase that ends at `span`.
pub fn staircase(points: &[Point], span: f64) -> Vec<Point> {
    let mut corners = Vec::with_capacity(2 * points.len());
    let mut value = 0.0;
    for &(time, next) in points {
        corners.push((time, value));
        corners.push((time, next));
        value = next;
    }
    corners.push((span, value));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive() {
        let mut points: Vec<Point> = (0..100_000).map(|time| (f64::from(time), 1.0)).collect();
        points[77_777].1 = 50.0;
        points[33_333].1 = -3.0;
        let kept = decimate(&points, 100_000.0, 100);
        assert!(kept.len() <= 400);
        assert!(kept.contains(&(77_777.0, 50.0)) && kept.contains(&(33_333.0, -3.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
    }

    #[test]
    fn short_series_stay_as_they_are() {
        let points = [(0.0, 1.0), (5.0, 2.0)];
        assert_eq!(decimate(&points, 10.0, 1), points);
    }

    #[test]
    fn a_staircase_starts_empty_and_reaches_the_end() {
        let corners = staircase(&[(1.0, 5.0), (3.0, 0.0)], 9.0);
        assert_eq!(corners, [(1.0, 0.0), (1.0, 5.0), (3.0, 5.0), (3.0, 0.0), (9.0, 0.0)]);
    }
}
