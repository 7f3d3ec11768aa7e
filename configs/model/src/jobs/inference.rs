// SPDX-License-Identifier: GPL-2.0-only
//! A transformer that serves requests: replicas that pass prompts (prefill), and replicas that make answers (decode).
//!
//! A replica has t tensor-parallel ranks, which are neighbours, in each of e groups that divide experts and the tokens of a pass evenly.
//! A pass of n new tokens, which attend to c pairs of tokens and read r earlier ones, takes each rank for a layer the longer of
//!
//! - operations over `teraflops`: (2 a n + 4 w c) / (e t) in attention, 4 h f k n / (e t) behind it,
//! - bytes over `memory`: a' + r v / e in attention, 2 h f' behind it, each over t; of latent attention r v whole, for each rank has all,
//!
//! with the shape of [a transformer in training](super::transformer), a' and f' the bytes of a's and f's parameters, and v bytes of a
//! token's keys and values in a layer: of E experts, those E / e (1 - (1 - k / E)^N) are read that one of all N tokens of the replica
//! needs. Ranks all-reduce n h / e elements of 2 bytes twice a layer, and exchange n h k / e / t of them twice where experts are divided.
//!
//! A prompt of p tokens is a pass of n = p tokens and c = p (p + 1) / 2 pairs by itself. A step of a decode replica has a token of each
//! request in it, and c = r = all their tokens so far.

mod batches;
mod rank;
pub mod requests;

use super::plans::{Plans, Wrong};
use super::{CollectiveOptions, JobFile, digest};
use crate::flow::MOST_BYTES;
use crate::memory::{Budget, MOST_OPERATIONS};
use batches::Batches;
pub use batches::Way;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use rank::Rank;
use requests::Request;

/// Most tokens of all answers: each is planned.
const MOST_TOKENS: u64 = 1 << 27;
/// Bytes of an activation.
const BYTES: u64 = 2;

/// A model, and how it serves.
#[derive(Clone, Debug)]
pub struct Inference {
    /// Layers, at least 1.
    pub layers: u32,
    /// Numbers of a token between layers, at least 1.
    pub hidden: u64,
    /// Query heads times the size of a head.
    pub attention_width: u64,
    /// Query heads that share a key and a value: a divisor of the width.
    pub queries_per_key: u64,
    /// Parameters of a layer's attention, if they do not follow from these.
    pub attention_parameters: Option<u64>,
    /// Numbers that latent attention keeps of a token in a layer, in place of keys and values.
    pub latent: Option<u64>,
    /// Size of the feed-forward part, or of one expert.
    pub feed_forward: u64,
    /// Experts of a layer; 1 in a dense model.
    pub experts: u32,
    /// Experts of each token, at most all.
    pub top_k: u32,
    /// Tokens that the last layer distinguishes.
    pub vocabulary: u64,
    /// Bytes of a parameter.
    pub weight_bytes: u64,
    /// Bytes of a number among keys and values.
    pub kv_bytes: u64,
    /// Ranks of a replica that share each layer.
    pub tensor: u32,
    /// Groups of such ranks in a replica: a divisor of the experts.
    pub expert: u32,
    /// Replicas that pass prompts, at least 1.
    pub prefill: u32,
    /// Replicas that make answers.
    pub decode: u32,
    /// Most requests of a step, at least 1.
    pub batch: u32,
    /// Operations of a GPU in a nanosecond.
    pub speed: f64,
    /// Bytes that a GPU reads of its memory in a nanosecond.
    pub memory: f64,
}

/// Tokens that a replica passes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// New ones.
    pub tokens: u64,
    /// Pairs of a new token and one that it attends to.
    pub pairs: u128,
    /// Earlier ones whose keys and values are read.
    pub read: u64,
    /// Sequences, each of which gets its next token.
    pub sequences: u64,
}

impl Pass {
    /// A prompt of so many tokens.
    pub fn prompt(tokens: u64) -> Pass {
        let pairs = u128::from(tokens) * (u128::from(tokens) + 1) / 2;
        Pass { tokens, pairs, read: tokens, sequences: 1 }
    }

