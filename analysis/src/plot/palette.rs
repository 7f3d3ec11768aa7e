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

/// Supports of the viridis colour map up to its greens; its yellow end is left out.
const GRADIENT: [RGBColor; 5] =
    [RGBColor(68, 1, 84), RGBColor(59, 82, 139), RGBColor(33, 145, 140), RGBColor(94, 201, 98), RGBColor(170, 220, 50)];

/// The colour of line `index` of `count`: distinct hues while they last, else a gradient.
pub fn line(index: usize, count: usize) -> RGBColor {
    if count <= DISTINCT.len() {
        return DISTINCT[index % DISTINCT.len()];
    }
    let position = index.min(count - 1) as f64 / (count - 1) as f64 * (GRADIENT.len() - 1) as f64;
    let lower = (position as usize).min(GRADIENT.len() - 2);
    mix(GRADIENT[lower], GRADIENT[lower + 1], position - lower as f64)
}

/// The colour of a variant, the same however many there are: markers tell further ones apart.
pub fn variant(index: usize) -> RGBColor {
    DISTINCT.get(index % VARIANTS).copied().unwrap_or(GREY)
}

fn mix(from: RGBColor, to: RGBColor, share: f64) -> RGBColor {
    let channel = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    RGBColor(channel(from.0, to.0), channel(from.1, to.1), channel(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_runs_from_end_to_end() {
        assert_eq!(line(0, 20), GRADIENT[0]);
        assert_eq!(line(19, 20), GRADIENT[4]);
        assert_eq!(line(2, 3), DISTINCT[2]);
    }

    #[test]
    fn eight_variants_have_eight_colours() {
        let colors: Vec<RGBColor> = (0..8).map(variant).collect();
        assert!((0..8).all(|index| !colors[..index].contains(&colors[index])));
        assert_eq!(variant(8), colors[0]);
    }
}
