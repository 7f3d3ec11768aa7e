// SPDX-License-Identifier: GPL-2.0-only
//! Values that hold until the next one.

/// A time and a value.
pub type Point = (f64, f64);

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
    fn a_staircase_starts_empty_and_reaches_the_end() {
        let corners = staircase(&[(1.0, 5.0), (3.0, 0.0)], 9.0);
        assert_eq!(corners, [(1.0, 0.0), (1.0, 5.0), (3.0, 5.0), (3.0, 0.0), (9.0, 0.0)]);
    }
}
