// SPDX-License-Identifier: GPL-2.0-only
//! The sweep file: what is compared, as TOML. `configs/sweeps.md` lists its keys.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hpcc_core::settings::quantity;
use hpcc_formats::error::{InputError, system_words};
use hpcc_formats::input;
use hpcc_formats::kind::{FileKind, kind};
use hpcc_measures::select::{self, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::de::DeTable;
use toml::{Spanned, Value};

use super::axes::{Axes, Axis};
use super::claim::{self, Claim, ClaimKeys};
use super::columns::Column;
use super::folder;
use super::report::{Plot, TableKind};

/// Ends that files beside a run's folder have.
const TAKEN_ENDINGS: [&str; 8] = [".csv", ".svg", ".png", ".txt", ".log", ".partial", ".json", ".html"];
/// Keeps a slip of the keyboard from planning for hours.
const MOST_RUNS: usize = 1_000_000;
/// Longer names do not fit into a legend.
const LONGEST_NAME: usize = 32;

/// A sweep file, each part with the line to blame for it.
#[derive(Debug)]
pub struct SweepFile {
    /// The file.
    pub path: PathBuf,
    /// Heading of plots.
    pub title: String,
    /// Where the experiment comes from; empty if it is the author's own.
    pub source: String,
    /// What differs from the source, a sentence each.
    pub deviations: Vec<String>,
    /// The size in which it runs.
    pub form: Form,
    /// The scenario that all runs start from.
    pub base: PathBuf,
    /// What the form sets in all runs.
    pub set: Vec<Placed<String>>,
    /// Seeds that each variant runs with; empty if the scenario's own is meant.
    pub seeds: Vec<Placed<u64>>,
    /// What is compared; at least one.
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
    /// What of each run is measured.
    pub selection: Selection,
    /// Where its groups are named.
    pub groups_line: u32,
    /// The line of `until`, or else of `warm_up`.
    pub window_line: u32,
    /// Whether it has another form, the quick one.
    has_quick: bool,
    /// What the results should show.
    pub claims: Vec<Claim>,
}

/// In which size a sweep runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As the file says.
    #[default]
    Full,
    /// With what `[quick]` changes.
    Quick,
}

impl Form {
    /// For readers and folders.
    pub fn name(self) -> &'static str {
        match self {
            Form::Full => "full",
            Form::Quick => "quick",
        }
    }
}

/// Something with the line where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The line, counted from 1.
    pub line: u32,
    /// What stands there.
    pub value: T,
}

