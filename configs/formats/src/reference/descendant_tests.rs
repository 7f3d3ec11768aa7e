// SPDX-License-Identifier: GPL-2.0-only
//! Files in the style of the 2019 simulator's descendants, and configurations as TOML.

use super::tests::Folder;
use super::{Remark, import};
use crate::testing::Collected;
use hpcc_core::units::{Nanos, Rounding};
use hpcc_model::scenario::Scenario;
use serde_json::Value;
use std::path::Path;

/// In the style of a descendant that balances loads: other keys, no stop time, no trace, seconds of the monitor.
const BALANCING: &str = "\
TOPOLOGY_FILE config/net.txt
FLOW_FILE config/flows.txt
FLOW_INPUT_FILE mix/in.txt
CNP_OUTPUT_FILE mix/cnp.txt
UPLINK_MON_FILE mix/uplink.txt
QLEN_MON_START 2.0
QLEN_MON_END 2.1
SW_MONITORING_INTERVAL 10000
FLOWGEN_START_TIME 2.0
FLOWGEN_STOP_TIME 2.1
BUFFER_SIZE 9
CC_MODE 1
LB_MODE 9
ENABLE_PFC 0
ENABLE_IRN 1
CONWEAVE_TX_EXPIRY_TIME 1000
RP_TIMER 300
EWMA_GAIN 0.00390625
RATE_AI 40.0Mb/s
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
HAS_WIN 0
KMAX_MAP 1 100000000000 400 400000000000 1600
KMIN_MAP 3 100000000000 100
PMAX_MAP 1 100000000000 0.2
LOAD 50
RANDOM_SEED 7
";

const NET: &str =
    "5 1 1 4 25 100\n4 \n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100000000000.0 1us 0\n3 4 100Gbps 1us 0\n";

fn balancing() -> Folder {
    let folder = Folder::new();
    folder.write("config.txt", BALANCING);
    folder.write("net.txt", NET);
    folder.write("flows.txt", "2\n0 1 3 20000 2.0\n2 3 4 5000000000 2.000001\n");
    folder
}

/// What the configuration, imported, says in TOML.
fn imported(folder: &Folder) -> (Scenario, Vec<(Remark, String)>) {
    let path = folder.path("config.txt");
    let (text, remarks) = import(&path, &[], Path::to_owned).expect("readable");
    folder.write("imported.toml", &text);
    let scenario = crate::load(&folder.path("imported.toml"), &[]);
    (scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), remarks)
}

fn is_said(remarks: &[(Remark, String)], kind: Remark, start: &str) -> bool {
    remarks.iter().any(|(known, text)| *known == kind && text.starts_with(start))
}

/// The configuration without what only its file tells.
fn meaning(scenario: &Scenario) -> Value {
    let mut meaning = scenario.effective();
    for key in ["name", "notes", "legacy"] {
        meaning[key].take();
    }
    meaning["flows"] = format!("{:?}", scenario.flows.collect()).into();
    meaning["network"] = format!("{:?}", scenario.network).into();
    meaning
}

/// What is imported is the same simulation, whatever the configuration says.
#[test]
fn toml_says_what_the_configuration_says() {
    let variants: &[&str] = &[
        "",
        "CC_MODE 1\nRP_TIMER 900\nEWMA_GAIN 0.1\nHAS_WIN 0\nVAR_WIN 0",
        "CC_MODE 7\nRATE_AI 10Mb/s",
        "CC_MODE 8\nEWMA_GAIN 0.0625\nDCTCP_RATE_AI 615Mb/s",
        "CC_MODE 10\nPINT_LOG_BASE 1.1\nPINT_PROB 0.5",
        "CC_MODE 12\nRATE_BOUND 0",
        "CC_MODE 3\nHAS_WIN 0",
        "ENABLE_QCN 0\nACK_HIGH_PRIO 1\nGLOBAL_T 0\nPAUSE_TIME 7.5",
        "L2_BACK_TO_ZERO 1\nL2_CHUNK_SIZE 100000\nBUFFER_SIZE 4097",
        "LINK_DOWN 100 0 3\nERROR_RATE_PER_LINK 0.001\nENABLE_TRACE 1",
        "QLEN_MON_START 0\nQLEN_MON_END 0\nSIMULATOR_STOP_TIME 40000000000000.00",
        "MULTI_RATE 1\nSAMPLE_FEEDBACK 1\nFAST_REACT 0\nU_TARGET 1.05\nINT_MULTI 2\nMI_THRESH 3",
    ];
    for lines in variants {
        let folder = Folder::new();
        folder.append("config.txt", lines);
        let direct = folder.load(&[]).unwrap_or_else(|error| panic!("{lines}: {error}"));
        let (scenario, _) = imported(&folder);
        let (mut direct, mut scenario) = (meaning(&direct), meaning(&scenario));
        // One sample either way.
        if lines.contains("QLEN_MON_END 0") {
            for meaning in [&mut direct, &mut scenario] {
                meaning["monitor"]["queue_histogram_end_ns"].take();
            }
        }
        pretty_assertions(&direct, &scenario, lines);
    }
}

