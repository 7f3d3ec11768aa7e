// SPDX-License-Identifier: GPL-2.0-only
//! A transformer in training, from its public shape.
//!
//! Ranks are divided as Megatron divides them: tensor-parallel ones are neighbours, then context-parallel ones, then data-parallel
//! ones, then the stages of the pipeline. Stages have the same number of layers, or the first ones one more. Context- and
//! data-parallel ranks have the same parameters; d of them are called copies here.
//!
//! A layer has a = 2 h w (1 + 1/q) parameters in its attention, where q query heads share a key and a value, and 2 h f in its
//! feed-forward part, or in each of E experts; h is the hidden size, w that of all query heads, f the feed-forward size. Each token
//! takes 2 operations a parameter and 4 s w for the attention to the s tokens of its sequence. So b sequences take
//! b s (2 a + 4 s w + 4 h f k) / t / c operations forward, and twice as many backward, with t tensor-parallel and c context-parallel
//! ranks and k experts of a token (1 without experts). Half of the latter are gradients of weights, which attention itself has none of.
//!
//! Experts are divided among e neighbours of the d copies: an all-to-all of b s h k / t / c elements leads to them, and one back.
//! Gradients of a / t a layer, and of what else all ranks have, are reduced among all d ranks, and beside that those of 2 h f E / e / t
//! among the d / e ranks with the same experts. With e = 1 all ranks have all experts. Routers are so small that they are left out.

mod idle;
mod rank;

use super::plans::{Plans, Wrong};
use super::schedule::Pipeline;
use super::{CollectiveOptions, JobFile, digest};
use crate::flow::MOST_BYTES;
use crate::memory::{Budget, MOST_OPERATIONS};
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use rank::Rank;

/// Bytes of an activation, and of a parameter.
const BYTES: u64 = 2;

hpcc_core::named! {
    /// What is computed again for a backward pass.
    pub enum Recompute {
        /// No activation: all are kept.
        Nothing = "none",
        /// Those of attention.
        Attention = "attention",
        /// Those of whole layers.
        Layers = "layers",
    }
}

hpcc_core::named! {
    /// How context-parallel ranks get each other's keys and values.
    pub enum ContextBy {
        /// Each from its neighbour, in as many steps as there are other ranks.
        Ring = "ring",
        /// All at once.
        AllGather = "all_gather",
    }
}

hpcc_core::named! {
    /// Which gradients embeddings and head have.
    pub enum Embeddings {
        /// None.
        Nothing = "none",
        /// Embeddings and head each their own.
        Untied = "untied",
        /// One table of both, whose gradients the first and the last stage sum.
        Tied = "tied",
    }
}

/// Where the gradients of a stage are cut.
#[derive(Clone, Copy, Debug)]
pub enum Buckets {
    /// Into so many.
    Count(u32),
    /// Where a rank has so many parameters; as Megatron does, in the first chunk of the first stage only.
    Parameters(u64),
}

/// A model, and how it is trained.
#[derive(Clone, Debug)]
pub struct Transformer {
    /// Layers of the model; at least 1.
    pub layers: u32,
    /// Elements of a token's activation between layers.
    pub hidden: u64,
    /// Query heads that share a key and a value.
    pub queries_per_key: u64,
    /// Query heads times the size of a head.
    pub attention_width: u64,
    /// Parameters of a layer's attention, if they do not follow from these.
    pub attention_parameters: Option<u64>,
    /// Elements within the feed-forward part of a layer, or of an expert.
    pub feed_forward: u64,
    /// Of the part that all tokens pass beside experts.
    pub shared_feed_forward: u64,
    /// The first layers, which have no experts.
    pub dense_layers: u32,
    /// Of the other layers one in so many has experts.
    pub expert_every: u32,
    /// Of layers without experts.
    pub dense_feed_forward: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Tokens that there are.
    pub vocabulary: u64,
    /// Gradients of embeddings and head.
    pub embeddings: Embeddings,
    /// Sequences of a micro-batch.
    pub micro_batch: u64,
    /// Micro-batches of an iteration in each pipeline.
    pub micro_batches: u32,
    /// Ranks that share each layer.
    pub tensor: u32,
    /// Whether tensor-parallel ranks have parts of the sequence between layers.
    pub sequence_parallel: bool,
    /// Whether weights' gradients are computed while inputs' gradients are summed.
    pub overlap_tensor: bool,
    /// Ranks that share each sequence.
    pub context: u32,
    /// How those get each other's keys and values.
    pub context_by: ContextBy,
    /// Stages of a pipeline.
    pub pipeline: u32,
    /// Chunks of layers of a stage.
    pub virtual_stages: u32,
    /// Whether gradients of weights are computed where a stage would wait.
    pub zero_bubble: bool,
    /// What is computed again.
    pub recompute: Recompute,
    /// Experts of a layer; 1: it is dense.
    pub experts: u32,
    /// Ranks among which they are divided.
    pub expert: u32,
    /// Experts of each token.
    pub top_k: u32,
    /// Bytes of an element on its way to an expert.
    pub dispatch_bytes: u64,
    /// A token goes to at most so many servers, and to each once; `None`: to each expert by itself.
    pub expert_servers: Option<u32>,
    /// Operations of a GPU in a nanosecond.
    pub speed: f64,
    /// Where gradients are cut.
    pub buckets: Buckets,
    /// Bytes of a gradient.
    pub gradient_bytes: u64,
    /// What copies divide: 1: what optimisers know, 2: gradients, 3: parameters.
    pub zero: u32,
    /// Iterations; at least 1.
    pub iterations: u32,
}

