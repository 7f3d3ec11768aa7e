// SPDX-License-Identifier: GPL-2.0-only
//! Which profile holds at which ports: at all, at those of a speed, or at single ones, by their numbers.

use super::{ByProfile, Database, one_use};
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

impl Database<'_> {
    /// Entries of groups or queues from ports by priority, rate and profile. Of several entries that fit the last one
    /// holds: single ports come last.
    pub fn entries(
        &self,
        table: &str,
        found: BTreeMap<u8, BTreeMap<Option<u64>, ByProfile<'_>>>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Table>, String> {
        let numbers = self.port_numbers();
        let (mut uses, mut is_by_port) = (Vec::new(), false);
        for (priority, by_rate) in found {
            let all: BTreeSet<&str> = by_rate.values().flat_map(BTreeMap::keys).copied().collect();
            if let (Some(only), 1) = (all.first(), all.len()) {
                uses.push(one_use(priority, only, None));
                continue;
            }
            for (rate, by_profile) in by_rate {
                let most = by_profile.values().map(BTreeSet::len).max();
                let usual = by_profile.iter().find(|(_, ports)| Some(ports.len()) == most).map(|(&profile, _)| profile);
                uses.extend(usual.map(|profile| one_use(priority, profile, rate)));
                for (profile, ports) in by_profile.into_iter().filter(|(profile, _)| Some(*profile) != usual) {
                    let ports: Option<Vec<usize>> = ports.into_iter().map(|port| numbers.get(port).copied()).collect();
                    let ports = ports.ok_or_else(|| {
                        format!("{table} of priority {priority} differs by port, and there is no PORT; expected it")
                    })?;
                    let mut one = one_use(priority, profile, rate);
                    one.insert("ports".into(), listed(ports).into());
                    uses.push(one);
                    is_by_port = true;
                }
            }
        }
        if is_by_port {
            left_out.push(format!(
                "{table}: profiles differ at ports of one speed; the n-th of PORT, by the numbers in their names, is port n \
                 of each switch here"
            ));
        }
        Ok(uses)
    }

    /// Numbers of ports, from 1: Ethernet8 comes before Ethernet16.
    fn port_numbers(&self) -> BTreeMap<&str, usize> {
        let number = |name: &str| {
            let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            digits.parse::<u64>().unwrap_or(u64::MAX)
        };
        let mut ports: Vec<&str> = self.table("PORT").map(|(name, _)| name.as_str()).collect();
        ports.sort_by_key(|name| (number(name), *name));
        ports.into_iter().zip(1..).collect()
    }
}

fn listed(mut ports: Vec<usize>) -> String {
    ports.sort_unstable();
    ports.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
