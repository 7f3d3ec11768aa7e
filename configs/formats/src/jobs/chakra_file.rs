// SPDX-License-Identifier: GPL-2.0-only
//! A file of a Chakra execution trace: protobuf messages, each behind its length, or JSON; either may be compressed.

use crate::error::InputError;
use crate::memory::{Budget, FileBudget};
use crate::place::Place;
use crate::text::{json_line, unreadable};
use flate2::read::GzDecoder;
use protobuf::CodedInputStream;
use protobuf::rt::WireType;
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

/// A node, as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(super) struct Node {
    #[serde(rename = "Id", alias = "id", default)]
    pub id: u64,
    #[serde(rename = "Name", alias = "name", default)]
    pub name: String,
    #[serde(rename = "NodeType", alias = "type", default)]
    pub kind: u64,
    #[serde(default)]
    pub data_deps: Vec<u64>,
    #[serde(default)]
    pub ctrl_deps: Vec<u64>,
    /// Microseconds.
    #[serde(rename = "runtime", alias = "duration_micros", default)]
    pub duration: u64,
    #[serde(default)]
    pub is_cpu_op: bool,
    pub comm_type: Option<u64>,
    #[serde(default)]
    pub comm_size: u64,
    #[serde(default)]
    pub comm_src: u32,
    #[serde(default)]
    pub comm_dst: u32,
    #[serde(default)]
    pub comm_tag: u32,
    #[serde(default)]
    pub pg_name: String,
    /// What its input is, as text: groups of processes.
    #[serde(skip)]
    pub inputs: String,
}

#[derive(Deserialize)]
struct Json {
    workload_graph: Vec<Node>,
}

/// The nodes of a file, and its bytes as they are stored.
pub(super) fn read(path: &Path, budget: &Budget) -> Result<(Vec<Node>, Vec<u8>), InputError> {
    let place = Place::file(path);
    let stored = crate::input::read(path).map_err(|error| unreadable(&place, &error))?;
    let mut unpacked = Vec::new();
    let is_packed = stored.starts_with(&[0x1f, 0x8b]);
    let room = budget.file(stored.len(), is_packed);
    let bytes = if is_packed {
        // A buffer that grows is there twice for a moment.
        let most = room.left() / 2;
        GzDecoder::new(&stored[..])
            .take(most.saturating_add(1))
            .read_to_end(&mut unpacked)
            .map_err(|error| place.error(format!("cannot be unpacked: {error}")))?;
        room.take_list::<u8>(unpacked.len() as u64).map_err(|message| place.error(message))?;
        &unpacked
    } else {
        &stored
    };
    let nodes = if bytes.first() == Some(&b'{') {
        // Each begins with a brace, and each number of a list follows a comma or a bracket.
        let count = |marks: &[u8]| bytes.iter().filter(|byte| marks.contains(byte)).count() as u64;
        let taken = room.take_list::<Node>(count(b"{")).and_then(|()| room.take_list::<u64>(count(b",[")));
        taken.map_err(|message| place.error(message))?;
        let json: Result<Json, _> = serde_json::from_slice(bytes);
        json.map_err(|error| place.at(json_line(&error, bytes)).error(format!("no trace in JSON: {error}")))?
            .workload_graph
    } else {
        of_messages(bytes, &room).map_err(|message| place.error(message))?
    };
    Ok((nodes, stored))
}

/// The first message says of the file what nobody needs here; it may be empty.
fn of_messages(bytes: &[u8], room: &FileBudget) -> Result<Vec<Node>, String> {
    let mut input = CodedInputStream::from_bytes(bytes);
    let mut nodes = Vec::new();
    let mut count = 0;
    while !input.eof().unwrap_or(true) {
        let at = input.pos();
        let wrong = |error: protobuf::Error| format!("message {count}, at byte {at}, is no part of a trace: {error}");
        let length = input.read_raw_varint32().map_err(wrong)?;
        if count == 0 {
            input.skip_raw_bytes(length).map_err(wrong)?;
        } else {
            let node = within(&mut input, length.into(), node).map_err(wrong)?;
            room.take_list::<Node>(1)?;
            room.take_list::<u64>((node.ctrl_deps.len() + node.data_deps.len()) as u64)?;
            nodes.push(node);
        }
        count += 1;
    }
    if count == 0 { Err("the file is empty; expected a trace".into()) } else { Ok(nodes) }
}

