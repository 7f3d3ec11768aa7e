// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host on its own.

use super::feedback::{FeedbackConfig, Rejected};
use super::*;
use crate::cc::{
    Algorithm, Armed, CongestionControl, DcqcnConfig, Feedback, FlowLimits, HpccConfig, HpccPlusConfig, LineRate,
    NoEffect, Origin, RateDecision, Sent, SwiftConfig,
};
use crate::fast_cnp::option::MAX_HEADER;
use crate::fast_cnp::{CopiedTrace, FastCnpOption, OptionTypes, packet};
use crate::frame::PacketKind;
use crate::random::Rng;
use crate::reference_faults::ReferenceFaults;
use crate::settings::Settings;
use crate::switch::FlowKey;
use crate::telemetry::ioam::hpcc::Profile;
use crate::telemetry::{Ioam, Layout, MAX_SECTION, Snapshot};
use crate::topology::routes::{RouteTable, Routes};
use crate::units::BitRate;
use crate::wire::{FrameSizes, WireProfile};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

const SPEC: SenderSpec = SenderSpec { src: 0, dst: 1, sport: 10_000, dport: 100, priority: 3, receiver: 0 };

fn host() -> Host {
    host_with(&LineRate)
}

fn host_with(algorithm: &dyn Algorithm) -> Host {
    host_with_faults(algorithm, ReferenceFaults::NONE)
}

fn host_with_faults(algorithm: &dyn Algorithm, faults: ReferenceFaults) -> Host {
    host_of(algorithm, TransportConfig { faults, ..TransportConfig::default() })
}

fn host_of(algorithm: &dyn Algorithm, transport: TransportConfig) -> Host {
    Host::new(HostConfig { transport, ..config(algorithm) }, &[BitRate::gbps(100)], RouteTable::default())
}

fn config(algorithm: &dyn Algorithm) -> HostConfig {
    HostConfig {
        transport: TransportConfig::default(),
        algorithm: algorithm.clone_algorithm(),
        layout: Layout::none(),
        feedback: FeedbackConfig::default(),
        sizes: FrameSizes::REFERENCE,
    }
}

fn limits(host: &mut Host, base_rtt: Nanos, bdp: u64) -> Arc<FlowLimits> {
    host.flow_limits(0, BitRate(u64::MAX), base_rtt, bdp, 2).expect("a port")
}

fn open(host: &mut Host, size: u64) -> u32 {
    let limits = limits(host, Nanos(4_160), 52_000);
    host.open_sender(Nanos(0), 0, SPEC, size, limits).expect("room")
}

fn ack(queue_pair: u32, seq: u64) -> Ack<'static> {
    Ack { queue_pair, seq, port: 10_000, ..Ack::default() }
}

fn data(host: &mut Host, receiver: u32, seq: u64) -> Reply {
    let data = Data { seq, payload: 1_000, ..Data::default() };
    host.on_data(Nanos(0), receiver, &data).reply
}

fn open_receiver(host: &mut Host) -> Option<u32> {
    let limits = limits(host, Nanos(4_160), 52_000);
    host.open_receiver(&ReceiverSpec {
        src: 0,
        dst: 1,
        limits,
        echo_interval: host.echo_interval(None),
        is_shared: host.transport().shares_queue_pairs(false),
    })
}

fn rng() -> Rng {
    Rng::new(26, 1)
}

fn sent(poll: Poll) -> (u32, u64) {
    match poll {
        Poll::Send(segment) => (segment.queue_pair, segment.seq),
        Poll::Wait | Poll::Open => panic!("nothing sent"),
    }
}

