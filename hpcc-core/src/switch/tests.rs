// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a switch answers of frames that come, wait and leave.

use super::*;
use crate::ecn::EcnThreshold;
use crate::reference_faults::ReferenceFaults;
use crate::telemetry::{Csig, Form, HopStack, Ifa, MAX_SECTION, Pint, Telemetry};
use crate::testing::{node_with, records};
use crate::topology::Network;

/// Three hosts (0, 1, 2) on switch 3.
fn star() -> Switch {
    star_with(Layout::new(Reference { multiplier: 1 }))
}

fn star_with(layout: Layout) -> Switch {
    star_of(layout, BufferMode::Lossless)
}

fn star_of(layout: Layout, mode: BufferMode) -> Switch {
    star_like(layout, SwitchConfig { mode, ..SwitchConfig::default() })
}

/// Telemetry tells of queues, which are served by these classes.
fn star_of_queues(layout: Layout, classes: &str) -> Switch {
    let classes = Some(Classes::parse(classes).expect("a list"));
    let report = ReportConfig { scope: Scope::Queue, wait: Wait::Length };
    star_like(layout, SwitchConfig { classes, report, ..SwitchConfig::default() })
}

fn star_like(layout: Layout, config: SwitchConfig) -> Switch {
    let routes = crate::topology::routes::Routes::new(&crate::testing::star(), 1000);
    let threshold = EcnThreshold { rate: BitRate::gbps(100), kmin: 1_000, kmax: 2_000, pmax: 0.0 };
    let config = SwitchConfig { buffer_bytes: 1 << 20, ecn: true, ecn_thresholds: alloc::vec![threshold], ..config };
    let ports = [(BitRate::gbps(100), Nanos(1_000)); 3];
    Switch::new(3, &config, layout, BitRate::gbps(100), Nanos(4_160), &ports, routes.table(3))
}

/// A data frame of host 0 leaves with a full section and an empty queue behind it.
fn depart(
    switch: &mut Switch,
    egress: u16,
    now: Nanos,
    size: u32,
    bytes: &mut [u8],
    rng: &mut Rng,
) -> (Departure, usize) {
    let head = Head { priority: 3, is_data: true, size, ..Head::default() };
    let mut section = Section { len: bytes.len(), bytes };
    (switch.depart(egress, now, &head, &mut section, rng), section.len)
}

const ADMITTED: Admission = Admission::Admit { pause: false };

/// A frame of host 0 for host 2 comes in.
fn arrive(switch: &mut Switch) -> Admission {
    switch.admit(0, 2, 3, 1090)
}

/// Where data with a hop limit goes.
fn route(switch: &mut Switch, dst: u32, hop_limit: u8) -> Route {
    let frame = Arriving { dst, hop_limit, is_data: true, ..Arriving::default() };
    switch.route(Nanos(0), &frame, &mut Rng::new(26, 1))
}

#[test]
fn frames_go_where_the_destination_is() {
    let mut switch = star();
    let routes = [2, 3, 99].map(|dst| route(&mut switch, dst, 64));
    assert_eq!(routes, [Route::To { egress: 2, hop_limit: 63 }, Route::None, Route::None]);
    assert_eq!((arrive(&mut switch), switch.queued(2)), (ADMITTED, 1090));
}

/// Memory is that of a switch without PFC, a queue's share all that is free.
#[test]
fn what_is_held_takes_memory_but_no_queue() {
    let mut switch = star_of(Layout::new(Reference { multiplier: 1 }), BufferMode::Lossy { alpha: 1.0 });
    let all = 1 << 20;
    assert_eq!([all, all + 1].map(|size| switch.may_wait(0, 3, size)), [true, false]);
    assert!(!switch.hold(0, 3, all - 1_090));
    assert_eq!((switch.queued(2), switch.may_wait(0, 3, 1_090), switch.may_wait(0, 3, 1_091)), (0, true, false));
    switch.hand_on(2, 3, all - 1_090);
    assert_eq!(
        (switch.queued(2), arrive(&mut switch)),
        (all - 1_090, Admission::Drop),
        "no share is left to this queue"
    );
    assert!(!switch.hold(0, 3, 1_000));
    assert!(!switch.let_go(0, 3, 1_000));
    let head = Head { priority: 3, size: all - 1_090, ..Head::default() };
    assert!(!switch.discard(2, &head));
    assert_eq!([all, all + 1].map(|size| switch.may_wait(0, 3, size)), [true, false]);
}

