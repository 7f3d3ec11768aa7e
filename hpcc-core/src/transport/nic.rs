// SPDX-License-Identifier: MIT OR Apache-2.0
//! One port of a host: round robin over its queue pairs, and the time to look again.

use super::flow::NicRules;
use super::message;
use super::posted::Message;
use super::queue_pair::{Effects, QueuePair, SegmentRange};
use super::sender::Sender;
use super::slab::Slab;
use super::turns::{Readiness, Turns};
use super::{SenderSpec, TransportConfig};
use crate::cc::Armed;
use crate::recurrence::recurs;
use crate::switch::{Backlog, PRIORITIES, Scheduler};
use crate::units::{BitRate, ExactNanos, Nanos};
use alloc::boxed::Box;
use smallvec::SmallVec;

/// A data packet to put on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Which flow it belongs to.
    pub sender: SenderSpec,
    /// Key of the sending queue pair.
    pub queue_pair: u32,
    /// The message of the queue pair that it is part of.
    pub message: Message,
    /// Sequence number of its first payload byte: its offset in a flow that has the queue pair to itself.
    pub seq: u64,
    /// Bytes of payload, 1 to the MTU.
    pub payload: u32,
    /// Bytes on the link.
    pub frame: u32,
    /// Whether its first byte was sent before.
    pub again: bool,
    /// Whether the receiver is to acknowledge it at once.
    pub ack_requested: bool,
    /// Whether it collects telemetry.
    pub collects: bool,
    /// What its telemetry says of the flow.
    pub label: u8,
    /// Timers of the flow that were armed.
    pub armed: Armed,
}

/// The answer to "what may leave now?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// This packet leaves now.
    Send(Segment),
    /// Nothing: ask again at a wake-up ([`super::Host::wake_at`]), an acknowledgement, or a resume.
    Wait,
    /// It is the turn of those that [wait to be opened](super::Host::wait_to_open): open the first, and ask again.
    Open,
}

/// No wake-up is planned.
const NEVER: Nanos = Nanos(u64::MAX);
/// A port with more queue pairs than that asks only those that may have changed.
const FEW: usize = 8;

/// State of one port: as much as a cache line.
#[derive(Clone, Debug)]
pub struct Nic {
    pub line_rate: BitRate,
    /// Keys of the queue pairs in the order of their start. A few stand here, so that the way to them is short.
    members: SmallVec<[u32; 4]>,
    last_served: usize,
    /// `u64::MAX`: none is planned.
    wake: Nanos,
    /// Whom to ask among many.
    turns: Option<Box<Turns>>,
    /// Which priority sends next; `None`: flows take turns whatever theirs is.
    scheduler: Option<Box<Scheduler>>,
}

const _: () = assert!(size_of::<Nic>() == 64);

impl Nic {
    pub fn new(line_rate: BitRate, transport: &TransportConfig) -> Self {
        let scheduler = transport.classes.map(|classes| Box::new(Scheduler::new(classes.services())));
        Nic { line_rate, members: SmallVec::new(), last_served: 0, wake: NEVER, turns: None, scheduler }
    }

    /// Adds a queue pair behind all others; returns its seat.
    pub fn add(&mut self, key: u32) -> u32 {
        self.members.push(key);
        if let Some(turns) = &mut self.turns {
            turns.join();
        }
        self.members.len() as u32 - 1
    }

    fn turns(&mut self) -> &mut Turns {
        self.turns.get_or_insert_with(|| {
            let mut turns = Box::<Turns>::default();
            turns.unsettle();
            turns
        })
    }

    /// Queue pairs of this priority wait behind the members until it is their turn.
    pub fn wait_to_open(&mut self, priority: u8) {
        self.turns().waiting |= 1 << priority;
    }

    /// None waits any more.
    pub fn all_are_open(&mut self) {
        self.turns().waiting = 0;
    }

    /// Whether one waits to be opened that no pause holds back.
    #[inline]
    fn awaits_opening(&self, paused: u8) -> bool {
        self.turns.as_ref().is_some_and(|turns| turns.waiting & !paused != 0)
    }

