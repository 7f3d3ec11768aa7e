// SPDX-License-Identifier: GPL-2.0-only
//! `ideal_ns` of jobs: no run is faster, and where nothing is in the way of anything it is the time.

use hpcc_formats::load;
use hpcc_model::results::Rows;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_simulate::{How, run};
use std::fs;

const RULES: &str = "run.stop = \"10s\"\ntransport.mtu = 1000\ncongestion_control.algorithm = \"none\"\n";

/// The time of the job of a scenario, and its ideal time; `files` lie beside it.
fn times(text: &str, files: &[(&str, &str)]) -> (u64, u64) {
    times_by(RULES, text, files)
}

/// The same by other rules.
fn times_by(rules: &str, text: &str, files: &[(&str, &str)]) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let file = folder.path().join("a.toml");
    fs::write(&file, format!("{rules}{text}")).expect("written");
    let scenario = load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let out = folder.path().join("out");
    run(scenario, &out, How { is_quiet: true, is_watched: false, threads: 1 }).expect("a run");
    let row = Rows::<JobRow>::open(&out.join("jobs.csv")).expect("a file").next().expect("a job").expect("a row");
    (row.time_ns.expect("an end"), row.ideal_ns.expect("known"))
}

fn goal(hosts: u32, file: &str) -> (u64, u64) {
    let text = format!(
        "topology = {{ kind = \"star\", hosts = {hosts}, rate = \"100Gbps\", delay = \"1us\" }}\n\
         traffic = [{{ kind = \"goal\", path = \"a.goal\" }}]\n"
    );
    times(&text, &[("a.goal", file)])
}

/// A small message, on which a computation waits, overtakes a long one of another queue pair.
#[test]
fn small_messages_overtake() {
    let file = "num_ranks 3\nrank 0 {\na: send 10000000b to 1 tag 0\nb: send 1000b to 2 tag 0\n}\n\
        rank 1 {\na: recv 10000000b from 0 tag 0\n}\nrank 2 {\na: recv 1000b from 0 tag 0\nb: calc 2000000\nb requires a\n}\n";
    let (time, ideal) = goal(3, file);
    // The computation takes 2 ms; the long message, before which a host's queue would hold the small one, 0.84.
    assert!(ideal <= time && ideal > 2_000_000 && ideal < 2_010_000, "{ideal} of {time}");
    assert!((time - ideal) * 1_000 < time, "{ideal} of {time}");
}

/// A receive of any rank takes the first message. On an idle network that is rank 0's, so that the receive before the computation
/// waits 3 ms for rank 0's other one; where 10 MB beside it hold it up, rank 1's comes first.
#[test]
fn a_receive_of_any_rank_may_take_another_message() {
    let file = "num_ranks 4\nrank 0 {\nm: send 100000b to 2 tag 0\nlong: send 10000000b to 3 tag 0\nc: calc 3000000 cpu 1\n\
        n: send 1000b to 2 tag 0\nn requires c\n}\n\
        rank 1 {\nc: calc 10000\nm: send 1000b to 2 tag 0\nm requires c\n}\n\
        rank 2 {\na: recv 1000b from -1 tag 0 cpu 0\nb: recv 1000b from 0 tag 0 cpu 1\nd: recv 1000b from -1 tag 0 cpu 2\n\
        c: calc 2000000 cpu 1\nc requires b\n}\n\
        rank 3 {\na: recv 10000000b from 0 tag 0\n}\n";
    let (time, ideal) = goal(4, file);
    assert!(3_000_000 < ideal && ideal <= time && time < 4_000_000, "{ideal} of {time}");
}

/// Small messages come while a long one's first packet is still on its sender's link.
#[test]
fn small_messages_come_before_a_long_one() {
    let small: String = (2..22).map(|rank| format!("rank {rank} {{\na: send 1b to 0 tag {rank}\n}}\n")).collect();
    let receives: String = (2..22).map(|rank| format!("r{rank}: recv 1b from {rank} tag {rank}\n")).collect();
    let file = format!(
        "num_ranks 22\nrank 0 {{\nr1: recv 8192b from 1 tag 1\n{receives}}}\nrank 1 {{\na: send 8192b to 0 tag 1\n}}\n{small}"
    );
    let text = "transport.mtu = 4096\ntopology = { kind = \"star\", hosts = 22, rate = \"1Gbps\", delay = \"10ns\" }\n\
                traffic = [{ kind = \"goal\", path = \"a.goal\" }]\n";
    let (time, ideal) =
        times_by("run.stop = \"10s\"\ncongestion_control.algorithm = \"none\"\n", text, &[("a.goal", &file)]);
    assert!(ideal <= time && ideal * 10 > time * 9, "{ideal} of {time}");
}

