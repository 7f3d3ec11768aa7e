// SPDX-License-Identifier: GPL-2.0-only
//! What SONiC's queues mark, and which priorities its ports pause.

use super::{Database, gbps, number, reference, whole};
use std::collections::{BTreeMap, BTreeSet};
use toml::Value as Toml;

/// What marks are by.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The thresholds of what has none of its own, at each rate.
    pub thresholds: Option<Toml>,
    /// What single priorities have in their place, as `class_ecn` has it.
    pub classes: Vec<String>,
}

/// Thresholds in bytes, and a probability in percent.
type Wred = (u64, u64, u64);
/// Of a priority, by the rate of ports.
type ByRate = BTreeMap<u64, Wred>;

impl Database<'_> {
    /// Which priorities are marked, and when: only queues with a WRED profile that marks are. A configuration without
    /// queues and profiles says nothing of it.
    pub fn marks(&self, left_out: &mut Vec<String>) -> Result<Marks, String> {
        if self.table("QUEUE").chain(self.table("WRED_PROFILE")).next().is_none() {
            left_out.push("there are neither QUEUE nor WRED_PROFILE: marks are those of the scenario".into());
            return Ok(Marks::default());
        }
        let rates: BTreeSet<u64> = self.rates()?.into_values().collect();
        let marked = self.marked(left_out)?;
        if !marked.is_empty() && rates.is_empty() {
            return Err("WRED_PROFILE marks by the speeds of ports, and no PORT has one; expected speed".into());
        }
        let mut marks = Marks::default();
        let unmarked = (1..8).filter(|priority| !marked.contains_key(priority));
        marks.classes.extend(unmarked.map(|priority| format!("{priority}:none")));
        let Some(common) = common(&marked) else { return Ok(marks) };
        let apart: Vec<(u8, &ByRate)> =
            marked.iter().filter(|(_, own)| !agree(own, common)).map(|(&priority, own)| (priority, own)).collect();
        for &(priority, own) in &apart {
            let Some((&rate, &wred)) = own.first_key_value() else { continue };
            let (kmin, kmax, percent) = at_100_gbps(rate, wred);
            marks.classes.push(format!("{priority}:{kmin} {kmax} {}", percent as f64 / 100.0));
            if !scales(own) {
                left_out.push(format!(
                    "WRED_PROFILE: of queues of class {priority} that of {} Gb/s, scaled, holds at all speeds, by which \
                     class_ecn cannot differ",
                    rate as f64 / 1_000.0
                ));
            }
        }
        // At speeds of which this priority has none, those of its lowest.
        let lowest = common.first_key_value().map(|(_, &wred)| wred);
        let of_rate = |&rate: &u64| Some(thresholds_of(rate, common.get(&rate).copied().or(lowest)?));
        marks.thresholds =
            (apart.len() < marked.len()).then(|| Toml::Array(rates.iter().filter_map(of_rate).collect()));
        Ok(marks)
    }

    /// The thresholds of each priority that is marked, by the rates of ports.
    fn marked(&self, left_out: &mut Vec<String>) -> Result<BTreeMap<u8, ByRate>, String> {
        let rates = self.rates()?;
        let profiles: BTreeMap<&str, _> = self.table("WRED_PROFILE").map(|(name, row)| (name.as_str(), row)).collect();
        let classes = self.classes_of_queues(&mut Vec::new())?;
        let mut found: BTreeMap<u8, BTreeMap<u64, BTreeMap<Wred, BTreeSet<&str>>>> = BTreeMap::new();
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
            for class in queues.filter_map(|queue| classes.get(&queue)).flatten().filter(|class| **class > 0) {
                let by_rate = found.entry(*class).or_default();
                for port in &ports {
                    let rate = rates.get(port).copied().unwrap_or(0);
                    by_rate.entry(rate).or_default().entry(wred).or_default().insert(port);
                }
            }
        }
        left_out.extend(silent);
        let all = self.table("PORT").count();
        let ports = |by_rate: &BTreeMap<u64, BTreeMap<Wred, BTreeSet<&str>>>| {
            by_rate.values().flat_map(BTreeMap::values).flatten().copied().collect::<BTreeSet<_>>().len()
        };
        let note =
            |of: Vec<String>, what: &str| (!of.is_empty()).then(|| format!("QUEUE: queues {} {what}", of.join(", ")));
        let in_part = found.iter().filter(|(_, by_rate)| ports(by_rate) < all).map(|(class, _)| class.to_string());
        left_out.extend(note(in_part.collect(), "have a wred_profile at some ports only; those of all mark here"));
        let several = |by_rate: &BTreeMap<u64, BTreeMap<Wred, _>>| by_rate.values().any(|by_wred| by_wred.len() > 1);
        let unlike = found.iter().filter(|(_, by_rate)| several(by_rate)).map(|(class, _)| class.to_string());
        left_out.extend(note(
            unlike.collect(),
            "have several wred_profiles at ports of one speed; that of most of these holds at all here",
        ));
        let usual = |by_wred: BTreeMap<Wred, BTreeSet<&str>>| {
            by_wred.into_iter().max_by_key(|(_, ports)| ports.len()).map(|(wred, _)| wred)
        };
        let of_class = |by_rate: BTreeMap<u64, _>| {
            by_rate.into_iter().filter_map(|(rate, by_wred)| Some((rate, usual(by_wred)?))).collect()
        };
        Ok(found.into_iter().map(|(class, by_rate)| (class, of_class(by_rate))).collect())
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

/// The thresholds that hold for what has none of its own: those that leave fewest priorities that cannot be told apart.
fn common(marked: &BTreeMap<u8, ByRate>) -> Option<&ByRate> {
    let cannot = |common: &ByRate| {
        let apart = marked.values().filter(|own| !agree(own, common));
        (apart.clone().filter(|own| !scales(own)).count(), apart.count())
    };
    marked.values().min_by_key(|common| cannot(common))
}

/// Whether two priorities are marked alike at each rate.
fn agree(own: &ByRate, common: &ByRate) -> bool {
    own.iter().all(|(rate, wred)| common.get(rate) == Some(wred))
}

/// Whether thresholds are those of 100 Gb/s at all rates, scaled, as `class_ecn` has them.
fn scales(own: &ByRate) -> bool {
    let mut scaled = own.iter().map(|(&rate, &wred)| at_100_gbps(rate, wred));
    let first = scaled.next();
    scaled.all(|wred| Some(wred) == first)
}

fn at_100_gbps(rate: u64, (kmin, kmax, percent): Wred) -> Wred {
    let scaled = |bytes: u64| u64::try_from((u128::from(bytes) * 100_000).div_ceil(u128::from(rate.max(1))));
    (scaled(kmin).unwrap_or(u64::MAX), scaled(kmax).unwrap_or(u64::MAX), percent)
}

fn thresholds_of(rate: u64, (kmin, kmax, percent): Wred) -> Toml {
    let pmax = Toml::Float(percent as f64 / 100.0);
    let pairs = [("rate", gbps(rate)), ("kmin", whole(kmin)), ("kmax", whole(kmax)), ("pmax", pmax)];
    Toml::Table(pairs.map(|(key, value)| (key.to_string(), value)).into_iter().collect())
}
