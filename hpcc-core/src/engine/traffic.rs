// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows that begin or end at a host.

use super::fifo::Fifo;
use super::hash_order::HashOrder;
use super::paths::KnownPath;
use super::work::Incoming;
use crate::cc::FlowLimits;
use crate::ids::AlarmId;
use crate::recurrence::recurs;
use crate::transport::TransportConfig;
use crate::units::{BitRate, Nanos};
use crate::workload::{Arrival, Message, Sent};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::ops::Bound;

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
    /// The number of its [congestion control](super::Engine::add_control); `None`: it has its host's.
    pub control: Option<u16>,
}

impl FlowOptions {
    /// Nothing.
    pub const NONE: FlowOptions =
        FlowOptions { nic: None, rate: BitRate(u64::MAX), stop: Nanos(u64::MAX), control: None };

    /// Nothing but a port.
    pub const fn by(nic: Option<u8>) -> FlowOptions {
        FlowOptions { nic, ..FlowOptions::NONE }
    }
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
    /// What it has for itself. If that is anything, a listed flow shares its queue pair with no other; messages of a job that share
    /// one all have the same.
    pub options: FlowOptions,
}

impl FlowRequest {
    /// A job's message.
    pub(super) fn of(message: &Message) -> FlowRequest {
        let &Message { id, src, dst, dport, priority, size, nic, .. } = message;
        FlowRequest { id, src, dst, dport, priority, size, start: Nanos(0), options: FlowOptions::by(nic) }
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

/// A flow that has finished: its last byte is acknowledged, and has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Completion {
    /// What was asked for; it began at `start`.
    pub request: FlowRequest,
    /// UDP source port.
    pub sport: u16,
    /// From its start to its last acknowledgement, whatever others were forged.
    pub duration: Nanos,
    /// Whether its congestion control ever moved rate or window, or decides nothing.
    pub is_steered: bool,
}

/// Flows of one key share a queue pair: as those of one of NCCL's communicators do, and of no two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairKey {
    dst: u32,
    /// The job whose messages they are, or [`LISTED`].
    job: u32,
    dport: u16,
    priority: u8,
}

/// Of no job.
pub(super) const LISTED: u32 = u32::MAX;

impl PairKey {
    pub fn of(request: &FlowRequest, job: u32) -> PairKey {
        let &FlowRequest { dst, dport, priority, .. } = request;
        PairKey { dst, job, dport, priority }
    }
}

/// A flow that has begun, on its queue pair.
#[derive(Debug)]
pub(super) struct Posted {
    pub size: u64,
    pub start: Nanos,
    /// Number of its first byte on the queue pair.
    pub first_seq: u64,
    pub owner: Owner,
}

/// Whose a flow is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// It was listed, with this number.
    Listed(u32),
    /// A job's message.
    Job(Sent),
}

impl Owner {
    pub fn of(request: &FlowRequest, message: Option<&Message>) -> Owner {
        message.map_or(Owner::Listed(request.id), |message| Owner::Job(message.sent()))
    }

    /// The number of the flow.
    pub fn id(&self) -> u32 {
        match self {
            Owner::Listed(id) => *id,
            Owner::Job(sent) => sent.id,
        }
    }
}

/// The receiving end of a queue pair that is to be.
#[derive(Clone, Debug)]
pub(super) struct Receiving {
    pub receiver: u32,
    pub sport: u16,
    /// The port by which the other end sends, and what its controller is given.
    pub nic: u16,
    pub limits: Arc<FlowLimits>,
}

/// The same as it is kept until then.
#[derive(Debug)]
struct Prepared {
    receiving: Receiving,
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
    pub messages: Fifo<Posted>,
    /// How many follow, if that is known.
    pub left: Option<u32>,
    pub sport: u16,
    pub dst: u32,
    pub dport: u16,
    pub priority: u8,
    /// What its flows have for themselves, if that is anything.
    pub options: Option<Box<FlowOptions>>,
    /// Queue pair at the destination.
    pub receiver: u32,
    pub flow_key: u64,
    pub timers: [PendingAlarm; u8::BITS as usize],
    /// The path of its data.
    pub path: KnownPath,
}

