// SPDX-License-Identifier: GPL-2.0-only
//! Packets of a flow that collect telemetry and those that do not look the same to whoever hashes addresses and ports
//! (REQ-13, REQ-63), and take one path.

use hpcc_core::frame::parse::{Content, parse};
use hpcc_core::frame::{Addresses, Dialect, Encapsulation, RocePacket};
use hpcc_core::roce::Opcode;
use hpcc_core::telemetry::Layout;
use hpcc_model::results::packet_trace::PacketKind;
use hpcc_tests::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Two leaves of four hosts, and four spines, which are nodes 10 to 13, between them.
const TOML: &str = r#"
[run]
stop = "3ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 4
hosts_per_leaf = 4
rate = "100Gbps"
delay = "500ns"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "hpcc_plus"
[monitor]
capture_nodes = [0, 1, 2, 3]
trace_nodes = [10, 11, 12, 13]
"#;
const FLOWS: usize = 12;
const PROBE: Opcode = Opcode(0xc0);

/// Runs twelve flows from leaf to leaf, whose telemetry is collected in a way.
fn run(layout: &Layout, packets: &str) -> Run {
    let mut toml = format!("{TOML}[telemetry]\nlayout = \"{}\"\nsampling = \"{packets}\"\n", layout.name());
    for n in 0..FLOWS {
        toml += &format!("[[traffic]]\nkind = \"flow\"\nsrc = {}\ndst = {}\nsize = \"60KB\"\n", n % 4, 4 + n / 4);
    }
    Run::of(&toml, &[])
}

/// The input of a switch's hash: addresses, and the ports of the UDP header wherever it stands.
fn hashed(bytes: &[u8], packet: &RocePacket<'_>) -> ([u8; 16], [u8; 16], [u8; 4]) {
    let Addresses::V6 { src, dst } = packet.frame.addresses else { panic!("IPv4") };
    let ports = &bytes[packet.offsets.udp..packet.offsets.udp + 4];
    (src, dst, ports.try_into().expect("two ports"))
}

/// Whether a packet collects telemetry.
fn collects(packet: &RocePacket<'_>) -> bool {
    packet.frame.telemetry.is_some()
}

#[test]
fn req_63_packets_that_collect_have_the_headers_of_those_that_do_not() {
    for layout in Layout::with_records().filter(|layout| layout.name() != "reference") {
        for packets in ["probes", "nth"] {
            let marks: Vec<_> = match layout.encapsulation() {
                Some(Encapsulation::Marked { mark }) => vec![(mark, layout.section_len())],
                _ => Vec::new(),
            };
            let dialect = Dialect { marks: &marks, ..Dialect::default() };
            let (mut of_flow, mut seen) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
            for (_, bytes) in run(&layout, packets).frames() {
                let Content::Roce(packet) = parse(&bytes, &dialect).expect("RoCEv2").content else { continue };
                let opcode = packet.frame.bth.opcode;
                if opcode == PROBE || opcode.0 <= Opcode::WRITE_ONLY.0 {
                    seen.insert((opcode == PROBE, collects(&packet)));
                    let headers = hashed(&bytes, &packet);
                    of_flow.entry((headers.1, packet.frame.bth.dest_qp)).or_default().insert(headers);
                }
            }
            let both =
                if packets == "probes" { [(false, false), (true, true)] } else { [(false, false), (false, true)] };
            assert!(seen.iter().eq(&both), "{} {packets}: {seen:?}", layout.name());
            assert_eq!(of_flow.len(), FLOWS, "{} {packets}", layout.name());
            assert!(of_flow.values().all(|headers| headers.len() == 1), "{} {packets}: {of_flow:?}", layout.name());
        }
    }
}

#[test]
fn req_13_probes_take_their_flows_path_in_every_layout() {
    for layout in Layout::with_records().filter(|layout| layout.name() != "reference") {
        let mut spines = BTreeMap::<_, BTreeSet<_>>::new();
        let mut kinds = BTreeSet::new();
        for record in run(&layout, "probes").records() {
            if matches!(record.kind, PacketKind::Data | PacketKind::Probe) {
                kinds.insert(record.kind == PacketKind::Probe);
                let flow = (record.src_address, record.dst_address, record.sport);
                spines.entry(flow).or_default().insert(record.node);
            }
        }
        assert_eq!((kinds.len(), spines.len()), (2, FLOWS), "{}", layout.name());
        assert!(spines.values().all(|nodes| nodes.len() == 1), "{}: {spines:?}", layout.name());
        let used: BTreeSet<_> = spines.values().flatten().collect();
        assert!(used.len() > 2, "twelve flows spread over four spines: {used:?}");
    }
}
