// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which queue of a port sends next: strict priorities first, then deficit weighted round robin (Shreedhar and
//! Varghese, 1995), which guarantees each class a share that HPCC++ can take for the link's capacity (REQ-28, REQ-29;
//! draft-miao-rtgwg-hpccplus-00, section 9.3).

use super::PRIORITIES;
use crate::units::BitRate;

/// How a queue is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Before all weighted ones, and before strict ones with a higher place; of one place lower numbers first.
    Strict {
        /// From 0.
        place: u8,
    },
    /// In turn with the other weighted queues.
    Weighted {
        /// Bytes that each turn adds to what the queue may send, from 1. A turn passes in vain where it is less than
        /// a frame, which costs no time but makes the sharing coarser.
        quantum: u32,
    },
    /// While nothing else may be sent, lower numbers before higher: sure of nothing.
    Leftover,
}

/// What waits at the head of each queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Bytes of each queue's first frame; 0 where the queue is empty.
    pub heads: [u32; PRIORITIES],
    /// Queues that PFC holds back: bit n stands for queue n.
    pub paused: u8,
}

impl Backlog {
    #[inline]
    fn sendable(&self, queue: usize) -> Option<u32> {
        let held_back = self.paused >> queue & 1 == 1;
        self.heads.get(queue).copied().filter(|&bytes| bytes > 0 && !held_back)
    }
}

/// The scheduler of one egress port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduler {
    services: [Service; PRIORITIES],
    /// The strict queues in their order; as many are.
    strict: ([u8; PRIORITIES], usize),
    /// Bytes that each weighted queue may still send in its turn.
    deficits: [u64; PRIORITIES],
    /// The queue whose turn it is.
    turn: usize,
    /// Whether that queue has had its quantum of this turn.
    granted: bool,
}

impl Scheduler {
    /// An idle port.
    pub fn new(services: [Service; PRIORITIES]) -> Self {
        let mut strict = ([0; PRIORITIES], 0);
        for place in 0..PRIORITIES as u8 {
            for queue in (0..PRIORITIES).filter(|&queue| services[queue] == Service::Strict { place }) {
                strict.0[strict.1] = queue as u8;
                strict.1 += 1;
            }
        }
        Scheduler { services, strict, deficits: [0; PRIORITIES], turn: 0, granted: false }
    }

    /// The queue whose first frame leaves now, which is counted as sent; `None` if none may.
    pub fn next(&mut self, backlog: &Backlog) -> Option<u8> {
        self.forget_empty(backlog);
        let strict = self.strict().find(|&queue| backlog.sendable(queue).is_some());
        let queue = strict.or_else(|| self.weighted(backlog)).or_else(|| self.leftover(backlog));
        queue.map(|queue| queue as u8)
    }

    /// The share of a link of this rate that a queue is sure of whatever the others send: all of it for the first
    /// strict queue, nothing for the strict ones after it and for leftover ones, and for a weighted one its part of what
    /// the strict queues leave, whose load is `strict_load`.
    pub fn guaranteed(&self, queue: u8, rate: BitRate, strict_load: BitRate) -> BitRate {
        match self.services.get(usize::from(queue)) {
            Some(Service::Strict { .. }) if self.strict().next() == Some(usize::from(queue)) => rate,
            Some(&Service::Weighted { quantum }) => {
                let all: u64 = self.services.iter().map(|service| quantum_of(*service)).sum();
                let left = u128::from(rate.0.saturating_sub(strict_load.0));
                BitRate((left * u128::from(quantum.max(1)) / u128::from(all.max(1))) as u64)
            }
            _ => BitRate(0),
        }
    }

