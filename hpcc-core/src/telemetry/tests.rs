// SPDX-License-Identifier: MIT OR Apache-2.0
//! What holds of every layout with records of hops.

use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

/// A section that passed so many switches, 0 and up, and how long it is then.
fn stamped(layout: &Layout, hops: usize) -> ([u8; MAX_SECTION + 32], usize) {
    let mut section = [0; MAX_SECTION + 32];
    let mut len = layout.prepare(&mut section, Nanos(0));
    for hop in 0..hops {
        let snapshot = Snapshot { switch_id: 100 + hop as u32, tx_bytes: 1_280 * hop as u64, ..Snapshot::IDLE };
        len = layout.stamp(&mut section, len, &snapshot);
    }
    (section, len)
}

/// The sent bytes of each hop and the path, if the section can be read.
fn read(layout: &Layout, section: &[u8]) -> Option<(Vec<u64>, u64)> {
    let mut stack = HopStack::default();
    let is_read = matches!(layout.read(section, &mut stack), Telemetry::Hops(_));
    is_read.then(|| (stack.hops().iter().map(|hop| hop.tx_bytes).collect(), stack.path))
}

/// REQ-01, REQ-02: in the order of the path, with the switches' ids where records name them.
#[test]
fn req_01_hops_come_back_in_the_order_of_the_path() {
    for layout in Layout::with_records() {
        let name = layout.name();
        let (section, len) = stamped(&layout, 3);
        let (sent, path) = read(&layout, &section[..len]).expect("three hops");
        assert_eq!(sent, [0, 1_280, 2_560], "{name:?}");
        let mut named = HopStack::default();
        (100..103).for_each(|id| named.pass(id, Snapshot::IDLE.egress));
        assert_eq!(path == named.path, layout.names_links(), "{name:?}");
        assert_eq!(path != 0, layout.tells_paths(), "{name:?}");
    }
}

#[test]
fn a_hop_too_many_and_missing_bytes_make_a_section_unusable() {
    for layout in Layout::with_records() {
        let name = layout.name();
        let most = layout.max_hops().expect("records");
        let (full, len) = stamped(&layout, most);
        assert!(read(&layout, &full[..len]).is_some_and(|(sent, _)| sent.len() == most), "{name:?}");
        let (more, longer) = stamped(&layout, most + 1);
        let is_compact = layout.codec::<Form>().is_some();
        assert_eq!((longer, read(&layout, &more[..len]).is_some()), (len, is_compact), "{name:?}");
        assert_eq!(more == full, is_compact, "the compact ones stay as they are");
        // IOAM's last bytes may be padding.
        for short in 0..=len - 4 {
            assert_eq!(read(&layout, &full[..short]), None, "{name:?}, {short} bytes");
        }
        assert_eq!(layout.prepare(&mut { full }[..layout.initial_len() - 1], Nanos(0)), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), len: usize, whole: bool) {
        for layout in Layout::all() {
            let mut section = bytes.clone();
            if whole {
                layout.prepare(&mut section, Nanos(0));
            }
            let mut stack = HopStack::default();
            for len in [len, len % 200, layout.initial_len()] {
                layout.read(section.get(..len).unwrap_or_default(), &mut stack);
                let hops = [Hop::default(); MAX_HOPS];
                layout.overwrite(section.get_mut(..len).unwrap_or_default(), &hops);
                let grown = layout.stamp(&mut section, len, &Snapshot::IDLE);
                prop_assert!(grown == len || grown <= section.len());
            }
        }
    }
}
