// SPDX-License-Identifier: GPL-2.0-only
//! Runs of the reference simulator: their inputs, what came out, and a comparison with ours.
//!
//! ```no_run
//! use hpcc_golden::{Golden, Simulator};
//!
//! let golden = Golden::in_tree()?;
//! let simulator = Simulator::from_environment()?;
//! for run in golden.runs().iter().filter(|run| run.is_quick() && run.cc_mode == 3) {
//!     let replay = simulator.replay(&golden.case(run)?)?;
//!     println!("{run}: {} of {} flows exact", replay.verdict.exact, replay.verdict.flows);
//! }
//! # Ok::<(), hpcc_golden::GoldenError>(())
//! ```
//!
//! | module | idea |
//! | --- | --- |
//! | [`Golden`] | the folder that holds everything |
//! | [`Run`] | a row of `runs.csv`: one configuration of one scenario |
//! | [`Case`] | a run with its files, which can be unpacked and run unchanged |
//! | [`Simulator`] | the program under test |
//! | [`Verdict`] | what differs between two sets of outputs |

mod archive;
mod campaign;
mod case;
mod claims;
mod error;
mod fat_tree;
mod golden;
mod run;
mod simulator;
mod verdict;

pub use case::{Case, Outputs};
pub use claims::{CLAIMED_MODES, LINK_DOWN_CLAIMED, is_claimed};
pub use error::GoldenError;
pub use golden::Golden;
pub use run::{Run, Source};
pub use simulator::{PROGRAM_VARIABLE, Replay, Simulator};
pub use verdict::{Match, Verdict};
