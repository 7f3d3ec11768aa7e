// SPDX-License-Identifier: GPL-2.0-only
//! A run from a scenario to its results.

use crate::fleet::{Fleet, Paused, lock};
use crate::flows::Flows;
use crate::jobs::{JobResults, jobs};
use crate::panel::panel;
use crate::pauses;
use crate::progress::{Progress, new_progress};
use crate::ranks::{Exchange, Others, Ranks};
use crate::series::{Clock, What};
use crate::sights::{Nobody, Sights};
use crate::stack::StackTotals;
use crate::summary;
use crate::usage::cpu_time;
use hpcc_core::attack::Attack;
use hpcc_core::cc::Reads;
use hpcc_core::engine::{Engine, FlowRequest, Hold, Observer, Order, ProgramClock, Quality, Stop, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_core::switch::WatchdogAction;
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::Nanos;
use hpcc_core::wire::WireProfile;
use hpcc_formats::results::packet_trace::PortRate;
use hpcc_formats::results::{Note, ResultWriter, Summary, Versions};
use hpcc_formats::scenario::{DegradedLinks, EventOrder, OnDeadlock, QueueHistogram, Scenario};
use hpcc_formats::{share, visible};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::mem::take;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a run ended, as an exit status says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All flows have finished.
    Finished = 0,
    /// Results could not be written.
    Failed = 1,
    /// The input was refused.
    BadInput = 2,
    /// Some flows have not finished by the end.
    Unfinished = 3,
    /// The run could not go on; results are of the time until then.
    Stopped = 4,
}

impl Outcome {
    /// The outcome with this status.
    fn of(status: u64) -> Outcome {
        use Outcome::{BadInput, Failed, Finished, Stopped, Unfinished};
        let all = [Finished, Failed, BadInput, Unfinished, Stopped];
        all.into_iter().find(|&outcome| outcome as u64 == status).unwrap_or(Failed)
    }

    /// Says why the input is refused.
    pub fn refused(why: &dyn Display) -> Outcome {
        say(why);
        Outcome::BadInput
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(outcome as u8)
    }
}

pub(crate) fn say(message: &dyn Display) {
    eprintln!("hpcc: {}", visible::lines(&message.to_string()));
}

/// Between two samples of the queues for statistics, where there is neither histogram nor time series.
const STATISTICS_INTERVAL: Nanos = Nanos::MICROSECOND;
/// Between two samples of the reference simulator's histogram.
const HISTOGRAM_INTERVAL: Nanos = Nanos(100);
/// Between two looks at the progress.
const PROGRESS_INTERVAL: Nanos = Nanos(10_000);
/// Rows wait so long at most, in windows, until they are put in order.
const GATHER_INTERVAL: Nanos = Nanos(8 * 10_000);
/// The stream of the reference's error model, whose seed is 1.
const FIRST_LOSS_STREAM: u64 = (1 << 63) + 50;

/// Why a run stands still.
pub(crate) enum Pause {
    /// It has come to its end, or results cannot be written.
    End,
    /// It cannot go on, for this reason.
    Fault(String),
    /// Something that was asked for from outside is over.
    Told,
}

/// A run in progress.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) fleet: Fleet,
    pub(crate) writer: Arc<Mutex<ResultWriter>>,
    pub(crate) flows: Flows,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    switches: Vec<Watched>,
    control_flows: HashSet<u32>,
    /// Until when events run before rows are put in order.
    gather: Nanos,
    start: Instant,
    setup: Duration,
    is_watched: bool,
    /// Pauses by those who send them.
    pub(crate) holds: Arc<Mutex<Vec<Hold>>>,
    /// The deadlock that was found, with its time.
    deadlock: Option<(Nanos, String)>,
}

/// How a run ends.
pub(crate) struct Ending<'a> {
    pub stopped: Option<&'a str>,
    pub is_quiet: bool,
    pub out: &'a Path,
    pub end: Nanos,
    pub stack: StackTotals,
}

/// A switch whose queues are sampled.
struct Watched {
    node: u32,
    /// Place of its first port among all.
    first: usize,
    /// What samples, and the time series, know of its queues, and whether these have changed.
    known: [Vec<u32>; 2],
    is_new: [bool; 2],
}

