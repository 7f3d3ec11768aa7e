// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which UDP source port, and so which path among those that hashes choose, a packet gets from its sender: an *entropy* is added to
//! the port of the flow.
//!
//! After Ultra Ethernet's transport, and REPS (Bonato et al., 2024), whose memory *freezes* when a packet times out: where switches
//! trim, or buffers are lossless, a link has failed then, and what came through of late did not take it.

use super::TransportConfig;
use crate::balance::FlowKey;
use crate::units::Nanos;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

crate::named! {
    /// Which entropy a packet has.
    #[derive(Default)]
    pub enum Entropy {
        /// None: all have the port of their flow.
        #[default]
        Flow = "flow",
        /// Each once a round, in an order that changes from round to round.
        Oblivious = "oblivious",
        /// The same without those whose packets were marked.
        Bitmap = "bitmap",
        /// One whose packet came through unmarked, each once; without one any.
        Reps = "reps",
        /// The same, and without one as `Bitmap`.
        Mixed = "mixed",
    }
}

/// Entropies that are remembered for their next use; the oldest gives way.
const REMEMBERED: usize = 8;
/// So many packets explore any entropies after a freeze.
const EXPLORING: u32 = 16;
/// The penalty of a packet that was trimmed.
const OF_TRIMMED: u8 = 4;
/// The largest penalty.
const MOST_PENALTY: u8 = 15;

/// The entropies of a flow.
#[derive(Clone, Debug)]
pub struct Entropies {
    kind: Entropy,
    /// One less than the number of entropies, a power of two.
    mask: u16,
    key: FlowKey,
    /// Random numbers so far.
    draws: u32,
    /// The place in a round, and what changes its order.
    index: u16,
    order: u16,
    penalties: Vec<u8>,
    /// The last that came through, of which so many at the end wait for their next use.
    recent: VecDeque<u16>,
    fresh: usize,
    /// How long a freeze lasts, if there are any; when the present one ends, and the place of the next entropy in it.
    freeze: Nanos,
    frozen_until: Option<Nanos>,
    turn: usize,
    /// Packets that will yet explore.
    exploring: u32,
}

impl Entropies {
    /// The entropies of a flow, if it has several.
    pub fn of(config: &TransportConfig, key: FlowKey) -> Option<Entropies> {
        let count = config.entropies;
        (config.entropy != Entropy::Flow).then(|| Entropies {
            kind: config.entropy,
            mask: count - 1,
            key,
            draws: 0,
            index: 0,
            order: 0,
            penalties: vec![0; count.into()],
            recent: VecDeque::with_capacity(REMEMBERED),
            fresh: 0,
            freeze: config.entropy_freeze,
            frozen_until: None,
            turn: 0,
            exploring: 0,
        })
    }

    /// The source port of the next packet.
    pub fn next_port(&mut self, now: Nanos) -> u16 {
        let recycles = matches!(self.kind, Entropy::Reps | Entropy::Mixed);
        let recycled = if recycles { self.recycle(now) } else { None };
        let entropy = match (recycled, self.kind) {
            (Some(entropy), _) => entropy,
            (None, Entropy::Reps | Entropy::Flow) => self.draw(),
            (None, Entropy::Oblivious) => self.walk(),
            (None, Entropy::Bitmap | Entropy::Mixed) => self.next_unmarked(),
        };
        self.key.sport ^ entropy
    }

    /// The oldest that was not used again; in a freeze the next of all that are remembered.
    fn recycle(&mut self, now: Nanos) -> Option<u16> {
        if let Some(until) = self.frozen_until {
            if now < until {
                let place = self.turn % self.recent.len().max(1);
                self.turn = place + 1;
                return self.recent.get(place).copied();
            }
            self.recent.clear();
            (self.frozen_until, self.fresh, self.exploring) = (None, 0, EXPLORING);
        }
        if self.exploring > 0 {
            self.exploring -= 1;
            return None;
        }
        let oldest = self.recent.len() - self.fresh;
        self.fresh = self.fresh.saturating_sub(1);
        self.recent.get(oldest).copied()
    }

    /// A packet has timed out.
    pub fn on_timeout(&mut self, now: Nanos) {
        if self.freeze > Nanos(0) && self.frozen_until.is_none() && self.exploring == 0 {
            self.frozen_until = Some(now + self.freeze);
        }
    }

    /// A packet with this source port has arrived, marked or not.
    pub fn on_ack(&mut self, port: u16, marked: bool) {
        let entropy = (port ^ self.key.sport) & self.mask;
        if marked {
            return self.avoid(port, 1);
        }
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(entropy);
        self.fresh = REMEMBERED.min(self.fresh + 1);
    }

    /// A packet with this source port was trimmed.
    pub fn on_trimmed(&mut self, port: u16) {
        self.avoid(port, OF_TRIMMED);
    }

    fn avoid(&mut self, port: u16, more: u8) {
        let penalty = &mut self.penalties[usize::from((port ^ self.key.sport) & self.mask)];
        *penalty = MOST_PENALTY.min(*penalty + more);
    }

    /// The next one of the round without a penalty; the first that is passed over loses a part of its own. After a whole round any
    /// will do.
    fn next_unmarked(&mut self) -> u16 {
        let mut entropy = self.walk();
        for passed in 0..=self.mask {
            let penalty = &mut self.penalties[usize::from(entropy)];
            if *penalty == 0 {
                break;
            }
            *penalty -= u8::from(passed == 0);
            entropy = self.walk();
        }
        entropy
    }

    fn walk(&mut self) -> u16 {
        if self.index == 0 {
            self.order = self.draw();
        }
        let entropy = self.index ^ self.order;
        self.index = (self.index + 1) & self.mask;
        entropy
    }

