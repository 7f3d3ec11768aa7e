// SPDX-License-Identifier: GPL-2.0-only
//! `requests.csv`: the requests that jobs of inference have served.

use super::csv_row::csv_row;

csv_row! {
    /// A request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RequestRow in "requests.csv" {
        /// Number of the job's group among those of the summary.
        group: u32,
        /// Its number in the job, in the order in which requests come.
        request: u32,
        /// When it came, in ns.
        arrival_ns: u64,
        /// Tokens of its prompt.
        prompt: u64,
        /// Tokens of its answer.
        output: u64,
        /// The replica that passed its prompt.
        prefill: u32,
        /// The replica that made the rest of its answer, counted from 0 among these; nothing if there is no rest.
        decode: Option<u32>,
        /// From when it came to its first token (TTFT), in ns; nothing if the run ended before.
        ttft_ns: Option<u64>,
        /// When it had its last token, in ns, likewise.
        end_ns: Option<u64>,
        /// From the first token to the last one, for each further token (TPOT), in ns; nothing if there is none.
        tpot_ns: Option<u64>,
    }
}
