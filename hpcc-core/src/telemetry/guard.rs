// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether echoed records can be true (REQ-26, REQ-27; draft-miao-rtgwg-hpccplus-00, section 9.1).
//!
//! A sender believes what comes back. This guard stands before its controller and lets pass what an honest network
//! could have reported; the rest is counted and decides nothing. The [seal](super::seal) tells who wrote the
//! feedback, this guard tells whether the writer lies:
//!
//! | lie | found because |
//! | --- | --- |
//! | old records, replayed | the hop's clock runs back, or the records are too old |
//! | a clock that is ahead, which makes txRate small | it leaves its distance to the sender's clock |
//! | a busier link, to slow others down | no link sends faster than its capacity |
//! | an idle link, to go faster | the link has sent at least what this flow had delivered |
//! | a faster link | capacities do not change |
//! | another path each time, to be never compared | paths do not change that often |
//!
//! Where switches report the bytes of a class against its share, the same holds in these bytes: a link may send so many times
//! more than its rate as the share is smaller, and the flow's own bytes are so many times more.
//!
//! It cannot tell a short queue that was reported for a long one, nor lies that begin with a flow's first feedback.

use super::{HopStack, LastHops, MAX_HOPS};
use crate::rate_limit::{RateLimit, TokenBucket};
use crate::units::Nanos;

/// Tolerances of the guard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardConfig {
    /// By which part of its capacity a link may seem faster.
    pub rate_slack: f64,
    /// Bytes by which a counter may be off: its unit, and the largest frame.
    pub byte_slack: u64,
    /// How far the delay of records may differ from the delay of a path's first ones: queues and pauses add to it. Less
    /// than half of the time in which the layout's clock wraps.
    pub max_age: Nanos,
    /// Changes of the path that are believed: many at once, for after a change packets of the old path arrive between
    /// packets of the new one; and then one in an interval.
    pub path_changes: RateLimit,
    /// The part of each link that records stand for, above 0 and at most 1: less than 1 where they report a class's
    /// bytes divided by its share as the link's ([`Scope::Queue`](crate::switch::Scope::Queue)). The class itself may
    /// send over the whole link.
    pub share: f64,
}

impl Default for GuardConfig {
    fn default() -> Self {
        GuardConfig {
            rate_slack: 0.05,
            byte_slack: 4_096,
            max_age: Nanos(2_000_000),
            path_changes: RateLimit { interval: Nanos(100_000), burst: 64 },
            share: 1.0,
        }
    }
}

/// Why records cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// A hop's clock ran back.
    Backwards,
    /// They are older, or fresher, than any delay explains.
    Age,
    /// A link sent faster than it can.
    TooFast,
    /// A link sent less than this flow had delivered over it.
    OwnTraffic,
    /// A link changed its capacity.
    Capacity,
    /// The path changed again too soon.
    PathFlap,
    /// A notification brought them, and no feedback of that path was trusted before.
    Unknown,
}

/// How often feedback was rejected, for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejections([u64; 7]);

impl Rejections {
    /// For this reason.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each reason")]
    pub fn of(&self, reason: Distrust) -> u64 {
        self.0[reason as usize]
    }

    /// For any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Sums over a hop's records: many small lies add up.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    /// Bytes by which it sent more than its capacity allows; 0 as soon as it had the time for them.
    excess: f64,
    /// Bytes of this flow that it has not reported; 0 as soon as it reported more.
    owed: u64,
}

impl Balance {
    /// After another report: in a time in which the hop can send `most` bytes it sent `sent`, `own` of this flow.
    fn after(self, sent: u64, most: f64, own: u64) -> Balance {
        Balance {
            excess: (self.excess + sent as f64 - most).max(0.0),
            owed: self.owed.saturating_add(own).saturating_sub(sent),
        }
    }
}

