// SPDX-License-Identifier: GPL-2.0-only
//! `compare`: two runs of the same flows, flow by flow.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use hpcc_measures::pairing::{Pair, Pairing, key};
use hpcc_measures::parted::{Parted, parts};
use hpcc_measures::results;
use hpcc_measures::spread::Distribution;
use hpcc_model::results::{ResultError, address};

use crate::outcome::Outcome;
use crate::{human, table};

/// How many of the differing flows are listed.
const LISTED: usize = 10;

/// Compares two files, prints differences, and returns whether there are none.
///
/// # Errors
/// If a file cannot be read, is not an fct.txt or not what the run wrote, or both are empty.
pub fn compare(a: &Path, b: &Path) -> Result<Outcome> {
    let (a, b) = (file(a)?, file(b)?);
    let comparison = Comparison::of_files(&a, &b, parts(&a)?.max(parts(&b)?)).map_err(say_expected)?;
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
    /// The size of the difference, relative to A, of each flow with another completion or standalone time.
    different: Vec<f64>,
    /// Some of those flows, the largest difference first.
    largest: Vec<Pair>,
    /// Whether a standalone time differs.
    other_ideal: bool,
    only_a: usize,
    only_b: usize,
}

impl Comparison {
    /// Compares files part by part: they may be longer than memory.
    fn of_files(a: &Path, b: &Path, parts: u64) -> Result<Comparison> {
        let (a, b) = (Parted::of(a, parts)?, Parted::of(b, parts)?);
        let mut comparison = Comparison::default();
        for part in 0..parts {
            comparison.add(Pairing::of(&a.read(part)?, &b.read(part)?));
        }
        Ok(comparison)
    }

    fn add(&mut self, pairing: Pairing) {
        for pair in pairing.pairs {
            if pair.a == pair.b {
                self.exact += 1;
                continue;
            }
            self.different.push(relative(&pair));
            self.other_ideal |= pair.a.ideal_ns != pair.b.ideal_ns;
            let place = self.largest.partition_point(|other| order(other, &pair).is_le());
            if place < LISTED {
                self.largest.truncate(LISTED - 1);
                self.largest.insert(place, pair);
            }
        }
        self.only_a += pairing.only_a;
        self.only_b += pairing.only_b;
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

    /// Percentiles of the relative difference, over all flows in both. Those of exact flows are 0, and come first.
    fn spread(&self) -> String {
        let mut differences = self.different.clone();
        differences.sort_by(f64::total_cmp);
        let all = Distribution::weighted(self.exact as u64, differences.into_iter().map(|one| (one, 1)));
        let percent = |rank| 100.0 * all.percentile(rank);
        let (p50, p99, max) = (percent(50), percent(99), percent(100));
        format!("difference of completion times: p50 {p50:.3} %, p99 {p99:.3} %, max {max:.3} %\n\n")
    }

    fn largest(&self) -> String {
        let header = ["flow", "size (B)", "start (ns)", "FCT A (ns)", "FCT B (ns)", "B - A (ns)", "%"];
        let mut text = table::table(&header, self.largest.iter().map(row));
        if self.different.len() > LISTED {
            text += &format!(" and {} more\n", human::count((self.different.len() - LISTED) as u64));
        }
        if self.other_ideal {
            text += "\nstandalone times differ, too: the runs do not share a topology or a frame size\n";
        }
        text
    }
}

/// The larger difference first; of equal ones the earlier flow.
fn order(x: &Pair, y: &Pair) -> Ordering {
    let flow = |pair: &Pair| (pair.a.start_ns, key(&pair.a));
    relative(y).total_cmp(&relative(x)).then_with(|| flow(x).cmp(&flow(y)))
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

/// The file that is meant, as the run wrote it.
fn file(path: &Path) -> Result<PathBuf> {
    let file = if path.is_dir() { path.join("fct.txt") } else { PathBuf::from(path) };
    results::check_file(&file)?;
    Ok(file)
}

/// Adds what was expected where already the first line is something else.
fn say_expected(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<ResultError>() {
        Some(ResultError::Line { line: 1, .. }) => {
            anyhow!("{error}; expected an fct.txt, plain or .gz, or the folder of a run")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_model::results::fct_txt::{self, FctLine};
    use std::fs::File;

    fn compared(a: &[FctLine], b: &[FctLine]) -> Comparison {
        let mut comparison = Comparison::default();
        comparison.add(Pairing::of(a, b));
        comparison
    }

    #[test]
    fn files_in_parts_compare_like_whole_ones() {
        let folder = tempfile::tempdir().expect("folder");
        let write = |name: &str, flows: &[FctLine]| {
            let path = folder.path().join(name);
            let mut file = File::create(&path).expect("file");
            flows.iter().for_each(|flow| fct_txt::write(&mut file, flow).expect("written"));
            path
        };
        // Each flow twice, which are told apart by their order alone; every third one differs in B.
        let a: Vec<FctLine> = (0..600).map(|index| flow(index / 2, 200 + u64::from(index))).collect();
        let later = |(index, flow): (usize, &FctLine)| FctLine {
            fct_ns: flow.fct_ns + if index % 3 == 2 { flow.fct_ns } else { 0 },
            ..*flow
        };
        let b: Vec<FctLine> = a.iter().enumerate().skip(1).map(later).collect();
        let (a, b) = (write("a", &a), write("b", &b));
        let [whole, parted] = [1, 7].map(|parts| Comparison::of_files(&a, &b, parts).expect("files"));
        assert_eq!((parted.only_a, parted.only_b, parted.exact + parted.different.len()), (1, 0, 599));
        assert!(parted.exact > 300 && parted.different.len() > 190, "{parted:?}");
        assert_eq!(parted.render(), whole.render());
    }

    fn flow(sport: u16, fct_ns: u64) -> FctLine {
        let (sip, dip) = (address::of_node(1), address::of_node(2));
        FctLine { sip, dip, sport, dport: 100, size: 1_000, start_ns: 2_000_000_000, fct_ns, ideal_ns: 100 }
    }

    #[test]
    fn the_largest_difference_comes_first() {
        let a = [flow(1, 200), flow(2, 300), flow(3, 100)];
        let comparison = compared(&a, &[flow(1, 201), flow(2, 150), flow(3, 100)]);
        assert_eq!(comparison.largest[0].a.sport, 2);
        let text = comparison.render();
        assert!(text.contains("1:2 > 2:100") && text.contains("-150") && text.contains("-50.000"), "{text}");
        assert!(text.contains("p50 0.500 %, p99 50.000 %, max 50.000 %"), "{text}");
    }

    #[test]
    fn another_standalone_time_is_a_difference() {
        let other = FctLine { ideal_ns: 101, ..flow(1, 200) };
        let comparison = compared(&[flow(1, 200)], &[other]);
        assert!(!comparison.is_exact());
        assert!(comparison.render().contains("standalone times differ"));
    }
}
