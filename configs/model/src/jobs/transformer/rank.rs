// SPDX-License-Identifier: GPL-2.0-only
//! What one rank of a transformer in training does.

use super::super::plans::{Asked, Group, Plans, Wrong};
use super::super::schedule::{Phase, Turn};
use super::{BYTES, Buckets, ContextBy, Embeddings, Recompute, Transformer, begin_of_part, part};
use hpcc_core::workload::collective::Kind;
use hpcc_core::workload::{Graph, GraphBuilder, Work};
use std::ops::Range;
use std::sync::Arc;

/// The streams of a GPU: what computes, what reduces gradients, and what gathers parameters; of the latter two, one for what all
/// copies have, and one for divided experts. A stream has the collectives of one group: of two groups, ranks could take them in
/// different orders, and wait for each other for ever.
pub(super) const COMPUTE: u16 = 0;
pub(super) const GRADIENTS: [u16; 2] = [1, 2];
pub(super) const PARAMETERS: [u16; 2] = [3, 4];
/// Tags of keys and values, and of their gradients; messages of stages are between other ranks.
const OF_KEYS: u64 = 0;
const OF_THEIR_GRADIENTS: u64 = 1;

/// One rank's graph in the making.
pub(super) struct Rank<'a, 'b> {
    model: &'a Transformer,
    number: u32,
    copies: u32,
    builder: GraphBuilder,
    /// What the next operation waits for.
    last: u32,
    /// Collectives so far, in an order that all ranks of a group have.
    order: u32,
    plans: &'a mut Plans<'b>,
    /// Servers that a token's experts are in, and ranks of an expert group in each, if tokens go to each server once.
    of_token: Option<(f64, u32)>,
    /// Parameters whose gradients are there and not reduced: of all, and of divided experts.
    pending: [u64; 2],
    /// What reduces gradients, and the parameters of each reduction of the last micro-batch.
    reduced: Vec<u32>,
    shards: Vec<(usize, u64)>,
}

/// Layers that a stage passes behind each other.
struct Chunk {
    /// Among those of all stages, in the order of layers.
    place: u32,
    layers: Range<u32>,
}

/// Half a layer: its attention, or what feeds forward.
struct Half {
    /// Operations of a token's forward pass with weights, and with other tokens.
    linear: u64,
    core: u64,
    has_experts: bool,
}

impl Half {
    fn operations(&self, phase: Phase, recompute: Recompute) -> u64 {
        let again = if recompute == Recompute::Attention { self.core } else { 0 };
        match phase {
            Phase::Forward => self.linear + self.core,
            Phase::Backward => 2 * (self.linear + self.core) + again,
            Phase::Inputs => self.linear + 2 * self.core + again,
            Phase::Weights => self.linear,
        }
    }
}

impl<'a, 'b> Rank<'a, 'b> {
    pub fn new(model: &'a Transformer, number: u32, copies: u32, plans: &'a mut Plans<'b>) -> Rank<'a, 'b> {
        let mut builder = GraphBuilder::default();
        let last = builder.add(Work::Nothing, None);
        let (reduced, shards) = (Vec::new(), Vec::new());
        Rank { model, number, copies, builder, last, order: 0, plans, of_token: None, pending: [0; 2], reduced, shards }
    }

    pub fn graph(mut self) -> Result<Graph, Wrong> {
        self.of_token = self.model.expert_servers.map(|most| self.servers_of_token(most)).transpose()?;
        for iteration in 0..self.model.iterations {
            for turn in self.model.schedule().turns(self.stage()) {
                self.turn(turn)?;
            }
            self.step(iteration)?;
        }
        self.builder.build().map_err(|_| ("kind", "it goes round in a circle".to_owned()))
    }

    fn stage(&self) -> u32 {
        self.number / (self.model.tensor * self.copies)
    }

    /// The rank with the same part of the model in another stage.
    fn in_stage(&self, stage: u32) -> u32 {
        let of_stage = self.model.tensor * self.copies;
        stage * of_stage + self.number % of_stage
    }

    fn tensor_group(&self) -> Arc<[u32]> {
        let first = self.number - self.number % self.model.tensor;
        (first..first + self.model.tensor).collect()
    }

