// SPDX-License-Identifier: MIT OR Apache-2.0
//! Feedback that says something else than what the links said.

use super::Claim;
use crate::telemetry::{Hop, HopStack, Layout, Modulus, Telemetry, link_codec};
use crate::transport::feedback::FeedbackContent;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The queue of [`Claim::Busy`] in bytes: a long one that every layout can express.
const LONG_QUEUE: u64 = 5_000_000;

/// Of so many bytes that a link sent, [`Claim::Idle`] tells one. Nothing at all would be no news to HPCC.
const TOLD: u64 = 16;

/// A flow, as a frame on its way names it: destination node and queue pair there.
type FlowKey = (u32, u32);

/// Changes feedback so that it makes a claim about all links.
#[derive(Clone, Debug)]
pub struct Alteration {
    claim: Claim,
    layout: Layout,
    stack: HopStack,
    /// Bytes that each link of each flow had sent as the attack began.
    sent: BTreeMap<(FlowKey, usize), u64>,
}

impl Alteration {
    /// Of telemetry of this layout.
    pub fn new(claim: Claim, layout: Layout) -> Self {
        Alteration { claim, layout, stack: HopStack::default(), sent: BTreeMap::new() }
    }

    /// Changes an answer to telemetry, or with [`FeedbackContent::Records`] a section, without its seal. Returns whether there was
    /// something to change.
    pub fn apply(&mut self, flow: FlowKey, answer: FeedbackContent, bytes: &mut [u8]) -> bool {
        match answer {
            FeedbackContent::Nothing => false,
            FeedbackContent::Records => self.records(flow, bytes),
            FeedbackContent::BusiestLink => self.link(flow, bytes),
            FeedbackContent::Loads => fill(bytes, if self.claim == Claim::Busy { u8::MAX } else { 0 }),
            FeedbackContent::Window => fill(bytes, if self.claim == Claim::Busy { 0 } else { u8::MAX }),
        }
    }

    fn records(&mut self, flow: FlowKey, bytes: &mut [u8]) -> bool {
        let Alteration { claim, layout, stack, sent } = self;
        let Telemetry::Hops(stack) = layout.read(bytes, stack) else {
            return layout.claim(bytes, *claim == Claim::Busy);
        };
        let modulus = stack.modulus;
        let hops: Vec<Hop> = stack
            .hops()
            .iter()
            .zip(0..)
            .map(|(hop, place)| claimed(*claim, &modulus, hop, (flow, place), sent))
            .collect();
        layout.overwrite(bytes, &hops);
        !hops.is_empty()
    }

    fn link(&mut self, flow: FlowKey, bytes: &mut [u8]) -> bool {
        let Some(modulus) = self.layout.modulus() else { return false };
        let Ok(mut record) = link_codec::read(bytes, modulus) else { return false };
        let link = (flow, usize::from(record.place));
        record.hop = claimed(self.claim, &modulus, &record.hop, link, &mut self.sent);
        bytes.copy_from_slice(&link_codec::emit(&record));
        true
    }
}

/// The record that a link is claimed to have written.
fn claimed(
    claim: Claim,
    modulus: &Modulus,
    hop: &Hop,
    link: (FlowKey, usize),
    sent: &mut BTreeMap<(FlowKey, usize), u64>,
) -> Hop {
    match claim {
        Claim::Idle => {
            let first = *sent.entry(link).or_insert(hop.tx_bytes);
            let since = modulus.sent(&Hop { tx_bytes: first, ..*hop }, hop);
            Hop { qlen: 0, tx_bytes: (first + since / TOLD) % modulus.tx_bytes.max(1), ..*hop }
        }
        Claim::Busy => Hop { qlen: LONG_QUEUE, ..*hop },
    }
}

