// SPDX-License-Identifier: GPL-2.0-only
use super::*;
use crate::jobs::ideal;
use crate::jobs::testing::job;
use crate::jobs::tuning::tests::tuning;
use hpcc_core::workload::collective::Plan;
use hpcc_core::workload::{Message, Work};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

const MODEL: Transformer = Transformer {
    layers: 4,
    hidden: 1_024,
    queries_per_key: 1,
    attention_width: 1_024,
    attention_parameters: None,
    feed_forward: 4_096,
    shared_feed_forward: 0,
    dense_layers: 0,
    expert_every: 1,
    dense_feed_forward: 4_096,
    sequence: 512,
    vocabulary: 0,
    embeddings: Embeddings::Nothing,
    micro_batch: 2,
    micro_batches: 4,
    tensor: 2,
    sequence_parallel: false,
    overlap_tensor: false,
    context: 1,
    context_by: ContextBy::Ring,
    pipeline: 2,
    virtual_stages: 1,
    zero_bubble: false,
    recompute: Recompute::Nothing,
    experts: 1,
    expert: 1,
    top_k: 1,
    dispatch_bytes: 2,
    expert_servers: None,
    speed: 100_000.0,
    buckets: Buckets::Count(1),
    gradient_bytes: 2,
    zero: 0,
    iterations: 1,
};

/// 64 heads with 8 keys and values, and three matrices of 8,192 by 28,672 a layer.
const LLAMA_70B: Transformer = Transformer {
    layers: 80,
    hidden: 8_192,
    attention_width: 8_192,
    queries_per_key: 8,
    feed_forward: 43_008,
    micro_batch: 1,
    micro_batches: 1,
    tensor: 8,
    pipeline: 4,
    ..MODEL
};

/// 32 heads with 8 keys and values, and eight experts of three matrices of 4,096 by 14,336 a layer, two for each token.
const MIXTRAL_8X7B: Transformer = Transformer {
    layers: 32,
    hidden: 4_096,
    attention_width: 4_096,
    queries_per_key: 4,
    feed_forward: 21_504,
    experts: 8,
    top_k: 2,
    micro_batch: 1,
    micro_batches: 1,
    tensor: 1,
    pipeline: 1,
    ..MODEL
};

fn ways(_: Kind) -> CollectiveOptions {
    CollectiveOptions { depth: 1, chunk: Some(CollectiveOptions::ONE_PIECE), ..CollectiveOptions::default() }
}

fn of(model: &Transformer, ranks: u32) -> JobFile {
    model.job(ranks, &ways, &Budget::new().expect("memory")).expect("a job")
}

/// Groups of a kind and size: how many, and bytes of each.
fn groups(file: &JobFile, ranks: u32, kind: Kind) -> Vec<u64> {
    let is_it = |plan: &&Plan| plan.group.len() as u32 == ranks && plan.pattern.kind == kind;
    file.collectives.iter().filter(is_it).map(|plan| plan.size).collect()
}

#[test]
fn a_layer_costs_what_its_shape_says() {
    let model = Transformer { tensor: 4, pipeline: 1, micro_batches: 3, ..MODEL };
    let file = of(&model, 8);
    // Two all-reduces a layer and pass, for both tensor-parallel groups.
    let activations = 2 * 512 * 1_024 * 2;
    assert_eq!(groups(&file, 4, Kind::AllReduce), vec![activations; 2 * 3 * 4 * 2 * 2]);
    // Twelve h squared parameters a layer, a quarter of them at each rank, reduced by four pairs.
    assert_eq!(groups(&file, 2, Kind::AllReduce), vec![4 * 12 * 1_024 * 1_024 * 2 / 4; 4]);
    // 24 b s h h + 4 b s s h operations forward and twice as many backward, by four ranks.
    let operations = 24 * 2 * 512 * 1_024 * 1_024 + 4 * 2 * 512 * 512 * 1_024_u64;
    let expected = 3 * 4 * 3 * operations / 4 / 100_000;
    let time: u64 = file.graphs[5].computations().map(|time| time.0).sum();
    assert!(time.abs_diff(expected) < 3 * 4 * 4, "{time} {expected}");
}

