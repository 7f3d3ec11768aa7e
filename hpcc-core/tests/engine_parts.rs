// SPDX-License-Identifier: MIT OR Apache-2.0
//! Engines that share a network give the results of one.

use hpcc_core::balance;
use hpcc_core::engine::{Completion, Engine, FlowOptions, FlowRequest, Order, Parcel, PartState, Peers, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Input;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::transport::QueuePairs;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::collective::{Collective, Kind, Plan, find};
use hpcc_core::workload::{GraphBuilder, Hardware, Job, Jobs, MessageCosts, Noted, Program, Servers, Work};
use std::mem::swap;
use std::rc::Rc;
use std::sync::{Barrier, Mutex};
use std::thread;

const LEAVES: u32 = 3;
const HOSTS: u32 = 4 * LEAVES;
const PARTS: usize = LEAVES as usize;

/// Leaves with four hosts each, and two spines.
fn network() -> Network {
    let nodes = (0..HOSTS + LEAVES + 2).map(|node| if node < HOSTS { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b, delay| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(delay), loss: 0.001 };
    let hosts = (0..HOSTS).map(|host| link(host, HOSTS + host / 4, 300));
    let spines = (0..2 * LEAVES).map(|n| link(HOSTS + n % LEAVES, HOSTS + LEAVES + n / LEAVES, 700));
    Network { nodes: nodes.collect(), links: hosts.chain(spines).collect() }
}

/// The part of each node: a leaf with its hosts, and the spines with the first.
fn part_of(node: u32) -> u32 {
    match node {
        host if host < HOSTS => host / 4,
        leaf if leaf < HOSTS + LEAVES => leaf - HOSTS,
        _ => 0,
    }
}

/// A choice of a section.
type Choice = (&'static str, &'static str, &'static str);

/// Flows under some choice, and perhaps jobs.
fn engine((section, key, name): Choice, has_jobs: bool) -> Engine {
    let network = network();
    let mut settings = NodeSettings::default();
    settings.set(section, None, key, Input::Text(name)).expect("a choice");
    if has_jobs {
        settings.transport.queue_pairs = QueuePairs::PerPair;
    }
    settings.resolve(&network);
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine = Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[])
        .expect("the defaults go together");
    // Incasts that come and go, so that queue pairs are used again, and a link that fails on the way.
    engine.add_flows((0..200).map(|id| {
        let (src, dst) = (id * 5 % HOSTS, id / 9 % HOSTS);
        let dst = if src == dst { (dst + 1) % HOSTS } else { dst };
        let (size, start) = (1_000 + u64::from(id * 7_919 % 60_000), Nanos(u64::from(id / 8) * 4_000));
        FlowRequest { id, src, dst, dport: 200, priority: 3, size, start, options: FlowOptions::NONE }
    }));
    engine.change_links(Nanos(40_500), &[HOSTS], false);
    engine.change_links(Nanos(90_000), &[HOSTS], true);
    if has_jobs {
        // The leaves of servers are those of parts.
        engine.add_jobs(jobs(Some(Servers {
            gpus: 4,
            nics: 4,
            rate: BitRate::gbps(900),
            latency: Nanos(50),
            pxn: true,
        })));
    }
    engine
}

/// A collective of all hosts, with two channels.
fn collective(kind: Kind, name: &str, start: Nanos) -> Job {
    let (channel, rate) = (Some(BitRate::gbps(300)), Some(BitRate::gbps(800)));
    let message = MessageCosts { before: Nanos(0), inside: Nanos(70), between: Nanos(333), channel, rate };
    let plan = Plan {
        pattern: find(kind, Some(name)).expect("an algorithm"),
        group: (0..HOSTS).collect(),
        layout: None,
        size: 100_000,
        parts: None,
        wire: (1, 1),
        channels: 2,
        first_channel: 0,
        chunk: 30_000,
        depth: 2,
        window: 4,
        iterations: 3,
        gap: Nanos(777),
        number: 0,
        hardware: Hardware { launch: Nanos(500), staging: Some(BitRate::gbps(800)), message },
    };
    // Neighbours in the job are far from each other.
    let rank = |place| (place * 5 % HOSTS, Box::new(Collective::new(plan.clone(), place)) as Box<dyn Program>);
    Job {
        start,
        ranks: (0..HOSTS).map(rank).collect(),
        send_latency: Nanos(start.0 / 100),
        nic_interval: Nanos(90),
        priority: 3,
        dport: 200,
        ..Job::default()
    }
}

/// Collectives of all hosts, with a channel on the queue pairs of the flows and one on their own, one of which begins amid flows.
fn jobs(servers: Option<Servers>) -> Jobs {
    let mut jobs = Jobs::new(1_000, servers);
    for (kind, name, start) in
        [(Kind::AllReduce, "ring", 0), (Kind::AllToAll, "direct", 33_333), (Kind::Barrier, "dissemination", 50_000)]
    {
        jobs.add(collective(kind, name, Nanos(start)));
    }
    jobs
}

/// What the threads share: posts of two meetings in turn.
struct Place {
    barrier: Barrier,
    told: [[Mutex<Option<PartState>>; PARTS]; 2],
    parcels: [[[Mutex<Parcel>; PARTS]; PARTS]; 2],
}

struct Meeting<'a> {
    own: usize,
    turn: usize,
    place: &'a Place,
}

impl Peers for Meeting<'_> {
    fn meet(&mut self, told: PartState, parcels: &mut [Parcel]) -> PartState {
        let (all_told, posts) = (&self.place.told[self.turn], &self.place.parcels[self.turn]);
        self.turn = 1 - self.turn;
        *all_told[self.own].lock().expect("no panic") = Some(told);
        for to in (0..PARTS).filter(|&to| to != self.own) {
            swap(&mut parcels[to], &mut posts[self.own][to].lock().expect("no panic"));
        }
        self.place.barrier.wait();
        for from in (0..PARTS).filter(|&from| from != self.own) {
            swap(&mut parcels[from], &mut posts[from][self.own].lock().expect("no panic"));
        }
        let others = all_told.iter().map(|told| told.lock().expect("no panic").expect("all have told"));
        others.fold(told, PartState::and)
    }
}

