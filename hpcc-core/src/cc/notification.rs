// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion that a controller hears of outside acknowledgements, and which algorithm does what about it.
//!
//! [`Reaction::to`] is the whole table. A host whose algorithm does nothing about a signal must not be sent it:
//! [`NodeSettings::check_notifications`](crate::node::NodeSettings::check_notifications) refuses that.

use crate::telemetry::Telemetry;
use crate::units::Nanos;

/// Who noticed the congestion (REQ-45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The receiver of the flow.
    Receiver,
    /// A network element on the path, by its IPv6 address.
    Network([u8; 16]),
}

/// A notification of congestion outside acknowledgements. It has no sequence number, so it ends no round.
#[derive(Clone, Copy, Debug)]
pub struct Notification<'a> {
    /// Simulated time of its arrival.
    pub now: Nanos,
    /// Time since the flow could send its first packet. A packet needed no longer than that to the place that the flow's
    /// first notification comes from, nor that notification back.
    pub age: Nanos,
    /// Records of the path's first hops, up to the one that notifies; [`Telemetry::Nothing`] if it brings none.
    pub telemetry: Telemetry<'a>,
    /// Whether a switch or the receiver noticed congestion.
    pub origin: Origin,
}

/// A signal of congestion other than an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A congestion notification packet (CNP) of the receiver.
    ReceiverCnp,
    /// A Fast CNP without records: option 1.
    FastCnp,
    /// A Fast CNP with the records of the packet that met congestion: option 2.
    FastCnpWithRecords,
}

/// How an algorithm reacts when it is notified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reaction {
    /// Not at all: it goes by something else.
    #[default]
    Nothing,
    /// A notification counts as a mark, whatever it brings.
    Mark,
    /// By records of hops, and only by them.
    Records,
    /// By records of hops; without them the window falls to a half, once in T at most.
    RecordsOrHalf,
}

/// The effect of one kind of notification on a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the combination is refused.
    Nothing,
    /// It counts as a mark.
    Mark,
    /// Its records move window and rate.
    Load,
    /// The window falls to a half, once in T at most.
    Half,
}

impl Reaction {
    /// The effect of a signal on a flow of such an algorithm.
    pub fn to(self, signal: Signal) -> Effect {
        match (self, signal) {
            (Reaction::Nothing, Signal::ReceiverCnp | Signal::FastCnp | Signal::FastCnpWithRecords) => Effect::Nothing,
            (Reaction::Mark, Signal::ReceiverCnp | Signal::FastCnp | Signal::FastCnpWithRecords) => Effect::Mark,
            (Reaction::Records, Signal::ReceiverCnp | Signal::FastCnp) => Effect::Nothing,
            (Reaction::Records | Reaction::RecordsOrHalf, Signal::FastCnpWithRecords) => Effect::Load,
            (Reaction::RecordsOrHalf, Signal::ReceiverCnp | Signal::FastCnp) => Effect::Half,
        }
    }
}

/// Why a notification that was believed changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {
    /// The controller does not react to notifications.
    NoReaction,
    /// The controller goes by records, and it brought none that can be used.
    NoRecords,
    /// Its records are the first of their path, too old, or out of order.
    Incomparable,
    /// Its records show no more load than the controller knows of.
    NotBusier,
    /// The flow has reacted, and the effect cannot show yet.
    SameRound,
    /// The flow has finished.
    Finished,
}

