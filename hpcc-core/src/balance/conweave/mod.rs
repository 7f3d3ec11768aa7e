// SPDX-License-Identifier: MIT OR Apache-2.0
//! ConWeave (Song et al., SIGCOMM 2023): a flow leaves a slow path at once, and the last switch puts its packets in order.
//!
//! ```text
//! the sender's leaf                                the receiver's leaf
//!   Init      --- path ------------>                 InitReply
//!   Data      --- path ------------>
//!   in time: the next packet is the next epoch's Init; late: a new path is drawn
//!   Tail      --- path ------------>                 the last one on the path before: TailReply, and all that waited goes on
//!   Rerouted  --- new path -------->                 waits for Tail, or until it should have come
//! ```
//!
//! A marked packet brings a Notify, upon which the sender's leaf avoids its path.

mod flows;
mod receiver;
mod sender;
mod shortest_paths;
#[cfg(test)]
mod tests;

use super::{Choice, EcmpBalancer, Errands, Fate, LoadBalancer, Passing, Scheme, Tag, leaves};
use crate::random::Integers;
use crate::topology::Network;
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::vec::Vec;
use receiver::Receiver;
use sender::Sender;

crate::settings! {
    /// ConWeave: a flow takes another path as soon as a packet of it is late, and its last switch puts packets in order.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Conweave {
        /// Time beyond the delay of links there and back after which an answer is late.
        #[change = "A shorter one leaves paths sooner; a longer one has fewer packets wait."]
        pub conweave_reply_extra: Nanos = Nanos(4_000) => scheme = "conweave";
        /// Time for which a path is avoided after a marked packet on it.
        #[change = "Set it to the time in which a queue that marks drains."]
        pub conweave_path_pause: Nanos = Nanos(16_000) => scheme = "conweave";
        /// Time without a packet of a flow at its leaf after which its next one takes any path.
        #[change = "A shorter one balances better; paths must not differ by more."]
        pub conweave_expiry: Nanos = Nanos(300_000) => scheme = "conweave";
        /// Time for which packets wait at the last switch beyond when the last one before them should have come.
        #[change = "A longer one keeps order where queues grow fast."]
        pub conweave_flush_extra: Nanos = Nanos(16_000) => scheme = "conweave";
        /// Time for which they wait besides if no packet of their epoch has come by the path before.
        #[change = "Set it above the time for which a packet can be queued."]
        pub conweave_default_wait: Nanos = Nanos(200_000) => scheme = "conweave";
        /// Flows whose packets may wait at a switch at once; those of others go on out of order. `auto`: any number.
        #[change = "Set it to the queues that a switch has for this."]
        pub conweave_queues: Option<u32> {1..=u32::MAX} = None => scheme = "conweave";
    }
}

impl Scheme for Conweave {
    fn name(&self) -> &'static str {
        "conweave"
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        Box::new(Leaf::new(self, network, switch))
    }
}

/// The role of a frame between leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Role {
    /// Data on the epoch's first path.
    Data,
    /// First packet of an epoch, to be answered.
    Init,
    /// Last packet on the epoch's first path, to be answered.
    Tail,
    /// Data on the epoch's second path.
    Rerouted,
    /// The answer to [`Role::Init`].
    InitReply,
    /// The answer to [`Role::Tail`].
    TailReply,
    /// The answer to a marked packet.
    Notify,
}

/// What a frame carries from leaf to leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// Role of the frame.
    pub role: Role,
    /// The epoch of its flow; later ones have higher numbers.
    pub epoch: u32,
    /// Number of the path from the sender's leaf.
    pub path: u32,
    /// What is left of `path` for later switches; each takes a remainder.
    pub rest: u32,
    /// When it came to the sender's leaf.
    pub sent: Nanos,
    /// When the epoch's last packet on the first path came there; 0: not yet.
    pub tail: Nanos,
}

/// ConWeave at a switch: leaves do all but choosing by what a packet carries.
#[derive(Debug)]
struct Leaf {
    switch: u32,
    /// Leaf switch of each host.
    leaf_of: Vec<u32>,
    /// Whether each port leads to a host.
    to_host: Vec<bool>,
    sender: Sender,
    receiver: Receiver,
    /// The port of the frame that has just come in, if its path says one.
    next: Option<u16>,
}

impl Leaf {
    fn new(config: &Conweave, network: &Network, switch: u32) -> Leaf {
        let own = network.links.iter().filter_map(|link| match switch {
            end if end == link.a => Some(link.b),
            end if end == link.b => Some(link.a),
            _ => None,
        });
        let to_host: Vec<bool> = own.map(|peer| network.is_host(peer)).collect();
        Leaf {
            switch,
            leaf_of: leaves(network, switch),
            sender: Sender::new(config, network, switch, to_host.contains(&true)),
            receiver: Receiver::new(config),
            to_host,
            next: None,
        }
    }

    fn leaf_of(&self, host: u32) -> u32 {
        self.leaf_of.get(host as usize).copied().unwrap_or(u32::MAX)
    }

    /// Takes the next port from the packet's path.
    fn step(&mut self, header: Header, hops: &[u16]) -> Header {
        let count = hops.len().max(1) as u32;
        self.next = hops.get((header.rest % count) as usize).copied();
        Header { rest: header.rest / count, ..header }
    }
}

impl LoadBalancer for Leaf {
    fn tags(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, passing: &mut Passing<'_>, errands: &mut Errands) -> Fate {
        let &mut Passing { dst, port, hops, is_balanced, .. } = passing;
        self.next = None;
        let is_near = self.leaf_of(dst) == self.switch;
        if self.to_host.get(usize::from(port)) == Some(&true) {
            *passing.tag = Tag::Nothing;
            if is_balanced
                && !is_near
                && let Some(header) = self.sender.send(passing, self.leaf_of(dst))
            {
                *passing.tag = Tag::Conweave(self.step(header, hops));
            }
            return Fate::GoesOn;
        }
        let Tag::Conweave(header) = *passing.tag else { return Fate::GoesOn };
        let is_answer = matches!(header.role, Role::InitReply | Role::TailReply | Role::Notify);
        match (is_near, is_answer) {
            (false, true) => {}
            (false, false) => *passing.tag = Tag::Conweave(self.step(header, hops)),
            (true, true) => {
                self.sender.hear(passing, &header, self.leaf_of(passing.src));
                return Fate::Ends;
            }
            (true, false) if is_balanced => return self.receiver.receive(passing, &header, errands),
            (true, false) => {}
        }
        Fate::GoesOn
    }

    fn on_timeout(&mut self, now: Nanos, errands: &mut Errands) {
        self.receiver.on_timeout(now, errands);
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let ecmp = &mut EcmpBalancer { seed: self.switch, weighted: false };
        self.next.filter(|port| choice.hops.contains(port)).unwrap_or_else(|| ecmp.choose(choice, rand))
    }
}
