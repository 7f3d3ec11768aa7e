// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order in which an algorithm has the ranks of a group.

use super::Layout;

/// In which order an algorithm passes ranks, where several are in one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the group lists them.
    Listed,
    /// A ring through all servers, from the first rank of the group on.
    Ring,
    /// Server by server, in each from the GPU on whose NIC the channel is.
    Chains,
}

/// The ranks of a group in the order of one channel.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    order: Order,
    channel: u16,
    layout: Option<&'a Layout>,
}

impl<'a> Line<'a> {
    /// Ranks that share no server, as the group lists them.
    pub const LISTED: Line<'static> = Line { order: Order::Listed, channel: 0, layout: None };

    /// The order of a channel.
    pub fn new(order: Order, channel: u16, layout: Option<&'a Layout>) -> Line<'a> {
        Line { order, channel, layout }
    }

    /// The rank at a place, as its place in the group.
    pub fn rank_at(&self, place: u32) -> u32 {
        match (self.order, self.layout) {
            (Order::Listed, _) | (_, None) => place,
            (Order::Ring, Some(layout)) => layout.in_ring(self.channel, place),
            (Order::Chains, Some(layout)) => layout.in_chains(self.channel, place),
        }
    }

    /// The place of a rank.
    pub fn place_of(&self, rank: u32) -> u32 {
        match (self.order, self.layout) {
            (Order::Listed, _) | (_, None) => rank,
            (Order::Ring, Some(layout)) => layout.place_in_ring(self.channel, rank),
            (Order::Chains, Some(layout)) => layout.place_in_chains(self.channel, rank),
        }
    }

    /// The server at a place of chains, where its chain begins, and how many ranks it has.
    pub(super) fn server_at(&self, place: u32) -> (u32, u32, u32) {
        self.layout.map_or((place, place, 1), |layout| layout.server_at(place))
    }

    /// Where the chain of a server begins.
    pub(super) fn begin(&self, server: u32) -> u32 {
        self.layout.map_or(server, |layout| layout.begin(server))
    }

    /// How many servers so many ranks are in.
    pub(super) fn servers(&self, ranks: u32) -> u32 {
        self.layout.map_or(ranks, Layout::servers)
    }
}
