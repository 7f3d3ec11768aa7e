// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact skips: where traffic repeats itself, whole periods are left out, and all is as if they had been run.
//!
//! ```text
//! idle       until enough has been run to pay for a try
//! watch      cuts where one port's transmissions end: each is compared with one before, the mark
//!            (it moves to cut 16, 32, 64, ...: a period is found whatever its length and whatever comes before it)
//! record     the period once more, in which it is noted how switch queues change, for samples in the time that is left out
//! leap       the state moves on, up to the next thing that is no part of the period
//! recognise  when that has happened, the same period may follow: cuts are compared with the one that is known
//! ```
//!
//! [`walk`] says what is compared and moved, by the rules of [`recurrence`](crate::recurrence); [`order`] what is to happen in which
//! order; [`leap`] how far; [`samples`] what samples find meanwhile. Whatever is not known to recur ends a try: the network is run
//! then, as ever.

mod leap;
mod numbers;
mod order;
mod samples;
mod walk;

use super::run::Stop;
use super::state::Engine;
use crate::ids::PortId;
use crate::recurrence::Walk;
use crate::units::Nanos;
use numbers::Numbers;
use order::Pending;
use samples::{Log, Replay};

/// Of all that is run, the part that may be spent on tries: one in so many; and of what is left out.
const SHARE: u64 = 100;
const SHARE_OF_SKIPPED: u64 = 4;
/// So many numbers are looked at in the time of an event.
const NUMBERS: u64 = 16;
/// Walks and cuts that a try needs, more or less.
const WALKS: u64 = 7;
const CUTS: u64 = 256;
/// What a cut costs besides, in numbers.
const CUT: u64 = 64;
/// The least that a try costs, in events.
const LEAST: u64 = 64;
/// The first mark that cuts are compared with stays for so many: each mark is a walk over all.
const FIRST_CUTS: u64 = 16;
/// Between two cuts where nothing is sent, in ns.
const GAP: u64 = 1_000;
/// After so many tries in vain the next one has to wait no longer.
const MOST_FAILURES: u32 = 6;
/// The same where the network is not known to recur.
const MOST_REFUSALS: u32 = 12;
/// How long to wait until a try is thought of again.
const PATIENCE: Nanos = Nanos(20_000);
const PATIENCE_OF_EAGER: Nanos = Nanos(3_000);
/// After a leap what was left begins, and settles, within so many periods; a known one is looked for within so many.
const SETTLES_WITHIN: u64 = 2;
const RECOGNISED_WITHIN: u64 = 5;
/// How often another one of that length is looked for.
const REPEATS: u32 = 3;

/// What was left out of a run, and why not more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Events that were not run.
    pub events: u64,
    /// Simulated time that was left out.
    pub time: Nanos,
    /// Periods that were left out.
    pub periods: u64,
    /// How often time was left out.
    pub leaps: u64,
    /// How often a period was looked for.
    pub tries: u64,
    /// Why the last try found none, if it was for something that is not known to recur.
    pub refusal: Option<&'static str>,
}

/// What a run does about its periods.
#[derive(Default)]
pub(super) struct Skip {
    /// When the run ends; `None`: nothing is skipped.
    stop: Option<Nanos>,
    /// Tries cost nothing.
    is_eager: bool,
    phase: Phase,
    /// When all that is before has to be run, so that there is a cut.
    next_cut: Nanos,
    /// Cuts are where this port ends a transmission.
    anchor: PortId,
    walk: Walk,
    numbers: Numbers,
    /// What was to happen at the mark.
    order: Pending,
    /// Whether a period begins with what was noted.
    is_known: bool,
    /// Another one that is as long was found last, and not that one again.
    repeats: bool,
    /// How queues change in it, if that was noted.
    log: Log,
    replay: Option<Replay>,
    /// Events when the state was noted.
    events: u64,
    /// What tries have cost, in events.
    spent: u64,
    /// The numbers of the last whole walk, and tries in vain since the last leap.
    numbers_of_walk: u64,
    failures: u32,
    skipped: Skipped,
}

