// SPDX-License-Identifier: GPL-2.0-only
//! The engines of a run: one, or one for each part of the network, on a thread of its own or in another process.

use crate::ranks::{FlowState, Others};
use crate::rounds::{Rounds, Worker};
use hpcc_core::attack::Attack;
use hpcc_core::engine::{
    Completion, ControlState, Engine, FlowRequest, Hold, NoticeTotals, Parcel, PartState, Started, Stop, Storm, Totals,
    Wait,
};
use hpcc_core::fabric::Fabric;
use hpcc_core::transport::Counters;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Noted, Span, Unfinished};
use hpcc_model::results::RankSummary;
use std::cell::{RefCell, RefMut};
use std::mem::{swap, take};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Takes a lock; a thread that panics ends the program anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all threads share.
struct Shared {
    engines: Vec<Arc<Mutex<Engine>>>,
    /// The part of each node, nothing if there is one; and of the first engine.
    part_of: Vec<u32>,
    first: u32,
    /// Simulated time until which all parts run, in ns.
    end: AtomicU64,
    rounds: Rounds,
    /// Why the first part has stopped.
    stop: Mutex<Stop>,
    /// Wall-clock time of all turns, in ns.
    busy: AtomicU64,
    /// What each part has told, and what it has for each other: in turn, so that nobody writes what others still read.
    posts: [Vec<Post>; 2],
}

/// A part's state and parcels for the others after a round.
struct Post {
    state: Mutex<PartState>,
    parcels: Vec<Mutex<Parcel>>,
}

impl Post {
    fn new(parts: usize) -> Post {
        let parcels = (0..parts).map(|_| Mutex::default()).collect();
        Post { state: Mutex::new(PartState { next: None, is_faulty: false }), parcels }
    }
}

impl Shared {
    /// What parts post in a round.
    fn posts(&self, round: u64) -> &[Post] {
        &self.posts[round as usize % 2]
    }

    /// A part posts its state and parcels.
    fn come(&self, round: u64, part: usize, engine: &mut Engine) {
        let post = &self.posts(round)[part];
        *lock(&post.state) = engine.part_state();
        for (parcel, posted) in engine.parcels().iter_mut().zip(&post.parcels) {
            swap(parcel, &mut lock(posted));
        }
    }

    /// A part collects its parcels. Returns the state of all parts together.
    fn leave(&self, round: u64, part: usize, engine: &mut Engine) -> PartState {
        let posts = self.posts(round);
        for (parcel, post) in engine.parcels().iter_mut().zip(posts) {
            swap(parcel, &mut lock(&post.parcels[part]));
        }
        let nothing = PartState { next: None, is_faulty: false };
        posts.iter().map(|post| *lock(&post.state)).fold(nothing, PartState::and)
    }

    /// Runs a part from the meeting before a round to the next. Returns whether it goes on.
    fn turn(&self, part: usize, round: u64) -> bool {
        let since = Instant::now();
        let engine = &mut *lock(&self.engines[part]);
        let all = self.leave(round - 1, part, engine);
        let stop = engine.run_window(all, Nanos(self.end.load(Ordering::Relaxed)));
        match stop {
            None => self.come(round, part, engine),
            Some(stop) if part == 0 => *lock(&self.stop) = stop,
            Some(_) => {}
        }
        self.busy.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        stop.is_none()
    }
}

/// The engines of a run.
pub struct Fleet {
    shared: Arc<Shared>,
    hand: Worker,
    workers: Vec<JoinHandle<()>>,
    others: RefCell<Others>,
}

