// SPDX-License-Identifier: GPL-2.0-only
//! The runs that differ in nothing but their seed: a row of a table, a line of a plot.

use anyhow::Result;
use hpcc_measures::quantity::Metric;
use hpcc_measures::results::Results;

use super::run::Run;

/// A run that ended well, and what was measured of it.
pub struct Measured<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its results.
    pub results: &'a Results,
    /// Metrics by name.
    pub metrics: Vec<(String, f64)>,
}

/// A variant at a step of the axes.
pub struct Group<'a> {
    /// Index of the variant.
    pub index: usize,
    /// Its name.
    pub variant: &'a str,
    /// Its name in figures.
    pub label: &'a str,
    /// Number of the combination of the axes' values.
    pub step: usize,
    /// The values, one of each axis.
    pub values: Vec<&'a str>,
    /// The runs that ended well, one for each seed.
    pub runs: Vec<&'a Measured<'a>>,
}

impl<'a> Group<'a> {
    /// A metric of every run that has it.
    pub fn metric(&self, metric: &str) -> Vec<f64> {
        self.by_seed(metric).into_iter().flatten().collect()
    }

    /// A metric of every run, as far as it has it.
    pub fn by_seed(&self, metric: &str) -> Vec<Option<f64>> {
        let of = |run: &&Measured<'_>| run.metrics.iter().find(|(name, _)| name == metric).map(|(_, value)| *value);
        self.runs.iter().map(of).collect()
    }

    /// How many flows of all runs a metric leaves out, because they had not finished.
    pub fn left_out(&self, metric: &str) -> f64 {
        Metric::left_out(metric).map_or(0.0, |name| self.metric(&name).iter().sum())
    }

    /// The results of the runs, one for each seed.
    pub fn results(&self) -> impl Iterator<Item = &'a Results> + Clone {
        self.runs.iter().map(|run| run.results)
    }

    /// The sizes of all flows that finished, in bytes.
    ///
    /// # Errors
    /// If a file of a run cannot be read.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        let mut sizes = Vec::new();
        self.results().try_for_each(|results| results.each_flow(|flow| sizes.push(flow.size)))?;
        Ok(sizes)
    }
}

/// The sizes of the flows of several groups, ascending.
///
/// # Errors
/// If a file of a run cannot be read.
pub fn sorted_sizes(groups: &[&Group<'_>]) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    for group in groups {
        sizes.append(&mut group.sizes()?);
    }
    sizes.sort_unstable();
    Ok(sizes)
}
