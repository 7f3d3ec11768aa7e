// SPDX-License-Identifier: MIT OR Apache-2.0
//! What carries the flows of a network: RDMA, or TCP or UDP of the simulator that the hosts are part of.

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
        /// Datagrams over the simulator's own UDP, which nothing acknowledges or repeats.
        Udp = "udp",
    }
}

impl Protocol {
    /// Whether the packets are those of the simulator's own stack.
    pub fn is_of_stack(self) -> bool {
        match self {
            Protocol::Rdma => false,
            Protocol::Tcp | Protocol::Udp => true,
        }
    }
}

crate::named! {
    /// The network layer below the simulator's own TCP and UDP.
    #[derive(Default)]
    pub enum IpVersion {
        /// Headers of 20 bytes.
        #[default]
        V4 = "ipv4",
        /// Headers of 40 bytes.
        V6 = "ipv6",
    }
}

impl IpVersion {
    /// Bytes of a header.
    pub const fn header(self) -> u32 {
        match self {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        }
    }
}

crate::settings! {
    /// The transport of all hosts, and what RDMA does not have.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ProtocolSettings {
        /// What carries flows: RDMA, ns-3's TCP, or datagrams over ns-3's UDP, without retransmission. The same in all of a
        /// network. Segments and datagrams have `mtu` bytes.
        #[change = "Choose `tcp` or `udp` to send such traffic through the same switches."]
        pub protocol: Protocol = Protocol::Rdma;
        /// Network layer below TCP or UDP.
        #[change = "Choose `ipv6` for headers of 40 bytes in place of 20."]
        pub ip: IpVersion = IpVersion::V4 => protocol = "tcp" | "udp";
        /// Bytes that a TCP socket holds at each end, the most that can be in flight.
        #[change = "Raise it where link rate times round-trip time is more; lower it to bound a flow's queue."]
        pub tcp_buffer: Bytes {10_000..=1_000_000_000} = Bytes(4_000_000) => protocol = "tcp";
        /// Least time without progress after which TCP sends again. It waits as long for the answer to a flow's first
        /// packet.
        #[change = "Lower it where losses make short flows wait, but not below the longest queueing delay."]
        pub tcp_timeout: Nanos {Nanos(1_000)..=Nanos::LONGEST} = Nanos(1_000_000) => protocol = "tcp";
    }
}
