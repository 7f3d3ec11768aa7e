// SPDX-License-Identifier: GPL-2.0-only
//! The engines of a run: one, or one for each part of the network on a thread of its own.

use crate::gate::Gate;
use hpcc_core::attack::Attack;
use hpcc_core::engine::{
    Completion, ControlState, Engine, FlowRequest, NoticeTotals, Parcel, PartState, Peers, Started, Stop, Storm,
    Totals, Wait,
};
use hpcc_core::fabric::Fabric;
use hpcc_core::transport::Counters;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Noted, Span, Unfinished};
use std::mem::swap;
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
    /// The part of each node; nothing if there is one.
    part_of: Vec<u32>,
    /// Until when all run; `None`: the run is over.
    command: Mutex<Option<Nanos>>,
    gate: Gate,
    /// Nanoseconds for which threads have not waited for each other.
    busy: AtomicU64,
    /// What each part has told, and what it has for each other: in turn, so that nobody writes what others still read.
    posts: [Vec<Post>; 2],
}

/// What a part tells at a meeting.
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

/// How one thread meets the others.
struct Meeting {
    own: usize,
    turn: usize,
    /// When this thread began to work.
    since: Instant,
    shared: Arc<Shared>,
}

impl Meeting {
    /// Waits for the others.
    fn wait(&mut self) {
        self.shared.busy.fetch_add(self.since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.shared.gate.wait();
        self.since = Instant::now();
    }
}

impl Peers for Meeting {
    fn meet(&mut self, state: PartState, parcels: &mut [Parcel]) -> PartState {
        let posts = &self.shared.posts[self.turn];
        self.turn = 1 - self.turn;
        *lock(&posts[self.own].state) = state;
        for (to, parcel) in parcels.iter_mut().enumerate().filter(|&(to, _)| to != self.own) {
            swap(parcel, &mut lock(&posts[self.own].parcels[to]));
        }
        self.wait();
        let posts = &self.shared.posts[1 - self.turn];
        for (from, parcel) in parcels.iter_mut().enumerate().filter(|&(from, _)| from != self.own) {
            swap(parcel, &mut lock(&posts[from].parcels[self.own]));
        }
        posts.iter().map(|post| *lock(&post.state)).fold(state, PartState::and)
    }
}

/// The engines of a run.
pub struct Fleet {
    shared: Arc<Shared>,
    meeting: Meeting,
    workers: Vec<JoinHandle<()>>,
}

impl Fleet {
    /// One engine, or one for each of the parts of which nodes are.
    pub fn new(engines: Vec<Arc<Mutex<Engine>>>, part_of: Vec<u32>) -> Fleet {
        let parts = engines.len();
        if parts > 1 {
            for (own, engine) in (0..).zip(&engines) {
                lock(engine).run_part(&part_of, own);
            }
        }
        let posts = || (0..parts).map(|_| Post::new(parts)).collect();
        let shared = Arc::new(Shared {
            engines,
            part_of: if parts > 1 { part_of } else { Vec::new() },
            command: Mutex::new(None),
            gate: Gate::new(parts),
            busy: AtomicU64::new(0),
            posts: [posts(), posts()],
        });
        let meeting = |own| Meeting { own, turn: 0, since: Instant::now(), shared: Arc::clone(&shared) };
        let workers = (1..parts).map(meeting).map(|meeting| thread::spawn(|| work(meeting))).collect();
        Fleet { meeting: meeting(0), shared, workers }
    }

    /// Runs all events before `end`, unless something comes in between.
    pub fn run_until(&mut self, end: Nanos) -> Stop {
        let shared = Arc::clone(&self.shared);
        if self.workers.is_empty() {
            return lock(&shared.engines[0]).run_until(end);
        }
        *lock(&shared.command) = Some(end);
        self.meeting.wait();
        let stop = lock(&shared.engines[0]).run_beside(&mut self.meeting, end);
        self.meeting.wait();
        stop
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
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if self.workers.is_empty() {
            return;
        }
        *lock(&self.shared.command) = None;
        self.shared.gate.wait();
        for worker in self.workers.drain(..) {
            // One that has panicked has said so.
            worker.join().unwrap_or_default();
        }
    }
}

/// Runs a part whenever the others do.
fn work(mut meeting: Meeting) {
    let shared = Arc::clone(&meeting.shared);
    loop {
        meeting.wait();
        let Some(end) = *lock(&shared.command) else { return };
        lock(&shared.engines[meeting.own]).run_beside(&mut meeting, end);
        meeting.wait();
    }
}

/// A network that stands still.
pub struct Paused<'a> {
    engines: Vec<MutexGuard<'a, Engine>>,
    part_of: &'a [u32],
}

