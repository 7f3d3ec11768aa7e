// SPDX-License-Identifier: GPL-2.0-only
//! Processes that share a run, its ranks: each has the engine of its part. Rank 0 decides everything, as the process of a run that
//! nobody shares does; the others do as it says, and report.
//!
//! ```text
//! rank 0                                    the others
//! Run::new                                  Run::new            the same engines, each of its part
//! Others::run  ------- Command::Run ------> Run::serve
//!   run_beside <------ parcels -----------> run_beside          between two windows
//!   Others     <------ Report ------------- Report::of          at each pause
//! ```

use crate::fleet::lock;
use crate::run::Run;
use crate::usage::{cpu_time, peak_rss_bytes};
use hpcc_core::engine::{
    Completion, ControlState, Engine, FlowRequest, Hold, NoticeTotals, Parcel, PartState, Peers, Started, Stop, Storm,
    Totals, Wait,
};
use hpcc_core::transport::Counters;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Noted, Span, Unfinished};
use hpcc_model::results::RankSummary;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::take;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The processes of a run, of which this is one.
pub trait Ranks {
    /// Which one, from 0 on.
    fn rank(&self) -> u32;
    /// How many there are.
    fn size(&self) -> u32;
    /// Waits for all. `out[n]` goes to rank n, and `into[n]` becomes what rank n has for this one. Returns the least of all values.
    fn exchange(&mut self, value: u64, out: &[Vec<u8>], into: &mut [Vec<u8>]) -> u64;
}

/// What rank 0 has the others do.
#[derive(Serialize, Deserialize)]
enum Command {
    /// They run until then; before, they reserve places for samples, and schedule one.
    Run { end: Nanos, places: u32, sample: Option<(Nanos, u64)> },
    /// They tell of flows under way.
    Flows,
    /// They tell what has arrived of these flows, which receivers know by these numbers.
    Arrived(Vec<(Started, u32)>),
    /// They tell what waits at switches that pause others.
    Waits,
    /// They tell what is left to tell.
    Finish,
}

/// What a part has to say when it pauses.
#[derive(Default, Serialize, Deserialize)]
pub struct Report {
    pub next: Option<Nanos>,
    pub fault: Option<String>,
    pub started: Vec<Started>,
    pub refused: Vec<FlowRequest>,
    pub completed: Vec<Completion>,
    pub notes: Vec<Noted>,
    pub spans: Vec<Span>,
    pub jobs_wait: bool,
    /// Switches whose queues are not as in the sample before, and these.
    pub sampled: Vec<(u32, Vec<u32>)>,
    pub events: u64,
    pub packet_hops: u64,
    /// For how long each has waited, in ns.
    waited: Vec<u64>,
    /// Rows of results, by process.
    pub rows: Vec<Vec<u8>>,
}

impl Report {
    fn of(engine: &mut Engine) -> Report {
        let queues = |&node: &u32| (node, engine.sampled_queues(node).to_vec());
        let sampled = engine.sampled_switches().iter().map(queues).collect();
        Report {
            next: engine.next_time(),
            fault: engine.fault().map(Into::into),
            started: engine.take_started(),
            refused: engine.take_refused(),
            completed: engine.take_completed(),
            notes: engine.take_notes(),
            spans: engine.take_spans(),
            jobs_wait: engine.jobs_wait(),
            sampled,
            events: engine.events_run(),
            packet_hops: engine.packet_hops(),
            ..Report::default()
        }
    }

    fn and(mut self, mut other: Report) -> Report {
        self.next = self.next.into_iter().chain(other.next).min();
        self.fault = self.fault.or(other.fault);
        self.started.append(&mut other.started);
        self.refused.append(&mut other.refused);
        self.completed.append(&mut other.completed);
        self.notes.append(&mut other.notes);
        self.spans.append(&mut other.spans);
        self.jobs_wait |= other.jobs_wait;
        self.sampled.append(&mut other.sampled);
        self.events += other.events;
        self.packet_hops += other.packet_hops;
        self.waited.append(&mut other.waited);
        self.rows.append(&mut other.rows);
        self
    }
}

