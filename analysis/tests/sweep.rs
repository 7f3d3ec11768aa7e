// SPDX-License-Identifier: GPL-2.0-only
//! `sweep` on the command line, with a script in the simulator's place.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use common::{FAKE_SCENARIO, canned, err, folder, hpcc, out};

const BASE: &str = "[run]\nstop = \"1ms\"\n\
    [topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n\
    [monitor]\nqueue_interval = \"1us\"\n";

const TWO: &str = "title = \"Two\"\nbase = \"base.toml\"\nseeds = [4, 5]\n\
    [[variant]]\nname = \"plain\"\n\
    [[variant]]\nname = \"marked\"\nset = [\"congestion_control.algorithm=dctcp\"]\n";

/// A sweep in `folder`, with `base.toml` beside it, of canned results.
fn sweep(folder: &Path, text: &str, more: &[&str], environment: &[(&str, &str)]) -> Output {
    fs::write(folder.join("base.toml"), BASE).expect("base");
    fs::write(folder.join("sweep.toml"), text).expect("sweep");
    let complete = !environment.contains(&("FAKE_END", "3"));
    let results = canned(folder, complete);
    let mut command = hpcc(&["sweep", "sweep.toml", "--out", "out"]);
    command.args(more).current_dir(folder).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
    command.env("FAKE_END", "0").env("FAKE_RESULTS", results).envs(environment.iter().copied());
    command.output().expect("hpcc starts")
}

/// What is said of a bad sweep, after a check that it left nothing.
fn refusal(text: &str, more: &[&str]) -> String {
    let folder = folder();
    let output = sweep(folder.path(), text, more, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(!folder.path().join("out").exists(), "a folder after {}", err(&output));
    assert_eq!(err(&output).lines().count(), 1, "{}", err(&output));
    err(&output)
}

#[test]
fn a_sweep_gives_a_table_data_and_plots() {
    let folder = folder();
    let output = sweep(folder.path(), TWO, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("plain") && out(&output).contains("marked"), "{}", out(&output));
    assert!(out(&output).contains("mean of 2 seeds"), "{}", out(&output));
    let root = folder.path().join("out");
    for plot in ["slowdown-by-size.svg", "queue-cdf.svg"] {
        assert!(fs::read_to_string(root.join(plot)).expect(plot).contains("marked"), "{plot}");
    }
    assert!(fs::read_to_string(root.join("sweep.txt")).expect("table").starts_with("Two\n"));
    assert!(!root.join("sweep.csv.partial").exists());
}

#[test]
fn a_list_of_the_runs_runs_nothing() {
    let folder = folder();
    let output = sweep(folder.path(), TWO, &["--list"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let listed = out(&output);
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let last = "marked/seed-5  congestion_control.algorithm=dctcp run.seed=5";
    assert_eq!(listed.lines().last(), Some(last));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn data_is_tidy_and_says_what_the_flows_did() {
    let folder = folder();
    sweep(folder.path(), TWO, &[], &[]);
    let data = fs::read_to_string(folder.path().join("out/sweep.csv")).expect("data");
    assert!(data.starts_with("variant,axis,seed,metric,value\nplain,,4,flows,2\n"), "{data}");
    // Both flows of the canned results take 20 us where 10 us would do.
    assert!(data.contains("\nmarked,,5,slowdown_p99,2\n"), "{data}");
    let runs: BTreeSet<(&str, &str)> = data
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), 5, "{line}");
            (fields[0], fields[2])
        })
        .collect();
    assert_eq!(runs, BTreeSet::from([("marked", "4"), ("marked", "5"), ("plain", "4"), ("plain", "5")]));
}

