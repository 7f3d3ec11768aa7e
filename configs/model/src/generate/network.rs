// SPDX-License-Identifier: GPL-2.0-only
//! Regular networks. Hosts come first in the numbering, then switches from the edge to the core; links are
//! listed from the edge to the core as well, which fixes the port numbers.

use crate::scenario::{MAX_NODES, MAX_PORTS};
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};

/// Keeps a slip of the keyboard from filling the memory.
const MAX_LINKS: usize = 1 << 20;

/// The links of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Rate of each direction, above 0.
    pub rate: BitRate,
    /// Propagation delay, one way.
    pub delay: Nanos,
    /// Probability that a frame is lost, 0 to 1.
    pub loss: f64,
    /// Links side by side between the same two nodes.
    pub count: u32,
}

/// A tier of switches, and the links from the tier below it, or from the hosts.
///
/// The nodes below are in groups of `below` times `planes`, and take part in the planes in turn. All of one group and plane are linked
/// to the same `above` switches, and to no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tier {
    /// How many nodes below each switch is linked to; at least 1.
    pub below: u32,
    /// Planes, or rails, that go on apart; at least 1.
    pub planes: u32,
    /// How many switches each node below is linked to; at least 1.
    pub above: u32,
    /// The links.
    pub wire: Wire,
}

/// Hosts below tiers of switches, which are the last tier's if its switches have no group beside them: a fat tree of any kind.
///
/// # Errors
/// More than fit.
pub fn tree(hosts: u64, tiers: &[Tier]) -> Result<Network, String> {
    let sizes = tiers.iter().scan(hosts, |size, tier| {
        let groups = *size / (u64::from(tier.below).saturating_mul(tier.planes.into())).max(1);
        *size = groups.saturating_mul(u64::from(tier.planes) * u64::from(tier.above));
        Some(*size)
    });
    let mut plan = Plan::new(hosts, sizes.fold(0, u64::saturating_add))?;
    let (mut first, mut size) = (0, hosts as u32);
    for &Tier { below, planes, above, wire } in tiers {
        for node in 0..size {
            let to = first + size + (node / (below * planes) * planes + node % planes) * above;
            (to..to + above).try_for_each(|to| plan.link(first + node, to, wire))?;
        }
        (first, size) = (first + size, size / (below * planes) * planes * above);
    }
    plan.finish()
}

/// `hosts` hosts (0 to hosts - 1) around one switch (number `hosts`).
///
/// # Errors
/// More than fit.
pub fn star(hosts: u32, wire: Wire) -> Result<Network, String> {
    tree(hosts.into(), &[Tier { below: hosts, planes: 1, above: 1, wire }])
}

/// Two switches with a bottleneck between them: the first has the `left` hosts with the lower numbers, the second the `right` others.
///
/// # Errors
/// More than fit.
pub fn dumbbell((left, right): (u32, u32), edge: Wire, bottleneck: Wire) -> Result<Network, String> {
    let hosts = u64::from(left) + u64::from(right);
    let mut plan = Plan::new(hosts, 2)?;
    let hosts = hosts as u32;
    (0..hosts).try_for_each(|host| plan.link(host, hosts + u32::from(host >= left), edge))?;
    plan.link(hosts, hosts + 1, bottleneck)?;
    plan.finish()
}

/// Switches in a row, a rectangle or a box of these sizes, each with so many hosts and linked to its neighbours; if it `wraps`, the last
/// of each row to the first, too: a torus. The first size is of the numbers that follow each other.
///
/// # Errors
/// More than fit.
pub fn grid(sizes: &[u32], hosts: u32, wraps: bool, (edge, fabric): (Wire, Wire)) -> Result<Network, String> {
    let switches = sizes.iter().fold(1u64, |product, &size| product.saturating_mul(size.into()));
    let mut plan = Plan::below(switches, hosts, edge)?;
    for switch in 0..switches as u32 {
        let mut step = 1;
        for &size in sizes {
            let (place, next) = (switch / step % size, step * size);
            let here = plan.hosts + switch;
            if place + 1 < size {
                plan.link(here, here + step, fabric)?;
            } else if wraps && size > 2 {
                plan.link(here, here + step - next, fabric)?;
            }
            step = next;
        }
    }
    plan.finish()
}

/// Groups of switches that are all linked to each other, with links from each group to each other one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dragonfly {
    /// Groups, at least 2.
    pub groups: u32,
    /// Switches of each group.
    pub switches: u32,
    /// Hosts at each switch.
    pub hosts: u32,
    /// Links of each switch to other groups. Those of a group are as many to each other group.
    pub global_links: u32,
    /// Links of hosts.
    pub edge: Wire,
    /// Links within a group.
    pub fabric: Wire,
    /// Links between groups.
    pub global: Wire,
}

impl Dragonfly {
    fn links_of_group(&self) -> u64 {
        u64::from(self.switches) * u64::from(self.global_links)
    }

