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
pub use traffic::exponential;
pub use traffic::{Class, Poisson, RandomIncast, all_to_all, permutation, shuffled};

use rand::SeedableRng;
use rand_pcg::Pcg64;

/// The generator of every random choice.
pub type Random = Pcg64;

/// The generator of whoever has this name; of several with one name, of the one with this number. What others there are, and in
/// which order, makes no difference.
pub fn random(seed: u64, name: &str, number: u32) -> Random {
    let mut hash = blake3::Hasher::new();
    hash.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(name.as_bytes());
    Pcg64::from_seed(*hash.finalize().as_bytes())
}
