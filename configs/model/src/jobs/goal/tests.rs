// SPDX-License-Identifier: GPL-2.0-only
//! GOAL files, valid and broken.

use super::*;
use crate::jobs::ideal;
use crate::jobs::testing::job;
use crate::memory::FileBudget;
use hpcc_core::workload::{Peer, Program};

const FREE: Costs = Costs { overhead: Nanos(0), gap: Nanos(0), per_byte: 0.0 };

const EXAMPLE: &str = "num_ranks 2
rank 0 { // the first
a: calc 5000
b: send 4096b to 1 tag 7 cpu 0 nic 0
b requires a
c: recv 1024b from 1 tag 8
c requires b
}
rank 1 {
x: recv 4096b from 0 tag 7 /* a comment
over two lines */ y: calc 2500 cpu 0
y requires x
z: send 1024b to 0 tag 8
z irequires y
}
";

/// An operation in binary form, with how many require its end and its start, and from where on in the list.
struct Entry(u8, u32, u64, u32, [u32; 4]);

/// A rank in binary form: roots, operations, list.
fn part(roots: &[u32], operations: &[Entry], list: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut whole = |number: u32| bytes.extend(number.to_le_bytes());
    whole(operations.len() as u32);
    whole(roots.len() as u32);
    roots.iter().for_each(|root| whole(*root));
    for Entry(what, peer, size, tag, lists) in operations {
        bytes.extend(0_u32.to_le_bytes());
        bytes.push(*what);
        bytes.extend(peer.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([0, 0]);
        lists.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    }
    list.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

fn binary(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [&4223_u64.to_le_bytes()[..], &(parts.len() as u32).to_le_bytes(), &[0, 0]].concat();
    let mut start = 6 + 16 * parts.len() as u64;
    for part in parts {
        bytes.extend(start.to_le_bytes());
        start += part.len() as u64;
        bytes.extend(start.to_le_bytes());
    }
    bytes.extend(parts.concat());
    bytes
}

/// What a file of so many bytes may take.
fn room(bytes: usize) -> FileBudget {
    Budget::new().expect("memory").file(bytes, false)
}

/// The example in binary form.
fn example() -> Vec<u8> {
    let first = [Entry(3, 9, 5000, 9, [1, 0, 0, 0]), Entry(1, 1, 4096, 7, [1, 1, 0, 0]), Entry(2, 1, 1024, 8, [0; 4])];
    let second = [Entry(2, 0, 4096, 7, [1, 0, 0, 0]), Entry(3, 0, 2500, 0, [0, 0, 1, 1]), Entry(1, 0, 1024, 8, [0; 4])];
    let parts = [part(&[0], &first, &[1, 2]), part(&[0], &second, &[1, 2])];
    binary(&parts)
}

fn load(bytes: &[u8], hosts: u32, costs: &Costs) -> Result<JobFile, String> {
    load_on(bytes, hosts, costs, None)
}

/// On hosts with so many links each, if NICs are links.
fn load_on(bytes: &[u8], hosts: u32, costs: &Costs, links: Option<&[u32]>) -> Result<JobFile, String> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.goal");
    std::fs::write(&path, bytes).expect("written");
    let prefix = format!("{}/", folder.path().display());
    let budget = Budget::new().expect("memory");
    read(&path, hosts, costs, links, &budget).map_err(|error| error.to_string().replace(&prefix, ""))
}

/// The time of a file where a message takes 1 us and a nanosecond a byte.
fn time(text: &str, costs: &Costs) -> u64 {
    let file = load(text.as_bytes(), 16, costs).expect("a schedule");
    let course = ideal::run(job(&file.graphs), None, |message| Nanos(1000 + message.size), |time| time);
    assert!(course.unfinished.is_empty());
    course.time.0
}

#[test]
fn text_and_binary_are_one_schedule() {
    let place = Place::file(Path::new("a.goal"));
    let sorted = |ranks: Vec<Rank>| -> Vec<Rank> {
        let sort = |mut rank: Rank| {
            rank.needs.sort_unstable_by_key(|need| (need.operation, need.other));
            rank
        };
        ranks.into_iter().map(sort).collect()
    };
    let text = goal_text::Text::of(&place, EXAMPLE.as_bytes()).and_then(|text| text.ranks(2)).expect("text");
    let bytes = example();
    assert_eq!(bytes.len(), 14 + 32 + 2 * (12 + 3 * 39 + 8));
    assert!(goal_binary::is(&bytes) && !goal_binary::is(EXAMPLE.as_bytes()));
    assert_eq!(sorted(text), sorted(goal_binary::read(&bytes, 2, &room(bytes.len())).expect("binary")));
    let file = load(&bytes, 2, &FREE).expect("binary");
    let course = ideal::run(job(&file.graphs), None, |message| Nanos(1000 + message.size), |time| time);
    // The answer needs the CPU on which rank 1 computes.
    assert_eq!((course.time.0, time(EXAMPLE, &FREE)), (5000 + 5096 + 2500 + 2024, 5000 + 5096 + 2500 + 2024));
    assert_eq!(ideal::depth(job(&file.graphs)).time, Nanos(2));
}

#[test]
fn each_requirement_counts() {
    // With a CPU for messages, rank 1 answers when it begins to compute.
    let text = EXAMPLE.replace("tag 7 cpu 0", "tag 7 cpu 1").replace("0 tag 8", "0 tag 8 cpu 1");
    assert_eq!(time(&text, &FREE), 5000 + 5096 + 2500);
    for (from, to, expected) in [
        ("irequires", "requires", 5000 + 5096 + 2500 + 2024),
        ("b requires a\n", "", 5096 + 2500),
        ("y requires x\n", "", 5000 + 5096),
    ] {
        let other = text.replace(from, to);
        assert_ne!(text, other);
        assert_eq!(time(&other, &FREE), expected, "{from}");
    }
}

#[test]
fn costs_are_those_of_the_model() {
    let sends = "num_ranks 2\nrank 0 {\nsend 10b to 1\nsend 10b to 1\nsend 10b to 1\n}\n\
        rank 1 {\nrecv 10b from 0\nrecv 10b from 0\nrecv 10b from 0\n}\n";
    assert_eq!(time(sends, &FREE), 1010);
    // One CPU each: the last leaves after three overheads, and the receiver has handled it one later.
    let costs = Costs { overhead: Nanos(1500), ..FREE };
    assert_eq!(time(sends, &costs), 3 * 1500 + 1010 + 1500);
    let costs = Costs { overhead: Nanos(100), per_byte: 0.5, ..FREE };
    assert_eq!(time(sends, &costs), 3 * (100 + 5) + 1010 + 105, "nine bytes behind the first");
    // The NIC's gap is between the begins of messages.
    let costs = Costs { gap: Nanos(700), ..FREE };
    assert_eq!(time(sends, &costs), 2 * 700 + 1010);
    // The one behind the last keeps nobody.
    let long = Costs { gap: Nanos(5_000), ..FREE };
    assert_eq!(time(sends, &long), 2 * 5_000 + 1010);
    assert_eq!(load(sends.as_bytes(), 2, &long).expect("a schedule").graphs[0].computations().count(), 0);
    let other_nic = sends.replacen("send 10b to 1\n}", "send 10b to 1 nic 1\n}", 1);
    assert_eq!(time(&other_nic, &costs), 700 + 1010);
    // A send waits for the CPU on which a computation runs, and not for another one.
    let computing = "num_ranks 2\nrank 0 {\ncalc 5000\nsend 10b to 1 cpu 0\n}\nrank 1 {\nrecv 10b from -1 tag -1\n}\n";
    assert_eq!(time(computing, &FREE), 5000 + 1010);
    assert_eq!(time(&computing.replace("cpu 0", "cpu 1"), &FREE), 5000);
}

/// NICs beyond the links of a host are refused, with the line; a receive's does not matter.
#[test]
fn nics_are_links_that_hosts_have() {
    let text = "num_ranks 2\nrank 0 {\nsend 9b to 1 nic 1\n}\nrank 1 {\nrecv 9b from 0 nic 7\n}\n";
    let refused = |links| load_on(text.as_bytes(), 2, &FREE, Some(links)).map(|_| ());
    let told = refused(&[1, 4]).expect_err("one link");
    assert!(told.starts_with("a.goal:3: rank 0, line 3: nic 1 of a host with 1 link; expected less"), "{told}");
    assert_eq!(refused(&[2, 1]), Ok(()));
    let binary = load_on(&example(), 2, &FREE, Some(&[0, 0])).map(|_| ()).expect_err("no link");
    assert!(binary.contains("a.goal: rank 0, operation 1: nic 0 of a host with 0 links"), "{binary}");
}

#[test]
fn a_nic_is_a_channel_and_wild_receives_match() {
    let text = "num_ranks 3\nrank 0 {\nsend 1b to 2 tag 4 nic 3\n}\nrank 1 {\nsend 1b to 2 tag 5\n}\n\
        rank 2 {\nrecv 1b from -1 tag 5\nrecv 1b from 0 tag -1\n}\n";
    let file = load(text.as_bytes(), 3, &FREE).expect("a schedule");
    assert_eq!(file.graphs[0].peers(), [Peer { rank: 2, channel: 3, messages: 1 }]);
    assert!(ideal::depth(job(&file.graphs)).unfinished.is_empty());
}

#[test]
fn bad_text_names_its_line() {
    let with = |operations: &str| format!("num_ranks 2\nrank 0 {{\n{operations}\n}}\nrank 1 {{\n}}\n");
    for (text, expected) in [
        (with("sent 1b to 1"), "a.goal:3: \"sent 1b to 1\" is no statement; expected a line such as"),
        (with("send 1b to 1 tog 1"), "a.goal:3: \"tog 1\" belongs to no such operation"),
        (with("calc 5 tag 1"), "a.goal:3: \"tag 1\" belongs to no such operation"),
        (with("calc 5 cpu"), "a.goal:3: \"cpu\" is too much"),
        (with("calc x"), "a.goal:3: the value is \"x\"; expected nanoseconds"),
        (with("calc 5 cpu 256"), "a.goal:3: the value is \"256\"; expected the number of a CPU, at most 255"),
        (with("send 1b to 2"), "a.goal:3: rank 2 is none of the 2 ranks; expected 0 to 1"),
        (with("send 1b to -1"), "a.goal:3: rank 4294967295 is none of the 2 ranks"),
        (with("a: calc 1\na: calc 1"), "a.goal:4: a is there twice in rank 0"),
        (with("a: calc 1\na requires b\nb: calc 1"), "a.goal:4: rank 0 has no b before this line"),
        (with("rank 1 {"), "a.goal:3: rank 0 has no end"),
        (with("}\nrank 0 {"), "a.goal:4: rank 0 is there twice"),
        (with("}\ncalc 1"), "a.goal:4: expected num_ranks once"),
        ("num_ranks 2\nrank 0 {\n".into(), "a.goal: the file ends within rank 0"),
        ("num_ranks 3\n".into(), "a.goal:1: there are 3 ranks and 2 hosts for them"),
        ("num_ranks 0\n".into(), "a.goal:1: there are 0 ranks"),
        (" \n".into(), "a.goal: num_ranks is missing"),
        ("num_ranks 2\nrank 2 {\n}".into(), "a.goal:2: rank 2 is none of the 2 ranks"),
        (
            with("a: send 1b to 1 tag 4"),
            "a.goal:3: rank 0, a (line 3): rank 0 sends 1 messages with tag 4 to rank 1, which receives 0",
        ),
        (
            with("calc 1\nrecv 1b from 1"),
            "a.goal:4: rank 0, line 4: rank 1 sends 0 messages with tag 0 to rank 0, which receives 1",
        ),
        (with("recv 1b from -1"), "a.goal:3: rank 0, line 3: 1 receives from any rank or with any tag have no message"),
        (
            with("a: calc 1\nb: send 1b to 1\nb requires a\na requires b"),
            "a.goal:3: rank 0, a (line 3): it requires itself, by others",
        ),
        (
            "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n\
             rank 1 {\nc: recv 1b from 0\nd: send 1b to 0\nd requires c\n}\n"
                .into(),
            "a.goal:3: rank 0, a (line 3): ranks wait for each other: a (line 3) of rank 0 waits for rank 1, \
             c (line 8) of rank 1 waits for rank 0",
        ),
    ] {
        let told = load(text.as_bytes(), 2, &FREE).map(|_| ()).expect_err(expected);
        assert!(told.starts_with(expected), "{told}");
    }
    let told = load(b"num_ranks 2\n\xff", 2, &FREE).map(|_| ()).expect_err("no text");
    assert_eq!(told, "a.goal:2: is neither GOAL's text nor its binary form: invalid UTF-8");
}

#[test]
fn broken_binary_files_are_refused() {
    let whole = example();
    for length in 8..whole.len() {
        assert!(load(&whole[..length], 2, &FREE).is_err(), "{length} bytes");
    }
    let told = |bytes: &[u8]| load(bytes, 2, &FREE).map(|_| ()).expect_err("broken");
    let changed = |place: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        told(&bytes)
    };
    let first = 8 + 6 + 32 + 12;
    assert_eq!(changed(8, 3), "a.goal: there are 3 ranks and 2 hosts for them; expected 1 to 2");
    assert!(changed(first + 4, 7).contains("rank 0: operation 0: its type is 7; expected 1 (send)"));
    assert!(changed(first + 39 + 5, 2).contains("operation 1: rank 2 is none of the 2 ranks"));
    assert!(changed(first + 39 + 9 + 7, 0x80).contains("operation 1: its size is"));
    assert!(changed(first + 3 * 39, 3).contains("operation 3 requires 0, but there are 3"));
    assert!(changed(first + 39 + 17, 6).contains("rank 0, operation 1: rank 0 sends 1 messages with tag 6"));
    assert!(changed(first + 31 + 2, 1).contains("rank 0: operation 0: its list of others is not in the file"));
}

