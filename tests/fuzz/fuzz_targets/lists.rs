// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as each list that is read by itself: a distribution of flow sizes, flows, a topology, completion times.
#![no_main]

use hpcc_model::generate::Cdf;
use hpcc_formats::reference;
use hpcc_model::results::fct_txt;
use hpcc_fuzz::Folder;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&[]));

fuzz_target!(|bytes: &[u8]| {
    let file = FOLDER.write("list.txt", bytes);
    if let Ok(cdf) = Cdf::read(&file) {
        let sizes: Vec<u64> = (0..=20).map(|step| cdf.size_at(f64::from(step) * 5.0)).collect();
        assert!(sizes.is_sorted() && sizes[0] >= 1, "{sizes:?}");
        assert!(cdf.mean() <= sizes[20] as f64 && cdf.mean() >= 0.0, "{}", cdf.mean());
    }
    if let Ok(flows) = reference::flows(&file) {
        assert!(flows.is_sorted_by_key(|flow| flow.start));
    }
    if let Ok(network) = reference::network(&file) {
        assert!(network.links.iter().all(|link| link.a != link.b && network.nodes.len() > link.b as usize));
    }
    drop(fct_txt::read(&file));
});
