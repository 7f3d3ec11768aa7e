// SPDX-License-Identifier: GPL-2.0-only
//! `[[claim]]` in a sweep file.

use hpcc_core::settings::quantity;
use hpcc_formats::error::InputError;
use hpcc_measures::select::Selection;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::measure::{Awaited, Level, Measure, What};
use super::{Cell, Claim, Range};
use crate::sweep::axes::{Axes, Axis};
use crate::sweep::file::{Form, Source, Variant, scalar};

/// A claim.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimKeys {
    /// What is claimed, as a sentence.
    #[schemars(with = "String")]
    text: Spanned<String>,
    /// What the source says of it: its number or its words.
    paper: String,
    /// What is measured, whose unit is also that of `holds`.
    measure: What,
    /// Percentile of the measured values that counts, 1 to 100; without it their mean, of queues the maximum.
    #[schemars(with = "Option<u8>")]
    percentile: Option<Spanned<u8>>,
    /// Only flows of more bytes than this count, a size such as "100KB".
    #[schemars(with = "Option<String>")]
    above: Option<Spanned<String>>,
    /// Only flows of at most so many bytes count, a size such as "10KB".
    #[schemars(with = "Option<String>")]
    up_to: Option<Spanned<String>>,
    /// Only flows of this group (`name` of `[[traffic]]`) count.
    #[schemars(with = "Option<String>")]
    group: Option<Spanned<String>>,
    /// Measured from here on, in time since the first flow's start, such as "2ms". Give it to leave out how flows
    /// begin.
    #[schemars(with = "Option<String>")]
    warm_up: Option<Spanned<String>>,
    /// Measured until here, in time since the first flow's start, such as "2ms".
    #[schemars(with = "Option<String>")]
    until: Option<Spanned<String>>,
    /// The queue (`queue-settles`), rate (`goodput-reaches`) or Jain's index (`fairness-reaches`) that is waited for.
    #[schemars(with = "Option<String>")]
    level: Option<Spanned<String>>,
    /// Name of the variant that is measured.
    #[schemars(with = "String")]
    of: Spanned<String>,
    /// Value of the axis at which it is measured, of several axes { AXIS = VALUE, ... }; required where there are
    /// any.
    #[schemars(with = "Option<serde_json::Value>")]
    at: Option<Spanned<Value>>,
    /// Name of the variant by whose value that of `of` is divided, for claims about a ratio.
    #[schemars(with = "Option<String>")]
    over: Option<Spanned<String>>,
    /// Value of the axis for `over`; without it that of `at`.
    #[schemars(with = "Option<serde_json::Value>")]
    over_at: Option<Spanned<Value>>,
    /// Values with which the claim holds, from `at_least` to `at_most`.
    #[schemars(with = "RangeKeys")]
    holds: Spanned<RangeKeys>,
    /// Values with which at least the direction of the claim is right.
    #[schemars(with = "Option<RangeKeys>")]
    direction: Option<Spanned<RangeKeys>>,
    /// Why the claim does not hold, where that is known.
    reason: Option<String>,
    /// Why it does not hold in the quick form, if that is another reason.
    quick_reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RangeKeys {
    /// The least value.
    at_least: Option<f64>,
    /// The greatest value.
    at_most: Option<f64>,
}

/// Checks the claims of a file against its variants and its axes.
///
/// # Errors
/// With the line and what was expected.
pub fn check(
    source: &Source<'_>,
    keys: Vec<ClaimKeys>,
    variants: &[Variant],
    axes: &Axes,
    form: Form,
) -> Result<Vec<Claim>, InputError> {
    let reader = Reader { source, variants, axes };
    keys.into_iter().map(|keys| reader.claim(keys, form)).collect()
}

/// How the values of several axes are written.
fn example(axes: &[&Axis]) -> String {
    let first = |axis: &&Axis| format!("{} = {}", axis.name, axis.values.first().map_or("", |(label, _)| label));
    format!("{{ {} }} or other values", axes.iter().map(first).collect::<Vec<_>>().join(", "))
}

