// SPDX-License-Identifier: GPL-2.0-only
//! The commands that pages and scenarios tell readers to type are commands, of files and keys that there are.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::command::split;
use super::readable::{pages, tree};
use crate::Arguments;

const PROGRAM: &str = "./hpcc ";
/// Names that guides have readers add.
const INVENTED: [&str; 2] = ["exact", "transport.burst"];

/// The commands of a line: in prose to the end of the code, elsewhere to what explains or redirects them.
fn commands(line: &str) -> Vec<&str> {
    let found = line.match_indices(PROGRAM).map(|(start, _)| {
        let (before, rest) = line.split_at(start);
        let ends: &[&str] =
            if before.ends_with('`') { &["`"] } else { &["   ", ")", " #", " >", " |", " -->", ": ", "`"] };
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        rest[..end].trim_end()
    });
    found.collect()
}

/// The words of a command, with a number where a page says `N`.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" > ").next().unwrap_or(line);
    split(line).into_iter().map(|word| if word == "N" { "1".into() } else { word }).collect()
}

/// The fault of a command; a page may name a command alone, without its arguments.
fn complaint(line: &str) -> Option<String> {
    let words = words(line);
    // Commands of users, and of those who work on hpcc.
    let find = |known: clap::Command| known.find_subcommand(words.get(1)?).is_some().then_some(known);
    let known = [Arguments::command(), hpcc_analysis::command()].into_iter().find_map(find);
    let known = known.unwrap_or_else(hpcc_analysis::command);
    if words.len() == 2 && known.find_subcommand(&words[1]).is_some() {
        return None;
    }
    let parsed = match known.try_get_matches_from(&words) {
        Ok(parsed) => parsed,
        Err(told) if [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&told.kind()) => return None,
        Err(told) => return Some(told.to_string()),
    };
    let (name, options) = parsed.subcommand()?;
    let file = |key| options.get_one::<PathBuf>(key).filter(|file| file.starts_with("configs"));
    match name {
        "run" => {
            let set: Vec<String> = options.get_many("set").into_iter().flatten().cloned().collect();
            let of_program = set.iter().any(|pair| pair.contains("ns3::"));
            let loaded = hpcc_formats::load(&tree().join(file("config")?), if of_program { &[] } else { &set });
            loaded.err().map(|why| why.to_string())
        }
        "sweep" => file("file").filter(|file| !tree().join(file).exists()).map(|file| format!("no {}", file.display())),
        "explain" => {
            let key = options.get_one::<String>("key").filter(|key| *key != "KEY")?;
            hpcc_analysis::settings::explain(Some(key)).err().map(|why| why.to_string())
        }
        _ => None,
    }
}

#[test]
fn commands_that_pages_name_are_commands() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        for (number, line) in text.lines().enumerate() {
            for command in commands(line) {
                count += 1;
                if INVENTED.iter().any(|name| command.ends_with(name)) {
                    continue;
                }
                let place =
                    format!("{}:{}: {command}", path.strip_prefix(tree()).expect("below").display(), number + 1);
                wrong.extend(complaint(command).map(|why| format!("{place}: {why}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "only {count} commands were found");
}

#[test]
fn mistakes_in_commands_are_found() {
    assert_eq!(commands("see `./hpcc run a.toml` and ``./hpcc test``"), ["./hpcc run a.toml", "./hpcc test"]);
    assert_eq!(commands("./hpcc run a.toml   # first"), ["./hpcc run a.toml"]);
    for right in ["./hpcc run", "./hpcc report DIR...", "./hpcc --version", "./hpcc sweep X.toml --jobs N"] {
        assert_eq!(complaint(right), None, "{right}");
    }
    for wrong in [
        "./hpcc runn",
        "./hpcc run a.toml --fast",
        "./hpcc run configs/nothing.toml",
        "./hpcc sweep configs/nothing.toml",
        "./hpcc run configs/quickstart.toml --set congestion_control.etta=1",
        "./hpcc explain etta",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
