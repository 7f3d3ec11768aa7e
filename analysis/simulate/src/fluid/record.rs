// SPDX-License-Identifier: GPL-2.0-only
//! The results of a fluid run, in the files of the engine's.

use super::FluidHow;
use super::check::{Times, check};
use super::posted::{Over, is_endless};
use super::world::World;
use crate::flows::{finished_row, unfinished_row};
use crate::jobs::JobResults;
use crate::outcome::{Outcome, say};
use crate::run::Program;
use crate::usage::{cpu_time, peak_rss_bytes};
use hpcc_core::engine::FlowRequest;
use hpcc_core::fabric::Fabric;
use hpcc_core::units::Nanos;
use hpcc_model::results::summary::FLUID;
use hpcc_model::results::{Note, ResultWriter, Summary, UnfinishedFlow, Versions};
use hpcc_model::scenario::Scenario;
use std::path::Path;
use std::time::{Duration, Instant};

/// So many rows wait until they are put in order.
const ROWS: u32 = 10_000;

/// In a run of more events jobs have no ideal times.
const MOST_RECKONED: u64 = 1_000_000;

/// When a run began, and its processor time until its first event.
pub struct Cost {
    pub start: Instant,
    pub setup: Duration,
}

/// Results so far.
pub struct Record<'a> {
    scenario: &'a Scenario,
    writer: ResultWriter,
    /// Of listed flows.
    groups: Vec<u32>,
    jobs: JobResults,
    total: u64,
    endless: u64,
    finished: u64,
    bytes: u64,
    last_end: Nanos,
    /// Rows that wait, and the time of the last one.
    rows: (u32, u64),
    /// What a comparison needs, if there is to be one.
    times: Option<Times>,
}

