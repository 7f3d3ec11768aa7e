// SPDX-License-Identifier: GPL-2.0-only
//! What SONiC's queues mark, and which priorities its ports pause.

use super::{Database, gbps, number, reference, whole};
use std::collections::{BTreeMap, BTreeSet};
use toml::Value as Toml;

/// What marks are by.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The same thresholds for all that is marked, at each rate.
    pub thresholds: Option<Toml>,
    /// What single priorities have in their place, as `class_ecn` has it.
    pub classes: Vec<String>,
}

/// Thresholds in bytes, and a probability in percent.
type Wred = (u64, u64, u64);
type ByPriority = BTreeMap<u8, BTreeSet<Wred>>;

impl Database<'_> {
    /// Which priorities are marked, and when: only queues with a WRED profile that marks are. A configuration without
    /// queues and profiles says nothing of it.
    pub fn marks(&self, left_out: &mut Vec<String>) -> Result<Marks, String> {
        if self.table("QUEUE").chain(self.table("WRED_PROFILE")).next().is_none() {
            left_out.push("there are neither QUEUE nor WRED_PROFILE: marks are those of the scenario".into());
            return Ok(Marks::default());
        }
        let rates: BTreeSet<u64> = self.rates()?.into_values().collect();
        let (by_priority, by_rate) = self.marked(left_out)?;
        let values: BTreeSet<Wred> = by_priority.values().flatten().copied().collect();
        let values: Vec<Wred> = values.into_iter().collect();
        // One for each rate.
        let of_rates: Option<Vec<(u64, Wred)>> = by_rate
            .iter()
            .map(|(&rate, own)| own.first().filter(|_| own.len() == 1).map(|&wred| (rate, wred)))
            .collect();
        let mut marks = Marks::default();
        let unmarked = (1..8).filter(|priority| !by_priority.contains_key(priority));
        marks.classes.extend(unmarked.map(|priority| format!("{priority}:none")));
        if !values.is_empty() && rates.is_empty() {
            return Err("WRED_PROFILE marks by the speeds of ports, and no PORT has one; expected speed".into());
        }
        match (&values[..], rates.first()) {
            ([wred], _) => {
                let of_rate = |rate: &u64| thresholds_of(*rate, *wred);
                marks.thresholds = Some(Toml::Array(rates.iter().map(of_rate).collect()));
            }
            ([_, _, ..], Some(_)) if of_rates.as_ref().is_some_and(|of_rates| of_rates.len() == rates.len()) => {
                let of_rates = of_rates.into_iter().flatten();
                marks.thresholds = Some(Toml::Array(of_rates.map(|(rate, wred)| thresholds_of(rate, wred)).collect()));
            }
            ([_, _, ..], Some(&rate)) if rates.len() == 1 && by_priority.values().all(|own| own.len() == 1) => {
                // Thresholds of priorities are told for 100 Gb/s, and scaled to the rate of a port.
                let scaled = |bytes: u64| (u128::from(bytes) * 100_000).div_ceil(u128::from(rate.max(1)));
                let own = by_priority.iter().flat_map(|(priority, own)| own.iter().map(move |wred| (priority, wred)));
                marks.classes.extend(own.map(|(priority, &(kmin, kmax, percent))| {
                    format!("{priority}:{} {} {}", scaled(kmin), scaled(kmax), percent as f64 / 100.0)
                }));
            }
            ([_, _, ..], _) => left_out.push(
                "WRED_PROFILE: queues of one number, or ports of several speeds, have several: marks are those of the \
                 scenario; give class_ecn yourself"
                    .into(),
            ),
            _ => {}
        }
        Ok(marks)
    }

    /// The thresholds of each priority that is marked, and those of the ports of each rate.
    fn marked(&self, left_out: &mut Vec<String>) -> Result<(ByPriority, BTreeMap<u64, BTreeSet<Wred>>), String> {
        let rates = self.rates()?;
        let mut by_rate: BTreeMap<u64, BTreeSet<Wred>> = BTreeMap::new();
        let profiles: BTreeMap<&str, _> = self.table("WRED_PROFILE").map(|(name, row)| (name.as_str(), row)).collect();
        let mut by_priority = ByPriority::new();
        let mut ports_of: BTreeMap<u8, BTreeSet<&str>> = BTreeMap::new();
        let mut silent: BTreeSet<String> = BTreeSet::new();
        for (key, row) in self.table("QUEUE") {
            let Some(name) = reference(row, "wred_profile").filter(|name| !name.is_empty()) else { continue };
            let (ports, queues) = self.ports("QUEUE", key)?;
            let Some(profile) = profiles.get(name) else {
                return Err(format!("QUEUE|{key}: WRED_PROFILE has no {name}; expected one that is there"));
            };
            let wrong = |wrong| format!("WRED_PROFILE|{name}: {wrong}");
            if let Err(why) = marks_green(profile).map_err(wrong)? {
                silent.insert(format!(
                    "WRED_PROFILE|{name}: {why}: its queues mark nothing, and drop nothing early here"
                ));
                continue;
            }
            let wred = wred(profile).map_err(wrong)?;
            for queue in queues.filter(|queue| *queue > 0) {
                by_priority.entry(queue).or_default().insert(wred);
                ports_of.entry(queue).or_default().extend(&ports);
                let rates = ports.iter().filter_map(|port| rates.get(port));
                rates.for_each(|&rate| _ = by_rate.entry(rate).or_default().insert(wred));
            }
        }
        left_out.extend(silent);
        let all = self.table("PORT").count();
        let in_part = ports_of.iter().filter(|(_, ports)| ports.len() < all).map(|(priority, _)| priority.to_string());
        let in_part = in_part.collect::<Vec<_>>().join(", ");
        if !in_part.is_empty() {
            left_out.push(format!(
                "QUEUE: queues {in_part} have a wred_profile at some ports only; those of all mark here"
            ));
        }
        Ok((by_priority, by_rate))
    }

    /// Priorities that ports pause; `None` if no port says it.
    pub fn paused(&self, left_out: &mut Vec<String>) -> Result<Option<BTreeSet<u8>>, String> {
        let mut by_port: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
        for (key, row) in self.table("PORT_QOS_MAP") {
            let ports: Vec<&str> = key.split(',').filter(|port| *port != "global").collect();
            ports.iter().try_for_each(|port| self.check_port("PORT_QOS_MAP", key, port))?;
            let Some(given) = row.get("pfc_enable") else { continue };
            let number = |text: &str| text.trim().parse().ok().filter(|priority| *priority < 8_u8);
            let numbers = given.as_str().map(|text| text.split(',').filter(|text| !text.trim().is_empty()));
            let numbers: Option<BTreeSet<u8>> = numbers.and_then(|numbers| numbers.map(number).collect());
            let numbers = numbers.ok_or_else(|| {
                format!("PORT_QOS_MAP|{key}: pfc_enable is {given}; expected priorities such as \"3,4\"")
            })?;
            by_port.extend(ports.into_iter().map(|port| (port, numbers.clone())));
        }
        if by_port.is_empty() {
            left_out.push("no PORT_QOS_MAP has pfc_enable: all groups with xoff pause their senders here".into());
            return Ok(None);
        }
        let all: BTreeSet<u8> = by_port.values().flatten().copied().collect();
        if by_port.len() < self.table("PORT").count() || by_port.values().any(|own| *own != all) {
            let message =
                format!("PORT_QOS_MAP: pfc_enable is not the same at all ports; here all pause {}", listed(&all));
            left_out.push(message);
        }
        Ok(Some(all))
    }

    /// The map of traffic classes that ports name.
    pub fn map_of_groups(&self, left_out: &mut Vec<String>) -> Result<Option<&str>, String> {
        let mut named: BTreeSet<&str> = BTreeSet::new();
        let known: Vec<&str> = self.table("TC_TO_PRIORITY_GROUP_MAP").map(|(name, _)| name.as_str()).collect();
        for (key, row) in self.table("PORT_QOS_MAP") {
            let Some(name) = reference(row, "tc_to_pg_map") else { continue };
            if !known.contains(&name) {
                return Err(format!(
                    "PORT_QOS_MAP|{key}: TC_TO_PRIORITY_GROUP_MAP has no {name}, its tc_to_pg_map; expected one that is there"
                ));
            }
            named.insert(name);
        }
        let (candidates, why) = if named.is_empty() {
            (known, "there are several, and no PORT_QOS_MAP names one")
        } else {
            (named.into_iter().collect(), "ports name several")
        };
        if let [first, _, ..] = candidates[..] {
            left_out.push(format!("TC_TO_PRIORITY_GROUP_MAP: {why}; {first} holds at all ports here"));
        }
        Ok(candidates.first().copied())
    }
}

