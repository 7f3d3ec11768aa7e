// SPDX-License-Identifier: GPL-2.0-only
//! `[topology]`.

use super::document::Document;
use super::keys::{OfKind, SHARE, Section, Tables, keys, kinds};
use crate::htsim_network;
use crate::reference::{self, Nvlink, TopologyFile};
use hpcc_core::settings::Value;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use hpcc_model::error::InputError;
use hpcc_model::generate::{self, Tier, Wire};
use hpcc_model::place::Place;
use hpcc_model::scenario::NetworkBuilder;
use hpcc_model::text::{no_file, resolve};
use std::ops::RangeInclusive;
use std::path::Path;

const SECTION: &str = "topology";

/// Of rates below a switch to rates above it.
const RATIO: RangeInclusive<f64> = 0.0..=4_294_967_295.0;

keys! {
    /// Of all links.
    Wires {
        /// Data rate of links without a key of their own, in each direction.
        rate: BitRate;
        /// Time that a bit takes over a link without a key of its own, one way.
        delay: Nanos;
        /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
        /// and `transport.timeout`.
        loss: f64 {SHARE} = 0.0;
    }
    /// Of links between switches.
    Fabric {
        /// Data rate of links between switches, in each direction; by default the rate of the hosts' links.
        #[assumed = "the rate of the hosts' links"]
        fabric_rate: Option<BitRate>;
        /// Time that a bit takes over a link between switches, one way; by default as over the hosts' links.
        #[assumed = "the delay of the hosts' links"]
        fabric_delay: Option<Nanos>;
        /// Links side by side between each two switches that are linked: a bundle, over which flows are spread.
        bundle: u32 = 1;
    }
    Star {
        /// Number of hosts around the one switch.
        hosts: u32;
    }
    Dumbbell {
        /// Number of hosts at the left switch, which have the lower numbers.
        left: u32;
        /// Number of hosts at the right switch.
        right: u32;
        /// Data rate of the link between the two switches, in each direction; by default the rate of the hosts' links.
        #[assumed = "the rate of the hosts' links"]
        bottleneck_rate: Option<BitRate>;
        /// Time that a bit takes over the link between the two switches, one way; by default as over the hosts' links.
        bottleneck_delay: Option<Nanos>;
    }
    ParkingLot {
        /// Number of switches, which stand in a row.
        switches: u32;
        /// Number of hosts at each switch.
        hosts_per_switch: u32;
    }
    LeafSpine {
        /// Number of leaf switches, to which the hosts are linked.
        leaves: u32;
        /// Number of hosts at each leaf.
        hosts_per_leaf: u32;
        /// Number of spine switches, each linked to every leaf; or give `oversubscription`.
        spines: Option<u32>;
        /// Rate of a leaf's hosts over the rate of its uplinks, from which the number of spines follows. Raise it above 1 for leaves
        /// that can send more than leaves them.
        oversubscription: Option<f64> {RATIO};
    }
    Rails {
        /// Number of servers, each with a NIC on every rail.
        servers: u32;
        /// Number of NICs of each server, which are hosts: the n-th is linked to the n-th leaf.
        rails: u32;
        /// Number of spine switches, each linked to every leaf; with 0 messages of jobs go from rail to rail inside servers only.
        spines: u32;
    }
    MultiPlane {
        /// Number of segments, each with servers and top-of-rack switches of its own.
        segments: u32;
        /// Number of servers in each segment.
        servers: u32;
        /// Number of GPUs in each server, which are hosts with a NIC each. Those of a segment at the same place of their servers share
        /// top-of-rack switches.
        rails: u32 = 1;
        /// Number of ports of each NIC, each of them linked to a switch of another plane. Planes meet nowhere but at hosts.
        planes: u32 = 2;
        /// Number of spine switches of each plane, each linked to all top-of-rack switches of its plane.
        spines: u32;
    }
    DualHomed {
        /// Number of pairs of top-of-rack switches.
        pairs: u32;
        /// Number of hosts at each pair, each with a link to either switch of it.
        hosts_per_pair: u32;
        /// Number of aggregation switches, each linked to all switches of the pairs.
        aggs: u32;
    }
    FatTree {
        /// Number of pods, each with racks and aggregation switches of its own.
        pods: u32;
        /// Number of top-of-rack switches in each pod, each linked to all aggregation switches of the pod.
        tors_per_pod: u32;
        /// Number of hosts in each rack.
        hosts_per_tor: u32;
        /// Number of aggregation switches in each pod; there are as many groups of core switches, one for each of them. Or give
        /// `tor_oversubscription`.
        aggs_per_pod: Option<u32>;
        /// Rate of a rack's hosts over the rate of its uplinks, from which `aggs_per_pod` follows.
        tor_oversubscription: Option<f64> {RATIO};
        /// Number of core switches in each group; or give `agg_oversubscription`.
        cores_per_agg: Option<u32>;
        /// Rate of an aggregation switch's links to racks over the rate of those to cores, from which `cores_per_agg` follows.
        agg_oversubscription: Option<f64> {RATIO};
    }
    Core {
        /// Data rate of links to core switches, in each direction; by default that of others between switches.
        core_rate: Option<BitRate>;
        /// Time that a bit takes over a link to a core switch, one way; by default as over others between switches.
        core_delay: Option<Nanos>;
    }
    KAry {
        /// Ports of each switch, an even number: there are k pods of k/2 racks and k/2 aggregation switches, under k/2
        /// groups of k/2 cores.
        k: u32;
        /// Rate of a rack's hosts over the rate of its uplinks; a rack has k/2 times as many hosts. Raise it above 1
        /// for racks that can send more than leaves them.
        oversubscription: f64 {RATIO} = 1.0;
    }
    Dragonfly {
        /// Number of hosts at each switch (p).
        hosts_per_switch: u32;
        /// Number of switches in each group (a), all linked to each other; by default 2p, which is balanced.
        #[assumed = "twice the hosts of a switch: balanced"]
        switches_per_group: Option<u32>;
        /// Number of each switch's links to other groups (h); by default p, which is balanced.
        #[assumed = "as many as the hosts of a switch: balanced"]
        global_links: Option<u32>;
        /// Number of groups; by default a h + 1, with a link between each two. With fewer a group has as many links to each other
        /// one: groups - 1 divides a h.
        #[assumed = "as many as have a link between each two"]
        groups: Option<u32>;
        /// Data rate of links between groups, in each direction; by default that of others between switches.
        global_rate: Option<BitRate>;
        /// Time that a bit takes over a link between groups, one way; by default as over others between switches.
        global_delay: Option<Nanos>;
    }
    Torus {
        /// Number of switches along the first dimension; each is linked to the next, and the last to the first.
        x: u32;
        /// Number of switches along the second dimension.
        y: u32;
        /// Number of switches along the third dimension; by default there is none.
        z: u32 = 1;
        /// Number of hosts at each switch.
        hosts_per_switch: u32 = 1;
    }
    File {
        /// Name of a file with the network in the 2019 simulator's format, which `configs/README.md` describes,
        /// relative to the scenario's folder, then to the working folder. It has the numbers of nodes, switches and
        /// links; the switches; and for each link `A B RATE DELAY LOSS`.
        path: String;
        /// Probability that a link loses a frame whose own loss in the file is 0.
        default_loss: f64 {SHARE} = 0.0;
    }
    Htsim {
        /// Name of a fat tree of htsim (.topo), relative to the scenario's folder, then to the working folder.
        path: String;
        /// Probability that a link loses a frame.
        default_loss: f64 {SHARE} = 0.0;
    }
    Listed {
        /// Number of hosts, which are the nodes from 0 on.
        hosts: u32;
        /// Number of switches, which are the nodes behind the hosts.
        switches: u32;
        /// Data rate of links without a key of their own, in each direction.
        rate: Option<BitRate>;
        /// Time that a bit takes over a link without a key of its own, one way.
        delay: Option<Nanos>;
        /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
        /// and `transport.timeout`.
        loss: f64 {SHARE} = 0.0;
        /// The links, each from node `a` to node `b`, with its own `rate`, `delay` and `loss`, or the section's.
        links: Tables<ListedLink> {"{ a = 0, b = 4 }"};
    }
    ListedLink {
        /// Number of the node at one end.
        a: u32;
        /// Number of the node at the other end.
        b: u32;
        /// Data rate of this link, in each direction; by default the section's.
        rate: Option<BitRate>;
        /// Time that a bit takes over this link, one way; by default the section's.
        delay: Option<Nanos>;
        /// Probability that this link loses a frame; by default the section's.
        loss: Option<f64> {SHARE};
    }
}

