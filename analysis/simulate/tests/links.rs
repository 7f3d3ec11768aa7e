// SPDX-License-Identifier: GPL-2.0-only
//! Servers and NICs of other forms than a NIC for each GPU, against bytes over rate.

use hpcc_formats::load;
use hpcc_model::results::fct_csv::FctRecord;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::{CsvRow, Rows};
use hpcc_simulate::{How, run};
use std::fs;

const RULES: &str = "run.stop = \"10s\"\ntransport.mtu = 4096\n";
const NO_CONTROL: &str = "congestion_control.algorithm = \"none\"\n";
/// Of a packet of 4,096 bytes, on a link.
const OVERHEAD: f64 = 4_144.0 / 4_096.0;

/// The time of the job of a scenario, in ns, by packets; `files` lie beside it.
fn time(text: &str, files: &[(&str, &str)]) -> f64 {
    row(text, files).time_ns.expect("an end") as f64
}

/// What there is of that job.
fn row(text: &str, files: &[(&str, &str)]) -> JobRow {
    first_row(&format!("{NO_CONTROL}{text}"), files, "jobs.csv")
}

/// What there is of the only flow of a scenario, by packets.
fn flow(text: &str, files: &[(&str, &str)]) -> FctRecord {
    first_row(text, files, "fct.csv")
}