#[test]
fn messages_of_stages_and_experts_pair_up() {
    let file = of(&MODEL, 8);
    let (count, bytes) = file.graphs.iter().fold((0, 0), |sum, graph| {
        let (count, bytes) = graph.traffic(|_| true);
        (sum.0 + count, sum.1 + bytes)
    });
    assert_eq!((count, bytes), (4 * 2 * 4, 4 * 2 * 4 * 2 * 512 * 1_024 * 2), "4 ranks, 4 batches, both ways");
    let experts = of(&Transformer { experts: 2, expert: 2, pipeline: 1, tensor: 1, ..MODEL }, 4);
    assert_eq!(groups(&experts, 2, Kind::AllToAll).len(), 2 * 4 * 4 * 4);
}

/// Meta counts 68,976,648,192 parameters, of which embeddings and head are 2 x 32,000 x 8,192, norms 161 x 8,192.
#[test]
fn a_llama_reduces_its_parameters() {
    let file = of(&LLAMA_70B, 64);
    let parameters = 68_976_648_192 - 2 * 32_000 * 8_192 - 161 * 8_192;
    // 8 parts of 4 stages, each at two copies.
    assert_eq!(groups(&file, 2, Kind::AllReduce), [parameters * 2 / 32; 32]);
    // Four sums of 512 tokens a layer, among the tensor-parallel ranks of each copy.
    let activations = 512 * 8_192 * 2;
    assert_eq!(groups(&file, 8, Kind::AllReduce), vec![activations; 4 * 80 * 2]);
    // The first stage sends forward, the second one forward and back: an eighth where ranks have parts of sequences.
    for (sequence_parallel, parts) in [(false, 1), (true, 8)] {
        let file = of(&Transformer { sequence_parallel, ..LLAMA_70B }, 64);
        assert_eq!(file.graphs[0].traffic(|to| to == 16), (1, activations / parts));
        assert_eq!(file.graphs[16].traffic(|to| to == 0 || to == 32), (2, 2 * activations / parts));
    }
}

/// Mistral counts 46,702,792,704 parameters, of which embeddings and head are 2 x 32,000 x 4,096, norms 65 x 4,096, routers 32 x
/// 8 x 4,096.
#[test]
fn a_mixtral_reduces_experts_where_they_are() {
    let all = 46_702_792_704 - (2 * 32_000 + 65 + 32 * 8) * 4_096;
    let (attention, expert) = (32 * 2 * 5 * 4_096 * 4_096 / 4, 32 * 3 * 4_096 * 14_336);
    assert_eq!(all, attention + 8 * expert);
    let mixtral = |expert| of(&Transformer { expert, ..MIXTRAL_8X7B }, 16);
    // All is everywhere: one sum, and no exchange.
    let file = mixtral(1);
    assert_eq!(groups(&file, 16, Kind::AllReduce), [all * 2]);
    assert_eq!(file.collectives.len(), 1);
    for (ranks, same) in [(2_u32, 8_u32), (8, 2)] {
        let file = mixtral(ranks);
        assert_eq!(groups(&file, 16, Kind::AllReduce), [attention * 2]);
        let of_rank = 8 / u64::from(ranks) * expert * 2;
        assert_eq!(groups(&file, same, Kind::AllReduce), vec![of_rank; ranks as usize]);
        // There and back, forward and backward, two vectors of each of 512 tokens.
        assert_eq!(groups(&file, ranks, Kind::AllToAll), vec![2 * 512 * 4_096 * 2; 4 * 32 * same as usize]);
        let of_first = |plan: &&Plan| plan.group.contains(&0) && plan.group.len() as u32 == same;
        let copies: Vec<u32> = (0..16).step_by(ranks as usize).collect();
        let sum = file.collectives.iter().filter(of_first).find(|plan| plan.pattern.kind == Kind::AllReduce);
        assert_eq!(sum.map(|plan| &plan.group[..]), Some(&copies[..]));
    }
    // Experts that are at one rank are not reduced.
    let file = of(&Transformer { expert: 8, ..MIXTRAL_8X7B }, 8);
    assert_eq!(groups(&file, 8, Kind::AllReduce), [attention * 2]);
}

