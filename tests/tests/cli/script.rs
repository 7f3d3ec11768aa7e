// SPDX-License-Identifier: GPL-2.0-only
//! The script `hpcc`: help and mistakes need no ns-3, and do nothing.

use hpcc_tests::{Bench, TOML, Told, script};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs the script where there is no ns-3 tree, and checks that it has not begun to get one.
#[track_caller]
fn told(arguments: &[&str]) -> Told {
    let bench = Bench::new(&[]);
    let mut command = script();
    command.args(arguments).current_dir(bench.path("")).env("HPCC_CACHE", bench.path("cache"));
    for variable in ["NS3_DIR", "HPCC_SCENARIO_PROGRAM", "HPCC_ANALYSIS_PROGRAM"] {
        command.env_remove(variable);
    }
    let told = Told::from(command.output().expect("the script starts"));
    assert!(!bench.path("cache").exists() && !told.err.contains("ns-3"), "{arguments:?}: {}", told.err);
    told
}

#[test]
fn every_command_has_help() {
    let all = told(&["--help"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    let (_, list) = all.out.split_once("Commands:\n").expect("commands");
    let commands: Vec<&str> =
        list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(["run", "test", "build", "fuzz", "reqs"].iter().all(|name| commands.contains(name)), "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "help") {
        let help = told(&[name, "--help"]);
        assert_eq!(help.code, Some(0), "{name}: {}", help.err);
        assert!(help.out.contains("Usage: ./hpcc"), "{name}: {}", help.out);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure_of_a_test() {
    let reqs = || format!("{} reqs", script().get_program().display());
    let shell = |line: String| Told::from(Command::new("bash").args(["-c", &line]).output().expect("bash starts"));
    let all = shell(reqs());
    assert_eq!(all.code, Some(0), "{}", all.err);
    assert!(all.out.contains("claimed, and shown outside the core:"), "{}", all.out);
    let none = shell(format!("{} | true", reqs()));
    assert!(!none.err.contains("panicked"), "{}", none.err);
}

#[test]
fn the_versions_are_told() {
    let version = told(&["--version"]);
    assert_eq!(version.code, Some(0), "{}", version.err);
    let lines: Vec<&str> = version.out.lines().collect();
    assert!(lines[0].starts_with(concat!("hpcc ", env!("CARGO_PKG_VERSION"))), "{lines:?}");
    assert!(lines[1].starts_with("ns-3 ") && lines.len() == 2, "{lines:?}");
    assert_eq!(lines[1].ends_with(" of the distribution; ./hpcc build fetches a tree"), has_libraries(), "{lines:?}");
    let bench = Bench::new(&[]);
    fake_tree(&bench, "tree", "/elsewhere");
    let with_tree = in_folder(&bench, &["--version"], &[("NS3_DIR", "tree")]);
    assert!(with_tree.out.ends_with("\nns-3 3.99 in tree\n"), "{}", with_tree.out);
}

#[test]
fn mistakes_are_explained_before_anything_is_built() {
    for (arguments, words) in [
        (&["runn"][..], "a similar subcommand exists: 'run'"),
        (&["build", "--fast"], "--fast"),
        (&["reqs", "all"], "all"),
        (&["docs", "--silent"], "--silent"),
        (&["dist", "--fast"], "--fast"),
        (&["run", "nowhere.toml"], "nowhere.toml: no such file"),
        (&["completions", "tcsh"], "tcsh"),
        (&["run"], "<CONFIG>"),
        (&["test", "--fast"], "--fast"),
        (&["test", "--profile", "fast"], "[possible values: sanitize, debug, release, static, monolib]"),
        (&["test", "--parity"], "--ns3 <DIR>..."),
        (&["fuzz", "long"], "long"),
        (&["bench", "--runs", "0"], "--runs"),
        (&["sweep", "nowhere.toml"], "nowhere.toml"),
    ] {
        let mistake = told(arguments);
        assert_eq!(mistake.code, Some(2), "{arguments:?}: {}", mistake.err);
        assert!(mistake.err.contains(words), "{arguments:?}: {}", mistake.err);
    }
}

#[test]
fn only_ns3_trees_are_tested_and_only_the_fetched_one_in_other_profiles() {
    let bench = Bench::new(&[]);
    for (arguments, words) in [
        (["test", "--ns3", "/dev"], "/dev is no ns-3 tree"),
        (["test", "--profile", "static"], "NS3_DIR is set, but profiles are those of the fetched ns-3 tree"),
    ] {
        let refused = in_folder(&bench, &arguments, &[("NS3_DIR", "tree")]);
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.err);
        assert!(refused.err.contains(words), "{arguments:?}: {}", refused.err);
    }
}

/// Whether Debian's compiled ns-3 is installed here.
fn has_libraries() -> bool {
    let query = ["-W", "-f", "${db:Status-Status} ", "libns3-dev", "ns3"];
    Command::new("dpkg-query").args(query).output().is_ok_and(|output| output.stdout == b"installed installed ")
}

/// A folder where pip has installed ns-3, as far as CMake can tell; `also` ends what CMake reads of it.
fn fake_installation(bench: &Bench, also: &str) {
    fs::create_dir_all(bench.path("installed/ns3/lib64/cmake/ns3")).expect("a folder");
    let targets: String = ["core", "network"]
        .iter()
        .map(|module| {
            let properties = "IMPORTED_LOCATION /nowhere.so INTERFACE_INCLUDE_DIRECTORIES /nowhere";
            format!(
                "add_library(ns3::{module} SHARED IMPORTED)\nset_target_properties(ns3::{module} PROPERTIES {properties})\n"
            )
        })
        .collect();
    let config = format!("set(ns3_VERSION 3.99)\n{targets}{also}\n");
    bench.write("installed/ns3/lib64/cmake/ns3/ns3Config.cmake", &config);
}

#[test]
fn the_module_is_built_beside_an_installed_ns3() {
    let bench = Bench::new(&[]);
    fake_installation(&bench, "message(FATAL_ERROR \"an installation that lacks something\")");
    let broken = in_folder(&bench, &["test", "--ns3", "installed"], &[]);
    assert_eq!(broken.code, Some(1), "{}", broken.err);
    assert!(broken.err.contains("an installation that lacks something"), "{}", broken.err);
    assert!(broken.err.contains("hpcc: failed:") && broken.err.contains("/installed"), "{}", broken.err);

    fake_installation(&bench, "");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../ns3-module/installed");
    let place = format!("-Dns3_DIR={}", bench.path("installed/ns3/lib64/cmake/ns3").display());
    let configure = ["-G", "Ninja", "-S", source, "-B", "built", &place];
    for (program, arguments) in [("cmake", &configure[..]), ("ninja", &["-C", "built", "-t", "commands", "all"])] {
        let done = Command::new(program).args(arguments).current_dir(bench.path("")).output().expect(program);
        let out = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{out}{}", String::from_utf8_lossy(&done.stderr));
        let steps = ["hpcc-scenario", "hpcc-two-flows", "test-runner", "libhpcc.so"];
        assert!(program == "cmake" || steps.iter().all(|step| out.contains(step)), "{out}");
    }
}

/// The script in a folder with these variables, and without others that name trees and programs.
fn in_folder(bench: &Bench, arguments: &[&str], variables: &[(&str, &str)]) -> Told {
    let mut command = script();
    for variable in ["NS3_DIR", "HPCC_SCENARIO_PROGRAM", "HPCC_ANALYSIS_PROGRAM"] {
        command.env_remove(variable);
    }
    command.args(arguments).current_dir(bench.path("")).env("HPCC_CACHE", bench.path("cache"));
    Told::from(command.envs(variables.iter().copied()).output().expect("the script starts"))
}

/// Builds in a tree, with a package manager that has no network, and ends like this.
fn with_apt_get(bench: &Bench, end: &str, variables: &[(&str, &str)]) -> Told {
    bench.write("apt-get", &format!("#!/bin/sh\necho 'E: no network' >&2\n{end}\n"));
    executable(bench, "apt-get");
    let path = format!("{}:{}", bench.path("").display(), std::env::var("PATH").expect("PATH"));
    in_folder(bench, &["build"], &[&[("PATH", path.as_str())], variables].concat())
}

fn executable(bench: &Bench, name: &str) {
    fs::set_permissions(bench.path(name), fs::Permissions::from_mode(0o755)).expect(name);
}

/// What the script takes for an ns-3 tree that CMake has configured at `place`. Nothing can be built in it.
fn fake_tree(bench: &Bench, name: &str, place: &str) {
    for folder in ["contrib", "scratch", "cmake-cache"] {
        fs::create_dir_all(bench.path(name).join(folder)).expect(folder);
    }
    bench.write(&format!("{name}/ns3"), "#!/bin/sh\necho 'a fake tree'\nexit 1\n");
    executable(bench, &format!("{name}/ns3"));
    bench.write(&format!("{name}/VERSION"), "3.99\n");
    bench.write(&format!("{name}/cmake-cache/CMakeCache.txt"), &format!("CMAKE_HOME_DIRECTORY:INTERNAL={place}\n"));
}

#[test]
fn a_first_start_without_a_network_says_so_and_leaves_nothing() {
    let bench = Bench::new(&[]);
    let offline = with_apt_get(&bench, "exit 100", &[]);
    assert_eq!(offline.code, Some(1), "{}", offline.err);
    assert!(offline.err.contains("E: no network") && offline.err.contains("ns-3 cannot be fetched"), "{}", offline.err);
    assert!(!offline.err.contains("unbound") && !bench.path("cache").exists(), "{}", offline.err);
    assert!(offline.err.contains("fetching the distribution's source package"), "{}", offline.err);
    let quiet = with_apt_get(&bench, "exit 100", &[("HPCC_QUIET", "1")]);
    assert!(quiet.err.contains("ns-3 cannot be fetched") && !quiet.err.contains("fetching the"), "{}", quiet.err);
}

#[test]
fn what_a_killed_fetch_left_is_cleaned_up() {
    let bench = Bench::new(&[]);
    fs::create_dir_all(bench.path("cache/fetch.killed/tree")).expect("folder");
    bench.write("cache/mine", "kept");
    let told = with_apt_get(&bench, "exit 100", &[]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    let left: Vec<_> =
        fs::read_dir(bench.path("cache")).expect("cache").map(|entry| entry.expect("entry").file_name()).collect();
    assert_eq!(left, ["mine"]);
}

#[test]
fn an_archive_of_ns_3_that_was_changed_is_refused() {
    for (version, words) in
        [("3.37", ["; expected dfa5ca1994ff", ""]), ("9.99", ["that this was not tested with", "cannot be unpacked"])]
    {
        let bench = Bench::new(&[]);
        let file = format!("ns3_{version}.orig.tar.bz2");
        let told = with_apt_get(&bench, &format!("case \"$*\" in *source*) echo changed >{file};; esac"), &[]);
        assert_eq!(told.code, Some(1), "{}", told.err);
        assert!(told.err.contains(&file) && words.iter().all(|words| told.err.contains(words)), "{}", told.err);
        assert!(!bench.path("cache").exists(), "{}", told.err);
    }
}

#[test]
fn a_cache_that_was_moved_is_noticed() {
    let bench = Bench::new(TOML);
    fake_tree(&bench, "cache/ns-3", "/elsewhere/ns-3");
    bench.write("cache/ns-3/cmake-cache/hpcc-configured", "as before");
    let told = in_folder(&bench, &["run", "scenario.toml"], &[]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    let words = "was built as /elsewhere/ns-3, and moved or copied since: building it again";
    assert!(told.err.contains(words) && told.err.contains("ns-3 cannot be configured"), "{}", told.err);
    assert!(!bench.path("cache/ns-3/cmake-cache/CMakeCache.txt").exists());

    fake_tree(&bench, "own", "/elsewhere/own");
    let told = in_folder(&bench, &["run", "scenario.toml"], &[("NS3_DIR", "own")]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.err.contains("run './ns3 clean'"), "{}", told.err);
    assert!(bench.path("own/cmake-cache/CMakeCache.txt").exists(), "a user's tree is left alone");

    let place = bench.path("still");
    fake_tree(&bench, "still", place.to_str().expect("path"));
    let told = in_folder(&bench, &["run", "scenario.toml"], &[("NS3_DIR", "still")]);
    assert!(!told.err.contains("moved"), "{}", told.err);
}

#[test]
fn a_first_run_builds_command_and_simulator_side_by_side() {
    let bench = Bench::new(TOML);
    fake_tree(&bench, "tree", bench.path("tree").to_str().expect("path"));
    bench.write("tree/ns3", "#!/bin/sh\ntouch ../begun\nexit 1\n");
    // It ends when the other build has begun, or after half a minute.
    bench.write(
        "cargo",
        "#!/bin/sh\nfor i in $(seq 300); do [ ! -f ${0%/*}/begun ] || exit 1; sleep 0.1; done\necho late >&2\nexit 1\n",
    );
    executable(&bench, "cargo");
    let path = format!("{}:{}", bench.path("").display(), std::env::var("PATH").expect("PATH"));
    let variables = [("NS3_DIR", "tree"), ("CARGO_TARGET_DIR", "nothing"), ("PATH", &path)];
    let both = in_folder(&bench, &["run", "scenario.toml"], &variables);
    assert_eq!(both.code, Some(1), "{}", both.err);
    for words in ["the hpcc command cannot be built", "ns-3 cannot be configured"] {
        assert!(both.err.contains(words) && !both.err.contains("late"), "{}", both.err);
    }
    fs::remove_file(bench.path("begun")).expect("begun");
    bench.write("cargo", "#!/bin/sh\nexit 1\n");
    for arguments in [&["run", "nowhere.toml"][..], &["run", "scenario.toml", "--help"], &["explain", "scenario.toml"]]
    {
        let told = in_folder(&bench, arguments, &variables);
        assert!(told.err.contains("cannot be built") && !bench.path("begun").exists(), "{arguments:?}: {}", told.err);
    }
}

#[test]
fn surroundings_that_cannot_be_used_are_explained() {
    let bench = Bench::new(TOML);
    for (variables, code, words) in [
        (&[("HPCC_JOBS", "abc")][..], 2, "HPCC_JOBS is \"abc\"; expected a whole number"),
        (&[("HPCC_JOBS", "0")], 2, "HPCC_JOBS is \"0\""),
        (&[("HPCC_CACHE", "/proc/nowhere")], 1, "the folder /proc/nowhere cannot be made"),
        (&[("NS3_DIR", "/nowhere")], 1, "/nowhere is no ns-3 tree"),
        (&[("HPCC_CACHE", ""), ("HOME", ""), ("XDG_CACHE_HOME", "")], 1, "neither HOME nor HPCC_CACHE"),
    ] {
        let told = in_folder(&bench, &["run", "scenario.toml"], variables);
        assert_eq!(told.code, Some(code), "{variables:?}: {}", told.err);
        assert!(told.err.contains(words), "{variables:?}: {}", told.err);
    }
    let homeless = in_folder(&bench, &["--version"], &[("HPCC_CACHE", ""), ("HOME", ""), ("XDG_CACHE_HOME", "")]);
    assert_eq!(homeless.code, Some(0), "{}", homeless.err);
}

#[test]
fn doctor_tells_what_there_is_and_what_is_missing() {
    let bench = Bench::new(&[]);
    fake_tree(&bench, "tree", "/elsewhere");
    let all = in_folder(&bench, &["doctor"], &[("NS3_DIR", "tree"), ("HPCC_TCP", "1")]);
    assert_eq!(all.code, Some(0), "{}{}", all.out, all.err);
    for words in ["hpcc 0", "cargo  ", "cmake  ", "3.99 in tree", "moved or copied", "not built yet", "HPCC_TCP     1"]
    {
        assert!(all.out.contains(words), "{words}: {}", all.out);
    }
    let none = told(&["doctor"]);
    let words = if has_libraries() {
        "of the distribution; ./hpcc build fetches a tree"
    } else {
        "none yet: ./hpcc run gets it"
    };
    assert!(none.out.contains(words) && none.out.contains("not built yet"), "{}", none.out);
    // The script looks for Rust in the home folder, and this one has none.
    let home = bench.path("").display().to_string();
    let bare = in_folder(&bench, &["doctor"], &[("PATH", "/usr/bin:/bin"), ("HOME", &home)]);
    assert_eq!(bare.code, Some(1), "{}", bare.out);
    assert!(bare.out.contains("cargo        MISSING") && bare.out.contains("rustup"), "{}", bare.out);
    let stuck = in_folder(&bench, &["doctor"], &[("NS3_DIR", "/nowhere")]);
    assert_eq!(stuck.code, Some(1), "{}", stuck.out);
    assert!(stuck.out.contains("/nowhere is NO ns-3 tree"), "{}", stuck.out);
}

/// As a shell does it: the words of a command line, the last of which is being typed.
#[test]
fn bash_completes_commands_and_keys() {
    let bench = Bench::new(&[]);
    let asks = "source <($1 completions bash); COMP_WORDS=(hpcc \"${@:2}\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9\n\
                _clap_complete_hpcc hpcc \"${@: -1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let complete = |words: &[&str]| {
        let mut command = Command::new("bash");
        command.args(["-c", asks, "bash"]).arg(script().get_program()).args(words);
        let told = Told::from(command.env("HPCC_CACHE", bench.path("cache")).output().expect("bash starts"));
        told.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["swe"]), ["sweep"]);
    assert_eq!(complete(&["run", "x.toml", "--set", "congestion_control.et"]), ["congestion_control.eta="]);
    assert_eq!(complete(&["explain", "transport.mt"]), ["transport.mtu"]);
    for shell in ["zsh", "fish"] {
        let printed = told(&["completions", shell]);
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        assert!(printed.out.contains("hpcc") && printed.out.contains("COMPLETE"), "{}", printed.out);
    }
    assert!(!bench.path("cache").exists());
}
