// SPDX-License-Identifier: GPL-2.0-only
//! `[congestion_control]`: the algorithm, and the keys that it alone decides upon.

use super::document::Document;
use super::plain::Given;
use crate::error::InputError;
use hpcc_core::node::NodeSettings;

const SECTION: &str = "congestion_control";

/// Reads the section. Returns a note if there are parameters, but no algorithm.
///
/// Comparing with `--set congestion_control.algorithm=none` should not need another file, so parameters are no errors
/// there.
pub(super) fn read(
    document: &mut Document<'_>,
    settings: &mut NodeSettings,
    given: &mut Given,
) -> Result<Option<String>, InputError> {
    if let Some(choice) = document.take_key(SECTION, "algorithm") {
        given.choose(settings, SECTION, choice)?;
    }
    let algorithm = settings.control.chosen().name().to_string();
    if settings.section(SECTION, Some(&algorithm)).is_empty() {
        let entries = document.entries(SECTION, &[])?.map(|(entries, _)| entries).unwrap_or_default();
        let names: Vec<String> = entries.into_iter().map(|entry| entry.key).collect();
        let note = || format!("algorithm = \"{algorithm}\" has no use for {}", names.join(", "));
        return Ok((!names.is_empty()).then(note));
    }
    given.read(document, settings, SECTION, Some(&algorithm), &[])?;
    Ok(None)
}