/// How a scenario runs.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Neither notes nor progress are shown, only errors.
    pub is_quiet: bool,
    /// Queues and slowdowns are shown beside the progress.
    pub is_watched: bool,
    /// Threads that share the work.
    pub threads: u32,
}

/// Runs a scenario; results go to the folder `out`.
///
/// # Errors
/// The outcome, where there are no results.
pub fn run(scenario: Scenario, out: &Path, how: How) -> Result<Outcome, Outcome> {
    run_in(scenario, out, how, &Program::NONE, None)
}

/// The program that a run is a part of.
pub struct Program<'a> {
    /// Version of ns-3.
    pub ns3: &'a str,
    /// How it was built.
    pub build_profile: &'a str,
    /// Says why a controller of the program has ended the run, if one has.
    pub fault: &'a dyn Fn() -> Option<String>,
    /// Makes the clock that controllers of the program look at.
    pub clock: Option<fn() -> Box<dyn ProgramClock>>,
}

impl Program<'_> {
    /// No program but this crate.
    pub(crate) const NONE: Program<'static> = Program {
        ns3: "none",
        build_profile: if cfg!(debug_assertions) { "debug" } else { "optimized" },
        fault: &|| None,
        clock: None,
    };
}

/// Runs a scenario in a program, as [`run`], or as one of the processes that share it: all of them have the same outcome.
///
/// # Errors
/// The outcome, where there are no results.
pub fn run_in(
    scenario: Scenario,
    out: &Path,
    how: How,
    program: &Program<'_>,
    ranks: Option<Box<dyn Ranks>>,
) -> Result<Outcome, Outcome> {
    let Some(ranks) = ranks.filter(|ranks| ranks.size() > 1) else {
        let made = make(scenario, out, how, program, None).map_err(|why| Outcome::refused(&why))?;
        return made.complete(out, how, program);
    };
    let exchange = Rc::new(RefCell::new(Exchange::new(ranks)));
    let is_first = exchange.borrow().rank() == 0;
    let how = How { is_quiet: how.is_quiet || !is_first, ..how };
    let made = make(scenario, out, how, program, Some(&exchange));
    let made = exchange
        .borrow_mut()
        .agree(made)
        .map_err(|why| if is_first { Outcome::refused(&why) } else { Outcome::BadInput })?;
    if !is_first {
        made.serve(&mut exchange.borrow_mut(), program.fault);
        return Ok(Outcome::of(exchange.borrow_mut().exchange(u64::MAX)));
    }
    let outcome = made.complete(out, how, program);
    let (Ok(status) | Err(status)) = outcome;
    exchange.borrow_mut().exchange(status as u64);
    outcome
}

/// A run that is about to begin, or why there is none.
fn make(
    scenario: Scenario,
    out: &Path,
    how: How,
    program: &Program<'_>,
    exchange: Option<&Rc<RefCell<Exchange>>>,
) -> Result<Run, String> {
    let (first, ranks) = exchange.map_or((0, 1), |exchange| (exchange.borrow().rank(), exchange.borrow().size()));
    let part_of = match how.threads.max(ranks) {
        0 | 1 => Vec::new(),
        parts => share::divide(&scenario, parts)?,
    };
    if scenario.stack().is_some() {
        return Err("the engine without ns-3 has no TCP or UDP; expected transport.protocol = \"rdma\", or ns-3".into());
    }
    if first == 0 {
        scenario.told_notes(how.is_quiet).for_each(|note| say(&format!("note: {note}")));
    }
    let start = Instant::now();
    let writer = if first == 0 {
        ResultWriter::create(out).map_err(|error| error.to_string())?
    } else {
        ResultWriter::without_folder()
    };
    let engines = engines(&scenario, if ranks > 1 { 1 } else { how.threads })?;
    for mut engine in engines.iter().map(|engine| lock(engine)).filter(|engine| engine.calls_program()) {
        if let Some(clock) = program.clock {
            engine.follow_clock(clock());
        }
    }
    let others =
        exchange.filter(|_| first == 0).map_or_else(Others::default, |exchange| Others::new(Rc::clone(exchange)));
    Run::new(scenario, writer, how, start, engines, Parts { part_of, first, others }, None)
}

