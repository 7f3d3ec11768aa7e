// SPDX-License-Identifier: GPL-2.0-only
//! What all figures share: size, fonts, title, axes, legend.

use anyhow::Result;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::clip;
use super::look::{Area, Look, TICK_FONT};
use super::marker::{self, marker};
use super::palette::{self, FAINT, GRID, INK};
use super::picture::Picture;
use super::ruler::Ruler;
use crate::chart::{Axis, Chart, Line, LineLook};

/// A chart whose ticks were chosen by hand.
pub type Drawn<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

const TITLE_HEIGHT: u32 = 78;
/// Least width of the legend.
const LEGEND_WIDTH: u32 = 230;
const TITLE_FONT: u32 = 30;
const SUBTITLE_FONT: u32 = 20;
const LABEL_FONT: u32 = 26;
/// Radius of a dot that stands for one flow.
pub const DOT: u32 = 4;

/// Charts side by side below one heading.
pub struct Figure {
    /// Heading.
    pub title: String,
    /// Second line of the heading.
    pub subtitle: String,
    /// From left to right.
    pub charts: Vec<Chart>,
}

/// A line of the legend.
#[derive(Clone)]
pub struct LegendEntry {
    /// Its words.
    pub text: String,
    /// The sign that they explain.
    pub sign: Sign,
}

/// A sign of the legend.
#[derive(Clone, Copy)]
pub enum Sign {
    /// The line that looks so.
    Line(LineLook),
    /// A dot for a flow.
    Dot,
    /// A marker that is empty.
    Few,
}

impl LegendEntry {
    /// What an empty marker means, if a line has one.
    pub fn few<'a>(mut lines: impl Iterator<Item = &'a Line>) -> Option<LegendEntry> {
        let any = lines.any(|line| line.few.contains(&true));
        any.then(|| LegendEntry { text: "< 10 flows above".to_owned(), sign: Sign::Few })
    }
}

impl Figure {
    /// Whether its axes leave nothing to see of its lines.
    pub fn is_empty(&self) -> bool {
        self.charts.iter().all(|chart| chart.lines.iter().all(|line| !shows(chart, line)))
    }

    /// Draws the figure, with a legend of its lines if they have several names.
    ///
    /// # Errors
    /// Those of the plotting library.
    pub fn render(&self, look: &Look) -> Result<Picture> {
        let mut legend: Vec<LegendEntry> = Vec::new();
        for line in self.charts.iter().max_by_key(|chart| chart.lines.len()).into_iter().flat_map(|chart| &chart.lines)
        {
            if legend.iter().all(|entry| entry.text != line.name) {
                legend.push(LegendEntry { text: line.name.clone(), sign: Sign::Line(line.look) });
            }
        }
        let mut subtitle = self.subtitle.clone();
        // One name needs no legend.
        if let [only] = &legend[..] {
            if !only.text.is_empty() {
                subtitle += &format!("; {}", only.text);
            }
            legend.clear();
        }
        legend.extend(LegendEntry::few(self.charts.iter().flat_map(|chart| &chart.lines)));
        let svg = render(look, &self.title, &subtitle, &legend, |area| {
            for (chart, area) in self.charts.iter().zip(area.split_evenly((1, self.charts.len()))) {
                let drawn = axes(look, &area, &chart.x, &chart.y)?;
                draw_lines(look, &area, &drawn, chart)?;
            }
            Ok(())
        })?;
        Picture::new(svg, &self.charts.iter().collect::<Vec<_>>())
    }
}

