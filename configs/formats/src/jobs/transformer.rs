// SPDX-License-Identifier: GPL-2.0-only
//! A transformer in training, from its public shape.
//!
//! Ranks are divided as Megatron divides them: tensor-parallel ones are neighbours, then data-parallel ones, then the stages of the
//! pipeline. Stages have the same number of layers, or the first ones one more.
//!
//! A layer has a = 2 h h (1 + 1/q) parameters in its attention, where q query heads share a key and a value, and 2 h f in its
//! feed-forward part, or in each of E experts; h is the hidden size, f the feed-forward size. Each token takes 2 operations a
//! parameter and 4 s h for the attention to the s tokens of its sequence. So b sequences take b s (2 a + 4 s h + 4 h f k) / t
//! operations forward, and twice as many backward, with t tensor-parallel ranks and k experts of a token (1 without experts).
//! Each pass all-reduces b s h elements of 2 bytes twice among tensor-parallel ranks. Stages send each other b s h / t elements
//! and take turns as in 1F1B.
//!
//! Experts are divided among e neighbours of the d data-parallel ranks: an all-to-all of b s h k / t elements leads to them, and
//! one back. Gradients, of 2 bytes a parameter, are all-reduced in buckets, each as soon as the last backward pass has it: a / t
//! a layer among all d ranks, and beside that 2 h f E / e / t among the d / e ranks with the same experts. With e = 1 all ranks
//! have all experts, and a bucket is one all-reduce of (a + 2 h f E) / t a layer. Routers are so small that they are left out.

use super::plans::{Group, Plans, Wrong};
use super::{CollectiveOptions, JobFile, digest};
use crate::flow::MOST_BYTES;
use crate::memory::Budget;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use hpcc_core::workload::{GraphBuilder, Work};
use std::sync::Arc;

/// Bytes of an activation, and of a gradient.
const BYTES: u64 = 2;
/// The streams of a GPU: what computes, and what reduces gradients, those of divided experts beside the others. A stream has the
/// collectives of one group: of two groups, ranks could take them in different orders, and wait for each other for ever.
const COMPUTE: u16 = 0;
const GRADIENTS: u16 = 1;
const OF_EXPERTS: u16 = 2;

/// A model, and how it is trained.
#[derive(Clone, Debug)]
pub(crate) struct Transformer {
    pub layers: u32,
    pub hidden: u64,
    /// Query heads that share a key and a value.
    pub queries_per_key: u64,
    pub feed_forward: u64,
    pub sequence: u64,
    pub vocabulary: u64,
    /// Sequences of a micro-batch, and micro-batches of an iteration in each pipeline.
    pub micro_batch: u64,
    pub micro_batches: u32,
    pub tensor: u32,
    pub pipeline: u32,
    /// Experts of a layer; 1: it is dense.
    pub experts: u32,
    /// Ranks among which they are divided.
    pub expert: u32,
    /// Experts of each token.
    pub top_k: u32,
    /// Operations of a GPU in a nanosecond.
    pub speed: f64,
    /// Gradient buckets of a stage: with the same number of layers, or the first ones with one more.
    pub buckets: u32,
    pub iterations: u32,
}

/// One rank's graph in the making.
struct Rank<'a, 'b> {
    model: &'a Transformer,
    number: u32,
    data: u32,
    builder: GraphBuilder,
    /// What the next operation waits for.
    last: u32,
    /// Collectives so far, in an order that all ranks of a group have.
    order: u32,
    plans: &'a mut Plans<'b>,
}

/// A forward or a backward pass of a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Forward(u32),
    Backward(u32),
}

