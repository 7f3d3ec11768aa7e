// SPDX-License-Identifier: GPL-2.0-only
//! The switch, and the chance that it and the links depend on.

use crate::ffi::{Arrival, DepartingFrame, Departure, FlowKey, Verdict};
use crate::network::Network;
use crate::settings::Settings;
use hpcc_core::random::{self, Mrg32k3a};
use hpcc_core::switch::{self as core_switch, Backlog, PRIORITIES, Service};
use hpcc_core::units::{BitRate, Nanos};

pub struct Switch {
    core: core_switch::Switch,
    notes_arrival: bool,
    leaks: bool,
    /// How the queues of a port are served; `None`: in turn.
    services: Option<[Service; PRIORITIES]>,
}

pub struct Rng(pub random::Rng);
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

pub fn new_switch(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Switch>, String> {
    let ports = network.ports(node);
    let rates: Vec<BitRate> = ports.iter().map(|&(rate, _)| rate).collect();
    let config = settings.node.switch(&rates).map_err(|wrong| wrong.to_string())?;
    let layout = settings.node.stamped_layout();
    let notes_arrival = layout.tells_arrival() || config.report.wait == core_switch::Wait::Sojourn;
    let (services, leaks) = (config.classes.map(|classes| classes.services()), config.quirks.leak_buffer_on_link_down);
    let (host_rate, base_rtt) = (network.host_rate(), Nanos(network.max_rtt_ns()));
    let routes = network.take_table(node);
    let core = core_switch::Switch::new(node, &config, layout, host_rate, base_rtt, &ports, routes);
    Ok(Box::new(Switch { core, notes_arrival, leaks, services }))
}

pub fn update_switch_routes(network: &mut Network, node: u32, target: &mut Switch) {
    target.core.set_routes(network.take_rerouted(node));
}

impl Switch {
    pub fn arrive(&mut self, ingress: u16, dst: u32, key: &FlowKey, priority: u8, size: u32) -> Arrival {
        match self.core.arrive(ingress, dst, &key.into(), priority, size) {
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
        rng: &mut Rng,
    ) -> Departure {
        let &DepartingFrame { ingress, priority, is_data, hop_limit, size, telemetry_bytes, queue_bytes, arrived_ns } =
            frame;
        let arrived = Nanos(arrived_ns);
        let head = core_switch::Head { ingress, priority, is_data, size, queue: queue_bytes, arrived, hop_limit };
        let mut section = core_switch::Section { bytes: section, len: telemetry_bytes.into() };
        let core_switch::Departure { mark, resume } =
            self.core.depart(egress, Nanos(now_ns), &head, &mut section, &mut rng.0);
        Departure { mark, resume, telemetry_bytes: section.len as u16 }
    }

    pub fn discard(&mut self, egress: u16, ingress: u16, priority: u8, size: u32) -> bool {
        let head = core_switch::Head { ingress, priority, size, ..Default::default() };
        self.core.discard(egress, &head)
    }

    pub fn send_pfc(&mut self, egress: u16, now_ns: u64, size: u32) {
        self.core.send_pfc(egress, Nanos(now_ns), size);
    }

    pub fn notes_arrival(&self) -> bool {
        self.notes_arrival
    }

    pub fn leaks_on_link_down(&self) -> bool {
        self.leaks
    }

    pub fn has_classes(&self) -> bool {
        self.services.is_some()
    }

    pub fn new_scheduler(&self) -> Box<Scheduler> {
        // C++ asks for one only where there are classes.
        Box::new(Scheduler(core_switch::Scheduler::new(self.services.unwrap_or([Service::Leftover; PRIORITIES]))))
    }

    pub fn queued(&self, egress: u16) -> u32 {
        self.core.queued(egress)
    }
}

/// Which queue of a port sends next.
pub struct Scheduler(core_switch::Scheduler);

impl Scheduler {
    pub fn next(&mut self, heads: &[u32; PRIORITIES], paused: u8) -> i32 {
        self.0.next(&Backlog { heads: *heads, paused }).map_or(-1, i32::from)
    }
}

pub fn new_rng(first_stream: u64, pint_seed: u32) -> Box<Rng> {
    Box::new(Rng(random::Rng::new(first_stream, pint_seed)))
}

pub fn new_node_rng(first_stream: u64, pint_seed: u32, node: u32) -> Box<Rng> {
    Box::new(Rng(random::Rng::of_node(first_stream, pint_seed, node)))
}

impl Rng {
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
