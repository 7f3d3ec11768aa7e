// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which of several paths a flow takes, by their telemetry (REQ-30; draft-miao-rtgwg-hpccplus-00, section 9.4, which
//! gives only the idea).
//!
//! The host measures U of each candidate, of its own path by data, of others by probes, and asks once in a round trip
//! whether to move. Three things keep flows from chasing each other: a move must promise a margin, counting what the
//! flow itself brings along; the promise must hold for some rounds, and some time must pass after the last move; and of
//! flows that see the same chance only a part takes it, the part that would make both paths equal.
//! To HPCC++ a move is a change of path: the window stays, the records start over (REQ-22).

use crate::units::Nanos;

/// Most paths that a flow chooses from, its own included.
pub const MAX_PATHS: usize = 8;

/// When a flow moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathChoiceConfig {
    /// Below this U the present path is good enough.
    pub busy: f64,
    /// By so much U must be lower on the new path, the flow included; above 0.
    pub margin: f64,
    /// Rounds in a row in which that must be so, from 1.
    pub rounds: u32,
    /// Least time between two moves.
    pub hold: Nanos,
    /// A U that is older does not count.
    pub max_age: Nanos,
}

impl Default for PathChoiceConfig {
    /// For a T of some 10 us.
    fn default() -> Self {
        PathChoiceConfig { busy: 0.95, margin: 0.1, rounds: 3, hold: Nanos(200_000), max_age: Nanos(100_000) }
    }
}

/// A flow's knowledge of its candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct PathChoice {
    config: PathChoiceConfig,
    /// U of each, and when it was told.
    paths: [Option<(f64, Nanos)>; MAX_PATHS],
    present: usize,
    moved_at: Option<Nanos>,
    /// Rounds in a row in which another path was better.
    better: u32,
}

impl PathChoice {
    /// A flow that starts on path `present`, below [`MAX_PATHS`].
    pub fn new(config: PathChoiceConfig, present: usize) -> Self {
        PathChoice { config, paths: [None; MAX_PATHS], present, moved_at: None, better: 0 }
    }

    /// The path that the flow takes.
    pub fn present(&self) -> usize {
        self.present
    }

    /// U of a path was measured. Paths from [`MAX_PATHS`] on are no candidates; a U that is no number is ignored.
    pub fn report(&mut self, now: Nanos, path: usize, utilisation: f64) {
        if let Some(place) = self.paths.get_mut(path).filter(|_| !utilisation.is_nan()) {
            *place = Some((utilisation, now));
        }
    }

    /// A round is over: the path to move to, if any. `own` is the flow's own part of U of a path, its window over
    /// W_init. `draw` gives a number in [0, 1) and is called only where chance decides.
    pub fn choose(&mut self, now: Nanos, own: f64, draw: impl FnOnce() -> f64) -> Option<usize> {
        let Some((path, part)) = self.better_path(now, own) else {
            self.better = 0;
            return None;
        };
        self.better = self.better.saturating_add(1);
        let held = self.moved_at.is_some_and(|at| now - at < self.config.hold);
        if self.better < self.config.rounds || held || draw() >= part {
            return None;
        }
        self.present = path;
        self.moved_at = Some(now);
        self.better = 0;
        Some(path)
    }

    /// The path with the lowest U, and the part of the present load that makes both equal where it moves there.
    fn better_path(&self, now: Nanos, own: f64) -> Option<(usize, f64)> {
        let here = self.fresh(now, self.present).filter(|&here| here >= self.config.busy)?;
        let others = (0..MAX_PATHS).filter(|&path| path != self.present);
        let (path, there) = others
            .filter_map(|path| Some((path, self.fresh(now, path)? + own)))
            .min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (there + self.config.margin <= here).then(|| (path, (here - there) / (2.0 * here)))
    }

