// SPDX-License-Identifier: GPL-2.0-only
//! Flows that may rest far below their share for ever, under a law that judges single samples of a link's load.
//!
//! A flow with less than one packet in flight takes one sample for each packet, of the k packets that it sends in T: over a time of
//! T / k, in which the link sends n / k packets of all flows, n in a T, give or take one. Half of these samples are by chance
//! above the target; each takes about a share k / n of the window away, and the others add W_ai. So the window rests where
//! k^2 = 5 n W_ai / F, with F the bytes of a full packet and 5 a measured number. Where that is below one packet the flow stays
//! there: with W_ai * B * T < F^2 / 5. Flows with more packets in flight average over many samples, and take what is left.
//!
//! Windows are drawn to that k however large their share is. Where the share is many times k, flows stay apart for long.
//! The page on fitting has the table.

use crate::flow::Flow;
use crate::scenario::Scenario;
use hpcc_core::cc::Algorithm;
use hpcc_core::engine::FlowOptions;
use hpcc_core::topology::routes::PathMetrics;
use hpcc_core::transport::{LinkSpec, Protocol, UnloadedFlow};
use hpcc_core::units::{BitRate, Nanos};
use std::collections::{BTreeMap, HashMap};

/// The measured number: packets of rest, squared, over n * W_ai / F.
const REST: f64 = 5.0;
/// Fewer flows have come to equal shares in all runs.
const FEWEST_FLOWS: usize = 3;
/// With a fair share of less than this many times the rest, flows rest where they should.
const FAR: f64 = 2.0;
/// With a fair share of more than this many times the rest, flows with more than a packet in flight stay apart. It is measured;
/// the default of W_ai keeps three flows at 6.3.
const TOO_FAR: f64 = 7.0;

/// Flows that need fewer round trips at their fair share end before that matters.
const LONG: f64 = 100.0;

/// What a path makes of the law.
#[derive(Clone, Copy)]
struct Law {
    base_rtt: Nanos,
    rate: BitRate,
    /// W_ai in bytes.
    step: f64,
    /// B * T in bytes.
    bdp: f64,
    /// Bytes of a full packet.
    frame: f64,
}

impl Law {
    /// Packets in flight at rest.
    fn rest(&self) -> f64 {
        (REST * self.step * self.bdp).sqrt() / self.frame
    }

    /// Packets in flight of a fair share.
    fn share(&self, flows: usize) -> f64 {
        self.bdp / self.frame / flows as f64
    }

    /// Whether so many flows may come to rest far from their share.
    fn is_unfair(&self, flows: usize) -> bool {
        let far = if self.rest() < 1.0 { FAR } else { TOO_FAR };
        self.share(flows) > far * self.rest()
    }

    /// W_ai in bytes with which so many flows come to their share.
    fn needed(&self, flows: usize) -> f64 {
        self.bdp / (REST * TOO_FAR * TOO_FAR * (flows * flows) as f64)
    }

    /// The rate of so many packets in T.
    fn rate_of(&self, packets: f64) -> BitRate {
        short(packets * self.frame * 8e9 / self.base_rtt.0.max(1) as f64)
    }
}

/// Long flows to one host that may rest so.
#[derive(Clone, Copy)]
struct Case {
    law: Law,
    host: u32,
    /// The most at a time.
    flows: usize,
}

/// Looks for them.
pub(crate) struct Starved {
    /// `None` where no such law controls flows.
    of: Option<(Box<dyn Algorithm>, UnloadedFlow)>,
    frame: u32,
    headers: u32,
    paths: HashMap<(BitRate, Vec<LinkSpec>), Option<Law>>,
    stop: Nanos,
    cases: BTreeMap<u32, Case>,
}

impl Starved {
    pub fn new(scenario: &Scenario) -> Starved {
        let settings = &scenario.settings;
        let is_of_queue_pairs =
            settings.protocol.protocol == Protocol::Rdma && settings.host_transport.is_queue_pairs();
        let algorithm = scenario.algorithm().clone_algorithm();
        let steps = algorithm.window_step(BitRate::gbps(100), Nanos::MICROSECOND).is_some();
        let unloaded = (is_of_queue_pairs && steps).then(|| settings.unloaded_flow());
        let frame = settings.full_frame();
        Starved {
            of: unloaded.map(|unloaded| (algorithm, unloaded)),
            frame,
            headers: frame.saturating_sub(settings.transport.mtu.0 as u32),
            paths: HashMap::new(),
            stop: scenario.stop,
            cases: BTreeMap::new(),
        }
    }

