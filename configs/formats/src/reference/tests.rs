// SPDX-License-Identifier: GPL-2.0-only
//! The 2019 simulator's formats, valid and broken in every way that we know of.

use crate::load;
use crate::testing::Collected;
use hpcc_core::cc::{Algorithm, ControlLaw, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, TimelyConfig};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::engine::FlowOptions;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Value;
use hpcc_core::telemetry::{Layout, Pint, Reference, Timestamp};
use hpcc_core::transport::{Recovery, TransportConfig};
use hpcc_core::units::{BitRate, Nanos, Rounding};
use hpcc_model::flow::Flow;
use hpcc_model::scenario::Scenario;
use std::path::{Path, PathBuf};

pub(super) const CONFIG: &str = include_str!("../../testdata/config.txt");
const TOPOLOGY: &str = include_str!("../../testdata/topology.txt");
const FLOWS: &str = include_str!("../../testdata/flow.txt");
const TRACE: &str = include_str!("../../testdata/trace.txt");

/// A folder with the four files, some of them replaced.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("temporary folder"));
        let files = [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("trace.txt", TRACE)];
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).expect("writable");
    }

    /// Replaces lines of a configuration: each key is there once.
    pub(super) fn append(&self, name: &str, lines: &str) {
        let text = std::fs::read_to_string(self.path(name)).expect("readable");
        let key = |line: &str| line.split_whitespace().next().map(ToOwned::to_owned);
        let stays = |line: &&str| lines.lines().all(|new| key(new).is_none() || key(new) != key(line));
        let kept: String = text.lines().filter(stays).map(|line| format!("{line}\n")).collect();
        self.write(name, kept + lines);
    }

    pub(super) fn load(&self, overrides: &[&str]) -> Result<Scenario, String> {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let folder = format!("{}/", self.0.path().display());
        load(&self.path("config.txt"), &overrides).map_err(|error| error.to_string().replace(&folder, ""))
    }
}

/// Loads with one file replaced and expects an error that starts with `expected`.
#[track_caller]
fn refused(name: &str, text: impl AsRef<[u8]>, expected: &str) {
    let folder = Folder::new();
    folder.write(name, text);
    let message = folder.load(&[]).expect_err(expected);
    assert!(message.starts_with(expected), "found:    {message}\nexpected: {expected}");
}

/// The valid configuration with one line replaced, and the number of this line.
fn config_with(key: &str, line: &str) -> (String, usize) {
    let is_key = |text: &str| text.split_whitespace().next() == Some(key);
    let number = CONFIG.lines().position(is_key).expect("key in the test configuration") + 1;
    let lines: Vec<&str> = CONFIG.lines().map(|text| if is_key(text) { line } else { text }).collect();
    (lines.join("\n"), number)
}