fn fill(bytes: &mut [u8], value: u8) -> bool {
    bytes.fill(value);
    !bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{IntMd, LinkRecord, Snapshot};
    use crate::testing::{layouts, records as read, stamped};
    use crate::units::Nanos;

    const FLOW: FlowKey = (3, 7);

    /// A section of three hops at a time, the counters of which are `sent` apart.
    fn section(layout: &Layout, now: u64, sent: u64) -> Vec<u8> {
        let hops = (1..=3).map(|switch_id| {
            let tx_bytes = u64::from(switch_id) * 1_280_000 + sent;
            Snapshot { switch_id, now: Nanos(now), tx_bytes, qlen: 80_000, ..Snapshot::IDLE }
        });
        stamped(layout, hops)
    }

    #[test]
    fn records_keep_path_time_and_rate_in_every_layout() {
        for layout in layouts() {
            let mut idle = Alteration::new(Claim::Idle, layout.clone());
            let (mut first, mut later) = (section(&layout, 1_000, 0), section(&layout, 9_000, 16 * 128_000));
            let (before, after) = (read(&layout, &first), read(&layout, &later));
            assert!(
                idle.apply(FLOW, FeedbackContent::Records, &mut first)
                    && idle.apply(FLOW, FeedbackContent::Records, &mut later)
            );
            let lie = read(&layout, &later);
            assert_eq!(lie.path, after.path, "{layout:?}");
            for ((lie, honest), first) in lie.hops().iter().zip(after.hops()).zip(before.hops()) {
                assert_eq!(*lie, Hop { qlen: 0, tx_bytes: first.tx_bytes + 128_000, ..*honest }, "{layout:?}");
            }
            let mut busy = section(&layout, 1_000, 0);
            assert!(Alteration::new(Claim::Busy, layout.clone()).apply(FLOW, FeedbackContent::Records, &mut busy));
            for (lie, honest) in read(&layout, &busy).hops().iter().zip(before.hops()) {
                assert_eq!(*lie, Hop { qlen: LONG_QUEUE, ..*honest }, "{layout:?}");
            }
        }
    }

    #[test]
    fn other_answers_make_the_same_claim() {
        let layout = Layout::new(IntMd { hops: 5 });
        let hop = read(&layout, &section(&layout, 1_000, 0)).hops()[1];
        let modulus = layout.modulus().expect("counters");
        let mut bytes = link_codec::emit(&LinkRecord { path: 9, place: 1, hop, modulus });
        assert!(Alteration::new(Claim::Busy, layout.clone()).apply(FLOW, FeedbackContent::BusiestLink, &mut bytes));
        assert_eq!(link_codec::read(&bytes, modulus).map(|record| record.hop), Ok(Hop { qlen: LONG_QUEUE, ..hop }));
        for (answer, claim, value) in [
            (FeedbackContent::Loads, Claim::Busy, 255),
            (FeedbackContent::Loads, Claim::Idle, 0),
            (FeedbackContent::Window, Claim::Busy, 0),
            (FeedbackContent::Window, Claim::Idle, 255),
        ] {
            let mut bytes = [7; 4];
            assert!(Alteration::new(claim, layout.clone()).apply(FLOW, answer, &mut bytes));
            assert_eq!(bytes, [value; 4]);
        }
    }

    #[test]
    fn telemetry_with_one_value_for_the_path_takes_the_claim_too() {
        use crate::telemetry::{Signal, bolt};
        let told = |claim, name: &str| {
            let layout = Layout::named(name).expect("a layout");
            assert!(layout.takes_claims(), "{name}");
            let mut section = alloc::vec![0; layout.initial_len()];
            layout.prepare(&mut section, Nanos(0));
            let mut alteration = Alteration::new(claim, layout.clone());
            assert!(alteration.apply(FLOW, FeedbackContent::Records, &mut section), "{name}");
            let mut stack = HopStack::default();
            let read = layout.read(&section, &mut stack);
            if let Telemetry::Utilisation(utilisation) = read {
                utilisation
            } else if let Telemetry::Signal(Signal::Share(share)) = read {
                1.0 - share
            } else if let Telemetry::Signal(Signal::Queue(queue) | Signal::Delay(queue)) = read {
                queue.0 as f64 / 10_000.0
            } else if let Telemetry::Bolt(header) = read {
                f64::from(header.flags & (bolt::DEC | bolt::INC) == bolt::DEC)
            } else {
                panic!("{read:?}")
            }
        };
        for name in ["pint", "csig", "bolt"] {
            let (idle, busy) = (told(Claim::Idle, name), told(Claim::Busy, name));
            assert!(idle < 0.05 && busy >= 1.0, "{name}: {idle}, {busy}");
        }
        assert!(!Layout::named("timestamp").expect("a layout").takes_claims());
    }
}
