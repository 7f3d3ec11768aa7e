// SPDX-License-Identifier: GPL-2.0-only
//! A small scenario with every key that there is, in comments with their defaults.

use hpcc_analysis::settings::{self, Key, Schema, keys_of};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Setting, Value, first_sentence};

use super::words;

/// Its place in the source tree.
pub const FILE: &str = "configs/annotated.toml";
/// What stands in it without a comment.
const EXAMPLE: [(&str, &str); 10] = [
    ("run.stop", "\"10ms\""),
    ("topology.kind", "\"star\""),
    ("topology.hosts", "5"),
    ("topology.rate", "\"100Gbps\""),
    ("topology.delay", "\"1us\""),
    ("traffic.kind", "\"incast\""),
    ("traffic.size", "\"1MB\""),
    ("traffic.receiver", "0"),
    ("traffic.sender_count", "4"),
    ("monitor.queue_interval", "\"1us\""),
];
/// Sections ahead of others.
const FIRST: [&str; 4] = ["run", "topology", "traffic", "monitor"];
/// Sections that are there only with keys that a file has to give.
const UNUSED: [&str; 2] = ["servers", "attack"];
/// A key that so many kinds of a section have says so of none, but names those that lack it if they are few.
const MOST_KINDS: usize = 8;
const MOST_LACKING: usize = 3;
/// Columns of a line.
const WIDTH: usize = 128;
const HEAD: &str = "# SPDX-License-Identifier: GPL-2.0-only
#:schema schema/scenario.json
#
# Four flows to one host, and every key of a scenario with its default, where it has one: take the # away to change it.
# `./hpcc explain KEY` says when to. Brackets hold the range or the words of a value. Rewritten by `./hpcc docs`.
";

/// The file.
pub fn text() -> String {
    let settings = NodeSettings::default();
    let algorithms: Vec<_> = settings.control.all().map(|algorithm| (algorithm.name(), algorithm.list())).collect();
    let is_parameter = |name: &str| algorithms.iter().any(|(_, list)| list.iter().any(|setting| setting.key == name));
    let (mut text, mut last, mut example) = (HEAD.to_owned(), String::new(), EXAMPLE.to_vec());
    let mut keys = keys_of(&Schema::Scenario.keys(), "[]");
    let kinds: Vec<(String, Vec<String>)> =
        keys.iter().filter_map(|key| Some((key.path.strip_suffix(".kind")?.to_owned(), key.kinds.clone()))).collect();
    keys.sort_by_key(|key| FIRST.iter().position(|section| key.path.starts_with(section)).unwrap_or(FIRST.len()));
    for key in keys {
        let (section, name) = key.path.split_once('.').unwrap_or((&key.path, ""));
        let plain = section.trim_end_matches("[]");
        if section != last {
            let header = if plain == section { format!("[{plain}]") } else { format!("[[{plain}]]") };
            let begin = if UNUSED.contains(&plain) { "#" } else { "" };
            text += &format!("\n{begin}{header}\n");
            last = section.to_owned();
        }
        // Parameters are below their algorithms, those of legacy hosts, too.
        if ["congestion_control", "legacy"].contains(&plain) && is_parameter(name) {
            continue;
        }
        let path = format!("{plain}.{name}");
        let all = settings::section(&settings, plain);
        if let Some(setting) = all.iter().find(|setting| setting.key == name) {
            text += &line("#", name, &value(setting), &meaning(setting, &all));
            let of_algorithms = if name == "algorithm" { &algorithms[..] } else { &[] };
            for (algorithm, list) in of_algorithms.iter().filter(|(_, list)| !list.is_empty()) {
                text += &format!("# {algorithm}:\n");
                text.extend(
                    list.iter().map(|setting| line("#", setting.key, &value(setting), &meaning(setting, list))),
                );
            }
            continue;
        }
        // The schema of each kind knows its own name only.
        let is_kind = name == "kind" && !key.kinds.is_empty();
        let mut help = first_sentence(key.help.as_deref().unwrap_or_default()).to_owned();
        let all = kinds.iter().find(|(of, _)| of == section).map_or(&[][..], |(_, all)| all);
        let without: Vec<&str> = all.iter().filter(|kind| !key.kinds.contains(kind)).map(String::as_str).collect();
        if (1..MOST_KINDS).contains(&key.kinds.len()) {
            help = format!("{}: {help}", key.kinds.join(", "));
        } else if (1..=MOST_LACKING).contains(&without.len()) && !key.kinds.is_empty() {
            help = format!("All but {}: {help}", without.join(", "));
        }
        if path == "legacy.algorithm" {
            help += " Its parameters are keys as well, as in [congestion_control].";
        }
        let given = example.iter().position(|(given, _)| *given == path).map(|at| example.remove(at).1);
        let says = given.is_none() && key.default.is_none() && !key.expected.starts_with("text");
        if is_kind {
            help += &format!(" [{}]", key.kinds.join(", "));
        } else if says || is_bounded(&key) {
            help += &format!(" [{}]", key.expected.trim_start_matches("one of "));
        }
        let default = key.default.unwrap_or_default();
        text += &line(if given.is_some() { "" } else { "#" }, name, given.unwrap_or(&default), &help);
    }
    text
}

/// Whether a key expects some words, or numbers of a range.
fn is_bounded(key: &Key) -> bool {
    key.expected.starts_with("one of ") || key.expected.contains("number from ") && key.expected.contains(" to ")
}

/// What a setting is, its range, and when it counts.
fn meaning(setting: &Setting, section: &[Setting]) -> String {
    let range = words::range(setting).map_or_else(String::new, |range| format!(" [{range}]"));
    setting.summary().to_owned() + &range.replace('`', "") + &words::condition_of(setting, section)
}

/// A setting's default as a file has it.
fn value(setting: &Setting) -> String {
    let text = setting.default.pretty();
    match setting.default {
        Value::Switch(_) | Value::Count(_) | Value::Real(_) => text,
        Value::Bytes(_) | Value::Time(_) | Value::Rate(_) | Value::Word(_) | Value::Text(_) | Value::Auto => {
            format!("\"{text}\"")
        }
    }
}

/// A key, and its meaning behind it, or above it where that is long.
fn line(begin: &str, key: &str, value: &str, help: &str) -> String {
    let line = format!("{begin}{key} = {value}").trim_end().to_owned();
    if line.len() + help.len() < 100 { format!("{line}  # {help}\n") } else { format!("{}{line}\n", comment(help)) }
}

/// A text in lines of a comment.
fn comment(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split(' ') {
        let last = lines.last_mut().filter(|line| line.len() + word.len() < WIDTH);
        match last {
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn it_is_a_scenario() {
        hpcc_formats::load_text(Path::new(FILE), &text()).expect(FILE);
    }
}