/// TOML has these keys; a configuration file has none of them.
#[test]
fn single_faults_can_be_corrected_from_the_command_line() {
    let folder = Folder::new();
    let scenario = folder.load(&["compatibility.missed_wakeups=false", "compatibility.lossy_pfc=0"]).expect("valid");
    let expected = ReferenceFaults { missed_wakeups: false, lossy_pfc: false, ..ReferenceFaults::REFERENCE };
    assert_eq!((scenario.faults(), scenario.transport().faults), (expected, expected));
    assert_eq!(scenario.effective()["compatibility"]["profile"], "reference");
    let scenario = folder.load(&["compatibility.profile=correct", "compatibility.wide_pint=true"]).expect("valid");
    assert_eq!(scenario.faults(), ReferenceFaults { wide_pint: true, ..ReferenceFaults::NONE });
    assert_eq!(scenario.stop, Nanos(2_110_000_000));
    assert_eq!(scenario.flows.collect()[1].start, Nanos(2_000_005_000), "2.000005 s to the nearest");
    for (setting, message) in [
        ("compatibility.missed_wakeup=0", "unknown key missed_wakeup in [compatibility]; did you mean missed_wakeups?"),
        ("compatibility.missed_wakeups=no", "missed_wakeups is \"no\"; expected true or false"),
        ("compatibility.profile=right", "unknown profile \"right\"; expected one of correct, reference"),
    ] {
        let error = folder.load(&[setting]).expect_err(setting).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_golden_configuration_is_read_in_full() {
    let folder = Folder::new();
    let scenario = folder.load(&[]).expect("valid");
    assert_eq!(scenario.name, "config");
    assert_eq!(scenario.stop, Nanos::from_seconds(2.11, Rounding::Floored));
    let (additive_increase, min_rate) = (Some(BitRate::mbps(50)), Some(BitRate::gbps(1)));
    let law = ControlLaw { max_stage: 0, additive_increase, min_rate, ..ControlLaw::default() };
    assert!(scenario.algorithm() == &HpccConfig { law, ..HpccConfig::default() } as &dyn Algorithm);
    assert_eq!(scenario.layout(), Layout::new(Reference { multiplier: 4 }));
    let reference = TransportConfig { faults: ReferenceFaults::REFERENCE, ..TransportConfig::default() };
    assert_eq!(scenario.transport(), reference);
    assert_eq!(scenario.settings.switch.buffer.0, 32 << 20);
    assert_eq!(thresholds(&scenario).len(), 1, "one link rate");
    assert_eq!(thresholds(&scenario)[0].kmin, 400_000);
    assert_eq!(scenario.network.links.len(), 3);
    assert_eq!(scenario.network.links[2].delay, Nanos(1000));
    let second = Flow {
        src: 1,
        dst: 2,
        priority: 3,
        dport: 100,
        size: 100_000,
        start: Nanos::from_seconds(2.000005, Rounding::Floored),
        options: FlowOptions::NONE,
    };
    assert_eq!(scenario.flows.collect()[1], second);
    assert_eq!(scenario.default_loss, 0.0);
    assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
}

#[test]
fn absent_keys_have_the_reference_defaults() {
    let folder = Folder::new();
    folder
        .write("config.txt", "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt CC_MODE 3 L2_ACK_INTERVAL 1 ENABLE_QCN 0");
    let scenario = folder.load(&[]).expect("valid");
    assert_eq!(scenario.stop, Nanos::from_seconds(3.01, Rounding::Floored));
    let law =
        ControlLaw { additive_increase: Some(BitRate(0)), min_rate: Some(BitRate::mbps(100)), ..ControlLaw::default() };
    let hpcc = HpccConfig { law: ControlLaw { max_stage: 5, ..law }, multi_rate: true, ..HpccConfig::default() };
    assert!(scenario.algorithm() == &hpcc as &dyn Algorithm);
    assert!(!scenario.transport().variable_window);
    assert_eq!(scenario.layout(), Layout::new(Reference { multiplier: 1 }));
    assert_eq!(scenario.settings.switch.buffer.0, 16 << 20);
    let histogram = scenario.monitor.queue_histogram.expect("on");
    assert_eq!((histogram.start.0, histogram.end.0), (2_000_000_000, 2_100_000_000));
    assert!(scenario.monitor.trace_nodes.is_empty(), "no TRACE_FILE");
}

fn boxed(algorithm: impl Algorithm + 'static) -> Box<dyn Algorithm> {
    Box::new(algorithm)
}

fn thresholds(scenario: &Scenario) -> &[EcnThreshold] {
    scenario.settings.ecn_thresholds.as_deref().expect("of the link rates")
}

/// The golden configuration is HPCC's preset, with alpha each microsecond; the others are a few keys away.
#[test]
fn every_controller_is_read_with_its_keys() {
    let load = |overrides: &[&str]| {
        let scenario = Folder::new().load(overrides).expect("valid");
        assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
        (scenario.algorithm().clone_algorithm(), scenario.layout())
    };
    let dcqcn = ["CC_MODE=1", "RATE_AI=20Mb/s", "RATE_HAI=200Mb/s", "FAST_RECOVERY_TIMES=1"];
    let mbps = |rate| Some(BitRate::mbps(rate));
    let (additive_increase, hyper_increase, min_rate) = (mbps(20), mbps(200), mbps(1_000));
    let alpha_interval = Nanos(1_000);
    let config = DcqcnConfig { alpha_interval, additive_increase, hyper_increase, min_rate, ..DcqcnConfig::default() };
    assert_eq!(load(&dcqcn), (boxed(config), Layout::none()));
    let timely = ["CC_MODE=7", "RATE_AI=100Mb/s", "RATE_HAI=500Mb/s"];
    let [low, high, min_rtt] = [50, 500, 20].map(|micros| Some(Nanos(1_000 * micros)));
    let (additive_increase, hyper_increase) = (mbps(100), mbps(500));
    let rates = TimelyConfig { additive_increase, hyper_increase, min_rate, ..TimelyConfig::default() };
    assert_eq!(load(&timely), (boxed(TimelyConfig { low, high, min_rtt, ..rates }), Layout::new(Timestamp)));
    let dctcp = ["CC_MODE=8", "EWMA_GAIN=0.0625", "DCTCP_RATE_AI=615Mb/s"];
    let config = DctcpConfig { additive_increase: mbps(615), min_rate, ..DctcpConfig::default() };
    assert_eq!(load(&dctcp), (boxed(config), Layout::none()));
    let pint = ["CC_MODE=10", "PINT_LOG_BASE=1.01", "PINT_PROB=0.0625"];
    let law = ControlLaw { max_stage: 0, additive_increase: mbps(50), min_rate, ..ControlLaw::default() };
    let config = HpccPintConfig { sample_probability: 0.0625, law };
    assert_eq!(load(&pint), (boxed(config), Layout::new(Pint::new(1.01, true))));
}

/// BEHAVIOUR section 1: fractions of microseconds do not count.
#[test]
fn fractions_of_microseconds_are_dropped() {
    let overrides = ["CC_MODE=1", "ALPHA_RESUME_INTERVAL=1.9", "RATE_DECREASE_INTERVAL=4.5", "RP_TIMER=300.999"];
    let scenario = Folder::new().load(&overrides).expect("valid");
    let value = |key| scenario.algorithm().get(key).expect(key).text();
    assert_eq!(
        ["alpha_interval", "decrease_interval", "increase_interval"].map(value),
        ["1000ns", "4000ns", "300000ns"]
    );
}

#[test]
fn controllers_refuse_what_they_cannot_run_with() {
    for (mode, setting, expected) in [
        (1, "RP_TIMER=0.5", "--set: RP_TIMER is 0.5; expected 1 to 1000000000 microseconds"),
        (1, "EWMA_GAIN=1.5", "--set: EWMA_GAIN is \"1.5\"; expected a probability from 0 to 1"),
        (1, "CLAMP_TARGET_RATE=2", "--set: CLAMP_TARGET_RATE is \"2\"; expected 0 or 1"),
        (8, "DCTCP_RATE_AI=fast", "--set: DCTCP_RATE_AI is \"fast\"; expected a rate"),
        (10, "PINT_LOG_BASE=1", "--set: PINT_LOG_BASE is 1; expected 1.001 to 2"),
        (10, "PINT_PROB=0", "--set: PINT_PROB is 0; expected at least 1/65536"),
    ] {
        let overrides = [format!("CC_MODE={mode}"), setting.into()];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let message = Folder::new().load(&overrides).expect_err(setting);
        assert!(message.starts_with(expected), "{message} / {expected}");
    }
}

#[test]
fn overrides_replace_values_of_any_shape_and_are_checked_like_the_file() {
    let overrides =
        ["U_TARGET=0.98", "ACK_HIGH_PRIO=1", "L2_BACK_TO_ZERO=1", "KMAX_MAP=1 100000000000 800", "CC_MODE = 3"];
    let scenario = Folder::new().load(&overrides).expect("valid");
    assert_eq!(scenario.algorithm().get("eta"), Some(Value::Real(0.98)));
    assert_eq!((scenario.transport().ack_priority, scenario.transport().recovery), (0, Recovery::GoBackZero));
    assert_eq!(thresholds(&scenario)[0].kmax, 800_000);
    for (setting, expected) in [
        ("U_TARGT=0.98", "unknown key U_TARGT; did you mean U_TARGET?"),
        ("U_TARGET", "\"U_TARGET\" is no setting; expected KEY=VALUE"),
        ("U_TARGET=", "U_TARGET lacks a value"),
        ("U_TARGET=0.9 0.8", "U_TARGET is followed by the extra \"0.8\""),
        ("MIN_RATE=200Gbps", "MIN_RATE: the lowest sending rate is 200Gbps; expected more than 0 and at most 100Gbps"),
        ("KMAX_MAP=1 25000000000 400", "KMAX_MAP: no ECN thresholds for 100Gbps"),
    ] {
        let message = Folder::new().load(&[setting]).expect_err(setting);
        assert!(message.starts_with(&format!("--set: {expected}")), "{message} / {expected}");
    }
}

#[test]
fn harmless_oddities_are_noted() {
    for (setting, note) in [
        ("CC_MODE=0", "CC_MODE 0 names no controller: flows send at line rate"),
        ("HAS_WIN=0", "HAS_WIN 0: HPCC divides by a window of 0"),
        ("SIMULATOR_STOP_TIME=1", "2 of 2 flows start at or after the stop time"),
    ] {
        let notes = Folder::new().load(&[setting]).expect(setting).notes;
        assert!(notes.iter().any(|text| text.starts_with(note)), "{notes:?}");
    }
    let folder = Folder::new();
    folder.write("config.txt", format!("U_TARGET 0.5\n{CONFIG}"));
    folder.write("trace.txt", "2\n0 99\n");
    folder.write("flow.txt", "0\n");
    let notes = folder.load(&[]).expect("valid").notes;
    assert_eq!(notes[0], "U_TARGET is given more than once; the last one counts");
    assert_eq!(notes[1], "TRACE_FILE lists 1 nodes that the topology does not have");
    assert_eq!(notes[2], "there are no flows");
}

#[test]
fn what_is_no_configuration_is_told_without_a_list_of_keys() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("file");
    for (text, expected) in [
        ("", "is empty; expected a scenario in TOML"),
        (" \n\n", "is empty; expected a scenario in TOML"),
        ("my notes\n", "no scenario: it is neither TOML nor has a key"),
        ("{\"a\": 1}", "no scenario: it is neither TOML nor has a key"),
        ("U_TARGT 0.95\n", "unknown key U_TARGT; did you mean U_TARGET?"),
    ] {
        std::fs::write(&path, text).expect("file");
        let error = crate::load(&path, &[]).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn bad_values_name_their_line() {
    for (key, line, expected) in [
        ("U_TARGET", "U_TARGT 0.95", "unknown key U_TARGT; did you mean U_TARGET?"),
        ("U_TARGET", "U_GOAL 1", "unknown key U_GOAL; --set unknown_keys=skip goes on without"),
        ("U_TARGET", "ENABLE_PBC 1 ENABLE_PFC 2", "ENABLE_PFC is \"2\"; expected a whole number from 0 to 1"),
        ("U_TARGET", "U_TARGET 0", "U_TARGET is 0; expected more than 0 and at most 2"),
        ("U_TARGET", "U_TARGET 0.95x", "U_TARGET is \"0.95x\"; expected a finite number of at least 0"),
        ("U_TARGET", "U_TARGET", "U_TARGET lacks a value"),
        ("HAS_WIN", "HAS_WIN 2", "HAS_WIN is \"2\"; expected 0 or 1"),
        ("LINK_DOWN", "LINK_DOWN 100 0 1", "LINK_DOWN names nodes 0 and 1, which no link connects"),
        ("LINK_DOWN", "LINK_DOWN 0 0", "LINK_DOWN lacks a value"),
        ("PACKET_PAYLOAD_SIZE", "PACKET_PAYLOAD_SIZE 0", "PACKET_PAYLOAD_SIZE is 0; expected 1 to 9000 bytes"),
        ("L2_CHUNK_SIZE", "L2_CHUNK_SIZE 0", "L2_CHUNK_SIZE is 0 (its default); expected at least 1 byte"),
        (
            "L2_ACK_INTERVAL",
            "L2_ACK_INTERVAL 0",
            "L2_ACK_INTERVAL is 0 (its default), with which no flow ever completes",
        ),
        ("INT_MULTI", "INT_MULTI 0", "INT_MULTI is 0; expected at least 1"),
        ("RATE_AI", "RATE_AI 50Mx", "RATE_AI is \"50Mx\"; expected a rate such as"),
        ("SIMULATOR_STOP_TIME", "SIMULATOR_STOP_TIME 0", "SIMULATOR_STOP_TIME: the stop time is 0; expected more"),
        (
            "ERROR_RATE_PER_LINK",
            "ERROR_RATE_PER_LINK 1.5",
            "ERROR_RATE_PER_LINK is \"1.5\"; expected a probability from 0 to 1",
        ),
        (
            "KMIN_MAP",
            "KMIN_MAP 1 100000000000 9999",
            "KMIN_MAP has 9999 kB for 100Gbps, more than the 1600 kB of KMAX_MAP",
        ),
        (
            "KMIN_MAP",
            "KMIN_MAP 1 25000000000 100",
            "KMIN_MAP: no ECN thresholds for 100Gbps, the rate of the link from 0 to 3 (line 3 of",
        ),
        ("KMIN_MAP", "KMIN_MAP 2 25000000000 100 50000000000", "KMIN_MAP lacks a value"),
        ("KMIN_MAP", "KMIN_MAP 1 100Gbps 100", "a link rate of KMIN_MAP is \"100Gbps\""),
        ("PMAX_MAP", "PMAX_MAP 1 100000000000 1.2", "a value of PMAX_MAP is \"1.2\"; expected a probability"),
        (
            "BUFFER_SIZE",
            "BUFFER_SIZE 0",
            "BUFFER_SIZE: the buffer has 0 bytes, but the headroom and reserve of switch 3's ports take 124788",
        ),
        ("TOPOLOGY_FILE", "TOPOLOGY_FILE gone.txt", "TOPOLOGY_FILE names \"gone.txt\", but there is no such file"),
        ("USE_DYNAMIC_PFC_THRESHOLD", "PAUSE_TIME 5e9", "PAUSE_TIME is 5000000000; expected at most 4294967295 micro"),
    ] {
        let (text, number) = config_with(key, line);
        refused("config.txt", text, &format!("config.txt:{number}: {expected}"));
    }
}

#[test]
fn missing_things_name_the_file() {
    refused("config.txt", "CC_MODE 3 L2_ACK_INTERVAL 1\n", "config.txt: TOPOLOGY_FILE is missing");
    refused(
        "config.txt",
        "TOPOLOGY_FILE topology.txt\n",
        "config.txt: RP_TIMER is 0 (its default); expected 1 to 1000000000 microseconds",
    );
    refused("config.txt", "\n\nCC_MODE", "config.txt:3: CC_MODE lacks a value");
    refused("config.txt", b"CC_MODE 3\nU_TARGET \xff", "config.txt:2: is not a text file");
    let missing = load(Path::new("no/such/config.txt"), &[]).expect_err("missing");
    assert_eq!(missing.to_string(), "no/such/config.txt: no such file");
}

#[test]
fn topologies_are_checked_line_by_line() {
    let link = "0 3 100Gbps 1000ns 0";
    for (text, expected) in [
        ("", "1: the file ends where the number of nodes should be"),
        ("999999999999 1 3", "1: the network has 999999999999 nodes; expected at most 131072"),
        ("4 5 3\n3\n", "1: 5 switches among 4 nodes; expected at most 4"),
        (
            "4 1 999999999999\n3\n0 3 100Gbps 1000ns 0\n",
            "3: the file ends where the first node of link 2 of 999999999999 should be",
        ),
        ("4 1 1\n4\n0 3 100Gbps 1us 0\n", "2: there is no node 4; expected 0 to 3"),
        ("4 2 1\n3 3\n0 3 100Gbps 1us 0\n", "2: switch 3 is listed twice"),
        ("4 1 1\n3\n2 2 100Gbps 1us 0\n", "3: the link connects node 2 with itself"),
        ("4 1 1\n3\n0 3 100Gbpsx 1us 0\n", "3: the rate of link 1 of 1 is \"100Gbpsx\"; expected a rate"),
        ("4 1 1\n3\n0 3 100Gbps 1parsec 0\n", "3: the delay of link 1 of 1 is \"1parsec\"; expected a delay"),
        (
            "4 1 1\n3\n0 3 100Gbps 1us 2\n",
            "3: the loss rate of link 1 of 1 is \"2\"; expected a probability from 0 to 1",
        ),
        (
            "4 1 2\n3\n0 3 100Gbps 1us 0\n1 3 10Gbps 1us 0\n",
            "4: the link from 1 to 3 runs at 10Gbps, which records of telemetry.layout = \"reference\" cannot tell",
        ),
    ] {
        refused("topology.txt", text, &format!("topology.txt:{expected}"));
    }
    let crowd = format!("2 1 65536\n1\n{}", "0 1 100Gbps 1us 0\n".repeat(65_536));
    refused("topology.txt", crowd, "topology.txt:65538: node 0 has more than 65535 links");
    refused("topology.txt", "0 0 0\n", "flow.txt:2: the flow's source is node 0, but there are no nodes");
    let apart = format!("5 2 2\n3 4\n{link}\n2 4 100Gbps 1us 0\n");
    refused("topology.txt", apart, "flow.txt:2: no path connects host 0 with host 2");
}

#[test]
fn hosts_do_not_forward_but_may_be_cabled_directly() {
    let folder = Folder::new();
    folder.write("topology.txt", "3 0 2\n\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
    folder.load(&[]).expect("direct cables");
    folder.write("flow.txt", "1\n0 1 3 100 10 2.0\n");
    let expected = "flow.txt:2: no path connects host 0 with host 1; expected hosts that links connect, or a switch beside each that shall forward";
    assert_eq!(folder.load(&[]).expect_err("no path"), expected);
}

#[test]
fn flows_are_checked_line_by_line() {
    for (text, expected) in [
        ("999999999999 flows", "1: the source of flow 1 of 999999999999 is \"flows\"; expected a whole number"),
        ("2\n0 2 3 100 10 2.0\n", "2: the file ends where the source of flow 2 of 2 should be"),
        ("1\n0 0 3 100 10 2.0\n", "2: source and destination of the flow are the same host, 0"),
        ("1\n0 3 3 100 10 2.0\n", "2: the flow's destination is node 3, a switch; expected a host"),
        ("1\n0 2 3 100 0 2.0\n", "2: the size of flow 1 of 1 is \"0\"; expected a whole number from 1 to"),
        ("1\n0 2 3 65536 10000 2.0\n", "2: the destination port of flow 1 of 1 is \"65536\"; expected a whole number"),
        ("1\n0 2 8 100 10 2.0\n", "2: the priority of flow 1 of 1 is \"8\"; expected a whole number from 0 to 7"),
        ("1\n0 2 3 100 10 -2.0\n", "2: the start time of flow 1 of 1 is \"-2.0\"; expected a finite number"),
        ("2\n0 2 3 100 10 2.1\n1 2 3 100 10 2.0\n", "3: flow 2 starts at 2000000000 ns, before the previous one"),
    ] {
        refused("flow.txt", text, &format!("flow.txt:{expected}"));
    }
    let folder = Folder::new();
    folder.write("flow.txt", "1\n0 2 3 100 4001 2.0\n");
    let message = folder.load(&["L2_BACK_TO_ZERO=1"]).expect_err("chunk");
    assert!(
        message.starts_with("flow.txt:2: the flow's size is 4001 bytes, which it would never complete"),
        "{message}"
    );
    refused("trace.txt", "3 1 2", "trace.txt:1: the file ends where traced node 3 of 3 should be");
}

/// The authors' own flow file announces 2 of its flows, and ends with words on its format.
#[test]
fn what_follows_the_announced_lines_is_named_and_not_read() {
    let words = "\n\nFirst line: # of ...\nPlease order the flows in ascending start_time!\n";
    for (name, text, note) in [
        ("flow.txt", FLOWS, format!("flow.txt:{}: what follows the 2 flows", FLOWS.lines().count() + 2)),
        ("flow.txt", "1\n0 2 3 100 10 2.0\n5 5 x", "flow.txt:3: what follows the 1 flows".into()),
        ("topology.txt", TOPOLOGY, format!("topology.txt:{}: what follows the", TOPOLOGY.lines().count() + 2)),
        ("trace.txt", TRACE, format!("trace.txt:{}: what follows the 4 nodes", TRACE.lines().count() + 2)),
    ] {
        let folder = Folder::new();
        let usual = folder.load(&[]).expect("valid");
        folder.write(name, format!("{}{words}", text.trim_end()));
        let scenario = folder.load(&[]).expect("valid, too");
        let told =
            |known: &&String| known.contains(&note) && known.ends_with(" that the first line announces is not read");
        assert_eq!(scenario.notes.iter().filter(told).count(), 1, "{:?}", scenario.notes);
        assert_eq!(scenario.notes.len(), usual.notes.len() + 1);
        assert_eq!(scenario.flows.walk().filter(Result::is_ok).count() as u64, scenario.flows.totals.count);
    }
}

/// Every prefix of every file, and every file with any one byte replaced, is either valid or an error.
#[test]
fn damaged_files_never_panic() {
    let folder = Folder::new();
    for (name, text) in [("config.txt", CONFIG), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("trace.txt", TRACE)]
    {
        for end in 0..text.len() {
            folder.write(name, &text[..end]);
            let _ = folder.load(&[]);
            for byte in [b'9', b' ', b'-', b'\n', 0xff] {
                let mut damaged = text.as_bytes().to_vec();
                damaged[end] = byte;
                folder.write(name, &damaged);
                let _ = folder.load(&[]);
            }
        }
        folder.write(name, text);
    }
}
