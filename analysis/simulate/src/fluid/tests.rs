// SPDX-License-Identifier: GPL-2.0-only
//! Fluid runs against times that are known, and against packets.

use super::*;
use crate::run::{How, run as run_packets};
use hpcc_model::results::collectives_csv::CollectiveRow;
use hpcc_model::results::jobs_csv::JobRow;
use hpcc_model::results::{CsvRow, FctRecord, Rows, Summary};
use std::fs;

/// Hosts on one switch, with these rules; 1,000 bytes are 1,048 on a link, and 60 come back.
const STAR: &str = "topology = { kind = \"star\", hosts = HOSTS, rate = \"100Gbps\", delay = \"1us\" }\n\
                    congestion_control.algorithm = \"none\"\nrun.stop = \"1s\"\n";
const CLOS: &str = "topology = { kind = \"leaf_spine\", leaves = 4, spines = 4, hosts_per_leaf = 4, \
                    rate = \"100Gbps\", delay = \"1us\" }\n\
                    congestion_control.algorithm = \"none\"\nrun.stop = \"1s\"\n";

fn star(hosts: u32, traffic: &str) -> String {
    STAR.replace("HOSTS", &hosts.to_string()) + traffic
}

/// A run's results.
struct Ran {
    folder: tempfile::TempDir,
    outcome: Result<Outcome, Outcome>,
}

impl Ran {
    fn rows<T: CsvRow>(&self, name: &str) -> Vec<T> {
        let rows = Rows::open(&self.folder.path().join("out").join(name)).expect("a file");
        rows.map(|row| row.expect("a row")).collect()
    }

    fn flows(&self) -> Vec<FctRecord> {
        let mut flows: Vec<FctRecord> = self.rows("fct.csv");
        flows.sort_by_key(|flow| flow.flow);
        flows
    }

    fn summary(&self) -> Summary {
        Summary::read(&self.folder.path().join("out/summary.json")).expect("a summary")
    }
}

fn load(text: &str) -> (tempfile::TempDir, Scenario) {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("scenario.toml");
    fs::write(&file, text).expect("a file");
    let scenario = hpcc_formats::load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}: {text}"));
    (folder, scenario)
}

fn fluid_with(text: &str, check: Option<Check>) -> Ran {
    let (folder, scenario) = load(text);
    let outcome = run(&scenario, &folder.path().join("out"), FluidHow { is_quiet: true, check });
    Ran { folder, outcome }
}

fn fluid(text: &str) -> Ran {
    fluid_with(text, None)
}

fn packets(text: &str) -> Ran {
    let (folder, scenario) = load(text);
    let how = How { is_quiet: true, is_watched: false, threads: 1 };
    let outcome = run_packets(scenario, &folder.path().join("out"), how);
    Ran { folder, outcome }
}

/// By how much a time differs, as a part.
fn off(time: u64, expected: f64) -> f64 {
    (time as f64 / expected - 1.0).abs()
}

/// Alone a flow is as fast as its packets, and as its ideal time says.
#[test]
fn a_flow_alone_is_as_its_packets() {
    for size in ["100", "1KB", "25KB", "1MB", "30MB"] {
        let flow = format!("traffic = [{{ kind = \"flow\", src = 0, dst = 15, size = \"{size}\" }}]\n");
        let text = CLOS.to_owned() + &flow;
        let (fluid, packets) = (fluid(&text).flows()[0], packets(&text).flows()[0]);
        assert!(off(fluid.fct_ns, packets.fct_ns as f64) < 0.005, "{size}: {fluid:?} {packets:?}");
        assert_eq!((fluid.ideal_ns, fluid.sport), (packets.ideal_ns, packets.sport));
    }
}

/// Three share a link until the smallest is over, then two.
#[test]
fn an_incast_shares_its_last_link() {
    let sizes = [1, 2, 4];
    let flow = |(src, size): (u32, u32)| format!("{{ kind = \"flow\", src = {src}, dst = 3, size = \"{size}MB\" }}");
    let flows: Vec<String> = (0..).zip(sizes).map(flow).collect();
    let ran = fluid(&star(4, &format!("traffic = [{}]\n", flows.join(", "))));
    // 1.048 bytes on the link for each byte, at 12.5 bytes/ns.
    let each = 1.048e6 / 12.5;
    let expected = [3.0, 5.0, 7.0].map(|parts| parts * each + 4_200.0);
    for (flow, expected) in ran.flows().iter().zip(expected) {
        assert!(off(flow.fct_ns, expected) < 0.002, "{flow:?} {expected}");
    }
    assert_eq!(ran.summary().simulator, "fluid");
    assert!(ran.outcome == Ok(Outcome::Finished));
}

