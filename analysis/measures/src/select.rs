// SPDX-License-Identifier: GPL-2.0-only
//! Which flows count, and in which part of the run.
//!
//! Completion times are those of flows that start in the window; goodput is what any selected flow sends within it.

use anyhow::{Result, bail};
use clap::Args;
use hpcc_core::settings::quantity;
use serde::{Deserialize, Serialize};

use crate::results::{Life, Results, Window};

/// The selection; by default all.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Only flows of this group, the name of a section of traffic; may be repeated.
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Only flows with these numbers, such as 3 or 10-19; may be repeated.
    #[arg(long = "flow", value_name = "N|N-M", allow_hyphen_values = true, value_parser = numbers)]
    #[serde(skip)]
    pub flows: Vec<(u32, u32)>,
    /// Measures from this time on, counted from the start of the first flow, such as 1ms.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_ns)]
    #[serde(rename = "warm_up_ns")]
    pub warm_up: Option<u64>,
    /// Measures until this time, counted from the first flow's start.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time_ns)]
    #[serde(rename = "until_ns")]
    pub until: Option<u64>,
}

impl Selection {
    /// Reduces results to the selection. By chance a run may have no flow of a group.
    ///
    /// # Errors
    /// If there is no such group, no such flow, or the window is empty.
    pub fn apply(&self, results: &mut Results) -> Result<()> {
        self.check_groups(results)?;
        let window = self.window(results)?;
        results.window = window;
        if *self == Selection::default() {
            return Ok(());
        }
        let groups =
            results.known_groups().into_iter().filter(|(_, name)| self.groups.iter().any(|wanted| wanted == name));
        let groups = (!self.groups.is_empty()).then(|| groups.map(|(number, _)| number).collect());
        results.narrow(Filter { groups, flows: self.flows.clone(), window })?;
        if self.groups.is_empty() && results.lives() == 0 {
            bail!("{}: no flow is selected", results.dir.display());
        }
        Ok(())
    }

    fn check_groups(&self, results: &Results) -> Result<()> {
        let names: Vec<&str> = results.known_groups().into_iter().map(|(_, name)| name).collect();
        match self.groups.iter().find(|wanted| !names.contains(&wanted.as_str())) {
            Some(unknown) => {
                bail!("{}: there is no group \"{unknown}\"; there are {}", results.dir.display(), names.join(", "))
            }
            None => Ok(()),
        }
    }

    fn window(&self, results: &Results) -> Result<Window> {
        let Window { from_ns, until_ns, after_ns, .. } = results.window;
        let window = Window {
            after_ns: after_ns.saturating_add(self.warm_up.unwrap_or(0)),
            from_ns: from_ns.saturating_add(self.warm_up.unwrap_or(0)),
            until_ns: self.until.map_or(until_ns, |until| from_ns.saturating_add(until)),
            chosen: self.warm_up.is_some() || self.until.is_some(),
        };
        if window.chosen && window.from_ns >= window.until_ns {
            bail!(
                "{}: nothing is left between warm-up and end, {} and {} ns after the first start: the flows last {} ns",
                results.dir.display(),
                window.from_ns - from_ns,
                window.until_ns - from_ns,
                until_ns - from_ns
            );
        }
        Ok(window)
    }
}

/// A selection in one run.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Numbers of groups; without them, all.
    groups: Option<Vec<u32>>,
    /// The first and the last number of some flows; without them, all.
    flows: Vec<(u32, u32)>,
    /// If it was chosen.
    window: Window,
}

impl Filter {
    fn names(&self, flow: u32, group: u32) -> bool {
        (self.flows.is_empty() || self.flows.iter().any(|(first, last)| (*first..=*last).contains(&flow)))
            && self.names_group(group)
    }

    /// Whether it lets flows of this group through.
    pub fn names_group(&self, group: u32) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.contains(&group))
    }

    /// Whether it lets a flow through that starts at this time, in ns.
    pub fn starts(&self, flow: u32, group: u32, start_ns: u64) -> bool {
        let Window { from_ns, until_ns, chosen, .. } = self.window;
        self.names(flow, group) && (!chosen || (from_ns..until_ns).contains(&start_ns))
    }

    /// Whether it lets a flow through that sends in the window.
    pub fn overlaps(&self, life: &Life) -> bool {
        let Window { from_ns, until_ns, chosen, .. } = self.window;
        self.names(life.flow, life.group) && (!chosen || (life.start_ns < until_ns && life.end_ns > from_ns))
    }
}

/// A time with its unit, in ns.
///
/// # Errors
/// With what was expected.
pub fn time_ns(text: &str) -> Result<u64, String> {
    quantity::time(text).map(|time| time.0)
}

/// `3` or `10-19`.
fn numbers(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err("expected the number of a flow, or the first and the last of some: 3 or 10-19".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::in_memory;
    use hpcc_model::results::{FctRecord, Summary, UnfinishedFlow};

    fn results() -> Results {
        let flow =
            |flow, group, start_ns| FctRecord { flow, group, start_ns, fct_ns: 50, size: 10, ..FctRecord::default() };
        let summary =
            Summary { groups: vec!["background".into(), "incast".into()], simulated_ns: 1_000, ..Summary::default() };
        let endless = UnfinishedFlow { flow: 3, group: 0, start_ns: 100, acked_bytes: 7, ..UnfinishedFlow::default() };
        in_memory(summary, vec![flow(0, 0, 100), flow(1, 1, 300), flow(2, 1, 500)], vec![endless])
    }

    fn flows(selection: &Selection) -> Vec<u32> {
        let mut results = results();
        selection.apply(&mut results).expect("a selection");
        finished(&results)
    }

    fn finished(results: &Results) -> Vec<u32> {
        let mut flows = Vec::new();
        results.each_flow(|flow| flows.push(flow.flow)).expect("in memory");
        flows
    }

    #[test]
    fn groups_and_numbers_select_flows() {
        assert_eq!(flows(&Selection::default()), [0, 1, 2]);
        assert_eq!(flows(&Selection { groups: vec!["incast".into()], ..Selection::default() }), [1, 2]);
        assert_eq!(flows(&Selection { flows: vec![(0, 1)], ..Selection::default() }), [0, 1]);
    }

    #[test]
    fn a_group_that_is_known_may_have_no_flow() {
        let mut results = results();
        results.summary.groups.push("rare".into());
        let of = |group: &str| Selection { groups: vec![group.into()], ..Selection::default() };
        let told = of("none").apply(&mut results).expect_err("no group").to_string();
        assert!(told.contains("there is no group \"none\"; there are background, incast, rare"), "{told}");
        of("rare").apply(&mut results).expect("by chance");
        assert_eq!((finished(&results), results.lives()), (vec![], 0));
        assert!(results.selected(&Selection { until: Some(500), ..Selection::default() }).is_err());
    }

    #[test]
    fn a_window_counts_from_the_first_start_and_keeps_who_sends_in_it() {
        let selection = Selection { warm_up: Some(200), until: Some(390), ..Selection::default() };
        let mut results = results();
        selection.apply(&mut results).expect("a window");
        assert_eq!(finished(&results), [1]);
        assert_eq!((results.window.from_ns, results.window.until_ns), (300, 490));
        let mut lives = Vec::new();
        results.each_life(|life| lives.push(life.flow)).expect("in memory");
        assert_eq!((lives, results.lives()), (vec![1, 3], 2), "flow 3 sends all the time");
    }
}
