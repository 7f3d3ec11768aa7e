// SPDX-License-Identifier: GPL-2.0-only
//! `compare`: two runs of the same flows, flow by flow.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hpcc_formats::results::address;
use hpcc_formats::results::fct_txt::{self, FctLine};

use crate::outcome::Outcome;
use crate::pairing::{Pair, Pairing};
use crate::stats::percentile;
use crate::{human, results, table};

/// How many of the differing flows are listed.
const LISTED: usize = 10;

/// Compares two files, prints what differs, and says whether nothing does.
///
/// # Errors
/// If a file cannot be read, is not an fct.txt or not what the run wrote, or both are empty.
pub fn compare(a: &Path, b: &Path) -> Result<Outcome> {
    let comparison = Comparison::of(&read(a)?, &read(b)?);
    if comparison.is_empty() {
        bail!("{} and {}: neither holds a flow", a.display(), b.display());
    }
    human::print(&comparison.render())?;
    Ok(if comparison.is_exact() { Outcome::Good } else { Outcome::Failed })
}

/// Two runs of the same flows.
#[derive(Debug, Default, PartialEq)]
struct Comparison {
    exact: usize,
    /// Flows with another completion or standalone time, the largest relative difference first.
    different: Vec<Pair>,
    only_a: usize,
    only_b: usize,
}

impl Comparison {
    fn of(a: &[FctLine], b: &[FctLine]) -> Comparison {
        let Pairing { pairs, only_a, only_b } = Pairing::of(a, b);
        let (exact, mut different): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(|pair| pair.a == pair.b);
        different.sort_by(|x, y| relative(y).total_cmp(&relative(x)));
        Comparison { exact: exact.len(), different, only_a, only_b }
    }

    fn is_empty(&self) -> bool {
        *self == Comparison::default()
    }

    fn is_exact(&self) -> bool {
        self.different.is_empty() && self.only_a == 0 && self.only_b == 0
    }

    fn render(&self) -> String {
        let matched = self.exact + self.different.len();
        let mut text = format!(
            "{} in both, {} exact, {} different; {} only in A, {} only in B\n",
            human::counted(matched as u64, "flow"),
            human::count(self.exact as u64),
            human::count(self.different.len() as u64),
            human::count(self.only_a as u64),
            human::count(self.only_b as u64),
        );
        if !self.different.is_empty() {
            text += &self.spread();
            text += &self.largest();
        }
        text
    }

    /// Percentiles of the relative difference, over all flows in both.
    fn spread(&self) -> String {
        let mut differences = vec![0.0; self.exact];
        differences.extend(self.different.iter().map(relative));
        differences.sort_by(f64::total_cmp);
        let percent = |rank| 100.0 * percentile(&differences, rank);
        let (p50, p99, max) = (percent(50), percent(99), percent(100));
        format!("difference of completion times: p50 {p50:.3} %, p99 {p99:.3} %, max {max:.3} %\n\n")
    }

    fn largest(&self) -> String {
        let header = ["flow", "size (B)", "start (ns)", "FCT A (ns)", "FCT B (ns)", "B - A (ns)", "%"];
        let mut text = table::table(&header, self.different.iter().take(LISTED).map(row));
        if self.different.len() > LISTED {
            text += &format!(" and {} more\n", human::count((self.different.len() - LISTED) as u64));
        }
        if self.different.iter().any(|pair| pair.a.ideal_ns != pair.b.ideal_ns) {
            text += "\nstandalone times differ, too: the runs do not share a topology or a frame size\n";
        }
        text
    }
}

/// Size of the difference relative to A; infinite if only A took no time.
fn relative(pair: &Pair) -> f64 {
    if pair.a.fct_ns == pair.b.fct_ns {
        return 0.0;
    }
    pair.a.fct_ns.abs_diff(pair.b.fct_ns) as f64 / pair.a.fct_ns as f64
}

fn row(pair: &Pair) -> Vec<String> {
    let (a, b) = (pair.a, pair.b);
    let sign = if b.fct_ns < a.fct_ns { '-' } else { '+' };
    vec![
        format!("{}:{} > {}:{}", node(a.sip), a.sport, node(a.dip), a.dport),
        a.size.to_string(),
        a.start_ns.to_string(),
        a.fct_ns.to_string(),
        b.fct_ns.to_string(),
        format!("{sign}{}", a.fct_ns.abs_diff(b.fct_ns)),
        format!("{sign}{:.3}", 100.0 * relative(pair)),
    ]
}

/// A node's number, or an address that no node has.
fn node(ip: u32) -> String {
    address::node(ip).map_or_else(|| format!("{ip:08x}"), |node| node.to_string())
}

fn read(path: &Path) -> Result<Vec<FctLine>> {
    let file = if path.is_dir() { path.join("fct.txt") } else { PathBuf::from(path) };
    results::check_file(&file)?;
    Ok(fct_txt::read(&file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(sport: u16, fct_ns: u64) -> FctLine {
        let (sip, dip) = (address::of_node(1), address::of_node(2));
        FctLine { sip, dip, sport, dport: 100, size: 1_000, start_ns: 2_000_000_000, fct_ns, ideal_ns: 100 }
    }

    #[test]
    fn equal_runs_say_so() {
        let comparison = Comparison::of(&[flow(1, 200), flow(2, 300)], &[flow(2, 300), flow(1, 200)]);
        assert!(comparison.is_exact());
        assert_eq!(comparison.exact, 2);
        assert_eq!(comparison.render(), "2 flows in both, 2 exact, 0 different; 0 only in A, 0 only in B\n");
    }

    #[test]
    fn the_largest_difference_comes_first() {
        let a = [flow(1, 200), flow(2, 300), flow(3, 100)];
        let comparison = Comparison::of(&a, &[flow(1, 201), flow(2, 150), flow(3, 100)]);
        assert_eq!(comparison.different[0].a.sport, 2);
        let text = comparison.render();
        assert!(text.contains("1:2 > 2:100") && text.contains("-150") && text.contains("-50.000"), "{text}");
        assert!(text.contains("p50 0.500 %, p99 50.000 %, max 50.000 %"), "{text}");
    }

    #[test]
    fn another_standalone_time_is_a_difference() {
        let other = FctLine { ideal_ns: 101, ..flow(1, 200) };
        let comparison = Comparison::of(&[flow(1, 200)], &[other]);
        assert!(!comparison.is_exact());
        assert!(comparison.render().contains("standalone times differ"));
    }
}
