// SPDX-License-Identifier: GPL-2.0-only
//! `generate`: scenarios of jobs, from what is publicly known of a model.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use hpcc_core::workload::collective::Collective;

use crate::human;
use crate::save;

/// What to generate.
#[derive(clap::Subcommand)]
pub enum Options {
    /// Writes an iteration of a language model in training, on GPUs in servers on rails.
    Llm(Llm),
}

/// A model, and how its ranks are divided.
#[derive(clap::Args)]
pub struct Llm {
    /// The model.
    #[arg(long, value_parser = MODELS.map(|model| model.name))]
    model: String,
    /// Number of GPUs, a multiple of those of a server.
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000>)]
    gpus: u32,
    /// GPUs that share each layer (tensor parallelism).
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 100_000>)]
    tp: u32,
    /// Stages of the pipeline.
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 10_000>)]
    pp: u32,
    /// Copies of the model, which must be what --tp and --pp leave [default: that].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000>)]
    dp: Option<u32>,
    /// Copies among which the experts of a layer are divided (expert parallelism); 1: each copy has all.
    #[arg(long, value_name = "N", default_value = "1", value_parser = crate::count::<u32, 100_000>)]
    ep: u32,
    /// Micro-batches of an iteration in each pipeline.
    #[arg(long, value_name = "N", default_value = "8", value_parser = crate::count::<u32, 100_000>)]
    micro_batches: u32,
    /// Tokens of a sequence [default: those that the model was trained with].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, 100_000_000>)]
    sequence: Option<u32>,
    /// GPUs of a server, each with a NIC.
    #[arg(long, value_name = "N", default_value = "8", value_parser = crate::count::<u32, 1_024>)]
    server: u32,
    /// Channels of each collective [default: the NICs of the smallest server of its ranks, so that rings use all of them].
    #[arg(long, value_name = "N", value_parser = crate::count::<u32, { Collective::MOST_CHANNELS as u64 }>)]
    channels: Option<u32>,
    /// What a GPU really computes, in 10^12 operations a second.
    #[arg(long, value_name = "N", default_value = "400", value_parser = crate::count::<u32, 1_000_000>)]
    teraflops: u32,
    /// The file; without it the scenario is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The public shape of a model.
struct Model {
    name: &'static str,
    layers: u32,
    hidden: u32,
    /// Query heads that share a key and a value.
    queries_per_key: u32,
    /// One and a half times the size of a gated feed-forward part, which has three matrices.
    feed_forward: u32,
    vocabulary: u32,
    sequence: u32,
    /// Experts of a layer, and of each token; 1: it is dense.
    experts: [u32; 2],
}

const fn model(name: &'static str, shape: [u32; 6], experts: [u32; 2]) -> Model {
    let [layers, hidden, queries_per_key, feed_forward, vocabulary, sequence] = shape;
    Model { name, layers, hidden, queries_per_key, feed_forward, vocabulary, sequence, experts }
}

const DENSE: [u32; 2] = [1, 1];
const MODELS: [Model; 7] = [
    model("llama-7b", [32, 4096, 1, 11_008 * 3 / 2, 32_000, 4096], DENSE),
    model("llama-13b", [40, 5120, 1, 13_824 * 3 / 2, 32_000, 4096], DENSE),
    model("llama-70b", [80, 8192, 64 / 8, 28_672 * 3 / 2, 32_000, 4096], DENSE),
    model("llama-405b", [126, 16_384, 128 / 8, 53_248 * 3 / 2, 128_256, 8192], DENSE),
    model("gpt-13b", [40, 5120, 1, 4 * 5120, 50_257, 2048], DENSE),
    model("gpt-175b", [96, 12_288, 1, 4 * 12_288, 50_257, 2048], DENSE),
    model("mixtral-8x7b", [32, 4096, 32 / 8, 14_336 * 3 / 2, 32_000, 4096], [8, 2]),
];

/// Writes a scenario.
///
/// # Errors
/// If ranks cannot be divided so, or the file cannot be written.
pub fn generate(Options::Llm(options): &Options) -> Result<()> {
    let text = scenario(options)?;
    hpcc_formats::load_text(Path::new(&options.model), &text).map_err(|error| anyhow!(error.without_place()))?;
    let Some(file) = &options.out else { return human::print(&text) };
    save::create(file, |out| out.write_all(text.as_bytes()))?;
    human::tell(&format!(" wrote {}: ./hpcc run {}\n", file.display(), human::quoted(file)))
}

fn scenario(options: &Llm) -> Result<String> {
    let &Llm { gpus, tp, pp, ep, micro_batches, server, teraflops, .. } = options;
    let Some(model) = MODELS.iter().find(|model| model.name == options.model) else {
        bail!("there is no model {}", options.model)
    };
    ensure!(gpus.is_multiple_of(server), "--gpus {gpus} is no multiple of --server, {server}; expected one");
    let copies = u64::from(gpus) / (u64::from(tp) * u64::from(pp));
    if let Some(dp) = options.dp.filter(|&dp| u64::from(dp) != copies) {
        bail!("--dp {dp}: --gpus, --tp and --pp leave {copies} copies; expected these");
    }
    let &Model { name, layers, hidden, queries_per_key, feed_forward, vocabulary, experts: [experts, top_k], .. } =
        model;
    let sequence = options.sequence.unwrap_or(model.sequence);
    let channels = options.channels.map_or_else(String::new, |channels| format!("channels = {channels}\n"));
    Ok(format!(
        "# An iteration of {name} on {gpus} GPUs: {tp} share each layer, {pp} stages, {copies} copies.\n\n\
         [run]\nstop = \"1000s\"\n\n\
         [topology]\nkind = \"rails\"\nservers = {servers}\nrails = {server}\nspines = {server}\nrate = \"400Gbps\"\ndelay = \"1us\"\n\n\
         [servers]\ngpus = {server}\nrate = \"3600Gbps\"\nlatency = \"1us\"\n\n\
         [wire]\nprofile = \"rocev2_ipv6\"\n\n[transport]\nmtu = 4096\n\n\
         [[traffic]]\nkind = \"transformer\"\nname = \"{name}\"\nlayers = {layers}\nhidden = {hidden}\n\
         queries_per_key = {queries_per_key}\nfeed_forward = {feed_forward}\nexperts = {experts}\ntop_k = {top_k}\n\
         sequence = {sequence}\nvocabulary = {vocabulary}\nmicro_batches = {micro_batches}\n\
         tensor = {tp}\npipeline = {pp}\nexpert = {ep}\nteraflops = {teraflops}\n{channels}",
        servers = gpus / server,
    ))
}