impl Transformer {
    /// The job of so many ranks. An error is a key and what is wrong with it.
    pub fn job(&self, ranks: u32, ways: &dyn Fn(Kind) -> CollectiveOptions, budget: &Budget) -> Result<JobFile, Wrong> {
        let parts = u64::from(self.tensor) * u64::from(self.pipeline);
        if !u64::from(ranks).is_multiple_of(parts) || ranks == 0 {
            let message = format!("{ranks} ranks are no multiple of tensor times pipeline, {parts}; expected one");
            return Err(("tensor", message));
        }
        let data = ranks / parts as u32;
        self.check(data)?;
        let passes = 2 * u128::from(self.micro_batches) * u128::from(self.iterations) * u128::from(ranks);
        let operations = passes * (6 * u128::from(self.layers.div_ceil(self.pipeline)) + 6);
        budget.operations(operations).map_err(|message| ("micro_batches", message))?;
        let mut plans = Plans::new(ways);
        let mut graphs = Vec::new();
        for number in 0..ranks {
            let mut builder = GraphBuilder::default();
            let last = builder.add(Work::Nothing, None);
            let mut rank = Rank { model: self, number, data, builder, last, order: 0, plans: &mut plans };
            for _ in 0..self.iterations {
                rank.iteration()?;
            }
            graphs.push(rank.builder.build().map_err(|_| ("kind", "it goes round in a circle".to_owned()))?);
        }
        let all: Vec<CollectiveOptions> = [Kind::AllReduce, Kind::AllToAll].into_iter().map(ways).collect();
        let digest = digest([format!("{self:?}{all:?}").as_bytes()]);
        Ok(JobFile { graphs, collectives: plans.finish(), digest, notes: Vec::new() })
    }

    /// Refuses what cannot be divided, with so many data-parallel ranks.
    fn check(&self, data: u32) -> Result<(), Wrong> {
        for (key, whole, part, of) in [
            ("queries_per_key", self.hidden, self.queries_per_key, "numbers of a token"),
            ("expert", data.into(), self.expert.into(), "data-parallel ranks"),
            ("expert", self.experts.into(), self.expert.into(), "experts"),
        ] {
            if !whole.is_multiple_of(part) {
                return Err((key, format!("the {whole} {of} are no multiple of {part}; expected one")));
            }
        }
        for (key, most, parts, of) in [
            ("pipeline", self.layers, self.pipeline, "layers"),
            ("buckets", self.layers / self.pipeline, self.buckets, "layers of a stage"),
            ("top_k", self.experts, self.top_k, "experts"),
        ] {
            if parts > most {
                return Err((key, format!("{parts} are more than the {most} {of}; expected at most as many")));
            }
        }
        let of_layer = u128::from(self.experts) * u128::from(self.expert_parameters());
        let gradients = u128::from(self.layers) * (of_layer + u128::from(self.attention_parameters()));
        let exchange = u128::from(self.tokens()) * u128::from(self.hidden) * u128::from(self.top_k);
        if gradients.max(exchange) > u128::from(MOST_BYTES / BYTES) {
            return Err((
                "hidden",
                format!("a message would have more bytes than {MOST_BYTES}; expected smaller ones"),
            ));
        }
        Ok(())
    }

    /// Parameters of the attention of a layer: queries and the output, then keys and values, which heads share.
    fn attention_parameters(&self) -> u64 {
        2 * self.hidden * (self.hidden + self.hidden / self.queries_per_key)
    }

    /// Parameters of an expert, or of the feed-forward part of a dense layer.
    fn expert_parameters(&self) -> u64 {
        2 * self.hidden * self.feed_forward
    }

    fn tokens(&self) -> u64 {
        self.micro_batch * self.sequence
    }

    /// Bytes of a micro-batch's activations.
    fn activations(&self) -> u64 {
        self.tokens() * self.hidden * BYTES
    }

    /// How long so many operations for each token take, shared by tensor-parallel ranks.
    fn time(&self, operations: u64) -> Nanos {
        Nanos((self.tokens() as f64 * operations as f64 / f64::from(self.tensor) / self.speed).round() as u64)
    }