    /// The strict queues in their order.
    fn strict(&self) -> impl Iterator<Item = usize> + '_ {
        let (queues, count) = &self.strict;
        queues[..*count].iter().map(|&queue| usize::from(queue))
    }

    fn leftover(&self, backlog: &Backlog) -> Option<usize> {
        let is_it = |queue: &usize| self.services[*queue] == Service::Leftover && backlog.sendable(*queue).is_some();
        (0..PRIORITIES).find(is_it)
    }

    fn weighted(&mut self, backlog: &Backlog) -> Option<usize> {
        if let Some(queue) = self.round(backlog) {
            return Some(queue);
        }
        // Every head is larger than its queue may send yet: rounds in which none could be sent are skipped at once.
        let rounds = self.vain_rounds(backlog)?;
        self.pass(backlog, rounds);
        self.round(backlog)
    }

    /// A queue that ran empty keeps no right to a burst; one that is paused keeps what it has.
    fn forget_empty(&mut self, backlog: &Backlog) {
        for (deficit, head) in self.deficits.iter_mut().zip(backlog.heads) {
            if head == 0 {
                *deficit = 0;
            }
        }
    }

    /// Goes round the weighted queues, once, until one may send.
    fn round(&mut self, backlog: &Backlog) -> Option<usize> {
        for _ in 0..=PRIORITIES {
            let queue = self.turn;
            if let (Some(head), Service::Weighted { quantum }) = (backlog.sendable(queue), self.services[queue]) {
                if !self.granted {
                    self.deficits[queue] += u64::from(quantum.max(1));
                    self.granted = true;
                }
                if u64::from(head) <= self.deficits[queue] {
                    self.deficits[queue] -= u64::from(head);
                    return Some(queue);
                }
            }
            self.turn = (queue + 1) % PRIORITIES;
            self.granted = false;
        }
        None
    }

    /// Rounds that pass before the next in which a queue may send; `None` if no weighted queue has anything to.
    fn vain_rounds(&self, backlog: &Backlog) -> Option<u64> {
        let rounds = self.services.iter().enumerate().filter_map(|(queue, service)| {
            let Service::Weighted { quantum } = service else { return None };
            let missing = u64::from(backlog.sendable(queue)?).saturating_sub(self.deficits[queue]);
            Some(missing.div_ceil(u64::from((*quantum).max(1))).saturating_sub(1))
        });
        rounds.min()
    }

    fn pass(&mut self, backlog: &Backlog, rounds: u64) {
        for (queue, (deficit, service)) in self.deficits.iter_mut().zip(self.services).enumerate() {
            if backlog.sendable(queue).is_some() {
                *deficit += rounds * quantum_of(service);
            }
        }
    }
}

