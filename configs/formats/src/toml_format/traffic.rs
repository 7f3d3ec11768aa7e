// SPDX-License-Identifier: GPL-2.0-only
//! `[[traffic]]`.

use super::collective::{Messages, Operation};
use super::document::Document;
use super::inference::Inference;
use super::job_file::{ByCollectives, Chakra, ConnectionMatrix, Goal, Simai, Transformer};
use super::keys::{Group, INTERVAL, Key, Kinds, Lasting, OfKind, PAYLOAD, SHARE, Section, Tables, keys, kinds};
use super::placement::{Job, Placed};
use super::remarks::Remarks;
use super::servers;
use super::uneven::Uneven;
use hpcc_core::engine::{ENDLESS, FlowOptions};
use hpcc_core::settings::quantity;
use hpcc_core::topology::{Network, NodeSet};
use hpcc_core::units::{BitRate, Bytes, Nanos, Rounding};
use hpcc_core::workload::Servers;
use hpcc_model::error::InputError;
use hpcc_model::flow::Flow;
use hpcc_model::flow_file::{Columns, FlowFile, FlowForm};
use hpcc_model::flows::{FlowSource, Traffic};
use hpcc_model::generate::{self, Cdf, Class, Offer, Pairs, Poisson, Random, RandomIncast};
use hpcc_model::job::JobSpec;
use hpcc_model::jobs::Tuning;
use hpcc_model::jobs::hardware::Profiles;
use hpcc_model::memory::Budget;
use hpcc_model::origin::Origin;
use hpcc_model::place::Place;
use hpcc_model::scenario::host;
use hpcc_model::text::{no_file, resolve};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECTION: &str = "traffic";

/// Longer names do not fit into a legend.
const LONGEST_NAME: usize = 32;

/// Most incasts of one section.
const MAX_REPEATS: u32 = 1_000_000;

/// Highest rates of flows.
const RATES: RangeInclusive<BitRate> = BitRate(1_000_000)..=BitRate(quantity::LARGEST);

