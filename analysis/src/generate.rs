// SPDX-License-Identifier: GPL-2.0-only
//! `generate`: scenarios of jobs, from what is publicly known of a model.

mod models;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use hpcc_core::workload::collective::Collective;

use crate::human;
use crate::save;
use models::{MODELS, Model};

/// What to generate.
#[derive(clap::Subcommand)]
pub enum Options {
    /// Writes an iteration of a language model in training, on GPUs in servers on rails, as Megatron trains it. Each choice is a key of
    /// the file, with its reason.
    Llm(Llm),
}

/// A model, and how its ranks are divided.
#[derive(clap::Args)]
pub struct Llm {
    /// The model.
    #[arg(long, value_parser = MODELS.map(|model| model.name))]
    model: String,
    /// Number of GPUs, a multiple of the GPUs of a server.
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000>)]
    gpus: u32,
    /// GPUs that share each layer (tensor parallelism).
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 100_000>)]
    tp: u32,
    /// GPUs that share each sequence (context parallelism).
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 100_000>)]
    cp: u32,
    /// Stages of the pipeline.
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 10_000>)]
    pp: u32,
    /// Chunks of layers of a stage (interleaved 1F1B).
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 10_000>)]
    vpp: u32,
    /// Put weights' gradients into the gaps of the pipeline (ZB-H1).
    #[arg(long)]
    zero_bubble: bool,
    /// Data-parallel copies of the model, which must be GPUs / (--tp * --cp * --pp) [default: that].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000>)]
    dp: Option<u32>,
    /// GPUs among which the experts of a layer are divided (expert parallelism); 1: each copy has all.
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 100_000>)]
    ep: u32,
    /// A token goes once to each server of its experts, and to at most so many servers, as with DeepEP.
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 10_000>)]
    expert_servers: Option<u32>,
    /// Tokens go to experts in FP8.
    #[arg(long)]
    fp8_dispatch: bool,
    /// What copies divide: 1: the optimiser's state, 2: gradients, too, 3: parameters, too (FSDP).
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=3))]
    zero: u32,
    /// Bytes of a gradient when it is reduced.
    #[arg(long, value_name = "N", default_value = "4", value_parser = crate::count::<u32, 8>)]
    gradient_bytes: u32,
    /// Parameters behind which a bucket of gradients ends [default: 40 million, or a million for each of the GPUs that reduce].
    #[arg(long, value_name = "N", value_parser = crate::count::<u64, 1_000_000_000_000>)]
    bucket_parameters: Option<u64>,
    /// Sequences are divided between layers; always so with experts and --tp, as Megatron demands.
    #[arg(long)]
    sequence_parallel: bool,
    /// What is computed again before gradients.
    #[arg(long, default_value = "none", value_parser = ["none", "attention", "layers"])]
    recompute: String,
    /// Micro-batches of an iteration in each pipeline.
    #[arg(long, value_name = "N", default_value = "8", value_parser = crate::count::<u32, 100_000>)]
    micro_batches: u32,
    /// Tokens of a sequence [default: those that the model was trained with].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000_000>)]
    sequence: Option<u32>,
    /// GPUs of a server, each with a NIC.
    #[arg(long, value_name = "N", default_value = "8", value_parser = crate::count::<u32, 1_024>)]
    server: u32,
    /// Oversubscription: the rate of a leaf's links to servers over that of its links to spines.
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 64>)]
    oversubscription: u32,
    /// Congestion control [default: DCQCN, which NICs have].
    #[arg(long, value_name = "NAME")]
    congestion_control: Option<String>,
    /// Channels of each collective [default: the NICs of the smallest server of its ranks, so that rings use all of them].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, { Collective::MOST_CHANNELS as u64 }>)]
    channels: Option<u32>,
    /// What a GPU achieves, in 10^12 operations a second.
    #[arg(long, value_name = "N", default_value = "400", value_parser = crate::count::<u32, 1_000_000>)]
    teraflops: u32,
    /// The file; without it the scenario is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes a scenario.
///
/// # Errors
/// If ranks cannot be divided so, or the file cannot be written.
pub fn generate(Options::Llm(options): &Options) -> Result<()> {
    let text = scenario(options)?;
    hpcc_formats::load_text(Path::new(&options.model), &text)
        .map_err(|error| anyhow!(by_options(&error.without_place(), options)))?;
    let Some(file) = &options.out else { return human::print(&text) };
    save::create(file, |out| out.write_all(text.as_bytes()))?;
    human::tell(&format!(" wrote {}: ./hpcc run {}\n", file.display(), human::quoted(file)))
}

