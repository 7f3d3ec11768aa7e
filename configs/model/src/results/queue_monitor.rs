// SPDX-License-Identifier: GPL-2.0-only
//! Watches the queue of every switch port at the pace of the simulator's samples.

use super::qlen_txt;
use super::summary::Port;

/// Width of a bucket in bytes. Finer than the 2019 simulator's kB, so that one histogram serves both its output and
/// percentiles good to 0.1 kB; it has to divide [`BYTES_PER_KB`].
const BUCKET_BYTES: u64 = 100;
/// What the 2019 simulator takes for a kB.
const BYTES_PER_KB: u64 = 1000;
/// Queues beyond this share the last bucket: a nonsensical length must not exhaust memory.
const LONGEST_BYTES: u64 = 1 << 28;
/// So many lengths of a port are noted one by one before they are entered into its histogram: most ports of a large network
/// never get one, which spares it memory.
const NOTED: usize = 64;

/// Histograms, extremes and percentiles of queue lengths, fed with one sample after the other.
///
/// Most samples equal the one before. A port is only told of where it may have changed: how often it was sampled in between
/// is reckoned from the number of all samples.
#[derive(Clone, Debug, Default)]
pub struct QueueMonitor {
    ports: Vec<PortState>,
    /// Samples of all ports so far.
    samples: u64,
    /// The figures at the moment when the last flow completed: the idle time after it would dilute them.
    at_completion: Option<QueueStats>,
}

/// Queue lengths in a nutshell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// The port with the longest queue, the one added first if several are equal; none if all stayed empty.
    pub busiest: Option<Port>,
    /// The longest queue, in bytes.
    pub max_bytes: u64,
    /// The 99th percentile of the samples of the busiest port, rounded down to 100 bytes.
    pub p99_bytes: u64,
}

#[derive(Clone, Debug)]
struct PortState {
    /// The last sample, in bytes.
    bytes: u64,
    /// How many of the samples are in the histogram.
    counted: u64,
    max_bytes: u64,
    port: Port,
    /// Buckets, and further samples in each, that are not entered yet.
    noted: Vec<(u32, u64)>,
    /// Samples per [`BUCKET_BYTES`].
    entered: Vec<u64>,
}

impl QueueMonitor {
    /// A monitor without ports.
    pub fn new() -> QueueMonitor {
        QueueMonitor::default()
    }

    /// Adds a port, with an empty queue, and gives the index for its samples: 0, 1, 2 and so on.
    pub fn add_port(&mut self, node: u32, port: u32) -> usize {
        let port = Port { node, port };
        self.ports.push(PortState::new(port));
        self.ports.len() - 1
    }

    /// Takes a sample of every port, which equals its last one, unless [`sample_index`](Self::sample_index) follows.
    pub fn begin_sample(&mut self) {
        self.samples += 1;
    }

    /// What the present sample finds at a port; true if it differs from the one before. An unknown index is ignored.
    #[inline]
    pub fn sample_index(&mut self, index: usize, bytes: u64) -> bool {
        let Some(port) = self.ports.get_mut(index).filter(|port| port.bytes != bytes) else { return false };
        port.note(self.samples.saturating_sub(1));
        port.bytes = bytes;
        port.max_bytes = port.max_bytes.max(bytes);
        true
    }

    /// Takes so many further samples of every port that equal its last one.
    pub fn repeat(&mut self, count: u64) {
        self.samples += count;
    }

    /// Notes all samples of all ports.
    fn note_all(&mut self) {
        self.ports.iter_mut().for_each(|port| port.note(self.samples));
    }

    /// The port behind an index.
    pub fn port(&self, index: usize) -> Option<Port> {
        self.ports.get(index).map(|state| state.port)
    }

    /// The first line of a block of `qlen.txt`.
    pub fn title(time_ns: u64) -> String {
        let mut line = Vec::new();
        // Into memory.
        let _ = qlen_txt::write_time(&mut line, time_ns);
        String::from_utf8(line).unwrap_or_default()
    }

