// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers, in the sequences that the reference simulator draws from, so that its decisions can be repeated.

mod glibc;
mod mrg32k3a;

pub use glibc::GlibcRand;
pub use mrg32k3a::{Mrg32k3a, StreamPerDraw};

/// The random numbers of hosts and switches. In a shared one the order of events decides which node gets which number.
#[derive(Clone, Debug)]
pub struct Rng {
    /// ECN marks, and the identifiers of PFC frames.
    pub marks: StreamPerDraw,
    /// PINT: rounding at the switches, sampling at the hosts.
    pub rand: GlibcRand,
}

impl Rng {
    /// ECN draws from `first_stream` on; PINT from the sequence of C's `rand()` after `srand(seed)`.
    pub fn new(first_stream: u64, seed: u32) -> Self {
        Rng::seeded(1, first_stream, seed)
    }

    /// As [`Rng::new`], with another global seed of the streams.
    pub fn seeded(global_seed: u32, first_stream: u64, seed: u32) -> Self {
        Rng { marks: StreamPerDraw::new(global_seed, first_stream), rand: GlibcRand::new(seed) }
    }

    /// A node's own: its numbers depend on no other node. The streams of different nodes are 2^40 apart.
    pub fn of_node(global_seed: u32, first_stream: u64, seed: u32, node: u32) -> Self {
        let place = node.wrapping_add(1);
        let first_stream = first_stream.wrapping_add(u64::from(place) << 40);
        Rng::seeded(global_seed, first_stream, seed.wrapping_add(place.wrapping_mul(0x9e37_79b9)))
    }
}

/// Random loss of frames on links.
#[derive(Clone, Debug)]
pub struct Loss {
    generator: Mrg32k3a,
    probability: f64,
}

impl Loss {
    /// Losses of several ports, which draw from one sequence in the order of arrivals.
    pub fn new(seed: u32, stream: u64, probability: f64) -> Loss {
        Loss { generator: Mrg32k3a::seeded(seed, stream, 1), probability }
    }

    /// Losses of one port alone: its numbers do not depend on arrivals elsewhere.
    pub fn of_port(seed: u32, stream: u64, node: u32, port: u16, probability: f64) -> Loss {
        // Substreams from 2 on, for 1 belongs to all ports together; they are so far apart that none reaches the next
        // stream.
        let substream = 2 + (u64::from(node) << 16 | u64::from(port));
        Loss { generator: Mrg32k3a::seeded(seed, stream, substream), probability }
    }

    /// From now on so many are lost.
    pub fn set_probability(&mut self, probability: f64) {
        self.probability = probability;
    }

    /// Whether the next frame, of so many bytes, has a wrong bit, if the probability is of a bit.
    pub fn spoils(&mut self, bytes: u32) -> bool {
        let bits = 8.0 * f64::from(bytes);
        self.generator.uniform() < -libm::expm1(bits * libm::log1p(-self.probability))
    }

    /// Whether the next frame is lost.
    pub fn is_lost(&mut self) -> bool {
        self.generator.uniform() < self.probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of frames of 1,000 bytes 1 - (1 - 1e-5)^8000 have a wrong bit, 7.688 %; of those of 64 bytes 0.511 %.
    #[test]
    fn long_frames_have_wrong_bits_more_often() {
        for (bytes, expected) in [(1_000, 0.07688), (64, 0.00511)] {
            let mut loss = Loss::of_port(1, 26, 0, 0, 1e-5);
            let spoilt = (0..1_000_000).filter(|_| loss.spoils(bytes)).count() as f64 / 1e6;
            assert!((spoilt - expected).abs() < 0.001, "{bytes}: {spoilt}");
            loss.set_probability(0.0);
            assert!((0..1_000).all(|_| !loss.spoils(bytes)));
            loss.set_probability(1.0);
            assert!((0..1_000).all(|_| loss.spoils(bytes)));
        }
    }

    /// A number that one node draws from a shared sequence is missing for others; a node's own sequence is untouched.
    #[test]
    fn nodes_with_their_own_chance_do_not_disturb_each_other() {
        let draw = |rng: &mut Rng| (rng.marks.uniform(), rng.rand.draw());
        let mut shared = Rng::new(26, 1);
        let first = draw(&mut shared.clone());
        draw(&mut shared);
        assert_ne!(draw(&mut shared), first, "after another node has drawn");
        let [mut a, mut b] = [0, 1].map(|node| Rng::of_node(1, 26, 1, node));
        let (of_a, of_b) = (draw(&mut a.clone()), draw(&mut b));
        assert_eq!(draw(&mut a), of_a);
        assert_ne!(of_a, of_b);
    }
}
