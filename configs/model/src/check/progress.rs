// SPDX-License-Identifier: GPL-2.0-only
//! How many flows are in progress at a time, at least: hosts cannot send and receive faster than their links, whatever the
//! congestion control does.
//!
//! A host's links are a machine and its flows are jobs, whose number is least where the job with the least left goes first
//! (SRPT). So this many flows are in progress under any order.

use crate::flow::Flow;
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes that a link is busy with for the shortest frame, its preamble and the gap behind it.
const SHORTEST: u64 = 84;

/// A machine with its jobs: the remaining need of each, in bits of the link times 1e9.
#[derive(Clone, Debug, Default)]
struct Machine {
    /// Bits in a second.
    rate: u64,
    /// Until when it has worked.
    now: Nanos,
    jobs: BinaryHeap<Reverse<u128>>,
}

impl Machine {
    /// Works until then, and returns how many jobs ended.
    fn advance(&mut self, time: Nanos) -> u64 {
        let mut power = u128::from((time - self.now).0) * u128::from(self.rate);
        self.now = time;
        let mut ended = 0;
        while let Some(Reverse(left)) = self.jobs.pop() {
            if left > power {
                self.jobs.push(Reverse(left - power));
                break;
            }
            power -= left;
            ended += 1;
        }
        ended
    }

    fn begin(&mut self, flow: &Flow) {
        let bits = u128::from(flow.size.max(SHORTEST)) * 8;
        self.jobs.push(Reverse(bits * 1_000_000_000));
    }
}

/// The jobs of all hosts, which either send or receive.
#[derive(Clone, Debug)]
struct Machines {
    hosts: Vec<Machine>,
    /// Jobs in progress; a job that ended on a machine that nothing has looked at since counts as well.
    jobs: u64,
}

impl Machines {
    fn begin(&mut self, host: u32, flow: &Flow) {
        let Some(machine) = self.hosts.get_mut(host as usize) else { return };
        self.jobs -= machine.advance(flow.start);
        machine.begin(flow);
        self.jobs += 1;
    }

    fn advance_all(&mut self, time: Nanos) {
        let ended: u64 = self.hosts.iter_mut().map(|machine| machine.advance(time)).sum();
        self.jobs -= ended;
    }
}

/// Flows as they come and go.
#[derive(Clone, Debug)]
pub(super) struct InProgress {
    senders: Machines,
    receivers: Machines,
    /// More are too many.
    most: u64,
    /// From how many on all machines are looked at.
    suspicious: u64,
}

impl InProgress {
    /// None yet, and no more than `most` are allowed.
    pub fn new(network: &Network, most: u64) -> InProgress {
        let mut hosts = vec![Machine::default(); network.nodes.len()];
        for link in &network.links {
            for node in [link.a, link.b] {
                if let Some(machine) = hosts.get_mut(node as usize) {
                    machine.rate = machine.rate.saturating_add(link.rate.0);
                }
            }
        }
        let machines = Machines { hosts, jobs: 0 };
        InProgress { senders: machines.clone(), receivers: machines, most, suspicious: most }
    }

    /// One more flow, which starts no earlier than those before. Returns how many are in progress, if that is too many.
    pub fn see(&mut self, flow: &Flow) -> Option<u64> {
        self.senders.begin(flow.src, flow);
        self.receivers.begin(flow.dst, flow);
        if self.senders.jobs.max(self.receivers.jobs) <= self.suspicious {
            return None;
        }
        self.senders.advance_all(flow.start);
        self.receivers.advance_all(flow.start);
        let jobs = self.senders.jobs.max(self.receivers.jobs);
        // To look at all machines takes as long as so many flows.
        self.suspicious = self.most.max(jobs) + self.senders.hosts.len() as u64;
        (jobs > self.most).then_some(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Wire};
    use hpcc_core::engine::FlowOptions;
    use hpcc_core::units::BitRate;

    /// Flows of 1,000 bytes, which take 80 ns of a link, each so long after the other; the first that is too many.
    fn first_too_many(gap: u64, ends: impl Fn(u64) -> (u32, u32)) -> Option<u64> {
        let wire = Wire { rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0, count: 1 };
        let mut progress = InProgress::new(&generate::star(8, wire).expect("a network"), 100);
        let flow = |index: u64| {
            let (src, dst) = ends(index);
            Flow { src, dst, priority: 3, dport: 1, size: 1_000, start: Nanos(index * gap), options: FlowOptions::NONE }
        };
        (0..10_000).find(|&index| progress.see(&flow(index)).is_some())
    }

    #[test]
    fn links_that_keep_up_have_few_flows() {
        assert_eq!(first_too_many(80, |_| (0, 1)), None);
        assert_eq!(first_too_many(20, |index| ((index % 4) as u32, 4 + (index % 4) as u32)), None);
    }

    #[test]
    fn flows_that_wait_for_a_sender_or_a_receiver_add_up() {
        assert_eq!(first_too_many(0, |_| (0, 1)), Some(100));
        // Three of four wait.
        for ends in [|index: u64| (0, 1 + (index % 4) as u32), |index: u64| ((index % 4) as u32, 7)] {
            let found = first_too_many(20, ends).expect("too many");
            assert!((130..160).contains(&found), "{found}");
        }
    }

    #[test]
    fn short_flows_do_not_wait_for_long_ones() {
        let wire = Wire { rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0, count: 1 };
        let mut progress = InProgress::new(&generate::star(2, wire).expect("a network"), 2);
        let flow = |size, start| Flow {
            src: 0,
            dst: 1,
            priority: 3,
            dport: 1,
            size,
            start: Nanos(start),
            options: FlowOptions::NONE,
        };
        assert_eq!(progress.see(&flow(u64::MAX, 0)), None);
        assert!((1..1_000).all(|index| progress.see(&flow(1_000, index * 80)).is_none()));
    }
}