impl NoEffect {
    /// All of them and their names.
    pub const NAMES: [(&'static str, NoEffect); 6] = [
        ("no_reaction", NoEffect::NoReaction),
        ("no_records", NoEffect::NoRecords),
        ("incomparable", NoEffect::Incomparable),
        ("not_busier", NoEffect::NotBusier),
        ("same_round", NoEffect::SameRound),
        ("finished", NoEffect::Finished),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::hpcc_plus::WindowLaw;
    use crate::cc::testing::{LIMITS, NOTIFICATION, W_AI, ack, rate, rng};
    use crate::cc::{
        Algorithm, CongestionControl, ControlLaw, DcqcnConfig, DctcpConfig, Feedback, Hpcc, HpccConfig, HpccPintConfig,
        HpccPlus, HpccPlusConfig, LineRate, RateDecision, RxHpccConfig, TimelyConfig,
    };
    use crate::telemetry::{Hop, HopStack, Modulus};
    use crate::units::{BitRate, Bytes};
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    const MODULUS: Modulus = Modulus { ts: 1 << 24, tx_bytes: 512 << 20 };
    const T: u64 = 13_000;
    const RATE_LAW: ControlLaw =
        ControlLaw { eta: 0.95, max_stage: 5, additive_increase: Some(W_AI), min_rate: Some(BitRate::mbps(100)) };
    const BDP: u64 = 162_500;

    /// Records of switches 1, 2, ... at one time, with these queues. All send at line rate.
    fn stack(ts: u64, queues: &[u64]) -> HopStack {
        of_path(1, ts, queues)
    }

    fn of_path(first: u32, ts: u64, queues: &[u64]) -> HopStack {
        let mut stack = HopStack::new(MODULUS);
        for (switch_id, &qlen) in (first..).zip(queues) {
            stack.pass(switch_id, 1);
            stack.push(Hop { rate: BitRate::gbps(100), ts, tx_bytes: ts * 100 / 8, qlen });
        }
        stack
    }

    fn acknowledge(flow: &mut dyn CongestionControl, now: u64, ack_seq: u64, records: &HopStack) -> RateDecision {
        let feedback = Feedback { telemetry: Telemetry::Hops(records), ..ack(now, ack_seq, 100_000) };
        flow.on_feedback(&feedback, &mut rng())
    }

    fn heard(flow: &mut dyn CongestionControl, now: u64, records: &HopStack) -> Result<RateDecision, NoEffect> {
        let (now, telemetry) = (Nanos(now), Telemetry::Hops(records));
        flow.on_notification(&Notification { now, age: now, telemetry, ..NOTIFICATION })
    }

    fn notify(flow: &mut dyn CongestionControl, now: u64, records: &HopStack) -> RateDecision {
        heard(flow, now, records).unwrap_or(RateDecision::Keep)
    }

    /// Both forms of HPCC, which have heard of three hops with this queue at the second.
    fn armed(queue: u64) -> (HpccPlus, Hpcc) {
        let law = WindowLaw { additive_increase: Some(Bytes(80)), ..WindowLaw::default() };
        let mut window_form = HpccPlus::new(HpccPlusConfig { law, ..HpccPlusConfig::default() }, LIMITS);
        let config = HpccConfig { law: RATE_LAW, ..HpccConfig::default() };
        let mut rate_form = Hpcc::new(config, LIMITS);
        acknowledge(&mut window_form, 0, 1_000, &stack(0, &[0, queue, 0]));
        acknowledge(&mut rate_form, 0, 1_000, &stack(0, &[0, queue, 0]));
        (window_form, rate_form)
    }

    /// U = 3, as in the first of the worked numbers of `window.rs`, but that Wc stays: 51 538.333 bytes in 13 us.
    #[test]
    fn req_43_records_of_the_first_hops_slow_hpcc_down_and_commit_nothing() {
        let (mut window_form, mut rate_form) = armed(2 * BDP);
        let expected = 51_538.333 * 8e9 / 13_000.0;
        for decision in
            [notify(&mut window_form, T, &stack(T, &[0, 2 * BDP])), notify(&mut rate_form, T, &stack(T, &[0, 2 * BDP]))]
        {
            assert_relative_eq!(rate(decision).0 as f64, expected, max_relative = 1e-6);
        }
        assert_eq!((window_form.window().reference(), window_form.window().increases()), (BDP as f64, 0));
        assert_eq!(rate_form.stages(1)[0].reference, LIMITS.line_rate);
        assert_abs_diff_eq!(window_form.utilisation(), 3.0, epsilon = 1e-9);
    }

    /// A notification overtakes the acknowledgements of packets that left before it.
    #[test]
    fn acknowledgements_that_were_overtaken_still_count() {
        let (mut window_form, mut rate_form) = armed(2 * BDP);
        notify(&mut window_form, 9_000, &stack(9_000, &[0, 2 * BDP]));
        notify(&mut rate_form, 9_000, &stack(9_000, &[0, 2 * BDP]));
        for ts in [1_000, 5_000, 9_000] {
            let older = stack(ts, &[0, 2 * BDP, 0]);
            assert_ne!(acknowledge(&mut window_form, 10_000 + ts, 2_000 + ts, &older), RateDecision::Keep);
            assert_ne!(acknowledge(&mut rate_form, 10_000 + ts, 2_000 + ts, &older), RateDecision::Keep);
        }
        let loads = [window_form.utilisation(), rate_form.stages(1)[0].utilisation];
        assert!(loads.iter().all(|load| (2.0..=3.0).contains(load)), "{loads:?}");
    }

    /// An idle first hop says nothing of the second.
    #[test]
    fn a_notification_does_not_lower_the_load() {
        let (mut window_form, mut rate_form) = armed(2 * BDP);
        acknowledge(&mut window_form, T, 2_000, &stack(T, &[0, 2 * BDP, 0]));
        acknowledge(&mut rate_form, T, 2_000, &stack(T, &[0, 2 * BDP, 0]));
        notify(&mut window_form, 2 * T, &stack(2 * T, &[0]));
        notify(&mut rate_form, 2 * T, &stack(2 * T, &[0]));
        assert_abs_diff_eq!(window_form.utilisation(), 3.0, epsilon = 1e-9);
        assert_abs_diff_eq!(rate_form.stages(1)[0].utilisation, 3.0, epsilon = 1e-9);
    }

    #[test]
    fn records_that_cannot_be_compared_change_nothing() {
        let (mut flow, _) = armed(BDP);
        let queues = [BDP, 9 * BDP];
        assert_eq!(notify(&mut flow, T, &of_path(2, T, &queues)), RateDecision::Keep, "another path");
        assert_eq!(notify(&mut flow, T, &stack(T, &[BDP; 4])), RateDecision::Keep, "a longer one");
        assert_eq!(notify(&mut flow, T, &stack(T, &[])), RateDecision::Keep, "none");
        assert_eq!(notify(&mut flow, T, &stack(0, &queues)), RateDecision::Keep, "a replay");
        assert_eq!(notify(&mut flow, T, &stack((1 << 24) - 9, &queues)), RateDecision::Keep, "older ones");
        assert_eq!(notify(&mut flow, 1 << 24, &stack(T, &queues)), RateDecision::Keep, "after a wrap");
        assert_eq!(flow.utilisation(), 1.0);
    }

    /// Four flows at line rate: in 5 us 62 500 bytes leave and the queue grows by 187 500, so that 4 times the capacity
    /// arrives, and the queue is 1.17 of the path's 162 500 bytes.
    #[test]
    fn a_flow_without_acknowledgements_compares_notifications_with_each_other() {
        let (mut window_form, mut receiver_driven) =
            (HpccPlusConfig::default().start(LIMITS.into()), RxHpccConfig::default().start(LIMITS.into()));
        for flow in [&mut window_form, &mut receiver_driven] {
            let flow = flow.as_mut();
            let bytes = |decision| match decision {
                RateDecision::Window { bytes, .. } => bytes,
                RateDecision::Keep | RateDecision::Repace(_) | RateDecision::Set(_) => panic!("no window"),
            };
            let half = 162_500.0 / 2.0 + 81.25;
            assert_eq!(bytes(notify(flow, 3_000, &stack(2_000, &[0, 3_000]))), half as u64, "nothing to compare with");
            let second = bytes(notify(flow, 8_000, &stack(7_000, &[0, 190_500])));
            let load = 4.0 + 190_500.0 / 162_500.0;
            assert_eq!(second, (half * 0.95 / load + 81.25) as u64);
            let early = heard(flow, 10_900, &stack(9_900, &[0, 290_000]));
            assert_eq!(early, Err(NoEffect::SameRound), "3 us are the flow's age at the first notification");
            let later = bytes(notify(flow, 26_000, &stack(25_000, &[0, 300_000])));
            assert_eq!(later, (second as f64 / 2.0 + 81.25) as u64, "T is over, and nothing is comparable");
        }
    }

    #[test]
    fn a_notification_without_records_halves_the_window_once_in_t() {
        let (mut armed, _) = armed(0);
        for flow in [&mut armed as &mut dyn CongestionControl, HpccPlusConfig::default().start(LIMITS.into()).as_mut()]
        {
            let at = |flow: &mut dyn CongestionControl, now| {
                flow.on_notification(&Notification { now: Nanos(now), age: Nanos(now), ..NOTIFICATION })
            };
            let Ok(RateDecision::Window { bytes, .. }) = at(flow, 500) else { panic!("no window") };
            assert_eq!(bytes.abs_diff(BDP / 2) / 100, 0, "{bytes}");
            assert_eq!(at(flow, 500 + T - 1), Err(NoEffect::SameRound));
        }
    }

    /// The receiver computes for two T from packets that left before the reaction.
    #[test]
    fn what_the_receiver_computes_is_bounded_for_two_t_after_a_reaction() {
        let mut flow = RxHpccConfig::default().start(LIMITS.into());
        let half = flow.on_notification(&Notification { now: Nanos(500), ..NOTIFICATION });
        let Ok(RateDecision::Window { bytes: half, .. }) = half else { panic!("no window") };
        for (now, expected) in [(500 + T, half), (499 + 2 * T, half), (500 + 2 * T, BDP)] {
            let feedback = Feedback { telemetry: Telemetry::Window(BDP), ..ack(now, now, 100_000) };
            let RateDecision::Window { bytes, .. } = flow.on_feedback(&feedback, &mut rng()) else {
                panic!("no window")
            };
            assert_eq!(bytes, expected, "{now}");
        }
    }

    /// One busy hop of three: a rate for each hop comes to the same as one for the worst, and only hops that are there
    /// have a rate.
    #[test]
    fn a_rate_for_each_hop_falls_by_the_hop_that_is_busy() {
        let config = HpccConfig { multi_rate: true, law: RATE_LAW, ..HpccConfig::default() };
        let mut flow = Hpcc::new(config, LIMITS);
        acknowledge(&mut flow, 0, 1_000, &stack(0, &[0, 2 * BDP, 0]));
        let rate = rate(notify(&mut flow, T, &stack(T, &[0, 2 * BDP])));
        assert_relative_eq!(rate.0 as f64, 51_538.333 * 8e9 / 13_000.0, max_relative = 1e-6);
        let loads: alloc::vec::Vec<_> = flow.stages(4).iter().map(|stage| stage.utilisation).collect();
        assert!((loads[1] - 3.0).abs() < 1e-9 && loads[2..] == [1.0, 1.0], "{loads:?}");
    }

    #[test]
    fn every_controller_hears_of_it_and_the_others_stay_as_they_are() {
        let records = stack(T, &[0, 9 * BDP]);
        let deaf: [&dyn Algorithm; 4] =
            [&LineRate, &HpccPintConfig::default(), &TimelyConfig::default(), &DctcpConfig::default()];
        for algorithm in deaf {
            assert_eq!(heard(algorithm.start(LIMITS.into()).as_mut(), T, &records), Err(NoEffect::NoReaction));
        }
        let mut dcqcn = DcqcnConfig::default().start(LIMITS.into());
        notify(dcqcn.as_mut(), T, &records);
        assert!(dcqcn.timers_mut().is_some_and(|timers| timers.take_armed().0 != 0));
        let hearing: [&dyn Algorithm; 2] = [&HpccConfig::default(), &HpccPlusConfig::default()];
        for algorithm in hearing {
            let mut flow = algorithm.start(LIMITS.into());
            acknowledge(flow.as_mut(), 0, 1_000, &stack(0, &[0, 9 * BDP, 0]));
            assert_ne!(notify(flow.as_mut(), T, &records), RateDecision::Keep);
        }
    }
}