/// What is wrong with a file that nobody has seen, by the option that its key follows from.
fn by_options(told: &str, options: &Llm) -> String {
    let asked = format!("--micro-batches {}: ", options.micro_batches);
    told.replace("traffic.micro_batches: ", &asked).replace("micro_batches = ", "--micro-batches ")
}

fn scenario(options: &Llm) -> Result<String> {
    let &Llm { gpus, tp, cp, pp, server, .. } = options;
    let Some(model) = MODELS.iter().find(|model| model.name == options.model) else {
        bail!("there is no model {}", options.model)
    };
    ensure!(gpus.is_multiple_of(server), "--gpus {gpus} is no multiple of --server, {server}; expected one");
    let copies = u64::from(gpus) / (u64::from(tp) * u64::from(cp) * u64::from(pp));
    if let Some(dp) = options.dp.filter(|&dp| u64::from(dp) != copies) {
        bail!("--dp {dp}: --gpus, --tp, --cp and --pp leave {copies} copies; expected these");
    }
    let mut file = Lines(format!(
        "# An iteration of {} on {gpus} GPUs: {tp} share each layer, {cp} each sequence, {pp} stages, {copies} copies.\n",
        model.name
    ));
    network(options, &mut file)?;
    control(options, &mut file);
    shape(options, model, &mut file);
    division(options, model, &mut file);
    Ok(file.0)
}

/// A file in the making.
struct Lines(String);

impl Lines {
    fn section(&mut self, name: &str) {
        self.0.push_str(&format!("\n{name}\n"));
    }

    fn key(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key} = {value}\n"));
    }

    fn word(&mut self, key: &str, value: &str) {
        self.key(key, format_args!("\"{value}\""));
    }

    fn why(&mut self, reason: &str) {
        self.0.push_str(&format!("# {reason}\n"));
    }
}

/// The most servers whose NICs a leaf of 128 ports has room for, if it has as many spines.
const MOST_OF_LEAF: u32 = 64;
/// Smaller pods are no pods.
const LEAST_OF_POD: u32 = 16;

/// How many pods divide so many servers, which one leaf has no room for.
fn pods_of(servers: u32) -> Option<u32> {
    (servers.div_ceil(MOST_OF_LEAF)..=servers / LEAST_OF_POD).find(|&pods| servers.is_multiple_of(pods))
}

/// Rails, in pods if a leaf has no room for a rail of all servers.
fn network(options: &Llm, file: &mut Lines) -> Result<()> {
    let &Llm { server, oversubscription, .. } = options;
    let servers = options.gpus / server;
    let pods = if servers <= MOST_OF_LEAF { Some(1) } else { pods_of(servers) };
    let Some(pods) = pods else {
        let divides = |&servers: &u32| servers <= MOST_OF_LEAF || pods_of(servers).is_some();
        let near = [(1..servers).rev().find(divides), (servers + 1..=2 * servers).find(divides)];
        let near: Vec<String> =
            near.into_iter().flatten().map(|near| format!("--gpus {}", u64::from(near) * u64::from(server))).collect();
        bail!(
            "--gpus {}: {servers} servers are no multiple of {LEAST_OF_POD} to {MOST_OF_LEAF}, of which a pod has as many; expected {}",
            options.gpus,
            near.join(" or ")
        )
    };
    let of_pod = servers / pods;
    file.section("[run]");
    file.word("stop", "1000s");
    file.section("[topology]");
    if pods == 1 {
        file.word("kind", "rails");
        file.key("servers", servers);
    } else {
        file.why("Pods of rails: a switch of 51.2 Tb/s has 128 ports of 400 Gb/s, half of them for servers. Where a spine has more, it stands");
        file.why("for several.");
        file.word("kind", "multi_plane");
        file.key("planes", 1);
        file.key("segments", pods);
        file.key("servers", of_pod);
    }
    file.key("rails", server);
    file.why(&format!("Of {of_pod} ports of a leaf to servers, one for each {oversubscription} (--oversubscription)."));
    file.key("spines", of_pod.div_ceil(oversubscription));
    file.word("rate", "400Gbps");
    file.word("delay", "1us");
    file.section("[servers]");
    file.key("gpus", server);
    file.why("NVLink of Hopper: 450 GB/s each way.");
    file.word("rate", "3600Gbps");
    file.word("latency", "1us");
    if server > 1 {
        file.why("NCCL's on rails: messages change rails inside servers.");
        file.key("pxn", true);
    }
    Ok(())
}

