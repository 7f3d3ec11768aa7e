// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kind `collective`.

use super::keys::{PAYLOAD, keys};
use super::placement::Job;
use super::traffic::Context;
use hpcc_core::settings::Named;
use hpcc_core::units::{Bytes, Nanos};
use hpcc_core::workload::collective::{Collective, Kind, Parts, Plan};
use hpcc_model::error::InputError;
use hpcc_model::generate::Random;
use hpcc_model::job::{JobSpec, JobWork};
use hpcc_model::jobs::{CollectiveOptions, Cpu, Gpu, Protocol, Tuning};
use std::path::Path;
use std::sync::Arc;

keys! {
    Operation {
        /// What the ranks do together.
        operation: Kind;
        /// Algorithm of the operation: by default the first that the page on jobs lists for it; `auto` chooses by
        /// NCCL's model of costs; `fastest` runs each that can be done alone on this network before the run, and takes
        /// the soonest.
        #[assumed = "the first of the page on jobs for the operation"]
        algorithm: Option<String>;
        /// Bytes, as nccl-tests count them: the whole array, of which each rank has or gets a part in all_gather, reduce_scatter,
        /// all_to_all. A barrier has none.
        size: Option<Bytes> {PAYLOAD};
        /// How often it is done; a rank begins again as soon as it has ended.
        iterations: u32 {1..=1_000_000} = 1;
        /// Time between end and begin at a rank: a computation.
        gap: Nanos = Nanos(0);
        /// Name of a file for all_to_all, with a line for each rank that says how many bytes it has for each rank; the size is
        /// then the largest sum of a line, as the file says or scaled to `size`.
        matrix: Option<String>;
    }
    /// How collectives are done.
    Messages {
        /// Number of channels among which the data is divided, each with a queue pair of its own between two ranks. By
        /// default rings and trees between servers have as many as the smallest server has NICs, for each leaves a
        /// server by one of them; others have one. More of them use more paths.
        #[assumed = "as many as the smallest server has NICs, for rings and trees between servers; else one"]
        channels: Option<u16> {1..=Collective::MOST_CHANNELS};
        /// A channel's data is cut into pieces of at most so many bytes, which follow each other as in a pipeline. By default
        /// NCCL's 512 KiB where each step needs the one before (in a ring of each rank's part), else it is one piece; more bytes
        /// than there are keep it whole.
        #[assumed = "NCCL's pieces of 512 KiB, where steps follow each other"]
        chunk: Option<Bytes> {PAYLOAD};
        /// Pieces of a channel that are under way at once.
        depth: u32 {1..=1024} = 8;
        /// How data becomes messages: whole (simple), with a flag beside each 4 bytes (ll), or beside each 120 (ll128); by default
        /// whole, or as the model of `auto` chooses.
        #[assumed = "whole messages; with algorithm auto what NCCL's model chooses"]
        protocol: Option<Protocol>;
        /// The GPUs whose figures the model of `auto` has; by default `hopper`.
        gpu: Option<Gpu>;
        /// Whose CPUs the servers have, for the model of `auto`; by default `intel`.
        cpu: Option<Cpu>;
        /// In an all_to_all the n-th rank of a group gets as much as n to the power of minus this, such as a popular expert; 0:
        /// all get the same.
        skew: f64 {0.0..=16.0} = 0.0;
        /// Exchanges of a rank that are under way at once, in algorithms where none waits for another (direct); by
        /// default all.
        window: Option<u32> {1..=u32::MAX};
    }
}

impl Operation {
    /// The job of a section.
    pub fn job(
        &self,
        messages: &Messages,
        job: &Job,
        context: &Context<'_>,
        random: &mut Random,
    ) -> Result<JobSpec, InputError> {
        let refuse = |key: &str, message: String| Err(context.error(key, message));
        let matrix = self.matrix.as_deref().map(|name| context.file("matrix", name)).transpose()?;
        let gpus = job.gpus(context, random)?;
        let ranks = gpus.len() as u32;
        if ranks < 2 {
            return refuse("ranks", format!("there are {ranks} ranks; expected at least 2"));
        }
        let kind = self.operation;
        for (key, given) in [("matrix", matrix.is_some()), ("skew", messages.skew > 0.0)] {
            if given && kind != Kind::AllToAll {
                return refuse(key, format!("{} has no {key}; expected all_to_all, or none", kind.name()));
            }
        }
        let matrix = matrix.map(|path| read_matrix(&path, ranks)).transpose()?;
        let is_barrier = kind == Kind::Barrier;
        let most = matrix.as_ref().and_then(|rows| rows.iter().map(|row| row.iter().sum()).max());
        let size = match self.size.map(|size| size.0).or(most) {
            Some(_) if is_barrier => return refuse("size", "a barrier has no size; expected none".into()),
            None if !is_barrier => return refuse("size", "size is missing; expected the bytes of the data".into()),
            size => size.unwrap_or(0),
        };
        let tuning = context.tuning(&context.hosts_of(&gpus));
        let ways = messages.ways(self.algorithm.as_ref(), &tuning);
        let plan = ways.plan(kind, (0..ranks).collect(), size, 0);
        let plan = plan.map_err(|(key, message)| context.error(key, message))?;
        messages.tell(
            std::slice::from_ref(&plan),
            self.algorithm.as_deref().is_some_and(CollectiveOptions::is_auto),
            context,
        );
        let parts = matrix.map(|rows| Arc::new(Parts::new(&rows))).or(plan.parts);
        let plan = Plan { iterations: self.iterations, gap: self.gap, parts, ..plan };
        let trials = ways.trials([&plan]).collect();
        let has_usual_pieces = messages.chunk.is_none();
        Ok(JobSpec { trials, has_usual_pieces, ..job.spec(gpus, JobWork::Collective(plan), context) })
    }
}

/// Bytes from rank to rank, a line for each that has them.
fn read_matrix(path: &Path, ranks: u32) -> Result<Vec<Vec<u64>>, InputError> {
    /// More would not be sent in a lifetime.
    const MOST: u64 = 1 << 48;
    let text = hpcc_model::text::read(path)?;
    let wrong = |line: usize, message: String| InputError::new(path, Some(line as u32 + 1), message);
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        let row: Result<Vec<u64>, _> =
            words.map(|word| word.parse().ok().filter(|&bytes| bytes <= MOST).ok_or(word)).collect();
        let row =
            row.map_err(|word| wrong(number, format!("\"{word}\" is no number of bytes; expected one up to {MOST}")))?;
        if row.len() as u32 != ranks {
            return Err(wrong(
                number,
                format!("there are {} numbers; expected one for each of {ranks} ranks", row.len()),
            ));
        }
        rows.push(row);
    }
    if rows.len() as u32 != ranks {
        return Err(InputError::new(
            path,
            None,
            format!("there are {} lines; expected one for each of {ranks} ranks", rows.len()),
        ));
    }
    Ok(rows)
}

impl Messages {
    /// How collectives are done by this algorithm.
    pub fn ways(&self, algorithm: Option<&String>, tuning: &Tuning) -> CollectiveOptions {
        let &Messages { channels, chunk, depth, protocol, gpu, cpu, skew, window } = self;
        CollectiveOptions {
            algorithm: algorithm.cloned(),
            protocol,
            channels,
            chunk: chunk.map(|chunk| chunk.0),
            depth,
            window: window.unwrap_or(CollectiveOptions::ALL_AT_ONCE),
            skew,
            tuning: tuning.clone().with(gpu.or(tuning.profiles().gpu()).unwrap_or_default(), cpu.unwrap_or_default()),
        }
    }
}
