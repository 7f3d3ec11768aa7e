// SPDX-License-Identifier: MIT OR Apache-2.0
//! ConWeave at the senders' leaf: paths are chosen.

use super::flows::Flows;
use super::shortest_paths::{ShortestPaths, ways};
use super::{Conweave, Header, Role};
use crate::balance::{FlowKey, Passing};
use crate::random::Integers;
use crate::topology::Network;
use crate::units::Nanos;
use alloc::collections::BTreeMap;

/// A flow at its sender's leaf.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    epoch: u32,
    path: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// All packets of the epoch are in order: the next one begins another.
    Settled,
    /// A reply is awaited until this time.
    Asked(Nanos),
    /// Time at which the last packet left on the first path.
    Rerouted(Nanos),
}

/// State of the senders' leaf.
#[derive(Debug)]
pub struct Sender {
    config: Conweave,
    pub(super) ways: BTreeMap<u32, ShortestPaths>,
    /// Until when to avoid a path, by destination leaf and path.
    pub(super) avoided: BTreeMap<(u32, u32), Nanos>,
    /// The newest epoch of any flow, so that a flow that was forgotten has no epoch twice.
    epoch: u32,
    outgoing: Flows<Outgoing>,
}

impl Sender {
    pub fn new(config: &Conweave, network: &Network, switch: u32, has_hosts: bool) -> Sender {
        Sender {
            config: config.clone(),
            ways: if has_hosts { ways(network, switch) } else { BTreeMap::new() },
            avoided: BTreeMap::new(),
            epoch: 0,
            outgoing: Flows::default(),
        }
    }

    /// The first of two paths that is not avoided; without one the present path, if there is any.
    pub(super) fn draw(
        &self,
        to: u32,
        ways: &ShortestPaths,
        present: Option<u32>,
        now: Nanos,
        rand: &mut Integers,
    ) -> u32 {
        let drawn = [(); 2].map(|()| rand.draw() % ways.paths);
        let is_good = |path: &u32| self.avoided.get(&(to, *path)).is_none_or(|&until| until <= now);
        drawn.into_iter().find(is_good).or(present).unwrap_or(drawn[0])
    }

    /// A packet of an own host goes to another leaf, by a path if one is known.
    pub fn send(&mut self, passing: &mut Passing<'_>, to: u32) -> Option<Header> {
        let &mut Passing { now, key, hops, .. } = passing;
        let ways = self.ways.get(&to).copied().filter(|_| !hops.is_empty())?;
        let known = self.outgoing.get(&key);
        let goes_on = known.filter(|&(last, _)| now - last <= self.config.conweave_expiry);
        let mut flow = goes_on.map_or_else(
            || {
                let path = self.draw(to, &ways, known.map(|(_, flow)| flow.path), now, passing.rand);
                Outgoing { epoch: 0, path, phase: Phase::Settled }
            },
            |(_, flow)| flow,
        );
        let path = flow.path;
        let role = match flow.phase {
            Phase::Settled => {
                self.epoch += 1;
                flow.epoch = self.epoch;
                flow.phase = Phase::Asked(now + ways.delay + ways.delay + self.config.conweave_reply_extra);
                Role::Init
            }
            Phase::Asked(until) if now > until => {
                flow.path = self.draw(to, &ways, Some(path), now, passing.rand);
                flow.phase = Phase::Rerouted(now);
                Role::Tail
            }
            Phase::Asked(_) => Role::Data,
            Phase::Rerouted(_) => Role::Rerouted,
        };
        self.outgoing.put(key, now, flow, self.config.conweave_expiry);
        let tail = if let Phase::Rerouted(tail) = flow.phase { tail } else { Nanos(0) };
        Some(Header { role, epoch: flow.epoch, path, rest: path, sent: now, tail })
    }

    /// An answer of a leaf has come.
    pub fn hear(&mut self, passing: &Passing<'_>, header: &Header, from: u32) {
        let &Passing { now, key, .. } = passing;
        if header.role == Role::Notify {
            self.avoided.insert((from, header.path), now + self.config.conweave_path_pause);
            return;
        }
        let key =
            FlowKey { src_address: key.dst_address, dst_address: key.src_address, sport: key.dport, dport: key.sport };
        let Some(flow) = self.outgoing.get_mut(&key).filter(|flow| flow.epoch == header.epoch) else { return };
        let settles = match flow.phase {
            Phase::Asked(until) => header.role == Role::InitReply && now < until,
            Phase::Rerouted(_) => header.role == Role::TailReply,
            Phase::Settled => false,
        };
        if settles {
            flow.phase = Phase::Settled;
        }
    }
}
