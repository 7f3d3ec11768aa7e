// SPDX-License-Identifier: GPL-2.0-only
//! Regular networks. Hosts come first in the numbering, then switches from the edge to the core; links are
//! listed from the edge to the core as well, which fixes the port numbers.

use crate::scenario::{MAX_NODES, MAX_PORTS};
use hpcc_core::settings::Conflict;
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};

/// Keeps a slip of the keyboard from filling the memory.
const MAX_LINKS: u64 = 1 << 20;

/// The properties of links of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Rate of each direction, above 0.
    pub rate: BitRate,
    /// Propagation delay, one way.
    pub delay: Nanos,
    /// Probability that a frame is lost, 0 to 1.
    pub loss: f64,
}

/// `hosts` hosts (0 to hosts - 1) around one switch (number `hosts`).
///
/// # Errors
/// No hosts, or more than fit. The error blames a count.
pub fn star(hosts: u32, wire: Wire) -> Result<Network, Conflict> {
    let mut plan = Plan::new(&[("hosts", hosts)], hosts, &[1], &[hosts], u64::from(hosts))?;
    plan.edge(1, hosts, wire);
    Ok(plan.network)
}

/// Two switches with a bottleneck between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dumbbell {
    /// Hosts on the left switch, numbered from 0; at least 1.
    pub left: u32,
    /// Hosts on the right switch, numbered from `left`; at least 1.
    pub right: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// The link between the switches.
    pub bottleneck: Wire,
}

impl Dumbbell {
    /// The network: hosts, left switch, right switch.
    ///
    /// # Errors
    /// A side without hosts, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        let hosts = self.left.saturating_add(self.right);
        let ports = self.left.max(self.right).saturating_add(1);
        let counts = [("left", self.left), ("right", self.right)];
        let mut plan = Plan::new(&counts, hosts, &[2], &[ports], u64::from(hosts) + 1)?;
        for host in 0..hosts {
            plan.link(host, hosts + u32::from(host >= self.left), self.edge);
        }
        plan.link(hosts, hosts + 1, self.bottleneck);
        Ok(plan.network)
    }
}

/// Switches in a row, each linked to the next, with hosts on each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParkingLot {
    /// Switches, at least 2.
    pub switches: u32,
    /// Hosts on each switch, at least 1.
    pub hosts_per_switch: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// Links between switches.
    pub fabric: Wire,
}

impl ParkingLot {
    /// The network: hosts switch by switch, then switches from one end of the row to the other.
    ///
    /// # Errors
    /// Too few, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        if self.switches < 2 {
            return Err(Conflict::new("switches", format!("switches is {}; expected at least 2", self.switches)));
        }
        let hosts = self.switches.saturating_mul(self.hosts_per_switch);
        let links = u64::from(hosts) + u64::from(self.switches) - 1;
        let counts = [("hosts_per_switch", self.hosts_per_switch), ("switches", self.switches)];
        let mut plan = Plan::new(&counts, hosts, &[self.switches], &[self.hosts_per_switch.saturating_add(2)], links)?;
        plan.edge(self.switches, self.hosts_per_switch, self.edge);
        for switch in hosts..hosts + self.switches - 1 {
            plan.link(switch, switch + 1, self.fabric);
        }
        Ok(plan.network)
    }
}

/// Hosts with a link to each of two top-of-rack switches, which share them with no other; all of those are linked to all
/// aggregation switches. HPCC's testbed is two pairs with 16 hosts each under one aggregation switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualHomed {
    /// Pairs of top-of-rack switches, at least 1.
    pub pairs: u32,
    /// Hosts at each pair, at least 1.
    pub hosts_per_pair: u32,
    /// Aggregation switches, at least 1.
    pub aggs: u32,
    /// Each of a host's two links.
    pub edge: Wire,
    /// Links between switches.
    pub fabric: Wire,
}

