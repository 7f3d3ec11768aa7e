// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a flow knows of each link, where packets bring the records of some hops only: switches may report
//! [less often](crate::switch::Reported) than packets ask, and receivers may answer with the record of the
//! [busiest link](super::BusiestLink) alone.
//!
//! The drafts compare the records of each link with the last ones of that link (lines 3 to 7) and identify links by
//! switch_ID and port_ID (section 3); for a changing set of hops they say no more. The rules are this project's:
//!
//! - Each link has a U of its own, averaged over T as lines 8 and 9 do, and the flow's U is that of the busiest link it
//!   knows. With all hops in each packet this is the draft's, but for averaging before the maximum.
//! - The flow reacts when the busiest link reports. Records of others change what is known of them, and no window: of a link
//!   with room nothing follows while another has none, and nothing was learnt of that one.
//! - A link that has not reported for [`MEMORY`] does not count: the path may have changed.

use super::{Comparison, Hop, HopStack, LinkLoad, LinkRecord, Modulus};
use crate::units::Nanos;
use alloc::vec::Vec;

/// T's after which a link that is silent no longer counts.
pub const MEMORY: u64 = 16;

/// Links that are kept: those of packets that are spread over a hundred paths of a tree. Of more than are kept, each is forgotten
/// before its second record comes.
const MOST: usize = 256;

/// How two records of a link are compared, such as [`Comparison::of`].
pub type Compare = fn(&Modulus, &Hop, &Hop, Nanos) -> Comparison;

/// The last record of a link.
#[derive(Clone, Copy, Debug)]
struct KnownLink {
    id: u64,
    hop: Hop,
    heard: Nanos,
    /// U of the link; `None` before its second record.
    utilisation: Option<f64>,
}

/// The news of a packet's records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learnt {
    /// Nothing of the busiest link.
    Nothing,
    /// They are the flow's first.
    First,
    /// The busiest link is at this place among the packet's hops, and has this U.
    Busiest(usize, f64),
}

/// All links that a flow knows.
#[derive(Clone, Debug, Default)]
pub struct KnownLinks {
    links: Vec<KnownLink>,
    /// Where links are known by their place on a path: the path.
    path: u64,
    restarts: u64,
}

impl KnownLinks {
    /// Records that could not be compared with the last one of their link, which was too old.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Takes in the records of a packet. An overtaken one counts for nothing.
    pub fn learn(&mut self, now: Nanos, stack: &HopStack, base_rtt: Nanos, compare: Compare) -> Learnt {
        let is_first = self.links.is_empty();
        for (id, hop) in stack.links() {
            self.take(now, id, hop, &stack.modulus, base_rtt, (compare, 1.0));
        }
        match self.busiest(now, base_rtt) {
            Some((id, utilisation)) => stack
                .links()
                .position(|(link, _)| link == id)
                .map_or(Learnt::Nothing, |place| Learnt::Busiest(place, utilisation)),
            None if is_first && !self.links.is_empty() => Learnt::First,
            None => Learnt::Nothing,
        }
    }

    /// Takes in the record of one link, which is known by its place, and which its sender took for the busiest. Those of
    /// another path are forgotten. A link that is new has the U of the busiest one before.
    pub fn learn_link(&mut self, now: Nanos, record: &LinkRecord, base_rtt: Nanos) -> Learnt {
        let (id, is_first) = (u64::from(record.place), self.path != record.path || self.links.is_empty());
        if is_first {
            *self = KnownLinks { path: record.path, ..KnownLinks::default() };
        }
        let before = self.known(now, base_rtt).map_or(1.0, |(_, utilisation)| utilisation);
        self.take(now, id, &record.hop, &record.modulus, base_rtt, (Comparison::of, before));
        match self.busiest(now, base_rtt) {
            Some((_, utilisation)) => Learnt::Busiest(record.place.into(), utilisation),
            None if is_first => Learnt::First,
            None => Learnt::Nothing,
        }
    }