fn node(input: &mut CodedInputStream<'_>) -> protobuf::Result<Node> {
    let mut node = Node::default();
    while let Some(tag) = input.read_raw_tag_or_eof()? {
        match field(tag)? {
            (1, WireType::Varint) => node.id = input.read_uint64()?,
            (2, WireType::LengthDelimited) => node.name = input.read_string()?,
            (3, WireType::Varint) => node.kind = input.read_uint64()?,
            (4, WireType::LengthDelimited) => input.read_repeated_packed_uint64_into(&mut node.ctrl_deps)?,
            (4, WireType::Varint) => node.ctrl_deps.push(input.read_uint64()?),
            (5, WireType::LengthDelimited) => input.read_repeated_packed_uint64_into(&mut node.data_deps)?,
            (5, WireType::Varint) => node.data_deps.push(input.read_uint64()?),
            (7, WireType::Varint) => node.duration = input.read_uint64()?,
            (8, WireType::LengthDelimited) => {
                let length = input.read_raw_varint64()?;
                within(input, length, |input| {
                    while let Some(tag) = input.read_raw_tag_or_eof()? {
                        match field(tag)? {
                            (1, WireType::LengthDelimited) => node.inputs = input.read_string()?,
                            (_, kind) => input.skip_field(kind)?,
                        }
                    }
                    Ok(())
                })?;
            }
            (10, WireType::LengthDelimited) => {
                let length = input.read_raw_varint64()?;
                within(input, length, |input| attribute(input, &mut node))?;
            }
            (_, kind) => input.skip_field(kind)?,
        }
    }
    Ok(node)
}

fn field(tag: u32) -> protobuf::Result<(u32, WireType)> {
    let kind = WireType::new(tag & 7);
    kind.map(|kind| (tag >> 3, kind)).ok_or_else(|| std::io::Error::other("a field of an unknown form").into())
}

/// Reads a message of a length.
fn within<T>(
    input: &mut CodedInputStream<'_>,
    length: u64,
    read: impl FnOnce(&mut CodedInputStream<'_>) -> protobuf::Result<T>,
) -> protobuf::Result<T> {
    let end = input.pos().saturating_add(length);
    let limit = input.push_limit(length)?;
    let message = read(input)?;
    if input.pos() != end {
        return Err(std::io::Error::other("the file ends in it").into());
    }
    input.pop_limit(limit);
    Ok(message)
}

/// Attributes of whole numbers have any of ten types, as the writer likes.
fn attribute(input: &mut CodedInputStream<'_>, node: &mut Node) -> protobuf::Result<()> {
    let mut name = String::new();
    let (mut number, mut text) = (0_u64, String::new());
    while let Some(tag) = input.read_raw_tag_or_eof()? {
        match field(tag)? {
            (1, WireType::LengthDelimited) => name = input.read_string()?,
            (7 | 9 | 11 | 13 | 27, WireType::Varint) => number = input.read_raw_varint64()?,
            (15 | 17, WireType::Varint) => number = input.read_sint64()? as u64,
            (19 | 23, WireType::Fixed32) => number = input.read_fixed32()?.into(),
            (21 | 25, WireType::Fixed64) => number = input.read_fixed64()?,
            (29, WireType::LengthDelimited) => text = input.read_string()?,
            (_, kind) => input.skip_field(kind)?,
        }
    }
    match name.as_str() {
        "is_cpu_op" => node.is_cpu_op = number != 0,
        "comm_type" => node.comm_type = Some(number),
        "comm_size" => node.comm_size = number,
        "comm_src" => node.comm_src = number as u32,
        "comm_dst" => node.comm_dst = number as u32,
        "comm_tag" => node.comm_tag = number as u32,
        "pg_name" => node.pg_name = text,
        _ => {}
    }
    Ok(())
}
