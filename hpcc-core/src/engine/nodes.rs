// SPDX-License-Identifier: MIT OR Apache-2.0
//! The nodes of a network: switches beside switches, hosts beside hosts.

use super::agents::{HostNotices, SwitchExtras};
use super::traffic::Traffic;
use crate::switch::Switch;
use crate::telemetry::Layout;
use crate::transport::Host;
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A switch, and what its frames need of its settings.
pub(super) struct SwitchNode {
    pub core: Switch,
    pub notes_arrival: bool,
    pub leaks_on_link_down: bool,
    /// Whether pauses have a time; if not, each is a resume.
    pub pauses: bool,
    pub pfc_bytes: u32,
    pub sizes: FrameSizes,
    /// What it does besides, if anything.
    pub extras: Option<Box<SwitchExtras>>,
    pub drops: u64,
    pub marks: u64,
    /// ICMPv6 packets from which it learnt that a sender does not understand notifications.
    pub learnt: u64,
    /// It has had frames since somebody asked.
    pub is_touched: bool,
}

/// A host, and what its frames need of its settings.
pub(super) struct HostNode {
    pub core: Host,
    pub layout: Layout,
    /// UDP destination port of all frames; `None`: that of their flow.
    pub wire_port: Option<u16>,
    pub ack_priority: u8,
    pub echoes: bool,
    pub seals: bool,
    pub pfc_bytes: u32,
    pub traffic: Traffic,
    pub notices: HostNotices,
    /// What NICs of a slow receiver hold, by port; of others nothing.
    pub held: Vec<Held>,
    /// The alarm of each port's pacer.
    pub wakes: Vec<Option<u32>>,
}

/// What a NIC holds of arrivals, and pauses and resumes that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub frames: VecDeque<u32>,
    pub pfcs: VecDeque<u32>,
}

impl HostNode {
    /// The next pause or resume that a port sends, ahead of all else.
    #[inline]
    pub fn next_pfc(&mut self, port: u16) -> Option<u32> {
        self.held.get_mut(usize::from(port))?.pfcs.pop_front()
    }
}

/// All nodes.
#[derive(Default)]
pub(super) struct Nodes {
    /// The place of each node among those of its kind.
    places: Vec<u32>,
    pub switches: Vec<SwitchNode>,
    pub hosts: Vec<HostNode>,
}

impl Nodes {
    /// The next node is a switch.
    pub fn add_switch(&mut self, switch: SwitchNode) {
        self.places.push(self.switches.len() as u32);
        self.switches.push(switch);
    }

    /// The next node is a host.
    pub fn add_host(&mut self, host: HostNode) {
        self.places.push(self.hosts.len() as u32);
        self.hosts.push(host);
    }

    /// A node that is a switch.
    #[inline]
    pub fn switch(&mut self, node: u32) -> &mut SwitchNode {
        &mut self.switches[self.places[node as usize] as usize]
    }

    /// A node that is a host.
    #[inline]
    pub fn host(&mut self, node: u32) -> &mut HostNode {
        &mut self.hosts[self.places[node as usize] as usize]
    }

    /// A node, if it is a switch.
    pub fn as_switch(&self, node: u32, is_switch: bool) -> Option<&SwitchNode> {
        self.switches.get(self.places[node as usize] as usize).filter(|_| is_switch)
    }

    /// A node, if it is a host.
    pub fn as_host(&self, node: u32, is_switch: bool) -> Option<&HostNode> {
        self.hosts.get(self.places[node as usize] as usize).filter(|_| !is_switch)
    }
}