/// Collectives that share channels of a profile's GPUs go in another order than on idle ones.
#[test]
fn channels_within_a_server_take_collectives_in_any_order() {
    let text = "topology = { kind = \"rails\", servers = 1, rails = 8, spines = 8, rate = \"400Gbps\", delay = \"1us\" }\n\
                servers = { gpus = 8, rate = \"3600Gbps\", latency = \"1us\" }\ngpu.profile = \"h100\"\n\
                traffic = [{ kind = \"transformer\", layers = 4, hidden = 1024, sequence = 512, teraflops = 50, zero = 3 }]\n";
    let (time, ideal) = times(text, &[]);
    assert!(ideal <= time && ideal * 10 > time * 8, "{ideal} of {time}");
}

/// A host sends to nine others at once, or they to it: its link has all bytes, behind each other.
#[test]
fn links_of_hosts_carry_all_bytes() {
    let others = || 1..10;
    let sends: String = others().map(|to| format!("s{to}: send 100000b to {to} tag 0\n")).collect();
    let receives: String = others().map(|from| format!("r{from}: recv 100000b from {from} tag 0\n")).collect();
    let each = |what: &str| others().map(|rank| format!("rank {rank} {{\na: {what}\n}}\n")).collect::<String>();
    // 900 packets of 1,048 bytes at 12.5 bytes a nanosecond.
    let bytes = 900 * 8_384 / 100;
    for (file, most) in [
        (format!("num_ranks 10\nrank 0 {{\n{sends}}}\n{}", each("recv 100000b from 0 tag 0")), 5_000),
        (format!("num_ranks 10\nrank 0 {{\n{receives}}}\n{}", each("send 100000b to 0 tag 0")), 5_000),
    ] {
        let (time, ideal) = goal(10, &file);
        assert!((bytes..bytes + most).contains(&ideal) && ideal <= time, "{ideal} of {time}, {bytes}");
        assert!((time - ideal) * 50 < time, "{ideal} of {time}");
    }
}

/// Transformers in many divisions, by hosts and by servers: the ideal is below the time, and not far below where few things meet.
#[test]
fn no_job_is_faster_than_ideal() {
    let star = "topology = { kind = \"star\", hosts = 8, rate = \"100Gbps\", delay = \"1us\" }\n";
    let rails = "topology = { kind = \"rails\", servers = 4, rails = 2, spines = 2, rate = \"100Gbps\", delay = \"1us\" }\n\
        servers = { gpus = 2, rate = \"900Gbps\", latency = \"500ns\" }\n";
    for (network, keys) in [
        (star, "pipeline = 2, micro_batches = 4, buckets = 3"),
        (star, "pipeline = 4, micro_batches = 4, virtual_stages = 2, buckets = 1"),
        (star, "pipeline = 2, micro_batches = 4, zero_bubble = true"),
        (star, "tensor = 4, sequence_parallel = true, overlap_tensor = true"),
        (star, "experts = 8, expert = 4, buckets = 6"),
        (star, "experts = 8, expert = 4, zero = 2, micro_batches = 2"),
        (star, "context = 4, zero = 3, gradient_bytes = 4"),
        (star, "pipeline = 2, zero = 1, bucket_parameters = 300000, micro_batches = 2"),
        (rails, "tensor = 2, pipeline = 2, micro_batches = 4, buckets = 3"),
        (rails, "experts = 8, expert = 8, micro_batches = 2"),
        (rails, "experts = 8, expert = 4, expert_servers = 2"),
        (rails, "tensor = 2, experts = 4, expert = 2, zero = 1, buckets = 2"),
    ] {
        let text = format!(
            "{network}traffic = [{{ kind = \"transformer\", layers = 12, hidden = 512, sequence = 256, vocabulary = 1000, \
             teraflops = 100, {keys} }}]\n"
        );
        let (time, ideal) = times(&text, &[]);
        assert!(ideal <= time, "{keys}: {ideal} of {time}");
        assert!(ideal as f64 > 0.5 * time as f64, "{keys}: {ideal} of {time}");
    }
}