/// Who has which part of a network.
#[derive(Default)]
pub(crate) struct Parts {
    /// By node; nothing if there is one.
    part_of: Vec<u32>,
    /// The part of the first engine.
    first: u32,
    others: Others,
}

/// One engine for each thread.
fn engines(scenario: &Scenario, threads: u32) -> Result<Vec<Arc<Mutex<Engine>>>, String> {
    (0..threads.max(1)).map(|_| engine(scenario).map(|engine| Arc::new(Mutex::new(engine)))).collect()
}

impl Run {
    pub(crate) fn new(
        scenario: Scenario,
        mut writer: ResultWriter,
        how: How,
        start: Instant,
        engines: Vec<Arc<Mutex<Engine>>>,
        parts: Parts,
        mut faces: Option<Box<dyn Observer>>,
    ) -> Result<Run, String> {
        let is_canonical = scenario.order == EventOrder::Canonical;
        if is_canonical {
            // Rows of the same nanosecond are written in order of nodes.
            writer.share();
        }
        let (mut requests, groups) = requests(&scenario)?;
        let listed = requests.len() as u32;
        let starts =
            requests.first().map(|flow| flow.start).into_iter().chain(scenario.flows.jobs.iter().map(|job| job.start));
        let first_start = starts.min().unwrap_or(scenario.stop);
        let switches = watched(&scenario.network, &mut writer);
        let has_goodput = scenario.monitor.goodput_interval.is_some();
        let flows = Flows::new(groups.clone(), JobResults::new(&scenario), has_goodput);
        let writer = Arc::new(Mutex::new(writer));
        let holds = Arc::default();
        for (part, engine) in engines.iter().enumerate() {
            let mut engine = lock(engine);
            if scenario.monitor.control_interval.is_some() {
                engine.measure_rtts();
            }
            // Flows, link failures, samples: of the same nanosecond the reference simulator has them in this order.
            let is_last = part + 1 == engines.len();
            engine.add_flows(if is_last { take(&mut requests) } else { requests.clone() });
            if !scenario.flows.jobs.is_empty() {
                engine.add_jobs(jobs(&scenario, listed));
            }
            attack(&scenario, &mut engine, &groups)?;
            // The ideal time of a flow is that of the routes at its end.
            engine.announce_links();
            for failure in &scenario.link_failures {
                engine.change_links(failure.time, &failure.links, false);
                if let Some(until) = failure.until.filter(|&until| until < scenario.stop) {
                    engine.change_links(until, &failure.links, true);
                }
            }
            for &DegradedLinks { time, until, ref links, quality } in &scenario.degraded {
                engine.change_quality(time, links, quality);
                if let Some(until) = until {
                    engine.change_quality(until, links, Quality::default());
                }
            }
            for storm in &scenario.storms {
                engine.storm(storm.host, storm.priority, storm.time, storm.until);
            }
            if scenario.monitor.pauses {
                engine.watch_holds();
            }
            watch(&scenario, &mut engine, &writer, &holds, faces.take());
        }
        begin_traces(&scenario, &lock(&engines[0]), &mut lock(&writer));
        let fleet = Fleet::new(engines, parts.part_of, parts.first, parts.others);
        let clock = series(&scenario, &mut fleet.pause(), &mut lock(&writer), first_start);
        let of_jobs = scenario.flows.jobs.iter().map(|job| job.traffic(scenario.servers));
        let listed = (scenario.flows.totals.count, scenario.flows.totals.bytes);
        let (count, bytes) = of_jobs.fold(listed, |(count, bytes), job| (count + job.0, bytes.saturating_add(job.1)));
        let progress = new_progress(bytes, count as u32, how.is_quiet);
        let progress = if how.is_watched { progress.watched() } else { progress };
        let control_flows = scenario.monitor.control_flows.iter().copied().collect();
        let (gather, setup) = (GATHER_INTERVAL, cpu_time());
        let mut run = Run {
            scenario,
            fleet,
            writer,
            flows,
            clock,
            progress,
            switches,
            control_flows,
            gather,
            start,
            setup,
            is_watched: how.is_watched,
            holds,
            deadlock: None,
        };
        run.clock.schedule(&mut run.fleet.pause());
        run.fleet.pause().begin();
        Ok(run)
    }

