// SPDX-License-Identifier: GPL-2.0-only
//! ns-3's clock, as congestion controls in C++ see it.

use hpcc_core::engine::{Acted, ProgramClock};
use hpcc_core::units::Nanos;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    extern "Rust" {
        /// What is to be done at a time.
        type Act<'a>;
        /// Does it.
        // SAFETY: whoever has an act has it for the time of a call.
        unsafe fn run<'a>(self: &mut Act<'a>);
    }

    unsafe extern "C++" {
        include!("model/program-clock.h");

        /// When ns-3 has something to do next: the largest value if it has nothing, 0 once it is to stop.
        fn next_of_program() -> u64;
        /// Whether it is this time in ns-3, whose events until then are over.
        fn is_time_of_program(now_ns: u64) -> bool;
        /// Has ns-3 go on to this time, and act there; whether it may go on: not after `Simulator::Stop()`.
        fn run_program(now_ns: u64, act: &mut Act) -> bool;
    }
}

/// What is to be done at a time.
pub struct Act<'a>(&'a mut dyn FnMut());

impl Act<'_> {
    fn run(&mut self) {
        (self.0)();
    }
}

/// A program takes turns with the engine: its clock goes on between them.
pub struct OfTurns;

impl ProgramClock for OfTurns {
    fn act_at(&self, now: Nanos, act: &mut dyn FnMut()) -> Acted {
        if !ffi::is_time_of_program(now.0) {
            return Acted::Waits;
        }
        act();
        Acted::Done
    }

    fn next(&self) -> Nanos {
        Nanos(ffi::next_of_program())
    }
}

/// A run has ns-3's simulator for itself.
pub struct OfRun;

impl ProgramClock for OfRun {
    fn act_at(&self, now: Nanos, act: &mut dyn FnMut()) -> Acted {
        if ffi::run_program(now.0, &mut Act(act)) {
            return Acted::Done;
        }
        Acted::Ended("Simulator::Stop() was called".into())
    }

    fn next(&self) -> Nanos {
        Nanos(ffi::next_of_program())
    }
}