fn control(options: &Llm, file: &mut Lines) {
    file.section("[wire]");
    file.word("profile", "rocev2_ipv6");
    file.section("[transport]");
    file.key("mtu", 4096);
    file.section("[switch]");
    file.why("Of a switch of 51.2 Tb/s (Tomahawk 5).");
    file.word("buffer", "165MB");
    file.section("[congestion_control]");
    let Some(name) = &options.congestion_control else {
        file.why("What NICs have, its increases in proportion to their rate (--congestion-control).");
        file.word("algorithm", "dcqcn");
        file.word("additive_increase", "160Mbps");
        file.word("hyper_increase", "400Mbps");
        return;
    };
    file.why("As asked (--congestion-control).");
    file.word("algorithm", name);
}

fn shape(options: &Llm, model: &Model, file: &mut Lines) {
    file.section("[[traffic]]");
    file.word("kind", "transformer");
    file.word("name", model.name);
    file.why(&format!("{}. A gated part has three matrices, so half as much more.", model.source));
    file.key("layers", model.layers);
    file.key("hidden", model.hidden);
    let [queries, keys] = model.attention.heads;
    file.key("queries_per_key", queries / keys);
    file.key("attention_width", queries * model.attention.size);
    if let Some(parameters) = model.attention.parameters {
        file.why("Latent attention has fewer than its heads.");
        file.key("attention_parameters", parameters);
    }
    let two = |size| model.of_two_matrices(size);
    match &model.experts {
        None => file.key("feed_forward", two(model.feed_forward)),
        Some(experts) => {
            file.key("feed_forward", two(experts.size));
            file.key("experts", experts.count);
            file.key("top_k", experts.top_k);
            file.key("shared_feed_forward", two(experts.shared * experts.size));
            file.key("dense_layers", experts.dense_layers);
            file.key("expert_every", experts.every);
            file.key("dense_feed_forward", two(model.feed_forward));
        }
    }
    file.key("vocabulary", model.vocabulary);
    file.word("embeddings", if model.is_tied { "tied" } else { "untied" });
    file.key("sequence", options.sequence.unwrap_or(model.sequence));
}

/// What Megatron does.
fn division(options: &Llm, model: &Model, file: &mut Lines) {
    let &Llm { gpus, tp, cp, pp, ep, zero, gradient_bytes, .. } = options;
    let has_experts = model.experts.is_some();
    file.key("micro_batches", options.micro_batches);
    file.key("tensor", tp);
    if tp > 1 {
        let is_divided = options.sequence_parallel || has_experts;
        file.why(if has_experts { "Megatron demands it with experts." } else { "Off, unless --sequence-parallel." });
        file.key("sequence_parallel", is_divided);
        if !options.zero_bubble {
            file.why("Megatron's, unless --no-async-tensor-model-parallel-allreduce.");
            file.key("overlap_tensor", true);
        }
    }
    file.key("context", cp);
    if cp > 1 {
        file.why("Megatron's --cp-comm-type p2p.");
        file.word("context_by", "ring");
    }
    file.key("pipeline", pp);
    file.why("Interleaved 1F1B if above 1 (--vpp).");
    file.key("virtual_stages", options.vpp);
    file.why("Weights' gradients in gaps of the pipeline (--zero-bubble).");
    file.key("zero_bubble", options.zero_bubble);
    file.why("Megatron's, unless --recompute-granularity.");
    file.word("recompute", &options.recompute);
    if has_experts {
        file.key("expert", ep);
        file.why(if options.fp8_dispatch { "FP8 (--fp8-dispatch)." } else { "bf16, unless --fp8-dispatch." });
        file.key("dispatch_bytes", if options.fp8_dispatch { 1 } else { 2 });
    } else {
        file.key("expert", ep);
    }
    if let Some(servers) = options.expert_servers {
        file.why("A token goes once to each server (--expert-servers).");
        file.key("expert_servers", servers);
    }
    file.why("Megatron reduces bf16's gradients in fp32 (--gradient-bytes).");
    file.key("gradient_bytes", gradient_bytes);
    let reducing = u64::from(gpus) / (u64::from(tp) * u64::from(pp)).max(1);
    let usual = (1_000_000 * reducing).max(40_000_000);
    file.why(&format!(
        "Megatron's: 40 million, or a million for each of {reducing} that reduce; with --overlap-grad-reduce."
    ));
    file.key("bucket_parameters", options.bucket_parameters.unwrap_or(usual));
    file.why("0: all-reduce, Megatron's unless --use-distributed-optimizer, which is 1 (--zero).");
    file.key("zero", zero);
    file.why("What remains of a GPU's peak (--teraflops).");
    file.key("teraflops", options.teraflops);
    if let Some(channels) = options.channels {
        file.key("channels", channels);
    }
}
