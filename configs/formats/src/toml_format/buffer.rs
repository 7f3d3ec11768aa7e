// SPDX-License-Identifier: GPL-2.0-only
//! Pools and profiles of `[switch]`: its packet memory as operators configure it, by the names of SONiC.

use super::keys::{List, Read, Tables, keys};
use super::settings::numbers;
use hpcc_core::node::NodeSettings;
use hpcc_core::switch::{BufferPlan, BufferPool, BufferProfile, PortPlace, Priorities, ProfileUse, Side, Threshold};
use hpcc_core::topology::{Network, NodeKind, NodeSet};
use hpcc_core::units::{BitRate, Bytes};
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::origin::Origin;
use std::ops::RangeInclusive;

/// Occupancy is counted in 32 bits.
const MEMORY: RangeInclusive<u64> = 0..=u32::MAX as u64;

/// The keys, for errors of the core about them.
pub(super) const KEYS: [&str; 5] = ["buffer_cell", "buffer_pools", "buffer_profiles", "buffer_groups", "buffer_queues"];

keys! {
    Lists {
        /// Bytes of a cell, in which a switch with `buffer_pools` counts its memory, such as 254 of Tomahawk 3 and 5. A
        /// frame takes whole cells.
        buffer_cell: Option<Bytes> {1..=65_536};
        /// Pools of the memory, as a list of `{ name, side, size, xoff }`. With them `buffer_profiles` and `buffer_groups`
        /// take the place of `headroom`, `pause_threshold`, `alpha` and `class_alpha`. Give them to divide memory as an
        /// operator's switches do.
        buffer_pools: Option<Tables<Pool>> {"{ name = \"lossless\", side = \"ingress\", size = \"60MB\" }"};
        /// Profiles of groups and queues: their reserve, threshold, headroom and resume.
        buffer_profiles: Option<Tables<Profile>> {"{ name = \"roce\", pool = \"lossless\", dynamic_th = 0, xoff = \"160KB\" }"};
        /// Which profile holds for the priority groups of which ports; of several that fit, the last one. Each priority in
        /// use needs one at every port.
        buffer_groups: Option<Tables<Use>> {"{ priorities = [3], profile = \"roce\" }"};
        /// Which profile holds for the queues of which ports, with profiles of egress pools. A queue without one has no
        /// limit of its own.
        buffer_queues: Option<Tables<Use>> {"{ priorities = [1], profile = \"tcp\", rate = \"100Gbps\" }"};
    }
    Pool {
        /// What profiles call it.
        name: String;
        /// Which account it is of: by the port that frames came in by (`ingress`), or the queue that they leave from
        /// (`egress`).
        side: Side;
        /// Bytes that groups or queues share, beside their reserves and headroom.
        size: Bytes {MEMORY};
        /// Bytes of headroom that the groups of the pool share; without it each has its own `xoff`. Give it where headroom is
        /// over-subscribed; groups that need it at the same time lose frames.
        xoff: Option<Bytes> {MEMORY};
    }
    Profile {
        /// What groups and queues call it.
        name: String;
        /// The pool.
        pool: String;
        /// Bytes that each group or queue has for itself, ahead of the pool's.
        size: Bytes {MEMORY} = Bytes(0);
        /// n from -7 to 4: a group or queue may have 2^n times what is free of the pool.
        dynamic_th: Option<f64> {-7.0..=4.0};
        /// In its place: so many bytes of the pool, whatever is free.
        static_th: Option<Bytes> {MEMORY};
        /// Bytes of headroom for what comes after the pause; a group without it is lossy.
        xoff: Option<Bytes> {MEMORY};
        /// Bytes in use down to which a paused group always resumes.
        xon: Bytes {MEMORY} = Bytes(0);
        /// How many bytes below its threshold, reserve included, a paused group resumes.
        xon_offset: Bytes {MEMORY} = Bytes(0);
    }
    Use {
        /// The priorities, such as `[3, 4]`.
        priorities: Priorities;
        /// The profile.
        profile: String;
        /// Only at ports of this rate.
        rate: Option<BitRate>;
        /// Only at these switches, such as `leaf`, or numbers of nodes.
        switches: Option<String>;
        /// Only at ports of these numbers, counted from 1 as in results, such as `1-4`.
        ports: Option<String>;
    }
}

