// SPDX-License-Identifier: GPL-2.0-only
//! The algorithm and the protocol that NCCL's cost model chooses: those with which latency and bytes together take least.

use super::hardware::{Channel, Profiles};
use hpcc_core::settings::Named;
use hpcc_core::topology::Network;
use hpcc_core::workload::collective::{self, Collective, Kind, Layout, Pattern, Plan};
use hpcc_core::workload::{Hardware, Servers};
use std::collections::BTreeSet;

hpcc_core::named! {
    /// How data becomes messages.
    #[derive(Default)]
    pub enum Protocol {
        /// Whole.
        #[default]
        Simple = "simple",
        /// With a flag beside each 4 bytes.
        Ll = "ll",
        /// With a flag beside each 120 bytes.
        Ll128 = "ll128",
    }
}

impl Protocol {
    pub(super) const ALL: [Protocol; 3] = [Protocol::Simple, Protocol::Ll, Protocol::Ll128];

    /// So many bytes of messages are so many of data.
    pub fn wire(self) -> (u32, u32) {
        match self {
            Protocol::Simple => (1, 1),
            Protocol::Ll => (2, 1),
            Protocol::Ll128 => (128, 120),
        }
    }

    /// That of a plan.
    fn of(plan: &Plan) -> Protocol {
        Protocol::ALL.into_iter().find(|protocol| protocol.wire() == plan.wire).unwrap_or_default()
    }
}

/// The name of a plan's protocol.
pub fn protocol_name(plan: &Plan) -> &'static str {
    Protocol::of(plan).name()
}

hpcc_core::named! {
    /// The GPUs that the model has figures of.
    #[derive(Default)]
    pub enum Gpu {
        /// A100.
        Ampere = "ampere",
        /// H100.
        #[default]
        Hopper = "hopper",
        /// B200.
        Blackwell = "blackwell",
    }
}

hpcc_core::named! {
    /// Whose CPUs servers have.
    #[derive(Default)]
    pub enum Cpu {
        /// Xeon.
        #[default]
        Intel = "intel",
        /// EPYC.
        Amd = "amd",
    }
}

/// What the model knows of the network and the machines.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// Of each rank.
    hosts: Vec<u32>,
    servers: Option<Servers>,
    /// The rate of a NIC, in GB/s.
    nic: f64,
    gpu: Gpu,
    cpu: Cpu,
    /// What sending costs beside the network.
    profiles: Profiles,
}

/// Times in microseconds of a message, by protocol, within a server and between servers, and of the whole. By protocol: simple,
/// LL, LL128.
struct Costs {
    base: [f64; 3],
    inside: [f64; 3],
    between: [f64; 3],
}

/// Times in microseconds of an algorithm with a protocol.
pub(super) struct Latency {
    /// Of the whole.
    pub base: f64,
    /// Of a step within a server.
    pub inside: f64,
    /// Of a step between servers.
    pub between: f64,
}

/// Those of an algorithm: of trees where it is one, else of rings.
pub(super) fn latency(algorithm: &str, protocol: Protocol) -> Latency {
    let costs = if algorithm.ends_with("tree") { &TREE } else { &RING };
    let at = protocol as usize;
    Latency { base: costs.base[at], inside: costs.inside[at], between: costs.between[at] }
}

/// The most of LL in one server, in GB/s.
pub(super) fn most_of_ll(gpu: Gpu) -> f64 {
    MOST_OF_LL[gpu as usize]
}

/// What a channel of trees has of LL128 on one server, two, and more, in GB/s.
pub(super) fn tree_ll128(gpu: Gpu) -> [f64; 3] {
    TREE_LL128_CHANNEL[gpu as usize]
}

