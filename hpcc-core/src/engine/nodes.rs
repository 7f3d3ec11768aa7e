// SPDX-License-Identifier: MIT OR Apache-2.0
//! The nodes of a network: switches beside switches, hosts beside hosts.

use super::agents::{HostNotices, SwitchExtras};
use super::answering::ANSWERS;
use super::observer::SwitchCounts;
use super::sharing::Sharing;
use super::traffic::Traffic;
use super::transports::Other;
use crate::ids::FrameId;
use crate::node::NodeSettings;
use crate::recurrence::recurs;
use crate::switch::{PRIORITIES, Switch};
use crate::telemetry::Layout;
use crate::transport::{Counters, Host};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// A switch, and what its frames need of its settings.
pub(super) struct SwitchNode {
    pub core: Switch,
    pub leaks_on_link_down: bool,
    /// Whether pauses have a time; if not, each is a resume.
    pub pauses: bool,
    pub pfc_bytes: u32,
    /// UDP destination port of all frames; `None`: that of their flow.
    pub wire_port: Option<u16>,
    pub sizes: FrameSizes,
    /// What it does besides, if anything.
    pub extras: Option<Box<SwitchExtras>>,
    /// ICMPv6 packets from which it learnt that a sender does not understand notifications.
    pub learnt: u64,
    pub counts: SwitchCounts,
}

/// A host, and what its frames need of its settings. What each frame looks at stands first.
#[repr(C, align(64))]
pub(super) struct HostNode {
    /// Its transport, if that is not queue pairs.
    pub other: Option<Box<Other>>,
    /// What its NICs hold, by port, if it ever pauses others.
    pub held: Vec<Held>,
    pub pfc_bytes: u32,
    /// UDP destination port of all frames; `None`: that of their flow.
    pub wire_port: Option<u16>,
    pub ack_priority: u8,
    /// The queue of its ports that holds its CNPs.
    pub cnp_queue: u8,
    pub echoes: bool,
    pub seals: bool,
    /// What comes is its stack's.
    pub is_stack: bool,
    /// It has a stack beside its queue pairs: see `sharing`.
    pub is_shared: bool,
    pub is_slow: bool,
    /// Its flows pause as switches ask.
    pub is_paused_by_switches: bool,
    pub layout: Layout,
    pub core: Host,
    pub traffic: Traffic,
    pub notices: HostNotices,
    /// How its stack's packets share its ports, by port.
    pub sharing: Vec<Sharing>,
}

/// What a NIC holds of arrivals, and pauses and resumes that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub frames: VecDeque<FrameId>,
    pub pfcs: VecDeque<FrameId>,
    /// Priorities that it pauses because it holds too much; bits.
    pub full: u8,
    /// Storms of each priority that last.
    pub storms: [u16; PRIORITIES],
}

impl Held {
    /// Whether the far end may not send a priority.
    pub fn pauses(&self, priority: u8) -> bool {
        self.full >> priority & 1 != 0 || self.storms[usize::from(priority)] > 0
    }
}

impl HostNode {
    /// What it did.
    pub fn counters(&self) -> Counters {
        self.other.as_ref().map_or_else(|| self.core.counters(), |other| other.endpoint.counters())
    }

    /// Queues of a port whose frames no pause of other priorities holds back, when these priorities are paused; bits.
    #[inline]
    pub fn open_queues(&self, paused: u8) -> u8 {
        let acks_may_leave = paused >> self.ack_priority & 1 == 0 || self.is_stack;
        // Without a class of their own CNPs are in the queue of acknowledgements.
        if acks_may_leave { u8::MAX } else { 1 << self.cnp_queue & !(1 << ANSWERS) }
    }

    /// The next pause or resume that a port sends, ahead of all else.
    #[inline]
    pub fn next_pfc(&mut self, port: u16) -> Option<FrameId> {
        self.held.get_mut(usize::from(port))?.pfcs.pop_front()
    }
}

/// Of which kind a node is, and what each frame asks of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    /// Its place among those of its kind.
    place: u32,
    pub is_switch: bool,
    pub has_extras: bool,
    /// A switch that has had frames since the last sample, or had something queued then.
    pub is_touched: bool,
    /// An observer hears what happens here besides frames.
    pub is_watched: bool,
}

/// All nodes.
#[derive(Default)]
pub(super) struct Nodes {
    seats: Vec<Seat>,
    pub switches: Vec<SwitchNode>,
    pub hosts: Vec<HostNode>,
}

impl Nodes {
    /// The next node is a switch.
    pub fn add_switch(&mut self, switch: SwitchNode) {
        self.seats.push(Seat {
            place: self.switches.len() as u32,
            is_switch: true,
            has_extras: switch.extras.is_some() || switch.core.meets(),
            is_touched: false,
            is_watched: false,
        });
        self.switches.push(switch);
    }

    /// The next node is a host.
    pub fn add_host(&mut self, host: HostNode) {
        let place = self.hosts.len() as u32;
        self.seats.push(Seat { place, is_switch: false, has_extras: false, is_touched: false, is_watched: false });
        self.hosts.push(host);
    }

    /// Hosts with the same settings, of each node, run by the same rules.
    pub fn share_rules(&mut self, settings: &[Rc<NodeSettings>]) {
        let of_hosts = self.seats.iter().zip(settings).filter(|(seat, _)| !seat.is_switch);
        let mut known: Vec<(&Rc<NodeSettings>, usize)> = Vec::new();
        for (place, (_, own)) in of_hosts.enumerate() {
            let first = known.iter().find(|(other, _)| Rc::ptr_eq(other, own)).map(|&(_, first)| first);
            match first {
                Some(first) => {
                    let (before, rest) = self.hosts.split_at_mut(place);
                    rest[0].core.share_rules(&before[first].core);
                }
                None => known.push((own, place)),
            }
        }
    }

    #[inline]
    pub fn seat(&mut self, node: u32) -> &mut Seat {
        &mut self.seats[node as usize]
    }

    /// A node that is a switch.
    #[inline]
    pub fn switch(&mut self, node: u32) -> &mut SwitchNode {
        &mut self.switches[self.seats[node as usize].place as usize]
    }

    /// A node that is a host.
    #[inline]
    pub fn host(&mut self, node: u32) -> &mut HostNode {
        &mut self.hosts[self.seats[node as usize].place as usize]
    }

    /// A node, if it is a switch.
    pub fn as_switch(&self, node: u32) -> Option<&SwitchNode> {
        let seat = self.seats.get(node as usize).filter(|seat| seat.is_switch)?;
        self.switches.get(seat.place as usize)
    }

    /// A node, if it is a host.
    pub fn as_host(&self, node: u32) -> Option<&HostNode> {
        let seat = self.seats.get(node as usize).filter(|seat| !seat.is_switch)?;
        self.hosts.get(seat.place as usize)
    }
}

recurs! {
    SwitchNode {
        core: part,
        leaks_on_link_down: constant,
        pauses: constant,
        pfc_bytes: constant,
        wire_port: constant,
        sizes: constant,
        extras: absent,
        learnt: constant,
        counts: part,
    }
}
recurs! {
    HostNode {
        other: absent,
        held: absent,
        pfc_bytes: constant,
        wire_port: constant,
        ack_priority: constant,
        cnp_queue: constant,
        echoes: constant,
        seals: absent,
        is_stack: absent,
        is_shared: absent,
        is_slow: absent,
        is_paused_by_switches: constant,
        layout: constant,
        core: elsewhere,
        traffic: part,
        notices: part,
        sharing: absent,
    }
}