#[test]
fn each_expert_of_a_token_computes_wherever_it_is() {
    let layer = 512 * (2 * (2 * 5 * 4_096 * 4_096 / 4 + 2 * 3 * 4_096 * 14_336) + 4 * 512 * 4_096_u64);
    for expert in [1, 2, 8] {
        let file = of(&Transformer { expert, ..MIXTRAL_8X7B }, 16);
        let time: u64 = file.graphs[3].computations().map(|time| time.0).sum();
        assert!(time.abs_diff(3 * 32 * layer / 100_000) < 4 * 32, "{expert}: {time}");
    }
}

#[test]
fn the_first_stages_and_buckets_have_a_layer_more() {
    let layers: Vec<u32> = (0..16).map(|stage| part(126, 16, stage)).collect();
    assert_eq!((&layers[..14], &layers[14..], layers.iter().sum()), (&[8; 14][..], &[7; 2][..], 126));
    // Five layers in stages of three and two, and each in two buckets, by pairs of copies of both tensor-parallel ranks.
    let file = of(&Transformer { layers: 5, buckets: Buckets::Count(2), tensor: 1, micro_batches: 1, ..MODEL }, 4);
    let of_layer = 12 * 1_024 * 1_024 * 2;
    assert_eq!(groups(&file, 2, Kind::AllReduce), [2, 1, 1, 1].map(|layers| layers * of_layer));
}

/// Of two groups in one stream, a rank that is busy could take the other one first, and its partners would wait for ever.
#[test]
fn a_stream_has_the_sums_of_one_group() {
    let model = Transformer {
        experts: 4,
        expert: 2,
        tensor: 1,
        pipeline: 1,
        buckets: Buckets::Count(4),
        iterations: 2,
        ..MODEL
    };
    let file = of(&model, 8);
    for graph in &file.graphs {
        let mut streams = BTreeMap::<u16, BTreeSet<_>>::new();
        for (work, stream) in graph.works().zip(graph.resources()) {
            if let (Work::Collective(sum), Some(stream)) = (work, stream) {
                streams.entry(stream).or_default().insert(&file.collectives[sum.number() as usize].group);
            }
        }
        let groups = |stream| streams[&stream].iter().map(|group| group.len()).collect::<Vec<_>>();
        assert_eq!((groups(rank::GRADIENTS[0]), groups(rank::GRADIENTS[1])), (vec![8], vec![4]));
    }
    let course = ideal::run(job(&file.graphs), None, |message| Nanos(message.size), |time| time);
    assert!(course.unfinished.is_empty(), "{:?}", course.unfinished);
}