    /// The place of a rank among copies, and the rank of the first one.
    fn copy(&self) -> (u32, u32) {
        let copy = self.number / self.model.tensor % self.copies;
        (copy, self.number - copy * self.model.tensor)
    }

    /// Copies of the same part, those of `count` from the first that is a multiple of it.
    fn data_group(&self, count: u32) -> Arc<[u32]> {
        let (copy, base) = self.copy();
        (copy - copy % count..copy - copy % count + count).map(|copy| base + copy * self.model.tensor).collect()
    }

    /// Every `step`-th copy of `count` neighbours, among them this one.
    fn every(&self, step: u32, count: u32) -> Arc<[u32]> {
        let (copy, base) = self.copy();
        let begin = copy - copy % count;
        (begin + copy % step..begin + count)
            .step_by(step as usize)
            .map(|copy| base + copy * self.model.tensor)
            .collect()
    }

    /// Those with which a rank has the same parameters: all that each copy has, and experts.
    fn same(&self, which: usize) -> (Group, Arc<[u32]>) {
        match which {
            0 => (Group::Data, self.data_group(self.copies)),
            _ => (Group::DataOfExperts, self.every(self.model.expert, self.copies)),
        }
    }

    fn then(&mut self, work: Work, resource: Option<u16>) {
        let node = self.builder.add(work, resource);
        self.builder.require_end(node, self.last);
        self.last = node;
    }

    fn compute(&mut self, operations: u64) {
        self.then(Work::Compute(self.model.time(operations)), Some(COMPUTE));
    }

    /// What follows waits for these, too.
    fn join(&mut self, others: impl IntoIterator<Item = u32>) {
        let node = self.builder.add(Work::Nothing, None);
        self.builder.require_end(node, self.last);
        others.into_iter().for_each(|other| self.builder.require_end(node, other));
        self.last = node;
    }

    /// A collective beside what follows, after an operation.
    fn beside(
        &mut self,
        group: (Group, Arc<[u32]>),
        what: impl Into<Asked>,
        stream: Option<u16>,
        after: u32,
    ) -> Result<Option<u32>, Wrong> {
        self.order += 1;
        self.in_order(self.order, group, what, stream, after)
    }

    fn in_order(
        &mut self,
        order: u32,
        group: (Group, Arc<[u32]>),
        what: impl Into<Asked>,
        stream: Option<u16>,
        after: u32,
    ) -> Result<Option<u32>, Wrong> {
        let Some(collective) = self.plans.collective(order, group, self.number, what)? else { return Ok(None) };
        let node = self.builder.add(Work::Collective(Box::new(collective)), stream);
        self.builder.require_end(node, after);
        Ok(Some(node))
    }

    /// A collective that what follows waits for.
    fn together(&mut self, group: (Group, Arc<[u32]>), what: impl Into<Asked>) -> Result<(), Wrong> {
        self.last = self.beside(group, what, None, self.last)?.unwrap_or(self.last);
        Ok(())
    }

    /// A collective of a micro-batch's activations among tensor-parallel ranks, beside what follows.
    fn among_tensor(&mut self, kind: Kind) -> Result<Option<u32>, Wrong> {
        self.beside((Group::Tensor, self.tensor_group()), (kind, self.model.activations()), None, self.last)
    }

    /// What follows has all of the sequence.
    fn gather_sequence(&mut self) -> Result<(), Wrong> {
        if self.model.sequence_parallel {
            self.last = self.among_tensor(Kind::AllGather)?.unwrap_or(self.last);
        }
        Ok(())
    }

    /// A message comes from another rank before what follows.
    fn receive(&mut self, from: u32, tag: u64) {
        let receive = self.builder.add(Work::Receive { from: Some(from), tag: Some(tag) }, None);
        self.join([receive]);
    }

    /// A message goes to another rank; what follows does not wait.
    fn send(&mut self, to: u32, tag: u64, size: u64) {
        let send = self.builder.add(Work::Send { to, tag, size, channel: 0 }, None);
        self.builder.require_end(send, self.last);
    }

    fn chunk(&self, number: u32) -> Chunk {
        let &Transformer { layers, pipeline, virtual_stages, .. } = self.model;
        let (of_model, place) = (pipeline * virtual_stages, number * pipeline + self.stage());
        let first = begin_of_part(layers, of_model, place);
        Chunk { place, layers: first..first + part(layers, of_model, place) }
    }

