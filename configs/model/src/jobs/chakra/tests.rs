// SPDX-License-Identifier: GPL-2.0-only
//! Chakra traces, valid and broken.

use super::*;
use crate::jobs::ideal;
use crate::jobs::testing::job;
use prost::encoding;
use std::io::Write;

/// A field of a message.
enum Field {
    Number(u32, u64),
    Text(u32, &'static str),
    Within(u32, Vec<Field>),
    Numbers(u32, &'static [u64]),
}
use Field::{Number, Numbers, Text, Within};

fn message(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let out = &mut bytes;
    for field in fields {
        match field {
            Number(tag, value) => encoding::uint64::encode(*tag, value, out),
            Text(tag, text) => encoding::bytes::encode(*tag, &text.as_bytes().to_vec(), out),
            Within(tag, fields) => encoding::bytes::encode(*tag, &message(fields), out),
            Numbers(tag, list) => encoding::uint64::encode_packed(*tag, list, out),
        }
    }
    bytes
}

/// A file: metadata and nodes, each behind its length.
fn trace(nodes: &[Vec<Field>]) -> Vec<u8> {
    framed(std::iter::once(Vec::new()).chain(nodes.iter().map(|node| message(node))))
}

fn framed(messages: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        encoding::encode_varint(message.len() as u64, &mut bytes);
        bytes.extend(message);
    }
    bytes
}

/// An attribute; the field of its value says of which type it is.
fn attribute(name: &'static str, value: Field) -> Field {
    Within(10, vec![Text(1, name), value])
}

/// A send or receive of 100 bytes with tag 5.
fn transfer(id: u64, kind: u64, peer: u64, after: &'static [u64]) -> Vec<Field> {
    let (side, name) = if kind == 5 { ("comm_dst", "send") } else { ("comm_src", "receive") };
    let attributes = [("comm_size", 9, 100), (side, 7, peer), ("comm_tag", 7, 5)];
    let mut node = vec![Number(1, id), Text(2, name), Number(3, kind), Numbers(5, after)];
    node.extend(attributes.map(|(name, tag, value)| attribute(name, Number(tag, value))));
    node
}

/// A computation of so many microseconds.
fn compute(id: u64, micros: u64, is_cpu: u64, after: &'static [u64]) -> Vec<Field> {
    let is_cpu = attribute("is_cpu_op", Number(27, is_cpu));
    vec![Number(1, id), Text(2, "compute"), Number(3, 4), Number(7, micros), Numbers(4, after), is_cpu]
}

fn collective(id: u64, kind: u64, size: u64, group: &'static str) -> Vec<Field> {
    let mut node = vec![Number(1, id), Text(2, "together"), Number(3, 7), attribute("comm_type", Number(9, kind))];
    node.extend([attribute("comm_size", Number(13, size)), attribute("pg_name", Text(29, group))]);
    node
}

fn load(files: &[Vec<u8>], groups: Option<&str>) -> Result<JobFile, String> {
    let folder = tempfile::tempdir().expect("folder");
    for (bytes, rank) in files.iter().zip(0..) {
        let extension = if bytes.starts_with(b"{") { "json" } else { "et" };
        std::fs::write(folder.path().join(format!("a.{rank}.{extension}")), bytes).expect("written");
    }
    let group_file = folder.path().join("groups.json");
    if let Some(groups) = groups {
        std::fs::write(&group_file, groups).expect("written");
    }
    let ways = |_| CollectiveOptions::default();
    let prefix = format!("{}/", folder.path().display());
    let file =
        read(&folder.path().join("a"), groups.map(|_| group_file.as_path()), 8, &ways, &Budget::new().expect("memory"));
    file.map_err(|error| error.to_string().replace(&prefix, ""))
}

/// The time of a trace where a message takes 1 us and a nanosecond a byte.
fn time(files: &[Vec<u8>]) -> u64 {
    let file = load(files, None).expect("a trace");
    let course = ideal::run(job(&file.graphs), None, |message| Nanos(1000 + message.size), |time| time);
    assert!(course.unfinished.is_empty());
    course.time.0
}

#[test]
fn a_trace_runs_in_order_of_its_dependences() {
    // The first node has no id field: it is 0.
    let mut first = compute(0, 20, 0, &[]);
    first.remove(0);
    let sender = trace(&[transfer(7, 5, 1, &[0]), first]);
    let receiver = trace(&[transfer(0, 6, 0, &[]), compute(1, 3, 1, &[0])]);
    assert_eq!(time(&[sender.clone(), receiver.clone()]), 20_000 + 1100 + 3000);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&receiver).expect("packed");
    assert_eq!(time(&[sender.clone(), packed.finish().expect("packed")]), 20_000 + 1100 + 3000);
    let json = r#"{"workload_graph": [{"Id": 0, "Name": "r", "NodeType": 6, "is_cpu_op": false, "comm_src": 0, "comm_tag": 5,
        "comm_size": 100, "data_deps": []}, {"Id": 1, "Name": "c", "NodeType": 4, "runtime": 3, "data_deps": [0]}]}"#;
    assert_eq!(time(&[sender, json.into()]), 20_000 + 1100 + 3000);
}

