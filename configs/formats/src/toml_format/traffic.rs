// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]`.

use super::collective::{self, COLLECTIVE, WAYS};
use super::document::Document;
use super::job_file::{self, ALGORITHMS, CHAKRA, CONNECTION_MATRIX, GOAL, SIMAI, TRANSFORMER};
use super::keys::{COUNT, Form, INTERVAL, KindOf, Need, SHARE, TEXT, TIME, Values, keys, whole};
use super::placement::PLACED;
use crate::error::InputError;
use crate::flow::{Flow, MOST_BYTES};
use crate::flows::{FlowSource, Traffic};
use crate::generate::{self, Cdf, Class, Offer, Pairs, Poisson, RandomIncast};
use crate::memory::Budget;
use crate::place::Place;
use crate::reference::{Columns, FlowFile, FlowForm};
use crate::scenario::host;
use crate::text::{no_file, resolve};
use hpcc_core::engine::{ENDLESS, FlowOptions};
use hpcc_core::settings::{Kind, quantity};
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::units::{BitRate, Bytes, Nanos, Rounding};
use hpcc_core::workload::Servers;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECTION: &str = "traffic";

/// Longer names do not fit into a legend.
const LONGEST_NAME: usize = 32;

/// Most incasts of one section.
const MAX_REPEATS: u64 = 1_000_000;

/// What a flow carries.
pub(super) const PAYLOAD: Form = Form::One(Kind::Bytes { least: 1, most: MOST_BYTES });

keys! {
    /// Of all kinds.
    NAME {
        /// Name of the flows in results; by default their kind.
        name: TEXT => Need::Optional;
    }
    /// Of flows that are not from a file.
    CLASS {
        /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
        /// service.
        priority: whole(1, 7) => Need::Else("3");
    }
    ORDINARY {
        /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
        /// not (`transport.queue_pairs`).
        dport: whole(0, 65_535) => Need::Else("100");
    }
    INCAST_PORT {
        /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
        /// not (`transport.queue_pairs`).
        dport: whole(0, 65_535) => Need::Else("200");
    }
    SIZE {
        /// Payload bytes of each flow.
        size: PAYLOAD;
    }
    /// Of flows that begin and end.
    LASTING {
        /// Payload bytes of each flow, or `endless`: such a flow is under way to the end of the run, or to `stop`, and the run
        /// does not wait for it.
        size: Form::Lasting;
        /// Simulated time at which each flow sends its last packet, even if that is not all.
        stop: INTERVAL => Need::Optional;
    }
    /// Of flows that are not from a file.
    OWN {
        /// The link of its host, counted from 0 in the order of the topology, by which each flow leaves while that leads to its
        /// destination; without it a hash chooses among the links that do.
        nic: whole(0, u8::MAX as u64) => Need::Optional;
        /// Highest rate of each flow, which sends as if the port of its host had no higher one.
        rate: Form::One(Kind::Rate { least: 1_000_000, most: quantity::LARGEST }) => Need::Optional;
    }
    ON_OFF {
        /// How long the host sends.
        on: INTERVAL;
        /// For how long it then sends nothing.
        off: INTERVAL;
    }
    START {
        /// Simulated time at which the flow starts, or the first of several.
        start: TIME => Need::Else("0");
    }
    /// Of random traffic.
    WINDOW {
        /// Simulated time before which no flow starts.
        start: TIME => Need::Else("0");
    }
    DURATION {
        /// Length of simulated time, from `start` on, in which flows start; those that have started then go on to their
        /// end.
        duration: TIME;
    }
    FLOW {
        /// Number of the host that sends.
        src: COUNT;
        /// Number of the host that receives.
        dst: COUNT;
    }
    INCAST {
        /// Number of the one host that all send to.
        receiver: COUNT;
        /// The hosts that send, such as `[1, 2]`, `"1-8"` or `"hosts"`.
        senders: TEXT => Need::Optional;
        /// How many hosts send, in place of `senders`: the hosts with the lowest numbers, without the receiver.
        sender_count: COUNT => Need::Optional;
    }
    /// Of patterns, and of random traffic.
    PATTERN {
        /// The hosts that take part, such as `"0-7"`; without it all.
        hosts: TEXT => Need::Optional;
    }
    PERMUTATION {
        /// How many flows there are; without it one from each host. Beyond one from each host, further permutations follow.
        flows: whole(1, MAX_REPEATS) => Need::Optional;
    }
    ALL_TO_ALL {
        /// To how many others each host sends, drawn at random; without it to all.
        peers: whole(1, MAX_REPEATS) => Need::Optional;
    }
    PERIODIC {
        /// Time from one incast to the next.
        interval: INTERVAL;
    }
    RANDOM_INCAST {
        /// How many hosts send to one at the same moment; senders and receiver are drawn anew each time.
        fan_in: whole(1, 1_000_000);
        /// Average load as a share of the capacity of all hosts' links together. A larger value starts incasts more
        /// often.
        load: SHARE;
    }
    POISSON {
        /// Average load of each host as a share of its first link's capacity. A larger value starts flows more often.
        load: SHARE;
        /// The distribution of flow sizes: websearch or fb_hadoop, or the name of a workload file, relative to the
        /// scenario's folder, then to the working folder.
        sizes: TEXT;
        /// Share of the flows that go to a host of the sender's rack, 1 for all; without it racks make no difference.
        rack_share: SHARE => Need::Optional;
        /// Hosts that receive more or fewer flows than others, as a list of `{ hosts, weight }`; without it all receive
        /// alike.
        weights: Form::Tables(WEIGHT, "{ hosts = [0, 1], weight = 4 }") => Need::Optional;
    }
    WEIGHT {
        /// The hosts: a list of numbers, or a text with numbers and ranges, such as `0-3, 6`.
        hosts: TEXT;
        /// How many flows each of them receives for one that a host without a weight does.
        weight: whole(0, 1_000_000);
    }
    FILE {
        /// Name of a file with the flows in the reference's format, which `configs/README.md` describes, relative to the
        /// scenario's folder, then to the working folder. It has the number of flows and for each, sorted by start,
        /// `SRC DST PRIORITY DPORT BYTES START`, with the start in seconds.
        path: TEXT;
        /// The columns of the file, such as `src dst priority packets start skip`: `src`, `dst`, `start`, `size` or `packets`,
        /// and perhaps `priority`, `dport`, and `skip` for a word that does not count. Without it they are those of the
        /// reference, unless the first flows tell that they are others.
        columns: TEXT => Need::Optional;
    }
}

