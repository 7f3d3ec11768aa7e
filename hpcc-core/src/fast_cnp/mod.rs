// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fast CNP: a congested switch notifies the sender itself, instead of marking packets so that the receiver does
//! (draft-xiao-rtgwg-rocev2-fast-cnp-01; REQ-33 to REQ-54). Over IPv6 only.
//!
//! | module | who | does |
//! | --- | --- | --- |
//! | [`option_type`], [`option`], [`copied_trace`] | both | the option that says which packet met congestion |
//! | [`packet`] | both | the notifications as frames, the receiver's ordinary one too |
//! | [`generator`] | egress port | whether a packet that leaves makes a notification |
//! | [`capability`] | switch | which senders understand it |
//! | [`acceptor`] | sender | whether to believe one, and which queue pair it is about |
//! | [`path_migration`] | sender | whether to take another path |
//! | [`border`] | edge of the domain | keeps notifications in, and others' out |
//! | [`unrecognised`] | host without the feature | discards and reports, as RFC 8200 says |
//! | [`switch_agent`], [`host_agent`] | switch, host | all of its part |
//! | [`recent`], [`extensions`] | | what these share |
//!
//! What a sender does with one it accepted is the congestion control's:
//! [`CongestionControl::on_notification`](crate::cc::CongestionControl::on_notification).
//!
//! The draft leaves open what follows; the choices are this project's.
//!
//! - Option type: 0x9e of RFC 4727 for both options until IANA assigns two; the length tells them apart.
//! - A copied trace that is too long loses free room, then its oldest nodes, and then says so by the overflow flag.
//! - A trace of which no node fits is not copied: option 1.
//! - UDP source port that of the data packet, DSCP 48, not ECN-capable, hop limit 64, PSN 0; the UDP checksum is real, as
//!   IPv6 demands (frames of [`packet`] alone leave it to whoever sends them).
//! - ICRC: covers the option unless configured otherwise ([`Coverage`](crate::roce::icrc::Coverage)).
//! - Trigger: the ECN mark itself, thresholds of its own, or a bound on the port's U; asked as a packet leaves, when its
//!   trace has the switch's own record.
//! - Rates: 50 us for each flow, a token bucket for each port of a million notifications a second.
//! - No notification about acknowledgements or notifications, nor to addresses outside the domain.
//! - Only a notification that is sent takes the place of a mark: a packet about which one is withheld is marked.
//! - A sender is able because it is configured so, unable because it answered with ICMPv6; the answer counts more.
//! - Acceptance: listed sources only, an empty list accepts none; unknown flows are ignored (RFC 7514's rule).
//! - A notification has no sequence number: replays are bounded by one reaction for each flow and interval.
//! - An option among others, or a trace that does not parse, is malformed: dropped without an answer.
//! - Beside acknowledged records they move U, never down, and W, but neither Wc nor L: acknowledgements on their way would
//!   look overtaken.
//! - What each algorithm does: [`Reaction`](crate::cc::Reaction); what it would not react to is refused at the start. Before
//!   there are acknowledged records HPCC++ compares notifications: [`Notices`](crate::cc::hpcc_plus::Notices).
//! - Records of a notification are not used where telemetry is sealed, nor where the guard finds that they cannot be true.
//! - A border drops every packet with such an option, well-formed or not, and ICMPv6 errors about such packets.
//! - An ICMPv6 error teaches a switch about a sender only within a second of a notification about that very flow.
//! - A migration takes a random port of the dynamic range; each one in vain doubles the wait for the next.

pub mod acceptor;
pub mod border;
pub mod capability;
pub mod copied_trace;
pub mod extensions;
pub mod generator;
pub mod host_agent;
pub mod option;
pub mod option_type;
pub mod packet;
pub mod path_migration;
pub mod recent;
pub mod settings;
pub mod switch_agent;
#[cfg(test)]
mod tests;
pub mod unrecognised;

pub use acceptor::{Accepted, Acceptor, AcceptorConfig, Received, Refusal};
pub use border::{Border, BorderSide, Crossing};
pub use capability::{Capabilities, Capability, CapabilityConfig};
pub use copied_trace::CopiedTrace;
pub use generator::{Decision, Departure, Generator, GeneratorConfig, Suppression, Trigger, Verdict};
pub use host_agent::HostAgent;
pub use option::{FastCnpOption, Malformed};
pub use option_type::{OptionType, OptionTypes};
pub use path_migration::{MigrationConfig, PathMigration};
pub use recent::Recent;
pub use settings::{FastCnpHostSettings, FastCnpSettings, FastCnpSwitchSettings, TriggerKind};
pub use switch_agent::{LeavingData, PortConfig, SwitchAgent};

pub use crate::address::Address;
use crate::frame::Encapsulation;
use crate::roce::{CNP_RESERVED, bth, icrc};
use crate::telemetry::Layout;
use etherparse::{Icmpv6Header, Ipv6Header, UdpHeader};

/// Most bytes of the destination options of a notification about a packet with this telemetry.
pub fn options_room(layout: &Layout) -> usize {
    if layout.encapsulation() == Some(Encapsulation::HopByHop) { option::MAX_HEADER } else { option::PLAIN_HEADER }
}

/// Most bytes of the ICMPv6 packet that answers one.
pub fn report_room(layout: &Layout) -> usize {
    let notification = Ipv6Header::LEN + options_room(layout) + UdpHeader::LEN + bth::LEN + CNP_RESERVED + icrc::LEN;
    Ipv6Header::LEN + Icmpv6Header::MIN_LEN + notification
}

/// The key of a flow in notifications: destination and queue pair at the sender, all fields in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// Who sends it, and is to be notified.
    pub source: Address,
    /// Who receives it.
    pub destination: Address,
    /// The receiver's queue pair, 24 bits.
    pub dest_qp: u32,
}