impl Fleet {
    /// One engine, or one for each of the parts of which nodes are; in a process of several the one of part `first`.
    pub fn new(engines: Vec<Arc<Mutex<Engine>>>, part_of: Vec<u32>, first: u32, others: Others) -> Fleet {
        let parts = engines.len();
        if !part_of.is_empty() {
            for (own, engine) in (first..).zip(&engines) {
                lock(engine).run_part(&part_of, own);
            }
        }
        let posts = || (0..parts).map(|_| Post::new(parts)).collect();
        let shared = Arc::new(Shared {
            engines,
            part_of,
            first,
            end: AtomicU64::new(0),
            rounds: Rounds::new(parts),
            stop: Mutex::new(Stop::Time),
            busy: AtomicU64::new(0),
            posts: [posts(), posts()],
        });
        let worker = |own| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || Worker::new(own).help(&shared.rounds, |part, round| shared.turn(part, round)))
        };
        let workers = (1..parts).map(worker).collect();
        Fleet { shared, hand: Worker::new(0), workers, others: RefCell::new(others) }
    }

    /// Runs all events before `end`, unless something comes in between.
    pub fn run_until(&mut self, end: Nanos) -> Stop {
        let Fleet { shared, hand, .. } = self;
        if self.workers.is_empty() {
            return self.others.get_mut().run(&mut lock(&shared.engines[0]), end);
        }
        shared.end.store(end.0, Ordering::Relaxed);
        for (part, engine) in shared.engines.iter().enumerate() {
            shared.come(shared.rounds.last(), part, &mut lock(engine));
        }
        shared.rounds.begin();
        hand.run(&shared.rounds, |part, round| shared.turn(part, round));
        *lock(&shared.stop)
    }

    /// How long threads have worked, all together and without waiting; `None` if there is one.
    pub fn worked(&self) -> Option<Duration> {
        (!self.workers.is_empty()).then(|| Duration::from_nanos(self.shared.busy.load(Ordering::Relaxed)))
    }

    /// The network while it stands still.
    pub fn pause(&self) -> Paused<'_> {
        Paused {
            engines: self.shared.engines.iter().map(|engine| lock(engine)).collect(),
            part_of: &self.shared.part_of,
            first: self.shared.first,
            others: self.others.borrow_mut(),
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.shared.rounds.close();
        for worker in self.workers.drain(..) {
            // One that has panicked has said so.
            worker.join().unwrap_or_default();
        }
    }
}

/// A network that stands still.
pub struct Paused<'a> {
    engines: Vec<MutexGuard<'a, Engine>>,
    part_of: &'a [u32],
    first: u32,
    others: RefMut<'a, Others>,
}

