// SPDX-License-Identifier: GPL-2.0-only
//! What one rank of a replica does.

use super::super::plans::{Asked, Group, Plans, Wrong};
use super::batches::{Batches, Step};
use super::{Inference, Pass, Request};
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use hpcc_core::workload::{Graph, GraphBuilder, Work};
use std::sync::Arc;

/// One rank's graph in the making.
pub(super) struct Rank<'a, 'b> {
    model: &'a Inference,
    number: u32,
    builder: GraphBuilder,
    /// What the next operation waits for.
    last: u32,
    /// Collectives so far, in an order that all ranks of a group have.
    order: u32,
    plans: &'a mut Plans<'b>,
}

impl<'a, 'b> Rank<'a, 'b> {
    pub fn new(model: &'a Inference, number: u32, plans: &'a mut Plans<'b>) -> Rank<'a, 'b> {
        let mut builder = GraphBuilder::default();
        let last = builder.add(Work::Nothing, None);
        Rank { model, number, builder, last, order: 0, plans }
    }

    pub fn graph(mut self, requests: &[Request], batches: &Batches) -> Result<Graph, Wrong> {
        let replica = self.number / self.model.ranks();
        match replica.checked_sub(self.model.prefill) {
            None => self.prefill(replica, requests)?,
            Some(replica) => batches.0[replica as usize].iter().try_for_each(|step| self.step(requests, step))?,
        }
        self.builder.build().map_err(|_| ("kind", "it goes round in a circle".to_owned()))
    }

    /// Prompts one behind the other, each when it has come.
    fn prefill(&mut self, replica: u32, requests: &[Request]) -> Result<(), Wrong> {
        for (request, number) in requests.iter().zip(0..).filter(|(request, _)| request.prefill == replica) {
            let arrival = self.builder.add(Work::Wait(request.arrival), None);
            self.join(&[arrival]);
            self.pass(Pass::prompt(request.prompt))?;
            let [first, last] = Request::marks(number);
            self.mark(first);
            match request.decode {
                None => self.mark(last),
                Some(decode) => {
                    let to = (self.model.prefill + decode) * self.model.ranks() + self.place();
                    let send = Work::Send { to, tag: number.into(), size: self.share(request), channel: 0 };
                    let send = self.builder.add(send, None);
                    self.builder.require_end(send, self.last);
                }
            }
        }
        Ok(())
    }

    /// A step of a decode replica.
    fn step(&mut self, requests: &[Request], step: &Step) -> Result<(), Wrong> {
        let from = |request: u32| requests[request as usize].prefill * self.model.ranks() + self.place();
        let receive = |&request: &u32| Work::Receive { from: Some(from(request)), tag: Some(request.into()) };
        let receives: Vec<Work> = step.joins.iter().map(receive).collect();
        let receives: Vec<u32> = receives.into_iter().map(|work| self.builder.add(work, None)).collect();
        self.join(&receives);
        self.pass(step.pass)?;
        step.ends.iter().for_each(|&request| self.mark(Request::marks(request)[1]));
        Ok(())
    }

    /// The place of the rank in its replica.
    fn place(&self) -> u32 {
        self.number % self.model.ranks()
    }

    /// The part of a request's keys and values that the rank sends.
    fn share(&self, request: &Request) -> u64 {
        let copies = self.model.copies();
        let (whole, parts) = (u128::from(self.model.kv(request.prompt)), u128::from(self.model.ranks() / copies));
        let before = |part: u32| (whole * u128::from(part) / parts) as u64;
        let part = self.place() / copies;
        before(part + 1) - before(part)
    }

    /// All layers.
    fn pass(&mut self, pass: Pass) -> Result<(), Wrong> {
        let times = self.model.times(pass);
        if self.model.is_alone() {
            let layers = (times.attention.0 + times.feed_forward.0).saturating_mul(self.model.layers.into());
            self.compute(Nanos(layers.saturating_add(times.head.0)).min(Nanos::LONGEST));
            return Ok(());
        }
        let tensor = (Group::Tensor, self.tensor_group());
        let expert = (Group::Expert, self.expert_group());
        let (reduce, dispatch) = (self.model.reduced(pass), self.model.dispatched(pass));
        let exchange = |is_return| Asked { is_return, ..(Kind::AllToAll, dispatch).into() };
        for _ in 0..self.model.layers {
            self.compute(times.attention);
            self.together(tensor.clone(), (Kind::AllReduce, reduce))?;
            self.together(expert.clone(), exchange(false))?;
            self.compute(times.feed_forward);
            self.together(expert.clone(), exchange(true))?;
            self.together(tensor.clone(), (Kind::AllReduce, reduce))?;
        }
        if times.head > Nanos(0) {
            self.compute(times.head);
        }
        Ok(())
    }

    fn tensor_group(&self) -> Arc<[u32]> {
        let first = self.number - self.number % self.model.tensor;
        (first..first + self.model.tensor).collect()
    }

    /// Ranks at the same place of all groups of the replica.
    fn expert_group(&self) -> Arc<[u32]> {
        let first = self.number - self.place() + self.number % self.model.tensor;
        (0..self.model.expert).map(|group| first + group * self.model.tensor).collect()
    }

    fn then(&mut self, work: Work) {
        let node = self.builder.add(work, None);
        self.builder.require_end(node, self.last);
        self.last = node;
    }

    fn compute(&mut self, time: Nanos) {
        self.then(Work::Compute(time));
    }

    fn mark(&mut self, mark: u32) {
        self.then(Work::Mark(mark));
    }

    /// What follows waits for these, too.
    fn join(&mut self, others: &[u32]) {
        if others.is_empty() {
            return;
        }
        let node = self.builder.add(Work::Nothing, None);
        self.builder.require_end(node, self.last);
        others.iter().for_each(|&other| self.builder.require_end(node, other));
        self.last = node;
    }

    /// A collective that what follows waits for; none where a rank is alone.
    fn together(&mut self, group: (Group, Arc<[u32]>), what: impl Into<Asked>) -> Result<(), Wrong> {
        self.order += 1;
        if let Some(collective) = self.plans.collective(self.order, group, self.number, what)? {
            self.then(Work::Collective(Box::new(collective)));
        }
        Ok(())
    }
}