    /// Whether the next turn is of one that waits to be opened: nobody behind the last served one may send.
    fn is_turn_to_open(&self, senders: &Slab<Sender>, now: Nanos, paused: u8) -> bool {
        let may_send = |Sender { qp, .. }: &Sender| qp.is_eligible(paused) && qp.next_avail() <= now;
        let behind = self.members.get(self.last_served + 1..).unwrap_or_default();
        self.scheduler.is_some() || !behind.iter().any(|&key| senders.get(key).is_some_and(may_send))
    }

    /// A member is over. Where others wait to be opened the round does not come to it for long: once half of all are over, they
    /// leave. The one that was served last stays, for its place.
    pub fn let_go(&mut self, senders: &mut Slab<Sender>) {
        let count = self.members.len();
        let Some(turns) = self.turns.as_mut().filter(|turns| turns.waiting != 0) else { return };
        turns.over += 1;
        if count <= FEW || turns.over as usize * 2 <= count {
            return;
        }
        turns.over = 0;
        turns.unsettle();
        let served = self.members.get(self.last_served).copied();
        self.members.retain(|&mut key| {
            let leaves = Some(key) != served && senders.get(key).is_some_and(|sender| sender.qp.is_over());
            if leaves {
                senders.remove(key);
            }
            !leaves
        });
        self.last_served = self.members.iter().position(|&key| Some(key) == served).unwrap_or(self.last_served);
    }

    /// Members have come or gone.
    fn unsettle(&mut self) {
        if let Some(turns) = &mut self.turns {
            turns.unsettle();
        }
    }

    /// Something has happened to the queue pair in a seat: it may send now.
    #[inline]
    pub fn ask(&mut self, seat: u32) {
        if let Some(turns) = &mut self.turns {
            turns.ask(seat);
        }
    }

    /// Adds a queue pair that may have finished, and may have been dropped since then.
    pub fn add_again(&mut self, key: u32) -> Option<u32> {
        if self.members.contains(&key) { None } else { Some(self.add(key)) }
    }

    /// Takes a queue pair away, which goes on at another port. Whoever was next behind the last served one is next still.
    pub fn remove(&mut self, key: u32) {
        let Some(place) = self.members.iter().position(|&member| member == key) else { return };
        self.members.remove(place);
        let next = self.last_served + usize::from(place > self.last_served);
        let count = self.members.len().max(1);
        self.last_served = (next + count - 1) % count;
        self.unsettle();
    }

    /// Takes all queue pairs away; those that are over leave `senders`.
    pub fn clear(&mut self, senders: &mut Slab<Sender>) {
        self.unsettle();
        for key in self.members.drain(..) {
            if senders.get(key).is_some_and(|sender| sender.qp.is_over()) {
                senders.remove(key);
            }
        }
    }

    pub fn wake(&self) -> Option<Nanos> {
        Some(self.wake).filter(|&wake| wake != NEVER)
    }

    pub fn on_wake(&mut self) {
        self.wake = NEVER;
    }

    /// A queue pair may now leave at `next_avail`: a later wake-up moves there.
    pub fn advance_wake(&mut self, next_avail: Nanos, now: Nanos) {
        if self.wake != NEVER && next_avail < self.wake {
            self.wake = next_avail.max(now);
        }
    }

    /// A controller has decided: a wake-up may move. Returns timers that were armed.
    #[inline]
    pub fn take_effects(&mut self, effects: &Effects, sender: &Sender, now: Nanos) -> Armed {
        self.ask(sender.seat);
        if effects.repaced {
            self.advance_wake(sender.qp.next_avail(), now);
        }
        effects.armed
    }