#[test]
fn what_does_not_divide_is_refused() {
    for (model, ranks, key) in [
        (Transformer { tensor: 3, ..MODEL }, 8, "tensor"),
        (Transformer { pipeline: 8, tensor: 1, ..MODEL }, 8, "pipeline"),
        (Transformer { buckets: Buckets::Count(3), ..MODEL }, 8, "buckets"),
        (Transformer { experts: 4, expert: 4, ..MODEL }, 8, "expert"),
        (Transformer { experts: 3, expert: 2, ..MODEL }, 8, "expert"),
        (Transformer { expert: 2, ..MODEL }, 8, "expert"),
        (Transformer { top_k: 2, ..MODEL }, 8, "top_k"),
        (Transformer { queries_per_key: 3, ..MODEL }, 8, "queries_per_key"),
        (Transformer { micro_batch: 1 << 44, ..MODEL }, 8, "hidden"),
        (Transformer { iterations: 1_000_000, ..MODEL }, 8, "micro_batches"),
        (Transformer { context: 3, ..MODEL }, 8, "context"),
        (Transformer { virtual_stages: 3, ..MODEL }, 8, "virtual_stages"),
        (Transformer { virtual_stages: 2, pipeline: 1, ..MODEL }, 8, "virtual_stages"),
        (Transformer { virtual_stages: 2, micro_batches: 3, ..MODEL }, 8, "virtual_stages"),
        (Transformer { virtual_stages: 2, zero_bubble: true, ..MODEL }, 8, "zero_bubble"),
        (Transformer { overlap_tensor: true, zero_bubble: true, ..MODEL }, 8, "overlap_tensor"),
        (Transformer { dense_layers: 5, ..MODEL }, 8, "dense_layers"),
        (Transformer { vocabulary: 1 << 50, ..MODEL }, 8, "hidden"),
    ] {
        assert_eq!(
            model.job(ranks, &ways, &Budget::new().expect("memory")).map(|_| ()).map_err(|(key, _)| key),
            Err(key)
        );
    }
}

/// A job's time where each message takes so long, and the bytes that each rank sends.
fn course(file: &JobFile, message: u64) -> (u64, Vec<u64>) {
    let sent = RefCell::new(vec![0; file.graphs.len()]);
    let note = |message_sent: &Message| {
        sent.borrow_mut()[message_sent.from as usize] += message_sent.size;
        Nanos(message)
    };
    let course = ideal::run(job(&file.graphs), None, note, |time| time);
    assert!(course.unfinished.is_empty(), "{:?}", course.unfinished);
    (course.time.0, sent.into_inner())
}

/// Tokens of a micro-batch, parameters of a layer, operations of attention to other tokens for each.
const TOKENS: u64 = 2 * 512;
const WEIGHTS: u64 = 12 * 1_024 * 1_024;
const CORE: u64 = 4 * 512 * 1_024;

/// The time of so many operations for each token.
fn time(operations: u64) -> u64 {
    TOKENS * operations / 100_000
}

fn near(seen: u64, expected: u64) {
    assert!(seen.abs_diff(expected) <= expected / 100_000, "{seen} {expected}");
}

/// Rajbhandari et al. (2020), with gradients of g bytes and parameters of 2: each rank of d sends (d-1)/d of what is gathered or
/// reduced, and twice that of what is all-reduced.
#[test]
fn copies_send_what_they_divide() {
    let ranks = 4;
    for (zero, bytes, batches) in [(0, 2, 3), (0, 4, 3), (1, 4, 3), (2, 4, 3), (3, 2, 1), (3, 4, 3)] {
        let model =
            Transformer { tensor: 1, pipeline: 1, micro_batches: batches, zero, gradient_bytes: bytes, ..MODEL };
        let all = 4 * WEIGHTS;
        let (reduced, gathered, batches) = (all * bytes, all * 2, u64::from(batches));
        let whole = match zero {
            0 => 2 * reduced,
            1 => reduced + gathered,
            2 => batches * reduced + gathered,
            _ => batches * (2 * gathered + reduced),
        };
        for sent in course(&of(&model, ranks), 0).1 {
            assert_eq!(sent, whole * 3 / 4, "{zero} {bytes}");
        }
        if (zero, bytes) == (3, 2) {
            assert_eq!(whole, 3 * all * 2, "parameters twice, gradients once");
        }
    }
}

