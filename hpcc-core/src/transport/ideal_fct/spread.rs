// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow alone whose packets may take several paths: a time that none of its packets' choices can beat.
//!
//! All paths have equally many links, so that the links between two hosts lie in layers, each of which every packet crosses
//! once. No flow is sooner than its bytes at the sum of a layer's rates, and one packet over the fastest links of the others.

use super::{LinkSpec, Sampling, UnloadedFlow, UnloadedLink, UnloadedPath};
use crate::units::Nanos;
use alloc::vec;
use alloc::vec::Vec;

/// The links that are so many links away from the destination, and lead nearer to it.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Rate and delay of each.
    pub links: Vec<LinkSpec>,
    /// The fewest switches before it that add a record to the packets that pass.
    pub records: u8,
}

impl Layer {
    /// The best of its links in one: the highest rate and the shortest delay.
    pub fn best(&self) -> UnloadedLink {
        let rate = self.links.iter().map(|link| link.0).max().unwrap_or_default();
        let delay = self.links.iter().map(|link| link.1).min().unwrap_or_default();
        UnloadedLink { rate, delay, records: self.records }
    }
}

impl UnloadedFlow {
    /// The least time of a flow of `size` bytes, above 0, whose packets may take any links of the layers of `path`, whose own links
    /// are the best of each.
    pub fn spread_completion(&self, path: &UnloadedPath, layers: &[Layer], size: u64) -> Nanos {
        let mtu = u64::from(self.transport.mtu.max(1));
        let (behind, last) = ((size - 1) / mtu, (size - 1) % mtu + 1);
        if behind == 0 {
            return self.completion(path, size);
        }
        let later = self.later_packet();
        // The pace of the flow's own rate is as a link before all others.
        let pace =
            path.pace().map(|UnloadedLink { rate, delay, records }| Layer { links: vec![(rate, delay)], records });
        let frame = |payload: u64, layer: &Layer| later.data_len(payload as u32, layer.records);
        // How much later than the start of its own bytes the last of a layer's packets has crossed it.
        let wait = |packets: u64, last: u64| {
            let of_layer = |layer: &Layer| {
                let full = later.ticks_per_frame(&layer.links, frame(mtu, layer));
                let alone = later.time(&(layer.best().rate, Nanos(0)), frame(last, layer));
                // Several links carry as many packets at once: the last of them need not wait for the others.
                let spare = alone.saturating_sub(later.ticks_per_frame(&layer.links, frame(last, layer)).of(1));
                full.of(packets).saturating_sub(spare)
            };
            later.nanos_down(pace.iter().chain(layers).map(of_layer).max().unwrap_or_default())
        };
        // The last packet may be short, and come before a full one that left its host ahead of it.
        let by_last = wait(behind, last) + later.completion(path, last);
        let single = layers.first().is_some_and(|layer| layer.links.len() == 1);
        let by_full = || wait(behind - 1, mtu) + later.completion(path, mtu);
        if single { by_last.max(by_full()) } else { by_last }
    }

    /// A packet that is not the first: it opens nothing, and telemetry is collected by those before it unless by all.
    fn later_packet(&self) -> UnloadedFlow {
        let sampling = if self.sampling == Sampling::EveryPacket { self.sampling } else { Sampling::Never };
        let mut later = UnloadedFlow { sampling, ..self.clone() };
        later.sizes.first_overhead = 0;
        later
    }

    /// Bytes for which a data packet behind so many records occupies a link, the gap apart.
    fn data_len(&self, payload: u32, records: u8) -> u32 {
        let collects = self.sampling == Sampling::EveryPacket;
        let section = if collects { self.layout.len_after(records.into()) as u32 } else { 0 };
        self.sizes.data(payload, false, section)
    }

    fn ticks_per_frame(&self, links: &[LinkSpec], frame: u32) -> Pace {
        let each = links.iter().map(|link| (1 << 64) / u128::from(self.time(link, frame).max(1)) + 1);
        Pace { per_2_64_ticks: each.sum::<u128>().max(1) }
    }

    /// A sum of times, rounded down.
    fn nanos_down(&self, ticks: u64) -> Nanos {
        Nanos(ticks / self.ticks_per_nano())
    }
}

/// How many frames several links carry together: not fewer than in truth.
struct Pace {
    per_2_64_ticks: u128,
}

impl Pace {
    /// The time of so many frames.
    fn of(&self, frames: u64) -> u64 {
        u64::try_from((u128::from(frames) << 64) / self.per_2_64_ticks).unwrap_or(u64::MAX)
    }
}
