// SPDX-License-Identifier: GPL-2.0-only
//! TOML scenarios, valid and broken.

use super::assign::RENAMED;
use crate::load;
use crate::testing::Collected;
use hpcc_core::cc::{
    Algorithm, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, LineRate, TcpClass, TimelyConfig,
};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::node::{ControlSettings, NodeSettings};
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Value;
use hpcc_core::switch::BufferKind;
use hpcc_core::telemetry::{Form, Layout};
use hpcc_core::transport::{Recovery, TimeoutConfig, TransportConfig};
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::scenario::{EventOrder, Monitor, Scenario};
use std::path::Path;

mod algorithms;
mod buffer;
mod classes;
mod hardware;
mod idle_keys;
mod lints;
mod long_jobs;
mod memory;
mod priorities;
mod servers;
mod sums;
mod topology;
mod traffic;
mod wrong_values;

pub(crate) const MINIMAL: &str = r#"[run]
stop = "1ms"

[topology]
kind = "star"
hosts = 4
rate = "100Gbps"
delay = "1us"

[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1MB"
"#;

pub(crate) fn load_with(text: impl AsRef<[u8]>, overrides: &[&str]) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("test.toml");
    std::fs::write(&path, text).expect("writable");
    std::fs::write(folder.path().join("flow.txt"), "1\n0 9 3 100 10 0\n").expect("writable");
    std::fs::write(folder.path().join("bad.cdf"), "10 20\n5 100\n").expect("writable");
    let topology = "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n";
    std::fs::write(folder.path().join("topology.txt"), topology).expect("writable");
    let simai = "9 2 2 3 10 H100\n4 5 6 7 8\n0 4 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n1 4 2880Gbps 0.000025ms 0\n\
        1 7 400Gbps 0.0005ms 0\n2 5 2880Gbps 0.000025ms 0\n2 6 400Gbps 0.0005ms 0\n3 5 2880Gbps 0.000025ms 0\n\
        3 7 400Gbps 0.0005ms 0\n6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";
    let htsim = "Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 500\n\
        Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 500\n";
    let layer = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4000 1";
    for (name, text) in [
        ("simai.txt", simai),
        ("a.topo", htsim),
        ("a.goal", "num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 10b from 0\n}\n"),
        ("a.cm", "Nodes 3\nConnections 1\n2->0 start 0 size 10\n"),
        ("a.0.json", "{\"workload_graph\": [{\"Id\": 0, \"NodeType\": 4, \"runtime\": 3}]}"),
        (
            "layers.txt",
            &format!("HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 1 all_gpus: 3\n1\n{layer}\n"),
        ),
    ] {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let prefix = format!("{}/", folder.path().display());
    // Of TCP's classes, which the simulator has, tests know one.
    let control = ControlSettings::with(Vec::new(), |name| match name {
        "ns3::TcpDctcp" => Ok(Box::new(TcpClass::new(name, LineRate))),
        _ => Err(String::new()),
    });
    let loaded = crate::load_with(&path, &overrides, NodeSettings::new(control));
    loaded.map_err(|error| error.to_string().replace(&prefix, ""))
}

/// A minimal scenario with another topology.
fn with_topology(section: &str) -> String {
    format!("[run]\nstop = \"1ms\"\n[topology]\n{section}\n")
}

fn thresholds(scenario: &Scenario) -> &[EcnThreshold] {
    scenario.settings.ecn_thresholds.as_deref().expect("of the link rates")
}

#[track_caller]
fn refused(text: &str, overrides: &[&str], expected: &str) {
    let message = load_with(text, overrides).expect_err(expected);
    assert!(message.starts_with(expected), "found:    {message}\nexpected: {expected}\n{text}");
}

#[test]
fn what_is_left_out_has_the_preset_of_the_reference() {
    let scenario = load_with(MINIMAL, &[]).expect("valid");
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.stop), ("test", 1, Nanos(1_000_000)));
    assert!(scenario.algorithm() == &HpccConfig::default() as &dyn Algorithm);
    assert_eq!(scenario.layout(), Layout::new(Form::Paper));
    // 32 MiB take 2.68 ms at 100 Gb/s.
    let timeout = TimeoutConfig { high: Nanos(2_684_354), low: Nanos(100_000), few: 0, base_rtts: 3, back_off: true };
    let expected = TransportConfig { timeout: Some(timeout), exact_rates: true, ..TransportConfig::default() };
    assert_eq!(scenario.transport(), expected);
    assert_eq!((scenario.settings.switch.buffer.0, scenario.settings.switch.mode), (32 << 20, BufferKind::Lossless));
    let threshold = EcnThreshold { rate: BitRate::gbps(100), kmin: 400_000, kmax: 1_600_000, pmax: 0.2 };
    assert_eq!(thresholds(&scenario), [threshold]);
    assert_eq!(scenario.monitor, Monitor::default());
    assert_eq!(
        (scenario.flows.collect().len(), scenario.flows.collect()[0].priority, scenario.flows.collect()[0].dport),
        (1, 3, 100)
    );
    assert!(scenario.notes.is_empty());
}

