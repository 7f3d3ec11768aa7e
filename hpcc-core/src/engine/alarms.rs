// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hosts are to do at a time.

use crate::units::Nanos;
use alloc::vec::Vec;

/// The timer that stands for a port's wake-up.
pub(super) const WAKE: u8 = u8::MAX;
/// The timer that stands for a frame that a slow receiver has taken.
pub(super) const TAKE: u8 = u8::MAX - 1;

/// Something that a host is to do at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alarm {
    pub node: u32,
    /// A queue pair, or a port.
    pub owner: u32,
    pub timer: u8,
    pub is_off: bool,
    pub at: Nanos,
}

/// All alarms of a network.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    pub alarms: Vec<Alarm>,
    pub idle: Vec<u32>,
}
