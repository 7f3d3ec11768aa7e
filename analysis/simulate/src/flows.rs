// SPDX-License-Identifier: GPL-2.0-only
//! Flows in progress, and what becomes of them.

use crate::fleet::Paused;
use crate::goodput::GoodputMeter;
use crate::jobs::JobResults;
use crate::panel::Slowdowns;
use hpcc_core::engine::{Completion, ENDLESS, FlowRequest, Started};
use hpcc_core::fabric::IdealFlow;
use hpcc_core::transport::Protocol;
use hpcc_core::units::Nanos;
use hpcc_model::results::control_csv::ControlRow;
use hpcc_model::results::{FctRecord, ResultWriter, RowPlace, UnfinishedFlow};
use hpcc_model::scenario::Scenario;
use std::collections::{BTreeMap, HashSet};

/// Flows longer than a bandwidth-delay product whose congestion control never moved rate or window, though they took more
/// than twice as long as alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncontrolled {
    pub count: u64,
    /// The first of them; it counts if there is one.
    pub first: u64,
}

/// All flows of a run.
pub struct Flows {
    active: BTreeMap<u32, Started>,
    refused: Vec<FlowRequest>,
    /// The number of each flow's group; messages of jobs have higher numbers.
    groups: Vec<u32>,
    pub jobs: JobResults,
    /// How many have begun, or were listed; at the end, without those that have none.
    pub total: u64,
    /// Of those without an end, how many were under way at the end of the run.
    pub endless: u64,
    pub finished: u64,
    pub finished_bytes: u64,
    /// When the last one finished.
    pub last_end: Nanos,
    goodput: Option<GoodputMeter>,
    quiet: Quiet,
    pub slowdowns: Slowdowns,
    pub uncontrolled: Uncontrolled,
    /// Acknowledged bytes of flows that a stack carries, as it has told them.
    pub acked: BTreeMap<u32, u64>,
    /// For a program, if one sees them.
    pub seen: Option<Seen>,
    /// The number of the group of the flows that a program starts, once it has started one.
    pub of_program: Option<u32>,
}

/// Flows that a program starts beside those of the scenario have numbers from here on.
pub const FIRST_OF_PROGRAM: u32 = 1 << 31;

/// Flows that have begun and finished, for a program that sees them.
#[derive(Default)]
pub struct Seen {
    /// Those that the engine carries, of the program itself as well.
    pub begun: Vec<Started>,
    /// The same, once they have finished.
    pub ended: Vec<Completion>,
}

/// So many samples in a row in which nothing of any flow is acknowledged have rows; those behind them have none, but for the
/// last before something is, or a flow begins or ends. A run whose flows are stuck does not fill a disk.
const QUIET: u32 = 1_000;

/// Samples of goodput in which nothing was acknowledged.
#[derive(Debug, Default)]
struct Quiet {
    /// How many in a row.
    samples: u32,
    /// Time of the last one without rows.
    held: Option<Nanos>,
}

/// Rows at the end are sorted by these numbers: flows in progress, flows at whose start the run ended, flows that have
/// not begun.
const REFUSED: u64 = 1 << 32;
const NOT_BEGUN: u64 = 2 << 32;

impl Flows {
    pub fn new(groups: Vec<u32>, jobs: JobResults, has_goodput: bool) -> Flows {
        Flows {
            active: BTreeMap::new(),
            refused: Vec::new(),
            total: groups.len() as u64,
            groups,
            jobs,
            endless: 0,
            finished: 0,
            finished_bytes: 0,
            last_end: Nanos(0),
            slowdowns: Slowdowns::default(),
            goodput: has_goodput.then(GoodputMeter::default),
            quiet: Quiet::default(),
            uncontrolled: Uncontrolled::default(),
            acked: BTreeMap::new(),
            seen: None,
            of_program: None,
        }
    }

    /// Whether all have finished.
    pub fn is_done(&self) -> bool {
        self.finished == self.total && self.jobs.is_done()
    }