keys! {
    /// Of all kinds.
    Name {
        /// Name of the flows in results; by default their kind.
        name: Option<String>;
    }
    /// Of flows that are not from a file.
    Service {
        /// Priority of the packets, which is their queue at switches. Change it to put flows into another class of
        /// service.
        priority: u8 {1..=7} = 3;
    }
    Port {
        /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
        /// not (`transport.queue_pairs`).
        dport: u16 = 100;
    }
    IncastPort {
        /// Destination port of each flow. Change it where flows of one pair of hosts should share a queue pair, or should
        /// not (`transport.queue_pairs`).
        dport: u16 = 200;
    }
    Size {
        /// Payload bytes of each flow.
        size: Bytes {PAYLOAD};
    }
    /// Of flows that begin and end.
    Carried {
        /// Payload bytes of each flow, or `endless`: such a flow is under way to the end of the run, or to `stop`, and the run
        /// does not wait for it.
        size: Lasting {PAYLOAD};
        /// Simulated time at which each flow sends its last packet, even if that is not all.
        stop: Option<Nanos> {INTERVAL};
    }
    /// Of flows that are not from a file.
    Own {
        /// The link of its host, counted from 0 in the order of the topology, by which each flow leaves while that leads to its
        /// destination; without it a hash chooses among the links that do.
        nic: Option<u8>;
        /// Highest rate of each flow, which sends as if the port of its host had no higher one.
        rate: Option<BitRate> {RATES};
    }
    Turns {
        /// How long the host sends.
        on: Nanos {INTERVAL};
        /// For how long it then sends nothing.
        off: Nanos {INTERVAL};
    }
    Start {
        /// Simulated time at which the flow starts, or the first of several.
        start: Nanos = Nanos(0);
    }
    /// Of random traffic.
    Window {
        /// Simulated time before which no flow starts.
        start: Nanos = Nanos(0);
    }
    Duration {
        /// Length of simulated time, from `start` on, in which flows start; those that have started then go on to their
        /// end.
        duration: Nanos;
    }
    Ends {
        /// Number of the host that sends.
        src: u32;
        /// Number of the host that receives.
        dst: u32;
    }
    Incast {
        /// Number of the one host that all send to.
        receiver: u32;
        /// The hosts that send, such as `[1, 2]`, `"1-8"` or `"hosts"`.
        senders: Option<String>;
        /// How many hosts send, in place of `senders`: the hosts with the lowest numbers, without the receiver.
        sender_count: Option<u32>;
    }
    /// Of patterns, and of random traffic.
    Pattern {
        /// The hosts that take part, such as `"0-7"`; without it all.
        hosts: Option<String>;
    }
    Permuted {
        /// How many flows there are; without it one from each host. Beyond one from each host, further permutations follow.
        flows: Option<u32> {1..=MAX_REPEATS};
    }
    Exchange {
        /// To how many others each host sends, drawn at random; without it to all.
        peers: Option<u32> {1..=MAX_REPEATS};
    }
    Periodic {
        /// Time from one incast to the next.
        interval: Nanos {INTERVAL};
    }
    Drawn {
        /// How many hosts send to one at the same moment; senders and receiver are drawn anew each time.
        fan_in: u32 {1..=1_000_000};
        /// Average load as a share of the capacity of all hosts' first links together. A larger value starts incasts more
        /// often.
        load: f64 {SHARE};
    }
    Loaded {
        /// Average load of each host as a share of its first link's capacity. A larger value starts flows more often.
        load: f64 {SHARE};
        /// The distribution of flow sizes: websearch or fb_hadoop, or the name of a workload file, relative to the
        /// scenario's folder, then to the working folder.
        sizes: String;
        /// Share of the flows that go to a host of the sender's rack, 1 for all; without it racks make no difference.
        rack_share: Option<f64> {SHARE};
        /// Hosts that receive more or fewer flows than others, as a list of `{ hosts, weight }`; without it all receive
        /// alike.
        weights: Option<Tables<Weight>> {"{ hosts = [0, 1], weight = 4 }"};
    }
    Weight {
        /// The hosts: a list of numbers, or a text with numbers and ranges, such as `0-3, 6`.
        hosts: String;
        /// How many flows each of them receives for one that a host without a weight does.
        weight: u64 {0..=1_000_000};
    }
    File {
        /// Name of a file with the flows in the 2019 simulator's format, which `configs/README.md` describes, relative
        /// to the scenario's folder, then to the working folder. It has the number of flows and for each, sorted by
        /// start,
        /// `SRC DST PRIORITY DPORT BYTES START`, with the start in seconds.
        path: String;
        /// The columns of the file, such as `src dst priority packets start skip`: `src`, `dst`, `start`, `size` or `packets`,
        /// and perhaps `priority`, `dport`, and `skip` for a word that does not count. Without it they are those of the
        /// 2019 simulator, unless the first flows tell that they are others.
        columns: Option<String>;
    }
}

keys! {
    /// Of flows that are not from a file.
    Flows { own: Own, service: Service, port: Port }
    /// The same of incasts.
    Incasts { own: Own, service: Service, port: IncastPort }
}

kinds! {
    /// The keys of each kind.
    Kind(Name) {
        "flow" => Flow { ends: Ends, carried: Carried, start: Start, flows: Flows };
        "on_off" => OnOff { ends: Ends, turns: Turns, start: Start, duration: Duration, flows: Flows };
        "incast" => Incast { incast: Incast, carried: Carried, start: Start, flows: Incasts };
        "periodic_incast" => PeriodicIncast {
            incast: Incast, size: Size, start: Start, periodic: Periodic, duration: Duration, flows: Incasts
        };
        "random_incast" => RandomIncast {
            drawn: Drawn, pattern: Pattern, size: Size, window: Window, duration: Duration, flows: Incasts
        };
        "permutation" => Permutation {
            permuted: Permuted, pattern: Pattern, carried: Carried, start: Start, flows: Flows
        };
        "all_to_all" => AllToAll { exchange: Exchange, pattern: Pattern, carried: Carried, start: Start, flows: Flows };
        "poisson" => Poisson { loaded: Loaded, pattern: Pattern, window: Window, duration: Duration, flows: Flows };
        "file" => File { file: File };
        "collective" => Collective { operation: Operation, messages: Messages, job: Job };
        "chakra" => Chakra { file: Chakra, by: ByCollectives, uneven: Uneven, job: Job };
        "connection_matrix" => ConnectionMatrix { file: ConnectionMatrix, job: Job };
        "goal" => Goal { file: Goal, uneven: Uneven, job: Job };
        "transformer" => Transformer { model: Transformer, by: ByCollectives, uneven: Uneven, job: Job };
        "inference" => Inference { model: Inference, by: ByCollectives, uneven: Uneven, job: Job };
        "simai" => Simai { file: Simai, by: ByCollectives, uneven: Uneven, job: Job };
    }
}

