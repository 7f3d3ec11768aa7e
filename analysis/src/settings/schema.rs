// SPDX-License-Identifier: GPL-2.0-only
//! `hpcc schema`: JSON schemas of the files that users write.

use clap::ValueEnum;
use hpcc_formats::toml_format;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::sweep::SweepKeys;

/// A kind of file.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Schema {
    /// One simulation.
    Scenario,
    /// Variants of one.
    Sweep,
}

impl Schema {
    /// All of them.
    pub const ALL: [Schema; 2] = [Schema::Scenario, Schema::Sweep];

    /// Its place in the source tree.
    pub fn path(self) -> &'static str {
        match self {
            Schema::Scenario => "configs/schema/scenario.json",
            Schema::Sweep => "configs/schema/sweep.json",
        }
    }

    /// What the schema says of keys.
    pub fn keys(self) -> Value {
        match self {
            Schema::Scenario => toml_format::schema(),
            Schema::Sweep => sweep(),
        }
    }

    /// The schema.
    pub fn text(self) -> String {
        let title = match self {
            Schema::Scenario => "Scenario of ./hpcc run",
            Schema::Sweep => "Variants for ./hpcc sweep",
        };
        let keys = self.keys();
        let mut schema = Map::new();
        schema.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
        schema.insert("$comment".into(), json!("SPDX-License-Identifier: GPL-2.0-only; rewritten by ./hpcc docs"));
        schema.insert("title".into(), json!(title));
        if let Value::Object(keys) = keys {
            schema.extend(
                keys.into_iter().filter(|(key, _)| !["$schema", "title", "description"].contains(&key.as_str())),
            );
        }
        format!("{:#}\n", Value::Object(schema))
    }
}

fn sweep() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<SweepKeys>().to_value()
}