    /// Runs to the end, and writes results.
    fn complete(mut self, out: &Path, how: How, program: &Program<'_>) -> Result<Outcome, Outcome> {
        let How { is_quiet, threads, .. } = how;
        let begun = Instant::now();
        let stopped = self.simulate(program.fault);
        if let Some(worked) = self.fleet.worked().filter(|&worked| worked < begun.elapsed() && !is_quiet) {
            let share = 100 * worked.as_millis() / begun.elapsed().as_millis().max(1);
            say(&format!("note: {threads} threads together worked for {share} % of the time: fewer would be sooner"));
        }
        let end = if stopped.is_some() { self.now() } else { self.scenario.stop };
        let ending = Ending { stopped: stopped.as_deref(), is_quiet, out, end, stack: StackTotals::default() };
        self.finish(&ending, program)
    }

    pub(crate) fn is_canonical(&self) -> bool {
        self.scenario.order == EventOrder::Canonical
    }

    /// Runs to the end. Returns why it could not go on, if it could not.
    fn simulate(&mut self, fault: &dyn Fn() -> Option<String>) -> Option<String> {
        loop {
            match self.advance(fault) {
                Pause::End => return None,
                Pause::Fault(why) => return Some(why),
                // Nobody has asked.
                Pause::Told => {}
            }
        }
    }

    /// Runs until something was told, or to the end, or until there is a fault outside.
    pub(crate) fn advance(&mut self, fault: &dyn Fn() -> Option<String>) -> Pause {
        let stop = self.scenario.stop;
        loop {
            let outcome = self.fleet.run_until(self.gather.min(stop));
            if let Some(why) = fault() {
                return Pause::Fault(why);
            }
            if outcome == Stop::Told {
                return Pause::Told;
            }
            self.take();
            match outcome {
                Stop::Told | Stop::Routes => {}
                Stop::Sample => loop {
                    let is_another_due = self.sample();
                    if self.scenario.on_deadlock == OnDeadlock::End
                        && let Some((_, found)) = self.deadlock.take()
                    {
                        return Pause::Fault(found);
                    }
                    if !is_another_due {
                        break;
                    }
                },
                Stop::Fault => return Pause::Fault(self.fleet.pause().fault().unwrap_or_default().into()),
                Stop::Time if self.gather >= stop => return Pause::End,
                Stop::Time => {
                    if self.is_canonical() {
                        lock(&self.writer).write_rows();
                    }
                    let next = self.fleet.pause().next_time().unwrap_or(stop);
                    self.gather = Nanos(next.0.max(self.gather.0) + GATHER_INTERVAL.0);
                }
            }
            if lock(&self.writer).failed() {
                return Pause::End;
            }
        }
    }

    /// The present time.
    pub(crate) fn now(&self) -> Nanos {
        self.fleet.pause().now()
    }

