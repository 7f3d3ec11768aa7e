// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nodes do about notifications by switches (Fast CNP), and about telemetry that leaves a domain.

use crate::address::{host_address, ipv6};
use crate::fast_cnp::{Address, Border, HostAgent, OptionTypes, PortConfig, SwitchAgent};
use crate::frame::Encapsulation;
use crate::node::{Located, NodeSettings, TelemetryBorder, in_section};
use crate::recurrence::recurs;
use crate::switch::source_pause::SourcePauses;
use crate::topology::Network;
use crate::transport::CongestionNotification;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What a switch does besides forwarding.
pub(super) struct SwitchExtras {
    pub border: Option<TelemetryBorder>,
    pub agent: Option<Box<Notifier>>,
    /// Its load balancer hears of every frame.
    pub tags: bool,
    /// Whom it has asked to pause, if it asks.
    pub source_pauses: Option<SourcePauses>,
}

/// What a switch does about Fast CNP.
pub(super) struct Notifier {
    pub agent: SwitchAgent,
    pub is_enabled: bool,
    pub border: Border,
    /// Ports to the outside of the domain; bits of a list.
    pub outside: Vec<bool>,
    pub encapsulation: Option<Encapsulation>,
}

/// What a host does about Fast CNP.
pub(super) struct HostNotices {
    pub agent: HostAgent,
    pub is_enabled: bool,
    /// As a receiver.
    pub notifies: bool,
    pub has_bytes: bool,
    pub address: Address,
    pub types: OptionTypes,
    pub encapsulation: Option<Encapsulation>,
}

impl SwitchExtras {
    /// The extras of a switch, if there are any.
    pub fn new(
        network: &Network,
        node: u32,
        settings: &NodeSettings,
        ports: &[(BitRate, Nanos)],
        outside: Vec<bool>,
        base_rtt: Nanos,
    ) -> Result<Option<Box<SwitchExtras>>, Located> {
        let own = &settings.fast_cnp_switch;
        let is_enabled = settings.fast_cnp.enabled;
        let border = settings.border(node, network, is_enabled)?;
        let agent = if is_enabled || outside.contains(&true) {
            let port = |&(rate, _): &(BitRate, Nanos)| {
                let trigger = own.trigger(&settings.ecn_threshold(rate), settings.switch.ecn)?;
                Ok(PortConfig { rate, trigger })
            };
            let located = in_section("fast_cnp");
            let ports = ports.iter().map(port).collect::<Result<Vec<_>, _>>().map_err(&located)?;
            let generator = own.generator(&settings.fast_cnp, network).map_err(&located)?;
            let capability = own.capability(&settings.fast_cnp, network).map_err(&located)?;
            let loopback = ipv6(host_address(node));
            let interval = own.load_interval(node, network, base_rtt).map_err(&located)?;
            Some(Box::new(Notifier {
                agent: SwitchAgent::new(loopback, &generator, capability, &ports, interval),
                is_enabled,
                border: Border::new(settings.fast_cnp.types(), own.border_side),
                outside,
                encapsulation: settings.layout().encapsulation(),
            }))
        } else {
            None
        };
        // They are everywhere, or nowhere.
        let tags = settings.load_balancing.tags();
        let source_pauses = settings.switch.source_pause.map(|threshold| SourcePauses::new(threshold.0));
        let has_any = border.is_some() || agent.is_some() || tags || source_pauses.is_some();
        Ok(has_any.then(|| Box::new(SwitchExtras { border, agent, tags, source_pauses })))
    }
}

impl SwitchExtras {
    /// The agent of Fast CNP and the edge of its domain.
    pub fn agents(&self) -> Option<(&SwitchAgent, &Border)> {
        self.agent.as_ref().map(|notifier| (&notifier.agent, &notifier.border))
    }
}

impl HostNotices {
    pub fn new(network: &Network, node: u32, settings: &NodeSettings) -> Result<HostNotices, Located> {
        let own = &settings.fast_cnp_host;
        let acceptor = own.acceptor(&settings.fast_cnp, node, network).map_err(in_section("fast_cnp"))?;
        let address = ipv6(host_address(node));
        Ok(HostNotices {
            is_enabled: acceptor.enabled,
            agent: HostAgent::new(address, acceptor, own.migration()),
            notifies: settings.transport.congestion_notification == CongestionNotification::FastCnp,
            has_bytes: settings.wire.profile.is_real(),
            address,
            types: settings.fast_cnp.types(),
            encapsulation: settings.layout().encapsulation(),
        })
    }
}

recurs! {
    HostNotices {
        agent: constant,
        is_enabled: absent,
        notifies: absent,
        has_bytes: constant,
        address: constant,
        types: constant,
        encapsulation: constant,
    }
}
