// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that a switch does about Fast CNP: one generator for each port, what it knows of senders, and the option that goes
//! into a notification.

use super::option::MAX_HEADER;
use super::packet;
use super::{Address, Capabilities, CapabilityConfig, Decision, Departure, Flow, Generator, GeneratorConfig};
use super::{OptionTypes, Suppression, Trigger, Verdict};
use crate::frame::Encapsulation;
use crate::random::Rng;
use crate::roce::Opcode;
use crate::telemetry::pint::PortMeter;
use crate::units::{BitRate, Nanos};
use alloc::vec::Vec;

/// A host that does not understand a notification says so within this time; later complaints teach nothing.
const ANSWERED_WITHIN: Nanos = Nanos::SECOND;

/// A port of the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortConfig {
    /// Rate of its link, in bits per second.
    pub rate: BitRate,
    /// The trigger of this port, in place of [`GeneratorConfig`]'s.
    pub trigger: Trigger,
}

/// A data packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeavingData {
    /// Simulated time of the departure.
    pub now: Nanos,
    /// The flow of the frame.
    pub flow: Flow,
    /// Bytes that wait behind it in its queue.
    pub queue: u64,
    /// Whether the switch's ECN rule marks it.
    pub marked: bool,
}

/// A port's decisions, and its U where that matters.
#[derive(Clone, Debug)]
struct Port {
    generator: Generator,
    meter: Option<PortMeter>,
}

/// The agent of one switch.
#[derive(Clone, Debug)]
pub struct SwitchAgent {
    loopback: Address,
    types: OptionTypes,
    ports: Vec<Port>,
    capabilities: Capabilities,
    unmarked: u64,
}

impl SwitchAgent {
    /// The agent of a switch with these ports. U is averaged over `load_interval`.
    pub fn new(
        loopback: Address,
        generator: &GeneratorConfig,
        capability: CapabilityConfig,
        ports: &[PortConfig],
        load_interval: Nanos,
    ) -> Self {
        let port = |port: &PortConfig| Port {
            generator: Generator::new(GeneratorConfig { trigger: port.trigger, ..generator.clone() }),
            meter: matches!(port.trigger, Trigger::Utilisation(_)).then(|| PortMeter::new(port.rate, load_interval)),
        };
        SwitchAgent {
            loopback,
            types: capability.types,
            ports: ports.iter().map(port).collect(),
            capabilities: Capabilities::new(capability),
            unmarked: 0,
        }
    }

    /// A data packet leaves a port, with the switch's own record in its trace.
    #[inline]
    pub fn on_data(&mut self, egress: usize, data: &LeavingData, rng: &mut Rng) -> Verdict {
        let Some(Port { generator, meter }) = self.ports.get_mut(egress) else {
            return Verdict { decision: Decision::Suppressed(Suppression::Disabled), may_mark: true };
        };
        let &LeavingData { now, flow, queue, marked } = data;
        let utilisation = meter.as_mut().map_or(0.0, |meter| meter.update(now, queue, &mut rng.rand));
        if !generator.may_be_congested(marked, queue, utilisation) {
            return Verdict { decision: Decision::Suppressed(Suppression::Idle), may_mark: true };
        }
        let capability = self.capabilities.of(now, &flow.source);
        let departure = Departure { now, flow, opcode: Opcode::WRITE_MIDDLE, queue, utilisation, marked, capability };
        let verdict = generator.on_departure(&departure, || rng.marks.uniform());
        self.unmarked += u64::from(marked && !verdict.may_mark);
        verdict
    }

    /// A frame of any kind, `size` bytes long, has left a port.
    #[inline]
    pub fn on_sent(&mut self, egress: usize, now: Nanos, size: u32) {
        if let Some(meter) = self.ports.get_mut(egress).and_then(|port| port.meter.as_mut()) {
            meter.on_sent(now, size);
        }
    }