keys! {
    Links { wires: Wires, fabric: Fabric }
}

kinds! {
    /// The keys of each kind.
    Shape(()) {
        "star" => Star { star: Star, wires: Wires };
        "dumbbell" => Dumbbell { dumbbell: Dumbbell, wires: Wires };
        "parking_lot" => ParkingLot { lot: ParkingLot, links: Links };
        "leaf_spine" => LeafSpine { tree: LeafSpine, links: Links };
        "rails" => Rails { tree: Rails, links: Links };
        "multi_plane" => MultiPlane { tree: MultiPlane, links: Links };
        "dual_homed" => DualHomed { tree: DualHomed, links: Links };
        "fat_tree" => FatTree { tree: FatTree, core: Core, links: Links };
        "k_ary_fat_tree" => KAry { tree: KAry, core: Core, links: Links };
        "dragonfly" => Dragonfly { dragonfly: Dragonfly, links: Links };
        "torus" => Torus { torus: Torus, links: Links };
        "file" => File { file: File };
        "htsim" => Htsim { file: Htsim };
        "links" => Listed { listed: Listed };
    }
}

/// A network with the places of its links.
pub(super) struct Topology {
    pub network: Network,
    pub links: Vec<Place>,
    /// The section, if no links are listed.
    pub section: Option<Place>,
    pub default_loss: f64,
    /// On what of a file is not read.
    pub note: Option<String>,
    /// NICs of each server, where the section says so.
    pub rails: Option<u32>,
    /// NVSwitches of a file, which are no part of the network.
    pub nvlink: Option<Nvlink>,
}

