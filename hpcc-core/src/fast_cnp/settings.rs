// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of Fast CNP at switches and hosts.

use super::capability::SENDER_SLOTS;
use super::generator::FLOW_SLOTS;
use super::{
    AcceptorConfig, BorderSide, CapabilityConfig, GeneratorConfig, MigrationConfig, OptionType, OptionTypes, Trigger,
};
use crate::address::AddressSet;
use crate::ecn::EcnThreshold;
use crate::rate_limit::RateLimit;
use crate::settings::Conflict;
use crate::topology::{Network, NodeSet};
use crate::units::{BitRate, Bytes, Nanos};
use crate::wire::WireProfile;
use alloc::format;
use alloc::string::{String, ToString};

crate::named! {
    /// The definition of congestion: [`Trigger`] without its parameters.
    #[derive(Default)]
    pub enum TriggerKind {
        /// [`Trigger::Queue`].
        #[default]
        Queue = "queue",
        /// [`Trigger::Utilisation`].
        Utilisation = "utilisation",
    }
}

crate::settings! {
    /// What all of a network must know of Fast CNP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FastCnpSettings {
        /// Whether switches notify senders of congestion, and hosts accept that; needs `wire.profile` = `rocev2_ipv6`. A
        /// host without it answers each notification as one that does not know the option. Without it nothing else in the
        /// section has an effect.
        #[change = "Turn it on to let senders hear of congestion sooner than by acknowledgements, mostly over long \
            distance."]
        pub enabled: bool = false;
        /// Hosts that do not understand notifications and say so by ICMPv6. None, all, hosts, or numbers and ranges.
        #[change = "Name some to study a partly upgraded network; switches mark their packets."]
        pub incapable: String = "none".to_string();
        /// Type of option 1, which holds the original destination.
        #[change = "Change it to match another implementation."]
        pub option_type: u8 {0x80..=0x9f} = OptionType::EXPERIMENTAL.code();
        /// Type of option 2, which also holds a copy of an IOAM trace.
        #[change = "Change it to match another implementation."]
        pub trace_option_type: u8 {0x80..=0x9f} = OptionType::EXPERIMENTAL.code();
    }
}

