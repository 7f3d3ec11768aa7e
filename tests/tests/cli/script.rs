// SPDX-License-Identifier: GPL-2.0-only
//! The script `hpcc`: help and mistakes need no ns-3, and do nothing; what it cannot get is explained.

use hpcc_tests::{Bench, ProcessOutput, TOML, script};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs the script where there is no ns-3 tree, and checks that it has not begun to get one.
#[track_caller]
fn output_of(arguments: &[&str]) -> ProcessOutput {
    let bench = Bench::new(&[]);
    let output = in_folder(&bench, arguments, &[]);
    assert!(!bench.path("cache").exists() && !output.err.contains("ns-3"), "{arguments:?}: {}", output.err);
    output
}

/// The script in a folder with these variables, and without others that name trees and programs.
fn in_folder(bench: &Bench, arguments: &[&str], variables: &[(&str, &str)]) -> ProcessOutput {
    let mut command = script();
    for variable in ["NS3_DIR", "HPCC_SCENARIO_PROGRAM", "HPCC_ANALYSIS_PROGRAM"] {
        command.env_remove(variable);
    }
    command.args(arguments).current_dir(bench.path("")).env("HPCC_CACHE", bench.path("cache"));
    ProcessOutput::from(command.envs(variables.iter().copied()).output().expect("the script starts"))
}

/// Writes a program, and returns a PATH on which it comes first.
fn program(bench: &Bench, name: &str, text: &str) -> String {
    bench.write(name, text);
    fs::set_permissions(bench.path(name), fs::Permissions::from_mode(0o755)).expect(name);
    format!("{}:{}", bench.path("").display(), std::env::var("PATH").expect("PATH"))
}

/// A folder that looks like an ns-3 tree configured by CMake at `place`. Nothing can be built in it.
fn fake_tree(bench: &Bench, name: &str, place: &str) {
    for folder in ["contrib", "scratch", "cmake-cache"] {
        fs::create_dir_all(bench.path(name).join(folder)).expect(folder);
    }
    program(bench, &format!("{name}/ns3"), "#!/bin/sh\necho 'a fake tree'\nexit 1\n");
    bench.write(&format!("{name}/VERSION"), "3.99\n");
    bench.write(&format!("{name}/cmake-cache/CMakeCache.txt"), &format!("CMAKE_HOME_DIRECTORY:INTERNAL={place}\n"));
}

#[test]
fn commands_of_users_and_of_developers_have_help() {
    let users = output_of(&["--help"]);
    assert_eq!(users.code, Some(0), "{}", users.err);
    assert!(["run", "sweep", "build"].iter().all(|name| users.out.contains(&format!("\n  {name} "))), "{}", users.out);
    assert!(!users.out.contains("\n  parity "), "{}", users.out);
    for name in ["run", "build", "test", "docs", "reqs", "parity", "bench", "fuzz", "audit", "dist"] {
        let help = output_of(&[name, "--help"]);
        assert_eq!(help.code, Some(0), "{name}: {}", help.err);
        assert!(help.out.contains(&format!("Usage: ./hpcc {name}")), "{name}: {}", help.out);
    }
}

#[test]
fn the_versions_are_told() {
    let bench = Bench::new(&[]);
    fake_tree(&bench, "tree", "/elsewhere");
    let with_tree = in_folder(&bench, &["--version"], &[("NS3_DIR", "tree")]);
    assert!(with_tree.out.starts_with(concat!("hpcc ", env!("CARGO_PKG_VERSION"))), "{}", with_tree.out);
    assert!(with_tree.out.ends_with("/tree\n") && with_tree.out.contains("\nns-3 3.99 in /"), "{}", with_tree.out);
    let homeless = in_folder(&bench, &["--version"], &[("HPCC_CACHE", ""), ("HOME", ""), ("XDG_CACHE_HOME", "")]);
    assert_eq!(homeless.code, Some(0), "{}", homeless.err);
}

#[test]
fn mistakes_are_explained_before_anything_is_built() {
    for (arguments, words) in [
        (&["runn"][..], "a similar subcommand exists: 'run'"),
        (&["run", "nowhere.toml"], "nowhere.toml: no such file"),
        (&["completions", "tcsh"], "tcsh"),
        (&["test", "--profile", "fast"], "[possible values: sanitize, debug, release, static, monolib]"),
        (&["test", "--parity"], "--ns3 <DIR>..."),
        (&["fuzz", "long"], "long"),
        (&["fuzz", "1", "nothing"], "there is no fuzz target nothing; there are scenarios, "),
        (&["bench", "--runs", "0"], "--runs"),
        (&["bench", "--hosts", "16"], "--suite"),
        (&["bench", "--suite", "--hosts", "100"], "expected some of 16, 128"),
        (&["bench", "--reference", "none"], "none: no such file"),
        (&["docs", "--check"], "--runs"),
        (&["docs", "--runs", "nosuchpage"], "--runs: no page shows a command with nosuchpage"),
        (&["parity", "--data", "none"], "none: expected a folder as tests/golden"),
        (&["sweep", "nowhere.toml"], "nowhere.toml"),
    ] {
        let mistake = output_of(arguments);
        assert_eq!(mistake.code, Some(2), "{arguments:?}: {}", mistake.err);
        assert!(mistake.err.contains(words), "{arguments:?}: {}", mistake.err);
    }
}