    /// How many chunks all stages have.
    fn places(&self) -> u32 {
        self.model.pipeline * self.model.virtual_stages
    }

    /// Parameters of the table of a chunk's tokens in front of its layers, and behind them.
    fn tables(&self, place: u32) -> [u64; 2] {
        let &Transformer { hidden, vocabulary, embeddings, .. } = self.model;
        let (is_first, is_last) = (place == 0, place + 1 == self.places());
        let is_own = !is_first || embeddings == Embeddings::Untied;
        let is_here = [is_first, is_last && is_own].map(|here| here && embeddings != Embeddings::Nothing);
        is_here.map(|here| if here { hidden * vocabulary } else { 0 })
    }

    /// What a stage does with a micro-batch.
    fn turn(&mut self, Turn { phase, chunk, batch }: Turn) -> Result<(), Wrong> {
        let Chunk { place, layers } = self.chunk(chunk);
        let model = self.model;
        let tag = |place: u32, is_back: bool| {
            (u64::from(batch) * u64::from(model.pipeline * model.virtual_stages) + u64::from(place)) << 1
                | u64::from(is_back)
        };
        let (before, behind) = (place.checked_sub(1), Some(place + 1).filter(|&next| next < self.places()));
        let head = if behind.is_none() { 2 * model.hidden * model.vocabulary } else { 0 };
        let (from, to) = match phase {
            Phase::Forward => (before, behind),
            Phase::Backward | Phase::Inputs => (behind, before),
            Phase::Weights => (None, None),
        };
        let is_back = phase != Phase::Forward;
        let mut begun = self.last;
        if let Some(from) = from {
            self.receive(self.in_stage(from % model.pipeline), tag(place, is_back));
        }
        if head > 0 && is_back {
            self.compute(if phase == Phase::Backward { 2 * head } else { head });
        }
        let has_gradients = matches!(phase, Phase::Backward | Phase::Weights);
        let [in_front, at_end] = self.tables(place);
        if has_gradients {
            self.pending[0] += at_end;
        }
        let count = layers.len() as u32;
        for done in 0..count {
            let layer = if is_back { layers.end - 1 - done } else { layers.start + done };
            // The parameters of a layer come while the one before is computed.
            let after = std::mem::replace(&mut begun, self.last);
            if model.zero == 3 && phase != Phase::Weights {
                let more = if done == 0 && !is_back { in_front + at_end } else { 0 };
                self.gather(model.parameters(layer), more, after)?;
            }
            self.layer(phase, layer)?;
            if has_gradients {
                self.grow(layer, if done + 1 == count { in_front } else { 0 });
                self.reduce(place, batch, count, done + 1)?;
            }
        }
        if head > 0 && !is_back {
            self.compute(head);
        }
        if let Some(to) = to {
            // Each tensor-parallel rank has all of a sequence but between layers that divide it.
            let parts = if model.sequence_parallel { u64::from(model.tensor) } else { 1 };
            let size = model.activations() / parts;
            self.send(self.in_stage(to % model.pipeline), tag(to, is_back), size);
        }
        Ok(())
    }

    /// A phase of a layer.
    fn layer(&mut self, phase: Phase, layer: u32) -> Result<(), Wrong> {
        let model = self.model;
        let has_experts = model.has_experts(layer);
        let of_experts = if has_experts { model.expert_parameters() * u64::from(model.top_k) } else { 0 };
        let attention = Half {
            linear: 2 * model.attention_parameters(),
            core: 4 * model.sequence * model.attention_width,
            has_experts: false,
        };
        let linear = 2 * (of_experts + model.common_feed_forward(layer));
        let feed_forward = Half { linear, core: 0, has_experts };
        let halves = [attention, feed_forward];
        if model.recompute == Recompute::Layers && matches!(phase, Phase::Backward | Phase::Inputs) {
            halves.iter().try_for_each(|half| self.half(Phase::Forward, half))?;
        }
        halves.iter().try_for_each(|half| self.half(phase, half))
    }

