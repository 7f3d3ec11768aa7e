// SPDX-License-Identifier: MIT OR Apache-2.0
//! What carries the flows of a network: RDMA, or the TCP of the simulator that the hosts are part of.

use crate::units::{Bytes, Nanos};

crate::named! {
    /// The transport of hosts.
    #[derive(Default)]
    pub enum Protocol {
        /// RDMA over converged Ethernet, as [`Host`](super::Host) has it.
        #[default]
        Rdma = "rdma",
        /// The simulator's own TCP, whose segments travel as they are.
        Tcp = "tcp",
    }
}

crate::settings! {
    /// The transport of all hosts, and what only TCP has.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ProtocolSettings {
        /// What carries flows: RDMA, or ns-3's own TCP, with which a segment has `mtu` bytes. All of a network have the same.
        pub protocol: Protocol = Protocol::Rdma;
        /// Bytes that a TCP socket holds, at the sender and at the receiver; the most that can be in flight.
        pub tcp_buffer: Bytes {10_000..=1_000_000_000} = Bytes(4_000_000) => protocol = "tcp";
        /// Least time without progress after which TCP sends again; it waits as long for the answer to a flow's first packet.
        pub tcp_timeout: Nanos {Nanos(1_000)..=Nanos::LONGEST} = Nanos(1_000_000) => protocol = "tcp";
    }
}