    /// Passes of a stage in their order: one forward, one backward, after as many forward as stages follow.
    fn passes(&self, stage: u32) -> Vec<Pass> {
        let ahead = (self.pipeline - 1 - stage).min(self.micro_batches);
        let warm = (0..ahead).map(Pass::Forward);
        let steady = (ahead..self.micro_batches).flat_map(|next| [Pass::Forward(next), Pass::Backward(next - ahead)]);
        let rest = (self.micro_batches - ahead..self.micro_batches).map(Pass::Backward);
        warm.chain(steady).chain(rest).collect()
    }
}

impl Rank<'_, '_> {
    fn stage(&self) -> u32 {
        self.number / (self.model.tensor * self.data)
    }

    /// The rank with the same part of the model in another stage.
    fn in_stage(&self, stage: u32) -> u32 {
        let of_stage = self.model.tensor * self.data;
        stage * of_stage + self.number % of_stage
    }

    fn tensor_group(&self) -> Arc<[u32]> {
        let first = self.number - self.number % self.model.tensor;
        (first..first + self.model.tensor).collect()
    }

    /// Data-parallel ranks of the same part, those of `count` from the first that is a multiple of it.
    fn data_group(&self, count: u32) -> Arc<[u32]> {
        let tensor = self.model.tensor;
        let copy = self.number / tensor % self.data;
        let base = self.number - copy * tensor;
        (copy - copy % count..copy - copy % count + count).map(|copy| base + copy * tensor).collect()
    }

    /// Data-parallel ranks with the same experts.
    fn same_experts(&self) -> Arc<[u32]> {
        let &Transformer { tensor, expert, .. } = self.model;
        let copy = self.number / tensor % self.data;
        let base = self.number - copy * tensor;
        (copy % expert..self.data).step_by(expert as usize).map(|copy| base + copy * tensor).collect()
    }

    fn then(&mut self, work: Work, resource: Option<u16>) {
        let node = self.builder.add(work, resource);
        self.builder.require_end(node, self.last);
        self.last = node;
    }

    fn compute(&mut self, operations: u64) {
        self.then(Work::Compute(self.model.time(operations)), Some(COMPUTE));
    }

    /// A collective that what follows waits for.
    fn together(&mut self, group: (Group, Arc<[u32]>), what: (Kind, u64)) -> Result<(), Wrong> {
        self.order += 1;
        if let Some(collective) = self.plans.collective(self.order, group, self.number, what)? {
            self.then(Work::Collective(Box::new(collective)), None);
        }
        Ok(())
    }

    /// A layer, whose operations are done so many times.
    fn layer(&mut self, times: u64) -> Result<(), Wrong> {
        let &Transformer { hidden, sequence, tensor, expert, top_k, .. } = self.model;
        let activations = self.model.activations();
        self.compute(times * (2 * self.model.attention_parameters() + 4 * sequence * hidden));
        self.together((Group::Tensor, self.tensor_group()), (Kind::AllReduce, activations))?;
        // A rank alone with all experts sends nothing.
        let there = (Kind::AllToAll, activations * u64::from(top_k) / u64::from(tensor));
        self.together((Group::Expert, self.data_group(expert)), there)?;
        self.compute(times * 2 * self.model.expert_parameters() * u64::from(top_k));
        self.together((Group::Expert, self.data_group(expert)), there)?;
        self.together((Group::Tensor, self.tensor_group()), (Kind::AllReduce, activations))
    }

    /// The stage receives what it works on from another one, unless it is at that end.
    fn receive(&mut self, from: Option<u32>, tag: u64) {
        let Some(from) = from else { return };
        let receive = self.builder.add(Work::Receive { from: Some(self.in_stage(from)), tag: Some(tag) }, None);
        let wait = self.builder.add(Work::Nothing, None);
        self.builder.require_end(wait, receive);
        self.builder.require_end(wait, self.last);
        self.last = wait;
    }

    /// The stage sends what it has made to another one; what follows does not wait.
    fn send(&mut self, to: Option<u32>, tag: u64) {
        let Some(to) = to else { return };
        let size = self.model.activations() / u64::from(self.model.tensor);
        let send = self.builder.add(Work::Send { to: self.in_stage(to), tag, size, channel: 0 }, None);
        self.builder.require_end(send, self.last);
    }

