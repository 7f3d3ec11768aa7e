// SPDX-License-Identifier: GPL-2.0-only
//! Which requests a decode replica has in each step: continuous batching, planned ahead.
//!
//! A request joins at the begin of the first step at which its keys and values are there and there is room, in the order in which
//! they come, and leaves with its last token. What is there when is reckoned as on an idle network. In the run a step waits for
//! the keys and values of those who join it.

use super::{Inference, Pass, Request};
use hpcc_core::units::Nanos;
use std::collections::VecDeque;

/// What messages take on an idle network.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Bytes in a nanosecond between ranks of a replica, and the time of a message without its bytes.
    pub inside: (f64, Nanos),
    /// The same between replicas.
    pub between: (f64, Nanos),
}

/// A step of a decode replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Requests whose first step it is, and whose last.
    pub joins: Vec<u32>,
    pub ends: Vec<u32>,
    pub pass: Pass,
}

/// The steps of each decode replica.
#[derive(Debug)]
pub(super) struct Batches(pub Vec<Vec<Step>>);

/// A request in a batch.
struct Member {
    request: u32,
    /// Tokens so far, and tokens to come.
    has: u64,
    left: u64,
}

impl Batches {
    /// At most so many steps together; else `None`.
    pub fn new(model: &Inference, requests: &[Request], way: &Way, most: u64) -> Option<Batches> {
        let mut left = most;
        let ready = ready(model, requests, way);
        let of_replica = |replica| {
            let mut queue: Vec<(Nanos, u32)> = (ready.iter().zip(0..))
                .filter(|&(_, number): &(_, u32)| requests[number as usize].decode == Some(replica))
                .map(|(&time, number)| (time, number))
                .collect();
            queue.sort_unstable();
            steps(model, requests, way, queue.into(), &mut left)
        };
        (0..model.decode).map(of_replica).collect::<Option<_>>().map(Batches)
    }
}

/// When keys and values of each request are at its decode replica.
fn ready(model: &Inference, requests: &[Request], way: &Way) -> Vec<Nanos> {
    let mut free = vec![Nanos(0); model.prefill as usize];
    let of_request = |request: &Request| {
        let free = &mut free[request.prefill as usize];
        *free = Nanos(request.arrival.max(*free).0.saturating_add(time(model, Pass::prompt(request.prompt), way).0));
        let (rate, latency) = way.between;
        let bytes = model.kv(request.prompt) as f64 / f64::from(model.ranks() / model.copies());
        Nanos(free.0.saturating_add(latency.0).saturating_add((bytes / rate) as u64))
    };
    requests.iter().map(of_request).collect()
}

/// How long a pass takes with its messages, as rings and exchanges take them.
fn time(model: &Inference, pass: Pass, &Way { inside: (rate, latency), .. }: &Way) -> Nanos {
    let times = model.times(pass);
    let of = |bytes: f64, messages: u32| Nanos(((bytes / rate) as u64).saturating_add(latency.0 * u64::from(messages)));
    let part = |ranks: u32| f64::from(ranks - 1) / f64::from(ranks);
    let reduce = match model.tensor {
        1 => Nanos(0),
        ranks => of(2.0 * part(ranks) * model.reduced(pass) as f64, 2 * (ranks - 1)),
    };
    let exchange = match model.expert {
        1 => Nanos(0),
        groups => of(part(groups) * model.dispatched(pass) as f64, 1),
    };
    let exchanged = reduce.0.saturating_add(exchange.0).saturating_mul(2);
    let layer = times.attention.0.saturating_add(times.feed_forward.0).saturating_add(exchanged);
    Nanos(layer.saturating_mul(model.layers.into()).saturating_add(times.head.0))
}

/// The steps of a replica whose requests are ready at these times; `None` if they are more than are `left`.
fn steps(
    model: &Inference,
    requests: &[Request],
    way: &Way,
    mut queue: VecDeque<(Nanos, u32)>,
    left: &mut u64,
) -> Option<Vec<Step>> {
    let (mut now, mut members, mut steps) = (Nanos(0), Vec::<Member>::new(), Vec::new());
    loop {
        if members.is_empty() {
            let Some(&(ready, _)) = queue.front() else { return Some(steps) };
            now = now.max(ready);
        }
        *left = left.checked_sub(1)?;
        let mut joins = Vec::new();
        while let Some(&(ready, request)) = queue.front()
            && ready <= now
            && members.len() < model.batch as usize
        {
            queue.pop_front();
            let Request { prompt, output, .. } = requests[request as usize];
            members.push(Member { request, has: prompt + 1, left: output - 1 });
            joins.push(request);
        }
        let pass = Pass::step(members.len() as u64, members.iter().map(|member| member.has).sum());
        now = Nanos(now.0.saturating_add(time(model, pass, way).0));
        for member in &mut members {
            (member.has, member.left) = (member.has + 1, member.left - 1);
        }
        let ends = members.iter().filter(|member| member.left == 0).map(|member| member.request).collect();
        members.retain(|member| member.left > 0);
        steps.push(Step { joins, ends, pass });
    }
}
