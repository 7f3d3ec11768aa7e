// SPDX-License-Identifier: GPL-2.0-only
//! What a scenario came to mean after defaults and overrides: echoed into results.

use super::{Scenario, SkipMode};
use super::{compatibility, effective_buffer};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{self, Named, Setting, Settings};
use hpcc_core::units::Nanos;
use serde_json::{Value, json};

impl Scenario {
    /// Every setting under a name that ends in its unit. Flows and links are counted, not listed.
    pub fn effective(&self) -> Value {
        let mut effective = json!({
            "name": self.name,
            "seed": self.seed,
            "order": self.order.name(),
            "stop_ns": self.stop.0,
            "compatibility": compatibility::effective(&self.faults()),
            "network": self.effective_network(),
            "traffic": self.effective_traffic(),
            "default_loss_probability": self.default_loss,
            "legacy": self.legacy.settings.as_ref().filter(|_| !self.legacy.nodes.is_empty()).map(|legacy| self.effective_legacy(legacy)),
            "link_failures": self.link_failures.iter().map(|failure| {
                let until = failure.until.map(|until| until.0);
                json!({
                    "time_ns": failure.time.0,
                    "until_ns": until,
                    "links": failure.links,
                    "detection_ns": failure.detection.0,
                    "convergence_ns": failure.convergence.0,
                    "reboots": failure.reboots,
                })
            }).collect::<Vec<_>>(),
            "degraded_links": self.degraded.iter().map(|degraded| {
                let (until, quality) = (degraded.until.map(|until| until.0), degraded.quality);
                let rate = quality.rate.map(|rate| rate.0);
                json!({
                    "time_ns": degraded.time.0,
                    "until_ns": until,
                    "links": degraded.links,
                    "rate_bps": rate,
                    "bit_errors": quality.bit_errors,
                })
            }).collect::<Vec<_>>(),
            "storms": self.storms.iter().map(|storm| {
                let until = storm.until.map(|until| until.0);
                json!({ "time_ns": storm.time.0, "until_ns": until, "host": storm.host, "priority": storm.priority })
            }).collect::<Vec<_>>(),
            "on_deadlock": self.on_deadlock.name(),
            "attack": self.effective_attacks(),
            "monitor": self.effective_monitor(),
            "notes": self.notes,
        });
        if self.skip != SkipMode::Off {
            effective["skip"] = self.skip.name().into();
        }
        if !self.flows.jobs.is_empty() {
            effective["jobs"] = self.flows.jobs.iter().map(|job| job.effective(&self.flows.groups)).collect();
            effective["servers"] = self.servers.map_or(
                Value::Null,
                |servers| json!({ "gpus": servers.gpus, "nics": servers.nics, "rate_bps": servers.rate.0, "latency_ns": servers.latency.0, "pxn": servers.pxn }),
            );
        }
        self.add_settings(&mut effective);
        effective
    }

    fn effective_legacy(&self, settings: &NodeSettings) -> Value {
        let algorithm = settings.control.chosen();
        let mut legacy = counting(algorithm, |setting| setting.counts(algorithm));
        legacy["nodes"] = self.legacy.nodes.as_slice().into();
        legacy["algorithm"] = algorithm.name().into();
        legacy["window"] = settings.transport.window.into();
        legacy["ack_priority"] = settings.transport.ack_priority.into();
        if let Some(priority) = settings.transport.cnp_priority {
            legacy["cnp_priority"] = priority.into();
        }
        legacy
    }

    fn effective_attacks(&self) -> Vec<Value> {
        self.attacks.iter().map(|attack| counting(attack, |setting| setting.counts(attack))).collect()
    }

    /// The settings of nodes that count, by section.
    fn add_settings(&self, effective: &mut Value) {
        let chosen = self.algorithm().name();
        for part in self.settings.parts() {
            let idle = match part.section {
                "fast_cnp" => !self.has_fast_cnp(),
                "receive" => self.settings.receivers().next().is_none(),
                _ => false,
            };
            if part.section == "compatibility" || idle || part.algorithm.is_some_and(|name| name != chosen) {
                continue;
            }
            let counts = |setting: &Setting| self.settings.counts(&part, setting);
            if let Value::Object(settings) = counting(part.settings, counts) {
                for (key, value) in settings {
                    effective[part.section][key] = value;
                }
            }
        }
        if !self.settings.other_receivers.is_empty() {
            let others = self.settings.receivers().map(|slow| counting(slow, |setting| setting.counts(slow)));
            effective["receive"] = others.collect();
        }
        effective["switch"]["ecn_thresholds"] = self.effective_thresholds();
        for (key, value) in self.settings.buffer_plan.iter().flat_map(|plan| effective_buffer::keys(plan)) {
            effective["switch"][key] = value;
        }
        if self.has_fast_cnp() {
            effective["fast_cnp"]["borders"] =
                self.borders.iter().map(|border| [border.node, border.outside]).collect();
            if let Some(fast_cnp) = effective["fast_cnp"].as_object_mut().filter(|_| self.borders.is_empty()) {
                // It says nothing without borders, and is refused there.
                fast_cnp.remove("border_side");
            }
        }
    }

    fn effective_thresholds(&self) -> Value {
        let threshold = |entry: &EcnThreshold| {
            json!({
                "rate_bps": entry.rate.0,
                "kmin_bytes": entry.kmin,
                "kmax_bytes": entry.kmax,
                "pmax_probability": entry.pmax,
            })
        };
        self.settings.ecn_thresholds.iter().flatten().map(threshold).collect()
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
            "groups": self.flows.groups,
            "payload_bytes": totals.bytes,
            "first_start_ns": totals.first_start.map(|start| start.0),
            "last_start_ns": totals.last_start.map(|start| start.0),
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
            "sent_interval_ns": nanos(self.monitor.sent_interval),
            "control_interval_ns": nanos(self.monitor.control_interval),
            "control_flows": self.monitor.control_flows,
            "pauses": self.monitor.pauses,
            "timeline": self.monitor.timeline,
            "trace_nodes": self.monitor.trace_nodes,
        })
    }
}

/// The settings of a structure that count, under names that end in their units.
fn counting(settings: &dyn Settings, counts: impl Fn(&Setting) -> bool) -> Value {
    let list = settings.list();
    let counting = list.iter().filter(|setting| counts(setting));
    let named = counting.filter_map(|setting| {
        let (unit, value) = with_unit(setting, settings.get(setting.key)?);
        // Some keys say it themselves, such as `uec_ack_bytes`.
        let unit = if setting.key.ends_with(unit) { "" } else { unit };
        Some((format!("{}{unit}", setting.key), value))
    });
    Value::Object(named.collect())
}

/// A value as JSON, and what its key ends in. The key of a seal stays secret.
fn with_unit(setting: &Setting, value: settings::Value) -> (&'static str, Value) {
    match value {
        settings::Value::Switch(on) => ("", on.into()),
        settings::Value::Count(count) => ("", count.into()),
        settings::Value::Bytes(bytes) => ("_bytes", bytes.into()),
        settings::Value::Time(time) => ("_ns", time.0.into()),
        settings::Value::Rate(rate) => ("_bps", rate.0.into()),
        settings::Value::Real(number) => ("", number.into()),
        settings::Value::Text(key) if setting.key == "seal" => ("", (!key.is_empty()).into()),
        settings::Value::Word(text) | settings::Value::Text(text) => ("", text.into()),
        settings::Value::Auto => ("", "auto".into()),
    }
}