fn sorted(mut flows: Vec<Completion>) -> Vec<Completion> {
    flows.sort_by_key(|flow| flow.request.id);
    flows
}

#[test]
fn parts_give_the_results_of_one() {
    for scheme in balance::all() {
        compare(("load_balancing", "scheme", scheme.name()), false);
    }
}

#[test]
fn parts_give_the_results_of_one_without_queue_pairs() {
    compare(("transport", "kind", "uec"), false);
}

/// Messages that wait for others cross from part to part.
#[test]
fn parts_run_jobs_as_one_does() {
    for kind in ["roce", "uec"] {
        compare(("transport", "kind", kind), true);
    }
}

fn sorted_notes(mut notes: Vec<Noted>) -> Vec<Noted> {
    notes.sort_by_key(|noted| (noted.job, noted.rank, noted.at));
    notes
}

/// One collective of all hosts that nothing disturbs.
fn engine_of_a_job() -> Engine {
    engine_of(collective(Kind::AllToAll, "direct", Nanos(500)))
}

fn engine_of(job: Job) -> Engine {
    let mut network = network();
    network.links.iter_mut().for_each(|link| link.loss = 0.0);
    let mut settings = NodeSettings::default();
    settings.transport.queue_pairs = QueuePairs::PerPair;
    settings.resolve(&network);
    let (settings, streams) = (Rc::new(settings), Streams { marks: 1, pint: 1, losses: 1, seed: 1 });
    let mut engine = Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[])
        .expect("the defaults go together");
    let mut jobs = Jobs::new(0, None);
    jobs.add(job);
    engine.add_jobs(jobs);
    engine
}

