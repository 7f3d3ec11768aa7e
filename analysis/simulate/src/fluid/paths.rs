// SPDX-License-Identifier: GPL-2.0-only
//! Which links a flow takes, and how much of each: the choices of the engine's hosts and switches, without a packet.

use super::streams::Use;
use hpcc_core::balance::{Choice, EcmpBalancer, FlowKey, HOST_SEED, LoadBalancer, Ports};
use hpcc_core::fabric::Fabric;
use hpcc_core::node::NodeSettings;
use hpcc_core::random::Integers;
use hpcc_core::topology::routes::RouteTable;
use hpcc_core::transport::Entropy;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::scenario::Scenario;

/// The two directions of a link, in the numbers of which paths consist.
pub const DIRECTIONS: u32 = 2;

/// What a switch does with flows.
struct Node {
    table: RouteTable,
    /// `None`: by its number.
    balancer: Option<Box<dyn LoadBalancer>>,
    /// Packets of one flow leave it by all ports of a choice.
    parts: bool,
    rates: Vec<BitRate>,
}

/// The choices of all nodes.
pub struct Paths {
    nodes: Vec<Node>,
    rand: Integers,
    /// Which priorities' data switches balance.
    served: [bool; 8],
    /// Hosts spread the packets of a flow by their source ports.
    spreads: bool,
    /// Hosts send packets of a message by all links, through each node by one path or by several.
    sprays: Option<bool>,
    /// The nodes that a flow has reached, and the next ones: here, so that no flow allocates them.
    layers: [Vec<Reached>; 2],
}

/// A flow as its path depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub src: u32,
    pub dst: u32,
    pub key: FlowKey,
    pub priority: u8,
    /// The port of its host that it was given.
    pub nic: Option<u8>,
    /// An answer: no balancer spreads it.
    pub is_answer: bool,
}

/// A link that a path takes: its number and direction, the part of the flow on it, and how many switches have added records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub link: u32,
    pub part: f32,
    pub records: u8,
}

/// A node that a part of a flow has reached, past so many switches that add records.
#[derive(Clone, Copy, Debug)]
struct Reached {
    node: u32,
    part: f32,
    records: u8,
}

impl Step {
    /// What a flow whose packets grow by `growth` with records takes of it.
    pub fn taken(&self, growth: impl Fn(u8) -> f64) -> Use {
        Use::new(self.link, self.part * growth(self.records) as f32)
    }
}

struct Rates<'a>(&'a [BitRate]);

impl Ports for Rates<'_> {
    fn queued(&self, _: u16) -> u32 {
        0
    }

    fn rate(&self, port: u16) -> BitRate {
        self.0.get(usize::from(port)).copied().unwrap_or_default()
    }

    fn is_paused(&self, _: u16, _: u8) -> bool {
        false
    }
}

impl Paths {
    /// # Errors
    /// If a setting of load balancing cannot be read.
    pub fn new(scenario: &Scenario, fabric: &Fabric) -> Result<Paths, String> {
        let settings = &scenario.settings;
        let parting = settings.load_balancing.parting(&scenario.network);
        let spreads = !settings.takes_one_path(None) && settings.load_balancing.keeps()
            || !settings.host_transport.is_queue_pairs();
        let is_one_path = settings.transport.entropy == Entropy::Flow;
        let sprays = settings.host_transport.chosen().sprays().then_some(is_one_path);
        let node = |node: u32| -> Result<Node, String> {
            let balancer = match fabric.is_switch(node) {
                true => balancer(settings, scenario, node)?,
                false => None,
            };
            let rates = fabric.links(node).map(|link| link.0).collect();
            let parts = parting.get(node as usize).copied().unwrap_or(false) && fabric.is_switch(node);
            Ok(Node { table: fabric.table(node), balancer, parts, rates })
        };
        let nodes = (0..scenario.network.nodes.len() as u32).map(node).collect::<Result<_, _>>()?;
        let served = core::array::from_fn(|priority| settings.load_balancing.serves(priority as u8));
        Ok(Paths { nodes, rand: Integers::new(1), served, spreads, sprays, layers: Default::default() })
    }

    /// Links have failed, or came up.
    pub fn reroute(&mut self, fabric: &Fabric) {
        (0..).zip(&mut self.nodes).for_each(|(number, node)| node.table = fabric.table(number));
    }