/// The keys of each kind.
pub(super) static KINDS: [KindOf; 15] = [
    ("flow", &[FLOW, LASTING, START, OWN, CLASS, ORDINARY, NAME]),
    ("on_off", &[FLOW, ON_OFF, START, DURATION, OWN, CLASS, ORDINARY, NAME]),
    ("incast", &[INCAST, LASTING, START, OWN, CLASS, INCAST_PORT, NAME]),
    ("periodic_incast", &[INCAST, SIZE, START, PERIODIC, DURATION, OWN, CLASS, INCAST_PORT, NAME]),
    ("random_incast", &[RANDOM_INCAST, PATTERN, SIZE, WINDOW, DURATION, OWN, CLASS, INCAST_PORT, NAME]),
    ("permutation", &[PERMUTATION, PATTERN, LASTING, START, OWN, CLASS, ORDINARY, NAME]),
    ("all_to_all", &[ALL_TO_ALL, PATTERN, LASTING, START, OWN, CLASS, ORDINARY, NAME]),
    ("poisson", &[POISSON, PATTERN, WINDOW, DURATION, OWN, CLASS, ORDINARY, NAME]),
    ("file", &[FILE, NAME]),
    ("collective", &[COLLECTIVE, WAYS, PLACED, START, CLASS, ORDINARY, NAME]),
    ("chakra", &[CHAKRA, ALGORITHMS, WAYS, PLACED, START, CLASS, ORDINARY, NAME]),
    ("connection_matrix", &[CONNECTION_MATRIX, PLACED, START, CLASS, ORDINARY, NAME]),
    ("goal", &[GOAL, PLACED, START, CLASS, ORDINARY, NAME]),
    ("transformer", &[TRANSFORMER, ALGORITHMS, WAYS, PLACED, START, CLASS, ORDINARY, NAME]),
    ("simai", &[SIMAI, ALGORITHMS, WAYS, PLACED, START, CLASS, ORDINARY, NAME]),
];

