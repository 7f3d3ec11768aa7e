// SPDX-License-Identifier: GPL-2.0-only
//! Sums that are too large.

use crate::load_text;
use std::path::Path;

const NETWORK: &str = "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n";

fn told(network: &str, traffic: &str) -> String {
    let text = format!("[run]\nstop = \"1ms\"\n{network}[[traffic]]\n{traffic}");
    load_text(Path::new("a.toml"), &text).map(|_| ()).map_err(|error| error.to_string()).err().unwrap_or_default()
}

#[test]
fn what_has_no_sum_is_refused() {
    let flow = "kind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
    assert_eq!(told(NETWORK, flow), "");
    let fast = NETWORK.replace("100Gbps", "4000000000Gbps");
    assert!(told(&fast, flow).contains("topology: up to this one, links have more than"), "{}", told(&fast, flow));
    let ring = "kind = \"collective\"\noperation = \"all_gather\"\nalgorithm = \"ring\"\n";
    assert_eq!(told(NETWORK, &format!("{ring}size = \"1TB\"\niterations = 1000\n")), "");
    let long = told(NETWORK, &format!("{ring}size = \"10TB\"\niterations = 1000000\n"));
    assert!(long.contains("a.toml:13: traffic.iterations: the job's messages have more than"), "{long}");
    let gap = told(NETWORK, &format!("{ring}size = \"1B\"\ngap = \"10000s\"\niterations = 1000000\n"));
    assert!(gap.contains("the job computes or waits for more than 1152921504 s in all"), "{gap}");
    let incast = "kind = \"periodic_incast\"\nreceiver = 0\nsender_count = 3\nsize = \"9000TB\"\n\
        interval = \"1us\"\nduration = \"999us\"\n";
    assert!(
        told(NETWORK, incast).contains("bytes; expected at most 4611686018427387904 in all"),
        "{}",
        told(NETWORK, incast)
    );
}

#[test]
fn only_the_word_makes_a_flow_endless() {
    let flow =
        |size: &str| told(NETWORK, &format!("kind = \"flow\"\nsrc = 0\ndst = 1\nstop = \"1ms\"\nsize = {size}\n"));
    assert_eq!([flow("\"endless\""), flow("9007199254740991")], ["", ""]);
    for size in ["9007199254740992", "9223372036854775807"] {
        assert!(flow(size).contains("size"), "{size}: {}", flow(size));
    }
}
