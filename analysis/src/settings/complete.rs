// SPDX-License-Identifier: GPL-2.0-only
//! Completion of keys and values on the command line, from the JSON schema of scenarios.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use hpcc_core::settings::first_sentence;
use hpcc_formats::toml_format;

use super::file_keys::{self, Key};

/// Completes a key of a scenario.
pub fn keys(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let known = all().into_iter().filter(|key| key.path.starts_with(typed.as_ref()));
    known.map(|key| candidate(key.path, key.help)).collect()
}

/// Completes `KEY=VALUE`: first the key, then what it can be, as far as that can be listed.
pub fn assignments(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let Some((path, value)) = typed.split_once('=') else {
        let known = all().into_iter().filter(|key| key.path.starts_with(typed.as_ref()));
        return known.map(|key| candidate(format!("{}=", key.path), key.help)).collect();
    };
    let key = all().into_iter().find(|key| key.path == path);
    let words = key.map_or_else(Vec::new, |key| key.words).into_iter().filter(|word| word.starts_with(value));
    words.map(|word| CompletionCandidate::new(format!("{path}={word}"))).collect()
}

fn candidate(text: String, help: Option<String>) -> CompletionCandidate {
    let summary = help.map(|help| first_sentence(&help).to_owned());
    CompletionCandidate::new(text).help(summary.map(Into::into))
}

/// All keys that `--set` takes. What several kinds of a section have is there once.
fn all() -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for key in file_keys::of(&toml_format::schema(), ".0") {
        match keys.iter_mut().find(|known| known.path == key.path) {
            Some(known) => known.words.extend(key.words),
            None => keys.push(key),
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(candidates: Vec<CompletionCandidate>) -> Vec<String> {
        candidates.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn keys_and_words_are_completed() {
        assert_eq!(texts(assignments(OsStr::new("congestion_control.et"))), ["congestion_control.eta="]);
        assert_eq!(texts(assignments(OsStr::new("run.s"))), ["run.seed=", "run.stop=", "run.skip="]);
        assert_eq!(texts(assignments(OsStr::new("wire.profile=rocev2_ipv6"))), ["wire.profile=rocev2_ipv6"]);
        assert_eq!(texts(assignments(OsStr::new("topology.kind=s"))), ["topology.kind=star"]);
        assert_eq!(texts(assignments(OsStr::new("wire.preamble_and_gap="))).len(), 3, "true, false, auto");
        assert_eq!(texts(keys(OsStr::new("compatibility.missed"))), ["compatibility.missed_wakeups"]);
        assert!(texts(assignments(OsStr::new("traffic.0.lo"))).contains(&"traffic.0.load=".to_owned()));
        assert!(assignments(OsStr::new("nothing.")).is_empty());
        assert_eq!(
            texts(keys(OsStr::new("topology.switches"))),
            ["topology.switches", "topology.switches_per_group"],
            "one of two kinds"
        );
    }
}
