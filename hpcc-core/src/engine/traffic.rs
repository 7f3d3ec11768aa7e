// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows that begin or end at a host.

use super::hash_order::HashOrder;
use super::ways::Way;
use super::work::{Arrivals, Incoming};
use crate::cc::FlowLimits;
use crate::node::NodeSettings;
use crate::transport::QueuePairs;
use crate::units::{BitRate, Nanos};
use crate::workload::Message;
use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The size of a flow that has no end. Nobody sends so much.
pub const ENDLESS: u64 = 1 << 53;

/// What a flow has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowOptions {
    /// The port of its host by which it leaves, counted from 0, while that leads to its destination; else a hash chooses.
    pub nic: Option<u8>,
    /// It sends as if the port had no higher rate.
    pub rate: BitRate,
    /// When it sends its last packet, even if that is not all.
    pub stop: Nanos,
}

impl FlowOptions {
    /// Nothing.
    pub const NONE: FlowOptions = FlowOptions { nic: None, rate: BitRate(u64::MAX), stop: Nanos(u64::MAX) };
}

/// A flow that is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowRequest {
    /// A number by which its completion is known.
    pub id: u32,
    /// Source host.
    pub src: u32,
    /// Destination host, another one.
    pub dst: u32,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group, 0 to 7.
    pub priority: u8,
    /// Bytes; at least 1.
    pub size: u64,
    /// When it begins.
    pub start: Nanos,
    /// What it has for itself. If that is anything, it shares its queue pair with no other.
    pub options: FlowOptions,
}

impl FlowRequest {
    /// A job's message.
    pub(super) fn of(message: &Message) -> FlowRequest {
        let &Message { id, src, dst, dport, priority, size, .. } = message;
        FlowRequest { id, src, dst, dport, priority, size, start: Nanos(0), options: FlowOptions::NONE }
    }
}

/// A flow that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Started {
    /// What was asked for; it began at `start`.
    pub request: FlowRequest,
    /// UDP source port.
    pub sport: u16,
    /// Its queue pair at its source, or [`WAITING`].
    pub queue_pair: u32,
    /// Number of its first byte there.
    pub first_seq: u64,
}

/// No queue pair yet: it is opened when it is its turn to send. It is the one that messages between the two hosts share.
pub const WAITING: u32 = u32::MAX;

/// A flow that has finished: its last byte is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Completion {
    /// What was asked for; it began at `start`.
    pub request: FlowRequest,
    /// UDP source port.
    pub sport: u16,
    /// From its start to its last acknowledgement.
    pub duration: Nanos,
    /// Whether its congestion control ever moved rate or window, or decides nothing.
    pub is_steered: bool,
}

/// A message under way, and what a job knows of it.
#[derive(Debug)]
pub(super) struct Posted {
    pub request: FlowRequest,
    /// Number of its first byte on the queue pair.
    pub first_seq: u64,
    pub message: Option<Message>,
}

/// The receiving end of a queue pair that is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiving {
    pub receiver: u32,
    pub sport: u16,
    /// The port by which the other end sends, and what its controller is given.
    pub nic: u16,
    pub limits: FlowLimits,
}

/// The same as it is kept until then.
#[derive(Debug)]
struct Prepared {
    receiver: u32,
    sport: u16,
    nic: u16,
    /// The place of its limits among those of the host.
    limits: u32,
    /// How many messages will take it, if that is known.
    messages: Option<u32>,
    /// The first of these waits for its turn.
    is_posted: bool,
}

/// A queue pair that sends.
#[derive(Debug)]
pub(super) struct Sending {
    pub key: u32,
    /// Messages under way, the first to finish first.
    pub messages: VecDeque<Posted>,
    /// How many follow, if that is known.
    pub left: Option<u32>,
    pub sport: u16,
    pub dst: u32,
    pub dport: u16,
    /// Queue pair at the destination.
    pub receiver: u32,
    pub flow_key: u64,
    pub timers: [Option<u32>; u8::BITS as usize],
    /// The way of its data.
    pub way: Way,
}

