// SPDX-License-Identifier: GPL-2.0-only
//! `slowdown-by-axis.svg`: how the slowdown changes along the axis.

use anyhow::Result;

use super::super::file::{Axis, SweepFile};
use super::super::group::Group;
use super::{names, subtitle};
use crate::plot::panels::{Panel, Panels};
use crate::plot::{self, Look, slowdown_axis, slowdown_scale};

/// Draws the figure, if there is an axis and a flow completed.
///
/// # Errors
/// Those of the plotting library.
pub fn draw(file: &SweepFile, look: &Look, groups: &[Group<'_>]) -> Result<Option<String>> {
    let Some(axis) = &file.axis else { return Ok(None) };
    if groups.iter().all(|group| group.flows().next().is_none()) {
        return Ok(None);
    }
    let percentiles = [("Median slowdown", "slowdown_p50"), ("99th percentile of the slowdown", "slowdown_p99")];
    let panels = percentiles.map(|(title, metric)| panel(file, axis, groups, title, metric));
    let firsts: Vec<&Group<'_>> = groups.iter().filter(|group| group.step == 0).collect();
    let figure = Panels {
        title: format!("Slowdown by {}", axis.name),
        subtitle: subtitle(file, "all flows", &[]),
        variants: names(&firsts),
        panels: panels.into(),
    };
    figure.render(look).map(Some)
}

fn panel(file: &SweepFile, axis: &Axis, groups: &[Group<'_>], title: &str, metric: &str) -> Panel {
    let mean = |group: &Group<'_>| {
        let values = group.values(metric);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let highest = groups.iter().filter_map(mean).fold(1.0, f64::max);
    let scale = slowdown_scale(highest);
    let line = |variant: usize| {
        let own = groups.iter().filter(|group| group.index == variant);
        own.filter_map(|group| Some((group.step as f64, scale(mean(group)?)))).collect()
    };
    let lines = (0..file.variants.len()).map(line).collect();
    Panel { x: steps(axis), y: slowdown_axis(title, highest), lines, every_point: true }
}

/// Values at equal distances, for they may be words.
fn steps(axis: &Axis) -> plot::Axis {
    let labels: Vec<String> = axis.values.iter().map(|(label, _)| label.clone()).collect();
    let ticks = (0..labels.len()).map(|step| step as f64).collect();
    let ruler = plot::Ruler { range: -0.3..labels.len() as f64 - 0.7, ticks };
    let label = move |step: f64| labels.get(step.round() as usize).cloned().unwrap_or_default();
    plot::Axis { title: axis.name.clone(), ruler, label: Box::new(label) }
}
