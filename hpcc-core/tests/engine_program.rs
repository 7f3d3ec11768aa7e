// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program that takes turns with an engine, and attackers.

use hpcc_core::attack::{Attack, AttackKind, AttackSettings};
use hpcc_core::balance::{Choice, LoadBalancer, LoadBalancingSettings, Random, Scheme};
use hpcc_core::cc::{Algorithm, CongestionControl, Feedback, FlowLimits, HpccConfig, Loss, Needs, RateDecision, Sent};
use hpcc_core::engine::{
    Acted, Completion, Engine, Event, FlowOptions, FlowRequest, Frame, Observer, Order, Place, ProgramClock, Sight,
    Stop, Streams,
};
use hpcc_core::ids::FrameId;
use hpcc_core::node::NodeSettings;
use hpcc_core::random::{Integers, Rng};
use hpcc_core::settings::{Input, Settings};
use hpcc_core::topology::{Link, Network, NodeKind};
use hpcc_core::transport::Protocol;
use hpcc_core::units::{BitRate, Nanos};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const HOSTS: u32 = 6;

/// Hosts at two switches, between which there are two links.
fn network() -> Network {
    let nodes = (0..HOSTS + 2).map(|node| if node < HOSTS { NodeKind::Host } else { NodeKind::Switch });
    let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
    let links = (0..HOSTS).map(|host| link(host, HOSTS + host % 2)).chain([link(HOSTS, HOSTS + 1); 2]);
    Network { nodes: nodes.collect(), links: links.collect() }
}

fn engine(protocol: Protocol, order: Order) -> Engine {
    let network = network();
    let mut settings = NodeSettings::default();
    settings.protocol.protocol = protocol;
    settings.resolve(&network);
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    Engine::new(&network, |_| Rc::clone(&settings), order, streams, 0.0, &[]).expect("the defaults go together")
}

fn requests() -> Vec<FlowRequest> {
    let request = |id: u32| {
        let (src, dst) = (id % HOSTS, (id / 2 + 3) % HOSTS);
        let dst = if src == dst { (dst + 1) % HOSTS } else { dst };
        FlowRequest {
            id,
            src,
            dst,
            dport: 200,
            priority: 3,
            size: 40_000,
            start: Nanos(u64::from(id / 4) * 3_000),
            options: FlowOptions::NONE,
        }
    };
    (0..60).map(request).collect()
}

fn sorted(mut flows: Vec<Completion>) -> Vec<Completion> {
    flows.sort_by_key(|flow| flow.request.id);
    flows
}

/// Each flow, link failure and loss by a call of the program gives what the engine makes of a list of them.
#[test]
fn a_program_gives_the_results_of_a_list() {
    let lossy: Vec<_> = (0..4).map(|port| (HOSTS, port)).collect();
    let mut listed = engine(Protocol::Rdma, Order::Canonical);
    listed.add_flows(requests());
    listed.lose(&lossy, (1, 7), 0.01);
    listed.change_links(Nanos(20_000), &[HOSTS], false);
    listed.change_links(Nanos(50_000), &[HOSTS], true);
    listed.run_until(Nanos::SECOND);
    let expected = sorted(listed.take_completed());
    assert_eq!(expected.len(), 60);
    assert!(listed.totals().losses > 0 && listed.totals().drops > 0);

    let mut told = engine(Protocol::Rdma, Order::Canonical);
    told.serve_program();
    told.lose(&lossy, (1, 7), 0.01);
    let mut acts: Vec<(Nanos, usize)> = requests().iter().zip(0..).map(|(flow, place)| (flow.start, place)).collect();
    acts.extend([(Nanos(20_000), 100), (Nanos(50_000), 101)]);
    acts.sort();
    let (mut flows, mut pauses) = (Vec::new(), 0);
    let mut run = |engine: &mut Engine, until: Nanos| {
        while engine.run_until(until) == Stop::Completion {
            pauses += 1;
            let ended = engine.take_completed();
            assert!(ended.iter().all(|flow| flow.request.start + flow.duration == engine.now()), "told at once");
            flows.extend(ended);
        }
    };
    for (at, act) in acts {
        run(&mut told, at);
        told.advance(at);
        match requests().get(act) {
            Some(&request) => assert_eq!(told.start_now(request).map(|started| started.request), Some(request)),
            None => assert_eq!(told.set_links(&[HOSTS], act == 101), [HOSTS]),
        }
    }
    run(&mut told, Nanos::SECOND);
    assert_eq!(sorted(flows), expected);
    assert_eq!((told.totals(), told.packet_hops()), (listed.totals(), listed.packet_hops()));
    assert!(pauses > 30, "flows end at many times");
    let sent: u64 =
        (0..8).flat_map(|node| (0..5).map(move |port| (node, port))).map(|(node, port)| ports(&told, node, port)).sum();
    assert_eq!(sent, told.packet_hops(), "what ports have sent");
}

