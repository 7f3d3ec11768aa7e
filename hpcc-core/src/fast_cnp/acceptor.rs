// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's side: whether to believe a notification, and which of its queue pairs it is about.

use super::{Address, CopiedTrace, FastCnpOption, OptionTypes};
use crate::address::AddressSet;
use crate::cc::Origin;
use crate::roce::{Bth, Opcode};
use crate::units::Nanos;
use alloc::collections::BTreeMap;

/// The notifications that a host accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptorConfig {
    /// Whether it accepts notifications at all (REQ-52). If not, it treats them as a host that does not know them:
    /// see [`unrecognised`](super::unrecognised).
    pub enabled: bool,
    /// From whom: switches by their loopback addresses, receivers by their own (REQ-49).
    pub sources: AddressSet,
    /// Types of the options.
    pub types: OptionTypes,
    /// Least time between two reactions of a flow, which bounds the effect of replays and floods.
    pub interval: Nanos,
}

impl Default for AcceptorConfig {
    /// Off, and from nobody (REQ-53).
    fn default() -> Self {
        AcceptorConfig {
            enabled: false,
            sources: AddressSet::default(),
            types: OptionTypes::default(),
            interval: Nanos(10_000),
        }
    }
}

/// A congestion notification with destination options, as it came over IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Simulated time of its arrival.
    pub now: Nanos,
    /// Source address of the IPv6 header.
    pub source: Address,
    /// The whole destination options header.
    pub destination_options: &'a [u8],
    /// Base transport header.
    pub bth: Bth,
    /// Whether the ICRC is right, by the coverage in use.
    pub icrc_is_right: bool,
}

/// A notification to react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted<'a> {
    /// The host's own queue pair (REQ-44).
    pub queue_pair: u32,
    /// Who noticed (REQ-45).
    pub origin: Origin,
    /// The records of the packet that met congestion.
    pub trace: Option<CopiedTrace<'a>>,
    /// The original destination and its queue pair.
    pub connection: (Address, u32),
    /// Time of the flow's reaction before this one.
    pub reacted: Option<Nanos>,
}

/// Why a notification is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The feature is off.
    Disabled,
    /// The source is not listed.
    Source,
    /// It is no congestion notification, or its option is not as it must be.
    Malformed,
    /// The ICRC is wrong.
    Icrc,
    /// No queue pair sends to that address and queue pair.
    UnknownFlow,
    /// The flow has reacted just now.
    TooSoon,
}

const REFUSALS: usize = 6;

impl Refusal {
    /// All of them and their names.
    pub const NAMES: [(&'static str, Refusal); REFUSALS] = [
        ("disabled", Refusal::Disabled),
        ("source", Refusal::Source),
        ("malformed", Refusal::Malformed),
        ("icrc", Refusal::Icrc),
        ("unknown_flow", Refusal::UnknownFlow),
        ("too_soon", Refusal::TooSoon),
    ];
}

/// A connection of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connection {
    queue_pair: u32,
    reacted: Option<Nanos>,
}

/// The acceptor of one host. It remembers the connections that it was told of.
#[derive(Clone, Debug, Default)]
pub struct Acceptor {
    config: AcceptorConfig,
    connections: BTreeMap<(Address, u32), Connection>,
    accepted: u64,
    refused: [u64; REFUSALS],
}

impl Acceptor {
    /// The acceptor of a host without connections.
    pub fn new(config: AcceptorConfig) -> Self {
        Acceptor { config, ..Acceptor::default() }
    }

    /// The host's `queue_pair` sends to `dest_qp` at `destination`. Returns the one that did before.
    pub fn connect(&mut self, destination: Address, dest_qp: u32, queue_pair: u32) -> Option<u32> {
        let connection = Connection { queue_pair, reacted: None };
        self.connections.insert((destination, dest_qp), connection).map(|before| before.queue_pair)
    }

    /// Nothing is sent there any more. Returns the queue pair that did.
    pub fn disconnect(&mut self, destination: Address, dest_qp: u32) -> Option<u32> {
        self.connections.remove(&(destination, dest_qp)).map(|connection| connection.queue_pair)
    }