/// Whether traffic of a kind is a job, in which messages wait for others.
fn is_job(kind: &str) -> bool {
    ["collective", "chakra", "connection_matrix", "goal", "simai", "transformer"].contains(&kind)
}

/// Whether any section is a job.
pub(super) fn has_jobs(document: &Document<'_>) -> bool {
    document.values(SECTION, "kind").any(is_job)
}

/// What every kind of traffic needs to know.
pub(super) struct Context<'a> {
    pub config: &'a Path,
    pub network: &'a Network,
    pub servers: Option<Servers>,
    seed: u64,
    /// Of the reference's start times in seconds.
    rounding: Rounding,
    /// Payload of a full packet.
    mtu: Bytes,
    /// Memory that all sections may take together.
    pub budget: &'a Budget,
}

/// Where the flows of each section come from, with their names, in the order of the sections.
pub(super) fn read(
    document: &mut Document<'_>,
    config: &Path,
    network: &Network,
    servers: Option<Servers>,
    seed: u64,
    (rounding, mtu): (Rounding, Bytes),
) -> Result<Vec<Traffic>, InputError> {
    let budget = Budget::new().map_err(|why| Place::environment().error(why))?;
    let context = Context { budget: &budget, config, network, servers, seed, rounding, mtu };
    let mut traffic = Vec::new();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for section in document.list(SECTION)? {
        let (kind, keys) = Values::of_kind(SECTION, &section, &KINDS)?;
        let group = group(kind, &keys)?;
        hosts(&keys, network)?;
        let name = name_of_chance(kind, &keys);
        let number = known.entry(name.clone()).and_modify(|number| *number += 1).or_insert(0);
        let mut random = generate::random(context.seed, &name, *number);
        let (source, offer) = read_one(kind, &keys, &context, &mut random)?;
        traffic.push(Traffic { group, source, offer });
    }
    Ok(traffic)
}

/// Refuses keys that name no host, or the same one as sender and receiver.
fn hosts(keys: &Values<'_>, network: &Network) -> Result<(), InputError> {
    let receiver = ["dst", "receiver"].into_iter().find_map(|key| Some((key, keys.get::<u32>(key)?)));
    let mut ends: Vec<(&str, u32)> = receiver.into_iter().collect();
    ends.extend(keys.get("src").map(|src| ("src", src)));
    ends.extend(node_list(keys, "senders", network)?.unwrap_or_default().into_iter().map(|src| ("senders", src)));
    for (key, node) in ends {
        host(network, node).map_err(|why| keys.origin.error(&[key], format!("{key} is {why}")))?;
        if let Some((other, same)) = receiver.filter(|(other, same)| *other != key && *same == node) {
            let message = format!("{key} and {other} are the same host, {same}; expected two");
            return Err(keys.origin.error(&[key], message));
        }
    }
    Ok(())
}

/// The name of a section's flows in results: its own, or its kind.
fn group(kind: &str, keys: &Values<'_>) -> Result<String, InputError> {
    let Some(name) = keys.get::<String>("name") else { return Ok(kind.into()) };
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(safe) {
        return Ok(name);
    }
    let expected = format!("a text of 1 to {LONGEST_NAME} letters, digits, - _ . +");
    Err(keys.origin.error(&["name"], format!("\"{name}\" is no name; expected {expected}")))
}

/// Whose chance a section's random choices are: its name's. A section without one is known by all that it says, but for its times: so
/// others may come and go, before it and behind it, and a shift of time shifts what it draws. Of several with one name their order
/// decides.
fn name_of_chance(kind: &str, keys: &Values<'_>) -> String {
    keys.get::<String>("name")
        .map_or_else(|| format!("{kind} {}", keys.text(&["start", "stop"])), |name| format!("name {name}"))
}

