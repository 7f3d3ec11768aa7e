// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]` of the kinds that are files of other simulators with jobs.

use super::collective::Messages;
use super::keys::keys;
use super::placement::Job;
use super::traffic::Context;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::Kind;
use hpcc_model::error::InputError;
use hpcc_model::generate::Random;
use hpcc_model::job::{JobSpec, JobWork, Links, Trial};
use hpcc_model::jobs::transformer::{Buckets, ContextBy, Embeddings, Recompute};
use hpcc_model::jobs::{CollectiveOptions, JobFile, Tuning, chakra, connection_matrix, goal, simai, transformer};
use std::path::{Path, PathBuf};

hpcc_core::named! {
    /// What becomes of a trigger that fires at one host and starts a connection of another one.
    pub(super) enum RemoteTriggers {
        Refused = "refused",
        Message = "message",
    }
}

keys! {
    Goal {
        /// Name of a GOAL file, as text or in binary form, relative to the scenario's folder, then to the working folder.
        path: String;
        /// Time that each message takes of a CPU, at its sender before it leaves and at its receiver when it is there.
        o: Nanos = Nanos(0);
        /// Least time between two messages that a NIC sends.
        g: Nanos = Nanos(0);
        /// Time in nanoseconds that each byte of a message takes of a CPU in addition to `o`, but for the first.
        O: f64 {0.0..=1e9} = 0.0;
    }
    Chakra {
        /// Name of a Chakra trace without `.RANK.et` or `.RANK.json`: a file for each rank, relative to the scenario's folder,
        /// then to the working folder.
        path: String;
        /// Name of a file of groups as ASTRA-sim has it, such as `{"1": [0, 1], "2": [2, 3]}`; without it, groups are those
        /// of the trace's metadata.
        groups: Option<String>;
    }
    Simai {
        /// Name of a workload of SimAI, relative to the scenario's folder, then to the working folder.
        path: String;
        /// How often the layers are passed, forward and backward; with stages, they follow each other as in 1F1B.
        passes: u32 {1..=1_000_000} = 1;
    }
    Transformer {
        /// Number of layers of the model.
        layers: u32 {1..=10_000};
        /// Hidden size of the model: numbers for each token.
        hidden: u64 {1..=1_000_000};
        /// Query heads that share a key and a value (grouped queries): 8 with 64 heads, of which 8 have keys and values; 1: each
        /// has its own.
        queries_per_key: u64 {1..=1_000} = 1;
        /// Size of the feed-forward part, or of one expert; by default four times the hidden size. With a gated one, such as
        /// Llama's, give one and a half times its size.
        #[assumed = "four times the hidden size"]
        feed_forward: Option<u64> {1..=10_000_000};
        /// Query heads times the size of a head, if that is not the hidden size.
        attention_width: Option<u64> {1..=10_000_000};
        /// Parameters of a layer's attention, such as those of latent attention; by default as many as its heads take.
        attention_parameters: Option<u64> {1..=1_000_000_000_000};
        /// Size of the part that all tokens pass beside experts: shared experts together.
        shared_feed_forward: u64 {0..=10_000_000} = 0;
        /// First layers without experts.
        dense_layers: u32 {0..=10_000} = 0;
        /// Each n-th layer has experts.
        expert_every: u32 {1..=10_000} = 1;
        /// Size of the feed-forward part of layers without experts; by default `feed_forward`.
        dense_feed_forward: Option<u64> {1..=10_000_000};
        /// Tokens of a sequence.
        sequence: u64 {1..=100_000_000};
        /// Tokens that the last layer distinguishes; with 0 it costs nothing.
        vocabulary: u64 {0..=10_000_000} = 0;
        /// Gradients of embeddings and output head: none; of two tables; or of one, which the first and the last stage have, and
        /// whose gradients they all-reduce.
        embeddings: Embeddings = Embeddings::Nothing;
        /// Sequences of a micro-batch.
        micro_batch: u64 {1..=1_000_000} = 1;
        /// Micro-batches that each pipeline passes in an iteration.
        micro_batches: u32 {1..=100_000} = 1;
        /// Ranks that share each layer (tensor parallelism).
        tensor: u32 {1..=100_000} = 1;
        /// Whether tensor-parallel ranks have parts of the sequence between layers (sequence parallelism): all-gather and
        /// reduce-scatter instead of all-reduce, and inputs gathered again for weights' gradients.
        sequence_parallel: bool = false;
        /// Whether half of the weights' gradients are computed while tensor-parallel ranks sum those of inputs.
        overlap_tensor: bool = false;
        /// Ranks that share each sequence (context parallelism), neighbours among those with the same parameters.
        context: u32 {1..=100_000} = 1;
        /// How they get each other's keys and values: in a ring beside attention, or gathered before it.
        context_by: ContextBy = ContextBy::Ring;
        /// Stages (pipeline parallelism), which have the same number of layers, or the first ones one more.
        pipeline: u32 {1..=10_000} = 1;
        /// Chunks of layers of a stage (interleaved 1F1B); `micro_batches` is a multiple of `pipeline` then.
        virtual_stages: u32 {1..=10_000} = 1;
        /// Whether weights' gradients fill the gaps of the pipeline (ZB-H1).
        zero_bubble: bool = false;
        /// What is computed again before gradients: nothing, attention to other tokens, or whole layers with what they exchange.
        recompute: Recompute = Recompute::Nothing;
        /// Experts of each layer; 1: the model is dense.
        experts: u32 {1..=10_000} = 1;
        /// Data-parallel ranks among which experts are divided (expert parallelism); 1: each rank has all.
        expert: u32 {1..=100_000} = 1;
        /// Experts of each token; by default 2, of a dense model 1.
        top_k: Option<u32> {1..=1_000};
        /// Bytes of an element on its way to an expert: 1 with FP8. Results come back with 2.
        dispatch_bytes: u64 {1..=4} = 2;
        /// Servers that a token's experts are in at most. It goes once to each, and from there to experts, as with DeepEP; without
        /// it, to each expert by itself.
        expert_servers: Option<u32> {1..=10_000};
        /// What a GPU really computes, in 10^12 operations a second.
        teraflops: f64 {1e-3..=1e9};
        /// Buckets of the gradients of a stage, each all-reduced as soon as the last backward pass has it. They have the same
        /// number of layers, or the first ones one more.
        #[assumed = "one all-reduce of all gradients of a stage, behind its last backward pass, unless bucket_parameters cuts them"]
        buckets: u32 {1..=10_000} = 1;
        /// Parameters of a rank behind which a bucket ends with its layer, instead of `buckets`. As Megatron does, the first chunk of
        /// the first stage has buckets; others reduce all at once, while the first still computes. Megatron's are the larger of 40
        /// million and a million for each of the ranks that reduce.
        bucket_parameters: Option<u64> {1..=1_000_000_000_000};
        /// Bytes of a gradient when it is reduced: 4 in fp32, Megatron's for bf16.
        #[assumed = "bf16, where Megatron reduces in fp32"]
        gradient_bytes: u64 {1..=8} = 2;
        /// What data-parallel ranks divide (ZeRO). 0: nothing. 1: the state of the optimiser (Megatron's distributed optimiser):
        /// reduce-scatter instead of all-reduce, and an all-gather of parameters at the end. 2: gradients too, reduced after each
        /// micro-batch. 3: parameters too (FSDP), gathered for each layer, forward and backward, while the one before is computed.
        zero: u32 {0..=3} = 0;
        /// How many iterations follow each other.
        iterations: u32 {1..=10_000} = 1;
    }
    /// Of files with collectives: by which messages. By default the operation's first in the list of the page on jobs; `auto`
    /// chooses by NCCL's model of costs, `fastest` what is the soonest alone on this network.
    Algorithms {
        /// The algorithm of all_reduce.
        all_reduce: Option<String>;
        /// The algorithm of all_gather.
        all_gather: Option<String>;
        /// The algorithm of reduce_scatter.
        reduce_scatter: Option<String>;
        /// The algorithm of all_to_all.
        all_to_all: Option<String>;
    }
    ConnectionMatrix {
        /// Name of a connection matrix of htsim (.cm), relative to the scenario's folder, then to the working folder.
        path: String;
        /// Whether triggers that fire at one host and start a connection of another one are refused, or a message of a byte
        /// goes to the other host, which in htsim takes no time.
        remote_triggers: RemoteTriggers = RemoteTriggers::Refused;
    }
}