const RING: Costs = Costs { base: [8.4, 6.6, 14.0], inside: [3.4, 0.6, 1.9], between: [14.0, 2.7, 4.0] };
const TREE: Costs = Costs { base: [8.4, 6.8, 14.0], inside: [4.0, 0.6, 1.25], between: [14.0, 5.0, 8.5] };
const PAT_BASE: f64 = 8.0;
const PAT_BETWEEN: f64 = 14.0;
/// A switch in a server, then trees between servers.
const NVLS_INSIDE: f64 = 25.0;
const NVLS_TREE_BETWEEN: f64 = 20.9;
/// Most of a channel, in GB/s, by GPU, on one server, two, and more.
type Caps = [[f64; 3]; 3];
/// Of NVLS trees, which Ampere does not have.
const NVLS_TREE_CHANNEL: Caps = [[0.0; 3], [f64::INFINITY, 57.7, 45.5], [f64::INFINITY, 96.0, 80.0]];
/// Most of LL on one server, by GPU; on two and more, by CPU.
const MOST_OF_LL: [f64; 3] = [87.7, 141.0, 282.0];
const MOST_OF_LL_INTEL: [f64; 2] = [39.0, 20.4];
const MOST_OF_LL_AMD: [f64; 2] = [22.5, 19.0];
/// Of trees, of their LL128, and of that of rings.
const TREE_CHANNEL: Caps = [[24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [70.0, 42.8, 24.0]];
const TREE_LL128_CHANNEL: Caps = [[20.0; 3], [36.7, 36.7, 29.0], [55.6, 31.67, 20.0]];
const RING_LL128_CHANNEL: [f64; 3] = [20.0, 36.7, 40.0];
/// What trees get where each server has one GPU.
const LONE_TREE: f64 = 0.85;
/// A ring between servers takes so much longer once a channel has this much of each rank's data.
const RING_SLOWER: f64 = 1.4;
const RING_SLOWER_FROM: f64 = 64.0;
/// What trees get of their rate, by protocol, for each doubling of 64 bytes.
#[rustfmt::skip]
const TREE_SHARE: [[f64; 24]; 3] = [
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9],
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0],
];
/// So many of these shares NCCL reads for trees; for NVLS trees, which have them on Blackwell alone, all.
const TREE_SHARES: usize = 23;
/// NCCL's links count so much of an NVLink's nominal rate: 370.8 of 450 GB/s.
const OF_NVLINK: f64 = 0.824;
/// Rates that a channel is tried with, in GB/s.
const STEPS: [f64; 12] = [48.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24];
/// The most with which a channel is tried where servers have several GPUs.
const MOST_OF_CHANNEL: f64 = 30.0;
/// NCCL's MAXCHANNELS.
const MOST_CHANNELS: f64 = 64.0;
/// Channels of NVLS, and what they take of a NIC: 60 GB/s of 50.
const NVLS_CHANNELS: f64 = 8.0;
const NVLS_OF_NIC: f64 = 1.2;

/// What trees get of their rate for so many bytes, of these shares.
fn tree_share(shares: &[f64], size: u64) -> f64 {
    let place = (size / 64).checked_ilog2().unwrap_or(0) as usize;
    shares.get(place).copied().unwrap_or(1.0)
}

/// The highest step that a link carries; below all of them the link's own rate.
fn step_of(rate: f64) -> f64 {
    STEPS.into_iter().find(|&step| step <= rate).unwrap_or(rate)
}

impl Tuning {
    /// What is known of ranks on these hosts of a network, with the usual machines.
    pub fn new(hosts: &[u32], servers: Option<Servers>, network: &Network) -> Tuning {
        let of_first =
            network.links.iter().filter(|link| hosts.first().is_some_and(|&host| link.a == host || link.b == host));
        let nic = of_first.map(|link| link.rate.0 as f64 / 8e9).sum();
        Tuning { hosts: hosts.to_vec(), servers, nic, ..Tuning::default() }
    }

    /// The same of these machines.
    pub fn with(self, gpu: Gpu, cpu: Cpu) -> Tuning {
        Tuning { gpu, cpu, ..self }
    }

    /// The same with profiles of hardware.
    pub fn on(self, profiles: Profiles) -> Tuning {
        Tuning { profiles, ..self }
    }

