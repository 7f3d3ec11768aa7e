// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hosts do with messages to send and with packets that arrive: their transport.
//!
//! A [`HostTransport`] is a name with parameters, an [`Endpoint`] what it does at one host. One file and one line in [`all`] for
//! each. The engine owns ports, frames and time: it asks an endpoint for the next packet of an idle port, hands it what arrives, and
//! calls it at the time that it asks for.
//!
//! Queue pairs, the first of them, are no endpoint: the engine runs them itself, for most frames of most runs are theirs.

mod paced;
mod packet;
mod roce;
mod settings;
pub mod uec;

pub use paced::Paced;
pub use packet::{Packet, PacketHeader, TELEMETRY, Trimmed};
pub use roce::Roce;
pub use settings::HostTransportSettings;

use crate::ecn::EcnThreshold;
use crate::settings::{Conflict, Settings};
use crate::telemetry::{Layout, Reads};
use crate::transport::{Counters, TransportConfig};
use crate::units::{BitRate, Nanos};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use uec::Uec;

/// All transports; the first is the default.
pub fn all() -> Vec<Box<dyn HostTransport>> {
    vec![Box::new(Roce), Box::<Uec>::default(), Box::<Paced>::default()]
}

/// A transport, and its parameters.
pub trait HostTransport: Send + Settings + CloneHostTransport + Debug {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &'static str;

    /// What it does at a host; `None`: the engine's queue pairs.
    fn start(&self, host: &HostSetup<'_>) -> Option<Box<dyn Endpoint>>;

    /// Bytes of its frames; `None`: those of the wire profile.
    fn sizes(&self) -> Option<FrameSizes> {
        None
    }

    /// Whether the algorithms of `[congestion_control]` control its flows.
    fn is_controlled(&self) -> bool {
        false
    }

    /// When switches mark its packets at 100 Gb/s where nobody says otherwise, in a network whose bandwidth-delay product at that
    /// rate is so many packets of so many bytes; `None` if it reads no marks.
    fn marks(&self, _packets: u64, _bytes: u64) -> Option<EcnThreshold> {
        None
    }

    /// Telemetry that its packets bring back for it, if a layout tells that.
    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    /// The timeout where nobody sets one, if full queues take so long to drain; `None`: as queue pairs have it.
    fn timeout(&self, _drain: Nanos) -> Option<Nanos> {
        None
    }

    /// Keys of `[transport]` that it goes by besides its own, if not by all.
    fn shared_keys(&self) -> &'static [&'static str] {
        &["mtu", "base_rtt", "global_rtt"]
    }

    /// Whether packets of a message leave by all ports that lead to its destination.
    fn sprays(&self) -> bool {
        false
    }

    /// Checks parameters against each other.
    ///
    /// # Errors
    /// The first that contradicts another one.
    fn check(&self) -> Result<(), Conflict> {
        Ok(())
    }
}

/// What an endpoint is given and never changes.
#[derive(Clone, Copy, Debug)]
pub struct HostSetup<'a> {
    /// Its host.
    pub node: u32,
    /// Rates of its ports.
    pub ports: &'a [BitRate],
    /// MTU, entropies, timeouts.
    pub transport: &'a TransportConfig,
    /// Sizes of frames.
    pub sizes: FrameSizes,
    /// T of the longest path of the network.
    pub network_rtt: Nanos,
    /// Whether switches trim packets.
    pub trims: bool,
    /// The telemetry of its packets; none unless the transport reads it.
    pub layout: &'a Layout,
}

/// The ports by which a host reaches another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exits {
    /// The one that a hash of the hosts chooses.
    pub usual: u16,
    /// All of the first 64: bit n stands for port n.
    pub all: u64,
    /// No two of them lead to the same node.
    pub are_apart: bool,
}

impl Exits {
    /// The ports of packets that leave by all; where they keep to one path, two to the same node are one too many.
    pub fn of_sprayed(&self, is_one_path: bool) -> u64 {
        if is_one_path && !self.are_apart { 1 << (self.usual & 63) } else { self.all }
    }
}

/// A message that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Destination host.
    pub dst: u32,
    /// UDP destination port.
    pub dport: u16,
    /// Priority group, 0 to 7.
    pub priority: u8,
    /// Bytes; at least 1.
    pub size: u64,
    /// By which ports it may leave.
    pub exits: Exits,
    /// T of its path.
    pub base_rtt: Nanos,
}

/// How a message is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// To its sender; other messages have it once this one has finished.
    pub key: u32,
    /// To its receiver, among messages from this sender.
    pub number: u32,
    /// UDP source port.
    pub sport: u16,
}

/// What an endpoint has done with what it was told.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// Control packets, which leave ahead of data by the port that they are routed to.
    pub packets: Vec<Packet>,
    /// Keys of own messages that were acknowledged whole.
    pub finished: Vec<u32>,
    /// Messages that have arrived whole: source and number.
    pub arrived: Vec<(u32, u32)>,
}

/// What may be seen of a message under way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes that were acknowledged.
    pub acked: u64,
    /// Bytes on the link that were sent and not acknowledged.
    pub in_flight: u64,
    /// Window in bytes; 0 where there is none.
    pub window: u64,
    /// Sending rate, where it has one.
    pub rate: Option<BitRate>,
}

/// The transport of one host.
pub trait Endpoint: Send + Debug {
    /// Takes a message; `None` if there is no room for another one.
    fn post(&mut self, now: Nanos, message: &Post) -> Option<Posted>;

    /// The data packet that leaves by an idle port now, if there is one. Bit n of `paused` stops priority n.
    fn next(&mut self, now: Nanos, port: u16, paused: u8) -> Option<Packet>;

    /// Whether [`Endpoint::next`] is worth a call when the present frame ends.
    fn has_next(&self, port: u16) -> bool;

    /// A packet has arrived.
    fn receive(&mut self, now: Nanos, packet: &Packet, out: &mut Outbox);

    /// When it wants to be called next though nothing else happens: at once, if that has passed.
    fn poll_timeout(&self) -> Option<Nanos> {
        None
    }

    /// That time has come, or another one that it asked for before.
    fn on_timeout(&mut self, _now: Nanos, _out: &mut Outbox) {}

    /// Routes have changed: these are the ports to a destination, if there is a path.
    fn reroute(&mut self, _exits: &dyn Fn(u32) -> Option<Exits>) {}

    /// How far a message is; `None` if there is none with this key.
    fn progress(&self, key: u32) -> Option<Progress>;

    /// Bytes of a message from a host, by its [number](Posted::number), that have arrived, each counted once, or more where all
    /// have; `None` if it does not tell.
    fn arrived(&self, _source: u32, _number: u32) -> Option<u64> {
        None
    }

    /// What it did.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// Cloning behind `dyn HostTransport`; every transport that is [`Clone`] has it.
pub trait CloneHostTransport {
    /// A transport with the same parameters.
    fn clone_transport(&self) -> Box<dyn HostTransport>;
}

impl<T: HostTransport + Clone + 'static> CloneHostTransport for T {
    fn clone_transport(&self) -> Box<dyn HostTransport> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn HostTransport> {
    fn clone(&self) -> Self {
        self.as_ref().clone_transport()
    }
}