impl DualHomed {
    /// The network: hosts pair by pair, top-of-rack switches, aggregation switches.
    ///
    /// # Errors
    /// A count of 0, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        let counts = [("pairs", self.pairs), ("hosts_per_pair", self.hosts_per_pair), ("aggs", self.aggs)];
        let (hosts, tors) = (self.pairs.saturating_mul(self.hosts_per_pair), self.pairs.saturating_mul(2));
        let links = 2 * u64::from(hosts) + u64::from(tors) * u64::from(self.aggs);
        let ports = [self.hosts_per_pair.saturating_add(self.aggs), tors];
        let mut plan = Plan::new(&counts, hosts, &[tors, self.aggs], &ports, links)?;
        for pair in 0..self.pairs {
            plan.mesh(pair * self.hosts_per_pair, self.hosts_per_pair, hosts + 2 * pair, 2, self.edge);
        }
        plan.mesh(hosts, tors, hosts + tors, self.aggs, self.fabric);
        Ok(plan.network)
    }
}

/// Every leaf switch is linked to every spine switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSpine {
    /// Leaf switches, at least 1.
    pub leaves: u32,
    /// Spine switches, at least 1.
    pub spines: u32,
    /// Hosts on each leaf, at least 1.
    pub hosts_per_leaf: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// Links between switches.
    pub fabric: Wire,
}

impl LeafSpine {
    /// The network: hosts leaf by leaf, leaves, spines.
    ///
    /// # Errors
    /// A count of 0, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        let counts = [("leaves", self.leaves), ("spines", self.spines), ("hosts_per_leaf", self.hosts_per_leaf)];
        let hosts = self.leaves.saturating_mul(self.hosts_per_leaf);
        let ports = [self.hosts_per_leaf.saturating_add(self.spines), self.leaves];
        let links = u64::from(hosts) + u64::from(self.leaves) * u64::from(self.spines);
        let mut plan = Plan::new(&counts, hosts, &[self.leaves, self.spines], &ports, links)?;
        plan.edge(self.leaves, self.hosts_per_leaf, self.edge);
        plan.mesh(hosts, self.leaves, hosts + self.leaves, self.spines, self.fabric);
        Ok(plan.network)
    }
}

/// Servers of GPUs, each with a NIC of its own: the n-th GPU of each server is linked to the n-th leaf, its rail. All leaves are
/// linked to all spines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rails {
    /// Servers, at least 1.
    pub servers: u32,
    /// GPUs of each, and leaves; at least 1.
    pub rails: u32,
    /// Spine switches, at least 1.
    pub spines: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// Links between switches.
    pub fabric: Wire,
}

impl Rails {
    /// The network: GPUs server by server, leaves, spines.
    ///
    /// # Errors
    /// A count of 0, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        let Rails { servers, rails, spines, edge, fabric } = *self;
        let hosts = servers.saturating_mul(rails);
        let links = u64::from(hosts) + u64::from(rails) * u64::from(spines);
        let counts = [("servers", servers), ("rails", rails), ("spines", spines)];
        let mut plan = Plan::new(&counts, hosts, &[rails, spines], &[servers.saturating_add(spines), rails], links)?;
        (0..hosts).for_each(|host| plan.link(host, hosts + host % rails, edge));
        plan.mesh(hosts, rails, hosts + rails, spines, fabric);
        Ok(plan.network)
    }
}

/// Pods of top-of-rack and aggregation switches under groups of core switches: the i-th aggregation switch
/// of every pod is linked to all cores of the i-th group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatTree {
    /// Pods, at least 1.
    pub pods: u32,
    /// Top-of-rack switches in each pod, at least 1.
    pub tors_per_pod: u32,
    /// Aggregation switches in each pod, and groups of cores; at least 1.
    pub aggs_per_pod: u32,
    /// Core switches in each group, at least 1.
    pub cores_per_agg: u32,
    /// Hosts in each rack, at least 1.
    pub hosts_per_tor: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// Links between switches.
    pub fabric: Wire,
}

