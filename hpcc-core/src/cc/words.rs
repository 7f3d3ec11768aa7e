// SPDX-License-Identifier: MIT OR Apache-2.0
//! When to change the parameters that several algorithms have.

pub(super) const ETA: &str = "A smaller value keeps queues shorter and costs throughput; a larger one fills links further, and \
    above 1 a queue always stands. The drafts have the default.";

pub(super) const MAX_STAGE: &str = "A larger value keeps rates steadier; a smaller one takes free bandwidth sooner.";

pub(super) const ADDITIVE_INCREASE: &str = "A larger value brings flows to equal shares sooner; but those of one link should together \
    add no more than 1 - eta of its rate, or a queue stands.";

pub(super) const STEP: &str = "A larger value takes free bandwidth sooner, and queues grow more before the next cut; a smaller one is \
    calmer and slower.";

pub(super) const MIN_RATE: &str = "Lower it where so many flows share a link that all of them at this rate overload it; a larger value \
    lets flows that were cut far down recover sooner.";
