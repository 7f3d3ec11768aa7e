// SPDX-License-Identifier: GPL-2.0-only
//! A network under way: the engine's turn, and what faces ask it.

use super::{Network, ffi};
use crate::frame::ffi::Frame;
use crate::settings::Settings;
use hpcc_core::attack::{Attack, AttackSettings};
use hpcc_core::engine::{self, FlowOptions, FlowRequest, NoticeTotals, Stop};
use hpcc_core::settings::{Input, SettingError, Settings as _};
use hpcc_core::switch::FlowKey;
use hpcc_core::transport::Counters;
use hpcc_core::units::{BitRate, Nanos};

/// `hpcc_core::engine::ControlState`.
pub fn control_state(state: &engine::ControlState) -> ffi::ControlState {
    ffi::ControlState {
        rate_bps: state.rate.0,
        window_bytes: state.window,
        in_flight_bytes: state.in_flight,
        utilisation: state.utilisation.unwrap_or(f64::NAN),
        bottleneck: state.bottleneck.map_or(-1, i16::from),
        is_steered: state.is_steered,
    }
}

/// A flow that has finished.
pub fn flow_end(flow: &engine::Completion) -> ffi::FlowEnd {
    ffi::FlowEnd { id: flow.request.id, size_bytes: flow.request.size, is_steered: flow.is_steered }
}

/// Settings of an attack that a program says otherwise: the node, and names that its flows do not have.
const OF_FILES: [&str; 2] = ["from", "traffic"];

/// The settings of a program's attack.
fn attack_settings(node: u32, entries: &[ffi::AttackEntry]) -> Result<AttackSettings, String> {
    let mut settings = AttackSettings { from: node, ..AttackSettings::default() };
    let known = settings.list();
    for ffi::AttackEntry { key, value } in entries {
        let setting = known.iter().find(|setting| setting.key == key && OF_FILES.iter().all(|other| other != key));
        let setting = setting.ok_or_else(|| format!("an attack of a program has no setting {key}"))?;
        let input = Input::parse(setting, value).map_err(|wrong| format!("{key}: {wrong}"))?;
        settings.set(setting.key, input).map_err(|wrong| match wrong {
            SettingError::Unknown => format!("an attack has no setting {key}"),
            SettingError::Value(message) => format!("{key}: {message}"),
        })?;
    }
    let given = |key: &str| entries.iter().any(|entry| entry.key == key);
    let idle = known.iter().filter(|setting| given(setting.key)).find_map(|setting| setting.idle(&settings));
    idle.map_or(Ok(settings), Err)
}

impl Network {
    /// Runs all that happens before a time, unless something is to be told.
    pub fn run(&self, until_ns: u64) -> ffi::Pause {
        match self.engine().run_until(Nanos(until_ns)) {
            Stop::Time => ffi::Pause::Time,
            Stop::Completion | Stop::Routes => ffi::Pause::Completion,
            Stop::Sample => ffi::Pause::Sample,
            Stop::Fault => ffi::Pause::Fault,
        }
    }

    pub fn advance(&self, now_ns: u64) {
        self.engine().advance(Nanos(now_ns));
    }

    /// The engine's present time.
    pub fn now_ns(&self) -> u64 {
        self.engine().now().0
    }

    pub fn next_ns(&self) -> u64 {
        self.engine().next_time().map_or(u64::MAX, |next| next.0)
    }

    /// Why the run cannot go on; empty if it can.
    pub fn take_fault(&self) -> String {
        self.engine().take_fault().unwrap_or_default()
    }

    pub fn events(&self) -> u64 {
        self.engine().events_run()
    }

    pub fn packet_hops(&self) -> u64 {
        self.engine().packet_hops()
    }

    pub fn start_flow(&self, flow: &ffi::FlowStart) -> ffi::FlowStarted {
        let &ffi::FlowStart { id, src, dst, dport, priority, size_bytes, nic, most_bps, stop_ns, control } = flow;
        let none = FlowOptions::NONE;
        let options = FlowOptions {
            nic: u8::try_from(nic).ok(),
            rate: if most_bps > 0 { BitRate(most_bps) } else { none.rate },
            stop: if stop_ns > 0 { Nanos(stop_ns) } else { none.stop },
            control: u16::try_from(control).ok(),
        };
        let request = FlowRequest { id, src, dst, dport, priority, size: size_bytes, start: Nanos(0), options };
        let started = self.engine().start_now(request);
        started.map_or_else(ffi::FlowStarted::default, |started| ffi::FlowStarted {
            present: true,
            sport: started.sport,
            queue_pair: started.queue_pair,
            first_seq: started.first_seq,
        })
    }

    pub fn stop_flow(&self, host: u32, queue_pair: u32) -> bool {
        self.engine().stop_now(host, queue_pair)
    }

    /// Takes the flows that have finished since the last call.
    pub fn take_ended(&self) -> Vec<ffi::FlowEnd> {
        self.engine().take_completed().iter().map(flow_end).collect()
    }

    pub fn watch_port(&self, node: u32, port: u16) {
        self.engine().watch_port(node, port);
    }

    pub fn watch_node(&self, node: u32) {
        self.engine().watch_node(node);
    }

    pub fn measure_rtts(&self) {
        self.engine().measure_rtts();
    }

