// SPDX-License-Identifier: GPL-2.0-only
//! Congestion notifications by switches, as a scenario asks for them.

use hpcc_core::fast_cnp::{DetourConfig, OptionTypes, RateLimit};
use hpcc_core::units::Nanos;
use serde_json::{Value, json};

/// What congestion is to a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FastCnpTrigger {
    /// A queue for which a packet would be marked: by the switch's ECN thresholds.
    Marks,
    /// The same by thresholds of its own, for ports of 100 Gb/s; others scale them.
    Queue {
        /// Bytes up to which nobody is notified.
        kmin: u64,
        /// Bytes above which every packet counts, above 0 and at least `kmin`.
        kmax: u64,
        /// Probability at `kmax`.
        pmax: f64,
    },
    /// A U of the port above this.
    Utilisation(f64),
}

/// A switch's links to a node outside the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastCnpBorder {
    /// The switch.
    pub node: u32,
    /// The other node, to which it has a link.
    pub outside: u32,
}

/// Fast CNP in a network.
#[derive(Clone, Debug, PartialEq)]
pub struct FastCnp {
    /// Whether switches notify, and hosts believe them.
    pub enabled: bool,
    /// When switches notify.
    pub trigger: FastCnpTrigger,
    /// Least time between two notifications of a port about a flow.
    pub flow_interval: Nanos,
    /// Most notifications of a port.
    pub port_limit: RateLimit,
    /// Whether packets of senders that may not understand notifications are marked as well.
    pub mark_unknown: bool,
    /// Hosts that may be notified.
    pub domain: Vec<u32>,
    /// Hosts of which switches know that they understand notifications.
    pub capable: Vec<u32>,
    /// Hosts that do not.
    pub incapable: Vec<u32>,
    /// Nodes whose notifications hosts believe.
    pub accept_from: Vec<u32>,
    /// Least time between two reactions of a flow.
    pub accept_interval: Nanos,
    /// Types of the options.
    pub types: OptionTypes,
    /// The edge of the domain.
    pub borders: Vec<FastCnpBorder>,
    /// When flows take other paths.
    pub detour: DetourConfig,
}

impl FastCnp {
    /// Whether switches, hosts or borders have anything to do.
    pub fn is_on(&self) -> bool {
        self.enabled || !self.borders.is_empty()
    }

    /// What was understood; nothing where nobody has anything to do.
    pub(super) fn effective(&self) -> Option<Value> {
        if !self.is_on() {
            return None;
        }
        let trigger = match self.trigger {
            FastCnpTrigger::Marks => json!({ "by": "queue", "thresholds": "ecn" }),
            FastCnpTrigger::Queue { kmin, kmax, pmax } => {
                json!({ "by": "queue", "kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_probability": pmax })
            }
            FastCnpTrigger::Utilisation(bound) => json!({ "by": "utilisation", "bound": bound }),
        };
        let detour = &self.detour;
        Some(json!({
            "enabled": self.enabled,
            "trigger": trigger,
            "flow_interval_ns": self.flow_interval.0,
            "port_interval_ns": self.port_limit.interval.0,
            "port_burst": self.port_limit.burst,
            "mark_unknown": self.mark_unknown,
            "domain_hosts": self.domain.len(),
            "capable_hosts": self.capable.len(),
            "incapable": self.incapable,
            "accept_from": self.accept_from,
            "accept_interval_ns": self.accept_interval.0,
            "option_type": self.types.destination.code(),
            "trace_option_type": self.types.trace.code(),
            "borders": self.borders.iter().map(|border| [border.node, border.outside]).collect::<Vec<_>>(),
            "detour": detour.enabled.then(|| json!({
                "after": detour.notifications,
                "within_ns": detour.within.0,
                "hold_ns": detour.hold.0,
                "max_hold_ns": detour.max_hold.0,
            })),
        }))
    }
}

impl Default for FastCnp {
    /// Off (REQ-53), and with nobody on any list.
    fn default() -> Self {
        FastCnp {
            enabled: false,
            trigger: FastCnpTrigger::Marks,
            flow_interval: Nanos(50_000),
            port_limit: RateLimit { interval: Nanos::MICROSECOND, burst: 16 },
            mark_unknown: true,
            domain: Vec::new(),
            capable: Vec::new(),
            incapable: Vec::new(),
            accept_from: Vec::new(),
            accept_interval: Nanos(10_000),
            types: OptionTypes::default(),
            borders: Vec::new(),
            detour: DetourConfig::default(),
        }
    }
}
