// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records that tell ratios only: what a switch at the border of a domain sends to its neighbour (REQ-64;
//! draft-miao-rtgwg-hpccplus-00, section 9.1).
//!
//! HPCC++ reads qlen / (B * T) + txRate / B of a link. That stays the same if B, qlen and txBytes are all multiplied by one
//! number. So each record is written as that of a link of the fastest rate for which the layout has a code:
//!
//! | field | becomes |
//! | --- | --- |
//! | B | that rate, 800 Gb/s; 400 Gb/s in the 2019 simulator's layout |
//! | txBytes, qlen | as many times more as that rate is faster |
//! | time, ids, number of hops | what they are |
//!
//! The number is whole for each rate with a code, so that counters that wrap still do so at the layout's modulus. A switch
//! needs no memory of flows for that; a record that was changed once is not changed by the next border.

use super::{Hop, HopStack, Layout, LinkRecord, MAX_HOPS, Modulus, Telemetry, Unusable, link_codec};
use crate::units::BitRate;

/// The rate that all links have in records of a layout that tell ratios only; `None` if it has no records.
pub fn rate(layout: &Layout) -> Option<BitRate> {
    layout.records()?.rates.last().copied()
}

/// The record of a link with the same load, and this rate, which is a multiple of the link's.
fn relative(hop: &Hop, rate: BitRate, modulus: &Modulus) -> Hop {
    let factor = rate.0 / hop.rate.0.max(1);
    let tx_bytes = u128::from(hop.tx_bytes) * u128::from(factor) % u128::from(modulus.tx_bytes.max(1));
    // No digit is lost: it is below the modulus, a number of 64 bits.
    Hop { rate, tx_bytes: tx_bytes as u64, qlen: hop.qlen.saturating_mul(factor), ..*hop }
}

/// Makes the records of a section relative. A section that cannot be read - a hop is missing, or has a rate without a
/// code - is wiped out: it would tell what it must not.
pub fn section(layout: &Layout, bytes: &mut [u8], stack: &mut HopStack) {
    let Some(rate) = rate(layout) else { return };
    let mut hops = [Hop { rate, ..Hop::default() }; MAX_HOPS];
    let mut count = MAX_HOPS;
    if let Telemetry::Hops(stack) = layout.read(bytes, stack) {
        count = stack.hops().len();
        for (changed, hop) in hops.iter_mut().zip(stack.hops()) {
            *changed = relative(hop, rate, &stack.modulus);
        }
    }
    layout.overwrite(bytes, hops.get(..count).unwrap_or_default());
}

/// Makes the record of one link relative, as the answer to a layout has it.
///
/// # Errors
/// [`Unusable`] if it is none; it stays as it is.
pub fn link(layout: &Layout, bytes: &mut [u8]) -> Result<(), Unusable> {
    let (rate, modulus) = (rate(layout).ok_or(Unusable)?, layout.modulus().ok_or(Unusable)?);
    let record = link_codec::read(bytes, modulus)?;
    let changed = LinkRecord { hop: relative(&record.hop, rate, &modulus), ..record };
    bytes.copy_from_slice(&link_codec::emit(&changed));
    Ok(())
}

#[cfg(test)]
mod tests {

    use super::super::{Comparison, Snapshot, reference, speed};
    use super::*;
    use crate::telemetry::{Form, Ifa, IntMd, Timestamp};
    use crate::testing::{self, layouts, records as read};
    use crate::units::Nanos;
    use alloc::vec::Vec;
    use approx::assert_relative_eq;

    const T: Nanos = Nanos(10_000);

    /// A section of two links, of 100 Gb/s and of this rate, both as long under load as `sent` and `qlen` say for 100 Gb/s.
    fn stamped(layout: &Layout, gbps: u64, now: u64, sent: u64, qlen: u64) -> Vec<u8> {
        let hops = [(1, 100), (2, gbps)].map(|(switch_id, gbps)| {
            let rate = BitRate::gbps(gbps);
            let part = |bytes: u64| bytes * gbps / 100;
            let (tx_bytes, qlen, arrived) = (part(sent), part(qlen), Nanos(now - 800));
            Snapshot { switch_id, rate, arrived, now: Nanos(now), tx_bytes, qlen, ..Snapshot::IDLE }
        });
        testing::stamped(layout, hops)
    }

    fn hidden(layout: &Layout, mut bytes: Vec<u8>) -> Vec<u8> {
        section(layout, &mut bytes, &mut HopStack::default());
        bytes
    }

