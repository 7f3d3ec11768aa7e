// SPDX-License-Identifier: GPL-2.0-only
//! The JSON schema of scenarios, with which editors complete and check them.
//!
//! Plain settings come from their declarations, all other keys from the structures that they are read into.

use super::attack::REQUIRED;
use super::failures::FailureKeys;
use super::fast_cnp::FastCnpLists;
use super::legacy::{self, LegacyKeys};
use super::settings::{MonitorKeys, RunKeys, SwitchLists, TransportLists};
use super::values::{Bounded, Fraction, HostNames, Interval, Payload, Probability, Rate, Size, Time};
use super::{topology, traffic};
use crate::scenario::{Legacy, compatibility};
use hpcc_core::attack::AttackSettings;
use hpcc_core::cc::Algorithm;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Kind, Setting, Settings, Value as SettingValue, quantity};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The schema of a type, without title and references.
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(object) = &mut schema {
        object.retain(|key, _| !["$schema", "title"].contains(&key.as_str()));
    }
    schema
}

/// The schema of a scenario in TOML.
pub fn scenario() -> Value {
    let settings = NodeSettings::default();
    let plain = |section: &str| settings.section(section, None);
    let sections = json!({
        "compatibility": section(&compatibility::settings()),
        "run": of::<RunKeys>(),
        "topology": kinded("What the network looks like, by which the section has other keys.", topology::schemas()),
        "congestion_control": congestion_control(&settings),
        "telemetry": section(&plain("telemetry")),
        "wire": section(&plain("wire")),
        "transport": with_lists(section(&plain("transport")), of::<TransportLists>()),
        "receive": section(&plain("receive")),
        "switch": with_lists(section(&plain("switch")), of::<SwitchLists>()),
        "traffic": { "type": "array", "items": kinded("How flows come about, by which the section has other keys.", traffic::schemas()) },
        "legacy": legacy_nodes(&settings),
        "failures": of::<FailureKeys>(),
        "fast_cnp": with_lists(section(&plain("fast_cnp")), of::<FastCnpLists>()),
        "attack": { "type": "array", "items": attack() },
        "monitor": of::<MonitorKeys>(),
    });
    json!({ "type": "object", "properties": sections, "required": ["run", "topology"], "additionalProperties": false })
}

/// An attack.
fn attack() -> Value {
    let mut attack = section(&AttackSettings::default().list());
    attack["required"] = REQUIRED.as_slice().into();
    attack
}

/// A section of plain settings.
fn section(settings: &[Setting]) -> Value {
    json!({ "type": "object", "properties": properties(settings), "additionalProperties": false })
}

fn properties(settings: &[Setting]) -> Map<String, Value> {
    settings.iter().map(|setting| (setting.key.into(), described(setting))).collect()
}

/// Adds the lists of a section. One that is a text as well may be either.
fn with_lists(mut section: Value, lists: Value) -> Value {
    let Some(lists) = lists["properties"].as_object() else { return section };
    for (key, list) in lists {
        let text = section["properties"][key].take();
        section["properties"][key] = if text.is_null() { list.clone() } else { either(&[text, list.clone()]) };
    }
    section
}

/// A section whose other keys depend on its `kind`.
fn kinded(help: &str, kinds: Vec<(&str, Value)>) -> Value {
    let one = |(kind, mut keys): (&str, Value)| {
        keys["properties"]["kind"] = json!({ "const": kind, "description": help });
        let required = keys["required"].as_array().cloned().unwrap_or_default();
        keys["required"] = [required, vec!["kind".into()]].concat().into();
        keys
    };
    json!({ "type": "object", "oneOf": kinds.into_iter().map(one).collect::<Vec<_>>() })
}

