// SPDX-License-Identifier: GPL-2.0-only
//! What a fluid run does not do: refused where results would be of another experiment, told where they lack something.

use hpcc_core::settings::Named;
use hpcc_core::transport::Entropy;
use hpcc_model::scenario::{Scenario, SkipMode};

/// Refuses what no rates stand for.
///
/// # Errors
/// The first such thing, with what to do.
pub fn refuse(scenario: &Scenario) -> Result<(), String> {
    let is_slow = scenario.settings.receivers().next().is_some();
    let is_paced = scenario.settings.host_transport.chosen().name() == "paced";
    let waits = scenario.link_failures.iter().any(|failure| failure.detection.0.max(failure.convergence.0) > 0);
    let wrong = [
        (waits, "failures that are noticed late (detection, convergence): nothing is lost"),
        (scenario.stack().is_some(), "TCP and UDP of ns-3's stack: expected transport.protocol = \"rdma\""),
        (is_paced, "transport.kind = \"paced\", whose hosts send at a rate of their own whatever comes of it"),
        (!scenario.attacks.is_empty(), "attacks, which forge and change packets"),
        (!scenario.storms.is_empty(), "NICs that pause without end: there are no pauses"),
        (!scenario.degraded.is_empty(), "links that are worse for a time"),
        (is_slow, "slow receivers, which pause or drop"),
    ];
    match wrong.iter().find(|(is_there, _)| *is_there) {
        Some((_, what)) => Err(format!("the fluid simulator has no {what}; use --simulator core")),
        None => Ok(()),
    }
}

/// What is to be known of the results.
pub fn told(scenario: &Scenario) -> Vec<String> {
    let algorithm = scenario.algorithm().name();
    let model = format!(
        "fluid: flows go at max-min fair rates, without packets, queues, marks, pauses and congestion control \
         ({algorithm} is not simulated): times are those of a control that shares links fairly and at once"
    );
    let files = unwritten(scenario);
    let files =
        (!files.is_empty()).then(|| format!("fluid: not written, for there are no packets: {}", files.join(", ")));
    let losses = scenario.default_loss > 0.0 || scenario.network.links.iter().any(|link| link.loss > 0.0);
    let losses = losses.then(|| "fluid: nothing is lost, though links have a loss".to_owned());
    let failures = (!scenario.link_failures.is_empty())
        .then(|| "fluid: when links fail, flows take other routes at once, and lose nothing".to_owned());
    let notices = scenario.has_fast_cnp().then(|| "fluid: nobody sends notifications (fast_cnp)".to_owned());
    let skips = (scenario.skip != SkipMode::Off)
        .then(|| format!("fluid: run.skip = \"{}\" does nothing, for there are no packets", scenario.skip.name()));
    [Some(model), spread(scenario), files, losses, failures, notices, skips].into_iter().flatten().collect()
}

/// Who spreads flows evenly in place of what.
fn spread(scenario: &Scenario) -> Option<String> {
    let settings = &scenario.settings;
    let scheme = settings.load_balancing.chosen();
    let by_state = !settings.load_balancing.keeps() && !["random", "oblivious"].contains(&scheme.name());
    let probes = settings.feedback.paths > 1 && settings.host_transport.is_queue_pairs();
    let what = if by_state {
        format!("load_balancing.scheme = \"{}\"", scheme.name())
    } else if !settings.host_transport.is_queue_pairs() {
        format!("the paths that {} chooses", settings.host_transport.chosen().name())
    } else if settings.transport.entropy != Entropy::Flow {
        format!("transport.entropy = \"{}\"", settings.transport.entropy.name())
    } else if probes {
        "the path that each flow chooses".into()
    } else {
        return None;
    };
    Some(format!("fluid: flows are spread evenly over all their shortest paths, in place of {what}"))
}

/// Files that are asked for.
fn unwritten(scenario: &Scenario) -> Vec<&'static str> {
    let monitor = &scenario.monitor;
    let asked = [
        (monitor.queue_histogram.is_some(), "qlen.txt"),
        (monitor.queue_interval.is_some(), "queue.csv"),
        (monitor.goodput_interval.is_some(), "goodput.csv"),
        (monitor.sent_interval.is_some(), "sent.csv"),
        (monitor.control_interval.is_some(), "control.csv"),
        (monitor.pauses, "pauses.csv"),
        (!monitor.trace_nodes.is_empty(), "packets.tr"),
        (!monitor.capture_nodes.is_empty(), "captures"),
    ];
    asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, name)| name).collect()
}
