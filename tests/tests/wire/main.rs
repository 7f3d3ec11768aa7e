// SPDX-License-Identifier: GPL-2.0-only
//! What others make of our bytes: tshark, scapy, the Linux kernel. A judge that this machine has not
//! got is named on standard error, and its tests pass.

mod expected;
mod fast_cnp;
mod kernel;
mod lua;
mod namespaces;
mod scapy;
mod simulation;
mod tshark;
