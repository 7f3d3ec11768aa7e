// SPDX-License-Identifier: GPL-2.0-only
//! The 2019 simulator's topology and flow files, written.

use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::units::{Nanos, Rounding};
use hpcc_model::flow::Flow;
use std::io::{self, Write};

/// Writes a topology file.
///
/// # Errors
/// Those of the output.
pub fn write_network(network: &Network, out: &mut impl Write) -> io::Result<()> {
    let switches: Vec<String> = (0..)
        .zip(&network.nodes)
        .filter(|(_, kind)| **kind == NodeKind::Switch)
        .map(|(id, _): (u32, _)| id.to_string())
        .collect();
    writeln!(out, "{} {} {}", network.nodes.len(), switches.len(), network.links.len())?;
    writeln!(out, "{}", switches.join(" "))?;
    for link in &network.links {
        writeln!(out, "{} {} {} {}ns {}", link.a, link.b, link.rate, link.delay.0, link.loss)?;
    }
    Ok(())
}

/// Appends a flow to a flow file, behind their number and the flows before it.
///
/// # Errors
/// Those of the output.
pub fn write_flow(flow: &Flow, out: &mut impl Write) -> io::Result<()> {
    let Flow { src, dst, priority, dport, size, start, options: _ } = *flow;
    writeln!(out, "{src} {dst} {priority} {dport} {size} {}", seconds(start))
}

/// A time in seconds that is read as itself, whether the reader rounds as we do or as the 2019 simulator does.
fn seconds(time: Nanos) -> String {
    let text = format!("{}.{:09}", time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    let read = |text: &str, rounding| text.parse().map(|seconds| Nanos::from_seconds(seconds, rounding));
    // The 2019 simulator rounds down what a binary fraction just misses: a third of a nanosecond more is out of its
    // reach.
    if read(&text, Rounding::Floored) == Ok(time) { text } else { text + "3" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{flows, network};
    use hpcc_core::engine::FlowOptions;
    use hpcc_core::topology::Link;
    use hpcc_core::units::BitRate;

    #[test]
    fn times_are_read_as_they_were() {
        for time in
            [0, 1, 999, 2_000_000_000, 2_000_000_001, 2_123_456_789, 4_999_999_999].into_iter().chain(1_700..1_800)
        {
            let text = seconds(Nanos(time));
            let seconds: f64 = text.parse().expect("a number");
            let read = [Rounding::Floored, Rounding::Nearest].map(|rounding| Nanos::from_seconds(seconds, rounding));
            assert_eq!(read, [Nanos(time); 2], "{text}");
        }
        assert_eq!(seconds(Nanos(2_000_000_000)), "2.000000000");
    }

    #[test]
    fn what_is_written_can_be_read() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (topology, list) = (folder.path().join("topology.txt"), folder.path().join("flow.txt"));
        let link = |a, b, rate, loss| Link { a, b, rate: BitRate(rate), delay: Nanos(1_500), loss };
        let known = Network {
            nodes: vec![NodeKind::Host, NodeKind::Switch, NodeKind::Host],
            links: vec![link(0, 1, 100_000_000_000, 0.0), link(1, 2, 1_234_567_891, 0.125)],
        };
        let mut text = Vec::new();
        write_network(&known, &mut text).expect("memory");
        std::fs::write(&topology, text).expect("file");
        assert_eq!(network(&topology).expect("own output"), known);

        let flow = |size, start| Flow {
            src: 0,
            dst: 2,
            priority: 3,
            dport: 100,
            size,
            start: Nanos(start),
            options: FlowOptions::NONE,
        };
        let written = [flow(1_000, 7), flow(10_000_000_000, 2_000_000_013)];
        let mut text = b"2\n".to_vec();
        written.iter().for_each(|flow| write_flow(flow, &mut text).expect("memory"));
        std::fs::write(&list, text).expect("file");
        assert_eq!(flows(&list).expect("own output"), written);
    }
}
