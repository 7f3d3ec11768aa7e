// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which senders understand notifications. The draft leaves open how a switch knows: some it is told of, and who does
//! not understand one says so, by ICMPv6 (REQ-54; RFC 8200, section 4.2).

use super::{Address, FastCnpOption, Flow, OptionTypes, Recent, extensions};
use crate::address::AddressSet;
use crate::roce::Bth;
use crate::telemetry::ipv6_options::UNIT;
use crate::units::Nanos;
use etherparse::{Icmpv6Slice, IpNumber, Ipv6Header, Ipv6HeaderSlice, UdpHeader};

/// ICMPv6 Parameter Problem, and its code for an option that is not known (RFC 4443 section 3.4).
const PARAMETER_PROBLEM: (u8, u8) = (4, 2);

/// What is known of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capability {
    /// Nothing.
    #[default]
    Unknown,
    /// It understands notifications.
    Capable,
    /// It does not.
    Incapable,
}

/// Senders that a switch remembers, unless that is set.
pub(super) const SENDER_SLOTS: usize = 4_096;

/// The senders that a switch is told of, and how it learns of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityConfig {
    /// Senders that understand notifications.
    pub capable: AddressSet,
    /// Types of the options.
    pub types: OptionTypes,
    /// Senders that can be remembered as not understanding them; at least 1.
    pub slots: usize,
    /// How long they are.
    pub max_age: Nanos,
}

impl Default for CapabilityConfig {
    fn default() -> Self {
        CapabilityConfig {
            capable: AddressSet::default(),
            types: OptionTypes::default(),
            slots: SENDER_SLOTS,
            max_age: Nanos(60 * Nanos::SECOND.0),
        }
    }
}

/// A switch's knowledge of its senders. A sender that has to make room in the [memory](Recent) is unknown again.
#[derive(Clone, Debug)]
pub struct Capabilities {
    config: CapabilityConfig,
    incapable: Recent<Address>,
    unasked: u64,
}

impl Capabilities {
    /// Nothing is learnt yet.
    pub fn new(config: CapabilityConfig) -> Self {
        Capabilities { incapable: Recent::new(config.slots, config.max_age), unasked: 0, config }
    }

    /// What is known of a sender. The sender's own word counts more than the configuration.
    pub fn of(&self, now: Nanos, sender: &Address) -> Capability {
        if self.incapable.age(now, sender).is_some_and(|age| age <= self.config.max_age) {
            return Capability::Incapable;
        }
        if self.config.capable.contains(sender) { Capability::Capable } else { Capability::Unknown }
    }

    /// Takes in an IPv6 packet to this switch, whose loopback address is `loopback`. Returns the sender that it shows
    /// to be incapable, if it does: by a Parameter Problem which points at our option, in a notification from here to
    /// whoever complains, about a flow that `was_notified`. Anybody can make up such a packet; without the latter, one
    /// would silence the switch about a sender to whom it never said anything.
    pub fn learn(
        &mut self,
        now: Nanos,
        loopback: &Address,
        packet: &[u8],
        was_notified: impl FnOnce(&Flow) -> bool,
    ) -> Option<Address> {
        let flow = complaint(loopback, packet, &self.config.types)?;
        if !was_notified(&flow) {
            self.unasked += 1;
            return None;
        }
        self.incapable.note(now, flow.source);
        Some(flow.source)
    }

    /// Senders that had to make room in the memory.
    pub fn forgotten(&self) -> u64 {
        self.incapable.forgotten()
    }

    /// Complaints about notifications that were not sent.
    pub fn unasked(&self) -> u64 {
        self.unasked
    }
}

/// The flow of the notification that a packet complains about, if it does.
fn complaint(loopback: &Address, packet: &[u8], types: &OptionTypes) -> Option<Flow> {
    let ip = Ipv6HeaderSlice::from_slice(packet).ok()?;
    if ip.destination() != *loopback {
        return None;
    }
    let (icmp, pointer) = parameter_problem(&ip, packet)?;
    if !icmp.is_checksum_valid(ip.source(), ip.destination()) {
        return None;
    }
    let quote = icmp.payload();
    let quoted = Ipv6HeaderSlice::from_slice(quote).ok()?;
    let ours = quoted.source() == *loopback && quoted.destination() == ip.source();
    let points = extensions::options(quote).any(|option| option.offset == pointer && types.contains(option.kind));
    if ours && points { notified_flow(ip.source(), quote, types) } else { None }
}

/// Whether a packet answers a notification, wherever it comes from: it says that our option is not known.
pub(super) fn answers_notification(packet: &[u8], types: &OptionTypes) -> bool {
    let Ok(ip) = Ipv6HeaderSlice::from_slice(packet) else { return false };
    parameter_problem(&ip, packet).is_some_and(|(icmp, _)| extensions::fast_cnp(icmp.payload(), types).is_some())
}

