// SPDX-License-Identifier: GPL-2.0-only
//! What is built is run at once: the script starts cargo only if a source is newer; the command has cmake see to ns-3's part.

use hpcc_tests::{Bench, ProcessOutput, TOML, hpcc, script};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// It notes that it was called, "builds" a command, and lists its sources as cargo does.
const CARGO: &str = r#"#!/bin/sh
echo cargo >>$NOTES
release=$CARGO_TARGET_DIR/release
mkdir -p $release
printf '#!/bin/sh\necho runs' | tee $release/hpcc >$release/hpcc-xtask
echo "$release/hpcc: $PWD/hpcc-core/src/lib.rs $PWD/analysis/src/a\\ file.rs" >$release/hpcc.d
chmod +x $release/hpcc $release/hpcc-xtask
"#;
/// It notes what it was called for, and "builds" a simulator.
const CMAKE: &str = r#"#!/bin/sh
[ "$1" = --build ] || { echo configure >>$NOTES; exit; }
echo build >>$NOTES
echo >$2/hpcc-scenario
chmod +x $2/hpcc-scenario
echo "[1/7] Building CXX object"
"#;
/// Files at which the script looks.
const SOURCES: [&str; 6] = [
    "Cargo.toml",
    "Cargo.lock",
    "hpcc-core/Cargo.toml",
    "analysis/simulate/Cargo.toml",
    "hpcc-core/src/lib.rs",
    "analysis/src/a file.rs",
];

/// A checkout of nothing but names, beside an ns-3 that is as empty.
struct Checkout(Bench);

impl Checkout {
    fn new() -> Checkout {
        let bench = Bench::new(&[("notes", "")]);
        let others =
            ["configs/formats/Cargo.toml", "configs/model/Cargo.toml", "analysis/Cargo.toml", "ns3-module/a.cc"];
        let files = SOURCES.iter().chain(&others).map(|name| format!("tree/{name}"));
        for file in files.chain(["ns-3/lib/cmake/ns3/ns3Config.cmake".into()]) {
            fs::create_dir_all(bench.path(&file).parent().expect("a folder")).expect("folder");
            bench.write(&file, "");
        }
        fs::copy(script().get_program(), bench.path("tree/hpcc")).expect("the script");
        for (name, text) in [("cargo", CARGO), ("cmake", CMAKE)] {
            program(&bench, "bin", name, text);
        }
        Checkout(bench)
    }

    /// The script, or the real command of this checkout, with the fake tools.
    fn with_tools(&self, mut command: Command) -> Command {
        command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", self.0.path("bin").display()));
        command.env("HPCC_CACHE", self.0.path("cache")).env("CARGO_TARGET_DIR", self.0.path("target"));
        command.env("NS3_DIR", self.0.path("ns-3")).env("NOTES", self.0.path("notes"));
        command.env("HPCC_SCRIPT", self.0.path("tree/hpcc"));
        command
    }

    fn script(&self) -> Command {
        self.with_tools(Command::new(self.0.path("tree/hpcc")))
    }

    fn build(&self) -> Command {
        let mut command = self.with_tools(hpcc());
        command.arg("build");
        command
    }

    /// Runs it, and says what was started to build something.
    #[track_caller]
    fn builds(&self, command: &mut Command) -> (String, ProcessOutput) {
        self.0.write("notes", "");
        let told = ProcessOutput::from(command.output().expect("it starts"));
        assert_eq!(told.code, Some(0), "{told:?}");
        (self.0.read("notes").replace('\n', " "), told)
    }
}

fn program(bench: &Bench, folder: &str, name: &str, text: &str) {
    fs::create_dir_all(bench.path(folder)).expect("folder");
    bench.write(&format!("{folder}/{name}"), text);
    fs::set_permissions(bench.path(&format!("{folder}/{name}")), fs::Permissions::from_mode(0o755)).expect(name);
}