/// Experts are reduced and gathered among those that have the same.
#[test]
fn divided_experts_are_gathered_where_they_are() {
    let model = Transformer {
        experts: 4,
        expert: 2,
        tensor: 1,
        pipeline: 1,
        micro_batches: 1,
        shared_feed_forward: 512,
        dense_layers: 1,
        zero: 3,
        ..MODEL
    };
    let file = of(&model, 4);
    let (attention, expert) = (4 * 1_024 * 1_024, 2 * 1_024 * 4_096);
    let with_experts = (attention + 2 * 1_024 * 512) * 2;
    let dense = (attention + expert) * 2;
    let mut gathered = groups(&file, 4, Kind::AllGather);
    gathered.sort_unstable();
    assert_eq!(gathered, [[with_experts; 6].as_slice(), &[dense; 2]].concat(), "forward and backward");
    // Two pairs, three layers, each with two experts, forward and backward.
    assert_eq!(groups(&file, 2, Kind::AllGather), [2 * expert * 2; 2 * 3 * 2]);
}

/// While a layer is computed, the next one's parameters come, and gradients leave: only the first and the last are waited for.
#[test]
fn parameters_come_and_gradients_leave_beside_computations() {
    let model = Transformer { tensor: 1, pipeline: 1, micro_batches: 1, buckets: Buckets::Count(4), zero: 3, ..MODEL };
    let (forward, step) = (time(2 * WEIGHTS + CORE), 10_000);
    // The first layer's gathering in each pass, and the last sum: a ring of two.
    near(course(&of(&model, 2), step).0, 4 * 3 * forward + 3 * step);
    // Messages are what takes time: all four layers' gathering forward and backward, then the last layer and its sum.
    let slow = 10 * forward;
    near(course(&of(&model, 2), slow).0, (4 + 4 + 1) * slow + forward + 2 * forward);
    let whole = Transformer { zero: 0, buckets: Buckets::Count(1), ..model.clone() };
    near(course(&of(&whole, 2), slow).0, 4 * 3 * forward + 2 * slow);
    let cut = Transformer { zero: 0, ..model };
    near(course(&of(&cut, 2), forward).0, 4 * 3 * forward + 2 * forward);
}

#[test]
fn a_bucket_ends_where_it_is_full() {
    let sizes = |model: &Transformer| groups(&of(model, 4), 2, Kind::AllReduce);
    // In the first of two stages alone, three layers of half of the parameters fill it.
    let model =
        Transformer { layers: 10, buckets: Buckets::Parameters(WEIGHTS + 1), tensor: 1, gradient_bytes: 4, ..MODEL };
    assert_eq!(sizes(&model), [2, 2, 1, 5].map(|layers| layers * WEIGHTS * 4));
    // Four tensor-parallel ranks have a quarter each.
    let quarters = Transformer { tensor: 4, pipeline: 1, buckets: Buckets::Parameters(WEIGHTS / 2 + 1), ..model };
    let sums = groups(&of(&quarters, 8), 2, Kind::AllReduce);
    assert_eq!(sums[..4], [3, 3, 3, 1].map(|layers| layers * WEIGHTS));
}

/// p stages, m micro-batches, times f forward and b backward of a stage: 1F1B takes (m + p - 1) (f + b). With v chunks (Narayanan et
/// al., SC 2021) the last term is (p - 1) (f + b) / v, with ZB-H1 (Qi et al., ICLR 2024) (p - 1) (f + i - w), where b = i + w.
#[test]
fn pipelines_take_what_their_papers_say() {
    let model = Transformer { layers: 16, tensor: 1, pipeline: 4, micro_batches: 8, ..MODEL };
    let forward = 4 * time(2 * WEIGHTS + CORE);
    let (inputs, weights) = (4 * time(2 * WEIGHTS + 2 * CORE), 4 * time(2 * WEIGHTS));
    let both = forward + inputs + weights;
    let takes = |model: &Transformer| course(&of(model, 4), 0).0;
    near(takes(&model), 11 * both);
    for chunks in [2, 4] {
        let seen = takes(&Transformer { virtual_stages: chunks, ..model.clone() });
        near(seen, 8 * both + 3 * both / u64::from(chunks));
    }
    near(takes(&Transformer { zero_bubble: true, ..model.clone() }), 8 * both + 3 * (forward + inputs - weights));
    // Recomputed, a layer passes forward once more.
    near(takes(&Transformer { recompute: Recompute::Layers, ..model.clone() }), 11 * (both + forward));
    near(takes(&Transformer { recompute: Recompute::Attention, ..model.clone() }), 11 * (both + 4 * time(CORE)));
    // Each chunk's activations pass on: a message for each but the last of 4 stages, 2 chunks, and back.
    let interleaved = Transformer { virtual_stages: 2, ..model };
    let sent: u64 = course(&of(&interleaved, 4), 0).1.iter().sum();
    assert_eq!(sent, 2 * 8 * (4 * 2 - 1) * TOKENS * 1_024 * 2);
}

