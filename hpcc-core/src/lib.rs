// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC congestion control, the telemetry that feeds it, and the host and switch rules around it.
//!
//! Every type is a state machine without clock or I/O: events go in with an explicit `now`, decisions come
//! out. Any simulator or device model can host it; `ns3-bridge` does so for ns-3.
//!
//! | module | decides |
//! | --- | --- |
//! | [`units`] | how nanoseconds, rates and bytes convert, and how each conversion rounds |
//! | [`cc`] | the sending rate and window of a flow |
//! | [`telemetry`] | the bytes that a switch adds to a frame, and what they mean |
//! | [`transport`] | which segment a host sends next, what a receiver answers |
//! | [`switch`] | admission, pause, ECN mark and route of a frame |
//! | [`fast_cnp`] | which congestion a switch tells a sender, and what the sender believes |
//! | [`attack`] | what an attacker forges, replays and changes |
//! | [`frame`] | the bytes of a frame, and what bytes say |
//! | [`pfc`] | the bytes of a PFC frame |
//! | [`roce`] | the InfiniBand headers behind UDP port 4791, and the CRC that ends a packet |
//! | [`random`] | what the generator decides, in the reference's sequences |
//! | [`quirks`] | which faults of the reference simulator are repeated |
//! | [`settings`] | how a setting is declared, and what follows from that |
//! | [`node`] | all settings of a node, and what its host or switch runs by |
//! | [`topology`] | routes, round-trip times and bandwidth-delay products of a network |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod attack;
pub mod cc;
pub mod fast_cnp;
pub mod frame;
pub mod node;
pub mod pfc;
pub mod quirks;
pub mod random;
pub mod roce;
pub mod settings;
pub mod switch;
pub mod telemetry;
#[cfg(test)]
mod testing;
pub mod topology;
pub mod transport;
pub mod units;
pub mod wire;