    fn fresh(&self, now: Nanos, path: usize) -> Option<f64> {
        let (utilisation, at) = self.paths.get(path).copied().flatten()?;
        (now - at <= self.config.max_age).then_some(utilisation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Fractions;
    use alloc::vec::Vec;

    const T: u64 = 13_000;

    /// The rounds in which a flow on path 0 moves, told the U of two paths in each round.
    fn moves(config: PathChoiceConfig, rounds: u64, paths: impl Fn(u64) -> [f64; 2]) -> Vec<(u64, usize)> {
        let mut choice = PathChoice::new(config, 0);
        let round = |n: u64| {
            let now = Nanos(n * T);
            for (path, utilisation) in paths(n).into_iter().enumerate() {
                choice.report(now, path, utilisation);
            }
            choice.choose(now, 0.1, || 0.0).map(|path| (n, path))
        };
        (0..rounds).filter_map(round).collect()
    }

    #[test]
    fn req_30_a_flow_leaves_a_busy_path_for_a_better_one() {
        let config = PathChoiceConfig::default();
        assert_eq!(moves(config, 40, |_| [1.2, 0.3]), [(2, 1)]);
        assert!(moves(config, 40, |_| [0.9, 0.3]).is_empty());
        // 0.9 and the flow's own 0.1 are only 0.05 better.
        assert!(moves(config, 40, |_| [1.05, 0.9]).is_empty());
    }

    /// Loads that change places every two rounds: moved at each were the promise not to hold, every time were the
    /// hold not there.
    #[test]
    fn req_30_short_chances_move_no_flow() {
        let swap = |period: u64| move |n: u64| if (n / period).is_multiple_of(2) { [1.3, 0.3] } else { [0.3, 1.3] };
        assert!(moves(PathChoiceConfig::default(), 200, swap(2)).is_empty());
        let hasty = PathChoiceConfig { rounds: 1, hold: Nanos(0), ..PathChoiceConfig::default() };
        assert_eq!(moves(hasty, 200, swap(2)).len(), 100);
        let held = moves(PathChoiceConfig::default(), 200, swap(5));
        assert!(held.len() > 2 && held.windows(2).all(|pair| (pair[1].0 - pair[0].0) * T >= 200_000), "{held:?}");
    }

    #[test]
    fn req_30_old_or_missing_measurements_move_no_flow() {
        let mut choice = PathChoice::new(PathChoiceConfig { rounds: 1, ..PathChoiceConfig::default() }, 0);
        choice.report(Nanos(0), 1, 0.1);
        choice.report(Nanos(0), 2, f64::NAN);
        choice.report(Nanos(0), MAX_PATHS, 0.0);
        assert_eq!(choice.choose(Nanos(0), 0.1, || 0.0), None);
        choice.report(Nanos(100_001), 0, 1.5);
        assert_eq!(choice.choose(Nanos(100_001), 0.1, || 0.0), None);
        choice.report(Nanos(100_001), 1, 0.1);
        assert_eq!(choice.choose(Nanos(100_001), 0.1, || 0.44), None);
        assert_eq!(choice.choose(Nanos(100_001), 0.1, || 0.43), Some(1));
        assert_eq!(choice.present(), 1);
    }

    /// Rounds of twenty flows of 8 % each that all start on the first of two equal paths: moves, and U at the end.
    fn crowd(config: PathChoiceConfig, mut draw: impl FnMut() -> f64) -> (usize, [f64; 2]) {
        let mut flows = alloc::vec![PathChoice::new(config, 0); 20];
        let load = |flows: &[PathChoice]| {
            [0, 1].map(|path| 0.08 * flows.iter().filter(|flow| flow.present() == path).count() as f64)
        };
        let mut moves = 0;
        for n in 0..1_000 {
            let paths = load(&flows);
            for flow in &mut flows {
                paths.iter().enumerate().for_each(|(path, &load)| flow.report(Nanos(n * T), path, load));
                moves += usize::from(flow.choose(Nanos(n * T), 0.08, &mut draw).is_some());
            }
        }
        (moves, load(&flows))
    }

    /// Half of them should move, once. Without hold and chance all of them move for ever.
    #[test]
    fn req_30_flows_do_not_chase_each_other() {
        let mut stream = Fractions::new(1, 1);
        let (moves, load) = crowd(PathChoiceConfig::default(), || stream.uniform());
        assert!(moves <= 20 && load.iter().all(|&load| load <= 0.96), "{moves} moves to {load:?}");
        let hasty = PathChoiceConfig { rounds: 1, hold: Nanos(0), ..PathChoiceConfig::default() };
        let (moves, _) = crowd(hasty, || 0.0);
        assert_eq!(moves, 20_000);
    }
}