/// Whether any section is a job, in which messages wait for others.
pub(super) fn has_jobs(document: &Document<'_>) -> bool {
    let (kinds, placed) = (Kind::kinds(), Placed::keys());
    let is_of_job = |key: &&Key| placed.iter().any(|of_job| std::ptr::eq(*of_job, *key));
    let is_job = |name: &str| kinds.iter().any(|kind| kind.name == name && kind.own.iter().any(is_of_job));
    document.values(SECTION, "kind").any(is_job)
}

/// What every kind of traffic needs to know.
pub(super) struct Context<'a> {
    pub config: &'a Path,
    pub network: &'a Network,
    pub servers: Option<Servers>,
    /// PXN is on, and nobody said so.
    pub has_usual_pxn: bool,
    /// Of the hardware.
    pub profiles: Profiles,
    /// What is to be told of defaults.
    pub told: &'a RefCell<Remarks>,
    /// Of the 2019 simulator's start times in seconds.
    rounding: Rounding,
    /// Payload of a full packet.
    mtu: Bytes,
    /// Memory that all sections may take together.
    pub budget: &'a Budget,
    /// The section.
    pub origin: &'a Origin,
}

impl Context<'_> {
    /// An error that blames a key, or the section.
    pub fn error(&self, key: &str, message: impl Into<String>) -> InputError {
        self.origin.error(&[key], message)
    }

    /// The hosts of GPUs.
    pub fn hosts_of(&self, gpus: &[u32]) -> Vec<u32> {
        gpus.iter().map(|&gpu| self.servers.map_or(gpu, |servers| servers.host_of(gpu))).collect()
    }

    /// How many links each of these hosts has.
    pub fn links_of(&self, hosts: &[u32]) -> Vec<u32> {
        let mut links = vec![0; self.network.nodes.len()];
        self.network.links.iter().flat_map(|link| [link.a, link.b]).for_each(|node| links[node as usize] += 1);
        hosts.iter().map(|&host| links[host as usize]).collect()
    }

    /// What the model of collectives knows of the machines on which the ranks of a job are.
    pub fn tuning(&self, hosts: &[u32]) -> Tuning {
        Tuning::new(hosts, self.servers, self.network).on(self.profiles)
    }

    /// The path of a file that a key names.
    pub fn file(&self, key: &str, name: &str) -> Result<PathBuf, InputError> {
        resolve(self.config, name).ok_or_else(|| self.error(key, no_file(key, name)))
    }

    /// Takes the memory of so many flows, or says which key makes them too many.
    fn room(&self, flows: u64, key: &str) -> Result<(), InputError> {
        let taken = self.budget.take(flows * size_of::<Flow>() as u64, &format!("{flows} flows"));
        taken.map_err(|message| self.origin.error(&[key, "kind"], message))
    }

    /// Refuses what is no host, and a sender that is the receiver.
    fn check_ends(&self, to: (&str, u32), from: &str, senders: &[u32]) -> Result<(), InputError> {
        let (receiver, same) = to;
        for (key, node) in [to].into_iter().chain(senders.iter().map(|&sender| (from, sender))) {
            host(self.network, node).map_err(|why| self.error(key, format!("{key} is {why}")))?;
            if key == from && node == same {
                let message = format!("{key} and {receiver} are the same host, {same}; expected two");
                return Err(self.error(key, message));
            }
        }
        Ok(())
    }
}

