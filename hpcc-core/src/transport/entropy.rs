// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which UDP source port, and so which path among those that hashes choose, a packet gets from its sender: an *entropy* is added to
//! the port of the flow.
//!
//! After Ultra Ethernet's transport, and REPS (Bonato et al., 2024) without the freezing that needs trimmed packets.

use super::TransportConfig;
use crate::balance::FlowKey;
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
    fresh: VecDeque<u16>,
}

impl Entropies {
    /// Those of a flow, if it has several.
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
            fresh: VecDeque::with_capacity(REMEMBERED),
        })
    }

    /// The source port of the next packet.
    pub fn next_port(&mut self) -> u16 {
        let recycles = matches!(self.kind, Entropy::Reps | Entropy::Mixed);
        let recycled = if recycles { self.fresh.pop_front() } else { None };
        let entropy = match (recycled, self.kind) {
            (Some(entropy), _) => entropy,
            (None, Entropy::Reps | Entropy::Flow) => self.draw(),
            (None, Entropy::Oblivious) => self.walk(),
            (None, Entropy::Bitmap | Entropy::Mixed) => self.next_unmarked(),
        };
        self.key.sport ^ entropy
    }

    /// A packet with this source port has arrived, marked or not.
    pub fn on_ack(&mut self, port: u16, marked: bool) {
        let entropy = (port ^ self.key.sport) & self.mask;
        if marked {
            return self.avoid(port, 1);
        }
        if self.fresh.len() == REMEMBERED {
            self.fresh.pop_front();
        }
        self.fresh.push_back(entropy);
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
        (0..16).map(|_| entropies.next_port() ^ PORT).collect()
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
        let taken: Vec<u16> = (0..30).map(|_| bitmap.next_port() ^ PORT).collect();
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
            let taken = [(); 8].map(|()| reps.next_port() ^ PORT);
            assert_eq!(taken, [2, 3, 4, 5, 6, 7, 8, 9], "{kind:?}");
            let count = if kind == Entropy::Mixed { 15 } else { 400 };
            let others: BTreeSet<u16> = (0..count).map(|_| reps.next_port() ^ PORT).collect();
            assert_eq!((others.len(), others.contains(&11)), (count.min(16), count > 15), "{kind:?}");
        }
    }
}
