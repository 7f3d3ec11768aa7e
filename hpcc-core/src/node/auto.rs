// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `auto` stands for is what the help of a setting says.

use super::NodeSettings;
use crate::settings::{Input, Value};
use crate::topology::Network;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Two hosts at a switch.
fn network() -> Network {
    crate::testing::network(2, 1, &[(0, 2, 100), (1, 2, 100)])
}

/// What a setting is settled to with these others, as help texts write it.
fn settled(section: &str, key: &str, others: &[(&str, &str, Input<'_>)]) -> String {
    let mut settings = NodeSettings::default();
    for (section, key, input) in others {
        settings.set(section, None, key, *input).expect("a setting");
    }
    settings.resolve(&network());
    let value = settings.get(section, None, key).expect("a setting");
    if let Value::Bytes(bytes) = value {
        format!("{} kB", bytes / 1_000)
    } else if let Value::Time(time) = value {
        format!("{} us", time.0 / 1_000)
    } else {
        value.text()
    }
}

/// What the help says behind `auto`, up to the end of the sentence.
fn said(section: &str, key: &str) -> String {
    let settings = NodeSettings::default();
    let list = settings.section(section, None);
    let help = &list.iter().find(|setting| setting.key == key).expect("a setting").help;
    let (_, auto) = help.split_once("`auto`: ").expect("a word on auto");
    auto.split_once(". ").map_or(auto, |(sentence, _)| sentence).into()
}

/// An algorithm is named where it has another value than the default one, and nowhere else.
#[test]
fn helps_name_the_algorithms_with_values_of_their_own() {
    let names: Vec<String> = NodeSettings::default().control.all().map(|algorithm| algorithm.name().into()).collect();
    for (section, key) in [
        ("switch", "ecn_kmin"),
        ("switch", "ecn_kmax"),
        ("switch", "ecn_pmax"),
        ("transport", "window"),
        ("transport", "ack_priority"),
    ] {
        let (usual, help) = (settled(section, key, &[]), said(section, key));
        assert!(help.contains(&usual) || usual == "true", "{key}: {usual}: {help}");
        for name in &names {
            let own = settled(section, key, &[("congestion_control", "algorithm", Input::Text(name))]);
            assert_eq!(help.contains(&format!("`{name}`")), own != usual, "{key}, {name}: {own}: {help}");
            assert!(own == usual || own == "false" || help.contains(&own), "{key}, {name}: {own}: {help}");
        }
    }
}

#[test]
fn helps_say_what_auto_is_beside_other_settings() {
    let repeat = ("transport", "recovery", Input::Text("selective_repeat"));
    let low = ("transport", "timeout_low", Input::Text("7us"));
    let high = ("transport", "timeout", Input::Text("7ms"));
    let ioam = ("telemetry", "layout", Input::Text("ioam"));
    let of = |key| (settled("transport", key, &[]), said("transport", key));
    assert_eq!(of("timeout_low").0, of("timeout_low").1.trim_end_matches('.'));
    let packets = "timeout_low_packets";
    let with = |other| settled("transport", packets, &[other]);
    assert_eq!(with(repeat), with(low));
    let (often, never) = (with(repeat), of(packets).0);
    let expected =
        format!("{often} with `selective_repeat` or where `timeout_low` is set, otherwise {never}: it never does");
    assert_eq!(of(packets).1, expected);
    let rtts = "timeout_base_rtts";
    let expected =
        format!("{} where `timeout` is `auto`, otherwise {}", of(rtts).0, settled("transport", rtts, &[high]));
    assert_eq!(of(rtts).1, expected);
    let hops = |others: &[_]| settled("telemetry", "hops", others);
    let expected = format!("{}, with IOAM, whose sender makes room for them, {}", hops(&[]), hops(&[ioam]));
    assert_eq!(said("telemetry", "hops"), expected);
    let fastest = settled("telemetry", "multiplier", &[("transport", "mtu", Input::Whole(9_000))]);
    let of_rate =
        format!("1 for each {} Gb/s of the fastest host link", 100 / fastest.parse::<u64>().expect("a number"));
    assert!(said("telemetry", "multiplier").starts_with(&of_rate), "{of_rate}");
    let hold = said("fast_cnp", "migrate_max_hold");
    let longest = NodeSettings::default().fast_cnp_host.migration().max_hold;
    assert_eq!(hold.trim_end_matches('.'), Value::Time(longest).pretty().replace("ms", " ms"));
}
