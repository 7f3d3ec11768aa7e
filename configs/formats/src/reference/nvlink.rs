// SPDX-License-Identifier: GPL-2.0-only
//! The NVSwitches of SimAI's topologies. SimAI sends between GPUs of one server by these whatever other paths there are, so here they
//! are servers, and no part of the network.

use hpcc_core::topology::{Link, Network};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::place::Place;
use std::collections::BTreeMap;
use std::ops::Range;

/// What NVSwitches do for the GPUs of each server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nvlink {
    /// GPUs of a server.
    pub gpus: u32,
    /// Of a GPU, by all its NVSwitches together.
    pub rate: BitRate,
    /// From a GPU to another one.
    pub latency: Nanos,
}

/// The first line of a topology of SimAI: `NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU_TYPE`.
#[derive(Clone, Debug)]
pub(super) struct Header {
    gpus: u32,
    nvswitches: Range<u32>,
}

impl Header {
    /// How many links a first line of this form announces: the lines below may be others.
    pub fn announced(words: &[&str]) -> Option<u64> {
        let [numbers @ .., kind] = words else { return None };
        let numbers: Vec<u64> = numbers.iter().map_while(|word| word.parse().ok()).collect();
        let [.., links] = numbers[..] else { return None };
        (numbers.len() == 5 && words.len() == 6 && kind.parse::<u64>().is_err()).then_some(links)
    }

    /// `None` of another form, or one that is not of so many switches.
    pub fn of(words: &[&str], switches: u64) -> Option<Header> {
        Header::announced(words)?;
        let [nodes, gpus, nvswitches, others, ..] = *words else { return None };
        let number = |word: &str| word.parse::<u32>().ok();
        let (nodes, gpus, nvswitches) = (number(nodes)?, number(gpus)?, number(nvswitches)?);
        let are_all = u64::from(nvswitches) + u64::from(number(others)?) == switches;
        let hosts = nodes.checked_sub(u32::try_from(switches).ok()?)?;
        (are_all && gpus > 1 && nvswitches > 0).then_some(Header { gpus, nvswitches: hosts..hosts + nvswitches })
    }

    /// Takes the NVLinks out of a network, and says what they were; with a note. `None`, and nothing taken, if servers are not alike.
    pub fn take(&self, network: &mut Network, places: &mut Vec<Place>) -> Option<(Nvlink, String)> {
        let Header { gpus, nvswitches } = self;
        let ends = |link: &Link| {
            let mut ends = [(link.a, link.b), (link.b, link.a)].into_iter();
            ends.find(|(switch, _)| nvswitches.contains(switch))
        };
        let mut rates: BTreeMap<u32, u64> = BTreeMap::new();
        let mut servers: BTreeMap<u32, u32> = BTreeMap::new();
        let mut delay = Nanos(0);
        for (link, (switch, gpu)) in network.links.iter().filter_map(|link| Some((link, ends(link)?))) {
            let server = *servers.entry(switch).or_insert(gpu / gpus);
            if !network.is_host(gpu) || server != gpu / gpus {
                return None;
            }
            *rates.entry(gpu).or_default() += link.rate.0;
            delay = delay.max(link.delay);
        }
        let rate = *rates.values().next()?;
        let hosts = network.hosts().count() as u32;
        let are_alike = rates.values().all(|other| *other == rate) && rates.keys().copied().eq(0..hosts);
        if !are_alike || !hosts.is_multiple_of(*gpus) {
            return None;
        }
        let kept: Vec<bool> = network.links.iter().map(|link| ends(link).is_none()).collect();
        let (mut links, mut all) = (kept.iter(), kept.iter());
        network.links.retain(|_| links.next().is_some_and(|kept| *kept));
        places.retain(|_| all.next().is_some_and(|kept| *kept));
        let (rate, latency) = (BitRate(rate), Nanos(2 * delay.0));
        let note = format!(
            "switches {} to {} are the NVSwitches of servers of {gpus} GPUs: by them messages of jobs go at {rate} with {latency}, and \
             no other flow",
            nvswitches.start,
            nvswitches.end - 1
        );
        Some((Nvlink { gpus: *gpus, rate, latency }, note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::topology::NodeKind;
    use std::path::Path;

    /// Four GPUs in two servers, each GPU at two NVSwitches of its server and at switch 8.
    fn network() -> (Network, Vec<Place>) {
        let link = |a, b, gigabits, nanos| Link { a, b, rate: BitRate::gbps(gigabits), delay: Nanos(nanos), loss: 0.0 };
        let of_gpu = |gpu: u32| {
            let first = 4 + gpu / 2 * 2;
            [link(gpu, first, 1_200, 25), link(gpu, 8, 100, 500), link(first + 1, gpu, 1_200, 25)]
        };
        let links: Vec<Link> = (0..4).flat_map(of_gpu).collect();
        let places = vec![Place::file(Path::new("x")); links.len()];
        (Network { nodes: [[NodeKind::Host; 4].as_slice(), &[NodeKind::Switch; 5]].concat(), links }, places)
    }

    fn header(text: &str) -> Option<Header> {
        Header::of(&text.split(' ').collect::<Vec<_>>(), 5)
    }

    #[test]
    fn nvswitches_become_servers() {
        let (mut network, mut places) = network();
        let found = header("9 2 4 1 12 H100").and_then(|header| header.take(&mut network, &mut places));
        let (nvlink, _) = found.expect("servers");
        assert_eq!(nvlink, Nvlink { gpus: 2, rate: BitRate::gbps(2_400), latency: Nanos(50) });
        assert_eq!((network.links.len(), places.len()), (4, 4));
        assert!(network.links.iter().all(|link| link.b == 8));
    }

    #[test]
    fn what_is_not_regular_stays_a_network() {
        // An NVSwitch joins GPUs of two servers of three.
        let (mut odd, mut places) = network();
        assert!(header("9 3 4 1 12 H100").expect("a header").take(&mut odd, &mut places).is_none());
        assert_eq!(odd.links.len(), 12);
        let (mut network, mut places) = network();
        network.links[0].rate = BitRate::gbps(600);
        assert!(header("9 2 4 1 12 H100").expect("a header").take(&mut network, &mut places).is_none());
        let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        assert_eq!(Header::announced(&words("9 2 4 1 10 H100")), Some(10), "whatever follows");
        for text in ["9 5 12", "9 2 4 1 12 7", "9 2 3 1 12 H100", "9 2 0 5 12 H100", "9 1 4 1 12 H100"] {
            assert!(header(text).is_none(), "{text}");
        }
    }
}
