// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::workload::{Action, Job, Jobs, Message, Noted};
use alloc::boxed::Box;
use alloc::vec;

/// A job of one collective among so many ranks, each at a host of its own.
fn job(plan: &Plan) -> Job {
    let rank = |place| (place, Box::new(Collective::new(plan.clone(), place)) as Box<dyn Program>);
    Job {
        start: Nanos(0),
        ranks: (0..plan.group.len() as u32).map(rank).collect(),
        send_latency: Nanos(0),
        priority: 3,
        dport: 100,
    }
}

fn plan(pattern: &'static Pattern, ranks: u32, size: u64) -> Plan {
    Plan {
        pattern,
        group: (0..ranks).collect(),
        per_server: 1,
        size,
        parts: None,
        wire: (1, 1),
        channels: 1,
        first_channel: 0,
        chunk: u64::MAX,
        depth: 1,
        window: 1,
        iterations: 1,
        gap: Nanos(0),
        number: 0,
    }
}

/// What a job sent, what each rank knows at its end, and what results tell: messages arrive in an order that `pick` chooses.
fn play(plan: &Plan, mut pick: impl FnMut(usize) -> usize) -> (Vec<Message>, Vec<u128>, Vec<Noted>) {
    let mut jobs = Jobs::default();
    jobs.add(job(plan));
    let (mut sent, mut under_way, mut actions) = (Vec::new(), Vec::new(), Vec::new());
    let mut known: Vec<u128> = (0..plan.group.len()).map(|rank| 1 << rank).collect();
    jobs.begin(0, Nanos(0), |_| true, &mut actions);
    loop {
        for action in actions.drain(..) {
            match action {
                Action::Send(message) => {
                    sent.push(message);
                    under_way.push((message, known[message.from as usize]));
                }
                Action::Wait { waiting, .. } => panic!("nothing waits: {waiting:?}"),
            }
        }
        if under_way.is_empty() {
            break;
        }
        let (message, knowledge) = under_way.swap_remove(pick(under_way.len()));
        known[message.to as usize] |= knowledge;
        jobs.arrived(&message.arrival(), Nanos(1), &mut actions);
        jobs.sent(&message.sent(), Nanos(2), &mut actions);
    }
    assert_eq!(jobs.unfinished().next(), None, "{plan:?}");
    (sent, known, jobs.take_notes())
}

/// Whoever has to hear of a rank does, in any order of arrival, and pieces, channels and iterations do not meet.
#[test]
fn each_rank_hears_of_all_that_it_depends_on() {
    let mut random = 1_usize;
    let mut pick = |count: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % count
    };
    for pattern in PATTERNS {
        for ranks in (2..=17).chain([32]).filter(|&ranks| (pattern.refuses)(ranks).is_none()) {
            let plan =
                Plan { channels: 3, chunk: 1_000, depth: 2, window: 4, iterations: 3, ..plan(pattern, ranks, 8_000) };
            let (_, known, notes) = play(&plan, &mut pick);
            let all = u128::MAX >> (128 - ranks);
            for (rank, known) in (0..).zip(known) {
                let expected = match pattern.kind {
                    Kind::Broadcast => u128::MAX >> (127 - rank),
                    Kind::Reduce => all & u128::MAX << rank,
                    Kind::SendReceive => all,
                    Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter | Kind::AllToAll | Kind::Barrier => all,
                };
                let known_by_neighbours = pattern.kind == Kind::SendReceive;
                assert!(known_by_neighbours || known == expected, "{} {ranks}: {rank} knows {known:b}", pattern.name);
            }
            assert_eq!(notes.len(), (2 * 3 + 1) * ranks as usize, "{} {ranks}", pattern.name);
        }
    }
}

