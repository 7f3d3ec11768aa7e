// SPDX-License-Identifier: GPL-2.0-only
//! Which host a flow goes to: any other, one of the sender's rack or of the others, and some more often than others.

use super::Random;
use hpcc_core::topology::Network;
use rand::RngExt;
use std::collections::BTreeMap;
use std::ops::Range;

/// How destinations are drawn. The hosts of a rack are those whose first links lead to one switch.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Hosts, rack by rack.
    hosts: Vec<u32>,
    /// For each of them the sum of the weights before it; one more at the end.
    before: Vec<u64>,
    /// For each of them its rack, as places in `hosts`.
    racks: Vec<Range<usize>>,
    /// Place of each host in `hosts`.
    places: BTreeMap<u32, usize>,
    /// Share of the flows that stay in the rack; `None`: racks make no difference.
    rack_share: Option<f64>,
}

impl Pairs {
    /// Pairs among those of these hosts that have a link, each with the weight that `weight` gives it as a destination.
    ///
    /// # Errors
    /// A sentence for the user if a host would have nobody to send to.
    pub fn new(
        hosts: &[u32],
        network: &Network,
        rack_share: Option<f64>,
        weight: impl Fn(u32) -> u64,
    ) -> Result<Pairs, String> {
        let ports = network.ports();
        let mut by_rack: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &host in hosts {
            if let Some(port) = ports[host as usize].first() {
                by_rack.entry(port.peer).or_default().push(host);
            }
        }
        let mut pairs =
            Pairs { hosts: Vec::new(), before: vec![0], racks: Vec::new(), places: BTreeMap::new(), rack_share };
        let mut sum: u64 = 0;
        for rack in by_rack.into_values() {
            let begin = pairs.hosts.len();
            let places = begin..begin + rack.len();
            for host in rack {
                sum = sum.saturating_add(weight(host));
                pairs.places.insert(host, pairs.hosts.len());
                pairs.hosts.push(host);
                pairs.before.push(sum);
                pairs.racks.push(places.clone());
            }
        }
        pairs.check()?;
        Ok(pairs)
    }

