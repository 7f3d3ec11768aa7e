// SPDX-License-Identifier: GPL-2.0-only
//! What differs between expected and found outputs.
//!
//! Files are compared byte for byte; nothing is normalised. The one thing that the reference's format leaves
//! open is whether there is a pfc.txt at all if no device was paused: an empty file and none are the same.

use crate::case::Outputs;
use std::collections::HashMap;

/// What differs between expected and found outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Flows that the reference completed.
    pub flows: u64,
    /// Those whose line is the same.
    pub exact: u64,
    /// Flows that only one side completed.
    pub unmatched: u64,
    /// Largest difference of a completion time, in ns.
    pub largest_ns: u64,
    /// fct.txt, with the order of completion.
    pub fct: Match,
    /// pfc.txt.
    pub pfc: Match,
    /// qlen.txt.
    pub qlen: Match,
    /// The packet trace.
    pub trace: Match,
}

/// How two files compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// Every byte is equal.
    Equal,
    /// There is nothing to compare with.
    Unknown,
    /// The first line that differs.
    Differs {
        /// Counted from 1.
        line: usize,
        /// The reference's line, empty past its end.
        expected: String,
        /// Our line, empty past its end.
        found: String,
    },
}

impl Verdict {
    /// Compares.
    pub fn of(expected: &Outputs, found: &Outputs) -> Verdict {
        let mut verdict = Verdict {
            flows: expected.fct.lines().count() as u64,
            exact: 0,
            unmatched: 0,
            largest_ns: 0,
            fct: Match::of(Some(&expected.fct), &found.fct),
            pfc: Match::of(Some(&expected.pfc), &found.pfc),
            qlen: Match::of(expected.qlen.as_deref(), found.qlen.as_deref().unwrap_or_default()),
            trace: Match::of(expected.trace.as_deref(), found.trace.as_deref().unwrap_or_default()),
        };
        let mut waiting: HashMap<&str, Vec<&str>> = HashMap::new();
        for line in expected.fct.lines() {
            let (flow, times) = split(line);
            waiting.entry(flow).or_default().insert(0, times);
        }
        for line in found.fct.lines() {
            let (flow, times) = split(line);
            match waiting.get_mut(flow).and_then(Vec::pop) {
                Some(twin) if twin == times => verdict.exact += 1,
                Some(twin) => verdict.largest_ns = verdict.largest_ns.max(completion(twin).abs_diff(completion(times))),
                None => verdict.unmatched += 1,
            }
        }
        verdict.unmatched += waiting.values().map(|lines| lines.len() as u64).sum::<u64>();
        verdict
    }

    /// Whether nothing differs.
    pub fn is_exact(&self) -> bool {
        self.differences().is_empty()
    }

    /// The files that differ, each with the first line that does.
    pub fn differences(&self) -> Vec<String> {
        let files =
            [("fct.txt", &self.fct), ("pfc.txt", &self.pfc), ("qlen.txt", &self.qlen), ("packets.tr", &self.trace)];
        let difference = |(name, file): (&str, &Match)| match file {
            Match::Differs { line, expected, found } => {
                Some(format!("{name}:{line}: expected \"{expected}\", found \"{found}\""))
            }
            _ => None,
        };
        files.into_iter().filter_map(difference).collect()
    }
}

impl Match {
    fn of(expected: Option<&str>, found: &str) -> Match {
        let Some(expected) = expected else { return Match::Unknown };
        if expected == found {
            return Match::Equal;
        }
        let (mut left, mut right) = (expected.split_inclusive('\n'), found.split_inclusive('\n'));
        let mut line = 1;
        loop {
            let (a, b) = (left.next().unwrap_or_default(), right.next().unwrap_or_default());
            if a != b {
                return Match::Differs { line, expected: a.trim_end().into(), found: b.trim_end().into() };
            }
            line += 1;
        }
    }
}

/// A line of fct.txt as what makes it the same flow, and its two times.
fn split(line: &str) -> (&str, &str) {
    let end = line.match_indices(' ').nth(5).map_or(line.len(), |(index, _)| index);
    line.split_at(end)
}

/// The first of the two times; 0 where the line is cut short.
fn completion(times: &str) -> u64 {
    times.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0b000001 0b000101 10000 100 1000 2000000000 5794 5880\n";
    const B: &str = "0b000001 0b000101 10001 100 1000 2000000000 6000 5880\n";

    fn outputs(fct: &str) -> Outputs {
        Outputs { fct: fct.into(), ..Outputs::default() }
    }

    #[test]
    fn equal_outputs_are_exact() {
        let verdict = Verdict::of(&outputs(&[A, B].concat()), &outputs(&[A, B].concat()));
        assert!(verdict.is_exact());
        assert_eq!((verdict.flows, verdict.exact, verdict.largest_ns), (2, 2, 0));
        assert_eq!((verdict.pfc, verdict.qlen), (Match::Equal, Match::Unknown));
    }

    #[test]
    fn the_order_of_completion_counts() {
        let verdict = Verdict::of(&outputs(&[A, B].concat()), &outputs(&[B, A].concat()));
        assert!(!verdict.is_exact());
        assert_eq!((verdict.exact, verdict.unmatched), (2, 0));
        assert!(matches!(verdict.fct, Match::Differs { line: 1, .. }));
    }

    #[test]
    fn the_largest_difference_is_found() {
        let other = B.replace("6000", "5990");
        let verdict = Verdict::of(&outputs(&[A, B].concat()), &outputs(&[A, &other].concat()));
        assert_eq!((verdict.exact, verdict.largest_ns, verdict.unmatched), (1, 10, 0));
        let expected = B.trim_end().to_owned();
        assert_eq!(verdict.fct, Match::Differs { line: 2, expected, found: other.trim_end().into() });
    }

    #[test]
    fn another_standalone_time_or_a_missing_flow_is_no_match() {
        let verdict = Verdict::of(&outputs(A), &outputs(&A.replace("5880", "5881")));
        assert_eq!((verdict.exact, verdict.largest_ns, verdict.is_exact()), (0, 0, false));
        let verdict = Verdict::of(&outputs(&[A, B].concat()), &outputs(A));
        assert_eq!((verdict.exact, verdict.unmatched, verdict.is_exact()), (1, 1, false));
    }

    #[test]
    fn pauses_and_queues_count() {
        let expected = Outputs { qlen: Some("time: 1\n".into()), ..outputs(A) };
        assert!(!Verdict::of(&expected, &Outputs { qlen: Some("time: 2\n".into()), ..outputs(A) }).is_exact());
        assert!(!Verdict::of(&expected, &outputs(A)).is_exact());
        let paused = Outputs { pfc: "1 2 0 1 1\n".into(), ..outputs(A) };
        assert!(!Verdict::of(&outputs(A), &paused).is_exact());
        assert!(!Verdict::of(&paused, &outputs(A)).is_exact());
    }
}
