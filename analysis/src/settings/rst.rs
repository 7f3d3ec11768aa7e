// SPDX-License-Identifier: GPL-2.0-only
//! The lists of `ns3-module/doc/hpcc.rst`: attributes of ns-3 classes.

use hpcc_core::node::{NodeSettings, Part};
use hpcc_core::settings::Setting;

use super::class;
use super::words::{default, meaning};

/// The attributes of a class; `None` if it has none.
pub fn list(settings: &NodeSettings, name: &str) -> Option<String> {
    let parts = settings.parts();
    let own: Vec<String> = parts.iter().filter(|part| class(part.owner) == Some(name)).map(items).collect();
    (!own.is_empty()).then(|| own.concat())
}

fn items(part: &Part<'_>) -> String {
    let item = |setting: Setting| {
        let (attribute, default, meaning) = (part.attribute(setting.key), default(&setting), meaning(&setting));
        format!("* ``{attribute}``, {}: {}\n", literals(&default), literals(&meaning))
    };
    part.settings.list().into_iter().map(item).collect()
}

/// What stands between backticks as rst has it.
fn literals(text: &str) -> String {
    text.replace('`', "``")
}
