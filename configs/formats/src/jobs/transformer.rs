// SPDX-License-Identifier: GPL-2.0-only
//! A transformer in training, from its public shape.
//!
//! Ranks are divided as Megatron divides them: tensor-parallel ones are neighbours, then data-parallel ones, then the stages of the
//! pipeline. With b sequences of s tokens, hidden size h, feed-forward size f and t tensor-parallel ranks a layer's forward pass
//! takes b s (8 h h + 4 s h + 4 h f) / t operations and two all-reduces of b s h elements of 2 bytes, its backward pass twice the
//! operations and as many all-reduces; a layer has 4 h h + 2 h f parameters. Stages send each other b s h / t elements and take
//! turns as in 1F1B. Gradients, of 2 bytes a parameter, are all-reduced among data-parallel ranks in buckets, each as soon as the
//! last backward pass has them. With experts, the feed-forward part of each token is done by k of them, which are at the e ranks of
//! a group of data-parallel ones: an all-to-all of b s h k / t elements leads there, and one back.

use super::plans::{Group, Plans, Wrong};
use super::{JobFile, Ways, digest, too_many};
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use hpcc_core::workload::{GraphBuilder, Work};
use std::sync::Arc;

/// Bytes of an activation, and of a gradient.
const BYTES: u64 = 2;
/// The streams of a GPU: what computes, and what reduces gradients.
const COMPUTE: Option<u16> = Some(0);
const GRADIENTS: Option<u16> = Some(1);

/// A model, and how it is trained.
#[derive(Clone, Debug)]
pub(crate) struct Transformer {
    pub layers: u32,
    pub hidden: u64,
    pub feed_forward: u64,
    pub sequence: u64,
    pub vocabulary: u64,
    /// Sequences of a micro-batch, and micro-batches of an iteration in each pipeline.
    pub micro_batch: u64,
    pub micro_batches: u32,
    pub tensor: u32,
    pub pipeline: u32,
    pub expert: u32,
    /// Experts of each token.
    pub top_k: u64,
    /// Operations of a GPU in a nanosecond.
    pub speed: f64,
    /// Gradient buckets of a stage.
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
    pub fn job(&self, ranks: u32, ways: &dyn Fn(Kind) -> Ways) -> Result<JobFile, Wrong> {
        let parts = u64::from(self.tensor) * u64::from(self.pipeline);
        if !u64::from(ranks).is_multiple_of(parts) || ranks == 0 {
            let message = format!("{ranks} ranks are no multiple of tensor times pipeline, {parts}; expected one");
            return Err(("tensor", message));
        }
        let data = ranks / parts as u32;
        for (key, whole, part, of) in [
            ("pipeline", self.layers, self.pipeline, "layers"),
            ("buckets", self.layers / self.pipeline.max(1), self.buckets, "layers of a stage"),
            ("expert", data, self.expert, "data-parallel ranks"),
        ] {
            if !whole.is_multiple_of(part) {
                return Err((key, format!("the {whole} {of} are no multiple of {part}; expected one")));
            }
        }
        let passes = 2 * u128::from(self.micro_batches) * u128::from(self.iterations) * u128::from(ranks);
        if let Some(message) = too_many(passes * (6 * u128::from(self.layers / self.pipeline) + 6)) {
            return Err(("micro_batches", message));
        }
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
        let all: Vec<Ways> = [Kind::AllReduce, Kind::AllToAll].into_iter().map(ways).collect();
        let digest = digest([format!("{self:?}{all:?}").as_bytes()]);
        Ok(JobFile { graphs, collectives: plans.finish(), digest })
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

    fn then(&mut self, work: Work, resource: Option<u16>) {
        let node = self.builder.add(work, resource);
        self.builder.require_end(node, self.last);
        self.last = node;
    }

    fn compute(&mut self, operations: u64) {
        self.then(Work::Compute(self.model.time(operations)), COMPUTE);
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
        let &Transformer { hidden, sequence, feed_forward, tensor, expert, top_k, .. } = self.model;
        let activations = self.model.activations();
        self.compute(times * (8 * hidden * hidden + 4 * sequence * hidden));
        self.together((Group::Tensor, self.tensor_group()), (Kind::AllReduce, activations))?;
        let experts = if expert > 1 { top_k } else { 1 };
        let there = (Kind::AllToAll, activations * experts / u64::from(tensor));
        if expert > 1 {
            self.together((Group::Expert, self.data_group(expert)), there)?;
        }
        self.compute(times * 4 * hidden * feed_forward * experts);
        if expert > 1 {
            self.together((Group::Expert, self.data_group(expert)), there)?;
        }
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
        let layers = model.layers / model.pipeline;
        let head = if behind.is_none() { 2 * model.hidden * model.vocabulary } else { 0 };
        let last_batch = model.micro_batches - 1;
        let mut reduced = None;
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
                    for layer in 1..=layers {
                        self.layer(2)?;
                        if batch == last_batch && layer.is_multiple_of(layers / model.buckets) {
                            reduced = self.reduce(layers / model.buckets)?.or(reduced);
                        }
                    }
                    self.send(before, u64::from(batch) << 1 | 1);
                }
            }
        }
        let end = self.builder.add(Work::Nothing, None);
        self.builder.require_end(end, self.last);
        if let Some(reduced) = reduced {
            self.builder.require_end(end, reduced);
        }
        self.last = end;
        Ok(())
    }

    /// All-reduces the gradients of so many layers, beside what follows.
    fn reduce(&mut self, layers: u32) -> Result<Option<u32>, Wrong> {
        let &Transformer { hidden, feed_forward, tensor, .. } = self.model;
        let parameters = u64::from(layers) * (4 * hidden * hidden + 2 * hidden * feed_forward);
        let what = (Kind::AllReduce, parameters * BYTES / u64::from(tensor));
        self.order += 1;
        let group = (Group::Data, self.data_group(self.data));
        let collective = self.plans.collective(self.order, group, self.number, what)?;
        Ok(collective.map(|collective| {
            let node = self.builder.add(Work::Collective(Box::new(collective)), GRADIENTS);
            self.builder.require_end(node, self.last);
            node
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::workload::collective::Plan;

    const MODEL: Transformer = Transformer {
        layers: 4,
        hidden: 1_024,
        feed_forward: 4_096,
        sequence: 512,
        vocabulary: 0,
        micro_batch: 2,
        micro_batches: 4,
        tensor: 2,
        pipeline: 2,
        expert: 1,
        top_k: 2,
        speed: 100_000.0,
        buckets: 1,
        iterations: 1,
    };

    fn ways(_: Kind) -> Ways {
        Ways { depth: 1, ..Ways::default() }
    }

    fn of(model: &Transformer, ranks: u32) -> JobFile {
        model.job(ranks, &ways).expect("a job")
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
        let experts = of(&Transformer { expert: 2, pipeline: 1, tensor: 1, ..MODEL }, 4);
        assert_eq!(groups(&experts, 2, Kind::AllToAll).len(), 2 * 4 * 4 * 4);
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        for (model, ranks, key) in [
            (Transformer { tensor: 3, ..MODEL }, 8, "tensor"),
            (Transformer { pipeline: 8, tensor: 1, ..MODEL }, 8, "pipeline"),
            (Transformer { buckets: 3, ..MODEL }, 8, "buckets"),
            (Transformer { expert: 4, ..MODEL }, 8, "expert"),
            (Transformer { iterations: 1_000_000, ..MODEL }, 8, "micro_batches"),
        ] {
            assert_eq!(model.job(ranks, &ways).map(|_| ()).map_err(|(key, _)| key), Err(key));
        }
    }
}
