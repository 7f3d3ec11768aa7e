// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]`.

use super::document::{Document, Kinded, unknown_kind};
use super::values::{Bounded, Fraction, HostNames, Interval, Payload, Probability, Time};
use crate::error::InputError;
use crate::flow::Flow;
use crate::flows::{FlowSource, Traffic};
use crate::generate::{self, Cdf, Class, Offer, Pairs, Poisson, RandomIncast};
use crate::origin::Origin;
use crate::reference::FlowFile;
use crate::scenario::host;
use crate::text::{no_file, resolve};
use hpcc_core::pfc::DATA_PRIORITY;
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::{Spanned, Value};

const SECTION: &str = "traffic";
const KINDS: &[&str] = &["flow", "incast", "periodic_incast", "random_incast", "permutation", "poisson", "file"];
const ORDINARY_PORT: u16 = 100;
const INCAST_PORT: u16 = 200;

/// Longer names do not fit into a legend.
const LONGEST_NAME: usize = 32;

/// Most incasts of one section.
const MAX_REPEATS: u64 = 1_000_000;

type Priority = Option<Bounded<1, 7>>;

/// The keys of each kind.
pub(super) fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    use super::schema::of;
    let keys = [
        of::<FlowKeys>(),
        of::<IncastKeys>(),
        of::<PeriodicIncastKeys>(),
        of::<RandomIncastKeys>(),
        of::<PermutationKeys>(),
        of::<PoissonKeys>(),
        of::<FileKeys>(),
    ];
    KINDS.iter().copied().zip(keys.map(named)).collect()
}

/// The same with the key that [`group`] reads of any section.
fn named(mut schema: serde_json::Value) -> serde_json::Value {
    schema["properties"]["name"] = serde_json::json!({
        "description": "Name of the flows in results; without one, that of their kind.",
        "type": "string",
        "pattern": format!("^[A-Za-z0-9_.+-]{{1,{LONGEST_NAME}}}$"),
    });
    schema
}

/// What every kind of traffic needs to know.
struct Context<'a> {
    config: &'a Path,
    network: &'a Network,
    seed: u64,
    /// Of the reference's start times in seconds.
    rounding: Rounding,
}

/// Where the flows of each section come from, with their names, in the order of the sections.
pub(super) fn read(
    document: &mut Document<'_>,
    config: &Path,
    network: &Network,
    seed: u64,
    rounding: Rounding,
) -> Result<Vec<Traffic>, InputError> {
    let context = Context { config, network, seed, rounding };
    let mut traffic = Vec::new();
    for (mut section, index) in document.kinded_list(SECTION, KINDS)?.into_iter().zip(0..) {
        let group = group(document, &mut section)?;
        hosts(document, &section, network)?;
        let (source, offer) = read_one(document, section, &context, index)?;
        traffic.push(Traffic { group, source, offer });
    }
    Ok(traffic)
}