    /// The network while it stands still.
    pub(crate) fn pause(&self) -> Paused<'_> {
        self.fleet.pause()
    }

    /// Takes in what has happened since the last sample. Returns flows of a program's stack that begin.
    pub(crate) fn take(&mut self) -> Vec<FlowRequest> {
        let mut engine = self.fleet.pause();
        let mut writer = lock(&self.writer);
        engine.take_rows().iter().for_each(|rows| writer.add_rows(rows));
        self.flows.take(&mut engine, &self.scenario, &mut writer)
    }

    /// Takes the sample that is due. Returns whether another one is.
    pub(crate) fn sample(&mut self) -> bool {
        let Run {
            scenario, fleet, writer, flows, clock, progress, switches, control_flows, is_watched, deadlock, ..
        } = self;
        let mut engine = fleet.pause();
        let mut writer = lock(writer);
        let what = clock.due();
        let now = engine.now();
        for node in engine.sampled_switches() {
            if let Ok(place) = switches.binary_search_by_key(&node, |switch| switch.node) {
                switches[place].is_new = [true; 2];
            }
        }
        let mut runs = !flows.is_done();
        let end = scenario.monitor.queue_histogram.as_ref().map_or(Nanos(0), |histogram| histogram.end);
        match what {
            What::Histogram => {
                sample_queues(switches, &engine, &mut writer);
                if now.0.is_multiple_of(QueueHistogram::PRINT_INTERVAL.0) {
                    writer.print_queues(now);
                }
                runs = now < end;
            }
            What::Statistics => sample_queues(switches, &engine, &mut writer),
            What::Queues => visit(switches, &engine, 1, |index, bytes| writer.queue_point(now, index, bytes)),
            What::Goodput => {
                engine.ask_flows();
                flows.ask_arrived(&mut engine);
                flows.trace_goodput(&engine, &mut writer);
            }
            What::Control => {
                engine.ask_flows();
                flows.trace_control(&engine, scenario, &mut writer, control_flows);
            }
            What::Progress => {
                if deadlock.is_none() {
                    *deadlock = pauses::deadlock(&mut engine).map(|found| (now, found));
                }
                if progress.is_due() {
                    engine.ask_flows();
                    let acked = flows.finished_bytes + flows.active_bytes(&engine);
                    let more = (*is_watched).then(|| panel(queues(switches, &engine), &flows.slowdowns));
                    progress.update(now.0, engine.events_run(), acked, flows.finished as u32, engine.waited(), more);
                }
            }
        }
        let is_idle = flows.is_idle();
        clock.advance(&mut engine, runs, |count| match what {
            // The last sample and one that is printed have to be taken.
            What::Histogram => {
                let to_print = QueueHistogram::PRINT_INTERVAL.0 - now.0 % QueueHistogram::PRINT_INTERVAL.0;
                let distance = (end.0 - now.0).min(to_print);
                let counted = count.min((distance - 1) / HISTOGRAM_INTERVAL.0);
                writer.repeat_queue_samples(counted);
                counted
            }
            What::Statistics => {
                writer.repeat_queue_samples(count);
                count
            }
            // Only changes are recorded.
            What::Queues | What::Progress => count,
            What::Goodput => flows.skip_goodput(now, scenario.monitor.goodput_interval.unwrap_or_default(), count),
            // Each flow in progress has a row, whether anything has changed or not.
            What::Control => {
                if is_idle {
                    count
                } else {
                    0
                }
            }
        })
    }

    /// What ports of nodes that run here have sent, and what came to them with errors.
    pub(crate) fn tell_ports(&self) {
        let (engine, mut writer) = (self.fleet.pause(), lock(&self.writer));
        for (node, ports) in (0..).zip(self.scenario.network.ports()) {
            for port in 0..ports.len() as u16 {
                if let Some(errors) = engine.errors(node, port) {
                    writer.port(node, u32::from(port) + 1, engine.sent(node, port), errors);
                }
            }
        }
    }

    /// Writes what there is by the end.
    pub(crate) fn finish(mut self, ending: &Ending<'_>, program: &Program<'_>) -> Result<Outcome, Outcome> {
        let &Ending { stopped, is_quiet, out, end, stack } = ending;
        self.progress.clear();
        let times = (self.start, self.setup);
        if self.scenario.monitor.goodput_interval.is_some() {
            let mut engine = self.fleet.pause();
            engine.ask_flows();
            self.flows.ask_arrived(&mut engine);
        }
        self.fleet.pause().finish();
        self.tell_ports();
        let mut writer = lock(&self.writer);
        let mut engine = self.fleet.pause();
        engine.take_rows().iter().for_each(|rows| writer.add_rows(rows));
        lock(&self.holds).append(&mut engine.take_holds());
        let is_still = self.flows.is_idle() && !engine.jobs_wait();
        self.flows.record_unfinished(&engine, &self.scenario, &mut writer, end);
        let is_done = self.flows.is_done();
        writer.write_rows();
        let stalls = self.flows.jobs.stalls(&engine, &self.scenario, is_still);
        if self.scenario.monitor.pauses {
            let rows = pauses::rows(take(&mut *lock(&self.holds)), &self.scenario.network, end);
            writer.whole_file(&rows);
        }
        let storms = pauses::storms(engine.storms());
        if self.scenario.settings.switch.pfc_watchdog != WatchdogAction::Off {
            writer.whole_file(&storms);
        }
        writer.ports(&self.scenario.network, end);
        let measured = writer.measured(end);
        drop(writer);
        let mut notes =
            summary::notes(&engine, &measured, self.flows.uncontrolled, stopped, end, self.scenario.faults());
        let deadlock = self.deadlock.take().map(|(since, found)| format!("since {since} {found}"));
        if self.scenario.remarks().all(|remark| remark.id != "idle-attack") {
            notes.extend(summary::harmless(&engine));
        }
        notes.extend(deadlock.map(|text| Note::new("deadlock", text)));
        notes.extend(pauses::storm_note(&storms).map(|text| Note::new("storms", text)));
        if !is_quiet || stopped.is_some() {
            notes.iter().for_each(|note| say(&format!("note: {}", note.text)));
        }
        let told = if stopped.is_some() { notes.len() } else { 0 };
        if let Some(count @ 1..) = (self.scenario.notes.len() + notes.len()).checked_sub(told).filter(|_| is_quiet) {
            let notes = if count == 1 { "1 note".into() } else { format!("{count} notes") };
            say(&format!("{notes}: see {}", out.join("summary.json").display()));
        }
        let summary = summary::summary(&self.scenario, &engine, &measured, &notes, stopped, end, times);
        let summary = stack.add_to(summary);
        let summary = Summary {
            flows_total: self.flows.total,
            busy_until_ns: if is_still && is_done { self.flows.last_end.min(end).0 } else { end.0 },
            flows_endless: self.flows.endless,
            ranks: engine.take_figures(),
            build_profile: program.build_profile.into(),
            versions: Versions { ns3: program.ns3.into(), ..summary.versions },
            ..summary
        };
        // Observers hold the writer, too; an engine that is a program's lives on.
        engine.each().for_each(|engine| engine.observe(Box::new(Nobody)));
        drop(engine);
        let Run { writer, mut flows, fleet, scenario, .. } = self;
        // Jobs are reckoned anew on an ideal network, which takes room: the engines' is free now.
        drop(fleet);
        let writer = Arc::into_inner(writer).expect("no observer is left");
        let mut writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !scenario.flows.jobs.is_empty() {
            let (jobs, collectives) = flows.jobs.rows(&scenario);
            writer.whole_file(&jobs);
            writer.whole_file(&collectives);
            if let Some(rows) = flows.jobs.timeline() {
                writer.whole_file(&rows);
            }
        }
        let written = writer.finish(&summary);
        if let Err(error) = written {
            say(&error);
            return Err(Outcome::Failed);
        }
        if stopped.is_some() {
            return Ok(Outcome::Stopped);
        }
        if is_done {
            return Ok(Outcome::Finished);
        }
        stalls.iter().for_each(|stall| say(stall));
        let (total, left) = (flows.total, flows.total - flows.finished);
        if left > 0 {
            say(&format!("{left} of {total} flows unfinished, see {}/unfinished.csv", out.display()));
        }
        Ok(Outcome::Unfinished)
    }
}

