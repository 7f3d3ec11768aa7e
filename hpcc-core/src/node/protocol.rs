// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of the settings concerns hosts whose transport is TCP or UDP, and what does not.

use super::{Located, NodeSettings, in_section};
use crate::cc::{HpccPlusConfig, Reads};
use crate::settings::{Conflict, Settings as _};
use crate::topology::routes::PathMetrics;
use crate::transport::feedback::SamplingMode;
use crate::transport::{IpVersion, Protocol};
use crate::units::{Bytes, Nanos};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::format;

/// The settings of RDMA's transport that TCP and UDP share.
const SHARED: [&str; 3] = ["mtu", "base_rtt", "global_rtt"];
/// The algorithm of the core that hosts with TCP or UDP run.
const HPCC_PLUS: &str = "hpcc_plus";
/// Timeouts until ns-3's TCP gives a connection up: it sends the first packet six times, and waits twice as long each time.
const ATTEMPTS: u64 = 63;
/// Bytes of Ethernet's header and check sequence.
const ETHERNET: u32 = 14 + 4;

impl NodeSettings {
    /// Makes these the settings of a host that a program has given a stack, whose packets have at most `bytes`, IP header
    /// included. A full one is a segment of TCP, or a datagram.
    pub fn carry_packets(&mut self, protocol: Protocol, ip: IpVersion, bytes: u32) {
        self.protocol.protocol = protocol;
        self.protocol.ip = ip;
        let payload = (bytes + ETHERNET).saturating_sub(self.sizes().data_overhead);
        self.transport.mtu = Bytes(payload.max(1).into());
        self.control.choose(Box::new(HpccPlusConfig::default()));
    }

    /// Checks the time that TCP waits for the answer to a flow's first packet against these paths' delays.
    ///
    /// # Errors
    /// If the answer comes when TCP has given up; says how long it has to wait.
    pub fn check_patience(&self, paths: impl Iterator<Item = PathMetrics>) -> Result<(), Located> {
        let longest = paths.map(|path| path.delay.0.saturating_mul(2)).max().unwrap_or_default();
        if self.protocol.protocol != Protocol::Tcp || longest < self.patience() {
            return Ok(());
        }
        let message = format!(
            "TCP gives a connection up {ATTEMPTS} times tcp_timeout after its first packet, {} here, and an answer may take {}; \
             expected at least {}",
            Nanos(self.patience()),
            Nanos(longest),
            Nanos(longest / ATTEMPTS + 1)
        );
        Err(in_section("transport")(Conflict::new("tcp_timeout", message)))
    }

    /// Nanoseconds after which TCP gives up a connection.
    fn patience(&self) -> u64 {
        self.protocol.tcp_timeout.0.saturating_mul(ATTEMPTS)
    }

    /// Settles what the transport leaves no choice of: only probes bring telemetry to TCP and UDP.
    pub(super) fn resolve_protocol(&mut self) {
        if self.protocol.protocol.is_of_stack() && self.needs().reads == Reads::Records {
            self.feedback.sampling = SamplingMode::Probes;
        }
    }

