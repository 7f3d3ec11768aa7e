// SPDX-License-Identifier: GPL-2.0-only
//! Colours that readers with colour-blindness can tell apart.

use plotters::style::RGBColor;

/// Text and axes.
pub const INK: RGBColor = RGBColor(38, 38, 38);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(224, 224, 224);
/// Individual flows behind a statistic.
pub const FAINT: RGBColor = RGBColor(176, 176, 176);

/// Okabe and Ito's set without its yellow, which is too pale for lines on white.
const DISTINCT: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

/// The eighth of the colours that tell variants apart.
const GREY: RGBColor = RGBColor(119, 119, 119);
/// How many of those there are.
pub const VARIANTS: usize = DISTINCT.len() + 1;

/// The colour of a variant, the same however many there are: dashes and markers tell further ones apart.
pub fn variant(index: usize) -> RGBColor {
    DISTINCT.get(index % VARIANTS).copied().unwrap_or(GREY)
}
