// SPDX-License-Identifier: GPL-2.0-only
//! `runs.csv`: one row for each run.

use anyhow::{Context, Result, ensure};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// `differences`: the smallest scenarios of what was once computed otherwise; `random`: scenarios drawn at random.
pub const CAMPAIGNS: [&str; 2] = ["differences", "random"];

const HEADER: &str = "scenario,run,cc_mode,flows,packet_hops,events,user_cpu_s";

/// Scenarios of this prefix come from the oracle.
const ORACLE_PREFIX: &str = "oracle-";

/// One configuration of one scenario. Displays as `SCENARIO/NAME`.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The scenario: a topology and flows.
    pub scenario: String,
    /// The configuration.
    pub name: String,
    /// `CC_MODE`: 1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT, 0 and 5 none.
    pub cc_mode: u32,
    /// Flows in the flow file.
    pub flows: u64,
    /// Frames put on a link, summed over links; unknown for campaigns.
    pub packet_hops: Option<u64>,
    /// Events of the 2019 simulator without its queue monitor's; unknown for the oracle's runs and campaigns.
    pub events: Option<u64>,
    /// Processor time of the 2019 simulator in seconds, set-up included; unknown for the oracle's runs and campaigns.
    pub user_cpu_s: Option<f64>,
}

/// Who computed the expected outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The 2019 simulator.
    Reference,
    /// The 2019 simulator, in a run too small to be measured.
    Campaign,
    /// The executable form of its rules, which agrees with it wherever both have run.
    Oracle,
}

impl Run {
    /// Who computed the expected outputs.
    pub fn source(&self) -> Source {
        if self.scenario.starts_with(ORACLE_PREFIX) {
            Source::Oracle
        } else if CAMPAIGNS.contains(&self.scenario.as_str()) {
            Source::Campaign
        } else {
            Source::Reference
        }
    }

    /// Processor time of the 2019 simulator for each frame on a link, in ns.
    pub fn ns_per_packet_hop(&self) -> Option<f64> {
        Some(self.user_cpu_s? * 1e9 / self.packet_hops? as f64)
    }

    /// Reads all rows of the table.
    ///
    /// # Errors
    /// If the header or a row is not as expected; `path` is for the error.
    pub fn parse_all(path: &Path, text: &str) -> Result<Vec<Run>> {
        let mut lines = text.lines();
        ensure!(lines.next() == Some(HEADER), "{}: the first line is not \"{HEADER}\"", path.display());
        let parse = |line| Run::parse(line).with_context(|| format!("{}: cannot read \"{line}\"", path.display()));
        lines.map(parse).collect()
    }

    fn parse(line: &str) -> Option<Run> {
        let words: Vec<&str> = line.split(',').collect();
        let &[scenario, name, cc_mode, flows, packet_hops, events, user_cpu_s] = words.as_slice() else { return None };
        Some(Run {
            scenario: scenario.into(),
            name: name.into(),
            cc_mode: cc_mode.parse().ok()?,
            flows: flows.parse().ok()?,
            packet_hops: Some(packet_hops.parse().ok()?),
            events: optional(events)?,
            user_cpu_s: optional(user_cpu_s)?,
        })
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scenario, self.name)
    }
}

/// Nothing where there is no word; `None` where the word is no number.
fn optional<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word.is_empty() { Some(None) } else { word.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_rows_are_named() {
        let read = |text: &str| Run::parse_all(Path::new("runs.csv"), text).expect_err("accepted").to_string();
        assert!(read("scenario,run\n").starts_with("runs.csv: the first line is not"));
        assert_eq!(read(&format!("{HEADER}\ntiny,hp,3,1,many,,\n")), "runs.csv: cannot read \"tiny,hp,3,1,many,,\"");
    }
}