/// Frames that a port has sent, if the node has it.
fn ports(engine: &Engine, node: u32, port: u16) -> u64 {
    let known = usize::from(port) < engine.fabric().ports(node).len();
    if known { engine.port_counts(node, port).frames } else { 0 }
}

/// What was seen, as text.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Observer for Notes {
    fn on_pause(&mut self, place: &Place, priority: u8, pause: bool) {
        self.0.lock().expect("no panic").push(format!("{} {priority} {pause}", place.now.0));
    }

    fn on_frame(&mut self, sight: Sight, place: &Place, id: FrameId, frame: &Frame, section: &[u8]) {
        let text =
            format!("{} {sight:?} {}.{} {id} {} {}", place.now.0, place.node, place.port, frame.size, section.len());
        self.0.lock().expect("no panic").push(text);
    }

    fn on_event(&mut self, event: &Event, place: &Place, frame: Option<(&Frame, &[u8])>) {
        let section = frame.map(|(_, section)| section.to_vec());
        self.0.lock().expect("no panic").push(format!("{} {event:?} {section:?}", place.now.0));
    }
}

/// The engine carries packets of stacks and tells when they come; a pause holds them back.
#[test]
fn packets_of_stacks_are_carried() {
    for order in [Order::Canonical, Order::Insertion] {
        let mut engine = engine(Protocol::Tcp, order);
        engine.serve_program();
        let notes = Notes::default();
        engine.observe(Box::new(notes.clone()));
        engine.watch_port(0, 0);
        let mut frame = Frame::default();
        (frame.priority, frame.src, frame.dst, frame.size) = (3, 0, 2, 1_000);
        let run = |engine: &mut Engine, until| {
            while engine.run_until(Nanos(until)) == Stop::Completion {}
            engine.advance(Nanos(until));
        };
        run(&mut engine, 100);
        let first = engine.send_frame(0, 0, 3, &frame.of_stack(950), &[7, 8]);
        engine.pause(HOSTS, 0, 3, true);
        run(&mut engine, 2_000);
        let second = engine.send_frame(0, 0, 3, &frame.of_stack(950), &[9]);
        assert_eq!((engine.queued(0, 0, 3), engine.port(0, 0).paused), (1_000, 8));
        engine.pause(HOSTS, 0, 3, false);
        run(&mut engine, 10_000);
        let told = notes.0.lock().expect("no panic").clone();
        // 80 ns a hop, and 3.92 for a PFC frame: what comes within a nanosecond is told at its end.
        let expected = [
            format!("100 Enqueue 0.0 {first} 1000 2"),
            format!("100 Dequeue 0.0 {first} 1000 2"),
            format!("100 Departure 0.0 {first} 1000 2"),
        ];
        assert_eq!(told[..3], expected, "{order:?}");
        let has = |text: String| assert_eq!(told.iter().filter(|told| **told == text).count(), 1, "{text}: {told:#?}");
        has("1104 3 true".into());
        has(format!("2260 Packet({first:?}) Some([7, 8])"));
        has("3004 3 false".into());
        has(format!("3004 Departure 0.0 {second} 1000 1"));
        has(format!("5164 Packet({second:?}) Some([9])"));
        assert_eq!(engine.totals().marks, 0);
    }
}

