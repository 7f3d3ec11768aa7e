// SPDX-License-Identifier: GPL-2.0-only
//! The line that says how far a run is: simulated time, events per second, flows, time left.

use crate::outcome::say;
use hpcc_core::units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Where standard error is no terminal a line is printed this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);
const REDRAWS_PER_SECOND: u8 = 5;
const REDRAW_INTERVAL: Duration = Duration::from_millis(1_000 / REDRAWS_PER_SECOND as u64);
const TEMPLATE: &str = "{bar:24} {percent:>3} %  {msg}  {eta} left";
/// Of a run that is watched: several lines.
const WATCHED: &str = "{bar:24} {percent:>3} %  {eta} left\n{msg}";

/// The line that says how far a run is.
pub struct Progress {
    bar: ProgressBar,
    plain: bool,
    quiet: bool,
    start: Instant,
    last_line: Instant,
    flows: u32,
    /// For how long each process had waited when the line was shown last.
    waited: Vec<u64>,
}

/// The line of a run of so many flows and bytes. A quiet one is never due, and never shown.
pub fn new_progress(total_bytes: u64, total_flows: u32, is_quiet: bool) -> Progress {
    let plain = !std::io::stderr().is_terminal();
    let target = if plain || is_quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND)
    };
    let bar = ProgressBar::with_draw_target(Some(total_bytes), target);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    let now = Instant::now();
    Progress { bar, plain, quiet: is_quiet, start: now, last_line: now, flows: total_flows, waited: Vec::new() }
}

impl Progress {
    /// The same with more lines, where standard error is a terminal.
    pub fn watched(self) -> Progress {
        if let (false, Ok(style)) = (self.plain, ProgressStyle::with_template(WATCHED)) {
            self.bar.set_style(style);
        }
        self
    }

    /// Shows the state of the run, which process the others wait for if several share it - `waited` is how long each has waited so
    /// far -, and what a terminal has room for.
    pub fn update(
        &mut self,
        now_ns: u64,
        events: u64,
        acked_bytes: u64,
        flows: u32,
        waited: Vec<u64>,
        more: Option<String>,
    ) {
        let more = more.filter(|_| !self.plain).map_or(String::new(), |more| format!("\n{more}"));
        let slowest =
            slowest(&self.waited, &waited).map_or(String::new(), |rank| format!(", rank {rank} is the slowest"));
        self.waited = waited;
        self.show(acked_bytes, self.message(now_ns, events, flows) + &slowest + &more);
    }

    /// There are so many flows, as far as is known.
    pub fn expect(&mut self, flows: u32) {
        self.flows = flows.max(self.flows);
    }

    /// Whether it is time for another line.
    pub fn is_due(&self) -> bool {
        let interval = if self.plain { PLAIN_INTERVAL } else { REDRAW_INTERVAL };
        !self.quiet && self.last_line.elapsed() >= interval
    }

    fn message(&self, now_ns: u64, events: u64, flows: u32) -> String {
        let rate = events as f64 / self.start.elapsed().as_secs_f64().max(1e-9) / 1e6;
        format!("simulated {}, {rate:.1} M events/s, flows {flows} of {}", Nanos(now_ns), self.flows)
    }

    fn show(&mut self, acked_bytes: u64, message: String) {
        self.last_line = Instant::now();
        if self.plain {
            // Nobody knows before something has arrived, and behind the last byte.
            let share = self.bar.length().unwrap_or(0) as f64 / acked_bytes as f64 - 1.0;
            let left = self.start.elapsed().as_secs_f64() * share;
            let left = if left.is_finite() && left > 0.0 { format!(", about {left:.0} s left") } else { String::new() };
            say(&format!("{message}{left}"));
            return;
        }
        self.bar.set_position(acked_bytes);
        self.bar.set_message(message);
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The process that the others wait for: it has waited least since the last time. Of several the first.
fn slowest(before: &[u64], waited: &[u64]) -> Option<usize> {
    (0..waited.len()).min_by_key(|&rank| waited[rank] - before.get(rank).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_shared_run_names_whom_the_others_wait_for() {
        let mut progress = new_progress(1_000, 7, false);
        // The wait since the last line counts, not since the start.
        let lines = [vec![5, 9], vec![50, 20], vec![]].map(|waited| {
            progress.plain = false;
            progress.update(1_000, 5, 100, 3, waited, None);
            progress.bar.message().rsplit(", ").next().unwrap_or_default().to_owned()
        });
        assert_eq!(lines, ["rank 0 is the slowest", "rank 1 is the slowest", "flows 3 of 7"]);
    }

    #[test]
    fn more_is_shown_on_a_terminal_alone() {
        for plain in [false, true] {
            let mut progress = Progress { plain, ..new_progress(1_000, 7, true).watched() };
            progress.update(1_000, 5, 100, 3, Vec::new(), Some("queues".into()));
            assert_eq!(progress.bar.message().ends_with("flows 3 of 7\nqueues"), !plain);
        }
    }

    #[test]
    fn nothing_is_due_where_all_is_quiet() {
        for is_quiet in [false, true] {
            let mut progress = new_progress(1_000, 7, is_quiet);
            progress.last_line = Instant::now().checked_sub(PLAIN_INTERVAL).expect("a clock that runs for long");
            assert_eq!(progress.is_due(), !is_quiet);
            assert!(!is_quiet || progress.bar.is_hidden());
        }
    }
}
