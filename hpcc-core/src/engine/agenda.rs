// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is to happen that concerns no node.

use super::links::{Quality, Scope};
use super::traffic::FlowRequest;
use crate::ids::{ItemId, Table};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Something that concerns no node.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Flows come due.
    Due,
    /// A flow's application starts, which starts the flow by another event.
    Application(FlowRequest),
    Start(FlowRequest),
    Links(Change),
    /// Links by their places in the network, and what they are from now on.
    Quality(Vec<u32>, Quality),
    /// A job begins.
    Job(u32),
    /// An attacker sends, once it has let others go first so often.
    Attack(u32, u8),
    /// The NICs of a host pause a priority, or resume it.
    Storm {
        node: u32,
        priority: u8,
        pause: bool,
    },
    /// The caller takes a sample.
    Sample,
}

/// Links that fail or come up at once, by their places in the network.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub links: Vec<u32>,
    pub up: bool,
    /// What of them changes now.
    pub scope: Scope,
    /// The switch that loses its state.
    pub reboots: Option<u32>,
    /// Whether the caller has had its [turn](super::Stop::Routes).
    pub is_told: bool,
}

/// Items by place, each with its rank among all events; those that are over make room for others.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    items: Table<ItemId, (u64, Option<Item>)>,
    idle: Vec<ItemId>,
    /// How many ranks were given out.
    reserved: u64,
    /// Time, rank and place of those that wait outside of the present window.
    waiting: BinaryHeap<Reverse<(u64, u64, ItemId)>>,
}

impl Agenda {
    /// The rank of an item that is added now, or later.
    pub fn reserve(&mut self) -> u64 {
        self.reserved += 1;
        self.reserved
    }

    /// Adds an item; returns its place.
    pub fn add(&mut self, rank: u64, item: Item) -> ItemId {
        if let Some(place) = self.idle.pop() {
            self.items[place] = (rank, Some(item));
            return place;
        }
        self.items.push((rank, Some(item)))
    }

    /// An item waits for its time.
    pub fn wait(&mut self, at: u64, place: ItemId) {
        self.waiting.push(Reverse((at, self.rank(place), place)));
    }

    /// The time of the first that waits.
    pub fn next_time(&self) -> Option<u64> {
        self.waiting.peek().map(|&Reverse((at, ..))| at)
    }

    /// The time of the first that is more than a look at the network.
    pub fn next_change(&self) -> Option<u64> {
        let changing = self.waiting.iter().filter(|&&Reverse((.., place))| self.changes_network(place));
        changing.map(|&Reverse((at, ..))| at).min()
    }

    /// Whether samples are to be taken.
    pub fn has_samples(&self) -> bool {
        self.waiting.iter().any(|&Reverse((.., place))| !self.changes_network(place))
    }

    /// Time and rank of the first.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.waiting.peek().map(|&Reverse((at, rank, _))| (at, rank))
    }

    /// The first that waits for a time before `end`, with its time.
    pub fn pop_before(&mut self, end: u64) -> Option<(u64, ItemId)> {
        self.next_time().filter(|&at| at < end)?;
        self.waiting.pop().map(|Reverse((at, _, place))| (at, place))
    }

    pub fn rank(&self, place: ItemId) -> u64 {
        self.items[place].0
    }

    /// Whether an item is more than a look at the network.
    pub fn changes_network(&self, place: ItemId) -> bool {
        !matches!(self.items[place].1, Some(Item::Sample))
    }

    /// Takes an item whose time has come.
    pub fn take(&mut self, place: ItemId) -> Option<Item> {
        self.idle.push(place);
        self.items[place].1.take()
    }
}
