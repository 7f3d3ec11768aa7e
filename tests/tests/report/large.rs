// SPDX-License-Identifier: GPL-2.0-only
//! A page of 100,000 flows.

use crate::browser::probe;
use hpcc_model::results::{FctRecord, ResultWriter, Summary, Versions};
use hpcc_tests::hpcc;
use serde_json::json;

const FLOWS: u32 = 100_000;
/// Far more than sorting takes, for machines that are slow or busy, and far less than one would wait for.
const LONGEST_MS: f64 = 3_000.0;

#[test]
fn a_hundred_thousand_flows_sort_at_once() {
    let root = tempfile::tempdir().expect("folder");
    let dir = root.path().join("large");
    let mut writer = ResultWriter::create(&dir).expect("create");
    for flow in 0..FLOWS {
        // Slowdowns in no order at all: a multiplicative generator modulo a prime, so that none comes twice.
        let mixed = u64::from(flow) * 48_271 % 100_003;
        writer.flow_finished(&FctRecord {
            flow,
            src: flow % 320,
            dst: 320 + flow % 7,
            size: 1_000 + mixed,
            start_ns: u64::from(flow),
            fct_ns: 1_000 + mixed,
            ideal_ns: 1_000,
            ..FctRecord::default()
        });
    }
    let versions = Versions { hpcc: "0.1.0".into(), ns3: "3.37".into() };
    let count = u64::from(FLOWS);
    let summary = Summary { versions, flows_total: count, flows_finished: count, ..Summary::default() };
    writer.finish(&summary).expect("finish");
    let output = hpcc().arg("report").arg(&dir).output().expect("hpcc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Some(found) = probe(
        &dir.join("report.html"),
        "const found = {};
        const heads = all('#flow-table th');
        const sizes = heads.findIndex((head) => head.textContent.startsWith('size'));
        const begin = performance.now();
        heads[sizes].querySelector('button').click();
        found.sort = performance.now() - begin;
        found.top = column(sizes).slice(0, 3);
        found.rows = column(0).length;
        const before = performance.now();
        filter('dst=320 size<2kB');
        found.filter = performance.now() - before;
        found.count = $('#flow-count').textContent;
        filter('');
        $('#page-last').click();
        found.page = $('#page-number').textContent;
        found.last = column(sizes).at(-1);
        found.next = [$('#page-next').disabled, $('#page-back').disabled];
        return found;",
    ) else {
        return;
    };
    for what in ["sort", "filter"] {
        assert!(found[what].as_f64().is_some_and(|ms| ms < LONGEST_MS), "{what}: {} ms", found[what]);
    }
    let mut sizes: Vec<u64> = (0..u64::from(FLOWS)).map(|flow| 1_000 + flow * 48_271 % 100_003).collect();
    let matching = (0..FLOWS).filter(|flow| flow % 7 == 0 && sizes[*flow as usize] < 2_000).count();
    sizes.sort_unstable();
    let grouped =
        |size: u64| if size < 1_000 { size.to_string() } else { format!("{},{:03}", size / 1_000, size % 1_000) };
    let top: Vec<String> = sizes.iter().rev().take(3).map(|size| grouped(*size)).collect();
    assert_eq!((&found["top"], &found["rows"]), (&json!(top), &json!(50)));
    assert!(found["count"].as_str().is_some_and(|text| text.ends_with(&format!("of {matching} flows"))), "{found}");
    assert_eq!((&found["page"], &found["last"]), (&json!("page 2,000 of 2,000"), &json!(grouped(sizes[0]))));
    assert_eq!(found["next"], json!([true, false]));
}
