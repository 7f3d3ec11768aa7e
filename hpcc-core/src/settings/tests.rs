// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{Input, Kind, SettingError, Settings, Value, camel_case};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::string::String;
use alloc::vec::Vec;

/// When to change what several settings are.
const DO_NOT: &str = "Leave it.";

crate::named! {
    /// A choice.
    enum Mode {
        /// One.
        Fast = "fast",
        /// The other.
        Slow = "slow",
    }
}

crate::settings! {
    /// What two others include.
    #[derive(Clone, Debug, PartialEq)]
    struct Inner {
        /// Weight of the newest sample.
        #[change = "More is quicker."]
        pub gain: f64 {0.0..=1.0} = 1.0 / 16.0;
    }
}

crate::settings! {
    /// One setting of each kind.
    #[derive(Clone, Debug, PartialEq)]
    struct Outer {
        /// Whether it is on.
        #[change = DO_NOT]
        pub on: bool = true;
        /// How many
        /// rounds.
        #[change = "More take longer."]
        pub rounds: u32 {1..=9} = 5;
        /// How it goes.
        #[change = DO_NOT]
        pub mode: Mode = Mode::Fast;
        /// How long.
        #[change = DO_NOT]
        pub wait: Nanos {Nanos(1)..=Nanos::SECOND} = Nanos(1_500) => mode = "slow";
        /// How fast.
        #[change = DO_NOT]
        pub rate: Option<BitRate> = None;
        /// How much.
        #[change = DO_NOT]
        pub size: Bytes = Bytes(4_000);
        /// Which.
        #[change = DO_NOT]
        pub names: String = String::new();
        ..inner: Inner = Inner::default();
    }
}

fn refused(key: &str, input: Input<'_>) -> String {
    let mut outer = Outer::default();
    match outer.set(key, input) {
        Err(SettingError::Value(why)) => {
            assert_eq!(outer, Outer::default(), "nothing changes");
            why
        }
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn the_declaration_is_all_that_is_known() {
    let list = Outer::default().list();
    let keys: Vec<_> = list.iter().map(|setting| setting.key).collect();
    assert_eq!(keys, ["on", "rounds", "mode", "wait", "rate", "size", "names", "gain"]);
    assert_eq!(list[1].help, "How many rounds. More take longer.");
    assert_eq!((list[1].summary(), list[1].kind.clone()), ("How many rounds.", Kind::Count { least: 1, most: 9 }));
    assert_eq!(list[2].kind, Kind::Choice(["fast", "slow"].map(String::from).into()));
    assert_eq!((list[4].auto, &list[4].default), (true, &Value::Auto));
    assert_eq!(list[7].default.pretty(), "0.0625");
    assert_eq!(list[3].default.pretty(), "1500ns");
    assert_eq!(list[5].default.pretty(), "4KB");
}

#[test]
fn values_come_back_as_they_were_set() {
    let mut outer = Outer::default();
    for (key, text) in [
        ("on", "false"),
        ("rounds", "9"),
        ("mode", "slow"),
        ("wait", "+2000.0ns"),
        ("rate", "25Gbps"),
        ("size", "1KiB"),
        ("names", "a, b"),
        ("gain", "0.3333333333333333"),
    ] {
        let setting = outer.list().into_iter().find(|setting| setting.key == key).expect(key);
        outer.set(key, Input::parse(&setting, text).expect(text)).expect(text);
        let value = outer.get(key).expect(key);
        let again = value.text();
        outer.set(key, Input::parse(&setting, &again).expect(&again)).expect(&again);
        assert_eq!(outer.get(key), Some(value));
    }
    assert_eq!((outer.wait, outer.rate, outer.size), (Nanos(2_000), Some(BitRate::gbps(25)), Bytes(1_024)));
    assert_eq!(outer.inner.gain, 1.0 / 3.0);
    outer.set("rate", Input::Text("auto")).expect("auto");
    assert_eq!(outer.rate, None);
}

#[test]
fn what_does_not_fit_is_refused_with_what_was_expected() {
    assert_eq!(refused("rounds", Input::Whole(0)), "the value is 0; expected a whole number from 1 to 9");
    assert_eq!(refused("rounds", Input::Whole(-1)), "the value is -1; expected a whole number from 1 to 9");
    assert_eq!(refused("gain", Input::Real(1.5)), "the value is 1.5; expected a number from 0 to 1");
    assert_eq!(refused("gain", Input::Real(-1e-308)), "the value is -1e-308; expected a number from 0 to 1");
    assert!(refused("gain", Input::Real(f64::NAN)).starts_with("the value is NaN"));
    assert_eq!(refused("mode", Input::Text("quick")), "the value is \"quick\"; expected one of \"fast\", \"slow\"");
    assert!(refused("wait", Input::Whole(5)).starts_with("5 has no unit; expected a time"));
    assert_eq!(
        refused("wait", Input::Whole(0)),
        "the value is 0; expected a time such as \"1us\", \"500ns\" or \"12ms\" from 1ns to 1s"
    );
    assert!(refused("wait", Input::Text("0")).starts_with("the value is \"0\"; expected a time"));
    assert!(refused("wait", Input::Text("0s")).starts_with("the value is \"0s\"; expected a time"));
    assert!(refused("wait", Input::Text("2s")).ends_with("from 1ns to 1s"));
    assert!(refused("on", Input::Text("true")).ends_with("expected true or false"));
    assert!(refused("names", Input::Whole(1)).ends_with("expected text"));
    assert_eq!(Outer::default().set("of", Input::Whole(1)), Err(SettingError::Unknown));
}

#[test]
fn a_condition_names_another_setting() {
    let mut outer = Outer::default();
    let list = outer.list();
    assert!(!list[3].counts(&outer) && list[0].counts(&outer));
    outer.mode = Mode::Slow;
    assert!(list[3].counts(&outer));
}

#[test]
fn names_of_attributes_follow() {
    assert_eq!(
        (camel_case("max_stage"), camel_case("t"), camel_case("a__b")),
        ("MaxStage".into(), "T".into(), "AB".into())
    );
}