#[test]
fn a_command_that_is_older_than_its_sources_is_built_again() {
    let checkout = Checkout::new();
    let builds = || checkout.builds(&mut checkout.script()).0;
    assert_eq!([builds(), builds()], ["cargo ", ""]);
    for name in SOURCES {
        checkout.0.write(&format!("tree/{name}"), "changed");
        assert_eq!([builds(), builds()], ["cargo ", ""], "{name}");
    }
    checkout.0.write("tree/ns3-module/a.cc", "changed");
    assert_eq!(builds(), "");
    // Other settings are another build.
    assert_eq!(checkout.builds(checkout.script().env("RUSTFLAGS", "-g")).0, "cargo ");
    assert_eq!([builds(), builds()], ["cargo ", ""]);
    fs::remove_file(checkout.0.path("tree/analysis/src/a file.rs")).expect("removed");
    assert_eq!(builds(), "cargo ");
}

/// A command that is fresh is not linked anew under a sweep that runs it.
#[test]
fn what_developers_commands_build_is_fresh() {
    let checkout = Checkout::new();
    assert_eq!(checkout.builds(checkout.script().arg("reqs")).0, "cargo ");
    assert_eq!(checkout.builds(&mut checkout.script()).0, "");
}

/// Whether something has to be compiled, cmake knows.
#[test]
fn a_simulator_is_configured_once() {
    let checkout = Checkout::new();
    let (found, told) = checkout.builds(&mut checkout.build());
    assert_eq!(found, "configure build ");
    assert!(told.out.starts_with(&format!("{}/tree-", checkout.0.path("cache").display())), "{told:?}");
    assert!(told.out.ends_with("/hpcc-scenario\n") && told.err.contains("built with ns-3 installed in "), "{told:?}");
    assert_eq!(checkout.builds(&mut checkout.build()).0, "build ");
}

#[test]
fn a_build_is_announced_and_waits_for_another_one_in_words() {
    let checkout = Checkout::new();
    let (_, told) = checkout.builds(&mut checkout.script());
    assert!(told.err.contains("building the hpcc command"), "{}", told.err);
    let (_, told) = checkout.builds(&mut checkout.build());
    for words in ["building the module, a minute or two the first time", "compiling, about 7 steps"] {
        assert!(told.err.contains(words), "{words}: {}", told.err);
    }
    checkout.0.write("tree/Cargo.lock", "changed");
    checkout.0.write("target/release/.cargo-lock", "");
    let folder = fs::read_dir(checkout.0.path("cache"))
        .expect("cache")
        .flatten()
        .find_map(|entry| fs::read_dir(entry.path()).ok()?.flatten().next());
    let folder = folder.expect("a build").path();
    for (file, mut command, words) in [
        (checkout.0.path("target/release/.cargo-lock"), checkout.script(), "another cargo builds in "),
        (folder, checkout.build(), "another hpcc builds in "),
    ] {
        let mut holder = Command::new("flock").arg(file).args(["sleep", "1"]).spawn().expect("flock");
        sleep(Duration::from_millis(300));
        let (_, told) = checkout.builds(&mut command);
        assert!(told.err.contains(words), "{}", told.err);
        holder.wait().expect("it ends");
    }
    let (_, told) = checkout.builds(&mut checkout.script());
    assert!(told.err.is_empty(), "nothing is built, nothing is waited for: {}", told.err);
}

#[test]
fn what_cannot_be_built_again_is_run_as_it_is() {
    let checkout = Checkout::new();
    checkout.builds(&mut checkout.script());
    checkout.builds(&mut checkout.build());
    checkout.0.write("tree/hpcc-core/src/lib.rs", "changed");
    fs::remove_file(checkout.0.path("bin/cargo")).expect("removed");
    let (found, told) = checkout.builds(&mut checkout.script());
    assert!(
        found.is_empty() && told.err.contains("is older than its sources, and cannot be built again here"),
        "{told:?}"
    );
    checkout.0.write("scenario.toml", TOML[0].1);
    let mut run = checkout.with_tools(hpcc());
    run.env_remove("HPCC_SCENARIO_PROGRAM").args(["run", "scenario.toml", "--simulator", "ns3"]);
    let told = ProcessOutput::from(run.current_dir(checkout.0.path("")).output().expect("it starts"));
    assert!(told.err.contains("/hpcc-scenario is taken as it is: it cannot be built again here"), "{told:?}");
}

