// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a node as ns-3 attributes: names and texts.

use crate::mirror::mirror;
use crate::panic_report;
use cxx::CxxString;
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::frame::Encapsulation;
#[cfg(not(feature = "ns3"))]
use hpcc_core::node::Finder;
use hpcc_core::node::{Among as CoreAmong, ControlSettings, Located, NodeSettings, Owner, Part};
use hpcc_core::settings::{Input, Kind, Setting, SettingError, camel_case};
use hpcc_core::topology::Network;
use hpcc_core::transport::feedback::{self, FeedbackContent};
use hpcc_core::transport::{IpVersion, Protocol, QueuePairs};
use hpcc_core::units::BitRate;
use std::rc::Rc;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// One setting as an attribute.
    #[derive(Clone, Debug)]
    struct SettingInfo {
        /// Its place among all.
        index: usize,
        /// Name of the attribute.
        attribute: String,
        kind: SettingKind,
        /// Its value without being set.
        initial: String,
        /// What can be given.
        expected: String,
        /// What it means.
        help: String,
    }

    /// The kind of an attribute's value.
    #[derive(Clone, Copy, Debug)]
    enum SettingKind {
        /// true or false.
        Switch,
        /// A whole number.
        Whole,
        /// A number.
        Real,
        /// A time.
        Time,
        /// A data rate.
        Rate,
        /// A text.
        Text,
    }

    /// The object whose attributes settings are.
    #[derive(Clone, Copy, Debug)]
    enum Holder {
        /// A host.
        Host,
        /// A switch.
        Switch,
        /// A host's settings of Fast CNP.
        FastCnpHost,
        /// A switch's settings of Fast CNP.
        FastCnpSwitch,
    }

    /// Nodes that must have attributes the same: `hpcc_core::node::Among`.
    #[derive(Clone, Copy, Debug)]
    enum Among {
        /// Hosts and switches.
        Nodes,
        /// Hosts.
        Hosts,
        /// Switches.
        Switches,
    }

    /// An attribute that two nodes should have the same, and have not; without a name if there is none.
    #[derive(Clone, Debug)]
    struct Difference {
        attribute: String,
        /// Its value at the one.
        own: String,
        /// Its value at the other.
        other: String,
    }

    extern "Rust" {
        /// The settings of a node, or of what it does about Fast CNP.
        #[derive(ExternType)]
        type Settings;
        /// Settings that nobody has changed.
        fn new_settings() -> Box<Settings>;
        /// Whether nobody has changed them.
        fn is_new(self: &Settings) -> bool;
        /// The attributes of hosts and switches.
        fn node_settings() -> Vec<SettingInfo>;
        /// The attributes of hosts.
        fn host_settings() -> Vec<SettingInfo>;
        /// The attributes of switches.
        fn switch_settings() -> Vec<SettingInfo>;
        /// The attributes of what hosts do about Fast CNP.
        fn fast_cnp_host_settings() -> Vec<SettingInfo>;
        /// The attributes of what switches do about Fast CNP.
        fn fast_cnp_switch_settings() -> Vec<SettingInfo>;
        /// The parameters of one algorithm, without its name before theirs.
        fn parameters_of(algorithm: &str) -> Vec<SettingInfo>;
        /// A copy, which shares memory until it is changed.
        fn duplicate(self: &Settings) -> Box<Settings>;
        /// Changes a setting, or says why not.
        fn set(self: &mut Settings, info: &SettingInfo, text: &CxxString) -> Result<()>;
        /// The value of a setting, as `set` reads it.
        fn get(self: &Settings, info: &SettingInfo) -> String;
        /// When ports of one rate mark frames, in place of what the settings say for all.
        fn set_ecn_threshold(self: &mut Settings, rate_bps: u64, kmin: u64, kmax: u64, pmax: f64) -> Result<()>;
        /// Refuses a host whose flows nothing would control, though their algorithm should; `by_switches`: whether switches
        /// notify it. Once they are resolved; a scenario has asked before.
        fn check_control(self: &Settings, by_switches: bool) -> Result<()>;
        /// The name of the congestion control of flows that start here.
        fn algorithm(self: &Settings) -> String;
        /// Refuses a changed parameter of an algorithm that is none of these, which the hosts of the network run. Before they
        /// are resolved.
        fn check_parameters(self: &Settings, run: &[String]) -> Result<()>;
        /// Whether a host with these settings answers telemetry.
        fn answers_telemetry(self: &Settings) -> bool;
        /// Whether a switch adds to telemetry, or a host has to do with it.
        fn knows_telemetry(self: &Settings, of_switch: bool) -> bool;
        /// What differs from another node's settings and must not; both are resolved.
        fn difference(self: &Settings, other: &Settings, among: Among) -> Difference;
        /// Whether flows that start here go by marks.
        fn reads_marks(self: &Settings) -> bool;
        /// Takes over what a switch must know of the hosts: of the one that decides, and of one that reads marks, if there is
        /// one.
        fn follow_hosts(self: &mut Settings, host: &Settings, marked: &Settings);
        /// Takes over what a host must know of the switches.
        fn follow_switches(self: &mut Settings, other: &Settings);
        /// Fits them to a host whose stack sends segments of TCP, or datagrams, in packets of at most so many bytes, IP
        /// header included.
        fn carry_packets(self: &mut Settings, udp: bool, ipv6: bool, bytes: u32);
        /// Most payload bytes in a packet.
        fn mtu(self: &Settings) -> u32;
        /// Whether flows of the same source, destination, priority and destination port share a queue pair.
        fn shares_queue_pairs(self: &Settings) -> bool;
        /// Whether times are floored as the reference floors them.
        fn floors_times(self: &Settings) -> bool;
        /// Whether ports keep their rates to the picosecond.
        fn keeps_rates_exactly(self: &Settings) -> bool;
        /// Whether random loss takes PFC frames too.
        fn loses_pfc(self: &Settings) -> bool;
        /// Whether all nodes draw from one sequence.
        fn shares_rng(self: &Settings) -> bool;
        /// Microseconds that a PFC pause says; 0 makes every pause a resume.
        fn pause_us(self: &Settings) -> u32;
        /// Bytes that a frame occupies its link for besides its own.
        fn frame_gap(self: &Settings) -> u32;
        /// The UDP destination port of all RDMA frames; 0: the flow's.
        fn wire_port(self: &Settings) -> u16;
        /// Whether frames have bytes.
        fn has_bytes(self: &Settings) -> bool;
        /// Most bytes of telemetry in a frame.
        fn telemetry_room(self: &Settings) -> u32;
        /// The telemetry layout that frames of a host have, or that a switch stamps; empty: none.
        fn telemetry(self: &Settings, of_switch: bool) -> String;
        /// Bytes on the link of a PFC frame.
        fn pfc_bytes(self: &Settings) -> u32;
        /// Whether switches notify senders.
        fn uses_fast_cnp(self: &Settings) -> bool;
        /// Whether hosts accept notifications by switches.
        fn accepts_fast_cnp(self: &Settings) -> bool;
    }
}

