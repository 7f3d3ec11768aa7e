// SPDX-License-Identifier: GPL-2.0-only
//! The engine of hpcc-core as a network backend of ASTRA-sim: it sends, receives and lets time pass for ranks that are simulated
//! elsewhere, and runs until the next of these is over.

use hpcc_core::units::Nanos;
use hpcc_core::workload::Operation;
use hpcc_model::error::InputError;
use hpcc_model::scenario::Scenario;
use hpcc_simulate::driven::Driven;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    extern "Rust" {
        /// A network under way.
        type AstraNetwork;
        /// Opens the network of a configuration, a config.txt or TOML, with overrides of its keys; ranks are on its first hosts.
        /// Results go to the folder `out`.
        fn open_astra_network(config: &str, set: &[String], ranks: u32, out: &str) -> Result<Box<AstraNetwork>>;
        /// The dimensions in a file of ASTRA-sim's logical topology.
        fn read_logical_dims(file: &str) -> Result<Vec<i32>>;
        /// The present time, in ns.
        fn now_ns(self: &AstraNetwork) -> u64;
        /// A rank sends a message; `id` is over when it is acknowledged.
        fn send(self: &mut AstraNetwork, rank: u32, to: u32, tag: u64, size: u64, id: u64);
        /// A rank receives a message; `id` is over when its last byte has arrived.
        fn receive(self: &mut AstraNetwork, rank: u32, from: u32, tag: u64, id: u64);
        /// `id` is over after a time.
        fn wait(self: &mut AstraNetwork, rank: u32, ns: u64, id: u64);
        /// A rank has nothing left to do.
        fn end_rank(self: &mut AstraNetwork, rank: u32);
        /// Runs until something is over; returns whether anything is, and its `id`.
        fn next(self: &mut AstraNetwork, id: &mut u64) -> bool;
        /// Ends the run and writes results. Returns the exit status.
        fn finish_astra_network(network: Box<AstraNetwork>) -> i32;
    }
}

struct AstraNetwork {
    driven: Driven,
    /// The flows of the configuration, which the run reads when it begins.
    _flows: Option<NamedTempFile>,
}

/// The scenario of a configuration. In the 2019 simulator's format its flows are left out: ASTRA-sim reads none.
fn scenario(config: &Path, set: &[String]) -> Result<(Scenario, Option<NamedTempFile>), InputError> {
    let loaded = |set: &[String]| hpcc_formats::load(config, set);
    if hpcc_formats::is_toml_file(config) {
        return Ok((loaded(set)?, None));
    }
    let none = NamedTempFile::new().and_then(|file| fs::write(file.path(), "0\n").map(|()| file));
    let none = none.map_err(|error| InputError::new(config, None, error.to_string()))?;
    let flows = format!("FLOW_FILE={}", none.path().display());
    // Queue pairs last, which the 2019 simulator's do not, unless the user says otherwise.
    let usual = ["transport.queue_pairs=per_pair", "compatibility.profile=correct"];
    let is_set = |usual: &&str| {
        let key = usual.split('=').next().unwrap_or_default();
        set.iter().any(|pair| pair.trim_start().starts_with(key))
    };
    let usual: Vec<String> = usual.iter().filter(|usual| !is_set(usual)).map(ToString::to_string).collect();
    Ok((loaded(&[set, &[flows], &usual].concat())?, Some(none)))
}

fn open_astra_network(config: &str, set: &[String], ranks: u32, out: &str) -> Result<Box<AstraNetwork>, String> {
    let (scenario, flows) = scenario(Path::new(config), set).map_err(|error| error.to_string())?;
    let driven = Driven::new(scenario, ranks, PathBuf::from(out))?;
    Ok(Box::new(AstraNetwork { driven, _flows: flows }))
}

fn read_logical_dims(file: &str) -> Result<Vec<i32>, String> {
    let wrong = |why: &str| format!("{file}: {why}; expected such as {{\"logical-dims\": [\"8\"]}}");
    let text = fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    let dims = value["logical-dims"].as_array().ok_or_else(|| wrong("there are no logical-dims"))?;
    let dim = |value: &serde_json::Value| value.as_str()?.parse().ok().filter(|&dim: &i32| dim > 0);
    let dims: Option<Vec<i32>> = dims.iter().map(dim).collect();
    dims.filter(|dims| !dims.is_empty()).ok_or_else(|| wrong("a dimension is no number above 0"))
}

impl AstraNetwork {
    fn now_ns(&self) -> u64 {
        self.driven.now().0
    }

    fn send(&mut self, rank: u32, to: u32, tag: u64, size: u64, id: u64) {
        self.driven.ask(rank, id, Operation::Send { to, tag, size, channel: 0, is_copy: false, costs: None });
    }

    fn receive(&mut self, rank: u32, from: u32, tag: u64, id: u64) {
        self.driven.ask(rank, id, Operation::Receive { from: Some(from), tag: Some(tag) });
    }

    fn wait(&mut self, rank: u32, ns: u64, id: u64) {
        self.driven.ask(rank, id, Operation::Compute(Nanos(ns)));
    }

    fn end_rank(&mut self, rank: u32) {
        self.driven.end_rank(rank);
    }

    fn next(&mut self, id: &mut u64) -> bool {
        let over = self.driven.next_over();
        over.into_iter().for_each(|over| *id = over);
        over.is_some()
    }
}

fn finish_astra_network(network: Box<AstraNetwork>) -> i32 {
    network.driven.finish() as i32
}
