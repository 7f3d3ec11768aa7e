// SPDX-License-Identifier: GPL-2.0-only
//! The flows of a scenario. They are not kept in memory: whoever wants them walks their sources again.

use crate::error::InputError;
use crate::flow::{Flow, Placed};
use crate::flow_file::FlowFile;
use crate::generate::{Offer, Poisson, Random};
use crate::job::JobSpec;
use crate::origin::Origin;
use crate::place::Place;
use hpcc_core::units::Nanos;
use hpcc_core::workload::Servers;
use itertools::Itertools;
use std::sync::Arc;

/// Where flows come from. Each source has its flows by ascending start.
#[derive(Clone, Debug)]
pub enum FlowSource {
    /// A section that lists them, or a pattern.
    Listed {
        /// By ascending start.
        flows: Arc<[Flow]>,
        /// The section.
        origin: Arc<Origin>,
    },
    /// A random process.
    Poisson {
        /// The process.
        traffic: Poisson,
        /// Its generator before the first draw.
        random: Random,
        /// The section.
        origin: Arc<Origin>,
    },
    /// A file.
    File(FlowFile),
    /// A job, whose messages are no list.
    Job {
        /// The job.
        job: Arc<JobSpec>,
        /// The section.
        origin: Arc<Origin>,
    },
}

impl FlowSource {
    /// The flows from first to last. Ends with the first error.
    pub fn walk(&self) -> Box<dyn Iterator<Item = Placed>> {
        match self.clone() {
            FlowSource::Listed { flows, origin } => {
                Box::new((0..flows.len()).map(move |index| Ok((flows[index], origin.section().clone()))))
            }
            FlowSource::Poisson { traffic, random, origin } => {
                Box::new(traffic.flows(random).map(move |flow| Ok((flow, origin.section().clone()))))
            }
            FlowSource::File(file) => file.walk(),
            FlowSource::Job { .. } => Box::new(std::iter::empty()),
        }
    }

    /// Flows to check in place of those that nobody knows yet.
    pub fn samples(&self, servers: Option<Servers>) -> impl Iterator<Item = Placed> + '_ {
        let job = if let FlowSource::Job { job, origin } = self { Some((job, origin)) } else { None };
        job.into_iter()
            .flat_map(move |(job, origin)| job.samples(servers).map(|flow| Ok((flow, origin.section().clone()))))
    }

    /// On what of a file is uncertain, or not read; known after a [`walk`](FlowSource::walk).
    pub fn notes(&self) -> Vec<String> {
        match self {
            FlowSource::File(file) => [file.guess(), file.note()].into_iter().flatten().collect(),
            FlowSource::Listed { .. } | FlowSource::Poisson { .. } | FlowSource::Job { .. } => Vec::new(),
        }
    }

    /// An error about a flow: of the first of these keys that its section has, or of the flow's place in a file, which has no keys.
    pub fn error(&self, place: &Place, keys: &[&str], message: String) -> InputError {
        match self {
            FlowSource::Listed { origin, .. } | FlowSource::Poisson { origin, .. } | FlowSource::Job { origin, .. } => {
                origin.error(keys, message)
            }
            FlowSource::File(_) => place.error(message),
        }
    }
}

/// A source whose flows belong to a group: results tell the flows of different groups apart.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Name of the group.
    pub group: String,
    /// Its flows.
    pub source: FlowSource,
    /// Its load on receivers, if it is random and has a load.
    pub offer: Option<Offer>,
}

/// Totals of a scenario's flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// How many there are.
    pub count: u64,
    /// Their payload; at most 2^64 - 1.
    pub bytes: u64,
    /// Start of the first, if there is one.
    pub first_start: Option<Nanos>,
    /// Start of the last.
    pub last_start: Option<Nanos>,
    /// Whether any has something for itself, or no end.
    pub have_options: bool,
}

impl FlowTotals {
    /// Counts one more flow.
    pub fn add(&mut self, flow: &Flow) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(flow.bytes());
        self.first_start = Some(self.first_start.map_or(flow.start, |first| first.min(flow.start)));
        self.have_options |= flow.is_own();
        self.last_start = self.last_start.max(Some(flow.start));
    }
}

/// All flows of a scenario, checked.
#[derive(Clone, Debug, Default)]
pub struct FlowList {
    /// Each with the number of its group.
    sources: Vec<(u32, FlowSource)>,
    /// Names of the groups, by number: in the order of the input.
    pub groups: Vec<String>,
    /// Their totals.
    pub totals: FlowTotals,
    /// Loads of random traffic on receivers.
    pub offers: Vec<Offer>,
    /// Jobs, whose messages are not among the flows.
    pub jobs: Vec<JobSpec>,
}

