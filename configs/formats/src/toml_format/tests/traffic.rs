// SPDX-License-Identifier: GPL-2.0-only
//! Traffic, valid and broken.

use super::*;

#[test]
fn traffic_of_each_kind_loads() {
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fb_hadoop.cdf");
    let poisson = format!("kind='poisson'\nload=0.5\nsizes='{}'\nduration='100us'", workload.display());
    for (section, flows) in [
        ("kind='incast'\nreceiver=2\nsenders=[0,1]\nsize=500", 2..3),
        ("kind='incast'\nreceiver=2\nsender_count=3\nsize='1KB'\nstart='5us'\npriority=1\ndport=7", 3..4),
        ("kind='periodic_incast'\nreceiver=0\nsender_count=2\nsize=1\ninterval='10us'\nduration='25us'", 6..7),
        ("kind='random_incast'\nfan_in=3\nsize=1000\nload=0.5\nduration='100us'", 1_500..3_500),
        ("kind='permutation'\nsize='1MB'", 4..5),
        (poisson.as_str(), 10..1000),
    ] {
        let scenario = load_with(format!("{MINIMAL}[[traffic]]\n{section}"), &[]).expect(section);
        assert!(flows.contains(&(scenario.flows.collect().len() - 1)), "{section}: {}", scenario.flows.collect().len());
        assert!(scenario.flows.collect().is_sorted_by_key(|flow| flow.start));
    }
}

/// Hosts of 25, 100, 200 and 400 Gb/s on one switch, and random traffic.
fn mixed_rates(sections: &[&str]) -> Result<Scenario, String> {
    let links = "{a=0,b=4,rate='25Gbps'},{a=1,b=4,rate='100Gbps'},{a=2,b=4,rate='200Gbps'},{a=3,b=4,rate='400Gbps'}";
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fb_hadoop.cdf");
    let poisson = format!("kind='poisson'\nsizes='{}'", workload.display());
    let topology = format!("kind='links'\nhosts=4\nswitches=1\ndelay='1us'\nlinks=[{links}]");
    let traffic = sections.iter().map(|section| format!("[[traffic]]\n{section}\n").replace("POISSON", &poisson));
    load_with(with_topology(&topology) + &traffic.collect::<String>(), &[])
}

#[test]
fn receivers_that_random_traffic_overbooks_are_noted() {
    let note = |sections: &[&str]| {
        let notes = mixed_rates(sections).expect("valid").notes;
        assert!(notes.len() <= 1, "{notes:?}");
        notes.into_iter().next().map(|note| note.replace("random traffic overbooks receivers: ", ""))
    };
    let half = "POISSON\nload=0.5\nduration='10us'";
    // A third of half of 700 Gb/s; of 625 Gb/s for host 1.
    let two = "host 0 is offered 116.667 Gb/s on average, 466.7 % of its links, and 1 other host more than its own";
    assert_eq!(note(&[half]).as_deref(), Some(two));
    assert_eq!(note(&["POISSON\nload=0.1\nduration='10us'"]), None);
    assert_eq!(note(&["POISSON\nload=0.2\nduration='10us'\nweights=[{hosts=[0],weight=0}]"]), None);
    let heavy = note(&["POISSON\nload=0.1\nduration='10us'\nweights=[{hosts=[0],weight=8}]"]).expect("a note");
    assert!(heavy.starts_with("host 0 is offered 56.000 Gb/s on average, 224.0 % of its links"), "{heavy}");
    for hosts in ["'0'", "0", "'0-0'"] {
        let same = note(&[&format!("POISSON\nload=0.1\nduration='10us'\nweights=[{{hosts={hosts},weight=8}}]")]);
        assert_eq!(same.as_ref(), Some(&heavy), "{hosts}");
    }
    // 725 Gb/s in all, a quarter of a tenth or of a fifth of it for each.
    let incast = "kind='random_incast'\nfan_in=2\nsize='10KB'\nduration='10us'";
    assert_eq!(note(&[&format!("{incast}\nload=0.1")]), None);
    let told = note(&[&format!("{incast}\nload=0.2")]);
    assert_eq!(told.as_deref(), Some("host 0 is offered 36.250 Gb/s on average, 145.0 % of its links"));
    // Sections add up where they meet, and only there.
    let tenth = format!("{incast}\nload=0.1");
    assert_eq!(note(&[&tenth, &format!("{tenth}\nstart='10us'")]), None);
    let told = note(&[&tenth, &format!("{tenth}\nstart='9us'")]);
    assert_eq!(told.as_deref(), Some("host 0 is offered 36.250 Gb/s on average, 145.0 % of its links"));
}

