// SPDX-License-Identifier: GPL-2.0-only
//! Every setting that is declared, at and beyond the ends of its range.

use crate::{extremes, outcome};
use hpcc_core::node::{NodeSettings, Part};
use hpcc_core::settings::Setting;

/// Two flows to one host, short.
const SCENARIO: &str = "[run]\nstop = \"300us\"\n\
    [topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"20KB\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"40KB\"\nstart = \"5us\"\n";

/// Settings that another one needs to count.
fn surroundings(part: &Part<'_>, setting: &Setting) -> Vec<String> {
    let mut set = Vec::new();
    if let Some(algorithm) = part.algorithm {
        set.push(format!("congestion_control.algorithm={algorithm}"));
    }
    if part.section == "fast_cnp" {
        set.extend(["wire.profile=rocev2_ipv6".into(), "fast_cnp.enabled=true".into()]);
    }
    if let Some(condition) = setting.condition {
        set.push(format!("{}.{}={}", part.section, condition.key, condition.values[0]));
        if condition.values[0].starts_with("ioam") {
            set.push("wire.profile=rocev2_ipv6".into());
        }
    }
    set
}

#[test]
fn every_setting_has_limits_that_hold() {
    let node = NodeSettings::default();
    let mut runs = Vec::new();
    for part in node.parts() {
        for setting in part.settings.list() {
            for value in extremes::of(&setting.kind) {
                let mut set = surroundings(&part, &setting);
                set.push(format!("{}.{}={value}", part.section, setting.key));
                let files = vec![("scenario.toml", SCENARIO.to_owned())];
                runs.push((format!("{set:.200?}"), files, "scenario.toml".into(), set));
            }
        }
    }
    outcome::all_end_orderly(&runs, 1000);
}