fn first_row<T: CsvRow>(text: &str, files: &[(&str, &str)], results: &str) -> T {
    let folder = tempfile::tempdir().expect("folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let file = folder.path().join("a.toml");
    fs::write(&file, format!("{RULES}{text}")).expect("written");
    let scenario = load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let out = folder.path().join("out");
    run(scenario, &out, How { is_quiet: true, is_watched: false, threads: 1 }).expect("a run");
    Rows::<T>::open(&out.join(results)).expect("a file").next().expect("a line").expect("a row")
}

/// So much a time exceeds the bytes over the rate (in bytes a nanosecond); nothing is faster.
fn excess(time: f64, bytes: f64, rate: f64) -> f64 {
    time / (bytes / rate) - 1.0
}

/// Two servers of eight GPUs, two a NIC of 200 Gb/s: a ring's bytes leave a server by four NICs, with as many channels.
#[test]
fn gpus_that_share_a_nic_use_all_of_them() {
    const SIZE: f64 = 16e6;
    let each = 2.0 * 15.0 / 16.0 * SIZE * OVERHEAD / 4.0;
    let rails =
        "topology = { kind = \"rails\", servers = 2, rails = 4, spines = 4, rate = \"200Gbps\", delay = \"500ns\" }\n";
    let traffic = "kind = \"collective\", operation = \"all_reduce\", size = \"16MB\"";
    let servers = |gpus: u32| format!("servers = {{ gpus = {gpus}, rate = \"2400Gbps\", latency = \"1us\" }}\n");
    let shared = time(&format!("{rails}{}traffic = [{{ {traffic} }}]\n", servers(8)), &[]);
    // Several ranks of a GPU, as one writes it without `gpus = 8`.
    let ranks = "channels = 4, ranks = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]";
    let listed = time(&format!("{rails}{}traffic = [{{ {traffic}, {ranks} }}]\n", servers(4)), &[]);
    for time in [shared, listed] {
        let excess = excess(time, each, 25.0);
        assert!((0.0..0.25).contains(&excess), "{excess}");
    }
    assert!(shared >= listed, "GPUs of a NIC exchange by NVLink, ranks of a GPU at once: {shared} {listed}");
}

/// Two NICs of 200 Gb/s are as fast as one of 400.
#[test]
fn messages_are_striped_over_planes() {
    let traffic = "traffic = [{ kind = \"collective\", operation = \"all_reduce\", size = \"16MB\" }]\n";
    let network = |planes: u32, rate: u32| {
        format!(
            "topology = {{ kind = \"multi_plane\", segments = 1, servers = 4, planes = {planes}, spines = 1, rate = \"{rate}Gbps\", \
             delay = \"500ns\" }}\n{traffic}"
        )
    };
    let each = 2.0 * 3.0 / 4.0 * 16e6 * OVERHEAD;
    for (planes, rate) in [(1, 400), (2, 200), (4, 100)] {
        let excess = excess(time(&network(planes, rate), &[]), each, 50.0);
        assert!((0.0..0.1).contains(&excess), "{planes} of {rate} Gb/s: {excess}");
    }
    let dual = "topology = { kind = \"dual_homed\", pairs = 2, hosts_per_pair = 2, aggs = 4, rate = \"200Gbps\", delay = \"500ns\" }\n";
    let excess = excess(time(&format!("{dual}{traffic}"), &[]), each, 50.0);
    assert!((0.0..0.4).contains(&excess), "{excess}");
}

/// Two hosts at a switch and two beyond another, each with two links of 200 Gb/s there.
const PARALLEL: (&str, &str) = (
    "net.txt",
    "6 2 9\n4 5\n0 4 200Gbps 0.001ms 0\n0 4 200Gbps 0.001ms 0\n1 4 200Gbps 0.001ms 0\n1 4 200Gbps 0.001ms 0\n2 5 200Gbps 0.001ms 0\n\
     2 5 200Gbps 0.001ms 0\n3 5 200Gbps 0.001ms 0\n3 5 200Gbps 0.001ms 0\n4 5 1600Gbps 0.001ms 0\n",
);

/// A message comes by both links of its receiver, as it leaves by both of its sender: 50 bytes a nanosecond.
#[test]
fn parallel_links_of_a_receiver_are_used_as_those_of_a_sender() {
    let text = "topology = { kind = \"file\", path = \"net.txt\" }\ntransport.window = false\n\
                traffic = [{ kind = \"collective\", operation = \"all_reduce\", size = \"16MB\" }]\n";
    let excess = excess(time(text, &[PARALLEL]), 2.0 * 3.0 / 4.0 * 16e6 * OVERHEAD, 50.0);
    assert!((0.0..0.1).contains(&excess), "{excess}");
}

/// A flow of Ultra Ethernet alone leaves by both links, in its ideal time but for a packet.
#[test]
fn ultra_ethernet_sends_packets_by_all_links() {
    let uec = "topology = { kind = \"file\", path = \"net.txt\" }\ntransport.kind = \"uec\"\ntransport.entropy = \"oblivious\"\n\
               traffic = [{ kind = \"flow\", src = 0, dst = 2, size = \"20MB\" }]\n";
    let planes = "topology = { kind = \"multi_plane\", segments = 1, servers = 2, rails = 1, planes = 2, spines = 1, rate = \"200Gbps\", \
                  delay = \"500ns\" }\ntransport.kind = \"uec\"\n\
                  traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"20MB\" }]\n";
    for (text, files) in [(planes, &[][..]), (uec, &[PARALLEL][..])] {
        let row = flow(text, files);
        let excess = excess(row.fct_ns as f64, 20e6, 50.0);
        assert!((0.0..0.05).contains(&excess), "{excess}");
        let slowdown = row.slowdown();
        assert!((1.0..1.001).contains(&slowdown), "{slowdown}: {text}");
    }
}

/// Seven flows of Ultra Ethernet to one host over two planes of 100 Gb/s, of which each sends little, use both.
#[test]
fn ultra_ethernet_uses_planes_evenly_where_hosts_send_little() {
    let text = "topology = { kind = \"multi_plane\", segments = 1, servers = 8, rails = 1, planes = 2, spines = 2, rate = \"100Gbps\", \
                delay = \"500ns\" }\ntransport.kind = \"uec\"\n\
                traffic = [{ kind = \"incast\", receiver = 0, sender_count = 7, size = \"1MB\" }]\n";
    let excess = excess(flow(text, &[]).fct_ns as f64, 7e6, 25.0);
    assert!((-0.2..0.15).contains(&excess), "all end at about the same time: {excess}");
}

/// A plane whose link to the receiver fails is left: 1 MB has left by both by then, and 4 MB leave by one.
#[test]
fn ultra_ethernet_leaves_a_plane_that_fails() {
    const PLANES: &str =
        "4 2 4\n2 3\n0 2 200Gbps 0.001ms 0\n0 3 200Gbps 0.001ms 0\n1 2 200Gbps 0.001ms 0\n1 3 200Gbps 0.001ms 0\n";
    let text = "topology = { kind = \"file\", path = \"net.txt\" }\ntransport.kind = \"uec\"\n\
                failures = { links = [{ a = 1, b = 2, time = \"20us\" }] }\n\
                traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"5MB\" }]\n";
    let excess = excess(flow(text, &[("net.txt", PLANES)]).fct_ns as f64, 4e6, 25.0);
    assert!((0.0..0.5).contains(&excess), "{excess}");
}

/// Each pair of rails and servers exchanges by rails and NVLink alone.
#[test]
fn rails_without_a_spine_carry_an_all_to_all() {
    let text = "topology = { kind = \"rails\", servers = 2, rails = 2, spines = 0, rate = \"400Gbps\", delay = \"500ns\" }\n\
                servers = { gpus = 2, rate = \"3600Gbps\", latency = \"1us\" }\n\
                traffic = [{ kind = \"collective\", operation = \"all_to_all\", size = \"4MB\" }]\n";
    // A NIC sends a part to either GPU of the other server: for its own GPU, and for its neighbour.
    let excess = excess(time(text, &[]), 2e6 * OVERHEAD, 50.0);
    assert!((0.0..0.15).contains(&excess), "{excess}");
}

/// The n-th NIC of GOAL is the n-th link of the host: two sends by two links take half of the time of two by one.
#[test]
fn nics_of_goal_are_links() {
    let network = "topology = { kind = \"links\", hosts = 2, switches = 2, rate = \"200Gbps\", delay = \"500ns\", \
                   links = [{ a = 0, b = 2 }, { a = 0, b = 3 }, { a = 1, b = 2 }, { a = 1, b = 3 }] }\n\
                   traffic = [{ kind = \"goal\", path = \"a.goal\" }]\n";
    let send = |tag: u32, nic: u32| format!("l{tag}: send 5000000b to 1 tag {tag} nic {nic}\n");
    let goal = |nics: [u32; 3]| {
        let sends: String = (1..).zip(nics).map(|(tag, nic)| send(tag, nic)).collect();
        let receives: String = (1..4).map(|tag| format!("l{tag}: recv 5000000b from 0 tag {tag}\n")).collect();
        format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n")
    };
    // The longer of the two sends twice 5 MB; without NICs in the file messages take both links.
    for (nics, bytes) in [([0, 1, 0], 10e6), ([1, 1, 1], 15e6), ([0, 0, 0], 7.5e6)] {
        let excess = excess(time(network, &[("a.goal", &goal(nics))]), bytes * OVERHEAD, 25.0);
        assert!((0.0..0.02).contains(&excess), "{nics:?}: {excess}");
    }
}

/// SimAI's generator puts all NICs of a server beside its NVSwitch on one switch: GPUs of the server send by NVLink all the same, and
/// a group over servers has a ring for each GPU.
#[test]
fn simai_sends_by_nvlink_inside_servers() {
    let links: String = (0..4)
        .map(|gpu| format!("{gpu} {} 2400Gbps 0.000025ms 0\n{gpu} 6 100Gbps 0.0005ms 0\n", 4 + gpu / 2))
        .collect();
    let network = format!("7 2 2 1 8 A100\n4 5 6\n{links}");
    let workload = |tensor: u32| {
        format!(
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tensor} ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 checkpoints: 0 \
             checkpoint_initiates: 0\n1\na -1 1 ALLREDUCE 8000000 1 NONE 0 1 NONE 0 1\n"
        )
    };
    let text =
        "topology = { kind = \"file\", path = \"net.txt\" }\ntraffic = [{ kind = \"simai\", path = \"work.txt\" }]\n";
    let time = |tensor| time(text, &[("net.txt", &network), ("work.txt", &workload(tensor))]);
    let inside = excess(time(2), 8e6, 300.0);
    assert!((0.0..0.02).contains(&inside), "{inside}");
    let across = excess(time(4), 2.0 * 3.0 / 4.0 * 8e6 * OVERHEAD / 2.0, 12.5);
    assert!((0.0..0.1).contains(&across), "{across}");
}