/// What a run is at.
#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Idle,
    /// Looks for a period: cuts so far, and which of them was the mark.
    Watch { cuts: u64, mark: u64 },
    /// Runs a period once more, up to the next cut.
    Record,
    /// Looks for the period that is known, until then.
    Recognise { until: Nanos },
    /// Runs a period of the known length up to the next cut, and so many more.
    Repeat { tries: u32, has_begun: bool },
}

impl Skip {
    /// Whether changes of queues are noted.
    #[inline]
    pub fn is_recording(&self) -> bool {
        matches!(self.phase, Phase::Record | Phase::Repeat { has_begun: true, .. })
    }

    /// Pays for a walk and a cut of so many ports.
    fn pay(&mut self, ports: usize) {
        self.spent += (self.walk.len() as u64 + CUT + ports as u64) / NUMBERS;
    }
}

impl Engine {
    /// Leaves out periods from now on, which is before anything is scheduled, up to the end of the run: what
    /// [`run_until`](Engine::run_until) leads to stays the same to the bit. In time that is left out samples find
    /// [queues](Engine::sampled_queues) as they would be, and nothing else. Periods are looked for as long as that costs little or,
    /// for tests, at any cost.
    pub fn skip_periods(&mut self, stop: Nanos, at_any_cost: bool) {
        (self.skip.stop, self.skip.is_eager) = (Some(stop), at_any_cost);
    }

    /// What was left out so far.
    pub fn skipped(&self) -> Skipped {
        self.skip.skipped
    }

    /// Whether periods may be left out.
    #[inline]
    pub(super) fn skips(&self) -> bool {
        self.skip.stop.is_some()
    }

    /// The same as [`Engine::run_until`] where periods are left out.
    pub(super) fn run_skipping(&mut self, end: Nanos) -> Stop {
        loop {
            let state = self.part_state();
            let limit = self.skip.next_cut.min(end);
            if let Some(stop) = self.run_window(state, limit) {
                if stop != Stop::Time || self.skip.next_cut >= end {
                    return stop;
                }
                self.cut(limit);
            }
        }
    }

    /// All before this time has been run, and nothing of it.
    fn cut(&mut self, now: Nanos) {
        match self.skip.phase {
            Phase::Idle => self.begin_watch(now),
            Phase::Watch { cuts, mark } => self.watch_cut(now, cuts + 1, mark),
            Phase::Record => self.end_record(now),
            Phase::Recognise { until } => self.recognise_cut(now, until),
            Phase::Repeat { tries, has_begun } => self.repeat_cut(now, tries, has_begun),
        }
    }

    /// What may be spent still, in events.
    fn allowance(&self) -> u64 {
        if self.skip.is_eager {
            return u64::MAX;
        }
        let earned = self.events_run / SHARE + self.skip.skipped.events / SHARE_OF_SKIPPED;
        earned.saturating_sub(self.skip.spent)
    }

    /// Looks for a period, if that can be paid for and something is under way.
    fn begin_watch(&mut self, now: Nanos) {
        let allowance = self.allowance();
        // While queue pairs are being closed nothing repeats itself.
        if allowance < LEAST || !self.flows.closings.is_empty() || self.refuses_all() {
            return self.wait(now);
        }
        let Some(anchor) = self.anchor(now).filter(|_| allowance >= self.price()) else { return self.wait(now) };
        self.skip.anchor = anchor;
        self.skip.skipped.tries += 1;
        self.set_mark(now, 0);
        // The first walk tells what a try costs.
        if matches!(self.skip.phase, Phase::Watch { .. }) && self.allowance() < self.price() / WALKS * (WALKS - 1) {
            self.skip.skipped.tries -= 1;
            self.wait(now);
        }
    }

