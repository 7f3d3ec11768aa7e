// SPDX-License-Identifier: GPL-2.0-only
//! Fat trees of htsim, of two or three tiers of switches. A tier's links are those below its switches.
//!
//! Hosts have the lowest numbers, then the switches of each tier. A link takes its own latency and half of that of each switch at its
//! ends, so that each path takes what it takes there.

use crate::reference::TopologyFile;
use hpcc_core::topology::Link;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::place::Place;
use hpcc_model::scenario::NetworkBuilder;
use std::path::Path;

/// What a file says of a tier.
#[derive(Clone, Debug, Default)]
struct Tier {
    place: Option<Place>,
    rate: Option<BitRate>,
    latency: Option<Nanos>,
    switch_latency: Nanos,
    down: u64,
    up: u64,
    bundle: u64,
}

/// What it says of the whole.
#[derive(Clone, Debug, Default)]
struct Tree {
    nodes: u64,
    pod: u64,
    tiers: Vec<Tier>,
    /// On what has no effect.
    note: Option<String>,
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<TopologyFile, InputError> {
    let place = Place::file(path);
    let tree = parse(&place, &hpcc_model::text::read(path)?)?;
    let counts = tree.counts().map_err(|message| place.error(message))?;
    let total = counts.iter().fold(tree.nodes, |sum, count| sum.saturating_add(*count));
    let mut builder = NetworkBuilder::new(total, &place)?;
    for switch in tree.nodes..total {
        builder.switch(switch, &place)?;
    }
    let mut first = tree.nodes;
    let mut below = 0;
    for (tier, (of, &count)) in tree.tiers.iter().zip(&counts).enumerate() {
        let place = of.place.clone().unwrap_or_else(|| place.clone());
        let under = if tier == 0 { Nanos(0) } else { tree.tiers[tier - 1].switch_latency };
        let latency = of.latency.unwrap_or_default().0 + (of.switch_latency.0 + under.0).div_ceil(2);
        for switch in 0..count {
            for other in tree.below(tier, switch, &counts) {
                for _ in 0..of.bundle {
                    let (a, b) = (builder.node(below + other, &place)?, builder.node(first + switch, &place)?);
                    let rate = of.rate.unwrap_or(BitRate(0));
                    builder.link(Link { a, b, rate, delay: Nanos(latency), loss: 0.0 }, place.clone())?;
                }
            }
        }
        (below, first) = (first, first + count);
    }
    let (network, links) = builder.finish();
    Ok(TopologyFile::new(network, links, tree.note))
}

impl Tree {
    /// How many switches each tier has.
    fn counts(&self) -> Result<Vec<u64>, String> {
        let divide = |count: u64, by: u64, what: &str| match by {
            0 => Err(format!("a number is 0, by which {what} are divided; expected more")),
            _ if count == 0 || !count.is_multiple_of(by) => {
                Err(format!("{count} {what} cannot be divided by {by}; expected a multiple"))
            }
            _ => Ok(count / by),
        };
        let times = |one: u64, other: u64| one.checked_mul(other).ok_or("there are too many links");
        let (tors, uplinks) = (&self.tiers[0], |tier: usize| self.tiers[tier].up);
        let racks = divide(self.nodes, tors.down, "nodes")?;
        // A rack's uplinks end at different switches, but for those of a bundle.
        let aggs = divide(uplinks(0), self.tiers[1].bundle, "uplinks of tier 0")?;
        let Some(core) = self.tiers.get(2) else {
            if times(self.tiers[1].down, aggs)? != times(racks, uplinks(0))? {
                return Err(format!(
                    "{racks} racks of {} uplinks do not fit {aggs} switches of {} ports",
                    uplinks(0),
                    self.tiers[1].down
                ));
            }
            return Ok(vec![racks, aggs]);
        };
        let pods = divide(self.nodes, self.pod, "nodes")?;
        let racks_of_pod = divide(self.pod, tors.down, "nodes of a pod")?;
        if times(self.tiers[1].down, aggs)? != times(racks_of_pod, uplinks(0))? {
            return Err(format!(
                "{racks_of_pod} racks of a pod of {} uplinks do not fit {aggs} switches of {} ports",
                uplinks(0),
                self.tiers[1].down
            ));
        }
        let cores_of_agg = divide(uplinks(1), core.bundle, "uplinks of tier 1")?;
        let cores = times(aggs, cores_of_agg)?;
        if core.down != times(pods, core.bundle)? {
            return Err(format!("{pods} pods do not fit cores of {} ports in bundles of {}", core.down, core.bundle));
        }
        Ok(vec![racks, times(pods, aggs)?, cores])
    }

