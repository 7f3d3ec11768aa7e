// SPDX-License-Identifier: GPL-2.0-only
//! Topologies, valid and broken.

use super::*;
use crate::testing::Collected;

#[test]
fn topologies_of_each_kind_load() {
    for (section, nodes, links) in [
        ("kind='star'\nhosts=3\nrate='25Gbps'\ndelay='1us'", 4, 3),
        ("kind='dumbbell'\nleft=2\nright=1\nrate='25Gbps'\ndelay='1us'\nbottleneck_rate='50Gbps'", 5, 4),
        (
            "kind='leaf_spine'\nleaves=2\nspines=2\nhosts_per_leaf=2\nrate='25Gbps'\ndelay='1us'\nfabric_delay='2us'",
            8,
            8,
        ),
        (
            "kind='fat_tree'\npods=2\ntors_per_pod=2\naggs_per_pod=2\ncores_per_agg=1\nhosts_per_tor=2\nrate='25Gbps'\ndelay='1us'",
            18,
            20,
        ),
        // Of 8 hosts at 25 Gb/s a quarter has room on bundles of two; cores have half of what aggregations bring.
        (
            "kind='leaf_spine'\nleaves=2\noversubscription=2\nbundle=2\nhosts_per_leaf=8\nrate='25Gbps'\ndelay='1us'",
            20,
            24,
        ),
        (
            "kind='fat_tree'\npods=2\ntors_per_pod=4\ntor_oversubscription=2\nagg_oversubscription=1\ncore_rate='100Gbps'\nhosts_per_tor=8\nrate='25Gbps'\ndelay='1us'",
            84,
            104,
        ),
        ("kind='multi_plane'\nsegments=2\nservers=4\nrails=2\nspines=3\nrate='25Gbps'\ndelay='1us'", 30, 56),
        ("kind='dragonfly'\nhosts_per_switch=2\nrate='25Gbps'\ndelay='1us'\nglobal_delay='5us'", 108, 162),
        (
            "kind='dragonfly'\nhosts_per_switch=1\nswitches_per_group=4\nglobal_links=2\ngroups=3\nrate='25Gbps'\ndelay='1us'",
            24,
            42,
        ),
        ("kind='torus'\nx=4\ny=3\nhosts_per_switch=2\nrate='25Gbps'\ndelay='1us'", 36, 48),
        ("kind='torus'\nx=3\ny=3\nz=3\nrate='25Gbps'\ndelay='1us'", 54, 108),
        ("kind='file'\npath='topology.txt'\ndefault_loss=0.1", 3, 2),
        ("kind='file'\npath='simai.txt'", 9, 10),
        ("kind='htsim'\npath='a.topo'", 14, 16),
        (
            "kind='links'\nhosts=2\nswitches=1\nrate='25Gbps'\ndelay='1us'\nloss=0.2\nlinks=[{a=0,b=2},{a=1,b=2,rate='50Gbps',loss=0.1}]",
            3,
            2,
        ),
    ] {
        let scenario = load_with(with_topology(section), &[]).expect(section);
        assert_eq!((scenario.network.nodes.len(), scenario.network.links.len()), (nodes, links), "{section}");
        assert_eq!(scenario.default_loss, if section.contains("default_loss") { 0.1 } else { 0.0 });
        if section.contains("'links'") {
            let losses: Vec<f64> = scenario.network.links.iter().map(|link| link.loss).collect();
            assert_eq!(losses, [0.2, 0.1], "the section's, and the link's own");
        }
    }
}

/// Bodies of the page's code blocks of this language, in its section on files of a network and of flows.
fn blocks_of_the_page(language: &str) -> Vec<&'static str> {
    const PAGE: &str = include_str!("../../../../README.md");
    let (_, section) = PAGE.split_once("\n## Files of a network and of flows\n").expect("the section");
    let section = section.split("\n## ").next().expect("its end");
    let fence = format!("\n```{language}\n");
    section.split(&fence).skip(1).map(|rest| rest.split("```").next().expect("the block's end")).collect()
}

#[test]
fn the_page_s_files_of_a_network_and_of_flows_load() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    let (scenarios, files) = (blocks_of_the_page("toml"), blocks_of_the_page("none"));
    let (&[scenario], &[topology, flows]) = (&scenarios[..], &files[..]) else {
        panic!("a scenario, a network, and flows")
    };
    write("test.toml", scenario);
    write("topology.txt", topology);
    write("flow.txt", flows);
    let scenario = load(&folder.path().join("test.toml"), &[]).expect("valid");
    let (network, flows) = (&scenario.network, scenario.flows.collect());
    assert_eq!((network.hosts().count(), network.nodes.len(), network.links.len()), (4, 6, 5));
    let link = &network.links[4];
    assert_eq!((link.a, link.b, link.rate, link.delay, link.loss), (4, 5, BitRate::gbps(200), Nanos(2_000), 0.001));
    assert_eq!(flows.len(), 3);
    assert_eq!((flows[2].src, flows[2].dport, flows[2].size, flows[2].start), (3, 200, 500, Nanos(5_000)));
}