/// The network; `has_jobs`: there are jobs, which send by NVSwitches.
pub(super) fn read(
    document: &mut Document<'_>,
    config: &Path,
    rounding: Rounding,
    has_jobs: bool,
) -> Result<Topology, InputError> {
    let entry = document.required(SECTION, "kind = \"star\"")?;
    let OfKind { section, kind, .. } = OfKind::of(SECTION, &entry)?;
    let product = |counts: &[u32]| counts.iter().fold(1u64, |product, &count| product.saturating_mul(count.into()));
    let tier = |below: u32, planes: u32, above: u32, wire: Wire| Tier { below, planes, above, wire };
    let fat_tree = |[pods, tors, aggs, cores, each]: [u32; 5], [edge, fabric, core]: [Wire; 3]| {
        let tiers = [tier(each, 1, 1, edge), tier(tors, 1, aggs, fabric), tier(pods, aggs, cores, core)];
        generate::tree(product(&[pods, tors, each]), &tiers)
    };
    let mut of_servers = None;
    let network = match kind {
        Shape::File { file: File { path, default_loss } } => {
            return file(&section, config, (&path, default_loss), has_jobs, |path| {
                reference::read_topology(path, rounding)
            });
        }
        Shape::Htsim { file: Htsim { path, default_loss } } => {
            return file(&section, config, (&path, default_loss), false, htsim_network::read);
        }
        Shape::Listed { listed } => return links(&section, &listed),
        Shape::Star { star, wires } => generate::star(star.hosts, wires.edge(&section)?),
        Shape::Dumbbell { dumbbell: Dumbbell { left, right, bottleneck_rate, bottleneck_delay }, wires } => {
            let edge = wires.edge(&section)?;
            generate::dumbbell((left, right), edge, like(edge, bottleneck_rate, bottleneck_delay))
        }
        Shape::ParkingLot { lot: ParkingLot { switches, hosts_per_switch }, links } => {
            let (edge, fabric) = links.wires(&section)?;
            if switches < 2 {
                return Err(section.origin.error(&["switches"], "switches is 1; expected at least 2"));
            }
            generate::grid(&[switches], hosts_per_switch, false, (edge, fabric))
        }
        Shape::Torus { torus: Torus { x, y, z, hosts_per_switch }, links } => {
            let (edge, fabric) = links.wires(&section)?;
            generate::grid(&[x, y, z], hosts_per_switch, true, (edge, fabric))
        }
        Shape::LeafSpine { tree, links } => {
            let (edge, fabric) = links.wires(&section)?;
            let (leaves, each, fabric) = (tree.leaves, tree.hosts_per_leaf, fabric);
            let ratio = ("oversubscription", tree.oversubscription);
            let spines = upward(&section, ("spines", tree.spines), ratio, (each, edge), fabric)?;
            generate::tree(product(&[leaves, each]), &[tier(each, 1, 1, edge), tier(leaves, 1, spines, fabric)])
        }
        Shape::Rails { tree: Rails { servers, rails, spines }, links } => {
            let (edge, fabric) = links.wires(&section)?;
            of_servers = Some(rails);
            let tiers = [tier(servers, rails, 1, edge), tier(rails, 1, spines, fabric)];
            generate::tree(product(&[servers, rails]), &tiers)
        }
        Shape::MultiPlane { tree: MultiPlane { segments, servers, rails, planes, spines }, links } => {
            let (edge, fabric) = links.wires(&section)?;
            of_servers = Some(rails).filter(|&rails| rails > 1);
            let leaves = tier(servers, rails, planes, edge);
            let spines = tier(segments.saturating_mul(rails), planes, spines, fabric);
            generate::tree(product(&[segments, servers, rails]), &[leaves, spines])
        }
        Shape::DualHomed { tree: DualHomed { pairs, hosts_per_pair, aggs }, links } => {
            let (edge, fabric) = links.wires(&section)?;
            let tiers = [tier(hosts_per_pair, 1, 2, edge), tier(pairs.saturating_mul(2), 1, aggs, fabric)];
            generate::tree(product(&[pairs, hosts_per_pair]), &tiers)
        }
        Shape::Dragonfly { dragonfly, links } => {
            let (edge, fabric) = links.wires(&section)?;
            let (hosts, fabric) = (dragonfly.hosts_per_switch, fabric);
            let switches = dragonfly.switches_per_group.unwrap_or(hosts.saturating_mul(2));
            let global_links = dragonfly.global_links.unwrap_or(hosts);
            let groups = dragonfly.groups.unwrap_or(switches.saturating_mul(global_links).saturating_add(1));
            let global = like(fabric, dragonfly.global_rate, dragonfly.global_delay);
            let network = generate::Dragonfly { groups, switches, hosts, global_links, edge, fabric, global };
            if dragonfly.groups.is_some() {
                network.check_groups().map_err(|message| section.origin.error(&["groups"], message))?;
            }
            network.network()
        }
        Shape::KAry { tree: KAry { k, oversubscription }, core, links } => {
            let ((edge, fabric), half) = (links.wires(&section)?, k / 2);
            if half == 0 || !k.is_multiple_of(2) {
                let message = format!("k is {k}; expected an even number of at least 2");
                return Err(section.origin.error(&["k"], message));
            }
            let what = "hosts (k/2 times oversubscription)";
            let each = whole(&section, "oversubscription", f64::from(half) * oversubscription, what)?;
            fat_tree([k, half, half, half, each], [edge, fabric, core.wire(fabric)])
        }
        Shape::FatTree { tree, core, links } => {
            let ((edge, fabric), tors, each) = (links.wires(&section)?, tree.tors_per_pod, tree.hosts_per_tor);
            let core = core.wire(fabric);
            let ratio = ("tor_oversubscription", tree.tor_oversubscription);
            let aggs = upward(&section, ("aggs_per_pod", tree.aggs_per_pod), ratio, (each, edge), fabric)?;
            let ratio = ("agg_oversubscription", tree.agg_oversubscription);
            let cores = upward(&section, ("cores_per_agg", tree.cores_per_agg), ratio, (tors, fabric), core)?;
            fat_tree([tree.pods, tors, aggs, cores, each], [edge, fabric, core])
        }
    };
    let counts = section
        .given()
        .filter_map(|(key, value)| if let Value::Count(count) = value { Some((*count, key)) } else { None });
    let largest = counts.max().map_or("kind", |(_, key)| key);
    let network = network.map_err(|message| section.origin.error(&[largest], message))?;
    let links = places(&network, &section);
    let section = Some(section.origin.section().clone());
    Ok(Topology { section, rails: of_servers, ..Topology::of(network, links) })
}