/// Settings under a name.
#[derive(Debug)]
pub struct Variant {
    /// The name, fit for a file.
    pub name: Placed<String>,
    /// `KEY=VALUE` each.
    pub set: Vec<Placed<String>>,
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
    /// What differs from the source, a sentence each.
    #[serde(default)]
    deviations: Vec<String>,
    /// Name of the scenario that every run starts from, relative to the sweep file.
    #[schemars(with = "String")]
    base: Spanned<String>,
    /// Seeds (`run.seed`) with each of which every variant runs; without any the scenario's. Give several to see how
    /// far results are a matter of chance.
    #[serde(default)]
    #[schemars(with = "Option<Vec<u64>>")]
    seeds: Option<Spanned<Vec<Spanned<u64>>>>,
    /// What is compared.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    variant: Vec<VariantKeys>,
    /// Settings that every variant goes through, in every combination of their values.
    #[serde(default)]
    axis: Vec<AxisKeys>,
    /// What is shown.
    #[serde(default)]
    report: ReportKeys,
    /// The same experiment in small, for --quick.
    quick: Option<QuickKeys>,
    /// What the results should show.
    #[serde(default)]
    claim: Vec<ClaimKeys>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct QuickKeys {
    /// Seeds of the small form, in place of the file's.
    #[schemars(with = "Option<Vec<u64>>")]
    seeds: Option<Spanned<Vec<Spanned<u64>>>>,
    /// What the small form sets in all runs, KEY=VALUE each.
    #[schemars(with = "Vec<String>")]
    set: Vec<Spanned<String>>,
    /// What differs from the source in the small form besides, a sentence each.
    deviations: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VariantKeys {
    /// Name of the variant and of its folder: up to 32 letters, digits, - _ . +
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// What the variant sets, KEY=VALUE each, as behind --set.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    set: Vec<Spanned<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AxisKeys {
    /// Name of the axis, which names folders with each value behind it.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// Values that every variant runs with, one after the other.
    #[schemars(with = "Vec<serde_json::Value>")]
    values: Spanned<Vec<Spanned<Value>>>,
    /// What is set, as KEY={}, with each value in place of {}.
    #[schemars(with = "String")]
    set: Spanned<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ReportKeys {
    /// Metrics of sweep.csv that make a table, ahead of others and in place of the usual ones.
    #[schemars(with = "Option<Vec<String>>")]
    columns: Option<Spanned<Vec<Spanned<String>>>>,
    /// Tables that are printed, in this order; without the key all, or none if there are columns.
    tables: Option<Vec<TableKind>>,
    /// Plots that are drawn; without the key all that there is data for.
    plots: Option<Vec<Plot>>,
    /// Ascending upper bounds of the flow sizes that tables and plots tell apart, such as "10KB".
    #[schemars(with = "Option<Vec<String>>")]
    size_bins: Option<Spanned<Vec<Spanned<String>>>>,
    /// Groups of flows (`name` of `[[traffic]]`) that tables and plots count; without the key all.
    #[schemars(with = "Option<Vec<String>>")]
    groups: Option<Spanned<Vec<String>>>,
    /// Only what is later is measured, in time since the first flow's start, such as "2ms". Give it to leave out how
    /// flows begin.
    #[schemars(with = "Option<String>")]
    warm_up: Option<Spanned<String>>,
    /// Only what is earlier is measured, in time since the first flow's start, such as "2ms".
    #[schemars(with = "Option<String>")]
    until: Option<Spanned<String>>,
}

impl SweepFile {
    /// Reads and checks a file. Whether its settings suit the scenario is for the [plan](mod@super::plan) to find out.
    ///
    /// # Errors
    /// With the line, what was found and what was expected.
    pub fn read(path: &Path, form: Form) -> Result<SweepFile, InputError> {
        let whole = |message: String| InputError::new(path, None, message);
        let text = input::read_text(path).map_err(|error| whole(system_words(&error)))?;
        let source = Source { path, text: &text };
        source.check_kind()?;
        let keys: Keys = toml::from_str(&text).map_err(|error| source.syntax(&error))?;
        source.check(keys, form)
    }

    /// The quick form of a full one, if the file has it.
    ///
    /// # Errors
    /// As [`read`](SweepFile::read).
    pub fn quick_form(&self) -> Result<Option<SweepFile>, InputError> {
        self.has_quick.then(|| SweepFile::read(&self.path, Form::Quick)).transpose()
    }

    /// How many runs it asks for.
    pub fn run_count(&self) -> usize {
        self.variants.len() * self.axes.steps() * self.seeds.len().max(1)
    }

    /// An error that blames a line of this file.
    pub fn error(&self, line: u32, message: impl Into<String>) -> InputError {
        InputError::new(&self.path, Some(line), message)
    }
}

/// The text that errors are about.
pub struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    /// Refuses what is no sweep file, but easily taken for one.
    fn check_kind(&self) -> Result<(), InputError> {
        if !self.text.trim().is_empty() && kind(self.path)? == FileKind::Reference {
            let message = "this is no sweep, which is TOML: ./hpcc run takes a config.txt of the reference simulator";
            return Err(InputError::new(self.path, None, message));
        }
        let Ok(root) = DeTable::parse(self.text) else { return Ok(()) };
        let root = root.get_ref();
        if root.contains_key("topology") && !root.contains_key("variant") {
            let message = format!("this is a scenario: use ./hpcc run {}", self.path.display());
            return Err(InputError::new(self.path, None, message));
        }
        let single = |name: &&str| root.get(*name).is_some_and(|section| section.get_ref().is_table());
        let Some(name) = ["variant", "axis"].into_iter().find(single) else { return Ok(()) };
        Err(self.error(&root[name].span(), format!("[{name}] is a single section; expected [[{name}]]")))
    }

    fn check(&self, keys: Keys, form: Form) -> Result<SweepFile, InputError> {
        let has_quick = keys.quick.is_some() && form == Form::Full;
        let quick = self.form(keys.quick, form)?;
        let base = self.path.parent().unwrap_or(Path::new("")).join(keys.base.get_ref());
        if !base.is_file() {
            return Err(self.error(&keys.base.span(), format!("base: there is no file {}", base.display())));
        }
        if keys.variant.is_empty() {
            let message = "no variant; expected at least one [[variant]] with a name".to_owned();
            return Err(InputError::new(self.path, None, message));
        }
        let variants = self.variants(keys.variant)?;
        let seeds = self.seeds(quick.seeds.or(keys.seeds))?;
        let axes = self.axes(keys.axis, variants.len() * seeds.len().max(1))?;
        let claims = claim::check(self, keys.claim, &variants, &axes, form)?;
        let report = keys.report;
        let window_line = report.until.as_ref().or(report.warm_up.as_ref()).map_or(1, |text| self.line(&text.span()));
        let groups_line = report.groups.as_ref().map_or(1, |groups| self.line(&groups.span()));
        let size_bins = report.size_bins.map(|bins| self.size_bins(bins)).transpose()?;
        let columns = report.columns.map(|columns| self.columns(columns, size_bins.as_deref())).transpose()?;
        let usual_tables = if columns.is_none() { TableKind::ALL.to_vec() } else { Vec::new() };
        let (warm_up, until) = self.window(report.warm_up.as_ref(), report.until.as_ref())?;
        let selection = Selection {
            groups: report.groups.map(Spanned::into_inner).unwrap_or_default(),
            warm_up,
            until,
            ..Selection::default()
        };
        Ok(SweepFile {
            path: self.path.to_owned(),
            title: keys.title,
            source: keys.source,
            deviations: [keys.deviations, quick.deviations].concat(),
            form,
            base,
            set: quick.set.into_iter().map(|setting| self.setting(setting)).collect::<Result<_, _>>()?,
            seeds,
            variants,
            axes,
            claims,
            columns: columns.unwrap_or_default(),
            tables: report.tables.unwrap_or(usual_tables),
            plots: report.plots,
            size_bins,
            selection,
            groups_line,
            window_line,
            has_quick,
        })
    }

    /// What the form changes. A full form has `[quick]` checked, too.
    fn form(&self, quick: Option<QuickKeys>, form: Form) -> Result<QuickKeys, InputError> {
        match (form, quick) {
            (Form::Quick, Some(quick)) => Ok(quick),
            (Form::Quick, None) => {
                let message = "there is no quick form; expected a section [quick]".to_owned();
                Err(InputError::new(self.path, None, message))
            }
            (Form::Full, quick) => {
                for setting in quick.unwrap_or_default().set {
                    self.setting(setting)?;
                }
                Ok(QuickKeys::default())
            }
        }
    }

    fn seeds(&self, keys: Option<Spanned<Vec<Spanned<u64>>>>) -> Result<Vec<Placed<u64>>, InputError> {
        let Some(list) = keys else { return Ok(Vec::new()) };
        if list.get_ref().is_empty() {
            return Err(self.error(&list.span(), "seeds is empty; expected at least one, or no such key"));
        }
        let seeds: Vec<Placed<u64>> = list.into_inner().into_iter().map(|seed| self.placed(seed)).collect();
        match first_repeated(seeds.iter().map(|seed| &seed.value)) {
            Some(index) => Err(self.at(seeds[index].line, format!("seed {} appears twice", seeds[index].value))),
            None => Ok(seeds),
        }
    }

    fn variants(&self, keys: Vec<VariantKeys>) -> Result<Vec<Variant>, InputError> {
        let mut variants = Vec::with_capacity(keys.len());
        for VariantKeys { name, set } in keys {
            let name = self.placed(name);
            self.check_name("variant", &name.value, name.line)?;
            let set = set.into_iter().map(|setting| self.setting(setting)).collect::<Result<_, _>>()?;
            variants.push(Variant { name, set });
        }
        if let Some(index) = first_repeated(variants.iter().map(|variant| variant.name.value.as_str())) {
            let name = &variants[index].name;
            return Err(self.at(name.line, format!("variant \"{}\" appears twice", name.value)));
        }
        Ok(variants)
    }

    fn setting(&self, setting: Spanned<String>) -> Result<Placed<String>, InputError> {
        let setting = self.placed(setting);
        match setting.value.split_once('=') {
            Some((key, _)) if !key.trim().is_empty() => Ok(setting),
            _ => Err(self.at(setting.line, format!("\"{}\" is no setting; expected KEY=VALUE", setting.value))),
        }
    }

    /// Each axis; with so many runs at each of their steps.
    fn axes(&self, keys: Vec<AxisKeys>, runs: usize) -> Result<Axes, InputError> {
        let several = keys.len() > 1;
        let mut axes: Vec<Axis> = Vec::with_capacity(keys.len());
        let mut count = runs;
        for keys in keys {
            let (line, axis) = (self.line(&keys.name.span()), self.axis(keys)?);
            let name = &axis.name;
            if axes.iter().any(|other| other.name == *name) {
                return Err(self.at(line, format!("axis \"{name}\" appears twice")));
            }
            if several && folder::COLUMNS.contains(&name.as_str()) {
                return Err(
                    self.at(line, format!("axis \"{name}\" would be a second column of this name in sweep.csv"))
                );
            }
            count = count.saturating_mul(axis.values.len());
            if count > MOST_RUNS {
                let message = format!("with axis \"{name}\" there are {count} runs; expected at most {MOST_RUNS}");
                return Err(self.at(line, message));
            }
            axes.push(axis);
        }
        Ok(Axes::new(axes))
    }

    fn axis(&self, axis: AxisKeys) -> Result<Axis, InputError> {
        let name = self.placed(axis.name);
        self.check_name("axis", &name.value, name.line)?;
        let set = self.setting(axis.set)?;
        if !set.value.contains("{}") {
            return Err(self.at(set.line, format!("\"{}\" has no {{}}; expected KEY={{}}", set.value)));
        }
        if axis.values.get_ref().is_empty() {
            return Err(self.error(&axis.values.span(), "values is empty; expected at least one"));
        }
        let mut values = Vec::new();
        for value in axis.values.into_inner() {
            let value = self.placed(value);
            let label = scalar(&value.value).ok_or_else(|| {
                self.at(value.line, "a value of the axis is a list or a section; expected a number or a string")
            })?;
            self.check_name("value", &label, value.line)?;
            values.push((label.clone(), Placed { line: value.line, value: set.value.replace("{}", &label) }));
        }
        if let Some(index) = first_repeated(values.iter().map(|(label, _)| label.as_str())) {
            let (label, place) = &values[index];
            return Err(self.at(place.line, format!("value {label} appears twice")));
        }
        Ok(Axis { name: name.value, values })
    }

    fn size_bins(&self, keys: Spanned<Vec<Spanned<String>>>) -> Result<Vec<u64>, InputError> {
        let span = keys.span();
        let mut bins = Vec::new();
        for text in keys.into_inner() {
            let size = quantity::size(text.get_ref());
            bins.push(size.map_err(|message| self.error(&text.span(), format!("size_bins: {message}")))?);
        }
        if bins.is_empty() || !bins.is_sorted_by(|a, b| a < b) {
            return Err(self.error(&span, "size_bins is no ascending list; expected the upper bounds of sizes"));
        }
        Ok(bins)
    }

    fn columns(
        &self,
        keys: Spanned<Vec<Spanned<String>>>,
        bins: Option<&[u64]>,
    ) -> Result<Vec<Placed<Column>>, InputError> {
        if keys.get_ref().is_empty() {
            return Err(self.error(&keys.span(), "columns is empty; expected at least one metric, or no such key"));
        }
        let mut columns: Vec<Placed<Column>> = Vec::new();
        for name in keys.into_inner() {
            let Placed { line, value: name } = self.placed(name);
            let column = Column::parse(&name, bins).map_err(|message| self.at(line, format!("columns: {message}")))?;
            if columns.iter().any(|other| other.value == column) {
                return Err(self.at(line, format!("columns: {name} appears twice")));
            }
            columns.push(Placed { line, value: column });
        }
        Ok(columns)
    }

    /// What `warm_up` and `until` say, in ns.
    pub(super) fn window(
        &self,
        warm_up: Option<&Spanned<String>>,
        until: Option<&Spanned<String>>,
    ) -> Result<(Option<u64>, Option<u64>), InputError> {
        let from_ns = warm_up.map(|text| self.time("warm_up", text)).transpose()?;
        let until_ns = until.map(|text| self.time("until", text)).transpose()?;
        match (until, from_ns, until_ns) {
            (Some(text), Some(from), Some(until)) if from >= until => {
                let message = "until: nothing is left behind warm_up; expected a later time";
                Err(self.error(&text.span(), message))
            }
            _ => Ok((from_ns, until_ns)),
        }
    }

    /// The time that a key has, in ns.
    fn time(&self, key: &str, text: &Spanned<String>) -> Result<u64, InputError> {
        select::time_ns(text.get_ref()).map_err(|message| self.error(&text.span(), format!("{key}: {message}")))
    }

    /// Names become folders, and columns of a table.
    fn check_name(&self, what: &str, name: &str, line: u32) -> Result<(), InputError> {
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
        Err(self.at(line, message))
    }

    fn placed<T>(&self, value: Spanned<T>) -> Placed<T> {
        Placed { line: self.line(&value.span()), value: value.into_inner() }
    }

    /// The line where something begins.
    pub(super) fn line(&self, span: &Range<usize>) -> u32 {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count() as u32
    }

    fn at(&self, line: u32, message: impl Into<String>) -> InputError {
        InputError::new(self.path, Some(line), message)
    }

    /// An error that blames the line where something begins.
    pub(super) fn error(&self, span: &Range<usize>, message: impl Into<String>) -> InputError {
        self.at(self.line(span), message)
    }

    fn syntax(&self, error: &toml::de::Error) -> InputError {
        let message = error
            .message()
            .replace('`', "\"")
            .replace("unknown field", "unknown key")
            .replace("unknown variant", "unknown name");
        let message = message.replace("missing field", "missing key");
        let line = error.span().map(|span| self.line(&span));
        InputError::new(self.path, line, message)
    }
}

/// A number, a truth value or a string as an override has it.
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// Index of the first element that was there before.
fn first_repeated<T: PartialEq>(elements: impl Iterator<Item = T>) -> Option<usize> {
    let mut seen = Vec::new();
    for (index, element) in elements.enumerate() {
        if seen.contains(&element) {
            return Some(index);
        }
        seen.push(element);
    }
    None
}
