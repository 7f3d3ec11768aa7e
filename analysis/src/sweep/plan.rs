// SPDX-License-Identifier: GPL-2.0-only
//! The runs that a sweep file asks for, each checked as the simulator is going to check it.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hpcc_core::cc::{LineRate, TcpClass};
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_core::telemetry::{Layout, Snapshot};
use hpcc_core::topology::NodeKind;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_formats::error::InputError;
use hpcc_formats::kind::{FileKind, kind};
use hpcc_formats::overlap;
use hpcc_formats::scenario::Scenario;
use hpcc_measures::select::Selection;

use super::claim::Series;
use super::file::{Placed, SweepFile, Variant};

/// The key that seeds set.
const SEED_KEY: &str = "run.seed";

/// One run of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Index of the variant.
    pub variant: usize,
    /// Number of the combination of the axes' values; 0 without an axis.
    pub step: usize,
    /// The seed, if the sweep file gives any.
    pub seed: Option<u64>,
    /// Folder below the sweep's: `dcqcn/load-0.5/seed-2`.
    pub folder: PathBuf,
    /// `KEY=VALUE` each.
    pub overrides: Vec<String>,
    /// What the scenario says that no result tells.
    pub facts: Facts,
    /// Hash of what the run is made from, but for the program.
    pub inputs: String,
}

/// What the reports need to know of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of telemetry in a frame as it leaves its sender.
    pub telemetry_sender_bytes: usize,
    /// Bytes that each switch adds.
    pub telemetry_hop_bytes: usize,
    /// Ports of switches.
    pub switch_ports: usize,
    /// Ports of switches and hosts.
    pub ports: usize,
    /// Whether its hosts have ns-3's own stack.
    pub stack: bool,
    /// Whether the run records queue lengths.
    pub records_queues: bool,
    /// Whether it records what flows deliver.
    pub records_goodput: bool,
    /// Whether it records what congestion control makes of flows.
    pub records_control: bool,
}

/// A setting and where it came from; the command line has no line.
struct Setting {
    text: String,
    line: Option<u32>,
}

/// Every run of the sweep: by variant, then by step of the axes, then by seed.
///
/// # Errors
/// If a setting does not suit the scenario, with the line of the sweep file that makes it.
pub fn plan(file: &SweepFile, set: &[String]) -> Result<Vec<Run>, InputError> {
    checked(file, combinations(file).iter().map(|chosen| run(file, set, chosen)))
}

/// The run of this number, from 1, in the order of [`plan`]; the others are not looked at.
///
/// # Errors
/// As [`plan`], and if there are fewer runs.
pub fn plan_one(file: &SweepFile, set: &[String], number: usize) -> Result<Run> {
    let all = combinations(file);
    let Some(chosen) = number.checked_sub(1).and_then(|index| all.get(index)) else {
        bail!("--run {number}: {} has runs 1 to {}", file.path.display(), all.len());
    };
    let mut planned = checked(file, [run(file, set, chosen)].into_iter())?;
    Ok(planned.remove(0))
}

/// The scenario of a run.
///
/// # Errors
/// If a file of it was changed since the run was planned.
pub fn scenario(file: &SweepFile, overrides: &[String]) -> Result<Scenario, InputError> {
    hpcc_formats::load_with(&file.base, overrides, defaults())
}

/// What makes a run: index of the variant, step of the axes, seed.
type Combination<'a> = (usize, usize, Option<&'a Placed<u64>>);

fn combinations(file: &SweepFile) -> Vec<Combination<'_>> {
    let seeds: Vec<Option<&Placed<u64>>> = match file.seeds.as_slice() {
        [] => vec![None],
        seeds => seeds.iter().map(Some).collect(),
    };
    let variants = 0..file.variants.len();
    let steps = variants.flat_map(|variant| (0..file.axes.steps()).map(move |step| (variant, step)));
    steps.flat_map(|(variant, step)| seeds.iter().map(move |seed| (variant, step, *seed))).collect()
}

fn checked(file: &SweepFile, runs: impl Iterator<Item = Result<Run, InputError>>) -> Result<Vec<Run>, InputError> {
    check_seeds(file)?;
    let runs = runs.collect::<Result<Vec<Run>, _>>()?;
    check_plots(file, &runs)?;
    check_series(file, &runs)?;
    Ok(runs)
}

/// The reference simulator always draws the same numbers.
fn check_seeds(file: &SweepFile) -> Result<(), InputError> {
    match file.seeds.first() {
        Some(seed) if kind(&file.base)? == FileKind::Reference => {
            let base = file.base.display();
            Err(file.error(seed.line, format!("seeds: {base} is the reference's, which has no seed; expected none")))
        }
        Some(_) | None => Ok(()),
    }
}

