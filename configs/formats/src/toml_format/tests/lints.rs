// SPDX-License-Identifier: GPL-2.0-only
//! Each lint, where it has something to say and where it has not.

use super::{MINIMAL, load_with};
use hpcc_model::lint::LINTS;
use hpcc_model::scenario::Finding;
use std::collections::BTreeSet;

/// A finding of a lint in a scenario with some overrides, and further overrides with which there is none.
struct Case {
    id: &'static str,
    text: String,
    set: &'static [&'static str],
    says: &'static str,
    silent: &'static [&'static [&'static str]],
}

/// Two hosts at a switch, and a flow.
fn pair(rate: &str) -> String {
    network(&format!("kind='star'\nhosts=2\nrate='{rate}'\ndelay='1us'")) + FLOW
}

const FLOW: &str = "[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n";

fn network(section: &str) -> String {
    format!("[run]\nstop = \"1ms\"\n[topology]\n{section}\n")
}

/// Two hosts beside each other in a ring of seven switches.
fn ring() -> String {
    let chain: String = (2..8).map(|node| format!("{{a={node},b={}}},", node + 1)).collect();
    let links = format!("[{{a=0,b=2}},{{a=1,b=3}},{chain}{{a=8,b=2}}]");
    network(&format!("kind='links'\nhosts=2\nswitches=7\nrate='25Gbps'\ndelay='1us'\nlinks={links}")) + FLOW
}

/// Two hosts at opposite corners of a square of switches.
fn square() -> String {
    let links = "[{a=0,b=2},{a=1,b=4},{a=2,b=3},{a=3,b=4},{a=4,b=5},{a=5,b=2}]";
    network(&format!("kind='links'\nhosts=2\nswitches=4\nrate='25Gbps'\ndelay='1us'\nlinks={links}")) + FLOW
}

/// An incast of so many flows over 25 Gb/s.
fn incast(flows: u32) -> String {
    network(&format!("kind='star'\nhosts={}\nrate='25Gbps'\ndelay='1us'", flows + 1))
        + &format!("[[traffic]]\nkind='incast'\nreceiver=0\nsender_count={flows}\nsize='10MB'\n")
}

/// So many endless flows over 10 Gb/s, with 12 kB in a round trip.
fn few_packets(flows: u32) -> String {
    network(&format!("kind='star'\nhosts={}\nrate='10Gbps'\ndelay='2us'", flows + 1))
        + &format!("[[traffic]]\nkind='incast'\nreceiver=0\nsender_count={flows}\nsize='endless'\n")
}

/// Switches 4 and 5 with two hosts each, and a flow of each of three to the fourth. Switch 4's link to host 0 leads out of the
/// domain of Fast CNP.
fn border() -> String {
    let links = "[{a=0,b=4},{a=1,b=4},{a=2,b=5},{a=3,b=5},{a=4,b=5}]";
    network(&format!("kind='links'\nhosts=4\nswitches=2\nrate='100Gbps'\ndelay='1us'\nlinks={links}"))
        + "[congestion_control]\nalgorithm='dcqcn'\n[wire]\nprofile='rocev2_ipv6'\n[fast_cnp]\nenabled=true\n"
        + "[[traffic]]\nkind='incast'\nreceiver=3\nsenders=[0,1,2]\nsize='2MB'\n"
}

/// Hosts of 25, 100, 200 and 400 Gb/s on one switch, and random traffic.
fn mixed_rates() -> String {
    let links = "{a=0,b=4,rate='25Gbps'},{a=1,b=4,rate='100Gbps'},{a=2,b=4,rate='200Gbps'},{a=3,b=4,rate='400Gbps'}";
    network(&format!("kind='links'\nhosts=4\nswitches=1\ndelay='1us'\nlinks=[{links}]"))
        + "[[traffic]]\nkind='poisson'\nsizes='fb_hadoop'\nload=0.5\nduration='10us'\n"
}

/// Four leaves of two hosts under a spine, and random traffic.
fn fabric() -> String {
    network("kind='leaf_spine'\nleaves=4\nspines=1\nhosts_per_leaf=2\nrate='100Gbps'\ndelay='1us'")
        + "[[traffic]]\nkind='poisson'\nsizes='websearch'\nduration='10us'\nload=0.8\n"
}

