// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service of `[switch]` and of `[transport]`.

use super::document::Document;
use super::values::Size;
use crate::error::InputError;
use crate::place::Place;
use hpcc_core::switch::{Classes, MAX_QUANTUM, PRIORITIES, Service};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a class such as { priority = 3, quantum = 3000 }")]
pub(super) struct ClassKeys {
    /// Priority, which is the queue, that the class is of.
    #[schemars(with = "u8")]
    priority: Spanned<u8>,
    /// Bytes that its queue may send in a turn of deficit round robin: shares of a link are as the quanta.
    #[schemars(with = "Option<Size>")]
    quantum: Option<Spanned<Size>>,
    /// Whether its queue is served ahead of those with a quantum.
    #[serde(default)]
    strict: bool,
}

/// The priorities of a list, with their places.
pub(super) fn places(document: &Document<'_>, list: &[Spanned<ClassKeys>]) -> Vec<(u8, Place)> {
    let priorities = list.iter().map(|entry| &entry.get_ref().priority);
    priorities.map(|priority| (*priority.get_ref(), document.place(priority.span()))).collect()
}

/// The priorities that a text of [`Classes`] names; none if it has no classes.
pub(super) fn priorities(text: &str) -> impl Iterator<Item = u8> {
    let services = Classes::parse(text).map(|classes| classes.services()).unwrap_or([Service::Leftover; PRIORITIES]);
    (0..).zip(services).filter(|(_, service)| *service != Service::Leftover).map(|(priority, _)| priority)
}

