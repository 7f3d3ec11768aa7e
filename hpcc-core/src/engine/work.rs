// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jobs: messages begin when others are over.

use super::agenda::Item;
use super::alarms::Duty;
use super::run::Stop;
use super::state::Engine;
use super::traffic::{FlowOptions, FlowRequest, PairKey};
use crate::recurrence::recurs;
use crate::workload::{
    Action, Arrival, Completion, Jobs, Message, Noted, Operation, Pair, Sent, Span, Unfinished, Waiting,
};
use alloc::vec::Vec;

/// A message on its way to a receiving queue pair.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Incoming {
    pub size: u64,
    pub arrival: Arrival,
}

/// The jobs of a run, and what they wait for.
#[derive(Default)]
pub(super) struct Work {
    pub jobs: Jobs,
    /// What the network is to do.
    actions: Vec<Action>,
    /// What alarms are about, by place.
    waiting: Vec<Waiting>,
    idle: Vec<u32>,
}

impl Engine {
    /// Adds jobs, once, before the run begins.
    pub fn add_jobs(&mut self, jobs: Jobs) {
        for job in 0..jobs.count() {
            self.agenda_at(jobs.start(job), Item::Job(job));
        }
        if let Some(servers) = jobs.servers() {
            // What happens at one of a server's hosts reaches the others sooner than over any link.
            let network = self.fabric.network().clone();
            self.group(&network, &servers.pairs(&network));
        }
        for host in jobs.hosts() {
            self.nodes.host(host).traffic.has_ranks = true;
        }
        self.work.jobs = jobs;
    }

    /// The jobs. Programs go on only at hosts that are run here.
    pub fn jobs(&self) -> &Jobs {
        &self.work.jobs
    }