/// Frames that leave host 0 within a time, by priority: how many of them, and their bytes. It has a flow without congestion control in
/// priority 3, and 300 packets of its stack in priority 4.
fn shared(percent: u8, has_flow: bool, paused: u8) -> [(u64, u64); 8] {
    let network = network();
    let mut settings = NodeSettings::default();
    settings.set("congestion_control", None, "algorithm", Input::Text("none")).expect("an algorithm");
    settings.resolve(&network);
    let settings = Rc::new(settings);
    let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
    let mut engine =
        Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]).expect("they go together");
    engine.serve_program();
    engine.share_ports(0, percent);
    let left = Departures::default();
    engine.observe(Box::new(left.clone()));
    engine.watch_port(0, 0);
    for priority in (0..8).filter(|priority| paused >> priority & 1 != 0) {
        engine.pause(HOSTS, 0, priority, true);
    }
    engine.run_until(Nanos(10_000));
    engine.advance(Nanos(10_000));
    let mut frame = Frame::default();
    (frame.priority, frame.src, frame.dst, frame.size) = (4, 0, 2, 1_518);
    for _ in 0..300 {
        engine.send_frame(0, 0, 4, &frame.of_stack(1_448), &[]);
    }
    if has_flow {
        engine.start_now(FlowRequest { size: 1_000_000, dst: 2, ..requests()[0] }).expect("a flow");
    }
    while engine.run_until(Nanos(40_000)) == Stop::Completion {}
    *left.0.lock().expect("no panic")
}

/// What leaves host 0.
#[derive(Clone, Default)]
struct Departures(Arc<Mutex<[(u64, u64); 8]>>);

impl Observer for Departures {
    fn on_pause(&mut self, _: &Place, _: u8, _: bool) {}

    fn on_frame(&mut self, sight: Sight, place: &Place, _: FrameId, frame: &Frame, _: &[u8]) {
        if sight == Sight::Departure && place.node == 0 {
            let (frames, bytes) = &mut self.0.lock().expect("no panic")[usize::from(frame.priority)];
            (*frames, *bytes) = (*frames + 1, *bytes + u64::from(frame.size));
        }
    }
}

/// Two parts that saturate a link share it as the percentage says, to a frame; 0 and 100 are strict priorities.
#[test]
fn a_stack_and_queue_pairs_share_a_link() {
    for percent in [10, 25, 50, 80] {
        let left = shared(percent, true, 0);
        let (data, packets) = (left[3].1 as f64, left[4].1 as f64);
        assert!(left[3].0 > 20 && left[4].0 > 20, "{percent}: {left:?}");
        let lead = data * f64::from(percent) - packets * f64::from(100 - percent);
        assert!(lead.abs() <= 1_518.0 * 100.0, "{percent}: {left:?}");
        // The link is never idle: 12.5 bytes a nanosecond for 30 us.
        assert!((data + packets - 375_000.0).abs() <= 1_518.0, "{left:?}");
    }
    let (data_first, packets_first) = (shared(0, true, 0), shared(100, true, 0));
    // The first packet has left when the flow begins.
    assert_eq!((data_first[4].0, packets_first[3].0), (1, 0), "{data_first:?} {packets_first:?}");
}

/// A pause of either part leaves the whole link to the other, and a part alone has all of it whatever the percentage.
#[test]
fn a_pause_of_one_part_of_a_link_does_not_hold_up_the_other() {
    let frames = |bytes: f64| (375_000.0 / bytes) as u64;
    for percent in [0, 30, 100] {
        let [no_data, no_packets] = [3, 4].map(|paused| shared(percent, true, 1 << paused));
        assert_eq!((no_data[3].0, no_packets[4].0), (0, 0));
        assert!(no_data[4].0.abs_diff(frames(1_518.0)) <= 1, "{no_data:?}");
        assert!(no_packets[3].1.abs_diff(375_000) <= 1_518, "{no_packets:?}");
        assert_eq!(shared(percent, false, 0)[4], no_data[4], "packets alone");
    }
}