/// The guard of one flow.
#[derive(Clone, Debug)]
pub struct FeedbackGuard {
    config: GuardConfig,
    last: LastHops,
    /// How far each hop's clock was behind the arrival of the path's first records, modulo its wrap.
    behind: [u64; MAX_HOPS],
    balances: [Balance; MAX_HOPS],
    /// Bytes of the flow that had been delivered at the last trusted feedback, or left before the path changed: those count as
    /// delivered over neither path.
    delivered: u64,
    /// Bytes of the flow that have left.
    sent: u64,
    /// Changes of the path that may come.
    changes: TokenBucket,
    rejections: Rejections,
}

impl FeedbackGuard {
    /// The guard of a flow that has not heard of the network yet.
    pub fn new(config: GuardConfig) -> Self {
        FeedbackGuard {
            config,
            last: LastHops::default(),
            behind: [0; MAX_HOPS],
            balances: [Balance::default(); MAX_HOPS],
            delivered: 0,
            sent: 0,
            changes: TokenBucket::new(config.path_changes),
            rejections: Rejections::default(),
        }
    }

    /// So many bytes of the flow have left: they may be on their way over another path than the next records.
    pub fn on_sent(&mut self, sent: u64) {
        self.sent = sent;
    }

    /// Rejections so far.
    pub fn rejections(&self) -> &Rejections {
        &self.rejections
    }

    /// Takes in records that arrived at `now`, and returns whether the controller may use them.
    ///
    /// `delivered` are the flow's payload bytes up to the packet that carried them, as go-back-N acknowledges them.
    /// Where packets are kept out of order an acknowledgement says more than its packet: pass 0.
    ///
    /// # Errors
    /// The reason why they cannot be true, which is counted. The guard then goes on from what it trusted last.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each reason")]
    pub fn admit(&mut self, now: Nanos, delivered: u64, stack: &HopStack) -> Result<(), Distrust> {
        let verdict = self.judge(now, delivered, stack);
        if let Err(reason) = verdict {
            self.rejections.0[reason as usize] += 1;
        }
        verdict
    }

    fn judge(&mut self, now: Nanos, delivered: u64, stack: &HopStack) -> Result<(), Distrust> {
        if !self.last.continue_in(now, stack) {
            self.begin(now, stack)?;
        } else {
            self.balances = self.compare(now, delivered, stack)?;
            self.last.keep(now, stack);
        }
        self.delivered = self.delivered.max(delivered);
        Ok(())
    }

    /// Takes in records that a switch on the path reports at once, of the hops up to its own, and says whether the
    /// controller may hear of them. They are compared with the last that were trusted, and not kept: acknowledgements of
    /// packets that left before them are still to come.
    ///
    /// # Errors
    /// The reason why they cannot be true, which is counted; [`Distrust::Unknown`] where there is nothing to compare them
    /// with.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each reason")]
    pub fn admit_first_hops(&mut self, now: Nanos, stack: &HopStack) -> Result<(), Distrust> {
        let known = self.last.begin_with(now, stack);
        // It is not known how much the flow had delivered when the packet left.
        let verdict = if known { self.compare(now, 0, stack).map(|_| ()) } else { Err(Distrust::Unknown) };
        if let Err(reason) = verdict {
            self.rejections.0[reason as usize] += 1;
        }
        verdict
    }

    /// A path's first records, or the first after a silence: nothing to compare them with.
    fn begin(&mut self, now: Nanos, stack: &HopStack) -> Result<(), Distrust> {
        if !self.last.is_path_of(stack) {
            if !self.last.is_empty() {
                if !self.changes.take(now) {
                    return Err(Distrust::PathFlap);
                }
                self.delivered = self.sent;
            }
        } else if self.last.pairs(stack).any(|(earlier, later)| later.rate != earlier.rate) {
            return Err(Distrust::Capacity);
        }
        for (behind, hop) in self.behind.iter_mut().zip(stack.hops()) {
            *behind = clock_distance(now, hop.ts, stack.modulus.ts);
        }
        self.balances = [Balance::default(); MAX_HOPS];
        self.last.restart(now, stack);
        Ok(())
    }