/// What a part has to say when all is over.
#[derive(Default, Serialize, Deserialize)]
pub struct Remains {
    pub counters: Counters,
    pub totals: Totals,
    pub notices: NoticeTotals,
    pub storms: Vec<Storm>,
    pub holds: Vec<Hold>,
    pub unfinished: Vec<Unfinished>,
    flows: Vec<(u32, FlowState)>,
    pub rows: Vec<Vec<u8>>,
    /// By process; of rank 0 as well.
    pub figures: Vec<RankSummary>,
}

impl Remains {
    fn of(engine: &Engine) -> Remains {
        Remains {
            counters: engine.host_counters().sum(),
            totals: engine.totals(),
            notices: engine.notice_totals(),
            storms: engine.storms().into(),
            unfinished: engine.unfinished_ranks().collect(),
            ..Remains::default()
        }
    }

    fn and(mut self, mut other: Remains) -> Remains {
        self.counters += other.counters;
        self.totals += other.totals;
        self.notices += other.notices;
        self.storms.append(&mut other.storms);
        self.holds.append(&mut other.holds);
        self.unfinished.append(&mut other.unfinished);
        self.flows.append(&mut other.flows);
        self.rows.append(&mut other.rows);
        self.figures.append(&mut other.figures);
        self
    }
}

/// A flow under way.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct FlowState {
    pub acked: u64,
    pub control: ControlState,
    pub rtt: Option<Nanos>,
    /// The number by which its receiver knows it.
    pub receiver: Option<u32>,
}

impl FlowState {
    fn of(engine: &Engine, flow: &Started) -> FlowState {
        FlowState {
            acked: engine.acked_of(flow),
            control: engine.control_of(flow),
            rtt: engine.rtt(flow.request.id),
            receiver: engine.receiver_of(flow),
        }
    }
}

/// How a process exchanges with the others, and what that has cost.
pub struct Exchange {
    ranks: Box<dyn Ranks>,
    /// By rank, for the next exchange and from the last.
    out: Vec<Vec<u8>>,
    into: Vec<Vec<u8>>,
    did: RankSummary,
    /// Real and processor time so far, in nothing but exchanges, and when the simulation began.
    waited: (Duration, Duration),
    began: (Instant, Duration),
}

fn bytes(what: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(what).expect("values in memory")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("ranks are processes of one program")
}

impl Exchange {
    pub fn new(ranks: Box<dyn Ranks>) -> Exchange {
        let boxes = || vec![Vec::new(); ranks.size() as usize];
        let (out, into) = (boxes(), boxes());
        let began = (Instant::now(), cpu_time());
        Exchange { ranks, out, into, did: RankSummary::default(), waited: Default::default(), began }
    }

    pub fn rank(&self) -> u32 {
        self.ranks.rank()
    }

    pub fn size(&self) -> u32 {
        self.ranks.size()
    }

    /// For how long it has waited for others.
    fn waited_ns(&self) -> u64 {
        self.waited.0.as_nanos() as u64
    }

    /// Sends what there is to send; the least of all values.
    pub fn exchange(&mut self, value: u64) -> u64 {
        let (wall, cpu) = (Instant::now(), cpu_time());
        self.did.windows += 1;
        self.did.sent_bytes += self.out.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        let least = self.ranks.exchange(value, &self.out, &mut self.into);
        self.out.iter_mut().for_each(Vec::clear);
        self.waited.0 += wall.elapsed();
        self.waited.1 += cpu_time().saturating_sub(cpu);
        least
    }

    /// What all have made or, where one has failed, its reason at rank 0, and no words elsewhere.
    pub fn agree<T>(&mut self, made: Result<T, String>) -> Result<T, String> {
        if let Err(why) = &made {
            self.out[0] = why.clone().into_bytes();
        }
        if self.exchange(made.is_ok().into()) > 0 {
            self.began = (Instant::now(), cpu_time());
            self.waited = Default::default();
            return made;
        }
        let told = self.into.iter().find(|words| !words.is_empty());
        Err(told.map(|words| String::from_utf8_lossy(words).into_owned()).unwrap_or_default())
    }

