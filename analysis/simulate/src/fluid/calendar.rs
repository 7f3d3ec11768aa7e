// SPDX-License-Identifier: GPL-2.0-only
//! What is to happen when: events of one time in the order in which they were entered.

use hpcc_core::workload::Waiting;
use std::collections::BTreeMap;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Links of the scenario's failure with this number fail, or come up again.
    Links {
        failure: u32,
        up: bool,
    },
    /// A job begins.
    Job(u32),
    /// A time is over, at a host.
    Waited(Waiting),
    /// The last byte of a message arrives, and is acknowledged.
    Arrived(u32),
    Acknowledged(u32),
    /// A flow that has a last moment sends no more: its stream, which message that was, and its number, for others may have
    /// these places by then.
    Stop {
        stream: u32,
        message: u32,
        flow: u32,
    },
}

/// All events to come.
#[derive(Debug, Default)]
pub struct Calendar {
    days: BTreeMap<u64, Vec<Event>>,
    pub entered: u64,
}

impl Calendar {
    /// Enters an event at a time in ns.
    pub fn enter(&mut self, at: u64, event: Event) {
        self.entered += 1;
        self.days.entry(at).or_default().push(event);
    }

    /// When the next one is, in ns.
    pub fn next(&self) -> Option<u64> {
        self.days.first_key_value().map(|(&at, _)| at)
    }

    /// Takes those of up to a time.
    pub fn take(&mut self, now: u64) -> Option<Vec<Event>> {
        let first = self.days.first_entry().filter(|first| *first.key() <= now)?;
        Some(first.remove())
    }

    /// Whether a rank computes, or a message waits or is under way.
    pub fn is_busy(&self) -> bool {
        !self.days.is_empty()
    }
}