    fn half(&mut self, phase: Phase, half: &Half) -> Result<(), Wrong> {
        let model = self.model;
        self.gather_sequence()?;
        if phase == Phase::Weights {
            self.compute(half.linear);
            return Ok(());
        }
        // For weights' gradients, what came in forward is gathered again.
        let is_again = model.sequence_parallel && phase == Phase::Backward;
        let inputs = if is_again { self.among_tensor(Kind::AllGather)? } else { None };
        if half.has_experts {
            self.exchange(true)?;
        }
        let all = half.operations(phase, model.recompute);
        let is_late = model.overlap_tensor && phase == Phase::Backward;
        // The gradients of the first weights of the half, behind whose inputs' gradients the sum is.
        let late = if is_late { half.linear / 2 } else { 0 };
        if model.context > 1 && half.core > 0 {
            let of_weights = half.linear * if phase == Phase::Backward { 2 } else { 1 };
            self.compute(of_weights - late);
            self.attend(phase, all - of_weights)?;
        } else {
            self.compute(all - late);
        }
        if half.has_experts {
            self.exchange(false)?;
        }
        let sum = self.among_tensor(if model.sequence_parallel { Kind::ReduceScatter } else { Kind::AllReduce })?;
        if let Some(inputs) = inputs {
            self.join([inputs]);
        }
        match (sum, late) {
            (Some(sum), 0) if inputs.is_none() => self.last = sum,
            (sum, late) => {
                if late > 0 {
                    self.compute(late);
                }
                self.join(sum);
            }
        }
        Ok(())
    }

    /// Attention to keys and values of all context-parallel ranks.
    fn attend(&mut self, phase: Phase, operations: u64) -> Result<(), Wrong> {
        let model = self.model;
        let (count, is_back) = (model.context, phase != Phase::Forward);
        let group = self.data_group(count);
        let size = 2 * model.keys();
        if model.context_by == ContextBy::AllGather {
            let all = size * u64::from(count);
            self.together((Group::Context, group.clone()), (Kind::AllGather, all))?;
            self.compute(operations);
            return if is_back { self.together((Group::Context, group), (Kind::ReduceScatter, all)) } else { Ok(()) };
        }
        let place = self.copy().0 % count;
        let [next, before] = [1, count - 1].map(|ahead| group[((place + ahead) % count) as usize]);
        for step in 0..count {
            let goes_on = step + 1 < count;
            if goes_on {
                self.send(next, OF_KEYS, size);
            }
            self.compute(operations / u64::from(count));
            if is_back {
                if step > 0 {
                    self.receive(before, OF_THEIR_GRADIENTS);
                }
                self.send(next, OF_THEIR_GRADIENTS, size);
            }
            if goes_on {
                self.receive(before, OF_KEYS);
            }
        }
        if is_back {
            self.receive(before, OF_THEIR_GRADIENTS);
        }
        Ok(())
    }

    /// Tokens go to their experts, or results come back.
    fn exchange(&mut self, is_there: bool) -> Result<(), Wrong> {
        let &Transformer { hidden, tensor, expert, top_k, dispatch_bytes, .. } = self.model;
        // A rank alone with all experts sends nothing.
        let once = self.model.tokens() * hidden * if is_there { dispatch_bytes } else { BYTES };
        let exchange = |size| Asked { is_return: !is_there, ..(Kind::AllToAll, size).into() };
        let by_expert = exchange(once * u64::from(top_k) / u64::from(tensor));
        let Some((servers, inside)) = self.of_token else {
            return self.together((Group::Expert, self.data_group(expert)), by_expert);
        };
        let by_server = exchange((once as f64 * servers / f64::from(tensor)).round() as u64);
        let mut both = [
            ((Group::Expert, self.every(inside, expert)), by_server),
            ((Group::ExpertOfServer, self.data_group(inside)), by_expert),
        ];
        if !is_there {
            both.reverse();
        }
        both.into_iter().try_for_each(|(group, what)| self.together(group, what))
    }

    /// In how many servers a token's experts are on average, if it chooses among `most` of them and there all the same, and how many
    /// ranks of an expert group a server has.
    fn servers_of_token(&self, most: u32) -> Result<(f64, u32), Wrong> {
        let &Transformer { expert, experts, top_k, .. } = self.model;
        let group = self.data_group(expert);
        let Some(inside) = self.plans.per_server(&group) else {
            let why = "expected [servers], and as many neighbours of those that divide experts in each, at least 2";
            return Err(("expert_servers", why.to_owned()));
        };
        let all = expert / inside;
        let chosen = most.min(all);
        let each = experts / all;
        let pool = each * chosen;
        if top_k > pool {
            let why = format!("{chosen} servers have {pool} experts, and a token has {top_k}; expected more servers");
            return Err(("expert_servers", why));
        }
        let none = |taken: u32| f64::from((pool - each).saturating_sub(taken)) / f64::from(pool - taken);
        Ok((f64::from(chosen) * (1.0 - (0..top_k).map(none).product::<f64>()), inside))
    }