/// A flow's own rate bounds it, and leaves the rest to others.
#[test]
fn a_flow_has_a_rate_of_its_own() {
    let text = "traffic = [{ kind = \"flow\", src = 0, dst = 2, size = \"1MB\", rate = \"20Gbps\" }, \
                { kind = \"flow\", src = 1, dst = 2, size = \"4MB\" }]\n";
    let flows = fluid(&star(3, text)).flows();
    let times = [1.048e6 / 2.5, 4.0 * 1.048e6 / 10.0].map(|time| time + 4_200.0);
    assert!(off(flows[0].fct_ns, times[0]) < 0.01 && off(flows[1].fct_ns, times[1]) < 0.01, "{flows:?} {times:?}");
}

/// At any rate of its own a flow alone has its ideal time: no packet follows the last one, so that no interval does.
#[test]
fn a_slow_flow_alone_has_its_ideal_time() {
    for (size, rate) in
        [("1KB", "1Mbps"), ("1KB", "100Mbps"), ("3KB", "100Mbps"), ("1500B", "500Mbps"), ("1KB", "5Gbps")]
    {
        let text =
            format!("traffic = [{{ kind = \"flow\", src = 0, dst = 1, size = \"{size}\", rate = \"{rate}\" }}]\n");
        let (fluid, packets) = (fluid(&star(2, &text)).flows()[0], packets(&star(2, &text)).flows()[0]);
        assert_eq!((fluid.fct_ns, fluid.ideal_ns), (fluid.ideal_ns, packets.ideal_ns), "{size} {rate}");
    }
}

/// Classes share by their weights, however many flows each has.
#[test]
fn classes_have_their_shares() {
    let text = "switch.classes = \"3:3000, 4:1000\"\ntraffic = [\
                { kind = \"incast\", receiver = 3, senders = [0, 1], size = \"3MB\", priority = 3 }, \
                { kind = \"flow\", src = 2, dst = 3, size = \"2MB\", priority = 4 }]\n";
    let flows = fluid(&star(4, text)).flows();
    assert!(flows.iter().all(|flow| off(flow.fct_ns, 8.0 * 1.048e6 / 12.5) < 0.01), "{flows:?}");
}

/// On links by which hosts send, their classes hold, or none; on those of switches theirs.
#[test]
fn classes_hold_on_the_links_of_their_nodes() {
    let alone = 6e6 * 1.048 / 12.5;
    let thin = alone * 4.0 / 3.0;
    let pair = |ends: [(u32, u32); 2]| {
        let [(a, b), (c, d)] = ends;
        format!(
            "switch.pfc_priorities = [3, 4]\ntraffic = [\
             {{ kind = \"flow\", src = {a}, dst = {b}, size = \"6MB\", priority = 3 }}, \
             {{ kind = \"flow\", src = {c}, dst = {d}, size = \"6MB\", priority = 4 }}]\n"
        )
    };
    let (out, into) = (pair([(0, 1), (0, 2)]), pair([(0, 5), (1, 5)]));
    let (three, one) = ("\"3:3000, 4:1000\"", "\"3:1000, 4:3000\"");
    let even = [2.0 * alone; 2];
    for (rules, traffic, expected) in [
        (format!("switch.classes = {three}\n"), &out, even),
        ("switch.classes = \"3:strict, 4:strict\"\n".into(), &out, even),
        (format!("switch.classes = {three}\ntransport.classes = {one}\n"), &out, [2.0 * alone, thin]),
        (format!("switch.classes = {three}\ntransport.classes = {one}\n"), &into, [thin, 2.0 * alone]),
        (format!("transport.classes = {three}\n"), &into, even),
    ] {
        let text = star(6, &(rules + traffic));
        for (flow, expected) in fluid(&text).flows().iter().zip(expected) {
            assert!(off(flow.fct_ns, expected) < 0.02, "{flow:?} {expected} {text}");
        }
    }
    let four = [(1, 3), (2, 3), (3, 3), (4, 4)].map(|(dst, priority)| {
        format!("{{ kind = \"flow\", src = 0, dst = {dst}, size = \"6MB\", priority = {priority} }}")
    });
    let text = star(6, &format!("switch.pfc_priorities = [3, 4]\ntraffic = [{}]\n", four.join(", ")));
    let flows = fluid(&text).flows();
    assert!(flows.iter().all(|flow| off(flow.fct_ns, 4.0 * alone) < 0.01), "{flows:?}");
}

