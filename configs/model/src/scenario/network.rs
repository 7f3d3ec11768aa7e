// SPDX-License-Identifier: GPL-2.0-only
//! Puts a network together from lines of a file, refusing what makes no sense at the line that says it.

use crate::error::InputError;
use crate::place::Place;
use hpcc_core::topology::{Link, Network, NodeKind};

/// Nodes take their IPv4 address from their id.
pub const MAX_NODES: u64 = hpcc_core::address::MAX_NODES as u64;

/// Most links on one node: ports are numbered by 16 bits.
pub const MAX_PORTS: u32 = 65_535;

/// A [`Network`] under construction, with the place of each link.
#[derive(Debug)]
pub struct NetworkBuilder {
    network: Network,
    places: Vec<Place>,
    ports: Vec<u32>,
}

impl NetworkBuilder {
    /// A network of that many hosts, without links.
    pub fn new(nodes: u64, place: &Place) -> Result<NetworkBuilder, InputError> {
        if nodes > MAX_NODES {
            return Err(place.error(format!("the network has {nodes} nodes; expected at most {MAX_NODES}")));
        }
        let count = nodes as usize;
        let network = Network { nodes: vec![NodeKind::Host; count], links: Vec::new() };
        Ok(NetworkBuilder { network, places: Vec::new(), ports: vec![0; count] })
    }

    /// Makes a node a switch.
    pub fn switch(&mut self, id: u64, place: &Place) -> Result<(), InputError> {
        let id = self.node(id, place)?;
        let kind = &mut self.network.nodes[id as usize];
        if *kind == NodeKind::Switch {
            return Err(place.error(format!("switch {id} is listed twice; expected each switch once")));
        }
        *kind = NodeKind::Switch;
        Ok(())
    }

    /// Checks that a node exists.
    pub fn node(&self, id: u64, place: &Place) -> Result<u32, InputError> {
        let count = self.network.nodes.len() as u64;
        if id >= count {
            let known = if count == 0 { "expected none".into() } else { format!("expected 0 to {}", count - 1) };
            return Err(place.error(format!("there is no node {id}; {known}")));
        }
        Ok(id as u32)
    }

    /// Appends a link, whose ends must have passed [`Self::node`].
    pub fn link(&mut self, link: Link, place: Place) -> Result<(), InputError> {
        if link.a == link.b {
            return Err(place.error(format!("the link connects node {} with itself; expected two nodes", link.a)));
        }
        if link.rate.0 == 0 {
            return Err(place.error("the link's rate is 0; expected more"));
        }
        if !(0.0..=1.0).contains(&link.loss) {
            return Err(place.error(format!("the link's loss probability is {}; expected 0 to 1", link.loss)));
        }
        for node in [link.a, link.b] {
            let ports = &mut self.ports[node as usize];
            *ports += 1;
            if *ports > MAX_PORTS {
                return Err(place.error(format!("node {node} has more than {MAX_PORTS} links; expected at most that")));
            }
        }
        self.network.links.push(link);
        self.places.push(place);
        Ok(())
    }

    /// The network and the place of each link.
    pub fn finish(self) -> (Network, Vec<Place>) {
        (self.network, self.places)
    }
}

/// Checks that a node exists and is a host; otherwise says what it is instead.
pub fn host(network: &Network, node: u32) -> Result<(), String> {
    match network.nodes.get(node as usize) {
        Some(NodeKind::Host) => Ok(()),
        Some(NodeKind::Switch) => Err(format!("node {node}, a switch; expected a host")),
        None => Err(match network.nodes.len() {
            0 => format!("node {node}, but there are no nodes; expected a host"),
            count => format!("node {node}, but there are only nodes 0 to {}; expected a host", count - 1),
        }),
    }
}