impl FatTree {
    /// The network: hosts rack by rack, top-of-rack switches, aggregation switches pod by pod, cores.
    ///
    /// # Errors
    /// A count of 0, or more than fit. The error blames a count.
    pub fn network(&self) -> Result<Network, Conflict> {
        let counts = [
            ("pods", self.pods),
            ("tors_per_pod", self.tors_per_pod),
            ("aggs_per_pod", self.aggs_per_pod),
            ("cores_per_agg", self.cores_per_agg),
            ("hosts_per_tor", self.hosts_per_tor),
        ];
        let tors = self.pods.saturating_mul(self.tors_per_pod);
        let aggs = self.pods.saturating_mul(self.aggs_per_pod);
        let cores = self.aggs_per_pod.saturating_mul(self.cores_per_agg);
        let hosts = tors.saturating_mul(self.hosts_per_tor);
        let ports = [
            self.hosts_per_tor.saturating_add(self.aggs_per_pod),
            self.tors_per_pod.saturating_add(self.cores_per_agg),
            self.pods,
        ];
        let per_agg = u64::from(self.tors_per_pod) + u64::from(self.cores_per_agg);
        let links = u64::from(hosts).saturating_add(u64::from(aggs).saturating_mul(per_agg));
        let mut plan = Plan::new(&counts, hosts, &[tors, aggs, cores], &ports, links)?;
        let (first_agg, first_core) = (hosts + tors, hosts + tors + aggs);
        plan.edge(tors, self.hosts_per_tor, self.edge);
        for pod in 0..self.pods {
            let (tor, agg) = (hosts + pod * self.tors_per_pod, first_agg + pod * self.aggs_per_pod);
            plan.mesh(tor, self.tors_per_pod, agg, self.aggs_per_pod, self.fabric);
        }
        for agg in 0..aggs {
            let group = first_core + agg % self.aggs_per_pod * self.cores_per_agg;
            plan.mesh(first_agg + agg, 1, group, self.cores_per_agg, self.fabric);
        }
        Ok(plan.network)
    }
}

/// A network to which links are added.
struct Plan {
    network: Network,
}

impl Plan {
    /// Hosts and tiers of switches without links, as follow from the counts with their names. Checks the sizes before anything is
    /// allocated.
    fn new(
        counts: &[(&'static str, u32)],
        hosts: u32,
        tiers: &[u32],
        ports: &[u32],
        links: u64,
    ) -> Result<Plan, Conflict> {
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Conflict::new(name, format!("{name} is 0; expected at least 1")));
        }
        let largest = counts.iter().max_by_key(|(_, count)| *count);
        let refuse = |message| Err(Conflict::new(largest.map_or("kind", |(name, _)| name), message));
        let switches: u64 = tiers.iter().map(|&tier| u64::from(tier)).sum();
        let nodes = u64::from(hosts) + switches;
        if nodes > MAX_NODES {
            return refuse(format!("the network has {nodes} nodes or more; expected at most {MAX_NODES}"));
        }
        if let Some(ports) = ports.iter().find(|&&ports| ports > MAX_PORTS) {
            return refuse(format!("a switch has {ports} links; expected at most {MAX_PORTS}"));
        }
        if links > MAX_LINKS {
            return refuse(format!("the network has {links} links; expected at most {MAX_LINKS}"));
        }
        let mut kinds = vec![NodeKind::Host; hosts as usize];
        kinds.resize(nodes as usize, NodeKind::Switch);
        Ok(Plan { network: Network { nodes: kinds, links: Vec::with_capacity(links as usize) } })
    }

    fn link(&mut self, a: u32, b: u32, wire: Wire) {
        self.network.links.push(Link { a, b, rate: wire.rate, delay: wire.delay, loss: wire.loss });
    }

    /// Links `each` hosts to each of the first `switches` switches, which together take all hosts.
    fn edge(&mut self, switches: u32, each: u32, wire: Wire) {
        let hosts = switches * each;
        for host in 0..hosts {
            self.link(host, hosts + host / each, wire);
        }
    }

