// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of the settings concerns hosts whose transport is not queue pairs, and what does not.

use super::{Located, NodeSettings, in_section};
use crate::cc::{Needs, Reads, Steers};
use crate::host_transport::TELEMETRY;
use crate::settings::{Conflict, Settings as _};
use crate::topology::Network;
use crate::topology::routes::Routes;
use crate::transport::Protocol;
use crate::units::{BitRate, Bytes, Nanos};
use alloc::format;
use alloc::vec::Vec;

/// The bandwidth-delay product, at 100 Gb/s, of a network that is not known: packets, and their bytes.
const USUAL_BDP: (u64, u64) = (36, 4_160);

impl NodeSettings {
    /// The needs of a transport that no algorithm controls.
    pub(super) fn needs_of_transport(&self) -> Option<Needs> {
        let transport = self.host_transport.chosen();
        let needs = || Needs {
            ecn: transport.marks(USUAL_BDP.0, USUAL_BDP.1),
            also: transport.reads(),
            steers: Steers::Nothing,
            acks_first: true,
            ..Needs::default()
        };
        (!transport.is_controlled()).then(needs)
    }

    /// Settles what a transport that no algorithm controls chooses by itself: when switches mark, and when it repeats.
    pub(super) fn resolve_host_transport(&mut self, network: &Network) {
        let transport = self.host_transport.chosen();
        if transport.is_controlled() {
            return;
        }
        let (packets, bytes) = self.network_bdp(network);
        if let Some(marks) = transport.marks(packets, bytes) {
            self.switch.resolve(&marks);
            self.switch.trim_threshold.get_or_insert(Bytes(packets * bytes));
        }
        if self.transport.timeout.is_none() {
            let drain = BitRate::gbps(100)
                .tx_time(u32::try_from(packets * bytes).unwrap_or(u32::MAX), self.transport().rounding());
            self.transport.timeout = self.host_transport.chosen().timeout(drain);
        }
    }

    /// The bandwidth-delay product of the longest path, as if all links of hosts had 100 Gb/s: queue lengths scale by rates.
    fn network_bdp(&self, network: &Network) -> (u64, u64) {
        let Some(rate) = network.host_rates().max() else { return USUAL_BDP };
        let sizes = self.sizes();
        let mtu = u32::try_from(self.transport.mtu.0).unwrap_or(u32::MAX);
        let bytes = sizes.data(mtu, false, 0) + sizes.ack(0);
        let routes = Routes::new(network, mtu);
        let rtts = routes.kinds().map(|(path, links)| {
            let sent = rate.tx_picos(bytes) * links.len() as u64 / 1_000;
            2 * path.delay.0 + sent
        });
        let rtt = self.transport.base_rtt.map_or_else(|| rtts.max().unwrap_or(0), |rtt| rtt.0);
        let packet = u64::from(sizes.data(mtu, false, 0));
        let packets = rate.bytes_in(Nanos(rtt)).div_ceil(packet);
        (packets, packet * BitRate::gbps(100).0 / rate.0.max(1))
    }

    /// Whether a setting counts with queue pairs alone, and hosts have another transport.
    pub(super) fn is_of_queue_pairs(&self, section: &str, key: &str) -> bool {
        let transport = self.host_transport.chosen();
        if transport.is_controlled() {
            return false;
        }
        match section {
            "transport" => self.transport.get(key).is_some() && !transport.shared_keys().contains(&key),
            "telemetry" => transport.reads() == Reads::Nothing || self.layout.get(key).is_none(),
            "congestion_control" | "receive" | "fast_cnp" => true,
            "wire" => key == "profile",
            _ => false,
        }
    }

    /// Checks the parameters of the transport, and that nothing else is asked of its hosts.
    pub(super) fn check_host_transport(&self) -> Result<(), Located> {
        let transport = self.host_transport.chosen();
        transport.check().map_err(in_section("transport"))?;
        if transport.is_controlled() {
            return Ok(());
        }
        let name = transport.name();
        let (reads, layout) = (transport.reads(), self.layout());
        let is_read = reads != Reads::Nothing && layout.tells() == reads && layout.max_len() <= TELEMETRY;
        if layout.initial_len() > 0 && !is_read {
            let message = format!(
                "transport.kind = \"{name}\" does not read layout {layout}; expected \"none\", or with \"uec\" under \"nscc\" or \
                 \"both\" \"csig\" whose csig_signal is \"delay\" or \"queue\""
            );
            return Err(in_section("telemetry")(Conflict::new("layout", message)));
        }
        let others: Vec<(&str, bool)> = [
            ("transport.protocol = \"rdma\"", self.protocol.protocol != Protocol::Rdma),
            ("compatibility.profile = \"correct\"", self.faults().iter().any(|(_, on)| on)),
            ("fast_cnp.enabled = false", self.fast_cnp.enabled),
        ]
        .into();
        match others.into_iter().find(|(_, contradicts)| *contradicts) {
            None => Ok(()),
            Some((expected, _)) => {
                let message = format!("kind = \"{name}\" needs {expected}");
                Err(in_section("transport")(Conflict::new("kind", message)))
            }
        }
    }
}
