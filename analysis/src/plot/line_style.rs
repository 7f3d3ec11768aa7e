// SPDX-License-Identifier: GPL-2.0-only
//! Lines that are told apart by colour and by dashes, for those who print in black or see few colours.

use anyhow::Result;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::look::{Area, Look};
use super::palette;

/// Lengths of dash and gap in pixels; none for a solid line.
const DASHES: [Option<(u32, u32)>; 4] = [None, Some((16, 9)), Some((4, 7)), Some((30, 8))];

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStyle {
    /// Its colour.
    pub color: RGBColor,
    /// Number of its dashes.
    pub dash: usize,
    /// Its width in pixels of a screen's figure.
    pub width: u32,
}

impl LineStyle {
    /// The line of a variant: the first four are solid, and where a colour comes back its dashes are others, for 32
    /// variants.
    pub fn of_variant(variant: usize, width: u32) -> LineStyle {
        LineStyle { color: palette::variant(variant), dash: (variant / 4 + variant / 16) % DASHES.len(), width }
    }

    /// Draws it through points, in pixels of the area.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn draw(&self, look: &Look, area: &Area<'_>, points: Vec<(i32, i32)>) -> Result<()> {
        let style = self.color.stroke_width(look.px(self.width));
        match DASHES[self.dash % DASHES.len()] {
            None => area.draw(&PathElement::new(points, style))?,
            Some((length, gap)) => {
                area.draw(&DashedPathElement::new(points, look.px(length), look.px(gap), style))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::marker::shape;

    #[test]
    fn no_two_of_many_variants_look_alike() {
        let looks: Vec<_> = (0..32).map(|variant| LineStyle::of_variant(variant, 3)).collect();
        let shapes: Vec<usize> = (0..32).map(shape).collect();
        for (one, other) in (0..32).flat_map(|one| (0..one).map(move |other| (one, other))) {
            assert_ne!(
                (looks[one].color, looks[one].dash),
                (looks[other].color, looks[other].dash),
                "lines {one} {other}"
            );
            assert_ne!((looks[one].color, shapes[one]), (looks[other].color, shapes[other]), "markers {one} {other}");
            // Without colours.
            let in_grey = (looks[one].dash, shapes[one]) != (looks[other].dash, shapes[other]);
            assert!(in_grey || one >= 16, "in grey {one} {other}");
        }
    }
}
