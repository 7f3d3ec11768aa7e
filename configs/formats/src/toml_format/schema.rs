// SPDX-License-Identifier: GPL-2.0-only
//! The JSON schema of scenarios, with which editors complete and check them.
//!
//! Plain settings come from their declarations, all other keys from the structures that they are read into.

use super::attack::REQUIRED;
use super::keys::{Form, Group, Key, KindOf, Kinds};
use super::{failures, fast_cnp, hardware, legacy, receive, servers, settings, topology, traffic};
use hpcc_core::attack::AttackSettings;
use hpcc_core::cc::Algorithm;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Kind, Setting, Settings, Value as SettingValue, quantity};
use hpcc_model::flow::MOST_BYTES;
use hpcc_model::scenario::{Legacy, compatibility};
use serde_json::{Map, Value, json};

/// The schema of a scenario in TOML.
pub fn scenario() -> Value {
    let nodes = NodeSettings::default();
    let plain = |section: &str| nodes.section(section, None);
    let sections = json!({
        "compatibility": section(&compatibility::settings()),
        "run": object(&settings::Run::keys()),
        "topology": kinded::<topology::Shape>("Shape of the network, which decides on the other keys."),
        "congestion_control": congestion_control(&nodes),
        "telemetry": section(&plain("telemetry")),
        "wire": section(&plain("wire")),
        "transport": section(&plain("transport")),
        "receive": receivers(section(&plain("receive"))),
        "switch": with_lists(section(&plain("switch")), &settings::SwitchLists::keys()),
        "load_balancing": section(&plain("load_balancing")),
        "traffic": { "type": "array", "items": kinded::<traffic::Kind>("Kind of traffic, which decides on the other keys.") },
        "servers": object(&servers::Gpus::keys()),
        "gpu": object(&hardware::OfGpu::keys()),
        "nic": object(&hardware::OfNic::keys()),
        "legacy": legacy_nodes(&nodes),
        "failures": object(&failures::Failures::keys()),
        "fast_cnp": with_lists(section(&plain("fast_cnp")), &fast_cnp::Lists::keys()),
        "attack": { "type": "array", "items": attack() },
        "monitor": object(&settings::Recorded::keys()),
    });
    json!({ "type": "object", "properties": sections, "required": ["run", "topology"], "additionalProperties": false })
}

/// An attack.
fn attack() -> Value {
    let mut attack = section(&AttackSettings::default().list());
    attack["required"] = REQUIRED.as_slice().into();
    attack
}

/// Slow hosts: a section or a list of them, whose rate may be a list.
fn receivers(mut section: Value) -> Value {
    for list in receive::Rates::keys() {
        let plain = section["properties"][list.setting.key].take();
        section["properties"][list.setting.key] = either(&[plain, key(list)]);
    }
    let mut receivers = either(&[section.clone(), json!({ "type": "array", "items": section })]);
    receivers["description"] =
        "Hosts that are slower than their links: a section, or several for hosts that differ.".into();
    receivers
}

/// A section of plain settings.
fn section(settings: &[Setting]) -> Value {
    json!({ "type": "object", "properties": properties(settings), "additionalProperties": false })
}

fn properties(settings: &[Setting]) -> Map<String, Value> {
    settings.iter().map(|setting| (setting.key.into(), described(setting))).collect()
}

/// Adds the lists of a section.
fn with_lists(mut section: Value, lists: &[&Key]) -> Value {
    for list in lists {
        section["properties"][list.setting.key] = key(list);
    }
    section
}

/// A section with these keys.
fn object(keys: &[&Key]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|one| (one.setting.key.into(), key(one))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required).map(|key| key.setting.key).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn key(Key { setting, form, .. }: &Key) -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items, "description": setting.help });
    match form {
        Form::One => described(setting),
        Form::Lasting => {
            let mut schema = described(setting);
            if let Some(forms) = schema["anyOf"].as_array_mut() {
                forms.push(json!({ "const": "endless" }));
            }
            schema
        }
        Form::Tables(keys) => list(object(keys)),
        Form::Pairs => {
            list(json!({ "type": "array", "items": whole(0, u32::MAX.into()), "minItems": 2, "maxItems": 2 }))
        }
    }
}

/// A section whose other keys depend on its `kind`.
fn kinded<K: Kinds>(help: &str) -> Value {
    let one = |kind: &KindOf<K>| {
        let mut keys = object(&kind.keys());
        keys["properties"]["kind"] = json!({ "const": kind.name, "description": help });
        if let Some(required) = keys["required"].as_array_mut() {
            required.push("kind".into());
        }
        keys
    };
    json!({ "type": "object", "oneOf": K::kinds().iter().map(one).collect::<Vec<_>>() })
}

/// The section whose keys depend on the algorithm. Editors are offered the parameters of all algorithms; a file may
/// have only its algorithm's. Parameters of a class of an ns-3 program are not known here, and `none` has none.
fn congestion_control(settings: &NodeSettings) -> Value {
    let choice = settings.section("congestion_control", None);
    let mut all = properties(&choice);
    let class = json!({ "type": "string", "pattern": "::", "description": "A class of an ns-3 program." });
    all["algorithm"] = either(&[all["algorithm"].take(), class]);
    let own = parameters(settings, settings.control.all(), &mut all, settings.control.chosen().name());
    json!({ "type": "object", "properties": all, "allOf": own })
}