    fn iteration(&mut self) -> Result<(), Wrong> {
        let model = self.model;
        let stage = self.stage();
        let (before, behind) = (stage.checked_sub(1), Some(stage + 1).filter(|&next| next < model.pipeline));
        let layers = part(model.layers, model.pipeline, stage);
        let head = if behind.is_none() { 2 * model.hidden * model.vocabulary } else { 0 };
        let last_batch = model.micro_batches - 1;
        let mut reduced = Vec::new();
        for pass in model.passes(stage) {
            match pass {
                Pass::Forward(batch) => {
                    self.receive(before, u64::from(batch) << 1);
                    (0..layers).try_for_each(|_| self.layer(1))?;
                    if head > 0 {
                        self.compute(head);
                    }
                    self.send(behind, u64::from(batch) << 1);
                }
                Pass::Backward(batch) => {
                    self.receive(behind, u64::from(batch) << 1 | 1);
                    if head > 0 {
                        self.compute(2 * head);
                    }
                    for bucket in (0..model.buckets).map(|bucket| part(layers, model.buckets, bucket)) {
                        (0..bucket).try_for_each(|_| self.layer(2))?;
                        if batch == last_batch {
                            reduced.extend(self.reduce(bucket)?);
                        }
                    }
                    self.send(before, u64::from(batch) << 1 | 1);
                }
            }
        }
        let end = self.builder.add(Work::Nothing, None);
        self.builder.require_end(end, self.last);
        reduced.into_iter().for_each(|reduced| self.builder.require_end(end, reduced));
        self.last = end;
        Ok(())
    }

    /// All-reduces the gradients of so many layers, beside what follows.
    fn reduce(&mut self, layers: u32) -> Result<Vec<u32>, Wrong> {
        let model = self.model;
        let experts = u64::from(model.experts / model.expert) * model.expert_parameters();
        let of_all = (Group::Data, self.data_group(self.data));
        let parts = match model.expert {
            1 => vec![(GRADIENTS, of_all, model.attention_parameters() + experts)],
            _ => vec![
                (GRADIENTS, of_all, model.attention_parameters()),
                (OF_EXPERTS, (Group::DataOfExperts, self.same_experts()), experts),
            ],
        };
        let mut reduced = Vec::new();
        for (stream, group, parameters) in parts {
            let what = (Kind::AllReduce, u64::from(layers) * parameters * BYTES / u64::from(model.tensor));
            self.order += 1;
            if let Some(collective) = self.plans.collective(self.order, group, self.number, what)? {
                let node = self.builder.add(Work::Collective(Box::new(collective)), Some(stream));
                self.builder.require_end(node, self.last);
                reduced.push(node);
            }
        }
        Ok(reduced)
    }
}

