// SPDX-License-Identifier: GPL-2.0-only
//! What is built is run at once: `hpcc` starts neither cargo nor cmake until a source is newer.

use hpcc_tests::{Bench, ProcessOutput, script};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// It notes that it was called, and "builds" a command that asks for a simulator and names it.
const CARGO: &str = r#"#!/bin/sh
echo cargo >>$NOTES
mkdir -p $CARGO_TARGET_DIR/release
cat >$CARGO_TARGET_DIR/release/hpcc <<'END'
#!/bin/sh
echo "runs ${HPCC_SCENARIO_PROGRAM:-$($HPCC_SCRIPT @simulator)}"
END
chmod +x $CARGO_TARGET_DIR/release/hpcc
"#;
/// The same for the simulator.
const CMAKE: &str = r#"#!/bin/sh
echo cmake >>$NOTES
[ "$1" != --build ] || { echo >$2/hpcc-scenario; chmod +x $2/hpcc-scenario; echo "[1/7] Building CXX object"; }
"#;
/// Sources that the script looks at.
const SOURCES: [&str; 19] = [
    "Cargo.toml",
    "Cargo.lock",
    "hpcc-core/Cargo.toml",
    "hpcc-core/src/lib.rs",
    "configs/workloads/a.cdf",
    "configs/formats/lib.rs",
    "analysis/src/lib.rs",
    "analysis/simulate/lib.rs",
    "ns3-bridge/lib.rs",
    "scratch/a.cc",
    "scratch/hpcc-own-control.cc",
    "ns3-module/CMakeLists.txt",
    "ns3-module/cmake/a",
    "ns3-module/examples/a.cc",
    "ns3-module/helper/a.cc",
    "ns3-module/installed/CMakeLists.txt",
    "ns3-module/test/a.cc",
    "ns3-module/tcp/a.cc",
    "ns3-module/doc/adding-a-controller.md",
];
/// Texts that the command shows.
const SHOWN: [&str; 2] = ["scratch/hpcc-own-control.cc", "ns3-module/doc/adding-a-controller.md"];

/// A checkout of nothing but names, beside an ns-3 that is as empty.
struct Checkout(Bench);

impl Checkout {
    fn new() -> Checkout {
        let bench = Bench::new(&[("notes", "")]);
        let files = SOURCES.iter().chain(&["ns3-module/model/a.cc"]).map(|name| format!("tree/{name}"));
        for file in files.chain(["ns-3/lib/cmake/ns3/ns3Config.cmake".into()]) {
            fs::create_dir_all(bench.path(&file).parent().expect("a folder")).expect("folder");
            bench.write(&file, "");
        }
        let (from, to) = (PathBuf::from(script().get_program()), bench.path("tree"));
        for name in ["hpcc", "ns3-module/get-ns3.sh"] {
            fs::copy(from.with_file_name(name), to.join(name)).expect(name);
        }
        fs::create_dir(bench.path("bin")).expect("folder");
        for (name, text) in [("cargo", CARGO), ("cmake", CMAKE)] {
            bench.write(&format!("bin/{name}"), text);
            fs::set_permissions(bench.path(&format!("bin/{name}")), fs::Permissions::from_mode(0o755)).expect(name);
        }
        Checkout(bench)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.0.path("tree/hpcc"));
        command.arg("run").env_clear().env("PATH", format!("{}:/usr/bin:/bin", self.0.path("bin").display()));
        command.env("HPCC_CACHE", self.0.path("cache")).env("CARGO_TARGET_DIR", self.0.path("target"));
        command.env("NS3_DIR", self.0.path("ns-3")).env("NOTES", self.0.path("notes"));
        command
    }

    /// Runs it, and says what was started to build something.
    #[track_caller]
    fn builds(&self, command: &mut Command) -> (String, ProcessOutput) {
        self.0.write("notes", "");
        let told = ProcessOutput::from(command.output().expect("it starts"));
        assert!(told.out.starts_with("runs ") && told.out.ends_with("/hpcc-scenario\n"), "{told:?}");
        (self.0.read("notes").replace('\n', " "), told)
    }
}

#[test]
fn only_what_is_older_than_its_sources_is_built() {
    let checkout = Checkout::new();
    let builds = || checkout.builds(&mut checkout.command()).0;
    assert_eq!(builds(), "cargo cmake cmake ", "the simulator is configured, too");
    assert_eq!(builds(), "");
    let path = |name: &str| checkout.0.path(&format!("tree/{name}"));
    for name in SOURCES {
        fs::write(path(name), "changed").expect(name);
        let found = builds();
        let of_command = SHOWN.contains(&name) || !name.starts_with("ns3-") && !name.starts_with("scratch");
        let of_simulator = !name.starts_with("analysis/src") && !name.starts_with("ns3-module/doc");
        let expected = [(of_command, "cargo "), (of_simulator, "cmake ")].map(|(is, name)| if is { name } else { "" });
        assert_eq!(found, expected.concat(), "{name}");
        assert_eq!(builds(), "", "{name}");
    }
    fs::remove_file(path("analysis/simulate/lib.rs")).expect("removed");
    assert_eq!(builds(), "cargo cmake ");
    fs::write(path("ns3-module/model/b.cc"), "").expect("a new one");
    assert_eq!(builds(), "cmake ");
    fs::write(checkout.0.path("ns-3/lib/cmake/ns3/another.cmake"), "").expect("another release of ns-3");
    assert_eq!(builds(), "cmake ");
    fs::write(checkout.0.path("bin/another"), "").expect("another compiler");
    assert_eq!(builds(), "cargo cmake ");
    // Other settings are another build.
    assert_eq!(checkout.builds(checkout.command().env("HPCC_PROFILE", "-d debug")).0, "cmake ");
    assert_eq!(checkout.builds(checkout.command().env("RUSTFLAGS", "-g")).0, "cargo cmake ");
    assert_eq!(builds(), "cargo ");
}

