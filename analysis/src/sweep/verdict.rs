// SPDX-License-Identifier: GPL-2.0-only
//! Whether claims hold: `verdicts.json`, and the same as a table.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use hpcc_measures::quantity::Quantity;
use serde::{Deserialize, Serialize};

use super::claim::{Cell, Claim};
use super::file::SweepFile;
use super::group::Group;
use super::keys::Form;
use crate::chart::{Spread, ends_words, mean_and_deviation};
use crate::human;
use crate::table::table;

/// The file in a sweep's folder.
pub const FILE: &str = "verdicts.json";

/// Number of the file's format: raised whenever it changes so that older readers misread it.
const FORMAT: u32 = 2;

/// How a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The value is in the range in which the claim holds.
    Holds,
    /// The value is not, but on the right side.
    HoldsInDirection,
    /// The value is neither.
    DoesNotHold,
    /// The runs have nothing to measure it by.
    NotMeasured,
}

impl Verdict {
    /// For readers.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInDirection => "holds in direction",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NotMeasured => "not measured",
        }
    }
}

/// Everything that a sweep says of its claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdicts {
    /// [`FORMAT`].
    format: u32,
    /// Heading of the sweep.
    pub title: String,
    /// Where the claims come from.
    pub source: String,
    /// In which form it ran.
    pub form: Form,
    /// What differs from the source.
    pub deviations: Vec<String>,
    /// The cost of the runs.
    pub cost: Cost,
    /// The claims, in the order of the file.
    pub claims: Vec<Judged>,
}

/// The cost of all runs together.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Runs of the simulator.
    pub runs: usize,
    /// Flows in all of them.
    pub flows: u64,
    /// Frames put on links in all of them.
    pub packet_hops: u64,
    /// Processor time in seconds.
    pub cpu_s: f64,
}

/// A claim and how it came out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The claim.
    pub claim: String,
    /// What was expected: a source's number or words.
    pub expected: String,
    /// Values with which it holds.
    pub criterion: String,
    /// Mean over seeds; none if it could not be measured.
    pub measured: Option<f64>,
    /// Standard deviation over seeds; none for a single seed.
    pub spread: Option<f64>,
    /// What is shown around the mean, from where to where, if the file wants another `spread` than the deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<(f64, f64)>,
    /// Unit of all of them.
    pub unit: String,
    /// Runs behind the mean.
    pub seeds: usize,
    /// Runs that were to be; 0 in files of versions that did not say.
    #[serde(default)]
    pub of_seeds: usize,
    /// Flows of these runs that had not finished, of a claim on completion times: the mean leaves them out.
    #[serde(default)]
    pub left_out: u64,
    /// The verdict on the mean.
    pub verdict: Verdict,
    /// Why it does not hold, or could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Judged {
    /// The mean with what is around it, and its unit.
    pub fn measured_words(&self) -> String {
        let Some(mean) = self.measured else { return "-".to_owned() };
        let spread = self.spread.map(|spread| format!(" ± {}", human::three_digits(spread))).unwrap_or_default();
        let around = self.band.map_or(spread, |band| ends_words(Some(band), human::three_digits));
        let seeds = (self.seeds < self.of_seeds).then(|| format!("of {} of {} seeds", self.seeds, self.of_seeds));
        let flows =
            (self.left_out > 0).then(|| format!("without {} unfinished", human::counted(self.left_out, "flow")));
        let less: Vec<String> = seeds.into_iter().chain(flows).collect();
        let of = if less.is_empty() { String::new() } else { format!(" ({})", less.join(", ")) };
        format!("{}{around} {}", human::three_digits(mean), self.unit).trim_end().to_owned() + &of
    }
}

impl Verdicts {
    /// Reads the verdicts of a sweep.
    ///
    /// # Errors
    /// If the file cannot be read, or another version wrote it.
    pub fn read(path: &Path) -> Result<Verdicts> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let value: serde_json::Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let format = value["format"].as_u64();
        ensure!(
            format == Some(FORMAT.into()),
            "{}: written by another version of hpcc (format {}, expected {FORMAT}); run it again",
            path.display(),
            format.map_or_else(|| "unknown".to_owned(), |format| format.to_string()),
        );
        serde_json::from_value(value).with_context(|| path.display().to_string())
    }

    /// How many claims have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.claims.iter().filter(|judged| judged.verdict == verdict).count()
    }
}