    /// The other lines, with the histograms so far, of each node by its ports.
    pub fn print(&mut self) -> Vec<(u32, String)> {
        self.note_all();
        let mut sampled: Vec<&PortState> = self.ports.iter().filter(|state| state.counted > 0).collect();
        sampled.sort_by_key(|state| (state.port.node, state.port.port));
        let lines = |of_node: &[&PortState]| {
            let mut lines = Vec::new();
            for state in of_node {
                let histogram = state.histogram();
                let per_kb = histogram.chunks((BYTES_PER_KB / BUCKET_BYTES) as usize).map(|kb| kb.iter().sum());
                // Into memory.
                let _ = qlen_txt::write_port(&mut lines, state.port.node, state.port.port, per_kb);
            }
            String::from_utf8(lines).unwrap_or_default()
        };
        sampled
            .chunk_by(|a, b| a.port.node == b.port.node)
            .map(|of_node| (of_node[0].port.node, lines(of_node)))
            .collect()
    }

    /// Says that the last flow has completed: [`stats`](Self::stats) keeps the figures of this moment.
    pub fn flows_completed(&mut self) {
        let stats = self.stats();
        self.at_completion.get_or_insert(stats);
    }

    /// The figures over all samples, or over those until [`flows_completed`](Self::flows_completed).
    pub fn stats(&mut self) -> QueueStats {
        if let Some(stats) = self.at_completion {
            return stats;
        }
        self.note_all();
        // Of equal maxima, max_by_key takes the last: backwards, that is the port added first.
        let Some(busiest) = self.ports.iter().rev().max_by_key(|state| state.max_bytes) else {
            return QueueStats::default();
        };
        QueueStats {
            busiest: (busiest.max_bytes > 0).then_some(busiest.port),
            max_bytes: busiest.max_bytes,
            p99_bytes: busiest.percentile(99),
        }
    }
}

impl PortState {
    fn new(port: Port) -> PortState {
        PortState { bytes: 0, counted: 0, max_bytes: 0, port, noted: Vec::new(), entered: Vec::new() }
    }

    /// Notes the samples that are not noted yet: of so many, all found the present length.
    fn note(&mut self, samples: u64) {
        let waiting = samples.saturating_sub(self.counted);
        if waiting == 0 {
            return;
        }
        if self.noted.len() == NOTED {
            enter(&self.noted, &mut self.entered);
            self.noted.clear();
        }
        self.noted.push(((self.bytes.min(LONGEST_BYTES) / BUCKET_BYTES) as u32, waiting));
        self.counted = samples;
    }

    /// All samples that are noted, per [`BUCKET_BYTES`].
    fn histogram(&self) -> Vec<u64> {
        let mut histogram = self.entered.clone();
        enter(&self.noted, &mut histogram);
        histogram
    }

    /// Lower edge of the bucket that holds element int(n * percent / 100) of the n sorted samples.
    fn percentile(&self, percent: u64) -> u64 {
        let histogram = self.histogram();
        let rank = histogram.iter().sum::<u64>() * percent / 100;
        let mut below = 0;
        for (bucket, count) in histogram.iter().enumerate() {
            below += count;
            if below > rank {
                return bucket as u64 * BUCKET_BYTES;
            }
        }
        0
    }
}

