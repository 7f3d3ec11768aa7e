// SPDX-License-Identifier: GPL-2.0-only
//! What is worth saying of scenarios that can run: `run` shows it as notes, `./hpcc check` lists it.
//!
//! A lint is a function of a scenario and of what one pass over its flows has counted. To add one, write the function and
//! list it in [`LINTS`].

mod crowded;
mod hops;
mod long_jobs;
mod pass;
mod settings;
mod short_rtt;
mod starved;
mod traffic;
mod trimming;
mod unheard;

pub use long_jobs::AS_PACKETS;
pub(crate) use pass::Pass;

use crate::scenario::{Finding, Level, Scenario};

/// Something to look for.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    /// Its name.
    pub id: &'static str,
    /// How much a finding matters.
    pub level: Level,
    run: fn(&Scenario, &Pass) -> Vec<String>,
}

const fn warning(id: &'static str, run: fn(&Scenario, &Pass) -> Vec<String>) -> Lint {
    Lint { id, level: Level::Warning, run }
}

const fn note(id: &'static str, run: fn(&Scenario, &Pass) -> Vec<String>) -> Lint {
    Lint { id, level: Level::Note, run }
}

/// All lints.
pub static LINTS: [Lint; 28] = [
    warning("no-flows", traffic::no_flows),
    warning("late-flows", traffic::late_flows),
    note("long-job", long_jobs::long_jobs),
    warning("idle-attack", traffic::idle_attacks),
    warning("idle-failure", traffic::idle_failures),
    note("shared-class", traffic::shared_class),
    warning("legacy-feedback", traffic::legacy_feedback),
    warning("unacknowledged-end", traffic::unacknowledged_ends),
    note("least-rates", traffic::least_rates),
    note("starved-flows", traffic::starved_flows),
    warning("short-base-rtt", traffic::short_base_rtt),
    warning("unheard-senders", traffic::unheard_senders),
    note("overbooked", traffic::overbooked),
    warning("long-path", traffic::long_paths),
    warning("unseen-path-change", settings::unseen_path_changes),
    note("scattered-records", settings::scattered_records),
    warning("restarted-averages", settings::restarted_averages),
    note("late-packets", settings::late_packets),
    note("loss-without-timeout", settings::loss_without_timeout),
    note("unread-signal", settings::unread_signal),
    warning("stripped-telemetry", settings::stripped_telemetry),
    warning("held-up-acks", settings::held_up_acks),
    warning("coarse-telemetry", settings::coarse_telemetry),
    note("rounded-times", settings::rounded_times),
    note("empty-histogram", settings::empty_histogram),
    warning("long-cuts", trimming::long_cuts),
    warning("full-of-cuts", trimming::full_of_cuts),
    warning("waiting-headers", trimming::waiting_headers),
];

/// The findings of all lints.
pub(crate) fn findings(scenario: &Scenario, pass: &Pass) -> Vec<Finding> {
    let of = |lint: &Lint| {
        let (id, level) = (lint.id, lint.level);
        (lint.run)(scenario, pass).into_iter().map(move |message| Finding { id, level, message })
    };
    LINTS.iter().flat_map(of).collect()
}
