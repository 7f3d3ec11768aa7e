// SPDX-License-Identifier: GPL-2.0-only
//! A run on an engine that it shares with a program: the program sees hosts and flows, carries flows by a stack of its own - ns-3's TCP
//! or UDP -, and adds others.

use crate::ending::Ending;
use crate::fleet::lock;
use crate::flows::{FIRST_OF_PROGRAM, Seen};
use crate::outcome::{Outcome, say};
use crate::run::{How, Parts, Program, Run};
use hpcc_core::engine::{Engine, FlowRequest, Observer};
use hpcc_core::units::Nanos;
use hpcc_model::results::{ResultWriter, Summary};
use hpcc_model::scenario::Scenario;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Rows wait so long at most until they are put in order.
const GATHER_INTERVAL: Nanos = Nanos(320_000);

/// What a stack adds to the counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackTotals {
    /// Segments sent again.
    pub resent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Probes.
    pub probes: u64,
    /// Packets that brought telemetry back.
    pub feedback: u64,
    /// Of them, those that could not be compared with the last.
    pub baseline_resets: u64,
    /// Packets that hosts dropped.
    pub drops: u64,
    /// Events of the program.
    pub events: u64,
}

impl StackTotals {
    pub(crate) fn add_to(self, mut summary: Summary) -> Summary {
        summary.resent_packets += self.resent;
        summary.timeouts += self.timeouts;
        summary.probes += self.probes;
        summary.feedback_packets += self.feedback;
        summary.baseline_resets += self.baseline_resets;
        summary.drops += self.drops;
        summary.host_drops += self.drops;
        summary.events += self.events;
        summary
    }
}

/// Refuses a scenario whose flows and messages leave no numbers for those of a program.
fn leaves_numbers(scenario: &Scenario) -> Result<(), String> {
    let of_jobs: u64 = scenario.flows.jobs.iter().map(|job| job.traffic(scenario.servers).0).sum();
    let count = scenario.flows.totals.count + of_jobs;
    if count < FIRST_OF_PROGRAM.into() {
        return Ok(());
    }
    Err(format!("the scenario has {count} flows and messages; expected fewer than {FIRST_OF_PROGRAM}"))
}

/// A name that no group has for the flows of the program.
fn name_of_program(groups: &[String]) -> String {
    let mut name = "program".to_owned();
    while groups.contains(&name) {
        name += "'";
    }
    name
}

/// Such a run.
pub struct StackRun {
    run: Run,
    started: Vec<FlowRequest>,
    gathered: Nanos,
    is_quiet: bool,
    out: PathBuf,
}

impl StackRun {
    /// Begins the run of a scenario on an engine, which `faces` watch, too. `sees_flows`: the program sees the flows that the engine
    /// carries, and may start some itself, from [`FIRST_OF_PROGRAM`] on.
    ///
    /// # Errors
    /// The outcome, where there are no results.
    pub fn new(
        scenario: Scenario,
        out: &Path,
        is_quiet: bool,
        engine: Arc<Mutex<Engine>>,
        faces: Box<dyn Observer>,
        start: Instant,
        sees_flows: bool,
    ) -> Result<StackRun, Outcome> {
        if sees_flows {
            leaves_numbers(&scenario).map_err(|why| Outcome::refused(&why))?;
            lock(&engine).show_flows();
        }
        let writer = ResultWriter::create(out).map_err(|error| Outcome::refused(&error))?;
        scenario.told_notes(is_quiet).for_each(|note| say(&format!("note: {note}")));
        let how = How { is_quiet, is_watched: false, threads: 1 };
        let run = Run::new(scenario, writer, how, start, vec![engine], Parts::default(), Some(faces));
        let mut run = run.map_err(|why| Outcome::refused(&why))?;
        run.flows.seen = sees_flows.then(Seen::default);
        Ok(StackRun { run, started: Vec::new(), gathered: Nanos(0), is_quiet, out: out.into() })
    }

    /// Flows that have begun and finished since the last call, if the program sees them.
    pub fn take_seen(&mut self) -> Seen {
        self.take();
        self.run.flows.seen.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes in what has happened.
    fn take(&mut self) {
        self.started.extend(self.run.take());
        let groups = &mut self.run.scenario.flows.groups;
        if self.run.flows.of_program.is_some_and(|group| group as usize == groups.len()) {
            groups.push(name_of_program(groups));
        }
    }

    /// Flows that begin now.
    pub fn take_started(&mut self) -> Vec<FlowRequest> {
        self.take();
        std::mem::take(&mut self.started)
    }

    /// A flow that begins has this source port.
    pub fn set_port(&mut self, flow: u32, sport: u16) {
        self.run.flows.set_port(flow, sport);
    }

    /// A flow has finished now.
    pub fn end(&mut self, flow: u32) {
        let Run { fleet, flows, scenario, writer, .. } = &mut self.run;
        flows.end(&fleet.pause(), scenario, &mut lock(writer), flow);
    }

    /// Whether the next sample, or the end, needs the acknowledged bytes of flows under way.
    pub fn asks_flows(&self) -> bool {
        self.run.clock.asks_flows(&self.run.progress)
    }

    /// So many bytes of a flow are acknowledged.
    pub fn set_acked(&mut self, flow: u32, bytes: u64) {
        self.run.flows.acked.insert(flow, bytes);
    }

    /// Takes the sample that is due.
    pub fn sample(&mut self) {
        self.take();
        self.run.sample();
        let now = self.run.fleet.pause().now();
        if now.0 >= self.gathered.0 + GATHER_INTERVAL.0 {
            self.gathered = now;
            if self.run.is_canonical() {
                lock(&self.run.writer).write_rows();
            }
        }
    }

    /// Frames of a node as bytes.
    pub fn capture(&mut self, node: u32, bytes: &[u8]) {
        let now = self.run.fleet.pause().now();
        lock(&self.run.writer).capture(now, node, bytes);
    }

    /// Ends the run; `stopped` says why before its time, and when, if so.
    ///
    /// # Errors
    /// The outcome, where results could not be written.
    pub fn finish(
        mut self,
        stopped: Option<(&str, Nanos)>,
        stack: StackTotals,
        program: &Program<'_>,
    ) -> Result<Outcome, Outcome> {
        self.take();
        let StackRun { run, is_quiet, out, .. } = self;
        let end = stopped.map_or(run.scenario.stop, |(_, at)| at.max(run.now()));
        let stopped = stopped.map(|(why, _)| why);
        run.finish(&Ending { stopped, is_quiet, out: &out, end, stack }, program)
    }
}
