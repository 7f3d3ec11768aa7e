// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ranks of a job do: messages and computations, each of which begins when others are over.
//!
//! Each rank follows a [`Program`], which knows nothing of time, hosts or the network: it is told what is over, and says what
//! begins. [`Jobs`] maps ranks to hosts, and messages to receives. A [`Graph`] and a [`Collective`](collective::Collective) are
//! programs.

pub mod collective;
mod graph;
mod hardware;
mod jobs;
mod leaving;
mod outside;
mod servers;
mod timeline;

pub use graph::{Circle, Graph, GraphBuilder, Work};
pub use hardware::{Hardware, MessageCosts};
pub use jobs::{Action, Arrival, Completion, Job, Jobs, Message, Noted, Pair, Sent, Unfinished, Waiting};
pub use leaving::Leaving;
pub use outside::Outside;
pub use servers::Servers;
pub use timeline::Span;

use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt::Debug;

/// What one rank of a job does.
pub trait Program: Debug + Send {
    /// The job begins.
    fn start(&mut self, todo: &mut Todo);
    /// What was begun under a token is over: a message that this rank sends when it is acknowledged, one that it receives when
    /// its last byte has arrived.
    fn on_complete(&mut self, token: u64, todo: &mut Todo);
    /// Whether nothing is left to do.
    fn is_over(&self) -> bool;
    /// The ranks and channels to which it sends, each once.
    fn peers(&self) -> Vec<Peer>;
}

/// Where messages of a program go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The rank.
    pub rank: u32,
    /// The channel.
    pub channel: u16,
    /// At most so many messages.
    pub messages: u32,
}

/// Messages by rank and channel.
#[derive(Clone, Debug, Default)]
struct Peers(BTreeMap<(u32, u16), u32>);

impl Peers {
    fn add(&mut self, rank: u32, channel: u16, messages: u32) {
        let sum = self.0.entry((rank, channel)).or_default();
        *sum = sum.saturating_add(messages);
    }

    fn list(self) -> Vec<Peer> {
        self.0.into_iter().map(|((rank, channel), messages)| Peer { rank, channel, messages }).collect()
    }
}

/// What a program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Operation {
    /// A message to another rank, or to the rank itself.
    Send {
        /// The rank that receives it.
        to: u32,
        /// Messages from one rank to another with the same tag are received in order.
        tag: u64,
        /// Bytes; one of none takes the time of one byte.
        size: u64,
        /// Messages of different channels have queue pairs of their own.
        channel: u16,
        /// Within a server it leaves together with the message that the rank has sent before: the switch copies that.
        is_copy: bool,
        /// What it costs its sender; `None`: what messages of the job do.
        costs: Option<MessageCosts>,
    },
    /// The first message that arrives, or has arrived and was not received yet, from a rank and with a tag.
    Receive {
        /// `None`: any rank.
        from: Option<u32>,
        /// `None`: any tag.
        tag: Option<u64>,
    },
    /// A computation.
    Compute(Nanos),
    /// Time that passes, in which the rank does not compute.
    Wait(Nanos),
}

/// An event of a rank, for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Note {
    /// A rank begins an iteration, counted from 0, of the job's collective with a number.
    Begin {
        /// The number.
        collective: u32,
        /// The iteration.
        iteration: u32,
    },
    /// A rank ends such an iteration.
    End {
        /// The number.
        collective: u32,
        /// The iteration.
        iteration: u32,
    },
    /// A rank reaches a [mark](Work::Mark) of its graph.
    Mark {
        /// The number.
        mark: u32,
    },
    /// An operation asked for from outside is over.
    Completion {
        /// Its token.
        token: u64,
    },
    /// A rank has nothing left to do.
    Over {
        /// How long it has computed.
        computed: Nanos,
    },
}

/// What begins now.
#[derive(Debug, Default)]
pub struct Todo {
    operations: Vec<(u64, Operation)>,
    notes: Vec<Note>,
    /// Stands before the tokens of a part of a program.
    prefix: u64,
}

impl Todo {
    /// Begins something; the program hears of its end by the token.
    pub fn begin(&mut self, token: u64, operation: Operation) {
        self.operations.push((self.prefix | token, operation));
    }

    /// Something for results.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// What a part of a program begins has these upper bits in its tokens.
    fn within(&mut self, prefix: u64, part: impl FnOnce(&mut Todo)) {
        let before = core::mem::replace(&mut self.prefix, prefix);
        part(self);
        self.prefix = before;
    }
}
