// SPDX-License-Identifier: GPL-2.0-only
//! `generate`: scenarios of jobs, from what is publicly known of a model.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

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
    /// Copies among which experts are divided, of a model with experts.
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
    /// One and a half times the size of a gated feed-forward part, which has three matrices.
    feed_forward: u32,
    vocabulary: u32,
    sequence: u32,
    /// Experts of each token; 0: there are none.
    top_k: u32,
}

const fn model(name: &'static str, shape: [u32; 6]) -> Model {
    let [layers, hidden, feed_forward, vocabulary, sequence, top_k] = shape;
    Model { name, layers, hidden, feed_forward, vocabulary, sequence, top_k }
}

const MODELS: [Model; 7] = [
    model("llama-7b", [32, 4096, 11_008 * 3 / 2, 32_000, 4096, 0]),
    model("llama-13b", [40, 5120, 13_824 * 3 / 2, 32_000, 4096, 0]),
    model("llama-70b", [80, 8192, 28_672 * 3 / 2, 32_000, 4096, 0]),
    model("llama-405b", [126, 16_384, 53_248 * 3 / 2, 128_256, 8192, 0]),
    model("gpt-13b", [40, 5120, 4 * 5120, 50_257, 2048, 0]),
    model("gpt-175b", [96, 12_288, 4 * 12_288, 50_257, 2048, 0]),
    model("mixtral-8x7b", [32, 4096, 14_336 * 3 / 2, 32_000, 4096, 2]),
];

/// Writes a scenario.
///
/// # Errors
/// If ranks cannot be divided so, or the file cannot be written.
pub fn generate(Options::Llm(options): &Options) -> Result<()> {
    let text = scenario(options)?;
    let Some(file) = &options.out else { return human::print(&text) };
    save::create(file, |out| out.write_all(text.as_bytes()))?;
    human::tell(&format!(" wrote {}: ./hpcc run {}\n", file.display(), human::quoted(file)))
}

fn scenario(options: &Llm) -> Result<String> {
    let &Llm { gpus, tp, pp, ep, micro_batches, server, teraflops, .. } = options;
    let Some(model) = MODELS.iter().find(|model| model.name == options.model) else {
        bail!("there is no model {}", options.model)
    };
    let parts = u64::from(tp) * u64::from(pp);
    ensure!(
        u64::from(gpus).is_multiple_of(parts) && gpus.is_multiple_of(server),
        "--gpus {gpus} is no multiple of --tp times --pp, {parts}, and of --server, {server}; expected one of both"
    );
    let copies = u64::from(gpus) / parts;
    if let Some(dp) = options.dp.filter(|&dp| u64::from(dp) != copies) {
        bail!("--dp {dp}: --gpus, --tp and --pp leave {copies} copies; expected these");
    }
    ensure!(model.layers.is_multiple_of(pp), "--pp {pp} does not divide {} layers; expected a divisor", model.layers);
    ensure!(ep == 1 || model.top_k > 0, "--ep {ep}: {} has no experts; expected 1", model.name);
    let Model { name, layers, hidden, feed_forward, vocabulary, .. } = model;
    let sequence = options.sequence.unwrap_or(model.sequence);
    let experts = if ep > 1 { format!("expert = {ep}\ntop_k = {}\n", model.top_k) } else { String::new() };
    Ok(format!(
        "# An iteration of {name} on {gpus} GPUs: {tp} share each layer, {pp} stages, {copies} copies.\n\n\
         [run]\nstop = \"1000s\"\n\n\
         [topology]\nkind = \"rails\"\nservers = {servers}\nrails = {server}\nspines = {server}\nrate = \"400Gbps\"\ndelay = \"1us\"\n\n\
         [servers]\ngpus = {server}\nrate = \"3600Gbps\"\nlatency = \"1us\"\n\n\
         [wire]\nprofile = \"rocev2_ipv6\"\n\n[transport]\nmtu = 4096\n\n\
         [[traffic]]\nkind = \"transformer\"\nname = \"{name}\"\nlayers = {layers}\nhidden = {hidden}\n\
         feed_forward = {feed_forward}\nsequence = {sequence}\nvocabulary = {vocabulary}\nmicro_batches = {micro_batches}\n\
         tensor = {tp}\npipeline = {pp}\n{experts}teraflops = {teraflops}\n",
        servers = gpus / server,
    ))
}
