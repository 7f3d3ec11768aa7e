// SPDX-License-Identifier: GPL-2.0-only
//! Faults of the 2019 simulator that show when its files are read, repeated and corrected.

use super::tests::Folder;
use crate::testing::Collected;
use hpcc_core::units::{BitRate, Bytes, Nanos};
use hpcc_model::scenario::{QueueHistogram, Scenario};

const CORRECT: &str = "compatibility.profile=correct";

fn load(overrides: &[&str]) -> Scenario {
    Folder::new().load(overrides).expect("valid")
}

fn refused(overrides: &[&str]) -> String {
    Folder::new().load(overrides).expect_err("invalid")
}

#[track_caller]
fn notes(scenario: &Scenario, expected: &str) {
    assert!(scenario.notes.iter().any(|note| note.starts_with(expected)), "{expected}: {:?}", scenario.notes);
}

#[test]
fn buffers_and_thresholds_wrap_at_32_bits() {
    let scenario = load(&["BUFFER_SIZE=4097", "KMAX_MAP=1 100000000000 4294969", "KMIN_MAP=1 100000000000 4294968"]);
    assert_eq!(scenario.settings.switch.buffer, Bytes(1 << 20));
    let threshold = scenario.settings.ecn_threshold(BitRate::gbps(100));
    assert_eq!((threshold.kmin, threshold.kmax), (4_294_968_000 - (1 << 32), 4_294_969_000 - (1 << 32)));
    notes(&scenario, "BUFFER_SIZE: of 4296015872 bytes the 2019 simulator's 32 bits leave 1048576");
    notes(&scenario, "KMIN_MAP: of 4294968000 bytes");
    assert_eq!(load(&["BUFFER_SIZE=4097", CORRECT]).settings.switch.buffer, Bytes(4097 << 20));
}

#[test]
fn pause_times_are_cut_to_whole_microseconds() {
    for (text, repeated, correct) in [("0.5", 0, Some(1)), ("1.9", 1, Some(2)), ("5", 5, Some(5)), ("0", 0, None)] {
        let setting = format!("PAUSE_TIME={text}");
        let scenario = load(&[&setting]);
        assert_eq!(scenario.settings.switch.pause_micros(), repeated);
        if repeated == 0 {
            notes(&scenario, &format!("PAUSE_TIME {text} counts as 0"));
        }
        match correct {
            Some(pause_time) => assert_eq!(load(&[&setting, CORRECT]).settings.switch.pause_micros(), pause_time),
            None => assert!(refused(&[&setting, CORRECT]).contains("PAUSE_TIME is 0, which would turn pauses")),
        }
    }
}

/// The 2019 simulator samples once before it looks at the end; what is not printed need not be sampled.
#[test]
fn a_histogram_that_ends_before_it_starts_is_one_sample() {
    let histogram = |start: u64, end: u64| {
        let settings = [format!("QLEN_MON_START={start}"), format!("QLEN_MON_END={end}")];
        load(&[&settings[0], &settings[1]]).monitor.queue_histogram
    };
    let one = |start, end| Some(QueueHistogram { start: Nanos(start), end: Nanos(end) });
    assert_eq!(histogram(2_100_000_000, 2_100_000_000), one(2_100_000_000, 2_100_000_000));
    assert_eq!(histogram(0, 0), one(0, 0));
    assert_eq!(histogram(2_100_000_050, 2_100_000_000), None);
}

#[test]
fn only_the_last_of_parallel_links_is_used() {
    let folder = Folder::new();
    folder.write(
        "topology.txt",
        "4 1 4\n3\n0 3 100Gbps 1us 0\n3 0 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n",
    );
    notes(&folder.load(&[]).expect("valid"), "1 links of the topology are not used");
    let correct = folder.load(&[CORRECT]).expect("valid").notes;
    assert!(correct.iter().all(|note| note.starts_with("host 0 has 2 links")), "{correct:?}");
}

#[test]
fn data_may_have_priority_0() {
    let folder = Folder::new();
    folder.write("flow.txt", "1\n0 2 0 100 10 2.0\n");
    assert_eq!(folder.load(&[]).expect("valid").flows.collect()[0].priority, 0);
    let message = folder.load(&[CORRECT]).expect_err("priority");
    assert!(message.starts_with("flow.txt:2: the flow's priority is 0; expected 1 to 7"), "{message}");
}

