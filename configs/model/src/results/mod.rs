// SPDX-License-Identifier: GPL-2.0-only
//! The files of a run's output folder: one module per format, each with its writer and its reader.
//!
//! | file | holds | module |
//! | --- | --- | --- |
//! | `fct.txt` | completed flows, in the 2019 simulator's format | [`fct_txt`] |
//! | `pfc.txt` | PFC frames received, in the 2019 simulator's format | [`pfc_txt`] |
//! | `qlen.txt` | queue-length histograms, in the 2019 simulator's format | [`qlen_txt`] |
//! | `fct.csv` | completed flows with endpoints, ideal time and slowdown | [`fct_csv`] |
//! | `unfinished.csv` | flows that did not complete | [`unfinished_csv`] |
//! | `queue.csv` | changes of the queue length of a port | [`queue_csv`] |
//! | `control.csv` | rate, window, bytes in flight, U, bottleneck and round-trip time of flows at intervals | [`control_csv`] |
//! | `goodput.csv` | bytes per flow and interval that have arrived | [`goodput_csv`] |
//! | `sent.csv` | bytes per port and interval that have left, with `monitor.sent_interval` | [`sent_csv`] |
//! | `collectives.csv` | each iteration of each collective, if there are jobs | [`collectives_csv`] |
//! | `requests.csv` | requests and their tokens, if a job serves any | [`requests_csv`] |
//! | `jobs.csv` | when each job was over, if there are any | [`jobs_csv`] |
//! | `timeline.csv` | what each rank of a job did and when, if that is recorded | [`timeline_csv`] |
//! | `ports.csv` | every port, its link, how long PFC paused it, and what it sent | [`ports_csv`] |
//! | `pauses.csv` | every pause and its reason, with `monitor.pauses` | [`pauses_csv`] |
//! | `storms.csv` | every pause that a watchdog found too long, if there are any | [`storms_csv`] |
//! | `summary.json` | the run as a whole: effective scenario, totals, cost | [`summary`] |
//!
//! Times are nanoseconds of simulated time, sizes are bytes. A simulator writes all of them through one
//! [`ResultWriter`]; its queues are watched by a [`QueueMonitor`].

mod cell;
pub mod control_csv;
mod csv_file;
mod csv_row;
mod digest;
mod error;
mod failure_cost;
mod files;
mod folder;
mod lock;
mod measured_error;
mod output_file;
mod pause_meter;
mod queue_monitor;
mod row;
#[cfg(test)]
mod testing;
mod text_file;
mod writer;

pub mod address;
mod capture;
pub mod collectives_csv;
pub mod fct_csv;
pub mod fct_txt;
pub mod goodput_csv;
pub mod jobs_csv;
pub mod packet_trace;
pub mod pauses_csv;
pub mod pfc_txt;
pub mod ports_csv;
pub mod qlen_txt;
pub mod queue_csv;
pub mod requests_csv;
pub mod sent_csv;
pub mod storms_csv;
pub mod summary;
pub mod timeline_csv;
pub mod unfinished_csv;

pub use capture::CaptureFormat;
pub use csv_file::Rows;
pub use csv_row::CsvRow;
pub use digest::FileDigest;
pub use error::ResultError;
pub use failure_cost::{FailureCost, FlowCost, JobCost};
pub use fct_csv::FctRecord;
pub use folder::{INPUTS, Remains, remains, wait_for_writer};
pub use lock::FolderLock;
pub use measured_error::{ErrorFigures, JobError, MeasuredError};
pub use queue_monitor::{QueueMonitor, QueueStats};
pub use row::RowPlace;
pub use summary::{
    AttackSummary, CreditWaits, FailedLinks, FastCnpSummary, LinkRetry, Note, Port, RankSummary, SkipSummary, Summary,
    TrimSummary, Versions,
};
pub use unfinished_csv::UnfinishedFlow;
pub use writer::{Measured, ResultWriter};
