// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCC at its receiver: grants to all that ask, in turn, a little slower than the link.

use super::credit::QUANTUM;
use crate::units::{BitRate, Nanos};
use alloc::collections::VecDeque;

/// Part of the link's rate that is granted.
const PART: f64 = 0.99;
/// Quanta of time between two grants of which the first granted nothing.
const LEAST_PAUSE: i64 = 4;

/// What one sender asked for, and got, in quanta.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    asked: i64,
    granted: i64,
    /// Whether it is queued for a grant.
    is_waiting: bool,
}

impl Demand {
    fn backlog(&self) -> i64 {
        (self.asked - self.granted).max(0)
    }

    /// Quanta granted beyond demand.
    fn ahead(&self) -> i64 {
        (self.granted - self.asked).max(0)
    }
}

/// Look-up of senders' demands.
pub trait Demands<K> {
    /// What a sender asked for; `None` if it has gone.
    fn demand(&mut self, of: K) -> Option<&mut Demand>;
}

/// A grant of credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant<K> {
    /// The sender that gets it.
    pub to: K,
    /// Quanta granted to it since its start.
    pub total: i64,
}

/// The grants of a host; `K` names a sender.
#[derive(Clone, Debug)]
pub struct Pacer<K> {
    /// Nanoseconds of a quantum at [`PART`] of the link's rate.
    time: f64,
    /// Factor of that rate, below 1 where the network is overbooked.
    pub rate: f64,
    /// Quanta per grant.
    step: i64,
    /// Most quanta granted beyond demand.
    most_ahead: i64,
    waiting: VecDeque<K>,
    idle: VecDeque<K>,
    next: Option<Due>,
}

/// A point in time, in nanoseconds and parts of one: a large number of nanoseconds would take digits from the parts.
#[derive(Clone, Copy, Debug)]
struct Due {
    nanos: Nanos,
    parts: f64,
}

impl Due {
    fn after(self, nanos: f64) -> Due {
        let later = self.parts + nanos;
        let whole = libm::floor(later);
        Due { nanos: self.nanos + Nanos(whole as u64), parts: later - whole }
    }
}

impl<K: Copy> Pacer<K> {
    /// Of a host with this rate, whose grants are of `step` bytes each, a quantum at least; idle senders get up to `ahead` bytes.
    pub fn new(rate: BitRate, step: u32, ahead: i64) -> Pacer<K> {
        Pacer {
            time: 8e9 * QUANTUM as f64 / rate.0 as f64 / PART,
            rate: 1.0,
            step: (i64::from(step) / QUANTUM).max(1),
            most_ahead: ahead / QUANTUM,
            waiting: VecDeque::new(),
            idle: VecDeque::new(),
            next: None,
        }
    }

    /// When the next grant is due.
    pub fn next(&self) -> Option<Nanos> {
        self.next.map(|next| next.nanos + Nanos((next.parts > 0.0).into()))
    }

    /// A sender asks for `asked` quanta in all.
    pub fn ask(&mut self, now: Nanos, who: K, demand: &mut Demand, asked: i64) {
        if asked > demand.asked {
            demand.asked = asked;
            self.request(now, who, demand);
        }
    }

    /// Queues a sender for a grant.
    pub fn request(&mut self, now: Nanos, who: K, demand: &mut Demand) {
        if !core::mem::replace(&mut demand.is_waiting, true) {
            self.waiting.push_back(who);
            self.next.get_or_insert(Due { nanos: now, parts: 0.0 });
        }
    }

