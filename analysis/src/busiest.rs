// SPDX-License-Identifier: GPL-2.0-only
//! The busiest link of each phase of a job: of the time in which collectives of one kind are under way.

use anyhow::Result;
use hpcc_measures::results::Results;
use hpcc_model::results::ports_csv::PortRow;
use hpcc_model::results::sent_csv::SentRow;
use hpcc_model::results::{CsvRow, Rows};
use std::collections::{BTreeMap, HashMap};

/// What a port has sent while a phase lasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busiest {
    /// The port, and the node behind its link.
    pub node: u32,
    /// Counted from 1.
    pub port: u32,
    /// The node behind it.
    pub peer: u32,
    /// Bytes sent over those that its link could carry meanwhile.
    pub utilisation: f64,
}

/// Times in which something is under way, in ns: ascending, apart from each other.
struct Phase(Vec<(u64, u64)>);

impl Phase {
    /// Of times that may overlap.
    fn new(mut times: Vec<(u64, u64)>) -> Phase {
        times.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in times {
            match apart.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => apart.push((begin, end)),
            }
        }
        Phase(apart)
    }

    fn length(&self) -> u64 {
        self.0.iter().map(|(begin, end)| end - begin).sum()
    }

    /// Which share of a time belongs to it.
    fn share(&self, (begin, end): (u64, u64)) -> f64 {
        let first = self.0.partition_point(|time| time.1 <= begin);
        let inside = self.0[first..].iter().take_while(|time| time.0 < end);
        let length: u64 = inside.map(|time| time.1.min(end) - time.0.max(begin)).sum();
        length as f64 / (end - begin).max(1) as f64
    }
}

/// The busiest port of each phase, given by its times in ns, if `sent.csv` was recorded and any has sent. What a port sends in a sample
/// is taken as spread evenly over it, so phases shorter than `monitor.sent_interval` are blurred.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn busiest(results: &Results, phases: Vec<Vec<(u64, u64)>>) -> Result<Option<Vec<Option<Busiest>>>> {
    let file = results.dir.join(SentRow::FILE);
    let interval = results.summary.scenario["monitor"]["sent_interval_ns"].as_u64().filter(|&interval| interval > 0);
    let Some(interval) = interval.filter(|_| file.exists()) else { return Ok(None) };
    let phases: Vec<Phase> = phases.into_iter().map(Phase::new).collect();
    let mut sent = vec![HashMap::<(u32, u32), f64>::new(); phases.len()];
    let mut shares = (0, Vec::new());
    for row in Rows::<SentRow>::open(&file)? {
        let SentRow { time_ns, node, port, sent_bytes } = row?;
        if shares.0 != time_ns {
            // The last sample may be shorter.
            let sample = (time_ns.saturating_sub(1) / interval * interval, time_ns);
            shares = (time_ns, phases.iter().map(|phase| phase.share(sample)).collect());
        }
        for (sent, &share) in sent.iter_mut().zip(&shares.1).filter(|(_, share)| **share > 0.0) {
            *sent.entry((node, port)).or_default() += share * sent_bytes as f64;
        }
    }
    let ports = Rows::<PortRow>::open(&results.dir.join(PortRow::FILE))?;
    let ports = ports.map(|row| row.map(|row| ((row.node, row.port), row))).collect::<Result<BTreeMap<_, _>, _>>()?;
    let of_phase = |(sent, phase): (&HashMap<(u32, u32), f64>, &Phase)| {
        // Of several the first.
        let used = ports.iter().rev().filter_map(|(place, row)| {
            let most = row.rate_bps as f64 / 8e9 * phase.length().max(1) as f64;
            let utilisation = sent.get(place)? / most;
            Some(Busiest { node: row.node, port: row.port, peer: row.peer, utilisation })
        });
        used.max_by(|one, other| one.utilisation.total_cmp(&other.utilisation))
    };
    Ok(Some(sent.iter().zip(&phases).map(of_phase).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_the_union_of_its_times() {
        let phase = Phase::new(vec![(20, 30), (0, 10), (5, 12), (40, 40)]);
        assert_eq!(phase.length(), 12 + 10);
        assert!((phase.share((0, 10)) - 1.0).abs() < 1e-12);
        assert!((phase.share((10, 20)) - 0.2).abs() < 1e-12);
        assert!((phase.share((8, 24)) - 8.0 / 16.0).abs() < 1e-12);
        assert_eq!(phase.share((30, 50)), 0.0);
    }
}
