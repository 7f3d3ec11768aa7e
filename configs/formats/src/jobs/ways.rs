// SPDX-License-Identifier: GPL-2.0-only
//! How collectives are done.

use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{self, Collective, Kind, PATTERNS, Plan};
use std::sync::Arc;

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
    /// The plan of a collective. An error is a key and what is wrong with it.
    pub fn plan(&self, kind: Kind, group: Arc<[u32]>, size: u64, number: u32) -> Result<Plan, (&'static str, String)> {
        let ranks = group.len() as u32;
        let Some(pattern) = collective::find(kind, self.algorithm.as_deref()) else {
            let names = PATTERNS.iter().filter(|pattern| pattern.kind == kind).map(|pattern| pattern.name);
            let message = format!(
                "{} has no algorithm \"{}\"; expected one of {}",
                kind.name(),
                self.algorithm.as_deref().unwrap_or_default(),
                names.collect::<Vec<_>>().join(", ")
            );
            return Err(("algorithm", message));
        };
        if let Some(why) = (pattern.refuses)(ranks) {
            return Err(("algorithm", format!("{} of {ranks} ranks cannot be done: {why}", pattern.name)));
        }
        if (pattern.steps)(ranks) > Collective::MOST_STEPS {
            return Err(("ranks", format!("{ranks} ranks take more steps than {}", Collective::MOST_STEPS)));
        }
        let pieces = size.div_ceil(u64::from(self.channels)).div_ceil(self.chunk);
        if pieces > u64::from(Collective::MOST_PIECES / pattern.ways) {
            let message =
                format!("{pieces} pieces of a channel are too many; expected at most {}", Collective::MOST_PIECES);
            return Err(("chunk", message));
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
