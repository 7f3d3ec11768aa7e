// SPDX-License-Identifier: GPL-2.0-only
//! `DSCP_TO_TC_MAP` beside packets of a simulation, whose DSCP follows from their priority.

use hpcc_core::cc::Reads;
use hpcc_core::fast_cnp::packet::DSCP as OF_NOTIFICATIONS;
use hpcc_core::frame::Encapsulation;
use hpcc_core::node::NodeSettings;
use hpcc_core::simulated_frame::dscp;
use hpcc_core::transport::CongestionNotification;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const TABLE: &str = "DSCP_TO_TC_MAP";
/// Priorities with a counterpart.
const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=7;

/// The DSCPs that frames of a scenario have.
pub(super) struct Dscps {
    /// What is added to that of a priority where packets carry telemetry.
    mark: Option<u8>,
    /// That of receivers' notifications of congestion, if they have their own, and their priority.
    cnp: Option<(u8, u8)>,
    /// Whether frames ahead of all have one of a priority.
    has_notifications: bool,
}

impl Dscps {
    pub fn of(settings: &NodeSettings) -> Dscps {
        let carries = settings.needs().reads != Reads::Nothing;
        let mark = match settings.layout.config(false).encapsulation() {
            Some(Encapsulation::Marked { mark }) if carries => Some(mark),
            _ => None,
        };
        let transport = &settings.transport;
        let has_packets = transport.congestion_notification == CongestionNotification::Packet;
        let priority = transport.cnp_priority.unwrap_or(0);
        let has_notifications = transport.congestion_notification == CongestionNotification::FastCnp
            || has_packets && priority == 0 && transport.cnp_dscp.is_none();
        let cnp = transport.cnp_dscp.filter(|_| has_packets).map(|dscp| (dscp, priority));
        Dscps { mark, cnp, has_notifications }
    }

    /// DSCPs and the traffic class of each.
    pub fn of_classes(&self) -> impl Iterator<Item = (u8, u8)> {
        let plain = (0..=*PRIORITIES.end()).map(|class| (dscp(class), class));
        let marked = self
            .mark
            .into_iter()
            .flat_map(|mark| (0..=*PRIORITIES.end()).map(move |class| (dscp(class) | mark, class)));
        // In the order of numbers, each once: a class keeps its own.
        self.cnp.into_iter().chain(plain).chain(marked).collect::<BTreeMap<_, _>>().into_iter()
    }

    /// DSCPs that no map can have in the right class.
    pub fn amiss(&self) -> Vec<String> {
        let of_others = self.cnp.filter(|cnp| !self.of_classes().any(|known| known == *cnp));
        let of_others =
            of_others.map(|(dscp, _)| format!("DSCP {dscp} of CNPs (transport.cnp_dscp) is that of a class"));
        let ahead = self.has_notifications.then(|| {
            format!("notifications with DSCP {OF_NOTIFICATIONS} go ahead of all here; {TABLE} has them in class 6")
        });
        of_others.into_iter().chain(ahead).collect()
    }
}

/// What is assumed in place of the maps; nothing if each of them says the same.
pub(super) fn assumed(maps: &Value) -> Option<String> {
    let usual = format!("{TABLE}: not read; flows name their priority, which is the traffic class");
    let Some(maps) = maps.as_object() else { return Some(usual) };
    let (map, priority, class) = maps.iter().find_map(|(name, map)| {
        let (priority, class) = PRIORITIES.map(|priority| (priority, class_of(map, priority))).find(differs)?;
        Some((name, priority, class.unwrap_or("none")))
    })?;
    Some(format!("{usual}, while {map} maps the DSCP of priority {priority}, {}, to {class}", dscp(priority)))
}

/// The class that a map gives to packets of a priority.
fn class_of(map: &Value, priority: u8) -> Option<&str> {
    map.get(dscp(priority).to_string())?.as_str()
}

fn differs(&(priority, class): &(u8, Option<&str>)) -> bool {
    class != Some(priority.to_string().as_str())
}
