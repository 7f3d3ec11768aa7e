// SPDX-License-Identifier: GPL-2.0-only
//! `check`, for a scenario without a fault, one of which something is worth saying, and one that cannot run.

use std::path::Path;
use std::process::Command;

/// Exit status and output of a check of the quick start.
fn check(arguments: &[&str]) -> (Option<i32>, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/quickstart.toml");
    let output =
        Command::new(env!("CARGO_BIN_EXE_hpcc")).arg("check").arg(file).args(arguments).output().expect("hpcc");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("text"))
}

#[test]
fn findings_have_a_level_unless_they_are_denied() {
    assert_eq!(check(&["--deny", "all"]), (Some(0), String::new()));
    let late = ["--set", "traffic.0.start=1s"];
    for (more, code, level) in [
        (&[][..], 0, "warning"),
        (&["--deny", "no-flows"], 0, "warning"),
        (&["--deny", "late-flows"], 1, "error"),
        (&["--deny", "all"], 1, "error"),
    ] {
        let (status, printed) = check(&[&late, more].concat());
        assert_eq!(status, Some(code), "{printed}");
        assert!(printed.contains(&format!("quickstart.toml: {level}[late-flows]: ")), "{printed}");
    }
    let (status, printed) = check(&["--set", "run.stop=soon"]);
    assert!(status == Some(2) && printed.contains("--set: run.stop: \"soon\""), "{printed}");
    assert_eq!(check(&["--deny", "late"]).0, Some(2), "no lint of that name");
}
