// SPDX-License-Identifier: GPL-2.0-only
//! Each controller, with its defaults, lets a lone flow of more than 65,536 packets have its link, on paths that hold less than a
//! packet and on paths that hold thousands; and of two that share a link, each mark is accounted for.

use hpcc_core::cc;
use hpcc_model::results::{Summary, fct_csv};
use hpcc_tests::Bench;
use rayon::prelude::*;

/// A star of these links.
fn scenario(control: &str, (rate, delay): (&str, &str), flows: &str) -> String {
    format!(
        "run.stop = '2s'\ntopology = {{ kind = 'star', hosts = 3, rate = '{rate}', delay = '{delay}' }}\n\
         switch = {{ buffer = '1GB', ecn = true }}\n{control}\ntraffic = [ {flows} ]\n"
    )
}

const PATHS: [(&str, &str); 4] = [("10Gbps", "100ns"), ("100Gbps", "10us"), ("800Gbps", "3us"), ("400Gbps", "50us")];

fn wrong(control: &str, path: (&str, &str)) -> Vec<String> {
    let run = |flows| {
        let bench = Bench::new(&[("scenario.toml", &scenario(control, path, flows))]);
        let output = bench.simulate_core("scenario.toml", &[], "60");
        assert_eq!(output.code, Some(0), "{control}, {path:?}: {}", output.err);
        let flows = fct_csv::read(&bench.path("out/fct.csv")).unwrap_or_else(|error| panic!("{error}"));
        (flows, Summary::read(&bench.path("out/summary.json")).unwrap_or_else(|error| panic!("{error}")))
    };
    let (alone, _) = run("{ kind = 'flow', src = 0, dst = 1, size = '70MB' }");
    let (_, shared) = run("{ kind = 'incast', receiver = 0, sender_count = 2, size = '20MB' }");
    let slow = alone.iter().filter(|flow| flow.fct_ns > flow.ideal_ns / 10 * 11);
    let slow = slow.map(|flow| format!("{control}, {path:?}: {} ns in place of {}", flow.fct_ns, flow.ideal_ns));
    let Summary { marks, marks_heard, marks_merged, marks_lost, .. } = shared;
    let lost = (marks != marks_heard + marks_merged + marks_lost).then(|| {
        format!("{control}, {path:?}: of {marks} marks {marks_heard} heard, {marks_merged} merged, {marks_lost} lost")
    });
    slow.chain(lost).collect()
}

#[test]
fn a_lone_flow_has_its_link_however_long_that_is() {
    let controls =
        cc::all().into_iter().map(|algorithm| format!("congestion_control.algorithm = '{}'", algorithm.name()));
    // The shortest of these paths holds less than what a receiver of Ultra Ethernet waits for before it answers.
    let runs: Vec<_> = controls
        .flat_map(|control| PATHS.map(|path| (control.clone(), path)))
        .chain(PATHS[1..].iter().map(|&path| ("transport.kind = 'uec'".into(), path)))
        .collect();
    let wrong: Vec<String> = runs.into_par_iter().flat_map(|(control, path)| wrong(&control, path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