use ffi::{Among, Difference, Holder, SettingInfo, SettingKind};

mirror! { Among = CoreAmong { Nodes, Hosts, Switches } }

/// What is wrong with settings, by the attribute that is to blame; parameters of algorithms by section and key.
pub(crate) fn told(wrong: Located) -> String {
    let is_it = |spec: &&Spec| (spec.section, spec.setting.key) == (wrong.section, wrong.conflict.key);
    let attribute = SPECS.with(|specs| {
        specs.iter().filter(|spec| spec.algorithm.is_none()).find(is_it).map(|spec| spec.attribute.clone())
    });
    match attribute {
        Some(attribute) => format!("attribute {attribute}: {}", wrong.conflict.message),
        None => wrong.to_string(),
    }
}

/// Settings that many nodes share until one of them differs.
pub struct Settings {
    pub node: Rc<NodeSettings>,
    /// Whether they are resolved and checked, and were not changed since.
    is_settled: bool,
    /// Whether they are a scenario's, which has asked whether its flows can be controlled.
    of_scenario: bool,
}

/// What ns-3 must know of a setting to register it as an attribute.
struct Spec {
    section: &'static str,
    /// The algorithm whose parameter it is, if it is one.
    algorithm: Option<String>,
    owner: Owner,
    attribute: String,
    setting: Setting,
}