#[test]
fn an_apostrophe_in_a_path_is_refused() {
    let checkout = Checkout::new();
    let told = checkout.build().env("HPCC_CACHE", checkout.0.path("it's")).output().expect("it starts");
    let told = ProcessOutput::from(told);
    assert!(told.code == Some(2) && told.err.contains("an apostrophe in the path"), "{told:?}");
}

/// A tree belongs to one checkout: another one has a folder of its own.
#[test]
fn each_checkout_has_a_folder_in_the_cache() {
    let (one, two) = (Checkout::new(), Checkout::new());
    let folder = |checkout: &Checkout| {
        let mut doctor = checkout.with_tools(hpcc());
        let told = ProcessOutput::from(doctor.arg("doctor").env("HPCC_CACHE", "/nowhere").output().expect("it starts"));
        let line = told.out.lines().find_map(|line| line.strip_prefix("cache ")).unwrap_or_default().trim().to_owned();
        assert!(line.starts_with("/nowhere/tree-"), "{told:?}");
        line
    };
    assert!(folder(&one) == folder(&one) && folder(&one) != folder(&two));
}

/// Without apt-get there are pip, and the words that say what else will do.
#[test]
fn ns3_comes_by_pip_where_there_is_no_apt() {
    let checkout = Checkout::new();
    let bench = &checkout.0;
    // The programs that are needed, and no others.
    fs::create_dir(bench.path("few")).expect("folder");
    for tool in ["sh", "env", "mkdir", "chmod"] {
        symlink(PathBuf::from("/usr/bin").join(tool), bench.path(&format!("few/{tool}"))).expect(tool);
    }
    let pip = "#!/bin/sh\n[ -z \"$FAILS\" ] || exit 1\necho \"$@\" >>$NOTES\nfolder=$7/ns3/lib64/cmake/ns3\n\
               mkdir -p $folder\necho >$folder/ns3Config.cmake\n";
    for (name, text) in [("python3", pip), ("cc", "#!/bin/sh\n"), ("g++", "#!/bin/sh\n"), ("ninja", "#!/bin/sh\n")] {
        program(bench, "few", name, text);
    }
    let with_few = |mut command: Command| {
        command.env("PATH", format!("{}:{}", bench.path("bin").display(), bench.path("few").display()));
        command.env_remove("NS3_DIR");
        command
    };
    let told = ProcessOutput::from(with_few(checkout.build()).env("FAILS", "1").output().expect("it starts"));
    assert!(told.err.contains("pip cannot install ns-3: set NS3_DIR to an ns-3 tree"), "{told:?}");
    for (fails, code, words) in
        [("1", 1, "none, and neither apt-get nor pip"), ("", 0, "none yet: a command that needs it gets it")]
    {
        let mut doctor = with_few(checkout.with_tools(hpcc()));
        let told = ProcessOutput::from(doctor.arg("doctor").env("FAILS", fails).output().expect("it starts"));
        assert_eq!(told.code, Some(code), "{told:?}");
        assert!(told.out.contains(words) && told.out.contains("(package tshark): please install it"), "{told:?}");
    }
    let (found, told) = checkout.builds(&mut with_few(checkout.build()));
    assert!(
        found.starts_with("-m pip install --quiet --no-deps --target ") && found.ends_with("configure build "),
        "{found}"
    );
    assert!(told.err.contains("no apt-get to get it with: installing ns3=="), "{told:?}");
    assert_eq!(checkout.builds(&mut with_few(checkout.build())).0, "build ");
}
