// SPDX-License-Identifier: GPL-2.0-only
//! A file of a Chakra execution trace: protobuf messages, each behind its length, or JSON; either may be compressed.

use super::chakra_message::{Attribute, NodeMessage};
use crate::error::InputError;
use crate::memory::{Budget, FileBudget};
use crate::place::Place;
use crate::text::{json_line, unreadable};
use flate2::read::GzDecoder;
use prost::Message;
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
    let mut rest = bytes;
    let mut nodes = Vec::new();
    let mut count = 0;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let wrong = |why: String| format!("message {count}, at byte {at}, is no part of a trace: {why}");
        let message = next_message(&mut rest).map_err(wrong)?;
        if count > 0 {
            room.spare(message.len() as u64 / LEAST_ATTRIBUTE * size_of::<Attribute>() as u64)?;
            let node = NodeMessage::decode(message).map(Node::from).map_err(|error| wrong(error.to_string()))?;
            room.take_list::<Node>(1)?;
            room.take_list::<u64>((node.ctrl_deps.len() + node.data_deps.len()) as u64)?;
            nodes.push(node);
        }
        count += 1;
    }
    if count == 0 { Err("the file is empty; expected a trace".into()) } else { Ok(nodes) }
}

/// The bytes of an attribute in which nothing stands, the least that one takes: decoded it is many times as large.
const LEAST_ATTRIBUTE: u64 = 2;

/// Takes a message, which stands behind its length.
fn next_message<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], String> {
    let length = prost::decode_length_delimiter(&mut *rest).map_err(|error| error.to_string())?;
    rest.split_off(..length).ok_or_else(|| "the file ends in it".into())
}

impl From<NodeMessage> for Node {
    fn from(message: NodeMessage) -> Node {
        let NodeMessage { id, name, kind, ctrl_deps, data_deps, duration, inputs, attributes } = message;
        let inputs = inputs.unwrap_or_default().values;
        let mut node = Node { id, name, kind, ctrl_deps, data_deps, duration, inputs, ..Node::default() };
        attributes.into_iter().for_each(|attribute| node.set(attribute));
        node
    }
}

impl Node {
    fn set(&mut self, attribute: Attribute) {
        let number = attribute.number();
        match attribute.name.as_str() {
            "is_cpu_op" => self.is_cpu_op = number != 0,
            "comm_type" => self.comm_type = Some(number),
            "comm_size" => self.comm_size = number,
            "comm_src" => self.comm_src = number as u32,
            "comm_dst" => self.comm_dst = number as u32,
            "comm_tag" => self.comm_tag = number as u32,
            "pg_name" => self.pg_name = attribute.text(),
            _ => {}
        }
    }
}
