// SPDX-License-Identifier: GPL-2.0-only
//! Differences between expected and found outputs.
//!
//! Files are compared byte for byte; nothing is normalised. The one thing that the 2019 simulator's format leaves
//! open is whether there is a pfc.txt at all if no device was paused: an empty file and none are the same.

use super::case::Outputs;
use anyhow::Result;
use hpcc_measures::pairing::Pairing;
use hpcc_model::results::fct_txt;
use std::path::Path;

/// Differences between expected and found outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The completed flows: the 2019 simulator's and ours.
    pub flows: Pairing,
    /// The files in their order, by name.
    files: [(&'static str, Match); 4],
    /// Frames put on links, expected and found, if they differ.
    hops: Option<(u64, u64)>,
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
        /// The 2019 simulator's line, empty past its end.
        expected: String,
        /// Our line, empty past its end.
        found: String,
    },
}

impl Verdict {
    /// Compares the files.
    ///
    /// # Errors
    /// If one of the two `fct.txt` does not follow the format.
    pub fn of(expected: &Outputs, found: &Outputs) -> Result<Verdict> {
        let flows = |text: &str| fct_txt::read_from(Path::new("fct.txt"), text.as_bytes());
        let found_text = |text: &Option<String>| text.clone().unwrap_or_default();
        Ok(Verdict {
            flows: Pairing::of(&flows(&expected.fct)?, &flows(&found.fct)?),
            files: [
                ("fct.txt", Match::of(Some(&expected.fct), &found.fct)),
                ("pfc.txt", Match::of(Some(&expected.pfc), &found.pfc)),
                ("qlen.txt", Match::of(expected.qlen.as_deref(), &found_text(&found.qlen))),
                ("packets.tr", Match::of(expected.trace.as_deref(), &found_text(&found.trace))),
            ],
            hops: None,
        })
    }

    /// Compares how many frames were put on links, too.
    pub fn compare_hops(&mut self, expected: u64, found: u64) {
        self.hops = (expected != found).then_some((expected, found));
    }

    /// Whether nothing differs.
    pub fn is_exact(&self) -> bool {
        self.differences().is_empty()
    }

    /// The files that differ, each with the first line that does, and the count of frames.
    pub fn differences(&self) -> Vec<String> {
        let difference = |(name, file): &(&str, Match)| match file {
            Match::Differs { line, expected, found } => {
                Some(format!("{name}:{line}: expected \"{expected}\", found \"{found}\""))
            }
            Match::Equal | Match::Unknown => None,
        };
        let files = self.files.iter().filter_map(difference);
        files.chain(self.hops.map(|(expected, found)| format!("{found} packet-hops, expected {expected}"))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0b000001 0b000101 10000 100 1000 2000000000 5794 5880\n";
    const B: &str = "0b000001 0b000101 10001 100 1000 2000000000 6000 5880\n";

    fn outputs(fct: &str) -> Outputs {
        Outputs { fct: fct.into(), ..Outputs::default() }
    }

    fn verdict(expected: &Outputs, found: &Outputs) -> Verdict {
        Verdict::of(expected, found).expect("lines of fct.txt")
    }

    #[test]
    fn equal_outputs_are_exact() {
        let mut verdict = verdict(&outputs(&[A, B].concat()), &outputs(&[A, B].concat()));
        assert!(verdict.is_exact());
        assert_eq!(verdict.flows.exact(), 2);
        verdict.compare_hops(7, 7);
        assert!(verdict.is_exact());
        verdict.compare_hops(7, 8);
        assert_eq!(verdict.differences(), ["8 packet-hops, expected 7"]);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let other = B.replace("6000", "5990");
        let verdict = verdict(&outputs(&[A, B].concat()), &outputs(&[A, &other].concat()));
        let (expected, found) = (B.trim_end(), other.trim_end());
        assert_eq!(verdict.differences(), [format!("fct.txt:2: expected \"{expected}\", found \"{found}\"")]);
        assert_eq!(verdict.flows.largest_ns(), 10);
    }

    #[test]
    fn pauses_queues_and_packets_count() {
        let kept = |qlen: &str| Outputs { qlen: Some(qlen.into()), ..outputs(A) };
        assert!(verdict(&kept("time: 1\n"), &kept("time: 1\n")).is_exact());
        assert!(!verdict(&kept("time: 1\n"), &kept("time: 2\n")).is_exact());
        assert!(!verdict(&kept("time: 1\n"), &outputs(A)).is_exact());
        assert!(verdict(&outputs(A), &kept("time: 1\n")).is_exact(), "what the 2019 simulator did not keep is unknown");
        let paused = Outputs { pfc: "1 2 0 1 1\n".into(), ..outputs(A) };
        assert!(!verdict(&outputs(A), &paused).is_exact());
        assert!(!verdict(&paused, &outputs(A)).is_exact());
        let traced = Outputs { trace: Some("2000000000 n:0\n".into()), ..outputs(A) };
        assert!(!verdict(&traced, &outputs(A)).is_exact());
    }
}
