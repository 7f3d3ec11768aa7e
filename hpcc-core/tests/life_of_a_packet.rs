// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page that tells the life of a packet names functions that there are.

use std::fs;
use std::path::Path;

/// What stands in backquotes in a line.
fn quoted(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_names_functions_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("../ns3-module/doc/life-of-a-packet.md");
    let Ok(page) = fs::read_to_string(page) else {
        // The core by itself has no pages.
        return;
    };
    let mut steps = 0;
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let [function, file] = quoted(line)[..] else { panic!("no function and file: {line}") };
        let source = fs::read_to_string(root.join("src").join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        assert!(source.contains(&format!("fn {function}(")), "{file} has no function {function}");
        steps += 1;
    }
    assert!(steps >= 12, "{steps} steps");
    let sources: Vec<String> = fs::read_dir(root.join("src/engine"))
        .expect("the engine")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.is_file())
        .map(|file| fs::read_to_string(file).expect("text"))
        .collect();
    let picture: Vec<&str> = page.lines().filter(|line| line.starts_with("    ")).collect();
    assert!(picture.len() > 10, "a picture");
    let is_function =
        |word: &&str| word.contains('_') && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    for function in picture.iter().flat_map(|line| line.split_whitespace()).filter(is_function) {
        let is_there = sources.iter().any(|source| source.contains(&format!("fn {function}(")));
        assert!(is_there, "the picture names {function}");
    }
}
