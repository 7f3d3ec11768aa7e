// SPDX-License-Identifier: GPL-2.0-only
//! `SCHEDULER`: how ports serve their queues.

use super::qos::listed;
use super::{Database, Row, number, reference};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes a turn for each unit of weight: only ratios count, so long as no queue waits for many turns.
pub(super) const UNIT: u64 = 1_500;
/// SONiC's largest weight.
pub(super) const MOST_WEIGHT: u64 = 100;

impl Database<'_> {
    /// The classes of queues, in the form of `classes`; `None` if no queue has a scheduler.
    pub fn classes(&self, left_out: &mut Vec<String>) -> Result<Option<String>, String> {
        self.check_rows("SCHEDULER")?;
        let schedulers: BTreeMap<&str, &Row> =
            self.table("SCHEDULER").map(|(name, row)| (name.as_str(), row)).collect();
        let mut by_queue: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
        let mut ports_of: BTreeMap<u8, BTreeSet<&str>> = BTreeMap::new();
        let mut shaped: BTreeSet<String> = BTreeSet::new();
        for (key, row) in self.table("QUEUE") {
            let Some(name) = reference(row, "scheduler").filter(|name| !name.is_empty()) else { continue };
            let (ports, queues) = self.ports("QUEUE", key)?;
            let Some(scheduler) = schedulers.get(name) else {
                return Err(format!("QUEUE|{key}: SCHEDULER has no {name}; expected one that is there"));
            };
            let service = service(scheduler).map_err(|wrong| format!("SCHEDULER|{name}: {wrong}"))?;
            if ["cir", "pir", "cbs", "pbs"].iter().any(|rate| scheduler.contains_key(*rate)) {
                shaped.insert(format!("SCHEDULER|{name}: cir, pir, cbs and pbs are not read; no queue is shaped here"));
            }
            for queue in queues {
                by_queue.entry(queue).or_default().insert(service.clone());
                ports_of.entry(queue).or_default().extend(&ports);
            }
        }
        left_out.extend(shaped);
        if by_queue.remove(&0).is_some() {
            left_out.push("SCHEDULER of queue 0: priority 0 goes ahead of all here".into());
        }
        let all = self.table("PORT").count();
        let unlike: BTreeSet<u8> = by_queue
            .iter()
            .filter(|(queue, services)| services.len() > 1 || ports_of[queue].len() < all)
            .map(|(&queue, _)| queue)
            .collect();
        if !unlike.is_empty() {
            let queues = listed(&unlike);
            left_out.push(format!(
                "QUEUE: queues {queues} have not the same scheduler at all ports; one of each holds at all here"
            ));
        }
        // Of strict queues the highest goes first.
        let of_queues = self.classes_of_queues(&mut Vec::new())?;
        let served =
            by_queue.iter().rev().filter_map(|(queue, services)| Some((of_queues.get(queue)?, services.first()?)));
        let served = served.flat_map(|(classes, service)| classes.iter().map(move |class| (class, service)));
        let classes: Vec<String> =
            served.filter(|(class, _)| **class > 0).map(|(class, service)| format!("{class}:{service}")).collect();
        Ok((!classes.is_empty()).then(|| classes.join(", ")))
    }
}

/// `strict`, or bytes a turn.
fn service(row: &Row) -> Result<String, String> {
    let given = row.get("type").map(|kind| kind.as_str().unwrap_or_default().to_ascii_uppercase());
    match given.as_deref() {
        Some("STRICT") => Ok("strict".into()),
        // WRR counts packets, which are of a size where it matters.
        Some("DWRR" | "WRR") => match number(row, "weight")? {
            Some(weight @ 1..=MOST_WEIGHT) => Ok((weight * UNIT).to_string()),
            Some(weight) => Err(format!("weight is {weight}; expected 1 to {MOST_WEIGHT}")),
            None => Err("weight is missing; expected 1 to 100".into()),
        },
        _ => {
            let found = row.get("type").map_or_else(|| "missing".into(), ToString::to_string);
            Err(format!("type is {found}; expected STRICT, DWRR or WRR"))
        }
    }
}
