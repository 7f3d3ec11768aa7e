// SPDX-License-Identifier: GPL-2.0-only
//! Markers that tell lines apart where colours do not.

use std::f64::consts::TAU;

use plotters::prelude::*;

use super::palette;

/// Radius that shows the shape of a marker, in pixels.
pub const SIZE: f64 = 9.0;

/// Number `index` of the markers, around a pixel. Together with the variant's colour no two are alike up to 64.
pub fn marker(index: usize, at: (i32, i32), size: f64, color: RGBColor) -> Polygon<(i32, i32)> {
    let corners: Vec<(i32, i32)> = outline(shape(index), size).into_iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect();
    Polygon::new(corners, color.filled())
}

/// Which of the eight shapes a variant has: another one where its colour comes back.
pub fn shape(index: usize) -> usize {
    (index + index / palette::VARIANTS) % 8
}

/// Corners of a shape.
pub fn outline(shape: usize, size: f64) -> Vec<(i32, i32)> {
    match shape {
        0 => star(20, 1.0, 1.0, 0.0, 0.9 * size),
        1 => star(4, 1.0, 1.0, 0.125, 1.15 * size),
        2 => star(3, 1.0, 1.0, 0.0, 1.25 * size),
        3 => star(4, 1.0, 1.0, 0.0, 1.2 * size),
        4 => star(3, 1.0, 1.0, 0.5, 1.25 * size),
        5 => star(10, 1.0, 0.45, 0.0, 1.3 * size),
        6 => star(8, 1.0, 0.35, 0.125, 1.35 * size),
        _ => star(8, 1.0, 0.35, 0.0, 1.35 * size),
    }
}

/// A polygon with corners at two radii in turn, turned by a share of the circle.
fn star(corners: u32, outer: f64, inner: f64, turn: f64, size: f64) -> Vec<(i32, i32)> {
    let corner = |index: u32| {
        let angle = TAU * (f64::from(index) / f64::from(corners) + turn - 0.25);
        let radius = size * if index.is_multiple_of(2) { outer } else { inner };
        ((radius * angle.cos()).round() as i32, (radius * angle.sin()).round() as i32)
    };
    (0..corners).map(corner).collect()
}