/// Where the flows of each section come from, with their names, in the order of the sections.
pub(super) fn read(
    document: &mut Document<'_>,
    config: &Path,
    network: &Network,
    (servers, profiles): (Option<&servers::Given>, Profiles),
    seed: u64,
    (rounding, mtu): (Rounding, Bytes),
) -> Result<(Vec<Traffic>, Remarks), InputError> {
    let told = &RefCell::default();
    let has_usual_pxn = servers.is_some_and(|given| given.pxn_is_usual && given.servers.pxn);
    let servers = servers.map(|given| given.servers);
    let budget = &Budget::new().map_err(|why| Place::environment().error(why))?;
    let mut traffic = Vec::new();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for entry in document.list(SECTION)? {
        let OfKind { section, name, kind, common } = OfKind::of(SECTION, &entry)?;
        let origin = &section.origin;
        let context =
            Context { config, network, servers, has_usual_pxn, profiles, told, rounding, mtu, budget, origin };
        let group = group(name, &common, &context)?;
        let chance = name_of_chance(name, &common, &section);
        let number = known.entry(chance.clone()).and_modify(|number| *number += 1).or_insert(0);
        let mut random = generate::random(seed, &chance, *number);
        let (source, offer) = read_one(kind, &context, &mut random)?;
        traffic.push(Traffic { group, source, offer });
    }
    Ok((traffic, told.take()))
}

/// The name of a section's flows in results: its own, or its kind.
fn group(kind: &str, Name { name }: &Name, context: &Context<'_>) -> Result<String, InputError> {
    let Some(name) = name else { return Ok(kind.into()) };
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(safe) {
        return Ok(name.clone());
    }
    let expected = format!("a text of 1 to {LONGEST_NAME} letters, digits, - _ . +");
    Err(context.error("name", format!("\"{name}\" is no name; expected {expected}")))
}

/// Whose chance a section's random choices are: its name's. A section without one is known by all that it says, but for its times: so
/// others may come and go, before it and behind it, and a shift of time shifts what it draws. Of several with one name their order
/// decides.
fn name_of_chance(kind: &str, Name { name }: &Name, section: &Section<'_>) -> String {
    name.as_ref().map_or_else(|| format!("{kind} {}", section.text(&["start", "stop"])), |name| format!("name {name}"))
}

