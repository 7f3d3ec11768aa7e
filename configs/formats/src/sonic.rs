// SPDX-License-Identifier: GPL-2.0-only
//! A switch's `config_db.json` of SONiC as keys of `[switch]`: pools, profiles, groups, queues and marks. What has no
//! counterpart is
//! listed.
//!
//! A priority of ours is a traffic class (TC) there. Its group has the profile of the priority group (PG) that the
//! class is mapped
//! to; its queue is the one of its number.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value as Toml};

/// What was read.
#[derive(Debug, Default, PartialEq)]
pub struct SonicSwitch {
    /// Keys of `[switch]`. `buffer` and `buffer_cell`, which depend on the hardware, are not among them.
    pub keys: Table,
    /// What has no counterpart, a sentence each.
    pub left_out: Vec<String>,
}

/// The tables that are read; of others nothing is said but their names.
const READ: [&str; 8] = [
    "PORT",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "WRED_PROFILE",
    "TC_TO_PRIORITY_GROUP_MAP",
];
/// The tables that also decide how a buffer behaves.
const OF_BUFFERS: [&str; 7] = [
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "SCHEDULER",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
];

type Row = Map<String, Value>;

/// Reads the text of a `config_db.json`.
///
/// # Errors
/// If it is none, or names what it does not have: the table, the key, and what was expected.
pub fn read(text: &str) -> Result<SonicSwitch, String> {
    let all: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let database = Database(all.as_object().ok_or("no object of tables; expected SONiC's config_db.json")?);
    let mut read = SonicSwitch::default();
    for table in ["BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG"] {
        if database.table(table).next().is_none() {
            return Err(format!("there is no {table}; expected it, as in SONiC's config_db.json"));
        }
    }
    let pools = database.table("BUFFER_POOL").map(|(name, row)| pool(name, row, &mut read.left_out));
    read.keys.insert("buffer_pools".into(), Toml::Array(pools.collect::<Result<_, _>>()?));
    let profiles = database.table("BUFFER_PROFILE").map(|(name, row)| profile(name, row));
    read.keys.insert("buffer_profiles".into(), Toml::Array(profiles.collect::<Result<_, _>>()?));
    let classes = database.classes_of_groups()?;
    let groups =
        database.uses("BUFFER_PG", |group| classes.get(&group).cloned().unwrap_or_default(), &mut read.left_out)?;
    read.keys.insert("buffer_groups".into(), Toml::Array(groups));
    let queues = database.uses("BUFFER_QUEUE", |queue| BTreeSet::from([queue]), &mut read.left_out)?;
    read.keys.insert("buffer_queues".into(), Toml::Array(queues));
    if let Some(thresholds) = database.marks(&mut read.left_out)? {
        read.keys.insert("ecn_thresholds".into(), thresholds);
    }
    let named = OF_BUFFERS.iter().filter(|table| database.0.contains_key(**table));
    read.left_out
        .extend(named.map(|table| format!("{table}: not read; flows name their priority, which is the traffic class")));
    Ok(read)
}

/// The tables of a configuration.
struct Database<'a>(&'a Row);

impl<'a> Database<'a> {
    fn table(&self, name: &str) -> impl Iterator<Item = (&'a String, &'a Row)> + use<'a> {
        debug_assert!(READ.contains(&name), "{name} is listed as read");
        let rows = self.0.get(name).and_then(Value::as_object).into_iter().flatten();
        rows.filter_map(|(key, row)| Some((key, row.as_object()?)))
    }

    /// Rates of ports, by their names.
    fn rates(&self) -> BTreeMap<&'a str, u64> {
        let rate = |row: &Row| number(row, "speed").ok().flatten();
        self.table("PORT").filter_map(|(port, row)| Some((port.as_str(), rate(row)?))).collect()
    }

    /// The traffic classes of each priority group. Without a map each is its own.
    fn classes_of_groups(&self) -> Result<BTreeMap<u8, BTreeSet<u8>>, String> {
        let mut classes: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
        let maps: Vec<_> = self.table("TC_TO_PRIORITY_GROUP_MAP").collect();
        match &maps[..] {
            [] => (0..8).for_each(|class| _ = classes.entry(class).or_default().insert(class)),
            [(name, map), ..] => {
                for (class, group) in *map {
                    let small = |text: &str| text.parse().ok().filter(|class| *class < 8_u8);
                    let pair = small(class).zip(group.as_str().and_then(small));
                    let (class, group) = pair.ok_or_else(|| {
                        format!("TC_TO_PRIORITY_GROUP_MAP|{name}: {class} is mapped to {group}; expected 0 to 7")
                    })?;
                    classes.entry(group).or_default().insert(class);
                }
            }
        }
        Ok(classes)
    }

    /// Entries of groups or queues: one for all ports, or one for each rate where they differ by that.
    fn uses(
        &self,
        table: &str,
        priorities: impl Fn(u8) -> BTreeSet<u8>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Toml>, String> {
        let rates = self.rates();
        // Profiles by priority and rate.
        let mut found: BTreeMap<u8, BTreeMap<Option<u64>, BTreeSet<&str>>> = BTreeMap::new();
        for (key, row) in self.table(table) {
            let (ports, range) = key.split_once('|').ok_or_else(|| format!("{table}|{key}: expected PORTS|NUMBERS"))?;
            let profile = reference(row, "profile").ok_or_else(|| format!("{table}|{key}: profile is missing"))?;
            let numbers = numbers(range).ok_or_else(|| format!("{table}|{key}: {range} is no range of numbers"))?;
            for (port, priority) in
                ports.split(',').flat_map(|port| numbers.clone().flat_map(&priorities).map(move |one| (port, one)))
            {
                let by_rate = found.entry(priority).or_default();
                by_rate.entry(rates.get(port).copied()).or_default().insert(profile);
            }
        }
        if found.remove(&0).is_some() {
            left_out.push(format!("{table} of traffic class 0: priority 0 is neither limited nor counted here"));
        }
        let mut uses = Vec::new();
        for (priority, by_rate) in found {
            let all: Vec<&str> = by_rate.values().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
            if let [only] = all[..] {
                uses.push(one_use(priority, only, None));
                continue;
            }
            for (rate, profiles) in by_rate {
                let mut profiles = profiles.into_iter();
                let (Some(profile), None) = (profiles.next(), profiles.next()) else {
                    return Err(format!(
                        "{table} of priority {priority} has several profiles at ports of one speed; expected one for each speed"
                    ));
                };
                uses.push(one_use(priority, profile, rate));
            }
        }
        Ok(uses)
    }

    /// Thresholds of marks at each rate, if all queues that mark have the same ones.
    fn marks(&self, left_out: &mut Vec<String>) -> Result<Option<Toml>, String> {
        let used: BTreeSet<&str> = self.table("QUEUE").filter_map(|(_, row)| reference(row, "wred_profile")).collect();
        let marking: Vec<_> = self.table("WRED_PROFILE").filter(|(name, _)| used.contains(name.as_str())).collect();
        let [(name, row)] = marking[..] else {
            if !marking.is_empty() {
                left_out.push("WRED_PROFILE: queues have several; give class_ecn yourself".into());
            }
            return Ok(None);
        };
        let (kmin, kmax) = (number(row, "green_min_threshold")?, number(row, "green_max_threshold")?);
        let (Some(kmin), Some(kmax)) = (kmin, kmax) else {
            return Err(format!("WRED_PROFILE|{name}: green_min_threshold or green_max_threshold is missing"));
        };
        let pmax = number(row, "green_drop_probability")?.unwrap_or(100) as f64 / 100.0;
        let rates: BTreeSet<u64> = self.rates().into_values().collect();
        let of_rate = |rate| {
            let pairs =
                [("rate", gbps(rate)), ("kmin", whole(kmin)), ("kmax", whole(kmax)), ("pmax", Toml::Float(pmax))];
            Toml::Table(pairs.map(|(key, value)| (key.to_string(), value)).into_iter().collect())
        };
        Ok(Some(Toml::Array(rates.into_iter().map(of_rate).collect())))
    }
}