fn run(file: &SweepFile, set: &[String], &(index, step, seed): &Combination<'_>) -> Result<Run, InputError> {
    let variant = &file.variants[index];
    let settings = settings(file, variant, step, seed, set);
    check_distinct(file, &settings)?;
    let overrides: Vec<String> = settings.iter().map(|setting| setting.text.clone()).collect();
    let scenario = scenario(file, &overrides).map_err(|error| blame(file, variant, &settings, error))?;
    check_groups(file, &scenario)?;
    check_window(file, &scenario)?;
    let inputs = scenario.digest()?;
    let seed = seed.map(|seed| seed.value);
    let folder = folder(file, variant, step, seed);
    Ok(Run { variant: index, step, seed, folder, overrides, facts: Facts::of(&scenario), inputs })
}

/// The defaults of files, in which congestion controls of ns-3's TCP are known by their names; of their attributes nothing
/// is.
fn defaults() -> NodeSettings {
    NodeSettings::new(ControlSettings::with(Vec::new(), |name| {
        if name.starts_with("ns3::Tcp") {
            return Ok(Box::new(TcpClass::new(name, LineRate)));
        }
        Err("for TCP the name of one of ns-3's classes such as ns3::TcpDctcp; the classes of a program are known to it \
             alone, and a sweep does not run it"
            .into())
    }))
}

fn settings(
    file: &SweepFile,
    variant: &Variant,
    step: usize,
    seed: Option<&Placed<u64>>,
    set: &[String],
) -> Vec<Setting> {
    let placed = |setting: &Placed<String>| Setting { text: setting.value.clone(), line: Some(setting.line) };
    let mut settings: Vec<Setting> = set.iter().map(|text| Setting { text: text.clone(), line: None }).collect();
    settings.extend(file.set.iter().map(placed));
    settings.extend(file.axes.settings(step).map(placed));
    settings.extend(variant.set.iter().map(placed));
    settings.extend(seed.map(|seed| Setting { text: format!("{SEED_KEY}={}", seed.value), line: Some(seed.line) }));
    settings
}

fn folder(file: &SweepFile, variant: &Variant, step: usize, seed: Option<u64>) -> PathBuf {
    let mut folder = PathBuf::from(&variant.name.value);
    folder.extend(file.axes.folders(step));
    folder.extend(seed.map(|seed| format!("seed-{seed}")));
    folder
}

impl Setting {
    fn key(&self) -> &str {
        self.text.split('=').next().unwrap_or_default().trim()
    }
}

/// A setting that another one overrules would make variants equal without a word.
fn check_distinct(file: &SweepFile, settings: &[Setting]) -> Result<(), InputError> {
    for (index, setting) in settings.iter().enumerate() {
        let Some(earlier) = settings[..index].iter().find(|earlier| overlap(earlier.key(), setting.key())) else {
            continue;
        };
        let line = setting.line.or(earlier.line);
        let by = match earlier.line {
            Some(line) => format!("in line {line}"),
            None => "by --set".to_owned(),
        };
        let (key, other) = (setting.key(), earlier.key());
        let what = if key == other { String::new() } else { format!(": {other}") };
        let message = format!("{key} is set twice, also {by}{what}");
        return Err(InputError::new(&file.path, line, message));
    }
    Ok(())
}

/// Turns what is wrong with an override, or with the scenario that overrides made, into what is wrong with the
/// sweep file.
fn blame(file: &SweepFile, variant: &Variant, settings: &[Setting], error: InputError) -> InputError {
    let culprit = error.key.as_deref().and_then(|key| settings.iter().rev().find(|setting| setting.key() == key));
    if error.file != Path::new("--set") {
        let of_file = |text: &String| settings.iter().find(|setting| setting.text == *text)?.line;
        let line = error.set.iter().find_map(of_file).unwrap_or(variant.name.line);
        let set = error.set.iter().filter(|text| of_file(text).is_none()).cloned().collect();
        return file.error(line, format!("variant \"{}\": {}", variant.name.value, InputError { set, ..error }));
    }
    match culprit {
        // The words of the command line are those of the scenario's reader.
        Some(Setting { line: None, .. }) => error,
        Some(Setting { line: Some(line), .. }) => InputError { file: file.path.clone(), line: Some(*line), ..error },
        None => InputError { file: file.path.clone(), line: Some(variant.name.line), ..error },
    }
}

/// What is measured must be a part of the run in which flows send.
fn check_window(file: &SweepFile, scenario: &Scenario) -> Result<(), InputError> {
    let Selection { groups, warm_up, until, .. } = &file.selection;
    let Some(first) = scenario.flows.totals.first_start else { return Ok(()) };
    let refuse = |message: String| Err(file.error(file.window_line, message));
    let last = scenario.stop.saturating_sub(first);
    if warm_up.is_some_and(|warm_up| warm_up >= last.0) {
        return refuse(format!("warm_up: the run ends {last} after its first flow started; expected less"));
    }
    let Some(until) = *until else { return Ok(()) };
    let known = &scenario.flows.groups;
    let is_measured =
        |group: u32| groups.is_empty() || known.get(group as usize).is_some_and(|name| groups.contains(name));
    let measured = scenario.flows.walk_groups().flatten().find(|(group, _)| is_measured(*group));
    match measured.map(|(_, flow)| flow.start.saturating_sub(first)) {
        Some(start) if start.0 >= until => refuse(format!(
            "until: the first flow that is measured starts {start} after the first of all; expected more"
        )),
        _ => Ok(()),
    }
}

