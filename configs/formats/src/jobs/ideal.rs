// SPDX-License-Identifier: GPL-2.0-only
//! A job on a network where messages do not disturb each other.

use hpcc_core::units::Nanos;
use hpcc_core::workload::{Action, Job, Jobs, Message, Servers, Unfinished, Waiting};
use std::collections::BTreeMap;

/// What happens at a time.
enum Event {
    Arrival(Message),
    Acknowledged(Message),
    Over(Waiting),
}

/// How a job ends.
#[derive(Debug)]
pub struct Course {
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
) -> Course {
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
    mut message: impl FnMut(&Message, Nanos) -> Times,
    computation: impl Fn(Nanos) -> Nanos,
) -> Course {
    let mut jobs = Jobs::new(0, servers);
    let number = jobs.add(job);
    let mut actions = Vec::new();
    // The number of an event decides among those of one time.
    let (mut events, mut count) = (BTreeMap::<(Nanos, u64), Event>::new(), 0);
    let mut time = Nanos(0);
    jobs.begin(number, time, |_| true, &mut actions);
    loop {
        let mut later = |after: Nanos, event| {
            count += 1;
            events.insert((Nanos(time.0.saturating_add(after.0)), count), event);
        };
        for action in actions.drain(..) {
            match action {
                Action::Send(sent) => {
                    let Times { arrival, acknowledged } = message(&sent, time);
                    later(acknowledged, Event::Acknowledged(sent));
                    later(arrival, Event::Arrival(sent));
                }
                Action::Wait { time, waiting, .. } => later(computation(time), Event::Over(waiting)),
            }
        }
        jobs.take_notes();
        let Some(((now, _), event)) = events.pop_first() else { break };
        time = now;
        match event {
            Event::Acknowledged(message) => jobs.sent(&message, time, &mut actions),
            Event::Arrival(message) => jobs.arrived(&message, time, &mut actions),
            Event::Over(waiting) => jobs.waited(waiting, time, &mut actions),
        }
    }
    Course { time, unfinished: jobs.unfinished().collect() }
}

/// Runs a job in which only messages take time, each as much as any other: the time is the depth of the graph in messages.
pub fn depth(job: Job) -> Course {
    run(job, None, |_| Nanos(1), |_| Nanos(0))
}