    /// Rank 0 tells the others.
    fn tell(&mut self, command: &Command) {
        let bytes = bytes(command);
        self.out[1..].iter_mut().for_each(|out| out.clone_from(&bytes));
        self.exchange(0);
    }

    fn hear(&mut self) -> Command {
        self.exchange(0);
        read(&self.into[0])
    }

    /// Rank 0 is told.
    fn report(&mut self, what: &impl Serialize) {
        self.out[0] = bytes(what);
        self.exchange(0);
    }

    fn reports<T: DeserializeOwned>(&mut self) -> impl Iterator<Item = T> + '_ {
        self.exchange(0);
        self.into[1..].iter().map(|bytes| read(bytes))
    }

    fn figures(&self, engine: &Engine, nodes: u64) -> Vec<RankSummary> {
        let (waited, (wall, cpu)) = (self.waited, self.began);
        vec![RankSummary {
            nodes,
            devices: engine.fabric().network().links.len() as u64 * 2,
            events: engine.events_run(),
            packet_hops: engine.packet_hops(),
            cpu_s: cpu_time().saturating_sub(cpu + waited.1).as_secs_f64(),
            busy_s: wall.elapsed().saturating_sub(waited.0).as_secs_f64(),
            waited_s: waited.0.as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            ..self.did.clone()
        }]
    }
}

impl Peers for Exchange {
    fn meet(&mut self, state: PartState, parcels: &mut [Parcel]) -> PartState {
        for (out, parcel) in self.out.iter_mut().zip(&*parcels).filter(|(_, parcel)| !parcel.is_empty()) {
            self.did.sent_frames += parcel.frames() as u64;
            *out = bytes(parcel);
        }
        let next = state.next.map_or(u64::MAX, |next| next.0 + 1);
        let least = self.exchange(if state.is_faulty { 0 } else { next });
        for (parcel, bytes) in parcels.iter_mut().zip(&self.into) {
            *parcel = if bytes.is_empty() { Parcel::default() } else { read(bytes) };
        }
        PartState { next: (0 < least && least < u64::MAX).then(|| Nanos(least - 1)), is_faulty: least == 0 }
    }
}

/// The others as rank 0 knows them: nobody, where a run is not shared.
#[derive(Default)]
pub struct Others {
    exchange: Option<Rc<RefCell<Exchange>>>,
    /// For the next command.
    places: u32,
    sample: Option<(Nanos, u64)>,
    pub report: Report,
    /// Of switches, when the last sample was taken.
    pub queues: BTreeMap<u32, Vec<u32>>,
    /// By number, when they were asked last.
    pub flows: BTreeMap<u32, FlowState>,
    /// Bytes that have arrived there, by flow, when they were asked last.
    pub arrived: BTreeMap<u32, u64>,
    pub remains: Remains,
}

impl Others {
    pub fn new(exchange: Rc<RefCell<Exchange>>) -> Others {
        Others { exchange: Some(exchange), ..Others::default() }
    }

    /// A place was reserved for a sample.
    pub fn reserve_sample(&mut self) {
        self.places += 1;
    }

    pub fn sample_at(&mut self, at: Nanos, place: u64) {
        self.sample = Some((at, place));
    }

    /// What was done while a run was made the others have done themselves.
    pub fn begin(&mut self) {
        (self.places, self.sample) = (0, None);
    }

    /// All run until `end`.
    pub fn run(&mut self, engine: &mut Engine, end: Nanos) -> Stop {
        let Some(exchange) = &self.exchange else { return engine.run_until(end) };
        let mut exchange = exchange.borrow_mut();
        exchange.tell(&Command::Run { end, places: take(&mut self.places), sample: self.sample.take() });
        let stop = engine.run_beside(&mut *exchange, end);
        self.report = exchange.reports().fold(Report::default(), Report::and);
        for (node, queues) in &mut self.report.sampled {
            self.queues.insert(*node, take(queues));
        }
        if self.report.fault.is_some() { Stop::Fault } else { stop }
    }