    /// What a try costs, in events; more after others in vain.
    fn price(&self) -> u64 {
        let cuts = CUTS * (CUT + self.all.ports.len() as u64);
        ((WALKS * self.skip.numbers_of_walk + cuts) / NUMBERS) << self.skip.failures
    }

    /// Whether nothing can recur in this network, whatever happens.
    fn refuses_all(&mut self) -> bool {
        let program = self.program.is_served || self.program.sees_flows || self.program.judge.is_some();
        let why = if self.is_single_file() || self.parts.are_several() || program {
            "a program, several threads, or run.order = \"insertion\""
        } else if self.checks_arrivals || !self.attackers.is_empty() {
            "frames that may be lost, or are traced"
        } else {
            return false;
        };
        self.skip.skipped.refusal = Some(why);
        // No event comes so late.
        self.skip.next_cut = Nanos(u64::MAX);
        true
    }

    /// Nothing is tried for a time.
    fn wait(&mut self, now: Nanos) {
        let patience = if self.skip.is_eager { PATIENCE_OF_EAGER } else { PATIENCE };
        self.skip.phase = Phase::Idle;
        self.skip.next_cut = Nanos(now.0.saturating_add(patience.0)).max(self.skip.next_cut);
    }

    /// A try was in vain. What is not known to recur seldom comes to.
    fn give_up(&mut self, now: Nanos) {
        let most = if self.skip.walk.refusal().is_some() { MOST_REFUSALS } else { MOST_FAILURES };
        self.skip.failures = (self.skip.failures + 1).min(most.max(self.skip.failures));
        self.wait(now);
    }

    /// The host's port that has sent most, of those that send.
    fn anchor(&self, now: Nanos) -> Option<PortId> {
        let sending = (0..self.all.ports.len() as u32).map(PortId);
        let sending = sending.filter(|&p| self.all.ports[p].is_host && self.all.ports[p].end_at > now.0);
        sending.max_by_key(|&p| self.all.ports[p].sent)
    }

    /// The next cut is behind the end of a transmission of the anchor or, if it sends nothing, after the time of a frame.
    fn cut_next(&mut self, now: Nanos, phase: Phase) {
        let port = &self.all.ports[self.skip.anchor];
        // One that has sent no data has no time of a frame.
        let gap = Some(port.long_frame()).filter(|&time| time > 0).unwrap_or(GAP);
        let next = if port.end_at >= now.0 { port.end_at } else { now.0 + gap };
        (self.skip.phase, self.skip.next_cut) = (phase, Nanos(next + 1));
    }

    fn watch_cut(&mut self, now: Nanos, cuts: u64, mark: u64) {
        if self.is_period(now) {
            return self.found(now);
        }
        if self.allowance() == 0 {
            return self.give_up(now);
        }
        let first = if self.skip.is_eager { 1 } else { FIRST_CUTS };
        if cuts >= first.max(2 * mark) {
            return self.set_mark(now, cuts);
        }
        self.cut_next(now, Phase::Watch { cuts, mark });
    }

    /// Later cuts are compared with this one.
    fn set_mark(&mut self, now: Nanos, cuts: u64) {
        if !self.note(now) {
            return self.give_up(now);
        }
        self.cut_next(now, Phase::Watch { cuts, mark: cuts });
    }

    /// The network has done the same as since the mark. If samples are to be taken, it does so once more.
    fn found(&mut self, now: Nanos) {
        if !self.all.agenda.has_samples() {
            self.skip.log = Log::default();
            return self.learn(now);
        }
        let period = self.skip.walk.period();
        if !self.note(now) {
            return self.give_up(now);
        }
        self.begin_log(now);
        self.skip.phase = Phase::Record;
        self.skip.next_cut = now + period;
    }

    fn end_record(&mut self, now: Nanos) {
        if self.is_period(now) && self.is_log_whole() { self.learn(now) } else { self.give_up(now) }
    }

