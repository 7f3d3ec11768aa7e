// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives: operations that all ranks of a group take part in, each by its own steps.
//!
//! An algorithm is a [`Pattern`]: pure functions that say whom a rank sends to and hears from in a step. The data is cut into
//! pieces for channels and chunks; each piece takes all steps, and pieces follow each other as in a pipeline.

mod direct;
mod doubling;
mod layout;
mod line;
mod nvls;
mod parts;
mod pat;
mod pattern;
mod ring;
mod tree;
mod unroll;

pub use layout::Layout;
pub use line::{Line, Order};
pub use parts::Parts;
pub use pattern::{PATTERNS, Pattern, Shape, Step, find};

use super::{Hardware, Note, Operation, Peer, Peers, Program, Todo};
use crate::units::Nanos;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

crate::named! {
    /// What a collective does with the data of all ranks.
    pub enum Kind {
        /// Each rank gets the sum of what all have.
        AllReduce = "all_reduce",
        /// Each rank gets the parts of all.
        AllGather = "all_gather",
        /// Each rank gets its part of the sum.
        ReduceScatter = "reduce_scatter",
        /// Each rank has a part for each other one.
        AllToAll = "all_to_all",
        /// All get what the first has.
        Broadcast = "broadcast",
        /// The first gets the sum of what all have.
        Reduce = "reduce",
        /// Each rank sends to the next one.
        SendReceive = "send_receive",
        /// Nobody goes on before all have come.
        Barrier = "barrier",
    }
}

impl Kind {
    /// By what nccl-tests multiply the algorithm's bandwidth to get a bus bandwidth that does not depend on the number of ranks.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let ranks = f64::from(ranks);
        match self {
            Kind::AllReduce => 2.0 * (ranks - 1.0) / ranks,
            Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll => (ranks - 1.0) / ranks,
            Kind::Broadcast | Kind::Reduce | Kind::SendReceive | Kind::Barrier => 1.0,
        }
    }
}

/// A collective as all its ranks know it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The algorithm.
    pub pattern: &'static Pattern,
    /// Its ranks, as the job numbers them.
    pub group: Arc<[u32]>,
    /// Which of its ranks are in one server; `None`: no two. Rings and trees then go from server to server, each channel's by
    /// another rail, as NCCL's do.
    pub layout: Option<Arc<Layout>>,
    /// Bytes, as nccl-tests count them: the whole array where ranks have parts of it.
    pub size: u64,
    /// How the bytes of each rank are divided among those that get them in an all-to-all; `None`: evenly.
    pub parts: Option<Arc<Parts>>,
    /// A byte of data takes so many bytes of messages: a fraction, at least 1.
    pub wire: (u32, u32),
    /// The data is divided among so many channels, each with queue pairs of its own; at least 1.
    pub channels: u16,
    /// The number of the first, which messages name: each communicator of a job has channels of its own.
    pub first_channel: u16,
    /// A channel's data is cut into pieces of at most so many bytes; at least 1.
    pub chunk: u64,
    /// So many pieces of a channel are under way at once; at least 1.
    pub depth: u32,
    /// So many steps of a piece are under way at once, where the algorithm allows any number; at least 1.
    pub window: u32,
    /// How often it is done.
    pub iterations: u32,
    /// Time between the end of one iteration and the begin of the next at a rank.
    pub gap: Nanos,
    /// Tells the messages of collectives of one job apart; below [`Plan::MOST`].
    pub number: u32,
    /// What it costs the GPUs; by default nothing.
    pub hardware: Hardware,
}

impl Plan {
    /// Most collectives of a job.
    pub const MOST: u32 = 1 << 24;

    fn ranks(&self) -> u32 {
        self.group.len() as u32
    }

    /// Ranks of the smallest server.
    fn per_server(&self) -> u32 {
        self.layout.as_deref().map_or(1, Layout::fewest)
    }

