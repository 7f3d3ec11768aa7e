// SPDX-License-Identifier: GPL-2.0-only
//! Pauses by PFC as trees, storms, and deadlocks.

use crate::fleet::Paused;
use hpcc_core::engine::{Hold, Queue, Storm, circle};
use hpcc_core::topology::Network;
use hpcc_core::units::Nanos;
use hpcc_model::results::pauses_csv::PauseRow;
use hpcc_model::results::storms_csv::StormRow;
use hpcc_model::scenario::NicStorm;
use std::collections::HashMap;

/// All pauses until `end`, by their start, each with the one that caused it.
pub fn rows(mut holds: Vec<Hold>, network: &Network, end: Nanos) -> Vec<PauseRow> {
    holds.sort_by_key(|hold| (hold.now, hold.queue));
    let ports = network.ports();
    let mut rows: Vec<PauseRow> = Vec::new();
    let mut newest: HashMap<Queue, usize> = HashMap::new();
    // Those that last; one that follows without a resume takes the place of the one before.
    let mut lasting: HashMap<Queue, usize> = HashMap::new();
    for hold in &holds {
        let Queue { node, port, priority } = hold.queue;
        if let Some(row) = lasting.remove(&hold.queue) {
            rows[row].duration_ns = hold.now.0 - rows[row].start_ns;
        }
        if !hold.pause {
            continue;
        }
        let place = rows.len();
        let cause = hold.because.and_then(|because| newest.get(&because).copied());
        let (root, depth) = cause.map_or((place as u64, 0), |cause| (rows[cause].root, rows[cause].depth + 1));
        newest.insert(hold.queue, place);
        lasting.insert(hold.queue, place);
        rows.push(PauseRow {
            start_ns: hold.now.0,
            duration_ns: end.0.saturating_sub(hold.now.0),
            node,
            port: u32::from(port) + 1,
            paused: ports[node as usize][usize::from(port)].peer,
            priority,
            egress: hold.egress.map(|egress| u32::from(egress) + 1),
            cause: cause.map(|cause| cause as u64),
            root,
            depth,
        });
    }
    rows
}

/// Storms of NICs, of which those of one host and priority that overlap, or follow each other at once, are one.
pub fn together(storms: &[NicStorm]) -> Vec<NicStorm> {
    let mut sorted = storms.to_vec();
    sorted.sort_by_key(|storm| (storm.host, storm.priority, storm.time));
    let mut together: Vec<NicStorm> = Vec::new();
    for storm in sorted {
        match together.last_mut() {
            Some(last)
                if (last.host, last.priority) == (storm.host, storm.priority)
                    && last.until.is_none_or(|until| storm.time <= until) =>
            {
                last.until = last.until.zip(storm.until).map(|(one, other)| one.max(other));
            }
            _ => together.push(storm),
        }
    }
    together
}

/// All storms, by their beginning.
pub fn storms(mut storms: Vec<Storm>) -> Vec<StormRow> {
    storms.sort_by_key(|storm| (storm.begin, storm.queue));
    let row = |storm: &Storm| StormRow {
        node: storm.queue.node,
        port: u32::from(storm.queue.port) + 1,
        priority: storm.queue.priority,
        begin_ns: storm.begin.0,
        end_ns: storm.end.map(|end| end.0),
        packets: storm.packets,
        bytes: storm.bytes,
    };
    storms.iter().map(row).collect()
}

/// A sentence about the storms of a run, if there were any.
pub fn storm_note(storms: &[StormRow]) -> Option<String> {
    let first = storms.first()?;
    let packets: u64 = storms.iter().map(|storm| storm.packets).sum();
    Some(format!(
        "watchdogs found {} pauses that lasted too long, the first of them at switch {}, port {}, and {packets} packets were dropped: storms.csv",
        storms.len(),
        first.node,
        first.port
    ))
}

/// The deadlock that the network is in, if it is in one, in words.
pub fn deadlock(engine: &mut Paused<'_>) -> Option<String> {
    let circle = circle(&engine.waits());
    let first = circle.first()?;
    let names: Vec<String> = circle.iter().chain([first]).map(|queue| queue.node.to_string()).collect();
    Some(format!(
        "switches {} are in a deadlock: each waits for the next one to resume priority {}",
        names.join(", "),
        first.priority
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storms_that_overlap_or_touch_are_one() {
        let storm =
            |host, from, until: Option<u64>| NicStorm { time: Nanos(from), until: until.map(Nanos), host, priority: 3 };
        let of = |storms: &[NicStorm]| {
            let times = |storm: &NicStorm| (storm.host, storm.time.0, storm.until.map(|until| until.0));
            together(storms).iter().map(times).collect::<Vec<_>>()
        };
        let list = [storm(1, 40, Some(60)), storm(1, 5, Some(40)), storm(2, 5, Some(40)), storm(1, 10, Some(20))];
        assert_eq!(of(&list), [(1, 5, Some(60)), (2, 5, Some(40))]);
        assert_eq!(
            of(&[storm(1, 5, None), storm(1, 7, Some(9)), storm(1, 1, Some(4))]),
            [(1, 1, Some(4)), (1, 5, None)]
        );
    }
    use hpcc_core::topology::{Link, NodeKind};
    use hpcc_core::units::BitRate;

    /// Host 0, switches 1 and 2, host 3 in a row.
    fn line() -> Network {
        let link = |a| Link { a, b: a + 1, rate: BitRate::gbps(100), delay: Nanos(1), loss: 0.0 };
        let nodes = vec![NodeKind::Host, NodeKind::Switch, NodeKind::Switch, NodeKind::Host];
        Network { nodes, links: (0..3).map(link).collect() }
    }

    #[test]
    fn a_pause_belongs_to_the_newest_that_holds_it() {
        let queue = |node| Queue { node, port: 0, priority: 3 };
        let hold = |now, node, pause, because: Option<u32>| Hold {
            now: Nanos(now),
            queue: queue(node),
            pause,
            egress: because.map(|_| 1),
            because: because.map(queue),
        };
        // Parts tell theirs one after the other.
        let holds = vec![
            hold(30, 1, true, Some(2)),
            hold(10, 3, true, None),
            hold(15, 3, false, None),
            hold(17, 3, true, None),
            hold(20, 2, true, Some(3)),
            hold(40, 2, false, None),
        ];
        let rows = rows(holds, &line(), Nanos(100));
        let told: Vec<_> = rows.iter().map(|row| (row.node, row.duration_ns, row.cause, row.root, row.depth)).collect();
        assert_eq!(told, [(3, 5, None, 0, 0), (3, 83, None, 1, 0), (2, 20, Some(1), 1, 1), (1, 70, Some(2), 1, 2)]);
        assert_eq!(rows.iter().map(|row| row.paused).collect::<Vec<_>>(), [2, 2, 1, 0]);
    }
}
