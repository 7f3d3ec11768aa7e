// SPDX-License-Identifier: GPL-2.0-only
//! What a scenario becomes before it runs: engines, with flows, attacks and random numbers.

use hpcc_core::attack::Attack;
use hpcc_core::engine::{Engine, FlowRequest, Order, Streams};
use hpcc_core::node::NodeSettings;
use hpcc_model::scenario::{EventOrder, Scenario};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// The stream of the 2019 simulator's error model, whose seed is 1.
const FIRST_LOSS_STREAM: u64 = (1 << 63) + 50;

/// Where the random numbers of a scenario come from.
pub fn engine_streams(scenario: &Scenario) -> Streams {
    let before = scenario.seed.wrapping_sub(1).wrapping_mul(1 << 32);
    Streams {
        marks: Streams::before_marks(&scenario.network, scenario.faults()).wrapping_add(before),
        // It never seeds C's generator, which then starts from 1.
        pint: scenario.seed as u32,
        losses: FIRST_LOSS_STREAM.wrapping_add(before),
        seed: 1,
    }
}

/// The engine of a scenario.
pub(crate) fn engine(scenario: &Scenario) -> Result<Engine, String> {
    let (network, streams) = (&scenario.network, engine_streams(scenario));
    let order = match scenario.order {
        EventOrder::Canonical => Order::Canonical,
        EventOrder::Insertion => Order::Insertion,
    };
    let borders: Vec<_> = scenario.borders.iter().map(|border| (border.node, border.outside)).collect();
    let common = Rc::new(scenario.settings.clone());
    let legacy = scenario.legacy.settings.clone().map(Rc::new);
    let settings = |node: u32| -> Rc<NodeSettings> {
        let legacy = legacy.as_ref().filter(|_| scenario.legacy.nodes.contains(&node));
        Rc::clone(legacy.unwrap_or(&common))
    };
    let made = Engine::new(network, settings, order, streams, scenario.default_loss, &borders);
    let mut engine = made.map_err(|wrong| wrong.to_string())?;
    for node in scenario.link_failures.iter().filter_map(|failure| failure.reboots) {
        engine.will_reboot(node, &settings(node), &borders).map_err(|wrong| wrong.to_string())?;
    }
    Ok(engine)
}

/// One engine for each thread.
pub(crate) fn engines(scenario: &Scenario, threads: u32) -> Result<Vec<Arc<Mutex<Engine>>>, String> {
    (0..threads.max(1)).map(|_| engine(scenario).map(|engine| Arc::new(Mutex::new(engine)))).collect()
}

/// The attacks of a scenario.
pub(crate) fn attack(scenario: &Scenario, engine: &mut Engine, groups: &[u32]) -> Result<(), String> {
    if scenario.attacks.is_empty() {
        return Ok(());
    }
    engine.name_traffic(groups.into(), scenario.flows.jobs.iter().map(|job| job.group).collect());
    for settings in &scenario.attacks {
        let attacked = scenario.attacked_groups(settings);
        let attack = Attack::new(settings, &scenario.network, &scenario.settings, attacked);
        let attack = attack.map_err(|wrong| format!("attack.{}: {}", wrong.key, wrong.message))?;
        engine.attack(attack);
    }
    Ok(())
}

/// All flows, and the number of each one's group.
pub(crate) fn requests(scenario: &Scenario) -> Result<(Vec<FlowRequest>, Vec<u32>), String> {
    let count = scenario.flows.totals.count as usize;
    let (mut requests, mut groups) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (id, flow) in scenario.flows.walk_groups().enumerate() {
        let (group, flow) = flow.map_err(|error| error.to_string())?;
        groups.push(group);
        requests.push(FlowRequest {
            id: id as u32,
            src: flow.src,
            dst: flow.dst,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size,
            start: flow.start,
            options: flow.options,
        });
    }
    Ok((requests, groups))
}