/// How queues are served, as the text that [`Classes::parse`] reads; the list is that of a section.
pub(super) fn text(
    document: &Document<'_>,
    section: &str,
    list: Vec<Spanned<ClassKeys>>,
) -> Result<String, InputError> {
    if list.is_empty() {
        return Ok(String::new());
    }
    let mut classes = Vec::new();
    for entry in list {
        let place = document.place(entry.span());
        let ClassKeys { priority, quantum, strict } = entry.into_inner();
        let service = match (quantum, strict) {
            (None, true) => Service::Strict,
            (Some(quantum), false) => {
                let bytes = u32::try_from(quantum.get_ref().0).ok().filter(|bytes| (1..=MAX_QUANTUM).contains(bytes));
                let quantum = bytes.ok_or_else(|| {
                    let message = format!("the quantum has {} bytes; expected 1 to {MAX_QUANTUM}", quantum.get_ref().0);
                    document.place(quantum.span()).key_error(format!("{section}.classes.quantum"), message)
                })?;
                Service::Weighted { quantum }
            }
            (None, false) | (Some(_), true) => {
                let message = "a class has a quantum, or strict = true; expected one";
                return Err(place.key_error(format!("{section}.classes"), message));
            }
        };
        classes.push((priority, service));
    }
    let listed = classes.iter().map(|(priority, service)| (*priority.get_ref(), *service));
    Classes::new(listed).map(|classes| classes.text()).map_err(|wrong| {
        let again = classes.iter().rev().find(|(priority, _)| *priority.get_ref() == wrong);
        let span = again.map(|(priority, _)| priority.span()).unwrap_or_default();
        let message = format!(
            "class {wrong} is named twice, or is no priority; expected one class for each from 1 to {}",
            PRIORITIES - 1
        );
        document.place(span).key_error(format!("{section}.classes.priority"), message)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MINIMAL, load_with, refused};
    use crate::scenario::Scenario;
    use hpcc_core::switch::{Scope, Wait};

    const CLASSES: &str = "[switch]\ntelemetry_scope = \"queue\"\n\
                           classes = [{ priority = 3, quantum = \"3KB\" }, { priority = 4, quantum = \"1KB\" },\n\
                           { priority = 1, strict = true }, { priority = 2, strict = true }]\n";

    const IN_PRIORITY_4: &str = "[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = 1\npriority = 4\n";

    fn with_priority(priority: u8) -> String {
        format!("{}{CLASSES}", MINIMAL.replace("src = 0", &format!("src = 0\npriority = {priority}")))
    }

    #[test]
    fn classes_are_read_and_echoed() {
        let plain = load_with(MINIMAL, &[]).expect("valid");
        let report = |scenario: &Scenario| {
            let switch = &scenario.settings.switch;
            (switch.classes.clone(), switch.telemetry_scope, switch.telemetry_queue)
        };
        assert_eq!(report(&plain), (String::new(), Scope::Port, Wait::Length));
        let scenario = load_with(with_priority(3), &["switch.telemetry_queue=sojourn"]).expect("valid");
        let expected = "1:strict,2:strict,3:3000,4:1000";
        assert_eq!(report(&scenario), (expected.into(), Scope::Queue, Wait::Sojourn));
        let as_text = load_with(MINIMAL, &["switch.classes=\"3:3000, 4:1000\""]).expect("valid");
        assert_eq!(report(&as_text).0, "3:3000, 4:1000");
        let echo = &scenario.effective()["switch"];
        assert_eq!(echo["classes"], "1:strict,2:strict,3:3000,4:1000");
        assert_eq!((&echo["telemetry_scope"], &echo["telemetry_queue"]), (&"queue".into(), &"sojourn".into()));
    }

    #[test]
    fn flows_that_are_sure_of_nothing_are_refused_where_telemetry_tells_of_shares() {
        for priority in [1, 3, 4] {
            assert!(load_with(with_priority(priority), &[]).is_ok(), "{priority}");
        }
        // Behind a strict class, and without one.
        for priority in [2, 5] {
            let expected =
                format!("test.toml:13: traffic.priority: priority {priority} of the flow is sure of nothing");
            refused(&with_priority(priority), &[], &expected);
            for harmless in ["switch.telemetry_scope=port", "legacy.nodes=[0]", "congestion_control.algorithm=dcqcn"] {
                assert!(load_with(with_priority(priority), &[harmless]).is_ok(), "{harmless}");
            }
        }
    }

    #[test]
    fn a_guard_knows_the_shares_that_switches_report() {
        let set = ["congestion_control.algorithm=hpcc_plus", "telemetry.guard=true"];
        let share = |sets: &[&str]| {
            let scenario = load_with(with_priority(3), &[&set[..], sets].concat()).expect("valid");
            scenario.settings.host().expect("checked").feedback.classes.map(|classes| classes.share(3))
        };
        assert_eq!((share(&[]), share(&["switch.telemetry_scope=port"])), (Some(0.75), None));
    }

    #[test]
    fn ports_of_hosts_have_classes_as_those_of_switches_do() {
        let classes = "[transport]\nclasses = [{ priority = 3, quantum = \"3KB\" }, { priority = 4, strict = true }]\n";
        let scenario = load_with(format!("{MINIMAL}{IN_PRIORITY_4}{classes}"), &[]).expect("valid");
        assert_eq!(scenario.settings.transport.classes, "3:3000,4:strict");
        assert_eq!(scenario.effective()["transport"]["classes"], "3:3000,4:strict");
        let line = MINIMAL.lines().count() + 2;
        for (list, expected) in [
            ("[{ priority = 3 }]", format!("test.toml:{line}: transport.classes: a class has a quantum")),
            ("[{ priority = 9, strict = true }]", format!("test.toml:{line}: transport.classes.priority: class 9")),
            ("\"3\"", format!("test.toml:{line}: transport.classes: \"3\" is no list of classes")),
        ] {
            refused(&format!("{MINIMAL}[transport]\nclasses = {list}\n"), &[], &expected);
        }
        let line = MINIMAL.lines().count() + 2;
        let expected = format!(
            "test.toml:{line}: transport.classes: no flow is sent in priority 4, and its class has no effect; expected classes of \
             priorities that [[traffic]] names, here 3"
        );
        refused(&format!("{MINIMAL}{classes}"), &[], &expected);
        let text = "--set: transport.classes: no flow is sent in priority 5";
        refused(&format!("{MINIMAL}{classes}"), &["transport.classes=\"3:1000, 5:strict\""], text);
        // The section's line: a list has no other.
        let expected = format!("test.toml:{}: transport.classes: classes exclude", line - 1);
        refused(&format!("{MINIMAL}{classes}"), &["compatibility.profile=reference"], &expected);
    }

    /// Random traffic may come with another seed, or by another load; without any flow a note says so.
    #[test]
    fn a_class_of_hosts_may_wait_for_random_traffic() {
        let random = "[[traffic]]\nkind = \"random_incast\"\nfan_in = 2\nsize = 1\nload = 0.1\nduration = \"1ns\"\npriority = 5\n";
        let set = ["transport.classes=\"3:1000, 5:strict\""];
        assert!(load_with(format!("{MINIMAL}{random}"), &set).is_ok());
        let (head, _) = MINIMAL.split_once("[[traffic]]").expect("traffic");
        assert!(load_with(head, &set).is_ok());
    }

    #[test]
    fn acknowledgements_that_others_may_hold_up_are_noted() {
        let told = |set: &[&str]| {
            let notes = load_with(with_priority(4), set).expect("valid").notes;
            notes.iter().any(|note| note.contains("acknowledgements travel in priority 3"))
        };
        let without = "switch.classes=[{priority=4, quantum=1000}]";
        assert!(told(&[without]));
        assert!(!told(&[]) && !told(&[without, "transport.ack_priority=0"]));
    }

    #[test]
    fn who_does_not_hear_of_queues_is_told_so() {
        let told = |set: &[&str]| {
            let notes = load_with(with_priority(3), set).expect("valid").notes;
            notes.iter().any(|note| note.contains("telemetry_scope and telemetry_queue have no effect"))
        };
        assert!(told(&["congestion_control.algorithm=hpcc_pint"]));
        assert!(!told(&["congestion_control.algorithm=hpcc_plus"]));
    }
}
