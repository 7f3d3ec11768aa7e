// SPDX-License-Identifier: GPL-2.0-only
//! The line that says how far a run is: simulated time, events per second, flows, time left.

use hpcc_core::units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    extern "Rust" {
        /// The line that says how far a run is.
        #[derive(ExternType)]
        type Progress;
        fn new_progress(total_bytes: u64, total_flows: u32) -> Box<Progress>;
        /// Shows the state of the run; rate-limits itself.
        fn update(self: &mut Progress, now_ns: u64, events: u64, acked_bytes: u64, flows: u32);
        /// Removes the line.
        fn clear(self: &mut Progress);
    }
}

/// Where standard error is no terminal a line is printed this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);
const REDRAWS_PER_SECOND: u8 = 5;
const TEMPLATE: &str = "{bar:24} {percent:>3} %  {msg}  {eta} left";

pub struct Progress {
    bar: ProgressBar,
    plain: bool,
    start: Instant,
    last_line: Instant,
    flows: u32,
}

pub fn new_progress(total_bytes: u64, total_flows: u32) -> Box<Progress> {
    let plain = !std::io::stderr().is_terminal();
    let target =
        if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND) };
    let bar = ProgressBar::with_draw_target(Some(total_bytes), target);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    let now = Instant::now();
    Box::new(Progress { bar, plain, start: now, last_line: now, flows: total_flows })
}

impl Progress {
    pub fn update(&mut self, now_ns: u64, events: u64, acked_bytes: u64, flows: u32) {
        let elapsed = self.start.elapsed();
        if self.plain && self.last_line.elapsed() < PLAIN_INTERVAL {
            return;
        }
        let rate = events as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
        let message = format!("simulated {}, {rate:.1} M events/s, flows {flows} of {}", Nanos(now_ns), self.flows);
        if self.plain {
            self.last_line = Instant::now();
            let total = self.bar.length().unwrap_or(0).max(1);
            let left = elapsed.as_secs_f64() * (total as f64 / acked_bytes.max(1) as f64 - 1.0);
            eprintln!("hpcc: {message}, about {left:.0} s left");
            return;
        }
        self.bar.set_position(acked_bytes);
        self.bar.set_message(message);
    }

    pub fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}
