// SPDX-License-Identifier: GPL-2.0-only
//! `[topology]`.

use super::document::Document;
use super::keys::{COUNT, Form, KindOf, Need, RATE, SHARE, TEXT, TIME, Values, keys};
use crate::error::InputError;
use crate::generate::{self, Tier, Wire};
use crate::htsim_network;
use crate::origin::Origin;
use crate::place::Place;
use crate::reference::{self, TopologyFile};
use crate::scenario::NetworkBuilder;
use crate::text::{no_file, resolve};
use hpcc_core::settings::{Conflict, Kind, Value};
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Rounding};
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
        fabric_rate: RATE => Need::Optional, "the rate of the hosts' links";
        /// Time that a bit takes over a link between switches, one way; by default as over the hosts' links.
        fabric_delay: TIME => Need::Optional, "the delay of the hosts' links";
        /// Links side by side between each two switches that are linked: a bundle, over which flows are spread.
        bundle: COUNT => Need::Else("1");
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
        bottleneck_rate: RATE => Need::Optional, "the rate of the hosts' links";
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
        /// Number of hosts at each leaf.
        hosts_per_leaf: COUNT;
        /// Number of spine switches, each linked to every leaf; or give `oversubscription`.
        spines: COUNT => Need::Optional;
        /// Rate of a leaf's hosts over the rate of its uplinks, from which the number of spines follows. Raise it above 1 for leaves
        /// that can send more than leaves them.
        oversubscription: RATIO => Need::Optional;
    }
    RAILS {
        /// Number of servers, each with a GPU on every rail.
        servers: COUNT;
        /// Number of GPUs in each server, which are hosts with a NIC each: the n-th is linked to the n-th leaf.
        rails: COUNT;
        /// Number of spine switches, each linked to every leaf.
        spines: COUNT;
    }
    MULTI_PLANE {
        /// Number of segments, each with servers and top-of-rack switches of its own.
        segments: COUNT;
        /// Number of servers in each segment.
        servers: COUNT;
        /// Number of GPUs in each server, which are hosts with a NIC each. Those of a segment at the same place of their servers share
        /// top-of-rack switches.
        rails: COUNT => Need::Else("1");
        /// Number of ports of each NIC, each of them linked to a switch of another plane. Planes meet nowhere but at hosts.
        planes: COUNT => Need::Else("2");
        /// Number of spine switches of each plane, each linked to all top-of-rack switches of its plane.
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
        /// Number of hosts in each rack.
        hosts_per_tor: COUNT;
        /// Number of aggregation switches in each pod; there are as many groups of core switches, one for each of them. Or give
        /// `tor_oversubscription`.
        aggs_per_pod: COUNT => Need::Optional;
        /// Rate of a rack's hosts over the rate of its uplinks, from which `aggs_per_pod` follows.
        tor_oversubscription: RATIO => Need::Optional;
        /// Number of core switches in each group; or give `agg_oversubscription`.
        cores_per_agg: COUNT => Need::Optional;
        /// Rate of an aggregation switch's links to racks over the rate of those to cores, from which `cores_per_agg` follows.
        agg_oversubscription: RATIO => Need::Optional;
    }
    CORE {
        /// Data rate of links to core switches, in each direction; by default that of others between switches.
        core_rate: RATE => Need::Optional;
        /// Time that a bit takes over a link to a core switch, one way; by default as over others between switches.
        core_delay: TIME => Need::Optional;
    }
    K_ARY {
        /// Ports of each switch, an even number: there are k pods of k/2 racks and k/2 aggregation switches, under k/2
        /// groups of k/2 cores.
        k: COUNT;
        /// Rate of a rack's hosts over the rate of its uplinks; a rack has k/2 times as many hosts. Raise it above 1
        /// for racks that can send more than leaves them.
        oversubscription: RATIO => Need::Else("1");
    }
    DRAGONFLY {
        /// Number of hosts at each switch (p).
        hosts_per_switch: COUNT;
        /// Number of switches in each group (a), all linked to each other; by default 2p, which is balanced.
        switches_per_group: COUNT => Need::Optional, "twice the hosts of a switch: balanced";
        /// Number of each switch's links to other groups (h); by default p, which is balanced.
        global_links: COUNT => Need::Optional, "as many as the hosts of a switch: balanced";
        /// Number of groups; by default a h + 1, with a link between each two. With fewer a group has as many links to each other
        /// one: groups - 1 divides a h.
        groups: COUNT => Need::Optional, "as many as have a link between each two";
        /// Data rate of links between groups, in each direction; by default that of others between switches.
        global_rate: RATE => Need::Optional;
        /// Time that a bit takes over a link between groups, one way; by default as over others between switches.
        global_delay: TIME => Need::Optional;
    }
    TORUS {
        /// Number of switches along the first dimension; each is linked to the next, and the last to the first.
        x: COUNT;
        /// Number of switches along the second dimension.
        y: COUNT;
        /// Number of switches along the third dimension; by default there is none.
        z: COUNT => Need::Else("1");
        /// Number of hosts at each switch.
        hosts_per_switch: COUNT => Need::Else("1");
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
pub(super) static KINDS: [KindOf; 14] = [
    ("star", &[STAR, WIRES]),
    ("dumbbell", &[DUMBBELL, WIRES]),
    ("parking_lot", &[PARKING_LOT, WIRES, FABRIC]),
    ("leaf_spine", &[LEAF_SPINE, WIRES, FABRIC]),
    ("rails", &[RAILS, WIRES, FABRIC]),
    ("multi_plane", &[MULTI_PLANE, WIRES, FABRIC]),
    ("dual_homed", &[DUAL_HOMED, WIRES, FABRIC]),
    ("fat_tree", &[FAT_TREE, CORE, WIRES, FABRIC]),
    ("k_ary_fat_tree", &[K_ARY, CORE, WIRES, FABRIC]),
    ("dragonfly", &[DRAGONFLY, WIRES, FABRIC]),
    ("torus", &[TORUS, WIRES, FABRIC]),
    ("file", &[FILE]),
    ("htsim", &[HTSIM]),
    ("links", &[LINKS]),
];

/// Of rates below a switch to rates above it.
const RATIO: Form = Form::One(Kind::Real { least: 0.0, most: u32::MAX as f64 });

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

pub(super) fn read(document: &mut Document<'_>, config: &Path, rounding: Rounding) -> Result<Topology, InputError> {
    let section = document.required(SECTION, "kind = \"star\"")?;
    let (kind, keys) = Values::of_kind(SECTION, &section, &KINDS)?;
    let network = match kind {
        "file" => return file(&keys, config, |path| reference::read_topology(path, rounding)),
        "htsim" => return file(&keys, config, htsim_network::read),
        "links" => return links(&keys),
        kind => generated(kind, &keys),
    };
    let network = network.map_err(|wrong| keys.origin.error(&[wrong.key], wrong.message))?;
    let links = places(&network, &keys.origin);
    Ok(Topology { network, links, section: Some(keys.origin.section().clone()), default_loss: 0.0, note: None })
}

/// A regular network.
fn generated(kind: &str, keys: &Values<'_>) -> Result<Network, Conflict> {
    let count = |key: &str| keys.the::<u32>(key);
    for (key, value) in keys.given() {
        if *value == Value::Count(0) && key != "k" {
            return Err(Conflict::new(key, format!("{key} is 0; expected at least 1")));
        }
        if *value == Value::Rate(BitRate(0)) {
            return Err(Conflict::new(key, "the rate is 0; expected more".into()));
        }
    }
    let edge = Wire { rate: keys.the("rate"), delay: keys.the("delay"), loss: keys.the("loss"), count: 1 };
    let wire = |rate: &str, delay: &str, of: Wire| Wire {
        rate: keys.get(rate).unwrap_or(of.rate),
        delay: keys.get(delay).unwrap_or(of.delay),
        count: keys.get("bundle").unwrap_or(1),
        ..of
    };
    let fabric = wire("fabric_rate", "fabric_delay", edge);
    let core = wire("core_rate", "core_delay", fabric);
    let hosts = |counts: &[u32]| counts.iter().fold(1u64, |product, &count| product.saturating_mul(count.into()));
    let tier = |below: u32, planes: u32, above: u32, wire: Wire| Tier { below, planes, above, wire };
    let fat_tree = |[pods, tors, aggs, cores, each]: [u32; 5]| {
        let tiers = [tier(each, 1, 1, edge), tier(tors, 1, aggs, fabric), tier(pods, aggs, cores, core)];
        generate::tree(hosts(&[pods, tors, each]), &tiers)
    };
    let network = match kind {
        "star" => generate::star(count("hosts"), edge),
        "dumbbell" => {
            let bottleneck = wire("bottleneck_rate", "bottleneck_delay", edge);
            generate::dumbbell((count("left"), count("right")), edge, bottleneck)
        }
        "parking_lot" if count("switches") < 2 => {
            return Err(Conflict::new("switches", "switches is 1; expected at least 2".into()));
        }
        "parking_lot" => generate::grid(&[count("switches")], count("hosts_per_switch"), false, (edge, fabric)),
        "torus" => generate::grid(&["x", "y", "z"].map(count), count("hosts_per_switch"), true, (edge, fabric)),
        "leaf_spine" => {
            let (leaves, each) = (count("leaves"), count("hosts_per_leaf"));
            let spines = upward(keys, "spines", "oversubscription", (each, edge), fabric)?;
            generate::tree(hosts(&[leaves, each]), &[tier(each, 1, 1, edge), tier(leaves, 1, spines, fabric)])
        }
        "rails" => {
            let (servers, rails) = (count("servers"), count("rails"));
            let tiers = [tier(servers, rails, 1, edge), tier(rails, 1, count("spines"), fabric)];
            generate::tree(hosts(&[servers, rails]), &tiers)
        }
        "multi_plane" => {
            let [segments, servers, rails, planes] = ["segments", "servers", "rails", "planes"].map(count);
            let leaves = tier(servers, rails, planes, edge);
            let spines = tier(segments.saturating_mul(rails), planes, count("spines"), fabric);
            generate::tree(hosts(&[segments, servers, rails]), &[leaves, spines])
        }
        "dual_homed" => {
            let (pairs, each) = (count("pairs"), count("hosts_per_pair"));
            let tiers = [tier(each, 1, 2, edge), tier(pairs.saturating_mul(2), 1, count("aggs"), fabric)];
            generate::tree(hosts(&[pairs, each]), &tiers)
        }
        "dragonfly" => {
            let p = count("hosts_per_switch");
            let a = keys.get("switches_per_group").unwrap_or(p.saturating_mul(2));
            let h = keys.get("global_links").unwrap_or(p);
            let groups = keys.get("groups").unwrap_or(a.saturating_mul(h).saturating_add(1));
            let global = wire("global_rate", "global_delay", fabric);
            let dragonfly =
                generate::Dragonfly { groups, switches: a, hosts: p, global_links: h, edge, fabric, global };
            if keys.has("groups") {
                dragonfly.check_groups().map_err(|message| Conflict::new("groups", message))?;
            }
            dragonfly.network()
        }
        "k_ary_fat_tree" => {
            let (k, half) = (count("k"), count("k") / 2);
            if half == 0 || !k.is_multiple_of(2) {
                return Err(Conflict::new("k", format!("k is {k}; expected an even number of at least 2")));
            }
            let what = "hosts (k/2 times oversubscription)";
            let each = whole("oversubscription", f64::from(half) * keys.the::<f64>("oversubscription"), what)?;
            fat_tree([k, half, half, half, each])
        }
        _ => {
            let (tors, each) = (count("tors_per_pod"), count("hosts_per_tor"));
            let aggs = upward(keys, "aggs_per_pod", "tor_oversubscription", (each, edge), fabric)?;
            let cores = upward(keys, "cores_per_agg", "agg_oversubscription", (tors, fabric), core)?;
            fat_tree([count("pods"), tors, aggs, cores, each])
        }
    };
    let largest = keys
        .given()
        .filter_map(|(key, value)| if let Value::Count(count) = value { Some((*count, key)) } else { None });
    network.map_err(|message| Conflict::new(largest.max().map_or("kind", |(_, key)| key), message))
}

/// How many switches each one is linked to above it: a key says so, or another one says which ratio of rates below and above shall be.
fn upward(
    keys: &Values<'_>,
    number: &'static str,
    ratio: &'static str,
    (below, down): (u32, Wire),
    up: Wire,
) -> Result<u32, Conflict> {
    match (keys.get(number), keys.get::<f64>(ratio)) {
        (Some(number), None) => Ok(number),
        (None, Some(over)) => {
            let rate = |wire: Wire| f64::from(wire.count) * wire.rate.0 as f64;
            whole(ratio, f64::from(below) * rate(down) / (over * rate(up)), number)
        }
        (None, None) => {
            Err(Conflict::new(number, format!("{number} is missing from [topology]; expected it, or {ratio}")))
        }
        (Some(_), Some(_)) => {
            Err(Conflict::new(ratio, format!("{ratio} is given, and {number}; expected one of them")))
        }
    }
}

/// A number that follows from a ratio.
fn whole(ratio: &'static str, number: f64, what: &str) -> Result<u32, Conflict> {
    if number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number) {
        return Ok(number as u32);
    }
    let message =
        format!("there would be {number} {what}; expected a ratio that leads to a whole number of at least 1");
    Err(Conflict::new(ratio, message))
}

/// Where the rate of each link was given.
fn places(network: &Network, origin: &Origin) -> Vec<Place> {
    let (edge, fabric) = (origin.place(&["rate"]), origin.place(&["fabric_rate", "bottleneck_rate", "rate"]));
    let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
    let place = |link: &Link| if is_switch(link.a) && is_switch(link.b) { fabric.clone() } else { edge.clone() };
    network.links.iter().map(place).collect()
}

fn file(
    keys: &Values<'_>,
    config: &Path,
    read: impl Fn(&Path) -> Result<TopologyFile, InputError>,
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