/// Korthikanti et al. (2022): gathering and reducing take the bytes of an all-reduce, and backward inputs are gathered again.
#[test]
fn tensor_parallel_ranks_exchange_sequences_or_sums() {
    let model = Transformer { tensor: 4, pipeline: 1, micro_batches: 1, ..MODEL };
    let part = TOKENS * 1_024 * 2 * 3 / 4;
    let sends = |model: &Transformer| course(&of(model, 4), 0).1[1];
    // Twice in each half of 4 layers and each way an all-reduce of two parts.
    assert_eq!(sends(&model), 4 * 2 * 2 * 2 * part);
    let parallel = Transformer { sequence_parallel: true, ..model.clone() };
    assert_eq!(sends(&parallel), 4 * 2 * (2 + 3) * part);
    assert_eq!(sends(&Transformer { recompute: Recompute::Layers, ..parallel.clone() }), 4 * 2 * (2 + 2 + 3) * part);
    assert_eq!(sends(&Transformer { pipeline: 1, zero_bubble: true, ..parallel }), 4 * 2 * (2 + 3) * part);
}

/// Half of the weights' gradients, a quarter of what a backward pass does without attention, hide a sum.
#[test]
fn sums_of_inputs_are_hidden_by_gradients_of_weights() {
    let model = Transformer { tensor: 2, pipeline: 1, micro_batches: 1, overlap_tensor: true, ..MODEL };
    let all = 4 * 3 * time(2 * WEIGHTS + CORE) / 2;
    let sum = 2 * 1_000;
    near(course(&of(&model, 2), 1_000).0, all + 4 * 2 * sum);
    near(course(&of(&Transformer { overlap_tensor: false, ..model.clone() }, 2), 1_000).0, all + 2 * 4 * 2 * sum);
    // A sum is longer than the weights' gradients of attention, 4 h^2, and of what feeds forward, 8 h^2.
    let long = 2 * 100_000_000;
    let hidden = time(WEIGHTS) / 2;
    near(course(&of(&model, 2), long / 2).0, all + 2 * 4 * 2 * long - 4 * hidden);
}

/// Keys and values go round c ranks in c - 1 messages, forward and backward, and their gradients in c.
#[test]
fn keys_and_values_go_round() {
    let model = Transformer { tensor: 1, pipeline: 1, micro_batches: 1, context: 4, queries_per_key: 4, ..MODEL };
    let weights = (2 * 5 / 4 + 8) * 1_024 * 1_024 + 1_024 * 1_024 / 2;
    let reduced = 2 * 4 * weights * 2 * 3 / 4;
    let keys = 2 * TOKENS / 4 * 1_024 / 4 * 2;
    let ring = of(&model, 4);
    assert_eq!(course(&ring, 0).1, [4 * (3 + 3 + 4) * keys + reduced; 4]);
    let gathered = of(&Transformer { context_by: ContextBy::AllGather, ..model.clone() }, 4);
    // Gathered twice, and gradients reduced.
    assert_eq!(course(&gathered, 0).1, [4 * 3 * 3 * keys + reduced; 4]);
    // Beside attention to a quarter of the tokens, messages take no time; the last gradients come home behind it, and six steps sum.
    let all = 4 * 3 * time(2 * weights + CORE) / 4;
    near(course(&ring, 50).0, all + 4 * 50 + 6 * 50);
    assert_eq!(groups(&ring, 4, Kind::AllReduce).len(), 1, "context-parallel ranks have the same parameters");
}

