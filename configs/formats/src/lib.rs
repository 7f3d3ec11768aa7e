// SPDX-License-Identifier: GPL-2.0-only
//! Every file that describes a run: all that is read once, before a run. It makes a
//! [`Scenario`](hpcc_model::scenario::Scenario), which is in `hpcc-model` with what runs read and write.
//!
//! | module | reads or writes |
//! | --- | --- |
//! | [`load()`] | one simulation, whichever format describes it |
//! | [`toml_format`] | scenarios in TOML |
//! | [`kind`] | what a file describes |
//! | [`mod@reference`] | `config.txt`, topology, flow and trace files of the 2019 simulator |
//! | [`sonic`] | `config_db.json` of a switch with SONiC |

pub mod alone;
mod htsim_network;
pub mod kind;
mod load;
pub mod reference;
pub mod sonic;
#[cfg(test)]
mod sonic_tests;
#[cfg(test)]
mod testing;
pub mod toml_format;

pub use load::{is_toml_file, load, load_network, load_network_text, load_text, load_with, overlap, refuse_overlaps};
