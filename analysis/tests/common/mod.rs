// SPDX-License-Identifier: GPL-2.0-only
//! The command with a script in the simulator's place, and results for the script to hand out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::results::{FctRecord, Port, ResultWriter, RowPlace, Summary, UnfinishedFlow, Versions};
use tempfile::TempDir;

pub const FAKE_SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-scenario.sh");
const START_NS: u64 = 2_000_000_000;

pub fn hpcc(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hpcc"));
    command.args(arguments);
    for variable in ["HPCC_SCENARIO_PROGRAM", "HPCC_SCRIPT", "FAKE_RESULTS", "FAKE_ONLY"] {
        command.env_remove(variable);
    }
    command
}

/// Results of two flows, the second unfinished on demand.
pub fn canned(folder: &Path, complete: bool) -> PathBuf {
    let dir = folder.join("canned");
    let mut writer = ResultWriter::create(&dir).expect("create");
    let queue = writer.add_queue(2, 1);
    let flow =
        FctRecord { dst: 1, size: 100_000, start_ns: START_NS, fct_ns: 20_000, ideal_ns: 10_000, ..Default::default() };
    writer.flow_finished(&flow);
    if complete {
        writer.flow_finished(&FctRecord { flow: 1, sport: 1, ..flow });
    } else {
        writer
            .flow_unfinished(0, &UnfinishedFlow { flow: 1, size: 100_000, acked_bytes: 99_000, ..Default::default() });
    }
    for step in 1..=10 {
        writer.begin_queue_samples();
        writer.queue_sample(queue, step * 1_048);
        writer.queue_point(Nanos(START_NS + step * 100), queue, step * 1_048);
        writer.goodput(
            RowPlace::of_sample(START_NS + step * 1_000, 0),
            Nanos(START_NS + step * 1_000),
            0,
            BitRate::gbps(40),
            5_000,
        );
    }
    let summary = Summary {
        versions: Versions { hpcc: "0.1.0".into(), ns3: "3.45".into() },
        flows_total: 2,
        seed: 1,
        flows_finished: if complete { 2 } else { 1 },
        simulated_ns: START_NS + 20_000,
        queue_max_bytes: 10_480,
        queue_busiest: Some(Port { node: 2, port: 1 }),
        ..Summary::default()
    };
    writer.finish(&summary).expect("finish");
    dir
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("temporary folder")
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
