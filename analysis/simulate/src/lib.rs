// SPDX-License-Identifier: GPL-2.0-only
//! Runs a scenario on the engine of `hpcc-core`: the same results as by the ns-3 module, byte for byte, without ns-3.
//!
//! ```text
//! Run::new      scenario -> Engine, ResultWriter
//! Run::run      Engine::run_until ... Stop::Sample -> series::Clock: queues, goodput, control, progress
//! Run::finish   totals -> summary.json
//! ```

mod bound;
pub mod driven;
mod ending;
mod failure_cost;
mod fastest;
mod fleet;
mod flows;
pub mod fluid;
pub mod goodput;
mod jobs;
mod outcome;
mod panel;
mod pauses;
pub mod progress;
mod ranks;
mod rounds;
mod run;
mod samples;
mod sent;
mod series;
mod setup;
mod sights;
mod skips;
mod stack;
mod summary;
mod trial;
pub mod usage;
mod watching;

pub use failure_cost::run_both;
pub use fastest::resolve as resolve_fastest;
pub use flows::{FIRST_OF_PROGRAM, Seen};
pub use outcome::Outcome;
pub use ranks::Ranks;
pub use run::{How, Program, run, run_in};
pub use setup::engine_streams;
pub use stack::{StackRun, StackTotals};