/// Refuses keys that name no host, or the same one as sender and receiver, while it is known which key that is.
fn hosts(document: &Document<'_>, section: &Kinded<'_>, network: &Network) -> Result<(), InputError> {
    let mut receiver = None;
    for key in ["dst", "receiver", "src", "senders"] {
        for (node, place) in document.numbers(section, key, key == "senders") {
            let refusal = |message| place.key_error(format!("{SECTION}.{key}"), message);
            host(network, node).map_err(|why| refusal(format!("{key} is {why}")))?;
            match receiver {
                _ if matches!(key, "dst" | "receiver") => receiver = Some((key, node)),
                Some((other, same)) if same == node => {
                    return Err(refusal(format!("{key} and {other} are the same host, {node}; expected two")));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The name of a section's flows in results: that of its kind, unless it has its own.
fn group<'a>(document: &Document<'a>, section: &mut Kinded<'a>) -> Result<String, InputError> {
    let Some(entry) = document.take_entry(section, "name") else { return Ok(section.kind.clone()) };
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    let fits = |name: &str| (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(safe);
    match entry.value {
        Some(Value::String(name)) if fits(&name) => Ok(name),
        _ => {
            let expected = format!("a text of 1 to {LONGEST_NAME} letters, digits, - _ . +");
            Err(section.origin.error(&["name"], format!("{} is no name; expected {expected}", entry.written)))
        }
    }
}

fn read_one(
    document: &Document<'_>,
    section: Kinded<'_>,
    context: &Context<'_>,
    index: u32,
) -> Result<(FlowSource, Option<Offer>), InputError> {
    let origin = Arc::new(section.origin.clone());
    let mut offer = None;
    let flows = match section.kind.as_str() {
        "flow" => flow(document, section)?,
        "incast" => incast(document, section, context)?,
        "periodic_incast" => periodic_incast(document, section, context)?,
        "random_incast" => {
            let traffic = random_incast(document, section, context)?;
            offer = Some(traffic.offer());
            traffic.flows(&mut generate::random(context.seed, index))
        }
        "permutation" => permutation(document, section, context, index)?,
        "poisson" => {
            let traffic = poisson(document, section, context)?;
            let (offer, random) = (traffic.offer(), generate::random(context.seed, index));
            return Ok((FlowSource::Poisson { traffic, random, origin }, Some(offer)));
        }
        "file" => return Ok((file(document, section, context)?, None)),
        _ => return Err(unknown_kind(&section, KINDS)),
    };
    Ok((FlowSource::Listed { flows: flows.into(), origin }, offer))
}

fn class(priority: Priority, dport: Option<u16>, default_port: u16) -> Class {
    let priority = priority.map_or(DATA_PRIORITY, |priority| priority.0 as u8);
    Class { priority, dport: dport.unwrap_or(default_port) }
}

fn new_flow(src: u32, dst: u32, class: Class, size: u64, start: Nanos) -> Flow {
    Flow { src, dst, priority: class.priority, dport: class.dport, size, start }
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct FlowKeys {
    /// Number of the host that sends.
    src: u32,
    /// Number of the host that receives.
    dst: u32,
    /// Payload bytes of each flow.
    size: Payload,
    /// Simulated time at which the flow starts, or the first of several.
    #[serde(default)]
    start: Time,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = ORDINARY_PORT))]
    dport: Option<u16>,
}

fn flow(document: &Document<'_>, section: Kinded<'_>) -> Result<Vec<Flow>, InputError> {
    let keys: FlowKeys = document.keys_of(SECTION, section)?;
    let class = class(keys.priority, keys.dport, ORDINARY_PORT);
    Ok(vec![new_flow(keys.src, keys.dst, class, keys.size.0, keys.start.0)])
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct IncastKeys {
    /// Number of the one host that all send to.
    receiver: u32,
    /// Numbers of the hosts that send.
    senders: Option<Vec<u32>>,
    /// How many hosts send, in place of `senders`: those with the lowest numbers, but for the receiver.
    sender_count: Option<u32>,
    /// Payload bytes of each flow.
    size: Payload,
    /// Simulated time at which the flow starts, or the first of several.
    #[serde(default)]
    start: Time,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = INCAST_PORT))]
    dport: Option<u16>,
}

fn incast(document: &Document<'_>, section: Kinded<'_>, context: &Context<'_>) -> Result<Vec<Flow>, InputError> {
    let origin = section.origin.clone();
    let keys: IncastKeys = document.keys_of(SECTION, section)?;
    let senders = senders(keys.senders, keys.sender_count, keys.receiver, context, &origin)?;
    let class = class(keys.priority, keys.dport, INCAST_PORT);
    let flow = |src| new_flow(src, keys.receiver, class, keys.size.0, keys.start.0);
    Ok(senders.into_iter().map(flow).collect())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct PeriodicIncastKeys {
    /// Number of the one host that all send to.
    receiver: u32,
    /// Numbers of the hosts that send.
    senders: Option<Vec<u32>>,
    /// How many hosts send, in place of `senders`: those with the lowest numbers, but for the receiver.
    sender_count: Option<u32>,
    /// Payload bytes of each flow.
    size: Payload,
    /// Simulated time at which the flow starts, or the first of several.
    #[serde(default)]
    start: Time,
    /// Time from the start of one incast to that of the next.
    interval: Interval,
    /// Length of simulated time, from `start` on, in which flows start; those that have started then go on to their
    /// end.
    duration: Time,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = INCAST_PORT))]
    dport: Option<u16>,
}