#[track_caller]
fn pretty_assertions(direct: &Value, imported: &Value, lines: &str) {
    let keys = direct.as_object().expect("a table").keys().chain(imported.as_object().expect("a table").keys());
    for key in keys {
        assert_eq!(direct[key], imported[key], "{key} with {lines}");
    }
}

#[test]
fn keys_of_a_descendant_become_ours() {
    let folder = balancing();
    let scenario = folder.load(&[]).expect("valid");
    assert_eq!(scenario.effective()["switch"]["mode"], "lossy");
    assert_eq!(scenario.effective()["transport"]["recovery"], "selective_repeat");
    assert_eq!(scenario.effective()["transport"]["timeout_ns"], 320_000);
    assert_eq!((scenario.seed, scenario.stop), (7, Nanos::from_seconds(12.1, Rounding::Floored)));
    assert_eq!(scenario.network.links.len(), 4);
    let flows = scenario.flows.collect();
    assert_eq!((flows[1].size, flows[1].priority, flows[1].dport), (5_000_000_000, 4, 100));
    assert_eq!(scenario.monitor.queue_histogram.expect("a histogram").end, Nanos::from_seconds(2.1, Rounding::Floored));
    let (same, remarks) = imported(&folder);
    pretty_assertions(&meaning(&scenario), &meaning(&same), "a descendant's keys");
    for (kind, start) in [
        (Remark::Taken, "ENABLE_PFC 0 as switch.mode = \"lossy\""),
        (Remark::Taken, "RANDOM_SEED 7 as run.seed = 7"),
        (Remark::Taken, "LB_MODE 9 as load_balancing.scheme = \"conweave\""),
        (Remark::Idle, "UPLINK_MON_FILE"),
        (Remark::Taken, "CONWEAVE_TX_EXPIRY_TIME 1000 as load_balancing.conweave_expiry = \"1000us\""),
        (Remark::Guessed, "KMAX_MAP: pairs announced: 1, there: 2"),
        (Remark::Guessed, "KMIN_MAP: pairs announced: 3, there: 1"),
        (Remark::Guessed, "QLEN_MON_START 2.0 is in seconds"),
        (Remark::Guessed, "TOPOLOGY_FILE: there is no config/net.txt"),
    ] {
        assert!(is_said(&remarks, kind, start), "{start}: {remarks:?}");
    }
    assert_eq!(scenario.effective()["load_balancing"]["scheme"], "conweave");
    assert_eq!(scenario.effective()["load_balancing"]["conweave_expiry_ns"], 1_000_000);
    assert!(scenario.notes.iter().any(|note| note.contains("6 words: 1 switches and 4 links")), "{:?}", scenario.notes);
}