/// A size of 0 is one that somebody left out; a barrier has none.
#[test]
fn sizes_of_0_are_told() {
    let notes = |size: u64| {
        let node = |kind| trace(&[collective(3, 9, 0, ""), collective(4, kind, size, "")]);
        load(&[node(0), node(0)], None).expect("a trace").notes
    };
    assert!(notes(100).is_empty());
    let [note] = notes(0).try_into().expect("a note");
    let expected = "2 sends and collectives have comm_size 0, the first of them rank 0, node 4 (together): their messages take a byte each";
    assert!(note.ends_with(expected), "{note}");
}

#[test]
fn one_of_a_kind_runs_at_a_time() {
    let of = |nodes: &[Vec<Field>]| time(&[trace(nodes)]);
    assert_eq!(of(&[compute(0, 5, 0, &[]), compute(1, 7, 0, &[])]), 12_000);
    assert_eq!(of(&[compute(0, 5, 0, &[]), compute(1, 7, 1, &[])]), 7000);
    assert_eq!(of(&[compute(0, 0, 0, &[])]), 1);
    // Sends follow each other, receives do not.
    let sender = trace(&[transfer(1, 5, 1, &[]), transfer(2, 5, 1, &[])]);
    let receiver = trace(&[transfer(1, 6, 0, &[]), transfer(2, 6, 0, &[])]);
    assert_eq!(time(&[sender, receiver]), 2 * 1100);
}

#[test]
fn a_whole_number_may_have_any_type() {
    let with = |size: Field| {
        let mut node = transfer(1, 5, 1, &[]);
        node[4] = attribute("comm_size", size);
        let file = load(&[trace(&[node]), trace(&[transfer(1, 6, 0, &[])])], None).expect("a trace");
        file.graphs[0].traffic(|_| true)
    };
    for tag in [7, 9, 11, 13] {
        assert_eq!(with(Number(tag, 60)), (1, 60), "field {tag}");
    }
    // Signed ones alternate.
    assert_eq!([15, 17].map(|tag| with(Number(tag, 120))), [(1, 60), (1, 60)]);
}

#[test]
fn collectives_of_a_group_pair_up_by_their_order() {
    let of_rank = |size: u64, shift: u64| trace(&[collective(shift, 0, size, "g"), collective(3 + shift, 2, 1000, "")]);
    let groups = r#"{"g": [0, 2], "h": [0, 1, 2, 3]}"#;
    let mut files =
        [of_rank(800, 0), trace(&[collective(9, 2, 1000, "h")]), of_rank(800, 1), trace(&[collective(0, 2, 1000, "")])];
    let told = load(&files, Some(groups)).map(|_| ()).expect_err("other names are other groups");
    assert!(told.contains("ranks take part, and group"), "{told}");
    files[1] = trace(&[collective(9, 2, 1000, "0")]);
    let file = load(&files, Some(groups)).expect("a trace");
    // An all-gather's size is a rank's part here, and the whole in results.
    let plans: Vec<_> = file.collectives.iter().map(|plan| (plan.number, plan.size, plan.group.to_vec())).collect();
    assert_eq!(plans, [(0, 800, vec![0, 2]), (1, 4000, vec![0, 1, 2, 3])]);
    let course = ideal::run(job(&file.graphs), None, |message| Nanos(1000 + message.size), |time| time);
    // Rings: 2 steps of 400 bytes, then 3 of 1000.
    assert_eq!(course.time, Nanos(2 * 1400 + 3 * 2000));
    files[2] = of_rank(801, 1);
    let told = load(&files, Some(groups)).map(|_| ()).expect_err("another size");
    assert_eq!(
        told,
        "a.2.et: rank 2, node 1 (together): collective 0 of group g is another one at rank 0: node 0 (together); \
         expected the same kind and size"
    );
}

