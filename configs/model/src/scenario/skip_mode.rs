// SPDX-License-Identifier: GPL-2.0-only
//! What a run leaves out.

hpcc_core::named! {
    /// What a run leaves out.
    #[derive(Default)]
    pub enum SkipMode {
        /// Nothing.
        #[default]
        Off = "off",
        /// Periods of traffic that repeats itself: all results are as if they had been run.
        Exact = "exact",
        /// The same, looked for at any cost: for tests.
        Eager = "eager",
    }
}