    /// Makes the grant that is due, if a sender wants one.
    pub fn grant(&mut self, demands: &mut impl Demands<K>) -> Option<Grant<K>> {
        let now = self.next?;
        while let Some(who) = self.waiting.pop_front() {
            let Some(demand) = demands.demand(who) else { continue };
            let more = demand.backlog().min(self.step);
            demand.granted += more;
            if demand.backlog() > 0 {
                self.waiting.push_back(who);
            } else {
                demand.is_waiting = false;
                self.idle.push_back(who);
            }
            let total = demand.granted;
            return Some(self.granted(now, who, total, more));
        }
        while let Some(who) = self.idle.pop_front() {
            let Some(demand) = demands.demand(who) else { continue };
            demand.granted += self.step;
            if demand.backlog() == 0 && demand.ahead() < self.most_ahead {
                self.idle.push_back(who);
            }
            let total = demand.granted;
            return Some(self.granted(now, who, total, self.step));
        }
        self.next = None;
        None
    }

    fn granted(&mut self, now: Due, to: K, total: i64, more: i64) -> Grant<K> {
        let pause = if more == 0 { LEAST_PAUSE } else { more };
        self.next = Some(now.after(pause as f64 * self.time / self.rate));
        Grant { to, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    impl Demands<usize> for [Demand; 2] {
        fn demand(&mut self, of: usize) -> Option<&mut Demand> {
            self.get_mut(of)
        }
    }

    /// Grants until none is due: when, to whom, how much in all.
    fn grants(pacer: &mut Pacer<usize>, demands: &mut [Demand; 2]) -> Vec<(u64, usize, i64)> {
        core::iter::from_fn(|| {
            let at = pacer.next()?.0;
            pacer.grant(demands).map(|grant| (at, grant.to, grant.total))
        })
        .collect()
    }

    /// At 99 % of 100 Gb/s a quantum takes 20.7 ns.
    #[test]
    fn grants_go_round_and_end_with_what_was_asked_for() {
        let mut demands = [Demand::default(); 2];
        let mut pacer = Pacer::new(BitRate::gbps(100), 4 * 1_024, 0);
        pacer.ask(Nanos(1_000), 0, &mut demands[0], 40);
        pacer.ask(Nanos(1_000), 1, &mut demands[1], 20);
        pacer.ask(Nanos(1_000), 1, &mut demands[1], 19);
        assert_eq!(
            grants(&mut pacer, &mut demands),
            [
                (1_000, 0, 16),
                (1_331, 1, 16),
                (1_662, 0, 32),
                (1_993, 1, 20),
                (2_076, 0, 40),
                // Ahead of demand, each once.
                (2_242, 1, 36),
                (2_573, 0, 56)
            ]
        );
        pacer.ask(Nanos(9_000), 0, &mut demands[0], 60);
        assert_eq!(grants(&mut pacer, &mut demands)[0], (9_000, 0, 60));
    }

    #[test]
    fn a_grant_is_a_quantum_at_least() {
        let mut pacer = Pacer::new(BitRate::gbps(100), 4 * 3, 0);
        let mut demands = [Demand::default(); 2];
        pacer.ask(Nanos(0), 0, &mut demands[0], 2);
        let grants = grants(&mut pacer, &mut demands);
        assert_eq!(
            grants.iter().map(|&(_, to, total)| (to, total)).collect::<Vec<_>>(),
            [(0, 1), (0, 2), (0, 3)],
            "the last ahead of demand"
        );
    }

    #[test]
    fn an_idle_sender_gets_so_much_ahead() {
        let mut demands = [Demand::default(); 2];
        let mut pacer = Pacer::new(BitRate::gbps(100), 4 * 1_024, 40 * QUANTUM);
        pacer.request(Nanos(0), 0, &mut demands[0]);
        let totals: Vec<i64> = grants(&mut pacer, &mut demands).into_iter().map(|(_, _, total)| total).collect();
        assert_eq!(totals, [0, 16, 32, 48]);
    }

    #[test]
    fn a_lower_rate_spreads_grants() {
        let mut demands = [Demand::default(); 2];
        let mut pacer = Pacer::new(BitRate::gbps(100), 4 * 1_024, 0);
        pacer.rate = 0.5;
        pacer.ask(Nanos(0), 0, &mut demands[0], 32);
        assert_eq!(grants(&mut pacer, &mut demands)[1], (662, 0, 32));
    }
}
