// SPDX-License-Identifier: GPL-2.0-only
//! Where pauses by PFC begin, and whom they reach from there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::Result;
use hpcc_core::units::Nanos;
use hpcc_model::results::pauses_csv::{self, PauseRow};
use hpcc_model::results::ports_csv;
use serde::Serialize;

use crate::human;
use crate::table::table;

/// Roots that the text names.
const MOST: usize = 5;

/// All pauses that have one root.
#[derive(Debug, Serialize)]
pub struct Tree {
    /// The link with the queue that is too long, or the host that takes too little.
    pub root: String,
    /// How many pauses, at all depths.
    pub pauses: usize,
    /// Their times together, in us.
    pub us: f64,
    /// How many nodes they hold.
    pub nodes: usize,
    /// How many nodes the longest chain has.
    pub depth: u32,
    /// Who holds whom, each followed by those that it causes.
    pub branches: Vec<Branch>,
}

/// A node that holds another one.
#[derive(Debug, Serialize)]
pub struct Branch {
    /// How many branches lead to it.
    pub depth: usize,
    /// Both nodes.
    pub link: String,
    /// How many pauses.
    pub pauses: usize,
    /// Their times together, in us.
    pub us: f64,
}

/// Who pauses: a node and its port.
type Sender = (u32, u32);

/// The trees of a run, the one with the longest times first; nothing if pauses were not recorded.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn trees(dir: &Path) -> Result<Vec<Tree>> {
    let file = dir.join("pauses.csv");
    if !file.exists() {
        return Ok(Vec::new());
    }
    let rows = pauses_csv::read(&file)?;
    let ports = ports_csv::read(&dir.join("ports.csv"))?;
    let peers: HashMap<Sender, u32> = ports.iter().map(|port| ((port.node, port.port), port.peer)).collect();
    let mut of_root = BTreeMap::<String, Vec<&PauseRow>>::new();
    for row in &rows {
        let root = rows.get(row.root as usize).unwrap_or(row);
        let name = match root.egress.and_then(|egress| peers.get(&(root.node, egress))) {
            Some(peer) => format!("switch {} → {peer}", root.node),
            None => format!("node {}", root.node),
        };
        of_root.entry(name).or_default().push(row);
    }
    let mut trees: Vec<Tree> = of_root.into_iter().map(|(root, of)| tree(root, &of, &rows)).collect();
    trees.sort_by(|a, b| b.us.total_cmp(&a.us).then_with(|| a.root.cmp(&b.root)));
    Ok(trees)
}

fn tree(root: String, of: &[&PauseRow], rows: &[PauseRow]) -> Tree {
    let us = |rows: &[&PauseRow]| rows.iter().map(|row| row.duration_ns).sum::<u64>() as f64 / 1e3;
    let mut caused = BTreeMap::<Option<Sender>, BTreeMap<Sender, Vec<&PauseRow>>>::new();
    for row in of {
        let cause = row.cause.and_then(|cause| rows.get(cause as usize)).map(|cause| (cause.node, cause.port));
        caused.entry(cause).or_default().entry((row.node, row.port)).or_default().push(row);
    }
    let mut branches = Vec::new();
    // Pauses of different times may hold each other in a circle.
    let mut known = BTreeSet::new();
    let mut next: Vec<(usize, Option<Sender>, Sender)> = Vec::new();
    let push = |depth, cause, next: &mut Vec<_>| {
        let mut senders: Vec<_> = caused.get(&cause).into_iter().flatten().collect();
        senders.sort_by_key(|(_, rows)| Reverse((us(rows) * 1e3) as u64));
        next.extend(senders.into_iter().rev().map(|(&sender, _)| (depth, cause, sender)));
    };
    push(0, None, &mut next);
    while let Some((depth, cause, sender)) = next.pop() {
        let rows = &caused[&cause][&sender];
        let link = format!("{} holds {}", sender.0, rows[0].paused);
        branches.push(Branch { depth, link, pauses: rows.len(), us: us(rows) });
        if known.insert(sender) {
            push(depth + 1, Some(sender), &mut next);
        }
    }
    Tree {
        root,
        pauses: of.len(),
        us: us(of),
        nodes: of.iter().map(|row| row.paused).collect::<BTreeSet<_>>().len(),
        depth: of.iter().map(|row| row.depth + 1).max().unwrap_or(0),
        branches,
    }
}

/// The roots of a run's pauses as a table; nothing if they were not recorded, or there are none.
///
/// # Errors
/// If a file of the results cannot be read.
pub fn render(dir: &Path) -> Result<String> {
    let trees = trees(dir)?;
    if trees.is_empty() {
        return Ok(String::new());
    }
    let rows = trees.iter().take(MOST).map(|tree| {
        let time = Nanos((tree.us * 1e3) as u64).to_string();
        vec![tree.root.clone(), human::count(tree.pauses as u64), time, tree.nodes.to_string(), tree.depth.to_string()]
    });
    let more = trees.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} roots more: pauses.csv\n") } else { String::new() };
    Ok(table(&["pauses begin at", "pauses", "together", "nodes held", "deepest"], rows) + &more + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_model::results::CsvRow;
    use hpcc_model::results::ports_csv::PortRow;
    use std::fs;

    fn write<R: CsvRow>(file: &Path, rows: &[R]) {
        let mut text = format!("{}\n", R::header()).into_bytes();
        rows.iter().for_each(|row| row.write(&mut text).expect("memory"));
        fs::write(file, text).expect("a file");
    }

    #[test]
    fn pauses_are_shown_below_their_causes() {
        let dir = tempfile::tempdir().expect("a folder");
        let pause = |start_ns, duration_ns, (node, paused), egress, cause, root, depth| PauseRow {
            start_ns,
            duration_ns,
            node,
            port: 1,
            paused,
            priority: 3,
            egress,
            cause,
            root,
            depth,
        };
        let rows = [
            pause(10, 5_000, (3, 2), None, None, 0, 0),
            pause(20, 4_000, (2, 1), Some(2), Some(0), 0, 1),
            pause(30, 3_000, (1, 0), Some(2), Some(1), 0, 2),
            pause(40, 100, (2, 1), Some(2), None, 3, 0),
        ];
        write(&dir.path().join("pauses.csv"), &rows);
        let port = |node, port, peer| PortRow { node, port, peer, ..PortRow::default() };
        write(&dir.path().join("ports.csv"), &[port(2, 1, 1), port(2, 2, 3), port(3, 1, 2)]);
        let trees = trees(dir.path()).expect("both files");
        let told: Vec<_> = trees.iter().map(|tree| (tree.root.as_str(), tree.pauses, tree.nodes, tree.depth)).collect();
        assert_eq!(told, [("node 3", 3, 3, 3), ("switch 2 → 3", 1, 1, 1)]);
        let branches: Vec<_> = trees[0].branches.iter().map(|branch| (branch.depth, branch.link.as_str())).collect();
        assert_eq!(branches, [(0, "3 holds 2"), (1, "2 holds 1"), (2, "1 holds 0")]);
        let text = render(dir.path()).expect("both files");
        assert!(text.contains("node 3") && text.contains("12.000 us"), "{text}");
    }
}
