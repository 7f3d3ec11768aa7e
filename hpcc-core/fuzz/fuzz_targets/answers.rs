// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as what a receiver sends back, of every kind, sealed or not, to a sender that doubts it or not.
#![no_main]

use hpcc_core::cc::FlowLimits;
use hpcc_core::telemetry::normalised::Exporter;
use hpcc_core::telemetry::seal::{SealKey, TAG_LEN};
use hpcc_core::telemetry::{Layout, LayoutSettings, MAX_HOPS, MAX_SECTION, Telemetry};
use hpcc_core::transport::feedback::{FeedbackContent, Decoder, FeedbackConfig, Listener};
use hpcc_core::units::{BitRate, Nanos};
use libfuzzer_sys::fuzz_target;

const LIMITS: FlowLimits = FlowLimits { hops: 3, ..FlowLimits::of(BitRate::gbps(100), Nanos(13_000), 162_500) };
const ANSWERS: [FeedbackContent; 5] = [FeedbackContent::Records, FeedbackContent::BusiestLink, FeedbackContent::Loads, FeedbackContent::Window, FeedbackContent::Nothing];
const KEY: [u8; 16] = [7; 16];
const FLOW: u64 = 3;

/// A section of any length gets a tag, and is the only one that the tag fits.
fn seal(bytes: &[u8]) {
    let key = SealKey::new(&KEY);
    let mut sealed = bytes.to_vec();
    sealed.extend([0; TAG_LEN]);
    let len = key.seal(FLOW, 9, &mut sealed, bytes.len());
    assert_eq!(key.open(FLOW, 9, &sealed[..len]), Ok(bytes));
    assert!(key.open(FLOW, 10, &sealed[..len]).is_err());
}

/// The bytes of several answers, one after the other: each begins with its length.
fn answers(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = bytes.split_first()?;
        let (answer, rest) = rest.split_at(rest.len().min(length.into()));
        bytes = rest;
        Some(answer)
    })
}

fuzz_target!(|bytes: &[u8]| {
    seal(&bytes[..bytes.len().min(MAX_SECTION)]);
    let Some((&[kind, how, name, hops], bytes)) = bytes.split_first_chunk() else { return };
    let answer = ANSWERS[usize::from(kind) % ANSWERS.len()];
    let config = FeedbackConfig {
        records_per_ack: 1 + how % 4,
        guard: how & 4 != 0,
        seal: (how & 8 != 0).then_some(KEY),
        decay_after: u32::from(how >> 4),
        ..FeedbackConfig::default()
    };
    let mut settings = LayoutSettings::default();
    settings.shared.multiplier = Some(1 + u32::from(hops));
    settings.shared.hops = Some(1 + hops % MAX_HOPS as u8);
    let layouts: Vec<Layout> = settings.layouts().collect();
    let layout = layouts[usize::from(name) % layouts.len()].clone();
    let mut listener = Listener::new(&config, &LIMITS, FLOW, 1, 3, Some(BitRate::mbps(100)));
    let (mut decoder, mut exporter) = (Decoder::default(), Exporter::new(LIMITS.base_rtt));
    for (answer_bytes, n) in answers(bytes).zip(1..) {
        let now = Nanos(n * 5_000);
        // A forger without the key, and a receiver that lies with it.
        let opened = listener.open(n, answer_bytes).to_vec();
        let (older, newest) = config.sections(if n % 2 == 0 { answer_bytes } else { &opened });
        for section in older.chain([newest]) {
            let heard = listener.admit(now, n * 1_000, decoder.read(answer, &layout, section));
            match heard {
                Telemetry::Hops(stack) => {
                    assert!(stack.hops().len() <= MAX_HOPS);
                    let mut codes = [0; MAX_HOPS];
                    assert!(exporter.export(now, stack, &mut codes) <= stack.hops().len());
                }
                Telemetry::Utilisation(load) => assert!(load >= 0.0 && load.is_finite(), "{load}"),
                Telemetry::Overwritten(_)
                | Telemetry::Link(_)
                | Telemetry::SentAt(_)
                | Telemetry::Window(_)
                | Telemetry::Signal(_)
            | Telemetry::Bolt(_)
                | Telemetry::Nothing => {}
            }
        }
    }
});
