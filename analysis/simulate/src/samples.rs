// SPDX-License-Identifier: GPL-2.0-only
//! What a run looks at time and again: queues, goodput, congestion control, progress.

use crate::fleet::{Paused, lock};
use crate::panel::panel;
use crate::pauses;
use crate::run::Run;
use crate::series::{Clock, SampleKind};
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::Nanos;
use hpcc_model::results::ResultWriter;
use hpcc_model::scenario::{QueueHistogram, Scenario};

/// Between two samples of the queues for statistics, where there is neither histogram nor time series.
const STATISTICS_INTERVAL: Nanos = Nanos::MICROSECOND;

/// Between two samples of the 2019 simulator's histogram.
const HISTOGRAM_INTERVAL: Nanos = Nanos(100);

/// Between two looks at the progress.
const PROGRESS_INTERVAL: Nanos = Nanos(10_000);

/// A switch whose queues are sampled.
pub(crate) struct SampledSwitch {
    pub node: u32,
    /// Place of its first port among all.
    first: usize,
    /// What samples, and the time series, know of its queues, and whether these have changed.
    known: [Vec<u32>; 2],
    pub is_new: [bool; 2],
}

impl Run {
    /// Takes the sample that is due. Returns whether another one is.
    pub(crate) fn sample(&mut self) -> bool {
        let Run {
            scenario,
            fleet,
            writer,
            flows,
            clock,
            progress,
            switches,
            sent,
            control_flows,
            is_watched,
            deadlock,
            ..
        } = self;
        let mut engine = fleet.pause();
        let mut writer = lock(writer);
        let what = clock.due();
        let now = engine.now();
        for node in engine.sampled_switches() {
            if let Ok(place) = switches.binary_search_by_key(&node, |switch| switch.node) {
                switches[place].is_new = [true; 2];
            }
        }
        // A program may start flows later: until it has, and for what records changes alone, to the end.
        let is_open = flows.seen.is_some();
        let mut runs = !flows.is_done() || is_open && flows.total == 0;
        let is_series = !matches!(what, SampleKind::Histogram | SampleKind::Statistics | SampleKind::Progress);
        runs |= is_open && is_series;
        let end = scenario.monitor.queue_histogram.as_ref().map_or(Nanos(0), |histogram| histogram.end);
        match what {
            SampleKind::Histogram => {
                sample_queues(switches, &engine, &mut writer);
                if now.0.is_multiple_of(QueueHistogram::PRINT_INTERVAL.0) {
                    writer.print_queues(now);
                }
                runs = now < end;
            }
            SampleKind::Statistics => sample_queues(switches, &engine, &mut writer),
            SampleKind::Queues => visit(switches, &engine, 1, |index, bytes| writer.queue_point(now, index, bytes)),
            SampleKind::Goodput => {
                engine.ask_flows();
                flows.ask_arrived(&mut engine);
                flows.trace_goodput(&engine, &mut writer);
            }
            // What is under way when flows are over leaves ports, too.
            SampleKind::Sent => {
                sent.record(now, &engine, &mut writer);
                runs |= engine.next_time().is_some();
            }
            SampleKind::Control => {
                engine.ask_flows();
                flows.trace_control(&engine, scenario, &mut writer, control_flows);
            }
            SampleKind::Progress => {
                if deadlock.is_none() {
                    *deadlock = pauses::deadlock(&mut engine).map(|found| (now, found));
                }
                if progress.is_due() {
                    engine.ask_flows();
                    let acked = flows.finished_bytes + flows.active_bytes(&engine);
                    let more = (*is_watched).then(|| panel(queues(switches, &engine), &flows.slowdowns));
                    progress.update(now.0, engine.events_run(), acked, flows.finished as u32, engine.waited(), more);
                }
            }
        }
        let is_idle = flows.is_idle();
        clock.advance(&mut engine, runs, |count| match what {
            // The program may do something before the engine does.
            _ if is_open => 0,
            // The last sample and one that is printed have to be taken.
            SampleKind::Histogram => {
                let to_print = QueueHistogram::PRINT_INTERVAL.0 - now.0 % QueueHistogram::PRINT_INTERVAL.0;
                let distance = (end.0 - now.0).min(to_print);
                let counted = count.min((distance - 1) / HISTOGRAM_INTERVAL.0);
                writer.repeat_queue_samples(counted);
                counted
            }
            SampleKind::Statistics => {
                writer.repeat_queue_samples(count);
                count
            }
            // Only changes are recorded.
            SampleKind::Queues | SampleKind::Sent | SampleKind::Progress => count,
            SampleKind::Goodput => {
                flows.skip_goodput(now, scenario.monitor.goodput_interval.unwrap_or_default(), count)
            }
            // Each flow in progress has a row, whether anything has changed or not.
            SampleKind::Control => {
                if is_idle {
                    count
                } else {
                    0
                }
            }
        })
    }
}