    /// A period is known, of which this cut is the end.
    fn learn(&mut self, now: Nanos) {
        (self.skip.is_known, self.skip.failures) = (true, 0);
        self.leap(now, true);
    }

    fn recognise_cut(&mut self, now: Nanos, until: Nanos) {
        if self.periods_by_flows(false) > 0 && self.is_recognised(now) {
            self.skip.repeats = false;
            return self.leap(now, false);
        }
        if self.allowance() == 0 {
            return self.give_up(now);
        }
        if now < until {
            return self.cut_next(now, Phase::Recognise { until });
        }
        self.repeat(now, REPEATS);
    }

    /// Looks for the period that is known from now on, or for another one that is as long, if that has been found last.
    fn look_again(&mut self, now: Nanos) {
        let period = self.skip.walk.period().0;
        if self.skip.repeats {
            self.skip.phase = Phase::Repeat { tries: REPEATS, has_begun: false };
            self.skip.next_cut = now + Nanos(SETTLES_WITHIN * period);
            return;
        }
        self.cut_next(now, Phase::Recognise { until: now + Nanos(RECOGNISED_WITHIN * period) });
    }

    /// Runs a time as long as the last period, behind which there may be another one. While messages end there is none.
    fn repeat(&mut self, now: Nanos, tries: u32) {
        let period = self.skip.walk.period();
        if tries == 0 || self.allowance() == 0 {
            return self.give_up(now);
        }
        let has_begun = self.flows.closings.is_empty() && self.periods_by_flows(false) > 0;
        if has_begun && !self.note(now) {
            return self.give_up(now);
        }
        if has_begun {
            self.begin_log(now);
        }
        self.skip.phase = Phase::Repeat { tries: tries - 1, has_begun };
        self.skip.next_cut = now + period;
    }

    fn repeat_cut(&mut self, now: Nanos, tries: u32, has_begun: bool) {
        if has_begun && self.is_period(now) && self.is_log_whole() {
            self.skip.repeats = true;
            return self.learn(now);
        }
        self.repeat(now, tries);
    }

    /// Walks over the network, for what the walk was told.
    fn walk_as_told(&mut self, tell: impl FnOnce(&mut Walk)) {
        let mut walk = core::mem::take(&mut self.skip.walk);
        tell(&mut walk);
        self.walk(&mut walk);
        self.skip.walk = walk;
        self.skip.pay(self.all.ports.len());
    }

    /// Notes the state. Returns whether it may recur.
    fn note(&mut self, now: Nanos) -> bool {
        self.number_flows();
        self.walk_as_told(|walk| walk.note(now));
        (self.skip.is_known, self.skip.events) = (false, self.events_run);
        self.skip.skipped.refusal = self.skip.walk.refusal();
        if self.skip.walk.refusal().is_some() {
            return false;
        }
        self.skip.order = self.pending(now);
        self.skip.numbers_of_walk = self.skip.walk.len() as u64;
        true
    }

    /// Whether the state is the one that was noted, moved in time.
    fn is_period(&mut self, now: Nanos) -> bool {
        self.walk_as_told(|walk| walk.compare(now));
        // Time in which nothing happens needs no skips.
        if !self.skip.walk.is_period() || self.events_run == self.skip.events {
            return false;
        }
        let mut order = self.pending(now);
        let follows = order.follows(&self.skip.order, self.skip.walk.period());
        core::mem::swap(&mut self.skip.order.moves, &mut order.moves);
        follows
    }

    /// Whether a period begins that is known.
    fn is_recognised(&mut self, now: Nanos) -> bool {
        // Samples need a log.
        if !self.skip.is_known || self.skip.log.is_empty() && self.all.agenda.has_samples() {
            return false;
        }
        self.number_flows();
        self.walk_as_told(|walk| walk.recognise(now));
        self.skip.walk.is_period() && self.pending(now).is_known(&self.skip.order, now - self.skip.walk.first())
    }
}
