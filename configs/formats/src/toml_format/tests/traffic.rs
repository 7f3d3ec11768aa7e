// SPDX-License-Identifier: GPL-2.0-only
//! Traffic, valid and broken.

use super::*;
use crate::load as load_file;
use crate::testing::Collected;
use hpcc_core::engine::{ENDLESS, FlowOptions};

#[test]
fn traffic_of_each_kind_loads() {
    let workload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/fb_hadoop.cdf");
    let poisson = format!("kind='poisson'\nload=0.5\nsizes='{}'\nduration='100us'", workload.display());
    for (section, flows) in [
        ("kind='incast'\nreceiver=2\nsenders=[0,1]\nsize=500", 2..3),
        ("kind='incast'\nreceiver=2\nsenders='hosts'\nsize=500", 3..4),
        ("kind='incast'\nreceiver=2\nsender_count=3\nsize='1KB'\nstart='5us'\npriority=1\ndport=7", 3..4),
        ("kind='periodic_incast'\nreceiver=0\nsender_count=2\nsize=1\ninterval='10us'\nduration='25us'", 6..7),
        ("kind='random_incast'\nfan_in=3\nsize=1000\nload=0.5\nduration='100us'", 1_500..3_500),
        ("kind='permutation'\nsize='1MB'", 4..5),
        ("kind='permutation'\nsize='1MB'\nflows=2", 2..3),
        ("kind='permutation'\nsize='1MB'\nflows=9\nhosts='0-2'", 9..10),
        ("kind='all_to_all'\nsize='1MB'", 12..13),
        ("kind='all_to_all'\nsize='1MB'\nhosts='0-2'\npeers=1", 3..4),
        (poisson.as_str(), 10..1000),
    ] {
        let scenario = load_with(format!("{MINIMAL}[[traffic]]\n{section}"), &[]).expect(section);
        assert!(flows.contains(&(scenario.flows.collect().len() - 1)), "{section}: {}", scenario.flows.collect().len());
        assert!(scenario.flows.collect().is_sorted_by_key(|flow| flow.start));
    }
}

/// Others may have another transport.
#[test]
fn random_traffic_is_among_the_hosts_that_it_names() {
    let random = "[[traffic]]\nkind='poisson'\nload=1\nsizes='fb_hadoop'\nduration='1ms'\nhosts=[0,2,3]\n";
    let incasts = "[[traffic]]\nkind='random_incast'\nfan_in=2\nsize=1000\nload=0.1\nduration='100us'\nhosts=[0,2,3]\n";
    for section in
        [random, &format!("{random}weights=[{{hosts=2,weight=3}}]"), &format!("{random}rack_share=1"), incasts]
    {
        let scenario = load_with(format!("{MINIMAL}{section}"), &[]).expect(section);
        let flows = &scenario.flows.collect()[1..];
        let used = |host| (flows.iter().any(|flow| flow.src == host), flows.iter().any(|flow| flow.dst == host));
        assert_eq!([0, 1, 2, 3].map(used), [(true, true), (false, false), (true, true), (true, true)], "{section}");
    }
    let words = [
        ("hosts=[0,2,3]\nweights=[{hosts=1,weight=2}]", "21: traffic.weights: host 1 has a weight, and takes no part"),
        ("hosts=[0]", "20: traffic.hosts: 1 hosts take part; expected at least 2"),
    ];
    for (hosts, expected) in words {
        let section = random.replace("hosts=[0,2,3]", hosts);
        refused(&format!("{MINIMAL}{section}"), &[], &format!("test.toml:{expected}"));
    }
}

#[test]
fn flows_have_links_rates_and_ends_of_their_own() {
    let load = |section: &str| load_with(format!("{MINIMAL}[[traffic]]\n{section}"), &[]).expect(section);
    let flow = "kind='flow'\nsrc=0\ndst=1\nstart='1us'\n";
    let usual = load(&format!("{flow}size=1"));
    assert_eq!(usual.flows.collect()[1].options, FlowOptions::NONE);
    let own = load(&format!("{flow}size='endless'\nnic=0\nrate='10Gbps'\nstop='5us'"));
    let options = FlowOptions { nic: Some(0), rate: BitRate::gbps(10), stop: Nanos(5_000), control: None };
    assert_eq!((own.flows.collect()[1].size, own.flows.collect()[1].options), (ENDLESS, options));
    assert_eq!(own.flows.totals.bytes, 1_000_000, "without the one that has no end");
    let bursts = load("kind='on_off'\nsrc=0\ndst=1\non='10us'\noff='30us'\nstart='5us'\nduration='90us'");
    let times: Vec<_> = bursts.flows.collect()[1..].iter().map(|flow| (flow.start.0, flow.options.stop.0)).collect();
    assert_eq!(times, [(5_000, 15_000), (45_000, 55_000), (85_000, 95_000)]);
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    let section = "[[traffic]]\nkind='file'\npath='own.txt'\ncolumns='src dst size start nic rate stop'";
    std::fs::write(path("own.txt"), "1\n0 1 1000 0.000005 0 5Gbps 0.000007\n").expect("file");
    std::fs::write(path("run.toml"), format!("{MINIMAL}{section}")).expect("file");
    let listed = load_file(&path("run.toml"), &[]).expect("flows of a file");
    assert_eq!(
        listed.flows.collect()[1].options,
        FlowOptions { nic: Some(0), rate: BitRate::gbps(5), stop: Nanos(7_000), control: None }
    );
}

