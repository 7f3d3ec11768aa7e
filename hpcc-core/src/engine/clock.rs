// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock of a program whose congestion controls hosts call, and whose load balancers switches call.
//!
//! The engine runs ahead of a program's clock as long as nobody can see it. What it calls of the program looks at that clock, and
//! what that schedules there has to happen before the engine goes past it. So the engine stops before each event that may call one,
//! and behind it if the program has something to do.

use super::events::EventKind;
use super::run::Stop;
use super::state::Engine;
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::string::String;

/// A clock that a program looks at.
pub trait ProgramClock: Send {
    /// Acts at a time, not before the present one: with the clock at `now`, once all is done that the program has to do until
    /// then.
    fn act_at(&self, now: Nanos, act: &mut dyn FnMut()) -> Acted;

    /// When the program has something to do next: 0 if it wants the run to stop.
    fn next(&self) -> Nanos;
}

/// What has become of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// It is over.
    Done,
    /// It has to wait: it is the program's turn.
    Waits,
    /// It is the last, or there was none, for the program ends the run for this reason.
    Ended(String),
}

impl Engine {
    /// Whether hosts call congestion controls of a program, or switches its load balancers, which look at its [clock](ProgramClock).
    pub fn calls_program(&self) -> bool {
        self.nodes.hosts.iter().any(|host| host.core.is_programmed())
            || self.nodes.switches.iter().any(|switch| switch.core.is_programmed())
    }

    /// Calls those of a program at the times of its clock from now on: events come one by one. If the engine does not take turns with
    /// it, that is before anything is scheduled.
    pub fn follow_clock(&mut self, clock: Box<dyn ProgramClock>) {
        (self.program.clock, self.program.is_clocked) = (Some(clock), true);
        if !self.program.is_served {
            let network = self.fabric.network().clone();
            self.group(&network, &[]);
        }
    }

    /// Whether it follows one.
    pub fn is_clocked(&self) -> bool {
        self.program.is_clocked
    }

    /// Runs events before `limit`, as the program's clock goes on.
    #[cold]
    pub(super) fn run_clocked(&mut self, limit: Nanos) {
        let Some(clock) = self.program.clock.take() else { return };
        let mut due = clock.next();
        while let Some(next) = self.next_before(limit) {
            // What the program does is the first of its nanosecond.
            let acted = if due <= next { clock.act_at(due, &mut || {}) } else { self.run_nanosecond(next, &*clock) };
            match acted {
                Acted::Done => due = clock.next(),
                Acted::Waits => self.pause = Some(Stop::Completion),
                Acted::Ended(why) => self.fail(why),
            }
        }
        self.program.clock = Some(clock);
    }

    /// The time of the next event before `limit`, if the run goes on.
    fn next_before(&self, limit: Nanos) -> Option<Nanos> {
        let goes_on = self.pause.is_none() && self.fault.is_none();
        self.events.next_time().filter(|&next| goes_on && next < limit)
    }

    /// Runs what happens at the time of the next event, until the program has something to do.
    fn run_nanosecond(&mut self, now: Nanos, clock: &dyn ProgramClock) -> Acted {
        while self.next_before(Nanos(now.0 + 1)).is_some()
            && let Some(what) = self.events.take(&self.all)
        {
            if !self.may_call_program(what) {
                self.handle(what);
                continue;
            }
            let acted = clock.act_at(now, &mut || {
                self.handle(what);
                while clock.next() > now
                    && self.next_before(Nanos(now.0 + 1)).is_some()
                    && let Some(what) = self.events.take(&self.all)
                {
                    self.handle(what);
                }
            });
            if acted == Acted::Waits {
                self.events.put_back(what, &self.all);
            }
            return acted;
        }
        Acted::Done
    }

    /// Whether an event may call the program: a congestion control at its host, where flows begin and links change, the load
    /// balancer of a switch, or who judges what arrives.
    fn may_call_program(&self, what: EventKind) -> bool {
        let node = match what {
            EventKind::Arrival(port) if self.all.ports[port].is_judged => return true,
            EventKind::Agenda(item) => return self.all.agenda.changes_network(item),
            EventKind::Arrival(port) | EventKind::End(port) | EventKind::Wake(port) => self.all.ports[port].node,
            EventKind::Alarm(alarm) => self.all.alarms.get(alarm).node,
        };
        if let Some(switch) = self.nodes.as_switch(node) {
            return matches!(what, EventKind::Arrival(_)) && switch.core.is_programmed();
        }
        self.nodes.as_host(node).is_some_and(|host| host.traffic.has_ranks || host.core.calls_program())
    }
}
