// SPDX-License-Identifier: GPL-2.0-only
//! Tables of SONiC's `config_db.json` for a switch of a scenario: what [`read`](super::read) reads.

use super::dscp::Dscps;
use super::scheduler::{MOST_WEIGHT, UNIT};
use super::trimming::{ACTION, TRIM};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Named;
use hpcc_core::simulated_frame::dscp;
use hpcc_core::switch::{
    AsPlan, BufferPlan, BufferProfile, PRIORITIES, PortPlace, Priorities, Service, SwitchConfig, Threshold,
};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::{BitRate, Nanos};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the maps, which are one to one.
const MAP: &str = "hpcc";

/// The tables as text, and what has no counterpart in them.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// JSON.
    pub text: String,
    /// A sentence each.
    pub left_out: Vec<String>,
}

/// The tables of a switch, once settings are resolved and checked.
///
/// # Errors
/// If the node is no switch.
pub fn write(settings: &NodeSettings, network: &Network, node: u32) -> Result<Written, String> {
    if network.nodes.get(node as usize) != Some(&NodeKind::Switch) {
        return Err(format!("node {node} is no switch; expected one of {}", switches(network)));
    }
    let links = network.ports().swap_remove(node as usize);
    let links = links.iter().map(|port| &network.links[port.link as usize]);
    let ports: Vec<(BitRate, Nanos)> = links.map(|link| (link.rate, link.delay)).collect();
    let rates: Vec<BitRate> = ports.iter().map(|&(rate, _)| rate).collect();
    let config = settings.switch(&rates);
    let host_rate = network.host_rate().unwrap_or(BitRate(u64::MAX));
    let AsPlan { plan, mut left_out } = AsPlan::of(&config, host_rate, &ports);
    left_out.extend(others(network, node, &ports));
    let dscps = Dscps::of(settings);
    let mut tables = Tables { node, rates, config, plan, dscps, tables: Map::new(), left_out };
    tables.ports();
    tables.buffers();
    tables.queues();
    tables.maps();
    tables.watchdog();
    tables.trimming();
    // Several queues or ports may lack the same.
    let mut told = BTreeSet::new();
    tables.left_out.retain(|left_out| told.insert(left_out.clone()));
    let text = serde_json::to_string_pretty(&tables.tables).map_err(|error| error.to_string())?;
    Ok(Written { text: text + "\n", left_out: tables.left_out })
}

/// Says which switches the tables are not for.
fn others(network: &Network, node: u32, ports: &[(BitRate, Nanos)]) -> Option<String> {
    let all = network.ports();
    let has_others = |other: u32| {
        let links = all[other as usize].iter().map(|port| &network.links[port.link as usize]);
        !links.map(|link| (link.rate, link.delay)).eq(ports.iter().copied())
    };
    let first = network.switches().find(|&other| has_others(other))?;
    Some(format!(
        "switch {first} and perhaps others have other ports than {node}, and so other pools: write theirs apart"
    ))
}

fn switches(network: &Network) -> String {
    let numbers = network.switches().map(|node| node.to_string()).collect::<Vec<_>>();
    match &numbers[..] {
        [first, .., last] if numbers.len() > 8 => format!("{first} to {last}"),
        few => few.join(", "),
    }
}

struct Tables {
    node: u32,
    rates: Vec<BitRate>,
    config: SwitchConfig,
    plan: BufferPlan,
    dscps: Dscps,
    tables: Map<String, Value>,
    left_out: Vec<String>,
}

impl Tables {
    fn row(&mut self, table: &str, key: impl Into<String>, row: Value) {
        let rows = self.tables.entry(table).or_insert_with(|| json!({}));
        rows[key.into()] = row;
    }

    /// All priorities that have memory.
    fn priorities(&self) -> impl Iterator<Item = u8> + use<> {
        let (paused, lossy) = self.plan.priorities();
        (1..PRIORITIES as u8).filter(move |&priority| paused.and(lossy).serve(priority))
    }

    fn place(&self, port: usize) -> PortPlace {
        PortPlace { switch: self.node, port: port as u16, rate: self.rates[port] }
    }

    fn ports(&mut self) {
        for port in 0..self.rates.len() {
            let speed = (self.rates[port].0 / 1_000_000).to_string();
            self.row("PORT", name(port), json!({ "speed": speed, "admin_status": "up" }));
        }
    }

