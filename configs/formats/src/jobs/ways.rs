// SPDX-License-Identifier: GPL-2.0-only
//! How collectives are done.

use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{self, Collective, Kind, PATTERNS, Pattern, Plan};
use std::sync::Arc;

/// Of all ranks of a collective together: each takes some 200 bytes.
const MOST_UNDER_WAY: u64 = 1 << 22;
/// Between all ranks of a collective: each takes some 3 kB when it is used.
const MOST_PAIRS: u64 = 1 << 24;

/// How a collective is done.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    /// The name of the algorithm; `None`: the usual one.
    pub algorithm: Option<String>,
    pub channels: u16,
    pub chunk: u64,
    pub depth: u32,
    pub window: u32,
}

impl Ways {
    /// The algorithm of a kind. An error is a key and what is wrong with it.
    pub fn pattern(&self, kind: Kind) -> Result<&'static Pattern, (&'static str, String)> {
        collective::find(kind, self.algorithm.as_deref()).ok_or_else(|| {
            let names = PATTERNS.iter().filter(|pattern| pattern.kind == kind).map(|pattern| pattern.name);
            let message = format!(
                "{} has no algorithm \"{}\"; expected one of {}",
                kind.name(),
                self.algorithm.as_deref().unwrap_or_default(),
                names.collect::<Vec<_>>().join(", ")
            );
            ("algorithm", message)
        })
    }

    /// The plan of a collective. An error is a key and what is wrong with it.
    pub fn plan(&self, kind: Kind, group: Arc<[u32]>, size: u64, number: u32) -> Result<Plan, (&'static str, String)> {
        let ranks = group.len() as u32;
        let pattern = self.pattern(kind)?;
        if let Some(why) = (pattern.refuses)(ranks) {
            return Err(("algorithm", format!("{} of {ranks} ranks cannot be done: {why}", pattern.name)));
        }
        if (pattern.steps)(ranks) > Collective::MOST_STEPS {
            return Err(("ranks", format!("{ranks} ranks take more steps than {}", Collective::MOST_STEPS)));
        }
        let pieces = size.div_ceil(u64::from(self.channels)).div_ceil(self.chunk);
        if pieces > u64::from(Collective::MOST_PIECES / pattern.ways) {
            let most = Collective::MOST_PIECES / pattern.ways;
            return Err(("chunk", format!("{pieces} pieces of a channel are too many; expected at most {most}")));
        }
        let at_once = if pattern.is_chain { 1 } else { self.window.min((pattern.steps)(ranks)) };
        let of_channel = u64::from(pattern.ways) * pieces.clamp(1, self.depth.into()) * u64::from(at_once);
        let under_way = of_channel * u64::from(self.channels) * u64::from(ranks);
        if under_way > MOST_UNDER_WAY {
            let message = format!("{under_way} steps may be under way at once; expected at most {MOST_UNDER_WAY}");
            return Err((if pattern.is_chain { "depth" } else { "window" }, message));
        }
        let pairs = u64::from(ranks) * u64::from((pattern.steps)(ranks).min(ranks)) * u64::from(self.channels);
        if !pattern.is_chain && pairs > MOST_PAIRS {
            let message = format!("there would be {pairs} queue pairs; expected at most {MOST_PAIRS}");
            return Err(("ranks", message));
        }
        let channels = if kind == Kind::Barrier { 1 } else { self.channels };
        let &Ways { chunk, depth, window, .. } = self;
        Ok(Plan {
            pattern,
            group,
            per_server: 1,
            size,
            channels,
            chunk,
            depth,
            window,
            iterations: 1,
            gap: Nanos(0),
            number,
        })
    }
}
