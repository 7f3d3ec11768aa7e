// SPDX-License-Identifier: GPL-2.0-only
//! From a value of a file to a setting.

use super::source::Entry;
use hpcc_core::settings::{Input, Kind, Setting, SettingError, Settings, first_sentence, quantity};
use hpcc_model::error::{InputError, suggestion};
use toml::Value;

/// Keys that were renamed: section, old name, new name. Both are read, for one release.
pub(super) const RENAMED: [(&str, &str, &str); 6] = [
    ("receive", "slow", "hosts"),
    ("telemetry", "packets", "sampling"),
    ("telemetry", "answer", "content"),
    ("telemetry", "feedback", "return_path"),
    ("transport", "ack_interval", "ack_offset"),
    ("attack", "pretends", "spoofed_source"),
];

/// What a key of a section is called now.
pub(super) fn present_name<'a>(section: &str, key: &'a str) -> &'a str {
    RENAMED.iter().find(|(of, old, _)| (*of, *old) == (section, key)).map_or(key, |(.., new)| new)
}

/// Sets what a section says of a structure of settings; `others` are keys that the section has besides. Each must count.
pub(super) fn set_all(
    target: &mut dyn Settings,
    section: &str,
    entries: &[Entry<'_>],
    others: &[&str],
) -> Result<(), InputError> {
    let known = target.list();
    let setting = |entry: &Entry<'_>| known.iter().find(|setting| setting.key == present_name(section, &entry.key));
    for entry in entries {
        let Some(setting) = setting(entry) else {
            let keys: Vec<&str> = known.iter().map(|setting| setting.key).chain(others.iter().copied()).collect();
            let message = format!("unknown key {} in [{section}]{}", entry.key, suggestion(&entry.key, &keys));
            return Err(entry.error(section, message));
        };
        assign(setting, entry, |input| target.set(setting.key, input))
            .map_err(|message| entry.error(section, message))?;
    }
    let idle = |entry: &Entry<'_>| Some(entry.error(section, setting(entry)?.idle(target)?));
    entries.iter().find_map(idle).map_or(Ok(()), Err)
}

/// Hands a value to what sets a setting. The error is a sentence for the user.
pub(super) fn assign<T>(
    setting: &Setting,
    entry: &Entry<'_>,
    set: impl FnOnce(Input<'_>) -> Result<T, SettingError>,
) -> Result<T, String> {
    let text;
    let value = entry.value();
    let input = match &value {
        Some(Value::Boolean(on)) => Input::Switch(*on),
        // A node: a list of one.
        Some(Value::Integer(number)) if setting.kind == Kind::Text => {
            text = number.to_string();
            Input::Text(&text)
        }
        Some(Value::Integer(number)) => Input::Whole(*number),
        Some(Value::Float(number)) => Input::Real(*number),
        Some(Value::String(text)) => Input::Text(text),
        Some(Value::Array(list)) if setting.kind == Kind::Text => {
            text = joined(list).ok_or_else(|| mismatch(setting, entry))?;
            Input::Text(&text)
        }
        Some(Value::Array(_) | Value::Table(_) | Value::Datetime(_)) => return Err(mismatch(setting, entry)),
        None => match entry.written().parse() {
            Ok(number) => Input::Large(number),
            Err(_) if matches!(setting.kind, Kind::Bytes { .. }) => {
                return Err(quantity::size(&entry.written()).err().unwrap_or_else(|| mismatch(setting, entry)));
            }
            Err(_) => return Err(mismatch(setting, entry)),
        },
    };
    set(input).map_err(|error| match (error, input, &setting.kind) {
        (SettingError::Unknown, _, _) => format!("there is no setting {}", setting.key),
        // A class of the program: the message says what is wrong with it.
        (SettingError::Value(message), Input::Text(word), Kind::Choice(_)) if word.contains("::") => {
            format!("unknown {} {}", setting.key, message.strip_prefix("the value is ").unwrap_or(&message))
        }
        (SettingError::Value(_), Input::Text(word), Kind::Choice(words)) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            format!("unknown {} \"{word}\"{}", setting.key, suggestion(word, &words))
        }
        (SettingError::Value(message), _, _) => message,
    })
}

/// Says that a value is nothing that a setting can be.
pub(super) fn mismatch(setting: &Setting, entry: &Entry<'_>) -> String {
    let kind = setting.kind.expected();
    let expected = match setting.kind {
        Kind::Text => format!("a text: {}", by_help(&setting.help)),
        Kind::Choice(_) => format!("one of {kind}"),
        Kind::Switch
        | Kind::Count { .. }
        | Kind::Bytes { .. }
        | Kind::Time { .. }
        | Kind::Rate { .. }
        | Kind::Real { .. } => kind,
    };
    format!("the value is {}; expected {expected}", entry.written())
}

/// What a key's help says that it holds, as a part of a sentence.
pub(super) fn by_help(help: &str) -> String {
    let first = first_sentence(help).trim_end_matches('.');
    let mut letters = first.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A list of numbers as a text names nodes.
fn joined(list: &[Value]) -> Option<String> {
    let numbers: Option<Vec<String>> = list.iter().map(|node| node.as_integer().map(|node| node.to_string())).collect();
    numbers.map(|numbers| if numbers.is_empty() { "none".into() } else { numbers.join(",") })
}
