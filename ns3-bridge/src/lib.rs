// SPDX-License-Identifier: GPL-2.0-only
//! The bridge between the Rust core and the ns-3 module. It translates and decides nothing.
//!
//! A call across it costs about 1.3 ns (an empty call, measured with link-time optimisation off between the
//! languages); the measured cost of each per-packet call is in `ns3-module/doc/hpcc.rst`. Nothing unwinds
//! across it but errors: they are `Result`s here and exceptions in C++. A panic, which is a bug in the core,
//! aborts the process after [`panic_report`] has said what to report.

#[cfg(feature = "ns3")]
mod congestion_ops;
mod fast_cnp;
mod flows;
mod frame;
mod goodput;
mod host;
mod network;
mod packet_trace;
mod panic_report;
mod probed;
mod progress;
mod results;
mod scenario;
mod settings;
mod switch;
mod usage;

use fast_cnp::{
    FastCnpHost, FastCnpSwitch, fast_cnp_refusals, fast_cnp_room, fast_cnp_withheld, new_fast_cnp_host,
    new_fast_cnp_switch,
};
use flows::{Flows, open_flows};
use frame::{FrameWriter, new_frame_writer};
use host::{Host, new_host, update_host_routes};
use network::{Network, new_network, tx_time};
use probed::{ProbedFlow, host_address, host_of, new_probed_flow, packet_bytes};
use progress::{Progress, new_progress};
use results::{Results, create_results};
use scenario::{Scenario, open_scenario};
use settings::{
    Settings, fast_cnp_host_settings, fast_cnp_switch_settings, host_settings, new_settings, node_settings,
    parameters_of, switch_settings,
};
use switch::{
    Loss, Rng, Scheduler, Switch, new_loss, new_node_rng, new_rng, new_switch, uniform_draws, update_switch_routes,
};

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    /// What ECMP hashes.
    #[derive(Clone, Copy)]
    struct FlowKey {
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
    }

    /// One setting as an attribute.
    #[derive(Clone, Debug)]
    struct SettingInfo {
        /// Its place among all.
        index: usize,
        /// Name of the attribute.
        attribute: String,
        kind: SettingKind,
        /// Its value without being set.
        initial: String,
        /// What can be given.
        expected: String,
        /// What it means.
        help: String,
    }

    /// The kind of an attribute's value.
    #[derive(Clone, Copy, Debug)]
    enum SettingKind {
        /// true or false.
        Switch,
        /// A whole number.
        Whole,
        /// A number.
        Real,
        /// A time.
        Time,
        /// A data rate.
        Rate,
        /// A text.
        Text,
    }

    /// A frame as the simulator knows it.
    #[derive(Clone, Copy)]
    struct FrameRecord {
        src_mac: [u8; 6],
        dst_mac: [u8; 6],
        kind: PacketKind,
        priority: u8,
        hop_limit: u8,
        congestion_marked: bool,
        congestion_echo: bool,
        pause: bool,
        ack_requested: bool,
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
        /// Queue pair that it is for.
        queue_pair: u32,
        seq: u64,
        /// As in `Reply`.
        selective: u64,
        payload_bytes: u32,
        mtu: u32,
        flow_bytes: u64,
    }

    /// `hpcc_core::frame::CarriedPacket`, without its bytes.
    #[derive(Clone, Copy)]
    struct PacketRecord {
        src_mac: [u8; 6],
        dst_mac: [u8; 6],
        hop_limit: u8,
        congestion_marked: bool,
    }

    /// What a probed flow must know and never changes.
    #[derive(Clone, Copy)]
    struct ProbedFlowLimits {
        line_rate_bps: u64,
        base_rtt_ns: u64,
        mtu: u32,
        /// Sequence number of its first byte.
        first_seq: u32,
    }

    /// A probe that leaves now, if it is present.
    #[derive(Clone, Copy)]
    struct ProbedProbe {
        present: bool,
        seq: u32,
    }

    /// Links of a switch at the edge of the domain.
    #[derive(Clone, Copy, Debug)]
    struct FastCnpBorder {
        node: u32,
        outside: u32,
    }

    /// `hpcc_core::fast_cnp::LeavingData`.
    #[derive(Clone, Copy)]
    struct FastCnpDeparture {
        src_address: u32,
        dst_address: u32,
        /// The receiver's.
        queue_pair: u32,
        queue_bytes: u64,
        marked: bool,
    }

    /// `hpcc_core::fast_cnp::Verdict`.
    #[derive(Clone, Copy)]
    struct FastCnpVerdict {
        send: bool,
        /// Whether the frame is marked after all.
        mark: bool,
        /// Why nothing is sent although there is congestion, as a place in `fast_cnp_withheld`; -1 otherwise.
        withheld: i8,
    }

    /// What a notification led to.
    #[derive(Clone, Copy)]
    struct FastCnpReaction {
        /// Why it was not believed, as a place in `fast_cnp_refusals`; -1 if it was.
        refused: i8,
        /// The host does not know what it is: `report` says what goes back.
        unknown: bool,
        queue_pair: u32,
        /// Whether a network element noticed, not the receiver.
        by_network: bool,
        /// The flow's new source port; 0 if it keeps the old one.
        sport: u16,
        result: AckResult,
    }

    /// What agents did.
    #[derive(Clone, Copy, Debug)]
    struct FastCnpCounters {
        sent: u64,
        /// By reason, as `fast_cnp_withheld` names them.
        withheld: [u64; 4],
        unmarked: u64,
        learnt: u64,
        dropped_inbound: u64,
        dropped_outbound: u64,
        accepted: u64,
        /// By reason, as `fast_cnp_refusals` names them.
        refused: [u64; 6],
        migrations: u64,
        reports: u64,
    }

    /// `hpcc_core::topology::Link`, without the loss rate.
    #[derive(Clone, Copy)]
    struct LinkSpec {
        a: u32,
        b: u32,
        rate_bps: u64,
        delay_ns: u64,
    }

    /// A flow to open. The receiver's key comes from `open_receiver` of the destination.
    #[derive(Clone, Copy)]
    struct SenderParameters {
        src: u32,
        dst: u32,
        sport: u16,
        dport: u16,
        priority: u8,
        receiver: u32,
        size_bytes: u64,
    }

    /// `hpcc_core::transport::Segment`; nothing to send unless `present`.
    #[derive(Clone, Copy)]
    struct Segment {
        present: bool,
        priority: u8,
        sport: u16,
        dport: u16,
        src: u32,
        dst: u32,
        receiver: u32,
        queue_pair: u32,
        payload_bytes: u32,
        frame_bytes: u32,
        flow_bytes: u64,
        seq: u64,
        ack_requested: bool,
        collects: bool,
        /// As in `AckResult`.
        armed: u8,
    }

    /// `hpcc_core::transport::feedback::Arrived`, with where it arrived and the length of its telemetry section.
    #[derive(Clone, Copy)]
    struct TelemetryFrame {
        receiver: u32,
        nic: u16,
        telemetry_bytes: u16,
        /// Whether it gets an acknowledgement, of all bytes before `ack_seq`.
        acks: bool,
        is_probe: bool,
        ack_seq: u64,
        /// First byte that was not sent before a probe.
        probe_seq: u64,
    }

    /// What goes back for telemetry.
    #[derive(Clone, Copy)]
    struct TelemetryReply {
        /// Length of it, at the front of the section.
        telemetry_bytes: u16,
        /// Whether it takes a packet of its own, for byte `seq`.
        alone: bool,
        seq: u64,
    }

    /// `hpcc_core::transport::Counters`.
    #[derive(Clone, Copy, Debug)]
    struct HostCounters {
        resent: u64,
        timeouts: u64,
        probes: u64,
        feedback: u64,
        rejected_feedback: u64,
        rearmed_feedback: u64,
        cnps: u64,
        moves: u64,
    }

    /// `hpcc_core::transport::Data`.
    #[derive(Clone, Copy)]
    struct DataFrame {
        receiver: u32,
        payload: u32,
        seq: u64,
        ack_requested: bool,
        congestion_marked: bool,
    }

    /// `hpcc_core::transport::Answer`.
    #[derive(Clone, Copy)]
    struct Reply {
        kind: ReplyKind,
        congestion_echo: bool,
        seq: u64,
        /// First byte of the packet that arrived out of order; the largest value stands for none.
        selective: u64,
        /// Whether a congestion notification packet goes back besides.
        notify: bool,
    }

    /// How a receiver answers.
    #[derive(Clone, Copy)]
    enum ReplyKind {
        /// Not at all.
        Silence,
        /// Positive acknowledgement.
        Ack,
        /// Negative acknowledgement.
        Nack,
    }

    /// `hpcc_core::transport::Ack`, without the telemetry.
    #[derive(Clone, Copy)]
    struct AckFrame {
        queue_pair: u32,
        seq: u64,
        nack: bool,
        congestion_marked: bool,
        /// As in `Reply`.
        selective: u64,
    }

    /// `hpcc_core::transport::AckResult`; for no flow under way unless `known`.
    #[derive(Clone, Copy)]
    struct AckResult {
        known: bool,
        finished: bool,
        nic: u16,
        /// Bit n: timer n of the flow was armed; schedule an event for it at `timeout`.
        armed: u8,
    }

    /// `hpcc_core::transport::TimeoutResult`; for no flow under way unless `known`.
    #[derive(Clone, Copy)]
    struct TimeoutResult {
        known: bool,
        /// Try to send on the port.
        send: bool,
        nic: u16,
        /// As in `AckResult`.
        armed: u8,
        /// A packet without payload that leaves now, if it is present.
        probe: Segment,
    }

    /// `hpcc_core::switch::Arrival`.
    #[derive(Clone, Copy)]
    struct Arrival {
        verdict: Verdict,
        pause: bool,
        egress: u16,
    }

    /// What becomes of a frame that arrived at a switch.
    #[derive(Clone, Copy)]
    enum Verdict {
        /// It waits at `egress`.
        Forward,
        /// Its destination cannot be reached.
        NoRoute,
        /// The buffer has no room.
        Overflow,
    }

    /// `hpcc_core::switch::Head`, with the length of the telemetry section.
    #[derive(Clone, Copy)]
    struct DepartingFrame {
        ingress: u16,
        priority: u8,
        is_data: bool,
        hop_limit: u8,
        size: u32,
        telemetry_bytes: u16,
        queue_bytes: u64,
        arrived_ns: u64,
    }

    /// `hpcc_core::switch::Departure`, with the new length of the telemetry section.
    #[derive(Clone, Copy)]
    struct Departure {
        mark: bool,
        resume: bool,
        telemetry_bytes: u16,
    }

    /// `hpcc_formats::scenario::Flow`; the end of the flows unless `present`.
    #[derive(Clone, Copy)]
    struct FlowSpec {
        present: bool,
        /// Its place in the scenario.
        index: u32,
        src: u32,
        dst: u32,
        priority: u8,
        dport: u16,
        size_bytes: u64,
        start_ns: u64,
    }

    /// `hpcc_formats::scenario::Monitor`; 0 stands for "off".
    #[derive(Clone, Copy)]
    struct MonitorParameters {
        histogram: bool,
        histogram_start_ns: u64,
        histogram_end_ns: u64,
        queue_interval_ns: u64,
        goodput_interval_ns: u64,
    }

    /// `hpcc_formats::scenario::LinkFailure`.
    #[derive(Clone, Copy)]
    struct LinkFailure {
        time_ns: u64,
        a: u32,
        b: u32,
    }

    /// A flow of a scenario, as far as it got.
    #[derive(Clone, Copy)]
    struct FlowOutcome {
        flow: FlowSpec,
        sport: u16,
        /// Time until its last acknowledgement; not used for an unfinished flow.
        fct_ns: u64,
        ideal_ns: u64,
        acked_bytes: u64,
    }

    /// What the simulator alone knows of a run.
    #[derive(Clone, Debug)]
    struct RunTotals {
        ns3_version: String,
        build_profile: String,
        base_rtt_ns: u64,
        simulated_ns: u64,
        events: u64,
        packet_hops: u64,
        drops: u64,
        losses: u64,
        telemetry_bytes: u64,
        hosts: HostCounters,
        /// Whether switches, hosts or borders did anything about Fast CNP.
        fast_cnp_on: bool,
        fast_cnp: FastCnpCounters,
    }

    /// `hpcc_formats::results::packet_trace::TraceRecord`, as far as the simulator knows it.
    #[derive(Clone, Copy)]
    struct PacketEvent {
        time_ns: u64,
        node: u32,
        port: u32,
        queue: u8,
        qlen_bytes: u64,
        event: PacketEventKind,
        kind: PacketKind,
        is_switch: bool,
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
        priority: u8,
        ecn: u8,
        size_bytes: u32,
        payload_bytes: u32,
        seq: u64,
        sent_ns: u64,
        congestion_echo: bool,
        pause_us: u32,
    }

    /// What happened to a packet.
    #[derive(Clone, Copy)]
    enum PacketEventKind {
        /// It arrived.
        Receive,
        /// It joined a queue.
        Enqueue,
        /// It left its queue.
        Dequeue,
        /// It was dropped.
        Drop,
    }

    /// What a packet is for.
    #[derive(Clone, Copy)]
    enum PacketKind {
        /// Payload.
        Data,
        /// Positive acknowledgement.
        Ack,
        /// Negative acknowledgement.
        Nack,
        /// PFC.
        Pfc,
        /// A packet without payload that collects telemetry.
        Probe,
        /// Telemetry that comes back by itself.
        Feedback,
        /// Congestion notification by the receiver.
        Cnp,
        /// Congestion notification by a switch.
        FastCnp,
        /// ICMPv6.
        Icmpv6,
    }

    extern "Rust" {
        /// An experiment read from a file.
        type Scenario;
        /// Reads a scenario; overrides are `KEY=VALUE`. Ask `error` before anything else.
        fn open_scenario(path: &CxxString, overrides: &CxxVector<CxxString>) -> Box<Scenario>;
        /// What is wrong with the file, with file and line; empty if nothing is.
        fn error(self: &Scenario) -> String;
        /// Harmless things that the user should know.
        fn notes(self: &Scenario) -> Vec<String>;
        fn node_count(self: &Scenario) -> u32;
        fn is_switch(self: &Scenario, node: u32) -> bool;
        fn links(self: &Scenario) -> Vec<LinkSpec>;
        /// Loss probability of a link.
        fn loss(self: &Scenario, link: u32) -> f64;
        /// Whether the loss probability is the link's own; all others share one generator.
        fn has_own_loss(self: &Scenario, link: u32) -> bool;
        /// Random stream of losses.
        fn loss_stream(self: &Scenario) -> u64;
        /// First random stream of ECN marking.
        fn ecn_stream(self: &Scenario) -> u64;
        /// Seed of the draws of PINT.
        fn pint_seed(self: &Scenario) -> u32;
        /// Links that fail, and when.
        fn link_failures(self: &Scenario) -> Vec<LinkFailure>;
        fn flow_count(self: &Scenario) -> u32;
        fn total_bytes(self: &Scenario) -> u64;
        fn stop_ns(self: &Scenario) -> u64;
        /// The settings of all nodes but the legacy ones.
        fn settings(self: &Scenario) -> Box<Settings>;
        /// Nodes that know nothing of telemetry.
        fn legacy_nodes(self: &Scenario) -> Vec<u32>;
        /// The settings of such a node.
        fn legacy_settings(self: &Scenario, node: u32) -> Box<Settings>;
        /// Whether telemetry is the time when a packet left its sender.
        fn stamps_send_time(self: &Scenario) -> bool;
        /// Whether the packet trace tells of packets that a switch drops.
        fn traces_overflow(self: &Scenario) -> bool;
        /// The addresses that the PFC frames of a node's ports come from.
        fn port_addresses(self: &Scenario, node: u32) -> Vec<u32>;
        /// Whether switches, hosts or borders have anything to do about Fast CNP.
        fn has_fast_cnp(self: &Scenario) -> bool;
        fn fast_cnp_borders(self: &Scenario) -> Vec<FastCnpBorder>;
        fn monitor(self: &Scenario) -> MonitorParameters;
        /// Nodes whose packets are traced.
        fn trace_nodes(self: &Scenario) -> Vec<u32>;
        /// Nodes whose frames are captured as bytes.
        fn capture_nodes(self: &Scenario) -> Vec<u32>;

        /// The flows of a scenario that nobody has taken yet.
        type Flows;
        fn open_flows(scenario: &Scenario) -> Box<Flows>;
        /// Takes the next flow, by ascending start.
        fn next(self: &mut Flows) -> FlowSpec;
        /// Why the flows ended too early: a file was changed after it had been checked. Empty if they did not.
        fn error(self: &Flows) -> String;

        /// The output folder of a run.
        type Results;
        /// Opens the folder. Ask `error` before anything else; what goes wrong later is reported by `finish`.
        fn create_results(out: &CxxString) -> Box<Results>;
        /// Why the folder cannot be used; empty if it can.
        fn error(self: &Results) -> String;
        /// Set-up is over, the simulation begins.
        fn begin_run(self: &mut Results);
        /// Watches `ports` ports of a switch; returns the index of the first.
        fn add_queues(self: &mut Results, node: u32, ports: u16) -> usize;
        /// Samples the queues of a switch for histogram and statistics.
        fn sample_queues(self: &mut Results, first: usize, source: &Switch, ports: u16);
        /// So many further samples equal the last one of every queue.
        fn repeat_samples(self: &mut Results, count: u64);
        /// Adds a point to the time series of a switch's queues.
        fn trace_queues(self: &mut Results, now_ns: u64, first: usize, source: &Switch, ports: u16);
        /// Writes the histograms so far.
        fn print_queues(self: &mut Results, now_ns: u64);
        /// Adds a point to the time series of a flow's goodput.
        fn trace_goodput(self: &mut Results, now_ns: u64, flow: u32, acked_bytes: u64);
        /// A PFC frame was received.
        fn pfc(self: &mut Results, now_ns: u64, node: u32, is_switch: bool, port: u32, pause: bool);
        fn flow_finished(self: &mut Results, outcome: &FlowOutcome);
        fn flow_unfinished(self: &mut Results, outcome: &FlowOutcome);
        /// Begins the packet trace.
        fn begin_trace(self: &mut Results, scenario: &Scenario, window_bytes: u64);
        /// Something happened to a packet at a traced node.
        fn packet(self: &mut Results, event: &PacketEvent);
        /// Begins the capture.
        fn begin_capture(self: &mut Results);
        /// A frame of a captured node, as bytes.
        fn capture(self: &mut Results, now_ns: u64, frame: &[u8]);
        /// All flows have finished: queue statistics end here.
        fn flows_completed(self: &mut Results);
        /// Closes the folder; returns what went wrong, empty if nothing did.
        fn finish(self: &mut Results, scenario: &Scenario, totals: &RunTotals) -> String;

        /// The line that says how far a run is.
        type Progress;
        fn new_progress(total_bytes: u64, total_flows: u32) -> Box<Progress>;
        /// Shows the state of the run; rate-limits itself.
        fn update(self: &mut Progress, now_ns: u64, events: u64, acked_bytes: u64, flows: u32);
        /// Removes the line.
        fn clear(self: &mut Progress);

        /// Nodes, links, and the routes between them.
        type Network;
        fn new_network() -> Box<Network>;
        /// Adds a node; returns its index.
        fn add_node(self: &mut Network, is_switch: bool) -> u32;
        /// Adds a link between nodes that exist; returns false (and adds nothing) otherwise.
        fn add_link(self: &mut Network, link: &LinkSpec) -> bool;
        /// Measures paths by the frames of a host with these settings, and repeats those of the reference's faults that
        /// concern routes; before they are computed. Hosts may differ: the longest time counts.
        fn measure_by(self: &mut Network, host: &Settings) -> Result<()>;
        /// Routes shall lead to switches as well.
        fn route_to_switches(self: &mut Network);
        /// Computes all routes, for full packets of `payload` bytes.
        fn compute_routes(self: &mut Network, payload_bytes: u32);
        /// Whether telemetry comes back to a host with these settings before its counters may wrap, on every path.
        fn check_counters(self: &Network, host: &Settings) -> Result<()>;
        /// Takes the links between two nodes down and computes new routes; false if none was up.
        fn take_down(self: &mut Network, a: u32, b: u32) -> bool;
        /// The longest base round-trip time between two hosts.
        fn max_rtt_ns(self: &Network) -> u64;
        /// The largest bandwidth-delay product between two hosts.
        fn max_bdp_bytes(self: &Network) -> u64;
        /// Whether two hosts are connected.
        fn connects(self: &Network, src: u32, dst: u32) -> bool;
        /// Base round-trip time of a pair, 0 if unconnected.
        fn pair_rtt_ns(self: &Network, src: u32, dst: u32) -> u64;
        /// Flow completion time on an idle path from a host with these settings, 0 if unconnected.
        fn standalone_fct_ns(self: &Network, src: u32, dst: u32, size_bytes: u64, host: &Settings) -> Result<u64>;
        /// IPv4 address of a host, as an integer.
        fn address(self: &Network, node: u32) -> u32;

        /// The time that a frame occupies a link, rounded to nearest or as the reference does.
        fn tx_time(rate_bps: u64, bytes: u32, floored: bool) -> u64;

        /// The settings of a node, or of what it does about Fast CNP.
        type Settings;
        /// The defaults.
        fn new_settings() -> Box<Settings>;
        /// The attributes of hosts and switches.
        fn node_settings() -> Vec<SettingInfo>;
        /// The attributes of hosts.
        fn host_settings() -> Vec<SettingInfo>;
        /// The attributes of switches.
        fn switch_settings() -> Vec<SettingInfo>;
        /// The attributes of what hosts do about Fast CNP.
        fn fast_cnp_host_settings() -> Vec<SettingInfo>;
        /// The attributes of what switches do about Fast CNP.
        fn fast_cnp_switch_settings() -> Vec<SettingInfo>;
        /// The parameters of one algorithm, without its name before theirs.
        fn parameters_of(algorithm: &str) -> Vec<SettingInfo>;
        /// A copy, which shares memory until it is changed.
        fn duplicate(self: &Settings) -> Box<Settings>;
        /// Changes a setting, or says why not.
        fn set(self: &mut Settings, info: &SettingInfo, text: &CxxString) -> Result<()>;
        /// The value of a setting, as `set` reads it.
        fn get(self: &Settings, info: &SettingInfo) -> String;
        /// When ports of one rate mark frames, in place of what the settings say for all.
        fn set_ecn_threshold(self: &mut Settings, rate_bps: u64, kmin: u64, kmax: u64, pmax: f64);
        /// Takes over what a switch must know of the hosts.
        fn follow_hosts(self: &mut Settings, host: &Settings);
        /// Takes over what a host must know of the switches.
        fn follow_switches(self: &mut Settings, other: &Settings);
        /// Settles what was left to the simulator and checks all settings; says what contradicts what.
        fn resolve(self: &mut Settings, network: &Network) -> Result<()>;
        /// Most payload bytes in a packet.
        fn mtu(self: &Settings) -> u32;
        /// Whether times are floored as the reference floors them.
        fn floors_times(self: &Settings) -> bool;
        /// Whether random loss takes PFC frames too.
        fn loses_pfc(self: &Settings) -> bool;
        /// Whether all nodes draw from one sequence.
        fn shares_rng(self: &Settings) -> bool;
        /// Microseconds that a PFC pause says; 0 makes every pause a resume.
        fn pause_us(self: &Settings) -> u32;
        /// Bytes that a frame occupies its link for besides its own.
        fn frame_gap(self: &Settings) -> u32;
        /// The UDP destination port of all RDMA frames; 0: that of their flow.
        fn wire_port(self: &Settings) -> u16;
        /// Whether frames have bytes.
        fn has_bytes(self: &Settings) -> bool;
        /// Most bytes of telemetry in a frame.
        fn telemetry_room(self: &Settings) -> u32;
        /// Bytes on the link of a PFC frame.
        fn pfc_bytes(self: &Settings) -> u32;
        /// Whether switches notify senders.
        fn uses_fast_cnp(self: &Settings) -> bool;
        /// Whether hosts accept notifications by switches.
        fn accepts_fast_cnp(self: &Settings) -> bool;

        /// The decisions of a switch.
        type Switch;
        /// Moves the network's present routes for the switch into it.
        fn update_switch_routes(network: &mut Network, node: u32, target: &mut Switch);
        /// The switch of a network's node, whose settings are resolved. The network's routes for this node move into it.
        fn new_switch(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Switch>>;
        /// Whether it must be told when a frame came in.
        fn notes_arrival(self: &Switch) -> bool;
        /// Whether a link that fails keeps the memory of the frames that are dropped with it.
        fn leaks_on_link_down(self: &Switch) -> bool;
        /// Whether its queues are served by classes.
        fn has_classes(self: &Switch) -> bool;
        /// Which queue of a port sends next.
        type Scheduler;
        /// The scheduler of a port; there must be classes.
        fn new_scheduler(self: &Switch) -> Box<Scheduler>;
        /// The queue whose first frame leaves now, or -1. `heads` are the bytes of each queue's first frame, 0 where it is
        /// empty; bit n of `paused` holds queue n back.
        fn next(self: &mut Scheduler, heads: &[u32; 8], paused: u8) -> i32;
        fn arrive(self: &mut Switch, ingress: u16, dst: u32, key: &FlowKey, priority: u8, size: u32) -> Arrival;
        /// A frame leaves a port. Writes this hop behind or into the telemetry that `section` begins with.
        fn depart(
            self: &mut Switch,
            egress: u16,
            now_ns: u64,
            frame: &DepartingFrame,
            section: &mut [u8],
            rng: &mut Rng,
        ) -> Departure;
        /// A frame that waits at a port is thrown away; returns whether to resume its sender.
        fn discard(self: &mut Switch, egress: u16, ingress: u16, priority: u8, size: u32) -> bool;
        /// A PFC frame of this switch leaves a port.
        fn send_pfc(self: &mut Switch, egress: u16, now_ns: u64, size: u32);
        fn queued(self: &Switch, egress: u16) -> u32;

        /// The chance of hosts and switches: ECN marking from `first_stream` on, PINT from the
        /// sequence of C's `rand()` after `srand(pint_seed)`.
        type Rng;
        fn new_rng(first_stream: u64, pint_seed: u32) -> Box<Rng>;
        /// A node's own generator, which no other node's draws change.
        fn new_node_rng(first_stream: u64, pint_seed: u32, node: u32) -> Box<Rng>;
        /// A PFC frame takes a draw for its identifier.
        fn skip(self: &mut Rng);

        /// Most bytes of what frames carry for Fast CNP in the place of telemetry.
        fn fast_cnp_room(settings: &Settings) -> u32;
        /// Names of the reasons for which notifications are withheld.
        fn fast_cnp_withheld() -> Vec<String>;
        /// Names of the reasons for which they are refused.
        fn fast_cnp_refusals() -> Vec<String>;

        /// What a switch does about Fast CNP.
        type FastCnpSwitch;
        /// `own` are its settings for Fast CNP, `switch_settings` those of the switch, resolved.
        fn new_fast_cnp_switch(
            network: &Network,
            node: u32,
            own: &Settings,
            switch_settings: &Settings,
        ) -> Result<Box<FastCnpSwitch>>;
        /// A data frame leaves a port, stamped.
        fn on_data(
            self: &mut FastCnpSwitch,
            egress: u16,
            now_ns: u64,
            departure: &FastCnpDeparture,
            rng: &mut Rng,
        ) -> FastCnpVerdict;
        /// A frame of `size` bytes has left a port.
        fn on_sent(self: &mut FastCnpSwitch, egress: u16, now_ns: u64, size: u32);
        /// Writes the destination options of a notification about a frame; returns their length.
        fn write_options(self: &FastCnpSwitch, dst_address: u32, telemetry: &[u8], room: &mut [u8]) -> usize;
        /// Bytes on the link of a notification with `options` bytes of destination options.
        fn notification_bytes(self: &FastCnpSwitch, options: u32) -> u32;
        /// An IPv6 packet to the switch; returns whether it says that its source does not understand notifications.
        fn learn(self: &mut FastCnpSwitch, now_ns: u64, packet: &[u8]) -> bool;
        /// Whether a frame may cross the border.
        fn passes(self: &mut FastCnpSwitch, frame: &[u8], inbound: bool) -> bool;
        fn counters(self: &FastCnpSwitch) -> FastCnpCounters;

        /// What a host does.
        type FastCnpHost;
        /// As `new_fast_cnp_switch`.
        fn new_fast_cnp_host(network: &Network, node: u32, own: &Settings, host: &Settings)
        -> Result<Box<FastCnpHost>>;
        /// Whether it accepts notifications.
        fn is_enabled(self: &FastCnpHost) -> bool;
        /// A flow begins.
        fn connect(self: &mut FastCnpHost, dst_address: u32, receiver: u32, queue_pair: u32);
        /// A flow has ended.
        fn disconnect(self: &mut FastCnpHost, dst_address: u32, receiver: u32);
        /// A notification has come; if it is believed, the flow reacts.
        fn on_notification(
            self: &mut FastCnpHost,
            now_ns: u64,
            src_address: u32,
            queue_pair: u32,
            options: &[u8],
            host: &mut Host,
            rng: &mut Rng,
        ) -> FastCnpReaction;
        /// The ICMPv6 packet that answers a frame which the host does not know; empty if none does.
        fn report(self: &mut FastCnpHost, now_ns: u64, frame: &[u8]) -> Vec<u8>;
        fn counters(self: &FastCnpHost) -> FastCnpCounters;

        /// Random loss of frames on a link.
        type Loss;
        fn new_loss(stream: u64, probability: f64) -> Box<Loss>;
        fn is_lost(self: &mut Loss) -> bool;
        /// The first `count` draws of ns-3's generator for seed 1, substream 1: for comparison with ns-3's own.
        fn uniform_draws(stream: u64, count: usize) -> Vec<f64>;

        /// Makes the bytes of frames.
        type FrameWriter;
        /// Says why such frames have no bytes, if they have none.
        fn new_frame_writer(settings: &Settings) -> Result<Box<FrameWriter>>;
        /// A frame from its Ethernet header to its ICRC.
        fn bytes(self: &FrameWriter, frame: &FrameRecord, telemetry: &[u8]) -> Vec<u8>;

        /// The decisions of a host.
        type Host;
        /// Moves the network's present routes for the host into it, and takes all flows from their ports.
        fn update_host_routes(network: &mut Network, node: u32, target: &mut Host);
        /// Gives a flow to the port that its route leads to now; returns the port, or -1.
        fn reassign(self: &mut Host, queue_pair: u32, key: &FlowKey) -> i32;
        /// The host of a network's node, whose settings are resolved. The network's routes for this node move into it.
        fn new_host(network: &mut Network, node: u32, settings: &Settings) -> Result<Box<Host>>;
        /// The priority in which its acknowledgements travel.
        fn ack_priority(self: &Host) -> u8;
        /// Whether switches queue them with data all the same.
        fn acks_queue_with_data(self: &Host) -> bool;
        /// The port by which a flow leaves for `dst`, or -1.
        fn route(self: &Host, key: &FlowKey, dst: u32) -> i32;
        /// Opens a flow; returns its key, or -1 if the host has no such port or no room.
        fn open_sender(self: &mut Host, now_ns: u64, nic: u16, sender: &SenderParameters, network: &Network) -> i64;
        /// Prepares for a flow that port `nic` of another host will send; returns its key, or -1 if the host has no room
        /// or the other one no such port.
        fn open_receiver(self: &mut Host, source: &Host, nic: u16, flow: &SenderParameters, network: &Network) -> i64;
        fn close_receiver(self: &mut Host, receiver: u32);
        fn poll(self: &mut Host, nic: u16, now_ns: u64, paused: u8) -> Segment;
        /// When to poll again though nothing else happens; the largest value stands for never.
        fn wake_at(self: &Host, nic: u16) -> u64;
        fn on_wake(self: &mut Host, nic: u16);
        fn on_data(self: &mut Host, now_ns: u64, data: &DataFrame) -> Reply;
        fn on_ack(self: &mut Host, now_ns: u64, ack: &AckFrame, telemetry: &[u8], rng: &mut Rng) -> AckResult;
        /// Takes in feedback that came by itself, about the path of UDP source port `port`.
        fn on_feedback(
            self: &mut Host,
            now_ns: u64,
            queue_pair: u32,
            seq: u64,
            port: u16,
            telemetry: &[u8],
            rng: &mut Rng,
        ) -> AckResult;
        /// Takes in a congestion notification by the receiver of a flow.
        fn on_cnp(self: &mut Host, now_ns: u64, queue_pair: u32) -> AckResult;
        /// Bytes on the link of a congestion notification with `options` bytes of destination options.
        fn notification_bytes(self: &Host, options: u32) -> u32;
        /// Whether acknowledgements echo telemetry, and that is all; otherwise `on_telemetry` says what goes back.
        fn echoes(self: &Host) -> bool;
        /// Puts what goes back for a packet in place of its telemetry; data goes through `on_data` first.
        fn on_telemetry(self: &mut Host, now_ns: u64, frame: &TelemetryFrame, section: &mut [u8]) -> TelemetryReply;
        /// Timers of a flow that were armed when it was opened, as in `AckResult`.
        fn take_armed(self: &mut Host, queue_pair: u32) -> u8;
        /// When a timer of a flow is due; the largest value stands for never.
        fn timeout(self: &mut Host, queue_pair: u32, timer: u8) -> u64;
        /// The time of a flow's timer has come.
        fn on_timeout(self: &mut Host, now_ns: u64, queue_pair: u32, timer: u8) -> TimeoutResult;
        fn counters(self: &Host) -> HostCounters;
        /// Bytes on the link of an acknowledgement that carries `telemetry` bytes.
        fn ack_bytes(self: &Host, telemetry: u32, selective: u64) -> u32;
        /// Bytes on the link of telemetry of `telemetry` bytes that comes back by itself.
        fn feedback_bytes(self: &Host, telemetry: u32) -> u32;
        /// Prepares the telemetry section of a data frame that is sent now; returns its length.
        fn prepare_telemetry(self: &Host, now_ns: u64, priority: u8, section: &mut [u8]) -> usize;
        /// The UDP source port of a flow, 0 where it is unknown.
        fn source_port(self: &Host, queue_pair: u32) -> u16;
        /// Acknowledged bytes of a flow; all of them where it is unknown.
        fn acked_bytes(self: &Host, queue_pair: u32) -> u64;
        /// Sending rate of a flow, 0 where it is unknown.
        fn rate_bps(self: &Host, queue_pair: u32) -> u64;
        /// Window of a flow, 0 where it is unknown or unbounded.
        fn window_bytes(self: &Host, queue_pair: u32) -> u64;

        /// HPCC++ of a flow whose transport is an ns-3 stack's.
        type ProbedFlow;
        /// `controller` has its parameters, `host` the layout of telemetry; says why that layout does not serve.
        fn new_probed_flow(
            controller: &Settings,
            host: &Settings,
            limits: &ProbedFlowLimits,
        ) -> Result<Box<ProbedFlow>>;
        /// A segment leaves; `end` is the sequence number behind it.
        fn on_sent(self: &mut ProbedFlow, now_ns: u64, end: u32);
        fn on_acked(self: &mut ProbedFlow, ack: u32);
        /// When to call `on_probe_time`; the largest value stands for never.
        fn next_probe(self: &ProbedFlow) -> u64;
        fn on_probe_time(self: &mut ProbedFlow, now_ns: u64) -> ProbedProbe;
        /// Prepares the telemetry section of a probe that is sent now; returns its length.
        fn prepare_probe(self: &ProbedFlow, now_ns: u64, section: &mut [u8]) -> usize;
        /// The telemetry of a probe came back; returns whether window and rate may have changed.
        fn on_response(self: &mut ProbedFlow, now_ns: u64, seq: u32, section: &[u8]) -> bool;
        fn window_bytes(self: &ProbedFlow) -> u64;
        fn rate_bps(self: &ProbedFlow) -> u64;
        /// IPv4 address of a node, as an integer.
        fn host_address(node: u32) -> u32;
        /// The node that an address stands for, or -1.
        fn host_of(address: u32) -> i64;
        /// The frame of an IPv4 packet on a link.
        fn packet_bytes(record: &PacketRecord, packet: &[u8], telemetry: &[u8]) -> Vec<u8>;
    }
}