    /// Why a setting concerns RDMA alone, if hosts have another transport.
    pub(super) fn foreign(&self, section: &str, key: &str) -> Option<&'static str> {
        let sending = match self.protocol.protocol {
            Protocol::Rdma => return None,
            Protocol::Tcp => "TCP sends and acknowledges in its own way",
            Protocol::Udp => "nothing acknowledges or repeats datagrams",
        };
        match section {
            "transport" if self.transport.get(key).is_some() && !SHARED.contains(&key) => Some(sending),
            "telemetry" if self.feedback.get(key).is_some() => Some("probes alone bring telemetry to TCP and UDP"),
            "wire" if key == "profile" => Some("packets of TCP and UDP have headers of their own"),
            "receive" => Some("ns-3's stacks take what arrives as it comes"),
            "fast_cnp" => Some("notifications are about RoCE packets"),
            _ => None,
        }
    }

    /// Checks that the algorithm and the faults of the 2019 simulator go with the transport.
    pub(super) fn check_protocol(&self) -> Result<(), Located> {
        let algorithm = self.control.chosen();
        let (name, of_tcp) = (algorithm.name(), algorithm.needs().tcp);
        let refuse = |expected: &str| {
            let message = format!("{name} does not control flows of {expected}");
            Err(in_section("congestion_control")(Conflict::new("algorithm", message)))
        };
        match self.protocol.protocol {
            Protocol::Rdma if of_tcp => refuse("RDMA; expected transport.protocol = \"tcp\""),
            Protocol::Tcp if !of_tcp && name != HPCC_PLUS => {
                refuse("TCP; expected hpcc_plus, or a class of ns-3's such as ns3::TcpDctcp")
            }
            Protocol::Udp if name != HPCC_PLUS => refuse("datagrams; expected hpcc_plus"),
            Protocol::Tcp | Protocol::Udp if self.faults().iter().any(|(_, on)| on) => {
                let message =
                    "the 2019 simulator has no TCP or UDP whose faults could be repeated; expected \"correct\"";
                Err(in_section("compatibility")(Conflict::new("profile", message.into())))
            }
            Protocol::Tcp | Protocol::Udp if name == HPCC_PLUS && !Reads::Records.is_in(&self.layout()) => {
                let message = format!(
                    "probes of TCP and UDP bring a record of each hop, and \"{}\" has none; expected another layout",
                    self.layout().name()
                );
                Err(in_section("telemetry")(Conflict::new("layout", message)))
            }
            Protocol::Rdma | Protocol::Tcp | Protocol::Udp => Ok(()),
        }
    }

    /// The sizes of frames.
    pub(crate) fn sizes(&self) -> FrameSizes {
        if let Some(sizes) = self.host_transport.chosen().sizes() {
            return sizes;
        }
        match self.protocol.protocol {
            Protocol::Rdma => self.wire.profile.sizes(),
            Protocol::Tcp => FrameSizes::tcp(self.protocol.ip.header()),
            Protocol::Udp => FrameSizes::udp(self.protocol.ip.header()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Input;
    use crate::topology::Network;

    fn settings(algorithm: &str) -> NodeSettings {
        let set = [("transport", "protocol", "tcp"), ("congestion_control", "algorithm", algorithm)];
        let mut settings = crate::testing::node_with(&set);
        settings.resolve(&Network::default());
        settings
    }

    #[test]
    fn tcp_runs_hpcc_plus_by_probes() {
        let settings = settings("hpcc_plus");
        assert_eq!(settings.check(&Network::default()), Ok(()));
        assert_eq!(settings.feedback.sampling, SamplingMode::Probes);
        assert_eq!(settings.host().sizes.data(1_448, true, 0), 1_518);
        let mut summary = settings.clone();
        summary.set("telemetry", None, "layout", Input::Text("csig")).expect("a layout");
        let wrong = summary.check(&Network::default()).expect_err("no records");
        assert_eq!((wrong.section, wrong.conflict.key), ("telemetry", "layout"));
        let wrong = super::tests::settings("dcqcn").check(&Network::default()).expect_err("no RDMA");
        assert_eq!((wrong.section, wrong.conflict.key), ("congestion_control", "algorithm"));
    }

    #[test]
    fn a_full_packet_of_a_stack_fills_the_mtu() {
        for (protocol, ip, bytes, payload, ack) in [
            (Protocol::Tcp, IpVersion::V4, 1_500, 1_448, 70),
            (Protocol::Tcp, IpVersion::V6, 9_000, 8_928, 90),
            (Protocol::Udp, IpVersion::V4, 1_476, 1_448, 54),
        ] {
            let mut settings = NodeSettings::default();
            settings.carry_packets(protocol, ip, bytes);
            settings.resolve(&Network::default());
            assert_eq!(settings.check(&Network::default()), Ok(()));
            assert_eq!((settings.transport.mtu.0, settings.full_frame()), (payload, bytes + 18));
            assert_eq!(settings.sizes().ack_overhead, ack);
        }
        let mut short = NodeSettings::default();
        short.carry_packets(Protocol::Tcp, IpVersion::V6, 0);
        assert_eq!(short.transport.mtu, Bytes(1));
    }

    #[test]
    fn what_concerns_rdma_alone_has_a_reason() {
        let settings = settings("hpcc_plus");
        for (section, key) in
            [("transport", "recovery"), ("telemetry", "content"), ("wire", "profile"), ("fast_cnp", "enabled")]
        {
            let reason = settings.idle(section, key).unwrap_or_default();
            assert!(reason.contains("belongs to transport.protocol = \"rdma\""), "{section}.{key}: {reason}");
            assert_eq!(NodeSettings::default().idle(section, key), None);
        }
        for (section, key) in
            [("transport", "mtu"), ("transport", "tcp_buffer"), ("telemetry", "layout"), ("wire", "preamble_and_gap")]
        {
            assert_eq!(settings.idle(section, key), None, "{section}.{key}");
        }
        assert!(NodeSettings::default().idle("transport", "tcp_buffer").is_some());
    }
}