/// Queue pairs alone do not notice that a stack might send.
#[test]
fn queue_pairs_do_not_notice_a_silent_stack() {
    let run = |shares: bool| {
        let mut engine = engine(Protocol::Rdma, Order::Canonical);
        if shares {
            (0..HOSTS).for_each(|host| engine.share_ports(host, 50));
        }
        engine.add_flows(requests());
        engine.run_until(Nanos::SECOND);
        (sorted(engine.take_completed()), engine.totals())
    };
    assert_eq!(run(true), run(false));
}

/// An attacker that forges negative acknowledgements makes its victim send again, until it goes.
#[test]
fn attackers_send_until_they_go() {
    let resent = |stop: Option<Nanos>, is_gone: bool| {
        let mut engine = engine(Protocol::Rdma, Order::Canonical);
        engine.add_flows(requests().into_iter().take(1).map(|flow| FlowRequest { size: 1_000_000, ..flow }));
        let settings = AttackSettings {
            kind: AttackKind::ForgedNack,
            from: 1,
            victims: "0".into(),
            stop,
            ..AttackSettings::default()
        };
        let mut nodes = NodeSettings::default();
        nodes.resolve(&network());
        let attack = Attack::new(&settings, &network(), &nodes, None).expect("settings that go together");
        let place = engine.attack(attack);
        if is_gone {
            engine.end_attack(place);
        }
        engine.run_until(Nanos::SECOND);
        assert_eq!(engine.take_completed().len(), 1);
        let sent = engine.attacks().map(Attack::sent).sum::<u64>();
        (sent, engine.counters(0).resent)
    };
    let (sent, all) = resent(None, false);
    assert!(sent > 5 && all > 100, "{sent} forged, {all} packets again; the attack ends with the flow");
    let (brief, some) = resent(Some(Nanos(30_000)), false);
    assert!((1..sent).contains(&brief) && some < all, "{brief} {some}");
    assert_eq!(resent(None, true), (0, 0));
}

/// Where the clock of the program stands, and how often a controller was told of another time.
static CLOCK: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);
/// Held by the test that uses both.
static WATCHED: Mutex<()> = Mutex::new(());

fn hear(now: Nanos) {
    WRONG.fetch_add(u64::from(CLOCK.load(Ordering::Relaxed) != now.0), Ordering::Relaxed);
}

hpcc_core::settings! {
    /// HPCC of a program.
    #[derive(Clone, Debug)]
    pub struct Watchful {
        /// Nothing.
        #[change = "Nothing changes."]
        pub nothing: bool = false;
    }
}

impl Algorithm for Watchful {
    fn name(&self) -> &'static str {
        "watchful"
    }

    fn summary(&self) -> &'static str {
        "HPCC that looks at a clock"
    }

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        Box::new(Watching(HpccConfig::default().start(limits)))
    }

    fn min_rate(&self, rate: BitRate) -> Option<BitRate> {
        HpccConfig::default().min_rate(rate)
    }

    fn needs(&self) -> Needs {
        Needs { sent: true, program: true, ..HpccConfig::default().needs() }
    }
}

#[derive(Debug)]
struct Watching(Box<dyn CongestionControl>);

impl CongestionControl for Watching {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, rng: &mut Rng) -> RateDecision {
        hear(feedback.now);
        self.0.on_feedback(feedback, rng)
    }

    fn on_sent(&mut self, sent: &Sent) {
        hear(sent.now);
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        hear(loss.now);
        self.0.on_loss(loss)
    }
}

/// A program that does nothing each 700 ns; it takes turns with the engine or lets it set its clock.
struct Ticking {
    takes_turns: bool,
}

impl ProgramClock for Ticking {
    fn act_at(&self, now: Nanos, act: &mut dyn FnMut()) -> Acted {
        if self.takes_turns && CLOCK.load(Ordering::Relaxed) != now.0 {
            return Acted::Waits;
        }
        assert!(CLOCK.swap(now.0, Ordering::Relaxed) <= now.0, "time goes on");
        act();
        Acted::Done
    }

    fn next(&self) -> Nanos {
        Nanos((CLOCK.load(Ordering::Relaxed) / 700 + 1) * 700)
    }
}