/// Bytes and messages of each rank are those that the algorithm's name promises.
#[test]
fn ranks_send_as_much_as_the_closed_form_says() {
    let size = 1 << 20;
    let cases: [(Kind, &str, u32, u32, u64); 11] = [
        (Kind::AllGather, "pat", 8, 3, size / 8 * 7),
        (Kind::ReduceScatter, "pat", 8, 3, size / 8 * 7),
        (Kind::AllReduce, "ring", 8, 14, size / 8 * 14),
        (Kind::AllGather, "ring", 8, 7, size / 8 * 7),
        (Kind::ReduceScatter, "ring", 8, 7, size / 8 * 7),
        (Kind::AllToAll, "direct", 8, 7, size / 8 * 7),
        (Kind::AllGather, "direct", 8, 7, size / 8 * 7),
        (Kind::AllReduce, "halving_doubling", 8, 6, size / 8 * 14),
        (Kind::ReduceScatter, "halving_doubling", 8, 3, size / 8 * 7),
        (Kind::SendReceive, "ring", 8, 1, size),
        (Kind::Barrier, "dissemination", 8, 3, 3),
    ];
    for (kind, name, ranks, messages, bytes) in cases {
        let pattern = find(kind, Some(name)).expect("an algorithm");
        let (sent, ..) = play(&plan(pattern, ranks, size), |_| 0);
        for rank in 0..ranks {
            let of_rank: Vec<u64> = sent.iter().filter(|sent| sent.from == rank).map(|sent| sent.size).collect();
            assert_eq!((of_rank.len() as u32, of_rank.iter().sum()), (messages, bytes), "{name} {}", rank);
        }
    }
    let (sent, ..) = play(&plan(find(Kind::AllReduce, Some("tree")).expect("it"), 8, size), |_| 0);
    assert_eq!(sent.iter().map(|sent| sent.size).sum::<u64>(), 2 * 7 * size, "up and down all edges");
}

/// Weights decide who gets how much from whom; nothing takes no message; a protocol's flags add bytes.
#[test]
fn uneven_exchanges_send_what_their_weights_say() {
    let pattern = find(Kind::AllToAll, None).expect("an algorithm");
    let sizes = |weights: &[Vec<u64>], wire| {
        let plan = Plan { parts: Some(Arc::new(Parts::new(weights))), wire, ..plan(pattern, 3, 1_200) };
        let (sent, ..) = play(&plan, |_| 0);
        let mut sizes: Vec<_> = sent.iter().map(|sent| (sent.from, sent.to, sent.size)).collect();
        sizes.sort_unstable();
        sizes
    };
    let popular = vec![vec![4, 1, 1]];
    let expected = [(0, 1, 200), (0, 2, 200), (1, 0, 800), (1, 2, 200), (2, 0, 800), (2, 1, 200)];
    assert_eq!(sizes(&popular, (1, 1)), expected);
    assert_eq!(sizes(&popular, (16, 15))[0], (0, 1, 214), "rounded up");
    let matrix = vec![vec![0, 600, 0], vec![300, 0, 0], vec![0, 100, 500]];
    assert_eq!(sizes(&matrix, (1, 1)), [(0, 1, 1_200), (1, 0, 600), (2, 1, 200)]);
    // Bytes are as many for any number of ranks, but the aggregated trees take the logarithm of it in steps.
    for ranks in [3, 5, 6, 11] {
        for kind in [Kind::AllGather, Kind::ReduceScatter] {
            let plan = plan(find(kind, Some("pat")).expect("an algorithm"), ranks, 1_100 * u64::from(ranks));
            let (sent, ..) = play(&plan, |_| 0);
            let bytes: u64 = sent.iter().map(|sent| sent.size).sum();
            let steps = ranks.next_power_of_two().ilog2();
            assert_eq!((sent.len() as u32, bytes), (ranks * steps, 1_100 * u64::from(ranks * (ranks - 1))), "{ranks}");
        }
    }
}

