// SPDX-License-Identifier: GPL-2.0-only
//! What contradicts itself in a scenario is taken out, by what errors blame, until the rest is accepted.

use crate::ScenarioRng;
use crate::document::Document;
use crate::draw::place;
use hpcc_model::error::InputError;
use hpcc_model::scenario::Scenario;
use toml::Value;

/// Sections that a scenario cannot do without.
const FIXED: &[&str] = &["run", "topology"];
/// Keys without which a section of a list is none.
const NEEDED: &[&str] =
    &["kind", "src", "dst", "receiver", "senders", "size", "operation", "duration", "a", "b", "time"];

/// Traffic where none is left.
const FLOW: &str = "traffic = [{ kind = 'flow', src = 0, dst = 1, size = 20000 }]";
/// More errors than there are keys.
const MOST: usize = 200;

/// Takes out of a scenario what an error blames, or else anything, until it is accepted. Returns it with the errors.
///
/// # Errors
/// If nothing is left to take out.
pub fn repair(document: &mut Document, rng: &mut ScenarioRng) -> Result<(Scenario, Vec<InputError>), InputError> {
    let mut errors = Vec::new();
    loop {
        if document.list("traffic").next().is_none() {
            document.0.extend(Document::parse(FLOW).expect("TOML").0);
        }
        let text = document.text();
        match hpcc_formats::load_text(place(), &text) {
            Ok(scenario) => return Ok((scenario, errors)),
            Err(error) if errors.len() < MOST && takes_out(document, &text, &error, rng) => errors.push(error),
            Err(error) => return Err(error),
        }
    }
}

/// Takes something out; false if nothing can be.
fn takes_out(document: &mut Document, text: &str, error: &InputError, rng: &mut ScenarioRng) -> bool {
    let blamed = error.key.as_deref().and_then(|key| key.split_once('.'));
    // The last flow is not to blame.
    let is_last = Document::parse(FLOW).is_ok_and(|flow| flow.0.get("traffic") == document.0.get("traffic"));
    if let Some((list, place)) = error.line.and_then(|line| Document::section_at(text, line))
        && !(is_last && list == "traffic")
    {
        let key = blamed.map_or("", |(_, key)| key);
        return of_list(document, list, place, key);
    }
    if let Some((section, key)) = blamed
        && !FIXED.contains(&section)
        && document.remove(section, key)
    {
        return true;
    }
    let message = error.without_place();
    let optional: Vec<(String, Option<String>)> = parts(document);
    let is_named = |(section, key): &&(String, Option<String>)| {
        key.as_ref().is_some_and(|key| message.contains(&format!("{section}.{key}")))
    };
    let mut chosen = optional.iter().find(is_named);
    if chosen.is_none() && !optional.is_empty() {
        chosen = optional.get(rng.below(optional.len() as u64) as usize);
    }
    match chosen {
        Some((section, Some(key))) => document.remove(section, key),
        Some((section, None)) => document.0.remove(section).is_some(),
        None => false,
    }
}

/// A key of a section of a list, or the section.
fn of_list(document: &mut Document, list: &str, place: usize, key: &str) -> bool {
    let Some(sections) = document.0.get_mut(list).and_then(Value::as_array_mut) else { return false };
    let is_gone = !NEEDED.contains(&key)
        && sections.get_mut(place).and_then(Value::as_table_mut).is_some_and(|section| section.remove(key).is_some());
    if !is_gone {
        if place >= sections.len() {
            return false;
        }
        sections.remove(place);
        if sections.is_empty() {
            document.0.remove(list);
        }
    }
    true
}

/// All that can be taken out as a whole: keys of sections, and lists.
fn parts(document: &Document) -> Vec<(String, Option<String>)> {
    let mut parts = Vec::new();
    for (name, value) in document.0.iter().filter(|(name, _)| !FIXED.contains(&name.as_str())) {
        match value.as_table() {
            Some(section) => parts.extend(section.keys().map(|key| (name.clone(), Some(key.clone())))),
            None => parts.push((name.clone(), None)),
        }
    }
    parts
}
