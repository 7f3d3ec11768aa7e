// SPDX-License-Identifier: GPL-2.0-only
//! The file of a job by itself as a scenario: its ranks are around one switch, unless overrides name a network.

use hpcc_model::jobs::goal_binary;
use std::io::Read;
use std::path::Path;

/// So much of a file tells what it is.
const HEAD: u64 = 4096;

/// Most ports of the guessed switch whose headroom fits into the default buffer.
const MOST_PORTS: u32 = 424;
/// What a port of a larger one gets, in KiB: more than headroom and reserve.
const PORT_KIB: u64 = 128;

/// The scenario of a file that is a job of another simulator; overrides may have another network.
pub(crate) fn scenario(path: &Path) -> Option<String> {
    text(Path::new(path.file_name()?), of_file(path)?)
}

/// The memory that the guessed switch needs, if overrides leave network and switch as they are.
pub(crate) fn memory(path: &Path, overrides: &[String]) -> String {
    let is_other = |text: &String| ["topology", "switch"].iter().any(|section| text.trim_start().starts_with(section));
    let ranks = of_file(path).filter(|_| !overrides.iter().any(is_other)).map_or(0, |(_, ranks)| ranks);
    if ranks > MOST_PORTS {
        format!("\n[switch]\nbuffer = \"{}KiB\"\n", u64::from(ranks) * PORT_KIB)
    } else {
        String::new()
    }
}

/// The whole scenario, in a file that has another name for the job.
pub fn named(path: &Path, name: &Path) -> Option<String> {
    Some(text(name, of_file(path)?)? + &memory(path, &[]))
}

/// The kind of job that a file has, and its ranks.
fn of_file(path: &Path) -> Option<(&'static str, u32)> {
    let mut head = Vec::new();
    hpcc_model::input::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    job(&head)
}

fn text(name: &Path, (kind, ranks): (&str, u32)) -> Option<String> {
    let name = toml::Value::String(name.to_str()?.into());
    Some(format!(
        "[run]\nstop = \"1000s\"\n\n[topology]\nkind = \"star\"\nhosts = {ranks}\nrate = \"400Gbps\"\ndelay = \"500ns\"\n\
         \n[[traffic]]\nkind = \"{kind}\"\npath = {name}\n"
    ))
}

/// What the first bytes of a file tell: the kind of job, and how many ranks it has.
fn job(head: &[u8]) -> Option<(&'static str, u32)> {
    if goal_binary::is(head) {
        return Some(("goal", u32::from_le_bytes(*head.get(8..)?.first_chunk()?)));
    }
    let text = String::from_utf8_lossy(head);
    let is_comment = |line: &str| line.is_empty() || line.starts_with('#') || line.starts_with("//");
    let first = text.lines().map(str::trim).find(|line| !is_comment(line))?;
    let words: Vec<&str> = first.split_whitespace().collect();
    let after = |word: &str| words.iter().skip_while(|other| **other != word).nth(1)?.parse().ok();
    match *words.first()? {
        "num_ranks" => Some(("goal", after("num_ranks")?)),
        // htsim's networks begin with the number of nodes, too.
        "Nodes" if text.contains("\nConnections") => Some(("connection_matrix", after("Nodes")?)),
        // Its first word is a way to train, of which not all are known here.
        _ if words.contains(&"all_gpus:") => Some(("simai", after("all_gpus:")?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell() {
        for (text, expected) in [
            ("// 2\n\nnum_ranks 7\n", Some(("goal", 7))),
            ("# a matrix\nNodes 5\nConnections 0\n", Some(("connection_matrix", 5))),
            ("DATA model_parallel_NPU_group: 1 all_gpus: 3\n", Some(("simai", 3))),
            ("HYBRID_TRANSFORMER model_parallel_NPU_group: 1 all_gpus: 9 ep: 1\n", Some(("simai", 9))),
            ("\u{7f}\u{10}\0\0\0\0\0\0\u{4}\0\0\0", Some(("goal", 4))),
            ("Nodes 5\nTiers 2\n", None),
            ("[run]\nstop = \"1ms\"\n", None),
            ("", None),
        ] {
            assert_eq!(job(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_job_alone_runs_on_a_network_that_overrides_name() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.cm");
        std::fs::write(&path, "Nodes 3\nConnections 1\n2->0 start 0 size 10\n").expect("written");
        let scenario = crate::load(&path, &[]).expect("a scenario");
        assert_eq!((scenario.network.nodes.len(), scenario.flows.jobs[0].hosts.len()), (4, 3));
        let other = "topology={ kind = \"star\", hosts = 5, rate = \"1Gbps\", delay = \"1us\" }".to_owned();
        assert_eq!(crate::load(&path, &[other]).expect("a scenario").network.nodes.len(), 6);
        std::fs::write(&path, "Nodes 512\nConnections 1\n2->0 start 0 size 10\n").expect("written");
        let buffer = crate::load(&path, &[]).expect("room for every port's headroom").settings.switch.buffer;
        assert_eq!(buffer.0, 512 * 128 * 1024);
    }
}
