// SPDX-License-Identifier: GPL-2.0-only
//! Pools and profiles of switches as the effective configuration has them: by the keys of a scenario.

use hpcc_core::settings::Named;
use hpcc_core::switch::{BufferPlan, BufferPool, BufferProfile, ProfileUse, Threshold};
use serde_json::{Map, Value, json};

/// The keys of `[switch]` that are a plan.
pub(super) fn keys(plan: &BufferPlan) -> [(&'static str, Value); 5] {
    let uses = |list: &[ProfileUse]| list.iter().map(|one| profile_use(plan, one)).collect();
    [
        ("buffer_cell_bytes", plan.cell.into()),
        ("buffer_pools", plan.pools.iter().map(pool).collect()),
        ("buffer_profiles", plan.profiles.iter().map(|one| profile(plan, one)).collect()),
        ("buffer_groups", uses(&plan.groups)),
        ("buffer_queues", uses(&plan.queues)),
    ]
}

/// An object without what is not set.
fn given(all: Value) -> Value {
    let Value::Object(all) = all else { return all };
    Value::Object(all.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

fn pool(pool: &BufferPool) -> Value {
    given(json!({ "name": pool.name, "side": pool.side.name(), "size_bytes": pool.size, "xoff_bytes": pool.xoff }))
}

fn profile(plan: &BufferPlan, profile: &BufferProfile) -> Value {
    let (dynamic, fixed) = match profile.threshold {
        Threshold::Dynamic(n) => (Some(n), None),
        Threshold::Static(bytes) => (None, Some(bytes)),
    };
    given(json!({
        "name": profile.name,
        "pool": plan.pools[profile.pool].name,
        "size_bytes": profile.reserve,
        "dynamic_th": dynamic,
        "static_th_bytes": fixed,
        "xoff_bytes": profile.xoff,
        "xon_bytes": profile.xon,
        "xon_offset_bytes": profile.xon_offset,
    }))
}

fn profile_use(plan: &BufferPlan, one: &ProfileUse) -> Value {
    given(json!({
        "priorities": one.priorities.to_string(),
        "profile": plan.profiles[one.profile].name,
        "rate_bps": one.rate.map(|rate| rate.0),
        "switches": one.switches,
        "ports": one.ports.as_ref().map(|ports| ports.iter().map(|port| u32::from(*port) + 1).collect::<Vec<_>>()),
    }))
}
