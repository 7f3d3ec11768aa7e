// SPDX-License-Identifier: GPL-2.0-only
//! The maps that `PORT_QOS_MAP` names: which group and queue a traffic class has, and which queue a pause stops.

use super::qos::listed;
use super::{Database, Row, reference};
use std::collections::{BTreeMap, BTreeSet};

/// A map of numbers from 0 to 7.
pub(super) struct Numbers<'a> {
    /// `None`: there is none, and each number is its own.
    name: Option<&'a str>,
    to: [Option<u8>; 8],
}

impl Numbers<'_> {
    /// What is mapped to each number.
    fn inverse(&self) -> BTreeMap<u8, BTreeSet<u8>> {
        let mut from: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
        for (number, to) in (0..).zip(self.to) {
            to.into_iter().for_each(|to| _ = from.entry(to).or_default().insert(number));
        }
        from
    }

    fn get(&self, number: u8) -> Option<u8> {
        self.to.get(usize::from(number)).copied().flatten()
    }
}

impl<'a> Database<'a> {
    /// The traffic classes of each priority group.
    pub fn classes_of_groups(&self, left_out: &mut Vec<String>) -> Result<BTreeMap<u8, BTreeSet<u8>>, String> {
        self.classes_of("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", "group", left_out)
    }

    /// The traffic classes of each queue.
    pub fn classes_of_queues(&self, left_out: &mut Vec<String>) -> Result<BTreeMap<u8, BTreeSet<u8>>, String> {
        self.classes_of("TC_TO_QUEUE_MAP", "tc_to_queue_map", "queue", left_out)
    }

    fn classes_of(
        &self,
        table: &str,
        key: &str,
        what: &str,
        left_out: &mut Vec<String>,
    ) -> Result<BTreeMap<u8, BTreeSet<u8>>, String> {
        let map = self.numbers(table, key, left_out)?;
        let classes = map.inverse();
        if let Some(name) = map.name {
            let shared = classes.iter().filter(|(_, classes)| classes.iter().filter(|class| **class > 0).count() > 1);
            left_out.extend(shared.map(|(number, classes)| {
                let classes = listed(classes);
                format!("{table}|{name}: classes {classes} share {what} {number}; here each has one of its own")
            }));
        }
        Ok(classes)
    }

    /// The traffic classes whose group PFC pauses, if ports pause these priorities.
    pub fn paused_classes(&self, paused: &BTreeSet<u8>, left_out: &mut Vec<String>) -> Result<BTreeSet<u8>, String> {
        let groups = self.numbers("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", left_out)?;
        let of_classes = self.numbers("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", &mut Vec::new())?;
        let queues = self.numbers("TC_TO_QUEUE_MAP", "tc_to_queue_map", &mut Vec::new())?;
        let stopped = self.numbers("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", left_out)?;
        let mut classes = BTreeSet::new();
        for &priority in paused {
            let group = groups.get(priority);
            let paused = (0..8).filter(|&class| group.is_some() && of_classes.get(class) == group);
            for class in paused {
                classes.insert(class);
                let (own, stopped_queue) = (queues.get(class), stopped.get(priority));
                if own != stopped_queue && class > 0 {
                    let name = stopped.name.unwrap_or("none");
                    let words =
                        |queue: Option<u8>| queue.map_or("no queue".to_string(), |queue| format!("queue {queue}"));
                    left_out.push(format!(
                        "MAP_PFC_PRIORITY_TO_QUEUE|{name}: a pause of priority {priority}, for class {class}, stops {}, while the \
                         class waits in {}; here it stops the class",
                        words(stopped_queue),
                        words(own)
                    ));
                }
            }
        }
        Ok(classes)
    }

    /// The map of a table that ports name; without any each number is its own.
    fn numbers(&self, table: &str, key: &str, left_out: &mut Vec<String>) -> Result<Numbers<'a>, String> {
        let Some(name) = self.named_map(table, key, left_out)? else {
            return Ok(Numbers { name: None, to: std::array::from_fn(|number| u8::try_from(number).ok()) });
        };
        let mut to = [None; 8];
        let found = self.table(table).find(|(known, _)| *known == name).map(|(_, map)| map);
        for (from, value) in found.into_iter().flatten() {
            let small = |text: &str| text.parse().ok().filter(|number| *number < 8_u8);
            let pair = small(from).zip(value.as_str().and_then(small));
            let (from, value) =
                pair.ok_or_else(|| format!("{table}|{name}: {from} is mapped to {value}; expected 0 to 7"))?;
            to[usize::from(from)] = Some(value);
        }
        Ok(Numbers { name: Some(name), to })
    }

    /// The name of the map of a table that ports name by a key.
    fn named_map(&self, table: &str, key: &str, left_out: &mut Vec<String>) -> Result<Option<&'a str>, String> {
        let mut named: BTreeSet<&str> = BTreeSet::new();
        let known: Vec<&str> = self.table(table).map(|(name, _)| name.as_str()).collect();
        for (port, row) in self.table("PORT_QOS_MAP") {
            let row: &'a Row = row;
            let Some(name) = reference(row, key) else { continue };
            if !known.contains(&name) {
                return Err(format!(
                    "PORT_QOS_MAP|{port}: {table} has no {name}, its {key}; expected one that is there"
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
            left_out.push(format!("{table}: {why}; {first} holds at all ports here"));
        }
        Ok(candidates.first().copied())
    }
}