/// How the memory of switches is divided, if the lists say it. Those of an operator's profile may name ports
/// that are not there.
pub(super) fn read(
    lists: &Lists,
    origin: &Origin,
    network: &Network,
    is_of_profile: impl Fn(&str) -> bool,
) -> Result<Option<BufferPlan>, InputError> {
    let Some(List(pools)) = &lists.buffer_pools else { return refuse_without_pools(lists, origin).map(|()| None) };
    let missing = |key: &str, example: &str| {
        let message =
            format!("{key} is missing from [switch], which has buffer_pools; expected such as {key} = {example}");
        origin.error(&[key], message)
    };
    let Some(Bytes(cell)) = lists.buffer_cell else { return Err(missing("buffer_cell", "254")) };
    let Some(List(profiles)) = &lists.buffer_profiles else {
        return Err(missing(
            "buffer_profiles",
            "[{ name = \"roce\", pool = \"lossless\", dynamic_th = 0, xoff = \"160KB\" }]",
        ));
    };
    let Some(List(groups)) = &lists.buffer_groups else {
        return Err(missing("buffer_groups", "[{ priorities = [3], profile = \"roce\" }]"));
    };
    let queues = lists.buffer_queues.as_ref().map_or(&[][..], |List(queues)| queues);
    let (pool_names, profile_names) = (names(pools, |pool| &pool.name)?, names(profiles, |profile| &profile.name)?);
    let places = port_places(network);
    let uses = |list: &[Read<Use>], key: &str| {
        let has_others = is_of_profile(key);
        let read = list.iter().map(|one| profile_use(one, &profile_names, network).map(|found| (one, found)));
        let mut uses = Vec::new();
        for one in read {
            let (entry, found) = one?;
            let is_idle = !places.iter().any(|place| found.is_at(place));
            if is_idle && !has_others {
                return Err(idle(entry));
            }
            uses.extend((!is_idle).then_some(found));
        }
        Ok(uses)
    };
    Ok(Some(BufferPlan {
        cell: cell as u32,
        pools: pools.iter().map(|pool| self::pool(pool)).collect(),
        profiles: profiles.iter().map(|one| profile(one, &pool_names)).collect::<Result<_, _>>()?,
        groups: uses(groups, "buffer_groups")?,
        queues: uses(queues, "buffer_queues")?,
    }))
}

fn refuse_without_pools(lists: &Lists, origin: &Origin) -> Result<(), InputError> {
    let given = [
        ("buffer_cell", lists.buffer_cell.is_some()),
        ("buffer_profiles", lists.buffer_profiles.is_some()),
        ("buffer_groups", lists.buffer_groups.is_some()),
        ("buffer_queues", lists.buffer_queues.is_some()),
    ];
    let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("{key} belongs to buffer_pools, which [switch] does not have; expected both");
    Err(origin.error(&[key], message))
}

/// The names of a list, each of which is there once.
fn names<'a, T>(list: &'a [Read<T>], name: impl Fn(&'a T) -> &'a String) -> Result<Vec<&'a str>, InputError> {
    let mut names: Vec<&str> = Vec::new();
    for entry in list {
        let name = name(entry);
        if names.contains(&name.as_str()) {
            return Err(entry.origin.error(&["name"], format!("there are two of name \"{name}\"; expected one")));
        }
        names.push(name);
    }
    Ok(names)
}

/// The place of a name among those that there are.
fn find<T>(entry: &Read<T>, key: &str, name: &str, names: &[&str]) -> Result<usize, InputError> {
    let place = names.iter().position(|known| *known == name);
    place.ok_or_else(|| entry.origin.error(&[key], format!("unknown {key} \"{name}\"{}", suggestion(name, names))))
}

fn pool(pool: &Pool) -> BufferPool {
    BufferPool { name: pool.name.clone(), side: pool.side, size: pool.size.0, xoff: pool.xoff.map(|bytes| bytes.0) }
}