/// 2 (n - 1) steps of an n-th of the data, each with the answers to what comes in on its link, and its latency.
#[test]
fn a_ring_takes_its_closed_form() {
    let text = star(
        8,
        "traffic = [{ kind = \"collective\", operation = \"all_reduce\", size = \"80MB\", \
                        chunk = \"1GB\" }]\n",
    );
    let (ran, as_packets) = (fluid(&text), packets(&text));
    let step = 10e6 * 1.048 / 12.5;
    let jobs: [JobRow; 2] = [&ran, &as_packets].map(|ran| ran.rows::<JobRow>("jobs.csv")[0]);
    let [time, packets] = jobs.map(|job| job.time_ns.expect("over") as f64);
    assert!(time > 14.0 * step && time < 14.0 * step * 1.06 + 14.0 * 2_500.0, "{time} {step}");
    assert!((time / packets - 1.0).abs() < 0.01, "{time} {packets}");
    let collectives: Vec<CollectiveRow> = ran.rows("collectives.csv");
    assert_eq!((collectives.len(), ran.flows().len()), (1, 8 * 14));
}

/// Each sends 15 parts by one link, with answers to as much beside.
#[test]
fn an_exchange_between_all_takes_its_closed_form() {
    let text = star(16, "traffic = [{ kind = \"collective\", operation = \"all_to_all\", size = \"16MB\" }]\n");
    let jobs: Vec<JobRow> = fluid(&text).rows("jobs.csv");
    let time = jobs[0].time_ns.expect("over") as f64;
    let bytes = 15e6 * (1.048 + 0.060) / 12.5;
    assert!((time / bytes - 1.0).abs() < 0.01, "{time} {bytes}");
}

/// Where links are nearly idle each flow has nearly the time of its packets.
#[test]
fn at_low_load_flows_are_as_their_packets() {
    let flow = |at: u32| {
        let (src, dst, size) = (at % 16, (at * 7 + 3) % 16, 1 + at * 37 % 200);
        format!(
            "{{ kind = \"flow\", src = {src}, dst = {}, size = \"{size}KB\", start = \"{}us\" }}",
            (dst + u32::from(dst == src)) % 16,
            at * 4
        )
    };
    let flows: Vec<String> = (0..150).map(flow).collect();
    let text = CLOS.to_owned() + &format!("traffic = [{}]\n", flows.join(",\n"));
    let (fluid, packets) = (fluid(&text).flows(), packets(&text).flows());
    assert_eq!(fluid.len(), 150);
    for (fluid, packets) in fluid.iter().zip(&packets) {
        assert_eq!(fluid.sport, packets.sport);
        assert!(off(fluid.fct_ns, packets.fct_ns as f64) < 0.05, "{fluid:?} {packets:?}");
    }
}

/// Flows that collide on a link by their hashes do so here, too. Pauses share less fairly.
#[test]
fn hashes_choose_the_paths_of_packets() {
    let text = CLOS.to_owned() + "traffic = [{ kind = \"permutation\", size = \"2MB\" }]\n";
    let (fluid, packets) = (fluid(&text).flows(), packets(&text).flows());
    for (fluid, packets) in fluid.iter().zip(&packets) {
        assert!(off(fluid.fct_ns, packets.fct_ns as f64) < 0.25, "{fluid:?} {packets:?}");
    }
}

/// Spread over four spines, a permutation between leaves is as if each flow were alone.
#[test]
fn spread_flows_do_not_collide() {
    let text = CLOS.to_owned()
        + "load_balancing.scheme = \"random\"\ntraffic = [{ kind = \"permutation\", size = \"2MB\" }]\n";
    let flows = fluid(&text).flows();
    assert!(flows.iter().all(|flow| flow.slowdown() < 1.15), "{flows:?}");
}

/// Both paths of a flow are cut, one after the other; it waits until one is back.
#[test]
fn flows_go_round_links_that_fail() {
    let text = "topology = { kind = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 1, \
                rate = \"100Gbps\", delay = \"1us\" }\n\
                congestion_control.algorithm = \"none\"\nrun.stop = \"1s\"\n\
                failures.links = [{ time = \"100us\", a = 2, b = 4 }, { time = \"200us\", a = 2, b = 5, until = \"1ms\" }]\n\
                traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"10MB\" }]\n";
    let flows = fluid(text).flows();
    assert!(off(flows[0].fct_ns, 1.048e7 / 12.5 + 800_000.0 + 8_200.0) < 0.002, "{flows:?}");
}