    /// Finds the links of a flow, from its source on; none if no path leads to its destination.
    pub fn find(&mut self, fabric: &Fabric, ends: &Ends, steps: &mut Vec<Step>) {
        steps.clear();
        let mut layers = std::mem::take(&mut self.layers);
        layers[0].clear();
        layers[0].push(Reached { node: ends.src, part: 1.0, records: 0 });
        if self.walk(fabric, ends, &mut layers, steps).is_none() {
            steps.clear();
        }
        self.layers = layers;
    }

    /// Goes from the nodes of a layer to the next ones until all are the destination; nothing if it is not reached.
    fn walk(
        &mut self,
        fabric: &Fabric,
        ends: &Ends,
        [here, next]: &mut [Vec<Reached>; 2],
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        // No path is longer than the nodes are many.
        for _ in 0..self.nodes.len() {
            next.clear();
            for from in here.iter() {
                self.leave(fabric, ends, from, (next, steps))?;
            }
            std::mem::swap(here, next);
            if here.iter().all(|reached| reached.node == ends.dst) {
                return (!here.is_empty()).then_some(());
            }
        }
        None
    }

    /// The links by which a flow leaves a node, and the nodes behind them; nothing if there is none.
    fn leave(
        &mut self,
        fabric: &Fabric,
        ends: &Ends,
        &Reached { node, part, records }: &Reached,
        (next, steps): (&mut Vec<Reached>, &mut Vec<Step>),
    ) -> Option<()> {
        let all = if node == ends.src { self.leaves_by_all(fabric, ends) } else { self.all_hops(node, ends) };
        let one = [if all { 0 } else { self.hop(fabric, node, ends)? }];
        let hops = if all { self.nodes[node as usize].table.next_hops(ends.dst) } else { &one };
        let part = part / hops.len() as f32;
        let records = records + u8::from(fabric.stamps(node, ends.src));
        for &hop in hops {
            let port = fabric.ports(node).get(usize::from(hop))?;
            let side = u32::from(fabric.network().links[port.link as usize].a != node);
            steps.push(Step { link: port.link * DIRECTIONS + side, part, records });
            match next.iter_mut().find(|known| known.node == port.peer) {
                Some(known) => known.part += part,
                None => next.push(Reached { node: port.peer, part, records }),
            }
        }
        Some(())
    }

    /// Whether a flow leaves its host by all ports that lead on.
    fn leaves_by_all(&self, fabric: &Fabric, ends: &Ends) -> bool {
        let Some(is_one_path) = self.sprays.filter(|_| !ends.is_answer) else { return false };
        fabric.exits(ends.src, ends.dst).is_some_and(|exits| exits.of_sprayed(is_one_path).count_ones() > 1)
    }

    /// Whether a flow leaves a node by all ports that lead on.
    fn all_hops(&self, node: u32, ends: &Ends) -> bool {
        let own = &self.nodes[node as usize];
        let is_spread = self.spreads || own.parts && self.served[usize::from(ends.priority & 7)];
        is_spread && !ends.is_answer && !own.table.next_hops(ends.dst).is_empty()
    }

    /// The port by which a flow leaves a node.
    fn hop(&mut self, fabric: &Fabric, node: u32, ends: &Ends) -> Option<u16> {
        let Ends { src, dst, key, priority, nic, .. } = *ends;
        let Node { table, balancer, parts, rates } = &mut self.nodes[node as usize];
        let hops = table.next_hops(dst);
        if node == src {
            let own = nic.map(u16::from).filter(|own| hops.contains(own));
            return own.or_else(|| key.choose(HOST_SEED, hops));
        }
        if hops.len() <= 1 {
            return hops.first().copied();
        }
        if fabric.ports(node)[usize::from(hops[0])].peer == dst {
            return key.last_link(node, hops);
        }
        let choice = Choice { now: Nanos(0), dst, key: &key, priority, hops, ports: &Rates(rates) };
        Some(match balancer {
            Some(balancer) if !*parts => balancer.choose(&choice, &mut self.rand),
            _ => EcmpBalancer { seed: node, weighted: false }.choose(&choice, &mut self.rand),
        })
    }
}

fn balancer(settings: &NodeSettings, scenario: &Scenario, node: u32) -> Result<Option<Box<dyn LoadBalancer>>, String> {
    settings.load_balancing.balancer(&scenario.network, node).map_err(|wrong| wrong.message)
}