    /// Chooses the packet that leaves at `now`. The order of steps is the 2019 simulator's.
    pub fn poll(&mut self, senders: &mut Slab<Sender>, rules: &NicRules, begins: ExactNanos, paused: u8) -> Poll {
        let now = begins.nanos;
        if self.awaits_opening(paused) && self.is_turn_to_open(senders, now, paused) {
            return Poll::Open;
        }
        let (winner, first_finished) = match &mut self.scheduler {
            None if self.members.len() > FEW && !rules.transport.faults.missed_wakeups => {
                self.ask_in_turn(senders, now, paused)
            }
            None => self.scan(senders, now, paused),
            Some(scheduler) => scan_classes(&mut self.members, scheduler, senders, rules, now, paused),
        };
        let winner = match first_finished {
            Some(first) if winner.is_none() && self.awaits_opening(0) => {
                // A pause holds them back. Whoever is dropped now would come again behind them.
                let mut passed = self.members[first..].iter().filter_map(|&key| senders.get(key));
                if passed.any(|sender| sender.qp.is_finished() && !sender.qp.is_over()) {
                    return Poll::Open;
                }
                None
            }
            Some(first) => {
                let place = self.last_served;
                let winner = self.remove_finished(senders, first, winner);
                if rules.transport.faults.stale_round_robin {
                    self.last_served = place;
                }
                winner
            }
            None => winner,
        };
        let Some(index) = winner else {
            self.plan_wake(senders, rules.transport.faults.missed_wakeups, now, paused);
            return Poll::Wait;
        };
        self.last_served = index;
        let key = self.members[index];
        let Some(sender) = senders.get_mut(key) else { return Poll::Wait };
        let range = sender.qp.take_segment(&rules.transport);
        let SegmentRange { seq, payload, again, ack_requested } = range;
        let message = sender.qp.message(seq);
        let first = rules.sizes.first_overhead > 0 && message::opens(seq - message.start, rules.transport.mtu);
        let (collects, armed) = sender.sample(now, seq + u64::from(payload));
        let telemetry = if collects { rules.layout.initial_len() as u32 } else { 0 };
        let frame = rules.sizes.data(payload, first, telemetry);
        sender.qp.on_sent(&rules.transport, begins, frame);
        let mut label = 0;
        if rules.needs.rtt || rules.needs.sent {
            label = sender.tell_sent(rules, now, &range, (message.start + message.size).saturating_sub(seq));
        }
        let sport = sender.entropies.as_mut().map_or(sender.spec.sport, |entropies| entropies.next_port(now));
        let spec = SenderSpec { sport, ..sender.spec };
        Poll::Send(Segment {
            sender: spec,
            queue_pair: key,
            message,
            seq,
            payload,
            frame,
            again,
            ack_requested,
            collects,
            label,
            armed,
        })
    }

    /// Whether this port, which begins to send a frame, has to be polled when that ends, at `end`: not if such a poll would find
    /// no packet and change nothing. Whatever lets a queue pair send until then asks by itself.
    ///
    /// A wake-up that such a poll would plan is planned now, if the caller `foresees`. That of the 2019 simulator's way
    /// is not, for it stays as it was planned first.
    pub fn awaits_end(
        &mut self,
        senders: &Slab<Sender>,
        rules: &NicRules,
        end: Nanos,
        paused: u8,
        foresees: bool,
    ) -> bool {
        if self.awaits_opening(paused) {
            return true;
        }
        let misses = rules.transport.faults.missed_wakeups;
        if let Some(next) = self.next_turn(senders, end, paused) {
            let wake = if next > end && foresees { self.wake.min(next) } else { self.wake };
            self.wake = wake;
            return next <= end || (next < wake && !foresees);
        }
        let mut first = None;
        for Sender { qp, .. } in self.members.iter().filter_map(|&key| senders.get(key)) {
            let (is_eligible, at) = (qp.is_eligible(paused), qp.next_avail());
            if is_eligible && at <= end || !is_eligible && qp.is_finished() {
                return true;
            }
            if is_eligible || misses && qp.has_data() {
                first = Some(first.map_or(at, |first: Nanos| first.min(at)));
            }
        }
        let wake = self.wake_with(first, misses, end);
        if self.scheduler.is_some() || (wake != self.wake() && (misses || !foresees)) {
            return true;
        }
        self.wake = wake.unwrap_or(NEVER);
        false
    }

