// SPDX-License-Identifier: GPL-2.0-only
//! The switch.

use crate::network::Network;
use crate::random::Rng;
use crate::settings::{Settings, told};
use hpcc_core::node;
use hpcc_core::switch::{self as core_switch, Backlog, PRIORITIES, Service};
use hpcc_core::units::{BitRate, Nanos};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// What ECMP hashes.
    #[derive(Clone, Copy)]
    struct FlowKey {
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
    }

    /// A frame that came in, as its way depends on it: `hpcc_core::switch::Arriving`.
    #[derive(Clone, Copy)]
    struct Arriving {
        key: FlowKey,
        dst: u32,
        hop_limit: u8,
        priority: u8,
        is_data: bool,
    }

    /// Where a frame goes that came in.
    #[derive(Clone, Copy)]
    struct Route {
        verdict: Verdict,
        /// With which it leaves.
        hop_limit: u8,
        egress: u16,
    }

    /// `hpcc_core::switch::Admission`.
    #[derive(Clone, Copy)]
    enum Admission {
        /// There is no room for it.
        Drop,
        /// It may wait.
        Admit,
        /// It may wait; first send a PFC pause of its priority out of its ingress port.
        AdmitAndPause,
    }

    /// What happens to a frame that came to an idle port.
    #[derive(Clone, Copy)]
    enum CutThrough {
        /// It is to wait, and nothing has happened.
        Waits,
        /// It leaves.
        Passes,
        /// It leaves, marked.
        PassesMarked,
    }

    /// What becomes of a frame that arrived at a switch.
    #[derive(Clone, Copy)]
    enum Verdict {
        /// It goes on by `egress`.
        Forward,
        /// Its destination cannot be reached.
        NoRoute,
        /// Its hop limit ends here.
        Expired,
        /// The buffer has no room.
        Overflow,
    }

    /// `hpcc_core::switch::Head`, with the length of the telemetry section. The long fields are not neighbours: what is written
    /// as two and read as one waits until it is in memory.
    #[derive(Clone, Copy)]
    struct DepartingFrame {
        queue_bytes: u64,
        ingress: u16,
        priority: u8,
        is_data: bool,
        hop_limit: u8,
        size: u32,
        /// The switch changes it.
        telemetry_bytes: u16,
        arrived_ns: u64,
    }

    /// `hpcc_core::switch::Departure`.
    #[derive(Clone, Copy)]
    struct Departure {
        mark: bool,
        resume: bool,
    }

    /// Addresses of both ports' accounts of a frame, for fetching them into the cache; 0: none.
    #[derive(Clone, Copy)]
    struct FetchPlaces {
        ingress: usize,
        egress: usize,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/random.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type Network = crate::network::Network;
        type Rng = crate::random::Rng;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// The decisions of a switch.
        #[derive(ExternType)]
        type Switch;
        /// Gives the switch the network's present routes.
        fn update_switch_routes(network: &mut Network, node: u32, target: &mut Switch);
        /// The switch of a network's node, whose settings are resolved.
        fn new_switch(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Switch>>;
        /// Whether it must be told when a frame came in.
        fn notes_arrival(self: &Switch) -> bool;
        /// Whether a link that fails keeps the memory of the frames that are dropped with it.
        fn leaks_on_link_down(self: &Switch) -> bool;
        /// Whether its queues are served by classes.
        fn has_classes(self: &Switch) -> bool;
        /// Which queue of a port sends next.
        #[derive(ExternType)]
        type Scheduler;
        /// The scheduler of a port; there must be classes.
        fn new_scheduler(self: &Switch) -> Box<Scheduler>;
        /// The queue whose first frame leaves now, or -1. `heads` are the bytes of each queue's first frame, 0 where it is
        /// empty; bit n of `paused` holds queue n back.
        fn next(self: &mut Scheduler, heads: &[u32; 8], paused: u8) -> i32;
        /// Bytes of all frames that left a port.
        fn sent(self: &Switch, egress: u16) -> u64;
        /// Whether all data of a flow leaves by one port until routes change; answers always do.
        fn keeps(self: &Switch) -> bool;
        /// The far end of a port pauses these priorities from now on, and no others: bit n stands for priority n.
        fn hear_pause(self: &mut Switch, egress: u16, priorities: u8);
        /// Where a frame goes that came in.
        fn route(self: &mut Switch, now_ns: u64, frame: &Arriving, rng: &mut Rng) -> Route;
        /// A frame that came in by one port is to wait at another.
        fn admit(self: &mut Switch, ingress: u16, egress: u16, priority: u8, size: u32) -> Admission;
        /// A frame that came in just now leaves a port that is idle, and at which none waits: as `admit` and `depart` in one.
        fn cut_through(
            self: &mut Switch,
            egress: u16,
            now_ns: u64,
            frame: &mut DepartingFrame,
            section: &mut [u8],
            rng: &mut Rng,
        ) -> CutThrough;
        /// Address of what is looked up first to route a frame, for fetching it into the cache; 0: none.
        fn place_of_route(self: &Switch, dst: u32) -> usize;
        /// A frame comes, or came, in by a port and will leave by another.
        fn places_of_accounts(self: &Switch, ingress: u16, egress: u16) -> FetchPlaces;
        /// A frame leaves a port. Writes this hop behind or into the telemetry that `section` begins with.
        fn depart(
            self: &mut Switch,
            egress: u16,
            now_ns: u64,
            frame: &mut DepartingFrame,
            section: &mut [u8],
            rng: &mut Rng,
        ) -> Departure;
        /// What a switch makes of telemetry that leaves its domain.
        #[derive(ExternType)]
        type TelemetryBorder;
        /// The border of a switch; `notifies`: whether it sends Fast CNPs.
        fn new_telemetry_border(
            network: &Network,
            node: u32,
            settings: &Settings,
            notifies: bool,
        ) -> Result<Box<TelemetryBorder>>;
        /// Whether it makes anything of it.
        fn hides(self: &TelemetryBorder) -> bool;
        /// A frame leaves a port with this telemetry: a section that collects records, or an answer.
        fn hide(self: &mut TelemetryBorder, egress: u16, is_answer: bool, telemetry: &mut [u8]);
        /// A frame that waits at a port is thrown away; returns whether to resume its sender.
        fn discard(self: &mut Switch, egress: u16, ingress: u16, priority: u8, size: u32) -> bool;
        /// The priorities that were paused by PFC frames out of a port: bit n stands for priority n.
        fn paused(self: &Switch, ingress: u16) -> u8;
        /// A PFC frame of this switch leaves a port.
        fn send_pfc(self: &mut Switch, egress: u16, now_ns: u64, size: u32);
        fn queued(self: &Switch, egress: u16) -> u32;
    }
}

