// SPDX-License-Identifier: GPL-2.0-only
//! A scenario file as the ns-3 program sees it.

use crate::ffi::{
    AlgorithmKind, BufferParameters, ControlParameters, EcnThreshold, FastCnpBorder, FastCnpHostParameters,
    FastCnpParameters, FastCnpSwitchParameters, FeedbackParameters, LinkFailure, LinkSpec, MonitorParameters,
    QosParameters, TransportParameters, WireParameters,
};
use crate::{node_set, panic_report, quirks};
use cxx::{CxxString, CxxVector};
use hpcc_core::switch::BufferMode;
use hpcc_core::topology::{Link, NodeKind};
use hpcc_core::units::Nanos;
use hpcc_formats::scenario::{self, FastCnpTrigger, QueueHistogram};
use std::path::Path;

/// Streams of different seeds are this far apart.
const STREAMS_PER_SEED: u64 = 1 << 32;
/// The stream of the reference's error model, whose seed is 1.
const FIRST_LOSS_STREAM: u64 = (1 << 63) + 50;

pub struct Scenario(Result<scenario::Scenario, String>);

pub fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Box<Scenario> {
    panic_report::install();
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let path = path.to_string_lossy();
    Box::new(Scenario(scenario::load(Path::new(path.as_ref()), &overrides).map_err(|error| error.to_string())))
}

fn or_zero(interval: Option<Nanos>) -> u64 {
    interval.map_or(0, |interval| interval.0)
}

impl Scenario {
    /// The scenario. C++ asks for `error` first, so that there is one.
    pub fn get(&self) -> &scenario::Scenario {
        self.0.as_ref().expect("the scenario is used although it could not be read")
    }

    pub fn error(&self) -> String {
        self.0.as_ref().err().cloned().unwrap_or_default()
    }

    pub fn notes(&self) -> Vec<String> {
        self.get().notes.clone()
    }

    pub fn node_count(&self) -> u32 {
        self.get().network.nodes.len() as u32
    }

    pub fn is_switch(&self, node: u32) -> bool {
        self.get().network.nodes.get(node as usize) == Some(&NodeKind::Switch)
    }

    pub fn links(&self) -> Vec<LinkSpec> {
        let spec = |link: &Link| LinkSpec { a: link.a, b: link.b, rate_bps: link.rate.0, delay_ns: link.delay.0 };
        self.get().network.links.iter().map(spec).collect()
    }

    pub fn has_own_loss(&self, link: u32) -> bool {
        self.get().network.links.get(link as usize).is_some_and(|link| link.loss > 0.0)
    }

    pub fn loss(&self, link: u32) -> f64 {
        let own = self.get().network.links.get(link as usize).map(|link| link.loss);
        own.filter(|&loss| loss > 0.0).unwrap_or(self.get().default_loss)
    }

    fn seed_offset(&self) -> u64 {
        self.get().seed.wrapping_sub(1).wrapping_mul(STREAMS_PER_SEED)
    }

    pub fn loss_stream(&self) -> u64 {
        FIRST_LOSS_STREAM.wrapping_add(self.seed_offset())
    }

    /// The reference gives six streams to each node, two to each link with a loss of its own, and two to itself.
    pub fn ecn_stream(&self) -> u64 {
        let network = &self.get().network;
        let lossy = network.links.iter().filter(|link| link.loss > 0.0).count() as u64;
        (6 * network.nodes.len() as u64 + 2 + 2 * lossy).wrapping_add(self.seed_offset())
    }

    /// The reference never seeds C's generator, which then starts from 1.
    pub fn pint_seed(&self) -> u32 {
        self.get().seed as u32
    }

    pub fn link_failures(&self) -> Vec<LinkFailure> {
        let failure = |f: &scenario::LinkFailure| LinkFailure { time_ns: f.time.0, a: f.a, b: f.b };
        self.get().link_failures.iter().map(failure).collect()
    }

    pub fn flow_count(&self) -> u32 {
        self.get().flows.totals.count as u32
    }

    pub fn total_bytes(&self) -> u64 {
        self.get().flows.totals.bytes
    }

    pub fn stop_ns(&self) -> u64 {
        self.get().stop.0
    }

    pub fn reference_faults(&self) -> String {
        quirks::names(&self.get().quirks())
    }

    pub fn transport(&self) -> TransportParameters {
        let t = &self.get().transport;
        TransportParameters {
            mtu: t.mtu,
            recovery: t.recovery.into(),
            chunk: t.chunk,
            ack_interval: t.ack_interval,
            ack_every: t.ack_every,
            nack_interval_ns: t.nack_interval.0,
            timeout: t.timeout.into(),
            window: t.window,
            variable_window: t.variable_window,
            global_rtt: t.global_rtt,
            rate_bound: t.rate_bound,
            ack_priority: t.ack_priority,
            notification: t.notification.into(),
            quirks: t.quirks.into(),
        }
    }