/// Of 2 stages with a table of 1,000 tokens each, or the same one.
#[test]
fn tables_are_reduced() {
    let table = 1_000 * 1_024 * 2;
    for (embeddings, of_stage, tied) in
        [(Embeddings::Nothing, 0, 0), (Embeddings::Untied, table, 0), (Embeddings::Tied, table, table)]
    {
        let model = Transformer { embeddings, vocabulary: 1_000, tensor: 1, ..MODEL };
        let file = of(&model, 4);
        let mut expected = vec![2 * WEIGHTS * 2 + of_stage; 2];
        expected.extend([tied; 2].iter().filter(|&&size| size > 0));
        let mut seen = groups(&file, 2, Kind::AllReduce);
        seen.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        assert_eq!(seen, expected, "{embeddings:?}");
        let pairs: Vec<_> =
            file.collectives.iter().filter(|plan| plan.size == table).map(|plan| plan.group.to_vec()).collect();
        assert_eq!(pairs.len(), if tied > 0 { 2 } else { 0 });
        assert!(pairs.iter().all(|pair| [vec![0, 2], vec![1, 3]].contains(pair)), "{pairs:?}");
        course(&file, 1_000);
    }
    let alone = Transformer { embeddings: Embeddings::Tied, vocabulary: 1_000, tensor: 1, pipeline: 1, ..MODEL };
    assert_eq!(groups(&of(&alone, 2), 2, Kind::AllReduce), [4 * WEIGHTS * 2 + table], "one table");
}

/// Tokens in FP8 go there, results come back in bf16. Once to each server: of 16 experts in 4 servers, two of a token are in the same one
/// with probability 3/15.
#[test]
fn tokens_go_to_experts_or_once_to_servers() {
    let model = Transformer { experts: 16, expert: 16, top_k: 2, tensor: 1, pipeline: 1, dispatch_bytes: 1, ..MODEL };
    let elements = TOKENS * 1_024;
    let passes = 2 * 4 * 4;
    let count = |sizes: &[u64], size: f64| sizes.iter().filter(|&&seen| seen as f64 == size.round()).count();
    let sizes = groups(&of(&model, 16), 16, Kind::AllToAll);
    assert_eq!((count(&sizes, 2.0 * elements as f64), count(&sizes, 4.0 * elements as f64)), (passes, passes));
    let in_servers = |_| CollectiveOptions { tuning: tuning(16, Some(4)), ..CollectiveOptions::default() };
    for (most, servers) in [(4, 2.0 - 3.0 / 15.0), (2, 2.0 - 3.0 / 7.0), (1, 1.0)] {
        let once = Transformer { expert_servers: Some(most), ..model.clone() };
        let file = once.job(16, &in_servers, &Budget::new().expect("memory")).expect("a job");
        let sizes = groups(&file, 4, Kind::AllToAll);
        // Four groups of each kind; to servers, and inside them to each expert.
        let there = elements as f64 * servers;
        assert_eq!(count(&sizes, there), 4 * passes, "{most}");
        assert_eq!(count(&sizes, 4.0 * elements as f64), 4 * passes, "{most}");
        let across: BTreeSet<_> = file
            .collectives
            .iter()
            .filter(|plan| plan.size as f64 == there.round())
            .map(|plan| plan.group.to_vec())
            .collect();
        assert!(across.contains(&vec![1, 5, 9, 13]), "{across:?}");
    }
    let nowhere = Transformer { expert_servers: Some(4), ..model };
    assert_eq!(
        nowhere.job(16, &ways, &Budget::new().expect("memory")).map(|_| ()).map_err(|(key, _)| key),
        Err("expert_servers")
    );
}