impl Scheme for Watchful {
    fn name(&self) -> &'static str {
        "watchful"
    }

    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        Box::new(Choosing(Random.start(network, switch)))
    }
}

#[derive(Debug)]
struct Choosing(Box<dyn LoadBalancer>);

impl LoadBalancer for Choosing {
    fn is_programmed(&self) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        hear(choice.now);
        self.0.choose(choice, rand)
    }
}

/// The clock is right whenever it is looked at, and changes nothing.
#[test]
fn controllers_and_balancers_of_a_program_are_told_at_the_time_of_its_clock() {
    let _watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    told_at_their_time(|settings| settings.control.choose(Box::new(Watchful::default())));
    told_at_their_time(|settings| {
        settings.load_balancing = LoadBalancingSettings::with(vec![Box::new(Watchful::default())]);
        settings.load_balancing.set("scheme", Input::Text("watchful")).expect("a name");
    });
}

fn told_at_their_time(set: fn(&mut NodeSettings)) {
    let run = |clock: Option<Ticking>| {
        let network = network();
        let mut settings = NodeSettings::default();
        set(&mut settings);
        settings.resolve(&network);
        let settings = Rc::new(settings);
        let streams = Streams { marks: 1, pint: 1, losses: 1, seed: 1 };
        let engine = Engine::new(&network, |_| Rc::clone(&settings), Order::Canonical, streams, 0.0, &[]);
        let mut engine = engine.expect("these go together");
        assert!(engine.calls_program());
        CLOCK.store(0, Ordering::Relaxed);
        WRONG.store(0, Ordering::Relaxed);
        if let Some(clock) = clock {
            engine.follow_clock(Box::new(clock));
        }
        engine.add_flows(requests());
        engine.change_links(Nanos(20_000), &[HOSTS], false);
        let mut turns = 0;
        while engine.run_until(Nanos(200_000)) == Stop::Completion {
            turns += 1;
            let due = (CLOCK.load(Ordering::Relaxed) / 700 + 1) * 700;
            let next = engine.next_time().map_or(due, |next| next.0.min(due));
            CLOCK.store(next.max(engine.now().0), Ordering::Relaxed);
        }
        (sorted(engine.take_completed()), engine.totals(), turns, WRONG.load(Ordering::Relaxed))
    };
    let (expected, totals, _, wrong) = run(None);
    assert!(expected.len() > 40 && wrong > 500, "{} flows, {wrong}: nobody has told it the time", expected.len());
    for takes_turns in [false, true] {
        let (flows, sum, turns, wrong) = run(Some(Ticking { takes_turns }));
        assert_eq!((flows, sum, wrong), (expected.clone(), totals, 0), "takes turns: {takes_turns}");
        assert_eq!(turns > 100, takes_turns);
    }
}

/// A flow's own congestion control is told of it alone, and does what its host's would.
#[test]
fn a_flow_may_have_its_own_congestion_control() {
    let _watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let run = |own: bool| {
        let mut engine = engine(Protocol::Rdma, Order::Canonical);
        WRONG.store(0, Ordering::Relaxed);
        CLOCK.store(u64::MAX, Ordering::Relaxed);
        let number = engine.add_control(0, Box::new(Watchful::default()));
        assert_eq!(engine.add_control(0, Box::new(Watchful::default())), number, "it is known");
        let control = Some(number).filter(|_| own);
        let options = FlowOptions { control, ..FlowOptions::NONE };
        let of_host_0 =
            |request: FlowRequest| if request.src == 0 { FlowRequest { options, ..request } } else { request };
        engine.add_flows(requests().into_iter().map(of_host_0));
        engine.run_until(Nanos(1_000_000));
        let times = sorted(engine.take_completed()).iter().map(|flow| flow.duration).collect::<Vec<_>>();
        (times, WRONG.load(Ordering::Relaxed))
    };
    let ((usual, silence), (own, calls)) = (run(false), run(true));
    assert_eq!((own, silence), (usual, 0));
    // Ten flows of 40 packets, each of which is sent and acknowledged.
    assert_eq!(calls, 800);
}
