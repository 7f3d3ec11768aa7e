// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose random numbers are whose in a network.

use super::Rng;
use crate::ids::{Id, PortId};
use crate::recurrence::{Recurs, Walk};
use alloc::vec::Vec;

/// The random numbers of all ports: one sequence for what leaves by a port, one for what comes in by it. So what shares no port
/// shares no chance. Or one for all, as in the 2019 simulator.
#[derive(Clone, Debug)]
pub struct PortRngs(Vec<Rng>);

impl PortRngs {
    /// One sequence for all.
    pub fn shared(rng: Rng) -> PortRngs {
        PortRngs(Vec::from([rng]))
    }

    /// Those of ports, by node and number, for such a seed.
    pub fn of_ports(seed: &[u64], ports: impl Iterator<Item = (u32, u16)>) -> PortRngs {
        let both = ports.flat_map(|port| [(port, 0), (port, 1)]);
        let own = |((node, number), direction): ((u32, u16), u64)| {
            let name: Vec<u64> = seed.iter().copied().chain([node.into(), number.into(), direction]).collect();
            Rng::of(&name)
        };
        PortRngs(both.map(own).collect())
    }

    /// Those of what leaves by a port.
    #[inline]
    pub fn leaving(&mut self, port: PortId) -> &mut Rng {
        self.at(2 * port.place())
    }

    /// Those of what comes in by a port.
    #[inline]
    pub fn arriving(&mut self, port: PortId) -> &mut Rng {
        self.at(2 * port.place() + 1)
    }

    #[inline]
    fn at(&mut self, place: usize) -> &mut Rng {
        let place = if self.0.len() == 1 { 0 } else { place };
        &mut self.0[place]
    }

    /// Whether one sequence is for all.
    pub fn are_shared(&self) -> bool {
        matches!(self.0[..], [Rng { marks: super::Fractions::Streams(_), .. }])
    }

    /// The 2019 simulator draws an identifier for a PFC frame.
    pub fn skip_identifier(&mut self) {
        if let [Rng { marks: super::Fractions::Streams(streams), .. }] = &mut self.0[..] {
            streams.skip();
        }
    }
}

impl Recurs for PortRngs {
    fn walk(&mut self, walk: &mut Walk) {
        let PortRngs(rngs) = self;
        walk.part(&mut rngs[..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that one port draws from a shared sequence is missing for others; a port's own sequence is untouched.
    #[test]
    fn ports_with_their_own_chance_do_not_disturb_each_other() {
        let draw = |rng: &mut Rng| (rng.marks.uniform(), rng.rand.draw());
        let mut shared = PortRngs::shared(Rng::new(26, 1));
        let first = draw(shared.clone().leaving(PortId(0)));
        draw(shared.arriving(PortId(7)));
        assert_ne!(draw(shared.leaving(PortId(0))), first, "after another port has drawn");
        let own = |more| PortRngs::of_ports(&[1], [(0, 0), (0, 1), (1, 0)].into_iter().chain(more));
        let mut ports = own(None);
        let of_first = draw(ports.clone().leaving(PortId(0)));
        let others = [draw(ports.leaving(PortId(1))), draw(ports.leaving(PortId(2))), draw(ports.arriving(PortId(0)))];
        assert_eq!(draw(ports.leaving(PortId(0))), of_first);
        assert!(!others.contains(&of_first), "{others:?}");
        assert_eq!(draw(own(Some((2, 0))).leaving(PortId(0))), of_first, "in a larger network");
        assert_ne!(draw(PortRngs::of_ports(&[2], [(0, 0)].into_iter()).leaving(PortId(0))), of_first, "another seed");
    }
}
