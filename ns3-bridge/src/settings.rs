// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a node as ns-3 attributes: names and texts.

use crate::panic_report;
use cxx::CxxString;
use hpcc_core::balance::LoadBalancingSettings;
#[cfg(not(feature = "ns3"))]
use hpcc_core::balance::SchemeFinder;
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::frame::Encapsulation;
#[cfg(not(feature = "ns3"))]
use hpcc_core::node::Finder;
use hpcc_core::node::{ControlSettings, Given, Kind as NodeKind, Located, NodeSettings, Owner, Part};
use hpcc_core::settings::{Input, Kind, Setting, SettingError, camel_case};
use hpcc_core::transport::{IpVersion, Protocol, QueuePairs};
use hpcc_core::units::BitRate;
use std::collections::BTreeSet;
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
        /// A network.
        Network,
        /// A host.
        Host,
        /// A switch.
        Switch,
        /// A host's settings of Fast CNP.
        FastCnpHost,
        /// A switch's settings of Fast CNP.
        FastCnpSwitch,
    }

    extern "Rust" {
        /// The settings of a node, or of what it does about Fast CNP.
        #[derive(ExternType)]
        type Settings;
        /// Settings that nobody has changed.
        fn new_settings() -> Box<Settings>;
        /// Whether nobody has changed them.
        fn is_new(self: &Settings) -> bool;
        /// The attributes of an object.
        fn attributes_of(holder: Holder) -> Vec<SettingInfo>;
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
        /// They are a host's whose stack sends segments of TCP, or datagrams, in packets of at most so many bytes, IP header
        /// included.
        fn carry_packets(self: &mut Settings, udp: bool, ipv6: bool, bytes: u32);
        /// Most payload bytes in a packet.
        fn mtu(self: &Settings) -> u32;
        /// Whether flows of the same source, destination, priority and destination port share a queue pair.
        fn shares_queue_pairs(self: &Settings) -> bool;
        /// Whether frames have bytes.
        fn has_bytes(self: &Settings) -> bool;
    }
}

use ffi::{Holder, SettingInfo, SettingKind};

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
    /// Whether they are a scenario's, which has settled and checked all.
    pub(crate) of_scenario: bool,
    /// What the host's stack sends, if it has one.
    pub(crate) stack: Option<(Protocol, IpVersion, u32)>,
}

/// What ns-3 must know of a setting to register it as an attribute.
struct Spec {
    section: &'static str,
    /// The algorithm whose parameter it is, if it is one.
    algorithm: Option<String>,
    holder: Option<Holder>,
    attribute: String,
    setting: Setting,
}

impl Spec {
    /// Whether there are settings beside which it counts for nothing. Parameters count if a host runs their algorithm, which
    /// `idle_parameters` is told.
    fn may_be_idle(&self) -> bool {
        self.algorithm.is_none() && NodeSettings::may_be_idle(self.section, &self.setting)
    }
}

thread_local! {
    /// The defaults, which nodes share until they differ.
    static DEFAULTS: Rc<NodeSettings> = Rc::new(defaults());
    /// All attributes; never changed.
    static SPECS: Vec<Spec> = specs(&NodeSettings::default());
}

/// The defaults, with the algorithms and schemes that C++ brings.
pub fn defaults() -> NodeSettings {
    #[cfg(feature = "ns3")]
    let (finder, schemes) = (crate::congestion_ops::find, crate::load_balancer::find);
    #[cfg(not(feature = "ns3"))]
    let (finder, schemes): (Finder, SchemeFinder) = (|_| Err(String::new()), |_| Err(String::new()));
    let load_balancing = LoadBalancingSettings::finding(schemes);
    NodeSettings { load_balancing, ..NodeSettings::new(ControlSettings::with(Vec::new(), finder)) }
}

/// The object that has settings as attributes.
fn holder(owner: Owner) -> Option<Holder> {
    match owner {
        Owner::Network => Some(Holder::Network),
        Owner::Host => Some(Holder::Host),
        Owner::Switch => Some(Holder::Switch),
        Owner::FastCnpHost => Some(Holder::FastCnpHost),
        Owner::FastCnpSwitch => Some(Holder::FastCnpSwitch),
        Owner::Nobody => None,
    }
}

