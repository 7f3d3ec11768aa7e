// SPDX-License-Identifier: GPL-2.0-only
//! A job on a network where messages do not disturb each other.

use hpcc_core::units::Nanos;
use hpcc_core::workload::{Action, Arrival, Job, Jobs, Message, Note, Noted, Sent, Servers, Unfinished, Waiting};
use std::collections::BTreeMap;

/// What happens at a time.
enum Event {
    Arrival(Arrival),
    Acknowledged(Sent),
    Over(Waiting),
}

/// How a job ends.
#[derive(Debug)]
pub struct JobEnd {
    /// The time that it takes.
    pub time: Nanos,
    /// Ranks that are not over, though nothing is under way.
    pub unfinished: Vec<Unfinished>,
}

/// Runs a job in which a message, and a computation of a length, take these times.
pub fn run(
    job: Job,
    servers: Option<Servers>,
    message: impl Fn(&Message) -> Nanos,
    computation: impl Fn(Nanos) -> Nanos,
) -> JobEnd {
    let both = |sent: &Message, _| {
        let time = message(sent);
        Times { arrival: time, acknowledged: time }
    };
    run_with(job, servers, both, computation)
}

/// How long a message takes to its last byte, and to its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Until its last byte arrives.
    pub arrival: Nanos,
    /// Until its sender knows.
    pub acknowledged: Nanos,
}

/// The same where a message takes times that depend on when it begins.
pub fn run_with(
    job: Job,
    servers: Option<Servers>,
    message: impl FnMut(&Message, Nanos) -> Times,
    computation: impl Fn(Nanos) -> Nanos,
) -> JobEnd {
    run_on(&mut Given { message, computation }, job, Jobs::new(0, servers))
}

/// What a job runs on: how long what it begins takes.
pub trait Machine {
    /// A message leaves its host.
    fn message(&mut self, message: &Message, now: Nanos) -> Times;
    /// A time passes, such as a computation or a message within a server.
    fn wait(&mut self, time: Nanos, waiting: &Waiting, now: Nanos) -> Nanos;
    /// A rank notes something, before what it begins then.
    fn note(&mut self, _: &Noted) {}
    /// A message leaves its GPU within a server for so long, [without queues](Jobs::without_queues).
    fn inside(&mut self, _: &Message, _: Nanos, _: Nanos) {}
}

/// Times that functions say.
struct Given<M, C> {
    message: M,
    computation: C,
}

impl<M: FnMut(&Message, Nanos) -> Times, C: Fn(Nanos) -> Nanos> Machine for Given<M, C> {
    fn message(&mut self, message: &Message, now: Nanos) -> Times {
        (self.message)(message, now)
    }

    fn wait(&mut self, time: Nanos, _: &Waiting, _: Nanos) -> Nanos {
        (self.computation)(time)
    }
}

/// Runs a job among `jobs`, which has no others.
pub fn run_on(machine: &mut impl Machine, job: Job, mut jobs: Jobs) -> JobEnd {
    let number = jobs.add(job);
    let mut actions = Vec::new();
    // The number of an event decides among those of one time.
    let (mut events, mut count) = (BTreeMap::<(Nanos, u64), Event>::new(), 0);
    let (mut time, mut over) = (Nanos(0), Nanos(0));
    jobs.begin(number, time, |_| true, &mut actions);
    loop {
        for noted in jobs.take_notes() {
            machine.note(&noted);
            if let Note::Over { .. } = noted.note {
                over = over.max(noted.at);
            }
        }
        jobs.take_inside().for_each(|(message, busy)| machine.inside(&message, busy, time));
        let mut later = |after: Nanos, event| {
            count += 1;
            events.insert((Nanos(time.0.saturating_add(after.0)), count), event);
        };
        for action in actions.drain(..) {
            match action {
                Action::Send(sent) => {
                    let Times { arrival, acknowledged } = machine.message(&sent, time);
                    later(acknowledged, Event::Acknowledged(sent.sent()));
                    later(arrival, Event::Arrival(sent.arrival()));
                }
                Action::Wait { time: length, waiting, .. } => {
                    later(machine.wait(length, &waiting, time), Event::Over(waiting));
                }
            }
        }
        let Some(((now, _), event)) = events.pop_first() else { break };
        time = now;
        match event {
            Event::Acknowledged(message) => jobs.sent(&message, time, &mut actions),
            Event::Arrival(message) => jobs.arrived(&message, time, &mut actions),
            Event::Over(waiting) => jobs.waited(waiting, time, &mut actions),
        }
    }
    let unfinished: Vec<_> = jobs.unfinished().collect();
    // What no rank waits for may last longer.
    JobEnd { time: if unfinished.is_empty() { over } else { time }, unfinished }
}

/// Runs a job in which only messages take time, each as much as any other: the time is the depth of the graph in messages.
pub fn depth(job: Job) -> JobEnd {
    run(job, None, |_| Nanos(1), |_| Nanos(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::units::BitRate;
    use hpcc_core::workload::Program;
    use hpcc_core::workload::collective::{Collective, Kind, Layout, Plan, find};
    use std::sync::Arc;

    /// The time of an all-reduce of 8,000,000 bytes in servers of 8 GPUs, where a message between servers takes 10 us, and bytes of
    /// a GPU a nanosecond for 100 of them.
    fn time(name: &str, ranks: u32) -> u64 {
        let pattern = find(Kind::AllReduce, Some(name)).expect("an algorithm");
        let plan = Plan {
            pattern,
            group: (0..ranks).collect(),
            layout: Layout::new((0..ranks).map(|rank| (rank / 8, rank % 8))).map(Arc::new),
            size: 8_000_000,
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
            hardware: Default::default(),
        };
        let rank = |rank| (rank, Box::new(Collective::new(plan.clone(), rank)) as Box<dyn Program>);
        let ranks = (0..ranks).map(rank).collect();
        let job = Job { ranks, ..Job::default() };
        let servers = Servers { gpus: 8, nics: 8, rate: BitRate(800_000_000_000), latency: Nanos(1_000), pxn: false };
        let course = run(job, Some(servers), |_| Nanos(10_000), |time| time);
        assert!(course.unfinished.is_empty(), "{name}: {:?}", course.unfinished);
        course.time.0
    }

    /// With NVLS a GPU sends 7/8 of its data to the switch, its part of the sum goes between servers, and comes back by one message
    /// that the switch copies: all its bytes once, and twice the latency. A ring sends 7/8 of them twice, in 14 steps.
    #[test]
    fn switches_in_servers_sum_and_copy() {
        let (bytes, latency) = (80_000, 1_000);
        assert_eq!(time("nvls", 8), bytes + 2 * latency);
        assert_eq!(time("ring", 8), 14 * (bytes / 8 + latency));
        // A ring between four servers: 6 steps of messages; between two: 2.
        assert_eq!(time("nvls", 32), bytes + 2 * latency + 6 * 10_000);
        assert_eq!(time("nvls", 16), bytes + 2 * latency + 2 * 10_000);
        // Half of the data after the other: the first half's copy leaves while the second is on its way up.
        assert_eq!(time("nvls_tree", 8), bytes + latency);
        // Trees of four servers: up by two, down by two. The first half has come back before the second.
        assert_eq!(time("nvls_tree", 32), bytes - bytes / 16 + 2 * latency + 4 * 10_000);
    }
}
