// SPDX-License-Identifier: MIT OR Apache-2.0
//! The switch's side: whether a packet that leaves by a port makes a notification. One generator for each port, each
//! with a memory of fixed size (REQ-48).
//!
//! The trigger on marks is the rule by which packets are marked, so that a notification means what a mark means, and
//! the two can be compared; that on queues has thresholds of its own. The third is for HPCC: a port's U tells of
//! congestion before a queue does.
//!
//! Only a notification that is sent takes the place of a mark. A packet about which none is sent, for whatever reason, is
//! marked as if there were no Fast CNP (draft-xiao-rtgwg-rocev2-fast-cnp-01, section 4: no mark "at the same time of
//! sending"); those between two notifications of a flow need not be.

use super::{Capability, Flow, Recent};
use crate::address::AddressSet;
use crate::ecn::EcnThreshold;
use crate::rate_limit::{RateLimit, TokenBucket};
use crate::roce::Opcode;
use crate::units::Nanos;

/// The definition of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// A packet that the switch's ECN rule marks.
    Mark,
    /// A queue for which these thresholds would mark a packet.
    Queue(EcnThreshold),
    /// A U of the port above this.
    Utilisation(f64),
}

/// Flows that a port remembers, unless that is set.
pub(super) const FLOW_SLOTS: usize = 4_096;

/// How a port notifies.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorConfig {
    /// Whether it does at all (REQ-52).
    pub enabled: bool,
    /// The definition of congestion.
    pub trigger: Trigger,
    /// Senders that it may notify: the controlled domain (REQ-47).
    pub domain: AddressSet,
    /// Least time between two notifications about a flow.
    pub flow_interval: Nanos,
    /// Most notifications of the port.
    pub port_limit: RateLimit,
    /// Flows whose last notification is remembered; at least 1.
    pub flow_slots: usize,
    /// Whether packets of a flow that was notified within its interval are marked where another one would not be.
    pub mark_between: bool,
    /// Whether packets are marked as well while it is not known if their sender understands notifications (REQ-35).
    pub mark_unknown: bool,
}

impl Default for GeneratorConfig {
    /// Off, and without a domain (REQ-53). A million notifications a second, of 122 bytes without a trace, are 1 % of
    /// 100 Gb/s.
    fn default() -> Self {
        GeneratorConfig {
            enabled: false,
            trigger: Trigger::Mark,
            domain: AddressSet::default(),
            flow_interval: Nanos(50_000),
            port_limit: RateLimit { interval: Nanos::MICROSECOND, burst: 16 },
            flow_slots: FLOW_SLOTS,
            mark_between: true,
            mark_unknown: true,
        }
    }
}

/// A RoCEv2 packet over IPv6 that leaves by the port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Simulated time of the departure.
    pub now: Nanos,
    /// The flow of the frame.
    pub flow: Flow,
    /// What it is.
    pub opcode: Opcode,
    /// Bytes that wait behind it.
    pub queue: u64,
    /// U of the port.
    pub utilisation: f64,
    /// Whether the switch's ECN rule marks it.
    pub marked: bool,
    /// Whether its sender understands notifications.
    pub capability: Capability,
}

/// Why there is no notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suppression {
    /// The feature is off.
    Disabled,
    /// It is no data packet.
    NoData,
    /// The port is not congested.
    Idle,
    /// The sender is outside the domain.
    OutsideDomain,
    /// The sender does not understand it.
    Incapable,
    /// The flow was notified just now.
    FlowInterval,
    /// The port sends too many.
    PortLimit,
}

impl Suppression {
    /// Why there is none although there is congestion.
    pub const WITHHELD: [(&'static str, Suppression); 4] = [
        ("outside_domain", Suppression::OutsideDomain),
        ("incapable", Suppression::Incapable),
        ("flow_interval", Suppression::FlowInterval),
        ("port_limit", Suppression::PortLimit),
    ];
}

const SUPPRESSIONS: usize = 7;

/// Whether there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// [`packet::by_switch`](super::packet::by_switch) makes it.
    Send,
    /// There is none.
    Suppressed(Suppression),
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether its sender is notified.
    pub decision: Decision,
    /// Whether the switch's ECN rule may mark it.
    pub may_mark: bool,
}