impl Paused<'_> {
    fn part(&self, node: u32) -> usize {
        self.part_of.get(node as usize).map_or(0, |&part| part as usize)
    }

    /// The engine that runs a node.
    fn of(&self, node: u32) -> &Engine {
        &self.engines[self.part(node)]
    }

    /// All engines, for what is asked of each alike.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Engine> {
        self.engines.iter_mut().map(|engine| &mut **engine)
    }

    pub fn now(&self) -> Nanos {
        self.engines[0].now()
    }

    /// The network with its routes.
    pub fn fabric(&self) -> &Fabric {
        self.engines[0].fabric()
    }

    /// Why the run cannot go on, if it cannot.
    pub fn fault(&self) -> Option<&str> {
        self.engines.iter().find_map(|engine| engine.fault())
    }

    pub fn next_time(&mut self) -> Option<Nanos> {
        self.engines.iter_mut().filter_map(|engine| engine.next_time()).min()
    }

    /// Reserves the place of a sample among the events of its time: the same in all parts.
    pub fn reserve_sample(&mut self) -> u64 {
        self.each().map(Engine::reserve_sample).fold(0, u64::max)
    }

    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.each().for_each(|engine| engine.sample_at(at, place));
    }

    pub fn take_started(&mut self) -> Vec<Started> {
        let mut started: Vec<_> = self.each().flat_map(Engine::take_started).collect();
        started.sort_by_key(|flow| flow.request.start);
        started
    }

    /// What ranks of jobs have noted.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        self.each().flat_map(Engine::take_notes).collect()
    }

    /// What ranks of jobs had under way and is over.
    pub fn take_spans(&mut self) -> Vec<Span> {
        self.each().flat_map(Engine::take_spans).collect()
    }

    /// Whether a rank of a job computes, or a message waits or is under way within a server.
    pub fn jobs_wait(&self) -> bool {
        self.engines.iter().any(|engine| engine.jobs_wait())
    }

    /// What attackers did.
    pub fn attacks(&self) -> impl Iterator<Item = &Attack> {
        self.engines[0].attacks()
    }

    /// Ranks of jobs that are not over.
    pub fn unfinished_ranks(&self) -> impl Iterator<Item = Unfinished> + '_ {
        self.engines.iter().flat_map(|engine| engine.unfinished_ranks())
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
        self.each().flat_map(Engine::take_refused).collect()
    }

    /// Flows that have finished, in the order in which one engine has them.
    pub fn take_completed(&mut self) -> Vec<Completion> {
        let mut completed: Vec<_> = self.each().flat_map(Engine::take_completed).collect();
        if self.engines.len() > 1 {
            completed.sort_by_key(|flow| (flow.request.start + flow.duration, flow.request.src));
        }
        completed
    }

    /// Flows that have not begun.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowRequest> {
        self.engines[0].waiting()
    }

    /// The switches that have something to say in this sample.
    pub fn sampled_switches(&self) -> impl Iterator<Item = u32> + '_ {
        self.engines.iter().flat_map(|engine| engine.sampled_switches().iter().copied())
    }

    pub fn sampled_queue(&self, node: u32, port: u16) -> u32 {
        self.of(node).sampled_queue(node, port)
    }

    pub fn sent(&self, node: u32, port: u16) -> Option<u64> {
        self.of(node).sent(node, port)
    }

    pub fn errors(&self, node: u32, port: u16) -> u64 {
        self.of(node).errors(node, port)
    }

    pub fn acked(&self, src: u32, queue_pair: u32, first_seq: u64) -> u64 {
        self.of(src).acked(src, queue_pair, first_seq)
    }

    pub fn control(&self, src: u32, queue_pair: u32) -> ControlState {
        self.of(src).control(src, queue_pair)
    }

    /// The newest round-trip time of a flow from a host.
    pub fn rtt(&self, src: u32, flow: u32) -> Option<Nanos> {
        self.of(src).rtt(flow)
    }

    pub fn events_run(&self) -> u64 {
        self.engines.iter().map(|engine| engine.events_run()).sum()
    }

    pub fn packet_hops(&self) -> u64 {
        self.engines.iter().map(|engine| engine.packet_hops()).sum()
    }

    pub fn totals(&self) -> Totals {
        self.engines.iter().fold(Totals::default(), |mut sum, engine| {
            sum += engine.totals();
            sum
        })
    }

    pub fn notice_totals(&self) -> NoticeTotals {
        self.engines.iter().fold(NoticeTotals::default(), |mut sum, engine| {
            sum += engine.notice_totals();
            sum
        })
    }

    /// What waits at switches that pause others.
    pub fn waits(&self) -> impl Iterator<Item = Wait> + '_ {
        self.engines.iter().flat_map(|engine| engine.waits())
    }

    /// What watchdogs have found.
    pub fn storms(&self) -> Vec<Storm> {
        self.engines.iter().flat_map(|engine| engine.storms()).copied().collect()
    }

    pub fn host_counters(&self) -> impl Iterator<Item = Counters> + '_ {
        self.engines.iter().flat_map(|engine| engine.host_counters())
    }
}
