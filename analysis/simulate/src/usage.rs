// SPDX-License-Identifier: GPL-2.0-only
//! What the process has used so far.

use nix::sys::resource::{UsageWho, getrusage};
use std::time::Duration;

/// Processor time of all threads, user and system.
pub fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64;
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

/// Largest resident memory in bytes.
pub fn peak_rss_bytes() -> u64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss() as u64 * 1024)
}

/// How often others have taken this thread's processor; 0 where the system does not say.
pub fn preemptions() -> u64 {
    #[cfg(target_os = "linux")]
    let preemptions =
        getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.involuntary_context_switches().unsigned_abs());
    #[cfg(not(target_os = "linux"))]
    let preemptions = 0;
    preemptions
}