fn read_one(
    kind: &str,
    keys: &Values<'_>,
    context: &Context<'_>,
    random: &mut generate::Random,
) -> Result<(FlowSource, Option<Offer>), InputError> {
    let origin = Arc::new(keys.origin.clone());
    let mut offer = None;
    let flows = match kind {
        "flow" => vec![flow(keys, keys.the("src"), keys.the("dst"))],
        "on_off" => on_off(keys, context)?,
        "incast" => incast(keys, context)?,
        "periodic_incast" => periodic_incast(keys, context)?,
        "random_incast" => {
            let traffic = random_incast(keys, context)?;
            offer = Some(traffic.offer());
            traffic.flows(random)
        }
        "permutation" | "all_to_all" => {
            let pairs = pattern(kind, keys, context, random)?;
            pairs.into_iter().map(|(src, dst)| flow(keys, src, dst)).collect()
        }
        "poisson" => {
            let traffic = poisson(keys, context)?;
            let offer = traffic.offer();
            return Ok((FlowSource::Poisson { traffic, random: random.clone(), origin }, Some(offer)));
        }
        _ if is_job(kind) => {
            let job = if kind == "collective" {
                let matrix = keys.has("matrix").then(|| input(keys, context, "matrix")).transpose()?;
                collective::job(keys, context, random, matrix)?
            } else {
                job_file::job(kind, keys, context, random, || input(keys, context, "path"))?
            };
            return Ok((FlowSource::Job { job: Arc::new(job), origin }, None));
        }
        _ => {
            let columns = keys.get::<String>("columns").map(|columns| Columns::parse(&columns)).transpose();
            let columns = columns.map_err(|message| keys.origin.error(&["columns"], message))?;
            let form = FlowForm { columns, mtu: context.mtu, rounding: context.rounding };
            let (file, _) = FlowFile::new(&input(keys, context, "path")?, form)?;
            return Ok((FlowSource::File(file), None));
        }
    };
    Ok((FlowSource::Listed { flows: flows.into(), origin }, offer))
}

fn class(keys: &Values<'_>) -> Class {
    let FlowOptions { rate, stop, .. } = FlowOptions::NONE;
    let (rate, stop) = (keys.get("rate").unwrap_or(rate), keys.get("stop").unwrap_or(stop));
    let options = FlowOptions { nic: keys.get("nic"), rate, stop };
    Class { priority: keys.the("priority"), dport: keys.the("dport"), options }
}

fn flow(keys: &Values<'_>, src: u32, dst: u32) -> Flow {
    let Class { priority, dport, options } = class(keys);
    Flow { src, dst, priority, dport, size: keys.the("size"), start: keys.the("start"), options }
}

/// Takes the memory of so many flows, or says which key makes them too many.
fn room(keys: &Values<'_>, context: &Context<'_>, flows: u64, key: &str) -> Result<(), InputError> {
    let taken = context.budget.take(flows * size_of::<Flow>() as u64, &format!("{flows} flows"));
    taken.map_err(|message| keys.origin.error(&[key, "kind"], message))
}

/// Each time that the host sends is a flow, which stops when that time is over.
fn on_off(keys: &Values<'_>, context: &Context<'_>) -> Result<Vec<Flow>, InputError> {
    let (on, off, duration): (Nanos, Nanos, Nanos) = (keys.the("on"), keys.the("off"), keys.the("duration"));
    let period = on.0.saturating_add(off.0);
    let times = duration.0.div_ceil(period);
    if times > MAX_REPEATS {
        let message = format!("the host sends {times} times; expected at most {MAX_REPEATS}");
        return Err(keys.origin.error(&["on"], message));
    }
    room(keys, context, times, "on")?;
    let first = flow(keys, keys.the("src"), keys.the("dst"));
    let end = first.start.0.saturating_add(duration.0);
    let nth = |number: u64| {
        let start = first.start.0.saturating_add(number * period);
        let options = FlowOptions { stop: Nanos(start.saturating_add(on.0).min(end)), ..first.options };
        Flow { size: ENDLESS, start: Nanos(start), options, ..first }
    };
    Ok((0..times).map(nth).collect())
}

fn incast(keys: &Values<'_>, context: &Context<'_>) -> Result<Vec<Flow>, InputError> {
    let senders = all_senders(keys, context.network)?;
    Ok(senders.into_iter().map(|src| flow(keys, src, keys.the("receiver"))).collect())
}