    /// GB/s of data that a channel of a ring or a tree of so many servers copies in a GPU: of LL, and of LL128 in trees, NCCL's. By
    /// default there are so many channels, which stand for all of NCCL's; of more, LL has no more together.
    fn copied(
        &self,
        pattern: &Pattern,
        protocol: Protocol,
        (servers, per_server): (u32, u32),
        (channels, usual): (u16, u16),
        one: Channel,
    ) -> f64 {
        let few = servers.clamp(1, 3) as usize - 1;
        let for_each = self.channels_of_nccl(servers, per_server) / f64::from(usual);
        match protocol {
            Protocol::Simple => for_each * one.simple,
            Protocol::Ll => self.most_of_ll(few) / f64::from(channels.max(usual)),
            Protocol::Ll128 if pattern.name == "tree" => for_each * TREE_LL128_CHANNEL[self.gpu as usize][few],
            Protocol::Ll128 => for_each * one.ll128,
        }
    }

    /// Channels of rings and trees as NCCL finds them, and has them at most.
    fn channels_of_nccl(&self, servers: u32, per_server: u32) -> f64 {
        self.channels(servers.into(), per_server.into()).0.min(MOST_CHANNELS)
    }

    /// The same in one server, where a profile counts the rate of each.
    pub fn channels_inside(&self, layout: Option<&Layout>) -> u16 {
        let is_counted = self.profiles.gpu().is_some();
        let layout = layout.filter(|layout| is_counted && layout.servers() == 1);
        layout.map_or(1, |layout| self.channels_of_nccl(1, layout.fewest()) as u16)
    }

    /// The most of LL on one, two, and more servers, in GB/s.
    fn most_of_ll(&self, few: usize) -> f64 {
        match (few, self.cpu) {
            (0, _) => MOST_OF_LL[self.gpu as usize],
            (_, Cpu::Intel) => MOST_OF_LL_INTEL[few - 1],
            (_, Cpu::Amd) => MOST_OF_LL_AMD[few - 1],
        }
    }

    /// What a collective costs its GPUs, on so many servers with so many ranks each, if any have several, with so many channels where
    /// so many are usual.
    pub fn costs(
        &self,
        pattern: &Pattern,
        protocol: Protocol,
        shape: Option<(u32, u32)>,
        channels: (u16, u16),
    ) -> Hardware {
        let copied = |one| shape.map(|shape| self.copied(pattern, protocol, shape, channels, one));
        self.profiles.costs(pattern, protocol, shape.unwrap_or((1, 1)), (channels.0, &copied))
    }

    /// The profiles of its hardware.
    pub fn profiles(&self) -> Profiles {
        self.profiles
    }

    /// Which ranks of a group are in one server; `None`: no two.
    pub fn layout(&self, group: &[u32]) -> Option<Layout> {
        let servers = self.servers?;
        // A file may have more ranks than there are hosts, which is refused later.
        let hosts: Option<Vec<_>> = group.iter().map(|&rank| self.hosts.get(rank as usize)).collect();
        Layout::new(hosts?.into_iter().map(|&host| servers.place(host)))
    }

    /// The most channels that a group has by default.
    pub fn most_channels(&self) -> u16 {
        let gpus = self.servers.map_or(1, |servers| servers.gpus);
        let counted = self.profiles.gpu().filter(|_| gpus > 1).map_or(1, |_| self.channels_of_nccl(1, gpus) as u16);
        counted.max(gpus.clamp(1, Collective::MOST_CHANNELS.into()) as u16)
    }