/// A link fails before the message leaves for which a queue pair was ready: it goes by the other one, in bytes over rate and four delays.
#[test]
fn a_message_leaves_by_a_link_that_leads_there_now() {
    let goal = "num_ranks 2\nrank 0 {\nc: calc 50000\ns: send 100000b to 1 tag 0\ns requires c\n}\nrank 1 {\nr: recv 100000b from 0 tag 0\n}\n";
    let late = |links: &str, failed: u32| {
        let text = format!(
            "topology = {{ kind = \"links\", hosts = 2, switches = 2, rate = \"100Gbps\", delay = \"1us\", links = [{{ a = 0, b = 2 }}, \
             {{ a = 1, b = 2 }}, {{ a = 0, b = 3 }}, {{ a = 1, b = 3 }}] }}\n\
             failures.links = [{{ time = \"10us\", a = 0, b = {failed} }}]\n\
             traffic = [{{ kind = \"goal\", path = \"late.goal\", links = \"{links}\" }}]\n"
        );
        time(&text, &[("late.goal", goal)])
    };
    for links in ["striped", "hashed", "by_channel"] {
        for failed in [2, 3] {
            let time = late(links, failed) - 50_000.0;
            let alone = 100_000.0 * OVERHEAD / 12.5 + 4_000.0;
            assert!((alone - 4_000.0..alone + 2_000.0).contains(&time), "{links}, {failed}: {time}");
        }
    }
}

