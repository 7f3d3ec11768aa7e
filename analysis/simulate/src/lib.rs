// SPDX-License-Identifier: GPL-2.0-only
//! Runs a scenario on the engine of `hpcc-core`: the same results as by the ns-3 module, byte for byte, without ns-3.
//!
//! ```text
//! Run::new      scenario -> Engine, ResultWriter
//! Run::run      Engine::run_until ... Stop::Sample -> series::Clock: queues, goodput, control, progress
//! Run::finish   totals -> summary.json
//! ```

pub mod driven;
mod fleet;
mod flows;
pub mod goodput;
mod jobs;
mod panel;
mod pauses;
pub mod progress;
mod ranks;
mod rounds;
mod run;
mod series;
mod sights;
mod stack;
mod summary;
pub mod usage;

pub use ranks::Ranks;
pub use run::{How, Outcome, Program, engine_streams, run, run_in};
pub use stack::{StackRun, StackTotals};
