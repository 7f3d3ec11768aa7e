// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service of `[switch]` and of `[transport]`: what they are is tested in the core.

use super::*;

const CLASSES: &str = "[switch]\ntelemetry_scope = \"queue\"\nclasses = \"3:3000, 4:1000, 1:strict, 2:strict\"\n";

fn with_priority(priority: u8) -> String {
    format!("{}{CLASSES}", MINIMAL.replace("src = 0", &format!("src = 0\npriority = {priority}")))
}

#[test]
fn classes_are_a_text() {
    let scenario = load_with(with_priority(3), &["transport.classes='3:3000'"]).expect("valid");
    let echo = scenario.effective();
    assert_eq!(
        (&echo["switch"]["telemetry_scope"], &echo["transport"]["classes"]),
        (&"queue".into(), &"3:3000".into())
    );
    for section in ["switch", "transport"] {
        let expected = format!("test.toml:{}: {section}.classes: ", MINIMAL.lines().count() + 2);
        let with = |value: &str| format!("{MINIMAL}[{section}]\nclasses = {value}\n");
        refused(
            &with("\"3\""),
            &[],
            &(expected.clone() + "\"3\" is no list of classes; expected such as \"3:3000, 4:"),
        );
        let list = with("[{ priority = 3, quantum = 3000 }]");
        refused(&list, &[], &(expected + "the value is [{ priority = 3, quantum = 3000 }]; expected a text: how"));
    }
}

#[test]
fn flows_that_are_sure_of_nothing_are_refused_where_telemetry_tells_of_shares() {
    for priority in [1, 3, 4] {
        assert!(load_with(with_priority(priority), &[]).is_ok(), "{priority}");
    }
    // Behind a strict class, and without one.
    for priority in [2, 5] {
        let expected = format!("test.toml:13: traffic.priority: priority {priority} of the flow is sure of nothing");
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
        scenario.settings.host().feedback.classes.map(|classes| classes.share(3))
    };
    assert_eq!((share(&[]), share(&["switch.telemetry_scope=port"])), (Some(0.75), None));
}