    /// The balances after records that can be true.
    fn compare(&self, now: Nanos, delivered: u64, stack: &HopStack) -> Result<[Balance; MAX_HOPS], Distrust> {
        // In bytes as they are reported.
        let reported = |bytes: u64| bytes as f64 / self.config.share;
        let own = reported(delivered.saturating_sub(self.delivered)) as u64;
        let slack = reported(self.config.byte_slack);
        let modulus = &stack.modulus;
        let mut balances = self.balances;
        for (((earlier, later), behind), balance) in self.last.pairs(stack).zip(self.behind).zip(&mut balances) {
            let elapsed = modulus.elapsed(earlier, later);
            let sent = modulus.sent(earlier, later);
            if elapsed > modulus.ts / 2 {
                return Err(Distrust::Backwards);
            }
            if later.rate != earlier.rate {
                return Err(Distrust::Capacity);
            }
            let drift = clock_distance(now, later.ts, modulus.ts).abs_diff(behind);
            if drift.min(modulus.ts.abs_diff(drift)) > self.config.max_age.0 {
                return Err(Distrust::Age);
            }
            let most = later.rate.0 as f64 * elapsed as f64 / 8e9 / self.config.share * (1.0 + self.config.rate_slack);
            *balance = balance.after(sent, most, own);
            if balance.excess > slack {
                return Err(Distrust::TooFast);
            }
            if balance.owed as f64 > slack {
                return Err(Distrust::OwnTraffic);
            }
        }
        Ok(balances)
    }
}