    /// Links each of one run of nodes to each of another.
    fn mesh(&mut self, lower: u32, lowers: u32, upper: u32, uppers: u32, wire: Wire) {
        for a in lower..lower + lowers {
            for b in upper..upper + uppers {
                self.link(a, b, wire);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn wire(gbps: u64) -> Wire {
        Wire { rate: BitRate::gbps(gbps), delay: Nanos(1000), loss: 0.0 }
    }

    fn text(network: &Network) -> String {
        let switches: Vec<String> = network.switches().map(|id| id.to_string()).collect();
        let mut text = format!("{} {} {}\n", network.nodes.len(), switches.len(), network.links.len());
        text += &(switches.join(" ") + "\n");
        for link in &network.links {
            text += &format!("{} {} {} {}ns {:.6}\n", link.a, link.b, link.rate, link.delay.0, link.loss);
        }
        text
    }

    fn fnv1a(text: &str) -> u64 {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    #[test]
    fn a_row_of_switches_and_hosts_with_two_links() {
        let ends = |network: &Network| network.links.iter().map(|link| (link.a, link.b)).collect::<Vec<_>>();
        let row = ParkingLot { switches: 3, hosts_per_switch: 1, edge: wire(100), fabric: wire(400) };
        assert_eq!(ends(&row.network().expect("fits")), [(0, 3), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert!(ParkingLot { switches: 1, ..row }.network().is_err());
        let pod = DualHomed { pairs: 2, hosts_per_pair: 1, aggs: 1, edge: wire(25), fabric: wire(100) };
        let network = pod.network().expect("fits");
        assert_eq!(ends(&network), [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (3, 6), (4, 6), (5, 6)]);
        assert_eq!((network.hosts().count(), network.links[4].rate), (2, BitRate::gbps(100)));
        assert!(DualHomed { pairs: u32::MAX, ..pod }.network().is_err());
    }

    #[test]
    fn gpus_of_a_server_are_on_different_rails() {
        let rails = Rails { servers: 2, rails: 3, spines: 1, edge: wire(400), fabric: wire(800) };
        let ends: Vec<_> = rails.network().expect("fits").links.iter().map(|link| (link.a, link.b)).collect();
        assert_eq!(ends, [(0, 6), (1, 7), (2, 8), (3, 6), (4, 7), (5, 8), (6, 9), (7, 9), (8, 9)]);
    }

    #[test]
    fn fat_tree_equals_the_reference_file_link_for_link() {
        let tree = FatTree {
            pods: 5,
            tors_per_pod: 4,
            aggs_per_pod: 4,
            cores_per_agg: 4,
            hosts_per_tor: 16,
            edge: wire(100),
            fabric: wire(400),
        };
        let network = tree.network().expect("fits");
        assert_eq!((network.hosts().count(), network.switches().count(), network.links.len()), (320, 56, 480));
        // FNV-1a of the reference's fat.txt without its empty last line.
        assert_eq!(fnv1a(&text(&network)), 0x1920_b95c_acd8_10e8);
    }

    #[test]
    fn hosts_come_first_then_switches_from_the_edge_on() {
        let links = |network: Result<Network, Conflict>| {
            let ends = |link: &Link| (link.a, link.b, link.rate.0 / 1_000_000_000);
            network.expect("fits").links.iter().map(ends).collect::<Vec<_>>()
        };
        let fabric = LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 2, edge: wire(100), fabric: wire(400) };
        let edges = [(0, 4, 100), (1, 4, 100), (2, 5, 100), (3, 5, 100)];
        let spines = [(4, 6, 400), (4, 7, 400), (5, 6, 400), (5, 7, 400)];
        assert_eq!(links(fabric.network()), [edges, spines].concat());
        assert_eq!(links(star(2, wire(25))), [(0, 2, 25), (1, 2, 25)]);
        let dumbbell = Dumbbell { left: 1, right: 2, edge: wire(25), bottleneck: wire(50) };
        assert_eq!(links(dumbbell.network()), [(0, 3, 25), (1, 4, 25), (2, 4, 25), (3, 4, 50)]);
    }

    #[test]
    fn sizes_are_checked_before_anything_is_built() {
        assert_eq!(star(0, wire(25)).expect_err("none").message, "hosts is 0; expected at least 1");
        assert!(star(u32::MAX, wire(25)).expect_err("many").message.contains("expected at most 131072"));
        let huge = FatTree {
            pods: u32::MAX,
            tors_per_pod: u32::MAX,
            aggs_per_pod: u32::MAX,
            cores_per_agg: u32::MAX,
            hosts_per_tor: u32::MAX,
            edge: wire(25),
            fabric: wire(25),
        };
        assert!(huge.network().expect_err("huge").message.contains("expected at most 131072"));
        let dense = LeafSpine { leaves: 4000, spines: 4000, hosts_per_leaf: 1, edge: wire(25), fabric: wire(25) };
        assert!(dense.network().expect_err("dense").message.contains("links"));
    }
}