/// Their script writes ConWeave's times whatever balances loads, and before or after that.
#[test]
fn times_of_conweave_count_where_it_balances_loads() {
    for mode in ["LB_MODE 6", "LB_MODE 3"] {
        let folder = balancing();
        folder.write("config.txt", BALANCING.replace("LB_MODE 9", mode));
        let (scenario, remarks) = imported(&folder);
        assert!(is_said(&remarks, Remark::Idle, "CONWEAVE_TX_EXPIRY_TIME: "), "{remarks:?}");
        assert_ne!(scenario.effective()["load_balancing"]["scheme"], "conweave");
    }
    let folder = balancing();
    let late = BALANCING.replace("LB_MODE 9\n", "") + "CONWEAVE_DEFAULT_VOQ_WAITING_TIME 600\nLB_MODE 9\n";
    folder.write("config.txt", &late);
    let (scenario, _) = imported(&folder);
    assert_eq!(scenario.effective()["load_balancing"]["conweave_default_wait_ns"], 600_000);
}

#[test]
fn keys_of_toml_change_a_configuration() {
    let folder = Folder::new();
    let scenario = folder.load(&["transport.recovery=selective_repeat", "U_TARGET=0.9", "run.seed=5"]).expect("valid");
    assert_eq!(scenario.effective()["transport"]["recovery"], "selective_repeat");
    assert_eq!(scenario.effective()["congestion_control"]["eta"], 0.9);
    assert_eq!((scenario.seed, scenario.name.as_str()), (5, "config"));
    let other = folder.load(&["congestion_control.algorithm=hpcc_plus"]).expect("another algorithm");
    assert_eq!(other.algorithm().name(), "hpcc_plus");
    let error = folder.load(&["transport.recovry=x"]).expect_err("misspelt");
    assert!(error.contains("unknown key recovry in [transport]; did you mean recovery?"), "{error}");
}

#[test]
fn unknown_keys_are_named_at_once() {
    let folder = Folder::new();
    folder.append("config.txt", "WARP_SPEED 9\nENABLE_PFC 1\nIMPULSE 1 2 3 # of a ship\n");
    let error = folder.load(&[]).expect_err("unknown");
    assert!(error.contains("unknown keys WARP_SPEED, IMPULSE (line "), "{error}");
    let notes = folder.load(&["unknown_keys=skip"]).expect("valid").notes;
    assert!(notes.iter().any(|note| note.starts_with("dropped: nobody knows WARP_SPEED, IMPULSE (line ")), "{notes:?}");
    let error = folder.load(&["unknown_keys=keep"]).expect_err("keep");
    assert!(error.contains("expected skip"), "{error}");
}

#[test]
fn comments_are_in_braces_or_behind_signs() {
    let folder = Folder::new();
    let explained: String =
        super::tests::CONFIG.lines().map(|line| format!("{line} {{what it\nis: 1}} # more\n// and more\n")).collect();
    folder.write("config.txt", explained);
    let scenario = folder.load(&[]).expect("valid");
    assert_eq!(meaning(&scenario), meaning(&Folder::new().load(&[]).expect("valid")));
}

/// The DCQCN authors' simulator counts packets, and has one threshold for all ports.
#[test]
fn packets_are_counted() {
    let folder = Folder::new();
    folder.write(
        "config.txt",
        "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt RP_TIMER 60 L2_CHUNK_SIZE 4000 L2_ACK_INTERVAL 256 DCTCP_GAIN 0.125\n\
         KMAX 1000\nKMIN 40\nPMAX 1.0\nCNP_INTERVAL 50\nBYTE_COUNTER 300000000\nNP_SAMPLING_INTERVAL 0\nSEND_IN_CHUNKS 1\nAPP_STOP_TIME 9\n",
    );
    folder.write(
        "flow.txt",
        "2\n0 2 3 10000000 2.0 9.5\n1 2 3 10 2.0 9.5\n\nsrc dst priority packet# start_time end_time\n",
    );
    let scenario = folder.load(&[]).expect("valid");
    assert_eq!(scenario.flows.collect()[0].size, 10_000_000_000);
    assert_eq!(scenario.effective()["switch"]["ecn_thresholds"][0]["kmax_bytes"], 1_030_000);
    assert_eq!(scenario.effective()["congestion_control"]["gain"], 0.125);
    assert_eq!(scenario.effective()["congestion_control"]["notification_interval_ns"], 50_000);
    assert_eq!(scenario.effective()["congestion_control"]["byte_counter_bytes"], 300_000_000);
    let (_, remarks) = imported(&folder);
    assert!(is_said(&remarks, Remark::Dropped, "SEND_IN_CHUNKS 1"), "{remarks:?}");
    assert!(is_said(&remarks, Remark::Guessed, "KMIN 40 and KMAX 1000 are packets of 1030 bytes"), "{remarks:?}");
}

