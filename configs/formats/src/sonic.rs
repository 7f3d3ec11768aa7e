// SPDX-License-Identifier: GPL-2.0-only
//! A switch's `config_db.json` of SONiC as keys of `[switch]`, and the other way round: pools, profiles, groups, queues, marks,
//! schedulers, the watchdog and trimming. What has no counterpart is listed.
//!
//! A priority of ours is a traffic class (TC) there. Its group has the profile of the priority group (PG) that the class is
//! mapped to, its queue those of the queue.

mod dscp;
mod fields;
mod maps;
mod of_both;
mod ports;
mod qos;
mod scheduler;
mod trimming;
mod watchdog;
mod write;

pub use write::{Written, write};

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use toml::{Table, Value as Toml};

/// What was read.
#[derive(Debug, Default, PartialEq)]
pub struct SonicSwitch {
    /// Keys of `[switch]`. `buffer` and `buffer_cell`, which depend on the hardware, are not among them.
    pub keys: Table,
    /// What has no counterpart, a sentence each.
    pub left_out: Vec<String>,
}

/// The tables that are read; of others their names are told.
const READ: [&str; 15] = [
    "PORT",
    "PORT_QOS_MAP",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "WRED_PROFILE",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_WD",
    "SCHEDULER",
    "SWITCH_TRIMMING",
];
/// The tables that also decide how a buffer behaves.
const OF_BUFFERS: [&str; 2] = ["BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"];

/// The profile of a group whose buffer SONiC computes itself (its dynamic buffer model).
const UNKNOWN: &str = "NULL";

