// SPDX-License-Identifier: GPL-2.0-only
//! Settings for readers: `hpcc explain`, and the tables in the documentation.
//!
//! Nothing of a setting is said here: name, kind, range, default and help come from its declaration in the core.

mod explain;
mod markdown;
mod pages;
mod rst;
mod words;

pub use explain::explain;
pub use pages::rewrite;

use hpcc_core::node::{Owner, Part};

/// Whether scenario files have the setting as it is. Faults have a key each and a profile, classes of service are a list:
/// `configs/README.md` describes both by hand.
fn is_key(section: &str, key: &str) -> bool {
    section != "compatibility" && (section, key) != ("switch", "classes")
}

/// The class whose attributes settings are.
fn class(owner: Owner) -> &'static str {
    match owner {
        Owner::Node => "QbbNode",
        Owner::Host => "RdmaHost",
        Owner::Switch => "QbbSwitch",
        Owner::FastCnpHost => "FastCnpHost",
        Owner::FastCnpSwitch => "FastCnpSwitch",
    }
}

/// The full name of a setting's attribute.
fn attribute(part: &Part<'_>, key: &str) -> String {
    format!("ns3::{}::{}", class(part.owner), part.attribute(key))
}