/// Draws the lines of a chart, the first on top.
///
/// # Errors
/// Those of the plotting library.
pub fn draw_lines(look: &Look, area: &Area<'_>, drawn: &Drawn<'_, '_>, chart: &Chart) -> Result<()> {
    let (x, y) = (chart.x.ruler().range, chart.y.ruler().range);
    let inside = |at: &(f64, f64)| chart.holds(*at);
    let scaled = |point: &(f64, f64)| (chart.x.scaled(point.0), chart.y.scaled(point.1));
    let across = |x| f64::from(pixel(area, drawn, (x, y.start)).0);
    let room = chart.gap() * (across(x.end) - across(x.start));
    for (number, line) in chart.lines.iter().enumerate().rev() {
        let aside = aside(look, chart, number, room);
        let pixel = |at: &(f64, f64)| {
            let (x, y) = pixel(area, drawn, *at);
            (x + aside, y)
        };
        draw_band(look, area, drawn, chart, (line, aside))?;
        let (points, corners) = course(chart, line);
        for piece in clip::pieces(&corners, &x, &y) {
            stroke(look, area, line.look, piece.iter().map(pixel).collect())?;
        }
        // Marks along a course tell lines from each other.
        let has_marks = chart.points || chart.lines.len() > 1;
        let Some(mark) = line.look.mark.filter(|_| has_marks) else { continue };
        let every = if chart.points { 1 } else { (points.len() / 6).max(1) };
        // Lines that coincide show all their markers if those do not coincide, too.
        let first = if chart.points { 0 } else { mark.shape * every / 8 };
        let few =
            (0..line.y.len()).filter(|place| line.y[*place].is_some()).map(|place| line.few.get(place) == Some(&true));
        let marks = points.iter().map(scaled).zip(few).skip(first).step_by(every);
        for (at, few) in marks.filter(|(at, _)| inside(at)) {
            let size = mark.size * look.scale;
            if mark.edged {
                area.draw(&marker(mark.shape, pixel(&at), size + 3.0 * look.scale, WHITE))?;
            }
            area.draw(&marker(mark.shape, pixel(&at), size, palette::variant(line.look.color)))?;
            if few {
                area.draw(&marker(mark.shape, pixel(&at), EMPTY * size, WHITE))?;
            }
        }
        for (at, seeds) in less_seeds(chart, line) {
            let at = scaled(&at);
            if inside(&at) {
                let (x, y) = pixel(&at);
                let place = (x + look.px(10) as i32, y - look.px(20) as i32);
                area.draw(&Text::new(seeds.to_string(), place, text(look, SUBTITLE_FONT).color(&INK)))?;
            }
        }
    }
    Ok(())
}

/// Whether something of a line is within the axes of its chart.
fn shows(chart: &Chart, line: &Line) -> bool {
    let (_, corners) = course(chart, line);
    let pieces = clip::pieces(&corners, &chart.x.ruler().range, &chart.y.ruler().range);
    !pieces.is_empty() || corners.iter().any(|at| chart.holds(*at))
}

/// Places on the two axes.
type Points = Vec<(f64, f64)>;

/// The points of a line, and the corners between which it is drawn, in pixels' scale.
fn course(chart: &Chart, line: &Line) -> (Points, Points) {
    let places = line.y.iter().enumerate();
    let points: Points = places.filter_map(|(index, value)| Some((chart.at.place(index), (*value)?))).collect();
    let corners = if chart.stepped { staircase(&points, chart.at.place(line.y.len())) } else { points.clone() };
    let scaled = |point: &(f64, f64)| (chart.x.scaled(point.0), chart.y.scaled(point.1));
    let corners = corners.iter().map(scaled).collect();
    (points, corners)
}

impl Chart {
    /// Whether a point, on the scales of the axes, is within them.
    fn holds(&self, at: (f64, f64)) -> bool {
        let (x, y) = (self.x.ruler().range, self.y.ruler().range);
        (x.start..=x.end).contains(&at.0) && (y.start..=y.end).contains(&at.1)
    }
}

/// The points of a line that are of fewer seeds than others, with how many.
fn less_seeds<'a>(chart: &'a Chart, line: &'a Line) -> impl Iterator<Item = ((f64, f64), usize)> + 'a {
    let most = line.seeds.iter().max().copied().unwrap_or(0);
    let less = line.seeds.iter().enumerate().filter(move |(_, seeds)| chart.points && **seeds < most);
    less.filter_map(|(place, seeds)| Some(((chart.at.place(place), line.y[place]?), *seeds)))
}

/// How many pixels a line is drawn aside, so that bars at one place do not hide each other; of places that are so many pixels
/// apart.
fn aside(look: &Look, chart: &Chart, number: usize, room: f64) -> i32 {
    let has_bars = |line: &Line| line.band.iter().flatten().next().is_some();
    let places = chart.lines.iter().map(|line| line.y.len()).max().unwrap_or(0);
    let lines_at =
        |place: usize| chart.lines.iter().filter(|line| line.y.get(place).is_some_and(Option::is_some)).count();
    if !chart.points || !chart.lines.iter().any(has_bars) || (0..places).all(|place| lines_at(place) < 2) {
        return 0;
    }
    let step = f64::from(look.px(BESIDE)).min(room * ASIDE / chart.lines.len() as f64);
    ((number as f64 - (chart.lines.len() - 1) as f64 / 2.0) * step).round() as i32
}

/// Between the bars of two lines, in pixels of a screen's figure.
const BESIDE: u32 = 10;
/// The part of the room between two places that all lines together take.
const ASIDE: f64 = 0.5;

