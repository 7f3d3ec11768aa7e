// SPDX-License-Identifier: GPL-2.0-only
//! Algorithms of congestion control and their parameters.

use super::*;

fn boxed(algorithm: impl Algorithm + 'static) -> Box<dyn Algorithm> {
    Box::new(algorithm)
}

#[test]
fn every_algorithm_has_the_preset_of_the_reference() {
    let load = |name: &str| {
        let setting = format!("congestion_control.algorithm={name}");
        let scenario = load_with(MINIMAL, &[&setting]).expect(name);
        let transport = (scenario.transport().window, scenario.transport().ack_priority);
        (scenario.algorithm().clone_algorithm(), scenario.layout(), transport, thresholds(&scenario)[0].kmin)
    };
    let (pint, timely) = (HpccPintConfig::default(), TimelyConfig::default());
    assert_eq!(load("hpcc_pint"), (boxed(pint), Layout::pint(1.05, false), (true, 3), 400_000));
    assert_eq!(load("dcqcn"), (boxed(DcqcnConfig::default()), Layout::None, (false, 0), 400_000));
    assert_eq!(load("timely"), (boxed(timely), Layout::Timestamp, (false, 0), 400_000));
    assert_eq!(load("dctcp"), (boxed(DctcpConfig::default()), Layout::None, (true, 3), 300_000));
}

/// HPCC weighs queues by the path's own bytes then, unless the reference's division by the window is on.
#[test]
fn hpcc_runs_without_a_window_unless_it_divides_by_it() {
    let text = format!("{MINIMAL}[transport]\nwindow = false\n");
    assert!(!load_with(text.clone(), &[]).expect("valid").transport().window);
    let error = load_with(text, &["compatibility.windowless_hpcc=true"]).expect_err("divides by 0").to_string();
    assert!(error.contains("transport.window"), "{error}");
}

#[test]
fn every_parameter_of_every_algorithm_can_be_given() {
    for (section, expected) in [
        (
            "algorithm='hpcc_pint'\neta=0.9\nmax_stage=1\nadditive_increase='1Mbps'\nmin_rate='2Mbps'\nsample_probability=0.5",
            r#"{"additive_increase_bps":1000000,"algorithm":"hpcc_pint","eta":0.9,"max_stage":1,"min_rate_bps":2000000,"sample_probability":0.5}"#,
        ),
        (
            "algorithm='dcqcn'\ngain=0.5\nalpha_interval='1us'\ndecrease_interval='2us'\nincrease_interval='3us'\nfast_recovery=4\nadditive_increase='5Mbps'\nhyper_increase='6Mbps'\nclamp_target=true\nnotification_interval='8us'\nmin_rate='7Mbps'",
            r#"{"additive_increase_bps":5000000,"algorithm":"dcqcn","alpha_interval_ns":1000,"clamp_target":true,"decrease_interval_ns":2000,"fast_recovery":4,"gain":0.5,"hyper_increase_bps":6000000,"increase_interval_ns":3000,"min_rate_bps":7000000,"notification_interval_ns":8000}"#,
        ),
        (
            "algorithm='timely'\nadditive_increase='1Mbps'\nhyper_increase='2Mbps'\nhyper_after=3\nmin_rate='4Mbps'\nweight=0.5\ndecrease=0.6\nlow='7us'\nhigh='8us'\nmin_rtt='9us'",
            r#"{"additive_increase_bps":1000000,"algorithm":"timely","decrease":0.6,"high_ns":8000,"hyper_after":3,"hyper_increase_bps":2000000,"low_ns":7000,"min_rate_bps":4000000,"min_rtt_ns":9000,"weight":0.5}"#,
        ),
        (
            "algorithm='dctcp'\ngain=0.5\nadditive_increase='1Mbps'\nmin_rate='2Mbps'",
            r#"{"additive_increase_bps":1000000,"algorithm":"dctcp","gain":0.5,"min_rate_bps":2000000}"#,
        ),
    ] {
        let scenario = load_with(format!("{MINIMAL}[congestion_control]\n{section}\n"), &[]).expect(section);
        let expected: serde_json::Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(scenario.effective()["congestion_control"], expected);
    }
}

#[test]
fn another_algorithm_on_the_command_line_drops_the_files_parameters() {
    let text = format!("{MINIMAL}[congestion_control]\neta=0.9\n[telemetry]\nlayout='paper'\n");
    let choose = "congestion_control.algorithm=";
    let dctcp = load_with(&text, &[&format!("{choose}dctcp"), "congestion_control.gain=0.5"]).expect("valid");
    let value = |scenario: &Scenario, key| scenario.algorithm().get(key);
    assert_eq!((value(&dctcp, "gain"), dctcp.layout()), (Some(Value::Real(0.5)), Layout::None));
    assert!(dctcp.notes.iter().any(|note| note.contains("another algorithm than the file's")), "{:?}", dctcp.notes);
    let same = load_with(&text, &[&format!("{choose}hpcc")]).expect("valid");
    assert_eq!((value(&same, "eta"), same.layout()), (Some(Value::Real(0.9)), Layout::Paper));
    assert!(load_with(&text, &[&format!("{choose}dctcp"), "congestion_control.eta=0.5"]).is_err());
}

