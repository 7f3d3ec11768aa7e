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