/// Lists of all operations in one place, and one place for all ranks: a small file that says much.
#[test]
fn what_overlaps_is_refused_before_it_takes_memory() {
    const COUNT: u32 = 1_500;
    let operation = || Entry(3, 0, 1, 0, [COUNT, 0, 0, 0]);
    let operations: Vec<Entry> = (0..COUNT).map(|_| operation()).collect();
    let list: Vec<u32> = (0..COUNT).collect();
    let told = load(&binary(&[part(&[], &operations, &list)]), 2, &FREE).map(|_| ()).expect_err("lists");
    assert!(told.starts_with("a.goal: rank 0: what it holds takes more than"), "{told}");
    let operations: Vec<Entry> = (0..20_000).map(|_| Entry(3, 0, 1, 0, [0; 4])).collect();
    let shared = part(&[], &operations, &[]);
    let count = 100_u32;
    let mut bytes = [&4223_u64.to_le_bytes()[..], &count.to_le_bytes(), &[0, 0]].concat();
    let begin = 6 + 16 * u64::from(count);
    for _ in 0..count {
        bytes.extend(begin.to_le_bytes());
        bytes.extend((begin + shared.len() as u64).to_le_bytes());
    }
    bytes.extend(shared);
    let told = load(&bytes, count, &FREE).map(|_| ()).expect_err("extents");
    assert!(told.contains("as much as a file of") && told.contains("HPCC_MEMORY"), "{told}");
}