fn specs(settings: &NodeSettings) -> Vec<Spec> {
    let of_part = |part: Part<'_>| {
        let spec = |setting: Setting| Spec {
            section: part.section,
            algorithm: part.algorithm.map(Into::into),
            holder: holder(part.owner_of(&setting)),
            attribute: part.attribute(setting.key),
            setting,
        };
        part.settings.list().into_iter().map(spec).collect::<Vec<_>>()
    };
    settings.parts().into_iter().flat_map(of_part).collect()
}

pub fn new_settings() -> Box<Settings> {
    panic_report::install();
    Settings::of(DEFAULTS.with(Rc::clone))
}

/// A help with the names of attributes in place of the keys of files, which stand between backticks: `section.key`, or `key` of the
/// same section.
fn named_by_attributes(help: &str, spec: &Spec, specs: &[Spec]) -> String {
    let attribute = |code: &str| {
        let (section, key) = code.split_once('.').unwrap_or((spec.section, code));
        let is_it = |other: &&Spec| other.section == section && other.setting.key == key && other.holder.is_some();
        let of_algorithm = |other: &&Spec| is_it(other) && other.algorithm == spec.algorithm;
        let found = specs.iter().find(of_algorithm).or_else(|| specs.iter().find(is_it));
        found.map(|found| found.attribute.clone())
    };
    let named = |(place, part): (usize, &str)| {
        let key = part.split_once(" = ").map_or(part, |(key, _)| key);
        match Some(key).filter(|_| place % 2 == 1).and_then(attribute) {
            Some(attribute) => attribute + &part[key.len()..],
            None => part.into(),
        }
    };
    help.split('`').enumerate().map(named).collect::<Vec<_>>().join("`")
}

fn info(index: usize, spec: &Spec, specs: &[Spec]) -> SettingInfo {
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
        help: named_by_attributes(&setting.help, spec, specs),
    }
}

fn list(is_wanted: impl Fn(&Spec) -> bool) -> Vec<SettingInfo> {
    SPECS.with(|specs| {
        let wanted = specs.iter().enumerate().filter(|(_, spec)| is_wanted(spec));
        wanted.map(|(index, spec)| info(index, spec, specs)).collect()
    })
}

/// Does something with an attribute.
fn with_spec<T>(info: &SettingInfo, then: impl FnOnce(&Spec) -> Result<T, String>) -> Result<T, String> {
    SPECS.with(|specs| specs.get(info.index).map_or_else(|| Err("there is no such attribute".into()), then))
}