fn periodic_incast(
    document: &Document<'_>,
    section: Kinded<'_>,
    context: &Context<'_>,
) -> Result<Vec<Flow>, InputError> {
    let origin = section.origin.clone();
    let keys: PeriodicIncastKeys = document.keys_of(SECTION, section)?;
    let senders = senders(keys.senders, keys.sender_count, keys.receiver, context, &origin)?;
    let repeats = keys.duration.0.0.div_ceil(keys.interval.0.0);
    if repeats.saturating_mul(senders.len() as u64) > MAX_REPEATS {
        let message =
            format!("{repeats} incasts of {} flows are too many; expected at most {MAX_REPEATS} flows", senders.len());
        return Err(origin.error(&["interval"], message));
    }
    let class = class(keys.priority, keys.dport, INCAST_PORT);
    let mut flows = Vec::new();
    for repeat in 0..repeats {
        let start = keys.start.0 + Nanos(repeat * keys.interval.0.0);
        flows.extend(senders.iter().map(|&src| new_flow(src, keys.receiver, class, keys.size.0, start)));
    }
    Ok(flows)
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct RandomIncastKeys {
    /// How many hosts send to one at the same moment; senders and receiver are drawn anew each time.
    fan_in: Bounded<1, 1_000_000>,
    /// Payload bytes of each flow.
    size: Payload,
    /// What is offered on average, as a share of what the links of all hosts carry together. A larger value starts
    /// incasts more often.
    load: Fraction<2>,
    /// Simulated time before which no flow starts.
    #[serde(default)]
    start: Time,
    /// Length of simulated time, from `start` on, in which flows start; those that have started then go on to their
    /// end.
    duration: Time,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = INCAST_PORT))]
    dport: Option<u16>,
}

fn random_incast(
    document: &Document<'_>,
    section: Kinded<'_>,
    context: &Context<'_>,
) -> Result<RandomIncast, InputError> {
    let origin = section.origin.clone();
    let keys: RandomIncastKeys = document.keys_of(SECTION, section)?;
    let traffic = RandomIncast {
        hosts: host_rates(context.network),
        fan_in: keys.fan_in.0 as usize,
        size: keys.size.0,
        load: keys.load.0,
        start: keys.start.0,
        duration: keys.duration.0,
        class: class(keys.priority, keys.dport, INCAST_PORT),
    };
    traffic.check().map_err(|wrong| origin.error(&[wrong.key], wrong.message))?;
    Ok(traffic)
}

/// The listed senders, or the first so many hosts other than the receiver.
fn senders(
    list: Option<Vec<u32>>,
    count: Option<u32>,
    receiver: u32,
    context: &Context<'_>,
    origin: &Origin,
) -> Result<Vec<u32>, InputError> {
    let refuse = |message: String| Err(origin.error(&["senders", "sender_count"], message));
    let count = match (list, count) {
        (Some(list), None) if !list.is_empty() => return Ok(list),
        (None, Some(count)) if count > 0 => count as usize,
        (Some(_), Some(_)) => return refuse("both senders and sender_count are given; expected one of them".into()),
        _ => return refuse("there are no senders; expected senders = [..] or sender_count = N".into()),
    };
    let hosts: Vec<u32> = context.network.hosts().filter(|&host| host != receiver).take(count).collect();
    if hosts.len() < count {
        return refuse(format!(
            "sender_count is {count}; expected at most {}, the hosts of [topology] besides the receiver",
            hosts.len()
        ));
    }
    Ok(hosts)
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct PermutationKeys {
    /// Payload bytes of each flow.
    size: Payload,
    /// Simulated time at which the flow starts, or the first of several.
    #[serde(default)]
    start: Time,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = ORDINARY_PORT))]
    dport: Option<u16>,
}

fn permutation(
    document: &Document<'_>,
    section: Kinded<'_>,
    context: &Context<'_>,
    index: u32,
) -> Result<Vec<Flow>, InputError> {
    let keys: PermutationKeys = document.keys_of(SECTION, section)?;
    let class = class(keys.priority, keys.dport, ORDINARY_PORT);
    let hosts: Vec<u32> = context.network.hosts().collect();
    let pairs = generate::permutation(&hosts, &mut generate::random(context.seed, index));
    Ok(pairs.into_iter().map(|(src, dst)| new_flow(src, dst, class, keys.size.0, keys.start.0)).collect())
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct PoissonKeys {
    /// What each host offers on average, as a share of what its first link carries. A larger value starts flows more
    /// often.
    load: Fraction<2>,
    /// The distribution of flow sizes: websearch or fb_hadoop, or the name of a workload file, relative to the scenario's
    /// folder, then to the working folder.
    #[schemars(with = "String")]
    sizes: Spanned<String>,
    /// Simulated time before which no flow starts.
    #[serde(default)]
    start: Time,
    /// Length of simulated time, from `start` on, in which flows start; those that have started then go on to their
    /// end.
    duration: Time,
    /// Share of the flows that go to a host of the sender's rack, 1 for all; without it racks make no difference.
    rack_share: Option<Probability>,
    /// Hosts that receive more or fewer flows than others, as a list of `{ hosts, weight }`; without it all receive
    /// alike.
    #[serde(default)]
    #[schemars(with = "Vec<WeightKeys>")]
    weights: Vec<Spanned<WeightKeys>>,
    /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
    /// service.
    #[schemars(extend("default" = DATA_PRIORITY))]
    priority: Priority,
    /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
    /// not (`transport.queue_pairs`).
    #[schemars(extend("default" = ORDINARY_PORT))]
    dport: Option<u16>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "weights such as { hosts = [0, 1], weight = 4 }")]