/// All queues of switches: node, port counted from 1, and bytes.
fn queues(switches: &[Watched], engine: &Paused<'_>) -> Vec<(u32, u32, u64)> {
    let of_one = |switch: &Watched| {
        let node = switch.node;
        (1..).zip(engine.sampled_queues(node)).map(move |(port, &bytes)| (node, port, bytes.into()))
    };
    switches.iter().flat_map(of_one).collect()
}

fn sample_queues(switches: &mut [Watched], engine: &Paused<'_>, writer: &mut ResultWriter) {
    writer.begin_queue_samples();
    visit(switches, engine, 0, |index, bytes| writer.queue_sample(index, bytes));
}

/// Looks at the queues that have changed.
fn visit(switches: &mut [Watched], engine: &Paused<'_>, list: usize, mut look: impl FnMut(usize, u64)) {
    for switch in switches.iter_mut().filter(|switch| switch.is_new[list]) {
        switch.is_new[list] = false;
        for (place, (known, &bytes)) in
            switch.known[list].iter_mut().zip(engine.sampled_queues(switch.node)).enumerate()
        {
            if core::mem::replace(known, bytes) != bytes {
                look(switch.first + place, bytes.into());
            }
        }
    }
}

/// Where the random numbers of a scenario come from.
pub fn engine_streams(scenario: &Scenario) -> Streams {
    let before = scenario.seed.wrapping_sub(1).wrapping_mul(1 << 32);
    Streams {
        marks: Streams::before_marks(&scenario.network, scenario.faults()).wrapping_add(before),
        // It never seeds C's generator, which then starts from 1.
        pint: scenario.seed as u32,
        losses: FIRST_LOSS_STREAM.wrapping_add(before),
        seed: 1,
    }
}