    /// What a switch of a tier is linked to in the tier below, by number in that tier.
    fn below(&self, tier: usize, switch: u64, counts: &[u64]) -> Vec<u64> {
        let is_flat = counts.len() == 2;
        let pods = if is_flat { 1 } else { self.nodes / self.pod };
        match tier {
            0 => (switch * self.tiers[0].down..(switch + 1) * self.tiers[0].down).collect(),
            1 => {
                let (racks, pod) = (counts[0] / pods, switch / (counts[1] / pods));
                (pod * racks..(pod + 1) * racks).collect()
            }
            // The same switch of each pod.
            _ => {
                let aggs = counts[1] / pods;
                (0..pods).map(|pod| pod * aggs + switch % aggs).collect()
            }
        }
    }
}

fn parse(place: &Place, text: &str) -> Result<Tree, InputError> {
    const KEYS: [&str; 13] = [
        "nodes",
        "tiers",
        "podsize",
        "tier",
        "downlink_speed_gbps",
        "radix_down",
        "radix_up",
        "downlink_latency_ns",
        "switch_latency_ns",
        "bundle",
        "oversubscribed",
        "queue_up",
        "queue_down",
    ];
    let mut tree = Tree::default();
    // The tier that keys belong to.
    let mut current = None;
    for (line, number) in text.lines().zip(1..) {
        let place = place.at(number);
        let words: Vec<&str> = line.split_whitespace().collect();
        let (key, value) = match *words {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [key, value] => (key.to_lowercase(), value),
            _ => return Err(place.error(format!("\"{}\" is no setting; expected a key and a number", line.trim()))),
        };
        let whole = || {
            let number = value.parse::<u64>().ok().filter(|number| *number <= u32::MAX.into());
            number
                .ok_or_else(|| place.error(format!("{key} is \"{value}\"; expected a whole number up to {}", u32::MAX)))
        };
        let tier = current.and_then(|tier: usize| tree.tiers.get_mut(tier));
        match (key.as_str(), tier) {
            ("nodes", _) => tree.nodes = whole()?,
            ("podsize", _) => tree.pod = whole()?,
            ("tiers", _) => {
                let count = whole()?;
                if !(2..=3).contains(&count) {
                    return Err(place.error(format!("there are {count} tiers; expected 2 or 3")));
                }
                tree.tiers = vec![Tier { bundle: 1, ..Tier::default() }; count as usize];
            }
            ("tier", _) => {
                let tier = whole()? as usize;
                let known = tree.tiers.len();
                let Some(of) = tree.tiers.get_mut(tier) else {
                    return Err(place
                        .error(format!("tier {tier} is none of {known}; expected Tiers before, and lower numbers")));
                };
                of.place = Some(place.clone());
                current = Some(tier);
            }
            ("downlink_speed_gbps", Some(tier)) => {
                let rate = value.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate < 1e9);
                let rate =
                    rate.ok_or_else(|| place.error(format!("{key} is \"{value}\"; expected Gb/s, more than 0")))?;
                tier.rate = Some(BitRate((rate * 1e9).round() as u64));
            }
            ("radix_down", Some(tier)) => tier.down = whole()?,
            ("radix_up", Some(tier)) => tier.up = whole()?,
            ("bundle", Some(tier)) => tier.bundle = whole()?,
            ("downlink_latency_ns", Some(tier)) => tier.latency = Some(Nanos(whole()?)),
            ("switch_latency_ns", Some(tier)) => tier.switch_latency = Nanos(whole()?),
            // It follows from the numbers of ports.
            ("oversubscribed", Some(_)) => _ = whole()?,
            ("queue_up" | "queue_down", Some(_)) => {
                let note = || place.error(format!("{key} is not read: see switch.buffer")).to_string();
                tree.note.get_or_insert_with(note);
            }
            (known, None) if KEYS.contains(&known) => {
                return Err(place.error(format!("{key} belongs to a tier; expected a line \"Tier N\" before")));
            }
            _ => return Err(place.error(format!("unknown key {key}{}", suggestion(&key, &KEYS)))),
        }
    }
    if tree.tiers.is_empty() {
        return Err(place.error("Tiers is missing; expected 2 or 3"));
    }
    for (tier, of) in tree.tiers.iter().enumerate() {
        let missing = [
            ("a line Tier N for it", of.place.is_none()),
            ("Downlink_speed_Gbps", of.rate.is_none()),
            ("Downlink_Latency_ns", of.latency.is_none()),
        ];
        if let Some((what, _)) = missing.into_iter().find(|(_, is_missing)| *is_missing) {
            return Err(place.error(format!("tier {tier} has no {what}; expected it")));
        }
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::topology::Network;

    const SMALL: &str = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n\
        Downlink_Latency_ns 1000\nSwitch_Latency_ns 300\nTier 1\ndownlink_speed_gbps 200\nRadix_Down 2\nRadix_Up 4\n\
        Downlink_Latency_ns 500\nSwitch_Latency_ns 100\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
        Downlink_Latency_ns 2000\nBundle 2\n";

    fn load(text: &str) -> Result<TopologyFile, String> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.topo");
        std::fs::write(&path, text).expect("written");
        let prefix = format!("{}/", folder.path().display());
        read(&path).map_err(|error| error.to_string().replace(&prefix, ""))
    }