crate::settings! {
    /// A switch's settings of Fast CNP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FastCnpSwitchSettings {
        /// What congestion is to a port: a queue for which a frame would be marked (`queue`), or a utilisation U above
        /// `bound` (`utilisation`).
        #[change = "Choose `utilisation` to notify before such a queue has grown."]
        pub trigger: TriggerKind = TriggerKind::Queue;
        /// Queue length of a port of 100 Gb/s up to which no sender is notified; `auto`: as ECN. Other ports scale it by
        /// their rate. Set it together with `kmax`.
        #[change = "Lower it to notify earlier."]
        pub kmin: Option<Bytes> = None => trigger = "queue";
        /// Queue length of a port of 100 Gb/s above which the sender of every frame is notified; `auto`: as ECN. Other
        /// ports scale it by their rate. Set it together with `kmin`.
        #[change = "Lower it towards `kmin` for a sharper threshold."]
        pub kmax: Option<Bytes> {1..=u64::MAX} = None => trigger = "queue";
        /// Probability that the sender of a frame is notified at `kmax`; `auto`: 1, without `kmax` as ECN.
        #[change = "A smaller value notifies fewer senders between the two lengths."]
        pub pmax: Option<f64> {0.0..=1.0} = None => trigger = "queue";
        /// U of a port above which senders are notified. U is the load with the queue counted in, as a share of the
        /// capacity.
        #[change = "Below 1 senders are notified before a queue grows."]
        pub bound: f64 {0.01..=100.0} = 1.0 => trigger = "utilisation";
        /// Time over which U is averaged; `auto`: twice the delay to the nearest host of `domain`, at least 10 us, at
        /// most the longest T. The queue counts in bytes of that time.
        #[change = "A shorter one notifies sooner; a longer one is smoother."]
        pub load_interval: Option<Nanos> {Nanos::MICROSECOND..=Nanos::LONGEST} = None => trigger = "utilisation";
        /// Least time between two notifications of a port about one flow.
        #[change = "A shorter one repeats sooner that congestion goes on, and costs packets; hosts ignore what comes \
            within `accept_interval`."]
        pub flow_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(50_000);
        /// Flows that a port remembers for `flow_interval`. A further one replaces the one that was notified longest ago,
        /// which may be notified early.
        #[change = "Lower it to study a switch with little memory; `forgotten` of the summary counts the cost."]
        pub flow_slots: u32 {1..=u32::MAX} = FLOW_SLOTS as u32;
        /// Mean time between two notifications of a port.
        #[change = "Raise it to bound the cost of notifications; senders beyond the limit are marked instead."]
        pub port_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos::MICROSECOND;
        /// How many notifications a port may send at once.
        #[change = "Raise it for incasts."]
        pub port_burst: u32 {1..=u32::MAX} = 16;
        /// Whether the frame of a notification is also marked (ECN) while its sender is not known to understand
        /// notifications.
        #[change = "Turn it off to rely on notifications alone; senders that ignore them then hear nothing until their \
            host has answered."]
        pub mark_unknown: bool = true;
        /// Whether frames between two notifications about a flow are marked where the sender understands notifications.
        /// All other frames without a notification are marked in any case.
        #[change = "Turn it off to let such senders hear of congestion once in `flow_interval`."]
        pub mark_between: bool = true;
        /// How many senders that do not understand notifications a switch remembers.
        #[change = "Lower it to study a switch with little memory, which asks the same senders again."]
        pub sender_slots: u32 {1..=u32::MAX} = SENDER_SLOTS as u32;
        /// Senders that may be notified. None, all, hosts, or numbers and ranges.
        #[change = "Name fewer to keep notifications within a part of the network; senders outside are marked."]
        pub domain: String = "hosts".to_string();
        /// Directions in which the links of `borders` are closed to notifications: `inbound`, `outbound`, or `both`, as the
        /// draft demands.
        #[change = "Change it to study a border that lets notifications out, or in."]
        pub border_side: BorderSide = BorderSide::Both;
        /// Senders that switches know from the start to understand notifications; `auto`: all hosts but `incapable`.
        #[change = "Name fewer to see switches learn it from the answers of hosts."]
        pub capable: Option<String> = None;
    }
}

crate::settings! {
    /// A host's settings of Fast CNP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FastCnpHostSettings {
        /// Nodes whose notifications are accepted. None, all, hosts, switches, or numbers and ranges.
        #[change = "Take `all` where receivers notify (`transport.congestion_notification`); name fewer against forged \
            ones."]
        pub accept_from: String = "switches".to_string();
        /// Least time between two reactions of a flow to notifications.
        #[change = "A longer one bounds the effect of many or forged notifications; a shorter one reacts to each."]
        pub accept_interval: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(10_000);
        /// Whether a flow changes its UDP source port, and so perhaps its path, when one switch keeps notifying.
        #[change = "Turn it on where there are several paths; packets that are overtaken may be sent again."]
        pub migrate: bool = false;
        /// How many notifications of one switch within `migrate_within` make a flow change its port.
        #[change = "A smaller value leaves a busy path sooner, also for short bursts."]
        pub migrate_after: u32 {1..=u32::MAX} = 5 => migrate = "true";
        /// Time within which these notifications have to come.
        #[change = "Keep it above `migrate_after` times the interval of notifications, or flows never move."]
        pub migrate_within: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(500_000) => migrate = "true";
        /// Least time between two changes of a flow's port; it doubles with each change in vain.
        #[change = "A longer one keeps flows from wandering."]
        pub migrate_hold: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos::MILLISECOND => migrate = "true";
        /// Longest time to which `migrate_hold` grows, and at least that; `auto`: 64 ms.
        #[change = "Lower it so that flows keep trying; raise it to let them settle."]
        pub migrate_max_hold: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None => migrate = "true";
    }
}

