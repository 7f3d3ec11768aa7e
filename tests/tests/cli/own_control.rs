// SPDX-License-Identifier: GPL-2.0-only
//! A congestion control of one's own in a file of C++ or Rust: `new --controller` and `--control`.

use hpcc_tests::{Bench, TOML};

#[test]
fn one_file_is_a_controller_of_runs_and_sweeps() {
    let bench = Bench::new(TOML);
    let written = bench.hpcc(&["new", "--controller", "my_cc.cc"]);
    assert!(written.code == Some(0) && written.out.contains("algorithm=ns3::MyCc"), "{}{}", written.out, written.err);
    let choice = "congestion_control.algorithm=ns3::MyCc";
    let run = ["run", "scenario.toml", "--control", "my_cc.cc", "--set", choice];
    let ran = bench.hpcc(&[&run[..], &["--set", "congestion_control.Target=20000", "--out", "own"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(bench.read("own/summary.json").contains("\"Target\": \"20000\""), "{}", bench.read("own/summary.json"));

    let sweep = format!(
        "title = \"Own\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"hpcc\"\n\
         [[variant]]\nname = \"own\"\nset = [\"{choice}\", \"congestion_control.Target=20000\"]\n\
         [[claim]]\ntext = \"It ends\"\npaper = \"-\"\nmeasure = \"unfinished\"\nof = \"own\"\nholds = {{ at_most = 0 }}\n"
    );
    bench.write("sweep.toml", &sweep);
    let swept = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--out", "swept"]);
    assert!(swept.code == Some(0) && swept.out.contains("holds"), "{}{}", swept.out, swept.err);
    assert_eq!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "the same run");
    assert_ne!(bench.read("swept/hpcc/fct.csv"), bench.read("own/fct.csv"), "another controller");

    assert!(ran.err.contains("compiling") && !swept.err.contains("compiling"), "it is compiled once: {}", swept.err);

    // Another file is another program: nothing of it is kept, and what it is called in is known to the line.
    bench.edit("my_cc.cc", "1.0 - excess / 2", "1.0 - excess / 4");
    let again = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--out", "swept"]);
    assert!(again.code == Some(0) && !again.err.contains("are kept"), "{}", again.err);
    assert!(again.err.contains("compiling"), "{}", again.err);
    assert_ne!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "it is slower to give way");
    bench.edit("sweep.toml", "Target=20000", "Targets=20000");
    let wrong = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--list"]);
    let words =
        "sweep.toml:7: congestion_control.Targets: unknown key Targets in [congestion_control]; did you mean Target?";
    assert!(wrong.code == Some(2) && wrong.err.contains(words), "{}", wrong.err);
}

#[test]
fn what_is_no_controller_is_told_before_anything_runs() {
    let bench = Bench::new(TOML);
    assert_eq!(bench.hpcc(&["new", "my_cc.cc", "--controller"]).code, Some(0));
    let twice = bench.hpcc(&["new", "my_cc.cc", "--controller"]);
    assert_eq!(twice.code, Some(2), "{}", twice.err);
    let text = bench.read("my_cc.cc");
    bench.write("broken.cc", &text.replace("m_limits = limits;", "m_limits = limit;"));
    bench.write("none.cc", &text.replace("NS_OBJECT_ENSURE_REGISTERED(MyCc);", ""));
    bench.write("text.so", "no library");
    for (file, words) in [
        ("broken.cc", "error: "),
        ("none.cc", "none.cc: it has no controller"),
        ("absent.cc", "absent.cc: no such file"),
        ("scenario.toml", "scenario.toml: expected a file in C++, *.cc"),
        ("text.so", "text.so: it has no controller"),
    ] {
        let output = bench.hpcc(&["run", "scenario.toml", "--control", file, "--out", "out"]);
        assert!(output.code == Some(2) && output.err.contains(words), "{file}: {:?} {}", output.code, output.err);
        assert!(!bench.path("out").exists(), "{file}: something ran");
    }
    let report = bench.hpcc(&["report", "out", "--control", "my_cc.cc"]);
    assert!(report.err.contains("--control belongs to run, sweep and reproduce"), "{}", report.err);
}

#[test]
fn a_file_in_rust_is_a_controller_without_ns3() {
    let bench = Bench::new(TOML);
    let written = bench.hpcc(&["new", "--controller", "my_rs.rs"]);
    assert!(written.code == Some(0) && written.out.contains("algorithm=my_rs"), "{}{}", written.out, written.err);
    let choice = "congestion_control.algorithm=my_rs";
    let run = |out: &str, decrease: &str| {
        let share = format!("congestion_control.decrease={decrease}");
        bench.hpcc(&["run", "scenario.toml", "--control", "my_rs.rs", "--set", choice, "--set", &share, "--out", out])
    };
    let ran = run("own", "0.25");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(bench.read("own/summary.json").contains("\"decrease\": 0.25"), "{}", bench.read("own/summary.json"));
    let refused = run("wrong", "2");
    assert!(refused.code == Some(2) && refused.err.contains("congestion_control.decrease"), "{}", refused.err);
    let sweep = format!(
        "title = \"Own\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"hpcc\"\n\
         [[variant]]\nname = \"own\"\nset = [\"{choice}\", \"congestion_control.decrease=0.25\"]\n"
    );
    bench.write("sweep.toml", &sweep);
    let swept = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_rs.rs", "--out", "swept"]);
    assert_eq!(swept.code, Some(0), "{}", swept.err);
    assert_eq!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "the same run");
    bench.edit("my_rs.rs", "self.congested |=", "self.congestd |=");
    let broken = run("broken", "0.25");
    assert!(broken.code == Some(2) && broken.err.contains("no field `congestd`"), "{}", broken.err);
}