fn read_one(kind: Kind, context: &Context<'_>, random: &mut Random) -> Result<(FlowSource, Option<Offer>), InputError> {
    let origin = || Arc::new(context.origin.clone());
    let listed = |flows: Vec<Flow>| FlowSource::Listed { flows: flows.into(), origin: origin() };
    let between = |pairs: Vec<(u32, u32)>, each: Flow| {
        listed(pairs.into_iter().map(|(src, dst)| Flow { src, dst, ..each }).collect())
    };
    let job = |job: JobSpec| FlowSource::Job { job: Arc::new(job), origin: origin() };
    let mut offer = None;
    let source = match kind {
        Kind::Flow { ends, carried, start, flows } => {
            ends.check(context)?;
            between(vec![(ends.src, ends.dst)], carried.flow(flows.class(), start.start))
        }
        Kind::OnOff { ends, turns, start, duration, flows } => {
            ends.check(context)?;
            let first = Flow { src: ends.src, dst: ends.dst, ..flows.class().flow(ENDLESS, start.start) };
            listed(turns.flows(first, duration.duration, context)?)
        }
        Kind::Incast { incast, carried, start, flows } => {
            between(incast.pairs(context)?, carried.flow(flows.class(), start.start))
        }
        Kind::PeriodicIncast { incast, size, start, periodic, duration, flows } => {
            let (pairs, each) = (incast.pairs(context)?, flows.class().flow(size.size.0, start.start));
            listed(periodic.flows(&pairs, each, duration.duration, context)?)
        }
        Kind::RandomIncast { drawn, pattern, size, window, duration, flows } => {
            let traffic = RandomIncast {
                hosts: host_rates(&pattern.hosts(context)?, context.network),
                fan_in: drawn.fan_in as usize,
                size: size.size.0,
                load: some(drawn.load, context)?,
                start: window.start,
                duration: duration.duration,
                class: flows.class(),
            };
            traffic.check().map_err(|wrong| context.error(wrong.key, wrong.message))?;
            context.room(traffic.expected() as u64, "load")?;
            offer = Some(traffic.offer());
            listed(traffic.flows(random))
        }
        Kind::Permutation { permuted, pattern, carried, start, flows } => {
            let pairs = permuted.pairs(&pattern.several(context)?, context, random)?;
            between(pairs, carried.flow(flows.class(), start.start))
        }
        Kind::AllToAll { exchange, pattern, carried, start, flows } => {
            let pairs = exchange.pairs(&pattern.several(context)?, context, random)?;
            between(pairs, carried.flow(flows.class(), start.start))
        }
        Kind::Poisson { loaded, pattern, window, duration, flows } => {
            let sizes = match Cdf::shipped(&loaded.sizes) {
                Some(sizes) => sizes,
                None => Cdf::read(&context.file("sizes", &loaded.sizes)?)?,
            };
            let hosts = pattern.hosts(context)?;
            let traffic = Poisson {
                hosts: host_rates(&hosts, context.network).into(),
                sizes: Arc::new(sizes),
                pairs: loaded.pairs(&hosts, context)?,
                load: some(loaded.load, context)?,
                start: window.start,
                duration: duration.duration,
                class: flows.class(),
            };
            traffic.check().map_err(|wrong| context.error(wrong.key, wrong.message))?;
            offer = Some(traffic.offer());
            FlowSource::Poisson { traffic, random: random.clone(), origin: origin() }
        }
        Kind::File { file: File { path, columns } } => {
            let columns = columns.map(|columns| Columns::parse(&columns)).transpose();
            let columns = columns.map_err(|message| context.error("columns", message))?;
            let form = FlowForm { columns, mtu: context.mtu, rounding: context.rounding };
            FlowSource::File(FlowFile::new(&context.file("path", &path)?, form)?.0)
        }
        Kind::Collective { operation, messages, job: of } => job(operation.job(&messages, &of, context, random)?),
        Kind::Goal { file, uneven, job: of } => {
            let read = of.read(context, random, |ranks| file.read(ranks, context))?;
            job(uneven.of(read, context, random)?)
        }
        Kind::ConnectionMatrix { file, job: of } => job(of.read(context, random, |ranks| file.read(ranks, context))?),
        Kind::Chakra { file, by, uneven, job: of } => {
            let read = of.read(context, random, |ranks| file.read(&by, ranks, context))?;
            job(by.told(uneven.of(read, context, random)?, context))
        }
        Kind::Transformer { model, by, uneven, job: of } => {
            let read = of.read(context, random, |ranks| model.read(&by, ranks, context))?;
            job(by.told(uneven.of(read, context, random)?, context))
        }
        Kind::Inference { model, by, uneven, job: of } => {
            let requests = model.requests(context, random)?;
            let read = of.read(context, random, |ranks| model.read(&requests, &by, ranks, context))?;
            let read = JobSpec { requests: requests.into(), ..read };
            job(by.told(uneven.of(read, context, random)?, context))
        }
        Kind::Simai { file, by, uneven, job: of } => {
            let read = of.read(context, random, |ranks| file.read(&by, ranks, context))?;
            job(by.told(uneven.of(read, context, random)?, context))
        }
    };
    Ok((source, offer))
}

impl Own {
    fn class(&self, Service { priority }: &Service, dport: u16) -> Class {
        let none = FlowOptions::NONE;
        let options = FlowOptions { nic: self.nic, rate: self.rate.unwrap_or(none.rate), ..none };
        Class { priority: *priority, dport, options }
    }
}

impl Flows {
    fn class(&self) -> Class {
        self.own.class(&self.service, self.port.dport)
    }
}

impl Incasts {
    fn class(&self) -> Class {
        self.own.class(&self.service, self.port.dport)
    }
}

