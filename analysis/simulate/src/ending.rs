// SPDX-License-Identifier: GPL-2.0-only
//! What a run writes at its end.

use crate::fleet::lock;
use crate::outcome::{Outcome, say};
use crate::pauses;
use crate::run::{Program, Run};
use crate::sights::Nobody;
use crate::skips;
use crate::stack::StackTotals;
use crate::summary;
use hpcc_core::switch::WatchdogAction;
use hpcc_core::units::Nanos;
use hpcc_model::results::storms_csv::StormRow;
use hpcc_model::results::{Measured, Note, Summary, Versions};
use std::mem::take;
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// How a run ends.
pub(crate) struct Ending<'a> {
    pub stopped: Option<&'a str>,
    pub is_quiet: bool,
    pub out: &'a Path,
    pub end: Nanos,
    pub stack: StackTotals,
}

impl Run {
    /// What ports of nodes that run here have sent, and what came to them with errors.
    pub(crate) fn tell_ports(&self) {
        let (engine, mut writer) = (self.fleet.pause(), lock(&self.writer));
        for (node, ports) in (0..).zip(self.scenario.network.ports()) {
            for port in 0..ports.len() as u16 {
                if let (Some(sent), Some(errors)) = (engine.sent(node, port), engine.errors(node, port)) {
                    writer.port(node, u32::from(port) + 1, sent, errors);
                }
            }
        }
    }

    /// Writes what there is by the end.
    pub(crate) fn finish(mut self, ending: &Ending<'_>, program: &Program<'_>) -> Result<Outcome, Outcome> {
        self.progress.clear();
        self.take_rest(ending.end);
        let stalls = self.record_unfinished(ending.end);
        let (storms, measured) = self.write_pauses(ending.end);
        let notes = self.tell_notes(ending, &storms, &measured);
        let summary = self.summary(ending, program, &measured, &notes);
        // Observers hold the writer, too; an engine that is a program's lives on.
        self.fleet.pause().each().for_each(|engine| engine.observe(Box::new(Nobody)));
        let Run { writer, mut flows, fleet, scenario, .. } = self;
        // Jobs are reckoned anew on an ideal network, which takes room: the engines' is free now.
        drop(fleet);
        let writer = Arc::into_inner(writer).expect("no observer is left");
        let mut writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !scenario.flows.jobs.is_empty() {
            let (jobs, collectives) = flows.jobs.rows(&scenario);
            writer.whole_file(&jobs);
            writer.whole_file(&collectives);
            let requests = flows.jobs.requests();
            if !requests.is_empty() {
                writer.whole_file(&requests);
            }
            if let Some(rows) = flows.jobs.timeline() {
                writer.whole_file(&rows);
            }
        }
        writer.finish(&summary).map_err(|error| {
            say(&error);
            Outcome::Failed
        })?;
        if ending.stopped.is_some() {
            return Ok(Outcome::Stopped);
        }
        if flows.is_done() {
            return Ok(Outcome::Finished);
        }
        stalls.iter().for_each(|stall| say(stall));
        let (total, left) = (flows.total, flows.total - flows.finished);
        if left > 0 {
            say(&format!("{left} of {total} flows unfinished, see {}/unfinished.csv", ending.out.display()));
        }
        Ok(Outcome::Unfinished)
    }

    /// Takes in what has happened since the last sample, here and in other processes.
    fn take_rest(&mut self, end: Nanos) {
        if self.scenario.monitor.goodput_interval.is_some() {
            let mut engine = self.fleet.pause();
            engine.ask_flows();
            self.flows.ask_arrived(&mut engine);
        }
        self.fleet.pause().finish();
        if self.scenario.monitor.sent_interval.is_some() {
            self.sent.record(end, &self.fleet.pause(), &mut lock(&self.writer));
        }
        self.tell_ports();
        let mut engine = self.fleet.pause();
        let mut writer = lock(&self.writer);
        engine.take_rows().iter().for_each(|rows| writer.add_rows(rows));
        lock(&self.holds).append(&mut engine.take_holds());
    }

