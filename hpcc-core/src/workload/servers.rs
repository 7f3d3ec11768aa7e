// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers of several GPUs, which reach each other without the network.

use super::hardware::time_of;
use crate::topology::Network;
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

/// Hosts that are the NICs of servers: the first of them, the next ones, and so on, each with as many GPUs. Between two GPUs of
/// one server a message takes its bytes at a rate, one message behind the other at its sender, and a latency, and no part of the
/// network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Servers {
    /// GPUs of a server, at least 1.
    pub gpus: u32,
    /// Hosts of a server, at least 1: one for each GPU, or for as many GPUs that share its NIC.
    pub nics: u32,
    /// Of each GPU, above 0.
    pub rate: BitRate,
    /// From the last byte at the sender to its arrival.
    pub latency: Nanos,
    /// Whether a message to another place of another server first goes to the GPU at that place of its own server, which sends
    /// it over the network: NCCL's PXN.
    pub pxn: bool,
}

impl Servers {
    /// The numbers of all GPUs of a network, whose hosts are its first nodes where it has servers.
    pub fn all_gpus(servers: Option<Servers>, network: &Network) -> Vec<u32> {
        let hosts = network.hosts();
        servers.filter(|servers| servers.gpus > servers.nics).map_or_else(
            || network.hosts().collect(),
            |servers| (0..hosts.count() as u32 / servers.nics * servers.gpus).collect(),
        )
    }

    /// The host of a GPU: neighbours share one.
    pub fn host_of(&self, gpu: u32) -> u32 {
        let place = u64::from(gpu % self.gpus) * u64::from(self.nics) / u64::from(self.gpus);
        gpu / self.gpus * self.nics + place as u32
    }

    /// The server of a host, and its place there.
    pub fn place(&self, host: u32) -> (u32, u32) {
        (host / self.nics, host % self.nics)
    }

    /// Whether two hosts are of one server.
    pub fn are_together(&self, a: u32, b: u32) -> bool {
        a / self.nics == b / self.nics
    }

    /// From which host a message leaves its server.
    pub fn leaves_by(&self, src: u32, dst: u32) -> u32 {
        if self.pxn && !self.are_together(src, dst) { src - src % self.nics + dst % self.nics } else { src }
    }

    /// For how long a host sends a message that leaves at most at this rate.
    pub(super) fn time_of(&self, size: u64, most: Option<BitRate>) -> Nanos {
        time_of(size, most.map_or(self.rate, |most| most.min(self.rate)))
    }

    /// Pairs of hosts, by which the hosts of each server hang together.
    pub fn pairs(&self, network: &Network) -> Vec<(u32, u32)> {
        let pairs = network.hosts().map(|host| (host / self.nics * self.nics, host));
        pairs.filter(|&(first, host)| first != host && network.is_host(first)).collect()
    }
}
