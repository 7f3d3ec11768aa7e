// SPDX-License-Identifier: GPL-2.0-only
//! Servers whose GPUs share NICs, and hosts with several links.

use super::*;
use hpcc_core::workload::Leaving;

/// A job on rails, in these servers.
fn on_rails(rails: u32, spines: u32, servers: &str, set: &[&str]) -> Result<Scenario, String> {
    let text = format!(
        "run.stop = \"1s\"\n\
         topology = {{ kind = \"rails\", servers = 2, rails = {rails}, spines = {spines}, rate = \"200Gbps\", delay = \"1us\" }}\n\
         servers = {{ {servers}, rate = \"3600Gbps\", latency = \"1us\" }}\n\
         traffic = [{{ kind = \"collective\", operation = \"all_reduce\", size = \"1MB\" }}]\n"
    );
    load_with(text, set)
}

/// Eight GPUs at four NICs: two servers, whose neighbours share, and a channel for each NIC.
#[test]
fn gpus_share_the_rails_of_a_topology() {
    for servers in ["gpus = 8", "gpus = 8, nics = 4"] {
        let scenario = on_rails(4, 1, servers, &[]).expect("servers");
        let servers = scenario.servers.expect("servers");
        assert_eq!((servers.gpus, servers.nics, servers.pxn), (8, 4, true));
        let job = &scenario.flows.jobs[0];
        assert_eq!(job.gpus, (0..16).collect::<Vec<u32>>());
        assert_eq!(job.hosts, (0..16).map(|gpu| gpu / 2).collect::<Vec<u32>>());
        assert_eq!(job.collectives()[0].channels, 4);
    }
    let one = on_rails(4, 1, "gpus = 4", &["traffic.0.ranks=\"0-3\""]).expect("servers");
    assert_eq!((one.flows.jobs[0].hosts.clone(), one.servers.expect("servers").nics), (vec![0, 1, 2, 3], 4));
    let some = on_rails(4, 1, "gpus = 8", &["traffic.0.ranks=\"7,8\""]).expect("servers");
    assert_eq!(some.flows.jobs[0].hosts, [3, 4], "the last GPU of one server and the first of the other");
}

#[test]
fn servers_that_are_not_those_of_the_topology_are_refused() {
    for (servers, set, expected) in [
        (
            "gpus = 6",
            &[][..],
            "test.toml:3: servers.gpus: 6 GPUs cannot share 4 NICs, the rails of [topology]; expected a multiple",
        ),
        ("gpus = 8, nics = 8", &[], "test.toml:3: servers.nics: servers of [topology] have 4 rails, and these 8 NICs"),
        ("gpus = 4294967292", &[], "expected at most 64 a NIC"),
        ("gpus = 2", &[], "2 GPUs cannot share 4 NICs"),
        ("gpus = 8", &["traffic.0.ranks=\"0-16\""], "16"),
    ] {
        let told = on_rails(4, 1, servers, set).expect_err(servers);
        assert!(told.contains(expected), "{told}");
    }
}

/// Rails without a spine are joined by NVLink: for messages that change their rail inside a server.
#[test]
fn rails_need_no_spine_where_servers_join_them() {
    assert!(on_rails(4, 0, "gpus = 4", &[]).is_ok());
    let told = on_rails(4, 0, "gpus = 4, pxn = false", &[]).expect_err("no path");
    assert!(told.contains("no path connects host 3 with host 4") && told.contains("servers.pxn = true"), "{told}");
    let leaves = "run.stop = \"1s\"\ntopology = { kind = \"leaf_spine\", leaves = 2, spines = 0, hosts_per_leaf = 2, \
                  rate = \"1Gbps\", delay = \"1us\" }\n";
    assert!(load_with(leaves, &[]).expect_err("no spine").contains("spines is 0; expected at least 1"));
}

/// In SimAI's files NVSwitches are servers, whatever other paths there are.
#[test]
fn nvswitches_of_simai_are_servers() {
    let text = "run.stop = \"1s\"\ntopology = { kind = \"file\", path = \"simai.txt\" }\n\
                traffic = [{ kind = \"collective\", operation = \"all_reduce\", size = \"1MB\" }]\n";
    let scenario = load_with(text, &[]).expect("a scenario");
    let servers = scenario.servers.expect("servers");
    assert_eq!((servers.gpus, servers.rate, servers.latency), (2, BitRate::gbps(2_880), Nanos(50)));
    assert_eq!(scenario.network.links.len(), 6);
    assert_eq!(scenario.flows.jobs[0].collectives()[0].channels, 2, "a ring for each NIC");
    let told =
        scenario.notes.iter().any(|note| note.contains("switches 4 to 5 are the NVSwitches of servers of 2 GPUs"));
    assert!(told, "{:?}", scenario.notes);
    let flows =
        load_with(text.replace("kind = \"collective\", operation = \"all_reduce\"", "kind = \"all_to_all\""), &[]);
    assert_eq!(flows.expect("flows").network.links.len(), 10, "flows take all links");
}

fn planes(traffic: &str) -> Scenario {
    let text = format!(
        "run.stop = \"1s\"\ntopology = {{ kind = \"multi_plane\", segments = 1, servers = 4, planes = 2, spines = 1, \
         rate = \"200Gbps\", delay = \"1us\" }}\ntraffic = [{{ {traffic} }}]\n"
    );
    load_with(text, &[]).expect("a scenario")
}

/// Who chooses among several links: the message takes all of them, unless somebody says otherwise; what may be idle is told.
#[test]
fn messages_take_all_links_that_lead_to_a_host() {
    let job = "kind = \"collective\", operation = \"all_reduce\", size = \"1MB\"";
    for (links, expected, told) in [
        ("", Leaving::Striped(2), "leaves in 2 parts"),
        (", links = \"hashed\"", Leaving::Hashed, "others may be idle"),
        (", links = \"by_channel\"", Leaving::ByChannel(2), "with fewer channels others are idle"),
    ] {
        let scenario = planes(&format!("{job}{links}"));
        assert_eq!(scenario.flows.jobs[0].leaving, expected);
        assert!(scenario.notes.iter().any(|note| note.contains(told)), "{:?}", scenario.notes);
        assert_eq!(scenario.assumed.iter().any(|one| one.key == "traffic.links"), links.is_empty());
    }
    let idle = |scenario: Scenario| scenario.notes.into_iter().find(|note| note.contains("are idle"));
    let one = idle(planes("kind = \"flow\", src = 0, dst = 1, size = \"1MB\"")).expect("a note");
    assert!(one.starts_with("host 0 has 2 links that lead to a destination, and flows for 1 of them"), "{one}");
    assert_eq!(idle(planes("kind = \"all_to_all\", size = \"1MB\"")), None);
}

/// Fewer channels than NICs leave NICs idle, which is told.
#[test]
fn idle_nics_are_told() {
    let idle = |set: &[&str]| {
        let notes = on_rails(4, 1, "gpus = 4", set).expect("a scenario").notes;
        notes.into_iter().find(|note| note.contains("of the 4 NICs of a server send"))
    };
    assert_eq!(idle(&[]), None);
    let told = idle(&["traffic.0.channels=3"]).expect("a note");
    assert!(told.starts_with("3 of the 4 NICs of a server send, one for each channel of collective"), "{told}");
    assert_eq!(idle(&["traffic.0.channels=1", "traffic.0.algorithm=nvls"]), None, "each rank has its own");
}
