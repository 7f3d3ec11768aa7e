// SPDX-License-Identifier: GPL-2.0-only
//! `[topology]`.

use super::document::Document;
use super::keys::{COUNT, Form, KindOf, Need, RATE, SHARE, TEXT, TIME, Values, keys};
use crate::error::InputError;
use crate::generate::{self, Wire};
use crate::htsim_network;
use crate::origin::Origin;
use crate::place::Place;
use crate::reference::{self, TopologyFile};
use crate::scenario::NetworkBuilder;
use crate::text::{no_file, resolve};
use hpcc_core::settings::{Conflict, Kind};
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::BitRate;
use std::path::Path;

const SECTION: &str = "topology";

keys! {
    /// Of all links.
    WIRES {
        /// Data rate of links without a key of their own, in each direction.
        rate: RATE;
        /// Time that a bit takes over a link without a key of its own, one way.
        delay: TIME;
        /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
        /// and `transport.timeout`.
        loss: SHARE => Need::Else("0");
    }
    /// Of links between switches.
    FABRIC {
        /// Data rate of links between switches, in each direction; by default the rate of the hosts' links.
        fabric_rate: RATE => Need::Optional;
        /// Time that a bit takes over a link between switches, one way; by default as over the hosts' links.
        fabric_delay: TIME => Need::Optional;
    }
    STAR {
        /// Number of hosts around the one switch.
        hosts: COUNT;
    }
    DUMBBELL {
        /// Number of hosts at the left switch, which have the lower numbers.
        left: COUNT;
        /// Number of hosts at the right switch.
        right: COUNT;
        /// Data rate of the link between the two switches, in each direction; by default the rate of the hosts' links.
        bottleneck_rate: RATE => Need::Optional;
        /// Time that a bit takes over the link between the two switches, one way; by default as over the hosts' links.
        bottleneck_delay: TIME => Need::Optional;
    }
    PARKING_LOT {
        /// Number of switches, which stand in a row.
        switches: COUNT;
        /// Number of hosts at each switch.
        hosts_per_switch: COUNT;
    }
    LEAF_SPINE {
        /// Number of leaf switches, to which the hosts are linked.
        leaves: COUNT;
        /// Number of spine switches, each linked to every leaf.
        spines: COUNT;
        /// Number of hosts at each leaf.
        hosts_per_leaf: COUNT;
    }
    RAILS {
        /// Number of servers, each with a GPU on every rail.
        servers: COUNT;
        /// Number of GPUs in each server, which are hosts with a NIC each: the n-th is linked to the n-th leaf.
        rails: COUNT;
        /// Number of spine switches, each linked to every leaf.
        spines: COUNT;
    }
    DUAL_HOMED {
        /// Number of pairs of top-of-rack switches.
        pairs: COUNT;
        /// Number of hosts at each pair, each with a link to either switch of it.
        hosts_per_pair: COUNT;
        /// Number of aggregation switches, each linked to all switches of the pairs.
        aggs: COUNT;
    }
    FAT_TREE {
        /// Number of pods, each with racks and aggregation switches of its own.
        pods: COUNT;
        /// Number of top-of-rack switches in each pod, each linked to all aggregation switches of the pod.
        tors_per_pod: COUNT;
        /// Number of aggregation switches in each pod; there are as many groups of core switches, one for each of them.
        aggs_per_pod: COUNT;
        /// Number of core switches in each group.
        cores_per_agg: COUNT;
        /// Number of hosts in each rack.
        hosts_per_tor: COUNT;
    }
    K_ARY {
        /// Ports of each switch, an even number: there are k pods of k/2 racks and k/2 aggregation switches, under k/2
        /// groups of k/2 cores.
        k: COUNT;
        /// Rate of a rack's hosts over the rate of its uplinks; a rack has k/2 times as many hosts. Raise it above 1
        /// for racks that can send more than leaves them.
        oversubscription: Form::One(Kind::Real { least: 0.0, most: MOST_HOSTS }) => Need::Else("1");
    }
    FILE {
        /// Name of a file with the network in the reference's format, which `configs/README.md` describes, relative to the
        /// scenario's folder, then to the working folder. It has the numbers of nodes, switches and links; the switches;
        /// and for each link `A B RATE DELAY LOSS`.
        path: TEXT;
        /// Probability that a link loses a frame whose own loss in the file is 0.
        default_loss: SHARE => Need::Else("0");
    }
    HTSIM {
        /// Name of a fat tree of htsim (.topo), relative to the scenario's folder, then to the working folder.
        path: TEXT;
        /// Probability that a link loses a frame.
        default_loss: SHARE => Need::Else("0");
    }
    LINKS {
        /// Number of hosts, which are the nodes from 0 on.
        hosts: COUNT;
        /// Number of switches, which are the nodes behind the hosts.
        switches: COUNT;
        /// Data rate of links without a key of their own, in each direction.
        rate: RATE => Need::Optional;
        /// Time that a bit takes over a link without a key of its own, one way.
        delay: TIME => Need::Optional;
        /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
        /// and `transport.timeout`.
        loss: SHARE => Need::Else("0");
        /// The links, each from node `a` to node `b`, with its own `rate`, `delay` and `loss`, or the section's.
        links: Form::Tables(LINK, "{ a = 0, b = 4 }");
    }
    LINK {
        /// Number of the node at one end.
        a: COUNT;
        /// Number of the node at the other end.
        b: COUNT;
        /// Data rate of this link, in each direction; by default the section's.
        rate: RATE => Need::Optional;
        /// Time that a bit takes over this link, one way; by default the section's.
        delay: TIME => Need::Optional;
        /// Probability that this link loses a frame; by default the section's.
        loss: SHARE => Need::Optional;
    }
}