#[test]
fn loss_and_recovery_can_be_set() {
    let settings = "[transport]\nrecovery = \"selective_repeat\"\nack_every = \"4KB\"\ntimeout = \"320us\"\n\
                    timeout_low_packets = 5\n[switch]\nmode = \"lossy\"\nalpha = 0.5\n";
    let scenario = load_with(format!("{MINIMAL}{settings}"), &[]).expect("valid");
    let timeout = TimeoutConfig { high: Nanos(320_000), low: Nanos(100_000), few: 5, base_rtts: 0, back_off: true };
    assert_eq!((scenario.transport().recovery, scenario.transport().ack_every), (Recovery::SelectiveRepeat, 4_000));
    assert_eq!(scenario.transport().timeout, Some(timeout));
    assert_eq!((scenario.settings.switch.mode, scenario.settings.switch.alpha), (BufferKind::Lossy, 0.5));
}

#[test]
fn every_section_can_be_given() {
    let settings = r#"
[congestion_control]
eta = 1
additive_increase = "40Mb/s"
fast_react = false
[telemetry]
layout = "paper"
[transport]
mtu = 4096
recovery = "go_back_zero"
chunk = 8000
ack_priority = 0
[switch]
ecn_thresholds = [
  { rate = "100Gbps", kmin = "1KB", kmax = "2KB", pmax = 1 },
]
[monitor]
goodput_interval = "10us"
control_interval = "1us"
control_flows = [0]
trace_nodes = "switches"
queue_histogram_start = "100us"
queue_histogram_end = "200us"
"#;
    let scenario = load_with(format!("{MINIMAL}{settings}"), &[]).expect("valid");
    let values = ["eta", "fast_react"].map(|key| scenario.algorithm().get(key).expect(key));
    assert_eq!(values, [Value::Real(1.0), Value::Switch(false)]);
    assert_eq!(scenario.layout(), Layout::new(Form::Paper));
    assert_eq!((scenario.transport().recovery, scenario.transport().ack_priority), (Recovery::GoBackZero, 0));
    assert_eq!(thresholds(&scenario)[0].kmax, 2000);
    let Monitor { queue_histogram, control_flows, trace_nodes, .. } = &scenario.monitor;
    assert_eq!(queue_histogram.expect("on").end, Nanos(200_000));
    assert_eq!((&control_flows[..], &trace_nodes[..]), (&[0][..], &[4][..]));
    let effective = scenario.effective();
    assert_eq!(effective["transport"]["mtu_bytes"], 4096);
    assert_eq!(effective["congestion_control"]["additive_increase_bps"], 40_000_000);
    assert_eq!(effective["traffic"]["payload_bytes"], 1_000_000);
    assert_eq!(effective["monitor"]["goodput_interval_ns"], 10_000);
}

#[test]
fn the_quick_start_and_its_overrides_load() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../quickstart.toml");
    let scenario = load(&path, &["congestion_control.eta=0.90".into()]).expect("valid");
    assert_eq!(scenario.name, "quickstart");
    assert_eq!(scenario.flows.collect().len(), 19);
    assert_eq!(scenario.flows.collect().iter().filter(|flow| flow.dst == 0 && flow.dport == 200).count(), 16);
    assert_eq!(scenario.algorithm().get("eta"), Some(Value::Real(0.9)));
}

