// SPDX-License-Identifier: GPL-2.0-only
//! What a run is and what it leaves: the scenario that simulators take, and the results that they write. What may have
//! millions of lines is read and written here, optimised; files that describe a run are read in `hpcc-formats`, above.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scenario`] | one simulation, whichever format describes it |
//! | [`draft`], [`check`], [`lint`] | a scenario that was read; whether its parts agree; what is worth saying of one that can run |
//! | [`overbooked`] | links that random traffic fills |
//! | [`flow`], [`flows`] | a flow; all flows of a scenario, walked without holding them in memory |
//! | [`flow_file`] | flow files of the reference simulator and its descendants |
//! | [`job`], [`jobs`] | a job; the files of other simulators' jobs: GOAL, connection matrices, Chakra, SimAI |
//! | [`generate`] | networks and traffic from a few parameters |
//! | [`share`] | a scenario divided among processes |
//! | [`results`] | the output folder of a run |
//! | [`input`], [`text`], [`words`] | files that are opened, unless they have no end; their text; its words |
//! | [`memory`] | how much memory there is |
//! | [`place`], [`origin`] | where a value came from; where the keys of a section did |
//! | [`error`](mod@error) | what was wrong, and in which line |
//! | [`visible`] | texts of files, safe for terminals and pictures |

pub mod check;
pub mod draft;
pub mod error;
pub mod flow;
pub mod flow_file;
pub mod flows;
pub mod generate;
pub mod input;
pub mod job;
pub mod jobs;
pub mod lint;
pub mod memory;
pub mod origin;
pub mod overbooked;
pub mod place;
pub mod results;
pub mod scenario;
pub mod share;
pub mod text;
pub mod visible;
pub mod words;
