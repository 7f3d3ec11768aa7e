// SPDX-License-Identifier: GPL-2.0-only
//! `[[claim]]` in a sweep file.

use hpcc_core::settings::quantity;
use hpcc_measures::quantity::{Awaited, Of, Quantity};
use hpcc_measures::select::Selection;
use hpcc_model::error::InputError;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

use super::measure::Measure;
use super::{Cell, Claim, Range};
use crate::sweep::axes::Axes;
use crate::sweep::keys::{Form, Places, Size, Variant, label, size, time};
use crate::sweep::placed::{At, Placed, Source};

/// A claim.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimKeys {
    /// The claim, as a sentence.
    text: Placed<String>,
    /// The expected value: the number or words of a source, or your own.
    #[serde(alias = "paper")]
    expected: String,
    /// Measured quantity, in whose unit `holds` is.
    measure: Quantity,
    /// Percentile of the measured values that counts, 1 to 100; without it their mean, of queues the maximum.
    #[schemars(with = "Option<u8>", range(min = 1, max = 100))]
    percentile: Option<Placed<Value>>,
    /// Only flows of more bytes than this count, a size such as "100KB".
    above: Option<Placed<Size>>,
    /// Only flows of at most so many bytes count, a size such as "10KB".
    up_to: Option<Placed<Size>>,
    /// Only flows of this group (`name` of `[[traffic]]`) count.
    group: Option<Placed<String>>,
    /// Measured from here on, in time since the first flow's start, such as "2ms". Give it to leave out how flows
    /// begin.
    warm_up: Option<Placed<String>>,
    /// Measured until here, in time since the first flow's start, such as "2ms".
    until: Option<Placed<String>>,
    /// The queue (`queue-settles`), rate (`goodput-reaches`) or Jain's index (`fairness-reaches`) that is waited for.
    level: Option<Placed<String>>,
    /// Name of the variant that is measured.
    of: Placed<String>,
    /// Value of the axis at which it is measured, of several axes { AXIS = VALUE, ... }; required where there are
    /// any.
    #[schemars(with = "Option<serde_json::Value>")]
    at: Option<Placed<Value>>,
    /// Name of the variant whose value divides the value of `of`, for claims about a ratio.
    over: Option<Placed<String>>,
    /// Value of the axis for `over`; `at` if it is left out.
    #[schemars(with = "Option<serde_json::Value>")]
    over_at: Option<Placed<Value>>,
    /// Values with which the claim holds, from `at_least` to `at_most`.
    holds: Placed<Range>,
    /// Values with which at least the direction of the claim is right.
    direction: Option<Placed<Range>>,
    /// Why the claim does not hold, where that is known.
    reason: Option<String>,
    /// Why it does not hold with --quick, if that is another reason.
    quick_reason: Option<String>,
}

/// Checks the claims of a file against its variants and its axes.
///
/// # Errors
/// With the line and what was expected.
pub fn check(
    source: &Source,
    keys: Vec<ClaimKeys>,
    variants: &[Variant],
    axes: &Axes,
    form: Form,
) -> Result<Vec<Claim>, InputError> {
    let reader = Reader { source, variants, axes };
    keys.into_iter().map(|keys| reader.claim(keys, form)).collect()
}

struct Reader<'a> {
    source: &'a Source,
    variants: &'a [Variant],
    axes: &'a Axes,
}