/// The ideal time knows which link each message has: two channels on two links wait for nothing.
#[test]
fn messages_of_two_links_do_not_wait_for_each_other() {
    let job = |first: u32, second: u32, links: &str, channels: u32| {
        let ends = format!("{{ a = 0, b = 2, rate = \"{first}Gbps\" }}, {{ a = 1, b = 2, rate = \"{first}Gbps\" }}");
        let others =
            format!("{{ a = 0, b = 3, rate = \"{second}Gbps\" }}, {{ a = 1, b = 3, rate = \"{second}Gbps\" }}");
        let text = format!(
            "topology = {{ kind = \"links\", hosts = 2, switches = 2, rate = \"100Gbps\", delay = \"1us\", links = [{ends}, {others}] }}\n\
             traffic = [{{ kind = \"collective\", operation = \"send_receive\", size = \"1MB\", channels = {channels}, \
             links = \"{links}\" }}]\n"
        );
        let row = row(&text, &[]);
        (row.time_ns.expect("an end") as f64, row.ideal_ns.expect("a time") as f64)
    };
    for (first, second) in [(100, 100), (100, 50)] {
        for (links, channels) in [("striped", 1), ("striped", 2), ("by_channel", 2)] {
            let (time, ideal) = job(first, second, links, channels);
            assert!(
                (0.95..=1.0).contains(&(ideal / time)),
                "{first}, {second}, {links}, {channels}: {ideal} of {time}"
            );
        }
    }
    for (first, links) in [(100, "hashed"), (50, "striped"), (50, "by_channel")] {
        let (time, ideal) = job(first, 100, links, 2);
        assert!(ideal <= time, "{first}, {links}: {ideal} of {time}");
    }
}