impl Sending {
    /// What was asked for of a flow, which host `src` sends.
    pub fn request(&self, src: u32, posted: &Posted) -> FlowRequest {
        let &Sending { dst, dport, priority, .. } = self;
        let &Posted { size, start, ref owner, .. } = posted;
        let options = self.options.as_deref().copied().unwrap_or(FlowOptions::NONE);
        FlowRequest { id: owner.id(), src, dst, dport, priority, size, start, options }
    }
}

/// An alarm that is set, if one is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingAlarm(Option<NonZeroU32>);

impl PendingAlarm {
    pub fn set(&mut self, alarm: AlarmId) {
        self.0 = NonZeroU32::new(alarm.0 + 1);
    }

    pub fn take(&mut self) -> Option<AlarmId> {
        Some(AlarmId(self.0.take()?.get() - 1))
    }
}

/// Where what arrives by a receiving queue pair comes from.
#[derive(Debug, Default)]
struct Source {
    host: u32,
    /// While it is open.
    port: Option<u16>,
    /// The path of answers.
    path_back: KnownPath,
}

/// The flows that begin or end at a host.
#[derive(Debug)]
pub(super) struct Traffic {
    /// Whether listed flows share queue pairs, and whether messages of jobs do.
    shares: [bool; 2],
    pub global_rtt: bool,
    /// By the place of their key.
    pub sending: Vec<Option<Sending>>,
    /// Queue pairs in the order in which new routes are given to them.
    pub by_flow_key: HashOrder,
    /// Queue pairs that flows share.
    pub shareable: BTreeMap<PairKey, u32>,
    /// Receiving ends of those that will be shared, before the first message.
    prepared: BTreeMap<PairKey, Prepared>,
    /// By port: first messages of queue pairs, in turn, and when they were posted. Nobody else will send on these.
    pub unopened: Vec<VecDeque<(Message, Nanos)>>,
    /// Ranks of jobs are here.
    pub has_ranks: bool,
    /// Messages of jobs on their way here, by receiving queue pair and the number behind their last byte.
    incoming: BTreeMap<(u32, u64), Incoming>,
    /// By the place of their keys.
    receiving: Vec<Source>,
    /// Ports of each source host that flows to here use.
    source_ports: BTreeMap<u32, SourcePorts>,
}

pub(super) const PLACES: u32 = (1 << 20) - 1;

impl Traffic {
    pub fn new(transport: &TransportConfig) -> Traffic {
        Traffic {
            shares: [false, true].map(|is_of_job| transport.shares_queue_pairs(is_of_job)),
            global_rtt: transport.global_rtt,
            sending: Vec::new(),
            by_flow_key: HashOrder::default(),
            shareable: BTreeMap::new(),
            prepared: BTreeMap::new(),
            unopened: Vec::new(),
            has_ranks: false,
            incoming: BTreeMap::new(),
            receiving: Vec::new(),
            source_ports: BTreeMap::new(),
        }
    }

    /// Whether flows share queue pairs: messages of jobs, or those that were listed.
    pub fn shares_queue_pairs(&self, is_of_job: bool) -> bool {
        self.shares[usize::from(is_of_job)]
    }

    pub fn get(&mut self, queue_pair: u32) -> Option<&mut Sending> {
        let sending = self.sending.get_mut((queue_pair & PLACES) as usize)?.as_mut();
        sending.filter(|sending| sending.key == queue_pair)
    }

    /// The key of the receiving end of a queue pair.
    pub fn receiver_of(&self, queue_pair: u32) -> Option<u32> {
        let sending = self.sending.get((queue_pair & PLACES) as usize)?.as_ref();
        sending.filter(|sending| sending.key == queue_pair).map(|sending| sending.receiver)
    }

    /// The alarm of a queue pair's timer.
    #[inline]
    pub fn timer(&mut self, queue_pair: u32, timer: u8) -> Option<&mut PendingAlarm> {
        self.get(queue_pair)?.timers.get_mut(usize::from(timer))
    }

    /// The number of the flow of a queue pair that finishes next.
    pub fn first(&mut self, queue_pair: u32) -> Option<u32> {
        self.get(queue_pair)?.messages.front().map(|posted| posted.owner.id())
    }