    /// For how long each process has waited, if there are several.
    pub fn waited(&self) -> Vec<u64> {
        let own = self.exchange.iter().map(|exchange| exchange.borrow().waited_ns());
        own.chain(self.report.waited.iter().copied()).collect()
    }

    /// Asks for the state of flows under way.
    pub fn ask_flows(&mut self) {
        let Some(exchange) = &self.exchange else { return };
        let mut exchange = exchange.borrow_mut();
        exchange.tell(&Command::Flows);
        self.flows = exchange.reports::<Vec<_>>().flatten().collect();
    }

    /// Whether there are any.
    pub fn are_some(&self) -> bool {
        self.exchange.is_some()
    }

    /// Asks what has arrived of flows, which receivers know by these numbers.
    pub fn ask_arrived(&mut self, flows: Vec<(Started, u32)>) {
        let Some(exchange) = &self.exchange else { return };
        let mut exchange = exchange.borrow_mut();
        exchange.tell(&Command::Arrived(flows));
        self.arrived = exchange.reports::<Vec<_>>().flatten().collect();
    }

    pub fn ask_waits(&mut self) -> Vec<Wait> {
        let Some(exchange) = &self.exchange else { return Vec::new() };
        let mut exchange = exchange.borrow_mut();
        exchange.tell(&Command::Waits);
        exchange.reports::<Vec<_>>().flatten().collect()
    }

    /// Asks for all that is left to tell. They are gone then.
    pub fn finish(&mut self, engine: &Engine, nodes: u64) {
        let Some(exchange) = &self.exchange else { return };
        let mut exchange = exchange.borrow_mut();
        exchange.tell(&Command::Finish);
        let own = Remains { figures: exchange.figures(engine, nodes), ..Remains::default() };
        self.remains = exchange.reports().fold(own, Remains::and);
        self.flows = take(&mut self.remains.flows).into_iter().collect();
    }
}

impl Run {
    /// Does what rank 0 says, until that is over. `fault`: as of [`Run::advance`].
    pub(crate) fn serve(self, exchange: &mut Exchange, fault: &dyn Fn() -> Option<String>) {
        let mut active = BTreeMap::new();
        let flows = |active: &BTreeMap<u32, Started>, engine: &Engine| -> Vec<(u32, FlowState)> {
            active.iter().map(|(&id, flow)| (id, FlowState::of(engine, flow))).collect()
        };
        loop {
            let command = exchange.hear();
            let mut paused = self.fleet.pause();
            match command {
                Command::Run { end, places, sample } => {
                    (0..places).for_each(|_| _ = paused.reserve_sample());
                    if let Some((at, place)) = sample {
                        paused.sample_at(at, place);
                    }
                    let engine = paused.whole();
                    let stop = engine.run_beside(exchange, end);
                    let mut report = Report::of(engine);
                    report.fault = fault().or(report.fault);
                    report.waited.push(exchange.waited_ns());
                    active.extend(report.started.iter().map(|flow| (flow.request.id, *flow)));
                    report.completed.iter().for_each(|flow| _ = active.remove(&flow.request.id));
                    if stop == Stop::Time {
                        report.rows.push(lock(&self.writer).take_rows());
                    }
                    exchange.report(&report);
                }
                Command::Flows => exchange.report(&flows(&active, paused.whole())),
                Command::Arrived(flows) => {
                    let arrived = |(flow, receiver): &(Started, u32)| {
                        Some((flow.request.id, paused.known_arrived(flow, *receiver)?))
                    };
                    exchange.report(&flows.iter().filter_map(arrived).collect::<Vec<(u32, u64)>>());
                }
                Command::Waits => exchange.report(&paused.whole().waits()),
                Command::Finish => {
                    let nodes = paused.own_nodes();
                    drop(paused);
                    self.tell_ports();
                    let mut paused = self.fleet.pause();
                    let engine = paused.whole();
                    let remains = Remains {
                        holds: take(&mut *lock(&self.holds)),
                        flows: flows(&active, engine),
                        rows: vec![lock(&self.writer).take_rows()],
                        figures: exchange.figures(engine, nodes),
                        ..Remains::of(engine)
                    };
                    return exchange.report(&remains);
                }
            }
        }
    }
}