#[test]
fn what_is_held_pauses_its_sender_until_it_goes_on() {
    let mut switch = star();
    let held = (0..).take_while(|_| !switch.hold(0, 3, 1_000)).count() + 1;
    assert!(held > 50 && switch.paused(0) == 1 << 3, "{held}");
    let gone = (0..held).take_while(|_| !switch.let_go(0, 3, 1_000)).count() + 1;
    assert!(gone < held && switch.paused(0) == 0, "{gone} of {held}");
}

#[test]
fn a_frame_is_dropped_where_its_hop_limit_ends() {
    let mut switch = star();
    let to = |hop_limit| Route::To { egress: 2, hop_limit };
    let last = |switch: &mut Switch| [2, 1, 0].map(|hop_limit| route(switch, 2, hop_limit));
    assert_eq!(last(&mut switch), [1, 0, 0].map(to), "frames without a hop limit");
    switch.hop_limits = true;
    assert_eq!(last(&mut switch), [to(1), Route::Expired, Route::Expired]);
}

/// A record of 8 bytes joins the section of two.
#[test]
fn a_frame_leaves_with_the_bytes_that_its_record_adds() {
    let mut switch = star_with(Layout::new(Form::Paper));
    let mut bytes = [0; 64];
    let len = Layout::new(Form::Paper).prepare(&mut bytes, Nanos(0));
    let mut section = Section { len, bytes: &mut bytes };
    let head = Head { priority: 3, is_data: true, size: 1_000, ..Head::default() };
    switch.depart(2, Nanos(0), &head, &mut section, &mut Rng::new(26, 1));
    assert_eq!((section.len, switch.sent(2)), (len + 8, 1_008));
}

/// The tag is off before the frame is counted.
#[test]
fn telemetry_is_taken_off_what_leaves_by_some_ports() {
    let layout = Layout::new(Csig::default());
    let mut switch = star_with(layout.clone());
    switch.strip(alloc::vec![false, false, true]);
    for (egress, expected) in [(1, (4, 1_004)), (2, (0, 1_000))] {
        let mut bytes = [0; 4];
        let mut section = Section { len: layout.prepare(&mut bytes, Nanos(0)), bytes: &mut bytes };
        let head = Head { priority: 3, is_data: true, size: 1_004, ..Head::default() };
        switch.depart(egress, Nanos(0), &head, &mut section, &mut Rng::new(26, 1));
        assert_eq!((section.len, switch.sent(egress)), expected);
    }
}

/// Two of three frames wait still, in a queue that is sure of the whole link.
#[test]
fn req_29_the_stamp_shows_the_queue_of_the_frame() {
    let layout = Layout::new(Reference { multiplier: 1 });
    let mut switch = star_of_queues(layout.clone(), "3:1000");
    for _ in 0..3 {
        arrive(&mut switch);
    }
    let mut section = [0; 64];
    let len = layout.prepare(&mut section, Nanos(0));
    let (_, len) = depart(&mut switch, 2, Nanos(77), 1_090, &mut section[..len], &mut Rng::new(26, 1));
    assert_eq!(records(&layout, &section[..len]).hops()[0].qlen, 2_160, "2180 in units of 80 bytes");
}

#[test]
fn the_queue_left_behind_decides_the_mark() {
    let mut switch = star();
    let mut rng = Rng::new(26, 1);
    for _ in 0..3 {
        arrive(&mut switch);
    }
    let mut marks = || depart(&mut switch, 2, Nanos(0), 1090, &mut [], &mut rng).0.mark;
    assert_eq!([marks(), marks(), marks()], [true, false, false]);
}

#[test]
fn a_lossy_switch_drops_and_never_pauses() {
    let mut switch = star_of(Layout::none(), BufferMode::Lossy { alpha: 1.0 });
    let mut rng = Rng::new(26, 1);
    let mut frames = 0;
    while arrive(&mut switch) == ADMITTED {
        frames += 1;
    }
    assert_eq!(arrive(&mut switch), Admission::Drop);
    // The 481st still finds 480 frames in the queue and a little more room than 481.
    assert_eq!(frames, 481);
    assert!((0..frames).all(|_| !depart(&mut switch, 2, Nanos(0), 1090, &mut [], &mut rng).0.resume));
    assert_eq!(arrive(&mut switch), ADMITTED);
}

#[test]
fn discarded_frames_free_their_buffer_and_resume_their_sender() {
    let mut switch = star();
    let mut frames = 1;
    while arrive(&mut switch) == ADMITTED {
        frames += 1;
    }
    let head = Head { priority: 3, is_data: true, size: 1090, ..Head::default() };
    assert_eq!((0..frames).filter(|_| switch.discard(2, &head)).count(), 1);
    assert_eq!(switch.queued(2), 0);
}