fn cases() -> Vec<Case> {
    let case = |id, text: String, set, says, silent| Case { id, text, set, says, silent };
    let minimal = || MINIMAL.to_owned();
    let incasts = "[[traffic]]\nkind='random_incast'\nfan_in=2\nsize='10KB'\nload=1\nduration='10us'\n";
    let full = || minimal() + incasts;
    vec![
        case(
            "no-flows",
            minimal().split_once("[[traffic]]").expect("traffic").0.into(),
            &[],
            "there are no flows",
            &[],
        ),
        case(
            "late-flows",
            minimal(),
            &["traffic.0.start=1ms"],
            "1 of 1 flows start at or after the stop",
            &[&["run.stop=2ms"]],
        ),
        case(
            "idle-attack",
            minimal() + "[[attack]]\nkind='tampered_feedback'\nvictims=[2]\nfrom=4\n",
            &[],
            "attack 1 hits nobody: no victim sends a flow",
            &[&["attack.0.victims=[0]"], &["traffic.0.src=2"]],
        ),
        case(
            "idle-attack",
            minimal() + "[[attack]]\nkind='tampered_feedback'\nvictims=[0]\nfrom=4\nstart='1ms'\n",
            &[],
            "attack 1 starts at or after the stop time",
            &[&["run.stop=2ms"]],
        ),
        case(
            "long-job",
            network("kind='star'\nhosts=2\nrate='100Gbps'\ndelay='1us'") + "[[traffic]]\nkind='goal'\npath='a.goal'\n",
            &["traffic=[{kind='collective',operation='all_reduce',size='1GB',iterations=100}]"],
            "as packets, job collective sends 381600 messages of 199999994400 bytes",
            &[&["traffic=[{kind='collective',operation='all_reduce',size='1GB'}]"]],
        ),
        case(
            "idle-failure",
            minimal(),
            &["failures.degraded=[{time='1ms',a=0,b=4,rate='10Gbps'}]"],
            "the link from 0 to 4 becomes worse at 1.000 ms, and the run ends at 1.000 ms: nothing comes of it",
            &[&["run.stop=2ms"]],
        ),
        case(
            "idle-failure",
            minimal(),
            &["failures.degraded=[{time='1us',a=0,b=4,rate='100Gbps'}]"],
            "the link from 0 to 4 has the same rate while it is degraded",
            &[
                &["failures.degraded=[{time='1us',a=0,b=4,rate='10Gbps'}]"],
                &["failures.degraded=[{time='1us',a=0,b=4,rate='100Gbps',bit_errors=1e-9}]"],
            ],
        ),
        case(
            "idle-failure",
            minimal(),
            &["failures.links=[{time='2ms',a=0,b=4}]"],
            "the link from 0 to 4 fails at 2.000 ms",
            &[&["run.stop=3ms"]],
        ),
        case(
            "idle-failure",
            minimal(),
            &["failures.storms=[{host=3,time='1ms'}]"],
            "the storm of host 3 begins at 1.000 ms",
            &[&["run.stop=2ms"]],
        ),
        case(
            "shared-class",
            minimal() + "[[traffic]]\nkind='flow'\nsrc=2\ndst=3\nsize=1\n",
            &["legacy.nodes=[2,3]", "legacy.algorithm=ns3::TcpDctcp"],
            "1 of 2 flows go by TCP and share priority 3 with 1 of RDMA: its queues, and its thresholds of marks; another",
            &[&["legacy.algorithm=dctcp"], &["traffic.0.priority=4"]],
        ),
        case(
            "legacy-feedback",
            minimal(),
            &["congestion_control.algorithm=hpcc_plus", "legacy.nodes=[1]"],
            "1 of 1 flows of hpcc_plus go to legacy hosts, which send no telemetry back: it does not control",
            &[&["traffic.0.dst=2"], &["legacy.nodes=[0, 1, 2, 3, 4]"], &["congestion_control.algorithm=dctcp"]],
        ),
        case(
            "legacy-feedback",
            minimal(),
            &["congestion_control.algorithm=hpcc_plus", "legacy.nodes=switches"],
            "all switches are legacy ones, which add no telemetry: it does not control flows of hpcc_plus",
            &[&["congestion_control.algorithm=timely"]],
        ),
        case(
            "unacknowledged-end",
            minimal(),
            &["traffic.0.size=1001", "transport.ack_offset=2000"],
            "1 of 1 flows are shorter than transport.ack_offset, 2000 bytes: nothing acknowledges their last packet, and they end",
            &[&["transport.chunk=1001"], &["transport.queue_pairs=per_pair"], &["traffic.0.size=2000"]],
        ),
        case(
            "least-rates",
            incast(97),
            &["congestion_control.algorithm=dcqcn"],
            "97 flows at a time go to host 0, and their least rates add up to 24250Mbps of its 25Gbps",
            &[
                &["traffic.0.sender_count=95"],
                &["congestion_control.min_rate=100Mbps"],
                &["congestion_control.algorithm=swift"],
            ],
        ),
        case(
            "starved-flows",
            few_packets(4),
            &[],
            "4 flows at a time go to host 0, and some may rest at about 5",
            &[
                &["traffic.0.sender_count=2"],
                &["traffic.0.size=1KB"],
                &["congestion_control.additive_increase=20Mbps"],
                &["transport.mtu=400"],
                &["topology.rate=100Gbps"],
                &["congestion_control.algorithm=hpcc_pint"],
            ],
        ),
        case(
            "starved-flows",
            few_packets(4),
            &["congestion_control.algorithm=hpcc_plus"],
            "4 flows at a time go to host 0",
            &[&["congestion_control.algorithm=dctcp"]],
        ),
        case(
            "starved-flows",
            few_packets(4),
            &["congestion_control.algorithm=rx_hpcc"],
            "4 flows at a time go to host 0",
            &[&["congestion_control.count_flows=true"], &["congestion_control.additive_increase=25"]],
        ),
        case(
            "starved-flows",
            few_packets(4),
            &["topology.rate=100Gbps", "congestion_control.additive_increase=5Mbps"],
            "4 flows at a time go to host 0, and may stay far from their fair share of 25Gbps for long",
            &[
                &["congestion_control.additive_increase=26400000bps"],
                &["traffic.0.sender_count=2"],
                &["traffic.0.rate=1Gbps"],
                &["traffic.0.stop=20us"],
            ],
        ),
        case(
            "short-base-rtt",
            minimal(),
            &["transport.base_rtt=3us"],
            "transport.base_rtt = 3.000 us is shorter than signals take on a path and back, 4.000 us",
            &[&["transport.base_rtt=5us"], &["congestion_control.algorithm=dcqcn"]],
        ),
        case(
            "unheard-senders",
            border(),
            &["fast_cnp.borders=[[4,0]]"],
            "1 of 3 flows, from host 0, hear neither a mark nor a notification: switches notify their sender of congestion, and \
             fast_cnp.borders stop the notification: only their packets between two notifications are marked",
            &[
                &["fast_cnp.domain='1-3'"],
                &["fast_cnp.borders=[[4,0]]", "fast_cnp.border_side=inbound"],
                &["traffic.0.senders=[1,2]"],
            ],
        ),
        // The switch beyond hears of its own congestion, and those on this side do not.
        case(
            "unheard-senders",
            border(),
            &["fast_cnp.borders=[[4,5]]", "fast_cnp.mark_between=false"],
            "2 of 3 flows, from host 0 and 1 other hosts, hear neither a mark nor a notification: switches notify their sender of \
             congestion, and fast_cnp.borders stop the notification: with mark_between = false their packets are not marked either",
            &[&["fast_cnp.border_side=outbound"]],
        ),
        case(
            "unheard-senders",
            border(),
            &["fast_cnp.accept_from='4'"],
            "3 of 3 flows, from host 0 and 2 other hosts, hear neither a mark nor a notification: switches notify their sender of \
             congestion, which does not believe these switches",
            &[&["fast_cnp.accept_from='4,5'"]],
        ),
        case(
            "unheard-senders",
            border(),
            &["fast_cnp.incapable=[1]", "switch.ecn=false"],
            "1 of 3 flows, from host 1, hear neither a mark nor a notification: switch.ecn = false marks nothing",
            &[&["switch.ecn=true"], &["fast_cnp.incapable=none"]],
        ),
        case(
            "overbooked",
            mixed_rates(),
            &[],
            // A third of half of 700 Gb/s; of 625 Gb/s for host 1.
            "random traffic overbooks receivers: host 0 is offered 116.667 Gb/s on average, 466.7 % of its links, and 1 other host",
            &[&["traffic.0.load=0.1"], &["traffic.0.load=0.2", "traffic.0.weights=[{hosts=0,weight=0}]"]],
        ),
        // One full load of equal links overbooks no host, two do; they add up only while both last.
        case(
            "overbooked",
            full() + incasts,
            &["traffic.2.start=9us"],
            "random traffic overbooks receivers: host 0 is offered 200.000 Gb/s on average, 200.0 % of its links, and 3 other",
            &[&["traffic.2.start=10us"]],
        ),
        // Six of the seven other hosts are elsewhere.
        case(
            "overbooked",
            fabric(),
            &[],
            "random traffic overbooks the fabric: the 2 hosts around host 0 are offered 137.143 Gb/s from elsewhere on average, 137.1 %",
            &[&["topology.spines=2"], &["traffic.0.load=0.5"], &["traffic.0.rack_share=0.4"]],
        ),
        // Racks have enough uplinks; two pods of two share one core.
        case(
            "overbooked",
            fabric().replace(
                "leaf_spine'\nleaves=4\nspines=1\nhosts_per_leaf=2",
                "fat_tree'\npods=2\ntors_per_pod=2\naggs_per_pod=2\ncores_per_agg=1\nhosts_per_tor=2",
            ),
            &["traffic.0.load=1"],
            "random traffic overbooks the fabric: the 4 hosts around host 0 are offered 228.571 Gb/s",
            &[&["traffic.0.load=0.5"]],
        ),
        case(
            "long-path",
            ring(),
            &["telemetry.layout=reference", "failures.links=[{time='1us',a=2,b=3,until='9us'}]"],
            "1 of 1 flows pass more than 5 switches while links are down, the most that telemetry can report",
            &[
                &["telemetry.layout=int_md"],
                &["failures.links=[{time='1us',a=4,b=5}]"],
                &["congestion_control.algorithm=dcqcn"],
            ],
        ),
        case(
            "unseen-path-change",
            square(),
            &["telemetry.layout=reference", "failures.links=[{time='1us',a=2,b=3}]"],
            "links fail, and records of layout = \"reference\" do not tell apart two ways that packets of one flow may go: from host 1 to \
             host 0 over switches 4-5-2 or 4-3-2. A flow then compares those of different links",
            &[&["failures.links=[]"], &["telemetry.layout=paper"], &["congestion_control.algorithm=dcqcn"]],
        ),
        case(
            "unseen-path-change",
            square(),
            &["telemetry.layout=reference", "load_balancing.scheme=random"],
            "packets of a flow take several paths (load_balancing.scheme), and records of layout = \"reference\" do not tell apart",
            &[&["load_balancing.scheme=ecmp"], &["telemetry.layout=paper"]],
        ),
        case(
            "unseen-path-change",
            fabric().replace("spines=1", "spines=1\nbundle=2"),
            &["telemetry.layout=paper", "load_balancing.scheme=random"],
            "packets of a flow take several paths (load_balancing.scheme), and records of layout = \"paper\" do not tell apart two ways that \
             packets of one flow may go: from host 6 to host 0 by one or another of the parallel links from switch 12 to switch 8",
            &[
                &["telemetry.layout=int_md"],
                &["telemetry.layout=auto"],
                &["topology.bundle=1"],
                &["load_balancing.scheme=ecmp"],
            ],
        ),
        // A detour is longer, which the number of hops says.
        case(
            "unseen-path-change",
            ring(),
            &[
                "compatibility.blind_to_paths=true",
                "telemetry.layout=reference",
                "failures.links=[{time='1us',a=2,b=3}]",
            ],
            "links fail, and records of layout = \"reference\" do not say which path",
            &[&["compatibility.blind_to_paths=false"]],
        ),
        case(
            "scattered-records",
            square(),
            &["congestion_control.algorithm=rx_hpcc", "load_balancing.scheme=random"],
            "with scheme = \"random\" a flow of rx_hpcc throws away records of another path than the last",
            &[
                &[
                    "congestion_control.algorithm=hpcc_plus",
                    "telemetry.layout=int_md",
                    "switch.telemetry_records=interval",
                ],
                &["load_balancing.scheme=ecmp"],
                &["congestion_control.algorithm=dcqcn"],
            ],
        ),
        case(
            "restarted-averages",
            square(),
            &["congestion_control.algorithm=hpcc_plus", "telemetry.content=loads", "load_balancing.scheme=random"],
            "packets of a flow take several paths (load_balancing.scheme), and receivers average loads (telemetry.content = \"loads\")",
            &[&["telemetry.content=records"], &["load_balancing.scheme=ecmp"]],
        ),
        case(
            "late-packets",
            square(),
            &["load_balancing.scheme=oblivious", "transport.recovery=selective_repeat"],
            "with scheme = \"oblivious\" packets overtake each other, and recovery = \"selective_repeat\" takes the late ones",
            &[&["load_balancing.scheme=ecmp"], &["load_balancing.scheme=conweave"], &["transport.reorder_window=1"]],
        ),
        case(
            "late-packets",
            square(),
            &["transport.entropy=reps"],
            "with transport.entropy = \"reps\" packets overtake each other, and recovery = \"go_back_n\" takes",
            &[&["transport.entropy=flow"]],
        ),
        case(
            "unseen-path-change",
            square(),
            &["telemetry.layout=reference", "transport.entropy=oblivious"],
            "packets of a flow take several paths (transport.entropy), and records",
            &[&["transport.entropy=flow"]],
        ),
        case(
            "loss-without-timeout",
            minimal(),
            &["switch.mode=lossy", "transport.timeout=0s"],
            "switches drop packets, and without a timeout",
            &[&["transport.timeout=1ms"], &["switch.mode=lossless"]],
        ),
        case(
            "loss-without-timeout",
            minimal(),
            &["topology.loss=0.1", "transport.timeout=0s"],
            "links lose packets, and without a timeout",
            &[&["transport.timeout=1ms"], &["topology.loss=0.0"]],
        ),
        case(
            "unread-signal",
            minimal(),
            &["telemetry.layout=csig", "congestion_control.algorithm=swift"],
            "packets carry CSIG with csig_signal = \"load\", which swift does not read; expected csig_signal = \"delay\"",
            &[&["telemetry.csig_signal=queue"]],
        ),
        case(
            "stripped-telemetry",
            minimal(),
            &["telemetry.layout=csig", "congestion_control.algorithm=hpcc_plus", "telemetry.csig_strip=hosts"],
            "telemetry.csig_strip takes telemetry off what goes to host 0 and ",
            &[&["telemetry.csig_strip=none"]],
        ),
        case(
            "held-up-acks",
            minimal(),
            &["switch.classes='4:1000'"],
            "acknowledgements travel in priority 3, which is sure of nothing",
            &[&["switch.classes='3:1000, 4:1000'"], &["transport.ack_priority=0"]],
        ),
        case(
            "held-up-acks",
            minimal(),
            &[
                "congestion_control.algorithm=dcqcn",
                "transport.congestion_notification=cnp",
                "transport.cnp_priority=5",
                "switch.classes='3:1000'",
            ],
            "CNPs travel in priority 5, which is sure of nothing",
            &[&["switch.classes='3:1000, 5:strict'"], &["transport.cnp_priority=auto"]],
        ),
        case(
            "coarse-telemetry",
            pair("400Gbps"),
            &["telemetry.layout=reference", "telemetry.multiplier=16"],
            "telemetry counts sent bytes in units of 2048",
            &[&["telemetry.multiplier=8"], &["transport.mtu=2000"]],
        ),
        case(
            "rounded-times",
            pair("800Gbps"),
            &["congestion_control.algorithm=none", "wire.exact_rates=false"],
            "times are whole nanoseconds: at 800Gbps the 1048 bytes of a full packet take 10 ns, not 10.48, so that such links, and ideal \
             times over them, are 4.8 % faster",
            &[&["topology.rate=8Gbps"], &["wire.exact_rates=true"], &["wire.exact_rates=auto"]],
        ),
        case(
            "empty-histogram",
            minimal(),
            &["monitor.queue_histogram_start=1ms", "monitor.queue_histogram_end=99ms", "run.stop=1s"],
            "the queue histogram from 1.000 ms to 99.000 ms stays empty: it is written at multiples of 100.000 ms",
            &[&["monitor.queue_histogram_end=100ms"]],
        ),
        Case {
            id: "long-cuts",
            text: pair("100Gbps"),
            set: &[
                "switch.mode=lossy",
                "switch.overflow=trim",
                "transport.recovery=selective_repeat",
                "switch.trim_size=1000B",
            ],
            says: "switch.trim_size = 1000 leaves more than half of a packet of 1050 bytes",
            silent: &[&["switch.trim_size=128B"]],
        },
        Case {
            // Eight senders, 256 of 1048 bytes: 1.95 times the link.
            id: "full-of-cuts",
            text:
                "run.stop = \"1ms\"\ntopology = { kind = \"star\", hosts = 9, rate = \"100Gbps\", delay = \"1us\" }\n\
                   traffic = [{ kind = \"incast\", receiver = 8, sender_count = 8, size = \"1MB\" }]\n"
                    .into(),
            set: &[
                "congestion_control.algorithm=none",
                "switch.mode=lossy",
                "switch.overflow=trim",
                "transport.recovery=selective_repeat",
                "switch.trim_size=256B",
            ],
            says: "8 hosts send to host 8 at a time, and their packets, once cut from 1048 to 256 bytes, take 1.95 times its 100Gbps, \
                   ahead of data: with none these flows may never end; expected a switch.trim_size of at most 131",
            silent: &[
                &["switch.trim_size=131B"],
                &["traffic.0.sender_count=4"],
                &["congestion_control.algorithm=hpcc"],
                &["switch.trim_queue=6", "switch.classes=6:1500, 3:1500"],
            ],
        },
        Case {
            id: "waiting-headers",
            text: pair("100Gbps"),
            set: &[
                "switch.mode=lossy",
                "switch.overflow=trim",
                "transport.recovery=selective_repeat",
                "switch.trim_queue=6",
                "switch.classes=3:1500",
            ],
            says: "headers of cut packets wait in queue 6 (switch.trim_queue), which switch.classes leaves out",
            silent: &[&["switch.classes=6:strict, 3:1500"], &["switch.trim_queue=0"]],
        },
    ]
}

