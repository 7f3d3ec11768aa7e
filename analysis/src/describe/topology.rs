// SPDX-License-Identifier: GPL-2.0-only
//! `topology`: what a network consists of, and the network in the 2019 simulator's format.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use hpcc_core::topology::Network;
use hpcc_core::transport::UnloadedFlow;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_formats::reference;

use super::max_flow::Capacities;
use super::paths::{Paths, equal_paths};
use super::tiers::tiers;
use super::{Content, lines, picture};
use crate::control;
use crate::human;
use crate::save;
use crate::settings;

/// Payload of a full packet where no scenario says another one, in bytes.
const PAYLOAD: u32 = 1_000;

/// Which network, and what to do with it.
#[derive(clap::Args)]
pub struct Options {
    /// A scenario, or a config.txt or topology file of the 2019 simulator.
    file: PathBuf,
    /// Overrides a key of the scenario; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings::assignments))]
    set: Vec<String>,
    /// Writes the network in the 2019 simulator's format, too.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Draws the network by tiers, too. Nodes with the same links are one box, links between two boxes one line with their number.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Describes a network, and writes it.
///
/// # Errors
/// If the file makes no sense, or the other one cannot be written.
pub fn topology(options: &Options) -> Result<()> {
    let (network, packet) = read(&options.file, &options.set)?;
    if let Some(file) = &options.write {
        save::create(file, |out| reference::write_network(&network, out))?;
    }
    if let Some(file) = &options.svg {
        save::create(file, |out| out.write_all(picture::svg(&network).as_bytes()))?;
    }
    human::print(&describe(&network, &packet))?;
    let mut written = options.write.iter().chain(&options.svg);
    written.try_for_each(|file| human::tell(&format!("\n wrote {}\n", file.display())))
}

fn read(file: &Path, set: &[String]) -> Result<(Network, Packet)> {
    match Content::of(file)? {
        Content::Scenario => {
            let scenario = hpcc_formats::load_network(file, set, control::defaults())?;
            let flow = scenario.settings.unloaded_flow();
            let packet = Packet { payload: scenario.transport().mtu, flow: Some(flow) };
            Ok((scenario.network, packet))
        }
        Content::Numbers(_) if !set.is_empty() => {
            bail!("{}: --set belongs to scenarios, and this is a topology", file.display())
        }
        Content::Numbers(_) => Ok((reference::network(file)?, Packet { payload: PAYLOAD, flow: None })),
    }
}

/// A full packet, whose way there and back is the base round-trip time.
struct Packet {
    /// Its payload in bytes.
    payload: u32,
    /// With headers, telemetry and acknowledgement, as the scenario has them; `None`: nothing but the payload counts.
    flow: Option<UnloadedFlow>,
}

fn describe(network: &Network, packet: &Packet) -> String {
    let hosts: Vec<u32> = network.hosts().collect();
    let tiers = tiers(network);
    let mut facts = vec![("hosts", hosts_words(network, &hosts)), ("switches", switches_words(network, &tiers))];
    facts.extend(links_words(network).into_iter().map(|words| ("links", words)));
    facts.extend(tiers_words(network, &tiers).into_iter().map(|words| ("tier", words)));
    let paths = Paths::new(network, packet.payload, packet.flow.as_ref());
    facts.push(("paths", paths_words(&paths, hosts.len())));
    if let Some((links, src, dst)) = paths.farthest {
        let equal = human::counted(equal_paths(network, src, dst), "path");
        facts.push((
            "diameter",
            format!("{links} links, such as from host {src} to host {dst}: {equal} of that length"),
        ));
    }
    if let Some((least, most)) = paths.rtt {
        let mean = Nanos((paths.rtt_sum / paths.count() as f64) as u64);
        let frames = if packet.flow.is_some() { "as runs have it" } else { "without headers" };
        let payload = packet.payload;
        facts.push(("base RTT", format!("{least} to {most}, mean {mean}, with packets of {payload} bytes, {frames}")));
    }
    facts.extend(bisection_words(network, &hosts).map(|words| ("bisection", words)));
    lines(&facts)
}

fn hosts_words(network: &Network, hosts: &[u32]) -> String {
    let ports = network.ports();
    let mut by_links: BTreeMap<usize, u64> = BTreeMap::new();
    hosts.iter().for_each(|host| *by_links.entry(ports[*host as usize].len()).or_default() += 1);
    let words = by_links.iter().map(|(links, hosts)| match hosts {
        _ if by_links.len() == 1 => format!("with {}", each(*links)),
        hosts => format!("{} with {}", human::count(*hosts), each(*links)),
    });
    joined(human::count(hosts.len() as u64), words)
}

fn each(links: usize) -> String {
    format!("{} each", human::counted(links as u64, "link"))
}

/// `TOTAL: PART, PART`, or the total where there are no parts.
fn joined(total: impl Display, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { total.to_string() } else { format!("{total}: {}", parts.join(", ")) }
}

fn switches_words(network: &Network, tiers: &[Option<u32>]) -> String {
    let mut counts: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    network.switches().for_each(|switch| *counts.entry(tiers[switch as usize]).or_default() += 1);
    let words = counts.iter().map(|(tier, count)| match tier {
        Some(0) => format!("{} at hosts", human::count(*count)),
        Some(tier) => format!("{} in tier {tier} above", human::count(*count)),
        None => format!("{} that no host is linked to", human::count(*count)),
    });
    joined(human::count(network.switches().count() as u64), words)
}

/// Links that are alike, the hosts' first.
fn links_words(network: &Network) -> Vec<String> {
    let mut kinds: BTreeMap<(bool, BitRate, Nanos, String), u64> = BTreeMap::new();
    for link in &network.links {
        let inner = ![link.a, link.b].iter().any(|node| network.is_host(*node));
        let loss = if link.loss > 0.0 { format!(", loss {}", link.loss) } else { String::new() };
        *kinds.entry((inner, link.rate, link.delay, loss)).or_default() += 1;
    }
    let words = |((inner, rate, delay, loss), count): (&(bool, BitRate, Nanos, String), &u64)| {
        let place = if *inner { "between switches" } else { "at hosts" };
        format!("{} {place}, {rate}, {delay}{loss}", human::count(*count))
    };
    kinds.iter().map(words).collect()
}

/// The capacity of each tier's switches towards hosts, and away from them.
fn tiers_words(network: &Network, tiers: &[Option<u32>]) -> Vec<String> {
    let mut rates: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for link in &network.links {
        for (node, peer) in [(link.a, link.b), (link.b, link.a)] {
            let Some(tier) = tiers[node as usize] else { continue };
            let (down, up) = rates.entry(tier).or_default();
            match tiers[peer as usize] {
                None => *down += link.rate.0,
                Some(other) if other < tier => *down += link.rate.0,
                Some(other) if other > tier => *up += link.rate.0,
                // Within a tier.
                Some(_) => {}
            }
        }
    }
    let words = |(tier, (down, up)): (u32, (u64, u64))| {
        let name = if tier == 0 { "switches at hosts".to_owned() } else { format!("tier {tier} above") };
        let ratio = human::three_digits(down as f64 / up as f64);
        format!("{name}: {} down, {} up, {ratio} to 1", rate_words(down), rate_words(up))
    };
    rates.into_iter().filter(|(_, (_, up))| *up > 0).map(words).collect()
}

fn rate_words(bits: u64) -> String {
    match bits {
        bits if bits >= 1_000_000_000_000 => format!("{} Tb/s", human::three_digits(bits as f64 / 1e12)),
        bits => format!("{} Gb/s", human::three_digits(bits as f64 / 1e9)),
    }
}

fn paths_words(paths: &Paths, hosts: usize) -> String {
    let all = paths.count();
    let share = |paths: u64| human::three_digits(100.0 * paths as f64 / all.max(1) as f64);
    let words = paths.by_links.iter().map(|(links, paths)| format!("{links} links {} %", share(*paths)));
    let sum: u64 = paths.by_links.iter().map(|(links, paths)| u64::from(*links) * paths).sum();
    let mut text = joined(format!("mean {} links", human::three_digits(sum as f64 / all.max(1) as f64)), words);
    if paths.to < hosts {
        text += &format!("; of those to {} of the hosts", human::count(paths.to as u64));
    }
    if paths.missing > 0 {
        text += &format!("; {} of hosts without a path", human::counted(paths.missing, "pair"));
    }
    text
}

/// Hosts in two halves by their first switches: of rails, which all servers share, each half has other ones. One switch has both.
fn halves(network: &Network, hosts: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let ports = network.ports();
    let leaf = |host: u32| ports[host as usize].iter().map(|port| port.peer).min();
    let mut sorted = hosts.to_vec();
    sorted.sort_by_key(|&host| (leaf(host), host));
    let half = sorted.len() / 2;
    let is_border = |&place: &usize| leaf(sorted[place - 1]) != leaf(sorted[place]);
    let border = (1..sorted.len()).filter(is_border).min_by_key(|&place| place.abs_diff(half)).unwrap_or(half);
    let mut upper = sorted.split_off(border);
    sorted.sort_unstable();
    upper.sort_unstable();
    if upper.len() < sorted.len() { (upper, sorted) } else { (sorted, upper) }
}

/// The most that one half of the hosts can send to the other by any paths, a maximum flow; and the capacity of their links.
fn bisection_words(network: &Network, hosts: &[u32]) -> Option<String> {
    let (lower, upper) = halves(network, hosts);
    if lower.is_empty() {
        return None;
    }
    let (from, to) = (network.nodes.len(), network.nodes.len() + 1);
    let mut capacities = Capacities::new(network.nodes.len() + 2);
    for link in &network.links {
        // Hosts pass nothing on: the lower half only sends, the other half only receives.
        let carries = |sender: u32, receiver: u32| {
            let blocked = upper.binary_search(&sender).is_ok() || lower.binary_search(&receiver).is_ok();
            if blocked { 0 } else { link.rate.0 }
        };
        capacities.link(link.a as usize, link.b as usize, carries(link.a, link.b), carries(link.b, link.a));
    }
    let endless = u64::MAX / 4;
    lower.iter().for_each(|host| capacities.link(from, *host as usize, endless, 0));
    upper.iter().for_each(|host| capacities.link(*host as usize, to, endless, 0));
    let most = capacities.flow(from, to);
    let own: u64 = network
        .links
        .iter()
        .map(|link| {
            [link.a, link.b].iter().filter(|node| lower.binary_search(node).is_ok()).count() as u64 * link.rate.0
        })
        .sum();
    let share = human::three_digits(100.0 * most as f64 / own.max(1) as f64);
    Some(format!(
        "{} from half of the switches' hosts to the others, {share} % of what their links have",
        rate_words(most)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_model::generate::{Tier, Wire, tree};

    const BARE: Packet = Packet { payload: 1_000, flow: None };

    /// 1090 bytes there, 88 back, over two links.
    #[test]
    fn the_base_rtt_of_a_scenario_is_that_of_its_frames() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("s.toml");
        let topology = "[run]\nstop = '1ms'\n[topology]\nkind = 'star'\nhosts = 2\nrate = '100Gbps'\ndelay = '1us'\n";
        std::fs::write(&file, topology).expect("writable");
        let told = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            let (network, packet) = read(&file, &set).expect("a scenario");
            describe(&network, &packet)
        };
        has(
            &told(&["telemetry.layout=reference"]),
            &["4.189 us to 4.189 us", "packets of 1000 bytes, as runs have it"],
        );
        has(&told(&["transport.base_rtt=9us"]), &["9.000 us to 9.000 us"]);
    }

    fn tier(below: u32, planes: u32, above: u32, gbps: u64) -> Tier {
        let wire = Wire { rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss: 0.0, count: 1 };
        Tier { below, planes, above, wire }
    }

    fn has(text: &str, parts: &[&str]) {
        parts.iter().for_each(|part| assert!(text.contains(part), "{text} lacks {part}"));
    }

    #[test]
    fn a_tree_is_told_by_tiers_and_its_bisection() {
        let tiers = [tier(4, 1, 1, 100), tier(2, 1, 2, 100), tier(4, 2, 2, 100)];
        let text = describe(&tree(32, &tiers).expect("fits"), &BARE);
        has(&text, &["32: with 1 link each", "20: 8 at hosts, 8 in tier 1 above, 4 in tier 2 above"]);
        has(&text, &["32 at hosts, 100Gbps, 1.000 us", "32 between switches, 100Gbps"]);
        has(&text, &["switches at hosts: 3.20 Tb/s down, 1.60 Tb/s up, 2.00 to 1", "tier 1 above: 1.60 Tb/s down"]);
        // Of 31 other hosts 3 are in the rack, 4 in the pod.
        has(&text, &["2 links 9.68 %, 4 links 12.9 %, 6 links 77.4 %", "4.160 us to 12.480 us"]);
        // Two aggregations, two cores of each.
        has(&text, &["6 links, such as from host 8 to host 0: 4 paths of that length"]);
        has(&text, &["800 Gb/s from half of the switches' hosts to the others, 50.0 %"]);
    }

    #[test]
    fn hosts_with_two_links_count_both() {
        let pod = tree(32, &[tier(16, 1, 2, 25), tier(4, 1, 1, 100)]);
        let text = describe(&pod.expect("fits"), &BARE);
        has(&text, &["32: with 2 links each", "5: 4 at hosts, 1 in tier 1 above", "200 Gb/s from", "25.0 %"]);
    }

    /// The uplinks of leaves over their links to hosts, whether servers are below one leaf or on rails, in pods, or below an odd number.
    #[test]
    fn the_bisection_is_that_of_the_uplinks_of_leaves() {
        let topology = |keys: &str| {
            let text = format!("run.stop = '1ms'\ntopology = {{ {keys}, rate = '400Gbps', delay = '1us' }}\n");
            let folder = tempfile::tempdir().expect("folder");
            let file = folder.path().join("s.toml");
            std::fs::write(&file, text).expect("writable");
            let (network, _) = read(&file, &[]).expect("a scenario");
            describe(&network, &BARE)
        };
        for (servers, spines) in [(32, 8), (32, 32), (12, 3), (16, 2)] {
            let share = human::three_digits(100.0 * f64::from(spines) / f64::from(servers));
            let rails = format!("servers = {servers}, rails = 8, spines = {spines}");
            let expected = format!(" {share} % of what their links have");
            has(&topology(&format!("kind = 'rails', {rails}")), &[&expected]);
            has(&topology(&format!("kind = 'rails', {}", rails.replace("rails = 8", "rails = 3"))), &[&expected]);
            // Four pods, whose spines have as much to cores as to leaves.
            has(&topology(&format!("kind = 'multi_plane', planes = 1, segments = 4, {rails}")), &[&expected]);
        }
    }

    #[test]
    fn halves_without_a_path_have_no_bisection() {
        let mut network = tree(4, &[tier(2, 1, 1, 100), tier(2, 1, 1, 100)]).expect("fits");
        network.links.pop();
        has(&describe(&network, &BARE), &["0.00 Gb/s from", "8 pairs of hosts without a path"]);
    }
}
