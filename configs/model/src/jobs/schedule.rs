// SPDX-License-Identifier: GPL-2.0-only
//! In which order a stage of a pipeline passes its micro-batches.
//!
//! 1F1B: a backward pass for each forward one, after as many forward as stages follow. Interleaved, a stage has several chunks of layers,
//! and passes as many micro-batches as there are stages through one before the next (Narayanan et al., SC 2021). With a zero
//! bubble (ZB-H1: Qi et al., ICLR 2024) gradients of weights wait for as many backward passes as stages come before.

/// What is computed of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Forward,
    /// All gradients.
    Backward,
    /// Gradients of inputs, for which the stage before waits.
    Inputs,
    /// Gradients of weights.
    Weights,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub phase: Phase,
    pub chunk: u32,
    pub batch: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pipeline {
    pub stages: u32,
    /// Of each stage; if there are several, stages divide micro-batches.
    pub chunks: u32,
    pub batches: u32,
    /// Whether gradients of weights are put off.
    pub is_split: bool,
}

impl Pipeline {
    /// What a stage does, in its order.
    pub fn turns(&self, stage: u32) -> Vec<Turn> {
        let &Pipeline { stages, chunks, batches, is_split } = self;
        let turn = |phase, place: u32| {
            let (round, within) = (place / (stages * chunks), place % (stages * chunks));
            let chunk = within / stages;
            let chunk = if phase == Phase::Forward { chunk } else { chunks - 1 - chunk };
            Turn { phase, chunk, batch: round * stages + within % stages }
        };
        let (count, behind) = (chunks * batches, stages - 1 - stage);
        let ahead = count.min(if chunks == 1 { behind } else { 2 * behind + (chunks - 1) * stages });
        let mut turns: Vec<Turn> = (0..ahead).map(|place| turn(Phase::Forward, place)).collect();
        for done in 0..count {
            turns.extend(Some(ahead + done).filter(|&next| next < count).map(|next| turn(Phase::Forward, next)));
            turns.push(turn(if is_split { Phase::Inputs } else { Phase::Backward }, done));
            turns.extend(done.checked_sub(stage).filter(|_| is_split).map(|late| turn(Phase::Weights, late)));
        }
        let rest = if is_split { count.saturating_sub(stage)..count } else { 0..0 };
        turns.extend(rest.map(|late| turn(Phase::Weights, late)));
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Backward as B, Forward as F, Inputs as I, Weights as W};
    use super::*;
    use std::collections::BTreeSet;

    fn turns(stages: u32, chunks: u32, batches: u32, stage: u32, is_split: bool) -> Vec<(Phase, u32, u32)> {
        let turns = Pipeline { stages, chunks, batches, is_split }.turns(stage);
        turns.into_iter().map(|turn| (turn.phase, turn.chunk, turn.batch)).collect()
    }

    fn of_one_chunk(stages: u32, batches: u32, stage: u32, is_split: bool) -> Vec<(Phase, u32)> {
        turns(stages, 1, batches, stage, is_split).into_iter().map(|(phase, _, batch)| (phase, batch)).collect()
    }

    #[test]
    fn stages_take_turns_as_in_1f1b() {
        assert_eq!(of_one_chunk(4, 4, 3, false), [0, 1, 2, 3].map(|batch| [(F, batch), (B, batch)]).concat());
        let second = [(F, 0), (F, 1), (F, 2), (B, 0), (F, 3), (B, 1), (B, 2), (B, 3)];
        assert_eq!(of_one_chunk(4, 4, 1, false), second);
        assert_eq!(of_one_chunk(4, 1, 0, false), [(F, 0), (B, 0)]);
    }

    /// The figure of the paper, with two stages.
    #[test]
    fn chunks_take_turns_by_as_many_micro_batches_as_stages() {
        let first = [(F, 0, 0), (F, 0, 1), (F, 1, 0), (F, 1, 1), (F, 0, 2), (B, 1, 0), (F, 0, 3), (B, 1, 1)];
        assert_eq!(turns(2, 2, 4, 0, false)[..8], first);
        let last = [(F, 0, 0), (F, 0, 1), (F, 1, 0), (B, 1, 0), (F, 1, 1), (B, 1, 1)];
        assert_eq!(turns(2, 2, 4, 1, false)[..6], last);
        let all: BTreeSet<_> = turns(4, 3, 8, 2, false).iter().map(|turn| format!("{turn:?}")).collect();
        assert_eq!(all.len(), 2 * 3 * 8, "each once");
    }

    #[test]
    fn gradients_of_weights_are_put_off() {
        assert_eq!(of_one_chunk(2, 2, 0, true), [(F, 0), (F, 1), (I, 0), (W, 0), (I, 1), (W, 1)]);
        assert_eq!(of_one_chunk(2, 2, 1, true), [(F, 0), (I, 0), (F, 1), (I, 1), (W, 0), (W, 1)]);
        assert_eq!(of_one_chunk(4, 1, 3, true), [(F, 0), (I, 0), (W, 0)]);
    }
}