impl Spec {
    /// Whether there are settings beside which it counts for nothing. Parameters count if a host runs their algorithm, which
    /// `check_parameters` is told.
    fn may_be_idle(&self) -> bool {
        self.algorithm.is_none() && NodeSettings::may_be_idle(self.section, &self.setting)
    }

    /// Whether this object has it as an attribute.
    fn is_of(&self, holder: Holder) -> bool {
        match self.owner {
            Owner::Node => matches!(holder, Holder::Host | Holder::Switch),
            Owner::Host => holder == Holder::Host,
            Owner::Switch => holder == Holder::Switch,
            Owner::FastCnpHost => holder == Holder::FastCnpHost,
            Owner::FastCnpSwitch => holder == Holder::FastCnpSwitch,
            Owner::Nobody => false,
        }
    }
}

thread_local! {
    /// The defaults, which nodes share until they differ.
    static DEFAULTS: Rc<NodeSettings> = Rc::new(defaults());
    /// All attributes; never changed.
    static SPECS: Vec<Spec> = specs(&NodeSettings::default());
}

/// The defaults, with the algorithms that C++ brings.
pub fn defaults() -> NodeSettings {
    #[cfg(feature = "ns3")]
    let finder = crate::congestion_ops::find;
    #[cfg(not(feature = "ns3"))]
    let finder: Finder = |_| Err(String::new());
    NodeSettings::new(ControlSettings::with(Vec::new(), finder))
}

fn specs(settings: &NodeSettings) -> Vec<Spec> {
    let of_part = |part: Part<'_>| {
        let spec = |setting: Setting| Spec {
            section: part.section,
            algorithm: part.algorithm.map(Into::into),
            owner: part.owner,
            attribute: part.attribute(setting.key),
            setting,
        };
        part.settings.list().into_iter().map(spec).collect::<Vec<_>>()
    };
    settings.parts().into_iter().flat_map(of_part).collect()
}

pub fn new_settings() -> Box<Settings> {
    panic_report::install();
    Box::new(Settings { node: DEFAULTS.with(Rc::clone), is_settled: false, of_scenario: false })
}

fn info(index: usize, spec: &Spec) -> SettingInfo {
    let setting = &spec.setting;
    SettingInfo {
        index,
        attribute: spec.attribute.clone(),
        kind: match setting.kind {
            _ if setting.auto => SettingKind::Text,
            Kind::Switch => SettingKind::Switch,
            Kind::Count { .. } | Kind::Bytes { .. } => SettingKind::Whole,
            Kind::Real { .. } => SettingKind::Real,
            Kind::Time { .. } => SettingKind::Time,
            Kind::Rate { .. } => SettingKind::Rate,
            Kind::Choice(_) | Kind::Text => SettingKind::Text,
        },
        initial: setting.default.text(),
        expected: setting.kind.expected() + if setting.auto { ", or auto" } else { "" },
        help: setting.help.clone(),
    }
}

fn list(is_wanted: impl Fn(&Spec) -> bool) -> Vec<SettingInfo> {
    SPECS.with(|specs| {
        let wanted = specs.iter().enumerate().filter(|(_, spec)| is_wanted(spec));
        wanted.map(|(index, spec)| info(index, spec)).collect()
    })
}

