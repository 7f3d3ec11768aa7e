// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as a packet trace. What reads as a record is written and reads alike.
#![no_main]

use hpcc_model::results::packet_trace::{self, TraceReader};
use hpcc_fuzz::{Folder, hpcc};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|bytes: &[u8]| {
    let file = FOLDER.write("packets.tr", bytes);
    hpcc(&["trace"], &file);
    hpcc(&["trace", "--csv"], &file);
    let Ok(mut reader) = TraceReader::open(&file) else { return };
    let records: Vec<_> = reader.by_ref().map_while(Result::ok).collect();
    let mut again = Vec::new();
    packet_trace::write_header(&mut again, &reader.ports, reader.window_bytes).expect("memory");
    records.iter().for_each(|record| packet_trace::write(&mut again, record).expect("memory"));
    let reread = TraceReader::open(&FOLDER.write("again.tr", &again)).expect("what was written can be read");
    assert_eq!(reread.collect::<Result<Vec<_>, _>>().expect("records"), records);
});