    /// The busiest link that counts, and its U.
    fn known(&self, now: Nanos, base_rtt: Nanos) -> Option<(&KnownLink, f64)> {
        let memory = Nanos(base_rtt.0.saturating_mul(MEMORY));
        let known = self.links.iter().filter(|link| now - link.heard <= memory);
        known.filter_map(|link| Some((link, link.utilisation?))).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The busiest link and its U, if it has reported now.
    fn busiest(&self, now: Nanos, base_rtt: Nanos) -> Option<(u64, f64)> {
        let busiest = self.known(now, base_rtt).filter(|(link, _)| link.heard == now);
        busiest.map(|(link, utilisation)| (link.id, utilisation))
    }

    /// The load of the busiest of these links since their last records, which stay; `None` where none can be compared.
    pub fn compare(&self, now: Nanos, stack: &HopStack, base_rtt: Nanos, compare: Compare) -> Option<LinkLoad> {
        let load = |(id, hop): (u64, &Hop)| {
            let link = self.links.iter().find(|link| link.id == id)?;
            match compare(&stack.modulus, &link.hop, hop, base_rtt) {
                Comparison::Load(load) if now - link.heard <= stack.modulus.horizon(hop) => Some(load),
                Comparison::Load(_) | Comparison::Nothing | Comparison::Overtaken => None,
            }
        };
        stack.links().filter_map(load).max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
    }

    /// `first` is the U with which a link's first load is averaged.
    fn take(
        &mut self,
        now: Nanos,
        id: u64,
        hop: &Hop,
        modulus: &Modulus,
        base_rtt: Nanos,
        (compare, first): (Compare, f64),
    ) {
        let fresh = KnownLink { id, hop: *hop, heard: now, utilisation: None };
        let Some(link) = self.links.iter_mut().find(|link| link.id == id) else { return self.add(fresh) };
        if now - link.heard > modulus.horizon(hop) {
            *link = fresh;
            self.restarts += 1;
            return;
        }
        if let Comparison::Load(load) = compare(modulus, &link.hop, hop, base_rtt) {
            let utilisation = Some(load.average(link.utilisation.unwrap_or(first), base_rtt));
            *link = KnownLink { utilisation, ..fresh };
        }
    }

    /// Where there is no room, the link that was silent longest is forgotten.
    fn add(&mut self, link: KnownLink) {
        if self.links.len() < MOST {
            return self.links.push(link);
        }
        if let Some(oldest) = self.links.iter_mut().min_by_key(|known| known.heard) {
            *oldest = link;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    const MODULUS: Modulus = Modulus { ts: 1 << 40, tx_bytes: 1 << 50 };
    const T: Nanos = Nanos(10_000);

    /// At a time, records of links of 100 Gb/s by their switch: it has sent so much of what it can, from the start on.
    fn stack(now: u64, hops: &[(u32, f64)]) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        for &(switch_id, load) in hops {
            stack.pass(switch_id, 1);
            stack.push(Hop { rate: BitRate::gbps(100), ts: now, tx_bytes: (now as f64 * 12.5 * load) as u64, qlen: 0 });
        }
        stack
    }

    fn learn(known: &mut KnownLinks, now: u64, hops: &[(u32, f64)]) -> Learnt {
        known.learn(Nanos(now), &stack(now, hops), T, Comparison::of)
    }

    #[test]
    fn req_60_only_the_busiest_link_moves_the_window() {
        let mut known = KnownLinks::default();
        assert_eq!(learn(&mut known, 0, &[]), Learnt::Nothing);
        assert_eq!(learn(&mut known, 0, &[(1, 0.2), (2, 0.9)]), Learnt::First);
        let Learnt::Busiest(1, load) = learn(&mut known, 10_000, &[(1, 0.2), (2, 0.9)]) else { panic!("both") };
        assert_abs_diff_eq!(load, 0.9, epsilon = 1e-3);
        assert_eq!(learn(&mut known, 20_000, &[(1, 0.2)]), Learnt::Nothing, "2 is known to be busier");
        assert_eq!(learn(&mut known, 20_000, &[]), Learnt::Nothing);
        let Learnt::Busiest(0, load) = learn(&mut known, 30_000, &[(2, 0.9)]) else { panic!("2") };
        assert!(abs_diff_eq!(load, 0.9, epsilon = 1e-3), "since its own last record, 20 us ago: {load}");
    }

    #[test]
    fn a_link_that_is_silent_for_long_does_not_count() {
        let mut known = KnownLinks::default();
        for now in [0, 10_000] {
            learn(&mut known, now, &[(1, 0.2), (2, 0.9)]);
        }
        let until = 10_000 + MEMORY * T.0;
        assert_eq!(learn(&mut known, until, &[(1, 0.2)]), Learnt::Nothing);
        assert!(matches!(learn(&mut known, until + 1_000, &[(1, 0.2)]), Learnt::Busiest(0, _)));
    }

    /// A link at 40 % that was not heard for 40 us is no bottleneck beside one at 95 %.
    #[test]
    fn req_17_a_record_of_another_link_leaves_the_bottleneck_known() {
        let mut known = KnownLinks::default();
        let modulus = MODULUS;
        let mut learn = |now: u64, place, load: f64, path| {
            let tx_bytes = (now as f64 * 12.5 * load) as u64;
            let hop = Hop { rate: BitRate::gbps(100), ts: now, tx_bytes, qlen: 0 };
            known.learn_link(Nanos(now), &LinkRecord { path, place, hop, modulus }, T)
        };
        let is_near =
            |learnt, expected: f64| matches!(learnt, Learnt::Busiest(_, load) if (load - expected).abs() < 1e-3);
        assert_eq!(learn(0, 0, 0.95, 7), Learnt::First);
        assert_eq!(learn(1_000, 1, 0.4, 7), Learnt::Nothing);
        for now in (10_000..40_000).step_by(10_000) {
            assert!(is_near(learn(now, 0, 0.95, 7), 0.95));
        }
        assert_eq!(learn(41_000, 1, 0.4, 7), Learnt::Nothing);
        assert!(is_near(learn(50_000, 0, 0.95, 7), 0.95));
        assert_eq!(learn(49_000, 0, 0.95, 7), Learnt::Nothing, "overtaken");
        for now in (60_000..50_000 + (MEMORY + 1) * T.0).step_by(10_000) {
            assert_eq!(learn(now, 1, 0.4, 7), Learnt::Nothing, "the bottleneck may still be there");
        }
        assert!(is_near(learn(60_000 + MEMORY * T.0, 1, 0.4, 7), 0.4));
        assert_eq!(learn(300_000, 1, 0.4, 8), Learnt::First);
    }

    /// One packet after the other by each of 40 spines, one of which is busy.
    #[test]
    fn links_of_packets_that_are_spread_are_all_known() {
        let mut known = KnownLinks::default();
        let mut busiest = 0;
        for packet in 0..400_u32 {
            let spine = packet % 40;
            let load = if spine == 7 { 0.9 } else { 0.2 };
            let learnt = learn(&mut known, u64::from(packet) * 1_000, &[(100 + spine, load)]);
            busiest += u32::from(matches!(learnt, Learnt::Busiest(0, load) if spine == 7 && load > 0.85));
        }
        assert!(busiest >= 8, "{busiest} of 9 records that can be compared");
    }

    #[test]
    fn more_links_than_a_flow_can_pass_take_no_more_memory() {
        let mut known = KnownLinks::default();
        for id in 0..1_000 {
            learn(&mut known, u64::from(id) * 10, &[(id, 0.5)]);
        }
        assert_eq!(known.links.len(), MOST);
    }
}