/// Those that wait to be opened send when they would have sent if they had been open.
#[test]
fn queue_pairs_open_in_their_turn() {
    let order = |are_open: bool| {
        let mut host = Host::new(config(&LineRate), &[BitRate::gbps(100)], RouteTable::default());
        let mut keys: Vec<u32> = (0..2).map(|_| open(&mut host, 9_000)).collect();
        if are_open {
            keys.extend((0..9).map(|_| open(&mut host, 9_000)));
        } else {
            assert!(host.wait_to_open(0, SPEC.priority));
        }
        let mut opened = Vec::new();
        for packet in 0..40 {
            let sent = loop {
                // A pause of their priority opens none.
                assert_eq!(host.poll(0, Nanos(packet * 1_000), 1 << SPEC.priority), Poll::Wait);
                let Poll::Send(segment) = host.poll(0, Nanos(packet * 1_000), 0) else {
                    keys.push(open(&mut host, 9_000));
                    if keys.len() == 11 {
                        host.all_are_open(0);
                    }
                    continue;
                };
                break segment.queue_pair;
            };
            opened.push((keys.len(), keys.iter().position(|key| *key == sent)));
        }
        opened
    };
    let (at_once, in_turn) = (order(true), order(false));
    let sent = |order: &[(usize, Option<usize>)]| order.iter().map(|&(_, sent)| sent).collect::<Vec<_>>();
    assert_eq!(sent(&in_turn), sent(&at_once));
    assert_eq!(in_turn.iter().map(|&(open, _)| open).take(4).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

/// Host 0 has two ports, to switches 2 and 3, and both lead to host 1. Routes without one of its links.
fn routes_without(link: u32) -> RouteTable {
    let network = crate::testing::network(2, 2, &[(0, 2, 100), (0, 3, 100), (1, 2, 100), (1, 3, 100)]);
    Routes::avoiding(&network, 1_000, &[link], false).table(0)
}

#[test]
fn flows_move_to_the_port_that_their_new_route_leads_to() {
    let mut host = Host::new(config(&LineRate), &[BitRate::gbps(100); 2], RouteTable::default());
    let (key, finished) = (open(&mut host, 9_000), open(&mut host, 1));
    assert_eq!(sent(host.poll(0, Nanos(0), 0)).0, finished);
    host.on_ack(Nanos(0), &ack(finished, 1), &mut rng());
    let flow = FlowKey::default();
    assert_eq!((host.route(&flow, 1), host.reassign(key, &flow)), (None, None));
    for (down, port) in [(1, 0), (0, 1)] {
        host.set_routes(routes_without(down));
        host.clear_ports();
        assert_eq!((host.poll(0, Nanos(0), 0), host.poll(1, Nanos(0), 0)), (Poll::Wait, Poll::Wait));
        assert!(host.sender(finished).is_none());
        assert_eq!((host.route(&flow, 1), host.reassign(key, &flow)), (Some(port), Some(port)));
        assert_eq!(host.reassign(99, &flow), None);
        sent(host.poll(port.into(), Nanos(1_000 * u64::from(port)), 0));
        assert_eq!(host.on_ack(Nanos(0), &ack(key, 0), &mut rng()).map(|result| result.nic), Some(port.into()));
    }
}

/// It leaves its port when its messages have finished, and comes back, behind the others, with the next one.
#[test]
fn a_shared_queue_pair_takes_turns_while_it_has_a_message() {
    let transport = TransportConfig { queue_pairs: QueuePairs::PerPair, ..TransportConfig::default() };
    let mut host = host_of(&LineRate, transport);
    let (key, other) = (open(&mut host, 700), open(&mut host, 9_000));
    let turns = |host: &mut Host, at: u64| [0, 1, 2].map(|n| sent(host.poll(0, Nanos(at + n * 1_000), 0)));
    assert_eq!(turns(&mut host, 0), [(other, 0), (key, 0), (other, 1_000)]);
    assert_eq!(host.on_ack(Nanos(3_000), &ack(key, 1_000), &mut rng()).map(|result| result.finished), Some(1));
    assert_eq!(host.on_ack(Nanos(3_000), &ack(key, 1_000), &mut rng()), None, "nothing is under way");
    assert_eq!(turns(&mut host, 4_000), [(other, 2_000), (other, 3_000), (other, 4_000)]);
    host.clear_ports();
    assert!(host.sender(key).is_some());
    for posted in [host.post(Nanos(9_000), key, 1_200), host.post(Nanos(9_000), key, 5)] {
        assert_eq!(posted.map(|posted| (posted.nic, posted.armed)), Some((0, Armed(0))));
    }
    assert_eq!([0, 1, 2].map(|n| sent(host.poll(0, Nanos(9_000 + n * 1_000), 0)).1), [1_000, 2_000, 3_000]);
    assert_eq!(host.on_ack(Nanos(9_000), &ack(key, 4_000), &mut rng()).map(|result| result.finished), Some(2));
    assert_eq!((host.post(Nanos(0), 99, 1), host.places()), (None, (2, 0)));
}

/// Swift adds a packet's share for each new packet: half of 52 packets, then 26 + 1 / 26, then another 26th.
#[test]
fn a_controller_is_told_of_newly_acknowledged_bytes() {
    let mut host = host_with(&SwiftConfig::default());
    let key = open(&mut host, 90_000);
    for n in 0..4 {
        sent(host.poll(0, Nanos(n * 84), 0));
    }
    let nack = Ack { nack: true, ..ack(key, 0) };
    let mut window = |ack: &Ack<'_>| {
        host.on_ack(Nanos(1_000), ack, &mut rng()).expect("under way");
        host.sender(key).expect("under way").window()
    };
    assert_eq!([window(&nack), window(&ack(key, 1_000)), window(&ack(key, 2_000))], [26_000, 26_038, 26_076]);
}

#[test]
fn only_progress_puts_off_the_timeout() {
    let wait = Nanos(100_000);
    let timeout = TimeoutConfig { high: wait, low: wait, few: 0, base_rtts: 0, back_off: false };
    for (seq, expired) in [(0, true), (1_000, false)] {
        let transport = TransportConfig { timeout: Some(timeout), ..TransportConfig::default() };
        let patient = SwiftConfig { base_target: Some(Nanos::MILLISECOND), ..SwiftConfig::default() };
        let mut host = host_of(&patient, transport);
        let key = open(&mut host, 90_000);
        sent(host.poll(0, Nanos(0), 0));
        sent(host.poll(0, Nanos(84), 0));
        host.on_ack(Nanos(50_000), &ack(key, seq), &mut rng());
        let result = host.on_timeout(Nanos(100_000), key, RETRANSMISSION_TIMER).expect("under way");
        assert_eq!((result.send, host.counters().timeouts), (expired, u64::from(expired)));
        let window = host.sender(key).expect("under way").window();
        assert_eq!(window, if expired { 26_000 } else { 52_000 }, "the controller hears of the timeout");
    }
}

/// 1048 bytes take 83.84 ns; the 2019 simulator floors.
#[test]
fn pacing_plans_a_wake_up() {
    for (floored_times, next) in [(false, 84), (true, 83)] {
        let mut host = host_with_faults(&LineRate, ReferenceFaults { floored_times, ..ReferenceFaults::NONE });
        open(&mut host, 9_000);
        sent(host.poll(0, Nanos(0), 0));
        assert_eq!((host.wake_at(0), host.poll(0, Nanos(10), 0)), (None, Poll::Wait));
        assert_eq!(host.wake_at(0), Some(Nanos(next)));
        host.on_wake(0);
        sent(host.poll(0, Nanos(next), 0));
    }
}

/// The end of a frame is waited for only if a packet can leave then; what only pacing holds back plans its wake-up at once.
#[test]
fn a_port_waits_for_the_end_of_a_frame_if_a_packet_can_leave_then() {
    let mut host = host();
    let awaits = |host: &mut Host, end, paused| (host.awaits_end(0, Nanos(end), paused, true), host.wake_at(0));
    assert_eq!(awaits(&mut host, 90, 0), (false, None), "no flow");
    open(&mut host, 2_000);
    sent(host.poll(0, Nanos(0), 0));
    assert_eq!(awaits(&mut host, 84, 0), (true, None), "the second packet may leave at 84 ns");
    assert_eq!(awaits(&mut host, 84, 1 << 3), (false, None), "a resume asks by itself");
    assert_eq!(awaits(&mut host, 83, 0), (false, Some(Nanos(84))));
    host.on_wake(0);
    sent(host.poll(0, Nanos(84), 0));
    assert_eq!(awaits(&mut host, 168, 0), (false, None), "all is sent");
}

/// Who cannot plan ahead waits for the end where a wake-up is to be planned then: once, for the 2019 simulator keeps
/// the first plan.
#[test]
fn a_port_that_does_not_foresee_waits_where_a_poll_plans() {
    for missed_wakeups in [false, true] {
        let mut host = host_with_faults(&LineRate, ReferenceFaults { missed_wakeups, ..ReferenceFaults::NONE });
        open(&mut host, 9_000);
        sent(host.poll(0, Nanos(0), 0));
        assert!(host.awaits_end(0, Nanos(83), 0, false) && host.wake_at(0).is_none());
        assert_eq!(host.awaits_end(0, Nanos(83), 0, true), missed_wakeups);
        host.poll(0, Nanos(83), 0);
        assert_eq!(host.wake_at(0), Some(Nanos(84)));
        assert!(!host.awaits_end(0, Nanos(83), 0, false), "planned");
    }
}

/// One flow waits for its window since long, the other for its pacing: the 2019 simulator sleeps over the second.
#[test]
fn a_blocked_queue_pair_does_not_hide_the_wake_up_of_another() {
    for (missed_wakeups, expected) in [(false, Some(Nanos(1_084))), (true, None)] {
        let mut host = host_with_faults(&LineRate, ReferenceFaults { missed_wakeups, ..ReferenceFaults::NONE });
        let small = {
            let limits = limits(&mut host, Nanos(80), 1_000);
            host.open_sender(Nanos(0), 0, SPEC, 9_000, limits).expect("room")
        };
        assert_eq!(sent(host.poll(0, Nanos(0), 0)).0, small);
        let other = open(&mut host, 9_000);
        assert_eq!(sent(host.poll(0, Nanos(1_000), 0)).0, other);
        assert_eq!(host.poll(0, Nanos(1_010), 0), Poll::Wait);
        assert_eq!(host.wake_at(0), expected);
    }
}

/// The wake-up moves forward when somebody may go earlier than those who waited when it was planned.
#[test]
fn an_earlier_time_replaces_a_planned_wake_up() {
    let mut host = host();
    let key = open(&mut host, 9_000);
    sent(host.poll(0, Nanos(0), 0));
    sent(host.poll(0, Nanos(84), 0));
    host.on_ack(Nanos(85), &ack(key, 1_000), &mut rng());
    assert_eq!(host.poll(0, Nanos(85), 1 << 3), Poll::Wait);
    assert_eq!(host.wake_at(0), None, "a paused queue pair waits for its resume");
    assert_eq!(host.poll(0, Nanos(86), 0), Poll::Wait);
    assert_eq!(host.wake_at(0), Some(Nanos(168)));
}

/// Flow 0 was served last when 0 and 1 end: 2 is next, but the 2019 simulator, whose place stays at index 0,
/// passes it over for 3.
#[test]
fn the_turn_survives_removals() {
    for (stale_round_robin, next) in [(false, 2), (true, 3)] {
        let mut host = host_with_faults(&LineRate, ReferenceFaults { stale_round_robin, ..ReferenceFaults::NONE });
        let sizes = [1_000, 1_000, 9_000, 9_000, 9_000];
        let keys = sizes.map(|size| open(&mut host, size));
        let served: Vec<u32> = (0..5).map(|n| sent(host.poll(0, Nanos(n * 1_000), 0)).0).collect();
        assert_eq!(served, [keys[1], keys[2], keys[3], keys[4], keys[0]]);
        host.on_ack(Nanos(6_000), &ack(keys[0], 1_000), &mut rng());
        host.on_ack(Nanos(6_000), &ack(keys[1], 1_000), &mut rng());
        assert_eq!(host.poll(0, Nanos(6_000), 1 << 3), Poll::Wait, "removes both");
        assert_eq!(sent(host.poll(0, Nanos(7_000), 0)).0, keys[next]);
    }
}

/// A flow that has ended is left out on both sides of the last served one, also before anybody is served again.
#[test]
fn whoever_was_next_is_next_after_removals() {
    for finished in [&[0][..], &[4], &[0, 4]] {
        let mut host = host();
        let keys = [1_000, 9_000, 9_000, 9_000, 1_000].map(|size| open(&mut host, size));
        let served = [0, 1, 2, 3, 4, 5, 6].map(|n| sent(host.poll(0, Nanos(n * 1_000), 0)).0);
        assert_eq!(served, [1, 2, 3, 4, 0, 1, 2].map(|flow| keys[flow]));
        for &flow in finished {
            host.on_ack(Nanos(7_000), &ack(keys[flow], 1_000), &mut rng());
            assert_eq!(host.poll(0, Nanos(7_000), 1 << 3), Poll::Wait, "removes it");
            assert!(host.sender(keys[flow]).is_none());
        }
        assert_eq!(sent(host.poll(0, Nanos(8_000), 0)).0, keys[3], "without {finished:?}");
    }
}

/// The rate that each acknowledgement brings applies at once: 100 Mb/s times the byte that it acknowledges, and a bit more for
/// each byte that was sent.
#[derive(Clone, Debug, Default)]
struct RateOfSeq {
    sent: u64,
}

impl Settings for RateOfSeq {}

impl Algorithm for RateOfSeq {
    fn name(&self) -> &'static str {
        "rate_of_seq"
    }

    fn summary(&self) -> &'static str {
        "for this test"
    }

    fn start(&self, _: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { sent: true, ..Needs::default() }
    }
}