/// Priorities with commas between.
pub(super) fn listed(priorities: &BTreeSet<u8>) -> String {
    match priorities.iter().map(u8::to_string).collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "none".into(),
        list => list,
    }
}

/// Whether a profile marks what is green, as all packets are here; else why it does not.
fn marks_green(row: &super::Row) -> Result<Result<(), String>, String> {
    let text = |key: &str| row.get(key).and_then(|value| value.as_str());
    if text("wred_green_enable") == Some("false") {
        return Ok(Err("wred_green_enable is false".into()));
    }
    match text("ecn") {
        Some("ecn_all" | "ecn_green" | "ecn_green_yellow" | "ecn_green_red") => Ok(Ok(())),
        Some(other @ ("ecn_none" | "ecn_yellow" | "ecn_red" | "ecn_yellow_red")) => Ok(Err(format!("ecn is {other}"))),
        None => Ok(Err("there is no ecn".into())),
        Some(other) => Err(format!("ecn is {other}; expected such as ecn_all or ecn_none")),
    }
}

fn wred(row: &super::Row) -> Result<Wred, String> {
    let given = |key: &str| number(row, key)?.ok_or_else(|| format!("{key} is missing; expected bytes"));
    let (kmin, kmax) = (given("green_min_threshold")?, given("green_max_threshold")?);
    if kmin > kmax {
        return Err(format!("green_min_threshold is {kmin}; expected at most green_max_threshold, {kmax}"));
    }
    let percent = number(row, "green_drop_probability")?.unwrap_or(100);
    if percent > 100 {
        return Err(format!("green_drop_probability is {percent}; expected 0 to 100"));
    }
    Ok((kmin, kmax, percent))
}

fn thresholds_of(rate: u64, (kmin, kmax, percent): Wred) -> Toml {
    let pmax = Toml::Float(percent as f64 / 100.0);
    let pairs = [("rate", gbps(rate)), ("kmin", whole(kmin)), ("kmax", whole(kmax)), ("pmax", pmax)];
    Toml::Table(pairs.map(|(key, value)| (key.to_string(), value)).into_iter().collect())
}