/// The flows that begin or end at a host.
#[derive(Debug)]
pub(super) struct Traffic {
    pub shares_queue_pairs: bool,
    pub global_rtt: bool,
    /// By the place of their key.
    pub sending: Vec<Option<Sending>>,
    /// Queue pairs in the order in which new routes are given to them.
    pub by_flow_key: HashOrder,
    /// Queue pairs that messages to a host, of a priority and port, share.
    pub shareable: BTreeMap<(u32, u8, u16), u32>,
    /// Receiving ends of those that will be shared, before the first message.
    prepared: BTreeMap<(u32, u8, u16), Prepared>,
    /// What their controllers are given.
    limits: Vec<FlowLimits>,
    /// By port: first messages of queue pairs, in turn, and when they were posted. Nobody else will send on these.
    pub unopened: Vec<VecDeque<(Message, Nanos)>>,
    /// Ranks of jobs are here.
    pub has_ranks: bool,
    /// Messages of jobs on their way here, by receiving queue pair.
    incoming: BTreeMap<u32, Arrivals>,
    /// Source host and port of what arrives by each receiving queue pair.
    pub arriving: BTreeMap<u32, (u32, u16)>,
    /// The ways of answers, by the place of the receiving queue pair's key.
    pub ways_back: Vec<Way>,
    /// Ports of each source host that flows to here use.
    pub source_ports: BTreeMap<u32, SourcePorts>,
}

pub(super) const PLACES: u32 = (1 << 20) - 1;

impl Traffic {
    pub fn new(settings: &NodeSettings) -> Traffic {
        Traffic {
            shares_queue_pairs: settings.transport.queue_pairs == QueuePairs::PerPair,
            global_rtt: settings.transport.global_rtt,
            sending: Vec::new(),
            by_flow_key: HashOrder::default(),
            shareable: BTreeMap::new(),
            prepared: BTreeMap::new(),
            limits: Vec::new(),
            unopened: Vec::new(),
            has_ranks: false,
            incoming: BTreeMap::new(),
            arriving: BTreeMap::new(),
            ways_back: Vec::new(),
            source_ports: BTreeMap::new(),
        }
    }

    pub fn get(&mut self, queue_pair: u32) -> Option<&mut Sending> {
        let sending = self.sending.get_mut((queue_pair & PLACES) as usize)?.as_mut();
        sending.filter(|sending| sending.key == queue_pair)
    }

    /// The alarm of a queue pair's timer.
    #[inline]
    pub fn timer(&mut self, queue_pair: u32, timer: u8) -> Option<&mut Option<u32>> {
        self.get(queue_pair)?.timers.get_mut(usize::from(timer))
    }

    /// The message of a queue pair that finishes next.
    pub fn first(&mut self, queue_pair: u32) -> Option<FlowRequest> {
        self.get(queue_pair)?.messages.front().map(|posted| posted.request)
    }

    /// The way of a queue pair's data.
    #[inline]
    pub fn way(&mut self, queue_pair: u32) -> Option<&mut Way> {
        self.get(queue_pair).map(|sending| &mut sending.way)
    }

    /// The way of answers of a receiving queue pair.
    #[inline]
    pub fn way_back(&mut self, receiver: u32) -> &mut Way {
        let place = (receiver & PLACES) as usize;
        if self.ways_back.len() <= place {
            self.ways_back.resize(place + 1, Way::default());
        }
        &mut self.ways_back[place]
    }

    /// A message will arrive by a receiving queue pair, behind those that are on their way.
    pub fn expect(&mut self, receiver: u32, incoming: Incoming) {
        // Seldom are there several.
        self.incoming.entry(receiver).or_insert_with(|| VecDeque::with_capacity(1)).push_back(incoming);
    }

    /// The first message on its way, if all before byte `expected` have arrived and that is its last.
    pub fn take_arrived(&mut self, receiver: u32, expected: u64) -> Option<Message> {
        self.take_if(receiver, 0, |incoming| incoming.end <= expected)
    }

    /// The message on its way that byte `seq` is of, if all of it has arrived.
    pub fn take_early(&mut self, receiver: u32, seq: u64, is_whole: impl Fn(u64, u64) -> bool) -> Option<Message> {
        let place = self.incoming.get(&receiver)?.partition_point(|incoming| incoming.end <= seq);
        self.take_if(receiver, place, |&Incoming { end, message }| {
            let start = end.saturating_sub(message.size);
            start <= seq && is_whole(start, end)
        })
    }

    fn take_if(&mut self, receiver: u32, place: usize, is_here: impl Fn(&Incoming) -> bool) -> Option<Message> {
        let Entry::Occupied(mut arrivals) = self.incoming.entry(receiver) else { return None };
        arrivals.get().get(place).filter(|&incoming| is_here(incoming))?;
        let message = arrivals.get_mut().remove(place)?.message;
        if arrivals.get().is_empty() {
            arrivals.remove();
        }
        Some(message)
    }

    /// Nothing more arrives by a receiving queue pair.
    pub fn expect_nothing(&mut self, receiver: u32) {
        self.incoming.remove(&receiver);
    }

    /// Whether messages to a host, of a priority and port, have a queue pair, or will have.
    pub fn has_queue_pair(&self, key: (u32, u8, u16)) -> bool {
        self.shareable.contains_key(&key) || self.prepared.contains_key(&key)
    }