    /// The path of a queue pair's data.
    #[inline]
    pub fn path(&mut self, queue_pair: u32) -> Option<&mut KnownPath> {
        self.get(queue_pair).map(|sending| &mut sending.path)
    }

    /// The path of answers of a receiving queue pair.
    #[inline]
    pub fn path_back(&mut self, receiver: u32) -> &mut KnownPath {
        &mut self.source(receiver).path_back
    }

    #[inline]
    fn source(&mut self, receiver: u32) -> &mut Source {
        let place = (receiver & PLACES) as usize;
        if self.receiving.len() <= place {
            self.receiving.resize_with(place + 1, Source::default);
        }
        &mut self.receiving[place]
    }

    /// The source port of a queue pair from a host, perhaps as [`wrapping_ports`] has it.
    ///
    /// [`wrapping_ports`]: crate::reference_faults::ReferenceFaults::wrapping_ports
    pub fn take_port(&mut self, src: u32, wraps: bool) -> u16 {
        let ports = self.source_ports.entry(src).or_default();
        if wraps { ports.count_on() } else { ports.take() }
    }

    /// A receiving queue pair is open for what comes from there.
    pub fn note_source(&mut self, receiver: u32, src: u32, sport: u16) {
        let source = self.source(receiver);
        (source.host, source.port) = (src, Some(sport));
    }

    /// A receiving queue pair is closed.
    pub fn close_receiving(&mut self, receiver: u32) {
        let &mut Source { host, ref mut port, .. } = self.source(receiver);
        if let Some((port, ports)) = port.take().zip(self.source_ports.get_mut(&host)) {
            ports.give_back(port);
        }
        // Nothing more arrives.
        while self.take_arrived(receiver, u64::MAX).is_some() {}
    }

    /// A message will arrive by a receiving queue pair, up to a sequence number.
    pub fn expect(&mut self, (receiver, end): (u32, u64), incoming: Incoming) {
        self.incoming.insert((receiver, end), incoming);
    }

    /// The first message on its way, if all before byte `expected` have arrived and that is its last.
    pub fn take_arrived(&mut self, receiver: u32, expected: u64) -> Option<Arrival> {
        let place = *self.incoming.range((receiver, 0)..=(receiver, expected)).next()?.0;
        self.incoming.remove(&place).map(|incoming| incoming.arrival)
    }

    /// The message on its way that byte `seq` is of, if all of it has arrived.
    pub fn take_early(&mut self, receiver: u32, seq: u64, is_whole: impl Fn(u64, u64) -> bool) -> Option<Arrival> {
        let behind = (Bound::Excluded((receiver, seq)), Bound::Included((receiver, u64::MAX)));
        let (&place, &Incoming { size, .. }) = self.incoming.range(behind).next()?;
        let (start, end) = (place.1.saturating_sub(size), place.1);
        (start <= seq && is_whole(start, end)).then(|| self.incoming.remove(&place))?.map(|incoming| incoming.arrival)
    }

    /// Whether flows have a queue pair, or will have.
    pub fn has_queue_pair(&self, key: PairKey) -> bool {
        self.shareable.contains_key(&key) || self.prepared.contains_key(&key)
    }

    /// Keeps a receiving end until the first message, of so many if that is known.
    pub fn prepare(&mut self, key: PairKey, receiving: Receiving, messages: Option<u32>) {
        self.prepared.insert(key, Prepared { receiving, messages, is_posted: false });
    }

    /// The port and source port of a prepared queue pair that nobody sees or shares, and whether its first message waits.
    pub fn unseen(&self, key: PairKey) -> Option<(u16, u16, bool)> {
        let prepared = self.prepared.get(&key).filter(|prepared| prepared.messages.is_some())?;
        Some((prepared.receiving.nic, prepared.receiving.sport, prepared.is_posted))
    }

