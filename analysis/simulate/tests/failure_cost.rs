// SPDX-License-Identifier: GPL-2.0-only
//! `--failure-cost`: against what a link that is down for a known time costs.

use hpcc_formats::load;
use hpcc_model::results::{FailureCost, Summary};
use hpcc_simulate::{How, Outcome, run, run_both};
use std::fs;

const RULES: &str = "run.stop = \"1s\"\ntransport.mtu = 1000\ncongestion_control.algorithm = \"none\"\n\
    topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", delay = \"1us\" }\n";

/// The outcome, and what the summary says.
fn both(text: &str, file: &str) -> (Result<Outcome, Outcome>, Option<FailureCost>) {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("a.goal"), file).expect("written");
    let config = folder.path().join("a.toml");
    fs::write(&config, format!("{RULES}{text}")).expect("written");
    let scenario = load(&config, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let (out, how) = (folder.path().join("out"), How { is_quiet: true, is_watched: false, threads: 1 });
    let outcome = run_both(scenario, &out, |scenario, out| run(scenario, out, how));
    let summary = Summary::read(&out.join("summary.json")).ok();
    assert!(outcome.is_err() || folder.path().join("out-without-failures/summary.json").exists());
    (outcome, summary.and_then(|summary| summary.failure_cost))
}

const JOB: &str = "num_ranks 2\nrank 0 {\nc: calc 200000\ns: send 100000b to 1 tag 0\ns requires c\n}\nrank 1 {\nr: recv 100000b from 0 tag 0\n}\n";
const TRAFFIC: &str = "traffic = [{ kind = \"goal\", path = \"a.goal\" }]\n";

/// The link fails while the rank computes, and is there again after the message would have left: the job takes as much longer as the
/// message waits, and all of that is exposed: for both ranks.
#[test]
fn a_message_that_waits_for_its_link_costs_its_wait() {
    let text = format!("{TRAFFIC}failures.links = [{{ time = \"100us\", until = \"500us\", a = 0, b = 2 }}]\n");
    let (outcome, cost) = both(&text, JOB);
    let cost = cost.expect("a cost");
    let job = &cost.jobs[0];
    assert_eq!((outcome, cost.flows.is_none()), (Ok(Outcome::Finished), true));
    assert_eq!((job.cost_ns, job.exposed_ns), (Some(300_000), Some(300_000)), "{cost:?}");
    assert_eq!(job.time_ns.zip(job.without_ns).map(|(time, without)| time - without), Some(300_000));
}

/// A failure that is over before anything leaves costs nothing; one without an end costs the end; and without any there is no cost.
#[test]
fn failures_that_matter_to_nobody_cost_nothing() {
    let early = format!("{TRAFFIC}failures.links = [{{ time = \"10us\", until = \"100us\", a = 0, b = 2 }}]\n");
    let cost = both(&early, JOB).1.expect("a cost");
    assert_eq!((cost.jobs[0].cost_ns, cost.jobs[0].exposed_ns), (Some(0), Some(0)));
    let (outcome, cost) = both(&format!("{TRAFFIC}failures.links = [{{ time = \"10us\", a = 0, b = 2 }}]\n"), JOB);
    let job = cost.expect("a cost").jobs.remove(0);
    assert!(outcome == Ok(Outcome::Unfinished) && job.cost_ns.is_none() && job.without_ns.is_some(), "{job:?}");
    assert_eq!(both(TRAFFIC, JOB), (Err(Outcome::BadInput), None));
}

/// Flows beside jobs: two of them, of which one begins while its link is down.
#[test]
fn flows_cost_on_average_and_at_most() {
    let flow = |start: u32| format!("{{ kind = \"flow\", src = 0, dst = 1, size = \"10kB\", start = \"{start}us\" }}");
    let text = format!(
        "traffic = [{}, {}]\nfailures.links = [{{ time = \"100us\", until = \"500us\", a = 0, b = 2 }}]\n",
        flow(0),
        flow(300)
    );
    let cost = both(&text, "").1.expect("a cost");
    let flows = cost.flows.expect("flows");
    assert_eq!((flows.both, flows.most_ns, flows.mean_ns, flows.unfinished), (2, 200_000, 100_000.0, 0), "{flows:?}");
    assert!(cost.jobs.is_empty());
}
