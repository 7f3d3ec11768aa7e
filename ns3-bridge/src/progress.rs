// SPDX-License-Identifier: GPL-2.0-only
//! The line that says how far a run is: simulated time, events per second, flows, time left.

use hpcc_simulate::progress;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// How far one of the processes is that share a run.
    #[derive(Clone, Copy)]
    struct RankProgress {
        packet_hops: u64,
        /// Acknowledged bytes of its flows that are in progress.
        active_bytes: u64,
        /// Wall-clock time in which it waited for others, and exchanged with them.
        waited_ns: u64,
    }

    extern "Rust" {
        /// The line that says how far a run is.
        #[derive(ExternType)]
        type Progress;
        /// A quiet one is never due, and never shown.
        fn new_progress(total_bytes: u64, total_flows: u32, is_quiet: bool) -> Box<Progress>;
        /// Whether it is time for another line.
        fn is_due(self: &Progress) -> bool;
        /// Shows the state of the run.
        fn update(self: &mut Progress, now_ns: u64, events: u64, acked_bytes: u64, flows: u32);
        /// Shows the state of a run that several processes share, when it is time: finished flows with their bytes, and
        /// how far each process is.
        fn update_shared(self: &mut Progress, now_ns: u64, finished_bytes: u64, flows: u32, ranks: &[RankProgress]);
        /// Removes the line.
        fn clear(self: &mut Progress);
    }
}

pub struct Progress(progress::Progress);

pub fn new_progress(total_bytes: u64, total_flows: u32, is_quiet: bool) -> Box<Progress> {
    Box::new(Progress(progress::new_progress(total_bytes, total_flows, is_quiet)))
}

impl Progress {
    pub fn is_due(&self) -> bool {
        self.0.is_due()
    }

    pub fn update(&mut self, now_ns: u64, events: u64, acked_bytes: u64, flows: u32) {
        self.0.update(now_ns, events, acked_bytes, flows, None);
    }

    pub fn update_shared(&mut self, now_ns: u64, finished_bytes: u64, flows: u32, ranks: &[ffi::RankProgress]) {
        let rank = |rank: &ffi::RankProgress| {
            let &ffi::RankProgress { packet_hops, active_bytes, waited_ns } = rank;
            progress::RankProgress { packet_hops, active_bytes, waited_ns }
        };
        let ranks: Vec<_> = ranks.iter().map(rank).collect();
        self.0.update_shared(now_ns, finished_bytes, flows, &ranks);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