impl Topology {
    /// A network whose links are listed.
    fn of(network: Network, links: Vec<Place>) -> Topology {
        Topology { network, links, section: None, default_loss: 0.0, note: None, rails: None, nvlink: None }
    }
}

impl Wires {
    /// A link of a regular network, in whose section nothing is 0 that must be more.
    fn edge(&self, section: &Section<'_>) -> Result<Wire, InputError> {
        let is_rails = section.given().any(|(key, _)| key == "rails");
        for (key, value) in section.given() {
            if *value == Value::Count(0) && key != "k" && (key, is_rails) != ("spines", true) {
                return Err(section.origin.error(&[key], format!("{key} is 0; expected at least 1")));
            }
            if *value == Value::Rate(BitRate(0)) {
                return Err(section.origin.error(&[key], "the rate is 0; expected more"));
            }
        }
        Ok(Wire { rate: self.rate, delay: self.delay, loss: self.loss, count: 1 })
    }
}

impl Links {
    /// The links of hosts, and those between switches.
    fn wires(&self, section: &Section<'_>) -> Result<(Wire, Wire), InputError> {
        let (edge, &Fabric { fabric_rate, fabric_delay, bundle }) = (self.wires.edge(section)?, &self.fabric);
        Ok((edge, Wire { count: bundle, ..like(edge, fabric_rate, fabric_delay) }))
    }
}

