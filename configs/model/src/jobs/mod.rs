// SPDX-License-Identifier: GPL-2.0-only
//! Jobs in the files of other simulators: what each rank does, as a graph of operations.

pub mod alike;
pub mod chakra;
mod chakra_file;
mod chakra_message;
pub mod chakra_write;
mod collective_options;
pub mod connection_matrix;
pub mod goal;
pub mod goal_binary;
mod goal_text;
pub mod goal_write;
pub mod hardware;
pub mod ideal;
pub mod inference;
mod matching;
pub mod messages;
mod plans;
mod schedule;
pub mod simai;
pub mod transformer;
mod tuning;

pub use collective_options::{CollectiveOptions, STEP};
pub use inference::requests::Request;
pub use tuning::protocol_name;
pub use tuning::{Cpu, Gpu, Protocol, Tuning};

use hpcc_core::workload::Graph;
use hpcc_core::workload::collective::Plan;

/// What a file says.
#[derive(Debug)]
pub struct JobFile {
    /// By rank.
    pub graphs: Vec<Graph>,
    /// Collectives in them, by number.
    pub collectives: Vec<Plan>,
    /// Hash of the file, and of what else the graphs follow from.
    pub digest: String,
    /// On what of a file is doubtful.
    pub notes: Vec<String>,
}

/// Hash of what graphs follow from.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = blake3::Hasher::new();
    parts.into_iter().for_each(|part| _ = hash.update(part));
    hash.finalize().to_hex().to_string()
}

#[cfg(test)]
mod testing {

    use hpcc_core::workload::{Graph, Job, Program};

    /// A job of graphs, each on a host of its own.
    pub fn job(graphs: &[Graph]) -> Job {
        let program = |graph: &Graph| Box::new(graph.clone()) as Box<dyn Program>;
        let ranks = graphs.iter().zip(0..).map(|(graph, rank)| (rank, program(graph))).collect();
        Job { ranks, ..Job::default() }
    }
}