/// U over less than this rises with any burst, unless it is set.
const LEAST_LOAD_INTERVAL: Nanos = Nanos(10_000);

/// The longest hold, unless it is set.
const MAX_HOLD: Nanos = Nanos(64_000_000);

impl FastCnpSettings {
    /// Checks whether frames can carry notifications.
    ///
    /// # Errors
    /// If they are not over IPv6.
    pub fn check(&self, wire: WireProfile) -> Result<(), Conflict> {
        if self.enabled && wire != WireProfile::RoceV6 {
            let message = "Fast CNP is over IPv6; expected wire.profile = \"rocev2_ipv6\"";
            return Err(Conflict::new("enabled", message.into()));
        }
        Ok(())
    }

    /// The hosts that understand notifications; none where the feature is off.
    ///
    /// # Errors
    /// If the incapable ones are no set of hosts.
    pub fn notified(&self, network: &Network) -> Result<NodeSet, Conflict> {
        let incapable = nodes("incapable", &self.incapable, network, true)?;
        Ok(if self.enabled { NodeSet::hosts(network).without(&incapable) } else { NodeSet::default() })
    }

    /// The types of the options.
    pub fn types(&self) -> OptionTypes {
        // Never the default: the declared range holds valid codes only, whose upper bits are 100.
        let of = |code| OptionType::new(code).unwrap_or(OptionType::EXPERIMENTAL);
        OptionTypes { destination: of(self.option_type), trace: of(self.trace_option_type) }
    }
}

/// Reads a set of nodes, of hosts only where `hosts` says so: all are all hosts then.
fn nodes(key: &'static str, text: &str, network: &Network, hosts: bool) -> Result<NodeSet, Conflict> {
    let named = if hosts { NodeSet::parse_hosts(text, network) } else { NodeSet::parse(text, network) };
    named.map_err(|message| Conflict::new(key, message))
}

impl FastCnpSwitchSettings {
    /// The thresholds of its own for a port of this rate, if there are any.
    ///
    /// # Errors
    /// If only some of them are given, or contradict each other.
    pub fn threshold(&self, rate: BitRate) -> Result<Option<EcnThreshold>, Conflict> {
        let refuse = |key, message: &str| Err(Conflict::new(key, message.into()));
        let (kmin, kmax) = match (self.kmin, self.kmax) {
            (None, None) if self.pmax.is_some() => {
                return refuse("pmax", "pmax without kmin and kmax; expected all three");
            }
            (None, None) => return Ok(None),
            (Some(_), None) => return refuse("kmin", "kmin without kmax; expected both"),
            (None, Some(_)) => return refuse("kmax", "kmax without kmin; expected both"),
            (Some(Bytes(kmin)), Some(Bytes(kmax))) => (kmin, kmax),
        };
        if kmin > kmax {
            let message = format!("kmax is {kmax} bytes; expected more than 0 and at least kmin, {kmin}");
            return Err(Conflict::new("kmax", message));
        }
        let threshold = EcnThreshold { rate: BitRate::gbps(100), kmin, kmax, pmax: self.pmax.unwrap_or(1.0) };
        Ok(Some(threshold.scaled(rate)))
    }

    /// The trigger of a port with these ECN thresholds; `marks` says whether the switch marks by them.
    ///
    /// # Errors
    /// As [`FastCnpSwitchSettings::threshold`].
    pub fn trigger(&self, ecn: &EcnThreshold, marks: bool) -> Result<Trigger, Conflict> {
        match self.trigger {
            TriggerKind::Queue => Ok(match self.threshold(ecn.rate)? {
                Some(own) => Trigger::Queue(own),
                None if marks => Trigger::Mark,
                None => Trigger::Queue(*ecn),
            }),
            TriggerKind::Utilisation => Ok(Trigger::Utilisation(self.bound)),
        }
    }