    /// Checks the number of groups.
    ///
    /// # Errors
    /// Links that cannot be the same for all.
    pub fn check_groups(&self) -> Result<(), String> {
        let (others, of_group) = (u64::from(self.groups) - 1, self.links_of_group());
        if others > 0 && of_group.is_multiple_of(others) {
            return Ok(());
        }
        Err(format!(
            "{of_group} links of a group to {others} others; expected a multiple of them, such as one to each of {of_group}"
        ))
    }

    /// The network, whose number of groups is [checked](Dragonfly::check_groups): hosts switch by switch, then switches group by
    /// group.
    ///
    /// # Errors
    /// More links than fit.
    pub fn network(&self) -> Result<Network, String> {
        let &Dragonfly { groups, switches, hosts, global_links, edge, fabric, global } = self;
        let of_group = self.links_of_group();
        if of_group > MAX_LINKS as u64 {
            return Err(too_many());
        }
        let mut plan = Plan::below(u64::from(groups) * u64::from(switches), hosts, edge)?;
        let first = |group: u32| hosts * groups * switches + group * switches;
        for group in 0..groups {
            for a in 0..switches {
                (a + 1..switches).try_for_each(|b| plan.link(first(group) + a, first(group) + b, fabric))?;
            }
        }
        // A group's k-th link goes k + 1 groups on, round and round; to come back it takes as many as are left.
        let others = groups - 1;
        for group in 0..groups {
            for k in (0..of_group as u32).filter(|k| group + k % others + 1 < groups) {
                let (round, on) = (k / others * others, k % others + 1);
                let back = round + others - on;
                plan.link(first(group) + k / global_links, first(group + on) + back / global_links, global)?;
            }
        }
        plan.finish()
    }
}

fn too_many() -> String {
    format!("the network has more than {MAX_LINKS} links; expected at most that")
}

/// A network to which links are added.
struct Plan {
    network: Network,
    hosts: u32,
}

impl Plan {
    /// Hosts and switches without links. Checks their number before anything is allocated.
    fn new(hosts: u64, switches: u64) -> Result<Plan, String> {
        let nodes = hosts.saturating_add(switches);
        if nodes > MAX_NODES {
            return Err(format!("the network has {nodes} nodes or more; expected at most {MAX_NODES}"));
        }
        let mut kinds = vec![NodeKind::Host; hosts as usize];
        kinds.resize(nodes as usize, NodeKind::Switch);
        Ok(Plan { network: Network { nodes: kinds, links: Vec::new() }, hosts: hosts as u32 })
    }

    /// Switches with so many hosts at each.
    fn below(switches: u64, each: u32, edge: Wire) -> Result<Plan, String> {
        let mut plan = Plan::new(switches.saturating_mul(each.into()), switches)?;
        (0..plan.hosts).try_for_each(|host| plan.link(host, plan.hosts + host / each, edge))?;
        Ok(plan)
    }

    fn link(&mut self, a: u32, b: u32, wire: Wire) -> Result<(), String> {
        let links = &mut self.network.links;
        if wire.count as usize > MAX_LINKS - links.len() {
            return Err(too_many());
        }
        let link = Link { a, b, rate: wire.rate, delay: wire.delay, loss: wire.loss };
        links.extend((0..wire.count).map(|_| link));
        Ok(())
    }