#[test]
fn jobs_of_files_have_ranks_at_the_first_hosts_or_the_listed_ones() {
    let hosts = |section: &str| {
        let scenario = load_with(format!("{MINIMAL}[[traffic]]\n{section}"), &[]).expect(section);
        scenario.flows.jobs[0].hosts.clone()
    };
    assert_eq!(hosts("kind='goal'\npath='a.goal'"), [0, 1]);
    assert_eq!(hosts("kind='goal'\npath='a.goal'\nranks=[3,3,0]"), [3, 3]);
    assert_eq!(hosts("kind='connection_matrix'\npath='a.cm'\nranks='1-3'"), [1, 2, 3]);
    assert_eq!(hosts("kind='chakra'\npath='a'"), [0]);
    assert_eq!(hosts("kind='simai'\npath='layers.txt'\npasses=2"), [0, 1, 2]);
    for (section, expected) in [
        (
            "kind='goal'\npath='a.goal'\nranks=[0]",
            "test.toml:18: traffic.ranks: the file has 2 ranks, and these are 1 hosts; expected as many",
        ),
        (
            "kind='simai'\npath='layers.txt'\nall_reduce='x'",
            "test.toml:18: traffic.all_reduce: \"x\" will not do: all_reduce has no algorithm \"x\"; expected auto, fastest, or one of ring",
        ),
    ] {
        let told = load_with(format!("{MINIMAL}[[traffic]]\n{section}"), &[]).expect_err(section);
        assert!(told.starts_with(expected), "{told}");
    }
    let digest = |keys: &str| {
        let section = format!("{MINIMAL}[[traffic]]\nkind='goal'\npath='a.goal'\n{keys}");
        load_with(section, &[]).expect(keys).digest().expect("digest")
    };
    let usual = digest("");
    assert_eq!(usual, digest("g='0'"));
    for keys in ["o='1us'", "g='1us'", "O=0.5", "ranks=[1,0]"] {
        assert_ne!(usual, digest(keys), "{keys}");
    }
}

#[test]
fn bad_traffic_names_its_line() {
    for (section, expected) in [
        ("kind='flow'\nsrc=0\ndst=0\nsize=1", "17: traffic.src: src and dst are the same host, 0; expected two"),
        ("kind='flow'\nsrc=0\ndst=4\nsize=1", "18: traffic.dst: dst is node 4, a switch; expected a host"),
        ("kind='flow'\nsrc=0\ndst=1\nsize=1\nnic=1", "20: traffic.nic: the flow is to leave host 0 by its link 1"),
        ("kind='flow'\nsrc=0\ndst=1\nsize=1\nstart='1us'\nstop='1us'", "21: traffic.stop: the flow stops at 1.000 us"),
        ("kind='poisson'\nload=1\nsizes='websearch'\nduration='1us'\nstop='1us'", "20: traffic.stop: unknown key stop"),
        (
            "kind='flow'\nsrc=0\ndst=1\nsize=9223372036854775808",
            "19: traffic.size: \"9223372036854775808\" is more than 9223372036854775807B, the most",
        ),
        (
            "kind='flow'\nsrc=0\ndst=1\nsize='99999999999999999999'",
            "19: traffic.size: \"99999999999999999999\" is more than 9223372036854775807B, the most",
        ),
        ("kind='flow'\nsrc=0\ndst=1\nsize='endles'", "19: traffic.size: \"endles\" is not a number with a unit"),
        ("kind='flow'\nsrc=0\ndst=1\nsize=0", "19: traffic.size: the value is 0; expected a size"),
        ("kind='flow'\nsrc=0\ndst=1\nsise=1", "19: traffic.sise: unknown key sise in [traffic]; did you mean size?"),
        (
            "kind='goal'\npath='a.goal'\nranks=[0,4]",
            "18: traffic.ranks: a rank is at node 4, a switch; expected a host",
        ),
        ("kind='goal'\npath='b.goal'", "17: traffic.path: path is \"b.goal\", but there is no such file"),
        ("kind='chakra'\npath='b'", "17: traffic.path: there is no b.0.et; expected files"),
        ("kind='chakra'\npath='a'\ngroups='b'", "18: traffic.groups: groups is \"b\", but there is no such file"),
        ("kind='flou'", "16: traffic.kind: unknown kind \"flou\"; did you mean flow?"),
        (
            "kind='permutation'\nsize=1\nname='a b'",
            "18: traffic.name: \"a b\" is no name; expected a text of 1 to 32 letters",
        ),
        ("kind='permutation'\nsize=1\nhosts='4'", "18: traffic.hosts: node 4 is a switch; expected hosts"),
        ("kind='permutation'\nsize=1\nhosts=[1,1]", "18: traffic.hosts: these are 1 hosts; expected two or more"),
        ("kind='all_to_all'\nsize=1\npeers=4", "18: traffic.peers: peers is 4; expected at most 3"),
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
