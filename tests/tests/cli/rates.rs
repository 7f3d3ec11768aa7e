// SPDX-License-Identifier: GPL-2.0-only
//! Links from 10 Mb/s to 3.2 Tb/s, with every algorithm at its defaults, and with every layout of telemetry: each run is controlled,
//! or refused with the key that helps.

use hpcc_core::cc::{self, Reads};
use hpcc_core::telemetry::Layout;
use hpcc_core::units::BitRate;
use hpcc_tests::{Run, refused};

const MBPS: [u64; 13] =
    [10, 1_000, 10_000, 25_000, 40_000, 100_000, 160_000, 200_000, 400_000, 800_000, 1_600_000, 2_400_000, 3_200_000];

/// Bytes of four flows that meet for some round trips, and nanoseconds that the link takes for all of them.
fn traffic(mbps: u64) -> (u64, u64) {
    let size = (mbps * 5).max(50_000);
    (size, 4 * size * 8 * 1_000 / mbps)
}

fn scenario(mbps: u64, algorithm: &str, more: &str) -> String {
    let (size, ideal) = traffic(mbps);
    let interval = (ideal / 100).max(1_000);
    format!(
        "[run]\nstop = \"{}ns\"\n[topology]\nkind = \"star\"\nhosts = 5\nrate = \"{mbps}Mbps\"\ndelay = \"1us\"\n\
         [congestion_control]\nalgorithm = \"{algorithm}\"\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 4\nsenders = [0, 1, 2, 3]\nsize = \"{size}B\"\n\
         [monitor]\nqueue_interval = \"{interval}ns\"\ncontrol_interval = \"{interval}ns\"\n{more}",
        20 * ideal
    )
}

/// All flows end in time, the queue is no longer than what they send before they hear of each other, and where an algorithm goes
/// by records its flows slow down.
fn is_controlled(run: &Run, mbps: u64, reads: Reads, what: &str) {
    if reads != Reads::Records {
        return;
    }
    let line = mbps as f64 * 1e6;
    let slowest = run.column("control.csv", "rate_bps").into_iter().flatten().fold(f64::MAX, f64::min);
    assert!(slowest < 0.6 * line, "{what}: four flows of {slowest} b/s");
    // Four first windows and a packet beyond each: T at line rate, which is 5 us, and a packet and its acknowledgement on two links.
    let queues = run.column("queue.csv", "qlen_bytes");
    let most = 4.0 * (3.5 * 1_500.0 + 5e-6 * line / 8.0);
    let longest = queues.into_iter().flatten().fold(0.0, f64::max);
    assert!(longest < most, "{what}: a queue of {longest}");
}

#[test]
fn every_algorithm_runs_at_any_rate_by_its_defaults() {
    for algorithm in cc::all() {
        for mbps in MBPS {
            let what = format!("{} at {mbps} Mb/s", algorithm.name());
            let run = Run::of(&scenario(mbps, algorithm.name(), ""), &[]);
            is_controlled(&run, mbps, algorithm.needs().reads, &what);
        }
    }
}

#[test]
fn every_layout_tells_a_rate_or_names_one_that_does() {
    for layout in Layout::with_records() {
        for mbps in MBPS {
            let what = format!("{} at {mbps} Mb/s", layout.name());
            let more = format!("[wire]\nprofile = \"rocev2_ipv6\"\n[telemetry]\nlayout = \"{}\"\n", layout.name());
            let toml = scenario(mbps, "hpcc_plus", &more);
            if layout.tells_rate(BitRate::mbps(mbps)) {
                is_controlled(&Run::of(&toml, &[]), mbps, Reads::Records, &what);
            } else {
                refused(&toml, &[(&[], &format!("telemetry.layout = \"{}\" cannot tell", layout.name()))]);
            }
        }
    }
}
