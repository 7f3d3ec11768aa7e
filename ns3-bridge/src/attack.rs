// SPDX-License-Identifier: GPL-2.0-only
//! Attacks on what steers senders.

use crate::network::Network;
use crate::scenario::Scenario;
use crate::settings::Settings;
use hpcc_core::address::host_address;
use hpcc_core::attack::{AttackSettings, KnownFlow, Passing};
use hpcc_core::settings::{Input, Named, SettingError, Settings as _};
use hpcc_core::units::Nanos;
use hpcc_formats::results::AttackSummary;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::attack::KnownFlow`.
    #[derive(Clone, Copy)]
    struct KnownFlow {
        src: u32,
        dst: u32,
        sport: u16,
        /// The receiver's.
        queue_pair: u32,
        sender: u32,
        end: u64,
        sent: u64,
    }

    /// `hpcc_core::attack::Forged`.
    #[derive(Clone, Copy, Default)]
    struct ForgedFrame {
        /// Whether there is one.
        present: bool,
        kind: PacketKind,
        src: u32,
        dst: u32,
        src_address: u32,
        dst_address: u32,
        sport: u16,
        queue_pair: u32,
        seq: u64,
        priority: u8,
        size: u32,
        /// Bytes of its options, or of the whole ICMPv6 packet.
        section: u16,
        /// Time until the next one.
        gap_ns: u64,
    }

    /// `hpcc_core::attack::Passing`.
    #[derive(Clone, Copy)]
    struct PassingFrame {
        kind: PacketKind,
        src: u32,
        dst: u32,
        sport: u16,
        queue_pair: u32,
        /// Number of its flow's group, `NO_GROUP` where that is not known.
        group: u32,
    }

    /// A setting of an attack, as a file has it.
    #[derive(Clone, Debug)]
    struct AttackEntry {
        key: String,
        value: String,
    }

    /// What an attacker did.
    #[derive(Clone, Copy, Debug)]
    struct AttackCounters {
        sent: u64,
        altered: u64,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/frame.rs.h");
        include!("ns3-bridge/src/network.rs.h");
        include!("ns3-bridge/src/scenario.rs.h");
        include!("ns3-bridge/src/settings.rs.h");
        type Network = crate::network::Network;
        type PacketKind = crate::frame::ffi::PacketKind;
        type Scenario = crate::scenario::Scenario;
        type Settings = crate::settings::Settings;
    }

    extern "Rust" {
        /// An attack in progress.
        #[derive(ExternType)]
        type Attack;
        /// How many attacks a scenario has.
        fn attack_count(scenario: &Scenario) -> u32;
        /// The attack of this index.
        fn new_attack(scenario: &Scenario, index: u32) -> Result<Box<Attack>>;
        /// The attack of a program, by a node of a network with such hosts and switches.
        fn new_attack_by(
            node: u32,
            entries: &[AttackEntry],
            network: &Network,
            host: &Settings,
            notifier: &Settings,
        ) -> Result<Box<Attack>>;
        /// The group of no flow.
        fn no_group() -> u32;
        /// Node that it comes from.
        fn node(self: &Attack) -> u32;
        fn start_ns(self: &Attack) -> u64;
        fn stop_ns(self: &Attack) -> u64;
        /// Whether the attacker sends frames of its own.
        fn sends(self: &Attack) -> bool;
        /// Whether frames that pass the attacker, or that its node makes, must be shown to `on_frame`.
        fn watches(self: &Attack) -> bool;
        /// Whether `forge` has to have the victims' flows.
        fn needs_flows(self: &Attack) -> bool;
        /// Whether a host's flows of this group are attacked.
        fn is_victim(self: &Attack, host: u32, group: u32) -> bool;
        /// The next frame, with its section in the front of `room`; `flows` are the victims'.
        fn forge(self: &mut Attack, flows: &[KnownFlow], room: &mut [u8]) -> ForgedFrame;
        /// A frame passes with `length` bytes of telemetry or options in `room`; returns how many there are now.
        fn on_frame(self: &mut Attack, now_ns: u64, frame: &PassingFrame, room: &mut [u8], length: u16) -> u16;
        /// The priority that its neighbours resume as the attack ends; 0 for none.
        fn resumes(self: &Attack) -> u8;
        fn counters(self: &Attack) -> AttackCounters;
    }

    impl Vec<AttackCounters> {}
}

use ffi::{AttackCounters, AttackEntry, ForgedFrame, PassingFrame};

/// The group of no flow.
const NO_GROUP: u32 = u32::MAX;

pub fn no_group() -> u32 {
    NO_GROUP
}

pub struct Attack(hpcc_core::attack::Attack);

/// How long an attacker that has nothing to send waits before it looks again.
const IDLE: Nanos = Nanos::MICROSECOND;

pub fn attack_count(scenario: &Scenario) -> u32 {
    scenario.get().attacks.len() as u32
}

pub fn new_attack(scenario: &Scenario, index: u32) -> Result<Box<Attack>, String> {
    let scenario = scenario.get();
    let settings = scenario.attacks.get(index as usize).ok_or_else(|| format!("there is no attack {index}"))?;
    let groups = scenario.attacked_groups(settings);
    let attack = hpcc_core::attack::Attack::new(settings, &scenario.network, &scenario.settings, groups);
    attack.map(|attack| Box::new(Attack(attack))).map_err(|wrong| format!("attack.{}: {}", wrong.key, wrong.message))
}

pub fn new_attack_by(
    node: u32,
    entries: &[AttackEntry],
    network: &Network,
    host: &Settings,
    notifier: &Settings,
) -> Result<Box<Attack>, String> {
    let mut settings = AttackSettings { from: node, ..AttackSettings::default() };
    let known = settings.list();
    for AttackEntry { key, value } in entries {
        let setting = known.iter().find(|setting| setting.key == key && OF_FILES.iter().all(|other| other != key));
        let setting = setting.ok_or_else(|| format!("an attack of a program has no setting {key}"))?;
        let input = Input::parse(setting, value).map_err(|wrong| format!("{key}: {wrong}"))?;
        settings.set(setting.key, input).map_err(|wrong| match wrong {
            SettingError::Unknown => format!("an attack has no setting {key}"),
            SettingError::Value(message) => format!("{key}: {message}"),
        })?;
    }
    let given = |key: &str| entries.iter().any(|entry| entry.key == key);
    if let Some(idle) = known.iter().filter(|setting| given(setting.key)).find_map(|setting| setting.idle(&settings)) {
        return Err(idle);
    }
    let mut nodes = host.node.as_ref().clone();
    nodes.fast_cnp_switch = notifier.node.fast_cnp_switch.clone();
    let attack = hpcc_core::attack::Attack::new(&settings, network.get(), &nodes, None);
    attack.map(|attack| Box::new(Attack(attack))).map_err(|wrong| format!("{}: {}", wrong.key, wrong.message))
}

/// Settings that a program says otherwise: the node, and names that its flows do not have.
const OF_FILES: [&str; 2] = ["from", "traffic"];

/// What the attackers of a scenario did, as a run's summary has it.
pub fn summaries(attacks: &[AttackSettings], counters: &[AttackCounters]) -> Vec<AttackSummary> {
    let summary = |(attack, counters): (&AttackSettings, &AttackCounters)| AttackSummary {
        kind: attack.kind.name().into(),
        from: attack.from,
        frames_sent: counters.sent,
        frames_altered: counters.altered,
    };
    attacks.iter().zip(counters).map(summary).collect()
}

impl Attack {
    pub fn node(&self) -> u32 {
        self.0.settings().from
    }

    pub fn start_ns(&self) -> u64 {
        self.0.settings().start.0
    }

    pub fn stop_ns(&self) -> u64 {
        self.0.settings().stop.unwrap_or(Nanos::LONGEST).0
    }

    pub fn sends(&self) -> bool {
        self.0.settings().kind.sends()
    }

    pub fn watches(&self) -> bool {
        self.0.watches()
    }

    pub fn needs_flows(&self) -> bool {
        self.0.needs_flows()
    }

    pub fn is_victim(&self, host: u32, group: u32) -> bool {
        self.0.is_victim(host, group)
    }

    pub fn forge(&mut self, flows: &[ffi::KnownFlow], room: &mut [u8]) -> ForgedFrame {
        let flows: Vec<KnownFlow> = flows
            .iter()
            .map(|&ffi::KnownFlow { src, dst, sport, queue_pair, sender, end, sent }| KnownFlow {
                src,
                dst,
                sport,
                queue_pair,
                sender,
                end,
                sent,
            })
            .collect();
        let nothing = ForgedFrame { gap_ns: IDLE.0, ..ForgedFrame::default() };
        let Some(forged) = self.0.forge(&flows) else { return nothing };
        let Some(front) = room.get_mut(..forged.section.len()) else { return nothing };
        front.copy_from_slice(&forged.section);
        ForgedFrame {
            present: true,
            kind: forged.kind.into(),
            src: forged.src,
            dst: forged.dst,
            src_address: host_address(forged.src),
            dst_address: host_address(forged.dst),
            sport: forged.sport,
            queue_pair: forged.queue_pair,
            seq: forged.seq,
            priority: forged.priority,
            size: forged.size,
            section: forged.section.len() as u16,
            gap_ns: self.0.interval(forged.size).0,
        }
    }

    pub fn on_frame(&mut self, now_ns: u64, frame: &PassingFrame, room: &mut [u8], length: u16) -> u16 {
        let &PassingFrame { kind, src, dst, sport, queue_pair, group } = frame;
        let traffic = Some(group).filter(|&group| group != NO_GROUP);
        let passing = Passing { kind: kind.into(), src, dst, sport, queue_pair, traffic };
        self.0.on_frame(Nanos(now_ns), &passing, room, length.into()) as u16
    }

    pub fn resumes(&self) -> u8 {
        self.0.resume().unwrap_or_default()
    }

    pub fn counters(&self) -> AttackCounters {
        AttackCounters { sent: self.0.sent(), altered: self.0.altered() }
    }
}
