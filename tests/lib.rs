// SPDX-License-Identifier: GPL-2.0-only
//! Shared helpers of the cross-room tests.
//!
//! The tests drive the programs as a user does. `./hpcc test` builds them and names them in
//! `HPCC_SCENARIO_PROGRAM` (the ns-3 program) and `HPCC_ANALYSIS_PROGRAM` (the `hpcc` command). A test that cannot
//! test here calls [`skipped()`].

mod bench;
pub mod dissection;
mod experiments;
mod mpi;
mod programs;
mod run;
mod shipped;
mod skipped;
mod stack;
mod terminal;

pub use bench::{Bench, ProcessOutput, is_complete};
pub use experiments::{REFERENCE, TOML};
pub use hpcc_relations::{ScenarioRng, seeds};
pub use mpi::has_mpi;
pub use programs::{example, hpcc, script, simulator, xtask};
pub use run::{Run, refused};
pub use shipped::{Shipped, is_of_tcp};
pub use skipped::skipped;
pub use stack::has_tcp;
pub use terminal::on_terminal;

/// The guides' code, compiled and run.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../ns3-module/doc/adding-a-controller.md")]
    pub struct AddingAController;

    #[doc = include_str!("../ns3-module/doc/adding-a-load-balancer.md")]
    pub struct AddingALoadBalancer;

    #[doc = include_str!("../ns3-module/doc/adding-a-setting.md")]
    pub struct AddingASetting;

    #[doc = include_str!("../ns3-module/doc/adding-a-telemetry-format.md")]
    pub struct AddingATelemetryFormat;
}