/// Does something with an attribute.
fn with_spec<T>(info: &SettingInfo, then: impl FnOnce(&Spec) -> Result<T, String>) -> Result<T, String> {
    SPECS.with(|specs| specs.get(info.index).map_or_else(|| Err("there is no such attribute".into()), then))
}

pub fn node_settings() -> Vec<SettingInfo> {
    list(|spec| spec.owner == Owner::Node)
}

pub fn host_settings() -> Vec<SettingInfo> {
    list(|spec| spec.owner == Owner::Host)
}

pub fn switch_settings() -> Vec<SettingInfo> {
    list(|spec| spec.owner == Owner::Switch)
}

pub fn fast_cnp_host_settings() -> Vec<SettingInfo> {
    list(|spec| spec.owner == Owner::FastCnpHost)
}

pub fn fast_cnp_switch_settings() -> Vec<SettingInfo> {
    list(|spec| spec.owner == Owner::FastCnpSwitch)
}

pub fn parameters_of(algorithm: &str) -> Vec<SettingInfo> {
    let mut list = list(|spec| spec.algorithm.as_deref() == Some(algorithm));
    let prefix = camel_case(algorithm);
    for info in &mut list {
        info.attribute = info.attribute.trim_start_matches(&prefix).into();
    }
    list
}

impl Settings {
    /// Settings of a scenario, which are resolved and checked.
    pub fn settled(node: Rc<NodeSettings>) -> Box<Settings> {
        Box::new(Settings { node, is_settled: true, of_scenario: true })
    }

    pub fn duplicate(&self) -> Box<Settings> {
        Box::new(Settings { node: Rc::clone(&self.node), ..*self })
    }

    pub fn is_new(&self) -> bool {
        DEFAULTS.with(|defaults| Rc::ptr_eq(defaults, &self.node))
    }

    pub fn set(&mut self, info: &SettingInfo, text: &CxxString) -> Result<(), String> {
        with_spec(info, |spec| {
            let text = text.to_string_lossy();
            let input = Input::parse(&spec.setting, &text)?;
            self.is_settled = false;
            let settings = Rc::make_mut(&mut self.node);
            let algorithm = spec.algorithm.as_deref();
            settings.set(spec.section, algorithm, spec.setting.key, input).map_err(|error| match error {
                SettingError::Unknown => format!("there is no setting {}", spec.attribute),
                SettingError::Value(message) => message,
            })?;
            // The names of faults are a text with names in it, which nothing else reads before the start.
            if spec.section == "compatibility" {
                settings.faults.faults().map_err(|wrong| wrong.message)?;
            }
            Ok(())
        })
    }

    pub fn get(&self, info: &SettingInfo) -> String {
        let value = with_spec(info, |spec| {
            let value = self.node.get(spec.section, spec.algorithm.as_deref(), spec.setting.key);
            Ok(value.map_or_else(String::new, |value| value.text()))
        });
        value.unwrap_or_default()
    }

    pub fn set_ecn_threshold(&mut self, rate_bps: u64, kmin: u64, kmax: u64, pmax: f64) -> Result<(), String> {
        let threshold = EcnThreshold { rate: BitRate(rate_bps), kmin, kmax, pmax };
        threshold.check()?;
        self.is_settled = false;
        let thresholds = Rc::make_mut(&mut self.node).ecn_thresholds.get_or_insert_default();
        thresholds.retain(|known| known.rate != threshold.rate);
        thresholds.push(threshold);
        Ok(())
    }

    /// Refuses an attribute of this object that was changed, and counts for nothing beside the others. Ask before they are
    /// resolved.
    pub fn check_given(&self, network: &Network, holder: Holder) -> Result<(), String> {
        if self.is_settled || self.is_new() {
            return Ok(());
        }
        SPECS.with(|specs| {
            let is_given = |spec: &&Spec| {
                let value = || self.node.get(spec.section, None, spec.setting.key);
                spec.may_be_idle() && spec.is_of(holder) && value() != Some(spec.setting.default.clone())
            };
            let given: Vec<&Spec> = specs.iter().filter(is_given).collect();
            if given.is_empty() {
                return Ok(());
            }
            let mut resolved = (*self.node).clone();
            resolved.resolve(network);
            let idle = |spec: &&Spec| Some((spec.attribute.clone(), resolved.idle(spec.section, spec.setting.key)?));
            match given.iter().find_map(idle) {
                Some((attribute, reason)) => Err(format!("attribute {attribute} has no effect: {reason}")),
                None => Ok(()),
            }
        })
    }