    fn buffers(&mut self) {
        for pool in self.plan.pools.clone() {
            let mut row = json!({ "type": pool.side.name(), "mode": "dynamic", "size": pool.size.to_string() });
            pool.xoff.into_iter().for_each(|xoff| row["xoff"] = xoff.to_string().into());
            self.row("BUFFER_POOL", pool.name, row);
        }
        let cut = self.config.trimming.map_or(Priorities::NONE, |trimming| trimming.priorities);
        let is_cut = |number: usize| {
            self.plan.queues.iter().any(|one| one.profile == number && one.priorities.without(cut) != one.priorities)
        };
        let profiles: Vec<(String, Value)> = self
            .plan
            .profiles
            .iter()
            .enumerate()
            .map(|(number, profile)| {
                let mut row = profile_row(profile, &self.plan);
                if is_cut(number) {
                    row[ACTION] = TRIM.into();
                }
                (profile.name.clone(), row)
            })
            .collect();
        profiles.into_iter().for_each(|(name, row)| self.row("BUFFER_PROFILE", name, row));
        for priority in self.priorities() {
            let of_ports = |find: &dyn Fn(&PortPlace) -> Option<String>| {
                let mut by_profile: BTreeMap<String, Vec<usize>> = BTreeMap::new();
                for port in 0..self.rates.len() {
                    find(&self.place(port))
                        .into_iter()
                        .for_each(|profile| by_profile.entry(profile).or_default().push(port));
                }
                by_profile
            };
            let named = |profile: Option<&BufferProfile>| profile.map(|profile| profile.name.clone());
            let groups = of_ports(&|place| named(self.plan.group(place, priority)));
            let queues = of_ports(&|place| named(self.plan.queue(place, priority)));
            for (table, uses) in [("BUFFER_PG", groups), ("BUFFER_QUEUE", queues)] {
                for (profile, ports) in uses {
                    self.row(table, format!("{}|{priority}", names(&ports)), json!({ "profile": profile }));
                }
            }
        }
    }

    /// Marks and schedulers.
    fn queues(&mut self) {
        let schedulers = self.schedulers();
        for priority in self.priorities() {
            let mut by_mark: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
            for port in 0..self.rates.len() {
                let mark = self.mark(priority, self.rates[port]);
                by_mark.entry(mark).or_default().push(port);
            }
            for (mark, ports) in by_mark {
                let mut row = json!({});
                mark.into_iter().for_each(|mark| row["wred_profile"] = mark.into());
                schedulers.get(&priority).into_iter().for_each(|scheduler| row["scheduler"] = scheduler.clone().into());
                self.row("QUEUE", format!("{}|{priority}", names(&ports)), row);
            }
        }
    }

    /// The name of the profile by which a priority is marked at ports of a rate, which is written; `None`: it is not.
    fn mark(&mut self, priority: u8, rate: BitRate) -> Option<String> {
        let all = self.config.ecn_thresholds.iter().find(|threshold| threshold.rate == rate).copied();
        let own = self.config.class_ecn[usize::from(priority)];
        let EcnThreshold { kmin, kmax, pmax, .. } =
            own.map(|own| own.scaled(rate)).or(all).filter(|_| self.config.ecn)?;
        if own.is_some_and(|own| own.kmin == u64::MAX) {
            return None;
        }
        let percent = pmax * 100.0;
        let rounded = percent.round();
        // 0.07 x 100 is 7.000000000000001.
        if (percent - rounded).abs() > 1e-9 {
            self.left_out
                .push(format!("a probability of {percent} % of marks: WRED has whole percents; {rounded} is nearest"));
        }
        let name = format!("hpcc_{kmin}_{kmax}_{rounded}");
        let row = json!({
            "ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": kmin.to_string(),
            "green_max_threshold": kmax.to_string(), "green_drop_probability": rounded.to_string(),
        });
        self.row("WRED_PROFILE", name.clone(), row);
        Some(name)
    }

    /// Schedulers of the priorities that have one, which are written.
    fn schedulers(&mut self) -> BTreeMap<u8, String> {
        let Some(classes) = self.config.classes else {
            self.left_out
                .push("queues are served in turn, a frame each: without SCHEDULER a switch does as it is made".into());
            return BTreeMap::new();
        };
        let services = classes.services();
        let quanta = services.iter().filter_map(|service| match service {
            Service::Weighted { quantum } => Some(u64::from(*quantum)),
            Service::Strict { .. } | Service::Leftover => None,
        });
        let weights = Weights::of(quanta.collect());
        self.left_out.extend(weights.left_out());
        let mut strict: Vec<(u8, u8)> = Vec::new();
        let mut found = BTreeMap::new();
        for (priority, service) in (0..).zip(services).skip(1) {
            let (name, row) = match service {
                Service::Strict { place } => {
                    strict.push((place, priority));
                    ("scheduler.strict".to_string(), json!({ "type": "STRICT" }))
                }
                Service::Weighted { quantum } => {
                    let weight = weights.weight(quantum.into());
                    (format!("scheduler.{weight}"), json!({ "type": "DWRR", "weight": weight.to_string() }))
                }
                Service::Leftover => continue,
            };
            self.row("SCHEDULER", name.clone(), row);
            found.insert(priority, name);
        }
        strict.sort_unstable();
        if !strict.iter().rev().is_sorted_by_key(|(_, priority)| priority) {
            self.left_out.push("the order of strict classes: SONiC serves the highest queue first".into());
        }
        found
    }