    /// The order in which a channel has the ranks of the group.
    fn line(&self, channel: u16) -> Line<'_> {
        Line::new(self.pattern.order, channel, self.layout.as_deref())
    }

    /// The rank of the job at a place of a channel's line.
    fn member(&self, channel: u16, place: u32) -> u32 {
        self.group[self.line(channel).rank_at(place) as usize]
    }

    /// The place of a rank of the group in a channel's line.
    fn place_of(&self, channel: u16, rank: u32) -> u32 {
        self.line(channel).place_of(rank)
    }

    /// How many steps each rank takes.
    fn steps(&self) -> u32 {
        (self.pattern.steps)(self.ranks(), self.per_server())
    }

    /// How many messages all iterations are together, and their bytes, at most 2^64 - 1 of each, between ranks of the job for which `counts` holds.
    pub fn traffic(&self, counts: impl Fn(u32, u32) -> bool) -> (u64, u64) {
        let (mut messages, mut bytes) = (0_u64, 0_u128);
        let mut step = Step::default();
        for channel in 0..self.channels {
            let pieces = self.pieces(channel);
            for way in 0..self.pattern.ways.min(pieces) {
                // Pieces of one way differ by a byte.
                let size = share(self.of_channel(channel), way.into(), pieces.into());
                let count = u64::from(pieces / self.pattern.ways);
                for (rank, number) in (0..self.ranks()).flat_map(|rank| (0..self.steps()).map(move |step| (rank, step)))
                {
                    self.fill_step((channel, rank), (size, way), number, &mut step);
                    let rank_at = |place| self.member(channel, place);
                    for &(_, size) in step.sends.iter().filter(|&&(to, _)| counts(rank_at(rank), rank_at(to))) {
                        messages += count;
                        bytes += u128::from(count) * u128::from(size.max(1));
                    }
                }
            }
        }
        let bytes = bytes.saturating_mul(self.iterations.into());
        (u64::saturating_mul(messages, self.iterations.into()), u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// What the rank at a place of a channel's line does in a step, for a piece of some bytes on one of the ways.
    fn fill_step(&self, (channel, rank): (u16, u32), (size, way): (u64, u32), number: u32, step: &mut Step) {
        step.sends.clear();
        step.receives.clear();
        (step.tag, step.is_copied) = (number, false);
        let (ranks, per_server, parts) = (self.ranks(), self.per_server(), self.parts.as_deref());
        let shape = Shape { ranks, rank, size, way, line: self.line(channel), per_server, parts };
        (self.pattern.step)(&shape, number, step);
        let (more, than) = (u128::from(self.wire.0), u128::from(self.wire.1.max(1)));
        if more != than {
            step.sends.iter_mut().for_each(|(_, size)| *size = (u128::from(*size) * more).div_ceil(than) as u64);
        }
    }

    /// Bytes of a channel.
    fn of_channel(&self, channel: u16) -> u64 {
        share(self.size, u64::from(channel), self.channels.into())
    }

    /// Pieces of a channel: at least one.
    fn pieces(&self, channel: u16) -> u32 {
        self.of_channel(channel).div_ceil(self.chunk).max(1) as u32 * self.pattern.ways
    }
}

/// Part `n` of `size` bytes that are divided evenly into `parts`.
pub(super) fn share(size: u64, n: u64, parts: u64) -> u64 {
    let parts = parts.max(1);
    let before = |n: u64| match size.checked_mul(n) {
        Some(product) => product / parts,
        None => (u128::from(size) * u128::from(n) / u128::from(parts)) as u64,
    };
    before(n + 1) - before(n)
}

/// What is left of a step that has begun.
#[derive(Clone, Debug)]
struct Running {
    sends: u32,
    receives: u32,
}

/// A piece under way.
#[derive(Clone, Debug)]
struct Piece {
    number: u32,
    /// The step that begins next.
    next: u32,
    /// Those before it, from the first that is not over: found by their numbers, as an all-to-all has thousands.
    running: VecDeque<Running>,
    /// So many of them keep the next ones waiting.
    holding: u32,
}

impl Piece {
    /// A send or a receive of a step is over.
    fn complete(&mut self, step: u32, is_receive: bool, is_chain: bool) {
        let first = self.next - self.running.len() as u32;
        let Some(running) = step.checked_sub(first).and_then(|place| self.running.get_mut(place as usize)) else {
            return;
        };
        let held = running.holds(is_chain);
        *(if is_receive { &mut running.receives } else { &mut running.sends }) -= 1;
        self.holding -= u32::from(held && !running.holds(is_chain));
        while self.running.front().is_some_and(Running::is_over) {
            self.running.pop_front();
        }
    }
}

impl Running {
    fn is_over(&self) -> bool {
        self.sends + self.receives == 0
    }

    /// Whether it keeps a next step waiting. In a chain that needs what this one receives; what it sends may still be under way.
    fn holds(&self, is_chain: bool) -> bool {
        self.receives > 0 || !is_chain && self.sends > 0
    }
}

/// The pieces of a channel.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// The piece that begins next.
    next: u32,
    under_way: Vec<Piece>,
}