impl Transformer {
    /// The job of so many ranks. An error is a key and what is wrong with it.
    pub fn job(&self, ranks: u32, ways: &dyn Fn(Kind) -> CollectiveOptions, budget: &Budget) -> Result<JobFile, Wrong> {
        let parts = u64::from(self.tensor) * u64::from(self.pipeline);
        if !u64::from(ranks).is_multiple_of(parts) || ranks == 0 {
            let message = format!("{ranks} ranks are no multiple of tensor times pipeline, {parts}; expected one");
            return Err(("tensor", message));
        }
        let copies = ranks / parts as u32;
        self.check(copies)?;
        let passes = 2 * u128::from(self.micro_batches) * u128::from(self.iterations) * u128::from(ranks);
        let layers = u128::from(self.layers.div_ceil(self.pipeline)) * self.operations_of_layer();
        let operations = passes * (layers + 6 * u128::from(self.virtual_stages));
        budget.operations(operations).map_err(|message| ("micro_batches", self.with_fewer(message, operations)))?;
        let mut plans = Plans::new(ways);
        let mut graphs = Vec::new();
        for number in 0..ranks {
            graphs.push(Rank::new(self, number, copies, &mut plans).graph()?);
        }
        let kinds = [Kind::AllReduce, Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter];
        let all: Vec<CollectiveOptions> = kinds.into_iter().map(ways).collect();
        let digest = digest([format!("{self:?}{all:?}").as_bytes()]);
        Ok(JobFile { graphs, collectives: plans.finish(), digest, notes: idle::notes(self, copies) })
    }

    /// What is wrong with so many operations, and how there are fewer.
    fn with_fewer(&self, wrong: String, operations: u128) -> String {
        let others = "fewer iterations, layers or ranks";
        match u128::from(self.micro_batches) * u128::from(MOST_OPERATIONS) / operations {
            0 => format!("{wrong}: {others}"),
            most if most < self.micro_batches.into() => format!("{wrong}: micro_batches = {most}, or {others}"),
            _ => wrong,
        }
    }

    /// At most so many operations has a pass of a layer on average, forward and backward.
    fn operations_of_layer(&self) -> u128 {
        let of_experts = [0, 2, 4][usize::from(self.experts > 1) + usize::from(self.expert_servers.is_some())];
        let of_context = if self.context > 1 { 5 * u128::from(self.context) + 2 } else { 0 };
        let once = 4 + of_experts + of_context + if self.sequence_parallel { 4 } else { 0 };
        let more = [self.overlap_tensor, self.zero_bubble].map(|more| if more { 2 } else { 0 }).iter().sum::<u128>();
        let again = if self.recompute == Recompute::Layers { once.div_ceil(2) } else { 0 };
        once + more + again + if self.zero == 3 { 5 } else { 0 }
    }

    /// Refuses what cannot be divided, or does not go together, with so many copies.
    fn check(&self, copies: u32) -> Result<(), Wrong> {
        for (key, whole, part, of) in [
            ("queries_per_key", self.attention_width, self.queries_per_key, "numbers of a token"),
            ("expert", copies.into(), self.expert.into(), "data-parallel ranks"),
            ("expert", self.experts.into(), self.expert.into(), "experts"),
            ("context", copies.into(), self.context.into(), "ranks with the same parameters"),
            ("context", self.sequence, self.context.into(), "tokens of a sequence"),
        ] {
            if !whole.is_multiple_of(part) {
                return Err((key, format!("the {whole} {of} are no multiple of {part}; expected one")));
            }
        }
        let of_stage = self.layers / self.pipeline;
        let buckets = if let Buckets::Count(count) = self.buckets { count } else { 1 };
        for (key, most, parts, of) in [
            ("pipeline", self.layers, self.pipeline, "layers"),
            ("virtual_stages", of_stage, self.virtual_stages, "layers of a stage"),
            ("buckets", of_stage / self.virtual_stages.min(of_stage).max(1), buckets, "layers of a stage or chunk"),
            ("top_k", self.experts, self.top_k, "experts"),
            ("dense_layers", self.layers, self.dense_layers, "layers"),
        ] {
            if parts > most {
                return Err((key, format!("{parts} are more than the {most} {of}; expected at most as many")));
            }
        }
        let is_interleaved = self.virtual_stages > 1;
        for (key, is_wrong, why) in [
            (
                "virtual_stages",
                is_interleaved && self.pipeline == 1,
                "chunks alternate among stages; expected a pipeline",
            ),
            (
                "virtual_stages",
                is_interleaved && !self.micro_batches.is_multiple_of(self.pipeline),
                "stages pass as many micro-batches as there are stages through a chunk; expected a multiple as micro_batches",
            ),
            (
                "zero_bubble",
                self.zero_bubble && is_interleaved,
                "it has an order without chunks; expected virtual_stages = 1",
            ),
            (
                "overlap_tensor",
                self.overlap_tensor && self.zero_bubble,
                "with zero_bubble weights' gradients wait for later; expected one of both",
            ),
        ] {
            if is_wrong {
                return Err((key, why.to_owned()));
            }
        }
        self.check_sizes()
    }

