// SPDX-License-Identifier: GPL-2.0-only
//! Periods that a run leaves out, and what is said where it leaves out none.

use crate::fleet::Paused;
use hpcc_core::engine::{Engine, Skipped};
use hpcc_core::settings::Named;
use hpcc_model::results::{Note, SkipSummary};
use hpcc_model::scenario::{EventOrder, Monitor, Scenario, SkipMode};

/// Who simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// One engine, whom nobody drives.
    Alone,
    /// Several threads or processes.
    Several,
    /// A program beside it, such as ns-3.
    Program,
}

/// An engine leaves out periods, if the scenario says so and nobody looks at what is between them.
pub(crate) fn skip(scenario: &Scenario, engine: &mut Engine, why_not: Option<&str>) {
    if scenario.skip != SkipMode::Off && why_not.is_none() {
        engine.skip_periods(scenario.stop, scenario.skip == SkipMode::Eager);
    }
}

/// Why nothing may be left out: what the run records, or who else takes part.
pub(crate) fn why_not(scenario: &Scenario, company: Company) -> Option<&'static str> {
    let Monitor { goodput_interval, sent_interval, control_interval, trace_nodes, capture_nodes, .. } =
        &scenario.monitor;
    let reasons = [
        (company == Company::Several, "several threads or processes share the run"),
        (company == Company::Program, "a program takes part, such as ns-3"),
        (scenario.order == EventOrder::Insertion, "run.order is \"insertion\", in which nothing is known to recur"),
        (goodput_interval.is_some(), "monitor.goodput_interval looks at flows in between"),
        (sent_interval.is_some(), "monitor.sent_interval looks at ports in between"),
        (control_interval.is_some(), "monitor.control_interval looks at flows in between"),
        (!trace_nodes.is_empty(), "monitor.trace_nodes lists each packet"),
        (!capture_nodes.is_empty(), "monitor.capture_nodes has each packet"),
    ];
    reasons.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why)
}

/// What was left out.
pub(crate) fn summary(scenario: &Scenario, engine: &mut Paused<'_>, why_not: Option<&str>) -> Option<SkipSummary> {
    if scenario.skip == SkipMode::Off {
        return None;
    }
    let Skipped { events, time, periods, leaps, tries, refusal } = engine.whole().skipped();
    // What ended a try is of no interest where others have found something.
    let refusal = why_not.or(refusal.filter(|_| leaps == 0)).map(Into::into);
    Some(SkipSummary { events, time_ns: time.0, periods, leaps, tries, refusal })
}

/// What is said where nothing was left out, though it might have been.
pub(crate) fn note(mode: SkipMode, skipped: &SkipSummary) -> Option<Note> {
    let why = match (&skipped.refusal, skipped.tries) {
        _ if skipped.leaps > 0 => return None,
        (Some(why), _) => why.clone(),
        (None, 0) => "the run is too short to look for periods".to_owned(),
        (None, 1) => "no period was found in 1 try".to_owned(),
        (None, tries) => format!("no period was found in {tries} tries"),
    };
    Some(Note::new("no-skips", format!("run.skip = \"{}\" left out nothing: {why}", mode.name())))
}

#[cfg(test)]
mod tests {
    use crate::run::{How, run};
    use hpcc_model::results::Summary;

    /// Two hosts and a flow that repeats itself, with more lines.
    fn summary(more: &str, threads: u32) -> Summary {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("scenario.toml");
        let text = format!(
            "topology = {{ kind = \"leaf_spine\", leaves = 2, spines = 1, hosts_per_leaf = 1, rate = \"100Gbps\", delay = \"1us\" }}\n\
             traffic = [{{ kind = \"flow\", src = 0, dst = 1, size = \"5MB\" }}]\nrun.stop = \"1ms\"\nrun.skip = \"eager\"\n{more}"
        );
        std::fs::write(&file, text).expect("a file");
        let scenario = hpcc_formats::load(&file, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
        let out = folder.path().join("out");
        let outcome = run(scenario, &out, How { is_quiet: true, is_watched: false, threads });
        assert!(outcome.is_ok(), "{more}");
        Summary::read(&out.join("summary.json")).expect("a summary")
    }

    fn notes(summary: &Summary) -> Vec<&str> {
        summary.notes.iter().filter(|note| note.id == "no-skips").map(|note| note.text.as_str()).collect()
    }

    /// A flow at the link's rate that drifts by parts of a nanosecond does not repeat itself.
    const STEADY: &str = "congestion_control.algorithm = \"none\"\nwire.exact_rates = false\n";

    #[test]
    fn what_is_left_out_needs_no_note() {
        let run = summary(STEADY, 1);
        assert!(run.skipped.as_ref().is_some_and(|skipped| skipped.leaps > 0) && notes(&run).is_empty(), "{run:?}");
    }

    #[test]
    fn where_nothing_is_left_out_a_note_says_why() {
        let cases = [
            ("", 1, "a congestion control"),
            (STEADY, 2, "threads"),
            ("congestion_control.algorithm = \"none\"\nrun.order = \"insertion\"\n", 1, "run.order"),
            ("congestion_control.algorithm = \"none\"\nmonitor.goodput_interval = \"10us\"\n", 1, "goodput_interval"),
            ("congestion_control.algorithm = \"none\"\nmonitor.sent_interval = \"10us\"\n", 1, "sent_interval"),
            ("congestion_control.algorithm = \"none\"\nmonitor.control_interval = \"10us\"\n", 1, "control_interval"),
            ("congestion_control.algorithm = \"none\"\nmonitor.trace_nodes = [0]\n", 1, "trace_nodes"),
            (
                "congestion_control.algorithm = \"none\"\nmonitor.capture_nodes = [0]\nwire.profile = \"rocev2_ipv6\"\n",
                1,
                "capture_nodes",
            ),
        ];
        for (more, threads, why) in cases {
            let run = summary(more, threads);
            assert!(run.skipped.as_ref().is_some_and(|skipped| skipped.leaps == 0), "{more}");
            assert!(notes(&run)[..].iter().any(|note| note.contains(why)), "{more}: {:?}", run.notes);
        }
    }
}