    /// Looks at a flow that has such a path, and is one of so many that go to its receiver at a time.
    pub fn see(&mut self, flow: &Flow, path: &[LinkSpec], flows: usize) {
        let Starved { of: Some((algorithm, unloaded)), frame, paths, stop, cases, .. } = self else { return };
        // One with a rate of its own leaves the others what it does not take.
        let is_many = flows >= FEWEST_FLOWS && flow.options.rate == FlowOptions::NONE.rate;
        let (Some(&(line, _)), true) = (path.first(), is_many) else { return };
        let frame = f64::from(*frame);
        let law = paths.entry((line, path.to_vec())).or_insert_with(|| {
            let metrics = path.iter().rev().fold(PathMetrics::HERE, |rest, &link| rest.extend(link, frame as u32));
            let (rate, base_rtt) = (metrics.bottleneck, unloaded.base_rtt(&metrics, path));
            let step = algorithm.window_step(line, base_rtt)?;
            Some(Law { base_rtt, rate, step, bdp: rate.0 as f64 * base_rtt.0 as f64 / 8e9, frame })
        });
        let Some(law) = *law else { return };
        let lasts = flow.options.stop.min(*stop).saturating_sub(flow.start).0 as f64 / law.base_rtt.0.max(1) as f64;
        let rounds = lasts.min(flow.size as f64 / law.frame / law.share(flows));
        if rounds > LONG {
            let case = cases.entry(flow.dst).or_insert(Case { law, host: flow.dst, flows });
            if flows > case.flows {
                *case = Case { law, flows, ..*case };
            }
        }
    }

    /// What the user should know.
    pub fn note(&self) -> Option<String> {
        let unfair = self.cases.values().filter(|case| case.law.is_unfair(case.flows));
        let case = unfair.min_by(|a, b| a.law.rest().total_cmp(&b.law.rest()).then(b.flows.cmp(&a.flows)))?;
        let name = self.of.as_ref()?.0.name();
        Some(if case.law.rest() < 1.0 { self.starved(case, name) } else { apart(case, name) })
    }

    /// Flows that may rest with less than a packet in flight.
    fn starved(&self, case: &Case, name: &str) -> String {
        let &Case { law, host, flows } = case;
        let Law { base_rtt, rate, step, bdp, frame } = law;
        // Smaller packets bring the rest above one of them, and do not bring it nearer to the share.
        let (mtu, near) = ((REST * step * bdp).sqrt() - f64::from(self.headers), law.needed(flows) <= step);
        let smaller =
            if mtu >= 64.0 && near { format!(", or transport.mtu = {mtu:.0} or less") } else { String::new() };
        format!(
            "{flows} flows at a time go to host {host}, and some may rest at about {} for ever, with a fair share of {}: with less than \
             a packet in flight a flow of {name} takes chance peaks of the load for congestion, where W_ai * B * T < F^2 / 5 ({step:.1} * \
             {bdp:.0} < {frame:.0}^2 / 5, in bytes, at {rate} and T = {base_rtt}). {}{smaller}",
            law.rate_of(law.rest()),
            short(rate.0 as f64 / flows.max(1) as f64),
            expected(law.needed(flows).max(frame * frame / REST / bdp), base_rtt)
        )
    }
}

/// Flows that stay far from their share.
fn apart(case: &Case, name: &str) -> String {
    let &Case { law, host, flows } = case;
    let Law { base_rtt, rate, step, bdp, frame } = law;
    format!(
        "{flows} flows at a time go to host {host}, and may stay far from their fair share of {} for long: W_ai, {step:.1} bytes in T, is \
         small for a share of {:.0} packets, where windows of {name} are drawn to sqrt(5 W_ai B T) / F = {:.1} packets (B T = {bdp:.0}, F = \
         {frame:.0} bytes, at {rate} and T = {base_rtt}). {}",
        short(rate.0 as f64 / flows.max(1) as f64),
        law.share(flows),
        law.rest(),
        expected(law.needed(flows), base_rtt)
    )
}

/// The step that mends it.
fn expected(bytes: f64, base_rtt: Nanos) -> String {
    format!(
        "Expected W_ai of {:.0} bytes or more (congestion_control.additive_increase; W_ai / T = {})",
        bytes.ceil(),
        short(bytes.ceil() * 8e9 / base_rtt.0.max(1) as f64)
    )
}

/// A rate of three digits.
fn short(rate: f64) -> BitRate {
    let unit = 10_f64.powf((rate.max(1.0).log10().floor() - 2.0).max(0.0));
    BitRate(((rate / unit).round() * unit) as u64)
}
