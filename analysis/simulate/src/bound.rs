// SPDX-License-Identifier: GPL-2.0-only
//! The least time that a job can take, however its messages share links.
//!
//! It is the longest of
//!
//! - the way through the job in which each message takes as long as alone, each GPU and NIC sends any number of messages at once,
//!   and a rank ends a collective no sooner than its own links have carried all that it sends and receives for it,
//! - for each link of a host, GPU, channel within a server and stream of computations: what it has to do, behind each other, from
//!   the soonest that this way asks for it on, and the least that follows.
//!
//! So no order of messages, and no division of a link among them, is faster. What happens beyond the links of hosts is left out.
//! Where the order of messages decides which receive takes which, each receive takes the first of all that it may take. It is no
//! bound only where receives of one source and tag are posted in an order that depends on times.

use crate::fluid::quick::QuickMap;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{Collective, Plan};
use hpcc_core::workload::{Graph, GraphBuilder, Job, Jobs, Message, Note, Noted, Program, Servers, Waiting, Work};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::jobs::alike::Alike;
use hpcc_model::jobs::ideal::{JobEnd, Machine, Times, run_on};
use std::collections::{BTreeMap, VecDeque};

const PICOS: u64 = 1_000;

/// What a message costs where nothing else is under way.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// How long it takes.
    pub times: Times,
    /// The link by which it leaves its host, if it is to leave by one.
    pub link: Option<u8>,
    /// What it is for the links of its host.
    pub leaves: Busy,
    /// What it is for the links of the host that it goes to.
    pub comes: Busy,
}

/// For how long links are busy with a message.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    /// For so many picoseconds one of them.
    pub time: u64,
    /// So many may take it, and carry as many others meanwhile.
    pub links: u64,
}

impl Busy {
    /// Of all links together, which do one thing at a time here.
    fn share(self) -> u64 {
        self.time / self.links
    }
}

/// What does one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Server {
    /// A link of a host, or all of them, by which messages leave.
    Out(u32, Option<u8>),
    /// All links of a host, by which they come.
    In(u32),
    /// The time between two messages of a host's NIC.
    Nic(u32),
    /// What a rank sends within its server.
    Gpu(u32),
    /// What it sends there to one other rank by one channel.
    Channel(u32, u32, u16),
    /// Computations of a rank that take the same resource.
    Stream(u32, u16),
}

/// Work of a server in picoseconds, one after the other.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// From when on there is any, and how much.
    first: u64,
    sum: u64,
    /// When those can be over of which each is there no sooner than the ones before, and from when on the last one is.
    end: u64,
    last: u64,
    /// The least that passes after any of it until who has asked for it knows.
    rest: u64,
}

impl Load {
    const NOTHING: Load = Load { first: u64::MAX, sum: 0, end: 0, last: 0, rest: u64::MAX };

    fn add(&mut self, from: u64, work: u64, rest: u64) {
        self.first = self.first.min(from);
        self.sum = self.sum.saturating_add(work);
        // What was there before goes before.
        if from >= self.last {
            (self.end, self.last) = (self.end.max(from).saturating_add(work), from);
        }
        self.rest = self.rest.min(rest);
    }

    fn end(&self) -> Nanos {
        if self.first == u64::MAX {
            return Nanos(0);
        }
        Nanos(self.first.saturating_add(self.sum).max(self.end).saturating_add(self.rest) / PICOS)
    }
}

/// What a rank has to send and to receive for a collective at least, from its own begin, and from the first begin of any rank on.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    own: Nanos,
    any: Nanos,
}

/// A job on links that do not hold it up, and what they have to do.
struct Bound<'a, C> {
    cost: &'a mut C,
    /// In picoseconds, for each part of a message.
    nic_interval: u64,
    graphs: &'a [Graph],
    loads: QuickMap<Server, Load>,
    least: &'a LeastTimes,
    /// When the first rank began a collective, by its number and iteration.
    begun: BTreeMap<(u32, u32), Nanos>,
    /// Begins of ranks whose wait comes next.
    begins: VecDeque<(u32, u32, Nanos)>,
}

impl<C> Bound<'_, C> {
    fn load(&mut self, server: Server, from: u64, work: u64, rest: u64) {
        self.loads.entry(server).or_insert(Load::NOTHING).add(from, work, rest);
    }
}