#[test]
fn metadata_names_groups() {
    let metadata = |groups: &'static str| vec![Number(1, 1), Number(3, 1), Within(8, vec![Text(1, groups)])];
    let groups = "[{\"pg_name\": \"4\", \"ranks\": [0, 1]}, {\"pg_name\": \"7\", \"ranks\": []}]";
    let file = trace(&[metadata(groups), collective(2, 6, 1000, "4"), collective(3, 9, 0, "7")]);
    let file = load(&[file.clone(), file], None).expect("a trace");
    let kinds: Vec<_> = file.collectives.iter().map(|plan| (plan.pattern.kind, plan.group.len())).collect();
    assert_eq!(kinds, [(Kind::AllToAll, 2), (Kind::Barrier, 2)]);
}

#[test]
fn broken_traces_are_refused() {
    let good = trace(&[transfer(1, 5, 1, &[]), compute(2, 1, 0, &[1])]);
    let other = trace(&[transfer(1, 6, 0, &[])]);
    assert!(load(&[good.clone(), other.clone()], None).is_ok());
    for length in 0..good.len() {
        let is_whole = length == trace(&[transfer(1, 5, 1, &[])]).len();
        assert_eq!(load(&[good[..length].to_vec(), other.clone()], None).is_ok(), is_whole, "{length} bytes");
    }
    let of = |nodes: &[Vec<Field>]| {
        load(&[trace(nodes), trace(&[])], Some(r#"{"g": [1]}"#)).map(|_| ()).expect_err("broken")
    };
    for (nodes, expected) in [
        (vec![transfer(1, 5, 2, &[])], "a.0.et: rank 0, node 1 (send): rank 2 is none of the 2 ranks"),
        (
            vec![transfer(1, 5, 1, &[])],
            "a.0.et: rank 0, node 1 (send): rank 0 sends 1 messages with tag 5 to rank 1, which receives 0",
        ),
        (vec![compute(1, 1, 0, &[4])], "a.0.et: rank 0, node 1 (compute): it depends on node 4, which is not there"),
        (vec![compute(1, 1, 0, &[]), compute(1, 1, 0, &[])], "a.0.et: rank 0, node 1 (compute): its id is there twice"),
        (
            vec![compute(1, 1, 0, &[2]), compute(2, 1, 0, &[1])],
            "a.0.et: rank 0, node 1 (compute): it depends on itself",
        ),
        (
            vec![compute(1, u64::MAX, 0, &[])],
            "a.0.et: rank 0, node 1 (compute): 18446744073709551615 microseconds are too long",
        ),
        (vec![vec![Number(3, 9)]], "a.0.et: rank 0, node 0 (): its type is 9; expected 0 to 7"),
        (vec![collective(1, 0, 8, "x")], "a.0.et: rank 0, node 1 (together): there is no group x"),
        (vec![collective(1, 0, 8, "g")], "a.0.et: rank 0, node 1 (together): it is no member of group g"),
        (vec![collective(1, 3, 8, "")], "a.0.et: rank 0, node 1 (together): comm_type is 3"),
        (vec![collective(1, 0, 8, "")], "a.0.et: rank 0, node 1 (together): 1 ranks take part, and group 0 has 2"),
    ] {
        let told = of(&nodes);
        assert!(told.starts_with(expected), "{told}");
    }
    let told = |files: &[Vec<u8>], groups| load(files, groups).map(|_| ()).expect_err("broken");
    assert!(told(&[], None).starts_with("a: there are 0 files PREFIX.RANK.et and 8 hosts"));
    assert!(told(&[b"{\n\"workload\": 1}".to_vec()], None).starts_with("a.0.json:2: no trace in JSON: missing field"));
    assert!(told(&[vec![0x1f, 0x8b, 1]], None).starts_with("a.0.et: cannot be unpacked"));
    assert!(told(&[trace(&[])], Some("[1]")).starts_with("groups.json:1: no groups: invalid type"));
    assert!(told(&[trace(&[])], Some(r#"{"1": [1]}"#)).starts_with("groups.json: group 1 has rank 1, and there are 1"));
}

/// Nodes of a byte each, of which a compressed file has a thousand in a byte.
#[test]
fn a_small_file_of_many_nodes_is_refused() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&vec![0; 1_000_000]).expect("packed");
    let packed = packed.finish().expect("packed");
    let told = load(&[packed, trace(&[])], None).map(|_| ()).expect_err("many nodes");
    assert!(told.starts_with("a.0.et: what it holds takes more than") && told.contains("HPCC_MEMORY"), "{told}");
    let json = format!("{{\"workload_graph\": [{}{{}}]}}", "{},".repeat(600_000));
    let told = load(&[json.into_bytes()], None).map(|_| ()).expect_err("many nodes");
    assert!(told.starts_with("a.0.json: what it holds takes more than"), "{told}");
}
