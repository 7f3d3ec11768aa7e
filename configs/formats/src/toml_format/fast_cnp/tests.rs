// SPDX-License-Identifier: GPL-2.0-only
//! `[fast_cnp]`, valid and broken.

use crate::load;
use hpcc_core::address::{host_address, ipv6};
use hpcc_core::fast_cnp::Trigger;
use hpcc_core::transport::CongestionNotification;
use hpcc_core::units::BitRate;
use hpcc_model::scenario::{FastCnpBorder, Scenario};

/// Hosts 0 to 3 around switch 4.
const OVER_IPV6: &str = r#"[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "dcqcn"
[wire]
profile = "rocev2_ipv6"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1MB"
[fast_cnp]
"#;

fn load_with(keys: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("test.toml");
    std::fs::write(&path, format!("{OVER_IPV6}{keys}\n")).expect("writable");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let prefix = format!("{}/", folder.path().display());
    load(&path, &overrides).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[test]
fn req_53_it_is_off_unless_a_scenario_says_so() {
    let scenario = load_with("", &[]).expect("valid");
    assert!(!scenario.has_fast_cnp());
    assert!(scenario.effective().get("fast_cnp").is_none());
    assert_eq!(scenario.transport().notification, CongestionNotification::Echo);
}

#[test]
fn req_52_it_can_be_switched_on_for_all_hosts_and_switches() {
    let scenario = load_with("enabled = true\nincapable = [2, 1]", &[]).expect("valid");
    let (network, settings) = (&scenario.network, &scenario.settings);
    let address = |node| ipv6(host_address(node));
    let capable = settings.fast_cnp_switch.capability(&settings.fast_cnp, network).expect("valid").capable;
    assert_eq!([0, 1, 2, 3].map(|node| capable.contains(&address(node))), [true, false, false, true]);
    let domain = settings.fast_cnp_switch.generator(&settings.fast_cnp, network).expect("valid").domain;
    assert!((0..4).all(|node| domain.contains(&address(node))));
    let acceptor = |node| settings.fast_cnp_host.acceptor(&settings.fast_cnp, node, network).expect("valid");
    assert_eq!([0, 1, 2, 3].map(|node| acceptor(node).enabled), [true, false, false, true]);
    assert!(acceptor(0).sources.contains(&address(4)) && !acceptor(0).sources.contains(&address(3)));
    assert_eq!(settings.fast_cnp_switch.threshold(BitRate::gbps(100)), Ok(None));
    assert_eq!(scenario.effective()["fast_cnp"]["incapable"], "2,1");
}

#[test]
fn everything_that_is_given_counts() {
    let keys = "enabled = true\ntrigger = \"utilisation\"\nbound = 1.5\ndomain = [0, 1]\ncapable = []\naccept_from = [4, 1]\n\
                option_type = 0x8a\nborders = [[4, 3]]\nmigrate = true\nmigrate_after = 3";
    let scenario = load_with(keys, &[]).expect("valid");
    let (network, settings) = (&scenario.network, &scenario.settings);
    let address = |node| ipv6(host_address(node));
    let generator = settings.fast_cnp_switch.generator(&settings.fast_cnp, network).expect("valid");
    assert_eq!([0, 1, 2, 3].map(|node| generator.domain.contains(&address(node))), [true, true, false, false]);
    let ecn = scenario.settings.ecn_threshold(BitRate::gbps(100));
    assert_eq!(settings.fast_cnp_switch.trigger(&ecn, true), Ok(Trigger::Utilisation(1.5)));
    let capability = settings.fast_cnp_switch.capability(&settings.fast_cnp, network).expect("valid");
    assert!((0..4).all(|node| !capability.capable.contains(&address(node))));
    let acceptor = settings.fast_cnp_host.acceptor(&settings.fast_cnp, 0, network).expect("valid");
    assert_eq!(acceptor.types.destination.code(), 0x8a);
    assert_eq!([0, 1, 4].map(|node| acceptor.sources.contains(&address(node))), [false, true, true]);
    assert_eq!(scenario.borders, [FastCnpBorder { node: 4, outside: 3 }]);
    assert_eq!(settings.fast_cnp_host.migration().notifications, 3);
}

#[test]
fn mistakes_name_line_and_key() {
    for (keys, expected) in [
        ("enable = true", "18: fast_cnp.enable: unknown key enable in [fast_cnp]; did you mean enabled?"),
        ("trigger = \"utilisation\"\nkmin = \"1KB\"", "19: fast_cnp.kmin: kmin belongs to trigger = \"queue\""),
        ("kmin = \"1KB\"", "18: fast_cnp.kmin: kmin without kmax; expected both"),
        ("incapable = [0,\n 4]", "18: fast_cnp.incapable: node 4 is a switch; expected hosts"),
        ("accept_from = [9]", "18: fast_cnp.accept_from: there is no node 9; expected 0 to 4"),
        ("borders = [[0, 4]]", "18: fast_cnp.borders: [0, 4] is no border; expected a switch"),
        ("border_side = \"both\"", "18: fast_cnp.border_side: border_side without borders; expected both"),
        ("domain = []", "18: fast_cnp.domain: domain belongs to enabled = true, which [fast_cnp] does not say"),
        ("borders = [[4, 0]]", "18: fast_cnp.borders: borders belongs to enabled = true"),
        ("enabled = true\nmigrate_after = 2", "19: fast_cnp.migrate_after: migrate_after belongs to migrate = true"),
    ] {
        let message = load_with(keys, &[]).expect_err(keys);
        assert!(message.starts_with(&format!("test.toml:{expected}")), "found:    {message}\nexpected: {expected}");
    }
}

#[test]
fn one_node_needs_no_list_and_all_are_all_hosts() {
    let notified = |keys: &str, set: &[&str]| {
        let scenario = load_with(&format!("enabled = true\n{keys}"), set).expect("valid");
        scenario.settings.fast_cnp.notified(&scenario.network).expect("valid").iter().collect::<Vec<u32>>()
    };
    assert_eq!(notified("incapable = 3", &[]), [0, 1, 2]);
    assert_eq!(notified("", &["fast_cnp.incapable=3"]), [0, 1, 2]);
    assert_eq!(notified("incapable = \"all\"\ndomain = \"all\"\ncapable = \"all\"", &[]), [0; 0]);
}

#[test]
fn it_needs_ipv6() {
    for profile in ["reference", "rocev2_ipv4"] {
        let message = load_with("enabled = true", &[&format!("wire.profile={profile}")]).expect_err("no IPv6");
        let expected = "test.toml:18: fast_cnp.enabled: Fast CNP is over IPv6; expected wire.profile = ";
        assert!(message.starts_with(expected), "{message}");
        let message = load_with("borders = [[4, 0]]", &[&format!("wire.profile={profile}")]).expect_err("no IPv6");
        let expected = "test.toml:18: fast_cnp.borders: no notification comes but over IPv6";
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn req_34_receivers_send_notifications_where_the_algorithm_can_do_with_them() {
    let set = |name, algorithm| {
        let overrides =
            [format!("transport.congestion_notification={name}"), format!("congestion_control.algorithm={algorithm}")];
        load_with("", &overrides.each_ref().map(String::as_str))
    };
    let notification = |name| set(name, "dcqcn").map(|scenario| scenario.transport().notification);
    assert_eq!(notification("cnp"), Ok(CongestionNotification::Packet));
    assert_eq!(notification("ack"), Ok(CongestionNotification::Echo));
    let unknown = notification("becn").expect_err("unknown");
    let expected = "transport.congestion_notification: unknown congestion_notification \"becn\"; expected one of ack, cnp, fast_cnp";
    assert!(unknown.contains(expected), "{unknown}");
    let dctcp = set("cnp", "dctcp").expect_err("too few");
    assert!(dctcp.ends_with("dctcp does not react to notification packets of receivers; expected \"ack\""), "{dctcp}");
}

/// A host that does nothing about notifications must not get any: not the file's own, nor legacy ones.
#[test]
fn hosts_that_do_not_react_are_named_incapable_or_refused() {
    let with = |keys: &str, algorithm: &str| load_with(keys, &[&format!("congestion_control.algorithm={algorithm}")]);
    for algorithm in ["dctcp", "timely", "swift", "hpcc_pint", "power_tcp", "none"] {
        let message = with("enabled = true", algorithm).expect_err(algorithm);
        let expected =
            format!("test.toml:18: fast_cnp.enabled: {algorithm} does not react to notifications by switches;");
        assert!(message.starts_with(&expected), "{message}");
        assert!(with("enabled = true\nincapable = \"hosts\"", algorithm).is_ok(), "{algorithm}");
    }
    let hpcc = with("enabled = true", "hpcc").expect_err("no records");
    assert!(hpcc.contains("hpcc reacts only to the records that notifications bring, and these bring none"), "{hpcc}");
    let traced = ["congestion_control.algorithm=hpcc", "telemetry.layout=ioam"];
    assert_eq!(load_with("enabled = true", &traced).err(), None);
    let legacy = "[legacy]\nnodes = [2]\nalgorithm = \"dctcp\"";
    let message = with(&format!("enabled = true\n{legacy}"), "dcqcn").expect_err("deaf");
    assert!(message.starts_with("test.toml:18: fast_cnp.enabled: dctcp does not react"), "{message}");
    assert!(with(&format!("enabled = true\nincapable = [2]\n{legacy}"), "dcqcn").is_ok());
}