    pub fn lose(&self, ports: &[u32], seed: u32, stream: u64, probability: f64) {
        let ports: Vec<(u32, u16)> = ports.chunks_exact(2).map(|port| (port[0], port[1] as u16)).collect();
        self.engine().lose(&ports, (seed, stream), probability);
    }

    pub fn port_state(&self, node: u32, port: u16) -> ffi::PortState {
        let engine = self.engine();
        let (state, counts) = (engine.port(node, port), engine.port_counts(node, port));
        ffi::PortState {
            queued: state.queued.into(),
            paused: state.paused,
            is_up: state.is_up,
            frames: counts.frames,
            telemetry_bytes: counts.telemetry_bytes,
            losses: counts.losses,
        }
    }

    pub fn queued(&self, node: u32, port: u16, queue: u8) -> u64 {
        self.engine().queued(node, port, queue)
    }

    pub fn accounted(&self, node: u32, port: u16) -> u32 {
        self.engine().accounted(node, port)
    }

    pub fn sent(&self, node: u32, port: u16) -> u64 {
        self.engine().sent(node, port)
    }

    pub fn switch_counters(&self, node: u32) -> ffi::SwitchCounters {
        let engine::SwitchCounts { overflows, link_drops, unroutable, expired, marks } =
            self.engine().switch_counts(node);
        ffi::SwitchCounters { overflows, link_drops, unroutable, expired, marks }
    }

    pub fn host_counters(&self, node: u32) -> ffi::HostCounters {
        let Counters {
            resent,
            timeouts,
            probes,
            feedback,
            rejected,
            baseline_resets,
            moves,
            cnps,
            refused,
            marks_merged,
            marks_untold,
            marks_heard,
            trims_heard,
            receive,
        } = self.engine().counters(node);
        ffi::HostCounters {
            resent,
            timeouts,
            probes,
            feedback,
            rejected_by_seal: rejected.by_seal,
            rejected_by_guard: rejected.by_guard,
            baseline_resets,
            cnps,
            unsent_acks: refused.unsent,
            unasked_cnps: refused.unasked,
            marks_merged,
            marks_heard,
            unsealed_answers: refused.unsealed,
            moves,
            receive_dropped: receive.dropped,
            receive_pauses: receive.pauses,
            marks_untold,
            trims_heard,
        }
    }

    pub fn fast_cnp_counters(&self, node: u32) -> ffi::FastCnpCounters {
        let NoticeTotals { sent, accepted, refused, migrations, reports, dropped_inbound, dropped_outbound, .. } =
            self.engine().notices_of(node);
        let dropped = dropped_inbound + dropped_outbound;
        ffi::FastCnpCounters { sent, dropped, accepted, refused, migrations, reports }
    }

    pub fn control(&self, host: u32, queue_pair: u32) -> ffi::ControlState {
        control_state(&self.engine().control(host, queue_pair))
    }

    pub fn acked(&self, host: u32, queue_pair: u32, first_seq: u64) -> u64 {
        self.engine().acked(host, queue_pair, first_seq)
    }

    pub fn sent_end(&self, host: u32, queue_pair: u32) -> u64 {
        self.engine().sent_end(host, queue_pair)
    }

    pub fn knows(&self, host: u32, queue_pair: u32) -> bool {
        self.engine().knows(host, queue_pair)
    }

    pub fn room(&self) -> usize {
        self.engine().room()
    }

    pub fn port_to(&self, host: u32, key: &ffi::FlowKey, dst: u32) -> i32 {
        let &ffi::FlowKey { src_address, dst_address, sport, dport } = key;
        let key = FlowKey { src_address, dst_address, sport, dport };
        self.engine().port_to(host, &key, dst).map_or(-1, i32::from)
    }

    pub fn send_frame(&self, node: u32, port: u16, queue: u8, frame: &Frame, section: &[u8]) -> u32 {
        self.engine().send_frame(node, port, queue, &frame.into(), section).0
    }

    pub fn share_ports(&self, host: u32, percent: u8) {
        self.engine().share_ports(host, percent);
    }

    pub fn send_by_switch(&self, node: u32, frame: &Frame, section: &[u8]) {
        self.engine().send_by_switch(node, &frame.into(), section);
    }

    pub fn pause(&self, node: u32, port: u16, priority: u8, pause: bool) {
        self.engine().pause(node, port, priority, pause);
    }

    pub fn attack(&self, node: u32, entries: &[ffi::AttackEntry], host: &Settings) -> Result<u32, String> {
        let settings = attack_settings(node, entries)?;
        let attack = Attack::new(&settings, &self.network, &host.node, None);
        let attack = attack.map_err(|wrong| format!("{}: {}", wrong.key, wrong.message))?;
        Ok(self.engine().attack(attack))
    }

    pub fn end_attack(&self, attack: u32) {
        self.engine().end_attack(attack);
    }

    pub fn attack_counters(&self, attack: u32) -> ffi::AttackCounters {
        let engine = self.engine();
        let found = engine.attacks().nth(attack as usize);
        found.map_or_else(ffi::AttackCounters::default, |attack| ffi::AttackCounters {
            sent: attack.sent(),
            altered: attack.altered(),
        })
    }
}