impl<C: FnMut(&Message) -> Cost> Machine for Bound<'_, C> {
    fn message(&mut self, message: &Message, now: Nanos) -> Times {
        let Cost { times, link, leaves, comes } = (self.cost)(message);
        let now = picos(now);
        let [arrival, acknowledged] = [times.arrival, times.acknowledged].map(picos);
        let rest = acknowledged.saturating_sub(leaves.time);
        self.load(Server::Out(message.src, link), now, leaves.share(), rest);
        // Its first byte comes so much later than it leaves.
        let from = now.saturating_add(arrival.saturating_sub(comes.time));
        self.load(Server::In(message.dst), from, comes.share(), acknowledged.saturating_sub(arrival));
        if self.nic_interval > 0 {
            self.load(Server::Nic(message.src), now, self.nic_interval, 0);
        }
        times
    }

    fn wait(&mut self, time: Nanos, waiting: &Waiting, now: Nanos) -> Nanos {
        match *waiting {
            Waiting::Pause(rank, token) if Collective::is_least_time(token) => {
                let Some((begun_by, collective, first)) = self.begins.pop_front() else { return time };
                debug_assert_eq!(rank, begun_by, "begins and waits have one order");
                let Least { own, any } = self.least.of(rank, collective);
                own.max(Nanos((first.0.saturating_add(any.0)).saturating_sub(now.0)))
            }
            Waiting::Computation(rank, token) => {
                if let Some(resource) = self.graphs.get(rank as usize).and_then(|graph| graph.resource_of(token)) {
                    self.load(Server::Stream(rank, resource), picos(now), picos(time), 0);
                }
                time
            }
            Waiting::Pause(..) | Waiting::Sent(_) | Waiting::Message(_) | Waiting::Arrival(_) => time,
        }
    }

    fn note(&mut self, noted: &Noted) {
        let Note::Begin { collective, iteration } = noted.note else { return };
        let first = *self.begun.entry((collective, iteration)).or_insert(noted.at);
        self.begins.push_back((noted.rank, collective, first));
    }

    fn inside(&mut self, message: &Message, busy: Nanos, now: Nanos) {
        self.load(Server::Gpu(message.from), picos(now), picos(busy), 0);
        if message.busy() > Nanos(0) {
            let channel = Server::Channel(message.from, message.to, message.dport);
            self.load(channel, picos(now), picos(message.busy()), 0);
        }
    }
}

fn picos(time: Nanos) -> u64 {
    time.0.saturating_mul(PICOS)
}

/// What ranks have to send and to receive for each collective, at least.
struct LeastTimes {
    alike: Alike,
    /// By rank and class.
    times: QuickMap<(u32, u32), Least>,
}

impl LeastTimes {
    fn of(&self, rank: u32, collective: u32) -> Least {
        let class = self.alike.class.get(collective as usize);
        class.and_then(|&class| self.times.get(&(rank, class))).copied().unwrap_or_default()
    }

    /// Nobody has to send or to receive.
    fn none() -> LeastTimes {
        LeastTimes { alike: Alike::new(&[]), times: QuickMap::default() }
    }

    /// Those of a job: one collective of each class runs, all of them beside each other.
    fn new(spec: &JobSpec, servers: Option<Servers>, cost: &mut impl FnMut(&Message) -> Cost) -> LeastTimes {
        let plans = spec.collectives();
        let mut sums = Sums { cost, alike: Alike::new(plans), loads: QuickMap::default() };
        let mut graphs: Vec<GraphBuilder> = spec.gpus.iter().map(|_| GraphBuilder::default()).collect();
        for &(first, _) in &sums.alike.classes {
            let plan = Plan { iterations: 1, ..plans[first as usize].clone() };
            for (&rank, place) in plan.group.iter().zip(0..) {
                let collective = Work::Collective(Box::new(Collective::new(plan.clone(), place)));
                graphs[rank as usize].add(collective, None);
            }
        }
        let program = |graph: GraphBuilder| Some(Box::new(graph.build().ok()?) as Box<dyn Program>);
        let job = with_programs(spec, graphs.into_iter().map(program));
        run_on(&mut sums, job, Jobs::new(0, servers).without_queues());
        let mut times = QuickMap::<(u32, u32), Least>::default();
        for ((rank, class, server), load) in sums.loads {
            let Least { own, any } = times.entry((rank, class)).or_default();
            let of_server = if matches!(server, Server::In(_)) { any } else { own };
            *of_server = (*of_server).max(load.end());
        }
        LeastTimes { alike: sums.alike, times }
    }
}

