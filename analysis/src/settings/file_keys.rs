// SPDX-License-Identifier: GPL-2.0-only
//! The keys of files, from their JSON schemas.

use serde_json::Value;

/// A key of a file.
pub struct Key {
    /// Section and key.
    pub path: String,
    /// What it means, where the schema has a description.
    pub help: Option<String>,
    /// The words that its value can be, as far as they can be listed.
    pub words: Vec<String>,
    /// What its value can be.
    pub expected: String,
    /// The kinds of its section that have it, where not all do.
    pub kinds: Vec<String>,
    /// Its default, where the schema has one.
    pub default: Option<String>,
}

/// All keys, in the order of the schema; a key that means the same in several kinds of a section stands once. `element`
/// stands behind the name of a section of which there can be several.
pub fn of(schema: &Value, element: &str) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for (name, section) in schema["properties"].as_object().into_iter().flatten() {
        let (path, keyed) = match section.get("items").filter(|items| !properties(items).is_empty()) {
            Some(items) => (format!("{name}{element}"), items),
            None => (name.clone(), section),
        };
        let found = properties(keyed);
        if found.is_empty() {
            add(&mut keys, name.clone(), section, None);
        }
        for (key, schema, kind) in found {
            add(&mut keys, format!("{path}.{key}"), schema, kind);
        }
    }
    keys
}

/// The keys of a section with their schemas, and with the kind that has them.
fn properties(section: &Value) -> Vec<(&str, &Value, Option<&str>)> {
    // A section that there can be several of is either one or a list.
    let kinds = ["oneOf", "anyOf"].into_iter().flat_map(|several| section[several].as_array()).flatten();
    let mut all = Vec::new();
    for keys in kinds.chain([section]) {
        let kind = keys["properties"]["kind"]["const"].as_str();
        for (key, schema) in keys["properties"].as_object().into_iter().flatten() {
            all.push((key.as_str(), schema, kind));
        }
    }
    all
}

fn add(keys: &mut Vec<Key>, path: String, schema: &Value, kind: Option<&str>) {
    let kinds = kind.into_iter().map(str::to_owned);
    let help = schema["description"].as_str().map(str::to_owned);
    let default = schema.get("default").filter(|value| !value.is_null()).map(ToString::to_string);
    let same = |known: &&mut Key| known.path == path && known.help == help && known.default == default;
    match keys.iter_mut().find(same) {
        Some(known) => {
            known.words.extend(words(schema));
            known.kinds.extend(kinds);
        }
        None => keys.push(Key {
            path,
            help,
            words: words(schema),
            expected: expected(schema),
            kinds: kinds.collect(),
            default,
        }),
    }
}

/// The words that a value can be.
fn words(schema: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut words: Vec<String> = schema["enum"].as_array().into_iter().flatten().filter_map(text).collect();
    words.extend(text(&schema["const"]));
    if schema["type"] == "boolean" {
        words.extend(["true", "false"].map(String::from));
    }
    let others = ["anyOf", "oneOf"].map(|several| schema[several].as_array().into_iter().flatten());
    words.extend(others.into_iter().flatten().flat_map(self::words));
    words
}

/// What a value can be, as an error would say it.
fn expected(schema: &Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.into();
    }
    let words = words(schema);
    if !words.is_empty() {
        return format!("one of {}", words.join(", "));
    }
    match kind(schema) {
        "integer" => format!("a whole number{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "array" if schema["items"].get("type").is_none() => "a list".into(),
        "array" if properties(&schema["items"]).is_empty() => format!("a list, each {}", expected(&schema["items"])),
        "array" | "object" => {
            let item = if kind(schema) == "array" { &schema["items"] } else { schema };
            let keys: Vec<&str> = properties(item).into_iter().map(|(key, _, _)| key).collect();
            format!("{{ {} }}{}", keys.join(", "), if kind(schema) == "array" { ", any number of them" } else { "" })
        }
        "string" => "text".into(),
        _ => {
            let others = ["anyOf", "oneOf"].into_iter().flat_map(|several| schema[several].as_array());
            let known = others.flatten().filter(|other| kind(other) != "null").map(expected);
            known.collect::<Vec<_>>().join(", or ")
        }
    }
}

/// The type of a value; a value that may be left out has a list of two types.
fn kind(schema: &Value) -> &str {
    let several = schema["type"].as_array().and_then(|types| types.first());
    several.unwrap_or(&schema["type"]).as_str().unwrap_or_default()
}

/// From where to where a number can be. What 32 bits hold is no bound that anybody would meet.
fn range(schema: &Value) -> String {
    let bound = |name: &str| schema.get(name).filter(|value| value.as_u64() != Some(u32::MAX.into()));
    let text = |word: &str, value: Option<&Value>| value.map_or_else(String::new, |value| format!(" {word} {value}"));
    text("from", bound("minimum")) + &text("above", bound("exclusiveMinimum")) + &text("to", bound("maximum"))
}
