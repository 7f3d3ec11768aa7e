// SPDX-License-Identifier: GPL-2.0-only
//! A run whose ranks are simulated elsewhere: it runs until something that they asked for is over.

use crate::ending::Ending;
use crate::outcome::{Outcome, say};
use crate::run::{How, Parts, Pause, Program, Run};
use crate::setup::engine;
use crate::stack::StackTotals;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Operation, Servers};
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::results::ResultWriter;
use hpcc_model::scenario::{EventOrder, Scenario};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Destination port and priority of all messages: those of flows that say nothing else.
const DPORT: u16 = 100;
const PRIORITY: u8 = 3;

/// A run with ranks that ask.
pub struct Driven {
    run: Run,
    out: PathBuf,
    /// The number of the job.
    job: u32,
    /// What was told last, in a timeline, and to whom.
    cause: Option<(u32, u32)>,
    stopped: Option<String>,
}

impl Driven {
    /// So many ranks on the first hosts of a scenario, beside its traffic. Results go to a folder.
    ///
    /// # Errors
    /// Why not.
    pub fn new(mut scenario: Scenario, ranks: u32, out: PathBuf) -> Result<Driven, String> {
        let mut gpus = Servers::all_gpus(scenario.servers, &scenario.network);
        if gpus.len() < ranks as usize {
            return Err(format!("there are {ranks} ranks and {} hosts; expected as many hosts or more", gpus.len()));
        }
        gpus.truncate(ranks as usize);
        let host = |&gpu: &u32| scenario.servers.map_or(gpu, |servers| servers.host_of(gpu));
        let hosts = gpus.iter().map(host).collect();
        // Somebody who asks at a time must find all nodes there.
        scenario.order = EventOrder::Insertion;
        let group = scenario.flows.groups.len() as u32;
        scenario.flows.groups.push("ranks".into());
        let (start, send_latency, work) = (Nanos(0), Nanos(0), JobWork::Outside);
        let job = scenario.flows.jobs.len() as u32;
        let spec =
            JobSpec { group, start, hosts, gpus, send_latency, priority: PRIORITY, dport: DPORT, ..JobSpec::of(work) };
        scenario.flows.jobs.push(spec);
        scenario.notes.iter().for_each(|note| say(&format!("note: {note}")));
        let writer = ResultWriter::create(&out).map_err(|error| error.to_string())?;
        let how = How { is_quiet: true, is_watched: false, threads: 1 };
        let start = Instant::now();
        let engine = Arc::new(Mutex::new(engine(&scenario)?));
        let run = Run::new(scenario, writer, how, start, vec![engine], Parts::default(), None)?;
        Ok(Driven { run, out, job, cause: None, stopped: None })
    }

    /// The present time.
    pub fn now(&self) -> Nanos {
        self.run.now()
    }

    /// A rank begins something.
    pub fn ask(&mut self, rank: u32, token: u64, operation: Operation) {
        let cause = self.cause.filter(|cause| cause.0 == rank).map(|cause| cause.1);
        self.run.pause().whole().ask((self.job, rank), token, operation, cause);
    }

    /// A rank has nothing left to do.
    pub fn end_rank(&mut self, rank: u32) {
        self.run.pause().whole().end_rank((self.job, rank));
    }

    /// Runs until something is over that a rank asked for; its token. `None`: nothing will be.
    pub fn next_over(&mut self) -> Option<u64> {
        loop {
            let told = self.run.pause().whole().take_told();
            if let Some(told) = told {
                self.cause = told.cause.map(|cause| (told.rank, cause));
                return Some(told.token);
            }
            match self.run.advance(Program::NONE.fault) {
                Pause::Completion => {}
                Pause::End => return None,
                Pause::Fault(why) => {
                    self.stopped = Some(why);
                    return None;
                }
            }
        }
    }

    /// Lets what is under way come to its end, and writes results.
    pub fn finish(mut self) -> Outcome {
        let mut end = self.now();
        while self.stopped.is_none() && self.next_over().is_some() {
            end = self.now();
        }
        self.run.take();
        let Driven { run, out, stopped, .. } = self;
        let (stopped, is_quiet, stack) = (stopped.as_deref(), false, StackTotals::default());
        let ending = Ending { stopped, is_quiet, out: &out, end, stack };
        run.finish(&ending, &Program::NONE).unwrap_or_else(|outcome| outcome)
    }
}