/// The size of an empty marker's middle, of the whole.
const EMPTY: f64 = 0.6;
/// Half the width of a bar's cap, in pixels of a screen's figure.
const CAP: u32 = 4;
/// How much of its colour a band has.
const BAND: f64 = 0.2;

/// Draws where the seeds' values are: as a band, or as bars where points are marked.
fn draw_band(
    look: &Look,
    area: &Area<'_>,
    drawn: &Drawn<'_, '_>,
    chart: &Chart,
    (line, aside): (&Line, i32),
) -> Result<()> {
    let (x, y) = (chart.x.ruler().range, chart.y.ruler().range);
    let at = |place: usize, value: f64| {
        // A logarithmic axis has no place for 0.
        let height = chart.y.scaled(value).max(y.start).min(y.end);
        let (x, y) = pixel(area, drawn, (chart.x.scaled(chart.at.place(place)).clamp(x.start, x.end), height));
        (x + aside, y)
    };
    let ends = line.band.iter().enumerate().filter_map(|(place, band)| Some((place, (*band)?)));
    let color = palette::variant(line.look.color);
    if chart.points {
        let cap = look.px(CAP) as i32;
        for (place, (low, high)) in ends.filter(|(_, (low, high))| high > low) {
            let ((x, low), (_, high)) = (at(place, low), at(place, high));
            // One stroke: cap, bar, cap.
            let bar = vec![(x - cap, low), (x + cap, low), (x, low), (x, high), (x - cap, high), (x + cap, high)];
            area.draw(&PathElement::new(bar, color.mix(0.6).stroke_width(look.px(2))))?;
        }
        return Ok(());
    }
    let (mut low, high): (Vec<_>, Vec<_>) = ends.map(|(place, (low, high))| (at(place, low), at(place, high))).unzip();
    low.extend(high.into_iter().rev());
    if !low.is_empty() {
        area.draw(&Polygon::new(low, color.mix(BAND).filled()))?;
    }
    Ok(())
}

/// Turns values that hold until the next point into the corners of a line that ends at `end`.
fn staircase(points: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut value = 0.0;
    let corner = |&(time, next): &(f64, f64)| [(time, std::mem::replace(&mut value, next)), (time, next)];
    let mut corners: Vec<(f64, f64)> = points.iter().flat_map(corner).collect();
    corners.push((end, value));
    corners
}

/// Lengths of dash and gap in pixels; none for a solid line.
pub const DASHES: [Option<(u32, u32)>; 4] = [None, Some((16, 9)), Some((4, 7)), Some((30, 8))];

/// Draws a line through pixels of the area.
fn stroke(look: &Look, area: &Area<'_>, line: LineLook, points: Vec<(i32, i32)>) -> Result<()> {
    let style = palette::variant(line.color).stroke_width(look.px(line.width));
    match DASHES[line.dash % DASHES.len()] {
        None => area.draw(&PathElement::new(points, style))?,
        Some((length, gap)) => area.draw(&DashedPathElement::new(points, look.px(length), look.px(gap), style))?,
    }
    Ok(())
}