/// The generator of one port.
///
/// A flow that had to make room in its [memory](Recent) may be notified sooner than the interval says, never later, and the
/// port's limit holds all the same.
#[derive(Clone, Debug)]
pub struct Generator {
    config: GeneratorConfig,
    notified: Recent<Flow>,
    bucket: TokenBucket,
    sent: u64,
    suppressed: [u64; SUPPRESSIONS],
}

impl Generator {
    /// A generator that has not notified anyone.
    pub fn new(config: GeneratorConfig) -> Self {
        Generator {
            notified: Recent::new(config.flow_slots, config.flow_interval),
            bucket: TokenBucket::new(config.port_limit),
            sent: 0,
            suppressed: [0; SUPPRESSIONS],
            config,
        }
    }

    /// A packet leaves. `draw` gives a number in [0, 1) and is called only where chance decides.
    #[inline]
    pub fn on_departure(&mut self, departure: &Departure, draw: impl FnOnce() -> f64) -> Verdict {
        match self.notify(departure, draw) {
            Ok(()) => {
                self.sent += 1;
                Verdict { decision: Decision::Send, may_mark: self.may_mark(departure.capability) }
            }
            Err(why) => {
                self.suppressed[why as usize] += 1;
                let between = why == Suppression::FlowInterval && !self.config.mark_between;
                let may_mark = !between || self.may_mark(departure.capability);
                Verdict { decision: Decision::Suppressed(why), may_mark }
            }
        }
    }

    /// Whether there may be congestion; if not, [`Generator::on_departure`] need not be asked.
    #[inline]
    pub fn may_be_congested(&self, marked: bool, queue: u64, utilisation: f64) -> bool {
        match self.config.trigger {
            Trigger::Mark => marked,
            Trigger::Queue(threshold) => queue > threshold.kmin.min(threshold.kmax),
            Trigger::Utilisation(bound) => utilisation > bound,
        }
    }

    /// Whether the last notification about a flow is no older than `age`, as far as is remembered.
    pub fn notified(&self, now: Nanos, flow: &Flow, age: Nanos) -> bool {
        self.notified.age(now, flow).is_some_and(|since| since <= age)
    }

    /// Flows that had to make room in the memory within their interval.
    pub fn forgotten(&self) -> u64 {
        self.notified.forgotten()
    }

    /// Notifications sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Packets without a notification, for this reason.
    pub fn suppressed(&self, why: Suppression) -> u64 {
        self.suppressed[why as usize]
    }

    /// Whether a packet is marked beside a notification (REQ-35, REQ-36).
    #[inline]
    fn may_mark(&self, capability: Capability) -> bool {
        match capability {
            Capability::Capable => false,
            Capability::Unknown => self.config.mark_unknown,
            Capability::Incapable => true,
        }
    }

    #[inline]
    fn notify(&mut self, departure: &Departure, draw: impl FnOnce() -> f64) -> Result<(), Suppression> {
        if !self.config.enabled {
            return Err(Suppression::Disabled);
        }
        if matches!(departure.opcode, Opcode::CNP | Opcode::ACKNOWLEDGE) {
            return Err(Suppression::NoData);
        }
        let congested = match self.config.trigger {
            Trigger::Mark => departure.marked,
            Trigger::Queue(threshold) => threshold.marks(departure.queue, draw),
            Trigger::Utilisation(bound) => departure.utilisation > bound,
        };
        if !congested {
            return Err(Suppression::Idle);
        }
        if departure.capability == Capability::Incapable {
            return Err(Suppression::Incapable);
        }
        if !self.config.domain.contains(&departure.flow.source) {
            return Err(Suppression::OutsideDomain);
        }
        self.limit(departure.now, &departure.flow)
    }

