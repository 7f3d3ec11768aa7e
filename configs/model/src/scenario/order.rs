// SPDX-License-Identifier: GPL-2.0-only
//! Which of several events of the same nanosecond runs first.

hpcc_core::named! {
    /// Which of several events of the same nanosecond runs first. Both are as good a model of a network; they differ in what
    /// can be compared.
    #[derive(Default)]
    pub enum EventOrder {
        /// The one that was scheduled first, as in the 2019 simulator; one process only.
        Insertion = "insertion",
        /// By node, then frames that arrive by port, then what the node itself has scheduled: the same however many processes
        /// share the run.
        #[default]
        Canonical = "canonical",
    }
}
