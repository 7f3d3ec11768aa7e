// SPDX-License-Identifier: GPL-2.0-only
//! What a run's results amount to: flows that count, statistics, time series. A crate of its own because it is compiled for
//! speed, for files with millions of flows; what the command does with the figures is not.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`results`] | the folder of a run; start with [`results::Results::load`] |
//! | [`records`] | the rows of its files, in memory or on disk |
//! | [`select`] | which flows count, and in which part of the run |
//! | [`quantity`] | what is measured: names, units, definitions |
//! | [`stats`] | completion times and slowdowns, by size |
//! | [`spread`] | percentiles and distributions of any number of values |
//! | [`series`] | rates, fairness and queues over time |
//! | [`window`] | queues and pauses in a part of the run |
//! | [`pairing`], [`parted`] | the flows of two files, side by side |

pub mod pairing;
pub mod parted;
pub mod quantity;
pub mod records;
pub mod results;
pub mod select;
pub mod series;
pub mod spread;
pub mod stats;
pub mod window;