pub(crate) fn sampled_switches(network: &Network, writer: &mut ResultWriter) -> Vec<SampledSwitch> {
    let mut switches = Vec::new();
    for (node, ports) in network.ports().iter().enumerate() {
        if network.nodes[node] == NodeKind::Switch {
            let node = node as u32;
            let places: Vec<usize> = (1..=ports.len() as u32).map(|port| writer.add_queue(node, port)).collect();
            let first = places.first().copied().unwrap_or(0);
            switches.push(SampledSwitch {
                node,
                first,
                known: [0, 1].map(|_| vec![0; places.len()]),
                is_new: [false; 2],
            });
        }
    }
    switches
}

/// The samples of a run.
pub(crate) fn series(scenario: &Scenario, engine: &mut Paused<'_>, writer: &mut ResultWriter, first: Nanos) -> Clock {
    let monitor = &scenario.monitor;
    let mut clock = Clock::new(scenario.stop);
    let mut statistics = true;
    if let Some(histogram) = &monitor.queue_histogram {
        clock.add(engine, SampleKind::Histogram, histogram.start, HISTOGRAM_INTERVAL);
        // A histogram of one sample tells little, and nothing is added to it once it is printed.
        statistics = histogram.end <= histogram.start && histogram.start <= first;
    }
    if statistics {
        clock.add(engine, SampleKind::Statistics, first, monitor.queue_interval.unwrap_or(STATISTICS_INTERVAL));
    }
    if let Some(interval) = monitor.queue_interval {
        clock.add(engine, SampleKind::Queues, first, interval);
    }
    if let Some(interval) = monitor.goodput_interval {
        clock.add(engine, SampleKind::Goodput, first, interval);
    }
    if let Some(interval) = monitor.sent_interval {
        writer.begin_sent();
        clock.add(engine, SampleKind::Sent, first, interval);
    }
    if let Some(interval) = monitor.control_interval {
        writer.begin_control();
        clock.add(engine, SampleKind::Control, first, interval);
    }
    clock.add(engine, SampleKind::Progress, first, PROGRESS_INTERVAL);
    clock
}

/// All queues of switches: node, port counted from 1, and bytes.
fn queues(switches: &[SampledSwitch], engine: &Paused<'_>) -> Vec<(u32, u32, u64)> {
    let of_one = |switch: &SampledSwitch| {
        let node = switch.node;
        (1..).zip(engine.sampled_queues(node)).map(move |(port, &bytes)| (node, port, bytes.into()))
    };
    switches.iter().flat_map(of_one).collect()
}

fn sample_queues(switches: &mut [SampledSwitch], engine: &Paused<'_>, writer: &mut ResultWriter) {
    writer.begin_queue_samples();
    visit(switches, engine, 0, |index, bytes| writer.queue_sample(index, bytes));
}

/// Looks at the queues that have changed.
fn visit(switches: &mut [SampledSwitch], engine: &Paused<'_>, list: usize, mut look: impl FnMut(usize, u64)) {
    for switch in switches.iter_mut().filter(|switch| switch.is_new[list]) {
        switch.is_new[list] = false;
        for (place, (known, &bytes)) in
            switch.known[list].iter_mut().zip(engine.sampled_queues(switch.node)).enumerate()
        {
            if core::mem::replace(known, bytes) != bytes {
                look(switch.first + place, bytes.into());
            }
        }
    }
}
