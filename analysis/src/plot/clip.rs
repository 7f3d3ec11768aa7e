// SPDX-License-Identifier: GPL-2.0-only
//! What of a line is within the range of its chart.

use std::ops::Range;

/// The part of the way from one point to another that is in a range, from 0 to 1 (Liang and Barsky).
fn part(from: f64, to: f64, range: &Range<f64>, (enter, leave): (f64, f64)) -> (f64, f64) {
    let way = to - from;
    if way == 0.0 {
        return if (range.start..=range.end).contains(&from) { (enter, leave) } else { (1.0, 0.0) };
    }
    let (a, b) = ((range.start - from) / way, (range.end - from) / way);
    (enter.max(a.min(b)), leave.min(a.max(b)))
}

/// The pieces of a line that are in a rectangle.
pub fn pieces(points: &[(f64, f64)], x: &Range<f64>, y: &Range<f64>) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (enter, leave) = part(from.1, to.1, y, part(from.0, to.0, x, (0.0, 1.0)));
        if enter > leave {
            continue;
        }
        let at = |share: f64| match share {
            0.0 => from,
            1.0 => to,
            share => (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)),
        };
        match pieces.last_mut().filter(|piece| enter == 0.0 && piece.last() == Some(&from)) {
            Some(piece) => piece.push(at(leave)),
            None => pieces.push(vec![at(enter), at(leave)]),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_at_the_border_and_comes_back() {
        let line = [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0), (3.0, 1.0), (9.0, 1.0)];
        let inside = pieces(&line, &(0.0..4.0), &(0.0..2.0));
        assert_eq!(inside, [vec![(0.0, 1.0), (1.0, 1.0), (1.5, 2.0)], vec![(2.5, 2.0), (3.0, 1.0), (4.0, 1.0)]]);
        assert_eq!(pieces(&line, &(0.0..9.0), &(0.0..3.0)), [line.to_vec()]);
        assert!(pieces(&line, &(20.0..30.0), &(0.0..2.0)).is_empty());
    }
}
