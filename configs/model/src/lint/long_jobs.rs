// SPDX-License-Identifier: GPL-2.0-only
//! Jobs that take minutes or hours to simulate.

use super::Pass;
use crate::job::JobSpec;
use crate::scenario::Scenario;
use std::time::Duration;

/// Fewer operations are not counted any closer.
const FEW: u64 = 1 << 18;
/// About as many a processor simulates in a second, over paths of four links.
const PACKETS_A_SECOND: u64 = 1_000_000;
/// Shorter runs need no word.
const LONG: Duration = Duration::from_secs(60);

/// What the note begins with, which is none of fluid's.
pub const AS_PACKETS: &str = "as packets, job ";

/// Who has written `micro_batches = 100000` learns what that is before the run, not from it.
pub(super) fn long_jobs(scenario: &Scenario, _: &Pass) -> Vec<String> {
    scenario.flows.jobs.iter().filter_map(|job| note(scenario, job)).collect()
}

fn note(scenario: &Scenario, job: &JobSpec) -> Option<String> {
    if job.operations() < FEW {
        return None;
    }
    let (messages, bytes) = job.traffic(scenario.servers);
    // A message takes a packet at least.
    let packets = (bytes / scenario.settings.transport.mtu.0.max(1)).max(messages);
    let seconds = packets / PACKETS_A_SECOND;
    let time = match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7_200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3_600),
    };
    let name = &scenario.flows.groups[job.group as usize];
    (seconds >= LONG.as_secs()).then(|| {
        format!(
            "{AS_PACKETS}{name} sends {messages} messages of {bytes} bytes in all over the network, in at least {packets} packets: some {time} of a \
             processor that simulates a million a second; fewer iterations, micro_batches or passes are sooner, or --simulator fluid"
        )
    })
}
