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

#[test]
fn bad_traffic_names_its_line() {
    for (section, expected) in [
        ("kind='flow'\nsrc=0\ndst=0\nsize=1", "test.toml:15: source and destination of the flow are the same host, 0"),
        ("kind='flow'\nsrc=0\ndst=4\nsize=1", "test.toml:15: the flow's destination is node 4, a switch"),
        (
            "kind='flow'\nsrc=0\ndst=5\nsize=1",
            "test.toml:15: the flow's destination is node 5, but there are only nodes 0 to 4",
        ),
        ("kind='flow'\nsrc=0\ndst=1\nsize=0", "test.toml:15: the flow's size is 0"),
        (
            "kind='flow'\nsrc=0\ndst=1\nsize=1\npriority=0",
            "test.toml:20: traffic.priority: the value is 0; expected a whole number from 1 to 7",
        ),
        (
            "kind='flow'\nsrc=0\ndst=1\nsise=1",
            "test.toml:19: traffic.sise: unknown key sise in [traffic]; did you mean size?",
        ),
        ("kind='flou'", "test.toml:16: traffic.kind: unknown kind \"flou\"; did you mean flow?"),
        ("kind='incast'\nreceiver=0\nsize=1", "test.toml:15: traffic.senders: there are no senders"),
        (
            "kind='incast'\nreceiver=0\nsize=1\nsender_count=4",
            "test.toml:15: traffic.senders: sender_count is 4, but there are only 3",
        ),
        (
            "kind='incast'\nreceiver=0\nsize=1\nsender_count=4\nsenders=[1]",
            "test.toml:15: traffic.senders: both senders and sender_count",
        ),
        ("kind='incast'\nreceiver=0\nsize=1\nsenders=[0]", "test.toml:15: source and destination"),
        (
            "kind='periodic_incast'\nreceiver=0\nsize=1\nsenders=[1]\ninterval='1ns'\nduration='1s'",
            "test.toml:15: traffic.interval: 1000000000 incasts",
        ),
        (
            "kind='random_incast'\nfan_in=4\nsize=1000\nload=0.5\nduration='1ms'",
            "test.toml:15: traffic: fan_in is 4, but there are only 3 hosts besides a receiver",
        ),
        ("kind='file'\npath='gone'", "test.toml:17: traffic.path: path is \"gone\", but there is no such file"),
        ("kind='file'\npath='flow.txt'", "flow.txt:2: the flow's destination is node 9"),
        (
            "kind='poisson'\nload=0.5\nsizes='bad.cdf'\nduration='1us'",
            "bad.cdf:2: 5 bytes at 100 % follow 10 bytes at 20 %",
        ),
        (
            "kind='poisson'\nload=1.5\nsizes='bad.cdf'\nduration='1us'",
            "test.toml:17: traffic.load: the value is 1.5; expected more than 0 and at most 1",
        ),
        ("kind='poisson'\nload=0.5\nsizes='gone'\nduration='1us'", "test.toml:18: traffic.sizes: sizes is \"gone\""),
    ] {
        refused(&format!("{MINIMAL}[[traffic]]\n{section}"), &[], expected);
    }
    refused(
        "[run]\nstop='1s'\n[topology]\nkind='star'\nhosts=2\nrate='25Gbps'\ndelay='1us'\n[traffic]\nkind='flow'",
        &[],
        "test.toml:8: [traffic] is a single section",
    );
}