impl Reader<'_> {
    fn claim(&self, keys: ClaimKeys, form: Form) -> Result<Claim, InputError> {
        self.check_use(&keys)?;
        let over_at = keys.over_at.as_ref().or(keys.at.as_ref());
        let reason = match form {
            Form::Full => keys.reason,
            Form::Quick => keys.quick_reason.or(keys.reason),
        };
        let (above, up_to) = self.sizes(keys.above.as_ref(), keys.up_to.as_ref())?;
        let places = Places {
            groups: keys.group.as_ref().and_then(Placed::at),
            warm_up: keys.warm_up.as_ref().and_then(Placed::at),
            until: keys.until.as_ref().and_then(Placed::at),
        };
        let measure = Measure {
            what: keys.measure,
            percentile: keys.percentile.as_ref().map(|percent| self.percentile(percent)).transpose()?,
            above,
            up_to,
            level: self.level(keys.measure, keys.level.as_ref(), keys.text.at())?,
            selection: Selection {
                groups: keys.group.iter().map(|group| group.to_string()).collect(),
                warm_up: time(self.source, "warm_up", keys.warm_up.as_ref())?,
                until: time(self.source, "until", keys.until.as_ref())?,
                ..Selection::default()
            },
        };
        Ok(Claim {
            measure,
            of: self.cell("of", &keys.of, keys.at.as_ref())?,
            over: keys.over.as_ref().map(|name| self.cell("over", name, over_at)).transpose()?,
            holds: self.range("holds", &keys.holds)?,
            direction: keys.direction.as_ref().map(|range| self.range("direction", range)).transpose()?,
            reason,
            expected: keys.expected,
            at: keys.text.at(),
            places,
            text: keys.text.to_string(),
        })
    }

    /// Refuses keys that the measure has no use for.
    fn check_use(&self, keys: &ClaimKeys) -> Result<(), InputError> {
        let def = keys.measure.def();
        let at = |key: &Option<Placed<String>>| key.as_ref().and_then(Placed::at);
        let at_size = |key: &Option<Placed<Size>>| key.as_ref().and_then(Placed::at);
        let uses = [
            ("group", at(&keys.group), def.of.flows()),
            ("above", at_size(&keys.above), def.of.flows()),
            ("up_to", at_size(&keys.up_to), def.of.flows()),
            ("warm_up", at(&keys.warm_up), def.of != Of::Run),
            ("until", at(&keys.until), def.of != Of::Run),
            ("level", at(&keys.level), def.waits_for.is_some()),
            ("percentile", keys.percentile.as_ref().and_then(Placed::at), def.of.percentiles()),
        ];
        match uses.into_iter().find(|(_, at, is_used)| at.is_some() && !is_used) {
            Some((key, at, _)) => {
                Err(self.source.error(at, format!("{key}: this measure has no use for it; expected no such key")))
            }
            None => Ok(()),
        }
    }

    fn percentile(&self, percent: &Placed<Value>) -> Result<u8, InputError> {
        let number = percent.as_integer().and_then(|number| u8::try_from(number).ok());
        number.filter(|number| (1..=100).contains(number)).ok_or_else(|| {
            let message = format!("percentile is {}; expected 1 to 100, a whole number", **percent);
            self.source.error(percent.at(), message)
        })
    }

    /// Between which sizes flows count, without the first.
    fn sizes(&self, above: Option<&Placed<Size>>, up_to: Option<&Placed<Size>>) -> Result<(u64, u64), InputError> {
        let read = |key, bytes: Option<&Placed<Size>>| bytes.map(|bytes| size(self.source, key, bytes)).transpose();
        let (least, most) = (read("above", above)?.unwrap_or(0), read("up_to", up_to)?.unwrap_or(u64::MAX));
        if least >= most {
            let at = up_to.or(above).and_then(Placed::at);
            let message = format!("up_to: no flow is above {least} and up to {most} bytes; expected more than above");
            return Err(self.source.error(at, message));
        }
        Ok((least, most))
    }

    fn cell(&self, key: &str, name: &Placed<String>, at: Option<&Placed<Value>>) -> Result<Cell, InputError> {
        let names = || self.variants.iter().map(|variant| variant.name.as_str());
        let Some(variant) = names().position(|known| known == name.as_str()) else {
            let known: Vec<&str> = names().collect();
            let message = format!("{key}: there is no variant \"{}\"; there are {}", **name, known.join(", "));
            return Err(self.source.error(name.at(), message));
        };
        let place = at.map_or(name.at(), Placed::at);
        let step = self.step(at.map(|at| &**at)).map_err(|message| self.source.error(place, message))?;
        Ok(Cell { variant, step })
    }

    /// The step of a table with a value of each axis, or of a value of the only one.
    fn step(&self, at: Option<&Value>) -> Result<usize, String> {
        let of_axis = |axis: &str| match at {
            Some(Value::Table(table)) => table.get(axis),
            value => value.filter(|_| self.axes.only().is_some()),
        };
        let known = |name: &String| self.axes.iter().any(|axis| axis.name == *name);
        let unknown = match at {
            Some(Value::Table(table)) => table.keys().any(|name| !known(name)),
            Some(_) => self.axes.is_empty(),
            None => false,
        };
        let place = |axis: &crate::sweep::axes::Axis| {
            let label = label(of_axis(&axis.name)?);
            axis.values.iter().position(|(known, _)| *known == label)
        };
        let places: Option<Vec<usize>> = self.axes.iter().map(place).collect();
        let values = |axis: &crate::sweep::axes::Axis| {
            let labels: Vec<&str> = axis.values.iter().map(|(label, _)| label.as_str()).collect();
            format!("{} = {}", axis.name, labels.join(" | "))
        };
        places.filter(|_| !unknown).map(|places| self.axes.step(&places)).ok_or_else(|| {
            let axes: Vec<String> = self.axes.iter().map(values).collect();
            format!("at: expected a value of each axis; the axes are {{ {} }}", axes.join(", "))
        })
    }

    /// What a key says, by its reader.
    fn value<T>(
        &self,
        key: &str,
        text: Option<&Placed<String>>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, InputError> {
        let value = |text: &Placed<String>| {
            read(text).map_err(|message| self.source.error(text.at(), format!("{key}: {message}")))
        };
        text.map(value).transpose()
    }

    fn level(&self, what: Quantity, text: Option<&Placed<String>>, claim: At) -> Result<f64, InputError> {
        let Some(awaited) = what.def().waits_for else { return Ok(0.0) };
        let level = self.value("level", text, |text| match awaited {
            Awaited::Queue => quantity::size(text).map(|bytes| bytes as f64),
            Awaited::Rate => quantity::rate(text).map(|rate| rate.0 as f64 / 1e9),
            Awaited::Index => {
                let index = text.parse().ok().filter(|index| *index > 0.0 && *index <= 1.0);
                index.ok_or_else(|| "expected an index such as \"0.9\", at most 1".to_owned())
            }
        })?;
        level.ok_or_else(|| self.source.error(claim, "level is missing; expected what the measure waits for"))
    }

    fn range(&self, key: &str, range: &Placed<Range>) -> Result<Range, InputError> {
        let ends = [range.at_least, range.at_most];
        let is_empty = ends.iter().all(Option::is_none);
        if is_empty || !ends.iter().flatten().all(|end| end.is_finite()) || !ends.iter().flatten().is_sorted() {
            let message =
                format!("{key}: no range; expected at_least, at_most, or both in this order, of finite numbers");
            return Err(self.source.error(range.at(), message));
        }
        Ok(**range)
    }
}