    fn maps(&mut self) {
        let classes = || (0..PRIORITIES).map(|class| class.to_string());
        let to_itself: Map<String, Value> = classes().map(|class| (class.clone(), class.into())).collect();
        for table in ["TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"] {
            self.row(table, MAP, to_itself.clone().into());
        }
        let of_dscp: Map<String, Value> =
            self.dscps.of_classes().map(|(dscp, class)| (dscp.to_string(), class.to_string().into())).collect();
        self.row("DSCP_TO_TC_MAP", MAP, of_dscp.into());
        self.left_out.extend(self.dscps.amiss());
        let paused = self.plan.priorities().0;
        let paused =
            (1..PRIORITIES as u8).filter(|&priority| paused.serve(priority)).map(|priority| priority.to_string());
        let paused = paused.collect::<Vec<_>>().join(",");
        let mut row = json!({
            "dscp_to_tc_map": MAP, "tc_to_pg_map": MAP, "tc_to_queue_map": MAP, "pfc_to_queue_map": MAP, "pfc_enable": paused,
        });
        if self.config.watchdog.is_some() {
            row["pfcwd_sw_enable"] = row["pfc_enable"].clone();
        }
        for port in 0..self.rates.len() {
            self.row("PORT_QOS_MAP", name(port), row.clone());
        }
    }

    fn watchdog(&mut self) {
        let Some(watchdog) = self.config.watchdog else { return };
        let millis = |time: Nanos| time.0.div_ceil(1_000_000).max(1);
        let times = [watchdog.after, watchdog.restore, watchdog.poll];
        if times.iter().any(|time| time.0 % 1_000_000 != 0) {
            self.left_out.push("times of the watchdog that are no whole milliseconds: rounded up".into());
        }
        let row = json!({
            "action": watchdog.action.name(), "detection_time": millis(watchdog.after).to_string(),
            "restoration_time": millis(watchdog.restore).to_string(),
        });
        for port in 0..self.rates.len() {
            self.row("PFC_WD", name(port), row.clone());
        }
        if watchdog.poll == Nanos(0) {
            self.left_out.push("a watchdog that looks all the time: POLL_INTERVAL is 1 ms".into());
        }
        self.row("PFC_WD", "GLOBAL", json!({ "POLL_INTERVAL": millis(watchdog.poll).to_string() }));
    }

    fn trimming(&mut self) {
        let Some(trimming) = self.config.trimming else { return };
        if trimming.size == 0 {
            self.left_out.push("trim_size = \"auto\": switches keep so many bytes, 128 of which are written".into());
        }
        let size = if trimming.size == 0 { 128 } else { trimming.size };
        let (queue, dscp) = (trimming.queue.to_string(), dscp(trimming.queue));
        let row = json!({ "size": size.to_string(), "queue_index": queue, "dscp_value": dscp.to_string() });
        self.row("SWITCH_TRIMMING", "GLOBAL", row);
        self.left_out.push(
            "trim_threshold, trim_headers and trim_last: a switch trims where the queue's profile has no room".into(),
        );
    }
}

/// Weights with the ratios of quanta.
struct Weights {
    /// Bytes of a unit of weight.
    unit: f64,
    is_exact: bool,
}

impl Weights {
    fn of(quanta: Vec<u64>) -> Weights {
        let divisor = quanta.iter().copied().fold(0, gcd);
        let most = quanta.iter().copied().max().unwrap_or(0);
        if quanta.iter().all(|quantum| quantum % UNIT == 0 && quantum / UNIT <= MOST_WEIGHT) {
            return Weights { unit: UNIT as f64, is_exact: true };
        }
        if most <= MOST_WEIGHT * divisor {
            return Weights { unit: divisor as f64, is_exact: true };
        }
        Weights { unit: most as f64 / MOST_WEIGHT as f64, is_exact: false }
    }

    fn weight(&self, quantum: u64) -> u64 {
        ((quantum as f64 / self.unit).round() as u64).clamp(1, MOST_WEIGHT)
    }

    fn left_out(&self) -> Option<String> {
        (!self.is_exact).then(|| format!("quanta of classes: weights up to {MOST_WEIGHT} have not the same ratios"))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn profile_row(profile: &BufferProfile, plan: &BufferPlan) -> Value {
    let mut row = json!({ "pool": plan.pools[profile.pool].name, "size": profile.reserve.to_string() });
    match profile.threshold {
        Threshold::Dynamic(n) => row["dynamic_th"] = n.to_string().into(),
        Threshold::Static(bytes) => row["static_th"] = bytes.to_string().into(),
    }
    if let Some(xoff) = profile.xoff {
        let of_pauses = [("xoff", xoff), ("xon", profile.xon), ("xon_offset", profile.xon_offset)];
        of_pauses.into_iter().for_each(|(key, bytes)| row[key] = bytes.to_string().into());
    }
    row
}

/// What SONiC calls a port, from 0.
fn name(port: usize) -> String {
    format!("Ethernet{port}")
}

fn names(ports: &[usize]) -> String {
    ports.iter().map(|&port| name(port)).collect::<Vec<_>>().join(",")
}