/// The keys of each kind.
pub(super) static KINDS: [KindOf; 11] = [
    ("star", &[STAR, WIRES]),
    ("dumbbell", &[DUMBBELL, WIRES]),
    ("parking_lot", &[PARKING_LOT, WIRES, FABRIC]),
    ("leaf_spine", &[LEAF_SPINE, WIRES, FABRIC]),
    ("rails", &[RAILS, WIRES, FABRIC]),
    ("dual_homed", &[DUAL_HOMED, WIRES, FABRIC]),
    ("fat_tree", &[FAT_TREE, WIRES, FABRIC]),
    ("k_ary_fat_tree", &[K_ARY, WIRES, FABRIC]),
    ("file", &[FILE]),
    ("htsim", &[HTSIM]),
    ("links", &[LINKS]),
];

/// No rack has more hosts.
const MOST_HOSTS: f64 = u32::MAX as f64;

/// A network with the places of its links.
pub(super) struct Topology {
    pub network: Network,
    pub links: Vec<Place>,
    /// The section, if no links are listed.
    pub section: Option<Place>,
    pub default_loss: f64,
    /// On what of a file is not read.
    pub note: Option<String>,
}

pub(super) fn read(document: &mut Document<'_>, config: &Path) -> Result<Topology, InputError> {
    let section = document.required(SECTION, "kind = \"star\"")?;
    let (kind, keys) = Values::of_kind(SECTION, &section, &KINDS)?;
    let network = match kind {
        "file" => return file(&keys, config, reference::read_topology),
        "htsim" => return file(&keys, config, htsim_network::read),
        "links" => return links(&keys),
        kind => generated(kind, &keys),
    };
    let network = network.map_err(|wrong| keys.origin.error(&[wrong.key], wrong.message))?;
    let links = rates(&network, &keys.origin)?;
    Ok(Topology { network, links, section: Some(keys.origin.section().clone()), default_loss: 0.0, note: None })
}

/// A regular network.
fn generated(kind: &str, keys: &Values<'_>) -> Result<Network, Conflict> {
    let edge = Wire { rate: keys.the("rate"), delay: keys.the("delay"), loss: keys.the("loss") };
    let wire = |rate: &str, delay: &str| Wire {
        rate: keys.get(rate).unwrap_or(edge.rate),
        delay: keys.get(delay).unwrap_or(edge.delay),
        loss: edge.loss,
    };
    let fabric = wire("fabric_rate", "fabric_delay");
    let bottleneck = wire("bottleneck_rate", "bottleneck_delay");
    match kind {
        "star" => generate::star(keys.the("hosts"), edge),
        "dumbbell" => {
            generate::Dumbbell { left: keys.the("left"), right: keys.the("right"), edge, bottleneck }.network()
        }
        "parking_lot" => {
            let (switches, hosts_per_switch) = (keys.the("switches"), keys.the("hosts_per_switch"));
            generate::ParkingLot { switches, hosts_per_switch, edge, fabric }.network()
        }
        "leaf_spine" => {
            let (leaves, spines, hosts_per_leaf) = (keys.the("leaves"), keys.the("spines"), keys.the("hosts_per_leaf"));
            generate::LeafSpine { leaves, spines, hosts_per_leaf, edge, fabric }.network()
        }
        "rails" => {
            let (servers, rails, spines) = (keys.the("servers"), keys.the("rails"), keys.the("spines"));
            generate::Rails { servers, rails, spines, edge, fabric }.network()
        }
        "dual_homed" => {
            let (pairs, hosts_per_pair, aggs) = (keys.the("pairs"), keys.the("hosts_per_pair"), keys.the("aggs"));
            generate::DualHomed { pairs, hosts_per_pair, aggs, edge, fabric }.network()
        }
        "k_ary_fat_tree" => k_ary(keys, edge, fabric)?.network(),
        _ => generate::FatTree {
            pods: keys.the("pods"),
            tors_per_pod: keys.the("tors_per_pod"),
            aggs_per_pod: keys.the("aggs_per_pod"),
            cores_per_agg: keys.the("cores_per_agg"),
            hosts_per_tor: keys.the("hosts_per_tor"),
            edge,
            fabric,
        }
        .network(),
    }
}