    /// Links as ends, Gb/s and nanoseconds, from this one on.
    fn links(network: &Network, first: usize, count: usize) -> Vec<(u32, u32, u64, u64)> {
        let links = &network.links[first..first + count];
        links.iter().map(|link| (link.a, link.b, link.rate.0 / 1_000_000_000, link.delay.0)).collect()
    }

    #[test]
    fn a_tree_of_three_tiers_with_bundles() {
        let network = load(SMALL).expect("a tree").network;
        // 8 hosts, 4 racks, 2 switches in each of 2 pods, 4 cores.
        assert_eq!((network.nodes.len(), network.links.len()), (8 + 4 + 4 + 4, 8 + 8 + 16));
        assert_eq!(links(&network, 0, 3), [(0, 8, 200, 1150), (1, 8, 200, 1150), (2, 9, 200, 1150)]);
        assert_eq!(
            links(&network, 8, 5),
            [(8, 12, 200, 700), (9, 12, 200, 700), (8, 13, 200, 700), (9, 13, 200, 700), (10, 14, 200, 700)]
        );
        assert_eq!(
            links(&network, 16, 6),
            [
                (12, 16, 100, 2050),
                (12, 16, 100, 2050),
                (14, 16, 100, 2050),
                (14, 16, 100, 2050),
                (13, 17, 100, 2050),
                (13, 17, 100, 2050)
            ]
        );
    }

    #[test]
    fn a_tree_of_two_tiers() {
        let text = "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\n\
            Downlink_Latency_ns 1000\nOversubscribed 4\nQueue_Up 5\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
        let file = load(text).expect("a tree");
        assert_eq!((file.network.nodes.len(), file.network.links.len()), (32 + 4 + 2, 32 + 8));
        assert_eq!(links(&file.network, 31, 3), [(31, 35, 100, 1000), (32, 36, 100, 1000), (33, 36, 100, 1000)]);
        assert!(file.note.expect("a note").ends_with("a.topo:10: queue_up is not read: see switch.buffer"));
    }

    #[test]
    fn bad_trees_are_refused() {
        let with = |from: &str, to: &str| SMALL.replacen(from, to, 1);
        for (text, expected) in [
            (with("Nodes 8", "Nodes 9"), "a.topo: 9 nodes cannot be divided by 2"),
            (with("Podsize 4", "Podsize 0"), "a.topo: a number is 0, by which nodes are divided"),
            (
                with("Radix_Down 2\nRadix_Up 4", "Radix_Down 3\nRadix_Up 4"),
                "a.topo: 2 racks of a pod of 2 uplinks do not fit 2 switches of 3 ports",
            ),
            (with("Radix_Up 4", "Radix_Up 3"), "a.topo: 3 uplinks of tier 1 cannot be divided by 2"),
            (with("Radix_Down 4", "Radix_Down 6"), "a.topo: 2 pods do not fit cores of 6 ports in bundles of 2"),
            (with("Tiers 3", "Tiers 4"), "a.topo:2: there are 4 tiers; expected 2 or 3"),
            (with("Tier 1", "Tier 3"), "a.topo:10: tier 3 is none of 3"),
            (with("Tier 2\nDownlink_speed_Gbps 100", "Tier 2"), "a.topo: tier 2 has no Downlink_speed_Gbps"),
            (with("Radix_Up 2", "Radix_Op 2"), "a.topo:7: unknown key radix_op; did you mean radix_up?"),
            (with("Tier 0\n", ""), "a.topo:4: downlink_speed_gbps belongs to a tier"),
            (with("Bundle 2", "Bundle x"), "a.topo:20: bundle is \"x\"; expected a whole number"),
            (with("Bundle 2", "Bundle"), "a.topo:20: \"Bundle\" is no setting"),
            ("Nodes 4\n".into(), "a.topo: Tiers is missing"),
            (
                SMALL.replace("Radix_Up 4", "Radix_Up 4294967294"),
                "a.topo: the network has 4294967310 nodes; expected at most",
            ),
        ] {
            let told = load(&text).map(|_| ()).expect_err(expected);
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