impl Carried {
    /// The same with what it carries.
    fn flow(&self, class: Class, start: Nanos) -> Flow {
        let options = FlowOptions { stop: self.stop.unwrap_or(class.options.stop), ..class.options };
        Class { options, ..class }.flow(self.size.0, start)
    }
}

impl Ends {
    fn check(&self, context: &Context<'_>) -> Result<(), InputError> {
        context.check_ends(("dst", self.dst), "src", &[self.src])
    }
}

impl Turns {
    /// Each time that the host sends is a flow, which stops when that time is over.
    fn flows(&self, first: Flow, duration: Nanos, context: &Context<'_>) -> Result<Vec<Flow>, InputError> {
        let period = self.on.0.saturating_add(self.off.0);
        let times = duration.0.div_ceil(period);
        if times > MAX_REPEATS.into() {
            let message = format!("the host sends {times} times; expected at most {MAX_REPEATS}");
            return Err(context.error("on", message));
        }
        context.room(times, "on")?;
        let end = first.start.0.saturating_add(duration.0);
        let nth = |number: u64| {
            let start = first.start.0.saturating_add(number * period);
            let options = FlowOptions { stop: Nanos(start.saturating_add(self.on.0).min(end)), ..first.options };
            Flow { start: Nanos(start), options, ..first }
        };
        Ok((0..times).map(nth).collect())
    }
}

impl Incast {
    /// Who sends to whom.
    fn pairs(&self, context: &Context<'_>) -> Result<Vec<(u32, u32)>, InputError> {
        let refuse = |message: String| Err(context.origin.error(&["senders", "sender_count"], message));
        let receiver = self.receiver;
        let list = |senders: &str| node_list(senders, Some(receiver), context.network);
        let listed =
            self.senders.as_deref().map(list).transpose().map_err(|message| context.error("senders", message))?;
        context.check_ends(("receiver", receiver), "senders", listed.as_deref().unwrap_or(&[]))?;
        let senders = match (listed, self.sender_count) {
            (Some(list), None) if !list.is_empty() => list,
            (None, Some(count)) if count > 0 => {
                let hosts = context.network.hosts().filter(|&host| host != receiver);
                let hosts: Vec<u32> = hosts.take(count as usize).collect();
                if hosts.len() < count as usize {
                    return refuse(format!(
                        "sender_count is {count}; expected at most {}, the hosts of [topology] besides the receiver",
                        hosts.len()
                    ));
                }
                hosts
            }
            (Some(_), Some(_)) => {
                return refuse("both senders and sender_count are given; expected one of them".into());
            }
            _ => return refuse("there are no senders; expected senders = [..] or sender_count = N".into()),
        };
        Ok(senders.into_iter().map(|sender| (sender, receiver)).collect())
    }
}

impl Periodic {
    fn flows(
        &self,
        pairs: &[(u32, u32)],
        each: Flow,
        duration: Nanos,
        context: &Context<'_>,
    ) -> Result<Vec<Flow>, InputError> {
        let (interval, count) = (self.interval, pairs.len() as u64);
        let repeats = duration.0.div_ceil(interval.0);
        if repeats.saturating_mul(count) > MAX_REPEATS.into() {
            let message =
                format!("{repeats} incasts of {count} flows are too many; expected at most {MAX_REPEATS} flows");
            return Err(context.error("interval", message));
        }
        context.room(repeats * count, "interval")?;
        let start = |repeat: u64| each.start + Nanos(repeat * interval.0);
        let nth = |repeat| pairs.iter().map(move |&(src, dst)| Flow { src, dst, start: start(repeat), ..each });
        Ok((0..repeats).flat_map(nth).collect())
    }
}

impl Pattern {
    /// The hosts that take part.
    fn hosts(&self, context: &Context<'_>) -> Result<Vec<u32>, InputError> {
        let named = NodeSet::parse_hosts(self.hosts.as_deref().unwrap_or("all"), context.network);
        named.map(|hosts| hosts.iter().collect()).map_err(|message| context.error("hosts", message))
    }

