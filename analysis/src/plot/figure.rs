// SPDX-License-Identifier: GPL-2.0-only
//! What all figures share: size, fonts, title, axes, legend.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::marker::{self, marker};
use super::palette::{GRID, INK};
use super::ruler::Ruler;

/// Where a chart goes.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A chart whose ticks were chosen by hand.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// Pixels. The backend rounds to whole ones, so a figure has more than a page shows.
const SIZE: (u32, u32) = (1280, 720);
const TITLE_HEIGHT: u32 = 78;
/// The least of it.
const LEGEND_WIDTH: u32 = 230;
const TITLE_FONT: i32 = 30;
const SUBTITLE_FONT: i32 = 20;
const LABEL_FONT: i32 = 26;
const TICK_FONT: i32 = 22;
/// Radius of a dot that stands for one flow.
pub const DOT: i32 = 4;
/// Width of lines.
pub const STROKE: u32 = 3;

/// A line of the legend.
pub struct LegendEntry {
    /// What it says.
    pub text: String,
    /// The colour that it explains.
    pub color: RGBColor,
    /// What is drawn in that colour.
    pub mark: Mark,
}

/// A sample of what a legend explains.
#[derive(Clone, Copy)]
pub enum Mark {
    /// A line.
    Line,
    /// A dot.
    Dot,
    /// A line with the marker of this number.
    Marked(usize),
}

/// An axis.
pub struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    /// Its range and its ticks.
    pub ruler: Ruler,
    /// What is written at a tick.
    pub label: Box<dyn Fn(f64) -> String>,
}

/// Renders a figure: a title, a smaller line below it, a legend at the right if there are entries, and in the
/// middle what `draw` makes of the remaining area.
///
/// # Errors
/// Those of the plotting library.
pub fn render(
    title: &str,
    subtitle: &str,
    legend: &[LegendEntry],
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(TITLE_HEIGHT);
        head.draw(&Text::new(title.to_owned(), (28, 18), text(TITLE_FONT).style(FontStyle::Bold).color(&INK)))?;
        head.draw(&Text::new(subtitle.to_owned(), (28, 56), text(SUBTITLE_FONT).color(&INK)))?;
        let width = legend_width(legend);
        let (chart, side) = body.split_horizontally(SIZE.0 - width);
        draw(&chart)?;
        draw_legend(&side, legend)?;
        root.present()?;
    }
    Ok(svg)
}

/// Draws axes and grid.
///
/// # Errors
/// Those of the plotting library.
pub fn chart<'a, 'b>(area: &'a Area<'b>, x: &Axis, y: &Axis) -> Result<Chart<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .margin_left(20)
        .margin_right(20)
        .margin_top(16)
        .margin_bottom(14)
        .x_label_area_size(72)
        .y_label_area_size(92)
        .build_cartesian_2d(x.ruler.clone(), y.ruler.clone())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(x.ruler.ticks.len())
        .y_labels(y.ruler.ticks.len())
        .max_light_lines(0)
        .bold_line_style(GRID)
        .axis_style(INK.stroke_width(2))
        .set_all_tick_mark_size(8)
        .x_desc(x.title.as_str())
        .y_desc(y.title.as_str())
        .axis_desc_style(text(LABEL_FONT).color(&INK))
        .label_style(text(TICK_FONT).color(&INK))
        .x_label_formatter(&|value| (x.label)(*value))
        .y_label_formatter(&|value| (y.label)(*value))
        .draw()?;
    Ok(chart)
}

/// Room for the longest text, as far as the viewer's font is like others.
fn legend_width(entries: &[LegendEntry]) -> u32 {
    let longest = entries.iter().map(|entry| entry.text.chars().count() as u32).max();
    longest.map_or(24, |letters| (54 + 11 * letters).max(LEGEND_WIDTH))
}

fn draw_legend(area: &Area<'_>, entries: &[LegendEntry]) -> Result<()> {
    let style = text(TICK_FONT).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    for (index, entry) in entries.iter().enumerate() {
        let y = 30 + 32 * index as i32;
        match entry.mark {
            Mark::Line => area.draw(&PathElement::new([(4, y), (40, y)], entry.color.stroke_width(STROKE + 1)))?,
            Mark::Marked(index) => {
                area.draw(&PathElement::new([(2, y), (42, y)], entry.color.stroke_width(STROKE)))?;
                area.draw(&marker(index, (22, y), marker::SIZE, entry.color))?;
            }
            Mark::Dot => area.draw(&Circle::new((22, y), DOT, entry.color.filled()))?,
        }
        area.draw(&Text::new(entry.text.clone(), (52, y), style.clone()))?;
    }
    Ok(())
}

/// The pixel of the area where a chart in it has a point.
pub fn pixel(area: &Area<'_>, chart: &Chart<'_, '_>, point: (f64, f64)) -> (i32, i32) {
    let ((x, y), (left, top)) = (chart.backend_coord(&point), area.get_base_pixel());
    (x - left, y - top)
}

/// A line of text, its left end above a pixel.
pub fn note(words: &str, at: (i32, i32)) -> Text<'static, (i32, i32), String> {
    let style = text(TICK_FONT).color(&INK).pos(Pos::new(HPos::Left, VPos::Bottom));
    Text::new(words.to_owned(), (at.0 + 4, at.1 - 10), style)
}

/// SVG viewers bring their own fonts, so none is needed to draw.
fn text(size: i32) -> FontDesc<'static> {
    ("sans-serif", size).into_font()
}
