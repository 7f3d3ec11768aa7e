// SPDX-License-Identifier: GPL-2.0-only
//! Jobs that take long are told before they run.

use crate::load_text;
use std::path::Path;

fn notes(micro_batches: u32) -> Vec<String> {
    let text = format!(
        "run.stop = '1s'\n[topology]\nkind = 'star'\nhosts = 2\nrate = '100Gbps'\ndelay = '1us'\n[transport]\nmtu = 1000\n\
         [[traffic]]\nname = 'llm'\nkind = 'transformer'\nlayers = 2\nhidden = 1000\nsequence = 500\nteraflops = 400\ntensor = 2\n\
         chunk = '1GB'\nmicro_batches = {micro_batches}\n"
    );
    let scenario = load_text(Path::new("a.toml"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    scenario.findings.into_iter().filter(|found| found.id == "long-job").map(|found| found.message).collect()
}

/// Two all-reduces of a MB in each of two layers, forward and backward, of two ranks: a MB from each, in two messages.
#[test]
fn messages_are_counted_before_the_run() {
    assert!(notes(100).is_empty());
    let [note] = notes(20_000).try_into().expect("a note");
    let count = 20_000_u64 * 2 * 2 * 2;
    let expected = format!(
        "as packets, job llm sends {} messages of {} bytes in all over the network, in at least {} packets: some 5 minutes",
        count * 2 * 2,
        count * 2 * 1_000_000,
        count * 2 * 1_000
    );
    assert!(note.starts_with(&expected), "{note}\n{expected}");
}