/// Judges the claims of a sweep by its runs; none without claims.
pub fn judge(file: &SweepFile, groups: &[Group<'_>]) -> Option<Verdicts> {
    if file.claims.is_empty() {
        return None;
    }
    let mut cost = Cost::default();
    for run in groups.iter().flat_map(|group| &group.runs) {
        let summary = &run.results.summary;
        cost.runs += 1;
        cost.flows += summary.flows_total;
        cost.packet_hops += summary.packet_hops;
        cost.cpu_s += summary.setup_cpu_s + summary.run_cpu_s;
    }
    cost.cpu_s = (cost.cpu_s * 10.0).round() / 10.0;
    Some(Verdicts {
        format: FORMAT,
        title: file.title.clone(),
        source: file.source.clone(),
        form: file.form,
        deviations: file.deviations.clone(),
        cost,
        claims: file.claims.iter().map(|claim| judge_one(file, claim, groups)).collect(),
    })
}

fn judge_one(file: &SweepFile, claim: &Claim, groups: &[Group<'_>]) -> Judged {
    let judged = Judged {
        claim: claim.text.clone(),
        expected: claim.expected.clone(),
        criterion: claim.holds.words(),
        measured: None,
        spread: None,
        band: None,
        unit: if claim.over.is_some() { "" } else { claim.measure.what.def().unit.symbol() }.to_owned(),
        seeds: 0,
        of_seeds: file.seeds.len().max(1),
        left_out: 0,
        verdict: Verdict::NotMeasured,
        reason: None,
    };
    let values = match values(claim, groups) {
        Ok(values) => values,
        Err(error) => return Judged { reason: Some(human::reason(&error)), ..judged },
    };
    let (mean, spread) = mean_and_deviation(&values);
    let verdict = verdict(claim, mean);
    // In the unit that readers see, in which only 0 to 1 and 0 to 100 have an upper end.
    let possible = if claim.over.is_some() { (0.0, f64::INFINITY) } else { claim.measure.what.possible() };
    Judged {
        measured: Some(mean),
        spread,
        band: (file.spread != Spread::Deviation).then(|| file.spread.around(&values, possible).unwrap_or((mean, mean))),
        seeds: values.len(),
        left_out: left_out(claim, groups),
        reason: claim.reason.clone().filter(|_| verdict != Verdict::Holds),
        verdict,
        ..judged
    }
}

fn verdict(claim: &Claim, value: f64) -> Verdict {
    if claim.holds.contains(value) {
        Verdict::Holds
    } else if claim.direction.is_some_and(|range| range.contains(value)) {
        Verdict::HoldsInDirection
    } else {
        Verdict::DoesNotHold
    }
}

/// The value of each seed that has one; at least one, all finite. Two variants are compared seed by seed.
fn values(claim: &Claim, groups: &[Group<'_>]) -> Result<Vec<f64>> {
    let own = of_cell(claim, claim.of, groups);
    let found = match claim.over {
        None => own,
        Some(cell) => {
            let others = of_cell(claim, cell, groups);
            let over = |(seed, value): (u64, Result<f64>)| {
                let other = others.iter().find(|(other, _)| *other == seed).map(|(_, value)| value);
                let ratio = match (value, other) {
                    (Ok(value), Some(Ok(other))) => Ok(value / other),
                    (Err(error), _) => Err(error),
                    (Ok(_), Some(Err(error))) => Err(anyhow!("{error:#}")),
                    (Ok(_), None) => Err(anyhow!("no seed of both variants has run")),
                };
                (seed, ratio)
            };
            own.into_iter().map(over).collect()
        }
    };
    let mut lacks = None;
    let mut values = Vec::new();
    for (_, value) in found {
        match value {
            Ok(value) => values.push(value),
            Err(error) => lacks = lacks.or(Some(error)),
        }
    }
    if values.is_empty() {
        return Err(lacks.unwrap_or_else(|| anyhow!("no run has ended well")));
    }
    ensure!(values.iter().all(|value| value.is_finite()), "the value to divide by is 0");
    Ok(values)
}

/// Flows that a claim on completion times says nothing of, in all of its runs.
fn left_out(claim: &Claim, groups: &[Group<'_>]) -> u64 {
    if !matches!(claim.measure.what, Quantity::Slowdown | Quantity::CompletionTime) {
        return 0;
    }
    let is_of = |group: &&Group<'_>, cell: Cell| group.index == cell.variant && group.step == cell.step;
    let cells = [Some(claim.of), claim.over].into_iter().flatten();
    let runs =
        cells.flat_map(|cell| groups.iter().filter(move |group| is_of(group, cell))).flat_map(|group| &group.runs);
    runs.map(|run| run.results.unfinished()).sum()
}

/// The seeds of a cell, and what each has to say.
fn of_cell(claim: &Claim, cell: Cell, groups: &[Group<'_>]) -> Vec<(u64, Result<f64>)> {
    let group = groups.iter().find(|group| group.index == cell.variant && group.step == cell.step);
    let runs = group.map(|group| group.runs.as_slice()).unwrap_or_default();
    runs.iter().map(|run| (run.results.summary.seed, claim.measure.value(run.results))).collect()
}

/// The verdicts as a table, with the reasons below it.
pub fn render(verdicts: &Verdicts) -> String {
    let header = ["claim", "expected", "holds if", "measured", "verdict"];
    let rows = verdicts.claims.iter().zip(1..).map(|(judged, number)| {
        vec![
            number.to_string(),
            judged.expected.clone(),
            judged.criterion.clone(),
            judged.measured_words(),
            judged.verdict.words().to_owned(),
        ]
    });
    let mut text = format!("\nClaims\n\n{}\n", table(&header, rows));
    for (judged, number) in verdicts.claims.iter().zip(1..) {
        text += &format!(" {number}: {}\n", judged.claim);
        if let Some(reason) = &judged.reason {
            text += &format!("    {}: {reason}\n", judged.verdict.words());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_says_what_it_is_without() {
        let judged = Judged {
            claim: "c".into(),
            expected: "p".into(),
            criterion: "any".into(),
            measured: Some(2.0),
            spread: Some(0.5),
            band: None,
            unit: "us".into(),
            seeds: 10,
            of_seeds: 10,
            left_out: 0,
            verdict: Verdict::Holds,
            reason: None,
        };
        assert_eq!(judged.measured_words(), "2.00 ± 0.50 us");
        let ends = Judged { band: Some((1.75, 4.0)), ..judged.clone() };
        assert_eq!(ends.measured_words(), "2.00 (1.75 to 4.00) us");
        let less = Judged { seeds: 6, left_out: 1, ..judged };
        assert_eq!(less.measured_words(), "2.00 ± 0.50 us (of 6 of 10 seeds, without 1 flow unfinished)");
    }

    #[test]
    fn another_format_is_refused() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join(FILE);
        std::fs::write(&path, "{\"format\": 99}").expect("file");
        let error = Verdicts::read(&path).expect_err("accepted").to_string();
        assert!(error.contains("another version of hpcc (format 99, expected 2)"), "{error}");
    }
}
