// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is left to chance: marks, balancing, and frames that are lost or spoilt on links.

use super::frame::{Detail, Frame};
use super::observer::Sight;
use super::port::Port;
use super::state::{Engine, Streams};
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::random::{Loss, PortRngs, Rng};
use crate::recurrence::recurs;
use crate::reference_faults::ReferenceFaults;
use alloc::vec;
use alloc::vec::Vec;

/// A seed that no other loss has: a port may lose frames besides.
const NOISE_SEED: u32 = 2;

/// The random numbers of a network, and the losses that they decide.
pub(super) struct Chance {
    pub rngs: PortRngs,
    /// What is lost on the way to ports, and what comes there with wrong bits.
    losses: Vec<Loss>,
    streams: Streams,
    /// Ports lose frames by sequences of their own. In the 2019 simulator those of a link with its own probability, and
    /// those of all others, draw from one.
    has_own_losses: bool,
    /// Losses hit PFC frames, too.
    loses_pfc: bool,
}

impl Chance {
    /// The chances of ports, by node and number.
    pub fn new(
        streams: Streams,
        faults: ReferenceFaults,
        is_canonical: bool,
        ports: impl Iterator<Item = (u32, u16)>,
    ) -> Chance {
        let rngs = if faults.shared_rng {
            PortRngs::shared(Rng::seeded(streams.seed, streams.marks, streams.pint))
        } else {
            PortRngs::of_ports(&[streams.seed.into(), streams.marks, streams.pint.into()], ports)
        };
        let has_own_losses = is_canonical || !rngs.are_shared();
        Chance { rngs, losses: Vec::new(), streams, has_own_losses, loses_pfc: faults.lossy_pfc }
    }

    /// What comes to a port is lost with a probability. `shared` is the loss of all ports that may share one.
    fn lose(&mut self, port: &mut Port, shared: &mut Option<u32>, (seed, stream): (u32, u64), probability: f64) {
        let next = self.losses.len() as u32;
        let known = if self.has_own_losses { next } else { *shared.get_or_insert(next) };
        if known == next {
            self.losses.push(if self.has_own_losses {
                Loss::of_port(seed, stream, port.node, port.number, probability)
            } else {
                Loss::new(seed, stream, probability)
            });
        }
        port.loss = Some(known);
    }

    /// Bits that come to a port are wrong with a probability from now on. Returns whether that may be.
    pub fn set_bit_errors(&mut self, port: &mut Port, probability: f64) -> bool {
        if port.noise.is_none() && probability > 0.0 {
            port.noise = Some(self.losses.len() as u32);
            self.losses.push(Loss::of_port(NOISE_SEED, self.streams.losses, port.node, port.number, 0.0));
        }
        let Some(noise) = port.noise else { return false };
        self.losses[noise as usize].set_probability(probability);
        true
    }

    /// Whether a frame of so many bytes that comes to a port is lost, or has a wrong bit.
    pub fn spoils(&mut self, port: &Port, size: u32) -> bool {
        port.loss.is_some_and(|place| self.losses[place as usize].is_lost())
            || port.noise.is_some_and(|place| self.losses[place as usize].spoils(size))
    }
}

impl Engine {
    /// Frames are lost at random on links that have a probability of loss; the others share the default.
    pub(super) fn set_losses(&mut self, default: f64) {
        let own: Vec<f64> = self.fabric.network().links.iter().map(|link| link.loss).collect();
        let stream = (self.chance.streams.seed, self.chance.streams.losses);
        let mut shared = vec![None; own.len() + 1];
        for port in self.all.ports.iter_mut() {
            let link = self.fabric.ports(port.node)[usize::from(port.number)].link as usize;
            let (probability, place) = if own[link] > 0.0 { (own[link], link) } else { (default, own.len()) };
            if probability > 0.0 {
                self.chance.lose(port, &mut shared[place], stream, probability);
                self.checks_arrivals = true;
            }
        }
    }

    /// What comes to these ports is lost with a probability. In the 2019 simulator they share one sequence.
    pub fn lose(&mut self, ports: &[(u32, u16)], stream: (u32, u64), probability: f64) {
        let mut shared = None;
        for &(node, port) in ports {
            let p = self.port_id(node, port);
            self.chance.lose(&mut self.all.ports[p], &mut shared, stream, probability);
        }
        self.checks_arrivals = true;
    }

    /// Whether a frame is lost at the end of its link, or an attacker there keeps it.
    pub(super) fn is_lost(&mut self, p: PortId, f: FrameId) -> bool {
        let port = &mut self.all.ports[p];
        let &Frame { size, kind, detail, .. } = self.all.frames.get(f);
        if detail == Detail::Credits {
            return false;
        }
        let is_pfc = kind == PacketKind::Pfc;
        let may_spoil = port.is_whole && port.retry.is_none() && (self.chance.loses_pfc || !is_pfc);
        let judge = self.program.judge.as_mut().filter(|_| may_spoil && port.is_judged);
        let is_spoilt = judge.is_some_and(|judge| judge.spoils(port.node, port.number, size))
            || may_spoil && self.chance.spoils(port, size);
        port.errors += u64::from(is_spoilt);
        if !port.is_whole || is_spoilt {
            let sight = if port.is_whole { Sight::Chance } else { Sight::Lost };
            self.totals.losses += 1;
            self.totals.failed_link_losses += u64::from(!port.is_whole);
            self.totals.lose(self.all.frames.get(f));
            if let Some(counts) = self.program.port_counts.get_mut(p) {
                counts.losses += 1;
            }
            self.show(sight, p, f);
            self.give_back(self.all.ports[p].node, f);
            self.all.frames.release(f);
            return true;
        }
        self.show(Sight::Arrival, p, f);
        if self.is_stormed(p, f) {
            return true;
        }
        !self.attackers.is_empty() && !is_pfc && !self.pass_attackers(p, f)
    }
}

recurs! {
    Chance { rngs: part, losses: absent, streams: constant, has_own_losses: constant, loses_pfc: constant, }
}
