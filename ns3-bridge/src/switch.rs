// SPDX-License-Identifier: GPL-2.0-only
//! The switch, and the chance that it and the links depend on.

use crate::ffi::{
    Arrival, BufferParameters, DepartingFrame, Departure, EcnThreshold, FlowKey, QosParameters, Quirks, Verdict,
    WireParameters,
};
use crate::network::Network;
use hpcc_core::random::{Chance, Mrg32k3a};
use hpcc_core::switch as core_switch;
use hpcc_core::units::{BitRate, Nanos};

pub struct Switch(core_switch::Switch);
pub struct Draws(pub Chance);
pub struct Loss {
    generator: Mrg32k3a,
    probability: f64,
}

impl From<&FlowKey> for core_switch::FlowKey {
    #[inline]
    fn from(key: &FlowKey) -> Self {
        core_switch::FlowKey {
            src_address: key.src_address,
            dst_address: key.dst_address,
            sport: key.sport,
            dport: key.dport,
        }
    }
}

pub fn new_switch(
    network: &mut Network,
    node: u32,
    buffer: &BufferParameters,
    ecn: &[EcnThreshold],
    wire: &WireParameters,
    qos: &QosParameters,
    quirks: &Quirks,
) -> Box<Switch> {
    let threshold = |t: &EcnThreshold| core_switch::EcnThreshold {
        rate: BitRate(t.rate_bps),
        kmin: t.kmin_bytes,
        kmax: t.kmax_bytes,
        pmax: t.pmax,
    };
    let config = core_switch::SwitchConfig {
        buffer_bytes: buffer.bytes,
        mode: match buffer.lossy {
            true => core_switch::BufferMode::Lossy { alpha: buffer.alpha },
            false => core_switch::BufferMode::Lossless,
        },
        ecn: !ecn.is_empty(),
        ecn_thresholds: ecn.iter().map(threshold).collect(),
        // C++ asks for qos_error() first, so that both are good.
        classes: qos.classes().unwrap_or_default(),
        report: qos.report().unwrap_or_default(),
        quirks: quirks.into(),
    };
    let ports = network.ports(node);
    let routes = network.take_table(node);
    let (layout, host_rate, base_rtt) = (wire.layout(), network.host_rate(), Nanos(network.max_rtt_ns()));
    Box::new(Switch(core_switch::Switch::new(node, &config, layout, host_rate, base_rtt, &ports, routes)))
}

pub fn update_switch_routes(network: &mut Network, node: u32, target: &mut Switch) {
    target.0.set_routes(network.take_detours(node));
}

impl Switch {
    pub fn arrive(&mut self, ingress: u16, dst: u32, key: &FlowKey, priority: u8, size: u32) -> Arrival {
        match self.0.arrive(ingress, dst, &key.into(), priority, size) {
            core_switch::Arrival::Forward { egress, pause } => Arrival { verdict: Verdict::Forward, pause, egress },
            core_switch::Arrival::NoRoute => Arrival { verdict: Verdict::NoRoute, pause: false, egress: 0 },
            core_switch::Arrival::Overflow => Arrival { verdict: Verdict::Overflow, pause: false, egress: 0 },
        }
    }

    pub fn depart(
        &mut self,
        egress: u16,
        now_ns: u64,
        frame: &DepartingFrame,
        section: &mut [u8],
        draws: &mut Draws,
    ) -> Departure {
        let &DepartingFrame { ingress, priority, is_data, hop_limit, size, telemetry_bytes, queue_bytes, arrived_ns } =
            frame;
        let arrived = Nanos(arrived_ns);
        let head = core_switch::Head { ingress, priority, is_data, size, queue: queue_bytes, arrived, hop_limit };
        let mut section = core_switch::Section { bytes: section, len: telemetry_bytes.into() };
        let core_switch::Departure { mark, resume } =
            self.0.depart(egress, Nanos(now_ns), &head, &mut section, &mut draws.0);
        Departure { mark, resume, telemetry_bytes: section.len as u16 }
    }

    pub fn discard(&mut self, egress: u16, ingress: u16, priority: u8, size: u32) -> bool {
        let head = core_switch::Head { ingress, priority, size, ..Default::default() };
        self.0.discard(egress, &head)
    }

    pub fn send_pfc(&mut self, egress: u16, now_ns: u64, size: u32) {
        self.0.send_pfc(egress, Nanos(now_ns), size);
    }

    pub fn queued(&self, egress: u16) -> u32 {
        self.0.queued(egress)
    }
}

pub fn new_draws(first_stream: u64, pint_seed: u32) -> Box<Draws> {
    Box::new(Draws(Chance::new(first_stream, pint_seed)))
}

pub fn new_node_draws(first_stream: u64, pint_seed: u32, node: u32) -> Box<Draws> {
    Box::new(Draws(Chance::of_node(first_stream, pint_seed, node)))
}

impl Draws {
    pub fn skip(&mut self) {
        self.0.marks.skip();
    }
}

pub fn new_loss(stream: u64, probability: f64) -> Box<Loss> {
    Box::new(Loss { generator: Mrg32k3a::new(stream, 1), probability })
}

impl Loss {
    pub fn is_lost(&mut self) -> bool {
        self.generator.uniform() < self.probability
    }
}

pub fn uniform_draws(stream: u64, count: usize) -> Vec<f64> {
    let mut generator = Mrg32k3a::new(stream, 1);
    (0..count).map(|_| generator.uniform()).collect()
}