    fn check(&self) -> Result<(), String> {
        for (place, host) in self.hosts.iter().enumerate() {
            let rack = &self.racks[place];
            let none_in = self.weight_without(rack, &(place..place + 1)) == 0;
            let none_out = self.weight_without(&self.all(), rack) == 0;
            match self.rack_share {
                None if none_in && none_out => {
                    return Err(format!("host {host} has no other host to send to; expected a weight above 0"));
                }
                Some(share) if share > 0.0 && none_in => {
                    return Err(format!(
                        "host {host} has no other host in its rack to send to; expected rack_share = 0, or none"
                    ));
                }
                Some(share) if share < 1.0 && none_out => {
                    return Err(format!(
                        "host {host} has no host in another rack to send to; expected rack_share = 1, or none"
                    ));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn all(&self) -> Range<usize> {
        0..self.hosts.len()
    }

    fn weight(&self, places: &Range<usize>) -> u64 {
        self.before[places.end] - self.before[places.start]
    }

    /// The weight of a range without a part of it.
    fn weight_without(&self, places: &Range<usize>, part: &Range<usize>) -> u64 {
        self.weight(places) - self.weight(part)
    }

    /// The places that a flow from one place may go to, and exceptions among them; `stays` tells whether it goes to its
    /// own rack, if that makes a difference.
    fn among(&self, place: usize, stays: Option<bool>) -> (Range<usize>, Range<usize>) {
        let own = place..place + 1;
        match stays {
            None => (self.all(), own),
            Some(true) => (self.racks[place].clone(), own),
            Some(false) => (self.all(), self.racks[place].clone()),
        }
    }

    /// Which share of flows stays in the rack of their sender, if that was chosen.
    pub fn rack_share(&self) -> Option<f64> {
        self.rack_share
    }

    /// Average load that each host receives if each host sends so much.
    pub fn received(&self, sent: impl Fn(u32) -> f64) -> Vec<(u32, f64)> {
        // Load of a unit of weight: the difference from the place before.
        let mut steps = vec![0.0; self.before.len()];
        for (place, host) in self.hosts.iter().enumerate() {
            let shares = match self.rack_share {
                None => vec![(None, 1.0)],
                Some(share) => vec![(Some(true), share), (Some(false), 1.0 - share)],
            };
            for (stays, share) in shares.into_iter().filter(|(_, share)| *share > 0.0) {
                let (from, without) = self.among(place, stays);
                let each = share * sent(*host) / self.weight_without(&from, &without) as f64;
                steps[from.start] += each;
                steps[without.start] -= each;
                steps[without.end] += each;
                steps[from.end] -= each;
            }
        }
        let mut each = 0.0;
        let received = self.hosts.iter().enumerate().map(|(place, host)| {
            each += steps[place];
            (*host, each * self.weight(&(place..place + 1)) as f64)
        });
        received.collect()
    }

    /// The destination of a flow from a host that has a link.
    pub fn draw(&self, src: u32, random: &mut Random) -> u32 {
        let place = self.places.get(&src).copied().unwrap_or(0);
        let stays = self.rack_share.map(|share| random.random::<f64>() < share);
        let (from, without) = self.among(place, stays);
        let pick = random.random_range(0..self.weight_without(&from, &without).max(1));
        let mut at = self.before[from.start] + pick;
        if at >= self.before[without.start] {
            at += self.weight(&without);
        }
        // The last host whose weights begin at or before the pick: those before it without weight end there.
        self.hosts[(self.before.partition_point(|sum| *sum <= at) - 1).min(self.hosts.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Tier, Wire, random, tree};
    use approx::assert_abs_diff_eq;
    use hpcc_core::units::{BitRate, Nanos};

    /// Three racks of four hosts.
    fn network() -> Network {
        let wire = Wire { rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0, count: 1 };
        let tier = |below, above| Tier { below, planes: 1, above, wire };
        tree(12, &[tier(4, 1), tier(3, 2)]).expect("network")
    }

    fn pairs(rack_share: Option<f64>, weight: impl Fn(u32) -> u64) -> Result<Pairs, String> {
        let network = network();
        Pairs::new(&network.hosts().collect::<Vec<_>>(), &network, rack_share, weight)
    }

    /// How often each host is drawn for flows from host 1.
    fn drawn(rack_share: Option<f64>, weight: impl Fn(u32) -> u64) -> [u32; 12] {
        let pairs = pairs(rack_share, weight).expect("possible");
        let mut random = random(1, "", 0);
        let mut drawn = [0; 12];
        (0..12_000).for_each(|_| drawn[pairs.draw(1, &mut random) as usize] += 1);
        drawn
    }

    #[test]
    fn racks_and_weights_are_kept_to() {
        let near = |count: u32, expected: f64| (f64::from(count) - expected).abs() < 5.0 * expected.sqrt() + 0.1;
        let local = drawn(Some(1.0), |_| 1);
        assert!(local[1] == 0 && local[4..].iter().all(|count| *count == 0), "{local:?}");
        assert!([0, 2, 3].iter().all(|host| near(local[*host], 4_000.0)), "{local:?}");
        let mixed = drawn(Some(0.25), |_| 1);
        assert!([0, 2, 3].iter().all(|host| near(mixed[*host], 1_000.0)) && mixed[1] == 0, "{mixed:?}");
        assert!(mixed[4..].iter().all(|count| near(*count, 1_125.0)), "{mixed:?}");
        let heavy = drawn(None, |host| match host {
            11 => 10,
            5 => 0,
            _ => 1,
        });
        assert!(heavy[1] == 0 && heavy[5] == 0 && near(heavy[11], 12_000.0 * 10.0 / 19.0), "{heavy:?}");
        assert!(near(heavy[0], 12_000.0 / 19.0) && near(heavy[10], 12_000.0 / 19.0), "{heavy:?}");
    }

    #[test]
    fn what_hosts_receive_on_average_is_what_is_drawn() {
        let weight = |host| [1, 0, 4][host as usize % 3];
        for rack_share in [None, Some(0.0), Some(0.25), Some(1.0)] {
            let pairs = pairs(rack_share, weight).expect("possible");
            // Host 1 alone sends 12,000.
            let received = pairs.received(|host| if host == 1 { 12_000.0 } else { 0.0 });
            for (count, (host, mean)) in drawn(rack_share, weight).into_iter().zip(received) {
                let close = (f64::from(count) - mean).abs() < 5.0 * mean.max(0.0).sqrt() + 0.1;
                assert!(close, "{rack_share:?}, host {host}: {count}, on average {mean}");
            }
            let all: f64 = pairs.received(f64::from).iter().map(|(_, rate)| rate).sum();
            assert_abs_diff_eq!(all, 66.0, epsilon = 1e-9);
        }
    }

    #[test]
    fn whoever_has_nobody_to_send_to_is_named() {
        let refused = |share, weight: fn(u32) -> u64| pairs(share, weight).expect_err("possible");
        assert_eq!(
            refused(None, |host| u64::from(host == 3)),
            "host 3 has no other host to send to; expected a weight above 0"
        );
        assert!(refused(Some(0.5), |host| u64::from(host > 3)).contains("host 0 has no other host in its rack"));
        assert!(refused(Some(0.5), |host| u64::from(host < 4)).contains("host 0 has no host in another rack"));
    }
}
