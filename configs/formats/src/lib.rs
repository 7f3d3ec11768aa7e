// SPDX-License-Identifier: GPL-2.0-only
//! Every file that hpcc reads or writes.
//!
//! | module | reads or writes |
//! | --- | --- |
//! | [`scenario`] | one simulation, whichever format describes it; start with [`load()`] |
//! | [`toml_format`] | scenarios in TOML |
//! | [`kind`] | what a file describes |
//! | [`flows`] | nothing: it walks the flows of a scenario without holding them in memory |
//! | [`mod@reference`] | `config.txt`, topology, flow and trace files of the 2019 simulator |
//! | [`sonic`] | `config_db.json` of a switch with SONiC |
//! | [`jobs`] | jobs of other simulators: GOAL, connection matrices, Chakra, SimAI |
//! | [`lint`] | nothing: it looks for what is worth saying of a scenario that can run |
//! | [`share`] | nothing: it divides a scenario among processes |
//! | [`generate`] | nothing: it makes networks and traffic from a few parameters |
//! | [`results`] | the output folder of a run |
//! | [`input`] | nothing: it opens files, and refuses what has no end |
//! | [`memory`] | nothing: it says how much memory there is |
//! | [`error`] | nothing: it says what was wrong, and in which line |
//! | [`visible`] | nothing: it makes texts of files safe for terminals and pictures |

mod check;
mod draft;
pub mod error;
mod flow;
pub mod flows;
pub mod generate;
mod htsim_network;
pub mod input;
pub mod job;
pub mod jobs;
pub mod kind;
pub mod lint;
mod load;
pub mod memory;
mod origin;
mod overbooked;
mod place;
pub mod reference;
pub mod results;
pub mod scenario;
pub mod share;
pub mod sonic;
#[cfg(test)]
mod sonic_tests;
mod text;
pub mod toml_format;
pub mod visible;

pub use check::memory_estimate;
pub use load::{is_toml_file, load, load_network, load_network_text, load_text, load_with, overlap, refuse_overlaps};
pub use overbooked::{Overbooked, overbooked};
