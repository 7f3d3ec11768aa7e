// SPDX-License-Identifier: GPL-2.0-only
//! Settings for readers: `hpcc explain`, JSON schemas, and completion of `--set`.
//!
//! Nothing of a setting is said here: name, kind, range, default and help come from its declaration in the core.

mod complete;
mod explain;
mod file_keys;
mod schema;

pub use complete::{assignments, keys};
pub use explain::{assumed, explain, explain_named};
pub use file_keys::{Key, of as keys_of};
pub use schema::Schema;

use hpcc_core::attack::AttackSettings;
use hpcc_core::node::{NodeSettings, Owner, Part};
use hpcc_core::settings::{Setting, Settings};
use hpcc_model::scenario;

/// The section of the 2019 simulator's faults. A node has them in one text, files have a key for each, and a profile.
const FAULTS: &str = "compatibility";

/// The section of attacks, which are no node's settings.
const ATTACK: &str = "attack";

/// The settings of a section as files have them.
pub fn section(settings: &NodeSettings, section: &str) -> Vec<Setting> {
    match section {
        FAULTS => scenario::compatibility_settings(),
        ATTACK => AttackSettings::default().list(),
        other => settings.section(other, None),
    }
}

/// The settings of a part as files have them.
pub fn of_part(part: &Part<'_>) -> Vec<Setting> {
    if part.section == FAULTS { scenario::compatibility_settings() } else { part.settings.list() }
}

/// The class whose attributes settings are, if one has them.
pub fn class(owner: Owner) -> Option<&'static str> {
    match owner {
        Owner::Network => Some("EngineNetwork"),
        Owner::Host => Some("RdmaHost"),
        Owner::Switch => Some("QbbSwitch"),
        Owner::FastCnpHost => Some("FastCnpHost"),
        Owner::FastCnpSwitch => Some("FastCnpSwitch"),
        Owner::Nobody => None,
    }
}

/// The full name of a setting's attribute, if it is one.
fn attribute(part: &Part<'_>, setting: &Setting) -> Option<String> {
    let fault = || part.settings.list().first().map_or("", |setting| setting.key);
    let name = || part.attribute(if part.section == FAULTS { fault() } else { setting.key });
    class(part.owner_of(setting)).map(|class| format!("ns3::{class}::{}", name()))
}
