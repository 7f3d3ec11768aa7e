// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that a host does about Fast CNP: whether to believe a notification, whether to take another path for it, and the
//! answer of a host that does not know what it is.

use super::unrecognised::{self, Judgement};
use super::{Accepted, Acceptor, AcceptorConfig, Address, MigrationConfig, PathMigration, Received, Refusal};
use crate::cc::{NoEffect, Origin};
use crate::rate_limit::{RateLimit, TokenBucket};
use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// ICMPv6 errors of a host (RFC 4443 section 2.4 f asks for a limit): ten at a time, then a thousand a second.
const REPORTS: RateLimit = RateLimit { interval: Nanos::MILLISECOND, burst: 10 };

/// The agent of one host.
#[derive(Clone, Debug)]
pub struct HostAgent {
    address: Address,
    acceptor: Acceptor,
    migration: MigrationConfig,
    /// Of flows that were notified.
    migrations: BTreeMap<u32, PathMigration>,
    moved: u64,
    without_effect: [u64; NoEffect::NAMES.len()],
    reports: TokenBucket,
    reported: u64,
}

impl HostAgent {
    /// The agent of a host without flows.
    pub fn new(address: Address, acceptor: AcceptorConfig, migration: MigrationConfig) -> Self {
        HostAgent {
            address,
            acceptor: Acceptor::new(acceptor),
            migration,
            migrations: BTreeMap::new(),
            moved: 0,
            without_effect: [0; NoEffect::NAMES.len()],
            reports: TokenBucket::new(REPORTS),
            reported: 0,
        }
    }

    /// A flow begins: `queue_pair` sends to `dest_qp` at `destination`.
    pub fn connect(&mut self, destination: Address, dest_qp: u32, queue_pair: u32) {
        self.acceptor.connect(destination, dest_qp, queue_pair);
    }

    /// A connection has ended.
    pub fn disconnect(&mut self, destination: Address, dest_qp: u32) {
        if let Some(queue_pair) = self.acceptor.disconnect(destination, dest_qp) {
            self.migrations.remove(&queue_pair);
        }
    }

