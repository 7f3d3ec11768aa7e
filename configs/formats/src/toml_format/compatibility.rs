// SPDX-License-Identifier: GPL-2.0-only
//! `[compatibility]`.

use super::document::Document;
use crate::error::InputError;
use crate::scenario::Compatibility;
use crate::scenario::compatibility::{PROFILE, SECTION};
use hpcc_core::quirks::Quirks;
use serde_json::Value;
use std::collections::BTreeMap;
use toml::Spanned;

type Keys = BTreeMap<String, Spanned<Value>>;

/// The reference's faults that the run repeats: none by default.
pub(super) fn compatibility(document: &mut Document<'_>) -> Result<Quirks, InputError> {
    let (keys, _) = document.optional::<Keys>(SECTION)?;
    let mut compatibility = Compatibility::new(Quirks::NONE);
    for (name, value) in keys {
        let result = match (name.as_str(), value.get_ref()) {
            (PROFILE, Value::String(profile)) => compatibility.set_profile(profile),
            (PROFILE, _) => Err(format!("{PROFILE} is not a string")),
            (_, Value::Bool(on)) => compatibility.set(&name, *on),
            _ => compatibility.set(&name, false).and(Err(format!("{name} is neither true nor false"))),
        };
        let place = document.place(value.span());
        result.map_err(|message| place.key_error(format!("{SECTION}.{name}"), message))?;
    }
    Ok(compatibility.quirks())
}
