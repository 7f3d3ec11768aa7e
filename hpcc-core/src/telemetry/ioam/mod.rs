// SPDX-License-Identifier: MIT OR Apache-2.0
//! In situ OAM: RFC 9197 (data fields), RFC 9322 (flags), RFC 9326 (direct export), carried in IPv6 options as RFC
//! 9486 says (REQ-55..58).
//!
//! | module | holds |
//! | --- | --- |
//! | [`option`] | the option header in front of every kind of IOAM data |
//! | [`trace`] | the header of a trace, pre-allocated or incremental, and the nodes in it |
//! | [`trace_type`] | which data each node adds |
//! | [`node`] | the data of one node |
//! | [`transit`] | what a node on the way does |
//! | [`edge_to_edge`], [`direct_export`] | the other kinds of data |
//! | [`hpcc`] | the traces that HPCC uses |
//!
//! Choices where the RFCs leave one: an undefined bit of the trace type is answered with ones, not by adding nothing;
//! a value that a node does not have is all ones.

pub mod direct_export;
pub mod edge_to_edge;
pub mod hpcc;
pub mod node;
pub mod option;
pub mod trace;
pub mod trace_type;
pub mod transit;

/// The namespace that every node must know (RFC 9197 section 4.3).
pub const DEFAULT_NAMESPACE: u16 = 0;

/// The bytes end before the data does, or a length in them contradicts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