    pub fn control(&self) -> ControlParameters {
        (&self.get().algorithm).into()
    }

    pub fn feedback(&self) -> FeedbackParameters {
        (&self.get().feedback).into()
    }

    pub fn legacy_nodes(&self) -> Vec<u32> {
        self.get().legacy.nodes.clone()
    }

    pub fn legacy_algorithm(&self) -> AlgorithmKind {
        ControlParameters::from(&self.get().legacy.algorithm).algorithm
    }

    pub fn fast_cnp(&self) -> FastCnpParameters {
        let f = &self.get().fast_cnp;
        let (option_type, trace_option_type) = (f.types.destination.code(), f.types.trace.code());
        let (trigger, bound) = match f.trigger {
            FastCnpTrigger::Utilisation(bound) => ("utilisation", bound),
            _ => ("queue", 0.0),
        };
        let (kmin_bytes, kmax_bytes, pmax) = match f.trigger {
            FastCnpTrigger::Queue { kmin, kmax, pmax } => (kmin, kmax, pmax),
            _ => (0, 0, 0.0),
        };
        FastCnpParameters {
            is_on: f.is_on(),
            switches: FastCnpSwitchParameters {
                enabled: f.enabled,
                trigger: trigger.into(),
                bound,
                flow_interval_ns: f.flow_interval.0,
                port_interval_ns: f.port_limit.interval.0,
                port_burst: f.port_limit.burst,
                mark_unknown: f.mark_unknown,
                domain: node_set::text(&f.domain),
                capable: node_set::text(&f.capable),
                option_type,
                trace_option_type,
            },
            hosts: FastCnpHostParameters {
                enabled: f.enabled,
                accept_from: node_set::text(&f.accept_from),
                accept_interval_ns: f.accept_interval.0,
                option_type,
                trace_option_type,
                detour: f.detour.enabled,
                detour_after: f.detour.notifications,
                detour_within_ns: f.detour.within.0,
                detour_hold_ns: f.detour.hold.0,
                detour_max_hold_ns: f.detour.max_hold.0,
            },
            kmin_bytes,
            kmax_bytes,
            pmax,
            incapable: f.incapable.clone(),
            borders: f.borders.iter().map(|b| FastCnpBorder { node: b.node, outside: b.outside }).collect(),
        }
    }

    pub fn wire(&self) -> WireParameters {
        WireParameters::new(self.get().wire, self.get().layout)
    }

    pub fn frame_gap(&self) -> u32 {
        self.get().frame_gap
    }

    pub fn pause_time(&self) -> u32 {
        self.get().pause_time
    }

    pub fn traces_overflow(&self) -> bool {
        !self.get().quirks().untraced_overflow
    }

    /// The reference gives each link a network of its own; PFC frames come from there.
    pub fn port_addresses(&self, node: u32) -> Vec<u32> {
        let links = self.get().network.links.iter().zip(0u32..);
        let address = |(link, index): (&Link, u32)| {
            let network = 0x0a00_0000 + ((index / 254 + 1) << 16) + ((index % 254 + 1) << 8);
            [(link.a, 1), (link.b, 2)].into_iter().find(|&(end, _)| end == node).map(|(_, host)| network + host)
        };
        links.filter_map(address).collect()
    }

    pub fn qos(&self) -> QosParameters {
        (&self.get().switch).into()
    }

    pub fn buffer(&self) -> BufferParameters {
        let switch = &self.get().switch;
        let (lossy, alpha) = match switch.mode {
            BufferMode::Lossless => (false, 1.0),
            BufferMode::Lossy { alpha } => (true, alpha),
        };
        BufferParameters { bytes: switch.buffer_bytes, lossy, alpha }
    }

    pub fn ecn(&self) -> bool {
        self.get().switch.ecn
    }

    pub fn ecn_thresholds(&self) -> Vec<EcnThreshold> {
        let threshold = |t: &hpcc_core::switch::EcnThreshold| EcnThreshold {
            rate_bps: t.rate.0,
            kmin_bytes: t.kmin,
            kmax_bytes: t.kmax,
            pmax: t.pmax,
        };
        self.get().switch.ecn_thresholds.iter().map(threshold).collect()
    }

    pub fn trace_nodes(&self) -> Vec<u32> {
        self.get().monitor.trace_nodes.clone()
    }

    pub fn capture_nodes(&self) -> Vec<u32> {
        self.get().monitor.capture_nodes.clone()
    }

    pub fn monitor(&self) -> MonitorParameters {
        let monitor = &self.get().monitor;
        let (start, end) = match monitor.queue_histogram {
            Some(QueueHistogram { start, end }) => (start.0, end.0),
            None => (0, 0),
        };
        MonitorParameters {
            histogram: monitor.queue_histogram.is_some(),
            histogram_start_ns: start,
            histogram_end_ns: end,
            queue_interval_ns: or_zero(monitor.queue_interval),
            goodput_interval_ns: or_zero(monitor.goodput_interval),
        }
    }
}
