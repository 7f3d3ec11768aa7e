// SPDX-License-Identifier: GPL-2.0-only
//! `[congestion_control]`: the algorithm, and the keys that it alone decides upon.

use super::document::Document;
use super::plain::Given;
use super::source::Entry;
use hpcc_core::node::NodeSettings;
use hpcc_model::error::InputError;

const SECTION: &str = "congestion_control";

/// Reads the section. Returns a note if there are parameters, but no algorithm: to try without one should not need another file. Where
/// the command line has chosen `is_another` than the file's, such a parameter is refused, for [`Another`](super::another::Another) to
/// drop and to tell.
pub(super) fn read(
    document: &mut Document<'_>,
    settings: &mut NodeSettings,
    given: &mut Given,
    is_another: bool,
) -> Result<Option<String>, InputError> {
    let Some(section) = document.section(SECTION) else { return Ok(None) };
    let (mut entries, place) = (section.section()?, section.place());
    given.add_section(SECTION, place);
    if let Some(choice) = Entry::take(&mut entries, "algorithm") {
        given.read(settings, SECTION, None, vec![choice])?;
    }
    let algorithm = settings.control.chosen().name().to_string();
    if settings.section(SECTION, Some(&algorithm)).is_empty() {
        if let Some(entry) = entries.first().filter(|_| is_another) {
            return Err(entry.error(SECTION, format!("algorithm = \"{algorithm}\" has no parameters")));
        }
        let names: Vec<String> = entries.into_iter().map(|entry| entry.key).collect();
        let note = || format!("algorithm = \"{algorithm}\" has no use for {}", names.join(", "));
        return Ok((!names.is_empty()).then(note));
    }
    given.read(settings, SECTION, Some(&algorithm), entries)?;
    Ok(None)
}
