// SPDX-License-Identifier: GPL-2.0-only
//! The sweep file: what is compared, as TOML. `configs/sweeps.md` lists its keys.

use std::path::{Path, PathBuf};

use hpcc_formats::kind::{FileKind, kind};
use hpcc_measures::select::Selection;
use hpcc_model::error::{InputError, system_words};
use hpcc_model::input;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

use super::axes::{Axes, Axis};
use super::claim::{self, Cell, Claim, ClaimKeys};
use super::columns::Column;
use super::figures::FigureKeys;
use super::keys::{Form, Places, Size, Variant, label, size, time};
use super::metrics::Sizes;
use super::only::Only;
use super::placed::{At, Placed, Setting, Source, key_at};
use super::report::{Plot, TableKind};
use crate::chart::Spread;
use crate::human;
use crate::plot::{Figure, Look};

/// Ends that files beside a run's folder have.
const TAKEN_ENDINGS: [&str; 10] = [".csv", ".svg", ".png", ".pdf", ".py", ".txt", ".log", ".partial", ".json", ".html"];
/// Longer names do not fit into a legend.
const LONGEST_NAME: usize = 32;

/// A sweep file.
#[derive(Debug)]
pub struct SweepFile {
    text: Source,
    /// Heading of plots.
    pub title: String,
    /// Where the experiment comes from; empty if it is the author's own.
    pub source: String,
    /// Differences from the source, a sentence each.
    pub deviations: Vec<String>,
    /// The size in which it runs.
    pub form: Form,
    /// The scenario that all runs start from.
    pub base: PathBuf,
    /// What the form sets in all runs.
    pub set: Vec<Placed<String>>,
    /// Seeds that each variant runs with; empty if the scenario's own is meant.
    pub seeds: Vec<Placed<u64>>,
    /// Variants to compare.
    pub variants: Vec<Variant>,
    /// Settings that all variants go through.
    pub axes: Axes,
    /// The columns of a table of its own; empty if there is none.
    pub columns: Vec<Placed<Column>>,
    /// Tables to print.
    pub tables: Vec<TableKind>,
    /// Plots to draw. None chosen: all that the runs have data for.
    pub plots: Option<Vec<Plot>>,
    /// Upper bounds of flow sizes in bytes, ascending.
    pub size_bins: Option<Vec<u64>>,
    /// How figures look.
    pub figures: Vec<FigureKeys>,
    /// What is shown of several seeds beside their mean.
    pub spread: Spread,
    /// Which flows are small, and which large.
    pub sizes: Sizes,
    /// What of each run is measured.
    pub selection: Selection,
    /// Where the file says so.
    pub places: Places,
    /// Whether it has another form, the quick one.
    has_quick: bool,
    /// Expected results.
    pub claims: Vec<Claim>,
    /// What `--only` leaves out, in words.
    pub left_out: Option<String>,
    /// The names of variants that it leaves out.
    without: Vec<String>,
}