    /// The flow's own sequence of random numbers.
    fn draw(&mut self) -> u16 {
        self.draws = self.draws.wrapping_add(1);
        self.key.hash(self.draws) as u16 & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    const PORT: u16 = 10_007;

    fn of(entropy: Entropy) -> Entropies {
        let config = TransportConfig { entropy, entropies: 16, ..TransportConfig::default() };
        Entropies::of(&config, FlowKey { sport: PORT, ..FlowKey::default() }).expect("several")
    }

    fn round(entropies: &mut Entropies) -> Vec<u16> {
        (0..16).map(|_| entropies.next_port(Nanos(0)) ^ PORT).collect()
    }

    #[test]
    fn a_flow_without_entropy_keeps_its_port() {
        assert!(Entropies::of(&TransportConfig::default(), FlowKey::default()).is_none());
    }

    /// Marks count for nothing.
    #[test]
    fn oblivious_takes_each_entropy_once_a_round_in_several_orders() {
        let mut oblivious = of(Entropy::Oblivious);
        let mut orders = BTreeSet::new();
        for n in 0..20 {
            let taken = round(&mut oblivious);
            oblivious.on_ack(PORT ^ (n % 16), n % 2 == 0);
            assert_eq!(taken.iter().copied().collect::<BTreeSet<_>>(), (0..16).collect(), "round {n}");
            orders.insert(taken);
        }
        assert!(orders.len() > 5, "{}", orders.len());
    }

    /// Twice marked, an entropy is passed over in two rounds.
    #[test]
    fn a_bitmap_passes_over_what_was_marked_as_often() {
        let mut bitmap = of(Entropy::Bitmap);
        bitmap.on_ack(PORT ^ 5, true);
        bitmap.on_ack(PORT ^ 5, true);
        bitmap.on_ack(PORT ^ 9, false);
        let taken: Vec<u16> = (0..30).map(|_| bitmap.next_port(Nanos(0)) ^ PORT).collect();
        assert_eq!(taken.iter().filter(|&&entropy| entropy == 5).count(), 0);
        assert_eq!(taken.iter().filter(|&&entropy| entropy == 9).count(), 2);
        assert!(round(&mut bitmap).contains(&5));
        (0..16).for_each(|entropy| (0..99).for_each(|_| bitmap.on_ack(PORT ^ entropy, true)));
        round(&mut bitmap);
        let left: u32 = bitmap.penalties.iter().map(|&penalty| u32::from(penalty)).sum();
        assert_eq!(left, 16 * 15 - 16, "each of 16 packets leaves all the same, and takes a part from one penalty");
    }

    /// Of ten that came through the last eight are known.
    #[test]
    fn reps_uses_each_entropy_again_that_came_through_and_then_any() {
        for kind in [Entropy::Reps, Entropy::Mixed] {
            let mut reps = of(kind);
            (0..10).for_each(|entropy| reps.on_ack(PORT ^ entropy, false));
            reps.on_ack(PORT ^ 11, true);
            let taken = [(); 8].map(|()| reps.next_port(Nanos(0)) ^ PORT);
            assert_eq!(taken, [2, 3, 4, 5, 6, 7, 8, 9], "{kind:?}");
            let count = if kind == Entropy::Mixed { 15 } else { 400 };
            let others: BTreeSet<u16> = (0..count).map(|_| reps.next_port(Nanos(0)) ^ PORT).collect();
            assert_eq!((others.len(), others.contains(&11)), (count.min(16), count > 15), "{kind:?}");
        }
    }

    /// A freeze of 100 ns from 50 on: round robin over what came through, also in the freeze. Then 16 packets explore.
    #[test]
    fn a_timeout_freezes_what_came_through_for_a_time() {
        let config = TransportConfig {
            entropy: Entropy::Reps,
            entropies: 32_768,
            entropy_freeze: Nanos(100),
            ..TransportConfig::default()
        };
        let mut reps = Entropies::of(&config, FlowKey { sport: PORT, ..FlowKey::default() }).expect("several");
        let take = |reps: &mut Entropies, now, count: usize| -> Vec<u16> {
            (0..count).map(|_| reps.next_port(Nanos(now)) ^ PORT).collect()
        };
        (1..=3).for_each(|entropy| reps.on_ack(PORT ^ entropy, false));
        assert_eq!(take(&mut reps, 49, 2), [1, 2], "each once");
        reps.on_timeout(Nanos(50));
        assert_eq!(take(&mut reps, 50, 5), [1, 2, 3, 1, 2], "used or not");
        reps.on_ack(PORT ^ 4, false);
        reps.on_timeout(Nanos(140));
        assert_eq!(take(&mut reps, 149, 4), [3, 4, 1, 2]);
        let explored = take(&mut reps, 150, 8);
        (1..=3).for_each(|entropy| reps.on_ack(PORT ^ entropy, false));
        reps.on_timeout(Nanos(151));
        let others = take(&mut reps, 151, 8);
        let known = |entropy: &u16| (1..=4).contains(entropy);
        assert!(!explored.iter().chain(&others).any(known), "a timeout while it explores freezes nothing: {others:?}");
        assert_eq!(take(&mut reps, 152, 3), [1, 2, 3], "and then as before");
    }

    #[test]
    fn without_a_time_nothing_freezes() {
        let mut reps = of(Entropy::Reps);
        reps.on_ack(PORT ^ 3, false);
        reps.on_timeout(Nanos(0));
        let taken: BTreeSet<u16> = round(&mut reps).into_iter().collect();
        assert!(taken.len() > 1, "{taken:?}");
    }
}
