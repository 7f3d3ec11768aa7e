// SPDX-License-Identifier: GPL-2.0-only
//! The network as a map: nodes by tier, and links with what happened at their two ports.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_measures::results::Results;
use hpcc_model::results::{ports_csv, queue_csv};
use serde_json::{Value, json};

use crate::chart::number::short;
use crate::describe::by_tier;

/// More links than this are a grey surface: those with the longest queues and pauses, and most used, are shown.
const MOST_LINKS: usize = 2_000;

/// The links between two nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Between {
    /// The longest queue towards the node with the higher number, and towards the other, in bytes.
    queues: [u64; 2],
    /// How long PFC paused the ports, in ns, in the same two parts.
    paused_ns: [u64; 2],
    /// Which share of the links the frames of the whole run took, in the same two parts; `None` where they are not
    /// counted.
    used: [Option<f64>; 2],
}

/// The nodes of each tier, hosts first, and the links with queue (kB), pauses (us) and use (percent, null where unknown), each
/// towards the second node and towards the first. Null in a folder that lists no ports.
///
/// # Errors
/// If a file of the run cannot be read.
pub fn map(results: &Results) -> Result<Value> {
    let ports = ports_csv::read(&results.dir.join("ports.csv"))?;
    if ports.is_empty() {
        return Ok(Value::Null);
    }
    let queues = longest_queues(results)?;
    let run_ns = run_ns(results);
    let mut links: BTreeMap<(u32, u32), Between> = BTreeMap::new();
    // A file may name any number: nodes are counted anew.
    let numbers: BTreeSet<u32> = ports.iter().flat_map(|row| [row.node, row.peer]).collect();
    let numbers: Vec<u32> = numbers.into_iter().collect();
    let place = |node: u32| numbers.partition_point(|number| *number < node) as u32;
    let mut network = Network { nodes: vec![NodeKind::Switch; numbers.len()], links: Vec::new() };
    for row in &ports {
        if row.is_switch == 0 {
            network.nodes[place(row.node) as usize] = NodeKind::Host;
        }
        let way = usize::from(row.node > row.peer);
        if way == 0 {
            let (a, b) = (place(row.node), place(row.peer));
            network.links.push(Link { a, b, rate: BitRate(row.rate_bps), delay: Nanos(row.delay_ns), loss: 0.0 });
        }
        let between = links.entry((row.node.min(row.peer), row.node.max(row.peer))).or_default();
        let queue = queues.get(&(row.node, row.port)).copied().unwrap_or(0);
        between.queues[way] = between.queues[way].max(queue);
        between.paused_ns[way] = between.paused_ns[way].max(row.paused_ns);
        let used = row.sent_bytes.map(|bytes| bytes as f64 * 8e9 / (row.rate_bps as f64 * run_ns).max(1.0));
        between.used[way] = used.into_iter().chain(between.used[way]).reduce(f64::max);
    }
    let all = links.len();
    let mut links: Vec<((u32, u32), Between)> = links.into_iter().collect();
    let busiest = |link: &Between| (100.0 * link.used.into_iter().flatten().fold(0.0, f64::max)) as u64;
    links.sort_by_key(|(ends, link)| {
        (Reverse((link.queues.iter().max().copied(), link.paused_ns.iter().max().copied(), busiest(link))), *ends)
    });
    links.truncate(MOST_LINKS);
    let row = |((a, b), link): &((u32, u32), Between)| {
        let queues = link.queues.map(|bytes| short(bytes as f64 / 1e3));
        let paused = link.paused_ns.map(|ns| short(ns as f64 / 1e3));
        let used = link.used.map(|used| used.map(|share| short(100.0 * share.min(1.0))));
        json!([a, b, queues[0], queues[1], paused[0], paused[1], used[0], used[1]])
    };
    let mut tiers = by_tier(&network);
    tiers.iter_mut().flatten().for_each(|node| *node = numbers[*node as usize]);
    Ok(json!({ "tiers": tiers, "links": links.iter().map(row).collect::<Vec<_>>(), "of": all }))
}

/// From the first flow's start to the end of the simulation, in ns.
fn run_ns(results: &Results) -> f64 {
    let first = results.summary.scenario["traffic"]["first_start_ns"].as_u64().unwrap_or(0);
    results.summary.simulated_ns.saturating_sub(first) as f64
}

/// The longest queue of each switch port within the window, in bytes.
fn longest_queues(results: &Results) -> Result<HashMap<(u32, u32), u64>> {
    let mut longest: HashMap<(u32, u32), u64> = HashMap::new();
    for row in queue_csv::rows(&results.dir.join("queue.csv"))? {
        let row = row?;
        if (results.window.from_ns..=results.window.until_ns).contains(&row.time_ns) {
            let bytes = longest.entry((row.node, row.port)).or_default();
            *bytes = row.qlen_bytes.max(*bytes);
        }
    }
    Ok(longest)
}
