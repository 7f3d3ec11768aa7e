// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers: each port has its own, which depend on no other port; or all share the sequences that the 2019
//! simulator draws from, so that its decisions can be repeated.

mod glibc;
mod mrg32k3a;
mod own;
mod ports;

pub use glibc::GlibcRand;
pub use mrg32k3a::{Mrg32k3a, StreamPerDraw};
pub use own::Own;
pub use ports::PortRngs;

use crate::recurrence::{Recurs, Walk, recurs};
use alloc::boxed::Box;

/// Draws from 0 to 1.
#[derive(Clone, Debug)]
pub enum Fractions {
    /// In the 2019 simulator's manner.
    Streams(Box<StreamPerDraw>),
    /// Somebody's own.
    Own(Own),
}

impl Fractions {
    /// In the 2019 simulator's manner: the first draw uses `first_stream` of a global seed.
    pub fn new(seed: u32, first_stream: u64) -> Fractions {
        Fractions::Streams(Box::new(StreamPerDraw::new(seed, first_stream)))
    }

    /// The next draw, uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        match self {
            Fractions::Streams(streams) => streams.uniform(),
            Fractions::Own(own) => ((own.draw() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64,
        }
    }
}

/// Draws of whole numbers, as C's `rand()` has them: 31 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integers {
    /// The very numbers of the GNU C library.
    Glibc(Box<GlibcRand>),
    /// Somebody's own.
    Own(Own),
}

impl Integers {
    /// Those of the GNU C library after `srand(seed)`.
    pub fn new(seed: u32) -> Integers {
        Integers::Glibc(Box::new(GlibcRand::new(seed)))
    }

    /// The next value, 0 to 2^31 - 1.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        match self {
            Integers::Glibc(rand) => rand.draw(),
            Integers::Own(own) => (own.draw() >> 33) as u32,
        }
    }
}

/// The random numbers of a port or, in the 2019 simulator's manner, of a whole network: then the order of events
/// decides which node gets which number.
#[derive(Clone, Debug)]
pub struct Rng {
    /// ECN marks, and the identifiers of PFC frames.
    pub marks: Fractions,
    /// PINT: rounding at the switches, sampling at the hosts. Load balancing.
    pub rand: Integers,
}

impl Rng {
    /// ECN draws from `first_stream` on; PINT from the sequence of C's `rand()` after `srand(seed)`.
    pub fn new(first_stream: u64, seed: u32) -> Self {
        Rng::seeded(1, first_stream, seed)
    }

    /// As [`Rng::new`], with another global seed of the streams.
    pub fn seeded(global_seed: u32, first_stream: u64, seed: u32) -> Self {
        Rng { marks: Fractions::new(global_seed, first_stream), rand: Integers::new(seed) }
    }

    /// Those of whoever has this name.
    pub fn of(name: &[u64]) -> Self {
        let mut begin = Own::of(name);
        let mut own = || Own::of(&[begin.draw()]);
        Rng { marks: Fractions::Own(own()), rand: Integers::Own(own()) }
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

recurs! { Rng { marks: part, rand: part, } }

/// Why nothing recurs where all ports share their random numbers.
const SHARED: &str = "random numbers that all ports share";

impl Recurs for Fractions {
    fn walk(&mut self, walk: &mut Walk) {
        match self {
            Fractions::Own(own) => walk.plain(own),
            Fractions::Streams(_) => walk.refuse(SHARED),
        }
    }
}

impl Recurs for Integers {
    fn walk(&mut self, walk: &mut Walk) {
        match self {
            Integers::Own(own) => walk.plain(own),
            Integers::Glibc(_) => walk.refuse(SHARED),
        }
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

    /// Of 100,000 draws the mean is 1/2 with a standard deviation of 0.0009, and each tenth has 10,000 with one of 95.
    #[test]
    fn own_draws_are_uniform() {
        let mut rng = Rng::of(&[1, 2, 3]);
        let (mut tenths, mut sum, mut odd) = ([0_u32; 10], 0.0, 0);
        for _ in 0..100_000 {
            let draw = rng.marks.uniform();
            assert!(draw > 0.0 && draw < 1.0);
            sum += draw;
            tenths[(draw * 10.0) as usize] += 1;
            odd += rng.rand.draw() & 1;
        }
        assert!((sum / 1e5 - 0.5).abs() < 0.0045, "{sum}");
        assert!(tenths.iter().all(|count| count.abs_diff(10_000) < 475), "{tenths:?}");
        assert!(odd.abs_diff(50_000) < 790, "{odd}");
    }
}