/// The ranks of a file's job.
pub(super) struct Ranks {
    /// As many as there are hosts.
    pub(super) hosts: u32,
    /// Most that a file may have.
    most: u32,
    /// Links of the host of each, where the NICs that a file names are links.
    links: Option<Vec<u32>>,
    tuning: Tuning,
}

impl Job {
    /// The job of a section, as its file says, or a model.
    pub fn read(
        &self,
        context: &Context<'_>,
        random: &mut Random,
        read: impl FnOnce(&Ranks) -> Result<JobFile, InputError>,
    ) -> Result<JobSpec, InputError> {
        let mut gpus = self.gpus(context, random)?;
        let count = gpus.len() as u32;
        // If ranks are listed, the list is to blame for those that it lacks.
        let most = if self.placed.ranks.is_some() { count.max(MOST_LISTED) } else { count };
        let hosts = context.hosts_of(&gpus);
        let are_links = self.placed.links.is_none_or(|links| links == Links::ByChannel);
        let (links, tuning) = (are_links.then(|| context.links_of(&hosts)), context.tuning(&hosts));
        let JobFile { graphs, collectives, digest, notes } = read(&Ranks { hosts: count, most, links, tuning })?;
        if gpus.len() < graphs.len() {
            let message = format!("the file has {} ranks, and these are {count} hosts; expected as many", graphs.len());
            return Err(context.error("ranks", message));
        }
        gpus.truncate(graphs.len());
        context.told.borrow_mut().notes.extend(notes);
        let work = JobWork::Graphs { graphs: graphs.into(), collectives: collectives.into(), digest };
        Ok(self.spec(gpus, work, context))
    }
}

