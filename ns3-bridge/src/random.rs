// SPDX-License-Identifier: GPL-2.0-only
//! Random numbers of hosts, switches and links.

use hpcc_core::random::{self, Mrg32k3a};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    extern "Rust" {
        /// The generator of hosts and switches for a global seed: ECN marking from `first_stream` on, PINT from the
        /// sequence of C's `rand()` after `srand(pint_seed)`.
        #[derive(ExternType)]
        type Rng;
        fn new_rng(seed: u32, first_stream: u64, pint_seed: u32) -> Box<Rng>;
        /// A node's own generator, which no other node's draws change.
        fn new_node_rng(seed: u32, first_stream: u64, pint_seed: u32, node: u32) -> Box<Rng>;
        /// A PFC frame takes a draw for its identifier.
        fn skip(self: &mut Rng);
        /// Random loss of frames on a link.
        #[derive(ExternType)]
        type Loss;
        fn new_loss(seed: u32, stream: u64, probability: f64) -> Box<Loss>;
        /// Losses of one port alone: its numbers do not depend on arrivals elsewhere.
        fn new_port_loss(seed: u32, stream: u64, node: u32, port: u16, probability: f64) -> Box<Loss>;
        fn is_lost(self: &mut Loss) -> bool;
        /// How many streams lie before the streams of a seed of scenarios, or of a run of ns-3.
        fn streams_before(run: u64) -> u64;
        /// The first `count` draws of ns-3's generator for substream 1: for comparison with ns-3's own.
        fn uniform_draws(seed: u32, stream: u64, count: usize) -> Vec<f64>;
    }
}

pub struct Rng(pub random::Rng);

pub struct Loss(random::Loss);

pub fn new_rng(seed: u32, first_stream: u64, pint_seed: u32) -> Box<Rng> {
    Box::new(Rng(random::Rng::seeded(seed, first_stream, pint_seed)))
}

pub fn new_node_rng(seed: u32, first_stream: u64, pint_seed: u32, node: u32) -> Box<Rng> {
    Box::new(Rng(random::Rng::of_node(seed, first_stream, pint_seed, node)))
}

impl Rng {
    pub fn skip(&mut self) {
        self.0.marks.skip();
    }
}

pub fn new_loss(seed: u32, stream: u64, probability: f64) -> Box<Loss> {
    Box::new(Loss(random::Loss::new(seed, stream, probability)))
}

pub fn new_port_loss(seed: u32, stream: u64, node: u32, port: u16, probability: f64) -> Box<Loss> {
    Box::new(Loss(random::Loss::of_port(seed, stream, node, port, probability)))
}

impl Loss {
    pub fn is_lost(&mut self) -> bool {
        self.0.is_lost()
    }
}

pub fn streams_before(run: u64) -> u64 {
    run.wrapping_sub(1).wrapping_mul(1 << 32)
}

pub fn uniform_draws(seed: u32, stream: u64, count: usize) -> Vec<f64> {
    let mut generator = Mrg32k3a::seeded(seed, stream, 1);
    (0..count).map(|_| generator.uniform()).collect()
}
