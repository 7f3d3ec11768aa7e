// SPDX-License-Identifier: MIT OR Apache-2.0
//! The section of every layout, stamped by switches, comes out of its frame as it went in.

use crate::frame::PacketKind;
use crate::frame::parse::{Content, parse};
use crate::frame::{Dialect, Encapsulation};
use crate::roce::icrc::Coverage;
use crate::simulated_frame::SimulatedFrame;
use crate::telemetry::{Form, Layout, LayoutSettings, Snapshot};
use crate::units::Nanos;
use alloc::vec::Vec;

const HOPS: u8 = 5;

fn section(layout: &Layout, hops: u8) -> Vec<u8> {
    let hop = |hop| Snapshot { switch_id: u32::from(hop) + 1, now: Nanos(2_000), qlen: 16_000, ..Snapshot::IDLE };
    crate::testing::stamped(layout, (0..hops).map(hop))
}

fn data(ipv6: bool) -> SimulatedFrame {
    SimulatedFrame {
        ipv6,
        src: 0x0b00_0001,
        dst: 0x0b00_0101,
        hop_limit: 64,
        flow_bytes: 10_000,
        mtu: 1_000,
        payload: 1_000,
        ..SimulatedFrame::default()
    }
}

#[test]
fn every_layout_comes_out_as_it_went_in() {
    let mut settings = LayoutSettings::default();
    settings.shared.hops = Some(HOPS);
    for (layout, ipv6) in settings.layouts().flat_map(|layout| [(layout.clone(), false), (layout, true)]) {
        let name = layout.name();
        let encapsulation = layout.encapsulation();
        if encapsulation == Some(Encapsulation::HopByHop) && !ipv6 {
            continue;
        }
        let mark = encapsulation.and_then(|encapsulation| {
            let Encapsulation::Marked { mark } = encapsulation else { return None };
            Some((mark, layout.section_len()))
        });
        let dialect = Dialect { marks: mark.as_slice(), ..Dialect::default() };
        for hops in 0..=HOPS {
            let section = section(&layout, hops);
            let bytes = data(ipv6).bytes(encapsulation, &section).expect("a frame");
            let Content::Roce(packet) = parse(&bytes, &dialect).expect(name).content else { panic!("no RoCEv2") };
            let found = packet.frame.telemetry;
            assert_eq!(found.map(|found| found.encapsulation()), encapsulation, "{name}");
            assert_eq!(found.map(|found| found.to_vec()).unwrap_or_default(), section, "{name}, {hops} hops");
            assert_eq!(packet.verdict(), Some(Coverage::TelemetryFree), "{name}, {hops} hops");
            assert_eq!((packet.frame.payload, packet.frame.bth.psn), (&[0; 1_000][..], 0), "{name}");
        }
    }
}

/// Switches on the way back take an acknowledgement for a packet without telemetry: nothing announces any.
#[test]
fn telemetry_that_goes_back_is_payload() {
    let layout = Layout::new(Form::Paper);
    let section = section(&layout, HOPS);
    let ack = SimulatedFrame { seq: 1_000, kind: PacketKind::Ack, ..data(false) };
    let bytes = ack.bytes(layout.encapsulation(), &section).expect("a frame");
    let Content::Roce(packet) = parse(&bytes, &Dialect::default()).expect("a frame").content else {
        panic!("no RoCEv2")
    };
    assert_eq!((packet.frame.telemetry, packet.frame.payload), (None, &section[..]));
}