/// Groups that are measured must be in the scenario.
fn check_groups(file: &SweepFile, scenario: &Scenario) -> Result<(), InputError> {
    let known = &scenario.flows.groups;
    for claim in &file.claims {
        if let Some(unknown) = claim.measure.selection.groups.iter().find(|group| !known.contains(group)) {
            let message = format!("there is no group \"{unknown}\"; the scenario has {}", known.join(", "));
            return Err(file.error(claim.line, message));
        }
    }
    for column in &file.columns {
        let Some(group) = column.value.group() else { continue };
        if !known.iter().any(|name| name == group) {
            let message = format!("columns: there is no group \"{group}\"; the scenario has {}", known.join(", "));
            return Err(file.error(column.line, message));
        }
        if known.len() == 1 {
            let message = format!("columns: {group} is the only group; leave the brackets out");
            return Err(file.error(column.line, message));
        }
        let measured = &file.selection.groups;
        if !measured.is_empty() && !measured.iter().any(|name| name == group) {
            let message = format!("columns: the group {group} is not measured; groups has {}", measured.join(", "));
            return Err(file.error(column.line, message));
        }
    }
    match file.selection.groups.iter().find(|group| !known.contains(group)) {
        Some(unknown) => {
            let message = format!("groups: there is no group \"{unknown}\"; the scenario has {}", known.join(", "));
            Err(file.error(file.groups_line, message))
        }
        None => Ok(()),
    }
}

/// Plots that were asked for by name must have something to draw from.
fn check_plots(file: &SweepFile, runs: &[Run]) -> Result<(), InputError> {
    let Some(plots) = &file.plots else { return Ok(()) };
    let refuse = |message: &str| InputError::new(&file.path, None, message);
    for plot in plots {
        let Some(series) = plot.series() else { continue };
        if runs.iter().any(|run| !run.facts.records(series)) {
            let (name, key) = (plot.name(), series.key());
            return Err(refuse(&format!("the plot {name} needs time series; expected {key} in the scenario")));
        }
    }
    if let Some(plot) = plots.iter().find(|plot| plot.measure_by_axis().is_some()).filter(|_| file.axes.is_empty()) {
        return Err(refuse(&format!("the plot {} needs an [[axis]]", plot.name())));
    }
    Ok(())
}

/// What columns show and claims measure must be recorded.
fn check_series(file: &SweepFile, runs: &[Run]) -> Result<(), InputError> {
    let of_part = file.selection.warm_up.is_some() || file.selection.until.is_some();
    for Placed { line, value: column } in &file.columns {
        let series = column.series(of_part, !file.selection.groups.is_empty());
        let series = series.map_err(|message| file.error(*line, format!("columns: {message}")))?;
        let Some(series) = series else { continue };
        if !runs.iter().all(|run| run.facts.records(series)) {
            return Err(file.error(*line, format!("columns: {} needs {} in the scenario", column.name, series.key())));
        }
    }
    for claim in &file.claims {
        let Some(series) = claim.measure.series(of_part) else { continue };
        if !runs.iter().all(|run| run.facts.records(series)) {
            return Err(file.error(claim.line, format!("this claim needs {} in the scenario", series.key())));
        }
    }
    Ok(())
}

impl Facts {
    /// Whether the run records a time series.
    pub fn records(&self, series: Series) -> bool {
        match series {
            Series::Queues => self.records_queues,
            Series::Goodput => self.records_goodput,
            Series::Control => self.records_control,
        }
    }

    fn of(scenario: &Scenario) -> Facts {
        let network = &scenario.network;
        let ends = network.links.iter().flat_map(|link| [link.a, link.b]);
        let is_switch = |node: &u32| network.nodes.get(*node as usize) == Some(&NodeKind::Switch);
        let sender = scenario.layout().initial_len();
        Facts {
            telemetry_sender_bytes: sender,
            telemetry_hop_bytes: after_a_hop(scenario.layout()).saturating_sub(sender),
            switch_ports: ends.filter(is_switch).count(),
            ports: 2 * network.links.len(),
            stack: scenario.settings.protocol.protocol.is_of_stack(),
            records_queues: scenario.monitor.queue_interval.is_some(),
            records_goodput: scenario.monitor.goodput_interval.is_some(),
            records_control: scenario.monitor.control_interval.is_some(),
        }
    }
}

/// Bytes of the telemetry section behind the first switch, by the codec itself.
fn after_a_hop(layout: Layout) -> usize {
    let snapshot = Snapshot {
        switch_id: 1,
        ingress: 1,
        egress: 2,
        queue: 3,
        hop_limit: 63,
        rate: BitRate::gbps(100),
        arrived: Nanos(0),
        now: Nanos(0),
        tx_bytes: 0,
        qlen: 0,
    };
    let mut section = [0; hpcc_core::telemetry::MAX_SECTION];
    let len = layout.prepare(&mut section, Nanos(0));
    layout.stamp(&mut section, len, &snapshot)
}