    /// The wake-up that is planned at `now` if the first queue pair that waits may leave at `first`.
    fn wake_with(&self, first: Option<Nanos>, misses: bool, now: Nanos) -> Option<Nanos> {
        if misses { self.wake().or(first.filter(|&at| at > now)) } else { self.wake().into_iter().chain(first).min() }
    }

    /// As [`scan`](Nic::scan), but asks only those that may have changed.
    fn ask_in_turn(&mut self, senders: &mut Slab<Sender>, now: Nanos, paused: u8) -> (Option<usize>, Option<usize>) {
        self.turns();
        let Some(turns) = &mut self.turns else { return (None, None) };
        if turns.is_stale() {
            turns.settle(self.members.len());
            for (seat, &key) in (0..).zip(&self.members) {
                if let Some(sender) = senders.get_mut(key) {
                    sender.seat = seat;
                }
            }
        }
        turns.wake(now);
        let count = self.members.len();
        let start = if self.last_served < count { self.last_served + 1 } else { self.last_served % count + 1 };
        let (mut next, mut is_round, mut first_finished) = (start, false, None);
        loop {
            let seat = match turns.next_from(next) {
                Some(seat) if !is_round || seat < start => seat,
                None if !is_round => {
                    (next, is_round) = (0, true);
                    continue;
                }
                _ => return (None, first_finished),
            };
            next = seat + 1;
            let Some(Sender { qp, .. }) = senders.get(self.members[seat]) else { continue };
            let turn = turn(qp, now, paused);
            if turn == Readiness::Ask && qp.is_eligible(paused) {
                return (Some(seat), first_finished);
            }
            if turn == Readiness::Ask && qp.is_finished() {
                first_finished = Some(first_finished.map_or(seat, |first: usize| first.min(seat)));
            }
            turns.answer(seat, turn);
        }
    }

    /// When the first queue pair may send that does not wait for an acknowledgement, if [`Turns`] know: `now` if one has to be
    /// asked then, [`NEVER`] if all wait.
    fn next_turn(&mut self, senders: &Slab<Sender>, now: Nanos, paused: u8) -> Option<Nanos> {
        let turns = self.turns.as_mut().filter(|turns| !turns.is_stale() && paused == 0 && self.members.len() > FEW)?;
        turns.wake(now);
        let mut next = 0;
        while let Some(seat) = turns.next_from(next) {
            next = seat + 1;
            let Some(Sender { qp, .. }) = senders.get(self.members[seat]) else { continue };
            let turn = turn(qp, now, paused);
            if turn == Readiness::Ask {
                return Some(now);
            }
            turns.answer(seat, turn);
        }
        let members = &self.members;
        let holds = |seat: u32, at| {
            let sender = senders.get(members[seat as usize]);
            sender.is_some_and(|sender| sender.qp.is_eligible(0) && sender.qp.next_avail() == at)
        };
        Some(turns.first_at(holds).unwrap_or(NEVER))
    }

    /// Looks from behind the last served place for a queue pair that may send now. Also reports the first
    /// place of a finished one among those that it passed.
    #[inline]
    fn scan(&self, senders: &Slab<Sender>, now: Nanos, paused: u8) -> (Option<usize>, Option<usize>) {
        let count = self.members.len();
        let mut first_finished = None;
        let mut index = if self.last_served < count { self.last_served } else { self.last_served % count.max(1) };
        for _ in 0..count {
            index = if index + 1 == count { 0 } else { index + 1 };
            let Some(Sender { qp, .. }) = senders.get(self.members[index]) else { continue };
            if qp.is_eligible(paused) {
                if qp.next_avail() <= now {
                    return (Some(index), first_finished);
                }
            } else if qp.is_finished() {
                first_finished = Some(first_finished.map_or(index, |first: usize| first.min(index)));
            }
        }
        (None, first_finished)
    }