#[test]
fn columns_tell_what_they_are() {
    let sizes = |text: &str| {
        let folder = Folder::new();
        folder.write("flow.txt", text);
        let scenario = folder.load(&[]).expect(text);
        let sizes: Vec<u64> = scenario.flows.collect().iter().map(|flow| flow.size).collect();
        (sizes, scenario.notes)
    };
    let (found, notes) = sizes("2\n0 2 3 8192 2.0 1\n1 2 3 65536 2.1 2\n");
    assert_eq!(found, [8192, 65536]);
    assert!(notes[0].contains("taken for \"src dst priority size start skip\""), "{notes:?}");
    let (found, notes) = sizes("2\n0 0 2 3 100 100000 2.0\n1 1 2 3 100 5000 2.1\n");
    assert_eq!(found, [100_000, 5000]);
    assert!(notes[0].contains("taken for \"skip src dst priority dport size start\""), "{notes:?}");
    // These may be either.
    let (found, notes) = sizes("2\n0 2 3 8192 2 1\n1 2 3 65535 2 2\n");
    assert_eq!(found, [2, 2]);
    assert!(notes[0].contains("as if its columns were"), "{notes:?}");
    let (found, notes) = sizes("1\n0 2 3 100 5000000000 2.0\n");
    assert_eq!((found, notes), (vec![5_000_000_000], Vec::new()));
}

#[test]
fn files_are_found_above_the_configuration() {
    let folder = Folder::new();
    for name in ["topology.txt", "flow.txt", "trace.txt"] {
        std::fs::create_dir_all(folder.path("simulation/mix")).expect("folder");
        std::fs::rename(folder.path(name), folder.path("simulation/mix").join(name)).expect("moved");
    }
    let text = super::tests::CONFIG.replace("_FILE ", "_FILE mix/");
    folder.write("simulation/mix/config.txt", text);
    let scenario = crate::load(&folder.path("simulation/mix/config.txt"), &[]).expect("found");
    assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
}

#[test]
fn flows_may_be_missing_where_a_configuration_is_imported() {
    let folder = Folder::new();
    for name in ["flow.txt", "trace.txt"] {
        std::fs::remove_file(folder.path(name)).expect("gone");
    }
    let (scenario, remarks) = imported(&folder);
    assert_eq!(scenario.flows.totals.count, 0);
    assert!(is_said(&remarks, Remark::Dropped, "FLOW_FILE names"), "{remarks:?}");
    assert!(is_said(&remarks, Remark::Guessed, "TRACE_FILE names"), "{remarks:?}");
}

/// Attributes of SimAI's simulator are the keys that they replaced.
#[test]
fn attributes_are_keys() {
    let folder = Folder::new();
    let with = |lines: &str| {
        let text = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nTRACE_FILE trace.txt\nHAS_WIN 0\nL2_ACK_INTERVAL 1\nBUFFER_SIZE 32\n\
            KMAX_MAP 1 100000000000 400\nKMIN_MAP 1 100000000000 100\nPMAX_MAP 1 100000000000 0.2\n";
        folder.write("config.txt", format!("{text}{lines}"));
        folder.load(&[]).expect(lines)
    };
    let by_keys = with("CC_MODE 7\nENABLE_PFC 0\nRATE_AI 5Mb/s\nMIN_RATE 100Mb/s\nRATE_BOUND 1\n");
    let by_attributes = with(
        "ns3::RdmaHw::CcMode 7\nns3::SwitchNode::PfcEnabled false\nns3::RdmaHw::RateAI 5Mb/s\n\
         ns3::RdmaHw::MinRate 100Mb/s\nns3::RdmaHw::RateBound true\n",
    );
    assert_eq!(by_keys.effective(), by_attributes.effective());
}
