// SPDX-License-Identifier: GPL-2.0-only
//! Networks and flows for programs, by the keys of `[topology]` and `[[traffic]]` of files.

use crate::network::Network;
use crate::network::ffi::{FlowStart, LinkSpec};
use hpcc_core::engine::FlowOptions;
use hpcc_core::topology::{Link, Network as CoreNetwork, NodeKind};
use hpcc_formats::{load_network_text, load_text};
use hpcc_model::flow::Flow;
use std::fmt::Write;
use std::path::Path;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    /// A key and its value, as in a file but for quotes.
    #[derive(Clone, Debug)]
    struct SectionEntry {
        key: String,
        value: String,
    }

    /// A network: hosts come first, then switches tier by tier.
    struct Fabric {
        /// Of each node how many links it is away from the nearest host, 0 for a host.
        tiers: Vec<u32>,
        links: Vec<LinkSpec>,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/network.rs.h");
        type FlowStart = crate::network::ffi::FlowStart;
        type LinkSpec = crate::network::ffi::LinkSpec;
        type Network = crate::network::Network;
    }

    extern "Rust" {
        /// The network of a section `[topology]`.
        fn fabric_of(entries: &[SectionEntry]) -> Result<Fabric>;
        /// The flows of sections `[[traffic]]`, each of which begins with the entry `kind`, by ascending start.
        fn flows_of(entries: &[SectionEntry], network: &Network, seed: u64) -> Result<Vec<TrafficFlow>>;
    }

    /// A flow that is to begin.
    #[derive(Clone, Copy)]
    struct TrafficFlow {
        start_ns: u64,
        flow: FlowStart,
    }
}

use ffi::{Fabric, SectionEntry, TrafficFlow};

