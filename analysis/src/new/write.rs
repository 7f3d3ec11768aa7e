// SPDX-License-Identifier: GPL-2.0-only
//! The text of a new scenario.

use std::path::Path;

use anyhow::{Result, ensure};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Setting, Value, quantity};

use super::{Options, Topology, Traffic};
use crate::{human, script};

/// Leaves of a leaf-spine network without another answer.
const LEAVES: u32 = 4;
/// Pods of a fat tree, and racks in a pod.
const PODS: u32 = 4;
const TORS: u32 = 2;

/// The whole file.
///
/// # Errors
/// If the hosts cannot be spread over the network.
pub fn scenario(plan: &Options, path: &Path) -> Result<String> {
    let schema = script::source_tree().ok().map(|tree| tree.join("configs/schema/scenario.json"));
    let schema = schema.filter(|schema| schema.exists());
    let schema = schema.map_or_else(String::new, |schema| format!("#:schema file://{}\n", schema.display()));
    let seed = plan.seed;
    let (stop, duration) = times(plan);
    Ok(format!(
        "{schema}#
# Run it:             ./hpcc run {path}
# Change one value:   ./hpcc run {path} --set run.seed=2
# All keys:           ./hpcc explain, and configs/README.md

[run]
seed = {seed}         # of every random choice
stop = \"{stop}us\"   # simulated time; what has not finished by then is listed

# Hosts are numbered from 0, switches behind them.
{topology}
{control}
{traffic}
# Time series for plots.
[monitor]
queue_interval = \"1us\"
goodput_interval = \"10us\"
",
        path = human::quoted(path),
        topology = topology(plan)?,
        control = control(plan),
        traffic = traffic(plan, duration)?,
    ))
}

/// The stop time, and until when random flows start, in microseconds: long enough for all flows to cross one link in turn.
fn times(plan: &Options) -> (u64, u64) {
    let rate = quantity::rate(plan.rate()).map_or(1, |rate| rate.0.max(1));
    let size = quantity::size(plan.size()).unwrap_or(0);
    let crossing = |bytes: u128| u64::try_from(bytes * 8_000_000 / u128::from(rate)).unwrap_or(u64::MAX / 4);
    let delay = quantity::time(&plan.delay).map_or(0, |delay| delay.0 / 1_000);
    let slack = 1_000 + 100 * delay.min(u64::MAX / 200);
    // As many bytes as ten large flows of the workload.
    let duration = crossing(25_000_000).max(1);
    let busy = if plan.traffic() == Traffic::Poisson {
        50 * duration
    } else {
        2 * crossing(u128::from(size) * u128::from(plan.hosts()))
    };
    (busy.saturating_add(slack), duration)
}

fn topology(plan: &Options) -> Result<String> {
    let hosts = plan.hosts();
    let spread = |over: u32, what: &str| {
        ensure!(
            hosts.is_multiple_of(over),
            "{hosts} hosts cannot be spread over {over} {what}; expected a multiple of {over}"
        );
        Ok(hosts / over)
    };
    // As many links up as carry the traffic from below.
    let up = |hosts: u32| {
        let bits = |rate: &str| quantity::rate(rate).map_or(1, |rate| rate.0.max(1));
        let fabric = bits(plan.fabric_rate.as_deref().unwrap_or(plan.rate()));
        (u64::from(hosts) * bits(plan.rate())).div_ceil(fabric).clamp(1, u32::MAX.into())
    };
    let (kind, keys) = match plan.topology() {
        Topology::Star => ("star", format!("hosts = {hosts}\n")),
        Topology::Dumbbell => (
            "dumbbell",
            format!("left = {}    # hosts 0 to {}\nright = {}\n", hosts / 2, hosts / 2 - 1, hosts - hosts / 2),
        ),
        Topology::LeafSpine => {
            let leaves = plan.leaves.unwrap_or(LEAVES);
            let below = spread(leaves, "leaves")?;
            let spines = plan.spines.map_or_else(|| up(below), u64::from);
            ("leaf_spine", format!("leaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {below}\n"))
        }
        Topology::FatTree => {
            let below = spread(PODS * TORS, "racks")?;
            let aggs = up(below);
            let keys = format!(
                "pods = {PODS}\ntors_per_pod = {TORS}\naggs_per_pod = {aggs}\ncores_per_agg = {TORS}\nhosts_per_tor = {below}\n"
            );
            ("fat_tree", keys)
        }
    };
    let (rate, delay) = (plan.rate(), &plan.delay);
    let key = if plan.topology() == Topology::Dumbbell { "bottleneck_rate" } else { "fabric_rate" };
    let between = plan.fabric_rate.as_ref().map_or_else(String::new, |rate| format!("{key} = \"{rate}\"\n"));
    Ok(format!(
        "[topology]\nkind = \"{kind}\"\n{keys}rate = \"{rate}\"\n{between}delay = \"{delay}\"   # of each link, one way\n"
    ))
}

/// The algorithm, and its parameters with their defaults as comments.
fn control(plan: &Options) -> String {
    let settings = NodeSettings::default();
    let parameters = settings.section("congestion_control", Some(&plan.algorithm()));
    let lines: String = parameters.iter().map(parameter).collect();
    format!(
        "# Parameters have these values unless the # in front of them is taken away.\n[congestion_control]\nalgorithm = \"{}\"\n{lines}",
        plan.algorithm()
    )
}

fn parameter(setting: &Setting) -> String {
    let text = setting.default.pretty();
    let value = match setting.default {
        Value::Switch(_) | Value::Count(_) | Value::Real(_) => text,
        Value::Bytes(_) | Value::Time(_) | Value::Rate(_) | Value::Word(_) | Value::Text(_) | Value::Auto => {
            format!("\"{text}\"")
        }
    };
    format!("#{} = {value}    # {}\n", setting.key, setting.summary())
}

fn traffic(plan: &Options, duration: u64) -> Result<String> {
    let (size, load) = (plan.size(), plan.load());
    let keys = match plan.traffic() {
        Traffic::Incast => {
            format!(
                "kind = \"incast\"    # all at the same moment\nsender_count = {}\nreceiver = 0\nsize = \"{size}\"\n",
                plan.hosts() - 1
            )
        }
        Traffic::Flow => format!("kind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"{size}\"\n"),
        Traffic::Permutation => {
            format!("kind = \"permutation\"    # each host sends to one and receives from one\nsize = \"{size}\"\n")
        }
        Traffic::Poisson => {
            format!(
                "kind = \"poisson\"    # flows start at random\nload = {load}           # of each host's link\nsizes = \"websearch\"    # or fb_hadoop, or a file\nduration = \"{duration}us\"\n"
            )
        }
    };
    Ok(format!(
        "# Any number of such sections; other kinds: flow, on_off, incast, periodic_incast, random_incast, permutation, all_to_all, poisson, file.\n[[traffic]]\n{keys}"
    ))
}
