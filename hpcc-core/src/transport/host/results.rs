// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host answers to the simulator that runs it.

use crate::cc::Armed;
use crate::transport::flow::Probe;
use crate::transport::posted::Message;

/// What an acknowledgement led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckResult {
    /// The port of the flow, on which sending should be tried again.
    pub nic: usize,
    /// Messages that this acknowledgement finished: 1 if it finished a flow that has the queue pair to itself.
    pub finished: u32,
    /// Timers of the flow that were armed; none once all is finished.
    pub armed: Armed,
}

/// What became of a message that was posted on a shared queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostResult {
    /// The port of the queue pair, on which sending should be tried.
    pub nic: usize,
    /// The message.
    pub message: Message,
    /// Timers of the queue pair to schedule, in place of those that are.
    pub armed: Armed,
}

/// What a timer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutResult {
    /// The port of the flow, whose wake-up may have moved.
    pub nic: usize,
    /// Timers of the flow that were armed.
    pub armed: Armed,
    /// Whether the flow now has something to send again: sending should be tried on the port.
    pub send: bool,
    /// A probe leaves now.
    pub probe: Option<Probe>,
}