/// How far a hop's clock is behind `now`, on a clock that wraps at `modulus`.
fn clock_distance(now: Nanos, ts: u64, modulus: u64) -> u64 {
    let now = now.0 % modulus.max(1);
    if now >= ts { now - ts } else { modulus.saturating_sub(ts) + now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{LIMITS, ack, rng};
    use crate::cc::{CongestionControl, Feedback, HpccPlus, HpccPlusConfig, RateDecision};
    use crate::telemetry::{Hop, Modulus, Telemetry};
    use crate::units::BitRate;

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 128 << 20 };
    /// A packet in 2 us, half of line rate: the flow's own part of a link that is busy all the time.
    const GAP: u64 = 2_000;
    const OWN: u64 = 12_500;
    /// The attack begins with this packet.
    const ATTACK: u64 = 100;

    struct Outcome {
        before: u64,
        after: u64,
        rejections: Rejections,
    }

    /// Windows of a flow on a link at line rate with a short queue, before and after records of 200 packets were
    /// changed by `lie`, which is told the packet's number.
    fn attack(guarded: bool, lie: impl Fn(u64, &mut Hop, &mut u64)) -> Outcome {
        let mut guard = FeedbackGuard::new(GuardConfig::default());
        let mut flow: HpccPlus = HpccPlus::new(HpccPlusConfig::default(), LIMITS);
        let (mut window, mut before, mut rng) = (0, 0, rng());
        let mut stack = HopStack::default();
        for n in 0..ATTACK + 200 {
            let (now, delivered) = (n * GAP, n * OWN);
            let mut hop = Hop {
                rate: BitRate::gbps(100),
                ts: now % MODULUS.ts,
                tx_bytes: n * 2 * OWN % MODULUS.tx_bytes,
                qlen: 1_000,
            };
            let mut path = 7;
            if n >= ATTACK {
                lie(n - ATTACK, &mut hop, &mut path);
            }
            stack.reset(MODULUS);
            stack.push(hop);
            stack.path = path;
            let now = Nanos(now + 5_000);
            if guarded && guard.admit(now, delivered, &stack).is_err() {
                continue;
            }
            let telemetry = Telemetry::Hops(&stack);
            let feedback = Feedback { telemetry, ..ack(now.0, delivered, delivered + 81_250) };
            if let RateDecision::Window { bytes, .. } = flow.on_feedback(&feedback, &mut rng) {
                window = bytes;
            }
            if n == ATTACK - 1 {
                before = window;
            }
        }
        Outcome { before, after: window, rejections: guard.rejections }
    }

    /// Unguarded the lie multiplies the window by `effect` or more (or, below 1, less); guarded it is found out each
    /// time and changes nothing.
    fn found_out(reason: Distrust, effect: f64, lie: impl Fn(u64, &mut Hop, &mut u64)) {
        let bare = attack(false, &lie);
        let change = bare.after as f64 / bare.before as f64;
        assert!(if effect > 1.0 { change > effect } else { change < effect }, "{change}");
        let guarded = attack(true, lie);
        assert_eq!(guarded.rejections.total(), 200);
        assert!(guarded.rejections.of(reason) >= 190, "{:?}", guarded.rejections);
        assert_eq!(guarded.after, guarded.before);
    }

    #[test]
    fn honest_feedback_passes() {
        let honest = attack(true, |_, _, _| {});
        assert_eq!(honest.rejections.total(), 0);
        assert_eq!(honest.after, attack(false, |_, _, _| {}).after);
    }

    /// A packet on the new path overtakes 100 kB that are still on the old one. They arrive before the next records of the new
    /// path, whose link has sent next to nothing in between.
    #[test]
    fn what_was_under_way_when_the_path_changed_is_owed_by_no_link() {
        let mut guard = FeedbackGuard::new(GuardConfig::default());
        let records = |now: u64, path, tx_bytes| {
            let mut stack = HopStack::new(MODULUS);
            stack.push(Hop { rate: BitRate::gbps(100), ts: now, tx_bytes, qlen: 0 });
            stack.path = path;
            stack
        };
        guard.on_sent(100_000);
        assert_eq!(guard.admit(Nanos(5_000), 0, &records(5_000, 7, 0)), Ok(()));
        assert_eq!(guard.admit(Nanos(6_000), 1_000, &records(6_000, 8, 0)), Ok(()));
        assert_eq!(guard.admit(Nanos(20_000), 100_000, &records(20_000, 8, 2_000)), Ok(()));
        let hidden = guard.admit(Nanos(30_000), 120_000, &records(30_000, 8, 3_000));
        assert_eq!(hidden, Err(Distrust::OwnTraffic), "what left later is");
    }

    #[test]
    fn req_27_lies_that_would_move_the_window_are_found_out() {
        found_out(Distrust::OwnTraffic, 2.0, |n, hop, _| hop.tx_bytes = (ATTACK - 1) * 2 * OWN + n * 1_000);
        found_out(Distrust::Capacity, 2.0, |_, hop, _| hop.rate = BitRate::gbps(800));
        found_out(Distrust::TooFast, 0.5, |n, hop, _| hop.tx_bytes = (ATTACK * 2 + n * 20 + 20) * OWN % (128 << 20));
        found_out(Distrust::Age, 1.5, |n, hop, _| hop.ts = (hop.ts + 4_000_000 + n * 9_000) % MODULUS.ts);
    }

    /// A class that is sure of a quarter has the whole link: its records say four times the link's rate. Who knows the share
    /// takes that for true, and notices what one who knows no share would not: a link that reports three of four bytes.
    #[test]
    fn req_27_a_guard_reckons_with_the_share_of_a_class() {
        let judged = |share, told: fn(u64) -> u64| {
            let mut guard = FeedbackGuard::new(GuardConfig { share, ..GuardConfig::default() });
            let mut stack = HopStack::default();
            for n in 0..200 {
                stack.reset(MODULUS);
                let (ts, tx_bytes) = (n * GAP % MODULUS.ts, told(n * 2 * OWN) % MODULUS.tx_bytes);
                stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes, qlen: 0 });
                let _ = guard.admit(Nanos(n * GAP + 5_000), n * 2 * OWN, &stack);
            }
            (guard.rejections.of(Distrust::TooFast), guard.rejections.of(Distrust::OwnTraffic))
        };
        assert_eq!(judged(0.25, |sent| 4 * sent), (0, 0));
        assert_eq!(judged(1.0, |sent| 4 * sent), (199, 0));
        assert_eq!(judged(0.25, |sent| 3 * sent), (0, 199));
        assert_eq!(judged(1.0, |sent| sent), (0, 0));
        assert_eq!(judged(0.25, |sent| 5 * sent).0, 199);
    }

    #[test]
    fn req_27_a_link_cannot_become_faster_in_a_silence() {
        let mut guard = FeedbackGuard::new(GuardConfig::default());
        let mut stack = HopStack::new(MODULUS);
        stack.push(Hop { rate: BitRate::gbps(100), ..Hop::default() });
        assert_eq!(guard.admit(Nanos(0), 0, &stack), Ok(()));
        stack.reset(MODULUS);
        stack.push(Hop { rate: BitRate::gbps(400), ..Hop::default() });
        assert_eq!(guard.admit(Nanos::SECOND, 0, &stack), Err(Distrust::Capacity));
    }

    /// Sixteen times the pace of time. What is ahead by less than the allowed age still passes.
    #[test]
    fn req_27_a_clock_cannot_run_ahead() {
        let lie = |n: u64, hop: &mut Hop, _: &mut u64| hop.ts = (hop.ts + (n + 1) * 30_000) % MODULUS.ts;
        let (bare, guarded) = (attack(false, lie), attack(true, lie));
        assert!(bare.after > 2 * bare.before);
        assert_eq!(guarded.rejections.of(Distrust::Age), 200 - 2_000_000 / 30_000);
    }

    /// The controller compares nothing across paths, so that changing them keeps it from slowing down. Every other
    /// packet is of another path than the last believed one; some changes pass.
    #[test]
    fn req_27_paths_cannot_change_all_the_time() {
        let lie = |n: u64, hop: &mut Hop, path: &mut u64| {
            *path += n % 2;
            hop.qlen = 1_000_000;
        };
        let (bare, guarded) = (attack(false, lie), attack(true, lie));
        assert!(bare.after > bare.before * 9 / 10);
        assert_eq!(guarded.rejections.of(Distrust::PathFlap), 66);
        assert_eq!(guarded.rejections.total(), 66);
        assert!(guarded.after < guarded.before / 4, "{} after {}", guarded.after, guarded.before);
    }

    /// Who is found out names another path, over which nothing was delivered yet.
    #[test]
    fn req_27_another_path_hides_little_of_the_load() {
        let lie = |n: u64, hop: &mut Hop, path: &mut u64| {
            *path += 1 + n / 10;
            hop.tx_bytes = (ATTACK - 1) * 2 * OWN + n * 1_000;
        };
        let (bare, guarded) = (attack(false, lie), attack(true, lie));
        assert!(bare.after > bare.before);
        assert_eq!(guarded.after, guarded.before);
        assert!(guarded.rejections.of(Distrust::OwnTraffic) > 150, "{:?}", guarded.rejections);
    }

    /// A flow that has just begun loses its link and gets it back, and packets of both paths arrive mixed: all of it is
    /// true.
    #[test]
    fn links_that_fail_and_come_back_pass() {
        for is_other in [|n: u64| n / 40 % 2, |n: u64| if n < 60 { n % 2 } else { 1 }] {
            let moved = attack(true, |n, hop, path| {
                *path += is_other(n);
                hop.tx_bytes += is_other(n) * 1_000_000;
            });
            assert_eq!(moved.rejections, Rejections::default());
        }
    }

    #[test]
    fn req_27_old_records_are_no_news() {
        let replayed = attack(true, |n, hop, _| {
            hop.ts = n % 50 * GAP;
            hop.tx_bytes = n % 50 * 2 * OWN;
        });
        assert_eq!(replayed.rejections.of(Distrust::Backwards), 200);
        assert_eq!(replayed.after, replayed.before);
    }
}
