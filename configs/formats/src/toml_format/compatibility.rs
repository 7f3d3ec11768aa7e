// SPDX-License-Identifier: GPL-2.0-only
//! `[compatibility]`.

use super::assign::{assign, mismatch};
use super::document::Document;
use super::source::Entry;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::{Input, Kind, SettingError};
use hpcc_model::error::InputError;
use hpcc_model::scenario::Compatibility;
use hpcc_model::scenario::compatibility::{SECTION, settings};

/// The 2019 simulator's faults that the run repeats: none by default.
pub(super) fn compatibility(document: &mut Document<'_>) -> Result<ReferenceFaults, InputError> {
    let mut compatibility = Compatibility::new(ReferenceFaults::NONE);
    let entries = document.section(SECTION).map_or_else(|| Ok(Vec::new()), |section| section.section())?;
    for entry in entries {
        set(&mut compatibility, &entry).map_err(|message| entry.error(SECTION, message))?;
    }
    Ok(compatibility.faults())
}

/// The error is a sentence for the user.
fn set(compatibility: &mut Compatibility, entry: &Entry<'_>) -> Result<(), String> {
    let known = settings();
    let Some(setting) = known.iter().find(|setting| setting.key == entry.key) else {
        return compatibility.set(&entry.key, false);
    };
    assign(setting, entry, |input| {
        let result = match (input, &setting.kind) {
            (Input::Switch(on), Kind::Switch) => compatibility.set(&entry.key, on),
            (Input::Text(profile), Kind::Choice(_)) => compatibility.set_profile(profile),
            _ => Err(mismatch(setting, entry)),
        };
        result.map_err(SettingError::Value)
    })
}
