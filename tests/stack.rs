// SPDX-License-Identifier: GPL-2.0-only
//! Whether the simulator under test was built with ns-3's internet stack.

use crate::{Bench, skipped};

/// One segment from a TCP host to another.
const ONE_SEGMENT: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 2
rate = "100Gbps"
delay = "1us"
[congestion_control]
algorithm = "hpcc_plus"
[transport]
protocol = "tcp"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = 1000
"#;

/// Whether hosts can run TCP here; if not, the test is among the skipped ones.
///
/// # Panics
/// If it cannot be found out.
pub fn has_tcp() -> bool {
    let bench = Bench::new(&[("segment.toml", ONE_SEGMENT)]);
    let output = bench.run("segment.toml", &[]);
    let is_missing = output.err.contains("was built without ns-3's internet stack");
    assert!(is_missing || output.code == Some(0), "{}", output.err);
    if is_missing {
        skipped("this ns-3 tree was built without its internet stack, which TCP hosts need");
    }
    !is_missing
}
