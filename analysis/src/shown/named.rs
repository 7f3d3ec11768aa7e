// SPDX-License-Identifier: GPL-2.0-only
//! The commands that pages and scenarios tell readers to type are commands, of files and keys that there are.

use std::fs;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::command::split;
use super::readable::{pages, tree};
use crate::{Arguments, Command};

const PROGRAM: &str = "./hpcc ";
/// What readers of guides are going to add.
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

/// What is wrong with a command; a page may name one by itself, without what belongs to it.
fn complaint(line: &str) -> Option<String> {
    let words = words(line);
    if let [_, name] = &words[..]
        && Arguments::command().find_subcommand(name).is_some()
    {
        return None;
    }
    let parsed = match Arguments::try_parse_from(&words) {
        Ok(parsed) => parsed,
        Err(told) if [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&told.kind()) => return None,
        Err(told) => return Some(told.to_string()),
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "of what other commands are given nothing can be known here")]
    match parsed.command {
        Command::Run { config, set, .. } if config.starts_with("configs") => {
            let of_program = set.iter().any(|pair| pair.contains("ns3::"));
            hpcc_formats::load(&tree().join(config), if of_program { &[] } else { &set })
                .err()
                .map(|why| why.to_string())
        }
        Command::Sweep { file, .. } if file.starts_with("configs") => {
            (!tree().join(&file).exists()).then(|| format!("there is no {}", file.display()))
        }
        Command::Explain { key: Some(key) } if key != "KEY" => {
            crate::settings::explain(Some(&key)).err().map(|why| why.to_string())
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
