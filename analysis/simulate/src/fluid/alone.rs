// SPDX-License-Identifier: GPL-2.0-only
//! What a flow would be alone: how fast at most, and how much later than its last byte leaves it is over. Most flows of a
//! network are of few kinds, and each is reckoned once.

use super::paths::{Ends, Paths, Step};
use super::quick::QuickMap;
use super::sharing::Sharing;
use super::streams::{StreamDemand, Use};
use hpcc_core::address::host_address;
use hpcc_core::balance::FlowKey;
use hpcc_core::engine::FlowRequest;
use hpcc_core::fabric::{Fabric, IdealFlow};
use hpcc_core::node::NodeSettings;
use hpcc_core::transport::feedback::FeedbackContent;
use hpcc_core::transport::{TransportConfig, UnloadedFlow};
use hpcc_core::units::Nanos;
use hpcc_model::scenario::Scenario;
use std::collections::HashMap;

/// A message alone, in ns and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone {
    /// Until it is acknowledged, as results tell it.
    pub ideal: Nanos,
    /// All of its frames on its first link, but what a pace of its own lets leave sooner.
    pub bytes: f64,
    /// From when its last byte has left to when it has arrived, and to when that is acknowledged.
    pub arrival: u64,
    pub acknowledgement: u64,
}

/// What is the same of many flows.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// The most that links let through, and that the flow may take besides, in bytes/ns.
    links: f64,
    most: f64,
}

/// A host's settings, and what its flows weigh.
struct Model {
    settings: NodeSettings,
    transport: TransportConfig,
    flow: UnloadedFlow,
    /// The same to a host that answers no telemetry.
    unanswered: UnloadedFlow,
    packet: f64,
}

impl Model {
    fn new(settings: &NodeSettings) -> Model {
        let flow = settings.ideal_flow();
        let unanswered = flow.clone().without_answers(false);
        let packet = flow.bytes_on_link(many(settings), 0);
        Model { settings: settings.clone(), transport: settings.transport(), flow, unanswered, packet }
    }

    /// By how much frames are longer behind so many switches that add a record.
    fn growth(&self, records: u8) -> f64 {
        self.flow.bytes_on_link(many(&self.settings), records) / self.packet
    }
}

/// So many bytes that what is once in a flow does not count.
fn many(settings: &NodeSettings) -> u64 {
    settings.transport.mtu.0.max(1) << 20
}

/// All that is known of flows alone.
pub struct Solo {
    /// Of common hosts, and of legacy ones.
    models: Vec<Model>,
    legacy: Vec<bool>,
    silent: Vec<bool>,
    /// The class of each link: links of one rate and delay are one.
    classes: Vec<u32>,
    kinds: Vec<Kind>,
    known_kinds: QuickMap<Box<[u32]>, u32>,
    /// What a flow's kind is found by: here, so that no flow allocates it.
    words: Vec<u32>,
    /// The links of a flow's data and answers, likewise.
    steps: [Vec<Step>; 2],
    known: QuickMap<(u32, u64), Alone>,
}

/// A stream as it is opened.
#[derive(Clone, Debug)]
pub struct Opened {
    pub course: StreamDemand,
    pub kind: u32,
}

impl Solo {
    pub fn new(scenario: &Scenario) -> Solo {
        let nodes = scenario.network.nodes.len();
        let mut legacy = vec![false; nodes];
        scenario.legacy.nodes.iter().for_each(|&node| legacy[node as usize] = scenario.legacy.settings.is_some());
        let models = std::iter::once(&scenario.settings).chain(&scenario.legacy.settings).map(Model::new);
        let models: Vec<Model> = models.collect();
        let is_silent = |model: &Model| model.settings.feedback.content == FeedbackContent::Nothing;
        let silent = legacy.iter().map(|&legacy| is_silent(&models[usize::from(legacy)])).collect();
        Solo {
            models,
            legacy,
            silent,
            classes: classes(scenario),
            kinds: Vec::new(),
            known_kinds: QuickMap::default(),
            words: Vec::new(),
            steps: Default::default(),
            known: QuickMap::default(),
        }
    }

    /// Links have other rates or routes: what was known of kinds is void.
    pub fn forget(&mut self) {
        self.known_kinds.clear();
        self.known.clear();
    }

    fn model(&self, src: u32) -> &Model {
        &self.models[usize::from(self.legacy[src as usize])]
    }

    /// The course of a flow, if a path leads to its destination.
    pub fn open(
        &mut self,
        fabric: &Fabric,
        paths: &mut Paths,
        sharing: &Sharing,
        flow: &FlowRequest,
        sport: u16,
    ) -> Option<Opened> {
        let [mut there, mut back] = std::mem::take(&mut self.steps);
        paths.find(fabric, &self.ends(flow, sport, false), &mut there);
        paths.find(fabric, &self.ends(flow, sport, true), &mut back);
        let opened = (!there.is_empty()).then(|| self.open_by(fabric, sharing, flow, (&there, &back)));
        self.steps = [there, back];
        opened
    }

