// SPDX-License-Identifier: MIT OR Apache-2.0
//! That skipping packets changes nothing.

use super::run::{Run, UnloadedLink, UnloadedPath};
use super::{Sampling, UnloadedFlow};
use crate::node::NodeSettings;
use crate::telemetry::{Form, Layout};
use crate::transport::feedback::{FeedbackConfig, FeedbackContent, Return};
use crate::transport::{HostConfig, TransportConfig};
use crate::units::{BitRate, Nanos};
use crate::wire::WireProfile;
use proptest::prelude::*;

const SAMPLINGS: [Sampling; 5] =
    [Sampling::EveryPacket, Sampling::EveryNth(3), Sampling::OncePerRtt, Sampling::Probes, Sampling::Never];
const ANSWERS: [FeedbackContent; 5] = [
    FeedbackContent::Records,
    FeedbackContent::BusiestLink,
    FeedbackContent::Loads,
    FeedbackContent::Window,
    FeedbackContent::Nothing,
];

/// How often something is acknowledged.
fn acknowledgements() -> impl Strategy<Value = TransportConfig> {
    let config = |((mtu, exact_rates), (ack_every, ack_offset), chunk)| {
        // One excludes the other.
        let ack_offset = if ack_every > 0 { 1 } else { ack_offset };
        TransportConfig { mtu, exact_rates, ack_every, ack_offset, chunk, ..TransportConfig::default() }
    };
    let every = prop_oneof![Just(0), 1u32..9_000];
    ((100u32..1_500, any::<bool>()), (every, 1u32..20_000), 1u32..4_000).prop_map(config)
}

/// What becomes of telemetry.
fn feedback() -> impl Strategy<Value = FeedbackConfig> {
    let config = |(sampling, answer, alone, (sealed, records_per_ack, notification_acks))| {
        let by = if alone { Return::Notification } else { Return::Acknowledgement };
        let seal = if sealed { Some([7; 16]) } else { None };
        let records_per_ack = if answer == FeedbackContent::Records { records_per_ack } else { 1 };
        FeedbackConfig {
            sampling,
            content: answer,
            by,
            seal,
            records_per_ack,
            notification_acks,
            ..FeedbackConfig::default()
        }
    };
    let bits = (any::<bool>(), 1u8..4, any::<bool>());
    (prop::sample::select(&SAMPLINGS), prop::sample::select(&ANSWERS), any::<bool>(), bits).prop_map(config)
}

fn links() -> impl Strategy<Value = alloc::vec::Vec<UnloadedLink>> {
    let link = |(rate, delay, records)| UnloadedLink { rate: BitRate::gbps(rate), delay: Nanos(delay), records };
    prop::collection::vec((prop::sample::select(&[10, 25, 40, 97, 100, 400]), 0u64..2_000, 0u8..4), 1..5)
        .prop_map(move |links| links.into_iter().map(link).collect())
}

proptest! {
    #[test]
    fn skipped_packets_take_as_long_as_others(
        transport in acknowledgements(),
        feedback in feedback(),
        there in links(),
        back in links(),
        (base_rtt, window, most) in (1u64..20_000, prop_oneof![Just(0), 1u64..40_000], prop_oneof![Just(u64::MAX), 1u64..200_000_000_000]),
        size in 1u64..400_000,
    ) {
        let host = NodeSettings::default().host();
        let sizes = WireProfile::RoceV4.sizes();
        let host = HostConfig { transport, feedback, sizes, layout: Layout::new(Form::Paper), ..host };
        let flow = UnloadedFlow { answer: feedback.content, ..UnloadedFlow::new(&host, 20, true) };
        let path = UnloadedPath { there, back, base_rtt: Nanos(base_rtt), window, most: BitRate(most) };
        let (all, _) = Run::new(&flow, &path, size).finish(false);
        let (some, sent) = Run::new(&flow, &path, size).finish(true);
        prop_assert_eq!((all, sent <= size.div_ceil(u64::from(transport.mtu))), (some, true));
    }
}

/// A gibibyte on equal and on different links: most of its packets are skipped.
#[test]
fn long_flows_are_reckoned_from_a_few_packets() {
    let host = NodeSettings::default().host();
    for (rates, exact_rates, sampling, most) in [
        ([100, 100, 100], false, Sampling::EveryPacket, 10),
        ([100, 25, 400], false, Sampling::EveryPacket, 10),
        ([400, 100, 25], true, Sampling::EveryPacket, 100),
        ([100, 25, 400], true, Sampling::EveryNth(8), 1_000),
        ([100, 100, 25], false, Sampling::OncePerRtt, 1_000),
    ] {
        let transport = TransportConfig { exact_rates, ..host.transport };
        let feedback = FeedbackConfig { sampling, ..FeedbackConfig::default() };
        let flow = UnloadedFlow::new(&HostConfig { transport, feedback, ..host.clone() }, 0, true);
        let links = rates.map(|gbps| (BitRate::gbps(gbps), Nanos(1_000)));
        let path = super::tests::path(&links, true);
        let (_, sent) = Run::new(&flow, &path, 1 << 30).finish(true);
        assert!(sent <= most, "{sent} packets of {rates:?} {sampling:?}");
    }
}

/// Sizes that no simulation reaches, which a program may ask for.
#[test]
fn flows_of_any_size_are_reckoned_from_a_few_packets() {
    let host = NodeSettings::default().host();
    let path = super::tests::path(&[(BitRate::gbps(1), Nanos(1_000)), (BitRate::gbps(10), Nanos(1_000))], true);
    for size in [1 << 50, 1 << 60, u64::MAX] {
        let (_, sent) = Run::new(&UnloadedFlow::new(&host, 0, true), &path, size).finish(true);
        assert!(sent <= 40_000, "{sent} packets of {size} bytes");
    }
}

/// One in 10 ns, each of which takes longer: they were reckoned for ever.
#[test]
fn probes_that_fill_a_link_are_left_out() {
    let host = NodeSettings::default().host();
    let mut path = super::tests::path(&[(BitRate::gbps(10), Nanos(1_000))], true);
    path.base_rtt = Nanos(10);
    let [probed, silent] = [Sampling::Probes, Sampling::Never].map(|sampling| {
        let feedback = FeedbackConfig { sampling, ..FeedbackConfig::default() };
        let flow = UnloadedFlow::new(&HostConfig { feedback, ..host.clone() }, 0, true);
        Run::new(&flow, &path, 100_000).finish(false)
    });
    assert_eq!(probed, silent);
}
