// SPDX-License-Identifier: GPL-2.0-only
//! The line that says how far a run is: simulated time, events per second, flows, time left.

use crate::outcome::say;
use hpcc_core::units::Nanos;
use hpcc_model::scenario::Scenario;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Where standard error is no terminal a line is printed this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);
const REDRAWS_PER_SECOND: u8 = 5;
const REDRAW_INTERVAL: Duration = Duration::from_millis(1_000 / REDRAWS_PER_SECOND as u64);
const TEMPLATE: &str = "{bar:24} {percent:>3} %  {msg}  {eta} left";
/// Steps of the bar.
const STEPS: u64 = 1_000_000;
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
    bytes: u64,
    stop: Nanos,
    /// For how long each process had waited when the line was shown last.
    waited: Vec<u64>,
}

/// The line of a run of flows and jobs. A quiet one is never due, and never shown.
pub fn progress_of(scenario: &Scenario, is_quiet: bool) -> Progress {
    let of_jobs = scenario.flows.jobs.iter().map(|job| job.traffic(scenario.servers));
    let listed = (scenario.flows.totals.count, scenario.flows.totals.bytes);
    let (count, bytes) = of_jobs.fold(listed, |(count, bytes), job| (count + job.0, bytes.saturating_add(job.1)));
    new_progress((bytes, count as u32), scenario.stop, is_quiet)
}

/// The line of a run of so many bytes and flows, which ends at `stop` if they are not over before.
fn new_progress((bytes, flows): (u64, u32), stop: Nanos, is_quiet: bool) -> Progress {
    let plain = !std::io::stderr().is_terminal();
    let target = if plain || is_quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND)
    };
    let bar = ProgressBar::with_draw_target(Some(STEPS), target);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    let now = Instant::now();
    Progress { bar, plain, quiet: is_quiet, start: now, last_line: now, flows, bytes, stop, waited: Vec::new() }
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
        self.show(self.share(now_ns, acked_bytes), self.message(now_ns, events, flows) + &slowest + &more);
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

    /// How much of the run is over: it ends with its last byte, or at its stop, which of flows without an end is sooner.
    fn share(&self, now_ns: u64, acked_bytes: u64) -> f64 {
        let of = |done: u64, all: u64| done as f64 / all.max(1) as f64;
        of(acked_bytes, self.bytes).max(of(now_ns, self.stop.0)).min(1.0)
    }

    fn show(&mut self, share: f64, message: String) {
        self.last_line = Instant::now();
        if self.plain {
            let left = (share > 0.0 && share < 1.0).then(|| self.start.elapsed().as_secs_f64() * (1.0 / share - 1.0));
            let left = left.map_or_else(String::new, |left| format!(", about {left:.0} s left"));
            say(&format!("{message}{left}"));
            return;
        }
        self.bar.set_position((share * STEPS as f64) as u64);
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
        let mut progress = new_progress((1_000, 7), Nanos(9), false);
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
            let mut progress = Progress { plain, ..new_progress((1_000, 7), Nanos(9), true).watched() };
            progress.update(1_000, 5, 100, 3, Vec::new(), Some("queues".into()));
            assert_eq!(progress.bar.message().ends_with("flows 3 of 7\nqueues"), !plain);
        }
    }

    #[test]
    fn flows_without_an_end_go_on_to_the_stop() {
        let share = |bytes, now, acked| new_progress((bytes, 1), Nanos(1_000), true).share(now, acked);
        assert_eq!(share(u64::MAX, 250, 5_000), 0.25);
        assert_eq!(share(10_000, 250, 5_000), 0.5);
        assert_eq!((share(0, 0, 0), share(10, 0, 20)), (0.0, 1.0));
    }

    #[test]
    fn nothing_is_due_where_all_is_quiet() {
        for is_quiet in [false, true] {
            let mut progress = new_progress((1_000, 7), Nanos(9), is_quiet);
            progress.last_line = Instant::now().checked_sub(PLAIN_INTERVAL).expect("a clock that runs for long");
            assert_eq!(progress.is_due(), !is_quiet);
            assert!(!is_quiet || progress.bar.is_hidden());
        }
    }
}
