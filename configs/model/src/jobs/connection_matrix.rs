// SPDX-License-Identifier: GPL-2.0-only
//! Connection matrices of htsim: connections that start at a time, or when triggers fire.
//!
//! What fires at one host and starts a connection from the same host takes no time. Otherwise a message would have to tell of it.

use super::{JobFile, digest, matching};
use crate::error::{InputError, suggestion};
use crate::flow::MOST_BYTES;
use crate::place::Place;
use hpcc_core::units::Nanos;
use hpcc_core::workload::{GraphBuilder, Work};
use std::collections::BTreeMap;
use std::path::Path;

/// A connection: one message.
#[derive(Clone, Debug, Default)]
struct Connection {
    line: u32,
    src: u32,
    dst: u32,
    start: Option<Nanos>,
    size: Option<u64>,
    /// It belongs to a connection that other messages use, too.
    is_shared: bool,
    /// Starts it.
    trigger: Option<u32>,
    /// Fires when all is acknowledged.
    on_sent: Option<u32>,
    /// Fires when all has arrived.
    on_received: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Starts all that wait the first time.
    OneShot,
    /// Starts the next one that waits each time.
    MultiShot,
    /// Starts all that wait when it was reached so often.
    Barrier(u32),
}

#[derive(Clone, Copy, Debug)]
struct Trigger {
    line: u32,
    mode: Mode,
}

/// What a file says.
#[derive(Debug, Default)]
struct Matrix {
    nodes: u32,
    connections: Vec<Connection>,
    triggers: BTreeMap<u32, Trigger>,
}

/// Tags of messages that tell of triggers are apart from those of connections, which are their numbers.
const OF_TRIGGERS: u64 = 1 << 32;

/// Reads a file of at most so many nodes. Triggers that start connections of other hosts are refused, or a message tells of each.
///
/// # Errors
/// What is no connection matrix, and connections that never start.
pub fn read(path: &Path, most_nodes: u32, by_message: bool) -> Result<JobFile, InputError> {
    let place = Place::file(path);
    let text = crate::text::read(path)?;
    let matrix = parse(&place, &text, most_nodes)?;
    let digest = digest([text.as_bytes(), &[by_message.into()]]);
    let mut ranks = Ranks::new(&matrix, &place);
    for trigger in matrix.triggers.keys() {
        ranks.connect(*trigger, by_message)?;
    }
    let Ranks { builders, owners, .. } = ranks;
    let named = |rank: u32, node: u32| {
        let line = matrix.connections[owners[rank as usize][node as usize] as usize].line;
        (place.at(line), format!("line {line}"))
    };
    let mut graphs = Vec::new();
    for (builder, rank) in builders.into_iter().zip(0..) {
        graphs.push(builder.build().map_err(|circle| {
            let (place, _) = named(rank, circle.operation);
            place.error("the connection waits for itself, by triggers; expected no circle")
        })?);
    }
    matching::check(&graphs, named)?;
    Ok(JobFile { graphs, collectives: Vec::new(), digest, notes: Vec::new() })
}

/// The ranks' graphs in the making.
struct Ranks<'a> {
    matrix: &'a Matrix,
    place: &'a Place,
    builders: Vec<GraphBuilder>,
    /// By rank and operation: the connection that it belongs to.
    owners: Vec<Vec<u32>>,
    /// By connection: where it begins, is acknowledged, and has arrived.
    first: Vec<u32>,
    sent: Vec<u32>,
    received: Vec<u32>,
}

