// SPDX-License-Identifier: GPL-2.0-only
//! Networks and traffic from a few parameters. Everything random comes from a seed and portable arithmetic,
//! so that the same parameters give the same flows on any machine.

mod cdf;
mod network;
mod offer;
mod pairs;
mod traffic;

pub use cdf::Cdf;
pub use network::{Dragonfly, Tier, Wire, dumbbell, grid, star, tree};
pub use offer::Offer;
pub use pairs::Pairs;
pub use traffic::{Class, Poisson, RandomIncast, all_to_all, permutation, shuffled};

use rand::SeedableRng;
use rand_pcg::Pcg64;

/// The generator of every random choice.
pub type Random = Pcg64;

/// A generator for one use of a seed. Uses of the same seed do not overlap, so adding one at the end leaves
/// the earlier ones as they were.
pub fn random(seed: u64, usage: u32) -> Random {
    let mut random = Pcg64::seed_from_u64(seed);
    random.advance(u128::from(usage) << 64);
    random
}