impl Core {
    fn wire(&self, fabric: Wire) -> Wire {
        like(fabric, self.core_rate, self.core_delay)
    }
}

/// A link like another one, but for what it has of its own.
fn like(other: Wire, rate: Option<BitRate>, delay: Option<Nanos>) -> Wire {
    Wire { rate: rate.unwrap_or(other.rate), delay: delay.unwrap_or(other.delay), ..other }
}

/// How many switches each one is linked to above it: a key says so, or another one says which ratio of rates below and above shall be.
fn upward(
    section: &Section<'_>,
    (number, given): (&str, Option<u32>),
    (ratio, over): (&str, Option<f64>),
    (below, down): (u32, Wire),
    up: Wire,
) -> Result<u32, InputError> {
    match (given, over) {
        (Some(number), None) => Ok(number),
        (None, Some(over)) => {
            let rate = |wire: Wire| f64::from(wire.count) * wire.rate.0 as f64;
            whole(section, ratio, f64::from(below) * rate(down) / (over * rate(up)), number)
        }
        (None, None) => {
            let message = format!("{number} is missing from [topology]; expected it, or {ratio}");
            Err(section.origin.error(&[number], message))
        }
        (Some(_), Some(_)) => {
            let message = format!("{ratio} is given, and {number}; expected one of them");
            Err(section.origin.error(&[ratio], message))
        }
    }
}

/// A number that follows from a ratio.
fn whole(section: &Section<'_>, ratio: &str, number: f64, what: &str) -> Result<u32, InputError> {
    if number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number) {
        return Ok(number as u32);
    }
    let message =
        format!("there would be {number} {what}; expected a ratio that leads to a whole number of at least 1");
    Err(section.origin.error(&[ratio], message))
}

/// Where the rate of each link was given.
fn places(network: &Network, Section { origin, .. }: &Section<'_>) -> Vec<Place> {
    let (edge, fabric) = (origin.place(&["rate"]), origin.place(&["fabric_rate", "bottleneck_rate", "rate"]));
    let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
    let place = |link: &Link| if is_switch(link.a) && is_switch(link.b) { fabric.clone() } else { edge.clone() };
    network.links.iter().map(place).collect()
}

fn file(
    section: &Section<'_>,
    config: &Path,
    (name, default_loss): (&str, f64),
    has_jobs: bool,
    read: impl Fn(&Path) -> Result<TopologyFile, InputError>,
) -> Result<Topology, InputError> {
    let path = resolve(config, name).ok_or_else(|| section.origin.error(&["path"], no_file("path", name)))?;
    let mut file = read(&path)?;
    let nvlink = if has_jobs { file.take_nvlink() } else { None };
    let TopologyFile { network, links, note, .. } = file;
    Ok(Topology { default_loss, note, nvlink, ..Topology::of(network, links) })
}

/// Hosts come first in the numbering. Rate, delay and loss of the section hold for links that have none.
fn links(section: &Section<'_>, listed: &Listed) -> Result<Topology, InputError> {
    let (hosts, switches) = (u64::from(listed.hosts), u64::from(listed.switches));
    let nodes = hosts + switches;
    let mut builder = NetworkBuilder::new(nodes, &section.origin.place(&["hosts"]))?;
    for switch in hosts..nodes {
        builder.switch(switch, &section.origin.place(&["switches"]))?;
    }
    for link in &listed.links.0 {
        let place = link.origin.section().named("topology.links");
        let missing = |key: &str| {
            let message = format!("{key} is missing from the link and from [topology]; expected it in one of them");
            link.origin.error(&[key], message)
        };
        let link = Link {
            a: builder.node(link.a.into(), &place)?,
            b: builder.node(link.b.into(), &place)?,
            rate: link.rate.or(listed.rate).ok_or_else(|| missing("rate"))?,
            delay: link.delay.or(listed.delay).ok_or_else(|| missing("delay"))?,
            loss: link.loss.unwrap_or(listed.loss),
        };
        builder.link(link, place)?;
    }
    let (network, links) = builder.finish();
    Ok(Topology::of(network, links))
}
