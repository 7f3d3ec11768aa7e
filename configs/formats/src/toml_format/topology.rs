// SPDX-License-Identifier: GPL-2.0-only
//! `[topology]`.

use super::document::{Document, Kinded, unknown_kind};
use super::values::{Probability, Rate, Time};
use crate::error::InputError;
use crate::generate::{self, Wire};
use crate::origin::Origin;
use crate::place::Place;
use crate::reference::TopologyFile;
use crate::scenario::NetworkBuilder;
use crate::text::{no_file, resolve};
use hpcc_core::settings::Conflict;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::BitRate;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

const SECTION: &str = "topology";
const KINDS: &[&str] =
    &["star", "dumbbell", "parking_lot", "leaf_spine", "dual_homed", "fat_tree", "k_ary_fat_tree", "file", "links"];

/// The keys of each kind.
pub(super) fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    use super::schema::of;
    let keys = [
        of::<StarKeys>(),
        of::<DumbbellKeys>(),
        of::<ParkingLotKeys>(),
        of::<LeafSpineKeys>(),
        of::<DualHomedKeys>(),
        of::<FatTreeKeys>(),
        of::<KAryKeys>(),
        of::<FileKeys>(),
        of::<LinksKeys>(),
    ];
    KINDS.iter().copied().zip(keys).collect()
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
}

pub(super) fn read(document: &mut Document<'_>, config: &Path) -> Result<Topology, InputError> {
    let section = document.kinded(SECTION, KINDS)?;
    let origin = section.origin.clone();
    let network = match section.kind.as_str() {
        "star" => star(document, section)?,
        "dumbbell" => dumbbell(document, section)?,
        "parking_lot" => parking_lot(document, section)?,
        "leaf_spine" => leaf_spine(document, section)?,
        "dual_homed" => dual_homed(document, section)?,
        "fat_tree" => fat_tree(document, section)?,
        "k_ary_fat_tree" => k_ary_fat_tree(document, section)?,
        "file" => return file(document, section, config),
        "links" => return links(document, section),
        _ => return Err(unknown_kind(&section, KINDS)),
    };
    let network = network.map_err(|wrong| origin.error(&[wrong.key], wrong.message))?;
    let links = rates(&network, &origin)?;
    Ok(Topology { network, links, section: Some(origin.section().clone()), default_loss: 0.0, note: None })
}

/// Where the rate of each link was given. Refuses those of 0.
fn rates(network: &Network, origin: &Origin) -> Result<Vec<Place>, InputError> {
    let (edge, fabric) = (origin.place(&["rate"]), origin.place(&["fabric_rate", "bottleneck_rate", "rate"]));
    let is_switch = |node: u32| network.nodes[node as usize] == NodeKind::Switch;
    let place = |link: &Link| {
        let place = if is_switch(link.a) && is_switch(link.b) { &fabric } else { &edge };
        if link.rate == BitRate(0) { Err(place.error("the rate is 0; expected more")) } else { Ok(place.clone()) }
    };
    network.links.iter().map(place).collect()
}