/// What one rank does in a collective.
#[derive(Clone, Debug)]
pub struct Collective {
    plan: Plan,
    /// The rank's place in the group.
    place: u32,
    iteration: u32,
    channels: Vec<Channel>,
    /// Whether an iteration takes at least a time, and whether that is not over.
    least_time: Option<bool>,
    is_over: bool,
}

/// The tokens of the gap between iterations, of the launch of one, and of the least time of one: above those of steps.
const GAP: u64 = (1 << 40) - 1;
const LAUNCH: u64 = GAP - 1;
const LEAST_TIME: u64 = GAP - 2;
const STEP_BITS: u32 = 16;
const PIECE_BITS: u32 = 14;
const CHANNEL_BITS: u32 = 8;

impl Collective {
    /// Most steps of an algorithm.
    pub const MOST_STEPS: u32 = 1 << STEP_BITS;
    /// Most pieces of a channel.
    pub const MOST_PIECES: u32 = 1 << PIECE_BITS;
    /// Most channels.
    pub const MOST_CHANNELS: u16 = 1 << CHANNEL_BITS;

    /// What the rank at a place of the group does.
    pub fn new(plan: Plan, place: u32) -> Collective {
        Collective { plan, place, iteration: 0, channels: Vec::new(), least_time: None, is_over: false }
    }

    /// The same, not begun, of which an iteration is not over before a wait that it begins with: of no time, unless who runs the
    /// program [knows it](Collective::is_least_time) and takes longer.
    #[must_use]
    pub fn with_least_time(self) -> Collective {
        Collective { least_time: Some(false), ..self }
    }

    /// Whether a token is that of a wait for the least time of an iteration, whose begin is noted before.
    pub fn is_least_time(token: u64) -> bool {
        token & GAP == LEAST_TIME
    }

    /// What the same rank does by the plan that has this one's number, or by its own.
    pub fn with_plan(&self, plans: &[Plan]) -> Collective {
        let plan = plans.get(self.plan.number as usize).unwrap_or(&self.plan);
        Collective::new(plan.clone(), self.place)
    }

    /// What tells it apart from others of its job.
    pub fn number(&self) -> u32 {
        self.plan.number
    }

    /// The number of the collective that a message's tag belongs to, if to any; iterations count on from their collective's.
    pub fn number_of(tag: u64) -> Option<u32> {
        let number = (tag >> (STEP_BITS + PIECE_BITS + CHANNEL_BITS)) as u32 & (Plan::MOST - 1);
        (tag >> 63 == 1).then_some(number)
    }

    pub(super) fn add_peers(&self, peers: &mut Peers) {
        let plan = &self.plan;
        let steps = plan.steps();
        let mut step = Step::default();
        for (channel, way) in
            (0..plan.channels).flat_map(|channel| (0..plan.pattern.ways).map(move |way| (channel, way)))
        {
            let times = (plan.pieces(channel) / plan.pattern.ways).saturating_mul(plan.iterations);
            for number in 0..steps {
                plan.fill_step((channel, plan.place_of(channel, self.place)), (plan.size, way), number, &mut step);
                for &(to, _) in &step.sends {
                    peers.add(plan.member(channel, to), plan.first_channel.wrapping_add(channel), times);
                }
            }
        }
    }

    fn begin_iteration(&mut self, todo: &mut Todo) {
        todo.note(Note::Begin { collective: self.plan.number, iteration: self.iteration });
        if let Some(is_left) = &mut self.least_time {
            *is_left = true;
            // Until channels begin, none is done.
            self.channels.clear();
            todo.begin(LEAST_TIME, Operation::Wait(Nanos(0)));
        }
        match self.plan.hardware.launch {
            Nanos(0) => self.begin_channels(todo),
            launch => todo.begin(LAUNCH, Operation::Wait(launch)),
        }
    }

    fn begin_channels(&mut self, todo: &mut Todo) {
        self.channels = (0..self.plan.channels).map(|_| Channel::default()).collect();
        for channel in 0..self.plan.channels {
            self.fill(channel, todo);
        }
        self.end_if_done(todo);
    }

    /// Begins pieces of a channel while there are any, and room for them.
    fn fill(&mut self, channel: u16, todo: &mut Todo) {
        let (pieces, depth) = (self.plan.pieces(channel), (self.plan.depth * self.plan.pattern.ways) as usize);
        loop {
            let state = &mut self.channels[usize::from(channel)];
            if state.next == pieces || state.under_way.len() >= depth {
                return;
            }
            let mut piece = Piece { number: state.next, next: 0, running: VecDeque::new(), holding: 0 };
            state.next += 1;
            if !self.advance(channel, &mut piece, todo) {
                self.channels[usize::from(channel)].under_way.push(piece);
            }
        }
    }

