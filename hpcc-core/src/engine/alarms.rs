// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nodes are to do at a time.

use alloc::vec::Vec;

/// The timer that stands for a frame that a slow receiver has taken.
pub(super) const RX_DONE: u8 = u8::MAX;
/// The timer that stands for a rank of a job that waits.
pub(super) const WORK: u8 = u8::MAX - 1;
/// The timer that stands for the time at which a flow stops.
pub(super) const STOP: u8 = u8::MAX - 4;

/// The timer that stands for a pause that may last too long.
pub(super) const WATCHDOG: u8 = u8::MAX - 2;
/// The timer of a host's transport that is no queue pairs.
pub(super) const TRANSPORT: u8 = u8::MAX - 3;
/// The timer of a switch's load balancer.
pub(super) const BALANCER: u8 = u8::MAX - 5;

/// The timer of a frame that an attacker holds back.
pub(super) const HELD_BACK: u8 = u8::MAX - 6;

/// Something that a node is to do at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alarm {
    pub node: u32,
    /// A queue pair, a port, a frame, or the place of what waits.
    pub owner: u32,
    pub timer: u8,
    pub is_off: bool,
    /// When it was set, among all events that were added.
    pub rank: u64,
}

/// All alarms of a network, by place; those that went off make room for others.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    alarms: Vec<Alarm>,
    idle: Vec<u32>,
}

impl Alarms {
    /// Sets an alarm; returns its place.
    #[inline]
    pub fn set(&mut self, alarm: Alarm) -> u32 {
        if let Some(place) = self.idle.pop() {
            self.alarms[place as usize] = alarm;
            return place;
        }
        self.alarms.push(alarm);
        self.alarms.len() as u32 - 1
    }

    #[inline]
    pub fn get(&self, place: u32) -> &Alarm {
        &self.alarms[place as usize]
    }

    /// Nothing will happen when an alarm goes off.
    #[inline]
    pub fn call_off(&mut self, place: u32) {
        self.alarms[place as usize].is_off = true;
    }

    /// An alarm has gone off.
    #[inline]
    pub fn take(&mut self, place: u32) -> Alarm {
        self.idle.push(place);
        self.alarms[place as usize]
    }
}
