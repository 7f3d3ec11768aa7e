// SPDX-License-Identifier: GPL-2.0-only
//! The runs that a sweep file asks for, each checked as the simulator is going to check it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hpcc_measures::select::Selection;
use hpcc_model::error::InputError;
use hpcc_model::scenario::Scenario;

use super::claim::Cell;
use super::file::SweepFile;
use super::keys::{Places, Variant};
use super::placed::{At, Placed, Setting};
use super::run::{Facts, Run};
use crate::control;
use crate::simulator::Kind;
use hpcc_measures::quantity::Series;

/// The key that seeds set.
const SEED_KEY: &str = "run.seed";

/// Every run of the sweep: by variant, then by step of the axes, then by seed.
///
/// # Errors
/// If a setting does not suit the scenario, with the line of the sweep file that makes it.
pub fn plan(file: &SweepFile, set: &[String]) -> Result<Vec<Run>, InputError> {
    plan_each(file, set, |_| true)
}

/// As [`plan`]; `see` gets each run as soon as it is known, and says whether it wants the next one.
///
/// # Errors
/// As [`plan`].
pub fn plan_each(file: &SweepFile, set: &[String], mut see: impl FnMut(&Run) -> bool) -> Result<Vec<Run>, InputError> {
    let mut runs = Vec::new();
    for chosen in combinations(file) {
        let run = run(file, set, chosen)?;
        let goes_on = see(&run);
        runs.push(run);
        if !goes_on {
            return Ok(runs);
        }
    }
    if runs.is_empty() {
        return Err(file.error(None, "nothing to run; expected a [[variant]] with a name, and values of each [[axis]]"));
    }
    let mut folders = HashSet::new();
    if let Some(twice) = runs.iter().find(|run| !folders.insert(&run.folder)) {
        let (name, place) = (twice.folder.display(), file.variants[twice.variant].name.at());
        return Err(file.error(place, format!("two runs are {name}; expected other names, values or seeds")));
    }
    check_recorded(file, &runs)?;
    Ok(runs)
}

/// The run of this number, from 1, in the order of [`plan`]; the others are not looked at.
///
/// # Errors
/// As [`plan`], and if there are fewer runs.
pub fn plan_one(file: &SweepFile, set: &[String], number: usize) -> Result<Run> {
    let Some(chosen) = number.checked_sub(1).and_then(|index| combinations(file).nth(index)) else {
        bail!("--run {number}: {} has runs 1 to {}", file.path().display(), file.run_count());
    };
    Ok(run(file, set, chosen)?)
}

/// The scenario of a run.
///
/// # Errors
/// If a file of it was changed since the run was planned.
pub fn scenario(file: &SweepFile, overrides: &[String]) -> Result<Scenario, InputError> {
    hpcc_formats::refuse_overlaps(overrides)?;
    hpcc_formats::load_with(&file.base, overrides, control::defaults())
}

/// A run: index of the variant, step of the axes, seed.
type Combination<'a> = (usize, usize, Option<&'a Placed<u64>>);

fn combinations(file: &SweepFile) -> impl Iterator<Item = Combination<'_>> {
    let seeds: Vec<_> = if file.seeds.is_empty() { vec![None] } else { file.seeds.iter().map(Some).collect() };
    let variants = 0..file.variants.len();
    let steps = variants.flat_map(|variant| (0..file.axes.steps()).map(move |step| (variant, step)));
    steps.flat_map(move |(variant, step)| seeds.clone().into_iter().map(move |seed| (variant, step, seed)))
}

fn run(file: &SweepFile, set: &[String], (index, step, seed): Combination<'_>) -> Result<Run, InputError> {
    let variant = &file.variants[index];
    let settings = settings(file, variant, step, seed, set);
    let overrides: Vec<String> = settings.iter().map(|setting| setting.text.clone()).collect();
    let scenario = scenario(file, &overrides).map_err(|error| blame(file, variant, &settings, error))?;
    check_groups(file, &scenario)?;
    check_window(file, &scenario, &file.selection, file.places)?;
    let cell = Cell { variant: index, step };
    for claim in file.claims.iter().filter(|claim| claim.is_about(cell)) {
        check_window(file, &scenario, &claim.measure.selection, claim.places)?;
    }
    let seed = seed.map(|seed| **seed);
    let mut folder = PathBuf::from(&*variant.name);
    folder.extend(file.axes.folders(step));
    folder.extend(seed.map(|seed| format!("seed-{seed}")));
    let (facts, inputs) = (Facts::of(&scenario), scenario.digest()?);
    let (simulator, needs_ns3) = Kind::of(&scenario);
    Ok(Run { variant: index, step, seed, folder, overrides, facts, inputs, simulator, needs_ns3 })
}

