// SPDX-License-Identifier: GPL-2.0-only
//! `DSCP_TO_TC_MAP` beside packets of a simulation, whose DSCP follows from their priority.

use hpcc_core::simulated_frame::dscp;
use serde_json::Value;

pub(super) const TABLE: &str = "DSCP_TO_TC_MAP";
/// Priorities with a counterpart.
const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=7;

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
