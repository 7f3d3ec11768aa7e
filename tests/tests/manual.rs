// SPDX-License-Identifier: GPL-2.0-only
//! The manual says which arguments the sink of a trace source takes, as the headers of the module have them: ns-3 compares
//! types only when a program runs. It has those of methods that a program cannot guess, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ns3-module");
const PAGES: [&str; 3] = ["hpcc.rst", "fast-cnp.md", "tcp.md"];
/// A type that ns-3 declares itself.
const OF_NS3: (&str, &str) = ("ns3::Packet::TracedCallback", "Ptr<const Packet> packet");

/// A trace source.
#[derive(Debug)]
struct Source {
    /// The class that has it, without its namespace.
    class: String,
    name: String,
    /// The type of its sinks.
    callback: String,
}

/// Files of the module with this extension, without tests and examples.
fn files(extension: &str) -> Vec<String> {
    let folders = ["model", "helper", "tcp/model", "tcp/helper"].map(|folder| Path::new(MODULE).join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.iter().map(|path| fs::read_to_string(path).expect("readable")).collect()
}

/// The texts between two marks, in order.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).collect()
}

/// One blank between words.
fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All trace sources of the module's classes.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for text in files("cc") {
        for type_id in text.split("TypeId(\"ns3::").skip(1) {
            let class = type_id.split('"').next().expect("a name");
            for call in type_id.split(".AddTraceSource(").skip(1) {
                let name = call.split('"').nth(1).expect("a name").to_owned();
                let callback =
                    call.split('"').find(|part| part.ends_with("TracedCallback")).expect("a type").to_owned();
                found.push(Source { class: class.to_owned(), name, callback });
            }
        }
    }
    found
}

/// The arguments of each type of sinks, by its name.
fn arguments() -> BTreeMap<String, String> {
    let mut found = BTreeMap::from([(OF_NS3.0.to_owned(), OF_NS3.1.to_owned())]);
    for text in files("h") {
        for declared in between(&text, "typedef void (*", ";") {
            let (name, arguments) = declared.split_once(")(").expect("arguments");
            let before = text.split(declared).next().expect("a class");
            let class =
                between(before, "\nclass ", "\n").into_iter().rfind(|line| !line.ends_with(';')).expect("a class");
            let class = class.split(' ').next().expect("a name");
            found.insert(format!("ns3::{class}::{name}"), in_a_line(arguments.trim_end_matches(')')));
        }
    }
    found
}

/// Items of lists and rows of tables, each in a line.
fn items(page: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(MODULE).join("doc").join(page)).expect("a page");
    let text = text.replace("\n* ", "\n\n* ").replace("\n| ", "\n\n| ");
    text.split("\n\n").map(in_a_line).collect()
}

#[test]
fn the_manual_has_the_arguments_of_every_trace_source() {
    let (sources, arguments) = (sources(), arguments());
    assert!(sources.len() > 20, "{sources:?}");
    let items: Vec<String> = PAGES.iter().flat_map(|page| items(page)).collect();
    for Source { class, name, callback } in &sources {
        let expected =
            format!("({})", arguments.get(callback).unwrap_or_else(|| panic!("{callback} is declared nowhere")));
        let is_told = |item: &&String| item.contains(&format!("`{name}`")) && item.contains(&expected);
        assert!(items.iter().any(|item| is_told(&item)), "no page has {class}'s {name} with {expected}");
    }
}

/// A file of the module, each run of blanks as one.
fn read_in_a_line(name: &str) -> String {
    in_a_line(&fs::read_to_string(Path::new(MODULE).join(name)).expect("a file of the module"))
}

#[test]
fn the_manual_has_the_arguments_of_the_helper_s_methods() {
    let (header, page) = (read_in_a_line("helper/qbb-helper.h"), read_in_a_line("doc/hpcc.rst"));
    for name in ["SetHostAttribute", "SetLoss", "SetEcnThreshold", "SetEcnStream", "SetPintSeed", "SetFastCnpBorder"]
        .into_iter()
        .chain(["TakeLinkDown", "SetLinkUp"])
    {
        let declared = between(&header, &format!("void {name}("), ";");
        assert!(!declared.is_empty(), "{name}");
        for arguments in declared {
            let expected = format!("void {name}({arguments};");
            assert!(page.contains(&expected), "hpcc.rst lacks {expected}");
        }
    }
}

#[test]
fn the_guide_has_all_that_a_controller_in_cpp_is_called_with_and_told() {
    let text = fs::read_to_string(Path::new(MODULE).join("model/rdma-congestion-ops.h")).expect("the header");
    let (header, page) = (in_a_line(&text), read_in_a_line("doc/adding-a-controller.md"));
    let calls = ["void Start(", "Decision OnFeedback(", "void OnSent(", "Decision OnLoss(", "Decision OnNotification("];
    for call in calls.into_iter().chain(["Decision OnTimer(", "void OnPort(", "void Arm("]) {
        let arguments = between(&header, call, ";").first().copied().unwrap_or_else(|| panic!("{call}"));
        assert!(page.contains(&format!("{call}{arguments};")), "the guide lacks {call}{arguments};");
    }
    for structure in ["Limits", "Feedback", "Hop", "Sent", "Loss", "Decision"] {
        let row = between(&page, &format!("| `{structure}` |"), " | ").first().copied().unwrap_or_default();
        let body = between(&text, &format!("    struct {structure}\n"), "    };")[0];
        for line in body.lines().filter_map(|line| line.split_once(';')).filter(|(line, _)| !line.contains("///")) {
            let name = line.0.split('{').next().and_then(|name| name.split_whitespace().last()).expect("a name");
            assert!(row.contains(&format!("`{name}`")), "the guide lacks {structure}::{name}");
        }
    }
}