#[test]
fn every_shipped_scenario_loads_without_a_note_but_those_of_400_gbps_and_of_collectives() {
    let folders = ["..", "../paper/scenarios"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let mut count = 0;
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("configs")) {
        let path = entry.expect("entry").path();
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        // Sweeps are TOML, too, and name a scenario.
        let is_sweep = || std::fs::read_to_string(&path).expect("text").contains("[[variant]]");
        if is_toml && !is_sweep() {
            let scenario = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            // Figure 2b's incasts are more than DCQCN's least rate leaves room for. In the others a flow of HPCC can rest far
            // below its share.
            let crowded = ["pod-230.toml", "spread.toml", "fabrics-all-to-all.toml", "four-flows.toml"];
            let is_crowded = crowded.iter().any(|name| path.ends_with(name));
            let crowded = is_crowded.then_some("flows at a time go to host");
            let is_known = |note: &String| {
                note.starts_with("times are whole nanoseconds: at 400Gbps")
                    || note.starts_with(super::remarks::DEFAULTS)
                    || crowded.is_some_and(|crowded| note.contains(crowded))
            };
            assert!(scenario.notes.iter().all(is_known), "{}: {:?}", path.display(), scenario.notes);
            count += 1;
        }
    }
    assert!(count >= 2, "only {count} scenarios");
}

#[test]
fn parameters_that_no_algorithm_reads_are_noted() {
    let text = format!("{MINIMAL}[congestion_control]\nalgorithm = 'none'\neta = 0.9\nmin_rate = '1Gbps'\n");
    let scenario = load_with(text, &[]).expect("valid");
    assert_eq!(scenario.notes, ["algorithm = \"none\" has no use for eta, min_rate"]);
}