impl Axis {
    /// The place of a value on an axis, linear in pixels.
    pub fn scaled(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    fn ruler(&self) -> Ruler {
        let ticks = self.ticks.iter().map(|(tick, _)| self.scaled(*tick)).collect();
        Ruler { range: self.scaled(self.range.start)..self.scaled(self.range.end), ticks }
    }

    fn label(&self, scaled: f64) -> String {
        let known = self.ticks.iter().find(|(tick, _)| (self.scaled(*tick) - scaled).abs() < 1e-9);
        known.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Renders a figure: a title, a smaller line below it, a legend at the right or above if there are entries, and in the
/// middle the drawing of `draw`.
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
            let heading = text(look, TITLE_FONT).style(FontStyle::Bold).color(&INK);
            head.draw(&Text::new(title.to_owned(), (28, 18), heading))?;
            head.draw(&Text::new(subtitle.to_owned(), (28, 56), text(look, SUBTITLE_FONT).color(&INK)))?;
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
pub fn axes<'a, 'b>(look: &Look, area: &'a Area<'b>, x: &Axis, y: &Axis) -> Result<Drawn<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .margin_left(look.px(20))
        .margin_right(look.px(20))
        .margin_top(look.px(16))
        .margin_bottom(look.px(14))
        .x_label_area_size(look.px(72))
        .y_label_area_size(look.px(92))
        .build_cartesian_2d(x.ruler(), y.ruler())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len())
        .max_light_lines(0)
        .bold_line_style(GRID)
        .axis_style(INK.stroke_width(look.px(2)))
        .set_all_tick_mark_size(look.px(8))
        .x_desc(x.title.as_str())
        .y_desc(y.title.as_str())
        .axis_desc_style(text(look, LABEL_FONT).color(&INK))
        .label_style(text(look, TICK_FONT).color(&INK))
        .x_label_formatter(&|value| x.label(*value))
        .y_label_formatter(&|value| y.label(*value))
        .draw()?;
    Ok(chart)
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
    let style = text(look, TICK_FONT).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let px = |length| look.px(length) as i32;
    for (entry, &(x, y)) in entries.iter().zip(places) {
        let ends = vec![(x + px(2), y), (x + px(42), y)];
        let middle = (x + px(22), y);
        match entry.sign {
            Sign::Line(line) => stroke(look, area, line, ends)?,
            Sign::Dot => area.draw(&Circle::new(middle, look.px(DOT), FAINT.filled()))?,
            Sign::Few => area.draw(&Circle::new(middle, look.px(2 * DOT), INK.stroke_width(look.px(2))))?,
        }
        if let Sign::Line(LineLook { color, mark: Some(mark), .. }) = entry.sign {
            area.draw(&marker(mark.shape, middle, look.scale * marker::SIZE, palette::variant(color)))?;
        }
        area.draw(&Text::new(entry.text.clone(), (x + px(52), y), style.clone()))?;
    }
    Ok(())
}

/// The pixel of the area where a chart in it has a point.
pub fn pixel(area: &Area<'_>, chart: &Drawn<'_, '_>, point: (f64, f64)) -> (i32, i32) {
    let ((x, y), (left, top)) = (chart.backend_coord(&point), area.get_base_pixel());
    (x - left, y - top)
}

/// SVG viewers bring their own fonts, so none is needed to draw.
fn text(look: &Look, size: u32) -> FontDesc<'_> {
    (look.font.as_str(), f64::from(look.px(size))).into_font()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marker::shape;

    #[test]
    fn a_staircase_starts_empty_and_reaches_the_end() {
        let corners = staircase(&[(1.0, 5.0), (3.0, 0.0)], 9.0);
        assert_eq!(corners, [(1.0, 0.0), (1.0, 5.0), (3.0, 5.0), (3.0, 0.0), (9.0, 0.0)]);
    }

    #[test]
    fn seeds_are_a_band_or_bars_and_few_flows_an_empty_marker_within_the_range() {
        let drawn = |points: bool, band: Vec<Option<(f64, f64)>>, few: Vec<bool>, end: f64| {
            let line = Line { band, few, ..Line::of_variant(0, "a", vec![Some(1.0), Some(2.0), Some(4.0)]) };
            let chart = Chart {
                title: "y".into(),
                x: Axis::up_to("x", 2.0),
                at: crate::chart::At::Steps { first: 0.0, step: 1.0, steps: 3 },
                y: Axis::up_to("y", end),
                lines: vec![line],
                stepped: false,
                points,
            };
            let figure = Figure { title: String::new(), subtitle: String::new(), charts: vec![chart] };
            figure.render(&crate::plot::look::Style::Paper.look()).expect("drawn").svg
        };
        let count = |svg: &str, part: &str| svg.matches(part).count();
        let band = vec![Some((0.5, 1.5)), None, Some((3.0, 5.0))];
        let plain = drawn(true, Vec::new(), Vec::new(), 6.0);
        assert_eq!(count(&drawn(false, band.clone(), Vec::new(), 6.0), "opacity=\"0.2\""), 1, "a band");
        assert_eq!(count(&drawn(true, band, Vec::new(), 6.0), "opacity=\"0.6\""), 2, "two bars");
        let few = drawn(true, Vec::new(), vec![false, false, true], 6.0);
        assert_eq!(count(&few, "<polygon"), count(&plain, "<polygon") + 1, "one marker is empty");
        assert!(few.contains("flows above") && !plain.contains("flows above"));
        let cut = drawn(true, Vec::new(), Vec::new(), 3.0);
        assert_eq!(count(&cut, "<polygon"), count(&plain, "<polygon") - 1, "a marker is out of range");
    }

    #[test]
    fn no_two_of_many_variants_look_alike() {
        let look = |variant: usize| {
            let line = LineLook::marked(variant);
            (palette::variant(line.color), line.dash % DASHES.len(), shape(variant))
        };
        for (one, other) in (0..32).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let ((color, dash, shape), (color2, dash2, shape2)) = (look(one), look(other));
            assert!((color, dash) != (color2, dash2) && (color, shape) != (color2, shape2), "{one} {other}");
            // Without colours.
            assert!((dash, shape) != (dash2, shape2) || one >= 16, "in grey {one} {other}");
        }
    }
}