    /// The time over which switch `node` averages U. A notification saves the distance between the switch and the receiver: an
    /// average over the whole round trip would take that time again. `longest` is the network's longest.
    ///
    /// # Errors
    /// If the domain is no set of nodes.
    pub fn load_interval(&self, node: u32, network: &Network, longest: Nanos) -> Result<Nanos, Conflict> {
        if self.load_interval.is_some() || self.trigger != TriggerKind::Utilisation {
            return Ok(self.load_interval.unwrap_or(longest));
        }
        let nearest = network.nearest(node, &nodes("domain", &self.domain, network, true)?);
        Ok(nearest.map_or(longest, |delay| (delay + delay).max(LEAST_LOAD_INTERVAL).min(longest)))
    }

    /// The configuration of a switch's generators, without their triggers.
    ///
    /// # Errors
    /// If a set of nodes is none.
    pub fn generator(&self, common: &FastCnpSettings, network: &Network) -> Result<GeneratorConfig, Conflict> {
        Ok(GeneratorConfig {
            enabled: common.enabled,
            domain: nodes("domain", &self.domain, network, true)?.host_addresses(network),
            flow_interval: self.flow_interval,
            port_limit: RateLimit { interval: self.port_interval, burst: self.port_burst },
            flow_slots: self.flow_slots as usize,
            mark_unknown: self.mark_unknown,
            mark_between: self.mark_between,
            trigger: Trigger::Mark,
        })
    }

    /// A switch's knowledge of senders at the start.
    ///
    /// # Errors
    /// If a set of nodes is none.
    pub fn capability(&self, common: &FastCnpSettings, network: &Network) -> Result<CapabilityConfig, Conflict> {
        let capable = match &self.capable {
            Some(text) => nodes("capable", text, network, true)?,
            None => common.notified(network)?,
        };
        Ok(CapabilityConfig {
            capable: capable.host_addresses(network),
            types: common.types(),
            slots: self.sender_slots as usize,
            ..CapabilityConfig::default()
        })
    }
}

impl FastCnpHostSettings {
    /// Nodes whose notifications are accepted.
    ///
    /// # Errors
    /// If they are no set of nodes.
    pub fn sources(&self, network: &Network) -> Result<NodeSet, Conflict> {
        nodes("accept_from", &self.accept_from, network, false)
    }

    /// The configuration of the acceptor of host `node`. Where the feature is off it lists no sources, for many hosts
    /// take long.
    ///
    /// # Errors
    /// If a set of nodes is none.
    pub fn acceptor(&self, common: &FastCnpSettings, node: u32, network: &Network) -> Result<AcceptorConfig, Conflict> {
        let off = AcceptorConfig {
            enabled: false,
            sources: AddressSet::default(),
            types: common.types(),
            interval: self.accept_interval,
        };
        if !common.enabled {
            return Ok(off);
        }
        let enabled = common.notified(network)?.contains(node);
        Ok(AcceptorConfig { enabled, sources: self.sources(network)?.addresses(), ..off })
    }

    /// Checks whether every sender accepts the receivers' notifications in place of an echo.
    ///
    /// # Errors
    /// If some do not: marks would have no effect.
    pub fn check_receivers(&self, common: &FastCnpSettings, network: &Network) -> Result<(), Conflict> {
        let hosts = NodeSet::hosts(network);
        let accepted = self.sources(network)?;
        let all = common.notified(network)? == hosts && hosts.iter().all(|host| accepted.contains(host));
        let message = "receivers send Fast CNPs that some senders do not accept; expected fast_cnp.enabled = true, no \
                       incapable hosts, and fast_cnp.accept_from = \"all\"";
        if all { Ok(()) } else { Err(Conflict::new("congestion_notification", message.into())) }
    }