fn settings(
    file: &SweepFile,
    variant: &Variant,
    step: usize,
    seed: Option<&Placed<u64>>,
    set: &[String],
) -> Vec<Setting> {
    let placed = |setting: &Placed<String>| Setting { text: setting.to_string(), at: setting.at() };
    let mut settings: Vec<Setting> = set.iter().map(|text| Setting { text: text.clone(), at: None }).collect();
    settings.extend(file.set.iter().map(placed));
    settings.extend(file.axes.settings(step).cloned());
    settings.extend(variant.set.iter().map(placed));
    settings.extend(seed.map(|seed| Setting { text: format!("{SEED_KEY}={}", **seed), at: seed.at() }));
    settings
}

/// Turns an error of an override, or of the scenario that overrides made, into an error of the sweep file.
fn blame(file: &SweepFile, variant: &Variant, settings: &[Setting], error: InputError) -> InputError {
    let line = |at: At| file.error(at, "").line;
    if error.file != Path::new("--set") {
        let of_file = |text: &String| settings.iter().find(|setting| setting.text == *text)?.at;
        let at = error.set.iter().find_map(of_file).or(variant.name.at());
        let set = error.set.iter().filter(|text| of_file(text).is_none()).cloned().collect();
        return file.error(at, format!("variant \"{}\": {}", *variant.name, InputError { set, ..error }));
    }
    let key = |setting: &Setting| setting.text.split('=').next().unwrap_or_default().trim().to_owned();
    match settings.iter().rev().find(|setting| error.key == Some(key(setting))) {
        // The scenario's reader says what is wrong with words of the command line.
        Some(Setting { at: None, .. }) => error,
        Some(Setting { at, .. }) => InputError { file: file.path().to_owned(), line: line(*at), ..error },
        None => InputError { file: file.path().to_owned(), line: line(variant.name.at()), ..error },
    }
}

/// The window of the whole sweep or of a claim must be a part of the run in which flows send.
fn check_window(
    file: &SweepFile,
    scenario: &Scenario,
    selection: &Selection,
    places: Places,
) -> Result<(), InputError> {
    let Selection { groups, warm_up, until, .. } = selection;
    let groups = if groups.is_empty() { &file.selection.groups } else { groups };
    let Some(first) = scenario.flows.totals.first_start else { return Ok(()) };
    let last = scenario.stop.saturating_sub(first);
    if warm_up.is_some_and(|warm_up| warm_up >= last.0) {
        let message = format!("warm_up: the run ends {last} after its first flow started; expected less");
        return Err(file.error(places.warm_up, message));
    }
    let refuse = |message: String| Err(file.error(places.until, message));
    let Some(until) = *until else { return Ok(()) };
    if warm_up.is_some_and(|warm_up| warm_up >= until) {
        return refuse("until: nothing is left behind warm_up; expected a later time".into());
    }
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
    let of_claims = file
        .claims
        .iter()
        .flat_map(|claim| claim.measure.selection.groups.iter().map(|group| ("group", claim.places.groups, group)));
    let of_columns = file.columns.iter().filter_map(|column| Some(("columns", column.at(), column.group()?)));
    let measured = file.selection.groups.iter().map(|group| ("groups", file.places.groups, group));
    match of_claims.chain(of_columns).chain(measured).find(|(.., group)| !known.contains(group)) {
        Some((key, at, unknown)) => {
            let known = known.join(", ");
            Err(file.error(at, format!("{key}: there is no group \"{unknown}\"; the scenario has {known}")))
        }
        None => Ok(()),
    }
}

/// Chosen plots, columns and claims must have their series recorded.
fn check_recorded(file: &SweepFile, runs: &[Run]) -> Result<(), InputError> {
    let plots = file.plots.iter().flatten();
    if let Some(plot) = plots.clone().find(|plot| plot.by_axis().is_some()).filter(|_| file.axes.is_empty()) {
        return Err(file.error(None, format!("the plot {} needs an [[axis]]", plot.name())));
    }
    let (of_part, of_groups) = (file.measures_part(), !file.selection.groups.is_empty());
    let mut needs: Vec<(At, String, Option<Series>)> = Vec::new();
    needs.extend(plots.map(|plot| (None, format!("the plot {}", plot.name()), plot.series())));
    for column in &file.columns {
        let series = column.series(of_part, of_groups);
        let series = series.map_err(|message| file.error(column.at(), format!("columns: {message}")))?;
        needs.push((column.at(), format!("columns: {}", column.name), series));
    }
    needs.extend(file.claims.iter().map(|claim| (claim.at, "this claim".into(), claim.measure.series(of_part))));
    let lacks = |series: Series| runs.iter().any(|run| !run.facts.records(series));
    match needs.into_iter().find_map(|(at, who, series)| Some((at, who, series.filter(|series| lacks(*series))?))) {
        Some((at, who, series)) => Err(file.error(at, format!("{who} needs {} in the scenario", series.key()))),
        None => Ok(()),
    }
}
