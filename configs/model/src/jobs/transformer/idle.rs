// SPDX-License-Identifier: GPL-2.0-only
//! Keys of a transformer that change nothing in the model, or in the division, that others describe.

use super::{Buckets, ContextBy, Embeddings, Transformer};

/// A note for each such key, with why; `copies`: ranks with the same parameters.
pub(super) fn notes(model: &Transformer, copies: u32) -> Vec<String> {
    let of_parallelism = division(model, copies);
    let keys = experts(model).into_iter().chain(tables(model)).chain(of_parallelism);
    keys.map(|(key, why)| format!("transformer: {key} has no effect: {why}")).collect()
}

type Idle = (String, String);

fn idle(is_idle: bool, key: impl Into<String>, why: impl Into<String>) -> Option<Idle> {
    is_idle.then(|| (key.into(), why.into()))
}

/// What is about experts, and about layers without them.
fn experts(model: &Transformer) -> Vec<Idle> {
    let &Transformer { layers, dense_layers, expert_every, experts, expert, .. } = model;
    let with = (0..layers).filter(|&layer| model.has_experts(layer)).count() as u32;
    if experts > 1 && with == 0 {
        let why = format!(
            "of {layers} layers none has any, with dense_layers = {dense_layers} and expert_every = {expert_every}"
        );
        return vec![(format!("experts = {experts}"), why)];
    }
    let is_divided = experts > 1 && expert > 1;
    let is_alike = experts == 1
        && model.shared_feed_forward == 0
        && model.dense_feed_forward == model.feed_forward
        && (dense_layers > 0 || expert_every > 1);
    [
        idle(is_alike, "dense_layers, expert_every", "the model is dense (experts = 1), and all its layers are alike"),
        idle(
            with == layers && model.dense_feed_forward != model.feed_forward,
            "dense_feed_forward",
            "each layer has experts, or feeds forward as feed_forward says; dense_layers and expert_every say which do not",
        ),
        idle(
            with == 0 && model.shared_feed_forward > 0,
            "shared_feed_forward",
            format!("it is beside experts, and none of {layers} layers has any"),
        ),
        idle(
            model.dispatch_bytes != super::BYTES && !is_divided,
            format!("dispatch_bytes = {}", model.dispatch_bytes),
            "no token goes to another rank's expert without experts and expert above 1",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What is about the vocabulary's tables, and keys and values.
fn tables(model: &Transformer) -> Vec<Idle> {
    let name = if model.embeddings == Embeddings::Tied { "tied" } else { "untied" };
    [
        idle(
            model.embeddings != Embeddings::Nothing && model.vocabulary == 0,
            format!("embeddings = \"{name}\""),
            "their tables have vocabulary rows, and that is 0",
        ),
        idle(
            model.attention_parameters.is_some() && model.queries_per_key > 1 && model.context == 1,
            format!("queries_per_key = {}", model.queries_per_key),
            "attention_parameters counts parameters, and without context no keys and values are sent",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What is about ranks that share something, where there is one.
fn division(model: &Transformer, copies: u32) -> Vec<Idle> {
    let alone = "no ranks have the same parameters: nobody reduces gradients";
    let tied = model.embeddings == Embeddings::Tied && model.pipeline > 1;
    let (cuts, buckets) = match model.buckets {
        Buckets::Count(count) => (count > 1, format!("buckets = {count}")),
        Buckets::Parameters(most) => (true, format!("bucket_parameters = {most}")),
    };
    let of_layer = "no ranks share a layer: tensor is 1";
    [
        idle(model.tensor == 1 && model.sequence_parallel, "sequence_parallel", of_layer),
        idle(model.tensor == 1 && model.overlap_tensor, "overlap_tensor", of_layer),
        idle(
            model.context == 1 && model.context_by != ContextBy::Ring,
            "context_by",
            "no ranks share a sequence: context is 1",
        ),
        idle(copies == 1 && model.zero > 0, format!("zero = {}", model.zero), alone),
        idle(copies == 1 && cuts, buckets, alone),
        idle(
            copies == 1 && !tied && model.gradient_bytes != super::BYTES,
            format!("gradient_bytes = {}", model.gradient_bytes),
            alone,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::jobs::ideal;
    use crate::load_text;
    use hpcc_core::units::Nanos;
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
}
