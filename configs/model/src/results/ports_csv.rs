// SPDX-License-Identifier: GPL-2.0-only
//! `ports.csv`: every port of the network, what its link leads to, how long PFC paused it, what it sent, and what came
//! to it with errors.

use hpcc_core::topology::{Network, NodeKind};

use super::csv_row::csv_row;

csv_row! {
    /// A port, which is one end of a link.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PortRow in "ports.csv" {
        /// Number of the node.
        node: u32,
        /// Its port, counted from 1.
        port: u32,
        /// 1 for a port of a switch, 0 for one of a host.
        is_switch: u8,
        /// The node at the other end.
        peer: u32,
        /// The port there.
        peer_port: u32,
        /// Rate of the link in bits per second.
        rate_bps: u64,
        /// Delay of the link, one way, in ns.
        delay_ns: u64,
        /// Time that the port was not allowed to send because of PFC, whichever priorities were paused, in ns.
        paused_ns: u64,
        /// Bytes of all frames that it sent, without preamble and gap; nothing in fluid runs, and for
        /// hosts in files of earlier versions.
        sent_bytes: Option<u64>,
        /// Frames that came to it with errors and went no further; nothing in files of earlier versions.
        fcs_errors: Option<u64>,
    }
}

/// The ports of a network by node, as they are before anything is sent.
pub(crate) fn rows_of(network: &Network) -> Vec<PortRow> {
    let mut rows = Vec::new();
    for (node, ports) in (0u32..).zip(network.ports()) {
        let is_switch = u8::from(network.nodes.get(node as usize) == Some(&NodeKind::Switch));
        for (port, end) in (1u32..).zip(ports) {
            let link = &network.links[end.link as usize];
            rows.push(PortRow {
                node,
                port,
                is_switch,
                peer: end.peer,
                peer_port: u32::from(end.far_port) + 1,
                rate_bps: link.rate.0,
                delay_ns: link.delay.0,
                ..PortRow::default()
            });
        }
    }
    rows
}
