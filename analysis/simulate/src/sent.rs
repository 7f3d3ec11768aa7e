// SPDX-License-Identifier: GPL-2.0-only
//! What ports have sent from one sample to the next.

use crate::fleet::Paused;
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use hpcc_model::results::ResultWriter;
use hpcc_model::results::sent_csv::SentRow;

/// The bytes of each port at the last sample.
pub(crate) struct SentMeter {
    /// By node and port.
    known: Vec<Vec<u64>>,
}

impl SentMeter {
    pub(crate) fn new(network: &Network) -> SentMeter {
        SentMeter { known: network.ports().iter().map(|ports| vec![0; ports.len()]).collect() }
    }

    /// Records what ports have sent since the last call, as of now.
    pub(crate) fn record(&mut self, now: Nanos, engine: &Paused<'_>, writer: &mut ResultWriter) {
        for (node, ports) in (0..).zip(&mut self.known) {
            for (number, known) in (0..).zip(ports) {
                let sent = engine.sent(node, number).unwrap_or(*known);
                let sent_bytes = sent - std::mem::replace(known, sent);
                if sent_bytes > 0 {
                    writer.sent(&SentRow { time_ns: now.0, node, port: u32::from(number) + 1, sent_bytes });
                }
            }
        }
    }
}
