// SPDX-License-Identifier: GPL-2.0-only
//! Whatever value a key is given, an error names the place, the key, what was given and what was expected, in the file and on
//! the command line.

use super::MINIMAL;
use crate::toml_format::read;
use hpcc_core::node::NodeSettings;
use hpcc_model::check;
use hpcc_model::place::without_indices;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Values that no key takes, each with what an error repeats of it.
const NEVER: &[(&str, &str)] = &[
    ("99999999999999999999", "99999999999999999999"),
    ("1979-05-27", "1979-05-27"),
    ("{ \"nähme\" = 1 }", "nähme"),
    ("[[\"x\"]]", "\"x\""),
    ("[1.5, true]", "1.5"),
    ("[{ \"nähme\" = 1 }]", "nähme"),
];

/// Values that some keys take.
const ODD: &[&str] =
    &["-1", "0", "1.5", "\"x\"", "\"\"", "true", "[]", "[-1]", "[99]", "nan", "\"1us\"", "\"0s\"", "\"1Gbps\""];

/// What tells a user what to write instead.
const ADVICE: &[&str] = &["expected", "did you mean", "belongs to"];

/// Scenarios that have every key that is no plain setting, which a test of hostile inputs asserts.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/seeds/scenario");

/// Files of jobs that they name.
const JOBS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/seeds/jobs");

/// Calls `see` with the dotted path of each value, and where it stands.
fn leaves(path: &str, value: &Spanned<DeValue<'_>>, see: &mut impl FnMut(String, Range<usize>)) {
    let list = || value.get_ref().as_array().into_iter().flat_map(|list| list.iter());
    for (index, element) in list().enumerate().filter(|(_, element)| element.get_ref().is_table()) {
        leaves(&format!("{path}.{index}"), element, see);
    }
    if let Some(table) = value.get_ref().as_table() {
        table.iter().for_each(|(key, value)| leaves(&format!("{path}.{}", key.get_ref()), value, see));
    } else if list().all(|element| !element.get_ref().is_table()) {
        see(path.trim_start_matches('.').into(), value.span());
    }
}

/// What an error lacks: the place, the key, the given value or the expected one.
fn lacks(told: &str, place: &str, key: &str, given: &str) -> String {
    let lack = |lacks: bool, what: &'static str| lacks.then_some(what);
    let missing = [
        lack(!told.starts_with(place), "place"),
        lack(!told.contains(&format!(": {key}")), "key"),
        lack(!told.contains(given), "given"),
        lack(ADVICE.iter().all(|advice| !told.contains(advice)), "expected"),
    ];
    missing.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Whether an error is a complete one about another key, which the value contradicts.
fn blames_another(told: &str, key: &str) -> bool {
    let line = || told.strip_prefix("test.toml:")?.split_once(": ").filter(|(line, _)| line.parse::<u32>().is_ok());
    let Some((_, told)) = told.split_once("--set: ").or_else(line) else { return false };
    let Some((blamed, why)) = told.split_once(": ") else { return false };
    let is_key = blamed.contains('.') && !blamed.contains(' ') && blamed != key;
    is_key && ADVICE.iter().any(|advice| why.contains(advice))
}

/// The error of a scenario in a folder with the files that seeds name, if there is one.
fn told(folder: &Path, text: &str, overrides: &[String]) -> Option<String> {
    let draft = read(&folder.join("test.toml"), text, overrides, NodeSettings::default());
    let error = draft.and_then(check::agree).err()?.to_string();
    let error = error.replace(&format!("{}/", folder.display()), "");
    Some((0..9).fold(error, |error, index| error.replace(&format!(".{index}."), ".")))
}

/// What is wrong with an error, or with the lack of one.
fn complaint(told: Option<&str>, place: &str, key: &str, given: &str) -> Option<String> {
    let lacks = match (told, given) {
        (None, "") => String::new(),
        (None, _) => "error".into(),
        (Some(told), "") if blames_another(told, key) => String::new(),
        (Some(told), _) => lacks(told, place, key, given),
    };
    (!lacks.is_empty()).then(|| format!("{key}: no {lacks}: {}", told.unwrap_or_default()))
}

fn values() -> impl Iterator<Item = (&'static str, &'static str)> {
    NEVER.iter().copied().chain(ODD.iter().map(|odd| (*odd, "")))
}

#[test]
fn errors_name_place_key_given_and_expected() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("topology.txt", "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 25Gbps 1us 0\n");
    write("flow.txt", "1\n0 1 3 100 10 0\n");
    write("sizes.cdf", "1000 100\n");
    write("sonic.json", include_str!("../../../../../tests/fuzz/seeds/sonic.json"));
    for file in std::fs::read_dir(JOBS).expect(JOBS).map(|file| file.expect(JOBS)) {
        std::fs::copy(file.path(), folder.path().join(file.file_name())).expect("writable");
    }
    let seeds: Vec<_> = std::fs::read_dir(SEEDS).expect(SEEDS).map(|seed| seed.expect(SEEDS).path()).collect();
    let of_seed = |seed: &Path| {
        let text = std::fs::read_to_string(seed).expect("a scenario");
        let root = DeTable::parse(&text).expect("TOML").into_inner();
        let (mut keys, mut short) = (Vec::new(), Vec::new());
        leaves("", &Spanned::new(0..0, DeValue::Table(root)), &mut |path, span| keys.push((path, span)));
        for ((path, span), (value, given)) in keys.iter().flat_map(|key| values().map(move |value| (key, value))) {
            let key = without_indices(path);
            let changed = [&text[..span.start], value, &text[span.end..]].concat();
            let line = text[..span.start].lines().count().max(1);
            short.extend(complaint(
                told(folder.path(), &changed, &[]).as_deref(),
                &format!("test.toml:{line}:"),
                &key,
                given,
            ));
            let told = told(folder.path(), &text, &[format!("{path}={value}")]);
            short.extend(complaint(told.as_deref(), "--set:", &key, given));
        }
        (keys.len(), short)
    };
    // The longest test of this crate: a thread for each seed.
    let (checked, mut short) = std::thread::scope(|scope| {
        let threads: Vec<_> = seeds.iter().map(|seed| scope.spawn(|| of_seed(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).fold(
            (0, Vec::new()),
            |(count, mut all), (keys, short)| {
                all.extend(short);
                (count + keys, all)
            },
        )
    });
    let nodes = NodeSettings::default();
    for part in nodes.parts().into_iter().filter(|part| part.section != "compatibility") {
        for (setting, (value, given)) in
            part.settings.list().iter().flat_map(|setting| values().map(move |value| (setting, value)))
        {
            let key = format!("{}.{}", part.section, setting.key);
            let algorithm = part.algorithm.map(|name| format!("congestion_control.algorithm={name}"));
            let set: Vec<String> = algorithm.into_iter().chain([format!("{key}={value}")]).collect();
            short.extend(complaint(told(folder.path(), MINIMAL, &set).as_deref(), "--set:", &key, given));
        }
    }
    assert!(checked > 300, "{checked} keys of sections that are not plain");
    assert!(short.is_empty(), "{}:\n{}", short.len(), short.join("\n"));
}
