// SPDX-License-Identifier: GPL-2.0-only
use super::batches::{Batches, Step, Way};
use super::{Inference, Pass, Request};
use hpcc_core::units::Nanos;

/// Four layers of 1,000 by 4,000, whose parameters a GPU reads in 8 and 16 us a layer, and of which it computes a token in 8 ns and 16.
fn model() -> Inference {
    Inference {
        layers: 4,
        hidden: 1_000,
        attention_width: 1_000,
        queries_per_key: 1,
        attention_parameters: None,
        latent: None,
        feed_forward: 4_000,
        experts: 1,
        top_k: 1,
        vocabulary: 0,
        weight_bytes: 2,
        kv_bytes: 2,
        tensor: 1,
        expert: 1,
        prefill: 1,
        decode: 1,
        batch: 2,
        speed: 1_000_000.0,
        memory: 1_000.0,
    }
}

#[test]
fn a_pass_takes_the_longer_of_operations_and_bytes() {
    let times = |model: &Inference, pass| {
        let times = model.times(pass);
        [times.attention.0, times.feed_forward.0, times.head.0]
    };
    // A step of a token with 100 before: 4 million parameters of 2 bytes and 100 keys and values of 4,000 bytes; 8 million of 2.
    assert_eq!(times(&model(), Pass::step(1, 100)), [8_400, 16_000, 0]);
    // A prompt of 10,000: 2 x 4 million operations a token, and 4,000 for each of 50,005,000 pairs; 4 x 4 million.
    assert_eq!(times(&model(), Pass::prompt(10_000)), [80_000 + 200_020, 160_000, 0]);
    // Four ranks do a quarter each; a table of 50,000 is read for a token, and computed for a thousand.
    let large = Inference { tensor: 4, vocabulary: 50_000, ..model() };
    assert_eq!(times(&large, Pass::step(1, 100)), [2_100, 4_000, 25_000]);
    assert_eq!(times(&Inference { memory: 1e9, ..large }, Pass::step(1_000, 0))[2], 25_000);
}

/// Each tensor-parallel rank has all that latent attention keeps.
#[test]
fn what_latent_attention_keeps_is_not_divided() {
    let latent = Inference { latent: Some(512), tensor: 4, ..model() };
    let more = |read| latent.times(Pass::step(1, read)).attention.0;
    let whole = Inference { tensor: 1, ..latent.clone() };
    let own = |read| whole.times(Pass::step(1, read)).attention.0;
    assert_eq!(more(100_000) - more(0), own(100_000) - own(0));
}

#[test]
fn experts_that_no_token_needs_are_not_read() {
    let model = Inference { experts: 8, top_k: 2, expert: 4, ..model() };
    // Of two experts of a group a token needs a quarter on average; of many tokens all.
    assert_eq!(model.times(Pass::step(1, 0)).feed_forward.0, 2 * 16_000 / 4);
    assert_eq!(model.times(Pass::step(200, 0)).feed_forward.0, 2 * 16_000);
    // All operations of 100,000 tokens with two experts each, a quarter in each group.
    assert_eq!(model.times(Pass::prompt(100_000)).feed_forward.0, 100_000 * 2 * 16 / 4);
}

#[test]
fn bytes_follow_from_the_shape() {
    let grouped = Inference { queries_per_key: 8, attention_width: 8_192, layers: 80, ..model() };
    assert_eq!(grouped.kv(1), 80 * 2 * 1_024 * 2, "Llama 70B: 320 KiB a token");
    let latent = Inference { latent: Some(576), layers: 61, ..grouped };
    assert_eq!(latent.kv(4_096), 61 * 576 * 2 * 4_096, "DeepSeek-V3: 70,272 bytes a token");
    let model = Inference { tensor: 4, expert: 3, experts: 3, top_k: 2, ..model() };
    assert_eq!((model.reduced(Pass::prompt(30)), model.dispatched(Pass::prompt(30))), (10 * 2_000, 10 * 2_000 * 2 / 4));
}

fn request(arrival: u64, output: u64) -> Request {
    Request { arrival: Nanos(arrival), prompt: 10, output, prefill: 0, decode: None }
}

fn steps(model: &Inference, requests: &mut [Request], most: u64) -> Option<Vec<Step>> {
    model.assign(requests);
    let way = Way { inside: (1.0, Nanos(0)), between: (1e9, Nanos(0)) };
    Batches::new(model, requests, &way, most).map(|batches| batches.0.concat())
}

/// Two prompts at once take 97 us each, and a step 96 and some: the second request joins when the first has had a step, and the third
/// when one has left.
#[test]
fn requests_join_at_the_next_step_with_room() {
    let step = |joins: &[u32], ends: &[u32], tokens, read| Step {
        joins: joins.into(),
        ends: ends.into(),
        pass: Pass::step(tokens, read),
    };
    let mut requests = [request(0, 4), request(0, 3), request(0, 2)];
    let expected = vec![
        step(&[0], &[], 1, 11),
        step(&[1], &[], 2, 12 + 11),
        step(&[], &[0, 1], 2, 13 + 12),
        step(&[2], &[2], 1, 11),
    ];
    assert_eq!(steps(&model(), &mut requests, 4), Some(expected));
    assert_eq!(steps(&model(), &mut requests, 3), None, "more steps than there may be");
    let one = Inference { batch: 1, ..model() };
    let alone: Vec<_> =
        steps(&one, &mut requests, 100).expect("steps").iter().map(|step| step.pass.sequences).collect();
    assert_eq!(alone, [1; 3 + 2 + 1]);
}

#[test]
fn requests_go_to_replicas_in_turn() {
    let mut requests = [2, 1, 2, 2].map(|output| request(0, output));
    Inference { prefill: 3, decode: 2, ..model() }.assign(&mut requests);
    assert_eq!(requests.map(|request| request.prefill), [0, 1, 2, 0]);
    assert_eq!(requests.map(|request| request.decode), [Some(0), None, Some(1), Some(0)]);
}
