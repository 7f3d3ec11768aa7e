// SPDX-License-Identifier: GPL-2.0-only
//! The bridge between the Rust core and the ns-3 module. It translates and decides nothing.
//!
//! A call across it costs about 1.3 ns (an empty call, measured with link-time optimisation off between the
//! languages). Nothing unwinds across it but errors: they are `Result`s here and exceptions in C++. A panic,
//! which is a bug in the core, aborts the process after [`panic_report`] has said what to report.

#[cfg(feature = "ns3")]
mod clock;
#[cfg(feature = "ns3")]
mod congestion_ops;
mod frame;
#[cfg(feature = "ns3")]
mod judge;
#[cfg(feature = "ns3")]
mod load_balancer;
mod mirror;
mod network;
mod notices;
mod panic_report;
mod probed;
mod random;
#[cfg(feature = "ns3")]
mod ranks;
mod scenario;
mod sections;
mod settings;