    /// The same, which are two or more.
    fn several(&self, context: &Context<'_>) -> Result<Vec<u32>, InputError> {
        let hosts = self.hosts(context)?;
        match hosts.len() {
            count @ (0 | 1) => Err(context.error("hosts", format!("these are {count} hosts; expected two or more"))),
            _ => Ok(hosts),
        }
    }
}

impl Permuted {
    /// Who sends to whom.
    fn pairs(&self, hosts: &[u32], context: &Context<'_>, random: &mut Random) -> Result<Vec<(u32, u32)>, InputError> {
        let flows = self.flows.map_or(hosts.len(), |flows| flows as usize);
        context.room(flows as u64, "flows")?;
        let rounds = std::iter::repeat_with(|| generate::permutation(hosts, random));
        Ok(rounds.take(flows.div_ceil(hosts.len())).flatten().take(flows).collect())
    }
}

impl Exchange {
    /// Who sends to whom.
    fn pairs(&self, hosts: &[u32], context: &Context<'_>, random: &mut Random) -> Result<Vec<(u32, u32)>, InputError> {
        let count = hosts.len();
        let peers = self.peers.map_or(count - 1, |peers| peers as usize);
        if peers >= count {
            let message = format!("peers is {peers}; expected at most {}, all others of {count} hosts", count - 1);
            return Err(context.error("peers", message));
        }
        if (count * peers) as u64 > MAX_REPEATS.into() {
            let message =
                format!("{count} hosts with {peers} peers are too many; expected at most {MAX_REPEATS} flows");
            return Err(context.error("peers", message));
        }
        context.room((count * peers) as u64, "peers")?;
        Ok(generate::all_to_all(hosts, peers, random))
    }
}

/// What is offered, as a share; more than nothing.
fn some(load: f64, context: &Context<'_>) -> Result<f64, InputError> {
    if load > 0.0 { Ok(load) } else { Err(context.error("load", "the load is 0; expected more, and at most 1")) }
}

/// The hosts of a list, in its order and as often as it names them; those of a word, such as `hosts`, are all but the receiver.
pub(super) fn node_list(text: &str, receiver: Option<u32>, network: &Network) -> Result<Vec<u32>, String> {
    let mut hosts = Vec::new();
    for part in text.split(',').map(str::trim) {
        if let Ok(number) = part.parse() {
            hosts.push(number);
            continue;
        }
        let receiver = receiver.filter(|_| part.contains(char::is_alphabetic));
        hosts.extend(NodeSet::parse_hosts(part, network)?.iter().filter(|node| Some(*node) != receiver));
    }
    Ok(hosts)
}

impl Loaded {
    /// How destinations are drawn, if not all hosts are equal.
    fn pairs(&self, hosts: &[u32], context: &Context<'_>) -> Result<Option<Arc<Pairs>>, InputError> {
        let list = self.weights.as_ref().map_or(&[][..], |weights| &weights.0);
        if self.rack_share.is_none() && list.is_empty() {
            return Ok(None);
        }
        let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
        for entry in list {
            let refuse = |message: String| entry.origin.section().key_error("traffic.weights", message);
            for host in NodeSet::parse_hosts(&entry.hosts, context.network).map_err(refuse)?.iter() {
                if !hosts.contains(&host) {
                    return Err(refuse(format!("host {host} has a weight, and takes no part; expected one of hosts")));
                }
                if weights.insert(host, entry.weight).is_some() {
                    return Err(refuse(format!("host {host} has two weights; expected one")));
                }
            }
        }
        let weight = |host| weights.get(&host).copied().unwrap_or(1);
        let pairs = Pairs::new(hosts, context.network, self.rack_share, weight);
        let refuse = |message: String| context.origin.error(&["rack_share", "weights"], message);
        pairs.map(|pairs| Some(Arc::new(pairs))).map_err(refuse)
    }
}

/// Each of these hosts that has a link, with the rate of its first.
fn host_rates(hosts: &[u32], network: &Network) -> Vec<(u32, BitRate)> {
    let ports = network.ports();
    let first = |host: u32| ports[host as usize].first().map(|port| network.links[port.link as usize].rate);
    hosts.iter().filter_map(|&host| Some((host, first(host)?))).collect()
}
