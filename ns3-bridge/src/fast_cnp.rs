// SPDX-License-Identifier: GPL-2.0-only
//! Fast CNP: the agents of switches and hosts.

use crate::host::Host;
use crate::network::Network;
use crate::random::Rng;
use crate::settings::Settings;
use hpcc_core::address::{host_address, ipv6};
use hpcc_core::cc::{NoEffect, Origin};
use hpcc_core::fast_cnp::{
    self, Border, Crossing, Decision, Flow, HostAgent, LeavingData, OptionTypes, PortConfig, Received, Refusal,
    Suppression, SwitchAgent,
};
use hpcc_core::frame::Encapsulation;
use hpcc_core::roce::Bth;
use hpcc_core::settings::{Conflict, Named};
use hpcc_core::simulated_frame::{ETHERNET, wire_queue_pair};
use hpcc_core::transport::CongestionNotification;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::wire::{FrameSizes, WireProfile};
use hpcc_formats::results::FastCnpSummary;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::fast_cnp::LeavingData`.
    #[derive(Clone, Copy)]
    struct FastCnpDeparture {
        src_address: u32,
        dst_address: u32,
        /// The receiver's.
        queue_pair: u32,
        queue_bytes: u64,
        marked: bool,
    }

    /// `hpcc_core::fast_cnp::Verdict`.
    #[derive(Clone, Copy)]
    struct FastCnpVerdict {
        send: bool,
        /// Whether the frame is marked after all.
        mark: bool,
        /// Why nothing is sent although there is congestion, as a place in `fast_cnp_withheld`; -1 otherwise.
        withheld: i8,
    }

    /// What a notification led to.
    #[derive(Clone, Copy, Default)]
    struct FastCnpReaction {
        /// Why it was not believed, as a place in `fast_cnp_refusals`; -1 if it was.
        refused: i8,
        /// The host does not know notifications: `report` goes back.
        unknown: bool,
        queue_pair: u32,
        /// Whether a network element noticed, not the receiver.
        by_network: bool,
        /// The flow's new source port; 0 if it keeps the old one.
        sport: u16,
        result: AckResult,
    }

    /// What agents did.
    #[derive(Clone, Copy, Debug, Default)]
    struct FastCnpCounters {
        sent: u64,
        /// By reason, as `fast_cnp_withheld` names them.
        withheld: [u64; 4],
        unmarked: u64,
        learnt: u64,
        unasked: u64,
        forgotten: u64,
        dropped_inbound: u64,
        dropped_outbound: u64,
        /// Accepted and acted on.
        accepted: u64,
        /// Accepted without effect, by reason, as `hpcc_core::cc::NoEffect` names them.
        without_effect: [u64; 6],
        /// By reason, as `fast_cnp_refusals` names them.
        refused: [u64; 6],
        migrations: u64,
        reports: u64,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/host.rs.h");
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/random.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type AckResult = crate::host::ffi::AckResult;
        type Host = crate::host::Host;
        type Network = crate::network::Network;
        type Rng = crate::random::Rng;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// Most bytes of what frames carry for Fast CNP in the place of telemetry.
        fn fast_cnp_room(settings: &Settings) -> u32;
        /// Names of the reasons for which notifications are withheld.
        fn fast_cnp_withheld() -> Vec<String>;
        /// Names of the reasons for which they are refused.
        fn fast_cnp_refusals() -> Vec<String>;
        /// A switch's settings of Fast CNP.
        #[derive(ExternType)]
        type FastCnpSwitch;
        /// Refuses a border where frames are not IPv6.
        fn check_border(node: u32, switch_settings: &Settings) -> Result<()>;
        /// `own` are its settings for Fast CNP, `switch_settings` the switch's, resolved.
        fn new_fast_cnp_switch(
            network: &Network,
            node: u32,
            own: &Settings,
            switch_settings: &Settings,
        ) -> Result<Box<FastCnpSwitch>>;
        /// A data frame leaves a port, stamped.
        fn on_data(
            self: &mut FastCnpSwitch,
            egress: u16,
            now_ns: u64,
            departure: &FastCnpDeparture,
            rng: &mut Rng,
        ) -> FastCnpVerdict;
        /// A frame of `size` bytes has left a port.
        fn on_sent(self: &mut FastCnpSwitch, egress: u16, now_ns: u64, size: u32);
        /// Writes the destination options of a notification about a frame; returns their length.
        fn write_options(self: &FastCnpSwitch, dst_address: u32, telemetry: &[u8], room: &mut [u8]) -> usize;
        /// Bytes on the link of a notification with `options` bytes of destination options.
        fn notification_bytes(self: &FastCnpSwitch, options: u32) -> u32;
        /// An IPv6 packet to the switch; returns whether it says that its source does not understand notifications.
        fn learn(self: &mut FastCnpSwitch, now_ns: u64, packet: &[u8]) -> bool;
        /// Whether a frame may cross the border.
        fn passes(self: &mut FastCnpSwitch, frame: &[u8], inbound: bool) -> bool;
        fn counters(self: &FastCnpSwitch) -> FastCnpCounters;
        /// What a host does.
        #[derive(ExternType)]
        type FastCnpHost;
        /// As `new_fast_cnp_switch`.
        fn new_fast_cnp_host(network: &Network, node: u32, own: &Settings, host: &Settings)
        -> Result<Box<FastCnpHost>>;
        /// Whether it accepts notifications.
        fn is_enabled(self: &FastCnpHost) -> bool;
        /// Whether it notifies senders of marked packets.
        fn notifies(self: &FastCnpHost) -> bool;
        /// Writes the destination options of a notification about a packet that arrived with this section.
        fn write_options(self: &FastCnpHost, telemetry: &[u8], room: &mut [u8]) -> usize;
        /// A flow begins.
        fn connect(self: &mut FastCnpHost, dst_address: u32, receiver: u32, queue_pair: u32);
        /// A flow has ended.
        fn disconnect(self: &mut FastCnpHost, dst_address: u32, receiver: u32);
        /// A notification has come; if it is believed, the flow reacts.
        fn on_notification(
            self: &mut FastCnpHost,
            now_ns: u64,
            src_address: u32,
            queue_pair: u32,
            options: &[u8],
            host: &mut Host,
            rng: &mut Rng,
        ) -> FastCnpReaction;
        /// The ICMPv6 packet that answers a frame which the host does not know; empty if none does.
        fn report(self: &mut FastCnpHost, now_ns: u64, frame: &[u8]) -> Vec<u8>;
        fn counters(self: &FastCnpHost) -> FastCnpCounters;
    }
}

use ffi::{FastCnpCounters, FastCnpDeparture, FastCnpReaction, FastCnpVerdict};

pub struct FastCnpSwitch {
    agent: SwitchAgent,
    border: Border,
    encapsulation: Option<Encapsulation>,
    sizes: FrameSizes,
    learnt: u64,
}

pub struct FastCnpHost {
    agent: HostAgent,
    enabled: bool,
    /// As a receiver.
    notifies: bool,
    address: [u8; 16],
    types: OptionTypes,
    encapsulation: Option<Encapsulation>,
}

pub fn fast_cnp_room(settings: &Settings) -> u32 {
    fast_cnp::report_room(&settings.node.layout()) as u32
}

fn names<T>(reasons: &[(&str, T)]) -> Vec<String> {
    reasons.iter().map(|(name, _)| (*name).into()).collect()
}

pub fn fast_cnp_withheld() -> Vec<String> {
    names(&Suppression::WITHHELD)
}

pub fn fast_cnp_refusals() -> Vec<String> {
    names(&Refusal::NAMES)
}

/// The agent of a switch: `own` are its settings for Fast CNP, `switch` all others. Refuses a border where frames are
/// not IPv6: notifications are.
pub fn check_border(node: u32, switch: &Settings) -> Result<(), String> {
    let profile = switch.node.wire.profile;
    if profile == WireProfile::RoceV6 {
        return Ok(());
    }
    Err(format!(
        "node {node} is a border of Fast CNP (SetFastCnpBorder()), whose packets are IPv6; the wire profile is \"{}\"; \
         expected \"{}\"",
        profile.name(),
        WireProfile::RoceV6.name()
    ))
}

pub fn new_fast_cnp_switch(
    network: &Network,
    node: u32,
    own: &Settings,
    switch: &Settings,
) -> Result<Box<FastCnpSwitch>, String> {
    let (settings, core) = (&own.node.fast_cnp_switch, network.get());
    let named = |wrong: Conflict| format!("fast_cnp.{}: {}", wrong.key, wrong.message);
    settings.common.check(switch.node.wire.profile).map_err(named)?;
    let port = |&(rate, _): &(BitRate, Nanos)| {
        let trigger = settings.trigger(&switch.node.ecn_threshold(rate), switch.node.switch.ecn)?;
        Ok(PortConfig { rate, trigger })
    };
    let ports = network.ports(node).iter().map(port).collect::<Result<Vec<_>, _>>().map_err(named)?;
    let generator = settings.generator(core).map_err(named)?;
    let capability = settings.capability(core).map_err(named)?;
    let loopback = ipv6(host_address(node));
    let load_interval = settings.load_interval(node, core, Nanos(network.max_rtt_ns())).map_err(named)?;
    Ok(Box::new(FastCnpSwitch {
        agent: SwitchAgent::new(loopback, &generator, capability, &ports, load_interval),
        border: Border::new(settings.common.types(), settings.border_side),
        encapsulation: switch.encapsulation(),
        sizes: switch.node.wire.profile.sizes(),
        learnt: 0,
    }))
}

/// The agent of a host: `own` are its settings for Fast CNP.
pub fn new_fast_cnp_host(
    network: &Network,
    node: u32,
    own: &Settings,
    host: &Settings,
) -> Result<Box<FastCnpHost>, String> {
    let settings = &own.node.fast_cnp_host;
    let named = |wrong: Conflict| format!("fast_cnp.{}: {}", wrong.key, wrong.message);
    settings.common.check(host.node.wire.profile).map_err(named)?;
    let acceptor = settings.acceptor(node, network.get()).map_err(named)?;
    let enabled = acceptor.enabled;
    host.node.check_notifications(enabled).map_err(|wrong| format!("host {node}: {wrong}"))?;
    let notifies = host.node.transport.congestion_notification == CongestionNotification::FastCnp;
    if notifies {
        settings
            .check_receivers(network.get())
            .map_err(|wrong| format!("transport.{}: {}", wrong.key, wrong.message))?;
    }
    let (address, types) = (ipv6(host_address(node)), settings.common.types());
    let agent = HostAgent::new(address, acceptor, settings.migration());
    let encapsulation = host.encapsulation();
    Ok(Box::new(FastCnpHost { agent, enabled, notifies, address, types, encapsulation }))
}

/// Writes options to the front of a frame's room; returns their length, 0 without room.
fn put(options: &[u8], room: &mut [u8]) -> usize {
    let Some(front) = room.get_mut(..options.len()) else { return 0 };
    front.copy_from_slice(options);
    options.len()
}

/// The counters as a run's summary has them.
pub fn summary(counters: &FastCnpCounters) -> FastCnpSummary {
    let named = |names: Vec<String>, counts: &[u64]| names.into_iter().zip(counts.iter().copied()).collect();
    FastCnpSummary {
        sent: counters.sent,
        withheld: named(fast_cnp_withheld(), &counters.withheld),
        unmarked: counters.unmarked,
        accepted: counters.accepted,
        without_effect: named(names(&NoEffect::NAMES), &counters.without_effect),
        refused: named(fast_cnp_refusals(), &counters.refused),
        migrations: counters.migrations,
        icmpv6_sent: counters.reports,
        icmpv6_learnt: counters.learnt,
        icmpv6_unasked: counters.unasked,
        forgotten: counters.forgotten,
        dropped_inbound: counters.dropped_inbound,
        dropped_outbound: counters.dropped_outbound,
    }
}

impl FastCnpSwitch {
    pub fn on_data(&mut self, egress: u16, now_ns: u64, departure: &FastCnpDeparture, rng: &mut Rng) -> FastCnpVerdict {
        let &FastCnpDeparture { src_address, dst_address, queue_pair, queue_bytes, marked } = departure;
        let dest_qp = wire_queue_pair(queue_pair);
        let flow = Flow { source: ipv6(src_address), destination: ipv6(dst_address), dest_qp };
        let data = LeavingData { now: Nanos(now_ns), flow, queue: queue_bytes, marked };
        let verdict = self.agent.on_data(egress.into(), &data, &mut rng.0);
        let withheld = match verdict.decision {
            Decision::Send => None,
            Decision::Suppressed(why) => Suppression::WITHHELD.iter().position(|&(_, known)| known == why),
        };
        FastCnpVerdict {
            send: verdict.decision == Decision::Send,
            mark: marked && verdict.may_mark,
            withheld: withheld.map_or(-1, |place| place as i8),
        }
    }

    pub fn on_sent(&mut self, egress: u16, now_ns: u64, size: u32) {
        self.agent.on_sent(egress.into(), Nanos(now_ns), size);
    }

    pub fn write_options(&self, dst_address: u32, telemetry: &[u8], room: &mut [u8]) -> usize {
        let mut header = [0; fast_cnp::option::MAX_HEADER];
        let options = self.agent.options(ipv6(dst_address), self.encapsulation, telemetry, &mut header);
        put(options, room)
    }

    pub fn notification_bytes(&self, options: u32) -> u32 {
        self.sizes.cnp(options)
    }

    pub fn learn(&mut self, now_ns: u64, packet: &[u8]) -> bool {
        let learnt = self.agent.learn(Nanos(now_ns), packet).is_some();
        self.learnt += u64::from(learnt);
        learnt
    }

    pub fn passes(&mut self, frame: &[u8], inbound: bool) -> bool {
        let crossing = if inbound { Crossing::Inbound } else { Crossing::Outbound };
        self.border.passes(frame.get(ETHERNET..).unwrap_or_default(), crossing)
    }

    pub fn counters(&self) -> FastCnpCounters {
        FastCnpCounters {
            sent: self.agent.sent(),
            withheld: Suppression::WITHHELD.map(|(_, why)| self.agent.suppressed(why)),
            unmarked: self.agent.unmarked(),
            learnt: self.learnt,
            unasked: self.agent.unasked(),
            forgotten: self.agent.forgotten(),
            dropped_inbound: self.border.dropped(Crossing::Inbound),
            dropped_outbound: self.border.dropped(Crossing::Outbound),
            ..FastCnpCounters::default()
        }
    }
}

impl FastCnpHost {
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub fn notifies(&self) -> bool {
        self.notifies
    }

    pub fn write_options(&self, telemetry: &[u8], room: &mut [u8]) -> usize {
        let mut header = [0; fast_cnp::option::MAX_HEADER];
        let options = fast_cnp::packet::options(self.address, self.encapsulation, telemetry, &self.types, &mut header);
        put(options, room)
    }

    pub fn connect(&mut self, dst_address: u32, receiver: u32, queue_pair: u32) {
        self.agent.connect(ipv6(dst_address), wire_queue_pair(receiver), queue_pair);
    }

    pub fn disconnect(&mut self, dst_address: u32, receiver: u32) {
        self.agent.disconnect(ipv6(dst_address), wire_queue_pair(receiver));
    }

    /// Links of the simulation lose frames and do not damage them, so that the ICRC is right.
    pub fn on_notification(
        &mut self,
        now_ns: u64,
        src_address: u32,
        queue_pair: u32,
        options: &[u8],
        host: &mut Host,
        rng: &mut Rng,
    ) -> FastCnpReaction {
        let now = Nanos(now_ns);
        let bth = Bth::cnp(wire_queue_pair(queue_pair));
        let received =
            Received { now, source: ipv6(src_address), destination_options: options, bth, icrc_is_right: true };
        let accepted = match self.agent.on_notification(&received) {
            Ok(accepted) => accepted,
            Err(why) => {
                let unknown = why == Refusal::Disabled;
                return FastCnpReaction { refused: why as i8, unknown, ..FastCnpReaction::default() };
            }
        };
        let (queue_pair, origin) = (accepted.queue_pair, accepted.origin);
        let result = host.core().on_notification(now, queue_pair, origin, accepted.trace.as_ref());
        let port = host.core().source_port(queue_pair).unwrap_or_default();
        let moved = self.agent.migration(now, queue_pair, origin, port, || rng.0.marks.uniform());
        if let Some(sport) = moved {
            host.core().set_source_port(queue_pair, sport);
        }
        if let (Err(why), None) = (result, moved) {
            self.agent.had_no_effect(&accepted, why);
        }
        FastCnpReaction {
            refused: -1,
            unknown: false,
            queue_pair,
            by_network: origin != Origin::Receiver,
            sport: moved.unwrap_or_default(),
            result: result.into(),
        }
    }

    pub fn report(&mut self, now_ns: u64, frame: &[u8]) -> Vec<u8> {
        let packet = frame.get(ETHERNET..).unwrap_or_default();
        self.agent.report(Nanos(now_ns), packet).unwrap_or_default()
    }

    pub fn counters(&self) -> FastCnpCounters {
        let acceptor = self.agent.acceptor();
        FastCnpCounters {
            accepted: self.agent.accepted(),
            without_effect: self.agent.without_effect(),
            refused: Refusal::NAMES.map(|(_, why)| acceptor.refused(why)),
            migrations: self.agent.moved(),
            reports: self.agent.reported(),
            ..FastCnpCounters::default()
        }
    }
}
