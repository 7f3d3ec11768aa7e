// SPDX-License-Identifier: GPL-2.0-only
//! Fields of rows that nobody reads: those of other versions, and slips.

use super::Database;
use hpcc_model::error::suggestion;
use std::collections::BTreeSet;

/// Tables, and the fields of their rows that are read or mean nothing here.
const KNOWN: [(&str, &[&str]); 8] = [
    ("BUFFER_POOL", &["type", "mode", "size", "xoff"]),
    (
        "BUFFER_PROFILE",
        &["pool", "size", "dynamic_th", "static_th", "xoff", "xon", "xon_offset", "packet_discard_action"],
    ),
    ("BUFFER_PG", &["profile"]),
    ("BUFFER_QUEUE", &["profile"]),
    ("QUEUE", &["scheduler", "wred_profile"]),
    ("SCHEDULER", &["type", "weight", "meter_type", "cir", "pir", "cbs", "pbs"]),
    ("PFC_WD", &["action", "detection_time", "restoration_time", "POLL_INTERVAL", "BIG_RED_SWITCH"]),
    ("SWITCH_TRIMMING", &["size", "dscp_value", "tc_value", "queue_index"]),
];

/// Fields of a `WRED_PROFILE`: those of each colour, of which packets here have green only, and of all.
const COLOURS: [&str; 3] = ["green", "yellow", "red"];
const OF_ALL: &str = "ecn";
/// Of the average by which some switches mark.
const WEIGHT: &str = "weight";

impl Database<'_> {
    /// A sentence for each field that is not read, with the first row that has it.
    pub fn unread_fields(&self) -> Vec<String> {
        let of_colours = COLOURS.iter().flat_map(|colour| {
            let of_colour = ["min_threshold", "max_threshold", "drop_probability"];
            let limits = of_colour.map(|field| format!("{colour}_{field}"));
            limits.into_iter().chain([format!("wred_{colour}_enable")])
        });
        let of_wred: Vec<String> = of_colours.chain([OF_ALL.into()]).collect();
        let of_wred = ("WRED_PROFILE", of_wred.iter().map(String::as_str).collect::<Vec<_>>());
        let known = KNOWN.iter().map(|(table, fields)| (*table, fields.to_vec())).chain([of_wred]);
        known.flat_map(|(table, fields)| self.unread_of(table, &fields)).collect()
    }

    fn unread_of(&self, table: &str, known: &[&str]) -> Vec<String> {
        let mut told = BTreeSet::new();
        let fields = self.table(table).flat_map(|(row, fields)| fields.keys().map(move |field| (row, field.as_str())));
        let unread = fields.filter(|(_, field)| !known.contains(field) && told.insert(field.to_string()));
        unread.map(|(row, field)| sentence(table, row, field, known)).collect()
    }
}

fn sentence(table: &str, row: &str, field: &str, known: &[&str]) -> String {
    if (table, field) == ("WRED_PROFILE", WEIGHT) {
        return format!("{table}|{row}: weight is not read; marks follow the queue itself, not its average");
    }
    format!("{table}|{row}: {field} is not read{}", suggestion(field, known))
}
