// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::workload::{Action, Job, Jobs, Message, Noted};
use alloc::boxed::Box;
use alloc::vec;

/// A job of one collective among so many ranks, each at a host of its own.
fn job(plan: &Plan) -> Job {
    let rank = |place| (place, Box::new(Collective::new(plan.clone(), place)) as Box<dyn Program>);
    Job { ranks: (0..plan.group.len() as u32).map(rank).collect(), priority: 3, dport: 100, ..Job::default() }
}

fn plan(pattern: &'static Pattern, ranks: u32, size: u64) -> Plan {
    Plan {
        pattern,
        group: (0..ranks).collect(),
        layout: None,
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
        hardware: Hardware::default(),
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

/// Before anything else of it, and whatever the algorithm.
#[test]
fn each_rank_launches_each_iteration_once() {
    let hardware = Hardware { launch: Nanos(700), ..Hardware::default() };
    for pattern in PATTERNS {
        let pieces = Plan { channels: 2, chunk: 1_000, depth: 2, window: 4, ..plan(pattern, 4, 8_000) };
        let (mut jobs, mut actions, mut launches) = (Jobs::default(), Vec::new(), 0);
        jobs.add(job(&Plan { iterations: 2, hardware, ..pieces }));
        jobs.begin(0, Nanos(0), |_| true, &mut actions);
        assert!(actions.iter().all(|action| matches!(action, Action::Wait { .. })), "{} {actions:?}", pattern.name);
        while let Some(action) = actions.pop() {
            match action {
                Action::Send(message) => {
                    jobs.arrived(&message.arrival(), Nanos(1), &mut actions);
                    jobs.sent(&message.sent(), Nanos(1), &mut actions);
                }
                Action::Wait { time, waiting, .. } => {
                    assert_eq!(time, Nanos(700), "{}", pattern.name);
                    launches += 1;
                    jobs.waited(waiting, Nanos(1), &mut actions);
                }
            }
        }
        assert_eq!((launches, jobs.unfinished().count()), (4 * 2, 0), "{:?} {}", pattern.kind, pattern.name);
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
            let layout = Some(servers_of(ranks, per_server));
            let plan = Plan { layout, channels: 2, chunk: 999, depth: 2, ..plan(pattern, ranks, 8_000) };
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

/// So many ranks, by so many in servers.
fn servers_of(ranks: u32, per_server: u32) -> Arc<Layout> {
    let at = (0..ranks).map(|rank| (rank / per_server, rank % per_server));
    Arc::new(Layout::new(at).expect("servers"))
}

/// Bytes that each rank sends from server to server, and within its own.
fn bytes(plan: &Plan, host: impl Fn(u32) -> u32) -> Vec<(u64, u64)> {
    let (sent, known, _) = play(plan, |waiting| waiting / 2);
    let all = u128::MAX >> (128 - known.len());
    assert!(plan.pattern.kind != Kind::AllReduce || known.iter().all(|known| *known == all), "{plan:?}");
    let mut sums = vec![(0, 0); plan.group.len()];
    for message in sent {
        let sum: &mut (u64, u64) = &mut sums[host(message.from) as usize];
        let is_inside = host(message.from) / 8 == host(message.to) / 8;
        if is_inside { sum.1 += message.size } else { sum.0 += message.size }
    }
    sums
}

/// With as many channels as NICs each NIC sends what the closed form says, whatever the numbers of the ranks are.
#[test]
fn channels_use_all_nics_of_a_server() {
    // Of each rank and channel there are 60 bytes.
    const SHARE: u64 = 32 * 60;
    let scatter = |rank: u32| rank * 5 % 32;
    let shuffled = Layout::new((0..32).map(scatter).map(|host| (host / 8, host % 8))).map(Arc::new);
    let find = |kind, name| find(kind, Some(name)).expect("an algorithm");
    let plan = |pattern| Plan { channels: 8, chunk: 777, depth: 2, ..plan(pattern, 32, 8 * SHARE) };
    for (kind, rounds) in [(Kind::AllReduce, 62), (Kind::AllGather, 31), (Kind::ReduceScatter, 31)] {
        let plan = plan(find(kind, "ring"));
        for sums in [
            bytes(&Plan { layout: Some(servers_of(32, 8)), ..plan.clone() }, |rank| rank),
            bytes(&Plan { layout: shuffled.clone(), ..plan.clone() }, scatter),
        ] {
            assert_eq!(sums, [(SHARE / 32 * rounds, 7 * SHARE / 32 * rounds); 32], "{kind:?}");
        }
    }
    // From the first rank on, or to it: one ring of eight would come back to it from another server.
    for (kind, idle) in [(Kind::Broadcast, 24), (Kind::Reduce, 0)] {
        let sums = bytes(&Plan { layout: Some(servers_of(32, 8)), ..plan(find(kind, "ring")) }, |rank| rank);
        let expected = |host| if host == idle { 0 } else { SHARE };
        assert!((0..).zip(&sums).all(|(host, sum)| sum.0 == expected(host)), "{kind:?} {sums:?}");
        assert_eq!(sums.iter().map(|sum| sum.0 + sum.1).sum::<u64>(), 31 * 8 * SHARE);
    }
    // Four servers: those inside a tree send up once and down twice, and each is a leaf of the other tree, or its root.
    let sums = bytes(&Plan { layout: Some(servers_of(32, 8)), ..plan(find(Kind::AllReduce, "tree")) }, |rank| rank);
    for (host, sum) in sums.iter().enumerate() {
        assert_eq!(*sum, ([1, 2, 2, 1][host / 8] * SHARE, 14 * SHARE), "{host}");
    }
    let sums = bytes(&Plan { layout: shuffled, ..plan(find(Kind::AllReduce, "tree")) }, scatter);
    let mut between: Vec<u64> = sums.iter().map(|sum| sum.0 / SHARE).collect();
    between.sort_unstable();
    assert_eq!(between, [[1; 16], [2; 16]].concat());
}

/// With 8 ranks in one server and 4 in another, rings and trees use four rails, the same at both ends.
#[test]
fn unequal_servers_use_the_nics_of_the_smaller() {
    const SHARE: u64 = 12 * 60;
    let layout = Layout::new((0..12).map(|rank| (rank / 8, rank % 8))).map(Arc::new);
    for (name, expected) in [("ring", 2 * SHARE / 12 * 22), ("tree", 2 * SHARE)] {
        let pattern = find(Kind::AllReduce, Some(name)).expect("an algorithm");
        let plan = Plan { channels: 8, layout: layout.clone(), ..plan(pattern, 12, 8 * SHARE) };
        let sums = bytes(&plan, |rank| rank);
        for (rank, sum) in sums.iter().enumerate() {
            assert_eq!(sum.0, if rank % 8 < 4 { expected } else { 0 }, "{name} {rank}");
        }
        let (sent, ..) = play(&plan, |_| 0);
        let crosses = |sent: &&Message| sent.from / 8 != sent.to / 8;
        assert!(sent.iter().filter(crosses).all(|sent| sent.from % 8 == sent.to % 8), "{name}");
    }
}

/// Where parts differ by a byte, each rank ends with its own, and none is lost or sent twice.
#[test]
fn parts_are_those_of_ranks() {
    let layout = Layout::new((0..11).map(|rank| (rank * 7 % 11 / 4, rank * 7 % 11 % 4))).map(Arc::new);
    let ring = |kind| Plan { layout: layout.clone(), ..plan(find(kind, Some("ring")).expect("it"), 11, 1_003) };
    let (sent, ..) = play(&ring(Kind::ReduceScatter), |_| 0);
    for rank in 0..11 {
        let last = sent.iter().rfind(|sent| sent.to == rank).map(|sent| sent.size);
        assert_eq!(last, Some(share(1_003, rank.into(), 11)), "{rank}");
    }
    let (sent, ..) = play(&ring(Kind::AllGather), |_| 0);
    for rank in 0..11 {
        let first = sent.iter().find(|sent| sent.from == rank).map(|sent| sent.size);
        assert_eq!(first, Some(share(1_003, rank.into(), 11)), "{rank}");
    }
    let total = |plan: &Plan| play(plan, |_| 0).0.iter().map(|sent| sent.size).collect::<Vec<u64>>();
    let halving = |kind, ranks, size| plan(find(kind, Some("halving_doubling")).expect("it"), ranks, size);
    let mut two = total(&halving(Kind::AllReduce, 2, 1_003));
    two.sort_unstable();
    assert_eq!(two, [501, 501, 502, 502]);
    assert_eq!(total(&halving(Kind::AllGather, 8, 15)).iter().sum::<u64>(), 7 * 15);
    assert_eq!(total(&halving(Kind::ReduceScatter, 8, 15)).iter().sum::<u64>(), 7 * 15);
    for kind in [Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter] {
        let times = if kind == Kind::AllReduce { 2 } else { 1 };
        assert_eq!(total(&ring(kind)).iter().sum::<u64>(), times * 10 * 1_003, "{kind:?}");
        for ranks in [2, 4, 16, 32] {
            let bytes = total(&halving(kind, ranks, 1_003)).iter().sum::<u64>();
            assert_eq!(bytes, times * u64::from(ranks - 1) * 1_003, "{kind:?} {ranks}");
        }
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
