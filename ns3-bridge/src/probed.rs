// SPDX-License-Identifier: GPL-2.0-only
//! HPCC++ of flows whose transport is an ns-3 stack's, and the packets of such stacks.

use crate::settings::Settings;
use hpcc_core::address;
use hpcc_core::cc::{FlowLimits, HpccPlusConfig, Reads};
use hpcc_core::frame::CarriedPacket;
use hpcc_core::settings::{Input, Settings as _};
use hpcc_core::transport::{self, DatagramPacer};
use hpcc_core::units::{BitRate, Nanos};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::frame::CarriedPacket`, without its bytes.
    #[derive(Clone, Copy)]
    struct PacketRecord {
        src_mac: [u8; 6],
        dst_mac: [u8; 6],
        hop_limit: u8,
        congestion_marked: bool,
    }

    /// What a probed flow must know and never changes.
    #[derive(Clone, Copy)]
    struct ProbedFlowLimits {
        line_rate_bps: u64,
        base_rtt_ns: u64,
        mtu: u32,
        /// Sequence number of its first byte.
        first_seq: u32,
    }

    /// A probe that leaves now, if it is present.
    #[derive(Clone, Copy)]
    struct ProbedProbe {
        present: bool,
        seq: u32,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/settings.rs.h");
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// HPCC++ of a flow whose transport is an ns-3 stack's.
        #[derive(ExternType)]
        type ProbedFlow;
        /// `controller` has its parameters, `host` the layout of telemetry; says why that layout does not serve.
        fn new_probed_flow(
            controller: &Settings,
            host: &Settings,
            limits: &ProbedFlowLimits,
        ) -> Result<Box<ProbedFlow>>;
        /// A segment leaves; `end` is the sequence number behind it.
        fn on_sent(self: &mut ProbedFlow, now_ns: u64, end: u32);
        fn on_acked(self: &mut ProbedFlow, ack: u32);
        /// When to call `on_probe_time`; the largest value stands for never.
        fn next_probe(self: &ProbedFlow) -> u64;
        fn on_probe_time(self: &mut ProbedFlow, now_ns: u64) -> ProbedProbe;
        /// Prepares the telemetry section of a probe that is sent now; returns its length.
        fn prepare_probe(self: &ProbedFlow, now_ns: u64, section: &mut [u8]) -> usize;
        /// The telemetry of a probe came back; returns whether window and rate may have changed.
        fn on_response(self: &mut ProbedFlow, now_ns: u64, seq: u32, section: &[u8]) -> bool;
        /// When the next datagram may leave, of a flow that nothing acknowledges; the largest value: not before an answer.
        fn next_datagram(self: &ProbedFlow) -> u64;
        /// A datagram leaves, of so many payload bytes.
        fn on_datagram(self: &mut ProbedFlow, now_ns: u64, bytes: u32);
        /// `on_response` of such a flow.
        fn on_datagram_response(self: &mut ProbedFlow, now_ns: u64, seq: u32, section: &[u8]) -> bool;
        /// Answers that could not be compared with the last ones.
        fn baseline_resets(self: &ProbedFlow) -> u64;
        fn window_bytes(self: &ProbedFlow) -> u64;
        fn rate_bps(self: &ProbedFlow) -> u64;
        /// IPv4 address of a node, as an integer.
        fn host_address(node: u32) -> u32;
        /// The node that an address stands for, or -1.
        fn host_of(address: u32) -> i64;
        /// IPv6 address of the node that has this IPv4 address.
        fn ipv6_of(ipv4: u32) -> [u8; 16];
        /// IPv4 address of the node that has this IPv6 address; 0 if none has.
        fn ipv4_of(ipv6: &[u8; 16]) -> u32;
        /// The frame of an IP packet on a link.
        fn packet_bytes(record: &PacketRecord, packet: &[u8], telemetry: &[u8]) -> Vec<u8>;
    }
}

use ffi::{PacketRecord, ProbedFlowLimits, ProbedProbe};

pub struct ProbedFlow(transport::ProbedFlow, DatagramPacer);

pub fn new_probed_flow(
    controller: &Settings,
    host: &Settings,
    limits: &ProbedFlowLimits,
) -> Result<Box<ProbedFlow>, String> {
    let &ProbedFlowLimits { line_rate_bps, base_rtt_ns, mtu, first_seq } = limits;
    let layout = host.node.layout();
    if !Reads::Records.is_in(&layout) {
        return Err(format!("HPCC++ needs a record of each hop; telemetry layout \"{}\" has none", layout.name()));
    }
    let window = (u128::from(line_rate_bps) * u128::from(base_rtt_ns) / 8_000_000_000) as u64;
    let (mtu, some_hops) = (mtu.max(1), host.node.switch.leaves_hops_out());
    let plain = FlowLimits::of(BitRate(line_rate_bps), Nanos(base_rtt_ns), window);
    let limits = FlowLimits { mtu, some_hops, ..plain };
    let value = |key| controller.node.get("congestion_control", Some(HPCC_PLUS), key);
    let mut config = HpccPlusConfig::default();
    for setting in config.list() {
        let text = value(setting.key).map_or_else(String::new, |value| value.text());
        let input = Input::parse(&setting, &text)?;
        config.set(setting.key, input).map_err(|error| format!("{}: {error:?}", setting.key))?;
    }
    let pacer = DatagramPacer::new(first_seq, host.node.transport().rounding());
    Ok(Box::new(ProbedFlow(transport::ProbedFlow::new(config, limits, layout, first_seq), pacer)))
}

/// The algorithm whose parameters such flows have.
const HPCC_PLUS: &str = "hpcc_plus";

impl ProbedFlow {
    pub fn on_sent(&mut self, now_ns: u64, end: u32) {
        self.0.on_sent(Nanos(now_ns), end);
    }

    pub fn on_acked(&mut self, ack: u32) {
        self.0.on_acked(ack);
    }

    pub fn next_probe(&self) -> u64 {
        self.0.poll_timeout().map_or(u64::MAX, |at| at.0)
    }

    pub fn on_probe_time(&mut self, now_ns: u64) -> ProbedProbe {
        let seq = self.0.on_timeout(Nanos(now_ns));
        ProbedProbe { present: seq.is_some(), seq: seq.unwrap_or(0) }
    }

    pub fn prepare_probe(&self, now_ns: u64, section: &mut [u8]) -> usize {
        self.0.prepare(section, Nanos(now_ns))
    }

    pub fn on_response(&mut self, now_ns: u64, seq: u32, section: &[u8]) -> bool {
        self.0.on_response(Nanos(now_ns), seq, section)
    }

    pub fn next_datagram(&self) -> u64 {
        self.1.due(&self.0).map_or(u64::MAX, |at| at.0)
    }

    pub fn on_datagram(&mut self, now_ns: u64, bytes: u32) {
        self.1.on_sent(&mut self.0, Nanos(now_ns), bytes);
    }

    pub fn on_datagram_response(&mut self, now_ns: u64, seq: u32, section: &[u8]) -> bool {
        self.1.on_response(&mut self.0, Nanos(now_ns), seq, section)
    }

    pub fn baseline_resets(&self) -> u64 {
        self.0.baseline_resets()
    }

    pub fn window_bytes(&self) -> u64 {
        self.0.window()
    }

    pub fn rate_bps(&self) -> u64 {
        self.0.rate().0
    }
}

pub fn host_address(node: u32) -> u32 {
    address::host_address(node)
}

pub fn host_of(address: u32) -> i64 {
    address::host_of(address).map_or(-1, i64::from)
}

pub fn ipv6_of(ipv4: u32) -> [u8; 16] {
    address::ipv6(ipv4)
}

pub fn ipv4_of(ipv6: &[u8; 16]) -> u32 {
    address::ipv4(ipv6).unwrap_or(0)
}

pub fn packet_bytes(record: &PacketRecord, packet: &[u8], telemetry: &[u8]) -> Vec<u8> {
    let &PacketRecord { src_mac, dst_mac, hop_limit, congestion_marked } = record;
    let carried = CarriedPacket { src_mac, dst_mac, packet, telemetry, hop_limit, congestion_marked };
    // Empty if `packet` is no IP packet, or longer than IP allows.
    carried.bytes().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::new_settings;
    use hpcc_core::telemetry::{Form, LayoutSettings};
    use std::rc::Rc;

    fn with_layout(layout: &str) -> Box<Settings> {
        let mut settings = new_settings();
        Rc::make_mut(&mut settings.node).layout = LayoutSettings::of(layout);
        settings
    }

    #[test]
    fn a_flow_starts_with_its_ports_rate_and_its_bdp() {
        let limits = ProbedFlowLimits { line_rate_bps: 25_000_000_000, base_rtt_ns: 8_000, mtu: 1_448, first_seq: 1 };
        let mut flow = new_probed_flow(&new_settings(), &with_layout("draft"), &limits).expect("records");
        assert_eq!((flow.window_bytes(), flow.rate_bps(), flow.next_probe()), (25_000, 25_000_000_000, u64::MAX));
        flow.on_sent(100, 1_449);
        assert_eq!(flow.next_probe(), 100);
        let probe = flow.on_probe_time(100);
        assert!(probe.present && probe.seq == 1_449 && !flow.on_probe_time(101).present);
        flow.on_acked(1_449);
        assert!(!flow.on_probe_time(8_100).present && !flow.on_response(8_200, 1_449, &[]));
        assert_eq!(flow.prepare_probe(0, &mut [0; 64]), hpcc_core::telemetry::Layout::new(Form::Draft).initial_len());
    }

    #[test]
    fn probes_must_bring_records_of_hops() {
        let limits = ProbedFlowLimits { line_rate_bps: 1, base_rtt_ns: 1, mtu: 1, first_seq: 1 };
        for (layout, works) in [("draft", true), ("none", false), ("timestamp", false)] {
            assert_eq!(new_probed_flow(&new_settings(), &with_layout(layout), &limits).is_ok(), works);
        }
    }
}