impl<'a> Ranks<'a> {
    fn new(matrix: &'a Matrix, place: &'a Place) -> Ranks<'a> {
        let nodes = matrix.nodes as usize;
        let (builders, owners) = (vec![GraphBuilder::default(); nodes], vec![Vec::new(); nodes]);
        let (first, sent, received) = (Vec::new(), Vec::new(), Vec::new());
        let mut ranks = Ranks { matrix, place, builders, owners, first, sent, received };
        // Each connection of a pair has a queue pair of its own.
        let mut pairs: BTreeMap<(u32, u32), u16> = BTreeMap::new();
        for (connection, number) in matrix.connections.iter().zip(0..) {
            let &Connection { src, dst, start, size, is_shared, .. } = connection;
            let count = pairs.entry((src, dst)).or_default();
            let channel = if is_shared { 0 } else { *count };
            *count = count.wrapping_add(1);
            let (tag, size) = (u64::from(number), size.unwrap_or_default());
            let send = ranks.add(src, number, Work::Send { to: dst, tag, size, channel });
            let mut first = send;
            if let Some(start) = start.filter(|start| *start > Nanos(0)) {
                first = ranks.add(src, number, Work::Wait(start));
                ranks.builders[src as usize].require_end(send, first);
            }
            let received = ranks.add(dst, number, Work::Receive { from: Some(src), tag: Some(tag) });
            ranks.first.push(first);
            ranks.sent.push(send);
            ranks.received.push(received);
        }
        ranks
    }

    fn add(&mut self, rank: u32, connection: u32, work: Work) -> u32 {
        self.owners[rank as usize].push(connection);
        self.builders[rank as usize].add(work, None)
    }

    /// Lets a trigger start what waits for it.
    fn connect(&mut self, trigger: u32, by_message: bool) -> Result<(), InputError> {
        let matrix = self.matrix;
        let Trigger { line, mode } = matrix.triggers[&trigger];
        // Connections that fire it, with the rank at which each does and the operation whose end that is.
        let mut sources = Vec::new();
        for (connection, number) in matrix.connections.iter().zip(0_u32..) {
            if connection.on_sent == Some(trigger) {
                sources.push((number, connection.src, self.sent[number as usize]));
            }
            if connection.on_received == Some(trigger) {
                sources.push((number, connection.dst, self.received[number as usize]));
            }
        }
        let waiting: Vec<u32> = (matrix.connections.iter().zip(0..))
            .filter_map(|(connection, number)| (connection.trigger == Some(trigger)).then_some(number))
            .collect();
        let of = |number: u32| &matrix.connections[number as usize];
        // How often it must be reached, and whether all wait for that time.
        let (needed, is_at_once) = match mode {
            Mode::OneShot => (1, true),
            Mode::Barrier(count) => (count, true),
            Mode::MultiShot => (waiting.len() as u32, false),
        };
        let Some(&last) = waiting.last() else { return Ok(()) };
        if (sources.len() as u32) < needed {
            return Err(self.place.at(line).error(format!(
                "trigger {trigger} is reached {} times, and line {} waits for time {needed}; expected as many",
                sources.len(),
                of(last).line
            )));
        }
        let mut hosts: Vec<u32> = waiting.iter().map(|&number| of(number).src).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let far = (hosts.iter()).find_map(|host| Some((host, sources.iter().find(|(_, rank, _)| rank != host)?)));
        if let Some((host, (source, rank, _))) = far.filter(|_| !by_message) {
            return Err(self.place.at(of(*source).line).error(format!(
                "trigger {trigger} fires at node {rank} and starts a connection of node {host}, which cannot know of it at once; \
                 expected connections of one node, or traffic.remote_triggers = \"message\""
            )));
        }
        if !is_at_once && hosts.len() > 1 {
            return Err(self.place.at(line).error(format!(
                "trigger {trigger} is a multishot for connections of nodes {} and {}, which cannot know whose turn it is; expected one node",
                hosts[0], hosts[1]
            )));
        }
        if far.is_none() && is_at_once && needed as usize == sources.len() {
            for &number in &waiting {
                for &(_, rank, operation) in &sources {
                    self.builders[rank as usize].require_end(self.first[number as usize], operation);
                }
            }
            return Ok(());
        }
        let tag = Some(OF_TRIGGERS | u64::from(trigger));
        for host in hosts {
            let own = || waiting.iter().copied().filter(|&number| of(number).src == host);
            for &(number, rank, operation) in &sources {
                let send = Work::Send { to: host, tag: OF_TRIGGERS | u64::from(trigger), size: 0, channel: 0 };
                let send = self.add(rank, number, send);
                self.builders[rank as usize].require_end(send, operation);
            }
            // Receives are in order: each is over when the trigger is reached once more.
            let owner = own().next().unwrap_or_default();
            let times: Vec<u32> =
                (0..sources.len()).map(|_| self.add(host, owner, Work::Receive { from: None, tag })).collect();
            for (number, turn) in own().zip(0..) {
                let time = if is_at_once { needed - 1 } else { turn };
                self.builders[host as usize].require_end(self.first[number as usize], times[time as usize]);
            }
        }
        Ok(())
    }
}

