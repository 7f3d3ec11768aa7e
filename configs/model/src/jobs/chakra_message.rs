// SPDX-License-Identifier: GPL-2.0-only
//! Messages of a Chakra execution trace: the fields that are read or written, by the numbers of its `et_def.proto`.

use prost::{Message, Oneof};

/// What a file begins with.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// A node. A number that is 0 is written too, and one that a file lacks is 0.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeMessage {
    #[prost(uint64, required, tag = "1")]
    pub id: u64,
    #[prost(string, required, tag = "2")]
    pub name: String,
    #[prost(uint64, required, tag = "3")]
    pub kind: u64,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    /// Microseconds.
    #[prost(uint64, required, tag = "7")]
    pub duration: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<Inputs>,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

/// What goes into a node, as text.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Inputs {
    #[prost(string, tag = "1")]
    pub values: String,
}

/// A property with a name of its own.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29")]
    pub value: Option<Value>,
}

/// Whole numbers have any of ten types, as the writer likes.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Attribute {
    pub fn new(name: &str, value: Value) -> Attribute {
        Attribute { name: name.into(), value: Some(value) }
    }

    /// 0 of what is no number.
    pub fn number(&self) -> u64 {
        match self.value {
            Some(Value::Int32(number) | Value::Sint32(number) | Value::Sfixed32(number)) => i64::from(number) as u64,
            Some(Value::Int64(number) | Value::Sint64(number) | Value::Sfixed64(number)) => number as u64,
            Some(Value::Uint32(number) | Value::Fixed32(number)) => number.into(),
            Some(Value::Uint64(number) | Value::Fixed64(number)) => number,
            Some(Value::Bool(value)) => value.into(),
            Some(Value::Text(_)) | None => 0,
        }
    }

    /// Nothing of what is no text.
    pub fn text(self) -> String {
        match self.value {
            Some(Value::Text(text)) => text,
            _ => String::new(),
        }
    }
}