/// The 2019 simulator knows no comments; a word in one that is no value of its key would keep it from beginning.
#[test]
fn keys_in_comments_are_set_and_told() {
    let load = |line: &str, overrides: &[&str]| {
        let folder = Folder::new();
        folder.append("config.txt", line);
        folder.load(overrides).expect("valid")
    };
    let eta = |scenario: &Scenario| scenario.algorithm().get("eta").expect("eta").text();
    for line in ["# U_TARGET 0.5 was tried\n", "// then U_TARGET 0.5, not more\n", "{as in U_TARGET 0.5}\n"] {
        let scenario = load(line, &[]);
        assert_eq!(eta(&scenario), "0.5", "{line}");
        assert!(scenario.notes.iter().any(|note| note.contains("U_TARGET in a comment counts all the same")), "{line}");
        let correct = load(line, &["compatibility.comments_set_keys=false"]);
        assert_eq!(eta(&correct), "0.95");
        assert!(correct.notes.iter().any(|note| note.contains("U_TARGET in a comment does not count")), "{line}");
    }
    for line in ["# U_TARGET was 0.5\n", "#U_TARGET 0.5\n", "# ENABLE_PFC 0\n", "# U_TARGET"] {
        let scenario = load(line, &[]);
        assert_eq!((eta(&scenario), scenario.notes), ("0.95".into(), vec![]), "{line}");
    }
    assert_eq!(eta(&load("# U_TARGET 0.5\nU_TARGET 0.8\n", &[])), "0.8", "the last one counts");
    assert_eq!(eta(&load("# U_TARGET 0.5\n", &["U_TARGET=0.7"])), "0.7");
}

/// 100 Gb/s is not among the announced pairs: 0.
#[test]
fn of_a_map_the_announced_pairs_count() {
    let kmin = |scenario: &Scenario| scenario.settings.ecn_threshold(BitRate::gbps(100)).kmin;
    let folder = Folder::new();
    folder.append("config.txt", "KMIN_MAP 1 25000000000 5 100000000000 7\n");
    let [repeated, correct] = [&[][..], &[CORRECT]].map(|overrides| folder.load(overrides).expect("valid"));
    assert_eq!([kmin(&repeated), kmin(&correct)], [0, 7_000]);
    notes(&repeated, "KMIN_MAP: pairs announced: 1, there: 2; the announced ones count, as in the 2019 simulator");
    notes(&repeated, "KMIN_MAP announces no value for 100Gbps: 0, as in the 2019 simulator");
    notes(&correct, "KMIN_MAP: pairs announced: 1, there: 2; those that are there count");
}

#[test]
fn a_map_that_is_given_twice_adds_up() {
    let folder = Folder::new();
    folder.write("config.txt", super::tests::CONFIG.to_owned() + "\nKMIN_MAP 1 25000000000 5\n");
    let scenario = folder.load(&[]).expect("valid");
    notes(&scenario, "KMIN_MAP is given more than once; all of its pairs count, as in the 2019 simulator");
    assert!(scenario.settings.ecn_threshold(BitRate::gbps(100)).kmin > 0);
    assert!(folder.load(&[CORRECT]).expect_err("no thresholds").contains("no ECN thresholds for 100Gbps"));
}

/// With nothing marked no notification ever comes that would start the timer.
#[test]
fn the_timer_of_dcqcn_counts_where_packets_are_marked() {
    assert!(refused(&["CC_MODE=1", "RP_TIMER=0"]).contains("RP_TIMER is 0"));
    let scenario = load(&["CC_MODE=1", "RP_TIMER=0", "ENABLE_QCN=0"]);
    assert_eq!(scenario.algorithm().name(), "dcqcn");
}

/// The 2019 simulator runs flows that nothing controls; so does one that is watched, and the TOML that stands for it.
#[test]
fn a_key_of_toml_brings_no_check_to_what_the_reference_accepts() {
    for uncontrolled in [
        &["CC_MODE=1", "RP_TIMER=300", "ENABLE_QCN=0"][..],
        &["RATE_BOUND=0", "VAR_WIN=0"],
        &["CC_MODE=8", "RATE_BOUND=0", "HAS_WIN=0"],
    ] {
        let plain = load(uncontrolled);
        let watched = load(&[uncontrolled, &["monitor.queue_interval=2us"]].concat());
        assert_eq!(watched.monitor.queue_interval, Some(Nanos(2_000)));
        assert_eq!((plain.transport(), plain.settings.switch), (watched.transport(), watched.settings.switch));
        assert!(watched.notes.iter().any(|note| note.contains("without any control")), "{:?}", watched.notes);
    }
}

#[test]
fn a_node_that_is_listed_twice_is_traced_twice() {
    let folder = Folder::new();
    folder.write("trace.txt", "3\n0 3 0\n");
    folder.append("config.txt", "TRACE_FILE trace.txt\n");
    for overrides in [&["ENABLE_TRACE=1"][..], &["ENABLE_TRACE=1", "monitor.queue_interval=2us"]] {
        let scenario = folder.load(overrides).expect("valid");
        assert_eq!(scenario.monitor.trace_nodes, [0, 3, 0]);
        notes(&scenario, "TRACE_FILE names nodes more than once");
    }
}
