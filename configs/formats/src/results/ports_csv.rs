// SPDX-License-Identifier: GPL-2.0-only
//! `ports.csv`: every port of the network, what its link leads to, how long PFC paused it, what it sent, and what came
//! to it with errors.

use std::io::{self, Write};
use std::path::Path;

use hpcc_core::topology::{Network, NodeKind};
use serde::Deserialize;

use super::csv_file::{self, write_numbers};
use super::{CsvRow, ResultError};

/// A port, which is one end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PortRow {
    /// Number of the node.
    pub node: u32,
    /// Its port, counted from 1.
    pub port: u32,
    /// 1 for a port of a switch, 0 for one of a host.
    pub is_switch: u8,
    /// The node at the other end.
    pub peer: u32,
    /// The port there.
    pub peer_port: u32,
    /// Rate of the link in bits per second.
    pub rate_bps: u64,
    /// Delay of the link, one way, in ns.
    pub delay_ns: u64,
    /// Time that the port was not allowed to send because of PFC, whichever priorities were paused, in ns.
    pub paused_ns: u64,
    /// Bytes of all frames that it sent, without preamble and gap; nothing for ports of hosts, which do not count them.
    pub sent_bytes: Option<u64>,
    /// Frames that came to it with errors and went no further; nothing in files of earlier versions.
    pub fcs_errors: Option<u64>,
}

impl CsvRow for PortRow {
    const HEADER: &'static str = "node,port,is_switch,peer,peer_port,rate_bps,delay_ns,paused_ns,sent_bytes,fcs_errors";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let PortRow { node, port, is_switch, peer, peer_port, rate_bps, delay_ns, paused_ns, sent_bytes, fcs_errors } =
            *self;
        let ends = [node.into(), port.into(), is_switch.into(), peer.into(), peer_port.into()];
        write_numbers(out, &[&ends[..], &[rate_bps, delay_ns, paused_ns]].concat())?;
        let known = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        writeln!(out, ",{},{}", known(sent_bytes), known(fcs_errors))
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

/// Reads a whole file.
///
/// # Errors
/// If the file cannot be read, or with the line that does not follow the format.
pub fn read(path: &Path) -> Result<Vec<PortRow>, ResultError> {
    csv_file::read(path)
}