impl Goal {
    pub fn read(&self, ranks: &Ranks, context: &Context<'_>) -> Result<JobFile, InputError> {
        let costs = goal::Costs { overhead: self.o, gap: self.g, per_byte: self.O };
        goal::read(&context.file("path", &self.path)?, ranks.most, &costs, ranks.links.as_deref(), context.budget)
    }
}

impl ConnectionMatrix {
    pub fn read(&self, ranks: &Ranks, context: &Context<'_>) -> Result<JobFile, InputError> {
        let by_message = self.remote_triggers == RemoteTriggers::Message;
        connection_matrix::read(&context.file("path", &self.path)?, ranks.most, by_message)
    }
}

impl Simai {
    pub fn read(&self, by: &ByCollectives, ranks: &Ranks, context: &Context<'_>) -> Result<JobFile, InputError> {
        let ways = by.ways(ranks, context)?;
        simai::read(&context.file("path", &self.path)?, self.passes, ranks.most, &ways, context.budget)
    }
}

impl Chakra {
    /// Reads a file for each rank.
    pub fn read(&self, by: &ByCollectives, ranks: &Ranks, context: &Context<'_>) -> Result<JobFile, InputError> {
        let (ways, name) = (by.ways(ranks, context)?, &self.path);
        let beside = context.config.parent().unwrap_or(Path::new("")).join(name);
        let prefix = [beside, PathBuf::from(name)].into_iter().find(|prefix| chakra::is_there(prefix));
        let prefix = prefix.ok_or_else(|| {
            let expected = "expected files from the scenario's folder, or from the working folder";
            context.error("path", format!("there is no {name}.0.et; {expected}"))
        })?;
        let groups = self.groups.as_deref().map(|name| context.file("groups", name)).transpose()?;
        chakra::read(&prefix, groups.as_deref(), ranks.most, &ways, context.budget)
    }
}

impl Transformer {
    pub fn read(&self, by: &ByCollectives, ranks: &Ranks, context: &Context<'_>) -> Result<JobFile, InputError> {
        if self.bucket_parameters.is_some() && self.buckets > 1 {
            let message = "bucket_parameters cuts gradients where a bucket is full; expected one of both".to_owned();
            return Err(context.origin.error(&["buckets", "kind"], message));
        }
        let file = self.model().job(ranks.hosts, &by.ways(ranks, context)?, context.budget);
        file.map_err(|(key, message)| context.origin.error(&[key, "kind"], message))
    }

