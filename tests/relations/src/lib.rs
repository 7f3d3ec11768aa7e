// SPDX-License-Identifier: GPL-2.0-only
//! Random scenarios over all features, and relations that hold between their runs, whatever the right numbers are.
//!
//! | module | does |
//! | --- | --- |
//! | [`draw`] | draws a scenario for a seed |
//! | [`mod@repair`] | takes out of it what contradicts itself |
//! | [`run`] | runs one in this process |
//! | [`relations`] | what has to hold |
//! | [`mod@minimise`] | makes a scenario that breaks a relation small |
// Values of TOML and JSON are enums of others, of which a form or two matter here.
#![allow(clippy::wildcard_enum_match_arm)]
#![forbid(unsafe_code)]

pub mod document;
pub mod draw;
mod keys;
pub mod minimise;
pub mod relations;
pub mod repair;
mod rng;
pub mod run;
mod values;

pub use document::Document;
pub use keys::Scope;
pub use minimise::minimise;
pub use relations::{Broken, Context, RELATIONS, Relation, Second, Verdict};
pub use repair::repair;
pub use rng::{ScenarioRng, seeds};
