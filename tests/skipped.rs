// SPDX-License-Identifier: GPL-2.0-only
//! Tests that cannot test on this machine.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::thread;

/// Names the file of `./hpcc test` that collects what was skipped: one line each, shown at the end.
const FILE_VARIABLE: &str = "HPCC_SKIPPED";

/// Says why the calling test tests nothing: to the file that the environment names, or else on standard error. The
/// harness hides what the print macros of a passing test say, but not this.
///
/// # Panics
/// If it cannot be said: no test is skipped silently.
pub fn skipped(why: &str) {
    let thread = thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let told = match env::var_os(FILE_VARIABLE) {
        Some(file) => OpenOptions::new().append(true).open(file).and_then(|mut file| file.write_all(line.as_bytes())),
        None => io::stderr().lock().write_all(format!("skipped: {line}").as_bytes()),
    };
    told.expect("a skipped test says so");
}