#[test]
fn a_build_is_announced_and_waits_for_another_one_in_words() {
    let checkout = Checkout::new();
    let (_, told) = checkout.builds(&mut checkout.command());
    for words in
        ["building the hpcc command", "building the module, a minute or two the first time", "compiling, about 7 steps"]
    {
        assert!(told.err.contains(words), "{words}: {}", told.err);
    }
    checkout.0.write("tree/Cargo.lock", "changed");
    checkout.0.write("target/release/.cargo-lock", "");
    let mut holder = Command::new("flock");
    let mut holder =
        holder.arg(checkout.0.path("target/release/.cargo-lock")).args(["sleep", "1"]).spawn().expect("flock");
    sleep(Duration::from_millis(300));
    let (_, told) = checkout.builds(&mut checkout.command());
    assert!(told.err.contains("another cargo builds in "), "{}", told.err);
    holder.wait().expect("it ends");
    let (_, told) = checkout.builds(&mut checkout.command());
    assert!(told.err.is_empty(), "nothing is built, nothing is waited for: {}", told.err);
}

#[test]
fn what_cannot_be_built_again_is_run_as_it_is() {
    let checkout = Checkout::new();
    checkout.builds(&mut checkout.command());
    checkout.0.write("tree/hpcc-core/src/lib.rs", "changed");
    fs::remove_file(checkout.0.path("bin/cargo")).expect("removed");
    let (found, told) = checkout.builds(&mut checkout.command());
    assert_eq!(
        (found.as_str(), told.err.matches("is older than its sources, and cannot be built again here").count()),
        ("", 2)
    );
}

#[test]
fn an_apostrophe_in_a_path_is_refused() {
    let checkout = Checkout::new();
    let told = checkout.command().env("HPCC_CACHE", checkout.0.path("it's")).output().expect("it starts");
    let told = ProcessOutput::from(told);
    assert!(told.code == Some(2) && told.err.contains("an apostrophe in the path"), "{told:?}");
}

/// Without apt-get there are pip, and the words that say what else will do.
#[test]
fn ns3_comes_by_pip_where_there_is_no_apt() {
    let checkout = Checkout::new();
    let bench = &checkout.0;
    // The programs that the script needs, and no others.
    let tools = "bash sh env cat cut dirname find flock grep head mkdir mv nproc printf realpath rm sed sha256sum tee touch tr uname";
    fs::create_dir(bench.path("few")).expect("folder");
    for tool in tools.split(' ').chain(["id", "chmod", "readlink"]) {
        std::os::unix::fs::symlink(format!("/usr/bin/{tool}"), bench.path(&format!("few/{tool}"))).expect(tool);
    }
    let pip = "#!/bin/sh\n[ -z \"$FAILS\" ] || exit 1\necho \"$@\" >>$NOTES\nfolder=$7/ns3/lib64/cmake/ns3\n\
               mkdir -p $folder\necho >$folder/ns3Config.cmake\n";
    for (name, text) in [("python3", pip), ("cc", "#!/bin/sh\n"), ("g++", "#!/bin/sh\n"), ("ninja", "#!/bin/sh\n")] {
        bench.write(&format!("few/{name}"), text);
        fs::set_permissions(bench.path(&format!("few/{name}")), fs::Permissions::from_mode(0o755)).expect(name);
    }
    let command = || {
        let mut command = checkout.command();
        command.env("PATH", format!("{}:{}", bench.path("bin").display(), bench.path("few").display()));
        command.env_remove("NS3_DIR");
        command
    };
    let told = ProcessOutput::from(command().env("FAILS", "1").output().expect("it starts"));
    assert!(told.err.contains("pip cannot install ns-3: set NS3_DIR to an ns-3 tree"), "{told:?}");
    for (fails, code, words) in [
        ("1", 1, "there is NO ns-3, and neither apt-get nor pip"),
        ("", 0, "none yet: a command that needs it gets it"),
    ] {
        let mut doctor = Command::new(bench.path("tree/hpcc"));
        doctor.arg("@doctor").env_clear().envs(command().get_envs().filter_map(|(name, value)| Some((name, value?))));
        let told = ProcessOutput::from(doctor.env("FAILS", fails).output().expect("it starts"));
        assert_eq!(told.code, Some(code), "{told:?}");
        assert!(told.out.contains(words) && told.out.contains("(package tshark): please install it"), "{told:?}");
    }
    let (found, told) = checkout.builds(&mut command());
    assert!(
        found.starts_with("-m pip install --quiet --no-deps --target ") && found.ends_with("cmake cmake "),
        "{found}"
    );
    assert!(
        told.err.contains("no apt-get to get it with: installing ns3==") && told.out.contains("/out-of-tree-"),
        "{told:?}"
    );
    assert_eq!(checkout.builds(&mut command()).0, "");
}