/// What begins while its only path is down waits for it: a flow, and messages of a job.
#[test]
fn what_begins_without_a_path_waits_for_one() {
    let text = "topology = { kind = \"links\", hosts = 4, switches = 2, rate = \"100Gbps\", delay = \"1us\", \
                links = [{ a = 0, b = 4 }, { a = 1, b = 4 }, { a = 2, b = 5 }, { a = 3, b = 5 }, { a = 4, b = 5 }] }\n\
                congestion_control.algorithm = \"none\"\nrun.stop = \"100ms\"\n\
                failures.links = [{ time = \"100us\", until = \"300us\", a = 4, b = 5 }]\n";
    let flow = "traffic = [{ kind = \"flow\", src = 1, dst = 3, size = \"4MB\", start = \"200us\" }]\n";
    let ran = fluid(&(text.to_owned() + flow));
    assert!(ran.outcome == Ok(Outcome::Finished) && off(ran.flows()[0].fct_ns, 441_543.0) < 1e-4, "{:?}", ran.flows());
    let job = "traffic = [{ kind = \"collective\", operation = \"all_reduce\", size = \"1MB\", start = \"150us\" }]\n";
    let ran = fluid(&(text.to_owned() + job));
    let time = ran.rows::<JobRow>("jobs.csv")[0].time_ns.expect("over");
    assert!(ran.outcome == Ok(Outcome::Finished) && time > 150_000 && time < 450_000, "{time}");
}

/// What a flow has sent by its last moment has its ideal time.
#[test]
fn a_flow_that_is_stopped_has_the_ideal_time_of_what_it_has_sent() {
    let text = star(
        6,
        "traffic = [{ kind = \"flow\", src = 0, dst = 5, size = \"40MB\", stop = \"500us\" }, \
         { kind = \"flow\", src = 1, dst = 4, size = \"endless\", stop = \"300us\", rate = \"7Gbps\" }]\n",
    );
    let (fluid, packets) = (fluid(&text).flows(), packets(&text).flows());
    assert_eq!((fluid.len(), packets.len()), (2, 2));
    for (fluid, packets) in fluid.iter().zip(&packets) {
        for (fluid, packets) in
            [(fluid.size, packets.size), (fluid.fct_ns, packets.fct_ns), (fluid.ideal_ns, packets.ideal_ns)]
        {
            assert!(off(fluid, packets as f64) < 0.005, "{fluid} {packets}");
        }
    }
}

/// A flow that is over before its last moment takes no other one with it that has its place by then.
#[test]
fn who_is_over_before_its_last_moment_stops_nobody() {
    let text = star(
        3,
        "traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"100KB\", stop = \"500us\" }, \
         { kind = \"flow\", src = 1, dst = 2, size = \"10MB\", start = \"200us\" }]\n",
    );
    let flows = fluid(&text).flows();
    assert!(flows[1].size == 10_000_000 && flows[1].fct_ns == flows[1].ideal_ns, "{flows:?}");
}

#[test]
fn what_has_no_rates_is_refused_and_what_is_missing_is_told() {
    let flow = "traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"1MB\" }]\n";
    let storm = "failures.storms = [{ host = 1, time = \"1us\", until = \"2us\" }]\n";
    let refused = fluid(&star(2, &format!("{storm}{flow}")));
    assert!(refused.outcome == Err(Outcome::BadInput));
    let roce = "congestion_control.algorithm = \"none\"\n";
    let paced = fluid(&(star(2, "").replace(roce, "transport.kind = \"paced\"\n") + flow));
    assert!(paced.outcome == Err(Outcome::BadInput));
    let told = fluid(&star(2, &format!("monitor.queue_interval = \"1us\"\n{flow}"))).summary().notes;
    assert!(told.iter().any(|note| note.text.contains("queue.csv")), "{told:?}");
    let told = fluid(&star(2, &format!("run.skip = \"exact\"\n{flow}"))).summary().notes;
    assert!(told.iter().any(|note| note.text.contains("run.skip")), "{told:?}");
}