/// Who sends to whom.
fn pattern(
    kind: &str,
    keys: &Values<'_>,
    context: &Context<'_>,
    random: &mut generate::Random,
) -> Result<Vec<(u32, u32)>, InputError> {
    let refuse = |key: &str, message: String| Err(keys.origin.error(&[key], message));
    let hosts = taking_part(keys, context.network)?;
    let count = hosts.len();
    if count < 2 {
        return refuse("hosts", format!("these are {count} hosts; expected two or more"));
    }
    if kind == "permutation" {
        let flows = keys.get::<u32>("flows").map_or(count, |flows| flows as usize);
        room(keys, context, flows as u64, "flows")?;
        let rounds = std::iter::repeat_with(|| generate::permutation(&hosts, random));
        return Ok(rounds.take(flows.div_ceil(count)).flatten().take(flows).collect());
    }
    let peers = keys.get::<u32>("peers").map_or(count - 1, |peers| peers as usize);
    if peers >= count {
        return refuse(
            "peers",
            format!("peers is {peers}; expected at most {}, all others of {count} hosts", count - 1),
        );
    }
    if (count * peers) as u64 > MAX_REPEATS {
        return refuse(
            "peers",
            format!("{count} hosts with {peers} peers are too many; expected at most {MAX_REPEATS} flows"),
        );
    }
    room(keys, context, (count * peers) as u64, "peers")?;
    Ok(generate::all_to_all(&hosts, peers, random))
}

/// The hosts that the key `hosts` names, or all.
fn taking_part(keys: &Values<'_>, network: &Network) -> Result<Vec<u32>, InputError> {
    let text: Option<String> = keys.get("hosts");
    let named = NodeSet::parse_hosts(text.as_deref().unwrap_or("all"), network);
    named.map(|hosts| hosts.iter().collect()).map_err(|message| keys.origin.error(&["hosts"], message))
}

fn periodic_incast(keys: &Values<'_>, context: &Context<'_>) -> Result<Vec<Flow>, InputError> {
    let incast = incast(keys, context)?;
    let (interval, duration): (Nanos, Nanos) = (keys.the("interval"), keys.the("duration"));
    let repeats = duration.0.div_ceil(interval.0);
    if repeats.saturating_mul(incast.len() as u64) > MAX_REPEATS {
        let message =
            format!("{repeats} incasts of {} flows are too many; expected at most {MAX_REPEATS} flows", incast.len());
        return Err(keys.origin.error(&["interval"], message));
    }
    room(keys, context, repeats * incast.len() as u64, "interval")?;
    let later = |flow: &Flow, repeat| Flow { start: flow.start + Nanos(repeat * interval.0), ..*flow };
    Ok((0..repeats).flat_map(|repeat| incast.iter().map(move |flow| later(flow, repeat))).collect())
}

fn random_incast(keys: &Values<'_>, context: &Context<'_>) -> Result<RandomIncast, InputError> {
    let traffic = RandomIncast {
        hosts: host_rates(&taking_part(keys, context.network)?, context.network),
        fan_in: keys.the::<u32>("fan_in") as usize,
        size: keys.the("size"),
        load: load(keys)?,
        start: keys.the("start"),
        duration: keys.the("duration"),
        class: class(keys),
    };
    traffic.check().map_err(|wrong| keys.origin.error(&[wrong.key], wrong.message))?;
    room(keys, context, traffic.expected() as u64, "load")?;
    Ok(traffic)
}

/// What is offered, as a share; more than nothing.
fn load(keys: &Values<'_>) -> Result<f64, InputError> {
    let load: f64 = keys.the("load");
    if load > 0.0 { Ok(load) } else { Err(keys.origin.error(&["load"], "the load is 0; expected more, and at most 1")) }
}

