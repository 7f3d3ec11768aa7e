// SPDX-License-Identifier: GPL-2.0-only
//! Pools of type `both`: one memory in which groups and queues are counted, which here is a pool of each side.

use toml::{Table, Value};

/// The type.
pub(super) const BOTH: &str = "both";

/// Makes two pools of each, and profiles of the second for the queues; returns what is to be told.
pub(super) fn split(pools: &mut Vec<Table>, profiles: &mut Vec<Table>, queues: &mut [Table]) -> Option<String> {
    let is_both = |pool: &&mut Table| text(pool, "side") == BOTH;
    let mut names = Vec::new();
    let mut twins = Vec::new();
    for pool in pools.iter_mut().filter(is_both) {
        let name = text(pool, "name").to_string();
        let mut twin = pool.clone();
        twin.remove("xoff");
        set(&mut twin, "name", &of_egress(&name));
        set(&mut twin, "side", "egress");
        set(pool, "side", "ingress");
        twins.push(twin);
        names.push(name);
    }
    pools.extend(twins);
    for queue in queues {
        let profile = text(queue, "profile").to_string();
        let found = profiles.iter().find(|own| text(own, "name") == profile);
        let Some(found) = found.filter(|own| names.iter().any(|name| text(own, "pool") == name)) else { continue };
        let (mut twin, name) = (found.clone(), of_egress(&profile));
        ["xoff", "xon", "xon_offset"].iter().for_each(|key| _ = twin.remove(*key));
        set(&mut twin, "pool", &of_egress(text(found, "pool")));
        set(&mut twin, "name", &name);
        set(queue, "profile", &name);
        if !profiles.iter().any(|own| text(own, "name") == name) {
            profiles.push(twin);
        }
    }
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("BUFFER_POOL|{names}: type both; here groups and queues are counted apart, each in a pool of that size")
    })
}

fn of_egress(name: &str) -> String {
    format!("{name} of egress")
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn set(table: &mut Table, key: &str, value: &str) {
    table.insert(key.into(), value.into());
}