/// DeepSeek-V3 has 671 billion parameters: 3 dense layers of 18,432, 58 of a shared expert and 256 others of 2,048, and latent attention
/// with ranks 1,536 and 512, 128 heads of 128 with 64 more for places.
#[test]
fn a_deepseek_reduces_its_parameters() {
    let latent = 7_168 * 1_536 + 1_536 * 128 * 192 + 7_168 * 576 + 512 * 128 * 256 + 128 * 128 * 7_168;
    let model = Transformer {
        layers: 61,
        hidden: 7_168,
        attention_width: 128 * 160,
        attention_parameters: Some(latent),
        feed_forward: 2_048 * 3 / 2,
        shared_feed_forward: 2_048 * 3 / 2,
        dense_layers: 3,
        dense_feed_forward: 18_432 * 3 / 2,
        vocabulary: 129_280,
        embeddings: Embeddings::Untied,
        experts: 256,
        expert: 8,
        top_k: 8,
        tensor: 1,
        pipeline: 1,
        micro_batches: 1,
        ..MODEL
    };
    let file = of(&model, 16);
    let all: u64 = groups(&file, 16, Kind::AllReduce).iter().chain(&groups(&file, 2, Kind::AllReduce)).sum();
    assert_eq!((all as f64 / 2.0 / 1e9).round() as u64, 671);
}

/// What is taken of the memory's budget is what there is, or a little more.
#[test]
fn operations_are_counted_before_they_are_there() {
    let experts = Transformer { experts: 4, expert: 2, tensor: 1, ..MODEL };
    for model in [
        MODEL,
        Transformer { sequence_parallel: true, overlap_tensor: true, recompute: Recompute::Layers, ..MODEL },
        Transformer { sequence_parallel: true, zero_bubble: true, virtual_stages: 1, zero: 2, ..MODEL },
        Transformer { context: 2, queries_per_key: 4, zero: 3, ..MODEL },
        Transformer { zero: 3, recompute: Recompute::Layers, ..experts.clone() },
        experts,
    ] {
        let (layers, passes) = (2 * model.operations_of_layer(), 2 * 4);
        let counted = passes * (layers + 6);
        let most = of(&model, 8).graphs.iter().map(|graph| graph.works().count() as u128).max().expect("ranks");
        assert!(most <= counted + 20 && counted <= 2 * most, "{most} {counted} {model:?}");
    }
}

/// Where some experts are popular, their rank sends back as much as it gets.
#[test]
fn results_come_back_from_popular_experts() {
    let model =
        Transformer { layers: 1, tensor: 1, pipeline: 1, micro_batches: 1, experts: 4, expert: 4, top_k: 2, ..MODEL };
    let skewed = |kind: Kind| CollectiveOptions { skew: 1.0, ..ways(kind) };
    let file = model.job(4, &skewed, &Budget::new().expect("memory")).expect("a job");
    let exchanges: Vec<&Plan> = file.collectives.iter().filter(|plan| plan.pattern.kind == Kind::AllToAll).collect();
    assert_eq!(exchanges.len(), 4, "there and back, forward and backward");
    let bytes = |plan: &Plan, from: u32, to: u32| plan.traffic(|a, b| (a, b) == (from, to)).1;
    for pair in exchanges.chunks(2) {
        assert!(bytes(pair[0], 1, 0) > 3 * bytes(pair[0], 0, 3), "the first is popular");
        for (from, to) in [(0, 1), (1, 0), (0, 3), (3, 0), (2, 3)] {
            assert_eq!(bytes(pair[1], to, from), bytes(pair[0], from, to), "{from} to {to}, and back");
        }
    }
}
