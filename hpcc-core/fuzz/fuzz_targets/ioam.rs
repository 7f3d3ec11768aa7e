// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as IOAM data, read and passed through a node.
#![no_main]

use hpcc_core::telemetry::ioam::direct_export::DirectExport;
use hpcc_core::telemetry::ioam::edge_to_edge::EdgeToEdge;
use hpcc_core::telemetry::ioam::node::Node;
use hpcc_core::telemetry::ioam::option::IoamOption;
use hpcc_core::telemetry::ioam::trace::Trace;
use hpcc_core::telemetry::ioam::transit::{self, Outcome};
use hpcc_core::telemetry::ipv6_options::OptionsHeader;
use libfuzzer_sys::fuzz_target;

const NAMESPACE: u16 = 0x7b;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((header, _)) = OptionsHeader::parse(bytes) {
        IoamOption::find(&header);
    }
    let _ = DirectExport::parse(bytes);
    let _ = EdgeToEdge::parse(bytes);
    let count = |trace: &[u8]| Trace::preallocated(trace).ok().map(|trace| trace.newest_first().flatten().count());
    let node = Node { hop_limit: Some(63), node_id: Some(7), queue_depth: Some(1), ..Node::default() };
    let mut trace = bytes.to_vec();
    let before = count(&trace);
    if transit::preallocated(&mut trace, NAMESPACE, &node) == Outcome::Untouched {
        assert_eq!(trace, bytes);
    } else {
        assert!(count(&trace) >= before);
    }
});
