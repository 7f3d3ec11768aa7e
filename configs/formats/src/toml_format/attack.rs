// SPDX-License-Identifier: GPL-2.0-only
//! `[[attack]]`: what it can hold is declared in the core.

use super::assign::set_all;
use super::document::Document;
use super::source::Entry;
use hpcc_core::attack::AttackSettings;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Setting, Settings};
use hpcc_core::topology::Network;
use hpcc_model::error::{InputError, suggestion};
use hpcc_model::flows::Traffic;

const SECTION: &str = "attack";
/// Keys without which an attack says nothing.
pub(super) const REQUIRED: [&str; 2] = ["kind", "from"];

/// The attacks on some of the traffic, each of them possible in the network, whose nodes' settings are resolved and checked.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    nodes: &NodeSettings,
    traffic: &[Traffic],
) -> Result<Vec<AttackSettings>, InputError> {
    document.list(SECTION)?.iter().map(|section| attack(section, network, nodes, traffic)).collect()
}

fn attack(
    section: &Entry<'_>,
    network: &Network,
    nodes: &NodeSettings,
    traffic: &[Traffic],
) -> Result<AttackSettings, InputError> {
    let mut attack = AttackSettings::default();
    let entries = section.section()?;
    set_all(&mut attack, SECTION, &entries, &[])?;
    let given = |key: &str| entries.iter().find(|entry| entry.key == key);
    let place = |key: &str| given(key).unwrap_or(section).place();
    let required = |setting: &&Setting| REQUIRED.contains(&setting.key) && given(setting.key).is_none();
    if let Some(missing) = attack.list().iter().find(required) {
        let message = format!("{} is missing from [[{SECTION}]]; expected {}", missing.key, missing.kind.expected());
        return Err(place(missing.key).key_error(format!("{SECTION}.{}", missing.key), message));
    }
    let names: Vec<&str> = traffic.iter().map(|traffic| traffic.group.as_str()).collect();
    let unknown = attack.traffic().and_then(|mut attacked| attacked.find(|name| !names.contains(name)));
    if let Some(name) = unknown {
        let message = format!("there is no traffic named \"{name}\"{}", suggestion(name, &names));
        return Err(place("traffic").key_error(format!("{SECTION}.traffic"), message));
    }
    attack
        .check(network, nodes)
        .map_err(|wrong| place(wrong.key).key_error(format!("{SECTION}.{}", wrong.key), wrong.message))?;
    Ok(attack)
}
