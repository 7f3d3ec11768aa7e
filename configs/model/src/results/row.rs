// SPDX-License-Identifier: GPL-2.0-only
//! What a running simulation adds to its files, piece by piece, and the order in which pieces from several processes go
//! into one file.

use serde::{Deserialize, Serialize};

use super::control_csv::ControlRow;
use super::goodput_csv::GoodputRow;
use super::packet_trace::TraceRecord;
use super::pfc_txt::PfcEvent;
use super::queue_csv::QueueRow;
use super::sent_csv::SentRow;
use super::{FctRecord, UnfinishedFlow};

/// A piece of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Row {
    Finished(FctRecord),
    Unfinished(UnfinishedFlow),
    Pfc(PfcEvent),
    Queue(QueueRow),
    /// Lines of `qlen.txt`.
    Histogram(String),
    Goodput(GoodputRow),
    Control(ControlRow),
    Sent(SentRow),
    Packet(TraceRecord),
    /// What a port has to say in `ports.csv`: bytes that it sent, and frames that came to it with errors.
    Port {
        node: u32,
        port: u32,
        sent: u64,
        errors: u64,
    },
    /// A frame of the capture: when, in ns, at which node, and its bytes.
    Frame(u64, u32, Vec<u8>),
}

/// Where a row stands among the rows of other processes. Rows of one node at one time stay in the order in which that
/// node's process wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowPlace {
    /// When, in ns.
    time_ns: u64,
    /// 0 for what concerns the network as a whole, behind it the nodes from 1 on.
    node: u32,
    /// The part of the network that it is about.
    part: u64,
}

impl RowPlace {
    /// Of what happens at a node.
    pub fn at_node(time_ns: u64, node: u32) -> RowPlace {
        RowPlace { time_ns, node: node.saturating_add(1), part: 0 }
    }

    /// Of a sample that is taken of the whole network: `part` is a node or a flow.
    pub fn of_sample(time_ns: u64, part: u32) -> RowPlace {
        RowPlace { time_ns, node: 0, part: part.into() }
    }

    /// Of what is written when the run is over, in the order of `part`.
    pub fn at_end(part: u64) -> RowPlace {
        RowPlace { time_ns: u64::MAX, node: 0, part }
    }
}

/// Rows of a process that shares a simulation with others.
#[derive(Debug, Default)]
pub(crate) struct RowLog {
    rows: Vec<(RowPlace, Row)>,
}

impl RowLog {
    pub(crate) fn push(&mut self, place: RowPlace, row: Row) {
        self.rows.push((place, row));
    }

    /// Takes all rows, as bytes for another process.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Vec::new();
        }
        // Numbers and text into memory: this cannot fail.
        postcard::to_stdvec(&rows).unwrap_or_default()
    }

    /// Adds what another process has taken; false if these are not its bytes.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let Ok(rows) = postcard::from_bytes::<Vec<(RowPlace, Row)>>(bytes) else { return false };
        self.rows.extend(rows);
        true
    }

    /// Takes all rows, in order.
    pub(crate) fn take_sorted(&mut self) -> Vec<Row> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by_key(|&(place, _)| place);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfc(time_ns: u64, node: u32, port: u32) -> (RowPlace, Row) {
        let event = PfcEvent { time_ns, node, is_switch: true, port, pause: true };
        (RowPlace::at_node(time_ns, node), Row::Pfc(event))
    }

    #[test]
    fn rows_of_processes_merge_by_time_and_node() {
        let rows = [pfc(5, 1, 2), pfc(5, 1, 1), pfc(5, 7, 1), pfc(6, 0, 1)];
        let sample = QueueRow { time_ns: 5, node: 9, port: 1, qlen_bytes: 3 };
        let (mut here, mut there) = (RowLog::default(), RowLog::default());
        for (index, (place, row)) in rows.iter().enumerate() {
            let log = if index == 2 { &mut there } else { &mut here };
            log.push(*place, row.clone());
        }
        there.push(RowPlace::of_sample(5, 9), Row::Queue(sample));
        assert!(here.add_bytes(&there.take_bytes()) && here.add_bytes(&there.take_bytes()));
        let mut expected = vec![Row::Queue(sample)];
        expected.extend(rows.map(|(_, row)| row));
        assert_eq!(here.take_sorted(), expected);
        assert!(!here.add_bytes(&[9, 1]), "cut off");
    }
}
