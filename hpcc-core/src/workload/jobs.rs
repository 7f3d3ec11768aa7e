// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jobs under way: which rank is where, and which message is for which receive.

use super::collective::share;
use super::leaving::{Leaving, Parts, queue_pairs};
use super::servers::Servers;
use super::timeline::{Key, Span, Timeline};
use super::{MessageCosts, Note, Operation, Outside, Program, Todo};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

/// Ranks that do something together.
#[derive(Debug, Default)]
pub struct Job {
    /// When it begins.
    pub start: Nanos,
    /// The GPU of each rank, and what the rank does. A GPU is a host, unless [`Servers`] have fewer of these.
    pub ranks: Vec<(u32, Box<dyn Program>)>,
    /// Passes before each message is sent.
    pub send_latency: Nanos,
    /// For so long a channel to a rank of another server is set up when it is first asked to send; its messages wait for that.
    pub connection_setup: Nanos,
    /// The least time from one message that a NIC sends to the next one.
    pub nic_interval: Nanos,
    /// What messages cost that do not say so themselves.
    pub costs: MessageCosts,
    /// Priority of its packets.
    pub priority: u8,
    /// Destination port of its first channel's messages.
    pub dport: u16,
    /// By which links of a host its messages leave.
    pub leaving: Leaving,
}

/// A rank's program and its state.
#[derive(Debug)]
struct Seat {
    host: u32,
    gpu: u32,
    job: u32,
    program: Box<dyn Program>,
    is_over: bool,
    /// Messages sent so far.
    sent: u32,
    /// The tokens of receives that wait, by source, tag and number.
    receives: BTreeMap<(Option<u32>, Option<u64>, u64), u64>,
    /// So many of them take messages from anybody, or with any tag.
    open_receives: u32,
    /// Messages that have arrived and that nobody has received, by source, tag and the number of their arrival.
    arrived: BTreeMap<(u32, u64, u64), u32>,
    /// How many receives and arrivals there were.
    count: u64,
    computing: Computing,
}

/// How long a rank has computed.
#[derive(Clone, Copy, Debug, Default)]
struct Computing {
    /// Computations under way, and since when there are any.
    under_way: u32,
    since: Nanos,
    before: Nanos,
}

impl Computing {
    fn begin(&mut self, now: Nanos) {
        if self.under_way == 0 {
            self.since = now;
        }
        self.under_way += 1;
    }

    fn end(&mut self, now: Nanos) {
        self.under_way -= 1;
        if self.under_way == 0 {
            self.before += now - self.since;
        }
    }
}

/// An operation of a rank that is over.
#[derive(Clone, Copy, Debug)]
struct Over {
    seat: u32,
    token: u64,
    key: Key,
    message: Option<u32>,
}

/// Extent of a job among all seats, and what its messages have in common.
#[derive(Clone, Copy, Debug)]
struct Extent {
    first: u32,
    ranks: u32,
    start: Nanos,
    send_latency: Nanos,
    connection_setup: Nanos,
    nic_interval: Nanos,
    costs: MessageCosts,
    priority: u8,
    dport: u16,
    leaving: Leaving,
}

/// A message from rank to rank, or a part of it. Ranks of all jobs are numbered together: those are seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Message {
    /// The seat that sends it.
    pub from: u32,
    /// The seat that receives it.
    pub to: u32,
    /// Its tag.
    pub tag: u64,
    /// Bytes, at least 1.
    pub size: u64,
    /// Its number: different for all messages, and the same however the run is divided.
    pub id: u32,
    /// Source host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Priority of its packets.
    pub priority: u8,
    /// Destination port.
    pub dport: u16,
    /// The link of its host by which it leaves, counted from 0, while that leads to its destination; else a hash chooses.
    pub nic: Option<u8>,
    /// Token of the operation for its sender.
    token: u64,
    /// It leaves its server's GPU together with the one before.
    is_copy: bool,
    /// Its NIC has waited for the one before.
    is_due: bool,
    /// The most at which it leaves within the server.
    rate: Option<BitRate>,
    /// For how long its channel is busy with it there.
    busy: Nanos,
}

impl Message {
    /// The message as its sender knows it.
    pub fn sent(&self) -> Sent {
        let &Message { from, id, token, .. } = self;
        Sent { from, id, token }
    }