/// The engine of a scenario.
pub(crate) fn engine(scenario: &Scenario) -> Result<Engine, String> {
    let (network, streams) = (&scenario.network, engine_streams(scenario));
    let order = match scenario.order {
        EventOrder::Canonical => Order::Canonical,
        EventOrder::Insertion => Order::Insertion,
    };
    let borders: Vec<_> = scenario.borders.iter().map(|border| (border.node, border.outside)).collect();
    let common = Rc::new(scenario.settings.clone());
    let legacy = scenario.legacy.settings.clone().map(Rc::new);
    let settings = |node: u32| -> Rc<NodeSettings> {
        let legacy = legacy.as_ref().filter(|_| scenario.legacy.nodes.contains(&node));
        Rc::clone(legacy.unwrap_or(&common))
    };
    let made = Engine::new(network, settings, order, streams, scenario.default_loss, &borders);
    made.map_err(|wrong| wrong.to_string())
}

/// The attacks of a scenario.
fn attack(scenario: &Scenario, engine: &mut Engine, groups: &[u32]) -> Result<(), String> {
    if scenario.attacks.is_empty() {
        return Ok(());
    }
    engine.name_traffic(groups.into(), scenario.flows.jobs.iter().map(|job| job.group).collect());
    for settings in &scenario.attacks {
        let attacked = scenario.attacked_groups(settings);
        let attack = Attack::new(settings, &scenario.network, &scenario.settings, attacked);
        let attack = attack.map_err(|wrong| format!("attack.{}: {}", wrong.key, wrong.message))?;
        engine.attack(attack);
    }
    Ok(())
}

/// All flows, and the number of each one's group.
fn requests(scenario: &Scenario) -> Result<(Vec<FlowRequest>, Vec<u32>), String> {
    let count = scenario.flows.totals.count as usize;
    let (mut requests, mut groups) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (id, flow) in scenario.flows.walk_groups().enumerate() {
        let (group, flow) = flow.map_err(|error| error.to_string())?;
        groups.push(group);
        requests.push(FlowRequest {
            id: id as u32,
            src: flow.src,
            dst: flow.dst,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size,
            start: flow.start,
            options: flow.options,
        });
    }
    Ok((requests, groups))
}

fn watched(network: &Network, writer: &mut ResultWriter) -> Vec<Watched> {
    let mut watched = Vec::new();
    for (node, ports) in network.ports().iter().enumerate() {
        if network.nodes[node] == NodeKind::Switch {
            let node = node as u32;
            let places: Vec<usize> = (1..=ports.len() as u32).map(|port| writer.add_queue(node, port)).collect();
            let first = places.first().copied().unwrap_or(0);
            watched.push(Watched { node, first, known: [0, 1].map(|_| vec![0; places.len()]), is_new: [false; 2] });
        }
    }
    watched
}

/// The samples of a run.
fn series(scenario: &Scenario, engine: &mut Paused<'_>, writer: &mut ResultWriter, first: Nanos) -> Clock {
    let monitor = &scenario.monitor;
    let mut clock = Clock::new(scenario.stop);
    let mut statistics = true;
    if let Some(histogram) = &monitor.queue_histogram {
        clock.add(engine, What::Histogram, histogram.start, HISTOGRAM_INTERVAL);
        // A histogram of one sample tells little, and nothing is added to it once it is printed.
        statistics = histogram.end <= histogram.start && histogram.start <= first;
    }
    if statistics {
        clock.add(engine, What::Statistics, first, monitor.queue_interval.unwrap_or(STATISTICS_INTERVAL));
    }
    if let Some(interval) = monitor.queue_interval {
        clock.add(engine, What::Queues, first, interval);
    }
    if let Some(interval) = monitor.goodput_interval {
        clock.add(engine, What::Goodput, first, interval);
    }
    if let Some(interval) = monitor.control_interval {
        writer.begin_control();
        clock.add(engine, What::Control, first, interval);
    }
    clock.add(engine, What::Progress, first, PROGRESS_INTERVAL);
    clock
}

