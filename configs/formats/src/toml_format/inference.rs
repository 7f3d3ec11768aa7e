// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of kind `inference`: a model that serves requests.

use super::job_file::{ByCollectives, Ranks};
use super::keys::keys;
use super::traffic::Context;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::error::InputError;
use hpcc_model::generate::Random;
use hpcc_model::jobs::inference::{self, Way, requests};
use hpcc_model::jobs::{JobFile, Request};

keys! {
    Inference {
        /// Number of layers of the model.
        layers: u32 {1..=10_000};
        /// Hidden size of the model: numbers for each token.
        hidden: u64 {1..=1_000_000};
        /// Query heads that share a key and a value (grouped queries); 1: each has its own.
        queries_per_key: u64 {1..=1_000} = 1;
        /// Query heads times the size of a head, if that is not the hidden size.
        attention_width: Option<u64> {1..=10_000_000};
        /// Parameters of a layer's attention, such as those of latent attention; by default as many as its heads take.
        attention_parameters: Option<u64> {1..=1_000_000_000_000};
        /// Numbers that a layer keeps of a token in place of keys and values (latent attention): 576 in DeepSeek-V3, 512 and 64.
        latent: Option<u64> {1..=10_000_000};
        /// Size of the feed-forward part, or of one expert; by default four times the hidden size. With a gated one, such as
        /// Llama's, give one and a half times its size.
        #[assumed = "four times the hidden size"]
        feed_forward: Option<u64> {1..=10_000_000};
        /// Experts of each layer; 1: the model is dense.
        experts: u32 {1..=10_000} = 1;
        /// Experts of each token; by default 2, of a dense model 1.
        top_k: Option<u32> {1..=1_000};
        /// Tokens that the last layer distinguishes; with 0 it costs nothing.
        vocabulary: u64 {0..=10_000_000} = 0;
        /// Bytes of a parameter: 1 in FP8.
        weight_bytes: u64 {1..=8} = 2;
        /// Bytes of a number among keys and values: 1 in FP8.
        kv_bytes: u64 {1..=8} = 2;
        /// Ranks of a replica that share each layer (tensor parallelism).
        tensor: u32 {1..=1_024} = 1;
        /// Groups of such ranks in a replica, among which experts, and the tokens of a pass, are divided (expert parallelism).
        expert: u32 {1..=1_024} = 1;
        /// Replicas that pass prompts. Their GPUs come first.
        prefill: u32 {1..=100_000} = 1;
        /// Replicas that make answers, to which keys and values of prompts go; 0 if each answer is one token.
        decode: u32 {0..=100_000} = 1;
        /// Most requests of a decode replica at a time.
        batch: u32 {1..=100_000} = 64;
        /// What a GPU really computes, in 10^12 operations a second.
        teraflops: f64 {1e-3..=1e9};
        /// What a GPU really reads of its memory, in 10^9 bytes a second: some 80 % of 3,350 for an H100.
        memory_rate: f64 {1e-3..=1e9};
        /// How many requests come, as a Poisson process.
        requests: Option<u32> {1..=requests::MOST};
        /// How many come a second on average.
        request_rate: Option<f64> {1e-6..=1e9};
        /// Tokens of each prompt.
        prompt: Option<u64> {1..=requests::MOST_TOKENS};
        /// Tokens of each answer.
        output: Option<u64> {1..=requests::MOST_TOKENS};
        /// Name of a file of requests in place of these four, relative to the scenario's folder, then to the working folder: a line
        /// for each, with seconds, tokens of its prompt and of its answer, separated by commas.
        trace: Option<String>;
    }
}

impl Inference {
    /// The requests, each with its replicas.
    pub fn requests(&self, context: &Context<'_>, random: &mut Random) -> Result<Vec<Request>, InputError> {
        let &Inference { requests: count, request_rate, prompt, output, .. } = self;
        let given = [
            ("requests", count.is_some()),
            ("request_rate", request_rate.is_some()),
            ("prompt", prompt.is_some()),
            ("output", output.is_some()),
        ];
        let mut all = match (&self.trace, count.zip(request_rate), prompt.zip(output)) {
            (Some(name), ..) => {
                if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                    return Err(context.error(key, "the requests are those of trace; expected one of both"));
                }
                requests::read(&context.file("trace", name)?)?
            }
            (None, Some((count, rate)), Some(tokens)) => requests::poisson(count, rate, tokens, random),
            (None, ..) => {
                let missing = given.into_iter().find(|(_, is_given)| !is_given).map_or("trace", |(key, _)| key);
                let message =
                    format!("{missing} is missing; expected trace, or requests, request_rate, prompt and output");
                return Err(context.error("kind", message));
            }
        };
        self.model().assign(&mut all);
        Ok(all)
    }

    pub fn read(
        &self,
        requests: &[Request],
        by: &ByCollectives,
        ranks: &Ranks,
        context: &Context<'_>,
    ) -> Result<JobFile, InputError> {
        let (model, ways) = (self.model(), by.ways(ranks, context)?);
        let file = model.job(ranks.hosts, requests, (&ways, &way(&model, context)), context.budget);
        file.map_err(|(key, message)| context.origin.error(&[key, "kind"], message))
    }

    fn model(&self) -> inference::Inference {
        inference::Inference {
            layers: self.layers,
            hidden: self.hidden,
            attention_width: self.attention_width.unwrap_or(self.hidden),
            queries_per_key: self.queries_per_key,
            attention_parameters: self.attention_parameters,
            latent: self.latent,
            feed_forward: self.feed_forward.unwrap_or(4 * self.hidden),
            experts: self.experts,
            top_k: self.top_k.unwrap_or(self.experts.min(2)),
            vocabulary: self.vocabulary,
            weight_bytes: self.weight_bytes,
            kv_bytes: self.kv_bytes,
            tensor: self.tensor,
            expert: self.expert,
            prefill: self.prefill,
            decode: self.decode,
            batch: self.batch,
            speed: self.teraflops * 1e3,
            memory: self.memory_rate,
        }
    }
}

/// What messages take on this network where it is idle: between replicas as by the slowest link of a host and its neighbour, within a
/// replica by servers if one has room for it.
fn way(model: &inference::Inference, context: &Context<'_>) -> Way {
    let network = context.network;
    let of_hosts = || network.links.iter().filter(|link| network.is_host(link.a) || network.is_host(link.b));
    let rate = of_hosts().map(|link| link.rate).min().unwrap_or(BitRate::gbps(1));
    let delay = of_hosts().map(|link| link.delay).min().unwrap_or(Nanos(0));
    let bytes = |rate: BitRate| rate.0.max(1) as f64 / 8e9;
    let between = (bytes(rate), delay + delay);
    let servers = context.servers.filter(|servers| model.ranks() <= servers.gpus);
    Way { inside: servers.map_or(between, |servers| (bytes(servers.rate), servers.latency)), between }
}