    /// For how long its channel is busy with it within the server.
    pub fn busy(&self) -> Nanos {
        self.busy
    }

    /// The message as its receiver knows it.
    pub fn arrival(&self) -> Arrival {
        let &Message { from, to, id, tag, src, .. } = self;
        Arrival { tag, from, to, id, src }
    }
}

/// A message at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    token: u64,
    /// The seat that sends it.
    pub from: u32,
    /// Its number.
    pub id: u32,
}

/// A message at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Arrival {
    tag: u64,
    from: u32,
    to: u32,
    id: u32,
    /// The host that it comes from.
    pub src: u32,
}

/// What a simulator does for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a message. When it is acknowledged, [`Jobs::sent`] hears of it; when it has arrived, [`Jobs::arrived`].
    Send(Message),
    /// Lets time pass at a host, then says so by [`Jobs::waited`].
    Wait {
        /// The host.
        host: u32,
        /// How long.
        time: Nanos,
        /// What waits.
        waiting: Waiting,
    },
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A computation of a program, by its seat and token.
    Computation(u32, u64),
    /// A time that a program lets pass, likewise.
    Pause(u32, u64),
    /// A message within a server, until it has left its sender.
    Sent(Sent),
    /// A message, until it may leave.
    Message(Message),
    /// A message within a server, until it arrives.
    Arrival(Arrival),
}

/// An event for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Noted {
    /// Number of the job.
    pub job: u32,
    /// The rank.
    pub rank: u32,
    /// The event.
    pub note: Note,
    /// Its simulated time.
    pub at: Nanos,
}

/// The end of something that was asked for from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Number of the job.
    pub job: u32,
    /// The rank.
    pub rank: u32,
    /// The token.
    pub token: u64,
    /// What the rank begins now is caused by this operation of a timeline.
    pub cause: Option<u32>,
}

/// A rank that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unfinished {
    /// Number of its job.
    pub job: u32,
    /// The rank.
    pub rank: u32,
    /// Where it is.
    pub host: u32,
    /// The receive that it has waited for longest: source and tag, each `None` where any will do.
    pub awaits: Option<(Option<u32>, Option<u64>)>,
    /// The token of this receive.
    pub token: Option<u64>,
}

/// Two hosts between which a job sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Source host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Priority of its packets.
    pub priority: u8,
    /// Destination port.
    pub dport: u16,
    /// The link of the source by which they leave; else a hash chooses.
    pub nic: Option<u8>,
    /// At most so many messages.
    pub messages: u32,
}

impl Pair {
    fn key(&self) -> (u32, u32, u8, u16) {
        (self.src, self.dst, self.priority, self.dport)
    }
}

/// All jobs of a run.
#[derive(Debug, Default)]
pub struct Jobs {
    jobs: Vec<Extent>,
    seats: Vec<Seat>,
    /// Ended operations, for programs to hear of.
    over: VecDeque<Over>,
    todo: Todo,
    notes: Vec<Noted>,
    told: VecDeque<Completion>,
    timeline: Option<Timeline>,
    /// Number of the first message.
    first_id: u32,
    servers: Option<Servers>,
    /// From when on each GPU may begin to send within its server, up to the last one that has.
    free_at: Vec<Nanos>,
    /// From when on a channel, by its ranks and port, may begin to send within a server.
    channel_free_at: BTreeMap<(u32, u32, u16), Nanos>,
    /// From when on a channel, by its ranks and port, is set up.
    connected_at: BTreeMap<(u32, u32, u16), Nanos>,
    /// From when on the NIC of each host may send its next message.
    nic_free_at: BTreeMap<u32, Nanos>,
    /// Messages within servers that have begun to leave, and for how long they do, if no message waits for its GPU or NIC.
    inside: Option<Vec<(Message, Nanos)>>,
    /// Seats whose receives take no message.
    untaken: BTreeSet<u32>,
    sent_parts: Parts,
    arrived_parts: Parts,
}

impl Jobs {
    /// Messages are numbered from a number on.
    pub fn new(first_id: u32, servers: Option<Servers>) -> Jobs {
        Jobs { first_id, servers, ..Jobs::default() }
    }