    /// Whether nothing is under way any more.
    fn is_still(&self) -> bool {
        self.flows.is_idle() && !self.fleet.pause().jobs_wait()
    }

    /// Writes the flows that have not finished. Returns what ranks of jobs wait for.
    fn record_unfinished(&mut self, end: Nanos) -> Vec<String> {
        let is_still = self.is_still();
        let engine = self.fleet.pause();
        let mut writer = lock(&self.writer);
        self.flows.record_unfinished(&engine, &self.scenario, &mut writer, end);
        writer.write_rows();
        self.flows.jobs.stalls(engine.unfinished_ranks(), &self.scenario, is_still)
    }

    /// Writes pauses, storms and ports. Returns the storms, and what was measured.
    fn write_pauses(&self, end: Nanos) -> (Vec<StormRow>, Measured) {
        let mut writer = lock(&self.writer);
        if self.scenario.monitor.pauses {
            let rows = pauses::rows(take(&mut *lock(&self.holds)), &self.scenario.network, end);
            writer.whole_file(&rows);
        }
        let storms = pauses::storms(self.fleet.pause().storms());
        if self.scenario.settings.switch.pfc_watchdog != WatchdogAction::Off {
            writer.whole_file(&storms);
        }
        writer.ports(&self.scenario.network, end);
        let measured = writer.measured(end);
        (storms, measured)
    }

    /// What is worth saying of the run, on the terminal as well.
    fn tell_notes(&mut self, ending: &Ending<'_>, storms: &[StormRow], measured: &Measured) -> Vec<Note> {
        let &Ending { stopped, is_quiet, out, end, .. } = ending;
        let mut engine = self.fleet.pause();
        let faults = self.scenario.faults();
        let mut notes = summary::notes(&engine, measured, self.flows.uncontrolled, stopped, end, faults);
        if self.scenario.remarks().all(|remark| remark.id != "idle-attack") {
            notes.extend(summary::harmless(&engine));
        }
        let deadlock = self.deadlock.take().map(|(since, found)| format!("since {since} {found}"));
        notes.extend(deadlock.map(|text| Note::new("deadlock", text)));
        notes.extend(pauses::storm_note(storms).map(|text| Note::new("storms", text)));
        let skipped = skips::summary(&self.scenario, &mut engine, self.no_skips);
        notes.extend(skipped.and_then(|skipped| skips::note(self.scenario.skip, &skipped)));
        if !is_quiet || stopped.is_some() {
            notes.iter().for_each(|note| say(&format!("note: {}", note.text)));
        }
        let told = if stopped.is_some() { notes.len() } else { 0 };
        if let Some(count @ 1..) = (self.scenario.notes.len() + notes.len()).checked_sub(told).filter(|_| is_quiet) {
            let notes = if count == 1 { "1 note".into() } else { format!("{count} notes") };
            say(&format!("{notes}: see {}", out.join("summary.json").display()));
        }
        notes
    }

    fn summary(&self, ending: &Ending<'_>, program: &Program<'_>, measured: &Measured, notes: &[Note]) -> Summary {
        let &Ending { stopped, end, stack, .. } = ending;
        let is_over = self.is_still() && self.flows.is_done() && self.flows.endless == 0;
        let mut engine = self.fleet.pause();
        let times = (self.start, self.setup);
        let summary = summary::summary(&self.scenario, &engine, measured, notes, stopped, end, times);
        let summary = stack.add_to(summary);
        Summary {
            flows_total: self.flows.total,
            busy_until_ns: if is_over { self.flows.last_end.min(end).0 } else { end.0 },
            flows_endless: self.flows.endless,
            ranks: engine.take_figures(),
            skipped: skips::summary(&self.scenario, &mut engine, self.no_skips),
            build_profile: program.build_profile.into(),
            versions: Versions { ns3: program.ns3.into(), ..summary.versions },
            ..summary
        }
    }
}