/// Frames of random sizes and priorities pass, or wait in front of others, at two switches: one is asked whether they
/// pass. Both have the same accounts after each frame, and stamp and mark alike.
#[test]
fn a_frame_that_passes_leaves_what_one_that_waits_for_nothing_leaves() {
    let layout = Layout::new(Reference { multiplier: 1 });
    let plan = Some(super::cell_buffer_tests::small_plan().into());
    for config in [
        SwitchConfig::default(),
        SwitchConfig { mode: BufferMode::Lossy { alpha: 1.0 }, ..SwitchConfig::default() },
        SwitchConfig { plan, ..SwitchConfig::default() },
    ] {
        let [mut passes, mut waits] = [(); 2].map(|()| {
            let mut switch = star_like(layout.clone(), config.clone());
            switch.marks.thresholds[0].pmax = 0.5;
            switch
        });
        let (mut chance, mut waiting) = (Rng::new(26, 2), alloc::collections::VecDeque::new());
        let (mut of_passes, mut of_waits) = (Rng::new(26, 1), Rng::new(26, 1));
        let (mut passed, mut refused) = (0, 0);
        let mut below = |bound: u32| (chance.marks.uniform() * f64::from(bound)) as u32;
        for step in 0..4_000 {
            let (ingress, priority, size) = (below(2) as u16, below(8) as u8, 1 + below(9_000));
            let head = Head { ingress, priority, is_data: below(2) == 0, size, ..Head::default() };
            let now = Nanos(step);
            let sections = &mut [[0; 64]; 2];
            let len = layout.prepare(&mut sections[0], now);
            sections[1] = sections[0];
            let [mut one, mut other] = sections.each_mut().map(|bytes| Section { bytes, len });
            if let Some(mark) = passes.cut_through(2, now, &head, &mut one, &mut of_passes) {
                assert_eq!(waits.admit(ingress, 2, priority, size), ADMITTED);
                let departure = waits.depart(2, now, &head, &mut other, &mut of_waits);
                assert_eq!(departure, Departure { mark, resume: false });
                assert_eq!(sections[0], sections[1]);
                passed += 1;
            } else {
                refused += 1;
            }
            // Queues and pauses, so that some frames are marked, refused, or need care.
            let admission = passes.admit(ingress, 2, priority, size);
            assert_eq!(waits.admit(ingress, 2, priority, size), admission);
            if admission != Admission::Drop {
                waiting.push_back(head);
            }
            while waiting.len() > 40 * (step as usize % 1_000 / 100) {
                let head = waiting.pop_front().expect("one waits");
                assert_eq!(passes.discard(2, &head), waits.discard(2, &head));
            }
            assert_eq!(alloc::format!("{passes:?}"), alloc::format!("{waits:?}"), "after frame {step}");
        }
        assert!(passed > 500 && refused > 100, "{passed} passed, {refused} were refused");
    }
}

/// REQ-01: the stamp shows the port's counters before this packet.
#[test]
fn req_01_the_stamp_shows_the_port() {
    let mut switch = star();
    let mut rng = Rng::new(26, 1);
    let mut section = [0; 64];
    switch.send_pfc(2, Nanos(0), 1_280);
    let layout = Layout::new(Reference { multiplier: 1 });
    let len = layout.prepare(&mut section, Nanos(0));
    let (_, len) = depart(&mut switch, 2, Nanos(77), 1_090, &mut section[..len], &mut rng);
    let hop = records(&layout, &section[..len]).hops()[0];
    assert_eq!((hop.rate, hop.ts, hop.tx_bytes, hop.qlen), (BitRate::gbps(100), 77, 1_280, 0));
}

/// A class that is sure of a hundredth of the link does not make an idle port look full.
#[test]
fn pint_tells_of_the_port_whatever_records_would_tell_of() {
    let layout = Layout::new(Pint::new(1.05, true));
    let mut switch = star_of_queues(layout.clone(), "3:1000,4:99000");
    let mut rng = Rng::new(26, 1);
    let mut section = [0; 8];
    for n in 0..500 {
        for _ in 0..3 {
            switch.admit(0, 1, 3, 1090);
        }
        let len = layout.prepare(&mut section, Nanos(0));
        depart(&mut switch, 1, Nanos(n * 840), 1_050, &mut section[..len], &mut rng);
    }
    let Telemetry::Utilisation(u) = layout.read(&section[..2], &mut HopStack::default()) else { panic!("a code") };
    assert!((0.09..0.12).contains(&u), "{u}");
}

