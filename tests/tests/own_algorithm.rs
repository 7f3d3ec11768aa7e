// SPDX-License-Identifier: GPL-2.0-only
//! A congestion control in Rust from outside hpcc-core: this crate only depends on it.

use hpcc_core::cc::{Algorithm, CongestionControl, Feedback, FlowLimits, RateDecision};
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_core::random::Rng;
use hpcc_core::telemetry::Telemetry;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_formats::load_with;
use hpcc_model::scenario::Scenario;
use std::fs;
use std::sync::Arc;

hpcc_core::settings! {
    /// Parameters of a fixed rate.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FixedShareConfig {
        /// Share of the line rate.
        #[change = "A larger one sends faster."]
        pub share: f64 {0.01..=1.0} = 0.5;
    }
}

impl Algorithm for FixedShareConfig {
    fn name(&self) -> &'static str {
        "fixed_share"
    }

    fn summary(&self) -> &'static str {
        "a fixed share of the line rate"
    }

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(FixedShare(BitRate::from_f64(limits.line_rate.0 as f64 * self.share)))
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }
}

#[derive(Clone, Debug)]
struct FixedShare(BitRate);

impl CongestionControl for FixedShare {
    fn on_feedback(&mut self, _: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        RateDecision::Set(self.0)
    }
}

const SCENARIO: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "fixed_share"
share = 0.25
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = 1000
start = "0us"
"#;

fn read(toml: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.toml");
    fs::write(&path, toml).expect("written");
    let settings =
        NodeSettings::new(ControlSettings::with(vec![Box::new(FixedShareConfig::default())], |_| Err(String::new())));
    load_with(&path, &[], settings).map_err(|error| error.to_string())
}

#[test]
fn a_file_chooses_it_and_sets_its_parameters() {
    let scenario = read(SCENARIO).expect("a scenario");
    let limits = FlowLimits { hops: 1, ..FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500) };
    let ack = Feedback {
        now: Nanos(0),
        ack_seq: 1_000,
        snd_nxt: 2_000,
        acked: 1_000,
        rtt: None,
        congestion_marked: false,
        telemetry: Telemetry::Nothing,
    };
    let mut flow = scenario.settings.control.chosen().start(limits.into());
    assert_eq!(flow.on_feedback(&ack, &mut Rng::new(1, 1)), RateDecision::Set(BitRate::gbps(25)));
}

#[test]
fn its_parameters_are_checked_as_those_of_the_core() {
    for (wrong, expected) in [("share = 2", "own.toml:11: congestion_control.share"), ("eta = 0.9", "eta")] {
        let told = read(&SCENARIO.replace("share = 0.25", wrong)).expect_err(wrong);
        assert!(told.contains(expected), "{told}");
    }
}