fn pool(name: &str, row: &Row, left_out: &mut Vec<String>) -> Result<Toml, String> {
    let mut keys = Table::new();
    keys.insert("name".into(), name.into());
    let side = match row.get("type").and_then(Value::as_str) {
        Some(side @ ("ingress" | "egress")) => side,
        other => return Err(format!("BUFFER_POOL|{name}: type is {other:?}; expected ingress or egress")),
    };
    keys.insert("side".into(), side.into());
    let size = number(row, "size")?;
    let size =
        size.ok_or_else(|| format!("BUFFER_POOL|{name}: size is missing, which SONiC may reckon; expected bytes"))?;
    keys.insert("size".into(), whole(size));
    match number(row, "xoff")? {
        // SONiC's way to say that groups share no headroom.
        None | Some(0) => {}
        Some(xoff) if side == "ingress" => _ = keys.insert("xoff".into(), whole(xoff)),
        Some(_) => left_out.push(format!("BUFFER_POOL|{name}: xoff of an egress pool")),
    }
    Ok(Toml::Table(keys))
}

fn profile(name: &str, row: &Row) -> Result<Toml, String> {
    let mut keys = Table::new();
    keys.insert("name".into(), name.into());
    let pool = reference(row, "pool").ok_or_else(|| format!("BUFFER_PROFILE|{name}: pool is missing"))?;
    keys.insert("pool".into(), pool.into());
    for key in ["size", "static_th", "xoff", "xon", "xon_offset"] {
        let given = number(row, key).map_err(|wrong| format!("BUFFER_PROFILE|{name}: {wrong}"))?;
        given.into_iter().for_each(|bytes| _ = keys.insert(key.into(), whole(bytes)));
    }
    if let Some(n) = row.get("dynamic_th").and_then(Value::as_str) {
        let n: i64 =
            n.parse().map_err(|_| format!("BUFFER_PROFILE|{name}: dynamic_th is {n}; expected a whole number"))?;
        keys.insert("dynamic_th".into(), n.into());
    }
    Ok(Toml::Table(keys))
}

fn one_use(priority: u8, profile: &str, rate: Option<u64>) -> Toml {
    let mut keys = Table::new();
    keys.insert("priorities".into(), Toml::Array(vec![i64::from(priority).into()]));
    keys.insert("profile".into(), profile.into());
    rate.into_iter().for_each(|rate| _ = keys.insert("rate".into(), gbps(rate)));
    Toml::Table(keys)
}

/// SONiC has megabits a second.
fn gbps(speed: u64) -> Toml {
    format!("{speed}Mbps").into()
}

fn whole(number: u64) -> Toml {
    Toml::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number, which SONiC has as text.
fn number(row: &Row, key: &str) -> Result<Option<u64>, String> {
    let Some(value) = row.get(key) else { return Ok(None) };
    let number = value.as_str().map_or_else(|| value.as_u64(), |text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| format!("{key} is {value}; expected a number"))
}

/// A name of another table's, which older versions write as `[TABLE|name]`.
fn reference<'a>(row: &'a Row, key: &str) -> Option<&'a str> {
    let text = row.get(key)?.as_str()?;
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    Some(inner.and_then(|text| text.split_once('|')).map_or(text, |(_, name)| name))
}

/// `3` or `3-4`.
fn numbers(text: &str) -> Option<std::ops::RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < 8).then_some(first..=last)
}