    /// A token of each of so many sequences, which together have so many.
    pub fn step(sequences: u64, read: u64) -> Pass {
        Pass { tokens: sequences, pairs: read.into(), read, sequences }
    }
}

/// What a rank does of a layer, and behind the last one, without messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub attention: Nanos,
    pub feed_forward: Nanos,
    pub head: Nanos,
}

impl Inference {
    /// Ranks of a replica.
    pub fn ranks(&self) -> u32 {
        self.tensor * self.expert
    }

    /// Gives requests, which come in this order, to replicas in turn.
    pub fn assign(&self, requests: &mut [Request]) {
        let mut decoded = 0;
        for (request, number) in requests.iter_mut().zip(0_u32..) {
            request.prefill = number % self.prefill;
            request.decode = (request.output > 1).then(|| decoded % self.decode.max(1));
            decoded += u32::from(request.output > 1);
        }
    }

    /// The job of these requests; `way` is what lies between replicas, and inside them. An error is a key and what is wrong with it.
    pub fn job(
        &self,
        hosts: u32,
        requests: &[Request],
        (ways, way): (&dyn Fn(Kind) -> CollectiveOptions, &Way),
        budget: &Budget,
    ) -> Result<JobFile, Wrong> {
        self.check(hosts, requests)?;
        let ranks = (self.prefill + self.decode) * self.ranks();
        let of_pass = self.operations_of_pass() * u128::from(self.ranks());
        let most = (u128::from(MOST_OPERATIONS) / of_pass) as u64;
        let too_many =
            || format!("there would be more than {most} passes; expected fewer requests or tokens, or a larger batch");
        let batches = Batches::new(self, requests, way, most).ok_or_else(|| ("requests", too_many()))?;
        let passes = requests.len() as u128 + batches.0.iter().map(|steps| steps.len() as u128).sum::<u128>();
        budget.operations(passes * of_pass).map_err(|message| ("requests", message))?;
        let mut plans = Plans::new(ways);
        let mut graphs = Vec::new();
        for number in 0..ranks {
            graphs.push(Rank::new(self, number, &mut plans).graph(requests, &batches)?);
        }
        let all: Vec<CollectiveOptions> = [Kind::AllReduce, Kind::AllToAll].into_iter().map(ways).collect();
        let digest = digest([format!("{self:?}{all:?}{requests:?}").as_bytes()]);
        Ok(JobFile { graphs, collectives: plans.finish(), digest, notes: Vec::new() })
    }

    fn operations_of_pass(&self) -> u128 {
        let layers = if self.is_alone() { 1 } else { u128::from(self.layers) };
        layers * (2 + if self.tensor > 1 { 2 } else { 0 } + if self.expert > 1 { 2 } else { 0 }) + 6
    }

    /// Whether ranks of a replica exchange nothing: layers are one behind the other.
    fn is_alone(&self) -> bool {
        self.ranks() == 1
    }