type Row = Map<String, Value>;
/// Ports by the name of their profile.
type ByProfile<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

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
    let mut pools = pools.collect::<Result<Vec<_>, _>>()?;
    let profiles = database.table("BUFFER_PROFILE").map(|(name, row)| profile(name, row));
    let mut profiles = profiles.collect::<Result<Vec<_>, _>>()?;
    let classes = database.classes_of_groups(&mut read.left_out)?;
    let mut groups =
        database.uses("BUFFER_PG", |group| classes.get(&group).cloned().unwrap_or_default(), &mut read.left_out)?;
    if let Some(paused) = database.paused(&mut read.left_out)? {
        let paused = database.paused_classes(&paused, &mut read.left_out)?;
        read.left_out.extend(without_pauses(&mut groups, &mut profiles, &paused));
    }
    let tables = |tables: Vec<Table>| Toml::Array(tables.into_iter().map(Toml::Table).collect());
    let classes = database.classes_of_queues(&mut read.left_out)?;
    let mut queues =
        database.uses("BUFFER_QUEUE", |queue| classes.get(&queue).cloned().unwrap_or_default(), &mut read.left_out)?;
    read.left_out.extend(of_both::split(&mut pools, &mut profiles, &mut queues));
    read.keys.insert("buffer_pools".into(), tables(pools));
    read.keys.insert("buffer_profiles".into(), tables(profiles));
    read.keys.insert("buffer_groups".into(), tables(groups));
    read.keys.insert("buffer_queues".into(), tables(queues));
    let marks = database.marks(&mut read.left_out)?;
    marks.thresholds.into_iter().for_each(|all| _ = read.keys.insert("ecn_thresholds".into(), all));
    if !marks.classes.is_empty() {
        read.keys.insert("class_ecn".into(), marks.classes.join(", ").into());
    }
    if let Some(classes) = database.classes(&mut read.left_out)? {
        read.keys.insert("classes".into(), classes.into());
    }
    read.keys.extend(database.watchdog(&mut read.left_out)?);
    read.keys.extend(database.trimming(&mut read.left_out)?);
    read.left_out.extend(database.0.get(dscp::TABLE).and_then(dscp::assumed));
    let named = OF_BUFFERS.iter().filter(|table| database.0.contains_key(**table));
    read.left_out.extend(
        named.map(|table| format!("{table}: not read; a port has no limit beside those of its groups and queues")),
    );
    read.left_out.extend(database.unread_fields());
    read.left_out.extend(database.unread());
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

    /// The tables that nobody reads, in one sentence: most of a switch's are not about its buffer.
    fn unread(&self) -> Option<String> {
        let is_known = |name: &str| READ.contains(&name) || OF_BUFFERS.contains(&name) || name == dscp::TABLE;
        let names: Vec<&str> = self.0.keys().map(String::as_str).filter(|name| !is_known(name)).collect();
        (!names.is_empty()).then(|| format!("not read: {}", names.join(", ")))
    }

    /// Refuses a table that is none, and rows that are no objects.
    fn check_rows(&self, name: &str) -> Result<(), String> {
        let Some(table) = self.0.get(name) else { return Ok(()) };
        let rows = table.as_object().ok_or_else(|| format!("{name} is no object; expected a row for each port"))?;
        match rows.iter().find(|(_, row)| !row.is_object()) {
            Some((key, row)) => Err(format!("{name}|{key} is {row}; expected an object")),
            None => Ok(()),
        }
    }

    /// Rates of ports, by their names.
    fn rates(&self) -> Result<BTreeMap<&'a str, u64>, String> {
        let rate = |(port, row): (&'a String, &Row)| {
            let rate = number(row, "speed").map_err(|wrong| format!("PORT|{port}: {wrong}"))?;
            Ok(rate.map(|rate| (port.as_str(), rate)))
        };
        self.table("PORT").filter_map(|port| rate(port).transpose()).collect()
    }

    /// Refuses a port that is not there, unless none is said to be.
    fn check_port(&self, table: &str, key: &str, port: &str) -> Result<(), String> {
        if self.table("PORT").next().is_none() || self.table("PORT").any(|(known, _)| known == port) {
            return Ok(());
        }
        Err(format!("{table}|{key}: PORT has no {port}; expected a port that is there"))
    }

    /// The ports and the numbers of a key.
    fn ports<'k>(&self, table: &str, key: &'k str) -> Result<(Vec<&'k str>, RangeInclusive<u8>), String> {
        let (ports, range) = key.split_once('|').ok_or_else(|| format!("{table}|{key}: expected PORTS|NUMBERS"))?;
        let numbers = numbers(range).ok_or_else(|| format!("{table}|{key}: {range} is no range of numbers"))?;
        let ports: Vec<&str> = ports.split(',').collect();
        ports.iter().try_for_each(|port| self.check_port(table, key, port))?;
        Ok((ports, numbers))
    }

    /// Entries of groups or queues: one for all ports, or one for each rate where they differ by that.
    fn uses(
        &self,
        table: &str,
        priorities: impl Fn(u8) -> BTreeSet<u8>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Table>, String> {
        let rates = self.rates()?;
        // Ports by priority, rate and profile.
        let mut found: BTreeMap<u8, BTreeMap<Option<u64>, ByProfile<'a>>> = BTreeMap::new();
        for (key, row) in self.table(table) {
            let (ports, numbers) = self.ports(table, key)?;
            let profile = reference(row, "profile").ok_or_else(|| format!("{table}|{key}: profile is missing"))?;
            if profile == UNKNOWN {
                left_out.push(format!("{table}|{key}: no profile; SONiC computes it from speed and CABLE_LENGTH"));
                continue;
            }
            for (port, priority) in
                ports.into_iter().flat_map(|port| numbers.clone().flat_map(&priorities).map(move |one| (port, one)))
            {
                let by_rate = found.entry(priority).or_default();
                let by_profile = by_rate.entry(rates.get(port).copied()).or_default();
                by_profile.entry(profile).or_default().insert(port);
            }
        }
        let all = self.table("PORT").count();
        let has_all = |by_rate: &BTreeMap<_, ByProfile<'_>>| {
            let ports: BTreeSet<&str> = by_rate.values().flat_map(BTreeMap::values).flatten().copied().collect();
            ports.len() >= all
        };
        let in_part = found.iter().filter(|(priority, by_rate)| **priority > 0 && !has_all(by_rate));
        let in_part: BTreeSet<u8> = in_part.map(|(&priority, _)| priority).collect();
        if !in_part.is_empty() {
            let numbers = qos::listed(&in_part);
            left_out.push(format!(
                "{table}: traffic classes {numbers} have none at some ports; those of the others hold at all here"
            ));
        }
        if found.remove(&0).is_some() {
            left_out.push(format!("{table} of traffic class 0: priority 0 is neither limited nor counted here"));
        }
        self.entries(table, found, left_out)
    }
}

