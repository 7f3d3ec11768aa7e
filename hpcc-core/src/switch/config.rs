// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all switches of a network are given.

use super::{
    BufferPlan, ByPriority, Classes, PauseConfig, Priorities, RecordsConfig, ReportConfig, TrimConfig, WatchdogConfig,
};
use crate::ecn::EcnThreshold;
use crate::reference_faults::ReferenceFaults;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a full buffer does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BufferMode {
    /// It pauses who sends into it (PFC).
    #[default]
    Lossless,
    /// It drops what exceeds a queue's dynamic threshold.
    Lossy {
        /// A queue may hold this many times the free memory; above 0.
        alpha: f64,
    },
    /// Who sends into it knows how much each port has room for in each priority (credits).
    Credit {
        /// Bytes of a port's priority; `None`: [what its link needs](crate::wire::in_a_round_trip).
        limit: Option<u64>,
        /// Bytes of the largest frame.
        largest: u32,
    },
}

/// What all switches of a network are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchConfig {
    /// Shared packet memory in bytes.
    pub buffer_bytes: u64,
    /// How it is divided in place of what follows of [`SwitchConfig::mode`], if it is.
    pub plan: Option<Arc<BufferPlan>>,
    /// What happens when it is full.
    pub mode: BufferMode,
    /// When a lossless buffer pauses.
    pub pause: PauseConfig,
    /// The priorities that a lossless buffer does not pause, and how many times the free memory a queue of theirs may hold.
    pub lossy: Option<(Priorities, f64)>,
    /// The same, and the part of the free memory above which others are paused, of priorities that have their own.
    pub alphas: ByPriority<f64>,
    /// When packets are cut to their headers, if they are.
    pub trimming: Option<TrimConfig>,
    /// Whether packets are ECN-marked at all.
    pub ecn: bool,
    /// One entry for each link rate in the network.
    pub ecn_thresholds: Vec<EcnThreshold>,
    /// Those of priorities that have their own, at 100 Gb/s.
    pub class_ecn: ByPriority<EcnThreshold>,
    /// How the queues of a port are served; `None`: in turn, a frame each.
    pub classes: Option<Classes>,
    /// What telemetry reports of a port.
    pub report: ReportConfig,
    /// To which packets telemetry is added.
    pub records: RecordsConfig,
    /// What it does about pauses that last too long, if anything.
    pub watchdog: Option<WatchdogConfig>,
    /// Whether frames have a hop limit, and are dropped where it ends (RFC 791, RFC 8200); the 2019 simulator's have
    /// none.
    pub hop_limits: bool,
    /// Faults of the 2019 simulator that are repeated.
    pub faults: ReferenceFaults,
}
