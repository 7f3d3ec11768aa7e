// SPDX-License-Identifier: MIT OR Apache-2.0
//! When to change the parameters that several algorithms have.

pub(super) const ETA: &str =
    "A smaller value keeps queues shorter and costs throughput; above 1 a queue always stands.";

pub(super) const MAX_STAGE: &str = "A larger value keeps rates steadier; a smaller one takes free bandwidth sooner.";

pub(super) const ADDITIVE_INCREASE: &str = "A larger value brings flows to equal shares sooner; together the flows of a link \
    should add at most 1 - eta of its rate, or a queue stands.";

pub(super) const STEP: &str = "A larger value takes free bandwidth sooner; queues grow more before the next cut.";

pub(super) const MIN_RATE: &str =
    "Lower it where many flows share a link; a larger value lets flows recover sooner from deep cuts.";