impl FlowList {
    /// The flows of these sources, which have these totals. Sources of one name are one group.
    pub fn new(traffic: Vec<Traffic>, totals: FlowTotals) -> FlowList {
        let mut list = FlowList { totals, ..FlowList::default() };
        for Traffic { group, source, offer } in traffic {
            list.offers.extend(offer);
            let known = list.groups.iter().position(|name| *name == group);
            let number = known.unwrap_or_else(|| {
                list.groups.push(group);
                list.groups.len() - 1
            });
            if let FlowSource::Job { job, .. } = &source {
                list.jobs.push(JobSpec { group: number as u32, ..JobSpec::clone(job) });
            }
            list.sources.push((number as u32, source));
        }
        list
    }

    /// The flows by ascending start, with equal starts in the order of the input. An error can only come from a file
    /// that was changed after it had been checked, and is the last item.
    pub fn walk(&self) -> impl Iterator<Item = Result<Flow, InputError>> + use<> {
        self.walk_groups().map(|flow| flow.map(|(_, flow)| flow))
    }

    /// As [`walk`](Self::walk), each flow with the number of its group.
    pub fn walk_groups(&self) -> impl Iterator<Item = Result<(u32, Flow), InputError>> + use<> {
        self.walk_placed().map(|(group, flow)| flow.map(|(flow, _)| (group, flow)))
    }

    /// As [`walk_groups`](Self::walk_groups), each flow with its place, too.
    pub fn walk_placed(&self) -> impl Iterator<Item = (u32, Placed)> + use<> {
        let numbered =
            |(number, (group, source)): (usize, &(u32, FlowSource))| -> Box<dyn Iterator<Item = (usize, u32, Placed)>> {
                let group = *group;
                Box::new(source.walk().map(move |flow| (number, group, flow)))
            };
        // An error sorts before every flow, so that it shows at once.
        let key = |(number, _, flow): &(usize, u32, Placed)| (flow.as_ref().ok().map(|(flow, _)| flow.start), *number);
        let streams: Vec<_> = self.sources.iter().enumerate().map(numbered).collect();
        let merged = streams.into_iter().kmerge_by(move |a, b| key(a) < key(b));
        merged.map(|(_, group, flow)| (group, flow))
    }
}

#[cfg(test)]
impl FlowList {
    /// All flows; panics where one cannot be had.
    pub(crate) fn collect(&self) -> Vec<Flow> {
        self.walk().map(|flow| flow.expect("a flow")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_file::FlowForm;
    use hpcc_core::engine::FlowOptions;
    use hpcc_core::units::{Bytes, Rounding};
    use std::path::Path;

    fn listed(starts: &[u64], dport: u16) -> FlowSource {
        let flow = |&start| Flow {
            src: 0,
            dst: 1,
            priority: 3,
            dport,
            size: 1,
            start: Nanos(start),
            options: FlowOptions::NONE,
        };
        let origin = Origin::new("traffic", Place::file(Path::new("x")), std::collections::BTreeMap::new());
        FlowSource::Listed { flows: starts.iter().map(flow).collect(), origin: Arc::new(origin) }
    }

    fn grouped(group: &str, source: FlowSource) -> Traffic {
        Traffic { group: group.into(), source, offer: None }
    }

    #[test]
    fn sources_of_one_name_are_one_group() {
        let traffic = [("a", 1), ("b", 2), ("a", 3)].map(|(name, start)| grouped(name, listed(&[start], 1)));
        let list = FlowList::new(traffic.into(), FlowTotals::default());
        assert_eq!(list.groups, ["a", "b"]);
        let groups: Vec<u32> = list.walk_groups().map(|flow| flow.expect("a flow").0).collect();
        assert_eq!(groups, [0, 1, 0]);
    }

    #[test]
    fn sources_are_merged_by_start_and_equal_starts_stay_in_order() {
        let traffic = vec![grouped("a", listed(&[5, 5, 9], 1)), grouped("b", listed(&[1, 5, 7], 2))];
        let list = FlowList::new(traffic, FlowTotals::default());
        let found: Vec<_> = list.collect().iter().map(|flow| (flow.start.0, flow.dport)).collect();
        assert_eq!(found, [(1, 2), (5, 1), (5, 1), (5, 2), (7, 2), (9, 1)]);
    }

    #[test]
    fn a_file_that_is_gone_shows_before_any_later_flow() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("flow.txt");
        std::fs::write(&path, "2\n0 1 3 100 10 0.0\n0 1 3 100 10 0.000001\n").expect("written");
        let form = FlowForm { columns: None, mtu: Bytes(1000), rounding: Rounding::Nearest };
        let (file, count) = FlowFile::new(&path, form).expect("flows");
        assert_eq!(count, 2);
        std::fs::write(&path, "2\n0 1 3 100 10 0.0\n").expect("written");
        let traffic = vec![grouped("a", listed(&[500, 2_000], 1)), grouped("file", FlowSource::File(file))];
        let list = FlowList::new(traffic, FlowTotals::default());
        let found: Vec<_> = list.walk().map(|flow| flow.is_ok()).take(2).collect();
        assert_eq!(found, [true, false]);
    }
}
