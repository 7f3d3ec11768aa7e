// SPDX-License-Identifier: GPL-2.0-only
//! The tables of `configs/README.md`: keys of scenario files.

use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Setting;

use super::section;
use super::words::{default, meaning};

/// The table of a section, or of all `algorithms`; `None` if there is none of that name.
pub fn table(settings: &NodeSettings, name: &str) -> Option<String> {
    let rows = match name {
        "algorithms" => settings.control.all().map(|algorithm| algorithm_rows(algorithm.name(), settings)).collect(),
        name => rows(&section(settings, name)),
    };
    (!rows.is_empty()).then(|| format!("| key | default | meaning |\n| --- | --- | --- |\n{rows}"))
}

/// An algorithm, and its parameters.
fn algorithm_rows(name: &str, settings: &NodeSettings) -> String {
    let summary = settings.control.all().find(|algorithm| algorithm.name() == name).map_or("", |known| known.summary());
    format!("| **{name}** | | {} |\n", summary) + &rows(&settings.section("congestion_control", Some(name)))
}

fn rows(settings: &[Setting]) -> String {
    settings.iter().map(row).collect()
}

fn row(setting: &Setting) -> String {
    format!("| `{}` | {} | {} |\n", setting.key, default(setting), meaning(setting).replace('|', "\\|"))
}