    /// Whether none is in progress.
    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes in what has begun and ended. Returns flows that begin at hosts with a program's stack.
    pub fn take(
        &mut self,
        engine: &mut Paused<'_>,
        scenario: &Scenario,
        writer: &mut ResultWriter,
    ) -> Vec<FlowRequest> {
        let mut begun = Vec::new();
        for started in engine.take_started() {
            self.end_quiet(writer);
            self.total += u64::from(started.request.id as usize >= self.groups.len());
            if let Some(goodput) = &mut self.goodput {
                goodput.start(started.request.start, started.request.id);
            }
            if scenario.protocol(started.request.src).is_of_stack() {
                begun.push(started.request);
            } else if let Some(seen) = &mut self.seen {
                seen.begun.push(started);
            }
            if started.request.id >= FIRST_OF_PROGRAM {
                self.of_program.get_or_insert(scenario.flows.groups.len() as u32);
            }
            self.active.insert(started.request.id, started);
        }
        self.refused.extend(engine.take_refused());
        let (notes, spans) = (engine.take_notes(), engine.take_spans());
        self.jobs.take(notes, spans, engine.fabric());
        for completion in engine.take_completed() {
            self.finish(engine, scenario, writer, &completion);
            self.seen.iter_mut().for_each(|seen| seen.ended.push(completion));
        }
        begun
    }

    fn finish(&mut self, engine: &Paused<'_>, scenario: &Scenario, writer: &mut ResultWriter, completion: &Completion) {
        let &Completion { request: flow, sport, duration, is_steered } = completion;
        self.end_quiet(writer);
        self.active.remove(&flow.id);
        self.finished += 1;
        self.finished_bytes += flow.size;
        let ideal = ideal(engine, scenario, &flow, sport, flow.size, flow.start + duration);
        self.note_control(engine, &flow, flow.size, is_steered, (duration, ideal));
        self.slowdowns.add(duration.0 as f64 / ideal.0.max(1) as f64);
        let now = flow.start + duration;
        self.last_end = self.last_end.max(now);
        if let Some(job) = engine.job_of(flow.id) {
            let path = engine.fabric().path(flow.src, flow.dst);
            self.jobs.count(job, flow.size, path.map_or(0, |path| path.links));
        }
        self.end_goodput(writer, RowPlace::at_node(now.0, flow.src), now, flow.id, flow.size);
        writer.flow_finished(&finished_row(&flow, sport, (duration, ideal), self.group(engine, flow.id)));
        if self.is_done() {
            writer.flows_completed();
        }
    }

    /// The number of a flow's group.
    fn group(&self, engine: &Paused<'_>, flow: u32) -> u32 {
        let job = || engine.job_of(flow).map(|job| self.jobs.group(job));
        let of_program = || self.of_program.filter(|_| flow >= FIRST_OF_PROGRAM);
        self.groups.get(flow as usize).copied().or_else(of_program).or_else(job).unwrap_or_default()
    }

    fn note_control(
        &mut self,
        engine: &Paused<'_>,
        flow: &FlowRequest,
        size: u64,
        is_steered: bool,
        times: (Nanos, Nanos),
    ) {
        let (duration, ideal) = times;
        if is_steered || size <= engine.fabric().max_bdp() || duration.0 <= 2 * ideal.0 {
            return;
        }
        let first = if self.uncontrolled.count > 0 { self.uncontrolled.first } else { u64::MAX };
        self.uncontrolled = Uncontrolled { count: self.uncontrolled.count + 1, first: first.min(flow.id.into()) };
    }

    /// Acknowledged bytes of the flows under way.
    pub fn active_bytes(&self, engine: &Paused<'_>) -> u64 {
        self.active.values().map(|flow| self.acked(engine, flow)).sum()
    }

    fn acked(&self, engine: &Paused<'_>, flow: &Started) -> u64 {
        let told = || self.acked.get(&flow.request.id).copied();
        let of_engine = || engine.acked(flow);
        told().unwrap_or_else(of_engine).min(flow.request.size)
    }

    /// Bytes that have arrived, each counted once; of a flow that a stack carries, those that were acknowledged.
    fn arrived(&self, engine: &Paused<'_>, flow: &Started) -> u64 {
        engine.arrived(flow).unwrap_or_else(|| self.acked(engine, flow)).min(flow.request.size)
    }