#[test]
fn each_run_gets_its_settings_and_its_log() {
    let folder = folder();
    let axis = "[[axis]]\nname = \"size\"\nvalues = [\"1MB\", 2000]\nset = \"traffic.0.size={}\"\n";
    let output = sweep(folder.path(), &format!("{TWO}{axis}"), &["--set", "run.stop=2ms"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let told = fs::read_to_string(folder.path().join("out/marked/size-2000/seed-5.log")).expect("log");
    for pair in ["run.stop=2ms", "traffic.0.size=2000", "congestion_control.algorithm=dctcp", "run.seed=5"] {
        assert!(told.contains(&format!("argument --set={pair}\n")), "{pair}: {told}");
    }
    assert!(folder.path().join("out/plain/size-1MB/seed-4/summary.json").exists());
    assert!(folder.path().join("out/slowdown-by-axis.svg").exists());
}

/// Two axes of two and three values.
const AXES: &str = "[[axis]]\nname = \"size\"\nvalues = [\"1MB\", 2000]\nset = \"traffic.0.size={}\"\n\
    [[axis]]\nname = \"eta\"\nvalues = [0.8, 0.9, 0.95]\nset = \"congestion_control.eta={}\"\n";
const ONE: &str = "title = \"One\"\nbase = \"base.toml\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = [\"run.seed=2\"]\n";

#[test]
fn several_axes_are_combined() {
    let folder = folder();
    let at = |at: &str| {
        format!(
            "[[claim]]\ntext = \"t\"\npaper = \"p\"\nmeasure = \"slowdown\"\nof = \"b\"\nholds = {{ at_most = 2 }}\n{at}\n"
        )
    };
    let report = "[report]\nplots = [\"slowdown-by-axis\", \"goodput-by-axis\", \"queue-by-axis\", \"queue-cdf\"]\nsize_bins = [\"10KB\"]\n";
    let text = format!("{ONE}{AXES}{report}{}", at("at = { eta = 0.9, size = 2000 }"));
    let output = sweep(folder.path(), &text, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let root = folder.path().join("out");
    let told = fs::read_to_string(root.join("b/size-2000/eta-0.95.log")).expect("log");
    assert!(
        told.contains("--set=traffic.0.size=2000\n") && told.contains("--set=congestion_control.eta=0.95\n"),
        "{told}"
    );
    let data = fs::read_to_string(root.join("sweep.csv")).expect("data");
    assert!(data.starts_with("variant,size,eta,seed,metric,value\na,1MB,0.8,1,flows,2\n"), "{data}");
    assert_eq!(data.lines().filter(|line| line.contains(",slowdown_p99,")).count(), 12);
    assert!(out(&output).contains("size") && out(&output).contains("eta"), "{}", out(&output));
    for plot in ["slowdown", "goodput", "queue"] {
        for end in ["size.eta-0.8", "size.eta-0.95", "eta.size-1MB", "eta.size-2000"] {
            assert!(root.join(format!("{plot}-by-axis.{end}.svg")).exists(), "{plot} {end}");
        }
    }
    let figure = fs::read_to_string(root.join("slowdown-by-axis.eta.size-2000.svg")).expect("figure");
    for words in ["Slowdown by eta", "size 2000", "0.95"] {
        assert!(figure.contains(words), "{words}");
    }
    assert!(root.join("queue-cdf.size-1MB.eta-0.9.svg").exists());
    assert!(fs::read_to_string(root.join("sweep.json")).expect("manifest").contains("\"b, size 2000, eta 0.9\""));
    let again = sweep(folder.path(), &text, &[], &[]);
    assert!(err(&again).contains("12 of 12 runs are kept"), "{}", err(&again));
}

#[test]
fn bad_axes_are_refused() {
    let claim = |at: &str| {
        format!(
            "{ONE}{AXES}[[claim]]\ntext = \"t\"\npaper = \"p\"\nmeasure = \"slowdown\"\nof = \"b\"\nholds = {{ at_most = 2 }}\n{at}\n"
        )
    };
    let again = AXES.split("[[axis]]").nth(1).expect("an axis");
    let many: Vec<String> = (0..1_001).map(|value| value.to_string()).collect();
    let long =
        |name: &str| format!("[[axis]]\nname = \"{name}\"\nvalues = [{}]\nset = \"x.{name}={{}}\"\n", many.join(", "));
    let cases = [
        (format!("{ONE}{AXES}[[axis]]{again}"), "sweep.toml:17: axis \"size\" appears twice"),
        (
            format!("{ONE}{AXES}[[axis]]{}", again.replace("\"size\"", "\"seed\"")),
            "sweep.toml:17: axis \"seed\" would be a second",
        ),
        (format!("{ONE}{}{}", long("a"), long("b")), "there are 2004002 runs; expected at most 1000000"),
        (format!("{ONE}{AXES}[[axis]]{}", again.replace("\"size\"", "\"other\"")), "traffic.0.size is set twice"),
        (claim(""), "at is missing; expected { size = 1MB, eta = 0.8 } or other values"),
        (claim("at = 2000"), "there are several axes; expected { size = 1MB"),
        (claim("at = { size = 2000 }"), "eta is missing"),
        (claim("at = { size = 2000, eta = 0.9, x = 1 }"), "there is no axis \"x\""),
        (claim("at = { size = 2000, eta = 0.7 }"), "the axis eta has no such value; it has 0.8, 0.9, 0.95"),
    ];
    for (text, expected) in cases {
        let told = refusal(&text, &[]);
        assert!(told.contains(expected), "{told} lacks {expected}");
    }
}

#[test]
fn what_is_not_drawn_has_its_reason() {
    let folder = folder();
    let plots =
        "[report]\nplots = [\"slowdown-by-size\", \"goodput-by-variant\"]\nsize_bins = [\"1MB\"]\nwarm_up = \"19us\"\n";
    let output = sweep(folder.path(), &format!("{ONE}{plots}"), &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(
        out(&output)
            .contains(" no slowdown-by-size: no flow started in the measured part and finished\n no goodput-by-variant: no flow over 1.00 MB has a rate\n"),
        "{}",
        out(&output)
    );
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let folder = folder();
    let mut seen = BTreeSet::new();
    for jobs in ["1", "2", "7"] {
        let output = sweep(folder.path(), TWO, &["--fresh", "--jobs", jobs], &[]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let read = |name: &str| fs::read(folder.path().join("out").join(name)).expect(name);
        seen.insert((read("sweep.csv"), read("sweep.txt"), read("slowdown-by-size.svg"), read("queue-cdf.svg")));
    }
    assert_eq!(seen.len(), 1);
}

#[test]
fn a_failed_run_is_named_and_the_others_go_on() {
    let folder = folder();
    assert_eq!(sweep(folder.path(), TWO, &[], &[]).status.code(), Some(0));
    let output = sweep(folder.path(), TWO, &["--fresh"], &[("FAKE_END", "SEGV"), ("FAKE_ONLY", "plain/seed-5")]);
    assert_eq!(output.status.code(), Some(1));
    let told = err(&output);
    assert!(told.contains("plain/seed-5 failed") && told.contains("segmentation fault"), "{told}");
    assert!(told.contains("    argument --set=run.seed=5"), "no log: {told}");
    let root = folder.path().join("out");
    let left = ["sweep.csv", "sweep.txt", "slowdown-by-size.svg", "queue-cdf.svg"];
    assert!(left.iter().all(|name| !root.join(name).exists()), "something looks complete");
    assert!(
        out(&output).contains("mean of 2 seeds ± standard deviation; of fewer where runs are missing"),
        "{}",
        out(&output)
    );
    let data = fs::read_to_string(root.join("sweep.csv.partial")).expect("data");
    assert!(data.contains("plain,,4,") && data.contains("marked,,5,") && !data.contains("plain,,5,"), "{data}");
}

/// A file in the place of one of the sweep's is something that no check ahead of the runs sees, as is a full disk.
#[test]
fn a_sweep_that_cannot_be_written_is_no_bad_input() {
    let folder = folder();
    let output = sweep(folder.path(), TWO, &[], &[("FAKE_FOLDER", "out/sweep.json")]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let told = err(&output);
    assert!(told.contains("the runs ended, but the sweep cannot be shown: ") && told.contains("sweep.json"), "{told}");
}

#[test]
fn runs_whose_files_were_changed_meanwhile_do_not_count() {
    let folder = folder();
    let changed = sweep(folder.path(), TWO, &["--jobs", "1"], &[("FAKE_EDIT", "goodput_interval = \"1us\"")]);
    assert_eq!(changed.status.code(), Some(1), "{}", err(&changed));
    let told = err(&changed);
    assert!(told.contains("base.toml, or a file that it names, was changed meanwhile"), "{told}");
    assert!(simulated(&told).is_empty(), "{told}");
    // The file is as before.
    let again = sweep(folder.path(), TWO, &[], &[]);
    assert_eq!((again.status.code(), simulated(&err(&again)).len()), (Some(0), 4), "{}", err(&again));
}

/// The runs of a sweep that are said to have been simulated.
fn simulated(told: &str) -> Vec<&str> {
    told.lines().filter_map(|line| line.strip_prefix("hpcc: ")?.split_once(" done, ")).map(|(name, _)| name).collect()
}

#[test]
fn a_sweep_goes_on_where_it_was() {
    let folder = folder();
    let killed = sweep(folder.path(), TWO, &["--jobs", "1"], &[("FAKE_END", "KILL"), ("FAKE_ONLY", "marked/seed-4")]);
    assert_eq!(killed.status.code(), Some(1));
    assert_eq!(simulated(&err(&killed)).len(), 3, "{}", err(&killed));
    let root = folder.path().join("out");
    // A run without the mark of its inputs may be half a run, and one with a file cut off is damaged.
    fs::remove_file(root.join("plain/seed-4/inputs.blake3")).expect("mark");
    let rows = fs::read_to_string(root.join("plain/seed-5/fct.csv")).expect("fct.csv");
    fs::write(root.join("plain/seed-5/fct.csv"), &rows[..rows.len() / 2]).expect("fct.csv");
    let again = sweep(folder.path(), TWO, &["--jobs", "1"], &[]);
    assert_eq!(again.status.code(), Some(0), "{}", err(&again));
    assert!(err(&again).contains("1 of 4 runs are kept from before"), "{}", err(&again));
    assert_eq!(simulated(&err(&again)), ["plain/seed-4", "plain/seed-5", "marked/seed-4"]);
    assert!(err(&again).contains(" left\n"), "no time left is said: {}", err(&again));
    let data = || fs::read_to_string(root.join("sweep.csv")).expect("data");
    let kept = data();
    assert!(simulated(&err(&sweep(folder.path(), TWO, &[], &[]))).is_empty());
    assert_eq!(simulated(&err(&sweep(folder.path(), TWO, &["--fresh"], &[]))).len(), 4);
    assert_eq!(data(), kept);
    // Another setting is another input.
    let changed = sweep(folder.path(), TWO, &["--set", "run.stop=2ms"], &[]);
    assert_eq!(simulated(&err(&changed)).len(), 4, "{}", err(&changed));
}

#[test]
fn a_window_cuts_the_warm_up_off() {
    let folder = folder();
    let report = "[report]\nwarm_up = \"4us\"\nuntil = \"9us\"\n";
    let output = sweep(folder.path(), &format!("{TWO}{report}"), &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let noted = "note: goodput is that of flows which the measured part holds whole";
    assert!(err(&output).contains(noted), "{}", err(&output));
    let data = fs::read_to_string(folder.path().join("out/sweep.csv")).expect("data");
    // All flows start before the window; the longest queue is over by then.
    assert!(data.contains("plain,,4,flows,0\n") && !data.contains("slowdown_p99"), "{data}");
    assert!(data.contains("plain,,4,queue_max_bytes,10480\n") && !data.contains("drops"), "{data}");
    assert!(data.contains("plain,,4,queue_p50_bytes,10480\n") && data.contains(",pfc_paused_percent,0\n"), "{data}");
}

#[test]
fn report_opens_a_sweep() {
    let window = "[report]\nwarm_up = \"1us\"\nuntil = \"9us\"\n";
    for report in ["", window] {
        let folder = folder();
        let swept = sweep(folder.path(), &format!("{TWO}{report}"), &[], &[]);
        assert!(out(&swept).ends_with("look at it with: xdg-open out/report.html\n"), "{}", err(&swept));
        let page = folder.path().join("out/report.html");
        let first = fs::read_to_string(&page).expect("page");
        assert!(first.contains("\"name\":\"plain\"") && first.contains("\"seeds\":[1,1]"), "runs of all seeds");
        fs::remove_file(&page).expect("page");
        let output = hpcc(&["report", "out"]).current_dir(folder.path()).output().expect("hpcc starts");
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(first == fs::read_to_string(&page).expect("page"), "another page than the sweep's own");
    }
}

#[test]
fn report_says_that_a_sweep_has_not_ended() {
    let folder = folder();
    fs::create_dir(folder.path().join("out")).expect("folder");
    fs::write(folder.path().join("out/sweep.csv.partial"), "variant,axis,seed,metric,value\n").expect("data");
    let output = hpcc(&["report", "out"]).current_dir(folder.path()).output().expect("hpcc starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("out: the sweep in it has not ended: start it again, or name"), "{}", err(&output));
}

#[test]
fn unfinished_flows_give_3_and_are_counted() {
    let folder = folder();
    let output = sweep(folder.path(), TWO, &[], &[("FAKE_END", "3")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(err(&output).contains("marked/seed-4 is incomplete: 1 flow unfinished"), "{}", err(&output));
    let data = fs::read_to_string(folder.path().join("out/sweep.csv")).expect("data");
    assert!(data.contains("plain,,4,flows_unfinished,1\n"), "{data}");
}

#[test]
fn bad_files_are_refused_with_line_and_expectation() {
    let head = "title = \"T\"\nbase = \"base.toml\"\n";
    let variant = "[[variant]]\nname = \"a\"\n";
    let cases = [
        (format!("{head}colour = 3\n{variant}"), "sweep.toml:3: unknown key \"colour\", expected one of"),
        (format!("{head}{variant}{variant}"), "sweep.toml:6: variant \"a\" appears twice"),
        ("title = \"T\"\nbase = \"nothing.toml\"\n".to_owned() + variant, "sweep.toml:2: base: there is no file"),
        (format!("{head}{variant}set = [\"run.seeed=3\"]\n"), "sweep.toml:5: run.seeed: unknown key seeed in [run]"),
        (format!("{head}{variant}set = [\n\"run.stop\"]\n"), "sweep.toml:6: \"run.stop\" is no setting"),
        (format!("{head}{variant}set = [\"run.stop=3\"]\n"), "sweep.toml:5: run.stop: "),
        (head.to_owned(), "sweep.toml: no variant; expected at least one [[variant]]"),
        (String::new(), "missing key \"title\""),
        (format!("{head}{variant}[report]\nplots = [\"pie\"]\n"), "sweep.toml:6: unknown name \"pie\", expected"),
        (
            format!("{head}{variant}[report]\nsize_bins = [\"1MB\", \"1KB\"]\n"),
            "sweep.toml:6: size_bins is no ascending",
        ),
        (
            format!("{head}{variant}[report]\ngroups = [\"in\"]\n"),
            "sweep.toml:6: groups: there is no group \"in\"; the scenario has flow",
        ),
        (format!("{head}{variant}[report]\nwarm_up = \"1\"\n"), "sweep.toml:6: warm_up: "),
        (
            format!("{head}{variant}[report]\nwarm_up = \"2us\"\nuntil = \"1us\"\n"),
            "sweep.toml:7: until: nothing is left behind warm_up",
        ),
        (
            format!("{head}{variant}[report]\nwarm_up = \"1ms\"\n"),
            "sweep.toml:6: warm_up: the run ends 1.000 ms after its first flow started",
        ),
        (
            format!("{head}{variant}[report]\nuntil = \"0us\"\n"),
            "sweep.toml:6: until: the first flow that is measured starts 0 ns after the first of all",
        ),
        (format!("{head}seeds = [1, 2, 1]\n{variant}"), "sweep.toml:3: seed 1 appears twice"),
        (format!("{head}[[variant]]\nname = \"../a\"\n"), "sweep.toml:4: variant \"../a\" cannot name a folder"),
        (format!("{head}seeds = [1]\n{variant}set = [\"run.seed=3\"]\n"), "run.seed is set twice"),
        (format!("{head}{variant}[[axis]]\nname = \"x\"\nvalues = [1]\nset = \"run.stop=1ms\"\n"), "sweep.toml:8: "),
        (format!("{head}{variant}[report]\nplots = [\"slowdown-by-axis\"]\n"), "needs an [[axis]]"),
        (format!("{head}{variant}[report]\nplots = [\"goodput-over-time\"]\n"), "expected monitor.goodput_interval"),
    ];
    for (text, expected) in cases {
        let told = refusal(&text, &[]);
        assert!(told.contains(expected), "{told} lacks {expected}");
    }
}

/// The base is fine by itself: what made it wrong is to blame, a line of the sweep or the command line.
#[test]
fn settings_that_spoil_the_base_are_named() {
    let with = |pair: &str| {
        let text = format!("{TWO}[[variant]]\nname = \"c\"\nset = [\"run.seed=1\", \"{pair}\"]\n");
        refusal(&text.replace("seeds = [4, 5]\n", ""), &[])
    };
    let why = "traffic.0.dst: dst is node 9, but there are only nodes 0 to 3; expected a host";
    let told = with("traffic.0.dst=9");
    assert!(told.ends_with(&format!("sweep.toml:10: {why}\n")), "{told}");
    let told = refusal(TWO, &["--set", "traffic.0.dst=9"]);
    assert!(told.ends_with(&format!("--set: {why}\n")), "{told}");
    let why = "traffic.0.size: the size is 0; expected at least 1 byte";
    let told = with("traffic.0.size=0");
    assert!(told.ends_with(&format!("sweep.toml:10: {why}\n")), "{told}");
    let told = refusal(TWO, &["--set", "traffic.0.size=0"]);
    assert!(told.ends_with(&format!("--set: {why}\n")), "{told}");
}

#[test]
fn bad_claims_are_refused_with_line_and_expectation() {
    let claim = |more: &str| {
        format!(
            "title = \"T\"\nbase = \"base.toml\"\n[[variant]]\nname = \"a\"\n[[claim]]\ntext = \"t\"\npaper = \"p\"\n{more}"
        )
    };
    let of_a = "of = \"a\"\nholds = { at_most = 1 }\n";
    let cases = [
        (
            "measure = \"speed\"\nof = \"a\"\nholds = {}\n".to_owned(),
            "sweep.toml:8: unknown name \"speed\", expected one of",
        ),
        (
            "measure = \"drops\"\nof = \"b\"\nholds = {}\n".to_owned(),
            "sweep.toml:9: there is no variant \"b\"; there are a",
        ),
        ("measure = \"drops\"\nof = \"a\"\nholds = {}\n".to_owned(), "sweep.toml:10: no range; expected at_least"),
        (format!("measure = \"drops\"\nat = 3\n{of_a}"), "sweep.toml:9: at without an [[axis]]"),
        (format!("measure = \"drops\"\nover_at = 3\n{of_a}"), "sweep.toml:9: over_at without over"),
        (format!("measure = \"drops\"\npercentile = 9\n{of_a}"), "sweep.toml:9: this measure has no percentiles"),
        (format!("measure = \"queue\"\npercentile = 0\n{of_a}"), "sweep.toml:9: percentile is 0; expected 1 to 100"),
        (
            format!("measure = \"queue\"\nlevel = \"1KB\"\n{of_a}"),
            "sweep.toml:9: level: this measure waits for nothing",
        ),
        (format!("measure = \"queue-settles\"\n{of_a}"), "sweep.toml:6: level is missing"),
        (format!("measure = \"queue-settles\"\nlevel = \"1us\"\n{of_a}"), "sweep.toml:9: level: "),
        (format!("measure = \"slowdown\"\nup_to = \"1us\"\n{of_a}"), "sweep.toml:9: up_to: "),
        (format!("measure = \"slowdown\"\nuntil = \"1KB\"\n{of_a}"), "sweep.toml:9: until: "),
        (
            format!("measure = \"slowdown\"\ngroup = \"in\"\n{of_a}"),
            "sweep.toml:6: there is no group \"in\"; the scenario has flow",
        ),
        (
            format!("measure = \"drops\"\nwarm_up = \"1us\"\n{of_a}"),
            "sweep.toml:9: warm_up: this measure is of the whole run; expected no such key",
        ),
        (
            format!("measure = \"drops\"\ngroup = \"flow\"\n{of_a}"),
            "sweep.toml:9: group: this measure is of the whole network",
        ),
        (
            format!("measure = \"fairness\"\nuntil = \"1ms\"\n{of_a}"),
            "sweep.toml:6: this claim needs monitor.goodput_interval in the scenario",
        ),
        (format!("measure = \"paused-share\"\nabove = \"1KB\"\n{of_a}"), "sweep.toml:9: above: this measure is of the"),
        (format!("measure = \"queue\"\nup_to = \"1KB\"\n{of_a}"), "sweep.toml:9: up_to: this measure is of the"),
        (
            format!("measure = \"slowdown\"\nwarm_up = \"3us\"\nuntil = \"3us\"\n{of_a}"),
            "sweep.toml:10: until: nothing is left behind warm_up",
        ),
        (
            format!("measure = \"slowdown\"\nabove = \"2KB\"\nup_to = \"1KB\"\n{of_a}"),
            "sweep.toml:10: up_to: no flow has more than 2000 bytes and at most 1000",
        ),
        (format!("measure = \"total-goodput\"\n{of_a}"), "sweep.toml:6: this claim needs monitor.goodput_interval"),
    ];
    for (text, expected) in cases {
        let told = refusal(&claim(&text), &[]);
        assert!(told.contains(expected), "{told} lacks {expected}");
    }
    assert!(refusal(TWO, &["--quick"]).contains("there is no quick form; expected a section [quick]"));
    assert!(refusal(&format!("{TWO}[quick]\nset = [\"run\"]\n"), &[]).contains("\"run\" is no setting"));
    // The full form knows before it runs, too.
    let misspelt = refusal(&format!("{TWO}[quick]\nset = [\"congestion_control.etta=0.5\"]\n"), &[]);
    assert!(misspelt.contains("sweep.toml:") && misspelt.contains("etta"), "{misspelt}");
    let twice = format!("{TWO}[quick]\nset = [\"congestion_control.algorithm=hpcc\"]\n");
    assert!(refusal(&twice, &["--quick"]).contains("congestion_control.algorithm is set twice"));
    let table = twice.replace("congestion_control.algorithm=hpcc", "congestion_control={algorithm='hpcc'}");
    let told = refusal(&table, &["--quick"]);
    assert!(
        told.contains("congestion_control.algorithm is set twice") && told.contains(": congestion_control"),
        "{told}"
    );
    let told = refusal(&TWO.replace("algorithm=dctcp", "algorithm=ns3::Own"), &[]);
    assert!(told.contains("\"none\", or for TCP the name of one of ns-3's classes such as ns3::TcpDctcp; "), "{told}");
}

#[test]
fn claims_have_verdicts_and_a_quick_form_has_its_own_seeds_and_settings() {
    let folder = folder();
    // Both flows of the canned results take 20 us where 10 us would do.
    let claim = |at_most: f64, direction: f64| {
        format!(
            "[[claim]]\ntext = \"Flows are quick\"\npaper = \"1.5\"\nmeasure = \"slowdown\"\npercentile = 99\nof = \"plain\"\n\
             holds = {{ at_most = {at_most} }}\ndirection = {{ at_most = {direction} }}\nreason = \"full\"\nquick_reason = \"small\"\n"
        )
    };
    let quick = "[quick]\nseeds = [9]\nset = [\"run.stop=2ms\"]\ndeviations = [\"shorter\"]\n";
    let text = format!("{TWO}{quick}{}{}{}", claim(2.0, 2.0), claim(1.5, 2.5), claim(1.0, 1.5));
    let verdicts = |more: &[&str]| -> serde_json::Value {
        let output = sweep(folder.path(), &text, more, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(out(&output).contains(" 1: Flows are quick\n"), "{}", out(&output));
        let json = fs::read_to_string(folder.path().join("out/verdicts.json")).expect("verdicts");
        serde_json::from_str(&json).expect("JSON")
    };
    let full = verdicts(&[]);
    let words: Vec<&str> = (0..3).filter_map(|index| full["claims"][index]["verdict"].as_str()).collect();
    assert_eq!(words, ["holds", "holds-in-direction", "does-not-hold"]);
    assert_eq!((&full["form"], &full["cost"]["runs"]), (&"full".into(), &4.into()));
    assert_eq!((&full["claims"][1]["ours"], &full["claims"][1]["spread"]), (&2.0.into(), &0.0.into()));
    assert!(full["claims"][0]["reason"].is_null() && full["claims"][1]["reason"] == "full", "{full}");
    let quick = verdicts(&["--quick"]);
    assert_eq!((&quick["form"], &quick["cost"]["runs"]), (&"quick".into(), &2.into()));
    assert_eq!((&quick["deviations"][0], &quick["claims"][2]["reason"]), (&"shorter".into(), &"small".into()));
    let told = fs::read_to_string(folder.path().join("out/plain/seed-9.log")).expect("log");
    assert!(told.contains("argument --set=run.stop=2ms\n"), "{told}");
}

#[test]
fn bad_overrides_on_the_command_line_are_refused() {
    assert!(refusal(TWO, &["--set", "run.seeed=3"]).contains("--set: run.seeed: unknown key"));
    assert!(refusal(TWO, &["--set", "run.stop"]).contains("expected KEY=VALUE"));
    assert!(refusal(TWO, &["--set", "run.seed=3"]).contains("run.seed is set twice, also by --set"));
}

#[test]
fn a_folder_with_other_things_is_left_alone() {
    let folder = folder();
    fs::create_dir(folder.path().join("out")).expect("folder");
    fs::write(folder.path().join("out/thesis.tex"), "").expect("file");
    let output = sweep(folder.path(), TWO, &[], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("choose another --out"), "{}", err(&output));
    assert_eq!(fs::read_dir(folder.path().join("out")).expect("folder").count(), 1);
}

#[test]
fn columns_make_one_table_in_place_of_the_usual_ones() {
    let folder = folder();
    let report = "[report]\ncolumns = [\"slowdown_p99\", \"queue_max_bytes\", \"slowdown_large_p50\"]\n";
    let output = sweep(folder.path(), &format!("{TWO}{report}"), &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let table = fs::read_to_string(folder.path().join("out/sweep.txt")).expect("table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[2].trim(), "all flows   busiest queue    large flows", "{table}");
    assert_eq!(lines[3].trim(), "variant   slowdown p99        max (kB)   slowdown p50", "{table}");
    assert_eq!(lines[6].trim(), "marked            2.00            10.5              -", "{table}");
    assert!(table.contains("\nlarge flows: over 1.00 MB\n") && !table.contains("Slowdown of all flows"), "{table}");

    let output = sweep(folder.path(), &format!("{TWO}{report}tables = [\"queue\"]\n"), &[], &[]);
    let both = out(&output);
    let at = |words: &str| both.find(words).unwrap_or_else(|| panic!("no {words}: {both}"));
    assert!(at("slowdown p99") < at("Queue of the busiest port"), "{both}");
}

#[test]
fn columns_that_cannot_be_are_refused_before_anything_runs() {
    let with = |columns: &str| refusal(&format!("{TWO}[report]\ncolumns = {columns}\n"), &[]);
    for (columns, words) in [
        ("[]", "sweep.toml:10: columns is empty"),
        ("[\"slowdown_p98\"]", "sweep.toml:10: columns: there is no metric slowdown_p98; did you mean slowdown_p99?"),
        ("[\"flows\",\n \"flows\"]", "sweep.toml:11: columns: flows appears twice"),
        ("[\"goodput_jain[incast]\"]", "columns: there is no group \"incast\"; the scenario has flow"),
        ("[\"goodput_jain[flow]\"]", "columns: flow is the only group; leave the brackets out"),
        (
            "[\"goodput_large_jain\"]\nuntil = \"1ms\"",
            "columns: goodput_large_jain needs monitor.goodput_interval in the scenario",
        ),
        ("[\"drops\"]\nuntil = \"1ms\"", "columns: drops is known of the whole run only, not with warm_up or until"),
    ] {
        let told = with(columns);
        assert!(told.contains(words), "{columns}: {told}");
    }
    let unrecorded = "[[variant]]\nname = \"blind\"\nset = [\"monitor={goodput_interval='2us'}\"]\n[report]\ncolumns = [\"queue_p95_bytes\"]\n";
    let told = refusal(&format!("{TWO}{unrecorded}"), &[]);
    assert!(told.contains("columns: queue_p95_bytes needs monitor.queue_interval in the scenario"), "{told}");
}

#[test]
fn columns_of_a_group_that_is_not_measured_are_refused() {
    let folder = folder();
    let more = "[[traffic]]\nkind = \"flow\"\nname = \"other\"\nsrc = 1\ndst = 2\nsize = 1\n";
    fs::write(folder.path().join("two.toml"), format!("{BASE}{more}")).expect("base");
    let text = |of: &str| {
        let report = format!("[report]\ngroups = [\"other\"]\ncolumns = [\"slowdown_p99[{of}]\"]\n");
        TWO.replace("base.toml", "two.toml") + &report
    };
    let told = err(&sweep(folder.path(), &text("flow"), &["--list"], &[]));
    assert!(told.contains("sweep.toml:11: columns: the group flow is not measured; groups has other"), "{told}");
    let listed = sweep(folder.path(), &text("other"), &["--list"], &[]);
    assert_eq!(listed.status.code(), Some(0), "{}", err(&listed));
}

#[test]
fn files_of_the_reference_are_no_sweeps_and_have_no_seeds() {
    let folder = folder();
    fs::write(folder.path().join("config.txt"), "CC_MODE 3\n").expect("base");
    let told = err(&sweep(folder.path(), &TWO.replace("base.toml", "config.txt"), &["--list"], &[]));
    assert!(told.contains("sweep.toml:3: seeds: config.txt is the reference's, which has no seed"), "{told}");
    let output = hpcc(&["sweep", "config.txt"]).current_dir(folder.path()).output().expect("hpcc starts");
    let told = err(&output);
    assert!(told.contains("config.txt: this is no sweep, which is TOML: ./hpcc run takes a config.txt"), "{told}");
    assert_eq!(output.status.code(), Some(2));
}