/// Size of part `n`, if `whole` is divided into `parts` as evenly as possible: the first ones get the rest.
fn part(whole: u32, parts: u32, n: u32) -> u32 {
    whole / parts + u32::from(n < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::ideal;
    use crate::jobs::testing::job;
    use hpcc_core::workload::collective::Plan;
    use std::collections::{BTreeMap, BTreeSet};

    const MODEL: Transformer = Transformer {
        layers: 4,
        hidden: 1_024,
        queries_per_key: 1,
        feed_forward: 4_096,
        sequence: 512,
        vocabulary: 0,
        micro_batch: 2,
        micro_batches: 4,
        tensor: 2,
        pipeline: 2,
        experts: 1,
        expert: 1,
        top_k: 1,
        speed: 100_000.0,
        buckets: 1,
        iterations: 1,
    };

    /// 64 heads with 8 keys and values, and three matrices of 8,192 by 28,672 a layer.
    const LLAMA_70B: Transformer = Transformer {
        layers: 80,
        hidden: 8_192,
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
        CollectiveOptions { depth: 1, ..CollectiveOptions::default() }
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
    fn stages_take_turns_as_in_1f1b() {
        use Pass::{Backward as B, Forward as F};
        let model = Transformer { pipeline: 4, ..MODEL };
        assert_eq!(model.passes(3), [F(0), B(0), F(1), B(1), F(2), B(2), F(3), B(3)]);
        assert_eq!(model.passes(1), [F(0), F(1), F(2), B(0), F(3), B(1), B(2), B(3)]);
        assert_eq!(Transformer { micro_batches: 1, ..model }.passes(0), [F(0), B(0)]);
    }

    #[test]
    fn messages_of_stages_and_experts_pair_up() {
        let file = of(&MODEL, 8);
        let (count, bytes) = file.graphs.iter().fold((0, 0), |sum, graph| {
            let (count, bytes) = graph.traffic(|_| true);
            (sum.0 + count, sum.1 + bytes)
        });
        assert_eq!((count, bytes), (4 * 2 * 4, 4 * 2 * 4 * 2 * 512 * 1_024 * 2 / 2), "4 ranks, 4 batches, both ways");
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
        // The first stage sends an eighth forward, the second one forward and back.
        assert_eq!(file.graphs[0].traffic(|to| to == 16), (1, activations / 8));
        assert_eq!(file.graphs[16].traffic(|to| to == 0 || to == 32), (2, 2 * activations / 8));
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
        let file = of(&Transformer { layers: 5, buckets: 2, tensor: 1, micro_batches: 1, ..MODEL }, 4);
        let of_layer = 12 * 1_024 * 1_024 * 2;
        assert_eq!(groups(&file, 2, Kind::AllReduce), [2, 1, 1, 1].map(|layers| layers * of_layer));
    }

    /// Of two groups in one stream, a rank that is busy could take the other one first, and its partners would wait for ever.
    #[test]
    fn a_stream_has_the_sums_of_one_group() {
        let model = Transformer { experts: 4, expert: 2, tensor: 1, pipeline: 1, buckets: 4, iterations: 2, ..MODEL };
        let file = of(&model, 8);
        for graph in &file.graphs {
            let mut streams = BTreeMap::<u16, BTreeSet<_>>::new();
            for (work, stream) in graph.works().zip(graph.resources()) {
                if let (Work::Collective(sum), Some(stream)) = (work, stream) {
                    streams.entry(stream).or_default().insert(&file.collectives[sum.number() as usize].group);
                }
            }
            let groups = |stream| streams[&stream].iter().map(|group| group.len()).collect::<Vec<_>>();
            assert_eq!((groups(GRADIENTS), groups(OF_EXPERTS)), (vec![8], vec![4]));
        }
        let course = ideal::run(job(&file.graphs), None, |message| Nanos(message.size), |time| time);
        assert!(course.unfinished.is_empty(), "{:?}", course.unfinished);
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        for (model, ranks, key) in [
            (Transformer { tensor: 3, ..MODEL }, 8, "tensor"),
            (Transformer { pipeline: 8, tensor: 1, ..MODEL }, 8, "pipeline"),
            (Transformer { buckets: 3, ..MODEL }, 8, "buckets"),
            (Transformer { experts: 4, expert: 4, ..MODEL }, 8, "expert"),
            (Transformer { experts: 3, expert: 2, ..MODEL }, 8, "expert"),
            (Transformer { expert: 2, ..MODEL }, 8, "expert"),
            (Transformer { top_k: 2, ..MODEL }, 8, "top_k"),
            (Transformer { queries_per_key: 3, ..MODEL }, 8, "queries_per_key"),
            (Transformer { micro_batch: 1 << 44, ..MODEL }, 8, "hidden"),
            (Transformer { iterations: 1_000_000, ..MODEL }, 8, "micro_batches"),
        ] {
            assert_eq!(
                model.job(ranks, &ways, &Budget::new().expect("memory")).map(|_| ()).map_err(|(key, _)| key),
                Err(key)
            );
        }
    }
}