/// A flow over seven switches, where records of five have room: one that is longer than a window would run without control.
#[test]
fn flows_whose_path_is_too_long_for_telemetry_are_refused() {
    let chain: String = (2..8).map(|node| format!("{{a={node},b={}}},", node + 1)).collect();
    let links = format!("[{{a=0,b=2}},{chain}{{a=1,b=8}}]");
    let topology = format!("kind='links'\nhosts=2\nswitches=7\nrate='25Gbps'\ndelay='1us'\nlinks={links}");
    let text = with_topology(&topology) + "[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n";
    let reference = "telemetry.layout=reference";
    for harmless in [&[][..], &[reference], &[reference, "traffic.0.size=1MB", "congestion_control.algorithm=none"]] {
        assert_eq!(load_with(&text, harmless).err(), None, "{harmless:?}");
    }
    let message = load_with(&text, &[reference, "traffic.0.size=1MB"]).expect_err("no control");
    let expected = "telemetry.layout: layout = \"reference\" (multiplier 1) reports 5 switches";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn links_that_a_packet_passes_in_no_time_are_refused() {
    let text = with_topology("kind='star'\nhosts=2\nrate='800Gbps'\ndelay='1us'");
    let place = "test.toml:6: topology.rate: the link from 0 to 2 runs at 800Gbps, where the 49 bytes of a full packet take 0 ns";
    let short = ["congestion_control.algorithm=none", "transport.mtu=1", "wire.exact_rates=false"];
    refused(&text, &short, place);
    load_with(&text, &short[..2]).expect("exact rates count 0.49 ns");
}

#[test]
fn a_key_that_was_renamed_is_read_by_its_old_name_as_well() {
    for (section, old, new) in RENAMED {
        let header = if section == "attack" { "[[attack]]".into() } else { format!("[{section}]") };
        for key in [old, new] {
            let message = load_with(format!("{MINIMAL}{header}\n{key} = {{}}"), &[]).expect_err("no value");
            assert!(message.starts_with(&format!("test.toml:16: {section}.{key}: the value is {{}}")), "{message}");
        }
    }
    let load = |text: &str| load_with(format!("{MINIMAL}{text}"), &[]);
    assert_eq!(load("[receive]\nslow = 1").expect("slow hosts").settings.receive.hosts, "1");
    let both = load("[receive]\nslow = 1\nhosts = 2").expect_err("two names of one key");
    assert!(both.ends_with("receive.hosts: it is given by an older name, too; expected one"), "{both}");
}

#[test]
fn slow_hosts_differ_and_change() {
    let load = |text: &str| load_with(format!("{MINIMAL}{text}"), &[]);
    let two = load("[[receive]]\nhosts = 1\nrate = '5Gbps'\n[[receive]]\nhosts = '2,3'\nrate = '50Gbps'").expect("two");
    let rate = |node| two.settings.receive(&two.network, node).map(|slow| slow.rate);
    assert_eq!(
        [0, 1, 2, 3].map(rate),
        [None, Some(BitRate::gbps(5)), Some(BitRate::gbps(50)), Some(BitRate::gbps(50))]
    );
    assert_eq!(two.effective()["receive"][1]["rate_bps"], 50_000_000_000_u64);
    let steps = "[receive]\nhosts = 1\nrate = [{ time = '0s', rate = '5Gbps' }, { time = '1ms', rate = '100Gbps' }]";
    let texts = "[receive]\nhosts = 1\nrate = '5Gbps'\nschedule = '1ms 100Gbps'";
    for text in [steps, texts] {
        let scenario = load(text).expect(text);
        let slow = scenario.settings.receive(&scenario.network, 1).expect("slow");
        assert_eq!((slow.rate, &*slow.schedule), (BitRate::gbps(5), &[(Nanos(1_000_000), BitRate::gbps(100))][..]));
    }
    for (text, expected) in [
        ("[[receive]]\nhosts=1\n[[receive]]\nhosts='1,2'", "16: receive.hosts: host 1 is slow in two sections"),
        ("[[receive]]\nhosts=1\n[[receive]]\nrate='1Gbps'", "17: receive.hosts: hosts is \"none\" in a [[receive]]"),
        (
            "[[receive]]\nhosts=1\n[[receive]]\nhosts=2\nrate='100Gbps'",
            "19: receive.rate: slow hosts take frames at 100Gbps",
        ),
        ("[receive]\nhosts=1\nschedule='1ms'", "17: receive.schedule: \"1ms\" is no time and rate"),
        ("[receive]\nhosts=1\nschedule='2ms 1Gbps, 1ms 2Gbps'", "17: receive.schedule: 1.000 ms follows a time"),
        (
            "[receive]\nhosts=1\nrate=[{ time='1ms', rate='1Gbps' }]",
            "17: receive.rate: [{ time='1ms', rate='1Gbps' }] does not begin",
        ),
    ] {
        refused(&format!("{MINIMAL}{text}"), &[], &format!("test.toml:{expected}"));
    }
}

#[test]
fn the_references_faults_are_off_unless_asked_for() {
    let load = |section: &str| load_with(format!("{MINIMAL}[compatibility]\n{section}\n"), &[]);
    let wakeups = ReferenceFaults { missed_wakeups: true, ..ReferenceFaults::NONE };
    for (section, faults) in [
        ("", ReferenceFaults::NONE),
        ("profile = \"correct\"", ReferenceFaults::NONE),
        ("profile = \"reference\"", ReferenceFaults::REFERENCE),
        ("missed_wakeups = true", wakeups),
    ] {
        let scenario = load(section).expect(section);
        assert_eq!((scenario.faults(), scenario.transport().faults), (faults, faults), "{section}");
    }
    let set = load_with(MINIMAL, &["compatibility.missed_wakeups=true"]).expect("valid");
    let echo = &set.effective()["compatibility"];
    assert_eq!((set.faults(), &echo["profile"], &echo["missed_wakeups"]), (wakeups, &"correct".into(), &true.into()));
    for (line, message) in [
        (
            "missed_wakeup = true",
            "missed_wakeup: unknown key missed_wakeup in [compatibility]; did you mean missed_wakeups?",
        ),
        ("missed_wakeups = 1", "missed_wakeups: the value is 1; expected true or false"),
        ("profile = \"referenc\"", "profile: unknown profile \"referenc\"; did you mean reference?"),
    ] {
        refused(&format!("{MINIMAL}[compatibility]\n{line}"), &[], &format!("test.toml:16: compatibility.{message}"));
    }
}

#[test]
fn overrides_reach_every_place() {
    let overrides = [
        "run.stop=3ms",
        "run.order=insertion",
        "congestion_control.algorithm=none",
        "transport.window=false",
        "traffic.0.size=2MB",
        "topology.rate=\"25Gbps\"",
        "switch.ecn_thresholds=[{rate=\"25Gbps\",kmin=1,kmax=2,pmax=0.5}]",
    ];
    let scenario = load_with(MINIMAL, &overrides).expect("valid");
    assert_eq!((scenario.stop, scenario.order), (Nanos(3_000_000), EventOrder::Insertion));
    assert!(scenario.algorithm() == &LineRate as &dyn Algorithm);
    assert_eq!((scenario.flows.collect()[0].size, thresholds(&scenario)[0].kmin), (2_000_000, 1));
    assert!(!scenario.transport().window);
}

#[test]
fn overrides_are_checked_like_the_file() {
    for (setting, expected) in [
        (
            "congestion_control.etaa=1",
            "congestion_control.etaa: unknown key etaa in [congestion_control]; did you mean eta?",
        ),
        ("congestion.eta=1", "unknown section congestion; did you mean congestion_control?"),
        ("run.seed=", "run.seed: the value is \"\"; expected a whole number"),
        ("run.stop=soon", "run.stop: \"soon\" is not a number with a unit; expected a time"),
        ("run.stop.x=1", "run.stop.x: stop holds a value, no keys"),
        ("run..seed=1", "run..seed: a part of the key is empty"),
        ("traffic.7.size=1", "traffic.7.size: traffic is a list of 1; expected traffic.INDEX.KEY"),
        ("traffic.00.size=1", "traffic.00.size: traffic is a list of 1; expected traffic.INDEX.KEY"),
        ("traffic=1", "[traffic] is a single section; expected [[traffic]]"),
        ("topology=star", "topology is no section, but star; expected [topology]"),
        ("stop", "\"stop\" is no setting; expected KEY=VALUE"),
        (
            "switch.buffer=1KB",
            "switch.buffer: the buffer has 1000 bytes, but the headroom and reserve of switch 4's ports",
        ),
    ] {
        refused(MINIMAL, &[setting], &format!("--set: {expected}"));
    }
}

/// What is asked of each value is told for all keys in `wrong_values`; what they ask of each other, where they are declared.
#[test]
fn bad_settings_name_their_line() {
    for (line, expected) in [
        ("[congestion_control]\neta = 0.95x", "17: congestion_control.eta: 0.95x is no number"),
        (
            "[congestion_control]\nalgorithm = \"bbr\"",
            "17: congestion_control.algorithm: unknown algorithm \"bbr\"; expected one of hpcc,",
        ),
        (
            "[congestion_control]\nalgorithm = \"ns3::Nope\"",
            "17: congestion_control.algorithm: unknown algorithm \"ns3::Nope\"; expected",
        ),
        (
            "[congestion_control]\nmin_rate = \"200Gbps\"",
            "17: congestion_control.min_rate: the lowest sending rate is 200Gbps",
        ),
        ("[congestion_controll]\n", "16: unknown section congestion_controll; did you mean congestion_control?"),
        ("[transport]\nmtuu = 1", "17: transport.mtuu: unknown key mtuu in [transport]; did you mean mtu?"),
        ("[transport]\nmtu = 9001", "17: transport.mtu: the value is 9001; expected a size"),
        ("[transport]\nack_every = 4000\nack_offset = 2", "17: transport.ack_every: "),
        (
            "[transport]\ntimeout = \"0s\"\ntimeout_back_off = false",
            "18: transport.timeout_back_off: timeout_back_off belongs to a timeout",
        ),
        (
            "[telemetry]\nlayout = \"paper\"\nmultiplier = 4",
            "18: telemetry.multiplier: multiplier belongs to layout = \"reference\"",
        ),
        (
            "[telemetry]\nlayout = \"pint\"",
            "17: telemetry.layout: congestion control \"hpcc\" cannot work with telemetry layout \"pint\";",
        ),
        (
            "[monitor]\ncapture_nodes = [0]",
            "17: monitor.capture_nodes: frames of wire.profile = \"reference\" have no bytes",
        ),
        (
            "[transport]\nkind = \"uec\"\n[monitor]\ncapture_nodes = [0]",
            "19: monitor.capture_nodes: frames of transport.kind = \"uec\" have no bytes to capture; expected none",
        ),
        (
            "[transport]\nkind = \"uec\"\nrecovery = \"sack\"",
            "18: transport.recovery: recovery belongs to transport.kind = \"roce\"",
        ),
        (
            "[transport]\nkind = \"uec\"\n[telemetry]\nlayout = \"paper\"",
            "19: telemetry.layout: transport.kind = \"uec\" does not read layout \"paper\"; expected \"none\", or",
        ),
        ("[transport]\nuec_control = \"both\"", "17: transport.uec_control: uec_control belongs to kind = \"uec\""),
        ("[monitor]\ntrace_nodes = [99]", "17: monitor.trace_nodes: there is no node 99; expected 0 to 4"),
        ("[monitor]\ncontrol_flows = [0]", "17: monitor.control_flows: no flow is watched without an interval"),
        (
            "[monitor]\ncontrol_interval = \"1us\"\ncontrol_flows = [1]",
            "18: monitor.control_flows: control_flows names flow 1, but there are 1;",
        ),
        ("[monitor]\nqueue_interval = \"0us\"", "17: monitor.queue_interval: the value is \"0us\"; expected a time"),
        ("[monitor]\nqueue_interval = 5", "17: monitor.queue_interval: 5 has no unit; expected a time"),
        ("[monitor]\nqueue_histogram_start = \"1us\"", "16: monitor.queue_histogram_end"),
        (
            "[monitor]\nqueue_histogram_start = \"1us\"\nqueue_histogram_end = \"1us\"",
            "18: monitor.queue_histogram_end",
        ),
        ("[monitor\n", "16: "),
        ("[legacy]\nnodes = [99]", "17: legacy.nodes: there is no node 99; expected 0 to"),
        ("[legacy]\nalgorithm = \"hpcc\"", "17: legacy.algorithm: unknown algorithm \"hpcc\"; expected one of dcqcn,"),
        (
            "[legacy]\nalgorithm = \"dctcp\"\nhyper_increase = 1",
            "18: legacy.hyper_increase: unknown key hyper_increase in [legacy]",
        ),
        ("[legacy]\nmin_rate = \"900Gbps\"", "17: legacy.min_rate: the lowest sending rate is 900"),
        (
            "[[switch.ecn_thresholds]]\nrate=\"100Gbps\"\nkmin=2\nkmax=1\npmax=1",
            "16: switch.ecn_thresholds: kmin is 2 bytes, more than",
        ),
        (
            "[[switch.ecn_thresholds]]\nrate=\"25Gbps\"\nkmin=1\nkmax=1\npmax=1",
            "16: switch.ecn_thresholds: no ECN thresholds for 100Gbps, the rate of the link from 0 to 4 (line 7);",
        ),
    ] {
        refused(&format!("{MINIMAL}\n{line}"), &[], &format!("test.toml:{expected}"));
    }
    for (text, expected) in [
        ("[topology]\n", ": the section [run] is missing; expected [run] with stop = \"10ms\""),
        (
            "[run]\nseed = 1\n",
            ":1: run.stop: stop is missing from [run]; expected stop: simulated time at which the run ends",
        ),
        ("[run]\nstop = \"1s\"\n", ": the section [topology] is missing; expected [topology] with kind = \"star\""),
    ] {
        refused(text, &[], &format!("test.toml{expected}"));
    }
}

/// Every prefix of a scenario, and a scenario with any one byte replaced, is either valid or an error.
#[test]
fn damaged_files_never_panic() {
    let full =
        format!("{MINIMAL}[switch]\nbuffer = '32MiB'\necn_thresholds = [{{rate='100Gbps',kmin=1,kmax=2,pmax=1}}]\n");
    for end in 0..full.len() {
        let _ = load_with(&full[..end], &["run.stop=5ms"]);
        for byte in [b'9', b' ', b'-', b'"', b'\n', b'[', 0xff] {
            let mut damaged = full.clone().into_bytes();
            damaged[end] = byte;
            let _ = load_with(damaged, &["traffic.0.size=7"]);
        }
    }
}

#[test]
fn algorithms_that_nothing_can_steer_are_refused() {
    let with =
        |algorithm: &str, rest: &str| format!("{MINIMAL}[congestion_control]\nalgorithm = \"{algorithm}\"\n{rest}");
    for (algorithm, rest, expected) in [
        ("dcqcn", "[switch]\necn = false", "18: switch.ecn: ecn = false leaves dcqcn without marks"),
        (
            "hpcc_plus",
            "[switch]\necn = false\n[legacy]\nnodes = [2]",
            "18: switch.ecn: ecn = false leaves dcqcn without marks",
        ),
        (
            "hpcc",
            "[telemetry]\nlayout = \"int_md\"\nsampling = \"nth\"\nevery = 1000000",
            "20: telemetry.every: every = 1000000, of which the longest flow, of 1000 packets, collects one, leaves hpcc",
        ),
    ] {
        refused(&with(algorithm, rest), &[], &format!("test.toml:{expected}"));
    }
    for (algorithm, rest) in [
        ("dctcp", "[telemetry]\nsampling = \"none\""),
        (
            "hpcc_plus",
            "[telemetry]\nsampling = \"none\"\n[wire]\nprofile = \"rocev2_ipv6\"\n[fast_cnp]\nenabled = true",
        ),
        ("hpcc_plus", "[telemetry]\nsampling = \"none\"\n[transport]\ncongestion_notification = \"cnp\""),
    ] {
        assert_eq!(load_with(with(algorithm, rest), &[]).err(), None, "{algorithm}: {rest}");
    }
}

/// A connection would be given up before the first answer, and its flow would never begin.
#[test]
fn tcp_that_gives_up_before_an_answer_is_refused() {
    let set =
        |timeout| ["transport.protocol=tcp", "congestion_control.algorithm=hpcc_plus", "topology.delay=20us", timeout];
    let expected = "--set: transport.tcp_timeout: TCP gives a connection up 63 times tcp_timeout after its first packet, 63.000 us \
                    here, and an answer may take 80.000 us; expected at least 1.270 us";
    refused(MINIMAL, &set("transport.tcp_timeout=1us"), expected);
    assert_eq!(load_with(MINIMAL, &set("transport.tcp_timeout=1270ns")).err(), None);
}

/// Switches mark for those who read marks: for the main algorithm, and if that reads none for legacy hosts.
#[test]
fn switches_mark_for_those_who_read_marks() {
    let kmin = |control: &str, legacy: &str| {
        let text = format!("{MINIMAL}[congestion_control]\nalgorithm = \"{control}\"\n[legacy]\n{legacy}");
        load_with(text, &[]).expect("valid").settings.switch.ecn_kmin.expect("settled").0
    };
    let dctcp = "algorithm = \"dctcp\"\nnodes";
    assert_eq!(kmin("hpcc_plus", "nodes = [1]"), 400_000, "DCQCN");
    assert_eq!(kmin("hpcc_plus", &format!("{dctcp} = [1]")), 300_000);
    assert_eq!(kmin("hpcc_plus", "nodes = [4]"), 400_000, "a switch sends no flows");
    assert_eq!(kmin("dcqcn", &format!("{dctcp} = [1]")), 400_000, "the main algorithm decides");
    let text = format!("{MINIMAL}[switch]\necn_kmin = \"5kB\"\n[legacy]\n{dctcp} = [1]");
    let given = load_with(text, &[]).expect("valid").settings.switch;
    assert_eq!((given.ecn_kmin.map(|bytes| bytes.0), given.ecn_pmax), (Some(5_000), Some(1.0)));
}
