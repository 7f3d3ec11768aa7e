// SPDX-License-Identifier: GPL-2.0-only
//! What a run is made from, in short: equal inputs and an equal program give equal results, so that a run whose
//! folder names them need not be repeated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hpcc_formats::error::InputError;
use hpcc_formats::scenario::Scenario;

/// Hash of a scenario: every setting, the network, and each flow, whatever files they came from.
///
/// # Errors
/// If a file of flows was changed since the scenario was read.
pub fn of_scenario(scenario: &Scenario) -> Result<String, InputError> {
    let mut hash = blake3::Hasher::new();
    hash.update(scenario.effective().to_string().as_bytes());
    hash.update(format!("{:?}{:?}{:?}", scenario.network, scenario.monitor, scenario.borders).as_bytes());
    for flow in scenario.flows.walk_groups() {
        let (group, flow) = flow?;
        for number in [group, flow.src, flow.dst, flow.priority.into(), flow.dport.into()] {
            hash.update(&number.to_le_bytes());
        }
        for number in [flow.size, flow.start.0] {
            hash.update(&number.to_le_bytes());
        }
    }
    Ok(hash.finalize().to_hex().to_string())
}

/// Hash of a program and of the libraries that it loads.
///
/// # Errors
/// If one of them cannot be read.
pub fn of_program(program: &Path) -> io::Result<String> {
    let mut hash = blake3::Hasher::new();
    for file in std::iter::once(program.to_owned()).chain(libraries(program)) {
        hash.update(&fs::read(file)?);
    }
    Ok(hash.finalize().to_hex().to_string())
}

/// The files that `ldd` names; none of a script.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let Ok(output) = Command::new("ldd").arg(program).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let paths = text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
    paths.filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_program_or_library_is_another_one() {
        let dir = tempfile::tempdir().expect("folder");
        let program = dir.path().join("program");
        fs::write(&program, "one").expect("written");
        let one = of_program(&program).expect("read");
        fs::write(&program, "two").expect("written");
        assert_ne!(one, of_program(&program).expect("read"));
        assert!(!libraries(Path::new("/bin/sh")).is_empty(), "the C library");
        assert!(of_program(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn a_changed_setting_flow_or_link_is_another_input() {
        let dir = tempfile::tempdir().expect("folder");
        let file = dir.path().join("a.toml");
        let text = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
            [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
        fs::write(&file, text).expect("scenario");
        let digest = |set: &[&str]| {
            let overrides: Vec<String> = set.iter().map(|pair| (*pair).to_owned()).collect();
            of_scenario(&hpcc_formats::load(&file, &overrides).expect("scenario")).expect("digest")
        };
        let plain = digest(&[]);
        assert_eq!(plain, digest(&["run.seed=1"]));
        for pair in [
            "run.seed=2",
            "traffic.0.size=2MB",
            "traffic.0.name=long",
            "topology.delay=2us",
            "congestion_control.eta=0.9",
        ] {
            assert_ne!(plain, digest(&[pair]), "{pair}");
        }
    }
}