/// Data that cannot be divided evenly is neither lost nor sent twice.
#[test]
fn odd_sizes_add_up() {
    for (ranks, size, channels, chunk) in [(3, 10, 1, 100), (7, 1_000_003, 4, 9_999), (5, 3, 2, 1)] {
        let pattern = find(Kind::AllToAll, None).expect("an algorithm");
        let plan = Plan { channels, chunk, window: 3, ..plan(pattern, ranks, size) };
        let (sent, ..) = play(&plan, |count| count - 1);
        // What stays at home is not sent; empty parts take a byte.
        let least = size / u64::from(ranks) * u64::from(ranks - 1) * u64::from(ranks);
        let total: u64 = sent.iter().map(|sent| sent.size).sum();
        assert!(
            total >= least && total <= least + 2 * u64::from(ranks * ranks) * (size.div_ceil(chunk) + 2),
            "{total}"
        );
    }
    assert_eq!(vec![share(10, 0, 3), share(10, 1, 3), share(10, 2, 3)], [3, 3, 4]);
}

/// Sums of servers are those of all ranks, whatever channels and pieces there are.
#[test]
fn ranks_of_servers_hear_of_all() {
    for name in ["nvls", "nvls_tree"] {
        let pattern = find(Kind::AllReduce, Some(name)).expect("an algorithm");
        for (ranks, per_server) in [(8, 8), (24, 8), (32, 4), (10, 2), (64, 8)] {
            let plan = Plan { per_server, channels: 2, chunk: 999, depth: 2, ..plan(pattern, ranks, 8_000) };
            let (sent, known, _) = play(&plan, |count| count / 3);
            assert!(known.iter().all(|known| *known == u128::MAX >> (128 - ranks)), "{name} {ranks}");
            let crosses = |message: &&Message| message.from / per_server != message.to / per_server;
            assert!(sent.iter().filter(crosses).all(|sent| sent.from % per_server == sent.to % per_server), "{name}");
        }
    }
}

/// At most `window` exchanges of a rank are under way.
#[test]
fn a_window_holds_direct_exchanges_back() {
    let pattern = find(Kind::AllToAll, None).expect("an algorithm");
    for window in [1, 3, 31] {
        let mut jobs = Jobs::default();
        jobs.add(job(&Plan { window, ..plan(pattern, 32, 3_200) }));
        let mut actions = Vec::new();
        jobs.begin(0, Nanos(0), |_| true, &mut actions);
        assert_eq!(actions.len() as u32, 32 * window);
    }
}

/// Each channel's ring passes all ranks, and goes from server to server by one rail.
#[test]
fn rings_of_servers_leave_by_the_rail_by_which_they_come() {
    let plan = Plan { per_server: 4, channels: 9, ..plan(find(Kind::AllReduce, None).expect("an algorithm"), 16, 1) };
    for channel in 0..9 {
        let ring: Vec<u32> = (0..16).map(|place| plan.turn(channel, place)).collect();
        assert!((0..16).all(|place| plan.place_of(channel, ring[place as usize]) == place), "{channel}: {ring:?}");
        let mut sorted = ring.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..16).collect::<Vec<_>>());
        for (one, next) in ring.iter().zip(ring.iter().cycle().skip(1)).filter(|(one, next)| *one / 4 != *next / 4) {
            assert_eq!(one % 4, next % 4, "{channel}: {ring:?}");
        }
        assert_eq!(ring[0], u32::from(channel) % 4);
    }
}

/// A host keeps a queue pair until the last of these has finished.
#[test]
fn peers_tell_how_many_messages_there_are() {
    for pattern in PATTERNS {
        let plan = Plan { channels: 2, chunk: 300, depth: 2, window: 2, iterations: 3, ..plan(pattern, 8, 2_000) };
        let (messages, ..) = play(&plan, |waiting| waiting / 2);
        let mut sent = vec![Peers::default(); 8];
        for message in messages {
            sent[message.from as usize].add(message.to, message.dport - 100, 1);
        }
        for (place, sent) in (0..).zip(sent) {
            assert_eq!(Collective::new(plan.clone(), place).peers(), sent.list(), "{}", pattern.name);
        }
    }
}
