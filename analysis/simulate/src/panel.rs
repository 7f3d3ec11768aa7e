// SPDX-License-Identifier: GPL-2.0-only
//! What a run that is watched shows below its line: the longest queues, and how slow flows have been so far.

use std::fmt::Write;

/// Queues that are shown.
const QUEUES: usize = 5;
/// Letters of the longest bar.
const WIDTH: u64 = 30;

/// How slow the flows were that have finished.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slowdowns {
    count: u64,
    sum: f64,
    worst: f64,
}

impl Slowdowns {
    /// Adds a flow.
    pub fn add(&mut self, slowdown: f64) {
        self.count += 1;
        self.sum += slowdown;
        self.worst = self.worst.max(slowdown);
    }
}

/// The lines, always as many. Each queue has its node, its port counted from 1, and its bytes.
pub fn panel(mut queues: Vec<(u32, u32, u64)>, slowdowns: &Slowdowns) -> String {
    queues.sort_by_key(|&(node, port, bytes)| (std::cmp::Reverse(bytes), node, port));
    let longest = queues.first().map_or(0, |queue| queue.2).max(1);
    let mut text = String::from(" longest queues");
    for place in 0..QUEUES {
        text.push('\n');
        let Some((node, port, bytes)) = queues.get(place).filter(|queue| queue.2 > 0) else { continue };
        let bar = "#".repeat((bytes * WIDTH).div_ceil(longest) as usize);
        let _ = write!(text, "  node {node:>5}  port {port:>3} {:>9.1} kB  {bar}", *bytes as f64 / 1e3);
    }
    let Slowdowns { count, sum, worst } = slowdowns;
    if *count == 0 {
        return text + "\n slowdown      no flow has finished yet";
    }
    let _ = write!(text, "\n slowdown      mean {:.2}, worst {worst:.2}", sum / *count as f64);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_queues_stand_first_and_lines_stay_as_many() {
        let mut slowdowns = Slowdowns::default();
        let empty = panel(Vec::new(), &slowdowns);
        assert!(empty.ends_with("no flow has finished yet"), "{empty}");
        [1.0, 4.0].into_iter().for_each(|slowdown| slowdowns.add(slowdown));
        let queues = (0..9).map(|port| (20, port, 1_000 * u64::from(port))).collect();
        let full = panel(queues, &slowdowns);
        let lines: Vec<&str> = full.lines().collect();
        assert_eq!((lines.len(), empty.lines().count()), (7, 7));
        assert_eq!(lines[1], format!("  node    20  port   8       8.0 kB  {}", "#".repeat(30)));
        assert_eq!(lines[5], format!("  node    20  port   4       4.0 kB  {}", "#".repeat(15)));
        assert_eq!(lines[6], " slowdown      mean 2.50, worst 4.00");
    }
}