#[test]
fn a_comparison_with_packets_is_in_the_summary() {
    let text = star(4, "traffic = [{ kind = \"incast\", receiver = 3, senders = [0, 1, 2], size = \"1MB\" }]\n");
    let ran = fluid_with(&text, Some(Check { until: hpcc_core::units::Nanos(1 << 40) }));
    let error = ran.summary().measured_error.expect("an error");
    assert!(error.all.flows == 3 && error.all.of_p99.abs() < 0.02, "{error:?}");
}

/// Where no flow is over in both there is no error, rather than one of 0.
#[test]
fn nothing_to_compare_is_no_error() {
    let text = star(2, "traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"1MB\" }]\n");
    let ran = fluid_with(&text, Some(Check { until: hpcc_core::units::Nanos(1_000) }));
    assert!(ran.outcome == Ok(Outcome::Finished) && ran.summary().measured_error.is_none());
}

/// Two servers of four GPUs: each layer is in a server, copies of the model are not.
const SERVERS: &str = "topology = { kind = \"rails\", servers = 2, rails = 4, spines = 4, rate = \"100Gbps\", \
                       delay = \"1us\" }\nservers = { gpus = 4, rate = \"900Gbps\", latency = \"1us\" }\n\
                       congestion_control.algorithm = \"none\"\nrun.stop = \"1s\"\n";
const LAYERS: &str = "kind = \"transformer\", layers = 4, hidden = 512, feed_forward = 2048, sequence = 128, \
                      vocabulary = 1000, micro_batches = 4, tensor = 4, teraflops = 100.0, buckets = 2";

/// A timeline has all messages: with it collectives inside servers are not done as wholes.
fn with_all_messages(text: &str) -> Ran {
    fluid(&format!("monitor.timeline = true\n{text}"))
}

fn time(ran: &Ran) -> u64 {
    ran.rows::<JobRow>("jobs.csv")[0].time_ns.expect("it ends")
}

/// Collectives inside servers that are alone there are done as wholes: times are those of all messages.
#[test]
fn collectives_inside_servers_last_as_long_as_their_messages() {
    for own in ["", ", all_reduce = \"tree\", chunk = \"16KB\"", ", pipeline = 2"] {
        let text = format!("{SERVERS}traffic = [{{ {LAYERS}{own} }}]\n");
        let (whole, all) = (fluid(&text), with_all_messages(&text));
        assert!(off(time(&whole), time(&all) as f64) < 1e-3, "{own}: {} {}", time(&whole), time(&all));
        let sizes = |ran: &Ran| ran.flows().iter().map(|flow| flow.size).sum::<u64>();
        assert!(whole.flows().len() == all.flows().len() && sizes(&whole) == sizes(&all), "{own}");
        let [few, many] = [&whole, &all].map(|ran| ran.summary().events);
        assert!(few < many, "{own}: {few} of {many} events");
    }
}

/// Where they overlap, where ranks come late, or where other messages are in the servers, all messages are simulated.
#[test]
fn collectives_that_are_not_alone_in_their_server_are_no_wholes() {
    let alike = [
        format!("{SERVERS}traffic = [{{ {LAYERS}, slow_ranks = \"1\", slow_by = 3.0 }}]\n"),
        format!("{SERVERS}traffic = [{{ {LAYERS}, sequence_parallel = true, overlap_tensor = true }}]\n"),
        format!("{SERVERS}traffic = [{{ {LAYERS} }}, {{ {LAYERS} }}]\n"),
        format!("{SERVERS}traffic = [{{ {LAYERS} }}]\n").replace("tensor = 4", "tensor = 1, zero = 3"),
        format!("{SERVERS}traffic = [{{ {LAYERS} }}]\n").replace("tensor = 4", "tensor = 2, pipeline = 2"),
    ];
    for text in &alike {
        let (own, all) = (fluid(text), with_all_messages(text));
        assert_eq!((time(&own), own.summary().events), (time(&all), all.summary().events), "{text}");
    }
}

/// Messages of jobs are compared by their queue pairs, whatever numbers they have.
#[test]
fn messages_are_compared_with_the_same_ones_as_packets() {
    let text = format!("{SERVERS}traffic = [{{ {LAYERS} }}]\n");
    let ran = fluid_with(&text, Some(Check { until: hpcc_core::units::Nanos(1 << 40) }));
    let error = ran.summary().measured_error.expect("an error");
    assert!(error.all.flows == ran.flows().len() as u64, "{error:?}");
    assert!(error.all.p99 < 0.05, "{error:?}");
}