/// The hosts that a key lists, in the order of a list of numbers; those of a word, such as `hosts`, are all but the receiver.
pub(super) fn node_list(keys: &Values<'_>, key: &str, network: &Network) -> Result<Option<Vec<u32>>, InputError> {
    let Some(text) = keys.get::<String>(key) else { return Ok(None) };
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let receiver = keys.get("receiver").filter(|_| text.contains(char::is_alphabetic));
    let others = |nodes: NodeSet| nodes.iter().filter(|node| Some(*node) != receiver).collect();
    let listed = numbers.or_else(|_| NodeSet::parse_hosts(&text, network).map(others));
    listed.map(Some).map_err(|message: String| keys.origin.error(&[key], message))
}

/// The listed senders, or the first so many hosts other than the receiver.
fn all_senders(keys: &Values<'_>, network: &Network) -> Result<Vec<u32>, InputError> {
    let refuse = |message: String| Err(keys.origin.error(&["senders", "sender_count"], message));
    let count = match (node_list(keys, "senders", network)?, keys.get::<u32>("sender_count")) {
        (Some(list), None) if !list.is_empty() => return Ok(list),
        (None, Some(count)) if count > 0 => count as usize,
        (Some(_), Some(_)) => return refuse("both senders and sender_count are given; expected one of them".into()),
        _ => return refuse("there are no senders; expected senders = [..] or sender_count = N".into()),
    };
    let hosts: Vec<u32> = network.hosts().filter(|&host| host != keys.the::<u32>("receiver")).take(count).collect();
    if hosts.len() < count {
        return refuse(format!(
            "sender_count is {count}; expected at most {}, the hosts of [topology] besides the receiver",
            hosts.len()
        ));
    }
    Ok(hosts)
}

/// How destinations are drawn, if not all hosts are equal.
fn pairs(keys: &Values<'_>, hosts: &[u32], network: &Network) -> Result<Option<Arc<Pairs>>, InputError> {
    let (share, list) = (keys.get("rack_share"), keys.tables("traffic.weights", WEIGHT, "weights")?);
    if share.is_none() && list.is_empty() {
        return Ok(None);
    }
    let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
    for entry in list {
        let refuse = |message: String| entry.origin.section().key_error("traffic.weights", message);
        let named = NodeSet::parse_hosts(&entry.the::<String>("hosts"), network).map_err(refuse)?;
        for host in named.iter() {
            if !hosts.contains(&host) {
                return Err(refuse(format!("host {host} has a weight, and takes no part; expected one of hosts")));
            }
            if weights.insert(host, entry.the("weight")).is_some() {
                return Err(refuse(format!("host {host} has two weights; expected one")));
            }
        }
    }
    let pairs = Pairs::new(hosts, network, share, |host| weights.get(&host).copied().unwrap_or(1));
    pairs.map(|pairs| Some(Arc::new(pairs))).map_err(|message| keys.origin.error(&["rack_share", "weights"], message))
}

fn poisson(keys: &Values<'_>, context: &Context<'_>) -> Result<Poisson, InputError> {
    let sizes = match Cdf::shipped(&keys.the::<String>("sizes")) {
        Some(sizes) => sizes,
        None => Cdf::read(&input(keys, context, "sizes")?)?,
    };
    let hosts = taking_part(keys, context.network)?;
    let traffic = Poisson {
        hosts: host_rates(&hosts, context.network).into(),
        sizes: Arc::new(sizes),
        pairs: pairs(keys, &hosts, context.network)?,
        load: load(keys)?,
        start: keys.the("start"),
        duration: keys.the("duration"),
        class: class(keys),
    };
    traffic.check().map_err(|wrong| keys.origin.error(&[wrong.key], wrong.message))?;
    Ok(traffic)
}

/// Each of these hosts that has a link, with the rate of its first.
fn host_rates(hosts: &[u32], network: &Network) -> Vec<(u32, BitRate)> {
    let ports = network.ports();
    let first = |host: u32| ports[host as usize].first().map(|port| network.links[port.link as usize].rate);
    hosts.iter().filter_map(|&host| Some((host, first(host)?))).collect()
}

/// The path of a file that a key names.
fn input(keys: &Values<'_>, context: &Context<'_>, key: &str) -> Result<PathBuf, InputError> {
    let name: String = keys.the(key);
    resolve(context.config, &name).ok_or_else(|| keys.origin.error(&[key], no_file(key, &name)))
}