#[test]
fn bad_topologies_name_their_line() {
    let star = |rest: &str| format!("kind='star'\nhosts=3\nrate='25Gbps'\n{rest}");
    let leaves =
        |rest: &str| format!("kind='leaf_spine'\nleaves=2\nhosts_per_leaf=4\nrate='25Gbps'\ndelay='1us'\n{rest}");
    let links = |link: &str| format!("kind='links'\nhosts=1\nswitches=1\nrate='25Gbps'\nlinks=[\n{link},\n]");
    for (section, expected) in [
        ("kind='stat'".into(), "4: topology.kind: unknown kind \"stat\"; did you mean star?"),
        ("kind=5".into(), "4: topology.kind: the value is 5; expected one of star, dumbbell,"),
        ("hosts=5".into(), "3: topology.kind: kind is missing from [topology]; expected one of star, dumbbell,"),
        (
            star(""),
            "3: topology.delay: delay is missing from [topology]; expected delay: time that a bit takes over a link",
        ),
        (star("delay='1us'\nspines=2"), "8: topology.spines: unknown key spines in [topology]"),
        (star("delay='1us'\nloss=2"), "8: topology.loss: the value is 2; expected a number from 0 to 1"),
        (star("delay='1us'").replace("3", "0"), "5: topology.hosts: hosts is 0; expected at least 1"),
        (star("delay='1us'").replace("25G", "0G"), "6: topology.rate: the rate is 0; expected more"),
        (leaves(""), "3: topology.spines: spines is missing from [topology]; expected it, or oversubscription"),
        (
            leaves("spines=2\noversubscription=2"),
            "10: topology.oversubscription: oversubscription is given, and spines;",
        ),
        (leaves("oversubscription=3"), "9: topology.oversubscription: there would be 1.3333333333333333 spines;"),
        (leaves("spines=2\nbundle=0"), "10: topology.bundle: bundle is 0; expected at least 1"),
        (leaves("spines=2\nfabric_rate='0Gbps'"), "10: topology.fabric_rate: the rate is 0; expected more"),
        (
            "kind='dragonfly'\nhosts_per_switch=2\ngroups=4\nrate='25Gbps'\ndelay='1us'".into(),
            "6: topology.groups: 8 links of a group to 3 others; expected a multiple",
        ),
        (
            "kind='dragonfly'\nhosts_per_switch=2\ngroups=1\nrate='25Gbps'\ndelay='1us'".into(),
            "6: topology.groups: 8 links of a group to 0 others; expected a multiple",
        ),
        ("kind='file'\npath='gone.txt'".into(), "5: topology.path: path is \"gone.txt\", but there is no such file"),
        (links("{a=0,b=2,delay='1us'}"), "9: topology.links: there is no node 2; expected 0 to 1"),
        (links("{a=0,b=0,delay='1us'}"), "9: topology.links: the link connects node 0 with itself"),
        (links("{a=0,b=1}"), "9: topology.links.delay: delay is missing from the link and from [topology]"),
        (links("7"), "9: topology.links: the value is 7; expected a table"),
        (
            "kind='links'\nhosts=4000000000\nswitches=1\nlinks=[]".into(),
            "5: topology.hosts: the network has 4000000001 nodes;",
        ),
    ] {
        refused(&with_topology(&section), &[], &format!("test.toml:{expected}"));
    }
}

#[test]
fn auto_looks_at_the_rates_of_degraded_links() {
    let worse = |rate: &str| format!("failures.degraded=[{{time='1us',a=0,b=4,rate='{rate}'}}]");
    let layout = |rate: &str| {
        let scenario = load_with(MINIMAL, &["congestion_control.algorithm=hpcc", &worse(rate)]).expect(rate);
        (scenario.layout().name(), scenario.notes.len())
    };
    assert_eq!((layout("10Gbps"), layout("7Gbps")), (("paper", 0), ("int_md", 1)));
    let given = ["congestion_control.algorithm=hpcc", "telemetry.layout=paper", &worse("7Gbps")];
    refused(
        MINIMAL,
        &given,
        "--set: failures.degraded: the link from 0 to 4 runs at 7Gbps, which records of telemetry.layout = \"paper\" cannot tell",
    );
}

/// Whatever the rate, `auto` finds a layout that can tell it; one that cannot is refused, and others are named.
#[test]
fn auto_chooses_a_layout_that_can_tell_every_link() {
    let load = |rate: &str, set: &[&str]| {
        let text = with_topology(&format!("kind='star'\nhosts=3\nrate='{rate}'\ndelay='1us'"));
        load_with(text + "[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n", set)
    };
    for (rate, layout) in [
        ("10Mbps", "int_md"),
        ("1Gbps", "int_md"),
        ("10Gbps", "paper"),
        ("40Gbps", "paper"),
        ("160Gbps", "int_md"),
        ("800Gbps", "paper"),
        ("2.4Tbps", "int_md"),
        ("10Tbps", "int_md"),
    ] {
        for algorithm in ["hpcc", "hpcc_plus", "rx_hpcc", "power_tcp"] {
            let scenario = load(rate, &[&format!("congestion_control.algorithm={algorithm}")]).expect(rate);
            assert_eq!(scenario.layout().name(), layout, "{algorithm} at {rate}");
            let is_noted = scenario.notes.iter().any(|note| note.starts_with("telemetry.layout is \"int_md\""));
            assert_eq!(is_noted, layout == "int_md", "{algorithm} at {rate}: {:?}", scenario.notes);
        }
        let given = load(rate, &["telemetry.layout=paper"]);
        assert_eq!(given.is_ok(), layout == "paper", "{rate}");
        let told = given.err().unwrap_or("telemetry.layout = expected layout = \"int_md\"".into());
        assert!(told.contains("telemetry.layout = ") && told.contains("expected layout = \"int_md\""), "{told}");
    }
}
