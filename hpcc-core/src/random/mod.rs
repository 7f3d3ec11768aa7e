// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chance, in the sequences that the reference simulator draws from, so that its decisions can be repeated.

mod glibc;
mod mrg32k3a;

pub use glibc::GlibcRand;
pub use mrg32k3a::{Mrg32k3a, StreamPerDraw};

/// The chance that all hosts and switches of a network share: who draws depends on the order of events.
#[derive(Clone, Debug)]
pub struct Chance {
    /// ECN marks, and the identifiers of PFC frames.
    pub marks: StreamPerDraw,
    /// PINT: rounding at the switches, sampling at the hosts.
    pub rand: GlibcRand,
}

impl Chance {
    /// ECN draws from `first_stream` on; PINT from the sequence of C's `rand()` after `srand(seed)`.
    pub fn new(first_stream: u64, seed: u32) -> Self {
        Chance { marks: StreamPerDraw::new(first_stream), rand: GlibcRand::new(seed) }
    }
}