    /// See [`packet::options`].
    pub fn options<'r>(
        &self,
        destination: Address,
        encapsulation: Option<Encapsulation>,
        section: &[u8],
        room: &'r mut [u8; MAX_HEADER],
    ) -> &'r [u8] {
        packet::options(destination, encapsulation, section, &self.types, room)
    }

    /// Takes in an IPv6 packet to this switch; see [`Capabilities::learn`].
    pub fn learn(&mut self, now: Nanos, packet: &[u8]) -> Option<Address> {
        let SwitchAgent { ports, capabilities, loopback, .. } = self;
        let was_notified = |flow: &Flow| ports.iter().any(|port| port.generator.notified(now, flow, ANSWERED_WITHIN));
        capabilities.learn(now, loopback, packet, was_notified)
    }

    /// Complaints about notifications that this switch did not send.
    pub fn unasked(&self) -> u64 {
        self.capabilities.unasked()
    }

    /// Flows and senders that had to make room in memories while they still counted.
    pub fn forgotten(&self) -> u64 {
        self.ports.iter().map(|port| port.generator.forgotten()).sum::<u64>() + self.capabilities.forgotten()
    }

    /// Notifications sent.
    pub fn sent(&self) -> u64 {
        self.ports.iter().map(|port| port.generator.sent()).sum()
    }

    /// Notifications withheld although there was congestion, for this reason.
    pub fn suppressed(&self, why: Suppression) -> u64 {
        self.ports.iter().map(|port| port.generator.suppressed(why)).sum()
    }

    /// Packets that the ECN rule marks, and that a notification was sent for instead.
    pub fn unmarked(&self) -> u64 {
        self.unmarked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AddressSet;
    use crate::ecn::EcnThreshold;

    use crate::fast_cnp::tests::{FLOW, LOOPBACK};

    const RATE: BitRate = BitRate::gbps(100);
    const STEP: Trigger = Trigger::Queue(EcnThreshold { rate: RATE, kmin: 1_000, kmax: 1_000, pmax: 1.0 });

    fn agent(trigger: Trigger, capable: &[Address]) -> SwitchAgent {
        let domain = AddressSet::from_iter([FLOW.source]);
        let generator = GeneratorConfig { enabled: true, domain, ..GeneratorConfig::default() };
        let capable = capable.iter().copied().collect();
        let capability = CapabilityConfig { capable, ..CapabilityConfig::default() };
        let ports = [PortConfig { rate: RATE, trigger }; 2];
        SwitchAgent::new(LOOPBACK, &generator, capability, &ports, Nanos(10_000))
    }

    fn leaving(now: u64, queue: u64, marked: bool) -> LeavingData {
        LeavingData { now: Nanos(now), flow: FLOW, queue, marked }
    }

    fn rng() -> Rng {
        Rng::new(1, 1)
    }

    #[test]
    fn req_36_a_mark_is_taken_back_only_from_those_who_understand() {
        for (capable, may_mark, unmarked) in [(&[FLOW.source][..], false, 1), (&[], true, 0)] {
            let mut agent = agent(STEP, capable);
            assert_eq!(agent.on_data(0, &leaving(0, 2_000, true), &mut rng()).may_mark, may_mark);
            assert_eq!((agent.sent(), agent.unmarked()), (1, unmarked));
        }
    }

    /// One made-up packet would silence the switch for a minute.
    #[test]
    fn req_54_only_answers_to_what_was_sent_teach() {
        let notification = crate::testing::vector("fastcnp_opt1").split_off(14);
        let answer = crate::fast_cnp::unrecognised::report(FLOW.source, &notification, 42).expect("a report");
        let mut agent = agent(STEP, &[FLOW.source]);
        assert_eq!((agent.learn(Nanos(5), &answer), agent.unasked()), (None, 1), "nothing was sent");
        assert_eq!(agent.on_data(0, &leaving(10, 2_000, true), &mut rng()).decision, Decision::Send);
        let late = Nanos(10 + Nanos::SECOND.0 + 1);
        assert_eq!((agent.learn(late, &answer), agent.unasked()), (None, 2), "too late");
        assert_eq!((agent.learn(Nanos(20), &answer), agent.unasked()), (Some(FLOW.source), 2));
        let decision = agent.on_data(0, &leaving(60_000, 2_000, true), &mut rng()).decision;
        assert_eq!(decision, Decision::Suppressed(Suppression::Incapable));
    }

    #[test]
    fn ports_have_limits_of_their_own() {
        let mut agent = agent(STEP, &[]);
        let decisions = [0, 0, 1].map(|port| agent.on_data(port, &leaving(0, 2_000, false), &mut rng()).decision);
        assert_eq!(decisions, [Decision::Send, Decision::Suppressed(Suppression::FlowInterval), Decision::Send]);
        let withheld = [Suppression::FlowInterval, Suppression::PortLimit].map(|why| agent.suppressed(why));
        assert_eq!((agent.sent(), withheld), (2, [1, 0]));
        let unknown = agent.on_data(9, &leaving(0, 2_000, true), &mut rng());
        assert_eq!(unknown, Verdict { decision: Decision::Suppressed(Suppression::Disabled), may_mark: true });
    }

    /// A port that is never idle has a U of 1, and a queue of a bandwidth-delay product adds 1.
    #[test]
    fn a_port_that_is_loaded_beyond_the_bound_notifies() {
        for (bound, queue, sent) in [(1.5, 0, 0), (1.5, 125_000, 1)] {
            let (mut agent, mut rng) = (agent(Trigger::Utilisation(bound), &[]), rng());
            for n in 0..1_000 {
                let at = Nanos(n * 80);
                agent.on_data(0, &leaving(at.0, queue, false), &mut rng);
                agent.on_sent(0, at, 1_000);
            }
            assert!((agent.sent() > 0) == (sent > 0), "{} with {queue}", agent.sent());
        }
    }
}