    pub fn check_control(&self, by_switches: bool) -> Result<(), String> {
        if self.of_scenario { Ok(()) } else { self.node.check_control(by_switches).map_err(told) }
    }

    /// Refuses a flow that passes so many switches.
    pub(crate) fn check_hops(&self, switches: impl Fn() -> usize) -> Result<(), String> {
        if self.of_scenario || self.node.most_hops().is_none() {
            return Ok(());
        }
        self.node.check_hops(switches()).map_err(told)
    }

    pub fn algorithm(&self) -> String {
        self.node.control.chosen().name().into()
    }

    pub fn check_parameters(&self, run: &[String]) -> Result<(), String> {
        if self.is_settled || self.is_new() {
            return Ok(());
        }
        let idle = |spec: &Spec| {
            let algorithm = spec.algorithm.as_ref().filter(|name| !run.contains(name))?;
            let value = self.node.get(spec.section, Some(algorithm), spec.setting.key)?;
            (value != spec.setting.default).then(|| {
                format!(
                    "attribute {} has no effect: no host of this network has the CongestionControl \"{algorithm}\"",
                    spec.attribute
                )
            })
        };
        SPECS.with(|specs| specs.iter().find_map(idle).map_or(Ok(()), Err))
    }

    pub fn answers_telemetry(&self) -> bool {
        self.node.feedback.content != FeedbackContent::Nothing
    }

    pub fn knows_telemetry(&self, of_switch: bool) -> bool {
        self.node.knows_telemetry(of_switch)
    }

    pub fn difference(&self, other: &Settings, among: Among) -> Difference {
        let none = || Difference { attribute: String::new(), own: String::new(), other: String::new() };
        let Some(found) = self.node.difference(&other.node, among.into()) else { return none() };
        let is_it = |spec: &&Spec| (spec.section, spec.setting.key) == (found.section, found.key);
        let attribute =
            SPECS.with(|specs| specs.iter().find(is_it).map_or_else(String::new, |spec| spec.attribute.clone()));
        Difference { attribute, own: found.own, other: found.other }
    }

    pub fn reads_marks(&self) -> bool {
        self.node.reads_marks()
    }

    pub fn follow_hosts(&mut self, host: &Settings, marked: &Settings) {
        if !self.is_settled {
            let own = Rc::make_mut(&mut self.node);
            own.follow_hosts(&host.node);
            own.mark_for(marked.node.control.chosen());
        }
    }

    pub fn follow_switches(&mut self, switch: &Settings) {
        if !self.is_settled {
            Rc::make_mut(&mut self.node).follow_switches(&switch.node);
        }
    }

    pub fn carry_packets(&mut self, udp: bool, ipv6: bool, bytes: u32) {
        if !self.is_settled {
            let protocol = if udp { Protocol::Udp } else { Protocol::Tcp };
            let ip = if ipv6 { IpVersion::V6 } else { IpVersion::V4 };
            Rc::make_mut(&mut self.node).carry_packets(protocol, ip, bytes);
        }
    }

    pub fn inherit_units(&mut self, host: &Settings, network: &Network) {
        if !self.is_settled {
            Rc::make_mut(&mut self.node).inherit_units(&host.node, network);
        }
    }

    pub fn resolve(&mut self, network: &Network) -> Result<(), String> {
        if !self.is_settled {
            let settings = Rc::make_mut(&mut self.node);
            settings.resolve(network);
            settings.check(network).map_err(told)?;
            self.is_settled = true;
        }
        Ok(())
    }