fn parse(place: &Place, text: &str, most_nodes: u32) -> Result<Matrix, InputError> {
    let mut matrix = Matrix::default();
    let mut announced: BTreeMap<&str, u32> = BTreeMap::new();
    let mut failures = 0;
    for (line, number) in text.lines().zip(1..) {
        let wrong = |message: String| place.at(number).error(message);
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            [key @ ("Nodes" | "Connections" | "Triggers" | "Failures"), count] => {
                let count = whole(count, u32::MAX.into()).map_err(wrong)? as u32;
                announced.insert(key, count);
                if key == "Nodes" {
                    if count > most_nodes {
                        return Err(wrong(format!(
                            "there are {count} nodes and {most_nodes} hosts for them; expected at most {most_nodes}"
                        )));
                    }
                    matrix.nodes = count;
                }
            }
            ["trigger", "id", id, mode, ref rest @ ..] => {
                let id = whole(id, u32::MAX.into()).map_err(wrong)? as u32;
                let mode = match (mode, rest) {
                    ("oneshot", []) => Mode::OneShot,
                    ("multishot", []) => Mode::MultiShot,
                    ("barrier", &["count", count]) => match whole(count, u32::MAX.into()).map_err(wrong)? as u32 {
                        0 => return Err(wrong("the count is 0; expected at least 1".into())),
                        count => Mode::Barrier(count),
                    },
                    _ => {
                        return Err(wrong(format!(
                            "\"{line}\" is no trigger; expected oneshot, multishot or barrier count N"
                        )));
                    }
                };
                if matrix.triggers.insert(id, Trigger { line: number, mode }).is_some() {
                    return Err(wrong(format!("trigger {id} is there twice; expected it once")));
                }
            }
            ["failure", ..] => failures += 1,
            [pair, ref rest @ ..] if pair.contains("->") => {
                matrix.connections.push(connection(number, pair, rest, matrix.nodes).map_err(wrong)?);
            }
            [word, ..] => {
                let known = ["Nodes", "Connections", "Triggers", "Failures", "trigger", "failure", "SRC->DST"];
                return Err(wrong(format!("\"{word}\" begins no line{}", suggestion(word, &known))));
            }
        }
    }
    if failures > 0 || announced.get("Failures").is_some_and(|count| *count > 0) {
        return Err(place.error("the file lets links fail; expected none here, and [failures] in the scenario"));
    }
    for (key, found) in [("Connections", matrix.connections.len()), ("Triggers", matrix.triggers.len())] {
        let count = announced.get(key).copied().unwrap_or_default();
        if found as u32 != count {
            return Err(place.error(format!("there are {found} {key}; expected {count}, as the head of the file says")));
        }
    }
    for Connection { line, trigger, on_sent, on_received, .. } in &matrix.connections {
        let unknown =
            [trigger, on_sent, on_received].into_iter().flatten().find(|id| !matrix.triggers.contains_key(id));
        if let Some(id) = unknown {
            return Err(place
                .at(*line)
                .error(format!("there is no trigger {id}; expected a line \"trigger id {id} oneshot\"")));
        }
    }
    Ok(matrix)
}

fn whole(word: &str, most: u64) -> Result<u64, String> {
    let number = word.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(|| format!("the value is \"{word}\"; expected a number from 0 to {most}"))
}

