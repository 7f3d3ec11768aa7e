// SPDX-License-Identifier: GPL-2.0-only
//! A figure as it is written: the drawing, its data, and a script that draws them with matplotlib.

use std::collections::BTreeMap;

use anyhow::Result;
use hpcc_model::visible;
use serde_json::{Value, json};

use plotters::style::RGBColor;

use super::figure::DASHES;
use super::{marker, palette};
use crate::chart::{Axis, Chart, LineLook, STROKE, Unit};

const SCRIPT: &str = include_str!("matplotlib.py");

/// What is written of a figure.
#[derive(Debug)]
pub struct Picture {
    /// The drawing.
    pub svg: String,
    /// Its data: a row for each value of each line.
    pub csv: String,
    /// A program that draws the data.
    pub script: String,
}

impl Picture {
    /// Of charts that were drawn.
    ///
    /// # Errors
    /// Never: it is written to memory.
    pub fn new(svg: String, charts: &[&Chart]) -> Result<Picture> {
        // The licence of the template is not for the reader's own script.
        let template = SCRIPT.split_once('\n').map_or(SCRIPT, |(_, rest)| rest);
        let axes: Vec<Value> = charts.iter().map(|chart| axes(chart)).collect();
        let lines: Vec<String> = axes.iter().map(|chart| format!("    {chart},\n")).collect();
        let svg = visible::lines(&svg).into_owned();
        Ok(Picture { svg, csv: csv(charts)?, script: template.replace("    # CHARTS\n", &lines.concat()) })
    }
}

/// A chart's axes in Python's words, which are those of JSON where nothing is true or null.
fn axes(chart: &Chart) -> Value {
    let scale = |axis: &Axis| if axis.log { "log" } else { "linear" };
    let ticks: Vec<Value> = chart.x.ticks.iter().map(|(at, name)| json!([at, name])).collect();
    let points = chart.lines.iter().map(|line| line.y.len()).max().unwrap_or(0);
    let styles: BTreeMap<&str, Value> =
        chart.lines.iter().rev().map(|line| (line.name.as_str(), style(line.look))).collect();
    let xlim = [chart.x.range.start, chart.x.range.end].map(|end| end / chart.x.tick_unit);
    json!({
        "x": with_unit(&chart.x),
        "y": with_unit(&chart.y),
        "xscale": scale(&chart.x),
        "yscale": scale(&chart.y),
        "xlim": xlim,
        "ylim": [chart.y.range.start, chart.y.range.end],
        "xticks": if chart.x.named { ticks } else { Vec::new() },
        "every": if chart.points { 1 } else { (points / 6).max(1) },
        "gap": chart.gap().min(1.0),
        "bars": u8::from(chart.points),
        "styles": styles,
        "drawstyle": if chart.stepped { "steps-post" } else { "default" },
    })
}

/// Matplotlib's markers in the order of ours.
const MARKERS: [&str; 8] = ["o", "s", "^", "D", "v", "*", "X", "P"];

fn style(look: LineLook) -> Value {
    let RGBColor(red, green, blue) = palette::variant(look.color);
    let mut style = json!({ "color": format!("#{red:02x}{green:02x}{blue:02x}") });
    if let Some((dash, gap)) = DASHES[look.dash % DASHES.len()] {
        // In widths of a line.
        style["dashes"] = json!([dash / STROKE, gap / STROKE]);
    }
    if let Some(mark) = look.mark {
        style["marker"] = json!(MARKERS[marker::shape(mark.shape)]);
    }
    style
}

fn with_unit(axis: &Axis) -> String {
    let unit = if axis.unit == Unit::Bytes { " (bytes)" } else { "" };
    format!("{}{unit}", axis.title)
}

fn csv(charts: &[&Chart]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Only where some seeds have no value, there is something to say of them.
    let has_seeds = charts.iter().flat_map(|chart| &chart.lines).any(|line| !line.seeds.is_empty());
    let columns = ["chart", "line", "x", "value", "low", "high", "few_flows"];
    writer.write_record(columns.into_iter().chain(has_seeds.then_some("seeds")))?;
    let number = |value: Option<f64>| value.map_or_else(String::new, six_digits);
    for chart in charts {
        for line in &chart.lines {
            for (place, value) in line.y.iter().enumerate().filter(|(_, value)| value.is_some()) {
                let (low, high) = line.band.get(place).copied().flatten().unzip();
                let few = u8::from(line.few.get(place) == Some(&true)).to_string();
                let x = number(Some(chart.at.place(place) / chart.x.tick_unit));
                let seeds = line.seeds.get(place).map_or_else(String::new, usize::to_string);
                let (chart, line) = (visible::cell(&chart.title), visible::cell(&line.name));
                let row = [&*chart, &*line, &x, &number(*value), &number(low), &number(high), &few];
                writer.write_record(row.into_iter().chain(has_seeds.then_some(seeds.as_str())))?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A number with six significant digits, which no machine computes otherwise.
fn six_digits(value: f64) -> String {
    format!("{value:.5e}").parse().unwrap_or(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{At, Line};

    #[test]
    fn data_have_a_row_for_each_value_in_the_unit_of_the_axis() {
        let line = Line {
            band: vec![None, Some((1.0, 3.0))],
            few: vec![false, true],
            seeds: vec![2, 1],
            ..Line::of_variant(0, "a, b", vec![None, Some(2.0 / 3.0)])
        };
        let formula = Line::of_variant(1, "=1+1", vec![Some(1.0)]);
        let chart = Chart {
            title: "Queue (kB)".into(),
            x: Axis::time(5e6, 0, 1),
            at: At::Steps { first: 0.0, step: 1_000.0, steps: 2 },
            y: Axis::value("Queue (kB)", 3.0),
            lines: vec![line, formula],
            stepped: true,
            points: false,
        };
        let picture = Picture::new("<svg>\u{fffe}</svg>\n".into(), &[&chart]).expect("in memory");
        let rows = "Queue (kB),\"a, b\",1,0.666667,1,3,1,1\nQueue (kB),'=1+1,0,1,,,0,\n";
        assert_eq!(picture.csv, format!("chart,line,x,value,low,high,few_flows,seeds\n{rows}"));
        assert_eq!(picture.svg, "<svg>\\u{fffe}</svg>\n", "XML cannot hold it");
        assert!(picture.script.starts_with("\"\"\"Draws") && picture.script.contains("\"drawstyle\":\"steps-post\""));
        let is_python = ["true", "false", "null"].iter().all(|word| !picture.script.contains(&format!(":{word}")));
        assert!(
            is_python && picture.script.contains("\"=1+1\":{\"color\":\"#d55e00\",\"marker\":\"s\"}"),
            "{}",
            picture.script
        );
    }
}