#[test]
fn a_full_load_of_equal_links_overbooks_nobody() {
    let full = "kind='random_incast'\nfan_in=2\nsize='10KB'\nload=1.0\nduration='10us'";
    let text = |load: &str| format!("{MINIMAL}[[traffic]]\n{load}");
    assert_eq!(load_with(text(full), &[]).expect("valid").notes, Vec::<String>::new());
    let twice = load_with(text(full) + "\n[[traffic]]\n" + full, &[]).expect("valid").notes;
    assert!(
        twice[0].contains("host 0 is offered 200.000 Gb/s on average, 200.0 % of its links, and 3 other hosts"),
        "{twice:?}"
    );
}

#[test]
fn bad_traffic_names_its_line() {
    for (section, expected) in [
        ("kind='flow'\nsrc=0\ndst=0\nsize=1", "17: traffic.src: src and dst are the same host, 0; expected two"),
        ("kind='flow'\nsrc=0\ndst=4\nsize=1", "18: traffic.dst: dst is node 4, a switch; expected a host"),
        ("kind='flow'\nsrc=0\ndst=1\nsize=0", "19: traffic.size: the value is 0; expected a size"),
        ("kind='flow'\nsrc=0\ndst=1\nsise=1", "19: traffic.sise: unknown key sise in [traffic]; did you mean size?"),
        ("kind='flou'", "16: traffic.kind: unknown kind \"flou\"; did you mean flow?"),
        (
            "kind='permutation'\nsize=1\nname='a b'",
            "18: traffic.name: \"a b\" is no name; expected a text of 1 to 32 letters",
        ),
        ("kind='incast'\nreceiver=0\nsize=1", "15: traffic.senders: there are no senders"),
        (
            "kind='incast'\nreceiver=0\nsize=1\nsender_count=4",
            "19: traffic.sender_count: sender_count is 4; expected at most 3",
        ),
        (
            "kind='incast'\nreceiver=0\nsize=1\nsender_count=4\nsenders=[1]",
            "20: traffic.senders: both senders and sender_count",
        ),
        (
            "kind='incast'\nreceiver=0\nsize=1\nsenders=[1,0]",
            "19: traffic.senders: senders and receiver are the same host, 0",
        ),
        (
            "kind='incast'\nreceiver=7\nsize=1\nsenders=[0]",
            "17: traffic.receiver: receiver is node 7, but there are only nodes 0 to 4",
        ),
        (
            "kind='periodic_incast'\nreceiver=0\nsize=1\nsenders=[1]\ninterval='1ns'\nduration='1s'",
            "20: traffic.interval: 1000000000 incasts",
        ),
        (
            "kind='random_incast'\nfan_in=4\nsize=1000\nload=0.5\nduration='1ms'",
            "17: traffic.fan_in: fan_in is 4; expected at most 3,",
        ),
        ("kind='poisson'\nload=0\nsizes='websearch'\nduration='1us'", "17: traffic.load: the load is 0; expected more"),
        (
            "kind='poisson'\nload=0.5\nsizes='gone'\nduration='1us'",
            "18: traffic.sizes: sizes is \"gone\", but there is no such file",
        ),
    ] {
        refused(&format!("{MINIMAL}[[traffic]]\n{section}"), &[], &format!("test.toml:{expected}"));
    }
    for (section, expected) in [
        ("kind='file'\npath='flow.txt'", "flow.txt:2: the flow's destination is node 9"),
        (
            "kind='poisson'\nload=0.5\nsizes='bad.cdf'\nduration='1us'",
            "bad.cdf:2: 5 bytes at 100 % follow 10 bytes at 20 %",
        ),
    ] {
        refused(&format!("{MINIMAL}[[traffic]]\n{section}"), &[], expected);
    }
}