fn connection(line: u32, pair: &str, mut words: &[&str], nodes: u32) -> Result<Connection, String> {
    let ends = pair.split_once("->").and_then(|(src, dst)| Some((src.parse::<u32>().ok()?, dst.parse::<u32>().ok()?)));
    let (src, dst) = ends.ok_or_else(|| format!("\"{pair}\" is no pair of nodes; expected such as 0->7"))?;
    if src >= nodes || dst >= nodes || src == dst {
        return Err(format!(
            "\"{pair}\" is between two of {nodes} nodes; expected different ones, and \"Nodes N\" before"
        ));
    }
    let mut connection = Connection { line, src, dst, ..Connection::default() };
    let id = |word: &str| whole(word, u32::MAX.into()).map(|id| id as u32);
    while let [key, ref rest @ ..] = *words {
        let value = rest.first().copied();
        // Says that the connection is shared, with or without a number.
        if key == "msg" && value.is_none_or(|word| word.parse::<u32>().is_err()) {
            (connection.is_shared, words) = (true, rest);
            continue;
        }
        let value = value.ok_or_else(|| format!("{key} has no value; expected a number"))?;
        match key {
            "start" => connection.start = Some(picoseconds(value)?),
            "size" => connection.size = Some(whole(value, MOST_BYTES)?),
            "msg" => connection.is_shared = true,
            "trigger" => connection.trigger = Some(id(value)?),
            "send_done_trigger" => connection.on_sent = Some(id(value)?),
            "recv_done_trigger" => connection.on_received = Some(id(value)?),
            "id" if id(value)? == 0 => return Err("the id is 0; expected another number".into()),
            // Of no consequence: triggers name each other, and there are no receivers that choose.
            "id" | "prio" => _ = id(value)?,
            _ => {
                let known = ["start", "size", "id", "msg", "trigger", "send_done_trigger", "recv_done_trigger", "prio"];
                return Err(format!("unknown word {key}{}", suggestion(key, &known)));
            }
        }
        words = &rest[1..];
    }
    if connection.start.is_some() == connection.trigger.is_some() {
        return Err("expected start or trigger, and not both".into());
    }
    if connection.size.is_none() {
        return Err("size is missing; expected the bytes of the connection".into());
    }
    Ok(connection)
}

