// SPDX-License-Identifier: GPL-2.0-only
//! A scenario by the engine alone, in one process or in one of several that share it.

use crate::clock::OfRun;
use crate::congestion_ops::fault;
use crate::scenario::{Scenario, as_path, status};
use cxx::{CxxString, SharedPtr};
use ffi::RankExchange;
use hpcc_simulate::{How, Outcome, Program, Ranks};

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    unsafe extern "C++" {
        include!("model/rank-exchange.h");
        include!("ns3-bridge/src/scenario.rs.h");
        type Scenario = crate::scenario::Scenario;

        /// The processes of a program.
        #[namespace = "ns3"]
        type RankExchange;
        #[cxx_name = "GetRank"]
        fn rank(self: &RankExchange) -> u32;
        #[cxx_name = "GetSize"]
        fn size(self: &RankExchange) -> u32;
        /// The next exchange sends these bytes to a rank.
        #[cxx_name = "Send"]
        unsafe fn send(self: Pin<&mut RankExchange>, rank: u32, bytes: *const u8, size: usize);
        /// What came from there by the last one.
        #[cxx_name = "GetInbox"]
        fn inbox(self: &RankExchange, rank: u32) -> &CxxVector<u8>;
        #[cxx_name = "Exchange"]
        fn exchange(self: Pin<&mut RankExchange>, value: u64) -> u64;
    }

    extern "Rust" {
        /// Runs a scenario, by some threads or, unless `ranks` is null, with other processes, in a program with a version of ns-3
        /// that was built in a way; returns an exit status.
        fn run_scenario(
            scenario: &Scenario,
            out: &CxxString,
            is_quiet: bool,
            is_watched: bool,
            threads: u32,
            ranks: SharedPtr<RankExchange>,
            ns3: &str,
            build_profile: &str,
        ) -> u8;
    }
}

struct Exchange(SharedPtr<RankExchange>);

impl Ranks for Exchange {
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn size(&self) -> u32 {
        self.0.size()
    }

    fn exchange(&mut self, value: u64, out: &[Vec<u8>], into: &mut [Vec<u8>]) -> u64 {
        // SAFETY: nobody else uses it while the run lasts.
        let mut ranks = unsafe { self.0.pin_mut_unchecked() };
        for (rank, bytes) in (0..).zip(out) {
            // SAFETY: the bytes are copied.
            unsafe { ranks.as_mut().send(rank, bytes.as_ptr(), bytes.len()) };
        }
        let least = ranks.as_mut().exchange(value);
        for (rank, bytes) in (0..).zip(into) {
            bytes.clear();
            bytes.extend_from_slice(ranks.inbox(rank).as_slice());
        }
        least
    }
}

pub fn run_scenario(
    scenario: &Scenario,
    out: &CxxString,
    is_quiet: bool,
    is_watched: bool,
    threads: u32,
    ranks: SharedPtr<RankExchange>,
    ns3: &str,
    build_profile: &str,
) -> u8 {
    if threads > 1
        && let Some(name) = scenario.class()
    {
        let why = format!("{name} is a class of this program, which runs in one thread; expected no threads, or ranks");
        return Outcome::refused(&why) as u8;
    }
    let program = Program { ns3, build_profile, fault: &fault, clock: Some(|| Box::new(OfRun)) };
    let how = How { is_quiet, is_watched, threads };
    let ranks = (!ranks.is_null()).then(|| Box::new(Exchange(ranks)) as Box<dyn Ranks>);
    status(hpcc_simulate::run_in(scenario.scenario.clone(), as_path(out), how, &program, ranks))
}
