// SPDX-License-Identifier: GPL-2.0-only
//! What a run amounts to.

use crate::fleet::Paused;
use crate::flows::Uncontrolled;
use crate::usage::{cpu_time, peak_rss_bytes};
use hpcc_core::attack::Attack;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_model::results::{AttackSummary, FastCnpSummary, Measured, Note, Summary, Versions};
use hpcc_model::scenario::Scenario;
use std::time::{Duration, Instant};

/// Notes for the user about the course of a run.
pub fn notes(
    engine: &Paused<'_>,
    measured: &Measured,
    uncontrolled: Uncontrolled,
    stopped: Option<&str>,
    end: Nanos,
    faults: ReferenceFaults,
) -> Vec<Note> {
    let early = stopped.map(|reason| {
        Note::new("early-end", format!("the run ended early, at {end}: {reason}. Results are of the time until then"))
    });
    let stood = measured.queue.max_bytes.saturating_mul(2) > engine.fabric().max_bdp();
    let uncontrolled = (uncontrolled.count > 0 && stood).then(|| {
        let text = format!(
            "{} flows, the first of them flow {}, never changed rate or window, though a queue stood and they took more than \
             twice as long as alone: they heard of no congestion, or waited at their own host, behind other flows or for a pause",
            uncontrolled.count, uncontrolled.first
        );
        Note::new("uncontrolled", text)
    });
    let unlike = if faults == ReferenceFaults::NONE { Vec::new() } else { unlike_the_reference(engine, measured) };
    early.into_iter().chain(uncontrolled).chain(unlike).collect()
}

/// Attackers that found nothing to send or to change.
pub fn harmless(engine: &Paused<'_>) -> Option<Note> {
    let idle = engine.attacks().filter(|attack| attack.sent() == 0 && attack.altered() == 0);
    let names = idle.map(|attack| {
        let settings = attack.settings();
        format!("{} at node {}", settings.kind.name(), settings.from)
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let text =
        || format!("attacks that sent no frame and changed none, so that the run shows nothing of them: {names}");
    (!names.is_empty()).then(|| Note::new("idle-attacks", text()))
}

/// What the 2019 simulator does otherwise in such a run, and is not repeated.
fn unlike_the_reference(engine: &Paused<'_>, measured: &Measured) -> Vec<Note> {
    /// Bytes of a port's queues in the 2019 simulator.
    const QUEUES: u64 = 1_000 << 20;
    let own = engine.totals().resumes_by_own_port;
    let twice = (own > 0).then(|| {
        format!(
            "{own} times a frame left by the port it had come in by and ended a pause there: from the first of these on the \
             reference sends twice as fast by that port, and its results are others"
        )
    });
    let long = (measured.queue.max_bytes > QUEUES).then(|| {
        format!(
            "queues of a port were longer than {QUEUES} bytes: the 2019 simulator drops what comes then, and its results \
             are others"
        )
    });
    let twice = twice.map(|text| Note::new("port-sends-twice", text));
    twice.into_iter().chain(long.map(|text| Note::new("long-queue", text))).collect()
}

/// The summary of a run that began its set-up at `start` and its simulation after `setup` of processor time.
pub fn summary(
    scenario: &Scenario,
    engine: &Paused<'_>,
    measured: &Measured,
    notes: &[Note],
    stopped: Option<&str>,
    end: Nanos,
    (start, setup): (Instant, Duration),
) -> Summary {
    let run_cpu_s = cpu_time().saturating_sub(setup).as_secs_f64();
    let packet_hops = engine.packet_hops();
    let mut effective = scenario.effective();
    let notes: Vec<Note> = scenario.remarks().chain(notes.iter().cloned()).collect();
    effective["notes"] = notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().into();
    Summary {
        scenario: effective,
        stopped: stopped.map(Into::into),
        seed: scenario.seed,
        versions: Versions { hpcc: env!("CARGO_PKG_VERSION").into(), ns3: "none".into() },
        flows_total: scenario.flows.totals.count,
        flows_finished: measured.flows_finished,
        base_rtt_ns: engine.fabric().max_rtt().0,
        simulated_ns: end.0,
        events: engine.events_run(),
        packet_hops,
        setup_cpu_s: setup.as_secs_f64(),
        run_cpu_s,
        wall_s: start.elapsed().as_secs_f64(),
        peak_rss_bytes: peak_rss_bytes(),
        ns_per_packet_hop: run_cpu_s * 1e9 / packet_hops.max(1) as f64,
        queue_p99_bytes: measured.queue.p99_bytes,
        queue_max_bytes: measured.queue.max_bytes,
        queue_busiest: measured.queue.busiest.filter(|_| measured.queue.max_bytes > 0),
        pfc_pauses: measured.pfc_pauses,
        pfc_pause_ns: measured.pfc_paused.0,
        fast_cnp: scenario.has_fast_cnp().then(|| FastCnpSummary::of(engine.notice_totals())),
        attacks: engine.attacks().map(attack).collect(),
        notes,
        assumed: scenario.assumed.clone(),
        groups: scenario.flows.groups.clone(),
        // Format and files are the writer's to fill in.
        ..Summary::default()
    }
    .counted(scenario, engine.totals(), engine.host_counters())
}

fn attack(attack: &Attack) -> AttackSummary {
    AttackSummary {
        kind: attack.settings().kind.name().into(),
        from: attack.settings().from,
        frames_sent: attack.sent(),
        frames_altered: attack.altered(),
    }
}