    fn model(&self) -> transformer::Transformer {
        let feed_forward = self.feed_forward.unwrap_or(4 * self.hidden);
        transformer::Transformer {
            layers: self.layers,
            hidden: self.hidden,
            queries_per_key: self.queries_per_key,
            attention_width: self.attention_width.unwrap_or(self.hidden),
            attention_parameters: self.attention_parameters,
            feed_forward,
            shared_feed_forward: self.shared_feed_forward,
            dense_layers: self.dense_layers,
            expert_every: self.expert_every,
            dense_feed_forward: self.dense_feed_forward.unwrap_or(feed_forward),
            sequence: self.sequence,
            vocabulary: self.vocabulary,
            embeddings: self.embeddings,
            micro_batch: self.micro_batch,
            micro_batches: self.micro_batches,
            tensor: self.tensor,
            sequence_parallel: self.sequence_parallel,
            overlap_tensor: self.overlap_tensor,
            context: self.context,
            context_by: self.context_by,
            pipeline: self.pipeline,
            virtual_stages: self.virtual_stages,
            zero_bubble: self.zero_bubble,
            recompute: self.recompute,
            experts: self.experts,
            expert: self.expert,
            top_k: self.top_k.unwrap_or(self.experts.min(2)),
            dispatch_bytes: self.dispatch_bytes,
            expert_servers: self.expert_servers,
            speed: self.teraflops * 1e3,
            buckets: self.bucket_parameters.map_or(Buckets::Count(self.buckets), Buckets::Parameters),
            gradient_bytes: self.gradient_bytes,
            zero: self.zero,
            iterations: self.iterations,
        }
    }
}

keys! {
    /// Of files with collectives.
    ByCollectives { algorithms: Algorithms, messages: Messages }
}

impl ByCollectives {
    /// How a collective is done. The name of an algorithm that its operation does not have is refused.
    pub(super) fn ways(
        &self,
        ranks: &Ranks,
        context: &Context<'_>,
    ) -> Result<impl Fn(Kind) -> CollectiveOptions, InputError> {
        let ways = |kind: Kind| self.messages.ways(self.algorithms.of(kind), &ranks.tuning);
        for kind in Kind::ALL {
            if let (Some(name), Err((_, message))) = (self.algorithms.of(*kind), ways(*kind).pattern(*kind)) {
                return Err(context.error(kind.name(), format!("\"{name}\" will not do: {message}")));
            }
        }
        Ok(ways)
    }

    /// The same job, of whose collectives is told what nobody said, with those whose algorithm is to be tried.
    pub fn told(&self, job: JobSpec, context: &Context<'_>) -> JobSpec {
        let is_auto = |kind: &Kind| self.algorithms.of(*kind).is_some_and(|name| CollectiveOptions::is_auto(name));
        self.messages.tell(job.collectives(), Kind::ALL.iter().any(is_auto), context);
        let tuning = context.tuning(&job.hosts);
        let of_kind = |kind: &Kind| {
            let ways = self.messages.ways(self.algorithms.of(*kind), &tuning);
            let plans = job.collectives().iter().filter(|plan| plan.pattern.kind == *kind);
            ways.trials(plans).collect::<Vec<Trial>>()
        };
        let trials = Kind::ALL.iter().flat_map(of_kind).collect();
        JobSpec { trials, has_usual_pieces: self.messages.chunk.is_none(), ..job }
    }
}

impl Algorithms {
    fn of(&self, kind: Kind) -> Option<&String> {
        match kind {
            Kind::AllReduce => self.all_reduce.as_ref(),
            Kind::AllGather => self.all_gather.as_ref(),
            Kind::ReduceScatter => self.reduce_scatter.as_ref(),
            Kind::AllToAll => self.all_to_all.as_ref(),
            Kind::Broadcast | Kind::Reduce | Kind::SendReceive | Kind::Barrier => None,
        }
    }
}

/// Nobody lists more.
const MOST_LISTED: u32 = 100_000;
