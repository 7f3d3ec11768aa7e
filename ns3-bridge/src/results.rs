// SPDX-License-Identifier: GPL-2.0-only
//! The output folder of a run, as the ns-3 program fills it.

use crate::fast_cnp;
use crate::ffi::{FlowOutcome, RunTotals};
use crate::goodput::GoodputMeter;
use crate::scenario::Scenario;
use crate::switch::Switch;
use crate::usage::{cpu_time, peak_rss_bytes};
use cxx::CxxString;
use hpcc_core::transport::CongestionNotification;
use hpcc_core::units::Nanos;
use hpcc_formats::results::{FctRecord, ResultWriter, Summary, UnfinishedFlow, Versions};
use std::path::Path;
use std::time::{Duration, Instant};

pub struct Results {
    /// `None` once the folder is closed, or if it could not be opened.
    writer: Option<ResultWriter>,
    error: String,
    goodput: GoodputMeter,
    start: Instant,
    setup_cpu: Duration,
}

pub fn create_results(out: &CxxString) -> Box<Results> {
    let start = Instant::now();
    let created = ResultWriter::create(Path::new(out.to_string_lossy().as_ref()));
    let error = created.as_ref().err().map(ToString::to_string).unwrap_or_default();
    Box::new(Results {
        writer: created.ok(),
        error,
        goodput: GoodputMeter::default(),
        start,
        setup_cpu: Duration::ZERO,
    })
}

impl Results {
    pub fn writer_mut(&mut self) -> Option<&mut ResultWriter> {
        self.writer.as_mut()
    }

    pub fn error(&self) -> String {
        self.error.clone()
    }

    pub fn begin_run(&mut self) {
        self.setup_cpu = cpu_time();
    }

    pub fn add_queues(&mut self, node: u32, ports: u16) -> usize {
        let Some(writer) = &mut self.writer else { return 0 };
        let indices: Vec<usize> = (1..=u32::from(ports)).map(|port| writer.add_queue(node, port)).collect();
        indices.first().copied().unwrap_or(0)
    }

    pub fn sample_queues(&mut self, first: usize, source: &Switch, ports: u16) {
        let Some(writer) = &mut self.writer else { return };
        for port in 0..ports {
            writer.queue_sample(first + usize::from(port), source.queued(port).into());
        }
    }

    pub fn repeat_samples(&mut self, count: u64) {
        let Some(writer) = &mut self.writer else { return };
        writer.repeat_queue_samples(count);
    }

    pub fn trace_queues(&mut self, now_ns: u64, first: usize, source: &Switch, ports: u16) {
        let Some(writer) = &mut self.writer else { return };
        for port in 0..ports {
            writer.queue_point(Nanos(now_ns), first + usize::from(port), source.queued(port).into());
        }
    }

    pub fn print_queues(&mut self, now_ns: u64) {
        let Some(writer) = &mut self.writer else { return };
        writer.print_queues(Nanos(now_ns));
    }

    pub fn trace_goodput(&mut self, now_ns: u64, flow: u32, acked_bytes: u64) {
        let (Some(writer), Some(rate)) = (&mut self.writer, self.goodput.advance(Nanos(now_ns), flow, acked_bytes))
        else {
            return;
        };
        writer.goodput(Nanos(now_ns), flow, rate);
    }

    pub fn pfc(&mut self, now_ns: u64, node: u32, is_switch: bool, port: u32, pause: bool) {
        let Some(writer) = &mut self.writer else { return };
        writer.pfc(Nanos(now_ns), node, is_switch, port, pause);
    }

    pub fn flow_finished(&mut self, outcome: &FlowOutcome) {
        let flow = &outcome.flow;
        self.goodput.forget(flow.index);
        let Some(writer) = &mut self.writer else { return };
        writer.flow_finished(&FctRecord {
            flow: flow.index,
            src: flow.src,
            dst: flow.dst,
            sport: outcome.sport,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size_bytes,
            start_ns: flow.start_ns,
            fct_ns: outcome.fct_ns,
            ideal_ns: outcome.ideal_ns,
        });
    }

    pub fn flow_unfinished(&mut self, outcome: &FlowOutcome) {
        let Some(writer) = &mut self.writer else { return };
        let flow = &outcome.flow;
        writer.flow_unfinished(&UnfinishedFlow {
            flow: flow.index,
            src: flow.src,
            dst: flow.dst,
            sport: outcome.sport,
            dport: flow.dport,
            priority: flow.priority,
            size: flow.size_bytes,
            start_ns: flow.start_ns,
            acked_bytes: outcome.acked_bytes,
        });
    }

    pub fn begin_capture(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        writer.begin_capture();
    }

    pub fn capture(&mut self, now_ns: u64, frame: &[u8]) {
        let Some(writer) = &mut self.writer else { return };
        writer.capture(Nanos(now_ns), frame);
    }

    pub fn flows_completed(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        writer.flows_completed();
    }

    pub fn finish(&mut self, scenario: &Scenario, totals: &RunTotals) -> String {
        let Some(mut writer) = self.writer.take() else { return self.error.clone() };
        let scenario = scenario.get();
        let measured = writer.measured(Nanos(totals.simulated_ns));
        let run_cpu_s = cpu_time().saturating_sub(self.setup_cpu).as_secs_f64();
        let summary = Summary {
            scenario: scenario.effective(),
            seed: scenario.seed,
            versions: Versions { hpcc: env!("CARGO_PKG_VERSION").into(), ns3: totals.ns3_version.clone() },
            build_profile: totals.build_profile.clone(),
            flows_total: scenario.flows.totals.count,
            flows_finished: measured.flows_finished,
            base_rtt_ns: totals.base_rtt_ns,
            simulated_ns: totals.simulated_ns,
            events: totals.events,
            packet_hops: totals.packet_hops,
            setup_cpu_s: self.setup_cpu.as_secs_f64(),
            run_cpu_s,
            wall_s: self.start.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            ns_per_packet_hop: run_cpu_s * 1e9 / totals.packet_hops.max(1) as f64,
            queue_p99_bytes: measured.queue.p99_bytes,
            queue_max_bytes: measured.queue.max_bytes,
            queue_busiest: measured.queue.busiest,
            pfc_pauses: measured.pfc_pauses,
            pfc_pause_ns: measured.pfc_paused.0,
            drops: totals.drops,
            losses: totals.losses,
            resent_packets: totals.hosts.resent,
            timeouts: totals.hosts.timeouts,
            telemetry_bytes: totals.telemetry_bytes,
            probes: totals.hosts.probes,
            feedback_packets: totals.hosts.feedback,
            rejected_feedback: totals.hosts.rejected_feedback,
            rearmed_feedback: totals.hosts.rearmed_feedback,
            path_moves: totals.hosts.moves,
            cnps: (scenario.transport().notification == CongestionNotification::Packet).then_some(totals.hosts.cnps),
            fast_cnp: totals.fast_cnp_on.then(|| fast_cnp::summary(&totals.fast_cnp)),
        };
        writer.finish(&summary).err().map(|error| error.to_string()).unwrap_or_default()
    }
}