    /// U of each link between two sections.
    fn loads(layout: &Layout, [earlier, later]: [&[u8]; 2]) -> Vec<f64> {
        let (earlier, later) = (read(layout, earlier), read(layout, later));
        let pairs = earlier.hops().iter().zip(later.hops());
        let load = |(earlier, later)| {
            let compared = Comparison::of(&layout.modulus().expect("counters"), earlier, later, T);
            let Comparison::Load(load) = compared else { panic!("{compared:?}") };
            load.utilisation
        };
        pairs.map(load).collect()
    }

    /// The counters wrap between the two samples in the layouts whose may.
    #[test]
    fn req_64_ratios_stay_in_every_layout() {
        for layout in layouts() {
            let wrap = layout.modulus().expect("counters").tx_bytes;
            let before = if wrap < 1 << 50 { wrap - 51_200 } else { 51_200 };
            let sections = [(1_000, before), (9_000, before + 102_400)];
            let sections = sections.map(|(now, sent)| stamped(&layout, 25, now, sent, 51_200));
            let plain = loads(&layout, [&sections[0], &sections[1]]);
            let relative = sections.map(|bytes| hidden(&layout, bytes));
            let told = loads(&layout, [&relative[0], &relative[1]]);
            for (told, plain) in told.iter().zip(&plain) {
                assert_relative_eq!(told, plain, max_relative = 1e-9);
            }
            assert_eq!(told.len(), 2);
        }
    }

    /// Links of 25 and 400 Gb/s under one relative load send the same bytes.
    #[test]
    fn req_64_no_capacity_queue_or_counter_is_told() {
        for layout in layouts() {
            let [slow, fast] = [25, 400].map(|gbps| hidden(&layout, stamped(&layout, gbps, 5_000, 1_024_000, 256_000)));
            assert_eq!(slow, fast, "{layout:?}");
            let rate = rate(&layout).expect("records");
            assert!(read(&layout, &slow).hops().iter().all(|hop| hop.rate == rate), "{layout:?}");
            assert_eq!(hidden(&layout, slow.clone()), slow, "another border changes nothing: {layout:?}");
        }
    }

    #[test]
    fn req_64_every_rate_with_a_code_divides_the_fastest() {
        for rates in [&speed::RATES[..], &reference::RATES] {
            let fastest = rates.last().expect("a rate").0;
            assert!(rates.iter().all(|rate| fastest.is_multiple_of(rate.0)));
        }
    }

    /// A queue that is beyond its field after it was multiplied does not read as a short one.
    #[test]
    fn queues_saturate() {
        let by_time = |layout: &Layout| layout.codec::<Ifa>().is_some_and(|ifa| ifa.sojourn);
        for layout in layouts().into_iter().filter(|layout| !by_time(layout)) {
            let told = read(&layout, &hidden(&layout, stamped(&layout, 25, 5_000, 0, 40_000_000)));
            let [first, second] = [0, 1].map(|hop| told.hops()[hop].qlen);
            assert!(first > 5_000_000 && second > 5_000_000, "{layout:?}: {told:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_wiped_out() {
        let layout = Layout::new(IntMd { hops: 1 });
        let bytes = stamped(&layout, 25, 5_000, 1_024_000, 256_000);
        assert_eq!(layout.read(&bytes, &mut HopStack::default()), Telemetry::Nothing, "the second hop is missing");
        let idle = Snapshot { switch_id: 1, rate: BitRate::gbps(800), now: Nanos(5_000), ..Snapshot::IDLE };
        let expected = testing::stamped(&layout, [idle, idle]);
        assert_eq!(hidden(&layout, bytes), expected);
    }

    #[test]
    fn req_64_the_record_of_one_link_is_made_relative_too() {
        let layout = Layout::new(Form::Paper);
        let modulus = layout.modulus().expect("counters");
        let hop = Hop { rate: BitRate::gbps(25), ts: 7, tx_bytes: 128_000, qlen: 800 };
        let record = LinkRecord { path: 9, place: 1, hop, modulus };
        let mut bytes = link_codec::emit(&record);
        assert_eq!(link(&layout, &mut bytes), Ok(()));
        let expected = Hop { rate: BitRate::gbps(800), ts: 7, tx_bytes: 32 * 128_000, qlen: 32 * 800 };
        assert_eq!(link_codec::read(&bytes, modulus), Ok(LinkRecord { hop: expected, ..record }));
        assert_eq!(link(&layout, &mut [1; 4]), Err(Unusable));
        assert_eq!(link(&Layout::new(Timestamp), &mut bytes), Err(Unusable));
    }
}