    /// Drops every finished queue pair from `first` on; returns where the winner is then. Whoever was next
    /// behind the last served one is next still. Those that are over leave `senders`.
    fn remove_finished(&mut self, senders: &mut Slab<Sender>, first: usize, winner: Option<usize>) -> Option<usize> {
        self.unsettle();
        let mut kept = first;
        let mut winner_place = winner;
        let mut next = self.last_served + 1;
        for index in first..self.members.len() {
            let key = self.members[index];
            let sender = senders.get(key);
            if sender.is_none_or(|sender| sender.qp.is_finished()) {
                if sender.is_some_and(|sender| sender.qp.is_over()) {
                    senders.remove(key);
                }
                next -= usize::from(index <= self.last_served);
                continue;
            }
            if winner == Some(index) {
                winner_place = Some(kept);
            }
            self.members[kept] = key;
            kept += 1;
        }
        self.members.truncate(kept);
        self.last_served = (next + kept).saturating_sub(1) % kept.max(1);
        winner_place
    }

    /// With nothing to send: wakes when the first queue pair that only pacing holds back may leave. What a
    /// window or a pause holds back is polled again when an acknowledgement or a resume comes.
    ///
    /// The 2019 simulator (`misses`) counts one that the window holds back, too, keeps a wake-up that is planned, and
    /// plans none at a time that has passed.
    fn plan_wake(&mut self, senders: &Slab<Sender>, misses: bool, now: Nanos, paused: u8) {
        if let Some(next) = self.next_turn(senders, now, paused).filter(|_| !misses) {
            self.wake = self.wake.min(next);
            return;
        }
        let counts = |qp: &QueuePair| if misses { qp.has_data() } else { qp.is_eligible(paused) };
        let waiting = self.members.iter().filter_map(|&key| senders.get(key)).filter(|sender| counts(&sender.qp));
        self.wake = self.wake_with(waiting.map(|sender| sender.qp.next_avail()).min(), misses, now).unwrap_or(NEVER);
    }
}

/// What a queue pair answers at `now`.
#[inline]
fn turn(qp: &QueuePair, now: Nanos, paused: u8) -> Readiness {
    let at = qp.next_avail();
    if qp.is_eligible(paused) {
        if at <= now { Readiness::Ask } else { Readiness::At(at) }
    } else if qp.is_finished() || qp.is_eligible(0) {
        Readiness::Ask
    } else {
        Readiness::Never
    }
}

/// Chooses a priority by its class, and the flow in it that was served longest ago. The one chosen becomes the last, so that
/// members are in the order in which they were served. Also reports the first place of a finished one.
fn scan_classes(
    members: &mut [u32],
    scheduler: &mut Scheduler,
    senders: &Slab<Sender>,
    rules: &NicRules,
    now: Nanos,
    paused: u8,
) -> (Option<usize>, Option<usize>) {
    let mut backlog = Backlog { paused, ..Backlog::default() };
    let mut places = [0; PRIORITIES];
    let mut first_finished = None;
    for (index, &key) in members.iter().enumerate() {
        let Some(Sender { qp, .. }) = senders.get(key) else { continue };
        let queue = usize::from(qp.priority()) % PRIORITIES;
        if qp.is_finished() {
            first_finished = first_finished.or(Some(index));
        } else if qp.is_eligible(paused) && qp.next_avail() <= now && backlog.heads[queue] == 0 {
            let (_, payload) = qp.next_segment(&rules.transport);
            (backlog.heads[queue], places[queue]) = (rules.sizes.data(payload, false, 0), index);
        }
    }
    let Some(queue) = scheduler.next(&backlog) else { return (None, first_finished) };
    let place = places[usize::from(queue)];
    members[place..].rotate_left(1);
    let first_finished = first_finished.map(|first| if first > place { first - 1 } else { first });
    (Some(members.len() - 1), first_finished)
}

recurs! {
    Nic { line_rate: constant, members: plain, last_served: plain, wake: wake, turns: part, scheduler: absent, }
}