/// Adds samples to their buckets.
fn enter(noted: &[(u32, u64)], histogram: &mut Vec<u64>) {
    let buckets = noted.iter().map(|(bucket, _)| *bucket as usize + 1).max().unwrap_or(0);
    histogram.resize(histogram.len().max(buckets), 0);
    for (bucket, samples) in noted {
        histogram[*bucket as usize] += samples;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(monitor: &mut QueueMonitor, time_ns: u64) -> String {
        let ports: String = monitor.print().into_iter().map(|(_, lines)| lines).collect();
        QueueMonitor::title(time_ns) + &ports
    }

    #[test]
    fn histograms_are_cumulative_in_kb_and_sorted() {
        let mut monitor = QueueMonitor::new();
        let second = monitor.add_port(3, 2);
        let first = monitor.add_port(3, 1);
        monitor.begin_sample();
        assert_eq!(printed(&mut monitor, 2_000_000_000), "time: 2000000000\n3 1 1\n3 2 1\n");
        for bytes in [999, 1000, 1999, 3000, 0] {
            monitor.begin_sample();
            monitor.sample_index(second, bytes);
            monitor.sample_index(first, 0);
        }
        assert_eq!(printed(&mut monitor, 2_100_000_000), "time: 2100000000\n3 1 6\n3 2 3 2 0 1\n");
    }

    #[test]
    fn ports_that_are_not_looked_at_stay_as_they_were() {
        let mut monitor = QueueMonitor::new();
        let (silent, busy) = (monitor.add_port(3, 1), monitor.add_port(3, 2));
        for bytes in [1_000, 0, 0, 2_000] {
            monitor.begin_sample();
            monitor.sample_index(busy, bytes);
        }
        monitor.begin_sample();
        monitor.sample_index(silent, 3_000);
        assert_eq!(printed(&mut monitor, 0), "time: 0\n3 1 4 0 0 1\n3 2 2 1 2\n");
    }

    #[test]
    fn repeated_samples_count_as_if_taken() {
        let sampled = |again: u64| {
            let mut monitor = QueueMonitor::new();
            let (first, second) = (monitor.add_port(3, 1), monitor.add_port(3, 2));
            for _ in 0..=again {
                monitor.begin_sample();
                monitor.sample_index(first, 0);
                monitor.sample_index(second, 2_000);
            }
            monitor
        };
        let (mut repeated, mut taken) = (sampled(0), sampled(7));
        repeated.repeat(7);
        assert_eq!(printed(&mut repeated, 5), printed(&mut taken, 5));
    }

    #[test]
    fn figures_are_those_of_the_busiest_port() {
        let mut monitor = QueueMonitor::new();
        let quiet = monitor.add_port(3, 1);
        let busy = monitor.add_port(3, 2);
        for sample in 1..=200 {
            monitor.begin_sample();
            monitor.sample_index(quiet, 1_048);
            monitor.sample_index(busy, sample * 100 + 7);
        }
        let stats = monitor.stats();
        assert_eq!(stats.busiest, Some(Port { node: 3, port: 2 }));
        assert_eq!(stats.max_bytes, 20_007);
        // Element int(200 * 0.99) = 198, counted from 0, is sample 199.
        assert_eq!(stats.p99_bytes, 19_900);
    }

    #[test]
    fn idle_time_after_the_last_flow_does_not_count() {
        let mut monitor = QueueMonitor::new();
        let port = monitor.add_port(3, 1);
        for _ in 0..10 {
            monitor.begin_sample();
            monitor.sample_index(port, 5_000);
        }
        monitor.flows_completed();
        for _ in 0..10_000 {
            monitor.begin_sample();
            monitor.sample_index(port, 0);
        }
        assert_eq!(monitor.stats().p99_bytes, 5_000);
        assert_eq!(printed(&mut monitor, 0), "time: 0\n3 1 10000 0 0 0 0 10\n");
    }

    #[test]
    fn nothing_sampled_gives_zeros_and_absurd_lengths_exhaust_no_memory() {
        let mut monitor = QueueMonitor::new();
        let port = monitor.add_port(3, 1);
        assert_eq!(printed(&mut monitor, 0), "time: 0\n");
        monitor.begin_sample();
        assert!(!monitor.sample_index(port, 0) && !monitor.sample_index(99, 5));
        assert_eq!(monitor.stats(), QueueStats::default());
        monitor.begin_sample();
        assert!(monitor.sample_index(port, u64::MAX));
        assert_eq!(monitor.stats().max_bytes, u64::MAX);
    }
}
