// SPDX-License-Identifier: GPL-2.0-only
//! `[[attack]]`: what it can hold is declared in the core.

use super::document::{Document, Entries};
use super::plain::assign;
use crate::error::{InputError, suggestion};
use crate::flows::Traffic;
use crate::scenario::Blame;
use hpcc_core::attack::{AttackKind, AttackSettings};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Settings;
use hpcc_core::topology::Network;

const SECTION: &str = "attack";
/// Keys without which an attack says nothing.
pub(super) const REQUIRED: [&str; 2] = ["kind", "from"];

/// The attacks on some of the traffic, each of them possible in the network, whose nodes' settings are resolved and checked.
/// Each has what is to blame if it hits nobody.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    nodes: &NodeSettings,
    traffic: &[Traffic],
) -> Result<Vec<(AttackSettings, Blame)>, InputError> {
    let sections = document.entries_list(SECTION)?;
    sections.into_iter().map(|entries| attack(entries, network, nodes, traffic)).collect()
}

fn attack(
    (entries, section): Entries,
    network: &Network,
    nodes: &NodeSettings,
    traffic: &[Traffic],
) -> Result<(AttackSettings, Blame), InputError> {
    let mut attack = AttackSettings::default();
    let known = attack.list();
    for entry in &entries {
        let wrong = |message| entry.place.key_error(format!("{SECTION}.{}", entry.key), message);
        let Some(setting) = known.iter().find(|setting| setting.key == entry.key) else {
            let keys: Vec<&str> = known.iter().map(|setting| setting.key).collect();
            return Err(wrong(format!("unknown key {} in [[{SECTION}]]{}", entry.key, suggestion(&entry.key, &keys))));
        };
        assign(setting, entry, |input| attack.set(setting.key, input)).map_err(wrong)?;
    }
    let given = |key: &str| entries.iter().find(|entry| entry.key == key);
    if let Some(missing) = known.iter().find(|setting| REQUIRED.contains(&setting.key) && given(setting.key).is_none())
    {
        let message = format!("{} is missing from [[{SECTION}]]; expected {}", missing.key, missing.kind.expected());
        return Err(section.key_error(format!("{SECTION}.{}", missing.key), message));
    }
    let place = |key: &str| given(key).map_or(&section, |entry| &entry.place);
    for entry in &entries {
        let setting = known.iter().find(|setting| setting.key == entry.key);
        if let Some(message) = setting.and_then(|setting| setting.idle(&attack)) {
            return Err(entry.place.key_error(format!("{SECTION}.{}", entry.key), message));
        }
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
    let aim = if attack.kind == AttackKind::ForgedPfc { "from" } else { "victims" };
    let blame = Blame::new(place(aim).clone(), format!("{SECTION}.{aim}"));
    Ok((attack, blame))
}