    /// A stack has chosen the source port of a flow.
    pub fn set_port(&mut self, id: u32, sport: u16) {
        if let Some(flow) = self.active.get_mut(&id) {
            flow.sport = sport;
        }
    }

    /// A flow that a stack carries has finished.
    pub fn end(&mut self, engine: &Paused<'_>, scenario: &Scenario, writer: &mut ResultWriter, id: u32) {
        self.acked.remove(&id);
        let Some(&Started { request, sport, .. }) = self.active.get(&id) else { return };
        let duration = engine.now() - request.start;
        self.finish(engine, scenario, writer, &Completion { request, sport, duration, is_steered: true });
    }

    /// Asks other processes what has arrived there.
    pub fn ask_arrived(&self, engine: &mut Paused<'_>) {
        engine.ask_arrived(self.active.values());
    }

    /// Adds a point to each flow's goodput.
    pub fn trace_goodput(&mut self, engine: &Paused<'_>, writer: &mut ResultWriter) {
        let now = engine.now();
        let points: Vec<_> = self.active.iter().map(|(&id, flow)| (id, self.arrived(engine, flow))).collect();
        let Some(goodput) = &self.goodput else { return };
        if points.iter().all(|&(id, arrived)| goodput.is_still(id, arrived)) {
            self.quiet.samples = self.quiet.samples.saturating_add(1);
        } else {
            self.end_quiet(writer);
        }
        // Each of several processes knows its own flows only.
        if self.quiet.samples > QUIET && !writer.is_shared() {
            self.quiet.held = Some(now);
            return;
        }
        for (id, arrived) in points {
            self.put_goodput(writer, RowPlace::of_sample(now.0, id), now, id, arrived);
        }
    }

    /// So many samples follow that of `now` in which nothing happens. Returns how many of them need not be taken.
    pub fn skip_goodput(&mut self, now: Nanos, interval: Nanos, count: u64) -> u64 {
        if self.is_idle() {
            return count;
        }
        let Some(held) = &mut self.quiet.held else { return 0 };
        *held = Nanos(now.0 + count * interval.0);
        count
    }

    /// Something changes: the last sample without rows gets them.
    fn end_quiet(&mut self, writer: &mut ResultWriter) {
        let Quiet { held, .. } = core::mem::take(&mut self.quiet);
        let Some((at, goodput)) = held.zip(self.goodput.as_ref()) else { return };
        let points: Vec<_> = self.active.keys().map(|&id| (id, goodput.arrived(id))).collect();
        for (id, arrived) in points {
            self.put_goodput(writer, RowPlace::of_sample(at.0, id), at, id, arrived);
        }
    }

    fn put_goodput(&mut self, writer: &mut ResultWriter, place: RowPlace, now: Nanos, id: u32, arrived: u64) {
        let Some(goodput) = &mut self.goodput else { return };
        if let Some((rate, bytes)) = goodput.advance(now, id, arrived) {
            writer.goodput(place, now, id, rate, bytes);
        }
    }

    fn end_goodput(&mut self, writer: &mut ResultWriter, place: RowPlace, now: Nanos, id: u32, arrived: u64) {
        self.put_goodput(writer, place, now, id, arrived);
        if let Some(goodput) = &mut self.goodput {
            goodput.forget(id);
        }
    }

    /// Adds what congestion control has made of flows, of all or of those that are named.
    pub fn trace_control(
        &self,
        engine: &Paused<'_>,
        scenario: &Scenario,
        writer: &mut ResultWriter,
        named: &HashSet<u32>,
    ) {
        let is_asked = |id| named.is_empty() || named.contains(id);
        // A stack keeps the state of its flows itself.
        let is_rdma = |flow: &Started| scenario.protocol(flow.request.src) == Protocol::Rdma;
        let asked = self.active.iter().filter(|&(id, flow)| is_asked(id) && is_rdma(flow));
        for (&id, flow) in asked {
            let state = engine.control(flow);
            writer.control(&ControlRow {
                time_ns: engine.now().0,
                flow: id,
                rate_bps: state.rate.0,
                window_bytes: state.window,
                in_flight_bytes: state.in_flight,
                utilisation: state.utilisation.filter(|utilisation| !utilisation.is_nan()),
                bottleneck: state.bottleneck,
                rtt_ns: engine.rtt(flow).map(|rtt| rtt.0).filter(|&rtt| rtt > 0),
            });
        }
    }

