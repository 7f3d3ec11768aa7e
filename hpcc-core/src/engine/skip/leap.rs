// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a leap goes, and what it leads to.

use super::Skipped;
use crate::engine::state::Engine;
use crate::ids::PortId;
use crate::units::Nanos;

impl Engine {
    /// Leaves out as many periods as nothing else happens in: this cut begins one, and ends one that has run, or does not.
    pub(super) fn leap(&mut self, now: Nanos, has_run: bool) {
        let period = self.skip.walk.period();
        let periods = self.periods_ahead(now, period, has_run);
        if periods == 0 {
            return self.look_again(now);
        }
        let events = self.events_run;
        let queues = self.queues();
        self.walk_as_told(|walk| walk.move_on(periods));
        self.renew_groups();
        let time = Nanos(periods * period.0);
        self.begin_replay(now, now + time, queues);
        let Skipped { events: all, time: sum, periods: count, leaps, .. } = &mut self.skip.skipped;
        *all += self.events_run - events;
        *sum += time;
        *count += periods;
        *leaps += 1;
        self.skip.failures = 0;
        self.look_again(now + time);
    }

    /// How many periods nothing else happens in.
    fn periods_ahead(&self, now: Nanos, period: Nanos, has_run: bool) -> u64 {
        let stop = self.skip.stop.unwrap_or(now);
        let agenda = Nanos(self.all.agenda.next_change().unwrap_or(u64::MAX));
        let end = self.skip.walk.end().min(agenda).min(stop);
        let by_time = end.saturating_sub(now).0 / period.0.max(1);
        by_time.min(self.periods_by_flows(has_run))
    }

    /// How many periods all flows have bytes for.
    pub(super) fn periods_by_flows(&self, has_run: bool) -> u64 {
        let mut periods = u64::MAX;
        for node in 0..self.first_port.len() as u32 {
            let Some(host) = self.nodes.as_host(node) else { continue };
            let moves = |place| self.skip.walk.flow_moves(self.skip.numbers.sending(node, place));
            match host.core.periods_left(moves, has_run) {
                Some(left) => periods = periods.min(left),
                None => return 0,
            }
        }
        periods
    }

    /// Times have moved: when each node is due follows from its ports and alarms.
    fn renew_groups(&mut self) {
        self.groups.forget_times();
        for p in (0..self.all.ports.len() as u32).map(PortId) {
            let port = &self.all.ports[p];
            let group = self.groups.of(port.node);
            let times = [
                port.is_busy.then_some(port.end_at),
                (port.wake_at != u64::MAX).then_some(port.wake_at),
                self.all.flights[p].first_at(),
            ];
            times.into_iter().flatten().for_each(|at| self.groups.note_port(group, p, at));
        }
    }
}
