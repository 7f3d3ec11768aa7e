// SPDX-License-Identifier: GPL-2.0-only
//! `SWITCH_TRIMMING`, and the profiles of queues that have packets trimmed.

use super::qos::listed;
use super::{Database, number, reference, whole};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use toml::Table;

/// The key of a profile, and its value if packets are cut.
pub(super) const ACTION: &str = "packet_discard_action";
pub(super) const TRIM: &str = "trim";
/// Bytes to which packets are cut where nothing says it.
const USUAL_SIZE: u64 = 128;
const SIZES: RangeInclusive<u64> = 64..=16_384;

impl Database<'_> {
    /// Keys of trimming, if a profile of queues asks for it.
    pub fn trimming(&self, left_out: &mut Vec<String>) -> Result<Table, String> {
        self.check_rows("SWITCH_TRIMMING")?;
        let (cut, dropped) = self.trimmed_queues()?;
        let global = self.table("SWITCH_TRIMMING").find(|(key, _)| *key == "GLOBAL").map(|(_, row)| row);
        let mut keys = Table::new();
        if cut.is_empty() {
            left_out.extend(global.map(|_| {
                format!("SWITCH_TRIMMING: no profile of a BUFFER_QUEUE has {ACTION} {TRIM}, so that nothing is cut")
            }));
            return Ok(keys);
        }
        if !dropped.is_empty() {
            let (cut, dropped) = (listed(&cut), listed(&dropped));
            left_out.push(format!("{ACTION}: queues {dropped} drop and {cut} trim; here all that are lossy trim"));
        }
        keys.insert("overflow".into(), TRIM.into());
        let given = |key: &str| global.and_then(|row| row.get(key)).map(|value| value.as_str().unwrap_or_default());
        let wrong = |wrong: String| format!("SWITCH_TRIMMING|GLOBAL: {wrong}");
        let size = global.map(|row| number(row, "size")).transpose().map_err(wrong)?.flatten().unwrap_or(USUAL_SIZE);
        if !SIZES.contains(&size) {
            return Err(wrong(format!("size is {size}; expected {} to {} bytes", SIZES.start(), SIZES.end())));
        }
        keys.insert("trim_size".into(), whole(size));
        let queue = |text: &str| text.parse().ok().filter(|queue| *queue < 8_u64);
        match given("queue_index") {
            Some("dynamic") => left_out.push(match given("tc_value").and_then(queue) {
                Some(class) => {
                    keys.insert("trim_queue".into(), whole(class));
                    format!("SWITCH_TRIMMING: queue_index is dynamic; taken as {class}, the traffic class of tc_value")
                }
                None => "SWITCH_TRIMMING: queue_index is dynamic; here headers wait in queue 0, ahead of all".into(),
            }),
            Some(text) => {
                let index = queue(text);
                let index =
                    index.ok_or_else(|| wrong(format!("queue_index is {text}; expected 0 to 7, or dynamic")))?;
                // Of a queue that no class waits in, its number.
                let class = self.classes_of_queues(&mut Vec::new())?;
                let class = u8::try_from(index).ok().and_then(|queue| class.get(&queue)?.first().copied());
                keys.insert("trim_queue".into(), whole(class.map_or(index, u64::from)));
            }
            None => left_out.push("SWITCH_TRIMMING: no queue_index; here headers wait in queue 0, ahead of all".into()),
        }
        if given("dscp_value").is_some_and(|value| value != "from-tc") {
            left_out.push("SWITCH_TRIMMING: dscp_value; headers have the class of their queue here".into());
        }
        Ok(keys)
    }

    /// Queues whose packets are cut, and others with a profile; of priorities that lose packets.
    fn trimmed_queues(&self) -> Result<(BTreeSet<u8>, BTreeSet<u8>), String> {
        let (mut cut, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        let classes = self.classes_of_queues(&mut Vec::new())?;
        for (key, row) in self.table("BUFFER_QUEUE") {
            let (_, queues) = self.ports("BUFFER_QUEUE", key)?;
            let name = reference(row, "profile").unwrap_or_default();
            let profile = self.table("BUFFER_PROFILE").find(|(known, _)| *known == name);
            let action = profile.and_then(|(_, row)| row.get(ACTION)).map(|action| action.as_str().unwrap_or_default());
            let found = match action {
                Some(TRIM) => &mut cut,
                None | Some("drop") => &mut dropped,
                Some(other) => {
                    return Err(format!("BUFFER_PROFILE|{name}: {ACTION} is {other}; expected drop or {TRIM}"));
                }
            };
            let classes = queues.filter_map(|queue| classes.get(&queue)).flatten().copied();
            found.extend(classes.filter(|class| *class > 0));
        }
        let of_groups = self.lossless_classes()?;
        dropped.retain(|queue| !of_groups.contains(queue));
        Ok((cut, dropped))
    }

    /// Traffic classes that have a group with headroom somewhere.
    fn lossless_classes(&self) -> Result<BTreeSet<u8>, String> {
        let classes = self.classes_of_groups(&mut Vec::new())?;
        let mut found = BTreeSet::new();
        for (key, row) in self.table("BUFFER_PG") {
            let (_, groups) = self.ports("BUFFER_PG", key)?;
            let name = reference(row, "profile").unwrap_or_default();
            let mut profiles = self.table("BUFFER_PROFILE");
            if profiles.any(|(known, row)| known == name && row.contains_key("xoff")) {
                found.extend(groups.filter_map(|group| classes.get(&group)).flatten());
            }
        }
        Ok(found)
    }
}
