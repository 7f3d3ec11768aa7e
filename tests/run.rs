// SPDX-License-Identifier: GPL-2.0-only
//! A run of a scenario, and what it left.

use crate::bench::Bench;
use hpcc_model::results::packet_trace::{TraceEvent, TraceReader, TraceRecord};
use hpcc_model::results::{FctRecord, fct_csv, unfinished_csv};
use pcap_file::pcap::PcapReader;
use serde_json::Value;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// The results of a scenario's run. Methods panic where a test could not go on.
#[derive(Debug)]
pub struct Run {
    /// The folder with the results, `out`.
    pub bench: Bench,
    /// Its summary.
    pub summary: Value,
}

impl Run {
    /// Runs a scenario with these settings, in which all flows finish.
    #[track_caller]
    pub fn of(toml: &str, set: &[&str]) -> Run {
        Run::ending(toml, set, 0)
    }

    /// Runs a scenario whose command ends with this code: 3 if flows do not finish.
    #[track_caller]
    pub fn ending(toml: &str, set: &[&str], code: i32) -> Run {
        let bench = Bench::new(&[("run.toml", toml)]);
        let output = bench.run("run.toml", set);
        assert_eq!(output.code, Some(code), "{set:?}: {}", output.err);
        let summary = serde_json::from_str(&bench.read("out/summary.json")).expect("JSON");
        Run { bench, summary }
    }

    /// A number of the summary, by its JSON pointer.
    #[track_caller]
    pub fn count(&self, pointer: &str) -> u64 {
        let number = self.summary.pointer(pointer).and_then(Value::as_u64);
        number.unwrap_or_else(|| panic!("{pointer}: {:#}", self.summary))
    }

    /// The sum of what is counted by reason; 0 where nothing is.
    pub fn sum(&self, pointer: &str) -> u64 {
        let reasons = self.summary.pointer(pointer).and_then(Value::as_object);
        reasons.map_or(0, |reasons| reasons.values().filter_map(Value::as_u64).sum())
    }

    /// The flows that finished, by number.
    pub fn flows(&self) -> Vec<FctRecord> {
        let mut flows = fct_csv::read(&self.bench.path("out/fct.csv")).unwrap_or_else(|error| panic!("{error}"));
        flows.sort_by_key(|flow| flow.flow);
        flows
    }

    /// Their completion times in ns.
    pub fn durations(&self) -> Vec<u64> {
        self.flows().iter().map(|flow| flow.fct_ns).collect()
    }

    /// The longest of these.
    pub fn slowest(&self) -> u64 {
        self.durations().into_iter().max().expect("a flow")
    }

    /// Their slowdowns.
    pub fn slowdowns(&self) -> Vec<f64> {
        self.flows().iter().map(|flow| flow.slowdown()).collect()
    }

    /// Acknowledged bytes of unfinished flows, by number.
    pub fn acked(&self) -> Vec<u64> {
        let rows = unfinished_csv::read(&self.bench.path("out/unfinished.csv"));
        let mut rows = rows.unwrap_or_else(|error| panic!("{error}"));
        rows.sort_by_key(|row| row.flow);
        rows.iter().map(|row| row.acked_bytes).collect()
    }

    /// The values of a column of a CSV file, row by row; none where it is empty.
    pub fn column(&self, file: &str, name: &str) -> Vec<Option<f64>> {
        let text = self.bench.read(&format!("out/{file}"));
        let place = text.lines().next().and_then(|head| head.split(',').position(|field| field == name));
        let place = place.unwrap_or_else(|| panic!("no {name} in {file}"));
        text.lines().skip(1).map(|line| line.split(',').nth(place)?.parse().ok()).collect()
    }

    /// The capture.
    pub fn capture(&self) -> PathBuf {
        self.bench.path("out/packets.pcap")
    }

    /// Its frames, each with its time.
    pub fn frames(&self) -> Vec<(Duration, Vec<u8>)> {
        let mut reader = PcapReader::new(File::open(self.capture()).expect("a capture")).expect("a header");
        let mut frames = Vec::new();
        while let Some(frame) = reader.next_packet() {
            let frame = frame.expect("a frame");
            frames.push((frame.timestamp, frame.data.into_owned()));
        }
        frames
    }

    /// The trace's records of captured frames, in the capture's order.
    pub fn records(&self) -> Vec<TraceRecord> {
        let records = TraceReader::open(&self.bench.path("out/packets.tr")).expect("a trace");
        let records = records.map(|record| record.expect("a record"));
        records.filter(|record| matches!(record.event, TraceEvent::Receive | TraceEvent::Dequeue)).collect()
    }
}

/// Reads a scenario with each of these lists of settings, and expects an error that has these words.
#[track_caller]
pub fn refused(toml: &str, cases: &[(&[&str], &str)]) {
    let bench = Bench::new(&[("run.toml", toml)]);
    for (set, words) in cases {
        let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
        match hpcc_formats::load(&bench.path("run.toml"), &set) {
            Ok(_) => panic!("{set:?}: expected an error: {words}"),
            Err(error) => assert!(error.to_string().contains(words), "{set:?}: expected \"{words}\" in: {error}"),
        }
    }
}
