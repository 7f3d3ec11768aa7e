// SPDX-License-Identifier: GPL-2.0-only
//! Faults of the reference that show when its files are read, repeated and corrected.

use super::tests::Folder;
use crate::scenario::{QueueHistogram, Scenario};
use hpcc_core::units::{BitRate, Bytes, Nanos};

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
    notes(&scenario, "BUFFER_SIZE: of 4296015872 bytes the reference's 32 bits leave 1048576");
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

/// The reference samples once before it looks at the end; what is not printed need not be sampled.
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
    assert!(folder.load(&[CORRECT]).expect("valid").notes.is_empty());
}

#[test]
fn data_may_have_priority_0() {
    let folder = Folder::new();
    folder.write("flow.txt", "1\n0 2 0 100 10 2.0\n");
    assert_eq!(folder.load(&[]).expect("valid").flows.collect()[0].priority, 0);
    let message = folder.load(&[CORRECT]).expect_err("priority");
    assert!(message.starts_with("flow.txt:2: the flow's priority is 0; expected 1 to 7"), "{message}");
}