    fn finish(self) -> Result<Network, String> {
        let mut ports = vec![0; self.network.nodes.len()];
        self.network.links.iter().flat_map(|link| [link.a, link.b]).for_each(|node| ports[node as usize] += 1);
        match ports.into_iter().max() {
            Some(most) if most > MAX_PORTS => Err(format!("a switch has {most} links; expected at most {MAX_PORTS}")),
            _ => Ok(self.network),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn wire(gbps: u64) -> Wire {
        Wire { rate: BitRate::gbps(gbps), delay: Nanos(1000), loss: 0.0, count: 1 }
    }

    const fn tier(below: u32, planes: u32, above: u32) -> Tier {
        Tier { below, planes, above, wire: wire(400) }
    }

    fn ends(network: Result<Network, String>) -> Vec<(u32, u32)> {
        network.expect("fits").links.iter().map(|link| (link.a, link.b)).collect()
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
    fn fat_tree_equals_the_reference_file_link_for_link() {
        let tiers = [Tier { wire: wire(100), ..tier(16, 1, 1) }, tier(4, 1, 4), tier(5, 4, 4)];
        let network = tree(320, &tiers).expect("fits");
        assert_eq!((network.hosts().count(), network.switches().count(), network.links.len()), (320, 56, 480));
        // FNV-1a of the 2019 simulator's fat.txt without its empty last line.
        assert_eq!(fnv1a(&text(&network)), 0x1920_b95c_acd8_10e8);
    }

    #[test]
    fn hosts_come_first_then_switches_from_the_edge_on() {
        let edges = [(0, 4), (1, 4), (2, 5), (3, 5)];
        let spines = [(4, 6), (4, 7), (5, 6), (5, 7)];
        assert_eq!(ends(tree(4, &[tier(2, 1, 1), tier(2, 1, 2)])), [edges, spines].concat());
        assert_eq!(ends(star(2, wire(25))), [(0, 2), (1, 2)]);
        let network = dumbbell((1, 2), wire(25), wire(50));
        assert_eq!(network.as_ref().map(|network| network.links[3].rate), Ok(BitRate::gbps(50)));
        assert_eq!(ends(network), [(0, 3), (1, 4), (2, 4), (3, 4)]);
    }

    #[test]
    fn hosts_have_a_link_to_each_of_a_pair_and_gpus_of_a_server_a_rail_each() {
        let pairs = ends(tree(2, &[tier(1, 1, 2), tier(4, 1, 1)]));
        assert_eq!(pairs, [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (3, 6), (4, 6), (5, 6)]);
        let rails = ends(tree(6, &[tier(2, 3, 1), tier(3, 1, 1)]));
        assert_eq!(rails, [(0, 6), (1, 7), (2, 8), (3, 6), (4, 7), (5, 8), (6, 9), (7, 9), (8, 9)]);
    }

    /// Two segments of a server with two rails: switches 4 to 11 are of planes 0 and 1 in turn, 12 and 13 above one plane each.
    #[test]
    fn planes_meet_only_at_hosts() {
        let links = ends(tree(4, &[tier(1, 2, 2), tier(4, 2, 1)]));
        assert_eq!(links[..4], [(0, 4), (0, 5), (1, 6), (1, 7)]);
        assert_eq!(links[8..], (4..12).map(|tor| (tor, 12 + tor % 2)).collect::<Vec<_>>());
    }

    #[test]
    fn links_between_the_same_nodes_stand_side_by_side() {
        let bundle = Tier { wire: Wire { count: 2, ..wire(100) }, ..tier(2, 1, 1) };
        assert_eq!(ends(tree(2, &[tier(1, 1, 1), bundle])), [(0, 2), (1, 3), (2, 4), (2, 4), (3, 4), (3, 4)]);
    }

    #[test]
    fn rows_end_and_tori_do_not() {
        let switches = |sizes: &[u32], wraps| {
            let hosts = sizes.iter().product::<u32>();
            let links = ends(grid(sizes, 1, wraps, (wire(100), wire(400))));
            links[hosts as usize..].iter().map(|&(a, b)| (a - hosts, b - hosts)).collect::<Vec<_>>()
        };
        assert_eq!(switches(&[3], false), [(0, 1), (1, 2)]);
        assert_eq!(switches(&[3], true), [(0, 1), (1, 2), (2, 0)]);
        // Two switches are neighbours once.
        let torus = [(0, 1), (0, 3), (1, 2), (1, 4), (2, 0), (2, 5), (3, 4), (4, 5), (5, 3)];
        assert_eq!(switches(&[3, 2], true), torus);
        assert_eq!(switches(&[4, 4, 4], true).len(), 3 * 64);
    }

    /// Of groups of four switches with two links each to others, nine have a link to each other group, five have two, four cannot be
    /// alike.
    #[test]
    fn groups_of_a_dragonfly_are_linked_to_each_other_alike() {
        let dragonfly = |groups| {
            let (edge, fabric, global) = (wire(100), wire(100), wire(200));
            Dragonfly { groups, switches: 4, hosts: 2, global_links: 2, edge, fabric, global }
        };
        for (groups, each) in [(9, 1), (5, 2), (2, 8)] {
            let network = dragonfly(groups).network().expect("fits");
            assert_eq!(dragonfly(groups).check_groups(), Ok(()));
            let group = |node: u32| (node - groups * 8) / 4;
            let mut between = vec![0; (groups * groups) as usize];
            for link in network.links.iter().filter(|link| link.rate == BitRate::gbps(200)) {
                between[(group(link.a) * groups + group(link.b)) as usize] += 1;
            }
            for (a, b) in (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b))) {
                assert_eq!(between[(a * groups + b) as usize], each, "{a} {b} of {groups}");
            }
            // Two hosts, three neighbours, two links to others.
            assert!(network.ports()[(groups * 8) as usize..].iter().all(|ports| ports.len() == 7));
        }
        assert!(dragonfly(4).check_groups().expect_err("8 over 3").contains("8 links of a group to 3 others"));
    }

    #[test]
    fn sizes_are_checked_before_anything_is_built() {
        assert!(star(u32::MAX, wire(25)).expect_err("many").contains("expected at most 131072"));
        let huge = u32::MAX;
        assert!(tree(u64::MAX, &[tier(huge, huge, huge)]).expect_err("huge").contains("expected at most 131072"));
        assert!(tree(4_000, &[tier(1, 1, 1), tier(4_000, 1, 4_000)]).expect_err("dense").contains("links"));
        assert!(grid(&[huge; 3], huge, true, (wire(25), wire(25))).expect_err("huge").contains("131072"));
        let bundle = Wire { count: huge, ..wire(25) };
        assert!(dumbbell((1, 1), wire(25), bundle).expect_err("many").contains("more than 1048576 links"));
        let bundle = Wire { count: 65_535, ..wire(25) };
        assert!(dumbbell((1, 1), wire(25), bundle).expect_err("many").contains("a switch has 65536 links"));
    }
}
