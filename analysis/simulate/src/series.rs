// SPDX-License-Identifier: GPL-2.0-only
//! Samples at intervals: queues, goodput, control, progress.
//!
//! A sample changes nothing but the results. Between two events of the network nothing changes, so that samples there are
//! counted and not taken.

use crate::fleet::Paused;
use crate::progress::Progress;
use hpcc_core::units::Nanos;

/// A kind of sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// The 2019 simulator's histogram of queue lengths.
    Histogram,
    /// Statistics of queue lengths.
    Statistics,
    /// The time series of queue lengths.
    Queues,
    Goodput,
    Sent,
    Control,
    Progress,
}

/// Samples of one kind.
#[derive(Clone, Copy, Debug)]
struct Series {
    what: SampleKind,
    at: Nanos,
    /// Its place among the events of that time.
    place: u64,
    interval: Nanos,
    runs: bool,
}

/// All series, of which the earliest is an event of the engine.
#[derive(Debug)]
pub struct Clock {
    /// When the run ends.
    stop: Nanos,
    series: Vec<Series>,
    next: usize,
    /// Samples taken.
    pub ticks: u64,
}

impl Clock {
    pub fn new(stop: Nanos) -> Clock {
        Clock { stop, series: Vec::new(), next: 0, ticks: 0 }
    }

    pub fn add(&mut self, engine: &mut Paused<'_>, what: SampleKind, first: Nanos, interval: Nanos) {
        let place = engine.reserve_sample();
        self.series.push(Series { what, at: first, place, interval, runs: true });
    }

    /// Schedules the earliest sample, if there is one. Returns whether it is due at once.
    pub fn schedule(&mut self, engine: &mut Paused<'_>) -> bool {
        let running = self.series.iter().enumerate().filter(|(_, series)| series.runs);
        if let Some((place, series)) = running.min_by_key(|(_, series)| (series.at, series.place)) {
            self.next = place;
            if self.ticks > 0 && engine.is_next(series.at, series.place) {
                return true;
            }
            engine.sample_at(series.at, series.place);
        }
        false
    }

    /// The sample that is due now.
    pub fn due(&mut self) -> SampleKind {
        self.ticks += 1;
        self.series[self.next].what
    }

    /// Whether the sample that is due asks for flows' bytes.
    pub fn asks_flows(&self, progress: &Progress) -> bool {
        match self.series[self.next].what {
            SampleKind::Goodput => true,
            SampleKind::Progress => progress.is_due(),
            SampleKind::Histogram | SampleKind::Statistics | SampleKind::Queues => false,
            SampleKind::Sent | SampleKind::Control => false,
        }
    }

    /// The sample was taken, and the series goes on or not; `repeat` says how many of so many further samples equal it.
    /// Returns whether another one is due at once.
    pub fn advance(&mut self, engine: &mut Paused<'_>, runs: bool, repeat: impl FnOnce(u64) -> u64) -> bool {
        let series = &mut self.series[self.next];
        series.runs = runs;
        if runs {
            series.at += series.interval;
            let next = engine.next_time().unwrap_or(self.stop).min(self.stop);
            if series.at < next {
                let before = (next.0 - series.at.0 - 1) / series.interval.0 + 1;
                series.at = Nanos(series.at.0 + repeat(before) * series.interval.0);
            }
            series.place = engine.reserve_sample();
        }
        self.schedule(engine)
    }
}