pub fn attributes_of(holder: Holder) -> Vec<SettingInfo> {
    list(|spec| spec.holder == Some(holder))
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
    /// Settings with these values.
    pub fn of(node: Rc<NodeSettings>) -> Box<Settings> {
        Box::new(Settings { node, of_scenario: false, stack: None })
    }

    /// Settings of a scenario, which are resolved and checked.
    pub fn settled(node: Rc<NodeSettings>) -> Box<Settings> {
        Box::new(Settings { of_scenario: true, ..*Settings::of(node) })
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
            let settings = Rc::make_mut(&mut self.node);
            let algorithm = spec.algorithm.as_deref();
            settings.set(spec.section, algorithm, spec.setting.key, input).map_err(|error| match error {
                SettingError::Unknown => format!("there is no setting {}", spec.attribute),
                SettingError::Value(message) => message,
            })
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
        let thresholds = Rc::make_mut(&mut self.node).ecn_thresholds.get_or_insert_default();
        thresholds.retain(|known| known.rate != threshold.rate);
        thresholds.push(threshold);
        Ok(())
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

    pub fn carry_packets(&mut self, udp: bool, ipv6: bool, bytes: u32) {
        let protocol = if udp { Protocol::Udp } else { Protocol::Tcp };
        let ip = if ipv6 { IpVersion::V6 } else { IpVersion::V4 };
        self.stack = Some((protocol, ip, bytes));
    }

    pub fn mtu(&self) -> u32 {
        self.node.transport().mtu
    }

    pub fn shares_queue_pairs(&self) -> bool {
        self.node.transport.queue_pairs == QueuePairs::PerPair
    }

    pub fn has_bytes(&self) -> bool {
        self.node.wire.profile.is_real()
    }

    /// Where the sections of telemetry travel.
    pub(crate) fn encapsulation(&self) -> Option<Encapsulation> {
        self.node.layout().encapsulation()
    }
}

/// Refuses a setting of these objects that was changed, and counts for nothing beside the others, which are settled.
pub(crate) fn check_given(given: &NodeSettings, settled: &NodeSettings, holders: &[Holder]) -> Result<(), String> {
    let idle = |spec: &Spec| {
        let value = || given.get(spec.section, None, spec.setting.key);
        let is_of_these = spec.holder.is_some_and(|holder| holders.contains(&holder)) && spec.may_be_idle();
        let is_given = is_of_these && value().as_ref() != Some(&spec.setting.default);
        let reason = is_given.then(|| settled.idle(spec.section, spec.setting.key))??;
        Some(format!("attribute {} has no effect: {reason}", spec.attribute))
    };
    SPECS.with(|specs| specs.iter().find_map(idle).map_or(Ok(()), Err))
}

/// Notes on changed parameters of algorithms that no host runs: defaults at the top of a program serve runs of several. A helper sets
/// parameters at all hosts, so each is told once.
pub(crate) fn idle_parameters(nodes: &[Given]) -> BTreeSet<String> {
    let hosts = || nodes.iter().filter(|node| node.kind == NodeKind::Host).map(|host| &host.settings);
    let run: BTreeSet<&str> = hosts().map(|host| host.control.chosen().name()).collect();
    let idle = |settings: &NodeSettings, spec: &Spec| {
        let algorithm = spec.algorithm.as_deref().filter(|name| !run.contains(name))?;
        let value = settings.get(spec.section, Some(algorithm), spec.setting.key)?;
        (value != spec.setting.default).then(|| {
            format!(
                "attribute {} has no effect: no host of this network has the CongestionControl \"{algorithm}\"",
                spec.attribute
            )
        })
    };
    let mut notes = BTreeSet::new();
    let mut known: Option<&Rc<NodeSettings>> = None;
    for settings in hosts() {
        if known.replace(settings).is_none_or(|known| !Rc::ptr_eq(known, settings)) {
            SPECS.with(|specs| notes.extend(specs.iter().filter_map(|spec| idle(settings, spec))));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLDERS: [Holder; 5] =
        [Holder::Network, Holder::Host, Holder::Switch, Holder::FastCnpHost, Holder::FastCnpSwitch];

    #[test]
    fn every_attribute_has_a_name_of_its_own_and_its_initial_value() {
        for holder in HOLDERS {
            let list = attributes_of(holder);
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
    fn helps_name_attributes_and_no_keys() {
        let helps: Vec<SettingInfo> = HOLDERS.into_iter().flat_map(attributes_of).collect();
        let help = |name: &str| helps.iter().find(|info| info.attribute == name).map(|info| info.help.as_str());
        assert!(
            help("TelemetryLayout").is_some_and(|help| !help.contains("telemetry.")),
            "{:?}",
            help("TelemetryLayout")
        );
        let scheme = help("LoadBalancingScheme").expect("a help");
        assert!(scheme.contains("`Recovery` = `selective_repeat`"), "{scheme}");
        let names = SPECS.with(|specs| {
            specs.iter().map(|spec| format!("`{}.{}", spec.section, spec.setting.key)).collect::<Vec<_>>()
        });
        for info in &helps {
            let told = names.iter().find(|name| info.help.contains(*name));
            assert!(told.is_none(), "{}: {}", info.attribute, info.help);
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
        let mtu = attributes_of(Holder::Network).into_iter().find(|info| info.attribute == "Mtu").expect("Mtu");
        cxx::let_cxx_string!(text = "4096");
        settings.set(&mtu, &text).expect("in range");
        assert_eq!((settings.get(&mtu).as_str(), copy.get(&mtu).as_str()), ("4096", "1000"));
        cxx::let_cxx_string!(text = "9001");
        assert!(settings.set(&mtu, &text).expect_err("too large").contains("expected a size"));
    }
}
