// SPDX-License-Identifier: GPL-2.0-only
//! Plots as PNG and PDF files: with `--png` and `--pdf`, by rsvg-convert.

use hpcc_tests::{Bench, ProcessOutput, TOML, hpcc, skipped};
use std::fs;
use std::process::Command;

const SWEEP: &str =
    "title = \"Two\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"a\"\n[report]\nplots = [\"slowdown-by-rank\"]\n";

fn has_converter() -> bool {
    Command::new("rsvg-convert").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Width and height, as the file's first chunk says.
fn size(bench: &Bench, name: &str) -> (u32, u32) {
    let bytes = fs::read(bench.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

/// How many pixels are not white, in percent.
fn drawn(bench: &Bench, name: &str) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/png.py");
    let output = Command::new("python3").arg(script).arg(bench.path(name)).output().expect("python3");
    let output = ProcessOutput::from(output);
    output.out.trim().parse().unwrap_or_else(|_| panic!("{name}: {}", output.err))
}

#[test]
fn plots_become_png_files_of_300_pixels_an_inch() {
    if !has_converter() {
        return skipped("no rsvg-convert on this machine: package librsvg2-bin");
    }
    let bench = Bench::new(&[TOML[0], ("sweep.toml", SWEEP)]);
    let ran = bench.hpcc(&["run", "scenario.toml", "--out", "out", "--png"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("slowdown.svg, slowdown.png"), "{}", ran.out);
    // 1280 by 720 pixels, each the 96th part of an inch.
    assert_eq!(size(&bench, "out/slowdown.png"), (4000, 2250));

    let again = bench.hpcc(&["report", "out", "--png", "--style", "paper"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    // 88 by 55 mm, rounded up.
    assert_eq!(size(&bench, "out/slowdown.png"), (1040, 650));
    let share = drawn(&bench, "out/slowdown.png");
    assert!((1.0..30.0).contains(&share), "{share} % of the pixels are not white");

    let without = bench.hpcc(&["report", "out"]);
    assert_eq!(without.code, Some(0), "{}", without.err);
    assert!(!bench.path("out/slowdown.png").exists(), "it would show another plot than the SVG file");

    let swept = bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--png", "--pdf", "--style", "paper"]);
    assert_eq!(swept.code, Some(0), "{}", swept.err);
    assert_eq!(size(&bench, "swept/slowdown-by-rank.png"), (1040, 650));
    let pdf = fs::read(bench.path("swept/slowdown-by-rank.pdf")).expect("a PDF file");
    let pdf = String::from_utf8_lossy(&pdf);
    // 88 mm in points; fonts are in it.
    for part in ["%PDF-", "/MediaBox [ 0 0 249.44", "/FontFile"] {
        assert!(pdf.contains(part), "no {part}");
    }
}

#[test]
fn without_a_converter_nothing_runs() {
    let bench = Bench::new(&[TOML[0], ("sweep.toml", SWEEP)]);
    for arguments in [["run", "scenario.toml"], ["sweep", "sweep.toml"]] {
        let mut command = hpcc();
        command.args(arguments).args(["--out", "out", "--png"]).current_dir(bench.path(""));
        command.env("PATH", bench.path("nothing")).env_remove("HPCC_SCRIPT");
        let output = ProcessOutput::from(command.output().expect("hpcc starts"));
        assert_eq!(output.code, Some(2), "{}", output.err);
        assert!(output.err.contains("--png needs rsvg-convert, of the package librsvg2-bin"), "{}", output.err);
        assert!(!bench.path("out").exists(), "{arguments:?} has begun");
    }
}
