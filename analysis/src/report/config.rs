// SPDX-License-Identifier: GPL-2.0-only
//! The effective configuration as flat keys.

use serde_json::{Map, Value};

/// Every value of a configuration under its dotted key, as text.
pub fn flat(scenario: &Value) -> Map<String, Value> {
    let mut keys = Map::new();
    add(&mut keys, "", scenario);
    keys
}

fn add(keys: &mut Map<String, Value>, path: &str, value: &Value) {
    match value {
        Value::Object(section) => {
            for (key, value) in section {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                add(keys, &path, value);
            }
        }
        Value::String(text) => drop(keys.insert(path.to_owned(), text.clone().into())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            drop(keys.insert(path.to_owned(), value.to_string().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sections_become_dots() {
        let keys = flat(&json!({"seed": 1, "wire": {"profile": "reference", "lists": [1, 2]}, "legacy": null}));
        let expected = json!({"seed": "1", "wire.profile": "reference", "wire.lists": "[1,2]", "legacy": "null"});
        assert_eq!(Value::Object(keys), expected);
    }
}