    /// The course of a flow whose data and answers take these links.
    fn open_by(
        &mut self,
        fabric: &Fabric,
        sharing: &Sharing,
        flow: &FlowRequest,
        (there, back): (&[Step], &[Step]),
    ) -> Opened {
        let model = self.model(flow.src);
        let unloaded = if self.silent[flow.dst as usize] { &model.unanswered } else { &model.flow };
        let answers = unloaded.answer_share(usize::from(there.last().map_or(0, |step| step.records)) + 1) as f32;
        let data = there.iter().map(|step| step.taken(|records| model.growth(records)));
        let answers = back.iter().map(|step| Use::new(step.link, step.part * answers));
        let uses: Box<[Use]> = data.chain(answers).collect();
        let count = there.len() as u32;
        let kind = self.kind(fabric, flow, (there, back), &uses[..there.len()], sharing);
        let most = self.kinds[kind as usize].most;
        let class = flow.priority & 7;
        Opened { course: StreamDemand { uses, data: count, most, class }, kind }
    }

    /// The payload of a full packet from a host.
    pub fn packet(&self, src: u32) -> u64 {
        self.model(src).settings.transport.mtu.0.max(1)
    }

    fn ends(&self, flow: &FlowRequest, sport: u16, is_answer: bool) -> Ends {
        let &FlowRequest { src, dst, dport, priority, options, .. } = flow;
        let settings = &self.model(src).settings;
        let port = settings.wire.profile.port();
        let (from, to) = if is_answer { (dst, src) } else { (src, dst) };
        let key =
            |sport, dport| FlowKey { src_address: host_address(from), dst_address: host_address(to), sport, dport };
        // Answers have the same ports as data where the destination port is that of the protocol.
        let key = match port {
            Some(port) => key(sport, port),
            None if is_answer && settings.host_transport.is_queue_pairs() => key(dport, sport),
            None => key(sport, dport),
        };
        let nic = options.nic.filter(|_| !is_answer);
        Ends { src: from, dst: to, key, priority, nic, is_answer }
    }

    /// The kind of a flow with these steps, of which those there take so much.
    fn kind(
        &mut self,
        fabric: &Fabric,
        flow: &FlowRequest,
        (there, back): (&[Step], &[Step]),
        data: &[Use],
        sharing: &Sharing,
    ) -> u32 {
        let (rtt, bdp, _) = match self.model(flow.src).transport.global_rtt {
            true => (fabric.max_rtt(), fabric.max_bdp(), 0),
            false => fabric.path_limits(flow.src, flow.dst, false),
        };
        let word =
            |step: &Step| [self.classes[(step.link / 2) as usize] << 8 | u32::from(step.records), step.part.to_bits()];
        let rate = flow.options.rate.0;
        let own = [rtt.0 as u32, rate as u32, (rate >> 32) as u32, u32::from(self.legacy[flow.src as usize])];
        self.words.clear();
        self.words.extend(there.iter().flat_map(word));
        self.words.push(u32::from(self.silent[flow.dst as usize]));
        self.words.extend(back.iter().flat_map(word));
        self.words.extend(own);
        if let Some(&known) = self.known_kinds.get(&*self.words) {
            return known;
        }
        let links =
            data.iter().map(|own| sharing.capacity(own.link) / f64::from(own.share)).fold(f64::INFINITY, f64::min);
        let model = self.model(flow.src);
        let line = fabric.links(flow.src).map(|link| link.0).max().unwrap_or_default();
        let transport = &model.transport;
        let window = transport.bounded(transport.first_window(line, rtt, bdp), line, rtt);
        let own_rtt = fabric.path_limits(flow.src, flow.dst, false).0;
        let by_window = match window {
            0 => f64::INFINITY,
            bytes => bytes as f64 / own_rtt.0.max(1) as f64 * model.packet / many(&model.settings) as f64,
        };
        let by_rate = flow.options.rate.0 as f64 / 8e9;
        self.kinds.push(Kind { links: links.min(by_rate), most: links.min(by_rate).min(by_window) });
        let number = self.kinds.len() as u32 - 1;
        self.known_kinds.insert(self.words.as_slice().into(), number);
        number
    }

    /// A message of a flow of a kind, alone.
    pub fn message(&mut self, fabric: &Fabric, kind: u32, flow: &FlowRequest, sport: u16) -> Alone {
        if let Some(&known) = self.known.get(&(kind, flow.size)) {
            return known;
        }
        let &FlowRequest { src, dst, dport, size, start, ref options, .. } = flow;
        let model = self.model(src);
        let own = (options.nic, options.rate);
        let (ports, priority, during) = (Some((sport, dport)), Some(flow.priority), (start, start));
        let ideal = IdealFlow { src, dst, ports, priority, size, own, during };
        let time = fabric.ideal_fct(&ideal, &model.settings);
        let arrival = fabric.ideal_arrival(&ideal, &model.settings);
        let links = self.kinds[kind as usize].links;
        // A slow flow keeps its pace between packets, not behind the last one: no byte leaves after it has arrived.
        let bytes = model.flow.bytes_on_link(size, 0).min(arrival.0 as f64 * links);
        // As streams round their ends.
        let sending = (bytes / links + 0.5) as u64;
        let acknowledgement = time.0.saturating_sub(sending);
        let alone = Alone { ideal: time, bytes, arrival: arrival.0.saturating_sub(sending), acknowledgement };
        self.known.insert((kind, size), alone);
        alone
    }
}

/// The class of each link.
fn classes(scenario: &Scenario) -> Vec<u32> {
    let mut known = HashMap::new();
    let links = scenario.network.links.iter();
    links
        .map(|link| {
            let next = known.len() as u32;
            *known.entry((link.rate.0, link.delay.0)).or_insert(next)
        })
        .collect()
}