    /// The same whose GPUs, channels and NICs send any number of messages at once: for bounds of what a job can take.
    #[must_use]
    pub fn without_queues(self) -> Jobs {
        Jobs { inside: Some(Vec::new()), ..self }
    }

    /// The same where receives of these ranks of the first job take no message: each is over as soon as one has come that it may
    /// take, though another receive has it, too. In no other order of messages is it over sooner.
    #[must_use]
    pub fn without_taking(self, ranks: impl IntoIterator<Item = u32>) -> Jobs {
        Jobs { untaken: ranks.into_iter().collect(), ..self }
    }

    /// Messages within servers since the last call, and for how long each keeps its GPU: only [without queues](Jobs::without_queues).
    pub fn take_inside(&mut self) -> impl Iterator<Item = (Message, Nanos)> + '_ {
        self.inside.iter_mut().flat_map(|inside| inside.drain(..))
    }

    /// Hosts that are GPUs of servers.
    pub fn servers(&self) -> Option<Servers> {
        self.servers
    }

    /// Adds a job; returns its number.
    pub fn add(&mut self, job: Job) -> u32 {
        let number = self.jobs.len() as u32;
        let Job { start, ranks, send_latency, connection_setup, nic_interval, costs, priority, dport, leaving } = job;
        let (first, count) = (self.seats.len() as u32, ranks.len() as u32);
        let extent = Extent {
            first,
            ranks: count,
            start,
            send_latency,
            connection_setup,
            nic_interval,
            costs,
            priority,
            dport,
            leaving,
        };
        self.jobs.push(extent);
        let servers = self.servers;
        self.seats.extend(ranks.into_iter().map(|(gpu, program)| Seat {
            host: servers.map_or(gpu, |servers| servers.host_of(gpu)),
            gpu,
            job: number,
            program,
            is_over: false,
            sent: 0,
            receives: BTreeMap::new(),
            open_receives: 0,
            arrived: BTreeMap::new(),
            count: 0,
            computing: Computing::default(),
        }));
        number
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.jobs.len() as u32
    }

    /// When a job begins.
    pub fn start(&self, job: u32) -> Nanos {
        self.jobs[job as usize].start
    }

    /// Seats of a job.
    fn seats(&self, job: u32) -> core::ops::Range<u32> {
        let Extent { first, ranks, .. } = self.jobs[job as usize];
        first..first + ranks
    }

    /// Hosts with ranks, each as often as it has any.
    pub fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        self.seats.iter().map(|seat| seat.host)
    }

    /// The job of a seat.
    pub fn job_at(&self, seat: u32) -> Option<u32> {
        self.seats.get(seat as usize).map(|seat| seat.job)
    }

    /// The job of a message.
    pub fn job_of(&self, id: u32) -> Option<u32> {
        let seat = id.checked_sub(self.first_id)? % (self.seats.len() as u32).max(1);
        self.seats.get(seat as usize).map(|seat| seat.job)
    }

    /// The pairs of hosts between which a job sends over the network.
    pub fn pairs(&self, job: u32) -> Vec<Pair> {
        let Extent { first, priority, dport, leaving, .. } = self.jobs[job as usize];
        let mut pairs = Vec::new();
        for seat in self.seats(job) {
            let src = self.seats[seat as usize].host;
            pairs.extend(self.seats[seat as usize].program.peers().into_iter().flat_map(|peer| {
                let dst = self.seats[(first + peer.rank) as usize].host;
                let src = self.servers.map_or(src, |servers| servers.leaves_by(src, dst));
                let queue_pairs = queue_pairs(leaving, peer.channel);
                queue_pairs.map(move |(number, nic)| Pair {
                    src,
                    dst,
                    priority,
                    dport: dport.wrapping_add(number),
                    nic,
                    messages: peer.messages,
                })
            }));
        }
        let is_inside = |src, dst| self.servers.is_some_and(|servers| servers.are_together(src, dst));
        pairs.retain(|&Pair { src, dst, .. }| src != dst && !is_inside(src, dst));
        pairs.sort_unstable_by_key(Pair::key);
        pairs.dedup_by(|again, pair| {
            let is_same = again.key() == pair.key();
            pair.messages = pair.messages.saturating_add(if is_same { again.messages } else { 0 });
            is_same
        });
        pairs
    }

    /// Ranks that are not over.
    pub fn unfinished(&self) -> impl Iterator<Item = Unfinished> + '_ {
        let unfinished = self.seats.iter().zip(0..).filter(|(seat, _)| !seat.program.is_over());
        unfinished.map(|(seat, number)| {
            let waiting = seat.receives.iter().min_by_key(|(key, _)| key.2);
            let (token, awaits) = waiting.map(|(&(from, tag, _), &token)| (token, (from, tag))).unzip();
            let first = self.jobs[seat.job as usize].first;
            Unfinished { job: seat.job, rank: number - first, host: seat.host, awaits, token }
        })
    }

    /// Events for results since the last call.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        core::mem::take(&mut self.notes)
    }

    /// A rank that is [`Outside`] begins something: because of what it was told, if it was.
    pub fn ask(
        &mut self,
        (job, rank): (u32, u32),
        (token, operation): (u64, Operation),
        cause: Option<u32>,
        now: Nanos,
        actions: &mut Vec<Action>,
    ) {
        self.todo.begin(token, operation);
        self.take_todo(self.jobs[job as usize].first + rank, cause, now, actions);
        self.go_on(now, actions);
    }

    /// A rank that is [`Outside`] has nothing left to do.
    pub fn end_rank(&mut self, (job, rank): (u32, u32), now: Nanos, actions: &mut Vec<Action>) {
        let seat = self.jobs[job as usize].first + rank;
        self.over.push_back(Over { seat, token: Outside::END, key: Key::Wait(Outside::END), message: None });
        self.go_on(now, actions);
    }

    /// Whether [`Jobs::take_told`] has something.
    pub fn is_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// The next of what was told.
    pub fn take_told(&mut self) -> Option<Completion> {
        self.told.pop_front()
    }

    /// From now on [`Jobs::take_spans`] tells all that ranks begin.
    pub fn record_spans(&mut self) {
        self.timeline.get_or_insert_default();
    }

    /// Operations that are over since the last call.
    pub fn take_spans(&mut self) -> Vec<Span> {
        self.timeline.as_mut().map(|timeline| core::mem::take(&mut timeline.over)).unwrap_or_default()
    }

    /// A job begins at the hosts of which `is_here` holds.
    pub fn begin(&mut self, job: u32, now: Nanos, is_here: impl Fn(u32) -> bool, actions: &mut Vec<Action>) {
        for rank in 0..self.ranks(job) {
            self.begin_rank((job, rank), now, &is_here, actions);
        }
        self.go_on(now, actions);
    }

    /// How many ranks a job has.
    pub(crate) fn ranks(&self, job: u32) -> u32 {
        self.jobs[job as usize].ranks
    }

    /// One of its ranks begins. When all have, they [go on](Jobs::go_on).
    pub(crate) fn begin_rank(
        &mut self,
        (job, rank): (u32, u32),
        now: Nanos,
        is_here: impl Fn(u32) -> bool,
        actions: &mut Vec<Action>,
    ) {
        let seat = self.jobs[job as usize].first + rank;
        if is_here(self.seats[seat as usize].host) {
            self.seats[seat as usize].program.start(&mut self.todo);
            self.take_todo(seat, None, now, actions);
        }
    }

    /// A message, or a part of one, is acknowledged.
    pub fn sent(&mut self, message: &Sent, now: Nanos, actions: &mut Vec<Action>) {
        let (id, parts) = self.whole(message.from, message.id);
        if self.sent_parts.count(id, parts) {
            self.sent_by(&Sent { id, ..*message });
        }
        self.go_on(now, actions);
    }

    /// The number of the message that a part is of, and how many parts that has.
    fn whole(&self, from: u32, id: u32) -> (u32, u8) {
        let parts = self.jobs[self.seats[from as usize].job as usize].leaving.parts();
        let seats = self.seats.len() as u32;
        let sent = id.wrapping_sub(self.first_id) / seats;
        (id - sent % u32::from(parts) * seats, parts)
    }

    fn sent_by(&mut self, &Sent { from, token, id }: &Sent) {
        self.over.push_back(Over { seat: from, token, key: Key::Send(id), message: Some(id) });
    }

    fn time_is_over(&mut self, seat: u32, token: u64) {
        self.over.push_back(Over { seat, token, key: Key::Wait(token), message: None });
    }

    /// A message, or a part of one, has arrived.
    pub fn arrived(&mut self, message: &Arrival, now: Nanos, actions: &mut Vec<Action>) {
        let (id, parts) = self.whole(message.from, message.id);
        if self.arrived_parts.count(id, parts) {
            self.deliver(&Arrival { id, ..*message });
        }
        self.go_on(now, actions);
    }

    /// A time is over.
    pub fn waited(&mut self, waiting: Waiting, now: Nanos, actions: &mut Vec<Action>) {
        match waiting {
            Waiting::Computation(seat, token) => {
                self.seats[seat as usize].computing.end(now);
                self.time_is_over(seat, token);
            }
            Waiting::Pause(seat, token) => self.time_is_over(seat, token),
            Waiting::Sent(message) => self.sent_by(&message),
            Waiting::Message(message) => self.send(message, now, actions),
            Waiting::Arrival(message) => self.deliver(&message),
        }
        self.go_on(now, actions);
    }

    /// Messages between ranks of one GPU take no time, and messages within a server no network.
    fn send(&mut self, message: Message, now: Nanos, actions: &mut Vec<Action>) {
        let Message { src, dst, size, is_copy, rate, .. } = message;
        let [gpu, far] = [message.from, message.to].map(|seat| self.seats[seat as usize].gpu);
        if gpu == far {
            self.sent_by(&message.sent());
            return self.deliver(&message.arrival());
        }
        let via = self.servers.map_or(src, |servers| servers.leaves_by(src, dst));
        let Some(servers) = self.servers.filter(|servers| via != src || servers.are_together(src, dst)) else {
            return self.send_by_nic(message, now, actions);
        };
        let own = if is_copy { Nanos(0) } else { servers.time_of(size, rate) };
        let link = self.keep_gpu(gpu, own, &message, now);
        let time = link.max(self.keep_channel(&message, now));
        if via != src {
            let waiting = Waiting::Message(Message { src: via, ..message });
            return actions.push(Action::Wait { host: via, time: time + servers.latency, waiting });
        }
        actions.push(Action::Wait { host: src, time, waiting: Waiting::Sent(message.sent()) });
        actions.push(Action::Wait {
            host: dst,
            time: time + servers.latency,
            waiting: Waiting::Arrival(message.arrival()),
        });
    }

    /// A GPU sends a message within its server for so long, behind those before. Returns when it has.
    fn keep_gpu(&mut self, gpu: u32, own: Nanos, message: &Message, now: Nanos) -> Nanos {
        if let Some(inside) = &mut self.inside {
            inside.push((*message, own));
            return own;
        }
        let gpu = gpu as usize;
        if gpu >= self.free_at.len() {
            self.free_at.resize(gpu + 1, Nanos(0));
        }
        let free_at = &mut self.free_at[gpu];
        *free_at = (*free_at).max(now) + own;
        *free_at - now
    }

    /// A message leaves its host, in as many parts as the job divides it into.
    fn leave(&self, message: Message, actions: &mut Vec<Action>) {
        let Extent { dport, leaving, .. } = self.jobs[self.seats[message.from as usize].job as usize];
        let (parts, seats) = (u32::from(leaving.parts()), self.seats.len() as u32);
        let channel = message.dport.wrapping_sub(dport);
        actions.extend((0..).zip(queue_pairs(leaving, channel)).map(|(part, (number, nic))| {
            let size = share(message.size, part.into(), parts.into()).max(1);
            let id = message.id + part * seats;
            Action::Send(Message { id, size, dport: dport.wrapping_add(number), nic, ..message })
        }));
    }

    /// A channel is busy with a message within a server, when it has sent those before to the same rank. Returns for how long.
    fn keep_channel(&mut self, message: &Message, now: Nanos) -> Nanos {
        if message.busy == Nanos(0) || self.inside.is_some() {
            return message.busy;
        }
        let free_at = self.channel_free_at.entry((message.from, message.to, message.dport)).or_default();
        *free_at = now.max(*free_at) + message.busy;
        *free_at - now
    }

    /// A NIC sends a message no sooner than so long after the one before.
    fn send_by_nic(&mut self, message: Message, now: Nanos, actions: &mut Vec<Action>) {
        let Extent { nic_interval, .. } = self.jobs[self.seats[message.from as usize].job as usize];
        if nic_interval == Nanos(0) || message.is_due || self.inside.is_some() {
            return self.leave(message, actions);
        }
        let free_at = self.nic_free_at.entry(message.src).or_default();
        let begin = now.max(*free_at);
        *free_at = begin + nic_interval;
        if begin == now {
            return self.leave(message, actions);
        }
        let waiting = Waiting::Message(Message { is_due: true, ..message });
        actions.push(Action::Wait { host: message.src, time: begin - now, waiting });
    }

    /// Tells programs what has ended; begins what follows.
    pub(crate) fn go_on(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        while let Some(Over { seat, token, key, message }) = self.over.pop_front() {
            let cause = self.timeline.as_mut().and_then(|timeline| timeline.end(seat, key, message, now));
            self.seats[seat as usize].program.on_complete(token, &mut self.todo);
            self.take_todo(seat, cause, now, actions);
        }
    }

    /// What a program asks for, at the end of its operation `cause`.
    fn take_todo(&mut self, seat: u32, cause: Option<u32>, now: Nanos, actions: &mut Vec<Action>) {
        let job = self.seats[seat as usize].job;
        let Extent { first, send_latency, .. } = self.jobs[job as usize];
        let rank = seat - first;
        for note in self.todo.notes.drain(..) {
            match note {
                Note::Completion { token } => self.told.push_back(Completion { job, rank, token, cause }),
                Note::Begin { .. } | Note::End { .. } | Note::Mark { .. } | Note::Over { .. } => {
                    self.notes.push(Noted { job, rank, note, at: now });
                }
            }
        }
        let Seat { program, computing, is_over, .. } = &mut self.seats[seat as usize];
        if !*is_over && program.is_over() {
            *is_over = true;
            self.notes.push(Noted { job, rank, note: Note::Over { computed: computing.before }, at: now });
        }
        let mut operations = core::mem::take(&mut self.todo.operations);
        for (token, operation) in operations.drain(..) {
            let span = |key| (key, Span { job, rank, token, operation, cause, ..Span::at(now) });
            match operation {
                Operation::Send { to, tag, size, channel, is_copy, costs } => {
                    let message = self.message(seat, first + to, (tag, size, channel), token);
                    let costs = costs.unwrap_or(self.jobs[job as usize].costs);
                    let message =
                        Message { is_copy, rate: costs.rate, busy: costs.inside + costs.copy(size), ..message };
                    self.begin_span(seat, span(Key::Send(message.id)));
                    let time = send_latency + self.cost(&message, costs) + self.connect(&message, now);
                    if time == Nanos(0) {
                        self.send(message, now, actions);
                    } else {
                        let host = message.src;
                        actions.push(Action::Wait { host, time, waiting: Waiting::Message(message) });
                    }
                }
                Operation::Receive { from, tag } => {
                    self.begin_span(seat, span(Key::Receive(self.seats[seat as usize].count + 1)));
                    self.receive(seat, from, tag, token);
                }
                Operation::Compute(time) => {
                    self.begin_span(seat, span(Key::Wait(token)));
                    let Seat { host, computing, .. } = &mut self.seats[seat as usize];
                    computing.begin(now);
                    actions.push(Action::Wait { host: *host, time, waiting: Waiting::Computation(seat, token) });
                }
                Operation::Wait(time) => {
                    self.begin_span(seat, span(Key::Wait(token)));
                    let host = self.seats[seat as usize].host;
                    actions.push(Action::Wait { host, time, waiting: Waiting::Pause(seat, token) });
                }
            }
        }
        self.todo.operations = operations;
    }

    /// For how long a message waits until its channel is set up.
    fn connect(&mut self, &Message { from, to, src, dst, dport, .. }: &Message, now: Nanos) -> Nanos {
        let setup = self.jobs[self.seats[from as usize].job as usize].connection_setup;
        let is_inside = src == dst || self.servers.is_some_and(|servers| servers.are_together(src, dst));
        if setup == Nanos(0) || is_inside {
            return Nanos(0);
        }
        let ready = *self.connected_at.entry((from, to, dport)).or_insert(now + setup);
        Nanos(ready.0.saturating_sub(now.0))
    }

    /// What passes at the sender of a message before it leaves.
    fn cost(&self, &Message { src, dst, size, .. }: &Message, costs: MessageCosts) -> Nanos {
        let is_inside = src == dst || self.servers.is_some_and(|servers| servers.are_together(src, dst));
        costs.before + if is_inside { Nanos(0) } else { costs.between + costs.copy(size) }
    }

    fn begin_span(&mut self, seat: u32, (key, span): (Key, Span)) {
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(seat, key, span);
        }
    }

    fn message(&mut self, from: u32, to: u32, (tag, size, channel): (u64, u64, u16), token: u64) -> Message {
        let seats = self.seats.len() as u32;
        let dst = self.seats[to as usize].host;
        let seat = &mut self.seats[from as usize];
        let Extent { priority, dport, leaving, .. } = self.jobs[seat.job as usize];
        let id = self.first_id.wrapping_add(seat.sent.wrapping_mul(seats)).wrapping_add(from);
        seat.sent += u32::from(leaving.parts());
        let dport = dport.wrapping_add(channel);
        let (src, size, nic) = (seat.host, size.max(1), None);
        let (is_copy, is_due, rate, busy) = (false, false, None, Nanos(0));
        Message { from, to, tag, size, id, src, dst, priority, dport, nic, token, is_copy, is_due, rate, busy }
    }

    /// A receive takes the message that arrived first of those that it may take, or waits.
    fn receive(&mut self, seat: u32, from: Option<u32>, tag: Option<u64>, token: u64) {
        let Seat { arrived, receives, open_receives, count, .. } = &mut self.seats[seat as usize];
        let key = match (from, tag) {
            (Some(from), Some(tag)) => {
                arrived.range((from, tag, 0)..=(from, tag, u64::MAX)).next().map(|(&key, _)| key)
            }
            _ => {
                let fits = |&(source, its, _): &(u32, u64, u64)| {
                    from.is_none_or(|from| from == source) && tag.is_none_or(|tag| tag == its)
                };
                arrived.keys().copied().filter(fits).min_by_key(|key| key.2)
            }
        };
        *count += 1;
        let is_taken = !self.untaken.contains(&seat);
        match key.and_then(|key| if is_taken { arrived.remove(&key) } else { arrived.get(&key).copied() }) {
            Some(message) => {
                self.over.push_back(Over { seat, token, key: Key::Receive(*count), message: Some(message) });
            }
            None => {
                *open_receives += u32::from(from.is_none() || tag.is_none());
                receives.insert((from, tag, *count), token);
            }
        }
    }

    /// A message goes to the receive that was posted first of those that may take it, or waits for one. Untaken it goes to all of them, and
    /// stays.
    fn deliver(&mut self, message: &Arrival) {
        let from = message.from - self.jobs[self.seats[message.from as usize].job as usize].first;
        let Seat { arrived, receives, open_receives, count, .. } = &mut self.seats[message.to as usize];
        let keys = [(Some(from), Some(message.tag)), (Some(from), None), (None, Some(message.tag)), (None, None)];
        let keys = if *open_receives > 0 { &keys[..] } else { &keys[..1] };
        let is_taken = !self.untaken.contains(&message.to);
        loop {
            let of_key = |&(from, tag)| receives.range((from, tag, 0)..=(from, tag, u64::MAX)).next();
            let first = keys.iter().filter_map(of_key).map(|(&key, _)| key).min_by_key(|key| key.2);
            let Some((key, token)) = first.and_then(|key| Some((key, receives.remove(&key)?))) else { break };
            *open_receives -= u32::from(key.0.is_none() || key.1.is_none());
            let over = Over { seat: message.to, token, key: Key::Receive(key.2), message: Some(message.id) };
            self.over.push_back(over);
            if is_taken {
                return;
            }
        }
        *count += 1;
        arrived.insert((from, message.tag, *count), message.id);
    }
}