use ffi::{Admission, Arriving, CutThrough, DepartingFrame, Departure, FetchPlaces, FlowKey, Route, Verdict};

pub struct Switch {
    core: core_switch::Switch,
    notes_arrival: bool,
    leaks: bool,
    /// How the queues of a port are served; `None`: in turn.
    services: Option<[Service; PRIORITIES]>,
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

impl core_switch::Departing for DepartingFrame {
    #[inline]
    fn head(&self) -> core_switch::Head {
        core_switch::Head {
            ingress: self.ingress,
            priority: self.priority,
            is_data: self.is_data,
            is_trimmed: false,
            size: self.size,
            queue: self.queue_bytes,
            arrived: Nanos(self.arrived_ns),
            hop_limit: self.hop_limit,
        }
    }
}

pub fn new_switch(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Switch>, String> {
    let ports = network.ports(node);
    let rates: Vec<BitRate> = ports.iter().map(|&(rate, _)| rate).collect();
    let config = settings.node.switch(&rates).map_err(told)?;
    let layout = settings.node.stamped_layout();
    let notes_arrival = layout.by_sojourn().is_some() || config.report.wait == core_switch::Wait::Sojourn;
    let (services, leaks) = (config.classes.map(|classes| classes.services()), config.faults.leak_buffer_on_link_down);
    let (host_rate, base_rtt) = (network.host_rate(), Nanos(network.max_rtt_ns()));
    let routes = network.table(node);
    let balancer = settings.node.balancer(network.get(), node).map_err(told)?;
    let mut core = core_switch::Switch::new(node, &config, layout, host_rate, base_rtt, &ports, routes);
    if let Some(balancer) = balancer {
        core.balance(balancer);
    }
    Ok(Box::new(Switch { core, notes_arrival, leaks, services }))
}

/// What a switch makes of telemetry that leaves its domain; `None`: it is no border.
pub struct TelemetryBorder(Option<node::TelemetryBorder>);

pub fn new_telemetry_border(
    network: &Network,
    node: u32,
    settings: &Settings,
    notifies: bool,
) -> Result<Box<TelemetryBorder>, String> {
    let border = settings.node.border(node, network.get(), notifies);
    border.map(|border| Box::new(TelemetryBorder(border))).map_err(told)
}

impl TelemetryBorder {
    pub fn hides(&self) -> bool {
        self.0.is_some()
    }

    pub fn hide(&mut self, egress: u16, is_answer: bool, telemetry: &mut [u8]) {
        if let Some(border) = &mut self.0 {
            border.hide(egress, is_answer, telemetry);
        }
    }
}

pub fn update_switch_routes(network: &mut Network, node: u32, target: &mut Switch) {
    target.core.set_routes(network.table(node));
}

impl Switch {
    pub fn keeps(&self) -> bool {
        self.core.keeps()
    }

    pub fn hear_pause(&mut self, egress: u16, priorities: u8) {
        self.core.hear_pause(egress, priorities);
    }

    pub fn route(&mut self, now_ns: u64, frame: &Arriving, rng: &mut Rng) -> Route {
        let dropped = |verdict| Route { verdict, hop_limit: 0, egress: 0 };
        let &Arriving { ref key, dst, hop_limit, priority, is_data } = frame;
        let frame = core_switch::Arriving { dst, key: key.into(), hop_limit, priority, is_data };
        match self.core.route(Nanos(now_ns), &frame, &mut rng.0) {
            core_switch::Route::To { egress, hop_limit } => Route { verdict: Verdict::Forward, hop_limit, egress },
            core_switch::Route::None => dropped(Verdict::NoRoute),
            core_switch::Route::Expired => dropped(Verdict::Expired),
        }
    }

    pub fn admit(&mut self, ingress: u16, egress: u16, priority: u8, size: u32) -> Admission {
        match self.core.admit(ingress, egress, priority, size) {
            core_switch::Admission::Drop => Admission::Drop,
            core_switch::Admission::Admit { pause: false } => Admission::Admit,
            core_switch::Admission::Admit { pause: true } => Admission::AdmitAndPause,
        }
    }

    pub fn cut_through(
        &mut self,
        egress: u16,
        now_ns: u64,
        frame: &mut DepartingFrame,
        section: &mut [u8],
        rng: &mut Rng,
    ) -> CutThrough {
        let mut section = core_switch::Section { bytes: section, len: frame.telemetry_bytes.into() };
        let mark = self.core.cut_through(egress, Nanos(now_ns), &*frame, &mut section, &mut rng.0);
        frame.telemetry_bytes = section.len as u16;
        match mark {
            None => CutThrough::Waits,
            Some(false) => CutThrough::Passes,
            Some(true) => CutThrough::PassesMarked,
        }
    }

    pub fn place_of_route(&self, dst: u32) -> usize {
        self.core.place_of_route(dst)
    }

    pub fn places_of_accounts(&self, ingress: u16, egress: u16) -> FetchPlaces {
        FetchPlaces { ingress: self.core.place_of_ingress(ingress), egress: self.core.place_of_egress(egress) }
    }

    pub fn sent(&self, egress: u16) -> u64 {
        self.core.sent(egress)
    }

    pub fn depart(
        &mut self,
        egress: u16,
        now_ns: u64,
        frame: &mut DepartingFrame,
        section: &mut [u8],
        rng: &mut Rng,
    ) -> Departure {
        let mut section = core_switch::Section { bytes: section, len: frame.telemetry_bytes.into() };
        let core_switch::Departure { mark, resume } =
            self.core.depart(egress, Nanos(now_ns), &*frame, &mut section, &mut rng.0);
        frame.telemetry_bytes = section.len as u16;
        Departure { mark, resume }
    }

    pub fn discard(&mut self, egress: u16, ingress: u16, priority: u8, size: u32) -> bool {
        let head = core_switch::Head { ingress, priority, size, ..Default::default() };
        self.core.discard(egress, &head)
    }

    pub fn paused(&self, ingress: u16) -> u8 {
        self.core.paused(ingress)
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
