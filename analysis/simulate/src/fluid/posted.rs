// SPDX-License-Identifier: GPL-2.0-only
//! Flows and messages under way, and the queue pairs that they share.

use hpcc_core::engine::{ENDLESS, FlowRequest};
use hpcc_core::units::Nanos;
use hpcc_core::workload::{Arrival, Sent};

/// No message.
pub const NONE: u32 = u32::MAX;
/// The job of flows that were listed.
pub const LISTED: u32 = u32::MAX;

/// What flows share that are messages of one queue pair: hosts; job, destination port and priority. In two words, which are
/// hashed and compared for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairKey(u64, u64);

impl PairKey {
    pub fn new((src, dst): (u32, u32), job: u32, dport: u16, priority: u8) -> PairKey {
        PairKey(ends(src, dst), u64::from(job) << 32 | u64::from(dport) << 8 | u64::from(priority))
    }
}

/// Two hosts as one number.
pub fn ends(src: u32, dst: u32) -> u64 {
    u64::from(src) << 32 | u64::from(dst)
}

/// A stream's flows: those of a queue pair, one after the other, or one.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub request: FlowRequest,
    pub sport: u16,
    /// [`NONE`] until it has found a path.
    pub kind: u32,
    pub is_shared: bool,
    pub is_open: bool,
    /// Messages that wait or are under way.
    pub first: u32,
    pub last: u32,
}

/// A flow or message.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub line: u32,
    pub id: u32,
    pub size: u64,
    pub start: u64,
    pub bytes: f64,
    pub ideal: Nanos,
    pub arrival: u64,
    pub acknowledgement: u64,
    /// What its job knows of it.
    pub of_job: Option<(Sent, Arrival)>,
    pub next: u32,
}

/// A flow that is over, or was not over at the end.
#[derive(Clone, Copy, Debug)]
pub struct Over {
    pub request: FlowRequest,
    pub sport: u16,
    /// From its start to its last acknowledgement.
    pub time: Nanos,
    pub ideal: Nanos,
    pub job: Option<u32>,
}

/// A queue pair that is known: its source port, and its stream once that is open.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub sport: u16,
    pub line: u32,
}

/// Whether a flow has no end.
pub fn is_endless(flow: &FlowRequest) -> bool {
    flow.size == ENDLESS
}

/// Bytes of a flow that are counted down: of one without an end so many that no run sends them, but each of them still counts.
pub fn counted(size: u64) -> u64 {
    if size == ENDLESS { 1 << 50 } else { size }
}