fn k_ary(keys: &Values<'_>, edge: Wire, fabric: Wire) -> Result<generate::FatTree, Conflict> {
    let (k, oversubscription): (u32, f64) = (keys.the("k"), keys.the("oversubscription"));
    let half = k / 2;
    if half == 0 || !k.is_multiple_of(2) {
        return Err(Conflict::new("k", format!("k is {k}; expected an even number of at least 2")));
    }
    let hosts = f64::from(half) * oversubscription;
    if hosts.fract() != 0.0 || !(1.0..=MOST_HOSTS).contains(&hosts) {
        let message = format!(
            "a rack would have {hosts} hosts (k/2 times oversubscription); expected a whole number of at least 1"
        );
        return Err(Conflict::new("oversubscription", message));
    }
    let hosts_per_tor = hosts as u32;
    Ok(generate::FatTree {
        pods: k,
        tors_per_pod: half,
        aggs_per_pod: half,
        cores_per_agg: half,
        hosts_per_tor,
        edge,
        fabric,
    })
}

/// Where the rate of each link was given. Refuses a rate of 0.
fn rates(network: &Network, origin: &Origin) -> Result<Vec<Place>, InputError> {
    let (edge, fabric) = (origin.place(&["rate"]), origin.place(&["fabric_rate", "bottleneck_rate", "rate"]));
    let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
    let place = |link: &Link| {
        let place = if is_switch(link.a) && is_switch(link.b) { &fabric } else { &edge };
        if link.rate == BitRate(0) { Err(place.error("the rate is 0; expected more")) } else { Ok(place.clone()) }
    };
    network.links.iter().map(place).collect()
}

fn file(
    keys: &Values<'_>,
    config: &Path,
    read: fn(&Path) -> Result<TopologyFile, InputError>,
) -> Result<Topology, InputError> {
    let name: String = keys.the("path");
    let path = resolve(config, &name).ok_or_else(|| keys.origin.error(&["path"], no_file("path", &name)))?;
    let TopologyFile { network, links, note } = read(&path)?;
    Ok(Topology { network, links, section: None, default_loss: keys.the("default_loss"), note })
}

/// Hosts come first in the numbering. Rate, delay and loss of the section hold for links that have none.
fn links(keys: &Values<'_>) -> Result<Topology, InputError> {
    let (hosts, switches): (u64, u64) = (keys.the("hosts"), keys.the("switches"));
    let nodes = hosts + switches;
    let mut builder = NetworkBuilder::new(nodes, &keys.origin.place(&["hosts"]))?;
    for switch in hosts..nodes {
        builder.switch(switch, &keys.origin.place(&["switches"]))?;
    }
    for link in keys.tables("topology.links", LINK, "links")? {
        let place = link.origin.section().named("topology.links");
        let missing = |key: &str| {
            let message = format!("{key} is missing from the link and from [topology]; expected it in one of them");
            link.origin.error(&[key], message)
        };
        let link = Link {
            a: builder.node(link.the("a"), &place)?,
            b: builder.node(link.the("b"), &place)?,
            rate: link.get("rate").or(keys.get("rate")).ok_or_else(|| missing("rate"))?,
            delay: link.get("delay").or(keys.get("delay")).ok_or_else(|| missing("delay"))?,
            loss: link.get("loss").unwrap_or(keys.the("loss")),
        };
        builder.link(link, place)?;
    }
    let (network, links) = builder.finish();
    Ok(Topology { network, links, section: None, default_loss: 0.0, note: None })
}