/// A program of the user's own is built from where it is, and one that has the name of another is not.
#[test]
fn programs_are_found_in_the_users_folder() {
    let bench = Bench::new(&[]);
    let text = "#include \"ns3/qbb-helper.h\"\n#include <iostream>\nint main()\n{\n    std::cout << \"mine\";\n}\n";
    bench.write("hpcc-users-own.cc", text);
    bench.write("hpcc-incast.cc", text);
    let build = |name: &str| {
        let output = script().args(["build", name]).current_dir(bench.path("")).output().expect("the script starts");
        ProcessOutput::from(output)
    };
    for name in ["hpcc-users-own", "hpcc-users-own.cc"] {
        let built = build(name);
        assert_eq!(built.code, Some(0), "{name}: {}", built.err);
        let ran = Command::new(built.out.trim_end()).output().expect("the program starts");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "mine");
    }
    for (name, words) in [("hpcc-incast", "another program hpcc-incast.cc already"), ("nosuch", "no program nosuch")] {
        let refused = build(name);
        assert!(refused.code == Some(2) && refused.err.contains(words), "{name}: {}", refused.err);
    }
}

#[test]
fn without_a_network_or_with_a_changed_archive_nothing_is_left() {
    for (end, words) in [
        ("exit 100", &["E: no network", "fetching the distribution's source package", "ns-3 cannot be fetched"][..]),
        ("echo changed >ns3_3.37.orig.tar.bz2", &["ns3_3.37.orig.tar.bz2 has the SHA-256", "; expected dfa5ca1994ff"]),
        ("echo other >ns3_9.99.orig.tar.bz2", &["that this was not tested with", "holds no ns-3 tree"]),
    ] {
        let bench = Bench::new(&[]);
        let apt_get =
            format!("#!/bin/sh\necho 'E: no network' >&2\ncase \"$*\" in *source*) {end};; *) exit 100;; esac\n");
        let path = program(&bench, "apt-get", &apt_get);
        let output = in_folder(&bench, &["build"], &[("PATH", &path)]);
        assert_eq!(output.code, Some(1), "{}", output.err);
        assert!(words.iter().all(|words| output.err.contains(words)), "{}", output.err);
        assert!(!bench.path("cache").exists(), "{}", output.err);
        let quiet = in_folder(&bench, &["build", "-q"], &[("PATH", &path)]);
        assert!(!quiet.err.contains("fetching the"), "{}", quiet.err);
    }
}

#[test]
fn a_copy_of_a_program_takes_its_place_in_the_tree() {
    let bench = Bench::new(&[]);
    fake_tree(&bench, "tree", "/elsewhere");
    bench.write("tree/scratch/hpcc-incast.cc", "mine");
    let told = in_folder(&bench, &["build"], &[("NS3_DIR", "tree")]);
    assert!(told.err.contains("ns-3 cannot be configured"), "{}", told.err);
    assert_eq!(bench.read("tree/scratch/hpcc-incast.cc"), "mine");
    assert!(bench.path("tree/scratch/hpcc-scenario.cc").is_symlink());
}

#[test]
fn surroundings_that_cannot_be_used_are_explained() {
    let bench = Bench::new(TOML);
    for (variables, code, words) in [
        (&[("HPCC_JOBS", "abc")][..], 2, "HPCC_JOBS is \"abc\"; expected a whole number"),
        (&[("HPCC_JOBS", "0")], 2, "HPCC_JOBS is \"0\""),
        (&[("HPCC_CACHE", "/proc/nowhere")], 1, "the folder /proc/nowhere cannot be made or written to"),
        (&[("NS3_DIR", "/nowhere")], 2, "/nowhere is no ns-3 tree"),
        (&[("HPCC_CACHE", ""), ("HOME", ""), ("XDG_CACHE_HOME", "")], 1, "neither HOME nor HPCC_CACHE"),
    ] {
        let output = in_folder(&bench, &["run", "scenario.toml", "--simulator", "ns3"], variables);
        assert_eq!(output.code, Some(code), "{variables:?}: {}", output.err);
        assert!(output.err.contains(words), "{variables:?}: {}", output.err);
    }
}

#[test]
fn doctor_tells_what_there_is_and_what_is_missing() {
    let bench = Bench::new(&[]);
    fake_tree(&bench, "tree", "/elsewhere");
    let home = bench.path("").display().to_string();
    // The script looks for Rust in the home folder, and this one has none.
    for (variables, code, words) in [
        (
            &[("NS3_DIR", "tree"), ("HPCC_JOBS", "1")][..],
            0,
            &["cmake  ", "3.99 in /", "not built yet", "HPCC_JOBS    1"][..],
        ),
        (&[("PATH", "/usr/bin:/bin"), ("HOME", &home)], 1, &["cargo        MISSING", "rustup"]),
        (&[("NS3_DIR", "/nowhere")], 1, &["/nowhere is no ns-3 tree"]),
    ] {
        let output = in_folder(&bench, &["doctor"], variables);
        assert_eq!(output.code, Some(code), "{}{}", output.out, output.err);
        assert!(words.iter().all(|words| output.out.contains(words)), "{}", output.out);
    }
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
        let output = ProcessOutput::from(command.env("HPCC_CACHE", bench.path("cache")).output().expect("bash starts"));
        output.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["swe"]), ["sweep"]);
    assert_eq!(complete(&["run", "x.toml", "--set", "congestion_control.et"]), ["congestion_control.eta="]);
    assert_eq!(complete(&["explain", "transport.mt"]), ["transport.mtu"]);
    for shell in ["zsh", "fish"] {
        let printed = output_of(&["completions", shell]);
        assert_eq!(printed.code, Some(0), "{}", printed.err);
        assert!(printed.out.contains("hpcc") && printed.out.contains("COMPLETE"), "{}", printed.out);
    }
    assert!(!bench.path("cache").exists());
}