    /// What takes least, of the algorithms that the model knows; for other operations the usual one.
    pub fn choose(&self, kind: Kind, group: &[u32], size: u64) -> Option<(&'static Pattern, Protocol)> {
        let mut all = Vec::new();
        for name in ["ring", "tree", "pat", "nvls", "nvls_tree"] {
            let Some(pattern) = collective::find(kind, Some(name)) else { continue };
            let times = Protocol::ALL.map(|protocol| (self.time(kind, name, protocol, group, size), protocol));
            all.extend(times.into_iter().filter_map(|(time, protocol)| Some((time?, pattern, protocol))));
        }
        let best = all.into_iter().min_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, pattern, protocol)| (pattern, protocol))
            .or_else(|| Some((collective::find(kind, None)?, Protocol::Simple)))
    }

    /// The rate of the NICs of so many GPUs of a server, in GB/s.
    fn nics(&self, gpus: f64) -> f64 {
        let share = self.servers.map_or(1.0, |servers| f64::from(servers.nics) / f64::from(servers.gpus));
        self.nic * gpus * share
    }

    /// Channels of rings and trees and the rate of each, in GB/s, as NCCL finds them: in a server as many as its NVLinks
    /// carry, between servers as its NICs do, too. A lone GPU's fast channel becomes two.
    fn channels(&self, nodes: f64, per_node: f64) -> (f64, f64) {
        let nics = self.nics(per_node);
        let Some(servers) = self.servers.filter(|_| per_node > 1.0) else {
            let rate = step_of(self.nic);
            return if rate >= 25.0 { (2.0, rate / 2.0) } else { (1.0, rate) };
        };
        let inside = OF_NVLINK * servers.rate.0 as f64 / 8e9;
        let (all, one) = if nodes > 1.0 { (inside.min(nics), inside.min(self.nic)) } else { (inside, inside) };
        let rate = step_of(one.min(MOST_OF_CHANNEL));
        ((all / rate).floor().max(1.0), rate)
    }

    /// Whether NCCL has NVLS for a group: as many GPUs in each server, more than two.
    fn has_nvls(&self, group: &[u32]) -> bool {
        self.layout(group).and_then(|layout| layout.per_server()).is_some_and(|gpus| gpus > 2)
    }

    /// The rate of NVLS, in GB/s, before the steps of a ring; `None`: the GPU has none.
    fn nvls(&self, is_tree: bool, twice: f64, nodes: f64, per_node: f64, few: usize) -> Option<f64> {
        let efficiency = match self.gpu {
            Gpu::Ampere => return None,
            Gpu::Hopper => 0.85,
            Gpu::Blackwell => 0.74,
        };
        let channels = NVLS_CHANNELS;
        let inside = step_of(OF_NVLINK * self.servers?.rate.0 as f64 / 8e9 / channels);
        let share = if twice == 2.0 { 2.0 } else { (per_node - 1.0) / per_node };
        let inside = inside * efficiency * (channels - 1.0) / channels * share;
        let between = NVLS_OF_NIC * self.nics(per_node) / channels * if is_tree && nodes <= 2.0 { 2.0 } else { 1.0 };
        let channel = if nodes > 1.0 { inside.min(between) } else { inside };
        Some(channels * if is_tree { channel.min(NVLS_TREE_CHANNEL[self.gpu as usize][few]) } else { channel })
    }

    /// The model's time in microseconds; `None` where it has none.
    fn time(&self, kind: Kind, name: &str, protocol: Protocol, group: &[u32], size: u64) -> Option<f64> {
        let twice = match kind {
            Kind::AllReduce => 2.0,
            Kind::AllGather | Kind::ReduceScatter => 1.0,
            Kind::AllToAll | Kind::Broadcast | Kind::Reduce | Kind::SendReceive | Kind::Barrier => return None,
        };
        let of_server = self.servers.map_or(1, |servers| servers.nics);
        let hosts = group.iter().filter_map(|&rank| self.hosts.get(rank as usize));
        let servers: BTreeSet<u32> = hosts.map(|host| host / of_server).collect();
        let (ranks, nodes) = (group.len() as f64, servers.len().max(1) as f64);
        let per_node = ranks / nodes;
        let few = servers.len().saturating_sub(1).min(2);
        let doublings = f64::from(servers.len().max(1).ilog2());
        let (channels, rate) = self.channels(nodes, per_node);
        let bus = channels * rate;
        let most_of_ll = self.most_of_ll(few);
        let at = protocol as usize;
        let steps = twice * (ranks - 1.0);
        let (latency, rate) = match name {
            "ring" => {
                let crossings = twice * (nodes - 1.0);
                // The network's own cost bounds a step in a server from below.
                let overhead =
                    if self.cpu == Cpu::Amd { 2.0 } else { 1.0 } * if protocol == Protocol::Simple { 3.0 } else { 1.0 };
                let inside = if few > 0 { RING.inside[at].max(overhead) } else { RING.inside[at] };
                let between = if per_node == 1.0 { TREE.between[at] } else { RING.between[at] };
                let latency = RING.base[at] + (steps - crossings) * inside + crossings * between;
                let is_slower = protocol == Protocol::Simple && kind == Kind::AllReduce && few > 0;
                let is_slower = is_slower && size as f64 / (channels * ranks) >= RING_SLOWER_FROM;
                let bus = match protocol {
                    Protocol::Simple => bus,
                    Protocol::Ll => (0.5 * bus).min(most_of_ll),
                    Protocol::Ll128 => (0.92 * bus).min(channels * RING_LL128_CHANNEL[self.gpu as usize]),
                };
                (if is_slower { RING_SLOWER * latency } else { latency }, bus * ranks / steps)
            }
            "tree" => {
                let hops = (per_node - 1.0) * TREE.inside[at] + doublings * TREE.between[at];
                let bus = (0.92 * bus).min(channels * TREE_CHANNEL[self.gpu as usize][few]);
                let bus = match protocol {
                    Protocol::Simple => bus,
                    Protocol::Ll => (bus / 3.8).min(most_of_ll),
                    Protocol::Ll128 => {
                        let share = if few == 0 { 7.0 / 9.0 } else { 120.0 / 128.0 };
                        (share * bus).min(channels * TREE_LL128_CHANNEL[self.gpu as usize][few])
                    }
                };
                let share = tree_share(&TREE_SHARE[at][..TREE_SHARES], size);
                let share = if per_node == 1.0 { LONE_TREE * share } else { share };
                (TREE.base[at] + 2.0 * hops, 0.5 * bus * share)
            }
            // For one rank a server, and whole messages.
            "pat" if per_node == 1.0 && protocol == Protocol::Simple => {
                (PAT_BASE + doublings * PAT_BETWEEN / 3.5 + 2.8 * ranks, 0.75 * bus)
            }
            // Between servers NCCL has trees, unless the network's switches sum, too.
            "nvls" | "nvls_tree" if protocol == Protocol::Simple && self.has_nvls(group) => {
                let latency = match (name, servers.len()) {
                    ("nvls", 1) => NVLS_INSIDE,
                    ("nvls_tree", 2..) => NVLS_INSIDE + 2.0 * doublings * NVLS_TREE_BETWEEN,
                    _ => return None,
                };
                let is_corrected = name == "nvls_tree" && self.gpu == Gpu::Blackwell;
                let share = if is_corrected { tree_share(&TREE_SHARE[at], size) } else { 1.0 };
                (latency, self.nvls(name == "nvls_tree", twice, nodes, per_node, few)? * share * ranks / steps)
            }
            _ => return None,
        };
        // A byte in a nanosecond is a GB/s.
        Some(latency + size as f64 / rate.max(1e-9) / 1e3)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::CollectiveOptions;
    use super::*;
    use hpcc_core::topology::{Link, NodeKind};
    use hpcc_core::units::{BitRate, Nanos};
    use std::sync::Arc;

    /// NICs of 400 Gb/s around a switch.
    pub fn tuning(hosts: u32, gpus: Option<u32>) -> Tuning {
        let link = |a| Link { a, b: hosts, rate: BitRate::gbps(400), delay: Nanos(500), loss: 0.0 };
        let mut nodes = vec![NodeKind::Host; hosts as usize];
        nodes.push(NodeKind::Switch);
        let network = Network { nodes, links: (0..hosts).map(link).collect() };
        let servers = gpus.map(|gpus| Servers {
            gpus,
            nics: gpus,
            rate: BitRate::gbps(3_600),
            latency: Nanos(1_000),
            pxn: false,
        });
        Tuning::new(&(0..hosts).collect::<Vec<_>>(), servers, &network)
    }

    /// The list is that of tests/oracles/nccl_choice.py, which was written apart from the model above.
    #[test]
    fn the_model_chooses_what_nccl_does() {
        let mut lines = String::new();
        for kind in [Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter] {
            for per_node in [8, 1] {
                for nodes in [1, 2, 3, 4, 8, 16, 32, 128].into_iter().filter(|nodes| nodes * per_node > 1) {
                    let tuning = tuning(nodes * per_node, (per_node > 1).then_some(per_node));
                    let group: Vec<u32> = (0..nodes * per_node).collect();
                    let mut runs: Vec<(u32, String)> = Vec::new();
                    for power in 10..35 {
                        let (pattern, protocol) = tuning.choose(kind, &group, 1 << power).expect("a choice");
                        let name = format!("{} {}", pattern.name, Protocol::NAMES[protocol as usize]);
                        match runs.last_mut().filter(|(_, last)| *last == name) {
                            Some((count, _)) => *count += 1,
                            None => runs.push((1, name)),
                        }
                    }
                    let runs: Vec<String> = runs.iter().map(|(count, name)| format!("{count} {name}")).collect();
                    lines += &format!("{} {nodes} x {per_node}: {}\n", kind.name(), runs.join(", "));
                }
            }
        }
        assert_eq!(lines, include_str!("nccl_choices.txt"));
    }

    /// Two servers and 1 GiB are a tree of NVLS; without NVLS a ring.
    #[test]
    fn the_gpu_decides() {
        let mut tuning = tuning(16, Some(8));
        let group: Vec<u32> = (0..16).collect();
        let name = |tuning: &Tuning| tuning.choose(Kind::AllReduce, &group, 1 << 30).map(|(pattern, _)| pattern.name);
        assert_eq!(name(&tuning), Some("nvls_tree"));
        tuning.gpu = Gpu::Ampere;
        assert_eq!(name(&tuning), Some("ring"));
        // At 32 MiB trees get 0.7 of their rate, on Blackwell those of NVLS, too.
        let time = |gpu, power| {
            let tuning = Tuning { gpu, ..tuning.clone() };
            tuning.time(Kind::AllReduce, "nvls_tree", Protocol::Simple, &group, 1_u64 << power).expect("a time")
        };
        let of_bytes = |gpu, power| time(gpu, power) - (NVLS_INSIDE + 2.0 * NVLS_TREE_BETWEEN);
        let [more, less] = [Gpu::Blackwell, Gpu::Hopper].map(|gpu| of_bytes(gpu, 25) / of_bytes(gpu, 34));
        assert!((more * 0.7 - less).abs() < 1e-9, "{more} {less}");
    }

    /// NCCL begins NVLS with three GPUs of a server.
    #[test]
    fn two_gpus_of_a_server_have_no_nvls() {
        for (gpus, expected) in [(2, "ring"), (3, "nvls"), (8, "nvls")] {
            let group: Vec<u32> = (0..gpus).collect();
            let chosen = tuning(8, Some(8)).choose(Kind::AllReduce, &group, 1 << 30).expect("a choice");
            assert_eq!(chosen.0.name, expected, "{gpus} GPUs");
        }
        let pairs = tuning(32, Some(2)).choose(Kind::AllReduce, &(0..32).collect::<Vec<_>>(), 1 << 30);
        assert_ne!(pairs.expect("a choice").0.name, "nvls_tree");
    }

    /// Files may have more ranks than there are hosts: that is told later.
    #[test]
    fn ranks_without_a_host_are_in_no_layout() {
        let tuning = tuning(8, Some(4));
        let group: Vec<u32> = (0..9).collect();
        assert!(tuning.layout(&group[..8]).is_some() && tuning.layout(&group).is_none());
        assert!(tuning.choose(Kind::AllReduce, &group, 1 << 20).is_some());
        assert!(tuning.choose(Kind::AllReduce, &[8, 9], 1 << 20).is_some());
    }

    /// The ranks of a ring divide a piece, and no size is refused for the pieces that nobody asked for.
    #[test]
    fn auto_cuts_data_into_messages_of_a_step() {
        let tuning = tuning(64, Some(8));
        let ways = CollectiveOptions {
            algorithm: Some("auto".into()),
            channels: Some(8),
            tuning,
            ..CollectiveOptions::default()
        };
        let group: Arc<[u32]> = (0..64).collect();
        let chunk = |kind, size| ways.plan(kind, group.clone(), size, 0).expect("a plan").chunk;
        assert_eq!(chunk(Kind::AllReduce, 8 << 20), 512 << 10, "a tree");
        assert_eq!(chunk(Kind::AllGather, 4 << 30), 64 * (512 << 10), "a ring");
        assert_eq!(chunk(Kind::Broadcast, 1 << 50), (1 << 50) / 8 / u64::from(Collective::MOST_PIECES));
        assert_eq!(chunk(Kind::AllToAll, 8 << 20), u64::MAX, "no pipeline");
    }
}
