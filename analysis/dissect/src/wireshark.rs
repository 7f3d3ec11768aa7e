// SPDX-License-Identifier: GPL-2.0-only
//! A dissector for Wireshark.

use hpcc_core::frame::{IFA_PROTOCOL, INT_MARK, TELEMETRY_MARK};
use hpcc_core::roce::{self, Opcode};
use hpcc_core::telemetry::encapsulation::CSIG_ETHER_TYPES;
use hpcc_core::telemetry::ifa::{self, hpcc::NAME_SPACE};
use hpcc_core::telemetry::int_md::{header::VERSION, hpcc as int};
use hpcc_core::telemetry::ioam::{hpcc::NAMESPACE, hpcc::Profile, option};
use hpcc_core::telemetry::{MAX_HOPS, speed};

const SCRIPT: &str = include_str!("hpcc.lua");

/// The script, with the numbers of the core in front.
pub fn lua() -> String {
    let rates: Vec<u64> = speed::RATES.iter().map(|rate| rate.0).collect();
    let operations: Vec<String> = (0..=u8::MAX).map(Opcode).map(operation).collect();
    let numbers: [(&str, u64); 20] = [
        ("port", roce::PORT.into()),
        ("telemetry_mark", TELEMETRY_MARK.into()),
        ("int_mark", INT_MARK.into()),
        ("acknowledge", Opcode::ACKNOWLEDGE.0.into()),
        ("cnp", Opcode::CNP.0.into()),
        ("feedback", Opcode::FEEDBACK.0.into()),
        ("most_hops", MAX_HOPS as u64),
        ("explicit_rate", speed::EXPLICIT),
        ("int_version", VERSION.into()),
        ("int_instructions", int::INSTRUCTIONS.0.into()),
        ("int_domain", int::DOMAIN_ID.into()),
        ("int_domain_instructions", int::DOMAIN_INSTRUCTIONS.into()),
        ("int_hop_bytes", int::HOP_LEN as u64),
        ("ifa_protocol", IFA_PROTOCOL.into()),
        ("ifa_version", ifa::header::VERSION.into()),
        ("ifa_name_space", NAME_SPACE.into()),
        ("ioam_option", option::CHANGING.into()),
        ("ioam_namespace", NAMESPACE.into()),
        ("ioam_full", Profile::Full.trace_type().0.into()),
        ("ioam_slim", Profile::Slim.trace_type().0.into()),
    ];
    let numbers: String = numbers.iter().map(|(name, number)| format!("    {name} = {number},\n")).collect();
    format!(
        "-- By `hpcc dissect --lua`.\n\
         local core = {{\n{numbers}    rates = {{ {} }},\n    csig_ether_types = {{ {} }},\n\
         \x20   operations = {{\n        {},\n    }},\n}}\n{SCRIPT}",
        list(&rates),
        list(&CSIG_ETHER_TYPES),
        operations.join(",\n        "),
    )
}

/// An opcode, what it is called, and whether it is assigned.
fn operation(code: Opcode) -> String {
    let name = format!("{} {}", code.service(), code.operation());
    format!("[{}] = {{ {name:?}, {} }}", code.0, code.is_assigned())
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