    /// What has not finished when the run ends.
    pub fn record_unfinished(
        &mut self,
        engine: &Paused<'_>,
        scenario: &Scenario,
        writer: &mut ResultWriter,
        end: Nanos,
    ) {
        self.end_quiet(writer);
        for (id, mut flow) in core::mem::take(&mut self.active) {
            let (acked, arrived) = (self.acked(engine, &flow), self.arrived(engine, &flow));
            if flow.request.size == ENDLESS && flow.request.options.stop < end {
                // It was to stop: what it has sent is its size.
                flow.request.size = acked + engine.control(&flow).in_flight;
            }
            self.end_goodput(writer, RowPlace::at_end(id.into()), end, id, arrived);
            self.unfinished(engine, writer, id.into(), &flow.request, (flow.sport, acked));
            // As far as it got.
            let ideal = ideal(engine, scenario, &flow.request, flow.sport, acked, end);
            let is_steered = engine.control(&flow).is_steered;
            self.note_control(engine, &flow.request, acked, is_steered, (end - flow.request.start, ideal));
        }
        let mut refused = core::mem::take(&mut self.refused);
        refused.sort_by_key(|flow| flow.id);
        for flow in &refused {
            self.unfinished(engine, writer, REFUSED + u64::from(flow.id), flow, (0, 0));
        }
        for (place, flow) in (NOT_BEGUN..).zip(engine.waiting().copied()) {
            self.unfinished(engine, writer, place, &flow, (0, 0));
        }
    }

    fn unfinished(
        &mut self,
        engine: &Paused<'_>,
        writer: &mut ResultWriter,
        place: u64,
        flow: &FlowRequest,
        (sport, acked): (u16, u64),
    ) {
        let left = unfinished_row(flow, sport, acked, self.group(engine, flow.id));
        if flow.size < ENDLESS {
            return writer.flow_unfinished(place, &left);
        }
        self.total -= 1;
        self.endless += 1;
        writer.flow_endless(&UnfinishedFlow { size: acked, ..left });
    }
}

/// What is written of a flow of a group that has taken a time, with its ideal one.
pub fn finished_row(flow: &FlowRequest, sport: u16, (time, ideal): (Nanos, Nanos), group: u32) -> FctRecord {
    let &FlowRequest { id, src, dst, dport, priority, size, start, .. } = flow;
    let (start_ns, fct_ns, ideal_ns) = (start.0, time.0, ideal.0);
    FctRecord { flow: id, src, dst, sport, dport, priority, size, start_ns, fct_ns, ideal_ns, group }
}

/// The same of one that has not finished, of whose bytes so many are acknowledged.
pub fn unfinished_row(flow: &FlowRequest, sport: u16, acked_bytes: u64, group: u32) -> UnfinishedFlow {
    let &FlowRequest { id, src, dst, dport, priority, size, start, .. } = flow;
    UnfinishedFlow { flow: id, src, dst, sport, dport, priority, size, start_ns: start.0, acked_bytes, group }
}

/// The time of so many bytes of a flow alone in the network as it was until `end`.
fn ideal(engine: &Paused<'_>, scenario: &Scenario, flow: &FlowRequest, sport: u16, size: u64, end: Nanos) -> Nanos {
    if size == 0 {
        return Nanos(0);
    }
    let flow = IdealFlow {
        src: flow.src,
        dst: flow.dst,
        ports: Some((sport, flow.dport)),
        priority: Some(flow.priority),
        size,
        own: (flow.options.nic, flow.options.rate),
        during: (flow.start, end),
    };
    let legacy = scenario.legacy.settings.as_ref().filter(|_| scenario.legacy.nodes.contains(&flow.src));
    engine.fabric().ideal_fct(&flow, legacy.unwrap_or(&scenario.settings))
}