    /// Ranks that are run here and are not over.
    pub fn unfinished_ranks(&self) -> impl Iterator<Item = Unfinished> + '_ {
        self.work.jobs.unfinished().filter(|rank| self.parts.is_own(rank.host))
    }

    /// Whether a rank computes, or a message waits or is under way within a server.
    pub fn jobs_wait(&self) -> bool {
        self.work.waiting.len() > self.work.idle.len()
    }

    /// What jobs have noted since the last call.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        self.work.jobs.take_notes()
    }

    /// What ranks had under way and is over since the last call, if the jobs [record](Jobs::record_spans) it.
    pub fn take_spans(&mut self) -> Vec<Span> {
        self.work.jobs.take_spans()
    }

    /// A rank that is [`Outside`](crate::workload::Outside) begins something, of whose end [`Engine::take_told`] tells by the
    /// token: because of what it was told, if it was. In insertion order the run pauses whenever there is something to tell.
    pub fn ask(&mut self, rank: (u32, u32), token: u64, operation: Operation, cause: Option<u32>) {
        let now = self.events.now();
        self.work.jobs.ask(rank, (token, operation), cause, now, &mut self.work.actions);
        self.act();
    }

    /// Such a rank, of a job, has nothing left to do.
    pub fn end_rank(&mut self, rank: (u32, u32)) {
        self.work.jobs.end_rank(rank, self.events.now(), &mut self.work.actions);
        self.act();
    }

    /// The next end of what was asked for.
    pub fn take_told(&mut self) -> Option<Completion> {
        self.work.jobs.take_told()
    }

    /// A job begins. Where messages share queue pairs, both ends of all are known from now on: so all parts of a network have
    /// the same.
    pub(super) fn begin_job(&mut self, job: u32) {
        self.windows.begin(self.events.now());
        let pairs = self.work.jobs.pairs(job);
        let are_counted = !self.flows.keeps_queue_pairs && !self.checks_arrivals;
        for Pair { src, dst, priority, dport, nic, messages } in pairs {
            let are_counted = are_counted && [src, dst].iter().all(|&host| self.nodes.host(host).core.only_answers());
            let request = FlowRequest {
                id: 0,
                src,
                dst,
                dport,
                priority,
                size: 1,
                start: self.events.now(),
                options: FlowOptions::by(nic),
            };
            let key = PairKey::of(&request, job);
            let host = self.nodes.host(src);
            let traffic = &host.traffic;
            if !traffic.shares_queue_pairs(true) || host.other.is_some() || traffic.has_queue_pair(key) {
                continue;
            }
            match self.open_receiving(&request, true) {
                Ok(receiving) => {
                    let messages = Some(messages).filter(|_| are_counted);
                    self.nodes.host(src).traffic.prepare(key, receiving, messages);
                }
                Err(why) => return self.fail(why),
            }
        }
        let now = self.events.now();
        // One by one: what all begin at once are a million messages.
        for rank in 0..self.work.jobs.ranks(job) {
            let parts = &self.parts;
            self.work.jobs.begin_rank((job, rank), now, |host| parts.is_own(host), &mut self.work.actions);
            self.act();
        }
        self.work.jobs.go_on(now, &mut self.work.actions);
        self.act();
    }

    /// Does what jobs have asked for.
    fn act(&mut self) {
        let mut actions = core::mem::take(&mut self.work.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send(message) => self.send_message(message),
                Action::Wait { host, time, waiting } => {
                    let place = match self.work.idle.pop() {
                        Some(place) => {
                            self.work.waiting[place as usize] = waiting;
                            place
                        }
                        None => {
                            self.work.waiting.push(waiting);
                            self.work.waiting.len() as u32 - 1
                        }
                    };
                    let at = self.events.now() + time;
                    self.schedule(host, Duty::Work(place), at);
                }
            }
        }
        self.work.actions = actions;
        if self.work.jobs.is_told() {
            self.pause.get_or_insert(Stop::Completion);
        }
    }

    fn send_message(&mut self, message: Message) {
        self.start_flow(FlowRequest::of(&message), Some(message));
    }

    /// A receiving queue pair will get a message, up to sequence number `end`: nobody can hear of it before its first byte is
    /// there.
    pub(super) fn announce(&mut self, (receiver, end): (u32, u64), message: &Message) {
        let &Message { dst, size, .. } = message;
        let incoming = Incoming { size, arrival: message.arrival() };
        if self.parts.is_own(dst) {
            self.expect_message(dst, (receiver, end), incoming);
        } else {
            self.parts.tell_message(dst, (receiver, end), incoming);
        }
    }

    /// A host hears which message will come by a receiving queue pair, or under this number of its source.
    pub(super) fn expect_message(&mut self, host: u32, place: (u32, u64), incoming: Incoming) {
        let host = self.nodes.host(host);
        match &mut host.other {
            Some(other) => other.expect(place.0, incoming.arrival),
            None => host.traffic.expect(place, incoming),
        }
    }

    /// A message has arrived whole.
    pub(super) fn message_arrived(&mut self, message: &Arrival) {
        self.work.jobs.arrived(message, self.events.now(), &mut self.work.actions);
        self.act();
    }

    /// A message is acknowledged.
    pub(super) fn message_sent(&mut self, message: &Sent) {
        self.work.jobs.sent(message, self.events.now(), &mut self.work.actions);
        self.act();
    }

    /// More has arrived at a queue pair: perhaps the last byte of messages.
    pub(super) fn take_messages(&mut self, node: u32, receiver: u32, seq: u64) {
        let host = self.nodes.host(node);
        let Some(expected) = host.core.expected(receiver) else { return };
        while let Some(message) = self.nodes.host(node).traffic.take_arrived(receiver, expected) {
            self.work.jobs.arrived(&message, self.events.now(), &mut self.work.actions);
        }
        let host = self.nodes.host(node);
        if seq >= expected && host.core.transport().recovery.delivers_early {
            let core = &host.core;
            let early = host.traffic.take_early(receiver, seq, |start, end| core.has_arrived(receiver, start, end));
            if let Some(message) = early {
                self.work.jobs.arrived(&message, self.events.now(), &mut self.work.actions);
            }
        }
        self.act();
    }

    /// What waited goes on.
    pub(super) fn on_work(&mut self, place: u32) {
        self.work.idle.push(place);
        let waiting = self.work.waiting[place as usize];
        self.work.jobs.waited(waiting, self.events.now(), &mut self.work.actions);
        self.act();
    }
}

// Jobs go on where flows begin or end, and by alarms of their own.
recurs! { Work { jobs: constant, actions: absent, waiting: size, idle: size, } }