    /// A notification has come.
    ///
    /// # Errors
    /// Why it is ignored. Where the feature is [off](Refusal::Disabled), [`HostAgent::report`] says what goes back.
    pub fn on_notification<'a>(&mut self, received: &Received<'a>) -> Result<Accepted<'a>, Refusal> {
        self.acceptor.on_notification(received)
    }

    /// The source port that a flow takes after a notification about it, if another than `port`.
    pub fn migration(
        &mut self,
        now: Nanos,
        queue_pair: u32,
        origin: Origin,
        port: u16,
        draw: impl FnOnce() -> f64,
    ) -> Option<u16> {
        if !self.migration.enabled {
            return None;
        }
        let config = self.migration;
        let migration = self.migrations.entry(queue_pair).or_insert_with(|| PathMigration::new(config));
        let next = migration.on_notification(now, origin, port, draw);
        self.moved += u64::from(next.is_some());
        next
    }

    /// The answer of a host without the feature to an IPv6 packet: an ICMPv6 packet, as long as its rate allows.
    pub fn report(&mut self, now: Nanos, packet: &[u8]) -> Option<Vec<u8>> {
        let Judgement::Report(pointer) = unrecognised::judge(packet, |_| false) else { return None };
        if !self.reports.take(now) {
            return None;
        }
        let report = unrecognised::report(self.address, packet, pointer);
        self.reported += u64::from(report.is_some());
        report
    }

    /// A notification that was believed neither changed what the flow's controller does, for this reason, nor its path.
    pub fn had_no_effect(&mut self, accepted: &Accepted<'_>, why: NoEffect) {
        self.acceptor.had_no_effect(accepted.connection, accepted.reacted);
        self.without_effect[why as usize] += 1;
    }

    /// Notifications that were believed and acted on.
    pub fn accepted(&self) -> u64 {
        self.acceptor.accepted() - self.without_effect.iter().sum::<u64>()
    }

    /// Notifications that were believed and changed nothing, by the reasons of [`NoEffect::NAMES`].
    pub fn without_effect(&self) -> [u64; NoEffect::NAMES.len()] {
        self.without_effect
    }

    /// Its acceptor, which counts notifications that it believed or refused.
    pub fn acceptor(&self) -> &Acceptor {
        &self.acceptor
    }

    /// How often a flow was moved to another path.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// ICMPv6 packets sent.
    pub fn reported(&self) -> u64 {
        self.reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AddressSet;
    use crate::fast_cnp::tests::{LOOPBACK, RECEIVER, SENDER};
    use crate::roce::Bth;
    use crate::testing::vector;

    const SPINE: Origin = Origin::Network([1; 16]);

    fn agent(migration: MigrationConfig) -> HostAgent {
        HostAgent::new(SENDER, AcceptorConfig::default(), migration)
    }

    #[test]
    fn req_54_a_flood_is_not_answered_packet_for_packet() {
        let mut agent = agent(MigrationConfig::default());
        let packet = vector("fastcnp_opt1").split_off(14);
        let answers = (0..100_000).filter(|&now| agent.report(Nanos(now * 10), &packet).is_some()).count();
        assert_eq!((answers, agent.reported()), (10, 10));
        assert_eq!(agent.report(Nanos(5_000_000), &vector("roce_cnp_ipv6")[14..]), None, "nothing to complain about");
    }

    /// Three are believed, two of them change nothing, and so do not keep the flow from hearing the next one at once.
    #[test]
    fn what_had_no_effect_is_not_counted_as_accepted() {
        let config =
            AcceptorConfig { enabled: true, sources: AddressSet::from_iter([LOOPBACK]), ..AcceptorConfig::default() };
        let mut agent = HostAgent::new(SENDER, config, MigrationConfig::default());
        let packet = vector("fastcnp_opt1").split_off(14);
        agent.connect(RECEIVER, 0x102, 7);
        let received = |now| Received {
            now: Nanos(now),
            source: LOOPBACK,
            destination_options: &packet[40..64],
            bth: Bth::cnp(0x102),
            icrc_is_right: true,
        };
        for (now, has_effect) in [(0, false), (1, true), (1_000_000, false)] {
            let accepted = agent.on_notification(&received(now)).expect("believed");
            assert_eq!(accepted.queue_pair, 7);
            if !has_effect {
                agent.had_no_effect(&accepted, NoEffect::SameRound);
            }
        }
        let mut reasons = [0; NoEffect::NAMES.len()];
        reasons[NoEffect::SameRound as usize] = 2;
        assert_eq!((agent.accepted(), agent.without_effect()), (1, reasons));
        assert!(agent.on_notification(&received(1_000_001)).is_ok());
        assert_eq!(agent.on_notification(&received(1_000_002)).err(), Some(Refusal::TooSoon));
    }

    #[test]
    fn req_46_flows_migrate_on_their_own_and_their_end_forgets_them() {
        let config = MigrationConfig { enabled: true, notifications: 2, ..MigrationConfig::default() };
        let mut agent = agent(config);
        let hear = |agent: &mut HostAgent, queue_pair| agent.migration(Nanos(5), queue_pair, SPINE, 10_000, || 0.5);
        agent.connect(RECEIVER, 2, 7);
        assert_eq!(([hear(&mut agent, 7), hear(&mut agent, 8)], agent.moved()), ([None; 2], 0));
        assert!(hear(&mut agent, 7).is_some());
        assert_eq!(agent.moved(), 1);
        agent.connect(RECEIVER, 3, 8);
        agent.disconnect(RECEIVER, 3);
        assert_eq!(hear(&mut agent, 8), None, "the count began again");
        assert_eq!(hear(&mut self::agent(MigrationConfig::default()), 7), None);
    }
}