/// The section of legacy nodes, with the parameters of all algorithms.
fn legacy_nodes(settings: &NodeSettings) -> Value {
    let Value::Object(mut all) = object(&legacy::Nodes::keys())["properties"].take() else { return json!({}) };
    let names: Vec<&str> = legacy::usable(settings).map(|algorithm| algorithm.name()).collect();
    let help = "Congestion control of flows from those hosts: one that reads no telemetry, or a class of ns-3's TCP. Its parameters \
                may follow.";
    let default = Legacy::algorithm();
    let class = json!({ "type": "string", "pattern": "::", "description": "A class of an ns-3 program." });
    let known = [json!({ "enum": names }), class];
    let algorithm = json!({ "anyOf": known, "default": default.name(), "description": help });
    all.insert("algorithm".into(), algorithm);
    let own = parameters(settings, legacy::usable(settings), &mut all, default.name());
    json!({ "type": "object", "properties": all, "allOf": own })
}

/// What each of some algorithms allows in its section, whose keys besides parameters are in `all`; parameters are added.
fn parameters<'a>(
    settings: &NodeSettings,
    algorithms: impl Iterator<Item = &'a dyn Algorithm>,
    all: &mut Map<String, Value>,
    default: &str,
) -> Vec<Value> {
    let fixed: Vec<String> = all.keys().cloned().collect();
    let mut own = Vec::new();
    for algorithm in algorithms {
        let parameters = properties(&settings.section("congestion_control", Some(algorithm.name())));
        if parameters.is_empty() {
            continue;
        }
        let names: Vec<&String> = fixed.iter().chain(parameters.keys()).collect();
        let required: &[&str] = if algorithm.name() == default { &[] } else { &["algorithm"] };
        own.push(json!({
            "if": { "properties": { "algorithm": { "const": algorithm.name() } }, "required": required },
            "then": { "properties": parameters, "propertyNames": { "enum": names } },
        }));
        for (key, schema) in parameters {
            all.entry(key).or_insert_with(|| json!({ "description": schema["description"] }));
        }
    }
    own
}

/// Keys of text that never lists nodes, but names a file or what a file says.
const NO_NODES: [&str; 2] = ["file", "profile"];

/// A setting: its help, its default, and what can be given.
fn described(setting: &Setting) -> Value {
    let is_plain = matches!(setting.kind, Kind::Text) && NO_NODES.contains(&setting.key);
    let mut schema = if is_plain {
        json!({ "type": "string" })
    } else if setting.auto {
        either(&[values(&setting.kind), json!({ "const": "auto" })])
    } else {
        values(&setting.kind)
    };
    schema["description"] = setting.help.as_str().into();
    schema["default"] = match &setting.default {
        SettingValue::Switch(on) => json!(on),
        SettingValue::Count(count) => json!(count),
        SettingValue::Real(number) => json!(number),
        SettingValue::Text(text) => json!(text),
        SettingValue::Auto if !setting.auto => return schema,
        SettingValue::Bytes(_)
        | SettingValue::Time(_)
        | SettingValue::Rate(_)
        | SettingValue::Word(_)
        | SettingValue::Auto => {
            json!(setting.default.pretty())
        }
    };
    schema
}

/// What a kind of setting can be. The range of a value with a unit is for the reader to check.
fn values(kind: &Kind) -> Value {
    let zero = || json!({ "const": 0 });
    match kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Count { least, most } => whole(*least, *most),
        Kind::Bytes { .. } => {
            let plain = json!({ "type": "integer", "minimum": 0 });
            called(SIZE, &[with_unit(quantity::SIZES), plain, json!({ "type": "string", "pattern": "^[0-9]+$" })])
        }
        Kind::Time { least: 0, .. } => called(TIME, &[with_unit(quantity::TIMES), zero()]),
        Kind::Rate { least: 0, .. } => called(RATE, &[with_unit(quantity::RATES), zero()]),
        Kind::Time { .. } => called(INTERVAL, &[with_unit(quantity::TIMES)]),
        Kind::Rate { .. } => called(RATE, &[with_unit(quantity::RATES)]),
        Kind::Real { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Text => {
            let numbers = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } });
            either(&[json!({ "type": "string" }), json!({ "type": "integer", "minimum": 0 }), numbers])
        }
    }
}

fn whole(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn either(schemas: &[Value]) -> Value {
    json!({ "anyOf": schemas })
}

/// A number with one of these units.
fn with_unit(units: &[(&str, u64)]) -> Value {
    let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
    json!({ "type": "string", "pattern": format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", units.join("|")) })
}

const SIZE: Kind = Kind::Bytes { least: 0, most: MOST_BYTES };
const TIME: Kind = Kind::Time { least: 0, most: quantity::LARGEST };
const INTERVAL: Kind = Kind::Time { least: 1, most: quantity::LARGEST };
const RATE: Kind = Kind::Rate { least: 0, most: quantity::LARGEST };

/// One of these, called as errors call what has no bounds.
fn called(kind: Kind, schemas: &[Value]) -> Value {
    let mut schema = either(schemas);
    schema["title"] = kind.expected().into();
    schema
}