fn profile(entry: &Read<Profile>, pools: &[&str]) -> Result<BufferProfile, InputError> {
    let threshold = match (entry.dynamic_th, entry.static_th) {
        (Some(n), None) if n.fract() == 0.0 => Threshold::Dynamic(n as i8),
        (Some(n), None) => {
            let message = format!("the value is {n}; expected a whole number n from -7 to 4, for alpha = 2^n");
            return Err(entry.origin.error(&["dynamic_th"], message));
        }
        (None, Some(bytes)) => Threshold::Static(bytes.0),
        (given, _) => {
            let key = if given.is_some() { "static_th" } else { "dynamic_th" };
            let message = format!("profile \"{}\" has both or neither; expected dynamic_th or static_th", entry.name);
            return Err(entry.origin.error(&[key], message));
        }
    };
    Ok(BufferProfile {
        name: entry.name.clone(),
        pool: find(entry, "pool", &entry.pool, pools)?,
        reserve: entry.size.0,
        threshold,
        xoff: entry.xoff.map(|bytes| bytes.0),
        xon: entry.xon.0,
        xon_offset: entry.xon_offset.0,
    })
}

/// The ports of all switches, which have their numbers by the order of links.
fn port_places(network: &Network) -> Vec<PortPlace> {
    let mut counts = vec![0_u16; network.nodes.len()];
    let ends = network.links.iter().flat_map(|link| [(link.a, link.rate), (link.b, link.rate)]);
    let mut places = Vec::new();
    for (switch, rate) in ends {
        let count = &mut counts[switch as usize];
        if network.nodes[switch as usize] == NodeKind::Switch {
            places.push(PortPlace { switch, port: *count, rate });
        }
        *count = count.saturating_add(1);
    }
    places
}

fn profile_use(entry: &Read<Use>, profiles: &[&str], network: &Network) -> Result<ProfileUse, InputError> {
    let refuse = |key: &'static str| move |message: String| entry.origin.error(&[key], message);
    let switches = entry.switches.as_deref().map(|text| NodeSet::parse_switches(text, network));
    let switches = switches.transpose().map_err(refuse("switches"))?;
    let ports = entry.ports.as_deref().map(|text| {
        let ports = numbers(text).filter(|ports| !ports.is_empty());
        let ports =
            ports.and_then(|ports| ports.into_iter().map(|port| u16::try_from(port.checked_sub(1)?).ok()).collect());
        ports.ok_or_else(|| {
            format!("\"{text}\" is no list of ports, counted from 1; expected such as [1, 3], or \"1-4, 6\"")
        })
    });
    Ok(ProfileUse {
        priorities: entry.priorities,
        profile: find(entry, "profile", &entry.profile, profiles)?,
        rate: entry.rate,
        switches: switches.map(|switches| switches.iter().collect()),
        ports: ports.transpose().map_err(refuse("ports"))?,
    })
}

/// A selector that matches nothing is a slip, which would leave its ports to another entry without a word.
fn idle(entry: &Read<Use>) -> InputError {
    let rate = entry.rate.map(|rate| format!(" that runs at {rate}")).unwrap_or_default();
    let number = entry.ports.as_deref().map(|ports| format!(" of number {ports}")).unwrap_or_default();
    let whose = if entry.switches.is_some() { "none of these switches" } else { "no switch" };
    let keys = [("ports", entry.ports.is_some()), ("rate", entry.rate.is_some())];
    let key = keys.into_iter().find_map(|(key, is_given)| is_given.then_some(key)).unwrap_or("switches");
    let message =
        format!("{whose} has a port{number}{rate}, so the entry holds nowhere; expected ports that are there");
    entry.origin.error(&[key], message)
}

/// That queues of a lossless priority lose frames in spite of PFC, if any may.
pub(super) fn note(settings: &NodeSettings) -> Option<String> {
    let limited = settings.buffer_plan.as_ref()?.limited_queues();
    (limited != Priorities::NONE).then(|| {
        format!(
            "switch.buffer_queues limit queues of lossless priorities {limited} below their pool: what is more is dropped in \
             spite of PFC"
        )
    })
}
