// SPDX-License-Identifier: GPL-2.0-only
//! The priorities for which lossless switches keep memory.

use super::*;

/// Flows in these priorities.
fn with_flows(priorities: &[u8]) -> String {
    let flow = |priority| format!("[[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 1\nsize = 1\npriority = {priority}\n");
    let flows: String = priorities.iter().map(flow).collect();
    let (head, _) = MINIMAL.split_once("[[traffic]]").expect("traffic");
    format!("{head}{flows}")
}

/// The priorities for which a scenario keeps memory, as its echo has them.
fn kept(flows: &[u8], set: &[&str]) -> String {
    let scenario = load_with(with_flows(flows), set).expect("valid");
    scenario.effective()["switch"]["pfc_priorities"].as_str().unwrap_or("none").into()
}

#[test]
fn memory_is_kept_for_what_flows_and_acknowledgements_travel_in() {
    assert_eq!(kept(&[3], &[]), "3");
    assert_eq!((kept(&[7, 4, 7], &[]), kept(&[4], &["transport.ack_priority=5"])), ("3, 4, 7".into(), "4, 5".into()));
    // Acknowledgements and notifications have priority 0 here, which is neither paused nor accounted.
    let of_cnps = ["congestion_control.algorithm=dcqcn", "transport.congestion_notification=cnp"];
    assert_eq!((kept(&[4], &["transport.ack_priority=0"]), kept(&[4], &of_cnps)), ("4".into(), "4".into()));
    // Unless notifications have one of their own.
    let of_own = [of_cnps[0], of_cnps[1], "transport.cnp_priority=5"];
    assert_eq!((kept(&[4], &of_own), kept(&[4, 6], &of_own)), ("4, 5".into(), "4, 5, 6".into()));
    assert_eq!(kept(&[4], &[of_own[0], of_own[1], of_own[2], "switch.lossy_priorities=5"]), "4");
    assert_eq!(kept(&[4], &["compatibility.acks_queue_with_data=true"]), "4");
    assert_eq!(kept(&[3], &["transport.protocol=tcp", "congestion_control.algorithm=hpcc_plus"]), "3");
    assert_eq!(kept(&[3], &["switch.pfc_priorities=[6, 3]"]), "3, 6");
}

/// Hosts of either group acknowledge as their own algorithm asks: a star of hosts, 1 is a legacy one.
#[test]
fn memory_is_kept_for_what_legacy_hosts_acknowledge_in() {
    let kept = |src: u32, dst: u32, main: &str, legacy: &str| {
        let text = with_flows(&[4]).replace("src = 2\ndst = 1", &format!("src = {src}\ndst = {dst}"));
        let algorithm = format!("congestion_control.algorithm={main}");
        let scenario =
            load_with(text, &["legacy.nodes=[1]", &algorithm, &format!("legacy.algorithm={legacy}")]).expect("valid");
        scenario.node_settings(dst).switch.pfc_priorities.map(|kept| kept.to_string()).unwrap_or_default()
    };
    assert_eq!((kept(0, 1, "timely", "dctcp"), kept(1, 0, "timely", "dctcp")), ("3, 4".into(), "4".into()));
    assert_eq!((kept(0, 1, "hpcc", "dcqcn"), kept(1, 0, "hpcc", "dcqcn")), ("4".into(), "3, 4".into()));
    // Switches of one network that kept memory for different priorities would not run.
    let scenario = load_with(with_flows(&[3, 5]), &["legacy.nodes=[4]"]).expect("valid");
    let kept = |node| scenario.node_settings(node).switch.pfc_priorities.map(|kept| kept.to_string());
    assert_eq!((kept(0), kept(4)), (Some("3, 5".into()), Some("3, 5".into())));
}

#[test]
fn who_keeps_nothing_by_priority_does_not_name_any() {
    for (of, expected) in [
        ("switch.mode=lossy", "switch.pfc_priorities: pfc_priorities belongs to mode = \"lossless\""),
        (
            "compatibility.short_headroom=true",
            "switch.pfc_priorities: pfc_priorities exclude the 2019 simulator's short_headroom",
        ),
    ] {
        let timeout = "transport.timeout=1ms";
        assert!(["none", "auto"].contains(&kept(&[3, 4], &[of, timeout]).as_str()), "{of}");
        refused(&with_flows(&[3]), &[of, timeout, "switch.pfc_priorities=3"], &format!("--set: {expected}"));
    }
}

#[test]
fn flows_without_memory_are_refused() {
    let expected = "test.toml:21: traffic.priority: the flow has priority 4, for which switches keep no memory; expected 4 beside 3 in \
                    switch.pfc_priorities";
    refused(&with_flows(&[3, 4]), &["switch.pfc_priorities=3"], expected);
    let expected = "test.toml:15: traffic.priority: its acknowledgements have priority 3, for which";
    refused(&with_flows(&[4]), &["switch.pfc_priorities=4"], expected);
    let expected = "--set: switch.pfc_priorities: the value is \"3,8\"; expected priorities from 1 to 7, such as";
    refused(&with_flows(&[3]), &["switch.pfc_priorities=[3, 8]"], expected);
}

#[test]
fn lossy_priorities_keep_no_memory() {
    assert_eq!(kept(&[3, 4, 5], &["switch.lossy_priorities=[5, 1]"]), "3, 4");
    assert_eq!(kept(&[3, 5], &["switch.pfc_priorities=[3, 4]", "switch.lossy_priorities=5", "switch.alpha=2"]), "3, 4");
    let both = ["switch.pfc_priorities=[3, 5]", "switch.lossy_priorities=5"];
    refused(&with_flows(&[3]), &both, "--set: switch.lossy_priorities: priorities 5 are lossy, and 3, 5 are paused");
    let expected = "--set: switch.alpha: alpha belongs to mode = \"lossy\", or to lossy_priorities";
    refused(&with_flows(&[3]), &["switch.alpha=2"], expected);
}

/// Four ports with 37.5 kB of headroom and 4 kB of reserve, in two priorities.
#[test]
fn memory_must_suffice_for_all_priorities() {
    let text = |bytes: u32| format!("{}[switch]\nbuffer = {bytes}\n", with_flows(&[3, 4]));
    assert!(load_with(text(332_768), &[]).is_ok());
    let expected = "test.toml:23: switch.buffer: the buffer has 332767 bytes, but the headroom and reserve of switch 4's ports \
                    take 332768, 166384 for each of the priorities 3, 4; expected at least that much, or fewer, or buffer_pools, \
                    whose xoff is headroom that ports share";
    refused(&text(332_767), &[], expected);
    for enough in ["switch.mode=lossy", "compatibility.short_headroom=true", "transport.ack_priority=4"] {
        let flows = if enough.ends_with("=4") { with_flows(&[4]) } else { with_flows(&[3, 4]) };
        let text = format!("{flows}[switch]\nbuffer = 332767\n");
        assert!(load_with(text, &[enough, "transport.timeout=1ms"]).is_ok(), "{enough}");
    }
}