    /// Its first message waits until it is its turn at the port.
    pub fn wait_to_open(&mut self, nic: u16, key: PairKey, message: Message, start: Nanos) {
        if let Some(prepared) = self.prepared.get_mut(&key) {
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
        if waiting.len() < waiting.capacity() / 4 {
            waiting.shrink_to(2 * waiting.len());
        }
        Some((message, start, waiting.is_empty()))
    }

    /// Takes what was kept.
    pub fn take_prepared(&mut self, key: PairKey) -> Option<(Receiving, Option<u32>)> {
        let Prepared { receiving, messages, is_posted: _ } = self.prepared.remove(&key)?;
        Some((receiving, messages))
    }

    /// All queue pairs that send, in order, with what ECMP hashes of them.
    pub fn queue_pairs(&self) -> Vec<u32> {
        self.by_flow_key.values()
    }
}

/// UDP source ports, from 10000 on; a port is used again when its turn comes and it is free.
#[derive(Debug)]
pub struct SourcePorts {
    next: u16,
    /// Of one flow: in a job most pairs of hosts have no other.
    first: Option<u16>,
    /// How many others use each.
    #[expect(clippy::box_collection, reason = "a pointer takes a third of the room")]
    others: Option<Box<BTreeMap<u16, u32>>>,
}

const FIRST_PORT: u16 = 10_000;

impl Default for SourcePorts {
    fn default() -> SourcePorts {
        SourcePorts { next: FIRST_PORT, first: None, others: None }
    }
}

impl SourcePorts {
    fn is_of_others(&self, port: u16) -> bool {
        self.others.as_ref().is_some_and(|others| others.contains_key(&port))
    }

    fn are_all_in_use(&self) -> bool {
        let of_first = self.first.filter(|&first| !self.is_of_others(first));
        let in_use = usize::from(of_first.is_some()) + self.others.as_ref().map_or(0, |others| others.len());
        in_use > usize::from(u16::MAX - FIRST_PORT)
    }

    /// The next port that is free.
    pub fn take(&mut self) -> u16 {
        let are_all_in_use = self.are_all_in_use();
        while !are_all_in_use && (self.first == Some(self.next) || self.is_of_others(self.next)) {
            self.advance();
        }
        let port = self.next;
        if self.first.is_none() {
            self.first = Some(port);
        } else {
            *self.others.get_or_insert_default().entry(port).or_default() += 1;
        }
        self.advance();
        port
    }

    /// The next port, whoever has it. None is given back.
    pub fn count_on(&mut self) -> u16 {
        let port = self.next;
        self.next = port.wrapping_add(1);
        port
    }

    fn advance(&mut self) {
        self.next = self.next.checked_add(1).unwrap_or(FIRST_PORT);
    }

    /// A flow that had the port is over.
    pub fn give_back(&mut self, port: u16) {
        let Some(others) = self.others.as_mut().filter(|others| others.contains_key(&port)) else {
            self.first = self.first.filter(|&first| first != port);
            return;
        };
        if let Some(count) = others.get_mut(&port) {
            *count -= 1;
            if *count == 0 {
                others.remove(&port);
            }
        }
    }
}

recurs! {
    Traffic {
        shares: constant,
        global_rtt: constant,
        sending: size,
        by_flow_key: derived,
        shareable: size,
        prepared: size,
        unopened: size,
        has_ranks: constant,
        incoming: size,
        receiving: size,
        source_ports: size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_references_ports_wrap_whoever_has_them() {
        let mut ports = SourcePorts::default();
        assert!((FIRST_PORT..=u16::MAX).chain(0..=FIRST_PORT).all(|port| ports.count_on() == port));
        ports.give_back(FIRST_PORT);
        assert_eq!(ports.count_on(), FIRST_PORT + 1);
    }

    #[test]
    fn no_source_port_is_two_flows_unless_all_are_in_use() {
        let mut ports = SourcePorts::default();
        assert!((FIRST_PORT..=u16::MAX).all(|port| ports.take() == port), "all of them, in turn");
        assert_eq!(ports.take(), FIRST_PORT, "all are in use: two share it");
        ports.give_back(FIRST_PORT);
        assert_eq!(ports.take(), FIRST_PORT + 1, "it is still one flow's");
        [10_001, 65_535, 20_000, 30_000].into_iter().for_each(|port| ports.give_back(port));
        // The second flow of 10001 has it still.
        assert_eq!([(); 3].map(|()| ports.take()), [20_000, 30_000, 65_535], "the next that is free");
    }
}