    /// A notification that the flow's interval withholds costs the port no token.
    fn limit(&mut self, now: Nanos, flow: &Flow) -> Result<(), Suppression> {
        if self.notified.age(now, flow).is_some_and(|age| age < self.config.flow_interval) {
            return Err(Suppression::FlowInterval);
        }
        if !self.bucket.take(now) {
            return Err(Suppression::PortLimit);
        }
        self.notified.note(now, *flow);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_cnp::tests::{FLOW, LOOPBACK};
    use crate::units::BitRate;

    const STEP: Trigger =
        Trigger::Queue(EcnThreshold { rate: BitRate::gbps(100), kmin: 1_000, kmax: 1_000, pmax: 1.0 });

    fn config() -> GeneratorConfig {
        let domain = AddressSet::from_iter([FLOW.source]);
        GeneratorConfig { enabled: true, trigger: STEP, domain, ..GeneratorConfig::default() }
    }

    fn generator(config: GeneratorConfig) -> Generator {
        Generator::new(config)
    }

    /// A packet that leaves 2000 bytes behind.
    fn departure(now: u64) -> Departure {
        Departure {
            now: Nanos(now),
            flow: FLOW,
            opcode: Opcode::WRITE_MIDDLE,
            queue: 2_000,
            utilisation: 0.0,
            marked: true,
            capability: Capability::Capable,
        }
    }

    fn decide(generator: &mut Generator, departure: &Departure) -> Decision {
        generator.on_departure(departure, || panic!("chance does not decide here")).decision
    }

    fn nth(n: u32) -> Flow {
        Flow { dest_qp: n, ..FLOW }
    }

    #[test]
    fn req_52_req_53_it_notifies_nobody_unless_it_is_switched_on() {
        let mut fresh = generator(GeneratorConfig::default());
        let verdict = fresh.on_departure(&Departure { queue: u64::MAX, ..departure(0) }, || 0.0);
        let decision = Decision::Suppressed(Suppression::Disabled);
        assert_eq!(verdict, Verdict { decision, may_mark: true });
        assert_eq!((fresh.sent(), fresh.suppressed(Suppression::Disabled)), (0, 1));
        for enabled in [true, false] {
            let sent = decide(&mut generator(GeneratorConfig { enabled, ..config() }), &departure(0)) == Decision::Send;
            assert_eq!(sent, enabled);
        }
    }

    #[test]
    fn req_35_unknown_senders_are_notified_and_may_be_marked_as_well() {
        for mark_unknown in [true, false] {
            let mut generator = generator(GeneratorConfig { mark_unknown, ..config() });
            let unknown = Departure { capability: Capability::Unknown, ..departure(0) };
            let verdict = generator.on_departure(&unknown, || 0.0);
            assert_eq!(verdict, Verdict { decision: Decision::Send, may_mark: mark_unknown });
        }
    }

    #[test]
    fn req_36_a_notification_takes_the_place_of_a_mark_and_a_withheld_one_does_not() {
        let mut generator = generator(config());
        let verdicts = (0..1_000).map(|n| generator.on_departure(&departure(n * 100), || 0.0));
        let marks = verdicts.filter(|verdict| verdict.may_mark == (verdict.decision == Decision::Send)).count();
        assert_eq!((marks, generator.sent(), generator.suppressed(Suppression::FlowInterval)), (0, 2, 998));
        let incapable = Departure { capability: Capability::Incapable, ..departure(200_000) };
        let decision = Decision::Suppressed(Suppression::Incapable);
        assert_eq!(generator.on_departure(&incapable, || 0.0), Verdict { decision, may_mark: true });
    }

    #[test]
    fn req_47_senders_outside_the_domain_hear_nothing() {
        let mut generator = generator(config());
        let outside = Departure { flow: Flow { source: LOOPBACK, ..FLOW }, ..departure(0) };
        assert_eq!(decide(&mut generator, &outside), Decision::Suppressed(Suppression::OutsideDomain));
        assert_eq!(decide(&mut generator, &departure(0)), Decision::Send);
    }

    /// Ten flows of 100 Gb/s each without the limits: 84 packets in a microsecond, for a millisecond.
    #[test]
    fn req_48_generation_is_bounded_for_each_flow_and_for_the_port() {
        let mut generator = generator(config());
        for n in 0..84_000u64 {
            let flow = nth((n % 10) as u32);
            decide(&mut generator, &Departure { flow, ..departure(n * 1_000_000 / 84_000) });
        }
        assert_eq!(generator.sent(), 10 * 20, "20 intervals");
        let mut crowd = self::generator(config());
        for n in 0..84_000u64 {
            decide(&mut crowd, &Departure { flow: nth(n as u32), ..departure(n * 1_000_000 / 84_000) });
        }
        assert!((1_000..=16 + 1_000).contains(&crowd.sent()), "{}", crowd.sent());
        assert_eq!(crowd.sent() + crowd.suppressed(Suppression::PortLimit), 84_000);
    }

    /// 50 us by default.
    #[test]
    fn req_48_a_flow_is_notified_again_when_its_interval_is_over() {
        let mut generator = generator(config());
        let decisions = [0, 49_999, 50_000].map(|now| decide(&mut generator, &departure(now)));
        assert_eq!(decisions, [Decision::Send, Decision::Suppressed(Suppression::FlowInterval), Decision::Send]);
    }

    #[test]
    fn packets_between_two_notifications_are_marked_or_not() {
        for (mark_between, capability, marked) in
            [(true, Capability::Capable, true), (false, Capability::Capable, false), (false, Capability::Unknown, true)]
        {
            let mut generator = generator(GeneratorConfig { mark_between, ..config() });
            decide(&mut generator, &Departure { capability, ..departure(0) });
            let verdict = generator.on_departure(&Departure { capability, ..departure(100) }, || 0.0);
            let decision = Decision::Suppressed(Suppression::FlowInterval);
            assert_eq!(verdict, Verdict { decision, may_mark: marked }, "{mark_between} {capability:?}");
        }
    }

    /// Room for one of two flows: neither waits for the other.
    #[test]
    fn flows_that_make_room_are_notified_early() {
        let mut generator = generator(GeneratorConfig { flow_slots: 1, ..config() });
        for n in 0..4 {
            let two = Departure { flow: nth(n % 2), ..departure(u64::from(n) * 2_000) };
            assert_eq!(decide(&mut generator, &two), Decision::Send);
            assert_eq!(decide(&mut generator, &two), Decision::Suppressed(Suppression::FlowInterval));
        }
    }

    #[test]
    fn marks_trigger_or_queues_by_thresholds_of_their_own_or_links_by_their_load() {
        for marked in [true, false] {
            let mut by_mark = generator(GeneratorConfig { trigger: Trigger::Mark, ..config() });
            let sends = decide(&mut by_mark, &Departure { marked, ..departure(0) }) == Decision::Send;
            assert_eq!((sends, by_mark.may_be_congested(marked, u64::MAX, 9.0)), (marked, marked));
        }
        let mut by_queue = generator(config());
        assert_eq!(
            decide(&mut by_queue, &Departure { queue: 1_000, ..departure(0) }),
            Decision::Suppressed(Suppression::Idle)
        );
        assert_eq!([1_000, 1_001].map(|queue| by_queue.may_be_congested(true, queue, 9.0)), [false, true]);
        let mut by_load = generator(GeneratorConfig { trigger: Trigger::Utilisation(1.2), ..config() });
        for (utilisation, sends) in [(f64::NAN, false), (1.2, false), (1.3, true)] {
            let decision = decide(&mut by_load, &Departure { utilisation, queue: 0, ..departure(0) });
            assert_eq!(decision == Decision::Send, sends, "{utilisation}");
            assert_eq!(by_load.may_be_congested(true, u64::MAX, utilisation), sends, "{utilisation}");
        }
    }

    #[test]
    fn nobody_is_notified_about_notifications_and_acknowledgements() {
        let mut generator = generator(config());
        for opcode in [Opcode::CNP, Opcode::ACKNOWLEDGE] {
            let decision = decide(&mut generator, &Departure { opcode, ..departure(0) });
            assert_eq!(decision, Decision::Suppressed(Suppression::NoData));
        }
    }
}
