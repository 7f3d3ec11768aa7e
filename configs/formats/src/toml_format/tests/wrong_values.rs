// SPDX-License-Identifier: GPL-2.0-only
//! Whatever value a key is given, an error names the place, the key, what was given and what was expected: for all keys of the
//! schema, in the file and on the command line.

use crate::toml_format::{read, schema};
use hpcc_core::node::NodeSettings;
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// The lines of a scenario, by section: a key under test is the first of its section.
#[derive(Clone)]
struct Base(Vec<(String, Vec<String>)>);

impl Base {
    /// A small scenario with other keys in one section.
    fn new(section: &str, keys: &str) -> Base {
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        let star = "kind = 'star'\nhosts = 4\nrate = '100Gbps'\ndelay = '1us'";
        let flow = "kind = 'flow'\nsrc = 0\ndst = 1\nsize = '1MB'";
        let small = [("run", "stop = '1ms'"), ("topology", star), ("traffic", flow)];
        let mut base: Vec<_> = small.iter().map(|(name, text)| ((*name).to_owned(), lines(text))).collect();
        base.retain(|(name, _)| name != section);
        base.push((section.into(), lines(keys)));
        Base(base)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (section, lines) in &self.0 {
            let list = ["traffic", "attack"].contains(&section.as_str());
            text += &if list { format!("[[{section}]]\n") } else { format!("[{section}]\n") };
            lines.iter().for_each(|line| text += &format!("{line}\n"));
        }
        text
    }

    /// The same with a value for a key of the section that was changed, which is the last, and the line of the key.
    fn with(&self, key: &str, value: &str) -> (String, usize) {
        let mut base = self.clone();
        let Some((_, lines)) = base.0.last_mut() else { return (String::new(), 0) };
        lines.retain(|line| !line.starts_with(&format!("{key} = ")));
        lines.insert(0, format!("{key} = {value}"));
        let behind = lines.len();
        let text = base.text();
        let line = text.lines().count() - behind + 1;
        (text, line)
    }
}

/// A section's keys, and a scenario in which they count. What the tables of a list hold is `list.key`.
struct Case {
    base: Base,
    section: String,
    keys: Vec<String>,
}

/// The keys of a section's schema.
fn keys(schema: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        keys.push(key.clone());
        let either = schema["anyOf"].as_array().into_iter().flatten();
        for inner in either.chain([schema]).filter_map(|schema| schema["items"]["properties"].as_object()) {
            keys.extend(inner.keys().map(|inner| format!("{key}.{inner}")));
        }
    }
    keys
}

/// What the kinds of `[topology]` and `[[traffic]]` need besides.
fn needs(section: &str, kind: &str) -> &'static str {
    match (section, kind) {
        ("topology", "star") => "hosts = 4\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "dumbbell") => "left = 2\nright = 2\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "parking_lot") => "switches = 2\nhosts_per_switch = 2\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "leaf_spine") => "leaves = 2\nspines = 1\nhosts_per_leaf = 2\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "dual_homed") => "pairs = 1\nhosts_per_pair = 4\naggs = 1\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "fat_tree") => {
            "pods = 2\ntors_per_pod = 1\naggs_per_pod = 1\ncores_per_agg = 1\nhosts_per_tor = 2\nrate = '100Gbps'\ndelay = '1us'"
        }
        ("topology", "k_ary_fat_tree") => "k = 4\nrate = '100Gbps'\ndelay = '1us'",
        ("topology", "file") => "path = 'topology.txt'",
        ("topology", "links") => {
            "hosts = 2\nswitches = 1\nrate = '100Gbps'\ndelay = '1us'\nlinks = [{ a = 0, b = 2 }, { a = 1, b = 2 }]"
        }
        ("traffic", "flow") => "src = 0\ndst = 1\nsize = 1",
        ("traffic", "incast") => "receiver = 0\nsender_count = 3\nsize = 1",
        ("traffic", "periodic_incast") => {
            "receiver = 0\nsender_count = 3\nsize = 1\ninterval = '1us'\nduration = '5us'"
        }
        ("traffic", "random_incast") => "fan_in = 2\nsize = 1\nload = 0.1\nduration = '1us'",
        ("traffic", "permutation") => "size = 1",
        ("traffic", "poisson") => "load = 0.1\nsizes = 'sizes.cdf'\nduration = '1us'",
        ("traffic", "file") => "path = 'flow.txt'",
        _ => panic!("[{section}] of kind \"{kind}\": expected what it needs"),
    }
}