/// A node's settings reach its switch and what its hosts read: 2 us in the switch, at 100 Gb/s, are 25,000 bytes before a queue
/// that holds nothing any more. IFA has a field of its own for that time.
#[test]
fn req_28_the_time_in_the_switch_stands_for_the_queue_where_it_is_asked_for() {
    for layout in ["reference", "ifa"] {
        for (asked, expected) in [("length", 0), ("sojourn", 25_000)] {
            let mut node = node_with(&[
                ("wire", "profile", "rocev2_ipv4"),
                ("telemetry", "layout", layout),
                ("switch", "telemetry_queue", asked),
            ]);
            node.resolve(&Network::default());
            let config = node.switch(&[BitRate::gbps(100)]);
            let (stamps, reads) = (node.stamped_layout(), node.host().layout);
            let mut switch = star_like(stamps, config);
            let mut bytes = [0; MAX_SECTION];
            let mut section = Section { len: reads.prepare(&mut bytes, Nanos(0)), bytes: &mut bytes };
            let head = Head { priority: 3, is_data: true, size: 1_000, arrived: Nanos(3_000), ..Head::default() };
            switch.depart(2, Nanos(5_000), &head, &mut section, &mut Rng::new(26, 1));
            let queue = |layout: &Layout| records(layout, &section.bytes[..section.len]).hops()[0].qlen;
            assert!(queue(&reads).abs_diff(expected) < 600, "{layout} {asked}: {}", queue(&reads));
            if let Some(&Ifa { hops, .. }) = reads.codec() {
                assert_eq!(queue(&Layout::new(Ifa { hops, sojourn: false })), 0, "the queue's field is the queue's");
            }
        }
    }
}

/// What `text` of a setting makes of a star's switch, where priorities 1 and 2 are lossy.
fn star_set(sets: &[(&str, &str, &str)]) -> Switch {
    let lossy = [("switch", "lossy_priorities", "1,2"), ("switch", "pfc_priorities", "3,4")];
    let sets: Vec<_> = lossy.iter().chain(sets).copied().collect();
    let settings = node_with(&sets).switch;
    settings.check().expect("they go together");
    let pause = settings.pause(0);
    let config = settings.config(Vec::new(), crate::wire::WireProfile::default(), pause, ReferenceFaults::NONE);
    star_like(Layout::none(), config)
}

#[test]
fn priorities_are_marked_by_thresholds_of_their_own() {
    let mut switch = star_set(&[("switch", "class_ecn", "3:3KB 3KB 1, 4:none")]);
    let mut marked_behind = |priority: u8| {
        let (mut rng, mut section) = (Rng::new(26, 1), Section { bytes: &mut [], len: 0 });
        (0..6).for_each(|_| _ = switch.admit(0, 2, priority, 1_000));
        let head = Head { priority, is_data: true, size: 1_000, ..Head::default() };
        let marks =
            core::array::from_fn::<bool, 6, _>(|_| switch.depart(2, Nanos(0), &head, &mut section, &mut rng).mark);
        marks.iter().filter(|&&mark| mark).count()
    };
    // 5, 4, ... 0 kB wait behind them; all others are marked above 2 kB, and by no chance below.
    assert_eq!([1, 3, 4].map(&mut marked_behind), [3, 2, 0]);
}

#[test]
fn priorities_have_parts_of_the_memory_of_their_own() {
    let until = |switch: &mut Switch, priority: u8, end: Admission| {
        (0..2_000).find(|_| switch.admit(0, 2, priority, 1_000) == end).expect("it ends")
    };
    let (paused, dropped) = (Admission::Admit { pause: true }, Admission::Drop);
    let usual =
        [(3, paused), (4, paused), (1, dropped)].map(|(priority, end)| until(&mut star_set(&[]), priority, end));
    let own = [("switch", "class_alpha", "3:0.5, 1:0.25")];
    let own = [(3, paused), (4, paused), (1, dropped)].map(|(priority, end)| until(&mut star_set(&own), priority, end));
    // A ninth and a third of what is free, a half and a fifth.
    assert_eq!((usual[1], usual[0]), (own[1], own[1]));
    assert!((28..32).contains(&(own[0] * 10 / usual[0])), "{usual:?} {own:?}");
    assert!((23..27).contains(&(usual[2] * 10 / own[2])), "{usual:?} {own:?}");
    for set in ["3:0.3", "3:2"] {
        let settings = node_with(&[("switch", "lossy_priorities", "1,2"), ("switch", "class_alpha", set)]).switch;
        assert_eq!(settings.check().map_err(|conflict| conflict.key), Err("class_alpha"), "{set}");
    }
}
