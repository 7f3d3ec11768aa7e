// SPDX-License-Identifier: GPL-2.0-only
//! A job on a network where messages do not disturb each other.

use hpcc_core::units::Nanos;
use hpcc_core::workload::{Action, Job, Jobs, Message, Servers, Unfinished, Waiting};
use std::collections::BTreeMap;

/// What happens at a time.
enum Event {
    Arrival(Message),
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
    let mut jobs = Jobs::new(0, servers);
    let number = jobs.add(job);
    let mut actions = Vec::new();
    // The number of an event decides among those of one time.
    let (mut events, mut count) = (BTreeMap::<(Nanos, u64), Event>::new(), 0);
    let mut time = Nanos(0);
    jobs.begin(number, time, |_| true, &mut actions);
    loop {
        for action in actions.drain(..) {
            let (after, event) = match action {
                Action::Send(sent) => (message(&sent), Event::Arrival(sent)),
                Action::Wait { time, waiting, .. } => (computation(time), Event::Over(waiting)),
            };
            count += 1;
            events.insert((Nanos(time.0.saturating_add(after.0)), count), event);
        }
        jobs.take_notes();
        let Some(((now, _), event)) = events.pop_first() else { break };
        time = now;
        match event {
            Event::Arrival(message) => {
                jobs.sent(&message, time, &mut actions);
                jobs.arrived(&message, time, &mut actions);
            }
            Event::Over(waiting) => jobs.waited(waiting, time, &mut actions),
        }
    }
    Course { time, unfinished: jobs.unfinished().collect() }
}

/// Runs a job in which only messages take time, each as much as any other: the time is the depth of the graph in messages.
pub fn depth(job: Job) -> Course {
    run(job, None, |_| Nanos(1), |_| Nanos(0))
}
