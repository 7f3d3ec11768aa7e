// SPDX-License-Identifier: GPL-2.0-only
//! Names of files that shells, options and encodings make hard.

use hpcc_tests::{Bench, TOML, hpcc};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[test]
fn a_scenario_runs_whatever_it_is_called() {
    let bench = Bench::new(TOML);
    let folder = bench.path("");
    let names: [&[u8]; 6] = [
        b"two words.toml",
        "Gr\u{f6}\u{df}e.toml".as_bytes(),
        b"-q.toml",
        b"--set.toml",
        b"no\xffunicode.toml",
        b"a'b\"c$(d)",
    ];
    for name in names.map(OsStr::from_bytes) {
        fs::rename(folder.join("scenario.toml"), folder.join(name)).expect("another name");
        let output =
            hpcc().args(["run", "--quiet", "--"]).arg(name).current_dir(&folder).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(0), "{name:?}: {}", String::from_utf8_lossy(&output.stderr));
        let results = folder.join("hpcc-out").join(Path::new(name).file_stem().expect("a stem"));
        assert!(results.join("summary.json").exists(), "{results:?}");
        fs::rename(folder.join(name), folder.join("scenario.toml")).expect("the usual name");
    }
}