/// The findings of a lint; an override replaces an earlier one of the same key.
fn found(Case { id, text, set, .. }: &Case, more: &[&str]) -> Vec<Finding> {
    let key = |pair: &str| pair.split('=').next().map(str::to_owned);
    let kept = set.iter().filter(|pair| more.iter().all(|other| key(pair) != key(other)));
    let set: Vec<&str> = kept.chain(more).copied().collect();
    let findings = load_with(text, &set).unwrap_or_else(|error| panic!("{id}, {set:?}: {error}")).findings;
    findings.into_iter().filter(|finding| finding.id == *id).collect()
}

#[test]
fn lints_speak_where_there_is_something_to_say() {
    let cases = cases();
    for case in &cases {
        let told = found(case, &[]);
        assert!(told.len() == 1 && told[0].message.starts_with(case.says), "{}: {told:?}", case.says);
        for silent in case.silent {
            assert_eq!(found(case, silent), [], "{}: {silent:?}", case.says);
        }
    }
    let tested: BTreeSet<&str> = cases.iter().map(|case| case.id).collect();
    assert_eq!(tested, LINTS.iter().map(|lint| lint.id).collect(), "each lint has a case");
}

#[test]
fn a_plain_scenario_has_nothing_worth_saying() {
    let scenario = load_with(MINIMAL, &[]).expect("valid");
    assert_eq!((scenario.findings, scenario.notes), (vec![], vec![]));
}
