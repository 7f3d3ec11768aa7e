// SPDX-License-Identifier: GPL-2.0-only
//! `--quiet` and the simulator: what it says on a terminal while it runs.

use hpcc_tests::{Bench, TOML, hpcc, on_terminal};

/// A run that takes longer than the progress waits for, of a scenario with a note.
fn shown(quiet: bool) -> String {
    let bench = Bench::new(TOML);
    let mut command = hpcc();
    command.args(["run", "scenario.toml", "--set", "traffic.1.size=4GB", "--set", "run.stop=1s"]);
    command.args(["--set", "congestion_control.algorithm=none"]);
    command.args(quiet.then_some("--quiet")).current_dir(bench.path(""));
    let output = on_terminal(command);
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert_eq!(output.out.is_empty(), quiet, "{}", output.out);
    assert!(bench.path("hpcc-out/scenario/fct.csv").exists());
    output.err
}

#[test]
fn notes_are_counted_and_progress_is_not_shown() {
    let loud = shown(false);
    assert!(loud.contains("hpcc: note: ") && loud.contains("simulated "), "{loud}");
    // But that there are some, for they are about the numbers; and what of the file does not count.
    let quiet = shown(true);
    assert!(quiet.lines().count() == 2 && quiet.contains("does not count") && quiet.contains(" note: see "), "{quiet}");
}
