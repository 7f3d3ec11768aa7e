// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

/// A flow, with a number of each rule.
#[derive(Clone, Debug, PartialEq)]
struct Flow {
    window: u64,
    last_sent: Nanos,
    timeout: Nanos,
    last_cut: Nanos,
    sent: u64,
    acked: u64,
    packets: u64,
    label: u8,
}

recurs! {
    Flow {
        window: plain,
        last_sent: moves,
        timeout: until,
        last_cut: since_rtt,
        sent: sequence,
        acked: sequence,
        packets: count,
        label: constant,
    }
}

const FIRST: Flow = Flow {
    window: 7,
    last_sent: Nanos(990),
    timeout: Nanos(5_000),
    last_cut: Nanos(0),
    sent: 40_000,
    acked: 30_000,
    packets: 40,
    label: 1,
};

/// 100 ns and two packets later.
fn later() -> Flow {
    Flow { last_sent: Nanos(1_090), sent: 42_000, acked: 32_000, packets: 42, ..FIRST }
}

/// A walk that has compared two cuts, at 1,000 and 1,100 ns.
fn compared(first: &Flow, second: &Flow) -> Walk {
    let mut walk = Walk::default();
    walk.note(Nanos(1_000));
    first.clone().walk(&mut walk);
    walk.compare(Nanos(1_100));
    second.clone().walk(&mut walk);
    walk
}

#[test]
fn what_has_moved_by_a_period_moves_by_any_number_of_them() {
    let mut walk = compared(&FIRST, &later());
    assert!(walk.is_period());
    assert_eq!((walk.period(), walk.end(), walk.flow_moves(0)), (Nanos(100), Nanos(5_000), 2_000));
    let mut moved = later();
    walk.move_on(30);
    moved.walk(&mut walk);
    let expected = Flow { last_sent: Nanos(4_090), sent: 102_000, acked: 92_000, packets: 102, ..FIRST };
    assert_eq!(moved, expected);
}

#[test]
fn each_number_has_to_keep_its_rule() {
    type Change = fn(&mut Flow);
    let changes: [(&str, Change); 6] = [
        ("a plain number", |flow| flow.window += 1),
        ("a time that moves otherwise", |flow| flow.last_sent += Nanos(1)),
        ("a time that moves and stays", |flow| flow.last_sent = FIRST.last_sent),
        ("a time to come that moves otherwise", |flow| flow.timeout += Nanos(1)),
        ("a flow's numbers that move apart", |flow| flow.acked += 1_000),
        ("a count that falls", |flow| flow.packets = 39),
    ];
    for (what, change) in changes {
        let mut second = later();
        change(&mut second);
        assert!(!compared(&FIRST, &second).is_period(), "{what}");
    }
}

/// A time that does not move had passed when the period began, or it ends the periods; one within it would have changed something.
#[test]
fn a_time_that_does_not_move_is_no_part_of_the_period() {
    for (timeout, expected) in
        [(999, Some(u64::MAX)), (1_000, Some(u64::MAX)), (1_001, None), (1_100, None), (1_101, Some(1_101))]
    {
        let [first, second] = [FIRST, later()].map(|flow| Flow { timeout: Nanos(timeout), ..flow });
        let walk = compared(&first, &second);
        assert_eq!(walk.is_period().then_some(walk.end().0), expected, "{timeout}");
    }
}

/// A cut of the window that was less than a round trip ago when the period began may have kept another one away in it.
#[test]
fn a_past_that_still_counts_is_no_part_of_the_period() {
    for (last_cut, recurs) in [(700, true), (701, false), (900, false), (1_050, false)] {
        let last_cut = Nanos(last_cut);
        let mut walk = Walk::default();
        walk.note(Nanos(1_000));
        for (at, moved) in [(1_000, 0), (1_100, 100)] {
            if at > 1_000 {
                walk.compare(Nanos(at));
            }
            // The oldest packet under way left 200 ns before each cut: no round trip in the period is longer than 300 ns.
            walk.under_way_since(Nanos(800 + moved));
            walk.since_rtt(&mut last_cut.clone());
        }
        assert_eq!(walk.is_period(), recurs, "{last_cut:?}");
    }
}

#[test]
fn walks_of_other_lengths_are_no_period() {
    for second in [1, 3] {
        let mut walk = Walk::default();
        walk.note(Nanos(0));
        walk.plain(&[5_u64; 2]);
        walk.compare(Nanos(9));
        walk.plain(&[5_u64; 3][..second]);
        assert!(!walk.is_period());
    }
}

#[test]
fn what_is_refused_is_no_period() {
    let mut walk = compared(&FIRST, &later());
    walk.absent(&Some(3));
    assert!(!walk.is_period() && walk.refusal().is_some());
}

/// Behind the end of a message the same may follow: times and sequence numbers have moved, each flow's by its own way.
#[test]
fn a_known_period_is_recognised_and_moves_as_it_did() {
    let later_still = |last_sent, timeout| {
        let (sent, acked) = (940_000, 930_000);
        Flow { last_sent: Nanos(last_sent), timeout: Nanos(timeout), sent, acked, packets: 7_000, ..FIRST }
    };
    for (last_sent, timeout, expected) in
        [(50_990, 60_000, Some(60_000)), (50_991, 60_000, None), (50_990, 51_000, None), (50_990, 7, None)]
    {
        let mut walk = compared(&FIRST, &later());
        let mut now = later_still(last_sent, timeout);
        walk.recognise(Nanos(51_000));
        now.walk(&mut walk);
        assert_eq!(walk.is_period().then_some(walk.end().0), expected, "{last_sent} {timeout}");
        if expected.is_some() {
            walk.move_on(3);
            now.walk(&mut walk);
            let moved = later_still(last_sent + 300, timeout);
            assert_eq!(now, Flow { sent: 946_000, acked: 936_000, packets: 7_006, ..moved });
        }
    }
}

/// A wake-up is compared with other times: one that stays, though it is to come, may change what happens before it.
#[test]
fn a_planned_wake_up_moves_or_there_is_none() {
    let never = Nanos(u64::MAX);
    for (before, after, recurs) in
        [(never, never, true), (Nanos(1_050), Nanos(1_150), true), (Nanos(9_000), Nanos(9_000), false)]
    {
        let mut walk = Walk::default();
        walk.note(Nanos(1_000));
        walk.wake(&mut before.clone());
        walk.compare(Nanos(1_100));
        walk.wake(&mut after.clone());
        assert_eq!(walk.is_period(), recurs, "{before:?}");
        walk.recognise(Nanos(2_000));
        walk.wake(&mut Nanos(2_050));
        assert_eq!(walk.is_period(), before == Nanos(1_050), "{before:?}");
    }
}

/// A timer that is farther ahead than in the known period may be put forward in this one.
#[test]
fn a_timer_is_recognised_as_far_ahead_as_it_was_known() {
    for (due, recurs) in [(60_000, true), (55_000, true), (60_001, false), (51_000, false)] {
        let mut walk = Walk::default();
        walk.note(Nanos(1_000));
        walk.due(&mut Nanos(10_000));
        walk.compare(Nanos(1_100));
        walk.due(&mut Nanos(10_000));
        assert!(walk.is_period() && walk.end() == Nanos(10_000));
        walk.recognise(Nanos(51_000));
        walk.due(&mut Nanos(due));
        assert_eq!(walk.is_period(), recurs, "{due}");
    }
}