    /// Keeps a receiving end until the first message, of so many if that is known.
    pub fn prepare(&mut self, key: (u32, u8, u16), receiving: Receiving, messages: Option<u32>) {
        let Receiving { receiver, sport, nic, limits } = receiving;
        // Of a host's queue pairs most are alike.
        let recent = self.limits.len().saturating_sub(16);
        let known = self.limits[recent..].iter().position(|&known| known == limits);
        let place = recent + known.unwrap_or(self.limits.len() - recent);
        if known.is_none() {
            self.limits.push(limits);
        }
        self.prepared.insert(key, Prepared { receiver, sport, nic, limits: place as u32, messages, is_posted: false });
    }

    /// The port and source port of a prepared queue pair that nobody sees or shares, and whether its first message waits.
    pub fn unseen(&self, key: (u32, u8, u16)) -> Option<(u16, u16, bool)> {
        let prepared = self.prepared.get(&key).filter(|prepared| prepared.messages.is_some())?;
        Some((prepared.nic, prepared.sport, prepared.is_posted))
    }

    /// Its first message waits until it is its turn at the port.
    pub fn wait_to_open(&mut self, nic: u16, message: Message, start: Nanos) {
        if let Some(prepared) = self.prepared.get_mut(&(message.dst, message.priority, message.dport)) {
            prepared.is_posted = true;
        }
        let place = usize::from(nic);
        if self.unopened.len() <= place {
            self.unopened.resize_with(place + 1, VecDeque::new);
        }
        self.unopened[place].push_back((message, start));
    }

    /// The first message that waits at a port, and whether it was the last.
    pub fn next_unopened(&mut self, nic: u16) -> Option<(Message, Nanos, bool)> {
        let waiting = self.unopened.get_mut(usize::from(nic))?;
        let (message, start) = waiting.pop_front()?;
        if waiting.is_empty() {
            *waiting = VecDeque::new();
        }
        Some((message, start, waiting.is_empty()))
    }

    /// Takes what was kept.
    pub fn take_prepared(&mut self, key: (u32, u8, u16)) -> Option<(Receiving, Option<u32>)> {
        let Prepared { receiver, sport, nic, limits, messages, is_posted: _ } = self.prepared.remove(&key)?;
        Some((Receiving { receiver, sport, nic, limits: self.limits[limits as usize] }, messages))
    }

    /// All queue pairs that send, in order, with what ECMP hashes of them.
    pub fn queue_pairs(&self) -> Vec<u32> {
        self.by_flow_key.values()
    }
}

/// UDP source ports, from 10000 on; a port is used again when its turn comes and it is free.
#[derive(Debug)]
pub(super) struct SourcePorts {
    next: u16,
    /// How many flows use each, beyond the first; sorted. In a job most pairs of hosts have one.
    in_use: SmallVec<[(u16, u32); 2]>,
}

const FIRST_PORT: u16 = 10_000;

impl Default for SourcePorts {
    fn default() -> SourcePorts {
        SourcePorts { next: FIRST_PORT, in_use: SmallVec::new() }
    }
}

impl SourcePorts {
    fn find(&self, port: u16) -> Result<usize, usize> {
        self.in_use.binary_search_by_key(&port, |&(port, _)| port)
    }

    pub fn take(&mut self) -> u16 {
        let all = usize::from(u16::MAX - FIRST_PORT) + 1;
        while self.in_use.len() < all && self.find(self.next).is_ok() {
            self.advance();
        }
        let port = self.next;
        match self.find(port) {
            Ok(place) => self.in_use[place].1 += 1,
            Err(place) => self.in_use.insert(place, (port, 0)),
        }
        self.advance();
        port
    }

    fn advance(&mut self) {
        self.next = self.next.checked_add(1).unwrap_or(FIRST_PORT);
    }

    pub fn give_back(&mut self, port: u16) {
        match self.find(port).map(|place| (place, &mut self.in_use[place].1)) {
            Ok((place, 0)) => _ = self.in_use.remove(place),
            Ok((_, more)) => *more -= 1,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_port_is_two_flows_unless_all_are_in_use() {
        let mut ports = SourcePorts { next: FIRST_PORT, in_use: SmallVec::new() };
        assert!((FIRST_PORT..=u16::MAX).all(|port| ports.take() == port), "all of them, in turn");
        assert_eq!(ports.take(), FIRST_PORT, "all are in use: two share it");
        ports.give_back(FIRST_PORT);
        assert_eq!(ports.take(), FIRST_PORT + 1, "it is still one flow's");
        [10_001, 65_535, 20_000, 30_000].into_iter().for_each(|port| ports.give_back(port));
        // The second flow of 10001 has it still.
        assert_eq!([(); 3].map(|()| ports.take()), [20_000, 30_000, 65_535], "the next that is free");
    }
}