impl Paused<'_> {
    /// The engine that runs a node; `None`: that of another process.
    fn of(&self, node: u32) -> Option<&Engine> {
        let part = self.part_of.get(node as usize).map_or(0, |&part| part.wrapping_sub(self.first));
        self.engines.get(part as usize).map(|engine| &**engine)
    }

    /// How many nodes the first engine runs.
    pub fn own_nodes(&self) -> u64 {
        self.part_of.iter().filter(|&&part| part == self.first).count() as u64
    }

    /// The others begin with this one.
    pub fn begin(&mut self) {
        self.others.begin();
    }

    /// Others tell all that they have left, and go.
    pub fn finish(&mut self) {
        let nodes = self.own_nodes();
        self.others.finish(&self.engines[0], nodes);
    }

    /// Asks other processes for flows under way: what is known of these is of the last time.
    pub fn ask_flows(&mut self) {
        self.others.ask_flows();
    }

    /// Asks other processes what has arrived there of these flows, after [`Paused::ask_flows`].
    pub fn ask_arrived<'a>(&mut self, flows: impl Iterator<Item = &'a Started>) {
        if self.others.are_some() {
            let of_others = flows.filter(|flow| self.of(flow.request.dst).is_none());
            let asked = of_others.filter_map(|flow| Some((*flow, self.receiver(flow)?))).collect();
            self.others.ask_arrived(asked);
        }
    }

    /// For how long each of several processes has waited for others, in ns.
    pub fn waited(&self) -> Vec<u64> {
        self.others.waited()
    }

    /// Rows of results of other processes.
    pub fn take_rows(&mut self) -> Vec<Vec<u8>> {
        let mut rows = take(&mut self.others.report.rows);
        rows.append(&mut self.others.remains.rows);
        rows
    }

    /// Pauses in other processes.
    pub fn take_holds(&mut self) -> Vec<Hold> {
        take(&mut self.others.remains.holds)
    }

    /// What each of several processes did.
    pub fn take_figures(&mut self) -> Vec<RankSummary> {
        take(&mut self.others.remains.figures)
    }

    /// All engines, for what is asked of each alike.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Engine> {
        self.engines.iter_mut().map(|engine| &mut **engine)
    }

    pub fn now(&self) -> Nanos {
        self.engines[0].now()
    }

    /// The network with its routes.
    pub fn fabric(&self) -> &Arc<Fabric> {
        self.engines[0].fabric()
    }

    /// Why the run cannot go on, if it cannot.
    pub fn fault(&self) -> Option<&str> {
        self.engines.iter().find_map(|engine| engine.fault()).or(self.others.report.fault.as_deref())
    }

    /// The time of the next event: until then samples find the same.
    pub fn next_time(&mut self) -> Option<Nanos> {
        let elsewhere = self.others.report.next;
        self.each().filter_map(Engine::next_change).chain(elsewhere).min()
    }

    /// Reserves the place of a sample among the events of its time: the same in all parts.
    pub fn reserve_sample(&mut self) -> u64 {
        self.others.reserve_sample();
        self.each().map(Engine::reserve_sample).fold(0, u64::max)
    }

    /// Whether a sample at this time, in this place, finds what the last one found.
    pub fn is_next(&self, at: Nanos, place: u64) -> bool {
        self.engines[0].is_next(at, place)
    }

    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.others.sample_at(at, place);
        self.each().for_each(|engine| engine.sample_at(at, place));
    }

    pub fn take_started(&mut self) -> Vec<Started> {
        let mut started: Vec<_> = self.each().flat_map(Engine::take_started).collect();
        started.append(&mut self.others.report.started);
        started.sort_by_key(|flow| flow.request.start);
        started
    }

    /// What ranks of jobs have noted.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        let elsewhere = take(&mut self.others.report.notes);
        self.each().flat_map(Engine::take_notes).chain(elsewhere).collect()
    }

    /// What ranks of jobs had under way and is over.
    pub fn take_spans(&mut self) -> Vec<Span> {
        let elsewhere = take(&mut self.others.report.spans);
        self.each().flat_map(Engine::take_spans).chain(elsewhere).collect()
    }

    /// Whether a rank of a job computes, or a message waits or is under way within a server.
    pub fn jobs_wait(&self) -> bool {
        self.engines.iter().any(|engine| engine.jobs_wait()) || self.others.report.jobs_wait
    }

    /// What attackers did.
    pub fn attacks(&self) -> impl Iterator<Item = &Attack> {
        self.engines[0].attacks()
    }

    /// Ranks of jobs that are not over.
    pub fn unfinished_ranks(&self) -> impl Iterator<Item = Unfinished> + '_ {
        let elsewhere = self.others.remains.unfinished.iter().copied();
        self.engines.iter().flat_map(|engine| engine.unfinished_ranks()).chain(elsewhere)
    }

    /// The one engine of a run that is not divided.
    pub fn whole(&mut self) -> &mut Engine {
        &mut self.engines[0]
    }

    /// The job of a message, by the number of its flow.
    pub fn job_of(&self, flow: u32) -> Option<u32> {
        self.engines[0].jobs().job_of(flow)
    }

    pub fn take_refused(&mut self) -> Vec<FlowRequest> {
        let elsewhere = take(&mut self.others.report.refused);
        self.each().flat_map(Engine::take_refused).chain(elsewhere).collect()
    }

    /// Flows that have finished, in the order in which one engine has them.
    pub fn take_completed(&mut self) -> Vec<Completion> {
        let mut completed: Vec<_> = self.each().flat_map(Engine::take_completed).collect();
        completed.append(&mut self.others.report.completed);
        if !self.part_of.is_empty() {
            completed.sort_by_key(|flow| (flow.request.start + flow.duration, flow.request.src));
        }
        completed
    }

    /// Flows that have not begun.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowRequest> {
        self.engines[0].waiting()
    }

    /// The switches whose queues are not as in the sample before.
    pub fn sampled_switches(&self) -> impl Iterator<Item = u32> + '_ {
        let elsewhere = self.others.report.sampled.iter().map(|&(node, _)| node);
        self.engines.iter().flat_map(|engine| engine.sampled_switches().iter().copied()).chain(elsewhere)
    }

    /// Bytes that waited at a switch's ports when the last sample was taken; nothing of one elsewhere that never had any.
    pub fn sampled_queues(&self, node: u32) -> &[u32] {
        let elsewhere = || self.others.queues.get(&node).map_or(&[][..], |queues| queues);
        self.of(node).map_or_else(elsewhere, |engine| engine.sampled_queues(node))
    }

    /// Bytes that a node that runs here has sent by a port.
    pub fn sent(&self, node: u32, port: u16) -> Option<u64> {
        Some(self.of(node)?.sent(node, port))
    }

    /// Frames that came to a port with errors, of a node that runs here.
    pub fn errors(&self, node: u32, port: u16) -> Option<u64> {
        Some(self.of(node)?.errors(node, port))
    }

    /// A flow whose host another process runs.
    fn elsewhere(&self, flow: &Started) -> FlowState {
        self.others.flows.get(&flow.request.id).copied().unwrap_or_default()
    }

    pub fn acked(&self, flow: &Started) -> u64 {
        let acked = self.of(flow.request.src).map(|engine| engine.acked_of(flow));
        acked.unwrap_or_else(|| self.elsewhere(flow).acked)
    }

    /// Bytes that have arrived, where they are known.
    pub fn arrived(&self, flow: &Started) -> Option<u64> {
        match self.of(flow.request.dst) {
            Some(_) => self.known_arrived(flow, self.receiver(flow)?),
            None => self.others.arrived.get(&flow.request.id).copied(),
        }
    }

    /// The same of a flow to a host that runs here, which its receiver knows by this number.
    pub fn known_arrived(&self, flow: &Started, receiver: u32) -> Option<u64> {
        self.of(flow.request.dst)?.arrived_of(flow, receiver)
    }

    /// The number by which its receiver knows a flow.
    fn receiver(&self, flow: &Started) -> Option<u32> {
        self.of(flow.request.src).map_or_else(|| self.elsewhere(flow).receiver, |engine| engine.receiver_of(flow))
    }

    pub fn control(&self, flow: &Started) -> ControlState {
        let control = self.of(flow.request.src).map(|engine| engine.control_of(flow));
        control.unwrap_or_else(|| self.elsewhere(flow).control)
    }

    /// The newest round-trip time of a flow.
    pub fn rtt(&self, flow: &Started) -> Option<Nanos> {
        self.of(flow.request.src).map_or_else(|| self.elsewhere(flow).rtt, |engine| engine.rtt(flow.request.id))
    }

    pub fn events_run(&self) -> u64 {
        self.engines.iter().map(|engine| engine.events_run()).sum::<u64>() + self.others.report.events
    }

    pub fn packet_hops(&self) -> u64 {
        self.engines.iter().map(|engine| engine.packet_hops()).sum::<u64>() + self.others.report.packet_hops
    }

    pub fn totals(&self) -> Totals {
        self.engines.iter().map(|engine| engine.totals()).chain([self.others.remains.totals]).sum()
    }

    pub fn notice_totals(&self) -> NoticeTotals {
        self.engines.iter().map(|engine| engine.notice_totals()).chain([self.others.remains.notices]).sum()
    }

    /// What waits at switches that pause others.
    pub fn waits(&mut self) -> Vec<Wait> {
        let elsewhere = self.others.ask_waits();
        self.each().flat_map(|engine| engine.waits()).chain(elsewhere).collect()
    }

    /// What watchdogs have found.
    pub fn storms(&self) -> Vec<Storm> {
        let storms = self.engines.iter().flat_map(|engine| engine.storms());
        storms.chain(&self.others.remains.storms).copied().collect()
    }

    pub fn host_counters(&self) -> Counters {
        self.engines.iter().flat_map(|engine| engine.host_counters()).chain([self.others.remains.counters]).sum()
    }
}