fn wire(rate: Rate, delay: Time, loss: Probability) -> Wire {
    Wire { rate: rate.0, delay: delay.0, loss: loss.0 }
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct StarKeys {
    /// Number of hosts around the one switch.
    hosts: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn star(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: StarKeys = document.keys_of(SECTION, section)?;
    Ok(generate::star(keys.hosts, wire(keys.rate, keys.delay, keys.loss)))
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct DumbbellKeys {
    /// Number of hosts at the left switch, which have the lower numbers.
    left: u32,
    /// Number of hosts at the right switch.
    right: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of the link between the two switches, in each direction; without it that of the hosts' links.
    bottleneck_rate: Option<Rate>,
    /// Time that a bit takes over the link between the two switches, one way; without it as over the hosts' links.
    bottleneck_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn dumbbell(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: DumbbellKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.bottleneck_rate.unwrap_or(keys.rate), keys.bottleneck_delay.unwrap_or(keys.delay));
    let dumbbell = generate::Dumbbell {
        left: keys.left,
        right: keys.right,
        edge: wire(keys.rate, keys.delay, keys.loss),
        bottleneck: wire(rate, delay, keys.loss),
    };
    Ok(dumbbell.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct ParkingLotKeys {
    /// Number of switches, which stand in a row.
    switches: u32,
    /// Number of hosts at each switch.
    hosts_per_switch: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of links between switches, in each direction; without it that of the hosts' links.
    fabric_rate: Option<Rate>,
    /// Time that a bit takes over a link between switches, one way; without it as over the hosts' links.
    fabric_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn parking_lot(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: ParkingLotKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.fabric_rate.unwrap_or(keys.rate), keys.fabric_delay.unwrap_or(keys.delay));
    let row = generate::ParkingLot {
        switches: keys.switches,
        hosts_per_switch: keys.hosts_per_switch,
        edge: wire(keys.rate, keys.delay, keys.loss),
        fabric: wire(rate, delay, keys.loss),
    };
    Ok(row.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct DualHomedKeys {
    /// Number of pairs of top-of-rack switches.
    pairs: u32,
    /// Number of hosts at each pair, each with a link to either switch of it.
    hosts_per_pair: u32,
    /// Number of aggregation switches, each linked to all switches of the pairs.
    aggs: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of links between switches, in each direction; without it that of the hosts' links.
    fabric_rate: Option<Rate>,
    /// Time that a bit takes over a link between switches, one way; without it as over the hosts' links.
    fabric_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn dual_homed(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: DualHomedKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.fabric_rate.unwrap_or(keys.rate), keys.fabric_delay.unwrap_or(keys.delay));
    let pod = generate::DualHomed {
        pairs: keys.pairs,
        hosts_per_pair: keys.hosts_per_pair,
        aggs: keys.aggs,
        edge: wire(keys.rate, keys.delay, keys.loss),
        fabric: wire(rate, delay, keys.loss),
    };
    Ok(pod.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct LeafSpineKeys {
    /// Number of leaf switches, to which the hosts are linked.
    leaves: u32,
    /// Number of spine switches, each linked to every leaf.
    spines: u32,
    /// Number of hosts at each leaf.
    hosts_per_leaf: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of links between switches, in each direction; without it that of the hosts' links.
    fabric_rate: Option<Rate>,
    /// Time that a bit takes over a link between switches, one way; without it as over the hosts' links.
    fabric_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn leaf_spine(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: LeafSpineKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.fabric_rate.unwrap_or(keys.rate), keys.fabric_delay.unwrap_or(keys.delay));
    let fabric = generate::LeafSpine {
        leaves: keys.leaves,
        spines: keys.spines,
        hosts_per_leaf: keys.hosts_per_leaf,
        edge: wire(keys.rate, keys.delay, keys.loss),
        fabric: wire(rate, delay, keys.loss),
    };
    Ok(fabric.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct FatTreeKeys {
    /// Number of pods, each with racks and aggregation switches of its own.
    pods: u32,
    /// Number of top-of-rack switches in each pod, each linked to all aggregation switches of the pod.
    tors_per_pod: u32,
    /// Number of aggregation switches in each pod; there are as many groups of core switches, one for each of them.
    aggs_per_pod: u32,
    /// Number of core switches in each group.
    cores_per_agg: u32,
    /// Number of hosts in each rack.
    hosts_per_tor: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of links between switches, in each direction; without it that of the hosts' links.
    fabric_rate: Option<Rate>,
    /// Time that a bit takes over a link between switches, one way; without it as over the hosts' links.
    fabric_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn fat_tree(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: FatTreeKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.fabric_rate.unwrap_or(keys.rate), keys.fabric_delay.unwrap_or(keys.delay));
    let tree = generate::FatTree {
        pods: keys.pods,
        tors_per_pod: keys.tors_per_pod,
        aggs_per_pod: keys.aggs_per_pod,
        cores_per_agg: keys.cores_per_agg,
        hosts_per_tor: keys.hosts_per_tor,
        edge: wire(keys.rate, keys.delay, keys.loss),
        fabric: wire(rate, delay, keys.loss),
    };
    Ok(tree.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct KAryKeys {
    /// Ports of each switch, an even number: there are k pods of k/2 racks and k/2 aggregation switches, under k/2
    /// groups of k/2 cores.
    k: u32,
    /// Rate of a rack's hosts over that of its uplinks, where all links have one rate: there are k/2 times as many
    /// hosts in a rack. Raise it above 1 for racks that can send more than leaves them.
    #[serde(default = "full_bisection")]
    oversubscription: f64,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Rate,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Time,
    /// Data rate of links between switches, in each direction; without it that of the hosts' links.
    fabric_rate: Option<Rate>,
    /// Time that a bit takes over a link between switches, one way; without it as over the hosts' links.
    fabric_delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
}

fn full_bisection() -> f64 {
    1.0
}

fn k_ary_fat_tree(document: &Document<'_>, section: Kinded<'_>) -> Result<Result<Network, Conflict>, InputError> {
    let keys: KAryKeys = document.keys_of(SECTION, section)?;
    let (rate, delay) = (keys.fabric_rate.unwrap_or(keys.rate), keys.fabric_delay.unwrap_or(keys.delay));
    let half = keys.k / 2;
    if half == 0 || !keys.k.is_multiple_of(2) {
        let message = format!("k is {}; expected an even number of at least 2", keys.k);
        return Ok(Err(Conflict::new("k", message)));
    }
    let hosts = f64::from(half) * keys.oversubscription;
    if hosts.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&hosts) {
        let message = format!(
            "a rack would have {hosts} hosts (k/2 times oversubscription); expected a whole number of at least 1"
        );
        return Ok(Err(Conflict::new("oversubscription", message)));
    }
    let tree = generate::FatTree {
        pods: keys.k,
        tors_per_pod: half,
        aggs_per_pod: half,
        cores_per_agg: half,
        hosts_per_tor: hosts as u32,
        edge: wire(keys.rate, keys.delay, keys.loss),
        fabric: wire(rate, delay, keys.loss),
    };
    Ok(tree.network())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileKeys {
    /// Name of a file with the network in the reference's format, which `configs/README.md` describes, relative to the
    /// scenario's folder, then to the working folder. It has the numbers of nodes, switches and links; the switches;
    /// and for each link `A B RATE DELAY LOSS`.
    #[schemars(with = "String")]
    path: Spanned<String>,
    /// Probability that a link loses a frame whose own loss in the file is 0.
    #[serde(default)]
    default_loss: Probability,
}

fn file(document: &Document<'_>, section: Kinded<'_>, config: &Path) -> Result<Topology, InputError> {
    let keys: FileKeys = document.keys_of(SECTION, section)?;
    let place = document.place(keys.path.span());
    let name = keys.path.get_ref();
    let path = resolve(config, name).ok_or_else(|| place.key_error("topology.path", no_file("path", name)))?;
    let TopologyFile { network, links, note } = crate::reference::read_topology(&path)?;
    Ok(Topology { network, links, section: None, default_loss: keys.default_loss.0, note })
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct LinksKeys {
    /// Number of hosts, which are the nodes from 0 on.
    hosts: u32,
    /// Number of switches, which are the nodes behind the hosts.
    switches: u32,
    /// Data rate of links, in each direction; of links that have a key of their own, that one counts.
    rate: Option<Rate>,
    /// Time that a bit takes over a link, one way; of links that have a key of their own, that one counts.
    delay: Option<Time>,
    /// Probability that a link loses a frame, other than PFC's. Raise it to study recovery: see `transport.recovery`
    /// and `transport.timeout`.
    #[serde(default)]
    loss: Probability,
    /// The links, each from node `a` to node `b`, with `rate`, `delay` and `loss` of its own, or those of the
    /// section.
    #[schemars(with = "Vec<LinkKeys>")]
    links: Vec<Spanned<LinkKeys>>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a link such as { a = 0, b = 4 }")]
struct LinkKeys {
    /// Number of the node at one end.
    a: u64,
    /// Number of the node at the other end.
    b: u64,
    /// Data rate of this link, in each direction; without it that of the section.
    rate: Option<Rate>,
    /// Time that a bit takes over this link, one way; without it that of the section.
    delay: Option<Time>,
    /// Probability that this link loses a frame; without it that of the section.
    loss: Option<Probability>,
}

/// Hosts come first in the numbering. Rate, delay and loss of the section hold for links that have none.
fn links(document: &Document<'_>, section: Kinded<'_>) -> Result<Topology, InputError> {
    let origin = section.origin.clone();
    let keys: LinksKeys = document.keys_of(SECTION, section)?;
    let nodes = u64::from(keys.hosts) + u64::from(keys.switches);
    let mut builder = NetworkBuilder::new(nodes, &origin.place(&["hosts"]))?;
    for switch in u64::from(keys.hosts)..nodes {
        builder.switch(switch, &origin.place(&["switches"]))?;
    }
    for link in keys.links {
        let place = document.place(link.span()).named("topology.links");
        let link = link.into_inner();
        let missing = |key: &str| {
            let message = format!("{key} is missing from the link and from [topology]; expected it in one of them");
            place.key_error(format!("topology.links.{key}"), message)
        };
        let link = Link {
            a: builder.node(link.a, &place)?,
            b: builder.node(link.b, &place)?,
            rate: link.rate.or(keys.rate).ok_or_else(|| missing("rate"))?.0,
            delay: link.delay.or(keys.delay).ok_or_else(|| missing("delay"))?.0,
            loss: link.loss.unwrap_or(keys.loss).0,
        };
        builder.link(link, place)?;
    }
    let (network, links) = builder.finish();
    Ok(Topology { network, links, section: None, default_loss: 0.0, note: None })
}