/// The section whose keys depend on the algorithm. Editors are offered the parameters of all; a file may have those of its
/// own. A class of an ns-3 program has parameters that nobody knows here, and `none` has no use for any.
fn congestion_control(settings: &NodeSettings) -> Value {
    let choice = settings.section("congestion_control", None);
    let mut all = properties(&choice);
    let class = json!({ "type": "string", "pattern": "::", "description": "A class of an ns-3 program." });
    all["algorithm"] = either(&[all["algorithm"].take(), class]);
    let own = parameters(settings, settings.control.all(), &mut all, settings.control.chosen().name());
    json!({ "type": "object", "properties": all, "allOf": own })
}

/// The section of legacy nodes, likewise.
fn legacy_nodes(settings: &NodeSettings) -> Value {
    let Value::Object(mut all) = of::<LegacyKeys>()["properties"].take() else { return json!({}) };
    let names: Vec<&str> = legacy::usable(settings).map(|algorithm| algorithm.name()).collect();
    let help = "Congestion control of flows from those hosts: one that reads no telemetry. Its parameters may follow.";
    let default = Legacy::algorithm();
    all.insert("algorithm".into(), json!({ "enum": names, "default": default.name(), "description": help }));
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

/// A setting: its help, its default, and what can be given.
fn described(setting: &Setting) -> Value {
    let mut schema =
        if setting.auto { either(&[values(&setting.kind), json!({ "const": "auto" })]) } else { values(&setting.kind) };
    schema["description"] = setting.help.as_str().into();
    schema["default"] = match &setting.default {
        SettingValue::Switch(on) => json!(on),
        SettingValue::Count(count) => json!(count),
        SettingValue::Real(number) => json!(number),
        SettingValue::Text(text) => json!(text),
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
    match kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Bytes { .. } => of::<Size>(),
        Kind::Time { least: 0, .. } => of::<Time>(),
        Kind::Rate { least: 0, .. } => either(&[of::<Rate>(), json!({ "const": 0 })]),
        Kind::Time { .. } => of::<Interval>(),
        Kind::Rate { .. } => of::<Rate>(),
        Kind::Real { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Text => either(&[
            json!({ "type": "string" }),
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
        ]),
    }
}

fn either(schemas: &[Value]) -> Value {
    json!({ "anyOf": schemas })
}

/// A number with one of these units.
fn with_unit(units: &[(&str, u64)]) -> Value {
    let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
    json!({ "type": "string", "pattern": format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", units.join("|")) })
}

/// The same, called as errors call it.
fn called(kind: &Kind, mut schema: Value) -> Schema {
    schema["title"] = kind.expected().into();
    Schema::try_from(schema).unwrap_or_default()
}

const RATE: Kind = Kind::Rate { least: 0, most: u64::MAX };
const TIME: Kind = Kind::Time { least: 0, most: u64::MAX };
const SIZE: Kind = Kind::Bytes { least: 0, most: u64::MAX };

fn size() -> Value {
    let plain = json!({ "type": "integer", "minimum": 0 });
    either(&[with_unit(quantity::SIZES), plain, json!({ "type": "string", "pattern": "^[0-9]+$" })])
}

macro_rules! schemas {
    ($([$(const $parameter:ident: u32),*] $type:ty: $schema:expr;)*) => {$(
        impl<$(const $parameter: u32),*> JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

schemas! {
    [] Rate: called(&RATE, with_unit(quantity::RATES));
    [] Time: called(&TIME, either(&[with_unit(quantity::TIMES), json!({ "const": 0 })]));
    [] Interval: called(&TIME, with_unit(quantity::TIMES));
    [] Size: called(&SIZE, size());
    [] Payload: called(&SIZE, size());
    [] HostNames: json_schema!({
        "title": "hosts such as [0, 1], \"0-3\" or 5",
        "anyOf": [
            { "type": "string" },
            { "type": "integer", "minimum": 0 },
            { "type": "array", "items": { "type": "integer", "minimum": 0 } },
        ],
    });
    [] Probability: json_schema!({ "type": "number", "minimum": 0, "maximum": 1 });
    [const TWICE: u32] Fraction<TWICE>: json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": f64::from(TWICE) / 2.0 });
    [const MIN: u32, const MAX: u32] Bounded<MIN, MAX>: json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX });
}