/// Makes groups lossy whose priority ports do not pause; returns what is to be told of it.
fn without_pauses(groups: &mut [Table], profiles: &mut Vec<Table>, paused: &BTreeSet<u8>) -> Option<String> {
    let mut lossy = BTreeSet::new();
    for group in groups {
        let priority = group["priorities"][0].as_integer().and_then(|priority| u8::try_from(priority).ok());
        let Some(priority) = priority.filter(|priority| !paused.contains(priority)) else { continue };
        let has_headroom =
            |profile: &&Table| profile.get("name") == group.get("profile") && profile.contains_key("xoff");
        let Some(mut own) = profiles.iter().find(has_headroom).cloned() else { continue };
        let name = Toml::from(format!("{} without PFC", own["name"].as_str().unwrap_or_default()));
        ["xoff", "xon", "xon_offset"].iter().for_each(|key| _ = own.remove(*key));
        own.insert("name".into(), name.clone());
        group.insert("profile".into(), name.clone());
        if profiles.iter().all(|profile| profile.get("name") != Some(&name)) {
            profiles.push(own);
        }
        lossy.insert(priority);
    }
    (!lossy.is_empty()).then(|| {
        let lossy = qos::listed(&lossy);
        format!(
            "PORT_QOS_MAP: pfc_enable leaves out {lossy}, whose groups have xoff: here they are lossy, without headroom"
        )
    })
}

fn pool(name: &str, row: &Row, left_out: &mut Vec<String>) -> Result<Table, String> {
    let mut keys = Table::new();
    keys.insert("name".into(), name.into());
    let side = match row.get("type").and_then(Value::as_str) {
        Some(side @ ("ingress" | "egress" | of_both::BOTH)) => side,
        _ => {
            let found = row.get("type").map_or_else(|| "missing".to_string(), Value::to_string);
            return Err(format!("BUFFER_POOL|{name}: type is {found}; expected ingress, egress or both"));
        }
    };
    keys.insert("side".into(), side.into());
    let number = |key: &str| number(row, key).map_err(|wrong| format!("BUFFER_POOL|{name}: {wrong}"));
    let size = number("size")?;
    let size =
        size.ok_or_else(|| format!("BUFFER_POOL|{name}: size is missing, which SONiC may reckon; expected bytes"))?;
    keys.insert("size".into(), whole(size));
    match number("xoff")? {
        // SONiC's way to say that groups share no headroom.
        None | Some(0) => {}
        Some(xoff) if side != "egress" => _ = keys.insert("xoff".into(), whole(xoff)),
        Some(_) => left_out.push(format!("BUFFER_POOL|{name}: xoff of an egress pool")),
    }
    Ok(keys)
}

fn profile(name: &str, row: &Row) -> Result<Table, String> {
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
    Ok(keys)
}

fn one_use(priority: u8, profile: &str, rate: Option<u64>) -> Table {
    let mut keys = Table::new();
    keys.insert("priorities".into(), Toml::Array(vec![i64::from(priority).into()]));
    keys.insert("profile".into(), profile.into());
    rate.into_iter().for_each(|rate| _ = keys.insert("rate".into(), gbps(rate)));
    keys
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
fn numbers(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < 8).then_some(first..=last)
}