/// A sweep file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// Heading of table and plots.
    title: String,
    /// Where the experiment comes from, such as a figure of a paper.
    #[serde(default)]
    source: String,
    /// Differences from the source, a sentence each.
    #[serde(default)]
    deviations: Vec<String>,
    /// Name of the scenario that every run starts from, relative to the sweep file.
    base: String,
    /// Seeds (`run.seed`) of which every variant runs with each; by default the scenario's. Give several to see the
    /// part of chance in results.
    seeds: Option<Vec<Placed<u64>>>,
    /// Variants to compare.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    variant: Vec<Variant>,
    /// Settings that every variant goes through, in every combination of their values.
    #[serde(default)]
    axis: Vec<AxisKeys>,
    /// Tables and plots.
    #[serde(default)]
    report: ReportKeys,
    /// How figures look.
    #[serde(default)]
    figure: Vec<FigureKeys>,
    /// A smaller version of the experiment, for --quick.
    quick: Option<QuickKeys>,
    /// Expected results.
    #[serde(default)]
    claim: Vec<ClaimKeys>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct QuickKeys {
    /// Seeds for --quick, in place of the file's.
    seeds: Option<Vec<Placed<u64>>>,
    /// Settings of all runs with --quick, KEY=VALUE each.
    set: Vec<Placed<String>>,
    /// Further differences from the source with --quick, a sentence each.
    deviations: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AxisKeys {
    /// Name of the axis, which names folders with each value behind it.
    name: Placed<String>,
    /// Values that every variant runs with, one after the other.
    #[schemars(with = "Vec<serde_json::Value>")]
    values: Vec<Placed<Value>>,
    /// The setting, as KEY={}, with each value in place of {}.
    set: Placed<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ReportKeys {
    /// Metrics of sweep.csv that make a table, ahead of others and in place of the usual ones.
    columns: Option<Vec<Placed<String>>>,
    /// Tables that are printed, in this order; without the key all, or none if there are columns.
    tables: Option<Vec<TableKind>>,
    /// Plots that are drawn; without the key all that there is data for.
    plots: Option<Vec<Plot>>,
    /// Ascending upper bounds of the flow sizes that tables and plots tell apart, such as "10KB".
    size_bins: Option<Placed<Vec<Placed<Size>>>>,
    /// Flows up to this many bytes are small, "10KB" by default.
    small_up_to: Option<Placed<Size>>,
    /// Flows of more bytes are large, "1MB" by default.
    large_above: Option<Placed<Size>>,
    /// What tables, claims, and bars and bands of figures show beside the mean of several seeds.
    spread: Spread,
    /// Groups of flows (`name` of `[[traffic]]`) that tables and plots count; without the key all.
    groups: Option<Placed<Vec<String>>>,
    /// Only what is later is measured, in time since the first flow's start, such as "2ms". Give it to leave out how
    /// flows begin.
    warm_up: Option<Placed<String>>,
    /// Only what is earlier is measured, in time since the first flow's start, such as "2ms".
    until: Option<Placed<String>>,
}

impl SweepFile {
    /// Reads and checks a file. Whether its settings suit the scenario is for the [plan](mod@super::plan) to find out.
    ///
    /// # Errors
    /// With the line, what was found and what was expected.
    pub fn read(path: &Path, form: Form) -> Result<SweepFile, InputError> {
        SweepFile::read_part(path, form, &Only::default())
    }

    /// As [`read`](SweepFile::read), with only a part of its variants, values and seeds, and the claims on these.
    ///
    /// # Errors
    /// As [`read`](SweepFile::read), or if the file does not have what is to stay.
    pub fn read_part(path: &Path, form: Form, only: &Only) -> Result<SweepFile, InputError> {
        let text = input::read_text(path).map_err(|error| InputError::new(path, None, system_words(&error)))?;
        let source = Source { path: path.to_owned(), text };
        let keys: Keys = toml::from_str(&source.text).map_err(|error| syntax(&source, &error))?;
        check(source, keys, form, only)
    }

    /// The smaller version of a full one, if the file has it.
    ///
    /// # Errors
    /// As [`read`](SweepFile::read).
    pub fn quick_form(&self) -> Result<Option<SweepFile>, InputError> {
        self.has_quick.then(|| SweepFile::read(self.path(), Form::Quick)).transpose()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.text.path
    }

    /// How many runs it asks for.
    pub fn run_count(&self) -> usize {
        self.variants.len() * self.axes.steps() * self.seeds.len().max(1)
    }

    /// Whether only a part of each run is measured.
    pub fn measures_part(&self) -> bool {
        self.selection.warm_up.is_some() || self.selection.until.is_some()
    }

    /// How a plot looks, with what the file wants.
    pub fn look(&self, plot: Plot, look: Look) -> Look {
        self.figures.iter().filter(|figure| figure.are_for(plot)).fold(look, |look, figure| figure.look(look))
    }

    /// Changes a plot's figure as the file wants. If that leaves nothing to draw, says why.
    ///
    /// # Errors
    /// If the figure does not have what the file wants to change.
    pub fn change(&self, plot: Plot, figure: &mut Figure) -> Result<Option<InputError>, InputError> {
        let mut nothing = None;
        for wishes in self.figures.iter().filter(|wishes| wishes.are_for(plot)) {
            nothing = nothing.or(wishes.change(figure, (&self.variants, &self.without), &self.text)?);
        }
        Ok(nothing)
    }

    /// An error that blames a place of this file.
    pub fn error(&self, at: At, message: impl Into<String>) -> InputError {
        self.text.error(at, message)
    }
}

/// What TOML, or its keys, have against a file, unless it is one of another kind.
fn syntax(source: &Source, error: &toml::de::Error) -> InputError {
    let path = source.path.display();
    let is_scenario = source.text.lines().any(|line| line.trim_end() == "[topology]");
    match kind(&source.path) {
        Ok(FileKind::Reference) if !source.text.trim().is_empty() => {
            source.error(None, "this is no sweep, which is TOML: ./hpcc run takes a config.txt of the 2019 simulator")
        }
        Ok(FileKind::Scenario) if is_scenario => {
            source.error(None, format!("this is a scenario: use ./hpcc run {path}"))
        }
        _ => {
            let words = [("`", "\""), ("unknown field", "unknown key"), ("unknown variant", "unknown name")];
            let words = words.into_iter().chain([("missing field", "missing key")]);
            let message = words.fold(unsuitable(error.message()), |text, (theirs, ours)| text.replace(theirs, ours));
            let at = error.span().map(|span| span.start);
            // Those name the key themselves.
            let key = at.filter(|_| !error.message().contains(" field `")).and_then(|at| key_at(&source.text, at));
            source.error(at, key.map_or_else(String::new, |key| format!("{key}: ")) + &message)
        }
    }
}

/// What a value is and what it should be, where that is what the reader of TOML says, in our words.
fn unsuitable(message: &str) -> String {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = rest.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let found = match found {
        "sequence" => "a list",
        "map" => "a table",
        found => found.split('`').nth(1).or_else(|| found.strip_prefix("string ")).unwrap_or(found),
    };
    let expected = match expected {
        "u64" | "u32" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a sequence" => "a list",
        expected => expected,
    };
    format!("{found}; expected {expected}")
}

fn check(text: Source, mut keys: Keys, form: Form, only: &Only) -> Result<SweepFile, InputError> {
    let has_quick = keys.quick.is_some() && form == Form::Full;
    let quick = match (form, keys.quick.take()) {
        (Form::Full, _) => QuickKeys::default(),
        (Form::Quick, Some(quick)) => quick,
        (Form::Quick, None) => {
            return Err(text.error(None, "--quick: there is no smaller version; expected a section [quick]"));
        }
    };
    for variant in &keys.variant {
        check_name(&text, "variant", &variant.name, variant.name.at())?;
        variant.check_label(&text)?;
    }
    keys.figure.iter().try_for_each(|figure| figure.check(&text))?;
    let mut axes = std::mem::take(&mut keys.axis)
        .into_iter()
        .map(|keys| axis(&text, keys))
        .collect::<Result<_, _>>()
        .map(Axes::new)?;
    let mut claims = claim::check(&text, keys.claim.clone(), &keys.variant, &axes, form)?;
    let mut seeds = quick.seeds.or(keys.seeds.take()).unwrap_or_default();
    let mut part = Part::default();
    if !only.is_all() {
        only.check(&keys.variant, &axes, &seeds).map_err(|message| text.error(None, message))?;
        part = restrict(only, &mut keys, &mut axes, &mut seeds, &claims);
        claims = claim::check(&text, part.claims.clone(), &keys.variant, &axes, form)?;
    }
    let report = keys.report;
    let size_bins = report.size_bins.map(|bins| size_bounds(&text, &bins)).transpose()?;
    let given = |key, bytes: Option<&Placed<Size>>, usual| bytes.map_or(Ok(usual), |bytes| size(&text, key, bytes));
    let usual = Sizes::default();
    let sizes = Sizes {
        small_up_to: given("small_up_to", report.small_up_to.as_ref(), usual.small_up_to)?,
        large_above: given("large_above", report.large_above.as_ref(), usual.large_above)?,
    };
    let usual_tables = if report.columns.is_none() { TableKind::ALL.to_vec() } else { Vec::new() };
    let columns = report.columns.iter().flatten().map(|name| {
        let column = Column::parse(name, size_bins.as_deref());
        column.map(|column| name.with(column)).map_err(|message| text.error(name.at(), format!("columns: {message}")))
    });
    let selection = Selection {
        warm_up: time(&text, "warm_up", report.warm_up.as_ref())?,
        until: time(&text, "until", report.until.as_ref())?,
        groups: report.groups.as_ref().map(|groups| groups.to_vec()).unwrap_or_default(),
        ..Selection::default()
    };
    Ok(SweepFile {
        title: keys.title,
        source: keys.source,
        deviations: [keys.deviations, quick.deviations].concat(),
        form,
        base: text.path.parent().unwrap_or(Path::new("")).join(keys.base),
        set: quick.set,
        seeds,
        variants: keys.variant,
        axes,
        claims,
        columns: columns.collect::<Result<_, _>>()?,
        tables: report.tables.unwrap_or(usual_tables),
        plots: report.plots,
        size_bins,
        figures: keys.figure,
        spread: report.spread,
        sizes,
        selection,
        places: Places {
            groups: report.groups.as_ref().and_then(Placed::at),
            warm_up: report.warm_up.as_ref().and_then(Placed::at),
            until: report.until.as_ref().and_then(Placed::at),
        },
        has_quick,
        left_out: part.left_out,
        without: part.without,
        text,
    })
}

/// What `--only` changes besides variants, axes and seeds.
#[derive(Default)]
struct Part {
    /// The claims that are about nothing else.
    claims: Vec<ClaimKeys>,
    /// What is left out, in words.
    left_out: Option<String>,
    /// The names of variants that are left out.
    without: Vec<String>,
}

/// Keeps what `--only` names, and the claims on it.
fn restrict(only: &Only, keys: &mut Keys, axes: &mut Axes, seeds: &mut Vec<Placed<u64>>, claims: &[Claim]) -> Part {
    let stays = |cell: Cell| {
        only.has_variant(&keys.variant[cell.variant].name)
            && axes.iter().zip(axes.values(cell.step)).all(|(axis, value)| only.has_value(&axis.name, value))
    };
    let of_part = |claim: &Claim| stays(claim.of) && claim.over.is_none_or(stays);
    let kept = keys.claim.iter().zip(claims).filter(|(_, claim)| of_part(claim));
    let kept: Vec<ClaimKeys> = kept.map(|(keys, _)| keys.clone()).collect();
    let runs = |keys: &Keys, axes: &Axes, seeds: &[Placed<u64>]| keys.variant.len() * axes.steps() * seeds.len().max(1);
    let all = runs(keys, axes, seeds);
    let mut without: Vec<String> = keys.variant.iter().map(|variant| variant.name.to_string()).collect();
    without.retain(|name| !only.has_variant(name));
    keys.variant.retain(|variant| only.has_variant(&variant.name));
    axes.retain(|axis, value| only.has_value(axis, value));
    seeds.retain(|seed| only.has_seed(**seed));
    keys.title += &format!(" (only {})", only.words());
    let counts = [(all - runs(keys, axes, seeds), "run"), (claims.len() - kept.len(), "claim")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, noun)| human::counted(count as u64, noun)).collect();
    let left_out = if counts.is_empty() { "nothing".to_owned() } else { counts.join(" and ") };
    Part { claims: kept, left_out: Some(left_out), without }
}

fn axis(text: &Source, keys: AxisKeys) -> Result<Axis, InputError> {
    check_name(text, "axis", &keys.name, keys.name.at())?;
    if !keys.set.contains("{}") {
        return Err(text.error(keys.set.at(), format!("\"{}\" has no {{}}; expected KEY={{}}", *keys.set)));
    }
    let value = |value: &Placed<Value>| {
        let label = label(value);
        check_name(text, "value", &label, value.at())?;
        let setting = Setting { text: keys.set.replace("{}", &label), at: value.at() };
        Ok((label, setting))
    };
    Ok(Axis { name: keys.name.to_string(), values: keys.values.iter().map(value).collect::<Result<_, _>>()? })
}

fn size_bounds(text: &Source, keys: &Placed<Vec<Placed<Size>>>) -> Result<Vec<u64>, InputError> {
    let bounds: Vec<u64> = keys.iter().map(|bound| size(text, "size_bins", bound)).collect::<Result<_, _>>()?;
    if bounds.is_empty() || !bounds.is_sorted_by(|a, b| a < b) {
        return Err(text.error(keys.at(), "size_bins is no ascending list; expected the upper bounds of sizes"));
    }
    Ok(bounds)
}

/// Names become folders, and columns of a table.
fn check_name(text: &Source, what: &str, name: &str, at: At) -> Result<(), InputError> {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    let taken = TAKEN_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let begins_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if begins_well && name.bytes().all(safe) && !taken && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let message = format!(
        "{what} \"{name}\" cannot name a folder; expected up to {LONGEST_NAME} letters, digits, - _ . +, \
         the first a letter or digit, and none of the endings {}",
        TAKEN_ENDINGS.join(" ")
    );
    Err(text.error(at, message))
}