impl CongestionControl for RateOfSeq {
    fn on_sent(&mut self, sent: &Sent) {
        self.sent += u64::from(sent.bytes);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        RateDecision::Repace(BitRate::mbps(100 * feedback.ack_seq).saturating_add(BitRate(self.sent)))
    }
}

#[test]
fn a_controller_that_asks_for_it_is_told_of_each_packet() {
    let mut host = host_with(&RateOfSeq::default());
    let key = open(&mut host, 9_000);
    sent(host.poll(0, Nanos(0), 0));
    sent(host.poll(0, Nanos(84), 0));
    let mut rate = |acked| {
        host.on_ack(Nanos(200), &ack(key, acked), &mut rng());
        host.sender(key).expect("under way").rate()
    };
    assert_eq!(rate(500), BitRate(50_000_002_000));
    assert_eq!(rate(1_500), BitRate::gbps(100), "no more than the port's");
}

/// 1048 bytes take 83.84 ns at 100 Gb/s, 167.68 at 50 and 838.4 at 10.
#[test]
fn a_planned_wake_up_moves_forward_with_the_rate_but_not_into_the_past() {
    let mut host = host_with(&RateOfSeq::default());
    let key = open(&mut host, 1_000_000);
    sent(host.poll(0, Nanos(0), 0));
    host.on_ack(Nanos(1), &ack(key, 100), &mut rng());
    assert_eq!((host.poll(0, Nanos(10), 0), host.wake_at(0)), (Poll::Wait, Some(Nanos(838))));
    let mut wake = |now, seq| {
        host.on_ack(Nanos(now), &ack(key, seq), &mut rng());
        host.wake_at(0)
    };
    assert_eq!([wake(20, 500), wake(30, 100)], [Some(Nanos(168)); 2], "a slower one finds out when it wakes");
    assert_eq!(wake(100, 1_000), Some(Nanos(100)), "84 ns have passed");
}