/// What links have to carry for each rank and class of collectives.
struct Sums<'a, C> {
    cost: &'a mut C,
    alike: Alike,
    loads: QuickMap<(u32, u32, Server), Load>,
}

impl<C> Sums<'_, C> {
    fn add(&mut self, rank: u32, message: &Message, server: Server, work: u64, rest: u64) {
        let number = Collective::number_of(message.tag);
        let class = number.and_then(|number| self.alike.class.get(number as usize));
        if let Some(&class) = class {
            self.loads.entry((rank, class, server)).or_insert(Load::NOTHING).add(0, work, rest);
        }
    }
}

impl<C: FnMut(&Message) -> Cost> Machine for Sums<'_, C> {
    fn message(&mut self, message: &Message, _: Nanos) -> Times {
        let Cost { times, link, leaves, comes } = (self.cost)(message);
        let rest = picos(times.acknowledged).saturating_sub(leaves.time);
        self.add(message.from, message, Server::Out(message.src, link), leaves.share(), rest);
        let before = picos(times.arrival).saturating_sub(comes.time);
        self.add(message.to, message, Server::In(message.dst), comes.share(), before);
        times
    }

    fn wait(&mut self, time: Nanos, _: &Waiting, _: Nanos) -> Nanos {
        time
    }

    fn inside(&mut self, message: &Message, busy: Nanos, _: Nanos) {
        self.add(message.from, message, Server::Gpu(message.from), picos(busy), 0);
        if message.busy() > Nanos(0) {
            let channel = Server::Channel(message.from, message.to, message.dport);
            self.add(message.from, message, channel, picos(message.busy()), 0);
        }
    }
}

/// The least time of a job whose messages cost as much.
pub fn least_time(spec: &JobSpec, servers: Option<Servers>, mut cost: impl FnMut(&Message) -> Cost) -> Nanos {
    // What a single collective's links have to carry is what they have to do in all.
    let is_single = matches!(&spec.work, JobWork::Collective(plan) if plan.iterations == 1);
    let least = if is_single { LeastTimes::none() } else { LeastTimes::new(spec, servers, &mut cost) };
    let program = |rank: u32| -> Option<Box<dyn Program>> {
        match &spec.work {
            JobWork::Collective(_) if is_single => None,
            JobWork::Collective(plan) => Some(Box::new(Collective::new(plan.clone(), rank).with_least_time())),
            JobWork::Graphs { graphs, .. } => {
                Some(Box::new(graphs[rank as usize].clone().with_least_times().without_resources()))
            }
            JobWork::Outside => None,
        }
    };
    let job = with_programs(spec, (0..).map(program));
    let mut bound = Bound {
        cost: &mut cost,
        nic_interval: picos(job.nic_interval) / u64::from(spec.leaving.parts()),
        graphs: if let JobWork::Graphs { graphs, .. } = &spec.work { graphs } else { &[] },
        loads: QuickMap::default(),
        least: &least,
        begun: BTreeMap::new(),
        begins: VecDeque::new(),
    };
    let untaken =
        bound.graphs.iter().zip(0..).filter(|(graph, _)| graph.order_decides_receives()).map(|(_, rank)| rank);
    let jobs = Jobs::new(0, servers).without_queues().without_taking(untaken);
    let JobEnd { time, .. } = run_on(&mut bound, job, jobs);
    bound.loads.values().map(Load::end).fold(time, Nanos::max)
}

/// The job whose ranks do something else, where there is something.
fn with_programs(spec: &JobSpec, programs: impl Iterator<Item = Option<Box<dyn Program>>>) -> Job {
    let job = spec.job();
    let ranks = job.ranks.into_iter().zip(programs).map(|((gpu, own), other)| (gpu, other.unwrap_or(own)));
    Job { ranks: ranks.collect(), ..job }
}
