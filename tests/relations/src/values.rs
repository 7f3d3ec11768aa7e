// SPDX-License-Identifier: GPL-2.0-only
//! A valid value for each kind of setting: often an end of its range, mostly something near its default.

use crate::{ScenarioRng, document};
use hpcc_core::settings::{Kind, Setting, Value};

/// Most of what a TOML file can write as a whole number.
const LARGEST: u64 = i64::MAX as u64;

/// Numbers to draw around where a setting's default is none.
struct Usual {
    bytes: u64,
    nanos: u64,
    rate: u64,
    count: u64,
    real: f64,
}

const USUAL: Usual = Usual { bytes: 20_000, nanos: 10_000, rate: 10_000_000_000, count: 4, real: 0.5 };

/// A value of a setting as a file has it. There are so many hosts and nodes.
///
/// # Panics
/// If the setting is an unknown text.
pub fn of(rng: &mut ScenarioRng, setting: &Setting, hosts: u64, nodes: u64) -> toml::Value {
    if setting.auto && rng.chance(15) {
        return "auto".into();
    }
    let default = number(&setting.default);
    let around = |usual| default.unwrap_or(usual);
    match &setting.kind {
        Kind::Switch => rng.chance(50).into(),
        Kind::Count { least, most } => (whole(rng, *least, *most, around(USUAL.count)) as i64).into(),
        Kind::Bytes { least, most } => (whole(rng, *least, *most, around(USUAL.bytes)) as i64).into(),
        Kind::Time { least, most } => document::time(whole(rng, *least, *most, around(USUAL.nanos))),
        Kind::Rate { least, most } => format!("{}bps", whole(rng, *least, *most, around(USUAL.rate))).into(),
        Kind::Real { least, most } => {
            let near = if let Value::Real(default) = setting.default { default } else { USUAL.real };
            real(rng, *least, *most, near).into()
        }
        Kind::Choice(words) => words[rng.below(words.len() as u64) as usize].clone().into(),
        Kind::Text => text(rng, setting.key, hosts, nodes).into(),
    }
}

/// The number that a default is, if it is a whole one.
fn number(default: &Value) -> Option<u64> {
    match default {
        Value::Count(number) | Value::Bytes(number) => Some(*number),
        Value::Time(time) => Some(time.0),
        Value::Rate(rate) => Some(rate.0),
        Value::Switch(_) | Value::Real(_) | Value::Word(_) | Value::Text(_) | Value::Auto => None,
    }
}

/// A part of 1.
fn part(rng: &mut ScenarioRng) -> f64 {
    rng.below(1 << 30) as f64 / f64::from(1 << 30)
}

/// A factor between 1/8 and 8.
fn factor(rng: &mut ScenarioRng) -> f64 {
    (6.0 * part(rng) - 3.0).exp2()
}

fn whole(rng: &mut ScenarioRng, least: u64, most: u64, near: u64) -> u64 {
    let most = most.min(LARGEST);
    let drawn = match rng.below(9) {
        0 => least,
        1 => most,
        2 => least + rng.below(4),
        3 | 4 => (40.0 * part(rng)).exp2() as u64,
        _ => (near as f64 * factor(rng)) as u64,
    };
    drawn.clamp(least, most)
}

fn real(rng: &mut ScenarioRng, least: f64, most: f64, near: f64) -> f64 {
    let drawn = match rng.below(7) {
        0 => least,
        1 => most,
        2 | 3 => least + (most - least) * part(rng),
        _ => near * factor(rng),
    };
    drawn.clamp(least, most)
}

/// A set of nodes.
pub fn nodes(rng: &mut ScenarioRng, hosts: u64, nodes: u64) -> String {
    match rng.below(7) {
        0 => "none".into(),
        1 => "all".into(),
        2 => "hosts".into(),
        3 => "switches".into(),
        4 => format!("0-{}", rng.below(nodes)),
        5 => rng.below(hosts).to_string(),
        _ => rng.below(nodes).to_string(),
    }
}

fn text(rng: &mut ScenarioRng, key: &str, hosts: u64, count: u64) -> String {
    const CLASSES: &[&str] =
        &["", "3:strict", "3:3000", "3:1, 4:4294967295", "3:1000, 4:3000, 5:strict", "0:strict, 3:9000", "5:1500"];
    match key {
        "classes" => rng.one_of(CLASSES).into(),
        "pfc_priorities" => rng.one_of(&["3", "0", "3, 4", "3, 4, 5", "1, 2, 3, 4, 5, 6, 7", "6"]).into(),
        "lossy_priorities" | "priorities" => rng.one_of(&["5", "0", "1, 2", "6", "3"]).into(),
        "class_alpha" => rng.one_of(&["", "3:0.5", "3:1, 4:0.25", "5:2", "3:0.125, 5:0.5"]).into(),
        "class_ecn" => rng.one_of(&["", "3:100KB 400KB 0.2", "3:none", "3:10KB 10KB 1, 4:none"]).into(),
        "schedule" => rng.one_of(&["none", "100us 20Gbps", "50us 10Gbps, 150us 100Gbps"]).into(),
        "victims" => {
            if rng.chance(50) {
                "hosts".into()
            } else {
                rng.below(hosts).to_string()
            }
        }
        "traffic" => "auto".into(),
        "seal" => rng.one_of(&["", "000102030405060708090a0b0c0d0e0f", "ffffffffffffffffffffffffffffffff"]).into(),
        "incapable"
        | "domain"
        | "capable"
        | "accept_from"
        | "telemetry_hidden_from"
        | "csig_strip"
        | "hosts"
        | "switches" => nodes(rng, hosts, count),
        _ => panic!("{key} is a text that nothing is known of here"),
    }
}