    /// Refuses messages that are too long.
    fn check_sizes(&self) -> Result<(), Wrong> {
        let of_experts = u128::from(self.experts) * u128::from(self.expert_parameters());
        let of_all =
            self.attention_parameters() + 2 * self.hidden * self.shared_feed_forward.max(self.dense_feed_forward);
        let tables = 2 * u128::from(self.hidden) * u128::from(self.vocabulary);
        let gradients = u128::from(self.layers) * (of_experts + u128::from(of_all)) + tables;
        let wide = u128::from(self.hidden).max(2 * u128::from(self.attention_width));
        let exchange = u128::from(self.tokens()) * wide * u128::from(self.top_k);
        if (gradients * u128::from(self.gradient_bytes.max(BYTES))).max(exchange * u128::from(BYTES))
            > MOST_BYTES.into()
        {
            return Err((
                "hidden",
                format!("a message would have more bytes than {MOST_BYTES}; expected smaller ones"),
            ));
        }
        Ok(())
    }

    /// Parameters of the attention of a layer: queries and the output, then keys and values, which heads share.
    fn attention_parameters(&self) -> u64 {
        let usual = || 2 * self.hidden * (self.attention_width + self.attention_width / self.queries_per_key);
        self.attention_parameters.unwrap_or_else(usual)
    }

    /// Parameters of an expert, or of the feed-forward part of a dense layer.
    fn expert_parameters(&self) -> u64 {
        2 * self.hidden * self.feed_forward
    }

    fn has_experts(&self, layer: u32) -> bool {
        layer >= self.dense_layers && (layer + 1).is_multiple_of(self.expert_every)
    }

    /// Parameters of a layer's feed-forward part that each token passes, beside experts.
    fn common_feed_forward(&self, layer: u32) -> u64 {
        2 * self.hidden * if self.has_experts(layer) { self.shared_feed_forward } else { self.dense_feed_forward }
    }

    /// Parameters of a layer among the copies: those that all have, and those of the experts of one.
    fn parameters(&self, layer: u32) -> [u64; 2] {
        let common = self.attention_parameters() + self.common_feed_forward(layer);
        let own = u64::from(self.experts / self.expert) * self.expert_parameters();
        match (self.has_experts(layer), self.expert) {
            (false, _) => [common, 0],
            (true, 1) => [common + own, 0],
            (true, _) => [common, own],
        }
    }

    /// Tokens of a micro-batch at a rank.
    fn tokens(&self) -> u64 {
        self.micro_batch * (self.sequence / u64::from(self.context))
    }

    /// Bytes of a micro-batch's activations.
    fn activations(&self) -> u64 {
        self.tokens() * self.hidden * BYTES
    }

    /// Bytes of keys, or of values, of a micro-batch at a rank.
    fn keys(&self) -> u64 {
        self.tokens() * (self.attention_width / self.queries_per_key) * BYTES / u64::from(self.tensor)
    }

    /// How long so many operations for each token take, shared by tensor-parallel ranks.
    fn time(&self, operations: u64) -> Nanos {
        Nanos((self.tokens() as f64 * operations as f64 / f64::from(self.tensor) / self.speed).round() as u64)
    }

    fn schedule(&self) -> Pipeline {
        Pipeline {
            stages: self.pipeline,
            chunks: self.virtual_stages,
            batches: self.micro_batches,
            is_split: self.zero_bubble,
        }
    }
}

/// Size of part `n`, if `whole` is divided into `parts` as evenly as possible: the first ones get the rest.
fn part(whole: u32, parts: u32, n: u32) -> u32 {
    whole / parts + u32::from(n < whole % parts)
}

/// Where that part begins.
fn begin_of_part(whole: u32, parts: u32, n: u32) -> u32 {
    whole / parts * n + n.min(whole % parts)
}

#[cfg(test)]
mod tests;