#[test]
fn algorithms_refuse_what_is_not_theirs() {
    for (section, expected) in [
        ("algorithm='dcqcn'\neta=0.9", "18: congestion_control.eta: unknown key eta in [congestion_control]"),
        (
            "algorithm='dctcp'\ngian=0.9",
            "18: congestion_control.gian: unknown key gian in [congestion_control]; did you mean gain? (algorithm = \"dctcp\")",
        ),
        (
            "algorithm='hpcc'\nbase_target='10us'",
            "18: congestion_control.base_target: unknown key base_target in [congestion_control]; it belongs to algorithm = \
             \"swift\" (algorithm = \"hpcc\")",
        ),
        ("algorithm='hpcc_pint'\nfast_react=true", "18: congestion_control.fast_react: unknown key"),
        ("algorithm='hpcc'\nlog_base=1.05", "18: congestion_control.log_base: unknown key"),
        (
            "algorithm='hpcc_pint'\nsample_probability=0",
            "18: congestion_control.sample_probability: the value is 0; expected a number from 0.0000152587890625 to 1",
        ),
        (
            "algorithm='hpcc_pint'\nsample_probability=1e-9",
            "18: congestion_control.sample_probability: the value is 0.000000001; expected a number from",
        ),
        ("algorithm='dcqcn'\ngain=1.5", "18: congestion_control.gain: the value is 1.5; expected a number from 0 to 1"),
        (
            "algorithm='dcqcn'\nincrease_interval='0us'",
            "18: congestion_control.increase_interval: the value is \"0us\"; expected a time",
        ),
        (
            "algorithm='dcqcn'\nalpha_interval=5",
            "18: congestion_control.alpha_interval: 5 has no unit; expected a time",
        ),
        (
            "algorithm='timely'\nlow='600us'\nhigh='500us'",
            "18: congestion_control.low: low is 600.000 us, more than high, 500.000 us",
        ),
        (
            "algorithm='timely'\nmin_rate='0Mbps'",
            "18: congestion_control.min_rate: the value is \"0Mbps\"; expected a rate",
        ),
        ("algorithm=5", "17: congestion_control.algorithm: the value is 5; expected one of \"hpcc\""),
    ] {
        refused(&format!("{MINIMAL}\n[congestion_control]\n{section}\n"), &[], &format!("test.toml:{expected}"));
    }
    refused(MINIMAL, &["congestion_control=5"], "--set: congestion_control is no section");
}

/// Nothing has no unit.
#[test]
fn zero_needs_no_unit() {
    let text = format!("{MINIMAL}[congestion_control]\nalgorithm='swift'\n");
    for (key, value) in [("hop_target", "0"), ("scaling_range", "0"), ("hop_target", "'0'"), ("hop_target", "0s")] {
        let scenario = load_with(&text, &[&format!("congestion_control.{key}={value}")]).expect(key);
        assert_eq!(scenario.algorithm().get(key), Some(Value::Time(Nanos(0))), "{key} = {value}");
    }
    assert_eq!(load_with(MINIMAL, &["transport.timeout=0"]).expect("valid").transport().timeout, None);
    for zero in ["0", "'0'", "0ns"] {
        let set =
            ["topology.delay", "traffic.0.start", "monitor.queue_histogram_start"].map(|key| format!("{key}={zero}"));
        let set: Vec<&str> = set.iter().map(String::as_str).chain(["monitor.queue_histogram_end=1us"]).collect();
        let scenario = load_with(MINIMAL, &set).expect(zero);
        let start = scenario.monitor.queue_histogram.map(|histogram| histogram.start);
        assert_eq!((scenario.network.links[0].delay, start), (Nanos(0), Some(Nanos(0))), "{zero}");
    }
    for (set, expected) in [
        ("run.stop=0", "--set: run.stop: the time is 0; expected more than 0"),
        ("monitor.queue_interval=0", "--set: monitor.queue_interval: the time is 0; expected more than 0"),
        ("topology.rate=0", "--set: topology.rate: the rate is 0; expected more"),
        ("traffic.0.start=0.5", "--set: traffic.0.start: the value is 0.5; expected a time such as"),
        ("traffic.0.start='00'", "--set: traffic.0.start: \"00\" has no unit; expected a time such as"),
    ] {
        refused(MINIMAL, &[set], expected);
    }
}