    /// When flows take other ports.
    pub fn migration(&self) -> MigrationConfig {
        MigrationConfig {
            enabled: self.migrate,
            notifications: self.migrate_after,
            within: self.migrate_within,
            hold: self.migrate_hold,
            max_hold: self.migrate_max_hold.unwrap_or(MAX_HOLD).max(self.migrate_hold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Link;
    use crate::topology::NodeKind::{Host, Switch};

    /// Hosts 0, 1 and 2, switch 3.
    fn network() -> Network {
        crate::testing::network(3, 1, &[])
    }

    fn nodes(text: &str) -> NodeSet {
        NodeSet::parse(text, &network()).expect(text)
    }

    fn common(incapable: &str) -> FastCnpSettings {
        FastCnpSettings { enabled: true, incapable: incapable.into(), ..FastCnpSettings::default() }
    }

    fn blamed<T>(result: Result<T, Conflict>) -> Result<T, &'static str> {
        result.map_err(|conflict| conflict.key)
    }

    #[test]
    fn notifications_need_ipv6() {
        for (enabled, wire, expected) in [
            (true, WireProfile::RoceV6, Ok(())),
            (true, WireProfile::RoceV4, Err("enabled")),
            (false, WireProfile::RoceV4, Ok(())),
            (false, WireProfile::RoceV6, Ok(())),
        ] {
            assert_eq!(blamed(FastCnpSettings { enabled, ..FastCnpSettings::default() }.check(wire)), expected);
        }
    }

    #[test]
    fn hosts_but_the_incapable_are_notified() {
        assert_eq!(blamed(common("1").notified(&network())), Ok(nodes("0,2")));
        let off = FastCnpSettings { enabled: false, ..common("1") };
        assert_eq!(blamed(off.notified(&network())), Ok(nodes("none")));
        assert_eq!(blamed(common("all").notified(&network())), Ok(nodes("none")));
        assert_eq!(blamed(common("3").notified(&network())), Err("incapable"), "a switch");
        assert_eq!(blamed(common("4").notified(&network())), Err("incapable"), "nobody");
    }

    #[test]
    fn thresholds_are_given_whole_and_scaled() {
        let of = |kmin: Option<u64>, kmax: Option<u64>, pmax| {
            let settings =
                FastCnpSwitchSettings { kmin: kmin.map(Bytes), kmax: kmax.map(Bytes), pmax, ..Default::default() };
            blamed(settings.threshold(BitRate::gbps(200)))
        };
        let threshold = |kmin, kmax, pmax| Ok(Some(EcnThreshold { rate: BitRate::gbps(200), kmin, kmax, pmax }));
        assert_eq!(of(None, None, None), Ok(None));
        assert_eq!(of(None, None, Some(0.5)), Err("pmax"));
        assert_eq!((of(Some(5), None, None), of(None, Some(5), None)), (Err("kmin"), Err("kmax")));
        assert_eq!(
            (of(Some(5), Some(9), None), of(Some(5), Some(5), Some(0.5))),
            (threshold(10, 18, 1.0), threshold(10, 10, 0.5))
        );
        assert_eq!(of(Some(6), Some(5), None), Err("kmax"));
    }

    #[test]
    fn congestion_is_a_mark_where_switches_mark_and_no_thresholds_are_given() {
        let ecn = EcnThreshold { rate: BitRate::gbps(100), kmin: 400, kmax: 1_600, pmax: 0.2 };
        let usual = FastCnpSwitchSettings::default();
        assert_eq!(blamed(usual.trigger(&ecn, true)), Ok(Trigger::Mark));
        assert_eq!(blamed(usual.trigger(&ecn, false)), Ok(Trigger::Queue(ecn)));
        let own = FastCnpSwitchSettings { kmin: Some(Bytes(5)), kmax: Some(Bytes(9)), ..usual.clone() };
        assert_eq!(
            blamed(own.trigger(&ecn, true)),
            Ok(Trigger::Queue(EcnThreshold { kmin: 5, kmax: 9, pmax: 1.0, ..ecn }))
        );
        let load = FastCnpSwitchSettings { trigger: TriggerKind::Utilisation, bound: 1.5, ..usual };
        assert_eq!(blamed(load.trigger(&ecn, true)), Ok(Trigger::Utilisation(1.5)));
    }

    /// Hosts at 1, 30 and 500 us from switch 4, and one 500 us further, behind switch 5, which host 2 is 7 us from.
    #[test]
    fn loads_are_averaged_over_the_way_to_the_nearest_sender() {
        let link = |a, b, us: u64| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(us * 1_000), loss: 0.0 };
        let links = alloc::vec![link(0, 4, 1), link(1, 4, 30), link(4, 5, 500), link(2, 5, 7), link(3, 5, 500)];
        let network = Network { nodes: alloc::vec![Host, Host, Host, Host, Switch, Switch], links };
        let interval = |node, domain: &str, longest: u64| {
            let settings = FastCnpSwitchSettings {
                domain: domain.into(),
                trigger: TriggerKind::Utilisation,
                ..FastCnpSwitchSettings::default()
            };
            settings.load_interval(node, &network, Nanos(longest * 1_000)).map(|interval| interval.0 / 1_000)
        };
        for (node, domain, longest, expected) in [
            (4, "hosts", 3_000, 10),
            (4, "hosts", 8, 8),
            (4, "1-3", 3_000, 60),
            (5, "hosts", 3_000, 14),
            (5, "0", 3_000, 1_002),
            (5, "none", 3_000, 3_000),
        ] {
            assert_eq!(interval(node, domain, longest), Ok(expected), "{node} {domain} {longest}");
        }
        let set = FastCnpSwitchSettings { load_interval: Some(Nanos(7)), ..FastCnpSwitchSettings::default() };
        assert_eq!(set.load_interval(4, &network, Nanos(9)), Ok(Nanos(7)));
    }

    #[test]
    fn a_domain_is_of_hosts() {
        for (domain, expected) in [("0,1", Ok(nodes("0,1").host_addresses(&network()))), ("switches", Err("domain"))] {
            let settings = FastCnpSwitchSettings { domain: domain.into(), ..FastCnpSwitchSettings::default() };
            assert_eq!(blamed(settings.generator(&common("none"), &network())).map(|config| config.domain), expected);
        }
    }

    #[test]
    fn switches_know_whom_they_are_told_of_or_all_but_the_incapable() {
        let types = FastCnpSettings { option_type: 0x8a, ..common("1") };
        let of = |capable: Option<&str>| {
            let settings =
                FastCnpSwitchSettings { capable: capable.map(Into::into), ..FastCnpSwitchSettings::default() };
            blamed(settings.capability(&types, &network()))
        };
        for (capable, expected) in [(None, "0,2"), (Some("1"), "1")] {
            let config = CapabilityConfig {
                capable: nodes(expected).host_addresses(&network()),
                types: types.types(),
                ..CapabilityConfig::default()
            };
            assert_eq!(of(capable), Ok(config));
        }
        assert_eq!(of(Some("3")), Err("capable"));
    }

    #[test]
    fn receivers_may_notify_where_all_senders_accept_it() {
        let check = |accept_from: &str, common| {
            let settings = FastCnpHostSettings { accept_from: accept_from.into(), ..Default::default() };
            blamed(settings.check_receivers(&common, &network()))
        };
        let refused = Err("congestion_notification");
        assert_eq!((check("all", common("none")), check("hosts", common("none"))), (Ok(()), Ok(())));
        assert_eq!((check("switches", common("none")), check("all", common("1"))), (refused, refused));
        assert_eq!(check("all", FastCnpSettings::default()), refused, "off");
    }
}