    fn check(&self, hosts: u32, requests: &[Request]) -> Result<(), Wrong> {
        let ranks =
            (u64::from(self.prefill) + u64::from(self.decode)) * u64::from(self.tensor) * u64::from(self.expert);
        if ranks != u64::from(hosts) {
            let message = format!(
                "{} replicas of {} ranks are {ranks} GPUs, and there are {hosts}; expected as many (ranks chooses among them)",
                self.prefill + self.decode,
                u64::from(self.tensor) * u64::from(self.expert)
            );
            return Err(("prefill", message));
        }
        for (key, whole, part, of) in [
            ("queries_per_key", self.attention_width, self.queries_per_key, "numbers of a token"),
            ("expert", self.experts.into(), self.expert.into(), "experts"),
        ] {
            if !whole.is_multiple_of(part) {
                return Err((key, format!("the {whole} {of} are no multiple of {part}; expected one")));
            }
        }
        if self.top_k > self.experts {
            let message =
                format!("{} are more than the {} experts; expected at most as many", self.top_k, self.experts);
            return Err(("top_k", message));
        }
        if self.decode == 0 && requests.iter().any(|request| request.output > 1) {
            let message = "answers have more than one token, and no replica decodes; expected at least 1";
            return Err(("decode", message.to_owned()));
        }
        let tokens = requests.iter().map(|request| request.output).fold(0, u64::saturating_add);
        if tokens > MOST_TOKENS {
            let message = format!("answers have {tokens} tokens together; expected at most {MOST_TOKENS}");
            return Err(("requests", message));
        }
        let longest = requests.iter().map(|request| u128::from(request.prompt + request.output)).max().unwrap_or(1);
        let kept = longest * u128::from(self.kept()) * u128::from(self.layers);
        let wide =
            u128::from(self.hidden) * u128::from(self.top_k) * u128::from(BYTES) * longest.max(self.batch.into());
        if kept.max(wide) > MOST_BYTES.into() {
            return Err((
                "hidden",
                format!("a message would have more bytes than {MOST_BYTES}; expected smaller ones"),
            ));
        }
        Ok(())
    }

    fn attention_parameters(&self) -> u64 {
        let usual = || 2 * self.hidden * (self.attention_width + self.attention_width / self.queries_per_key);
        self.attention_parameters.unwrap_or_else(usual)
    }

    /// Bytes that a layer keeps of a token: its key and value, or what they follow from.
    fn kept(&self) -> u64 {
        self.latent.unwrap_or(2 * self.attention_width / self.queries_per_key) * self.kv_bytes
    }

    /// Bytes of keys and values of a prompt in all layers, which its decode replica needs.
    pub(super) fn kv(&self, tokens: u64) -> u64 {
        tokens * self.kept() * u64::from(self.layers)
    }

    /// So many ranks have the same keys and values: with latent attention all tensor-parallel ones, which otherwise divide heads.
    pub(super) fn copies(&self) -> u32 {
        if self.latent.is_some() { self.tensor } else { 1 }
    }

    /// How long a rank computes for a pass.
    pub(super) fn times(&self, pass: Pass) -> Times {
        let (groups, ranks) = (f64::from(self.expert), f64::from(self.tensor));
        let (tokens, weight) = (pass.tokens as f64, self.weight_bytes as f64);
        let time = |operations: f64, bytes: f64| {
            Nanos(((operations / self.speed).max(bytes / self.memory) / ranks).round() as u64)
        };
        let parameters = self.attention_parameters() as f64;
        let operations = 2.0 * parameters * tokens + 4.0 * self.attention_width as f64 * pass.pairs as f64;
        let kept = pass.read as f64 * self.kept() as f64 * f64::from(self.copies());
        let attention = time(operations / groups, parameters * weight + kept / groups);
        let expert = 2.0 * (self.hidden * self.feed_forward) as f64;
        let (experts, chosen) = (f64::from(self.experts), f64::from(self.top_k));
        let needed = experts / groups * (1.0 - libm::pow(1.0 - chosen / experts, tokens));
        let feed_forward = time(2.0 * expert * chosen * tokens / groups, needed * expert * weight);
        let table = (self.hidden * self.vocabulary) as f64;
        let head = time(2.0 * table * pass.sequences as f64 / groups, table * weight);
        Times { attention, feed_forward, head }
    }

    /// Tokens of a pass in one of the groups that divide experts.
    fn of_group(&self, pass: Pass) -> u64 {
        pass.tokens.div_ceil(self.expert.into())
    }

    /// Bytes that tensor-parallel ranks all-reduce, twice a layer.
    pub(super) fn reduced(&self, pass: Pass) -> u64 {
        self.of_group(pass) * self.hidden * BYTES
    }

    /// Bytes that a rank has for experts of all groups, and gets back.
    pub(super) fn dispatched(&self, pass: Pass) -> u64 {
        self.of_group(pass) * self.hidden * u64::from(self.top_k) * BYTES / u64::from(self.tensor)
    }
}

#[cfg(test)]
mod tests;