/// A Parameter Problem about an option, and its pointer.
fn parameter_problem<'a>(ip: &Ipv6HeaderSlice<'_>, packet: &'a [u8]) -> Option<(Icmpv6Slice<'a>, usize)> {
    if ip.next_header() != IpNumber::IPV6_ICMP {
        return None;
    }
    let message = packet.get(Ipv6Header::LEN..)?.get(..ip.payload_length().into())?;
    let icmp = Icmpv6Slice::from_slice(message).ok()?;
    let pointer = u32::from_be_bytes(icmp.bytes5to8()) as usize;
    ((icmp.type_u8(), icmp.code_u8()) == PARAMETER_PROBLEM).then_some((icmp, pointer))
}

/// The flow that a notification to `sender` is about, as a switch makes notifications: one extension header.
fn notified_flow(sender: Address, notification: &[u8], types: &OptionTypes) -> Option<Flow> {
    let behind = notification.get(Ipv6Header::LEN..)?;
    let len = UNIT * (usize::from(*behind.get(1)?) + 1);
    let (header, rest) = behind.split_at_checked(len)?;
    let option = FastCnpOption::parse(header, types).ok()?;
    let (bth, _) = Bth::parse(rest.get(UdpHeader::LEN..)?).ok()?;
    Some(Flow { source: sender, destination: option.original_destination, dest_qp: bth.dest_qp })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::tests::{LOOPBACK, RECEIVER, SENDER};
    use crate::fast_cnp::unrecognised;
    use crate::testing::vector;
    use alloc::vec::Vec;
    use etherparse::{Icmpv6Header, Icmpv6Type};

    fn capabilities(slots: usize, capable: &[Address]) -> Capabilities {
        let capable = capable.iter().copied().collect();
        Capabilities::new(CapabilityConfig { capable, slots, ..CapabilityConfig::default() })
    }

    /// The sender's answer to the notification of a vector.
    fn complaint(name: &str, pointer: u32) -> Vec<u8> {
        unrecognised::report(SENDER, &vector(name)[14..], pointer).expect("a report")
    }

    #[test]
    fn req_54_a_switch_learns_who_does_not_understand() {
        for (name, pointer) in [("fastcnp_opt1", 42), ("fastcnp_opt2", 44)] {
            let mut known = capabilities(8, &[SENDER]);
            assert_eq!(known.of(Nanos(0), &SENDER), Capability::Capable);
            assert_eq!(known.learn(Nanos(5), &LOOPBACK, &complaint(name, pointer), |_| true), Some(SENDER));
            assert_eq!(known.of(Nanos(5), &SENDER), Capability::Incapable);
            assert_eq!(known.of(Nanos(5), &RECEIVER), Capability::Unknown);
        }
    }

    #[test]
    fn what_was_learnt_ages() {
        let mut known = capabilities(8, &[]);
        known.learn(Nanos(5), &LOOPBACK, &complaint("fastcnp_opt1", 42), |_| true);
        let minute = 60 * Nanos::SECOND.0;
        let at = |now| known.of(Nanos(now), &SENDER);
        assert_eq!([minute + 5, minute + 6].map(at), [Capability::Incapable, Capability::Unknown]);
    }

    #[test]
    fn other_or_forged_messages_teach_nothing() {
        let mut known = capabilities(8, &[]);
        let mut learn = |packet: &[u8]| known.learn(Nanos(0), &LOOPBACK, packet, |_| true);
        assert_eq!(learn(&complaint("fastcnp_opt1", 43)), None, "points elsewhere");
        assert_eq!(learn(&complaint("roce_cnp_ipv6", 42)), None, "not our packet");
        let stranger = unrecognised::report(RECEIVER, &vector("fastcnp_opt1")[14..], 42).expect("a report");
        assert_eq!(learn(&stranger), None, "we notified somebody else");
        let packet = complaint("fastcnp_opt1", 42);
        for at in 6..packet.len() {
            let mut changed = packet.clone();
            changed[at] ^= 1;
            // Only the hop limit may change; all else counts in the checksum or is compared.
            assert_eq!(learn(&changed), (at == 7).then_some(SENDER), "byte {at}");
        }
        let timeout = Icmpv6Type::Unknown { type_u8: 3, code_u8: 2, bytes5to8: 42u32.to_be_bytes() };
        let mut other = packet.clone();
        let header = Icmpv6Header::with_checksum(timeout, SENDER, LOOPBACK, &packet[48..]).expect("short enough");
        other[40..48].copy_from_slice(&header.to_bytes());
        assert_eq!(learn(&other), None, "another message");
        assert_eq!(learn(&packet), Some(SENDER));
    }
}
