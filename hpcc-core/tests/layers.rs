// SPDX-License-Identifier: MIT OR Apache-2.0
//! A module uses only modules of earlier rows of the table in `lib.rs`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the table in `lib.rs`, from the bottom up.
fn modules(source: &Path) -> Vec<String> {
    let lib = fs::read_to_string(source.join("lib.rs")).expect("lib.rs");
    let row = |line: &str| Some(line.strip_prefix("//! | [`")?.split_once('`')?.0.to_owned());
    let modules: Vec<String> = lib.lines().filter_map(row).collect();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let module = line.trim_end_matches(';');
        assert!(modules.iter().any(|known| known == module), "{module} is missing in its table");
    }
    modules
}

/// The files of a module that are not tests.
fn files(path: PathBuf, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "tests" {
            files(path, found);
        } else if name.ends_with(".rs") && !name.contains("test") {
            found.push(path);
        }
    }
}

/// Words behind `crate::` in the code in front of the tests of a file, without comments.
fn uses(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split_once("#[cfg(test)]\nmod tests").map_or(text, |(code, _)| code);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn modules_use_only_those_below() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = modules(&source);
    let height: HashMap<&str, usize> = modules.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut seen = 0;
    for (at, module) in modules.iter().enumerate() {
        let (file, folder) = (source.join(format!("{module}.rs")), source.join(module));
        let mut paths = Vec::new();
        if folder.is_dir() {
            files(folder, &mut paths)
        } else {
            paths.push(file)
        }
        for path in paths {
            let text = fs::read_to_string(&path).expect("a source file");
            for used in uses(&text).filter_map(|used| height.get(used)) {
                assert!(*used <= at, "{} uses {}, which stands above {module}", path.display(), modules[*used]);
                seen += usize::from(*used < at);
            }
        }
    }
    assert!(seen > 100, "{seen} uses were found");
}