/// Every key of the schema, those that several kinds or algorithms share once for each.
fn cases() -> Vec<Case> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut cases = Vec::new();
    for (section, schema) in schema()["properties"].as_object().expect("sections") {
        let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
        let mut case = |text: &str, keys| {
            cases.push(Case { base: Base::new(section, text), section: section.clone(), keys });
        };
        let mut of_algorithms = Vec::new();
        for kind in list(&schema["oneOf"]) {
            let name = kind["properties"]["kind"]["const"].as_str().expect("a kind");
            case(&format!("kind = '{name}'\n{}", needs(section, name)), keys(&kind));
        }
        for own in list(&schema["allOf"]) {
            let name = own["if"]["properties"]["algorithm"]["const"].as_str().expect("an algorithm");
            of_algorithms.extend(keys(&own["then"]));
            case(&format!("algorithm = '{name}'"), keys(&own["then"]));
        }
        let needed = match section.as_str() {
            "run" => "stop = '1ms'",
            "attack" => "kind = 'tampered_feedback'\nfrom = 4",
            _ => "",
        };
        case(needed, keys(schema).into_iter().filter(|key| !of_algorithms.contains(key)).collect());
    }
    cases
}

/// What an error lacks: the place, a key, what was given or what was expected.
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

/// The error of a scenario, if there is one.
fn told(path: &Path, text: &str, overrides: &[String]) -> Option<String> {
    let draft = read(path, text, overrides, NodeSettings::default());
    let error = draft.and_then(|draft| draft.finish()).err()?;
    let told = error.to_string().replace(&format!("{}/", path.parent().expect("a folder").display()), "");
    Some(told.replace("traffic.0.", "traffic.").replace("attack.0.", "attack."))
}

/// A folder with the files that scenarios name, and the path of one that is never written.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (name, text) in [
        ("topology.txt", "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n"),
        ("flow.txt", "1\n0 1 3 100 10 0\n"),
        ("sizes.cdf", "1000 100\n"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    let path = folder.path().join("test.toml");
    (folder, path)
}

#[test]
fn errors_name_place_key_given_and_expected() {
    let (_folder, path) = folder();
    let mut short = Vec::new();
    let values = NEVER.iter().copied().chain(ODD.iter().map(|odd| (*odd, "")));
    for Case { base, section, keys } in cases() {
        for (key, (value, given)) in keys.iter().flat_map(|key| values.clone().map(move |value| (key, value))) {
            let name = format!("{section}.{key}");
            let (key, value) = match key.split_once('.') {
                Some((list, key)) => (list, format!("[{{ {key} = {value} }}]")),
                None => (key.as_str(), value.to_owned()),
            };
            let (text, line) = base.with(key, &value);
            let set = format!("{section}.{key}").replace("traffic.", "traffic.0.").replace("attack.", "attack.0.");
            let in_file = (told(&path, &text, &[]), format!("test.toml:{line}:"), name.clone());
            let on_line = (told(&path, &base.text(), &[format!("{set}={value}")]), "--set:".into(), name.clone());
            for (told, place, blamed) in [in_file, on_line] {
                let lacks = match (&told, given) {
                    (None, "") => String::new(),
                    (None, _) => "error".into(),
                    (Some(told), "") if blames_another(told, &blamed) => String::new(),
                    (Some(told), _) => lacks(told, &place, &blamed, given),
                };
                if !lacks.is_empty() {
                    short.push(format!("{name} = {value}: no {lacks}: {}", told.unwrap_or_default()));
                }
            }
        }
    }
    assert!(short.is_empty(), "{}:\n{}", short.len(), short.join("\n"));
}
