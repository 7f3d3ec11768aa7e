// SPDX-License-Identifier: GPL-2.0-only
//! Size and proportions of figures: for a screen, or for a paper.

use clap::ValueEnum;
use plotters::coord::Shift;
use plotters::prelude::*;

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
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

impl Style {
    /// How the style looks.
    pub fn look(self) -> Look {
        let paper = Look { size: (1280, 800), width_mm: Some(88), scale: 1.64, headed: false, legend_above: true };
        match self {
            Style::Screen => Look { size: (1280, 720), width_mm: None, scale: 1.0, headed: true, legend_above: false },
            Style::Paper => paper,
            Style::PaperWide => Look { size: (1280, 500), width_mm: Some(181), scale: 0.8, ..paper },
        }
    }
}

impl Look {
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
