// SPDX-License-Identifier: GPL-2.0-only
//! Keys of a transformer that change nothing: what notes say of them holds.

use crate::load_text;
use hpcc_core::units::Nanos;
use hpcc_model::jobs::ideal;
use std::path::Path;

const MODEL: &str = "run.stop = '1s'\n[topology]\nkind = 'star'\nhosts = 4\nrate = '100Gbps'\ndelay = '1us'\n\
    [[traffic]]\nkind = 'transformer'\nlayers = 4\nhidden = 64\nsequence = 64\nteraflops = 1\n";

/// What a job sends and how long it takes, and its notes on keys.
fn read(keys: &str) -> ([u64; 3], Vec<String>) {
    let scenario = load_text(Path::new("a.toml"), &format!("{MODEL}{keys}\n"));
    let scenario = scenario.unwrap_or_else(|wrong| panic!("{keys}: {wrong}"));
    let notes = scenario.notes.iter().filter(|note| note.starts_with("transformer: ")).cloned().collect();
    let job = &scenario.flows.jobs[0];
    let (messages, bytes) = job.traffic(None);
    let end = ideal::run(job.job(), None, |message| Nanos(1_000 + message.size), |time| time);
    ([messages, bytes, end.time.0], notes)
}

/// What a note says of a key holds: without the key the job is the same, but for times that are rounded in two parts.
#[test]
fn keys_without_effect_are_told_and_have_none() {
    for (base, keys, told) in [
        ("", "embeddings = 'tied'", "vocabulary"),
        ("", "embeddings = 'untied'", "vocabulary"),
        ("", "dispatch_bytes = 1", "dispatch_bytes = 1"),
        ("experts = 4", "dispatch_bytes = 1", "dispatch_bytes = 1"),
        ("", "expert_every = 2", "dense_layers, expert_every"),
        ("", "dense_layers = 2", "dense_layers, expert_every"),
        ("", "dense_feed_forward = 128", "dense_feed_forward"),
        ("dense_layers = 4", "shared_feed_forward = 128", "shared_feed_forward"),
        ("", "experts = 4\nexpert = 2\nexpert_every = 5", "experts = 4"),
        ("attention_parameters = 999", "queries_per_key = 2", "queries_per_key = 2"),
        ("", "sequence_parallel = true", "sequence_parallel"),
        ("", "overlap_tensor = true", "overlap_tensor"),
        ("", "context_by = 'all_gather'", "context_by"),
        ("tensor = 4", "zero = 1", "zero = 1"),
        ("tensor = 4", "zero = 3", "zero = 3"),
        ("tensor = 4", "buckets = 4", "buckets = 4"),
        ("tensor = 4", "bucket_parameters = 10", "bucket_parameters = 10"),
        ("tensor = 2\npipeline = 2", "gradient_bytes = 4", "gradient_bytes = 4"),
    ] {
        let ((with, notes), (without, _)) = (read(&format!("{base}\n{keys}")), read(base));
        assert_eq!(with[..2], without[..2], "{keys}");
        assert!(with[2].abs_diff(without[2]) * 1_000 <= without[2], "{keys}: {with:?}, {without:?}");
        assert!(notes.iter().any(|note| note.contains(told)), "{keys}: {notes:?}");
    }
}

#[test]
fn keys_with_an_effect_are_not_told() {
    for keys in [
        "embeddings = 'tied'\nvocabulary = 100",
        "experts = 4\nexpert = 2\ndispatch_bytes = 1",
        "experts = 4\nexpert = 2\nexpert_every = 4",
        "experts = 4\ndense_layers = 1\nshared_feed_forward = 10\ndense_feed_forward = 20",
        "dense_layers = 2\ndense_feed_forward = 128",
        "attention_parameters = 999\nqueries_per_key = 2\ncontext = 2",
        "tensor = 2\nsequence_parallel = true\noverlap_tensor = true",
        "zero = 1\nbuckets = 4\ngradient_bytes = 4",
        "tensor = 2\npipeline = 2\nembeddings = 'tied'\nvocabulary = 100\ngradient_bytes = 4",
    ] {
        let (_, notes) = read(keys);
        assert!(notes.is_empty(), "{keys}: {notes:?}");
    }
}
