// SPDX-License-Identifier: GPL-2.0-only
//! Size and proportions of figures: for a screen, or for a paper.

use clap::ValueEnum;
use plotters::coord::Shift;
use plotters::prelude::*;
use serde_json::{Value, json};

use super::figure::DASHES;
use super::{marker, palette};
use crate::chart::LineLook;

/// Where a chart goes.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// For whom plots are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// For a screen, with headings.
    #[default]
    Screen,
    /// For one column of a paper: 88 mm wide, type of 7 and 8 points, no headings, for a paper has captions.
    Paper,
    /// For both columns of a paper: 181 mm wide.
    PaperWide,
}

/// How a style looks. A figure is drawn in pixels, which the backend rounds to whole ones, so that there are more of
/// them than a page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Width on paper; else the pixels count.
    pub width_mm: Option<u32>,
    /// How large type, lines and margins are, relative to those on a screen.
    pub scale: f64,
    /// Whether there is a heading.
    pub headed: bool,
    /// Whether the legend is above the chart, rather than beside it.
    pub legend_above: bool,
    /// The family of its font.
    pub font: String,
}

/// The height of ticks' type, in pixels of a screen's figure.
pub const TICK_FONT: u32 = 22;
const POINTS_PER_INCH: f64 = 72.0;
const MM_PER_INCH: f64 = 25.4;

impl Style {
    /// How the style looks.
    pub fn look(self) -> Look {
        let screen = Look {
            size: (1280, 720),
            width_mm: None,
            scale: 1.0,
            headed: true,
            legend_above: false,
            font: "sans-serif".to_owned(),
        };
        match self {
            Style::Screen => screen,
            Style::Paper => screen.on_paper(88, 0.625),
            Style::PaperWide => screen.on_paper(181, 0.390_625),
        }
    }
}

impl Look {
    /// So wide on paper, and as many times so high, with type of seven points.
    pub fn on_paper(self, width_mm: u32, height: f64) -> Look {
        let size = (1280, (1280.0 * height).round() as u32);
        Look { size, width_mm: Some(width_mm), headed: false, legend_above: true, ..self }.with_type(7.0)
    }

    /// With ticks' type of so many points.
    pub fn with_type(self, points: f64) -> Look {
        let pixels_per_inch =
            self.width_mm.map_or(96.0, |width| f64::from(self.size.0) * MM_PER_INCH / f64::from(width));
        Look { scale: points / POINTS_PER_INCH * pixels_per_inch / f64::from(TICK_FONT), ..self }
    }

    /// A length of the screen's figures, in pixels.
    pub fn px(&self, length: u32) -> u32 {
        (f64::from(length) * self.scale).round().max(1.0) as u32
    }

    /// The figure in the size that it has on paper.
    pub fn sized(&self, svg: &str) -> String {
        let Some(width) = self.width_mm else { return svg.to_owned() };
        let height = f64::from(width * self.size.1) / f64::from(self.size.0);
        let pixels = format!("width=\"{}\" height=\"{}\"", self.size.0, self.size.1);
        svg.replacen(&pixels, &format!("width=\"{width}mm\" height=\"{height}mm\""), 1)
    }
}

/// How many looks are handed to others.
const LOOKS: usize = 64;

/// The looks of variants for who else draws charts: number of the colour, the colour on paper, dashes in pixels of a screen's
/// figure, and corners of the marker at a radius of 100.
pub fn looks() -> Value {
    let look = |variant: usize| {
        let look = LineLook::marked(variant);
        let RGBColor(red, green, blue) = palette::variant(variant);
        json!({
            "color": variant % palette::VARIANTS,
            "paper": format!("#{red:02x}{green:02x}{blue:02x}"),
            "dash": DASHES[look.dash % DASHES.len()].map_or(Vec::new(), |(dash, gap)| vec![dash, gap]),
            "mark": marker::outline(marker::shape(variant), 100.0),
        })
    };
    (0..LOOKS).map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_seven_points_high_on_paper() {
        for style in [Style::Paper, Style::PaperWide] {
            let look = style.look();
            let points =
                f64::from(look.px(22)) / f64::from(look.size.0) * f64::from(look.width_mm.expect("mm")) / 25.4 * 72.0;
            assert!((6.8..7.4).contains(&points), "{style:?}: {points}");
        }
    }
}
