// SPDX-License-Identifier: GPL-2.0-only
//! What a scenario came to mean after defaults and overrides: echoed into results.

use super::Scenario;
use super::compatibility;
use super::effective_control::{congestion_control, telemetry};
use hpcc_core::switch::{BufferMode, Scope, Wait};
use hpcc_core::transport::{CongestionNotification, Recovery};
use hpcc_core::units::Nanos;
use serde_json::{Value, json};

impl Scenario {
    /// Every setting under a name that ends in its unit. Flows and links are counted, not listed.
    pub fn effective(&self) -> Value {
        let mut effective = self.effective_sections();
        if let Some(fast_cnp) = self.fast_cnp.effective() {
            effective["fast_cnp"] = fast_cnp;
        }
        effective
    }

    fn effective_sections(&self) -> Value {
        json!({
            "name": self.name,
            "seed": self.seed,
            "stop_ns": self.stop.0,
            "compatibility": compatibility::effective(&self.quirks()),
            "network": self.effective_network(),
            "traffic": self.effective_traffic(),
            "congestion_control": congestion_control(&self.algorithm),
            "telemetry": telemetry(self.layout, &self.feedback),
            "wire": { "profile": self.wire.name(), "frame_gap_bytes": self.frame_gap },
            "transport": self.effective_transport(),
            "switch": self.effective_switch(),
            "default_loss_probability": self.default_loss,
            "legacy": (!self.legacy.nodes.is_empty()).then(|| json!({
                "nodes": self.legacy.nodes,
                "congestion_control": congestion_control(&self.legacy.algorithm),
            })),
            "link_failures": self.link_failures.iter().map(|failure| {
                json!({ "time_ns": failure.time.0, "a": failure.a, "b": failure.b })
            }).collect::<Vec<_>>(),
            "monitor": self.effective_monitor(),
            "notes": self.notes,
        })
    }

    fn effective_network(&self) -> Value {
        let mut rates: Vec<u64> = self.network.links.iter().map(|link| link.rate.0).collect();
        rates.sort_unstable();
        rates.dedup();
        json!({
            "hosts": self.network.hosts().count(),
            "switches": self.network.switches().count(),
            "links": self.network.links.len(),
            "link_rates_bps": rates,
            "lossy_links": self.network.links.iter().filter(|link| link.loss > 0.0).count(),
        })
    }

    fn effective_traffic(&self) -> Value {
        let totals = &self.flows.totals;
        json!({
            "flows": totals.count,
            "payload_bytes": totals.bytes,
            "first_start_ns": totals.first_start.map(|start| start.0),
            "last_start_ns": totals.last_start.map(|start| start.0),
        })
    }

    fn effective_transport(&self) -> Value {
        let transport = &self.transport;
        let notification =
            CongestionNotification::NAMES.iter().find(|(_, notification)| *notification == transport.notification);
        json!({
            "mtu_bytes": transport.mtu,
            "recovery": match transport.recovery {
                Recovery::GoBackN => "go_back_n",
                Recovery::GoBackZero => "go_back_zero",
                Recovery::SelectiveRepeat => "selective_repeat",
            },
            "chunk_bytes": transport.chunk,
            "ack_interval_bytes": transport.ack_interval,
            "ack_every_bytes": transport.ack_every,
            "nack_interval_ns": transport.nack_interval.0,
            "timeout": transport.timeout.map(|timeout| json!({
                "high_ns": timeout.high.0,
                "low_ns": timeout.low.0,
                "low_packets": timeout.few,
                "added_base_rtts": timeout.base_rtts,
                "back_off": timeout.back_off,
            })),
            "window": transport.window,
            "variable_window": transport.variable_window,
            "global_rtt": transport.global_rtt,
            "rate_bound": transport.rate_bound,
            "ack_priority": transport.ack_priority,
            "congestion_notification": notification.map(|(name, _)| name),
        })
    }

    fn effective_switch(&self) -> Value {
        let thresholds = self.switch.ecn_thresholds.iter().map(|entry| {
            json!({
                "rate_bps": entry.rate.0,
                "kmin_bytes": entry.kmin,
                "kmax_bytes": entry.kmax,
                "pmax_probability": entry.pmax,
            })
        });
        let alpha = match self.switch.mode {
            BufferMode::Lossless => None,
            BufferMode::Lossy { alpha } => Some(alpha),
        };
        json!({
            "mode": if alpha.is_some() { "lossy" } else { "lossless" },
            "alpha": alpha,
            "buffer_bytes": self.switch.buffer_bytes,
            "pause_time_us": self.pause_time,
            "ecn": self.switch.ecn,
            "classes": self.switch.classes.map(|classes| classes.text()),
            "telemetry_scope": Scope::NAMES.iter().find(|(_, it)| *it == self.switch.report.scope).map(|it| it.0),
            "telemetry_queue": Wait::NAMES.iter().find(|(_, it)| *it == self.switch.report.wait).map(|it| it.0),
            "ecn_thresholds": thresholds.collect::<Vec<_>>(),
        })
    }

    fn effective_monitor(&self) -> Value {
        let nanos = |time: Option<Nanos>| time.map(|time| time.0);
        let histogram = self.monitor.queue_histogram;
        json!({
            "queue_histogram_start_ns": nanos(histogram.map(|h| h.start)),
            "queue_histogram_end_ns": nanos(histogram.map(|h| h.end)),
            "queue_interval_ns": nanos(self.monitor.queue_interval),
            "goodput_interval_ns": nanos(self.monitor.goodput_interval),
            "trace_nodes": self.monitor.trace_nodes,
        })
    }
}
