// SPDX-License-Identifier: GPL-2.0-only
//! Random traffic against the links of its receivers.

use crate::flows::Traffic;
use crate::generate::Offer;
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use std::collections::BTreeMap;
use std::fmt;

/// Less beyond a full link is rounding.
pub(super) const ROUNDING: f64 = 1e-6;

/// The host whose links random traffic overbooks the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overbooked {
    /// Its number.
    pub host: u32,
    /// Mean payload that it is sent, in bits per second.
    pub offered: f64,
    /// What its links carry, in bits per second.
    pub capacity: f64,
    /// How many other hosts are sent more than their links carry.
    pub others: usize,
}

impl Overbooked {
    /// What it is sent, as a fraction of what its links carry; above 1.
    pub fn load(&self) -> f64 {
        self.offered / self.capacity
    }
}

impl fmt::Display for Overbooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, gbps, percent) = (self.host, self.offered / 1e9, self.load() * 100.0);
        write!(f, "host {host} is offered {gbps:.3} Gb/s on average, {percent:.1} % of its links")?;
        match self.others {
            0 => Ok(()),
            1 => write!(f, ", and 1 other host more than its own"),
            others => write!(f, ", and {others} other hosts more than their own"),
        }
    }
}

/// Finds the host that is sent the most, for what its links carry, if that is more than they carry.
pub(super) fn find(network: &Network, traffic: &[Traffic]) -> Option<Overbooked> {
    let capacities = capacities(network);
    let mut offered = vec![0.0; network.nodes.len()];
    let mut worst: BTreeMap<u32, Overbooked> = BTreeMap::new();
    for (_, begins, offer) in changes(traffic) {
        for &(host, rate) in &offer.rates {
            let now = &mut offered[host as usize];
            *now += if begins { rate } else { -rate };
            let now = Overbooked { host, offered: *now, capacity: capacities[host as usize], others: 0 };
            if now.load() > 1.0 + ROUNDING && worst.get(&host).is_none_or(|before| before.offered < now.offered) {
                worst.insert(host, now);
            }
        }
    }
    let others = worst.len().saturating_sub(1);
    // Of equal ones the first.
    let most = worst.into_values().reduce(|most, host| if host.load() > most.load() { host } else { most })?;
    Some(Overbooked { others, ..most })
}

/// When random traffic begins and ends, by time; what ends makes way for what begins.
pub(super) fn changes(traffic: &[Traffic]) -> Vec<(Nanos, bool, &Offer)> {
    let offers = traffic.iter().filter_map(|traffic| traffic.offer.as_ref()).filter(|offer| offer.start < offer.end);
    let mut changes: Vec<_> =
        offers.flat_map(|offer| [(offer.start, true, offer), (offer.end, false, offer)]).collect();
    changes.sort_by_key(|&(time, begins, _)| (time, begins));
    changes
}

/// What all links of each node carry towards it, in bits per second.
fn capacities(network: &Network) -> Vec<f64> {
    let mut capacities = vec![0.0; network.nodes.len()];
    for link in &network.links {
        capacities[link.a as usize] += link.rate.0 as f64;
        capacities[link.b as usize] += link.rate.0 as f64;
    }
    capacities
}