/// The first packet of a message brings an RDMA header of 16 bytes.
#[test]
fn the_first_packet_of_a_message_is_longer() {
    let config = HostConfig { sizes: WireProfile::RoceV4.sizes(), ..config(&LineRate) };
    let mut host = Host::new(config, &[BitRate::gbps(100)], RouteTable::default());
    open(&mut host, 9_000);
    let mut frame = |now| match host.poll(0, Nanos(now), 0) {
        Poll::Send(segment) => segment.frame,
        Poll::Wait | Poll::Open => panic!("nothing sent"),
    };
    assert_eq!([frame(0), frame(1_000)], [1_000 + 62 + 16, 1_000 + 62]);
}

/// The trace of a packet that passed one switch, which had sent and kept waiting so many bytes then.
fn with_trace<T>(ts: u64, tx_bytes: u64, qlen: u64, then: impl FnOnce(&CopiedTrace<'_>) -> T) -> T {
    let mut section = [0; MAX_SECTION];
    let len = traced().prepare(&mut section, Nanos(0));
    let snapshot = Snapshot { now: Nanos(ts), tx_bytes, qlen, ..Snapshot::IDLE };
    let len = traced().stamp(&mut section, len, &snapshot);
    let (types, mut room) = (OptionTypes::default(), [0; MAX_HEADER]);
    let options = packet::options([7; 16], traced().encapsulation(), &section[..len], &types, &mut room);
    then(&FastCnpOption::parse(options, &types).expect("an option").trace.expect("a trace"))
}

fn traced() -> Layout {
    Layout::new(Ioam { profile: Profile::Full, hops: 3 })
}

fn traced_host(algorithm: &dyn Algorithm, seal: Option<[u8; 16]>) -> Host {
    let feedback = FeedbackConfig { seal, ..FeedbackConfig::default() };
    Host::new(
        HostConfig { layout: traced(), feedback, ..config(algorithm) },
        &[BitRate::gbps(100)],
        RouteTable::default(),
    )
}

/// HPCC goes by records, and cannot compare the first ones with any; a switch has no key to seal what it tells.
#[test]
fn a_notification_says_why_it_changes_nothing() {
    let plain = |algorithm: &dyn Algorithm| {
        let mut host = traced_host(algorithm, None);
        let key = open(&mut host, 9_000);
        host.on_notification(Nanos(5), key, Origin::Receiver, None)
    };
    assert_eq!(plain(&LineRate), Err(NoEffect::NoReaction));
    assert_eq!(plain(&HpccConfig::default()), Err(NoEffect::NoRecords));
    let traced = |seal| {
        let mut host = traced_host(&HpccConfig::default(), seal);
        let key = open(&mut host, 9_000);
        let notify = |host: &mut Host| {
            with_trace(5, 0, 0, |trace| host.on_notification(Nanos(5), key, Origin::Network([1; 16]), Some(trace)))
        };
        ([notify(&mut host), notify(&mut host)], host.counters().rejected)
    };
    assert_eq!(traced(None), ([Err(NoEffect::Incomparable); 2], Rejected::default()));
    assert_eq!(traced(Some([7; 16])), ([Err(NoEffect::NoRecords); 2], Rejected { by_seal: 2, by_guard: 0 }));
}

/// Its first notification comes 3 us after its start, so that the next reaction shows after as much: within T.
#[test]
fn a_flow_reacts_again_after_as_long_as_its_first_notification_took() {
    let mut host = traced_host(&HpccPlusConfig::default(), None);
    let limits = limits(&mut host, Nanos(13_000), 162_500);
    let start = 1_000_000;
    let key = host.open_sender(Nanos(start), 0, SPEC, 1_000_000, limits).expect("room");
    let mut notify = |after: u64, tx_bytes, qlen| {
        with_trace(start + after - 1_000, tx_bytes, qlen, |trace| {
            host.on_notification(Nanos(start + after), key, Origin::Network([1; 16]), Some(trace))
                .map(|notified| notified.nic)
        })
    };
    assert_eq!(notify(3_000, 0, 3_000), Ok(0), "half a window");
    assert_eq!(notify(8_000, 62_500, 190_500), Ok(0), "four times the capacity arrives");
}

#[test]
fn without_a_window_a_queue_is_weighed_by_the_path() {
    for (windowless_hpcc, expected) in [(false, 52_000), (true, 0)] {
        let faults = ReferenceFaults { windowless_hpcc, ..ReferenceFaults::NONE };
        let transport = TransportConfig { window: false, faults, ..TransportConfig::default() };
        let mut host = host_of(&LineRate, transport);
        let key = open(&mut host, 9_000);
        let limits = host.sender(key).expect("open").limits();
        assert_eq!((limits.window, limits.path_bytes), (0, expected));
    }
}

/// Only DCQCN's receiver spaces notifications, and not in the 2019 simulator.
#[test]
fn dcqcn_is_notified_once_in_an_interval() {
    let dcqcn: &dyn Algorithm = &DcqcnConfig::default();
    let every = ReferenceFaults { notify_every_mark: true, ..ReferenceFaults::NONE };
    let cases = [(dcqcn, ReferenceFaults::NONE, 2), (dcqcn, every, 100), (&LineRate, ReferenceFaults::NONE, 100)];
    for (algorithm, faults, expected) in cases {
        let mut host = host_with_faults(algorithm, faults);
        let receiver = open_receiver(&mut host).expect("room");
        let told = (0..100).filter(|&n| {
            let data = Data { seq: n * 1_000, payload: 1_000, ack_requested: false, congestion_marked: true };
            host.on_data(Nanos(n * 1_000), receiver, &data).congestion_echo
        });
        assert_eq!(told.count() as u64, expected);
        assert_eq!(host.counters().marks_merged, 100 - expected);
    }
}

#[test]
fn timers_are_announced_fire_and_end_with_the_flow() {
    let mut host = host_with(&DcqcnConfig::default());
    let key = open(&mut host, 2_000);
    sent(host.poll(0, Nanos(0), 0));
    sent(host.poll(0, Nanos(84), 0));
    let marked = Ack { congestion_marked: true, ..ack(key, 1_000) };
    let result = host.on_ack(Nanos(5), &marked, &mut rng()).expect("under way");
    assert_eq!(result.armed, Armed(0b011));
    assert_eq!(host.timeout(key, 0), Some(Nanos(55_005)));
    assert_eq!(
        host.on_timeout(Nanos(4_006), key, 1),
        Some(TimeoutResult { nic: 0, armed: Armed(0b110), send: false, probe: None })
    );
    assert_eq!(host.sender(key).map(QueuePair::rate), Some(BitRate::gbps(50)));
    host.on_ack(Nanos(4_007), &ack(key, 2_000), &mut rng());
    assert_eq!(host.on_timeout(Nanos(8_006), key, 1), None);
    assert_eq!((host.timeout(99, 1), host.on_timeout(Nanos(9_000), 99, 1)), (None, None));
}

/// Finished flows leave nothing behind: neither queue pairs nor receivers grow with their number.
#[test]
fn the_memory_of_many_flows_is_that_of_few() {
    let (mut host, mut rng) = (host(), rng());
    for n in 0..200_000 {
        let receiver = open_receiver(&mut host).expect("room");
        let key = open(&mut host, 1_000);
        assert_eq!(sent(host.poll(0, Nanos(n * 1_000), 0)), (key, 0));
        assert_eq!(data(&mut host, receiver, 0), Reply::Ack(1_000));
        host.on_ack(Nanos(n * 1_000), &ack(key, 1_000), &mut rng);
        assert_eq!(host.poll(0, Nanos(n * 1_000), 0), Poll::Wait);
        host.close_receiver(receiver);
    }
    assert_eq!(host.places(), (1, 1));
}

#[test]
fn a_window_has_32_bits_in_the_reference() {
    for (wrapping_window, window) in [(false, 5 << 30), (true, 1 << 30)] {
        let mut host = host_with_faults(
            &LineRate,
            ReferenceFaults { wrapping_window, narrow_window: true, ..ReferenceFaults::NONE },
        );
        assert_eq!(limits(&mut host, Nanos(430_000_000), 5 << 30).window, window);
    }
}

/// REQ-08: W_init is line rate * T, whatever the path carries; where no rate scales the window it is the path's.
#[test]
fn the_window_at_line_rate_is_that_of_the_port_and_in_the_reference_of_the_path() {
    let window = |narrow_window, variable_window, recovery| {
        let faults = ReferenceFaults { narrow_window, ..ReferenceFaults::NONE };
        let transport = TransportConfig { faults, variable_window, recovery, ..TransportConfig::default() };
        limits(&mut host_of(&LineRate, transport), Nanos(8_000), 25_000).window
    };
    assert_eq!(window(false, true, Recovery::GoBackN), 100_000);
    assert_eq!(window(true, true, Recovery::GoBackN), 25_000);
    assert_eq!(window(false, false, Recovery::SelectiveRepeat), 25_000);
}

#[test]
fn packets_after_the_end_are_for_nobody_but_in_the_reference_they_are_nacked() {
    for (nack_late_packets, late) in [(false, Reply::Silence), (true, Reply::Nack(0))] {
        let mut host = host_with_faults(&LineRate, ReferenceFaults { nack_late_packets, ..ReferenceFaults::NONE });
        assert_eq!(data(&mut host, 42, 5_000), late);
        let receiver = open_receiver(&mut host).expect("room");
        assert_eq!(data(&mut host, receiver, 0), Reply::Ack(1_000));
        host.close_receiver(receiver);
        assert_eq!(data(&mut host, receiver, 1_000), late);
    }
}

/// Marks come back in packets of their own, once in an interval, and acknowledgements echo none.
#[test]
fn req_34_a_mark_makes_a_notification_packet_once_in_an_interval() {
    let dcqcn = DcqcnConfig { notification_interval: Nanos(4_000), ..DcqcnConfig::default() };
    let cases: [(&dyn Algorithm, u64); 2] = [(&dcqcn, 4_000), (&LineRate, 50_000)];
    for (algorithm, interval) in cases {
        let transport = TransportConfig { notification: CongestionNotification::Packet, ..TransportConfig::default() };
        let mut host = host_of(algorithm, transport);
        let receiver = open_receiver(&mut host).expect("room");
        let mut notified = Vec::new();
        for n in 0..1_000 {
            let now = n * 100;
            let data =
                Data { seq: n * 1_000, payload: 1_000, ack_requested: false, congestion_marked: !n.is_multiple_of(10) };
            let answer = host.on_data(Nanos(now), receiver, &data);
            assert!(answer.reply == Reply::Ack((n + 1) * 1_000) && !answer.congestion_echo);
            notified.extend(answer.notify.then_some(now));
        }
        assert!(notified.windows(2).all(|pair| pair[1] - pair[0] >= interval), "{notified:?}");
        assert!((notified.len() as u64).abs_diff(100_000 / interval) <= 1, "{}", notified.len());
        assert_eq!(host.counters().cnps, notified.len() as u64);
    }
}

#[test]
fn a_notification_slows_the_flow_it_is_about_and_moves_its_wake_up() {
    let mut host = host_with(&DcqcnConfig::default());
    let (key, other) = (open(&mut host, 1_000_000), open(&mut host, 1_000_000));
    let notified = host.on_notification(Nanos(5), key, crate::cc::Origin::Receiver, None).expect("under way");
    assert_eq!((notified.nic, notified.armed), (0, Armed(0b011)), "alpha and decrease");
    host.on_timeout(Nanos(4_006), key, 1);
    let rate = |key| host.sender(key).map(QueuePair::rate);
    assert_eq!((rate(key), rate(other)), (Some(BitRate::gbps(50)), Some(BitRate::gbps(100))));
    let finished = host.on_notification(Nanos(9), 99, crate::cc::Origin::Receiver, None);
    assert_eq!(finished, Err(crate::cc::NoEffect::Finished));
    host.on_ack(Nanos(9), &Ack { congestion_marked: true, ..ack(other, 0) }, &mut rng());
    host.on_ack(Nanos(9), &ack(other, 0), &mut rng());
    assert_eq!(host.counters().marks_heard, 2, "a notification and an acknowledgement");
    host.on_ack(Nanos(9), &Ack { congestion_marked: true, ..ack(99, 0) }, &mut rng());
    host.on_ack(Nanos(9), &Ack { congestion_marked: true, ..ack(other, 999_000) }, &mut rng());
    let Counters { marks_heard, marks_untold, .. } = host.counters();
    assert_eq!((marks_heard, marks_untold), (2, 3), "of flows that are over, and of bytes that were never sent");
}

/// Nothing behind what was ever sent counts: after going back an acknowledgement of what was sent before does, and behind the
/// short last packet of a message that of a whole one.
#[test]
fn answers_about_bytes_that_were_never_sent_are_ignored_and_counted() {
    let mut host = host();
    let key = open(&mut host, 9_000);
    for now in [0, 1_000, 2_000] {
        sent(host.poll(0, Nanos(now), 0));
    }
    let never = [ack(key, 9_000), Ack { nack: true, ..ack(key, 3_001) }, Ack { selective: Some(4_000), ..ack(key, 0) }];
    for forged in &never {
        assert_eq!(host.on_ack(Nanos(3_000), forged, &mut rng()), None);
    }
    assert_eq!(host.on_feedback(Nanos(3_000), &ack(key, 9_000), &mut rng()), None);
    assert_eq!((host.counters().refused.unsent, host.sender(key).map(QueuePair::acked)), (4, Some(0)));
    assert!(host.on_ack(Nanos(3_000), &Ack { nack: true, ..ack(key, 1_000) }, &mut rng()).is_some());
    assert!(host.on_ack(Nanos(3_000), &ack(key, 3_000), &mut rng()).is_some(), "sent before it went back");
    assert_eq!((host.counters().refused.unsent, host.sender(key).map(QueuePair::acked)), (4, Some(3_000)));

    let mut shared =
        host_of(&LineRate, TransportConfig { queue_pairs: QueuePairs::PerPair, ..TransportConfig::default() });
    let key = open(&mut shared, 1_500);
    sent(shared.poll(0, Nanos(0), 0));
    sent(shared.poll(0, Nanos(1_000), 0));
    assert_eq!(shared.on_ack(Nanos(2_000), &ack(key, 2_001), &mut rng()), None);
    assert_eq!(shared.on_ack(Nanos(2_000), &ack(key, 2_000), &mut rng()).map(|result| result.finished), Some(1));
}

#[test]
fn notification_packets_count_only_where_they_are_configured() {
    for (notification, refused) in
        [(CongestionNotification::Packet, 0), (CongestionNotification::Echo, 1), (CongestionNotification::FastCnp, 1)]
    {
        let mut host = host_of(&DcqcnConfig::default(), TransportConfig { notification, ..TransportConfig::default() });
        let key = open(&mut host, 1_000_000);
        assert_eq!(host.on_cnp(Nanos(5), key, &[]).is_ok(), refused == 0);
        assert_eq!(host.counters().refused.unasked, refused);
    }
}

/// The receiver's own answers pass; others' do not, nor does one's own with anything changed.
#[test]
fn answers_that_are_not_sealed_are_ignored_and_counted() {
    let notification = CongestionNotification::Packet;
    let transport = TransportConfig { seal: Some([7; 16]), notification, ..TransportConfig::default() };
    let mut host = host_of(&DcqcnConfig::default(), transport);
    let receiver = open_receiver(&mut host).expect("room");
    let limits = limits(&mut host, Nanos(4_160), 52_000);
    let spec = SenderSpec { receiver, ..SPEC };
    let key = host.open_sender(Nanos(0), 0, spec, 9_000, limits).expect("room");
    sent(host.poll(0, Nanos(0), 0));
    let tag = |host: &Host, kind, seq| {
        let answer = SealedAnswer { kind, seq, congestion_echo: false, selective: None, trimmed: None };
        let mut bytes = [0; 4];
        assert_eq!(host.seal_answer(receiver, &answer, &mut bytes, 0), 4);
        bytes
    };
    let of_ack = tag(&host, PacketKind::Ack, 1_000);
    let genuine = Ack { telemetry: &of_ack, ..ack(key, 1_000) };
    for forged in [ack(key, 1_000), Ack { nack: true, ..genuine }, Ack { seq: 0, ..genuine }] {
        assert_eq!(host.on_ack(Nanos(9), &forged, &mut rng()), None);
    }
    assert_eq!(host.on_feedback(Nanos(9), &genuine, &mut rng()), None);
    assert!(host.on_cnp(Nanos(9), key, &[]).is_err() && host.on_cnp(Nanos(9), key, &of_ack).is_err());
    assert_eq!((host.counters().refused.unsealed, host.sender(key).map(QueuePair::acked)), (6, Some(0)));
    assert!(host.on_ack(Nanos(9), &genuine, &mut rng()).is_some());
    let of_cnp = tag(&host, PacketKind::Cnp, 0);
    assert!(host.on_cnp(Nanos(9), key, &of_cnp).is_ok());
    assert_eq!((host.counters().refused.unsealed, host.sender(key).map(QueuePair::acked)), (6, Some(1_000)));
}

#[test]
fn req_46_a_flow_goes_on_by_another_source_port() {
    let mut host = host();
    let key = open(&mut host, 9_000);
    assert_eq!(host.source_port(key), Some(10_000));
    host.set_source_port(key, 50_000);
    let Poll::Send(segment) = host.poll(0, Nanos(0), 0) else { panic!("nothing sent") };
    assert_eq!((segment.sender.sport, host.source_port(key), host.source_port(99)), (50_000, Some(50_000), None));
}