/// A time as htsim reads it: of 32 bits, of which 24 are exact.
fn picoseconds(word: &str) -> Result<Nanos, String> {
    let time = word.parse::<f32>().ok().filter(|time| (0.0..9e18).contains(time));
    let time = time.ok_or_else(|| format!("the start is \"{word}\"; expected picoseconds"))?;
    Ok(Nanos((f64::from(time) / 1000.0).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::ideal;
    use crate::jobs::testing::job;

    fn load(text: &str, by_message: bool) -> Result<JobFile, String> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.cm");
        std::fs::write(&path, text).expect("written");
        let prefix = format!("{}/", folder.path().display());
        read(&path, 8, by_message).map_err(|error| error.to_string().replace(&prefix, ""))
    }

    fn head(connections: u32, triggers: u32) -> String {
        format!("# a comment\nNodes 8\nConnections {connections}\nTriggers {triggers}\n")
    }

    /// When each connection ends, by its size, where a message takes as many nanoseconds as it has bytes.
    fn time(text: &str, by_message: bool) -> u64 {
        let file = load(text, by_message).expect("a matrix");
        let course = ideal::run(job(&file.graphs), None, |message| Nanos(message.size), |time| time);
        assert!(course.unfinished.is_empty());
        course.time.0
    }

    #[test]
    fn times_are_picoseconds_of_a_short_float() {
        let text = |start: &str| format!("{}0->7 start {start} size 10\n", head(1, 0));
        assert_eq!(time(&text("12000000"), false), 12_010);
        assert_eq!(time(&text("1499"), false), 11);
        // The next number of 32 bits.
        assert_eq!(time(&text("123456789012"), false), 123_456_791 + 10);
    }

    #[test]
    fn triggers_of_one_node_take_no_time() {
        let chain = format!(
            "{}0->1 id 1 start 0 size 100 send_done_trigger 1\n0->2 id 2 trigger 1 size 20 recv_done_trigger 2\n\
             2->3 id 3 trigger 2 size 3\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n",
            head(3, 2)
        );
        assert_eq!(time(&chain, false), 123);
        let barrier = |count: u32| {
            format!(
                "{}0->1 start 0 size 100 send_done_trigger 1\n0->2 start 0 size 300 send_done_trigger 1\n\
                 3->0 start 0 size 200 recv_done_trigger 1\n0->4 trigger 1 size 1000\ntrigger id 1 barrier count {count}\n",
                head(4, 1)
            )
        };
        assert_eq!([1, 2, 3].map(|count| time(&barrier(count), false)), [1100, 1200, 1300]);
        assert_eq!(time(&barrier(1).replace("barrier count 1", "oneshot"), false), 1100);
    }

    #[test]
    fn a_multishot_starts_the_next_each_time() {
        let text = format!(
            "{}0->1 start 0 size 100 send_done_trigger 1\n0->2 start 0 size 300 send_done_trigger 1\n\
             0->3 trigger 1 size 1000\n0->4 trigger 1 size 1001\ntrigger id 1 multishot\n",
            head(4, 1)
        );
        assert_eq!(time(&text, false), 300 + 1001);
        // Two at once, as many turns as are needed.
        let window = text
            .replace("size 1000", "size 1000 send_done_trigger 1")
            .replace("size 100 send_done_trigger 1", "size 100");
        assert_eq!(time(&window, false), 300 + 1000 + 1001);
    }

    #[test]
    fn triggers_of_other_nodes_need_a_message() {
        let text = format!(
            "{}0->1 start 0 size 100 send_done_trigger 1\n1->2 trigger 1 size 20\n3->2 trigger 1 size 30\ntrigger id 1 oneshot\n",
            head(3, 1)
        );
        let told = load(&text, false).map(|_| ()).expect_err("elsewhere");
        assert!(
            told.starts_with("a.cm:5: trigger 1 fires at node 0 and starts a connection of node 1, which cannot"),
            "{told}"
        );
        assert_eq!(time(&text, true), 100 + 1 + 30);
    }

    #[test]
    fn connections_of_a_pair_have_their_own_queue_pairs_unless_they_say_otherwise() {
        let text = format!(
            "{}0->1 start 0 size 1\n0->1 start 0 size 1\n2->1 msg start 0 size 1\n2->1 id 3 msg 7 start 0 size 1\n",
            head(4, 0)
        );
        let file = load(&text, false).expect("a matrix");
        let channels = |rank: usize| -> Vec<u16> {
            let works = file.graphs[rank].works();
            works.filter_map(|work| if let Work::Send { channel, .. } = work { Some(*channel) } else { None }).collect()
        };
        assert_eq!((channels(0), channels(2)), (vec![0, 1], vec![0, 0]));
    }

    #[test]
    fn bad_lines_are_named() {
        let one = |line: &str| format!("{}{line}\n", head(1, 0));
        let two = |line: &str, trigger: &str| format!("{}{line}\ntrigger id 1 {trigger}\n", head(1, 1));
        for (text, expected) in [
            (one("0->8 start 0 size 1"), "a.cm:5: \"0->8\" is between two of 8 nodes; expected different ones"),
            (one("0->0 start 0 size 1"), "a.cm:5: \"0->0\" is between two"),
            (one("0->x start 0 size 1"), "a.cm:5: \"0->x\" is no pair of nodes"),
            (one("0->1 start -1 size 1"), "a.cm:5: the start is \"-1\"; expected picoseconds"),
            (one("0->1 start 0 size 1.5"), "a.cm:5: the value is \"1.5\"; expected a number"),
            (one("0->1 start 0"), "a.cm:5: size is missing"),
            (one("0->1 size 1"), "a.cm:5: expected start or trigger"),
            (one("0->1 start 0 trigger 1 size 1"), "a.cm:5: expected start or trigger, and not both"),
            (one("0->1 start 0 size 1 id 0"), "a.cm:5: the id is 0"),
            (one("0->1 start 0 sise 1"), "a.cm:5: unknown word sise; did you mean size?"),
            (one("0->1 start 0 size"), "a.cm:5: size has no value"),
            (one("0->1 trigger 4 size 1"), "a.cm:5: there is no trigger 4"),
            (one(""), "a.cm: there are 0 Connections; expected 1, as the head of the file says"),
            (one("nodes 4"), "a.cm:5: \"nodes\" begins no line; did you mean Nodes?"),
            (one("failure switch_type AGG switch_id 2 link_id 0"), "a.cm: the file lets links fail"),
            ("Nodes 9\n".into(), "a.cm:1: there are 9 nodes and 8 hosts for them"),
            (
                two("0->1 trigger 1 size 1", "oneshot"),
                "a.cm:6: trigger 1 is reached 0 times, and line 5 waits for time 1",
            ),
            (two("0->1 start 0 size 1", "twoshot"), "a.cm:6: \"trigger id 1 twoshot\" is no trigger"),
            (two("0->1 start 0 size 1", "barrier count 0"), "a.cm:6: the count is 0"),
            (
                two("0->1 trigger 1 size 1 send_done_trigger 1", "oneshot"),
                "a.cm:5: the connection waits for itself, by triggers",
            ),
        ] {
            let told = load(&text, false).map(|_| ()).expect_err(expected);
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
