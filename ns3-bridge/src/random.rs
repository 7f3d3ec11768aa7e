// SPDX-License-Identifier: GPL-2.0-only
//! Random streams.

use hpcc_core::random::Mrg32k3a;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    extern "Rust" {
        /// How many streams lie before the streams of a run of ns-3.
        fn streams_before(run: u64) -> u64;
        /// The first `count` draws of ns-3's generator for substream 1: for comparison with ns-3's own.
        fn uniform_draws(seed: u32, stream: u64, count: usize) -> Vec<f64>;
    }
}

pub fn streams_before(run: u64) -> u64 {
    run.wrapping_sub(1).wrapping_mul(1 << 32)
}

pub fn uniform_draws(seed: u32, stream: u64, count: usize) -> Vec<f64> {
    let mut generator = Mrg32k3a::seeded(seed, stream, 1);
    (0..count).map(|_| generator.uniform()).collect()
}
