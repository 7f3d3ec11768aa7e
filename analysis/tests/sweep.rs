// SPDX-License-Identifier: GPL-2.0-only
//! `sweep` on the command line, with a script in the simulator's place.

mod common;

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
    let mut command = hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "ns3"]);
    command.args(more).current_dir(folder).env("HPCC_SCENARIO_PROGRAM", FAKE_SCENARIO);
    command.env("FAKE_END", "0").env("FAKE_RESULTS", results).envs(environment.iter().copied());
    command.output().expect("hpcc starts")
}

/// The error of a bad sweep, after a check that it left nothing.
fn refusal(text: &str, more: &[&str]) -> String {
    let folder = folder();
    let output = sweep(folder.path(), text, more, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(!folder.path().join("out").exists(), "a folder after {}", err(&output));
    assert_eq!(err(&output).lines().count(), 1, "{}", err(&output));
    err(&output)
}

#[test]
fn a_sweep_gives_a_table_plots_and_tidy_data() {
    let folder = folder();
    let listed = sweep(folder.path(), TWO, &["--list"], &[]);
    assert_eq!(listed.status.code(), Some(0), "{}", err(&listed));
    let last = "marked/seed-5  congestion_control.algorithm=dctcp run.seed=5";
    assert_eq!((out(&listed).lines().count(), out(&listed).lines().last()), (4, Some(last)));
    let root = folder.path().join("out");
    assert!(!root.exists(), "a list runs nothing");

    let output = sweep(folder.path(), TWO, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("marked") && out(&output).contains("mean of 2 seeds"), "{}", out(&output));
    for plot in ["slowdown-by-size.svg", "queue-cdf.svg"] {
        assert!(fs::read_to_string(root.join(plot)).expect(plot).contains("marked"), "{plot}");
    }
    assert!(fs::read_to_string(root.join("sweep.txt")).expect("table").starts_with("Two\n"));
    assert!(!root.join("sweep.csv.partial").exists());
    let data = fs::read_to_string(root.join("sweep.csv")).expect("data");
    assert!(data.starts_with("variant,axis,seed,metric,value\nplain,,4,flows,2\n"), "{data}");
    // Both flows of the canned results take 20 us where 10 us would do.
    assert!(data.contains("\nmarked,,5,slowdown_p99,2\n"), "{data}");
}

#[test]
fn each_run_gets_its_settings_and_its_log() {
    let folder = folder();
    let axis = "[[axis]]\nname = \"size\"\nvalues = [\"1MB\", 2000]\nset = \"traffic.0.size={}\"\n";
    let output = sweep(folder.path(), &format!("{TWO}{axis}"), &["--set", "run.stop=2ms"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let printed = fs::read_to_string(folder.path().join("out/marked/size-2000/seed-5.log")).expect("log");
    for pair in ["run.stop=2ms", "traffic.0.size=2000", "congestion_control.algorithm=dctcp", "run.seed=5"] {
        assert!(printed.contains(&format!("argument --set={pair}\n")), "{pair}: {printed}");
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
    let report = "[report]\nplots = [\"slowdown-by-axis\", \"goodput-by-axis\", \"queue-by-axis\", \"queue-cdf\"]\nlarge_above = \"10KB\"\n";
    let text = format!("{ONE}{AXES}{report}{}", claim("at = { eta = 0.9, size = 2000 }"));
    let output = sweep(folder.path(), &text, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let root = folder.path().join("out");
    let printed = fs::read_to_string(root.join("b/size-2000/eta-0.95.log")).expect("log");
    assert!(
        printed.contains("--set=traffic.0.size=2000\n") && printed.contains("--set=congestion_control.eta=0.95\n"),
        "{printed}"
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
fn a_plot_of_what_is_not_recorded_names_its_key() {
    let folder = folder();
    let (base, _) = BASE.split_once("[monitor]").expect("what is recorded comes last");
    fs::write(folder.path().join("base.toml"), base).expect("base");
    fs::write(folder.path().join("sweep.toml"), ONE).expect("sweep");
    let mut command = hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "fluid"]);
    let output = command.current_dir(folder.path()).output().expect("hpcc starts");
    assert!(out(&output).contains(" no queue-cdf: the scenario has no monitor.queue_interval\n"), "{}", out(&output));
}

/// Bins of sizes are bins: which flows are large says its own key.
#[test]
fn bins_do_not_say_what_large_flows_are() {
    let headings = |more: &str| {
        let folder = folder();
        let output = sweep(folder.path(), &format!("{ONE}[report]\nsize_bins = [\"2KB\", \"5KB\"]\n{more}"), &[], &[]);
        out(&output)
    };
    assert!(headings("").contains("large flows (over 1.00 MB)"));
    let own = headings("small_up_to = \"2KB\"\nlarge_above = \"5KB\"\n");
    assert!(own.contains("small flows (up to 2.00 kB)") && own.contains("large flows (over 5.00 kB)"), "{own}");
    let wrong = refusal(&format!("{ONE}[report]\nlarge_above = \"much\"\n"), &[]);
    assert!(wrong.contains("sweep.toml:") && wrong.contains("large_above: "), "{wrong}");
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

/// Of packets a fluid run has measured nothing: no zeros stand in their place, and the table says what it is.
#[test]
fn a_sweep_of_fluid_runs_says_so_and_has_no_figures_of_packets() {
    let folder = folder();
    fs::write(folder.path().join("base.toml"), BASE).expect("base");
    let report =
        "[report]\ncolumns = [\"slowdown_p99\", \"queue_max_bytes\", \"pfc_pauses\"]\nplots = [\"queue-cdf\"]\n";
    fs::write(folder.path().join("sweep.toml"), format!("{TWO}{report}")).expect("sweep");
    let mut command = hpcc(&["sweep", "sweep.toml", "--out", "out", "--simulator", "fluid"]);
    let output = command.current_dir(folder.path()).output().expect("hpcc starts");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let printed = out(&output);
    assert!(printed.starts_with("Two\nFluid: ") && printed.contains("fluid runs have no queues"), "{printed}");
    let data = fs::read_to_string(folder.path().join("out/sweep.csv")).expect("data");
    assert!(data.contains(",slowdown_p99,") && !data.contains("queue_") && !data.contains("pfc_"), "{data}");
}

#[test]
fn a_failed_run_is_named_and_the_others_go_on() {
    let folder = folder();
    assert_eq!(sweep(folder.path(), TWO, &[], &[]).status.code(), Some(0));
    let output = sweep(folder.path(), TWO, &["--fresh"], &[("FAKE_END", "SEGV"), ("FAKE_ONLY", "plain/seed-5")]);
    assert_eq!(output.status.code(), Some(1));
    let printed = err(&output);
    assert!(printed.contains("plain/seed-5 failed") && printed.contains("segmentation fault"), "{printed}");
    assert!(printed.contains("    argument --set=run.seed=5"), "no log: {printed}");
    let root = folder.path().join("out");
    let left = ["sweep.csv", "sweep.txt", "slowdown-by-size.svg", "queue-cdf.svg"];
    assert!(left.iter().all(|name| !root.join(name).exists()), "something looks complete");
    assert!(
        out(&output).contains(" of 1 ") && out(&output).contains("of 1: only so many seeds have a value"),
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
    let printed = err(&output);
    assert!(
        printed.contains("the runs ended, but the sweep cannot be shown: ") && printed.contains("sweep.json"),
        "{printed}"
    );
}

#[test]
fn runs_whose_files_were_changed_meanwhile_do_not_count() {
    let folder = folder();
    let changed = sweep(folder.path(), TWO, &["--jobs", "1"], &[("FAKE_EDIT", "goodput_interval = \"1us\"")]);
    assert_eq!(changed.status.code(), Some(1), "{}", err(&changed));
    let printed = err(&changed);
    assert!(printed.contains("base.toml, or a file that it names, was changed meanwhile"), "{printed}");
    assert!(simulated(&printed).is_empty(), "{printed}");
    // The file is as before.
    let again = sweep(folder.path(), TWO, &[], &[]);
    assert_eq!((again.status.code(), simulated(&err(&again)).len()), (Some(0), 4), "{}", err(&again));
}

/// The runs of a sweep that are said to have been simulated.
fn simulated(printed: &str) -> Vec<&str> {
    printed
        .lines()
        .filter_map(|line| line.strip_prefix("hpcc: ")?.split_once(" done, "))
        .map(|(name, _)| name)
        .collect()
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

/// A claim of the variant `b` at this place.
fn claim(at: &str) -> String {
    format!(
        "[[claim]]\ntext = \"t\"\nexpected = \"p\"\nmeasure = \"slowdown\"\nof = \"b\"\nholds = {{ at_most = 2 }}\n{at}\n"
    )
}

#[test]
fn bad_files_are_refused_with_line_and_expectation() {
    let again = AXES.split("[[axis]]").nth(1).expect("an axis");
    let report = |keys: &str| format!("{ONE}[report]\n{keys}\n");
    let of_claim = |keys: &str| {
        format!("{ONE}[[claim]]\ntext = \"t\"\nexpected = \"p\"\nof = \"a\"\nholds = {{ at_most = 1 }}\n{keys}\n")
    };
    let columns = |columns: &str| report(&format!("columns = {columns}"));
    let mut wrong = String::new();
    for (text, expected) in [
        (ONE.replace("title", "colour"), "sweep.toml:1: unknown key \"colour\", expected one of"),
        (String::new(), "missing key \"title\""),
        ("title = \"T\"\nbase = \"base.toml\"\n".into(), "sweep.toml: nothing to run; expected a [[variant]]"),
        (ONE.replace("base.toml", "nothing.toml"), "nothing.toml: no such file"),
        (ONE.replace("\"b\"", "\"a\""), "sweep.toml:6: two runs are a; expected other names"),
        (ONE.replace("\"b\"", "\"../a\""), "sweep.toml:6: variant \"../a\" cannot name a folder"),
        (ONE.replace("run.seed=2", "run.seeed=3"), "sweep.toml:7: run.seeed: unknown key seeed in [run]"),
        (ONE.replace("run.seed=2", "run.stop"), "\"run.stop\" is no setting"),
        (format!("seeds = [1]\n{ONE}"), "sweep.toml:1: run.seed: the key is given twice"),
        (format!("{ONE}[[axis]]{}", again.replace("{}", "1MB")), "sweep.toml:11: \"traffic.0.size=1MB\" has no {}"),
        (format!("{ONE}{AXES}[[axis]]{}", again.replace("size\"", "x\"")), "traffic.0.size: the key is given twice"),
        (
            format!("{ONE}{AXES}{}", claim("")),
            "expected a value of each axis; the axes are { size = 1MB | 2000, eta = ",
        ),
        (format!("{ONE}{AXES}{}", claim("at = { size = 2000, eta = 0.7 }")), "at: expected a value of each axis"),
        (format!("{ONE}{}", claim("at = 3")), "sweep.toml:14: at: expected a value of each axis"),
        (report("plots = [\"pie\"]"), "sweep.toml:9: plots: unknown name \"pie\", expected"),
        (report("plots = [\"slowdown-by-axis\"]"), "needs an [[axis]]"),
        (report("plots = [\"goodput-over-time\"]"), "the plot goodput-over-time needs monitor.goodput_interval"),
        (report("size_bins = [\"1MB\", \"1KB\"]"), "sweep.toml:9: size_bins is no ascending"),
        (report("groups = [\"in\"]"), "sweep.toml:9: groups: there is no group \"in\"; the scenario has flow"),
        (report("warm_up = \"1\""), "sweep.toml:9: warm_up: "),
        (report("warm_up = \"1ms\"\nuntil = \"2ms\""), "sweep.toml:9: warm_up: the run ends 1.000 ms after"),
        (report("size_bins = []"), "sweep.toml:9: size_bins is no ascending list; expected the upper bounds"),
        (report("small_up_to = -5"), "sweep.toml:9: small_up_to: \"-5\" is negative; expected a size"),
        (report("large_above = 1.5"), "sweep.toml:9: large_above: \"1.5\" has no unit; expected a size"),
        (report("columns = \"flows\""), "sweep.toml:9: columns: \"flows\"; expected a list"),
        (report("[[figure]]\nfont_pt = []"), "sweep.toml:10: font_pt: a list; expected a number"),
        (format!("seeds = [4, -1]\n{ONE}"), "sweep.toml:1: seeds: -1; expected a whole number, 0 or more"),
        (report("warm_up = \"2us\"\nuntil = \"1us\""), "sweep.toml:10: until: nothing is left behind warm_up"),
        (report("warm_up = \"1ms\""), "sweep.toml:9: warm_up: the run ends 1.000 ms after its first flow started"),
        (report("until = \"0us\""), "sweep.toml:9: until: the first flow that is measured starts 0 ns after"),
        (columns("[\"drops\"]\nuntil = \"1ms\""), "columns: drops is known of the whole run only"),
        (of_claim("measure = \"speed\""), "sweep.toml:13: measure: unknown name \"speed\", expected one of"),
        (
            of_claim("measure = \"drops\"").replace("of = \"a\"", "of = \"c\""),
            "sweep.toml:11: of: there is no variant \"c\"; there are a, b",
        ),
        (
            of_claim("measure = \"drops\"").replace("at_most = 1", ""),
            "sweep.toml:12: holds: no range; expected at_least",
        ),
        (of_claim("measure = \"drops\"\npercentile = 9"), "sweep.toml:14: percentile: this measure has no use for it"),
        (of_claim("measure = \"queue\"\npercentile = 0"), "sweep.toml:14: percentile is 0; expected 1 to 100"),
        (
            of_claim("measure = \"queue\"\npercentile = 99.9"),
            "sweep.toml:14: percentile is 99.9; expected 1 to 100, a whole number",
        ),
        (
            of_claim("measure = \"drops\"").replace("at_most = 1", "at_most = nan"),
            "sweep.toml:12: holds: no range; expected at_least, at_most, or both in this order, of finite numbers",
        ),
        (of_claim("measure = \"drops\"\ndirection = { at_least = inf }"), "sweep.toml:14: direction: no range"),
        (
            of_claim("measure = \"slowdown\"\nabove = \"1MB\"\nup_to = 1000"),
            "sweep.toml:15: up_to: no flow is above 1000000 and up to 1000 bytes; expected more than above",
        ),
        (
            of_claim("measure = \"queue\"\nwarm_up = \"100ms\""),
            "sweep.toml:14: warm_up: the run ends 1.000 ms after its first flow started; expected less",
        ),
        (
            of_claim("measure = \"queue\"\nwarm_up = \"2us\"\nuntil = \"1us\""),
            "sweep.toml:15: until: nothing is left behind warm_up; expected a later time",
        ),
        (
            of_claim("measure = \"slowdown\"\ngroup = \"nope\""),
            "sweep.toml:14: group: there is no group \"nope\"; the scenario has flow",
        ),
        (of_claim("measure = \"queue-settles\""), "sweep.toml:9: level is missing"),
        (of_claim("measure = \"queue-settles\"\nlevel = \"1us\""), "sweep.toml:14: level: "),
        (
            of_claim("measure = \"fairness\"\nuntil = \"1ms\""),
            "sweep.toml:9: this claim needs monitor.goodput_interval",
        ),
        // The full form knows before it runs, too.
        (format!("{ONE}[quick]\nset = [\"run.seeed=5\"]\n"), "sweep.toml:9: run.seeed: unknown key"),
        (
            ONE.replace("run.seed=2", "congestion_control.algorithm=ns3::Own"),
            "or with --control FILE.cc a class of that file",
        ),
    ] {
        let printed = refusal(&text, &[]);
        if !printed.contains(expected) {
            wrong += &format!("{printed} lacks {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let twice = format!("{TWO}[quick]\nset = [\"congestion_control={{algorithm='hpcc'}}\"]\n");
    for (text, more, expected) in [
        (TWO, ["--quick"].as_slice(), "--quick: there is no smaller version; expected a section [quick]"),
        (&twice, &["--quick"], "congestion_control is given, too, and one holds the other"),
        (TWO, &["--set", "run.seeed=3"], "--set: run.seeed: unknown key"),
        (TWO, &["--set", "run.seed=3"], "run.seed: the key is given twice"),
    ] {
        let printed = refusal(text, more);
        assert!(printed.contains(expected), "{printed} lacks {expected}");
    }
}

/// As in a scenario, a size is a number of bytes, too.
#[test]
fn sizes_may_be_whole_bytes() {
    let folder = folder();
    let report = "[report]\nsize_bins = [2000, \"5KB\"]\nsmall_up_to = 2000\nlarge_above = 5000\n";
    let text = format!("{ONE}{report}{}", claim("above = 1000\nup_to = \"1GB\""));
    let output = sweep(folder.path(), &text, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let printed = out(&output);
    assert!(printed.contains("small flows (up to 2.00 kB)") && printed.contains("(over 5.00 kB)"), "{printed}");
    let data = fs::read_to_string(folder.path().join("out/sweep.csv")).expect("data");
    assert!(data.contains(",flows[2000..5000],0\n"), "{data}");
}

/// The base is fine by itself: what made it wrong is to blame, a line of the sweep or the command line.
#[test]
fn settings_that_spoil_the_base_are_named() {
    let with = |pair: &str| {
        let text = format!("{TWO}[[variant]]\nname = \"c\"\nset = [\"run.seed=1\", \"{pair}\"]\n");
        refusal(&text.replace("seeds = [4, 5]\n", ""), &[])
    };
    let why = "traffic.0.dst: dst is node 9, but there are only nodes 0 to 3; expected a host";
    let printed = with("traffic.0.dst=9");
    assert!(printed.ends_with(&format!("sweep.toml:10: {why}\n")), "{printed}");
    let printed = refusal(TWO, &["--set", "traffic.0.dst=9"]);
    assert!(printed.ends_with(&format!("--set: {why}\n")), "{printed}");
}

#[test]
fn claims_have_verdicts_and_a_quick_form_has_its_own_seeds_and_settings() {
    let folder = folder();
    // Both flows of the canned results take 20 us where 10 us would do.
    let claim = |at_most: f64, direction: f64| {
        format!(
            "[[claim]]\ntext = \"Flows are quick\"\nexpected = \"1.5\"\nmeasure = \"slowdown\"\npercentile = 99\nof = \"plain\"\n\
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
    assert_eq!((&full["claims"][1]["measured"], &full["claims"][1]["spread"]), (&2.0.into(), &0.0.into()));
    assert!(full["claims"][0]["reason"].is_null() && full["claims"][1]["reason"] == "full", "{full}");
    let quick = verdicts(&["--quick"]);
    assert_eq!((&quick["form"], &quick["cost"]["runs"]), (&"quick".into(), &2.into()));
    assert_eq!((&quick["deviations"][0], &quick["claims"][2]["reason"]), (&"shorter".into(), &"small".into()));
    let printed = fs::read_to_string(folder.path().join("out/plain/seed-9.log")).expect("log");
    assert!(printed.contains("argument --set=run.stop=2ms\n"), "{printed}");
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

/// What the file wishes of figures is in their SVG, their data and the script beside them.
#[test]
fn figures_follow_the_wishes_of_the_file_and_have_their_data_beside_them() {
    let folder = folder();
    let wishes = "[[figure]]\nwidth_mm = 120\nheight_mm = 60\nfont = \"Times\"\n\
        [[figure]]\nplot = \"slowdown-by-size\"\npanel = 2\ny_scale = \"log\"\ny_range = [1, 50]\n";
    let text = TWO.replace("name = \"plain\"", "name = \"plain\"\nlabel = \"HPCC (eta 0.95)\"") + wishes;
    let output = sweep(folder.path(), &text, &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("HPCC (eta 0.95)"), "{}", out(&output));
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).expect(name);
    let svg = read("slowdown-by-size.svg");
    for words in
        ["width=\"120mm\" height=\"60mm\"", "Times", "HPCC (eta 0.95)", "&lt; 10 flows above", "99th percentile"]
    {
        assert!(svg.contains(words), "no {words}: {svg}");
    }
    assert!(!svg.contains("Median slowdown"), "the first chart is left out");
    let csv = read("slowdown-by-size.plot.csv");
    let row = "99th percentile of the slowdown,HPCC (eta 0.95),100000,2,2,2,1\n";
    assert!(csv.starts_with("chart,line,x,value,low,high,few_flows\n") && csv.contains(row), "{csv}");
    let script = read("slowdown-by-size.plot.py");
    assert!(
        script.contains("\"yscale\":\"log\"") && script.contains("\"ylim\":[1.0,50.0]") && !script.contains("# CHARTS"),
        "{script}"
    );
    assert!(
        read("queue-cdf.svg").contains("Times") && read("sweep.csv").contains("\nplain,,4,"),
        "all plots; names in data"
    );

    let report =
        hpcc(&["report", "out/plain/seed-4", "--data"]).current_dir(folder.path()).output().expect("hpcc starts");
    let plain = |name: &str| folder.path().join("out/plain/seed-4").join(name);
    assert!(plain("slowdown.plot.csv").exists() && plain("queue.plot.py").exists(), "{}", err(&report));
    hpcc(&["report", "out/plain/seed-4"]).current_dir(folder.path()).output().expect("hpcc starts");
    assert!(!plain("slowdown.plot.csv").exists(), "it would be of an earlier plot");
    let wrong = sweep(folder.path(), &text.replace("panel = 2", "panel = 3"), &[], &[]);
    let expected = "sweep.toml:16: panel is 3, and \"Slowdown by flow size\" has 2";
    assert!(wrong.status.code() == Some(1) && err(&wrong).contains(expected), "{}", err(&wrong));
    for (wish, expected) in [
        ("width_mm = 5", "width_mm is 5; expected 20 to 1000"),
        ("height_mm = 50", "expected width_mm beside it"),
        ("y_range = [3, 3]", "y_range is [3, 3]; expected the lower end first"),
        ("y_scale = \"log\"\ny_range = [0, 3]", "and above 0 on a logarithmic axis"),
        ("font = \"a<b\"", "expected the name of a family"),
        ("plot = \"slowdown\"", "unknown name \"slowdown\""),
        ("title = \" \"", "title is \" \"; expected up to 120 letters in a line"),
    ] {
        let printed = refusal(&format!("{ONE}[[figure]]\n{wish}\n"), &[]);
        assert!(printed.contains("sweep.toml:") && printed.contains(expected), "{printed} lacks {expected}");
    }
    let label = ONE.replace("name = \"a\"", "name = \"a\"\nlabel = \" \"");
    assert!(refusal(&label, &[]).contains("sweep.toml:5: label is \" \""), "{}", refusal(&label, &[]));
}

/// Heading, labels and legend are the file's words; one line has no legend; a range that shows nothing is named.
#[test]
fn figures_have_the_words_of_the_file_and_no_empty_plot() {
    let folder = folder();
    let wishes = "[report]\nplots = [\"slowdown-by-size\"]\n\
        [[figure]]\nplot = \"slowdown-by-size\"\npanel = 2\ntitle = \"Tails\"\nx_label = \"Size (B)\"\n\
        y_label = \"Tail (1)\"\nlegend = { plain = \"HPCC\", marked = \"DCTCP\" }\n";
    let run = |text: &str, more: &[&str]| {
        let output = sweep(folder.path(), text, more, &[]);
        (output.status.code(), err(&output), fs::read_to_string(folder.path().join("out/slowdown-by-size.svg")))
    };
    let (code, told, svg) = run(&format!("{TWO}{wishes}"), &[]);
    let svg = svg.unwrap_or_else(|_| panic!("no plot: {told}"));
    let lacks =
        |svg: &str| ["Tails", "Size (B)", "Tail (1)", "HPCC", "DCTCP"].into_iter().find(|words| !svg.contains(words));
    assert_eq!((code, lacks(&svg)), (Some(0), None), "{told}");

    let (code, told, svg) = run(&format!("{TWO}{wishes}"), &["--only", "plain"]);
    let svg = svg.unwrap_or_else(|_| panic!("no plot: {told}"));
    assert!(
        code == Some(0) && svg.contains("; HPCC") && svg.matches("HPCC").count() == 1,
        "no legend of one line: {svg}"
    );

    let (code, told, svg) = run(&format!("{TWO}{wishes}x_range = [1, 2]\n"), &[]);
    assert!(code == Some(0) && svg.is_err(), "{told}");
    let expected = "sweep.toml:18: x_range [1, 2] leaves nothing of \"Tails\"";
    assert!(told.contains(expected) && told.contains(": no slowdown-by-size"), "{told}");

    let (code, told, _) = run(&format!("{TWO}{}", wishes.replace("plain = ", "plane = ")), &[]);
    assert!(code == Some(1) && told.contains("\"Tails\" has no line \"plane\""), "{told}");
    let (code, told, _) = run(&format!("{TWO}{}", wishes.replace("panel = 2\n", "")), &[]);
    assert!(code == Some(1) && told.contains("has 2 charts; expected panel beside it"), "{told}");
}

/// `--only` runs a part, says what it leaves out, and judges the claims on that part.
#[test]
fn a_part_of_a_sweep_is_told_as_such() {
    let folder = folder();
    let claim = |of: &str| {
        format!(
            "[[claim]]\ntext = \"t\"\nexpected = \"p\"\nmeasure = \"slowdown\"\nof = \"{of}\"\nholds = {{ at_most = 9 }}\n"
        )
    };
    let text = format!("{TWO}{}{}", claim("plain"), claim("marked"));
    let output = sweep(folder.path(), &text, &["--only", "marked,seed=5"], &[]);
    let told = err(&output);
    assert!(output.status.code() == Some(0) && told.contains("--only: 1 run; left out: 3 runs and 1 claim"), "{told}");
    assert!(out(&output).starts_with("Two (only marked, seed=5)\n"), "{}", out(&output));
    let root = folder.path().join("out");
    let data = fs::read_to_string(root.join("sweep.csv")).expect("data");
    assert!(data.lines().skip(1).all(|row| row.starts_with("marked,,5,")), "{data}");
    assert!(!root.join("plain").exists());
    let whole = sweep(folder.path(), &text, &[], &[]);
    assert!(err(&whole).contains("kept") && out(&whole).starts_with("Two\n"), "{}", err(&whole));
    let told = refusal(&text, &["--only", "fast"]);
    assert!(
        told.contains("--only fast: no such variant, value or seed; expected plain | marked | seed=4 | seed=5"),
        "{told}"
    );
}
