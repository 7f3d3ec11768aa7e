// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC congestion control, the telemetry that feeds it, and the host and switch rules around it.
//!
//! All but [`engine`] are state machines without clock or I/O: events go in with an explicit `now`, decisions come
//! out. Any simulator or device model can host them; `ns3-bridge` does so for ns-3, `engine` without it.
//!
//! From the bottom up: a module uses only modules of earlier rows.
//!
//! | module | decides |
//! | --- | --- |
//! | [`units`] | how nanoseconds, rates and bytes convert, and how each conversion rounds |
//! | [`recurrence`] | whether a network does the same again and again |
//! | [`ids`] | what a number names: a port, a frame |
//! | [`address`] | the addresses of nodes |
//! | [`random`] | what the generator decides, in the 2019 simulator's sequences |
//! | [`rate_limit`] | how often something may happen |
//! | [`settings`](mod@settings) | how a setting is declared, and what follows from that |
//! | [`ecn`] | which queue lengths mark a frame |
//! | [`roce`] | the InfiniBand headers behind UDP port 4791, and the CRC that ends a packet |
//! | [`pfc`] | the bytes of a PFC frame |
//! | [`reference_faults`] | which faults of the 2019 simulator are repeated |
//! | [`wire`] | how long frames are on the link |
//! | [`topology`] | routes, round-trip times and bandwidth-delay products of a network |
//! | [`telemetry`] | the bytes that a switch adds to a frame, and what they mean |
//! | [`priorities`] | sets of priorities |
//! | [`balance`] | which of several next hops a frame takes |
//! | [`switch`] | admission, pause and ECN mark of a frame |
//! | [`cc`] | the sending rate and window of a flow |
//! | [`frame`] | the bytes of a frame, and what bytes say |
//! | [`fast_cnp`] | which congestion a switch tells a sender, and what the sender believes |
//! | [`transport`] | which segment a host sends next, what a receiver answers |
//! | [`host_transport`] | which transport a host has: queue pairs, or another |
//! | [`simulated_frame`] | which frame on the wire a frame of a simulation stands for |
//! | [`max_min`] | what flows get of links that they share, without packets |
//! | [`node`] | all settings of a node, and what its host or switch runs by |
//! | [`fabric`] | the routes of a network that runs, and what flows on it measure |
//! | [`workload`] | which messages the ranks of a job send, and when |
//! | [`attack`] | what an attacker forges, replays and changes |
//! | [`engine`] | what happens when: a simulator of all this |
#![no_std]

extern crate alloc;

pub mod address;
pub mod attack;
pub mod balance;
pub mod cc;
mod counters;
pub mod ecn;
pub mod engine;
pub mod fabric;
pub mod fast_cnp;
pub mod frame;
pub mod host_transport;
pub mod ids;
pub mod max_min;
pub mod node;
pub mod pfc;
pub mod priorities;
pub mod random;
pub mod rate_limit;
pub mod recurrence;
pub mod reference_faults;
pub mod roce;
pub mod settings;
pub mod simulated_frame;
pub mod switch;
pub mod telemetry;
#[cfg(test)]
mod testing;
pub mod topology;
pub mod transport;
pub mod units;
pub mod wire;
pub mod workload;
