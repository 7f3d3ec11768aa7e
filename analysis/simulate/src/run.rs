// SPDX-License-Identifier: GPL-2.0-only
//! A run from a scenario to its results.

use crate::ending::Ending;
use crate::fleet::{Fleet, Paused, lock};
use crate::flows::Flows;
use crate::jobs::{JobResults, jobs};
use crate::outcome::{Outcome, say};
use crate::pauses::together;
use crate::progress::{Progress, progress_of};
use crate::ranks::{Exchange, Others, Ranks};
use crate::resolve_fastest;
use crate::samples::{SampledSwitch, sampled_switches, series};
use crate::sent::SentMeter;
use crate::series::Clock;
use crate::setup::{attack, engines, requests};
use crate::skips::{Company, skip, why_not};
use crate::stack::StackTotals;
use crate::usage::cpu_time;
use crate::watching::{begin_traces, watch};
use hpcc_core::engine::{Engine, FlowRequest, Hold, Observer, ProgramClock, Quality, Stop};
use hpcc_core::units::Nanos;
use hpcc_model::results::ResultWriter;
use hpcc_model::scenario::{DegradedLinks, EventOrder, OnDeadlock, Scenario};
use hpcc_model::share;
use std::cell::RefCell;
use std::collections::HashSet;
use std::mem::take;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Rows wait so long at most, in windows, until they are put in order.
const GATHER_INTERVAL: Nanos = Nanos(8 * 10_000);

/// Why a run stands still.
pub(crate) enum Pause {
    /// It has come to its end, or results cannot be written.
    End,
    /// It cannot go on, for this reason.
    Fault(String),
    /// Something that was asked for from outside is over.
    Completion,
}

/// A run in progress.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) fleet: Fleet,
    pub(crate) writer: Arc<Mutex<ResultWriter>>,
    pub(crate) flows: Flows,
    pub(crate) clock: Clock,
    pub(crate) progress: Progress,
    pub(crate) switches: Vec<SampledSwitch>,
    pub(crate) sent: SentMeter,
    pub(crate) control_flows: HashSet<u32>,
    /// Until when events run before rows are put in order.
    gather: Nanos,
    pub(crate) start: Instant,
    pub(crate) setup: Duration,
    pub(crate) is_watched: bool,
    /// Pauses by those who send them.
    pub(crate) holds: Arc<Mutex<Vec<Hold>>>,
    /// The deadlock that was found, with its time.
    pub(crate) deadlock: Option<(Nanos, String)>,
    /// Why nothing is left out that might be.
    pub(crate) no_skips: Option<&'static str>,
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
    if ranks > 1 && scenario.monitor.sent_interval.is_some() {
        return Err(
            "monitor.sent_interval needs all ports in one process; expected --threads in place of --ranks".into()
        );
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
        let scenario = resolve_fastest(scenario, false, how.is_quiet)?;
        let is_canonical = scenario.order == EventOrder::Canonical;
        if is_canonical {
            // Rows of the same nanosecond are written in order of nodes.
            writer.share();
        }
        let (mut requests, groups) = requests(&scenario)?;
        let listed = requests.len() as u32;
        let starts =
            requests.first().map(|flow| flow.start).into_iter().chain(scenario.flows.jobs.iter().map(|job| job.start));
        // A program may start flows from the beginning on.
        let without = if faces.is_some() { Nanos(0) } else { scenario.stop };
        let first_start = starts.min().unwrap_or(without);
        let switches = sampled_switches(&scenario.network, &mut writer);
        let has_goodput = scenario.monitor.goodput_interval.is_some();
        let flows = Flows::new(groups.clone(), JobResults::new(&scenario), has_goodput);
        let writer = Arc::new(Mutex::new(writer));
        let holds = Arc::default();
        let company = match faces {
            Some(_) => Company::Program,
            None if engines.len() > 1 || !parts.part_of.is_empty() => Company::Several,
            None => Company::Alone,
        };
        let no_skips = why_not(&scenario, company);
        for (part, engine) in engines.iter().enumerate() {
            let mut engine = lock(engine);
            if scenario.monitor.control_interval.is_some() {
                engine.measure_rtts();
            }
            // Flows, link failures, samples: of the same nanosecond the 2019 simulator has them in this order.
            let is_last = part + 1 == engines.len();
            engine.add_flows(if is_last { take(&mut requests) } else { requests.clone() });
            if !scenario.flows.jobs.is_empty() {
                engine.add_jobs(jobs(&scenario, listed));
            }
            attack(&scenario, &mut engine, &groups)?;
            // The ideal time of a flow is that of the routes at its end.
            engine.announce_links();
            for failure in &scenario.link_failures {
                engine.fail_links(failure, scenario.stop);
            }
            for &DegradedLinks { time, until, ref links, quality } in &scenario.degraded {
                engine.change_quality(time, links, quality);
                if let Some(until) = until {
                    engine.change_quality(until, links, Quality::default());
                }
            }
            for storm in together(&scenario.storms) {
                engine.storm(storm.host, storm.priority, storm.time, storm.until);
            }
            if scenario.monitor.pauses {
                engine.watch_holds();
            }
            watch(&scenario, &mut engine, &writer, &holds, faces.take());
            skip(&scenario, &mut engine, no_skips);
        }
        begin_traces(&scenario, &lock(&engines[0]), &mut lock(&writer));
        let fleet = Fleet::new(engines, parts.part_of, parts.first, parts.others);
        let clock = series(&scenario, &mut fleet.pause(), &mut lock(&writer), first_start);
        let progress = progress_of(&scenario, how.is_quiet);
        let progress = if how.is_watched { progress.watched() } else { progress };
        let sent = SentMeter::new(&scenario.network);
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
            sent,
            control_flows,
            gather,
            start,
            setup,
            is_watched: how.is_watched,
            holds,
            deadlock: None,
            no_skips,
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
                Pause::Completion => {}
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
            if outcome == Stop::Completion {
                return Pause::Completion;
            }
            self.take();
            match outcome {
                Stop::Completion | Stop::Routes => {}
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
}