    pub fn mtu(&self) -> u32 {
        self.node.transport().mtu
    }

    pub fn shares_queue_pairs(&self) -> bool {
        self.node.transport.queue_pairs == QueuePairs::PerPair
    }

    pub fn floors_times(&self) -> bool {
        self.node.faults().floored_times
    }

    pub fn keeps_rates_exactly(&self) -> bool {
        self.node.wire.exact_rates
    }

    pub fn loses_pfc(&self) -> bool {
        self.node.faults().lossy_pfc
    }

    pub fn shares_rng(&self) -> bool {
        self.node.faults().shared_rng
    }

    pub fn pause_us(&self) -> u32 {
        self.node.switch.pause_micros()
    }

    pub fn frame_gap(&self) -> u32 {
        self.node.wire.frame_gap()
    }

    pub fn wire_port(&self) -> u16 {
        self.node.wire.profile.port().unwrap_or_default()
    }

    pub fn has_bytes(&self) -> bool {
        self.node.wire.profile.is_real()
    }

    pub fn telemetry_room(&self) -> u32 {
        let is_sealed = !self.node.transport.seal.is_empty();
        feedback::room(&self.node.layout(), self.node.feedback.records_per_ack, is_sealed) as u32
    }

    pub fn telemetry(&self, of_switch: bool) -> String {
        let layout = if of_switch { self.node.stamped_layout() } else { self.node.layout() };
        if layout.initial_len() == 0 { String::new() } else { layout.to_string() }
    }

    pub fn pfc_bytes(&self) -> u32 {
        self.node.wire.profile.sizes().pfc
    }

    pub fn uses_fast_cnp(&self) -> bool {
        self.node.fast_cnp_switch.common.enabled
    }

    pub fn accepts_fast_cnp(&self) -> bool {
        self.node.fast_cnp_host.common.enabled
    }

    /// Where the sections of telemetry travel.
    pub(crate) fn encapsulation(&self) -> Option<Encapsulation> {
        self.node.layout().encapsulation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LISTS: [fn() -> Vec<SettingInfo>; 5] =
        [node_settings, host_settings, switch_settings, fast_cnp_host_settings, fast_cnp_switch_settings];

    #[test]
    fn every_attribute_has_a_name_of_its_own_and_its_initial_value() {
        for list in LISTS {
            let list = list();
            assert!(!list.is_empty());
            let names: BTreeSet<&str> = list.iter().map(|info| info.attribute.as_str()).collect();
            assert_eq!(names.len(), list.len());
            let mut settings = new_settings();
            for info in &list {
                assert_eq!(settings.get(info), info.initial, "{}", info.attribute);
                cxx::let_cxx_string!(text = info.initial.as_str());
                settings.set(info, &text).unwrap_or_else(|error| panic!("{}: {error}", info.attribute));
                assert!(info.help.ends_with(['.', ';', '4']) || info.help.ends_with("..."), "{}", info.help);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_its_attribute() {
        let wrong =
            |section, key| Located { section, conflict: hpcc_core::settings::Conflict::new(key, "is wrong".into()) };
        assert_eq!(told(wrong("switch", "headroom")), "attribute Headroom: is wrong");
        assert_eq!(told(wrong("congestion_control", "min_rate")), "congestion_control.min_rate: is wrong");
    }

    #[test]
    fn a_copy_stays_as_it_was() {
        let mut settings = new_settings();
        let copy = settings.duplicate();
        let mtu = host_settings().into_iter().find(|info| info.attribute == "Mtu").expect("Mtu");
        cxx::let_cxx_string!(text = "4096");
        settings.set(&mtu, &text).expect("in range");
        assert_eq!((settings.get(&mtu).as_str(), copy.get(&mtu).as_str()), ("4096", "1000"));
        cxx::let_cxx_string!(text = "9001");
        assert!(settings.set(&mtu, &text).expect_err("too large").contains("expected a size"));
    }
}
