// SPDX-License-Identifier: GPL-2.0-only
//! `PFC_WD`: what ports do about a pause that lasts too long.

use super::{Database, Row, number};
use serde_json::Value;
use std::collections::BTreeSet;
use toml::{Table, Value as Toml};

/// The time between two looks where `GLOBAL` has none, in ms.
const USUAL_POLL: u64 = 200;

impl Database<'_> {
    /// Keys of the watchdog, if ports have one: that of the first port for all.
    pub fn watchdog(&self, left_out: &mut Vec<String>) -> Result<Table, String> {
        let mut poll = USUAL_POLL;
        let (mut found, mut ports) = (BTreeSet::new(), 0);
        self.check_rows("PFC_WD")?;
        for (port, row) in self.table("PFC_WD") {
            if port == "GLOBAL" {
                poll = millis(row, "POLL_INTERVAL", port)?.unwrap_or(poll);
                if row.get("BIG_RED_SWITCH").and_then(Value::as_str) == Some("enable") {
                    left_out.push("PFC_WD|GLOBAL: BIG_RED_SWITCH, which takes all priorities for stormed".into());
                }
            } else {
                self.check_port("PFC_WD", port, port)?;
                found.insert(of_port(port, row, left_out)?);
                ports += 1;
            }
        }
        let mut keys = Table::new();
        let Some((action, after, restore)) = found.first().cloned() else { return Ok(keys) };
        if found.len() > 1 || ports < self.table("PORT").count() {
            let times = format!("{action} after {after} ms, restored after {restore} ms");
            left_out.push(format!("PFC_WD is not the same at all ports; here all have {times}"));
        }
        if self
            .table("PORT_QOS_MAP")
            .any(|(_, row)| row.get("pfcwd_sw_enable").is_some_and(|own| Some(own) != row.get("pfc_enable")))
        {
            left_out.push(
                "PORT_QOS_MAP: pfcwd_sw_enable is not read; the watchdog looks at all priorities that pause".into(),
            );
        }
        let time = |millis: u64| Toml::from(format!("{millis}ms"));
        keys.insert("pfc_watchdog".into(), action.into());
        let times = [("after", after), ("restore", restore), ("poll", poll)];
        keys.extend(times.map(|(key, millis)| (format!("pfc_watchdog_{key}"), time(millis))));
        Ok(keys)
    }
}

/// Action, detection time and restoration time of a port, in ms.
fn of_port(port: &str, row: &Row, left_out: &mut Vec<String>) -> Result<(String, u64, u64), String> {
    let action = match row.get("action").map(|action| action.as_str().unwrap_or_default()) {
        None => "drop",
        Some(action @ ("drop" | "forward" | "alert")) => action,
        Some(_) => {
            return Err(format!("PFC_WD|{port}: action is {}; expected drop, forward or alert", row["action"]));
        }
    };
    let after = millis(row, "detection_time", port)?;
    let after = after.ok_or_else(|| format!("PFC_WD|{port}: detection_time is missing; expected milliseconds"))?;
    let restore = millis(row, "restoration_time", port)?.unwrap_or_else(|| {
        left_out.push(format!("PFC_WD|{port}: no restoration_time; taken as twice the detection time"));
        2 * after
    });
    Ok((action.into(), after, restore))
}

/// A time of at most an hour, in ms.
fn millis(row: &Row, key: &str, port: &str) -> Result<Option<u64>, String> {
    const MOST: u64 = 3_600_000;
    let given = number(row, key).map_err(|wrong| format!("PFC_WD|{port}: {wrong}"))?;
    match given {
        Some(millis) if !(1..=MOST).contains(&millis) => {
            Err(format!("PFC_WD|{port}: {key} is {millis}; expected 1 to {MOST} milliseconds"))
        }
        given => Ok(given),
    }
}