    /// Begins steps of a piece. Returns whether all are over.
    fn advance(&self, channel: u16, piece: &mut Piece, todo: &mut Todo) -> bool {
        let plan = &self.plan;
        let size = share(plan.of_channel(channel), piece.number.into(), plan.pieces(channel).into());
        let way = piece.number % plan.pattern.ways;
        let rank = plan.place_of(channel, self.place);
        let steps = plan.steps();
        let is_chain = plan.pattern.is_chain;
        let window = if is_chain { 1 } else { plan.window };
        while piece.next < steps && piece.holding < window {
            let mut step = Step::default();
            plan.fill_step((channel, rank), (size, way), piece.next, &mut step);
            let running = Running { sends: step.sends.len() as u32, receives: step.receives.len() as u32 };
            let token = self.token(channel, piece.number, piece.next);
            let tag = self.token(channel, piece.number, step.tag);
            // A job has several collectives or several iterations; its other messages have tags below these.
            let costs = Some(plan.hardware.of_step(piece.next, size));
            let number = plan.number.wrapping_add(self.iteration) % Plan::MOST;
            let tag = 1 << 63 | u64::from(number) << (STEP_BITS + PIECE_BITS + CHANNEL_BITS) | tag;
            for from in step.receives {
                let from = Some(plan.member(channel, from));
                todo.begin(token << 1 | 1, Operation::Receive { from, tag: Some(tag) });
            }
            for (place, (to, size)) in step.sends.into_iter().enumerate() {
                let to = plan.member(channel, to);
                let is_copy = step.is_copied && place > 0;
                let channel = plan.first_channel.wrapping_add(channel);
                todo.begin(token << 1, Operation::Send { to, tag, size, channel, is_copy, costs });
            }
            piece.next += 1;
            piece.holding += u32::from(running.holds(is_chain));
            if !running.is_over() || !piece.running.is_empty() {
                piece.running.push_back(running);
            }
        }
        piece.next == steps && piece.running.is_empty()
    }

    fn token(&self, channel: u16, piece: u32, step: u32) -> u64 {
        u64::from(channel) << (STEP_BITS + PIECE_BITS) | u64::from(piece) << STEP_BITS | u64::from(step)
    }

    fn end_if_done(&mut self, todo: &mut Todo) {
        let is_done =
            |(channel, state): (u16, &Channel)| state.under_way.is_empty() && state.next == self.plan.pieces(channel);
        if self.channels.is_empty() || self.least_time == Some(true) || !(0..).zip(&self.channels).all(is_done) {
            return;
        }
        todo.note(Note::End { collective: self.plan.number, iteration: self.iteration });
        self.iteration += 1;
        if self.iteration >= self.plan.iterations {
            self.is_over = true;
        } else if self.plan.gap > Nanos(0) {
            todo.begin(GAP, Operation::Compute(self.plan.gap));
        } else {
            self.begin_iteration(todo);
        }
    }
}

impl Program for Collective {
    fn start(&mut self, todo: &mut Todo) {
        self.begin_iteration(todo);
    }

    fn on_complete(&mut self, token: u64, todo: &mut Todo) {
        match token {
            GAP => return self.begin_iteration(todo),
            LAUNCH => return self.begin_channels(todo),
            LEAST_TIME => {
                self.least_time = Some(false);
                return self.end_if_done(todo);
            }
            _ => {}
        }
        let (is_receive, token) = (token & 1 != 0, token >> 1);
        let step = token as u32 & ((1 << STEP_BITS) - 1);
        let number = (token >> STEP_BITS) as u32 & ((1 << PIECE_BITS) - 1);
        let channel = (token >> (STEP_BITS + PIECE_BITS)) as u16;
        let state = &mut self.channels[usize::from(channel)];
        let Some(place) = state.under_way.iter().position(|piece| piece.number == number) else { return };
        let mut piece = state.under_way.swap_remove(place);
        piece.complete(step, is_receive, self.plan.pattern.is_chain);
        if !self.advance(channel, &mut piece, todo) {
            return self.channels[usize::from(channel)].under_way.push(piece);
        }
        self.fill(channel, todo);
        self.end_if_done(todo);
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn peers(&self) -> Vec<Peer> {
        let mut peers = Peers::default();
        self.add_peers(&mut peers);
        peers.list()
    }
}

#[cfg(test)]
mod tests;