impl<'a> Record<'a> {
    pub fn new(scenario: &'a Scenario, mut writer: ResultWriter, groups: Vec<u32>, is_checked: bool) -> Record<'a> {
        // Rows of the same nanosecond are written in order of nodes.
        writer.share();
        Record {
            scenario,
            writer,
            total: groups.len() as u64,
            groups,
            jobs: JobResults::new(scenario),
            endless: 0,
            finished: 0,
            bytes: 0,
            last_end: Nanos(0),
            rows: (0, 0),
            times: is_checked.then(Times::default),
        }
    }

    /// Bytes and flows that are over.
    pub fn progress(&self) -> (u64, u64) {
        (self.bytes, self.finished)
    }

    /// Takes in what has happened.
    pub fn take(&mut self, world: &mut World<'_>) {
        let (notes, spans) = (world.take_notes(), world.jobs.take_spans());
        if !notes.is_empty() || !spans.is_empty() {
            self.jobs.take(notes, spans, &world.fabric);
        }
        if self.rows.0 > ROWS && world.now > self.rows.1 {
            self.writer.write_rows();
            self.rows.0 = 0;
        }
        let mut over = std::mem::take(&mut world.over);
        over.drain(..).for_each(|flow| self.finished(&flow, &world.fabric));
        self.rows.1 = world.now;
        world.over = over;
    }

    fn finished(&mut self, over: &Over, fabric: &Fabric) {
        let &Over { request: flow, sport, time, ideal, job } = over;
        self.total += u64::from(job.is_some());
        self.finished += 1;
        self.bytes += flow.size;
        self.last_end = self.last_end.max(flow.start + time);
        let links = fabric.path(flow.src, flow.dst).map_or(0, |path| path.links);
        job.iter().for_each(|&job| self.jobs.count(job, flow.size, links));
        self.rows.0 += 1;
        let row = finished_row(&flow, sport, (time, ideal), self.group(flow.id, job));
        self.times.iter_mut().for_each(|times| times.add(&row, job.is_some()));
        self.writer.flow_finished(&row);
    }

    fn group(&self, flow: u32, job: Option<u32>) -> u32 {
        job.map(|job| self.jobs.group(job)).or_else(|| self.groups.get(flow as usize).copied()).unwrap_or_default()
    }

    fn is_done(&self) -> bool {
        self.finished == self.total && self.jobs.is_done()
    }

    /// Writes all, and says how the run ended.
    pub fn finish(
        mut self,
        mut world: World<'_>,
        cost: &Cost,
        told: &[String],
        (how, out): (FluidHow, &Path),
    ) -> Result<Outcome, Outcome> {
        self.take(&mut world);
        let end = self.scenario.stop;
        world.now = end.0;
        for (place, (flow, sport, sent, job)) in (0..).zip(world.unfinished()) {
            self.unfinished(place, &flow, sport, sent, job);
        }
        self.writer.write_rows();
        let stalls = self.jobs.stalls(world.jobs.unfinished(), self.scenario, world.is_still());
        self.jobs.has_ideals = world.events() <= MOST_RECKONED;
        let mut summary = self.summary(&world, cost, told, end);
        if !self.jobs.has_ideals && !self.scenario.flows.jobs.is_empty() {
            let text = "fluid: no ideal times of jobs (jobs.csv): with so many messages they take as long as the run";
            summary.notes.push(Note::new(FLUID, text));
        }
        self.writer.ports(&self.scenario.network, end);
        drop(world);
        self.write_jobs();
        if let Some((sample, times)) = how.check.zip(self.times.take()) {
            let jobs = self.jobs.rows(self.scenario).0;
            summary.measured_error = check(self.scenario, sample, times, &jobs, (how.is_quiet, out))?;
        }
        let is_done = self.is_done();
        let left = self.total - self.finished;
        self.writer.finish(&summary).map_err(|error| {
            say(&error);
            Outcome::Failed
        })?;
        if is_done {
            return Ok(Outcome::Finished);
        }
        stalls.iter().for_each(|stall| say(stall));
        if left > 0 {
            say(&format!("{left} of {} flows unfinished, see {}/unfinished.csv", self.total, out.display()));
        }
        Ok(Outcome::Unfinished)
    }

    fn write_jobs(&mut self) {
        if self.scenario.flows.jobs.is_empty() {
            return;
        }
        let (jobs, collectives) = self.jobs.rows(self.scenario);
        self.writer.whole_file(&jobs);
        self.writer.whole_file(&collectives);
        let requests = self.jobs.requests();
        if !requests.is_empty() {
            self.writer.whole_file(&requests);
        }
        if let Some(rows) = self.jobs.timeline() {
            self.writer.whole_file(&rows);
        }
    }

    fn unfinished(&mut self, place: u64, flow: &FlowRequest, sport: u16, sent: u64, job: Option<u32>) {
        self.total += u64::from(job.is_some());
        let left = unfinished_row(flow, sport, sent, self.group(flow.id, job));
        if !is_endless(flow) {
            return self.writer.flow_unfinished(place, &left);
        }
        self.total -= 1;
        self.endless += 1;
        self.writer.flow_endless(&UnfinishedFlow { size: sent, ..left });
    }

    fn summary(&mut self, world: &World<'_>, cost: &Cost, told: &[String], end: Nanos) -> Summary {
        let scenario = self.scenario;
        let mut effective = scenario.effective();
        let own = told.iter().map(|text| Note::new(FLUID, text.as_str()));
        let notes: Vec<Note> = scenario.remarks().chain(own).collect();
        effective["notes"] = notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().into();
        let is_over = self.is_done() && world.is_still();
        Summary {
            scenario: effective,
            simulator: FLUID.into(),
            seed: scenario.seed,
            versions: Versions { hpcc: env!("CARGO_PKG_VERSION").into(), ns3: "none".into() },
            build_profile: Program::NONE.build_profile.into(),
            flows_total: self.total,
            flows_endless: self.endless,
            flows_finished: self.finished,
            base_rtt_ns: world.fabric.max_rtt().0,
            simulated_ns: end.0,
            busy_until_ns: if is_over { self.last_end.min(end).0 } else { end.0 },
            events: world.events(),
            setup_cpu_s: cost.setup.as_secs_f64(),
            run_cpu_s: cpu_time().saturating_sub(cost.setup).as_secs_f64(),
            wall_s: cost.start.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            notes,
            assumed: scenario.assumed.clone(),
            groups: scenario.flows.groups.clone(),
            // Format and files are the writer's to fill in.
            ..Summary::default()
        }
    }
}
