// SPDX-License-Identifier: GPL-2.0-only
//! Runs a scenario without packets: each flow goes at its max-min fair rate, over the links that packets would take.
//!
//! ```text
//! limits     what is refused, and what is noted
//! wholes     collectives inside a server, without their messages
//! world      what happens when: flows, messages of jobs, failures of links
//!   paths    which links a flow takes
//!   alone    what it would be alone: most rate, latency, headers
//!   posted   what is known of flows under way
//!   sharing  which rate each has beside others (streams, and hpcc_core::max_min)
//! record     results, as the engine's
//! check      the same as packets, and how far off this was
//! ```

mod alone;
mod calendar;
mod check;
mod limits;
mod paths;
mod pieces;
mod posted;
pub(crate) mod quick;
mod record;
mod serving;
mod sharing;
mod streams;
#[cfg(test)]
mod tests;
mod wholes;
mod world;

use crate::outcome::{Outcome, say};
use crate::progress::progress_of;
use crate::resolve_fastest;
use crate::setup::requests;
use crate::usage::cpu_time;
pub use check::Check;
use hpcc_core::fabric::Fabric;
use hpcc_core::node::NodeSettings;
use hpcc_core::workload::Noted;
use hpcc_model::lint::AS_PACKETS;
use hpcc_model::results::ResultWriter;
use hpcc_model::scenario::Scenario;
use record::Record;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;
use wholes::WithWholes;
use world::World;

/// Moments between two looks at the clock.
const LOOK: u64 = 1_000;

/// How a scenario runs as fluid.
#[derive(Clone, Copy, Debug, Default)]
pub struct FluidHow {
    /// Neither notes nor progress are shown, only errors.
    pub is_quiet: bool,
    /// Whether, and how far, packets are simulated as well.
    pub check: Option<Check>,
}

/// Runs a scenario as fluid; results go to the folder `out`.
///
/// # Errors
/// The outcome, where there are no results.
pub fn run(scenario: &Scenario, out: &Path, how: FluidHow) -> Result<Outcome, Outcome> {
    let refused = |why: String| Outcome::refused(&why);
    let start = Instant::now();
    limits::refuse(scenario).map_err(refused)?;
    let scenario = &resolve_fastest(scenario.clone(), true, true).map_err(refused)?;
    let notes = scenario.told_notes(how.is_quiet).filter(|note| !note.starts_with(AS_PACKETS));
    notes.for_each(|note| say(&format!("note: {note}")));
    // A check pairs the messages of both runs.
    let fewer = if how.check.is_none() { pieces::with_fewer(scenario, fabric(scenario).max_rtt()) } else { None };
    let told: Vec<String> =
        limits::told(scenario).into_iter().chain(fewer.iter().map(|(_, note)| note.clone())).collect();
    let scenario = fewer.as_ref().map_or(scenario, |(scenario, _)| scenario);
    if !how.is_quiet {
        told.iter().for_each(|note| say(&format!("note: {note}")));
    }
    if let Some(with_wholes) = wholes::with_wholes(scenario).map_err(refused)? {
        if let Some(outcome) = attempt(scenario, Some(with_wholes), &told, (how, out), start)? {
            return Ok(outcome);
        }
        if !how.is_quiet {
            say(
                &"collectives inside servers overlap, or ranks begin them at different times: again, with all messages",
            );
        }
    }
    Ok(attempt(scenario, None, &told, (how, out), start)?.unwrap_or(Outcome::Failed))
}

/// Runs a scenario, perhaps with collectives inside servers as wholes: then there is no outcome if they cannot be that.
fn attempt(
    scenario: &Scenario,
    with_wholes: Option<WithWholes>,
    told: &[String],
    (how, out): (FluidHow, &Path),
    start: Instant,
) -> Result<Option<Outcome>, Outcome> {
    let refused = |why: String| Outcome::refused(&why);
    let (listed, groups) = requests(scenario).map_err(refused)?;
    let writer = ResultWriter::create(out).map_err(|error| Outcome::refused(&error))?;
    let (run, watch) = with_wholes.map_or((None, None), |with| (Some(with.scenario), Some(with.watch)));
    let mut world = World::new(run.as_ref().unwrap_or(scenario), fabric(scenario), listed).map_err(refused)?;
    world.watch = watch;
    let mut record = Record::new(scenario, writer, groups, how.check.is_some());
    let setup = cpu_time();
    let mut progress = progress_of(scenario, how.is_quiet);
    let mut moments = 0_u64;
    while world.step(scenario.stop.0) {
        record.take(&mut world);
        if !world.holds {
            progress.clear();
            return Ok(None);
        }
        moments += 1;
        if moments.is_multiple_of(LOOK) && progress.is_due() {
            let (bytes, finished) = record.progress();
            progress.expect(world.begun as u32);
            progress.update(world.now, world.events(), bytes, finished as u32, Vec::new(), None);
        }
    }
    progress.clear();
    record.finish(world, &record::Cost { start, setup }, told, (how, out)).map(Some)
}

/// Whether a scenario can run as fluid.
pub(crate) fn can_run(scenario: &Scenario) -> bool {
    limits::refuse(scenario).is_ok()
}

/// Runs the jobs of a scenario until `see` has seen enough of what their ranks note. Returns whether it has.
///
/// # Errors
/// What a fluid run does not have.
pub(crate) fn run_jobs(scenario: &Scenario, mut see: impl FnMut(Vec<Noted>) -> bool) -> Result<bool, String> {
    limits::refuse(scenario)?;
    let mut world = World::new(scenario, fabric(scenario), Vec::new())?;
    while world.step(scenario.stop.0) {
        world.over.clear();
        if see(world.jobs.take_notes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The network that a scenario's flows find.
fn fabric(scenario: &Scenario) -> Fabric {
    let common = Rc::new(scenario.settings.clone());
    let legacy = scenario.legacy.settings.clone().map(Rc::new);
    let settings = |node: u32| -> Rc<NodeSettings> {
        let legacy = legacy.as_ref().filter(|_| scenario.legacy.nodes.contains(&node));
        Rc::clone(legacy.unwrap_or(&common))
    };
    let nodes: Vec<_> = (0..scenario.network.nodes.len() as u32).map(settings).collect();
    Fabric::of_nodes(&scenario.network, &nodes)
}