/// A flow waits for a way that comes back before the end of the run, and is refused if none does.
#[test]
fn flows_without_a_way_to_wait_for_are_refused() {
    let cut = |until: &str, start: &str| {
        let failure = format!("failures.links=[{{time='100us',a=1,b=4{until}}}]");
        load_with(MINIMAL, &[&failure, &format!("traffic.0.start={start}")]).map(|_| ())
    };
    for (until, start) in [("", "50us"), (", until='900us'", "500us"), (", until='200us'", "500us")] {
        assert_eq!(cut(until, start), Ok(()), "{until} {start}");
    }
    let expected = "the flow begins at 500.000 us, and from 100.000 us to the end of the run failed links leave no way from host 0 \
                    to host 1; expected an earlier start, or until in failures.links";
    for until in ["", ", until='1ms'"] {
        let message = cut(until, "500us").expect_err(until);
        assert!(message.contains(expected), "{message}");
    }
}

/// Four leaves of two hosts, under one spine or two.
#[test]
fn a_fabric_that_random_traffic_overbooks_is_noted() {
    let note = |topology: &str, traffic: &str| {
        let topology = format!("{topology}\nrate='100Gbps'\ndelay='1us'");
        let traffic = format!("[[traffic]]\nkind='poisson'\nsizes='websearch'\nduration='10us'\n{traffic}\n");
        let notes = load_with(with_topology(&topology) + &traffic, &[]).expect("valid").notes;
        assert!(notes.len() <= 1, "{notes:?}");
        notes.into_iter().next().map(|note| note.replace("random traffic overbooks the fabric: ", ""))
    };
    let fabric = |spines: u32| format!("kind='leaf_spine'\nleaves=4\nspines={spines}\nhosts_per_leaf=2");
    // Six of the seven other hosts are elsewhere.
    let told =
        "the 2 hosts around host 0 are offered 137.143 Gb/s from elsewhere on average, 137.1 % of the links to them";
    assert_eq!(note(&fabric(1), "load=0.8").as_deref(), Some(told));
    assert_eq!(note(&fabric(2), "load=0.8"), None);
    assert_eq!(note(&fabric(1), "load=0.5"), None);
    assert_eq!(note(&fabric(1), "load=0.8\nrack_share=0.4"), None);
    assert!(note(&fabric(1), "load=0.8\nrack_share=0.3").is_some_and(|told| told.contains("offered 112.000 Gb/s")));
    let two = note("kind='dumbbell'\nleft=3\nright=3", "load=0.6").expect("a note");
    assert!(two.starts_with("the 3 hosts around host 0 are offered 108.000 Gb/s"), "{two}");
    // Racks have what they need; two pods of two share one core.
    let tree = "kind='fat_tree'\npods=2\ntors_per_pod=2\naggs_per_pod=2\ncores_per_agg=1\nhosts_per_tor=2";
    let pods = note(tree, "load=1.0").expect("a note");
    assert!(pods.starts_with("the 4 hosts around host 0 are offered 228.571 Gb/s"), "{pods}");
    assert_eq!(note("kind='star'\nhosts=4", "load=1.0"), None);
}

/// 10,000,000 packets: six events at the switch, of 56 bytes, and three at a host.
#[test]
fn large_traces_are_noted() {
    let flow = "[[traffic]]\nkind='flow'\nsrc=1\ndst=0\nsize='10GB'\n";
    let text = with_topology("kind='star'\nhosts=3\nrate='100Gbps'\ndelay='1us'") + flow;
    let notes = |list: &str, stop: &str| {
        let sets = [format!("monitor.{list}"), format!("run.stop={stop}"), "wire.profile=rocev2_ipv6".to_owned()];
        load_with(text.clone(), &sets.each_ref().map(String::as_str)).expect("valid").notes
    };
    let told = |file: &str, size: &str, list: &str| {
        vec![format!("{file} gets about {size}: for less, fewer monitor.{list}, or an earlier run.stop")]
    };
    assert_eq!(notes("trace_nodes=[3]", "1s"), told("packets.tr", "3360MB", "trace_nodes"));
    assert_eq!(notes("trace_nodes=[0,2]", "1s"), told("packets.tr", "1680MB", "trace_nodes"));
    assert_eq!(notes("capture_nodes=[1]", "1s"), told("packets.pcap", "13GB", "capture_nodes"));
    for none in [notes("trace_nodes=[2]", "1s"), notes("trace_nodes=[3]", "100ms"), notes("trace_nodes=[]", "1s")] {
        assert_eq!(none, Vec::<String>::new());
    }
}