    /// A notification has come. It is refused for the first reason that holds, in the order of [`Refusal`].
    ///
    /// # Errors
    /// The reason.
    pub fn on_notification<'a>(&mut self, received: &Received<'a>) -> Result<Accepted<'a>, Refusal> {
        let verdict = self.judge(received);
        match verdict {
            Ok(_) => self.accepted += 1,
            Err(why) => self.refused[why as usize] += 1,
        }
        verdict
    }

    /// A notification that was believed changed nothing: the flow has not reacted to it, and hears the next one, be it as soon
    /// as it may.
    pub fn had_no_effect(&mut self, connection: (Address, u32), reacted: Option<Nanos>) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.reacted = reacted;
        }
    }

    /// How many notifications passed all checks.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Notifications refused for this reason; those malformed are counted together.
    pub fn refused(&self, why: Refusal) -> u64 {
        self.refused[why as usize]
    }

    fn judge<'a>(&mut self, received: &Received<'a>) -> Result<Accepted<'a>, Refusal> {
        if !self.config.enabled {
            return Err(Refusal::Disabled);
        }
        if !self.config.sources.contains(&received.source) {
            return Err(Refusal::Source);
        }
        if received.bth.opcode != Opcode::CNP || !received.bth.becn {
            return Err(Refusal::Malformed);
        }
        let option =
            FastCnpOption::parse(received.destination_options, &self.config.types).map_err(|_| Refusal::Malformed)?;
        if !received.icrc_is_right {
            return Err(Refusal::Icrc);
        }
        let key = (option.original_destination, received.bth.dest_qp);
        let connection = self.connections.get_mut(&key).ok_or(Refusal::UnknownFlow)?;
        if connection.reacted.is_some_and(|at| received.now - at < self.config.interval) {
            return Err(Refusal::TooSoon);
        }
        let reacted = connection.reacted.replace(received.now);
        let by_receiver = received.source == option.original_destination;
        let origin = if by_receiver { Origin::Receiver } else { Origin::Network(received.source) };
        Ok(Accepted { queue_pair: connection.queue_pair, origin, trace: option.trace, connection: key, reacted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::option;
    use crate::fast_cnp::tests::{LOOPBACK, RECEIVER};
    use crate::testing::vector;
    use alloc::vec::Vec;

    /// The receiver's queue pair in both vectors.
    const DEST_QP: u32 = 0x102;
    const OTHER_RECEIVER: Address = [0xfd; 16];

    fn acceptor() -> Acceptor {
        let sources = AddressSet::from_iter([LOOPBACK, RECEIVER]);
        let mut acceptor = Acceptor::new(AcceptorConfig { enabled: true, sources, ..AcceptorConfig::default() });
        assert_eq!(acceptor.connect(RECEIVER, DEST_QP, 5), None);
        acceptor
    }

    fn header(name: &str) -> Vec<u8> {
        let packet = vector(name);
        packet[54..54 + 8 * (usize::from(packet[55]) + 1)].to_vec()
    }

    fn received(destination_options: &[u8]) -> Received<'_> {
        Received { now: Nanos(0), source: LOOPBACK, destination_options, bth: Bth::cnp(DEST_QP), icrc_is_right: true }
    }

    fn about(original_destination: Address) -> Vec<u8> {
        let option = FastCnpOption { original_destination, trace: None };
        option.emit(&OptionTypes::default(), &mut [0; option::MAX_HEADER]).to_vec()
    }

    #[test]
    fn req_44_receivers_with_the_same_queue_pair_are_told_apart() {
        let mut acceptor = acceptor();
        acceptor.connect(OTHER_RECEIVER, DEST_QP, 6);
        for (destination, queue_pair) in [(RECEIVER, 5), (OTHER_RECEIVER, 6)] {
            let accepted = acceptor.on_notification(&received(&about(destination))).map(|accepted| accepted.queue_pair);
            assert_eq!(accepted, Ok(queue_pair));
        }
        assert_eq!(acceptor.connect(RECEIVER, DEST_QP, 7), Some(5));
        assert_eq!(acceptor.disconnect(RECEIVER, DEST_QP), Some(7));
        assert_eq!(acceptor.on_notification(&received(&about(RECEIVER))), Err(Refusal::UnknownFlow));
    }

    #[test]
    fn req_45_the_receiver_is_told_from_the_network() {
        let header = header("fastcnp_opt1");
        for (source, origin) in [(LOOPBACK, Origin::Network(LOOPBACK)), (RECEIVER, Origin::Receiver)] {
            let accepted = acceptor().on_notification(&Received { source, ..received(&header) });
            assert_eq!(accepted.map(|accepted| accepted.origin), Ok(origin));
        }
    }

    #[test]
    fn req_49_only_listed_sources_are_believed() {
        let header = header("fastcnp_opt1");
        let mut acceptor = acceptor();
        let forged = Received { source: OTHER_RECEIVER, ..received(&header) };
        assert_eq!(acceptor.on_notification(&forged), Err(Refusal::Source));
        assert_eq!(acceptor.refused(Refusal::Source), 1);
        assert!(acceptor.on_notification(&received(&header)).is_ok(), "the forged one left no trace");
        let config = AcceptorConfig { enabled: true, ..AcceptorConfig::default() };
        assert_eq!(Acceptor::new(config).on_notification(&received(&header)), Err(Refusal::Source));
    }

    #[test]
    fn req_53_a_host_accepts_nothing_unless_it_is_switched_on() {
        let header = header("fastcnp_opt1");
        let mut fresh = Acceptor::new(AcceptorConfig::default());
        fresh.connect(RECEIVER, DEST_QP, 5);
        assert_eq!(fresh.on_notification(&received(&header)), Err(Refusal::Disabled));
    }

    #[test]
    fn replays_and_floods_make_a_flow_react_once_in_an_interval() {
        let mut acceptor = acceptor();
        let header = header("fastcnp_opt1");
        for now in 0..100_001 {
            let _ = acceptor.on_notification(&Received { now: Nanos(now), ..received(&header) });
        }
        assert_eq!((acceptor.accepted(), acceptor.refused(Refusal::TooSoon)), (11, 99_990));
    }

    #[test]
    fn other_packets_and_broken_ones_are_refused() {
        let mut acceptor = acceptor();
        let header = header("fastcnp_opt2");
        let broken = Received { icrc_is_right: false, ..received(&header) };
        assert_eq!(acceptor.on_notification(&broken), Err(Refusal::Icrc));
        for bth in [Bth { becn: false, ..Bth::cnp(DEST_QP) }, Bth { opcode: Opcode::ACKNOWLEDGE, ..Bth::cnp(DEST_QP) }]
        {
            let other = Received { bth, ..received(&header) };
            assert_eq!(acceptor.on_notification(&other), Err(Refusal::Malformed));
        }
        let mut wrong = header.clone();
        wrong[5] = 25;
        assert_eq!(acceptor.on_notification(&received(&wrong)), Err(Refusal::Malformed));
        let cut = Refusal::Malformed;
        assert_eq!(acceptor.on_notification(&received(&header[..40])), Err(cut));
        assert_eq!((acceptor.refused(cut), acceptor.accepted()), (4, 0));
    }
}