/// The text of an entry: what is no value of TOML is a word.
fn line(SectionEntry { key, value }: &SectionEntry) -> String {
    let is_number = value.ends_with(|last: char| last.is_ascii_digit()) && value.parse::<f64>().is_ok();
    if is_number || value == "true" || value == "false" || value.starts_with(['[', '{', '"']) {
        return format!("{key} = {value}\n");
    }
    format!("{key} = \"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// How many links each node is away from the nearest host.
fn tiers(network: &CoreNetwork) -> Vec<u32> {
    let mut tiers: Vec<u32> =
        network.nodes.iter().map(|kind| if *kind == NodeKind::Host { 0 } else { u32::MAX }).collect();
    for tier in 0.. {
        let ends = network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        let above: Vec<u32> = ends
            .filter(|&(below, node)| tiers[below as usize] == tier && tiers[node as usize] == u32::MAX)
            .map(|(_, node)| node)
            .collect();
        if above.is_empty() {
            break;
        }
        above.iter().for_each(|&node| tiers[node as usize] = tier + 1);
    }
    tiers
}

pub fn fabric_of(entries: &[SectionEntry]) -> Result<Fabric, String> {
    let section: String = entries.iter().map(line).collect();
    let text = format!("[run]\nstop = \"1ms\"\n[topology]\n{section}");
    let scenario = load_network_text(Path::new("[topology]"), &text).map_err(|wrong| wrong.without_place())?;
    let network = scenario.network;
    if network.links.iter().any(|link| link.loss > 0.0) || scenario.default_loss > 0.0 {
        return Err("loss: a program sets it; expected QbbHelper::SetLoss(), or an error model of the devices".into());
    }
    let spec = |link: &Link| LinkSpec { a: link.a, b: link.b, rate_bps: link.rate.0, delay_ns: link.delay.0 };
    Ok(Fabric { tiers: tiers(&network), links: network.links.iter().map(spec).collect() })
}

/// A network as files list it, and its hosts by their numbers there.
fn listed(network: &CoreNetwork) -> (String, Vec<u32>) {
    let (hosts, switches): (Vec<u32>, Vec<u32>) =
        (0..network.nodes.len() as u32).partition(|&node| network.is_host(node));
    let mut number = vec![0; network.nodes.len()];
    hosts.iter().chain(&switches).zip(0_u32..).for_each(|(&node, place)| number[node as usize] = place);
    let mut text = format!("kind = \"links\"\nhosts = {}\nswitches = {}\n", hosts.len(), switches.len());
    text += "links = [\n";
    for link in &network.links {
        let (a, b) = (number[link.a as usize], number[link.b as usize]);
        let _ =
            writeln!(text, "{{ a = {a}, b = {b}, rate = \"{}bps\", delay = \"{}ns\" }},", link.rate.0, link.delay.0);
    }
    (text + "]\n", hosts)
}

pub fn flows_of(entries: &[SectionEntry], network: &Network, seed: u64) -> Result<Vec<TrafficFlow>, String> {
    let (topology, hosts) = listed(network.core());
    let section =
        |entry: &SectionEntry| if entry.key == "kind" { "[[traffic]]\n" } else { "" }.to_owned() + &line(entry);
    let sections: String = entries.iter().map(section).collect();
    let text =
        format!("[run]\nstop = \"1000s\"\nseed = {seed}\n[switch]\nmode = \"lossy\"\n[topology]\n{topology}{sections}");
    // Nodes have the settings of the program, which checks priorities as flows begin.
    let scenario = load_text(Path::new("[[traffic]]"), &text).map_err(|wrong| wrong.without_place())?;
    if let Some(job) = scenario.flows.jobs.first() {
        let name = &scenario.flows.groups[job.group as usize];
        return Err(format!(
            "{name} is a job, whose messages wait for each other; expected a kind of flows, or a file by \
                            HpccScenarioHelper"
        ));
    }
    let flow = |flow: Flow| {
        let Flow { src, dst, priority, dport, size, start, options: FlowOptions { nic, rate, stop, .. } } = flow;
        let none = FlowOptions::NONE;
        TrafficFlow {
            start_ns: start.0,
            flow: FlowStart {
                id: 0,
                src: hosts[src as usize],
                dst: hosts[dst as usize],
                dport,
                priority,
                size_bytes: size,
                nic: nic.map_or(-1, i16::from),
                most_bps: if rate == none.rate { 0 } else { rate.0 },
                stop_ns: if stop == none.stop { 0 } else { stop.0 },
                control: -1,
            },
        }
    };
    let flows = scenario.flows.walk().map(|placed| placed.map(flow).map_err(|wrong| wrong.without_place()));
    flows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(entries: &[(&str, &str)]) -> Vec<SectionEntry> {
        entries.iter().map(|&(key, value)| SectionEntry { key: key.into(), value: value.into() }).collect()
    }

    const LEAVES: [(&str, &str); 6] = [
        ("kind", "leaf_spine"),
        ("leaves", "2"),
        ("spines", "3"),
        ("hosts_per_leaf", "4"),
        ("rate", "100Gbps"),
        ("delay", "1us"),
    ];

    /// Eight hosts with a link each, and six links above.
    #[test]
    fn a_fabric_has_hosts_and_tiers() {
        let fabric = fabric_of(&entries(&LEAVES)).expect("a fabric");
        assert_eq!(fabric.tiers, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2]);
        assert_eq!(fabric.links.len(), 8 + 6);
        assert!(fabric.links.iter().all(|link| (link.rate_bps, link.delay_ns) == (100_000_000_000, 1_000)));
        for (key, value, told) in [("leafs", "2", "leafs"), ("rate", "fast", "rate"), ("loss", "0.1", "SetLoss")] {
            let wrong = fabric_of(&entries(&[&LEAVES[..], &[(key, value)]].concat())).err().expect(key);
            assert!(wrong.contains(told), "{wrong}");
        }
    }

    /// Hosts may stand behind switches: the first of them sends to the second.
    #[test]
    fn flows_are_between_the_hosts_of_a_program() {
        let mut network = Network::default();
        for is_switch in [true, false, false] {
            network.add_node(is_switch);
        }
        for host in [1, 2] {
            network.add_link(&LinkSpec { a: host, b: 0, rate_bps: 100_000_000_000, delay_ns: 1_000 });
        }
        let flow = [
            ("kind", "flow"),
            ("src", "0"),
            ("dst", "1"),
            ("size", "20KB"),
            ("start", "5us"),
            ("rate", "10Gbps"),
            ("priority", "5"),
        ];
        let incast = [("kind", "incast"), ("receiver", "0"), ("sender_count", "1"), ("size", "1KB")];
        let flows = flows_of(&entries(&[&flow[..], &incast].concat()), &network, 1).expect("flows");
        let ends = flows.iter().map(|at| (at.start_ns, at.flow.src, at.flow.dst, at.flow.size_bytes, at.flow.most_bps));
        assert_eq!(ends.collect::<Vec<_>>(), [(0, 2, 1, 1_000, 0), (5_000, 1, 2, 20_000, 10_000_000_000)]);
        let job = [("kind", "collective"), ("operation", "barrier")];
        let wrong = flows_of(&entries(&job), &network, 1).err().expect("a job");
        assert!(wrong.contains("is a job"), "{wrong}");
    }
}