struct WeightKeys {
    /// The hosts: a list of numbers, or a text with numbers and ranges, such as `0-3, 6`.
    hosts: HostNames,
    /// How many flows each of them receives for one that a host without a weight does.
    weight: Bounded<0, 1_000_000>,
}

/// How destinations are drawn, if not all hosts are equal.
fn pairs(
    document: &Document<'_>,
    keys: &PoissonKeys,
    context: &Context<'_>,
    origin: &Origin,
) -> Result<Option<Arc<Pairs>>, InputError> {
    if keys.rack_share.is_none() && keys.weights.is_empty() {
        return Ok(None);
    }
    let network = context.network;
    let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
    for entry in &keys.weights {
        let error = |message: String| document.place(entry.span()).key_error("traffic.weights", message);
        let hosts = match &entry.get_ref().hosts {
            HostNames::List(list) => list.clone(),
            HostNames::Text(text) => NodeSet::parse(text, network).map_err(error)?.iter().collect(),
        };
        for host in hosts {
            let refuse = |message: String| Err(error(message));
            if !network.is_host(host) {
                return refuse(format!("there is no host {host}; expected hosts of [topology]"));
            }
            if weights.insert(host, entry.get_ref().weight.0.into()).is_some() {
                return refuse(format!("host {host} has two weights; expected one"));
            }
        }
    }
    let share = keys.rack_share.map(|share| share.0);
    let pairs = Pairs::new(network, share, |host| weights.get(&host).copied().unwrap_or(1));
    pairs.map(|pairs| Some(Arc::new(pairs))).map_err(|message| origin.error(&["rack_share", "weights"], message))
}

fn poisson(document: &Document<'_>, section: Kinded<'_>, context: &Context<'_>) -> Result<Poisson, InputError> {
    let origin = section.origin.clone();
    let keys: PoissonKeys = document.keys_of(SECTION, section)?;
    let sizes = match Cdf::shipped(keys.sizes.get_ref()) {
        Some(sizes) => sizes,
        None => Cdf::read(&input(document, context, &keys.sizes, "sizes")?)?,
    };
    let pairs = pairs(document, &keys, context, &origin)?;
    let traffic = Poisson {
        hosts: host_rates(context.network).into(),
        sizes: Arc::new(sizes),
        pairs,
        load: keys.load.0,
        start: keys.start.0,
        duration: keys.duration.0,
        class: class(keys.priority, keys.dport, ORDINARY_PORT),
    };
    traffic.check().map_err(|wrong| origin.error(&[wrong.key], wrong.message))?;
    Ok(traffic)
}

/// Each host that has a link, with the rate of its first.
fn host_rates(network: &Network) -> Vec<(u32, BitRate)> {
    let ports = network.ports();
    let first = |host: u32| ports[host as usize].first().map(|port| network.links[port.link as usize].rate);
    network.hosts().filter_map(|host| Some((host, first(host)?))).collect()
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileKeys {
    /// Name of a file with the flows in the reference's format, which `configs/README.md` describes, relative to the
    /// scenario's folder, then to the working folder. It has the number of flows and for each, sorted by start,
    /// `SRC DST PRIORITY DPORT BYTES START`, with the start in seconds.
    #[schemars(with = "String")]
    path: Spanned<String>,
}

fn file(document: &Document<'_>, section: Kinded<'_>, context: &Context<'_>) -> Result<FlowSource, InputError> {
    let keys: FileKeys = document.keys_of(SECTION, section)?;
    let (file, _) = FlowFile::new(&input(document, context, &keys.path, "path")?, context.rounding)?;
    Ok(FlowSource::File(file))
}

/// The path of a file that a key names.
fn input(
    document: &Document<'_>,
    context: &Context<'_>,
    name: &Spanned<String>,
    key: &str,
) -> Result<std::path::PathBuf, InputError> {
    let place = document.place(name.span());
    let name = name.get_ref();
    resolve(context.config, name).ok_or_else(|| place.key_error(format!("traffic.{key}"), no_file(key, name)))
}
