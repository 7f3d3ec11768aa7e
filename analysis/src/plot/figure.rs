// SPDX-License-Identifier: GPL-2.0-only
//! What all figures share: size, fonts, title, axes, legend.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::line_style::LineStyle;
use super::look::{Area, Look};
use super::marker::{self, marker};
use super::palette::{GRID, INK};
use super::ruler::Ruler;

/// A chart whose ticks were chosen by hand.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

const TITLE_HEIGHT: u32 = 78;
/// The least of it.
const LEGEND_WIDTH: u32 = 230;
const TITLE_FONT: u32 = 30;
const SUBTITLE_FONT: u32 = 20;
const LABEL_FONT: u32 = 26;
const TICK_FONT: u32 = 22;
/// Radius of a dot that stands for one flow.
pub const DOT: u32 = 4;
/// Width of lines.
pub const STROKE: u32 = 3;

/// A line of the legend.
#[derive(Clone)]
pub struct LegendEntry {
    /// What it says.
    pub text: String,
    /// What is drawn so.
    pub sample: Sample,
}

/// A sample of what a legend explains.
#[derive(Clone, Copy)]
pub enum Sample {
    /// A line.
    Line(LineStyle),
    /// A line with the marker of this number.
    Marked(LineStyle, usize),
    /// A dot of this colour.
    Dot(RGBColor),
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

/// Renders a figure: a title, a smaller line below it, a legend at the right or above if there are entries, and in the
/// middle what `draw` makes of the remaining area.
///
/// # Errors
/// Those of the plotting library.
pub fn render(
    look: &Look,
    title: &str,
    subtitle: &str,
    legend: &[LegendEntry],
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, look.size).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(if look.headed { TITLE_HEIGHT } else { 0 });
        if look.headed {
            let heading = text(look.px(TITLE_FONT)).style(FontStyle::Bold).color(&INK);
            head.draw(&Text::new(title.to_owned(), (28, 18), heading))?;
            head.draw(&Text::new(subtitle.to_owned(), (28, 56), text(look.px(SUBTITLE_FONT)).color(&INK)))?;
        }
        if look.legend_above {
            let places = places_above(look, legend);
            let height = places.last().map_or(0, |(_, y)| *y + look.px(20) as i32);
            let (above, chart) = body.split_vertically(height);
            draw(&chart)?;
            draw_legend(look, &above, legend, &places)?;
        } else {
            let (chart, side) = body.split_horizontally(look.size.0 - legend_width(look, legend));
            draw(&chart)?;
            draw_legend(look, &side, legend, &places_beside(look, legend))?;
        }
        root.present()?;
    }
    Ok(look.sized(&svg))
}

/// Draws axes and grid.
///
/// # Errors
/// Those of the plotting library.
pub fn chart<'a, 'b>(look: &Look, area: &'a Area<'b>, x: &Axis, y: &Axis) -> Result<Chart<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .margin_left(look.px(20))
        .margin_right(look.px(20))
        .margin_top(look.px(16))
        .margin_bottom(look.px(14))
        .x_label_area_size(look.px(72))
        .y_label_area_size(look.px(92))
        .build_cartesian_2d(x.ruler.clone(), y.ruler.clone())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(x.ruler.ticks.len())
        .y_labels(y.ruler.ticks.len())
        .max_light_lines(0)
        .bold_line_style(GRID)
        .axis_style(INK.stroke_width(look.px(2)))
        .set_all_tick_mark_size(look.px(8))
        .x_desc(x.title.as_str())
        .y_desc(y.title.as_str())
        .axis_desc_style(text(look.px(LABEL_FONT)).color(&INK))
        .label_style(text(look.px(TICK_FONT)).color(&INK))
        .x_label_formatter(&|value| (x.label)(*value))
        .y_label_formatter(&|value| (y.label)(*value))
        .draw()?;
    Ok(chart)
}

/// A line through points of a chart.
///
/// # Errors
/// Those of the plotting library.
pub fn draw_line(
    look: &Look,
    area: &Area<'_>,
    chart: &Chart<'_, '_>,
    style: LineStyle,
    points: impl Iterator<Item = (f64, f64)>,
) -> Result<()> {
    style.draw(look, area, points.map(|point| pixel(area, chart, point)).collect())
}

/// Room for an entry, as far as the viewer's font is like others.
fn entry_width(look: &Look, entry: &LegendEntry) -> u32 {
    look.px(66 + 11 * entry.text.chars().count() as u32)
}

fn legend_width(look: &Look, entries: &[LegendEntry]) -> u32 {
    let widest = entries.iter().map(|entry| entry_width(look, entry)).max();
    widest.map_or(look.px(24), |width| width.max(look.px(LEGEND_WIDTH)))
}

/// Where entries begin that stand one below the other, closer together where they are many.
fn places_beside(look: &Look, entries: &[LegendEntry]) -> Vec<(i32, i32)> {
    let room = look.size.1.saturating_sub(TITLE_HEIGHT + 40) / entries.len().max(1) as u32;
    let distance = look.px(32).min(room).max(1);
    (0..entries.len()).map(|index| (0, (look.px(30) + distance * index as u32) as i32)).collect()
}

/// Where entries begin that stand in rows.
fn places_above(look: &Look, entries: &[LegendEntry]) -> Vec<(i32, i32)> {
    let (begin, mut y) = (look.px(60), look.px(24));
    let mut x = begin;
    let mut places = Vec::new();
    for entry in entries {
        let width = entry_width(look, entry);
        if x > begin && x + width > look.size.0 {
            (x, y) = (begin, y + look.px(32));
        }
        places.push((x as i32, y as i32));
        x += width;
    }
    places
}

fn draw_legend(look: &Look, area: &Area<'_>, entries: &[LegendEntry], places: &[(i32, i32)]) -> Result<()> {
    let style = text(look.px(TICK_FONT)).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let px = |length| look.px(length) as i32;
    for (entry, &(x, y)) in entries.iter().zip(places) {
        let ends = vec![(x + px(2), y), (x + px(42), y)];
        let middle = (x + px(22), y);
        match entry.sample {
            Sample::Line(line) => line.draw(look, area, ends)?,
            Sample::Marked(line, variant) => {
                line.draw(look, area, ends)?;
                area.draw(&marker(variant, middle, look.scale * marker::SIZE, line.color))?;
            }
            Sample::Dot(color) => area.draw(&Circle::new(middle, look.px(DOT), color.filled()))?,
        }
        area.draw(&Text::new(entry.text.clone(), (x + px(52), y), style.clone()))?;
    }
    Ok(())
}

/// The pixel of the area where a chart in it has a point.
pub fn pixel(area: &Area<'_>, chart: &Chart<'_, '_>, point: (f64, f64)) -> (i32, i32) {
    let ((x, y), (left, top)) = (chart.backend_coord(&point), area.get_base_pixel());
    (x - left, y - top)
}

/// A line of text, its left end above a pixel.
pub fn note(look: &Look, words: &str, at: (i32, i32)) -> Text<'static, (i32, i32), String> {
    let style = text(look.px(TICK_FONT)).color(&INK).pos(Pos::new(HPos::Left, VPos::Bottom));
    Text::new(words.to_owned(), (at.0 + 4, at.1 - 10), style)
}

/// SVG viewers bring their own fonts, so none is needed to draw.
fn text(size: u32) -> FontDesc<'static> {
    ("sans-serif", f64::from(size)).into_font()
}