/// Traces and captures begin.
fn begin_traces(scenario: &Scenario, engine: &Engine, writer: &mut ResultWriter) {
    if !scenario.monitor.trace_nodes.is_empty() {
        let window = engine.fabric().max_bdp() as u32;
        writer.begin_trace(&port_rates(scenario), window);
    }
    if !scenario.monitor.capture_nodes.is_empty() {
        writer.begin_capture(scenario);
    }
}

/// An engine shows what is traced and captured; where faces watch, too, these capture.
fn watch(
    scenario: &Scenario,
    engine: &mut Engine,
    writer: &Arc<Mutex<ResultWriter>>,
    holds: &Arc<Mutex<Vec<Hold>>>,
    faces: Option<Box<dyn Observer>>,
) {
    let (network, monitor, settings) = (&scenario.network, &scenario.monitor, &scenario.settings);
    let mut traced = HashMap::new();
    monitor.trace_nodes.iter().for_each(|&node| *traced.entry(node).or_default() += 1);
    let captured: HashSet<u32> = monitor.capture_nodes.iter().copied().filter(|_| faces.is_none()).collect();
    traced.keys().chain(&captured).for_each(|&node| engine.watch(node));
    let ports = network.ports();
    let addresses = (0..ports.len()).map(|node| {
        let ends = |port: &hpcc_core::topology::Port| {
            (port_address(network, node as u32, port.link), port_address(network, port.peer, port.link))
        };
        ports[node].iter().map(ends).collect()
    });
    engine.observe(Box::new(Sights {
        writer: Arc::clone(writer),
        faces,
        holds: Arc::clone(holds),
        traced,
        captured,
        is_stamped: Reads::SendTime.is_in(&scenario.layout()),
        traces_overflow: !scenario.faults().untraced_overflow,
        pause_us: settings.switch.pause_micros(),
        addresses: addresses.collect(),
        macs: macs(network),
        peers: ports.iter().map(|ports| ports.iter().map(|port| (port.peer, port.far_port)).collect()).collect(),
        ipv6: settings.wire.profile == WireProfile::RoceV6,
        mtu: settings.transport.mtu.0 as u32,
        encapsulation: settings.layout().encapsulation(),
    }));
}

/// MAC addresses of each node's ports, as ns-3 gives them out: one to each device, in the order of links.
fn macs(network: &Network) -> Vec<Vec<u64>> {
    let mut macs = vec![Vec::new(); network.nodes.len()];
    for (link, number) in network.links.iter().zip((1..).step_by(2)) {
        macs[link.a as usize].push(number);
        macs[link.b as usize].push(number + 1);
    }
    macs
}

/// The reference gives each link a network of its own; PFC frames come from there.
fn port_address(network: &Network, node: u32, link: u32) -> u32 {
    let base = 0x0a00_0000 + ((link / 254 + 1) << 16) + ((link % 254 + 1) << 8);
    base + if network.links[link as usize].a == node { 1 } else { 2 }
}

/// The ports of the trace's header: those on links in use.
fn port_rates(scenario: &Scenario) -> Vec<PortRate> {
    let network = &scenario.network;
    let unused = if scenario.faults().last_parallel_link { network.superseded_links() } else { Vec::new() };
    let of_node = |(node, ports): (usize, Vec<hpcc_core::topology::Port>)| {
        let rate = |(index, port): (usize, hpcc_core::topology::Port)| PortRate {
            node: node as u16,
            port: index as u8 + 1,
            rate: network.links[port.link as usize].rate,
        };
        let used = ports.into_iter().enumerate().filter(|(_, port)| !unused.contains(&port.link));
        used.map(rate).collect::<Vec<_>>()
    };
    network.ports().into_iter().enumerate().flat_map(of_node).collect()
}
