// SPDX-License-Identifier: GPL-2.0-only
//! Short simulations whose frames are judged: four hosts send to a fifth over two switches, until queues grow, frames
//! are marked and links pause.

use hpcc_tests::Run;

/// The host to which all others send; they have the lower numbers.
pub const RECEIVER: u16 = 4;
/// The senders' switch and the receiver's.
pub const SWITCHES: [u16; 2] = [5, 6];
/// Payload of every packet of a flow but the last.
pub const MTU: u32 = 1_000;
/// Bytes of each flow: the last packet is padded.
pub const FLOW: u32 = 30_001;
/// Room for hops in layouts that reserve it.
pub const ROOM: usize = 4;
/// The speed code of all links, 100 Gb/s.
pub const SPEED: u64 = 4;

/// The scenario, to which a wire profile and a layout are added.
pub const TOML: &str = r#"
[run]
stop = "2ms"

[topology]
kind = "dumbbell"
left = 4
right = 1
rate = "100Gbps"
delay = "500ns"

[switch]
buffer = "200KB"
ecn_thresholds = [{ rate = "100Gbps", kmin = "5KB", kmax = "50KB", pmax = 0.5 }]

[[traffic]]
kind = "incast"
receiver = 4
sender_count = 4
size = 30001

[monitor]
trace_nodes = [0, 4, 5, 6]
capture_nodes = [0, 4, 5, 6]
"#;

/// A wire profile with a telemetry layout, or with DCQCN, which has none.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Whether over IPv6.
    pub ipv6: bool,
    /// The layout; `none` is DCQCN over links that lose frames.
    pub layout: &'static str,
    /// Whether probes collect telemetry, in place of data.
    pub probes: bool,
}

const fn case(ipv6: bool, layout: &'static str) -> Case {
    Case { ipv6, layout, probes: false }
}

/// All that can be had.
pub const CASES: [Case; 14] = [
    case(false, "none"),
    case(false, "paper"),
    case(false, "draft"),
    case(false, "int_md"),
    case(false, "ifa"),
    case(true, "none"),
    case(true, "paper"),
    case(true, "draft"),
    case(true, "int_md"),
    case(true, "ifa"),
    case(true, "ioam"),
    case(true, "ioam_slim"),
    Case { probes: true, ..case(false, "paper") },
    Case { probes: true, ..case(true, "ioam") },
];

impl Case {
    /// Runs the simulation. There is a record in its trace for each captured frame.
    pub fn run(&self) -> Run {
        Run::of(&self.toml(), &[])
    }

    fn toml(&self) -> String {
        let profile = if self.ipv6 { "rocev2_ipv6" } else { "rocev2_ipv4" };
        let wire = format!("{TOML}\n[wire]\nprofile = \"{profile}\"\n");
        let packets = if self.probes { "sampling = \"probes\"\n" } else { "" };
        match self.layout {
            "none" => {
                wire.replace("delay =", "loss = 0.005\ndelay =") + "[congestion_control]\nalgorithm = \"dcqcn\"\n"
            }
            "paper" | "draft" => format!("{wire}[telemetry]\nlayout = \"{}\"\n{packets}", self.layout),
            layout => format!("{wire}[telemetry]\nlayout = \"{layout}\"\nhops = {ROOM}\n{packets}"),
        }
    }
}