/// All messages are there from the beginning; a queue pair begins when it is its turn, a packet of 1,000 bytes after the other.
#[test]
fn queue_pairs_of_a_job_begin_in_their_turn() {
    let program = |rank| {
        let mut graph = GraphBuilder::default();
        for other in (0..HOSTS).filter(|&other| other != rank) {
            graph.add(Work::Send { to: other, tag: 1, size: 3_000, channel: 0 }, None);
            graph.add(Work::Receive { from: Some(other), tag: Some(1) }, None);
        }
        (rank, Box::new(graph.build().expect("no circle")) as Box<dyn Program>)
    };
    let ranks = (0..HOSTS).map(program).collect();
    let mut engine =
        engine_of(Job { start: Nanos(500), ranks, send_latency: Nanos(0), priority: 3, dport: 200, ..Job::default() });
    engine.run_until(Nanos(800));
    assert_eq!(engine.take_started().len() as u32, HOSTS * (HOSTS - 1));
    let (sending, receiving) = engine.queue_pairs(0);
    assert!((3..=4).contains(&sending) && receiving == HOSTS as usize - 1, "{sending} {receiving}");
    engine.run_until(Nanos(800_000_000));
    assert_eq!(engine.take_completed().len() as u32, HOSTS * (HOSTS - 1));
}

/// Queue pairs go when their last message has finished: in all parts alike, and it shows in no result.
#[test]
fn queue_pairs_of_a_job_go() {
    let (expected, alone) = same_in_parts(&engine_of_a_job);
    let (sending, receiving): (Vec<_>, Vec<_>) = (0..HOSTS).map(|host| alone.queue_pairs(host)).unzip();
    assert_eq!(receiving, [0; HOSTS as usize]);
    assert!(sending.iter().all(|&left| left <= 1), "one goes when its port looks for the next packet: {sending:?}");

    // A host that is captured shows numbers of queue pairs, and links that fail give them other ports: they stay.
    type Disturb = fn(&mut Engine);
    let watched: Disturb = |engine| engine.watch(0);
    let changed: Disturb = |engine| engine.change_links(Nanos::SECOND, &[0], true);
    for disturb in [watched, changed] {
        let mut engine = engine_of_a_job();
        disturb(&mut engine);
        engine.run_until(Nanos(800_000_000));
        assert_eq!(sorted(engine.take_completed()), expected);
        assert_eq!(engine.queue_pairs(0), (2 * (HOSTS as usize - 1), 2 * (HOSTS as usize - 1)));
    }
}

fn compare(choice: Choice, has_jobs: bool) {
    let (expected, alone) = same_in_parts(&|| engine(choice, has_jobs));
    let listed = expected.iter().filter(|flow| flow.request.id < 1_000).count();
    assert_eq!(listed, 200, "{choice:?}: all flows finish");
    assert!(!has_jobs || expected.len() > 2_000, "most messages go from server to server");
    assert!(alone.totals().losses > 0, "frames are lost");
}

/// The flows of an engine that runs all, and that engine.
fn same_in_parts(engine: &(dyn Fn() -> Engine + Sync)) -> (Vec<Completion>, Engine) {
    let mut alone = engine();
    alone.run_until(Nanos::SECOND);
    let expected = sorted(alone.take_completed());
    assert_eq!(alone.unfinished_ranks().next(), None);
    let expected_notes = sorted_notes(alone.take_notes());

    let place = Place { barrier: Barrier::new(PARTS), told: Default::default(), parcels: Default::default() };
    let of_node: Vec<u32> = (0..network().nodes.len() as u32).map(part_of).collect();
    let run = |own: usize| {
        let mut engine = engine();
        assert!(engine.run_part(&of_node, own as u32));
        engine.run_beside(&mut Meeting { own, turn: 0, place: &place }, Nanos::SECOND);
        assert_eq!(engine.unfinished_ranks().next(), None);
        (engine.take_completed(), engine.packet_hops(), engine.events_run(), engine.totals(), engine.take_notes())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..PARTS).map(|own| scope.spawn(move || run(own))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut totals = hpcc_core::engine::Totals::default();
    results.iter().for_each(|result| totals += result.3);
    assert_eq!(sorted(results.iter().flat_map(|result| result.0.clone()).collect()), expected);
    assert_eq!(sorted_notes(results.iter().flat_map(|result| result.4.clone()).collect()), expected_notes);
    assert_eq!(totals, alone.totals());
    assert_eq!(results.iter().map(|result| result.1).sum::<u64>(), alone.packet_hops());
    assert_eq!(results.iter().map(|result| result.2).sum::<u64>(), alone.events_run());
    assert!(results.iter().all(|result| result.1 > 1_000), "each part has work");
    (expected, alone)
}
