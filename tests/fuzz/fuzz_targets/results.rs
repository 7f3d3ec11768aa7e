// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes in place of one file of a run's results, of which a report is made. The first byte says which.
#![no_main]

use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::generate::{self, Wire};
use hpcc_model::results::{FctRecord, FileDigest, ResultWriter, RowPlace, Summary, UnfinishedFlow, Versions};
use hpcc_fuzz::{Folder, hpcc};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const FILES: [&str; 8] =
    ["summary.json", "fct.csv", "unfinished.csv", "queue.csv", "goodput.csv", "ports.csv", "pfc.txt", "fct.txt"];

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));
static RUN: LazyLock<PathBuf> = LazyLock::new(run);

/// The results of a run of two flows, one of them unfinished.
fn run() -> PathBuf {
    let folder = FOLDER.path().join("run");
    let mut writer = ResultWriter::create(&folder).expect("a folder");
    let wire = Wire { rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0, count: 1 };
    writer.ports(&generate::star(2, wire).expect("a network"), Nanos(30_000));
    let queue = writer.add_queue(2, 1);
    let flow =
        FctRecord { dst: 1, size: 100_000, start_ns: 1_000, fct_ns: 20_000, ideal_ns: 10_000, ..Default::default() };
    writer.flow_finished(&flow);
    writer.flow_unfinished(0, &UnfinishedFlow { flow: 1, size: 100_000, acked_bytes: 99_000, ..Default::default() });
    for step in 1..=10 {
        writer.queue_point(Nanos(step * 100), queue, step * 1_048);
        writer.goodput(RowPlace::of_sample(step * 1_000, 0), Nanos(step * 1_000), 0, BitRate::gbps(40), 5_000);
        writer.pfc(Nanos(step * 300), 2, true, 1, step % 2 == 0);
    }
    let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
    let summary = Summary { versions, flows_total: 2, flows_finished: 1, simulated_ns: 30_000, ..Summary::default() };
    writer.finish(&summary).expect("results");
    folder
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let name = FILES[usize::from(*which) % FILES.len()];
    let (file, summary) = (RUN.join(name), RUN.join(FILES[0]));
    let before = [&file, &summary].map(|file| fs::read(file).expect("results"));
    fs::write(&file, bytes).expect("written");
    // Whoever changes a file changes its hash, too.
    if let Ok(mut told) = Summary::read(&summary)
        && let Some(digest) = told.files.get_mut(name)
    {
        let rows = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let blake3 = blake3::hash(bytes).to_hex().to_string();
        *digest = FileDigest { rows: Some(rows), bytes: bytes.len() as u64, blake3 };
        let mut text = Vec::new();
        told.write(&mut text).expect("memory");
        fs::write(&summary, text).expect("written");
    }
    hpcc(&["report"], &RUN);
    hpcc(&["report", "--warm-up", "2us", "--until", "9us"], &RUN);
    hpcc(&["compare", &RUN.join("fct.txt").display().to_string()], &RUN);
    for (file, bytes) in [&file, &summary].into_iter().zip(before) {
        fs::write(file, bytes).expect("written");
    }
});