/// Index of a value on an axis.
fn place(axis: &Axis, value: &Value) -> Result<usize, String> {
    let label = scalar(value).unwrap_or_default();
    let labels = || axis.values.iter().map(|(known, _)| known.as_str());
    labels().position(|known| known == label).ok_or_else(|| {
        let known: Vec<&str> = labels().collect();
        format!("the axis {} has no such value; it has {}", axis.name, known.join(", "))
    })
}

struct Reader<'a> {
    source: &'a Source<'a>,
    variants: &'a [Variant],
    axes: &'a Axes,
}

impl Reader<'_> {
    fn claim(&self, keys: ClaimKeys, form: Form) -> Result<Claim, InputError> {
        self.selectable(&keys)?;
        let of = self.cell(&keys.of, keys.at.as_ref())?;
        if let (None, Some(at)) = (&keys.over, &keys.over_at) {
            return Err(self.source.error(&at.span(), "over_at without over; expected the variant to divide by"));
        }
        let over_at = keys.over_at.as_ref().or(keys.at.as_ref());
        let over = keys.over.as_ref().map(|name| self.cell(name, over_at)).transpose()?;
        let reason = match form {
            Form::Full => keys.reason,
            Form::Quick => keys.quick_reason.or(keys.reason),
        };
        let above = keys.above.as_ref().map(|text| self.size("above", text)).transpose()?.unwrap_or(0);
        let up_to = keys.up_to.as_ref().map(|text| self.size("up_to", text)).transpose()?.unwrap_or(u64::MAX);
        if let Some(text) = keys.up_to.as_ref().filter(|_| above >= up_to) {
            let message =
                format!("up_to: no flow has more than {above} bytes and at most {up_to}; expected above below it");
            return Err(self.source.error(&text.span(), message));
        }
        let (warm_up, until) = self.source.window(keys.warm_up.as_ref(), keys.until.as_ref())?;
        let measure = Measure {
            what: keys.measure,
            percentile: keys.percentile.map(|percent| self.percentile(keys.measure, &percent)).transpose()?,
            above,
            up_to,
            level: self.level(keys.measure, keys.level.as_ref(), &keys.text)?,
            selection: Selection {
                groups: keys.group.into_iter().map(Spanned::into_inner).collect(),
                warm_up,
                until,
                ..Selection::default()
            },
        };
        Ok(Claim {
            measure,
            of,
            over,
            holds: self.range(keys.holds)?,
            direction: keys.direction.map(|range| self.range(range)).transpose()?,
            reason,
            paper: keys.paper,
            line: self.source.line(&keys.text.span()),
            text: keys.text.into_inner(),
        })
    }

    /// Refuses to select flows, or a part of the run, where the measure knows none.
    fn selectable(&self, keys: &ClaimKeys) -> Result<(), InputError> {
        let flows = [("group", &keys.group), ("above", &keys.above), ("up_to", &keys.up_to)];
        let window = [("warm_up", &keys.warm_up), ("until", &keys.until)];
        let of_network = flows.iter().filter(|_| !keys.measure.is_of_flows());
        let of_run = window.iter().filter(|_| !keys.measure.has_window());
        let refused = of_network.map(|key| (key, "this measure is of the whole network"));
        let mut refused = refused.chain(of_run.map(|key| (key, "this measure is of the whole run")));
        match refused.find_map(|((key, value), why)| Some((key, value.as_ref()?, why))) {
            Some((key, value, why)) => {
                Err(self.source.error(&value.span(), format!("{key}: {why}; expected no such key")))
            }
            None => Ok(()),
        }
    }

    fn cell(&self, name: &Spanned<String>, at: Option<&Spanned<Value>>) -> Result<Cell, InputError> {
        let names = || self.variants.iter().map(|variant| variant.name.value.as_str());
        let Some(variant) = names().position(|known| known == name.get_ref()) else {
            let known: Vec<&str> = names().collect();
            let message = format!("there is no variant \"{}\"; there are {}", name.get_ref(), known.join(", "));
            return Err(self.source.error(&name.span(), message));
        };
        let axes: Vec<&Axis> = self.axes.iter().collect();
        let step = match (axes.as_slice(), at) {
            ([], None) => 0,
            ([], Some(at)) => return Err(self.source.error(&at.span(), "at without an [[axis]]")),
            ([axis], None) => {
                let message = format!("at is missing; expected a value of the axis {}", axis.name);
                return Err(self.source.error(&name.span(), message));
            }
            (axes, None) => {
                let message = format!("at is missing; expected {}", example(axes));
                return Err(self.source.error(&name.span(), message));
            }
            (axes, Some(at)) => self.step(axes, at)?,
        };
        Ok(Cell { variant, step })
    }

    /// The step of a value of the only axis, or of a table with a value of each.
    fn step(&self, axes: &[&Axis], at: &Spanned<Value>) -> Result<usize, InputError> {
        let refuse = |message: String| self.source.error(&at.span(), message);
        let places: Vec<usize> = match (at.get_ref(), axes) {
            (Value::Table(table), axes) => {
                let known = |name: &String| axes.iter().any(|axis| axis.name == *name);
                if let Some(name) = table.keys().find(|name| !known(name)) {
                    return Err(refuse(format!("there is no axis \"{name}\"; expected {}", example(axes))));
                }
                let of = |axis: &&Axis| {
                    let value = table.get(&axis.name);
                    let value = value.ok_or_else(|| format!("{} is missing; expected {}", axis.name, example(axes)))?;
                    place(axis, value)
                };
                axes.iter().map(of).collect::<Result<_, _>>().map_err(refuse)?
            }
            (value, [axis]) => vec![place(axis, value).map_err(refuse)?],
            (_, axes) => return Err(refuse(format!("there are several axes; expected {}", example(axes)))),
        };
        Ok(self.axes.step(&places))
    }

    fn percentile(&self, what: What, percent: &Spanned<u8>) -> Result<u8, InputError> {
        if !what.has_percentiles() {
            return Err(self.source.error(&percent.span(), "this measure has no percentiles; expected no such key"));
        }
        match *percent.get_ref() {
            value @ 1..=100 => Ok(value),
            value => Err(self.source.error(&percent.span(), format!("percentile is {value}; expected 1 to 100"))),
        }
    }

    fn size(&self, key: &str, text: &Spanned<String>) -> Result<u64, InputError> {
        quantity::size(text.get_ref()).map_err(|message| self.source.error(&text.span(), format!("{key}: {message}")))
    }

    fn level(
        &self,
        what: What,
        text: Option<&Spanned<String>>,
        claim: &Spanned<String>,
    ) -> Result<Option<Level>, InputError> {
        let wrong =
            |text: &Spanned<String>, message: String| self.source.error(&text.span(), format!("level: {message}"));
        match (what.waits_for(), text) {
            (Some(Awaited::Queue), Some(text)) => {
                let bytes = quantity::size(text.get_ref()).map_err(|message| wrong(text, message))?;
                Ok(Some(Level::Bytes(bytes)))
            }
            (Some(Awaited::Rate), Some(text)) => {
                let rate = quantity::rate(text.get_ref()).map_err(|message| wrong(text, message))?;
                Ok(Some(Level::Gbps(rate.0 as f64 / 1e9)))
            }
            (Some(Awaited::Index), Some(text)) => {
                let index = text.get_ref().parse().ok().filter(|index| *index > 0.0 && *index <= 1.0);
                let index =
                    index.ok_or_else(|| wrong(text, "expected an index such as \"0.9\", at most 1".to_owned()))?;
                Ok(Some(Level::Index(index)))
            }
            (Some(Awaited::Queue | Awaited::Rate | Awaited::Index), None) => {
                Err(self.source.error(&claim.span(), "level is missing; expected what the measure waits for"))
            }
            (None, Some(text)) => Err(wrong(text, "this measure waits for nothing; expected no such key".to_owned())),
            (None, None) => Ok(None),
        }
    }

    fn range(&self, keys: Spanned<RangeKeys>) -> Result<Range, InputError> {
        let RangeKeys { at_least, at_most } = *keys.get_ref();
        let bounds = || at_least.into_iter().chain(at_most);
        let ordered = at_least.zip(at_most).is_none_or(|(least, most)| least <= most);
        if bounds().next().is_none() || !bounds().all(f64::is_finite) || !ordered {
            let message = "no range; expected at_least, at_most, or both in this order";
            return Err(self.source.error(&keys.span(), message));
        }
        Ok(Range { at_least, at_most })
    }
}