/// Bytes of a turn; only weighted queues have turns.
fn quantum_of(service: Service) -> u64 {
    match service {
        Service::Strict { .. } | Service::Leftover => 0,
        Service::Weighted { quantum } => u64::from(quantum.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    /// Queue 0 strict, the others weighted by these quanta.
    fn scheduler(quanta: [u32; PRIORITIES - 1]) -> Scheduler {
        let mut services = [Service::Strict { place: 0 }; PRIORITIES];
        for (service, quantum) in services[1..].iter_mut().zip(quanta) {
            *service = Service::Weighted { quantum };
        }
        Scheduler::new(services)
    }

    /// Bytes that each queue sends of `frames` frames when the queues with a head never run empty.
    fn serve(scheduler: &mut Scheduler, backlog: &Backlog, frames: u32) -> [u64; PRIORITIES] {
        let mut sent = [0; PRIORITIES];
        for _ in 0..frames {
            let queue = usize::from(scheduler.next(backlog).expect("something waits"));
            sent[queue] += u64::from(backlog.heads[queue]);
        }
        sent
    }

    #[test]
    fn req_29_the_guarantee_holds_whatever_others_send() {
        let mut scheduler = scheduler([1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000]);
        let backlog = Backlog { heads: [0, 64, 1_500, 1_048, 9_000, 300, 1_500, 700], paused: 0 };
        let sent = serve(&mut scheduler, &backlog, 50_000);
        let all: u64 = sent.iter().sum();
        for queue in 1..8u8 {
            let share = sent[usize::from(queue)] as f64 / all as f64;
            let guaranteed = scheduler.guaranteed(queue, BitRate::gbps(280), BitRate(0));
            assert_eq!(guaranteed, BitRate::gbps(10 * u64::from(queue)));
            assert_relative_eq!(share * 280e9, guaranteed.0 as f64, max_relative = 0.01);
        }
        assert_eq!(scheduler.guaranteed(2, BitRate::gbps(308), BitRate::gbps(28)), BitRate::gbps(20));
        assert_eq!(scheduler.guaranteed(0, BitRate::gbps(280), BitRate(0)), BitRate::gbps(280));
        assert_eq!(scheduler.guaranteed(8, BitRate::gbps(280), BitRate(0)), BitRate(0));
    }

    #[test]
    fn strict_queues_go_first_by_their_places() {
        let mut services = [Service::Weighted { quantum: 1_500 }; PRIORITIES];
        services[2] = Service::Strict { place: 0 };
        services[5] = Service::Strict { place: 1 };
        let mut scheduler = Scheduler::new(services);
        let mut backlog = Backlog { heads: [64; PRIORITIES], paused: 0 };
        assert_eq!(scheduler.next(&backlog), Some(2));
        backlog.heads[2] = 0;
        assert_eq!(scheduler.next(&backlog), Some(5));
        backlog.paused = 1 << 5;
        assert_ne!(scheduler.next(&backlog), Some(5));
        assert_eq!(scheduler.guaranteed(5, BitRate::gbps(100), BitRate(0)), BitRate(0));
    }

    #[test]
    fn leftover_queues_wait_for_all_others() {
        let mut services = [Service::Leftover; PRIORITIES];
        services[4] = Service::Strict { place: 0 };
        services[6] = Service::Weighted { quantum: 100 };
        let mut scheduler = Scheduler::new(services);
        let mut backlog = Backlog { heads: [0, 64, 0, 64, 64, 0, 9_000, 0], paused: 0 };
        for queue in [4, 6, 1, 3] {
            assert_eq!(scheduler.next(&backlog), Some(queue as u8));
            backlog.heads[queue] = 0;
        }
        assert_eq!(scheduler.next(&backlog), None);
        assert_eq!(scheduler.guaranteed(6, BitRate::gbps(100), BitRate(0)), BitRate::gbps(100));
        assert_eq!(scheduler.guaranteed(1, BitRate::gbps(100), BitRate(0)), BitRate(0));
    }

    /// A pause takes no share away for good, and an idle time gives none.
    #[test]
    fn deficits_outlive_a_pause_but_not_an_empty_queue() {
        let mut paused = scheduler([1_000; 7]);
        let both = Backlog { heads: [0, 600, 600, 0, 0, 0, 0, 0], paused: 0 };
        assert_eq!(paused.next(&both), Some(1));
        let mut emptied = paused.clone();
        serve(&mut paused, &Backlog { paused: 0b10, ..both }, 20);
        serve(&mut emptied, &Backlog { heads: [0, 0, 600, 0, 0, 0, 0, 0], paused: 0 }, 20);
        assert_eq!((paused.deficits[1], emptied.deficits[1]), (400, 0));
    }

    /// One byte a turn and frames of 64 KB: the turns in vain are not walked.
    #[test]
    fn tiny_quanta_share_alike() {
        let mut scheduler = scheduler([1, 2, 0, 1, 1, 1, 1]);
        let backlog = Backlog { heads: [0, 65_000, 65_000, 65_000, 0, 0, 0, u32::MAX], paused: 0 };
        let sent = serve(&mut scheduler, &backlog, 4_000);
        assert_abs_diff_eq!(sent[2] as f64 / sent[1] as f64, 2.0, epsilon = 0.01);
        assert_relative_eq!(sent[3] as f64, sent[1] as f64, max_relative = 0.01);
    }
}
