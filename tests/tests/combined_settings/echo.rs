// SPDX-License-Identifier: GPL-2.0-only
//! The values that are in force in a scenario, those that were left to the simulator as well: with them it is the same one.

use hpcc_core::settings::Value;
use hpcc_formats::scenario::Scenario;
use std::collections::BTreeMap;

/// Every setting that counts, as overrides.
pub fn values(scenario: &Scenario) -> Vec<String> {
    let settings = &scenario.settings;
    let algorithm = scenario.algorithm().name();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for part in settings.parts() {
        let has_use = match part.section {
            "fast_cnp" => settings.fast_cnp.enabled,
            "receive" => settings.receive.is_any(),
            _ => true,
        };
        if part.section == "compatibility" || !has_use || part.algorithm.is_some_and(|name| name != algorithm) {
            continue;
        }
        // Borders are no setting, and are none here.
        for setting in part.settings.list().into_iter().filter(|setting| setting.key != "border_side") {
            let value = part.settings.get(setting.key).filter(|value| *value != Value::Auto);
            if let Some(value) = value.filter(|_| settings.counts(&part, &setting)) {
                values.insert(format!("{}.{}", part.section, setting.key), value.text());
            }
        }
    }
    values.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}