    /// Gathers parameters of a layer, and of what comes with it, after an operation, before what follows.
    fn gather(&mut self, [of_all, of_experts]: [u64; 2], more: u64, after: u32) -> Result<(), Wrong> {
        let mut gathered = Vec::new();
        for (which, parameters) in [of_all + more, of_experts].into_iter().enumerate() {
            if parameters > 0 {
                let what = (Kind::AllGather, parameters * BYTES / u64::from(self.model.tensor));
                gathered.extend(self.beside(self.same(which), what, Some(PARAMETERS[which]), after)?);
            }
        }
        self.join(gathered);
        Ok(())
    }

    /// The gradients of a layer are there, and of a table.
    fn grow(&mut self, layer: u32, table: u64) {
        let [of_all, of_experts] = self.model.parameters(layer);
        self.pending[0] += of_all + table;
        self.pending[1] += of_experts;
    }

    /// Reduces gradients beside what follows if a bucket of a chunk is full: after the last micro-batch, or after each if ranks keep
    /// only a part of them.
    fn reduce(&mut self, place: u32, batch: u32, layers: u32, done: u32) -> Result<(), Wrong> {
        let model = self.model;
        let is_last = batch + 1 == model.micro_batches;
        let kind = if model.zero == 0 { Kind::AllReduce } else { Kind::ReduceScatter };
        for (which, stream) in GRADIENTS.into_iter().enumerate() {
            let parameters = self.pending[which];
            let is_full = match model.buckets {
                Buckets::Count(buckets) => ends_part(layers, buckets, done),
                Buckets::Parameters(least) => {
                    done == layers || place == 0 && parameters / u64::from(model.tensor) >= least
                }
            };
            if !is_full || parameters == 0 {
                continue;
            }
            self.pending[which] = 0;
            if !is_last && model.zero < 2 {
                continue;
            }
            let what = (kind, parameters * model.gradient_bytes / u64::from(model.tensor));
            let node = self.beside(self.same(which), what, Some(stream), self.last)?;
            self.reduced.extend(node);
            self.shards.extend(is_last.then_some((which, parameters)));
        }
        Ok(())
    }

    /// The end of an iteration: gradients are reduced, and with parts of what optimisers know, parameters are gathered.
    fn step(&mut self, iteration: u32) -> Result<(), Wrong> {
        let model = self.model;
        let reduced = std::mem::take(&mut self.reduced);
        self.join(reduced);
        let last = model.pipeline - 1;
        if model.embeddings == Embeddings::Tied && [0, last].contains(&self.stage()) && last > 0 {
            let table = model.hidden * model.vocabulary * model.gradient_bytes / u64::from(model.tensor);
            let group = [self.in_stage(0), self.in_stage(last)].into();
            // Both stages count it alike, whatever else each has.
            let order = u32::MAX - iteration;
            let node = self.in_order(order, (Group::Tables, group), (Kind::AllReduce, table), None, self.last)?;
            self.join(node);
        }
        let shards = std::mem::take(&mut self.shards);
        if matches!(model.zero, 1 | 2) {
            let mut gathered = Vec::new();
            for (which, parameters) in shards {
                let what = (Kind::AllGather, parameters * BYTES / u64::from(model.tensor));
                gathered.extend(self.beside(self.same(which), what, Some(PARAMETERS[which]), self.last)?);
            }
            self.join(gathered);
        }
        Ok(())
    }
}

/// Whether the first `n` are whole parts, if `whole` is divided into `parts`.
fn ends_part(whole: u32, parts: u32, n: u32) -> bool {
    let (size, longer) = (whole / parts, whole % parts);
    let of_longer = longer * (size + 1);
    if n <= of_longer { n.is_multiple_of(size + 1) } else { (n - of_longer).is_multiple_of(size) }
}
