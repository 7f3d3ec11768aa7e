// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow alone in the network: how long it takes at line rate, to the nanosecond.
//!
//! Nothing else is on its path, and its sender waits neither for a window nor for a controller. The time of a flow of one
//! full packet is the base round-trip time T (REQ-09, REQ-62), with headers, telemetry and the acknowledgement; that of any
//! other flow is its ideal completion time.

mod run;
#[cfg(test)]
mod run_tests;
mod spread;
mod weight;

pub use run::{UnloadedLink, UnloadedPath};
pub use spread::Layer;

use super::feedback::{FeedbackConfig, FeedbackContent, Return};
use super::{HostConfig, TransportConfig};
use crate::telemetry::{Layout, Sampling, link_codec, seal};
use crate::topology::routes::PathMetrics;
use crate::units::{BitRate, Nanos, Rounding};
use crate::wire::FrameSizes;
use alloc::vec::Vec;
use run::Run;

/// What the frames of a flow weigh, which nothing but itself slows down.
#[derive(Clone, Debug, PartialEq)]
pub struct UnloadedFlow {
    transport: TransportConfig,
    sizes: FrameSizes,
    layout: Layout,
    /// Whether switches stamp telemetry.
    stamped: bool,
    feedback: FeedbackConfig,
    /// Which packets collect telemetry.
    sampling: Sampling,
    answer: FeedbackContent,
    /// Whether acknowledgements echo telemetry, and that is all.
    is_echo: bool,
    /// Bytes for which a frame occupies a link besides its own.
    gap: u32,
    /// Whether it ends when its last byte is acknowledged; if not, when that has arrived.
    is_acknowledged: bool,
}

/// A link: its rate and its propagation delay.
pub type LinkSpec = (BitRate, Nanos);

/// A frame's times on the links of a path, in [`UnloadedFlow::ticks`].
type Times = Vec<u64>;

impl UnloadedFlow {
    /// A flow of a host with this configuration. A frame occupies a link for `gap` bytes more than it has; `stamped`: the
    /// switches stamp telemetry.
    pub fn new(host: &HostConfig, gap: u32, stamped: bool) -> Self {
        let needs = host.algorithm.needs().with(&host.layout);
        let tag = if host.transport.seal.is_some() { seal::TAG_LEN as u32 } else { 0 };
        let FrameSizes { ack_overhead, feedback_overhead, .. } = host.sizes;
        UnloadedFlow {
            transport: host.transport,
            sizes: FrameSizes {
                ack_overhead: ack_overhead + tag,
                feedback_overhead: feedback_overhead + tag,
                ..host.sizes
            },
            layout: host.layout.clone(),
            stamped,
            feedback: host.feedback,
            sampling: host.feedback.sampling,
            answer: host.feedback.answer_to(&needs),
            is_echo: host.feedback.is_echo(&needs),
            gap,
            is_acknowledged: true,
        }
    }

    /// The same flow if its packets are those of a stack, which acknowledges each of them and collects no telemetry with any.
    pub fn of_stack(self) -> Self {
        let transport = TransportConfig { ack_every: 0, ack_offset: 1, ..self.transport };
        UnloadedFlow { transport, sampling: Sampling::Never, is_echo: true, ..self }
    }

    /// The same flow if nothing acknowledges it: it ends when its last byte has arrived.
    pub fn unacknowledged(self) -> Self {
        UnloadedFlow { is_acknowledged: false, ..self }
    }

    /// The same flow of a transport with packets of its own: none opens a message by a longer header, or brings telemetry back, and
    /// what it `collects` on its way all collect or none. How often it acknowledges is its own affair: the last packet's counts.
    pub fn of_transport(self, collects: bool) -> Self {
        let sampling = if collects { Sampling::EveryPacket } else { Sampling::Never };
        let sizes = FrameSizes { first_overhead: 0, ..self.sizes };
        let transport = TransportConfig { ack_every: u32::MAX, ..self.transport };
        let answer = FeedbackContent::Nothing;
        UnloadedFlow { transport, sampling, sizes, answer, is_echo: true, ..self }
    }

    /// The same flow to a host that answers no telemetry, but may have to seal that it does not.
    pub fn without_answers(self, seals: bool) -> Self {
        let seal = self.feedback.seal.filter(|_| seals);
        UnloadedFlow { answer: FeedbackContent::Nothing, feedback: FeedbackConfig { seal, ..self.feedback }, ..self }
    }

    /// Whether its host seals what it sends back, be it nothing.
    pub fn seals(&self) -> bool {
        self.feedback.seal.is_some()
    }

    /// How its frames' times are rounded.
    pub fn rounding(&self) -> Rounding {
        self.transport.rounding()
    }

    /// T on a path: as it was given, or from the start of a full packet to the end of its acknowledgement.
    pub fn base_rtt(&self, path: &PathMetrics, links: &[LinkSpec]) -> Nanos {
        let computed = || if self.transport.faults.payload_base_rtt { path.rtt() } else { self.round_trip(links) };
        self.transport.base_rtt.unwrap_or_else(computed)
    }

    /// From the start of a full packet, the first of its flow, to the end of its acknowledgement, which brings all that an
    /// acknowledgement can. Fractions of a nanosecond are rounded up once.
    fn round_trip(&self, links: &[LinkSpec]) -> Nanos {
        let delays = links.iter().map(|&(_, delay)| self.ticks(delay)).fold(0, u64::saturating_add);
        let there = self.data(links, self.transport.mtu.max(1), true);
        let frames = there.into_iter().chain(self.ack(links)).fold(0, u64::saturating_add);
        self.nanos(delays.saturating_mul(2).saturating_add(frames).saturating_add(self.behind_feedback(links)))
    }

    /// The time between two packets of a flow at line rate on such a path that collect telemetry, where T is `base_rtt`;
    /// a flow that is slower waits longer.
    pub fn sampling_interval(&self, links: &[LinkSpec], base_rtt: Nanos) -> Nanos {
        match self.feedback.sampling {
            Sampling::EveryPacket | Sampling::Never => Nanos(0),
            Sampling::EveryNth(every) => {
                let packet = self.data(links, self.transport.mtu.max(1), false).first().copied().unwrap_or_default();
                self.nanos(packet.saturating_mul(every.into()))
            }
            Sampling::OncePerRtt | Sampling::OnCongestion | Sampling::Probes => base_rtt,
        }
    }

    /// The least time between two probes that leaves a packet room between them on links of these rates, whose switches all
    /// stamp: that of a full packet and a probe on the slowest.
    pub fn probe_room(&self, rates: impl Iterator<Item = BitRate>) -> Nanos {
        let rates: Vec<BitRate> = rates.collect();
        let Some(&slowest) = rates.iter().min() else { return Nanos(0) };
        let probe = self.sizes.data(0, false, self.section(rates.len().saturating_sub(1)));
        let frames = [self.sizes.data(self.transport.mtu.max(1), true, 0), probe];
        self.nanos(frames.map(|frame| self.time(&(slowest, Nanos(0)), frame)).iter().sum())
    }

    /// The time of a flow of `size` bytes, above 0, from its start on: that of its connection, if it has one, and that of its
    /// bytes.
    pub fn completion(&self, path: &UnloadedPath, size: u64) -> Nanos {
        let opening = path.there.iter().map(|link| {
            let link = (link.rate, link.delay);
            2 * (self.time(&link, self.sizes.opening) + self.ticks(link.1))
        });
        let opens = if self.sizes.opening > 0 { opening.fold(0, u64::saturating_add) } else { 0 };
        Run::new(self, path, size).finish(true).0 + self.nanos(opens)
    }

    fn collects(&self, first: bool) -> bool {
        match self.feedback.sampling {
            Sampling::EveryPacket => true,
            Sampling::EveryNth(_) | Sampling::OncePerRtt | Sampling::OnCongestion => first,
            Sampling::Probes | Sampling::Never => false,
        }
    }

    /// Bytes of a section that has left so many switches.
    fn section(&self, hops: usize) -> u32 {
        self.layout.len_after(if self.stamped { hops } else { 0 }) as u32
    }

    fn data(&self, links: &[LinkSpec], payload: u32, first: bool) -> Times {
        let section = |hops| if self.collects(first) { self.section(hops) } else { 0 };
        let frame = |hops| self.sizes.data(payload, first, section(hops));
        links.iter().enumerate().map(|(hops, link)| self.time(link, frame(hops))).collect()
    }

    /// The times of an acknowledgement of a flow's first packet on its way back.
    fn ack(&self, links: &[LinkSpec]) -> Times {
        let answer = match self.feedback.by {
            Return::Acknowledgement if self.collects(true) => self.answer(links.len()),
            Return::Acknowledgement | Return::Notification => 0,
        };
        self.back(links, self.sizes.ack(answer))
    }

    fn back(&self, links: &[LinkSpec], frame: u32) -> Times {
        links.iter().rev().map(|link| self.time(link, frame)).collect()
    }

    /// How much later that acknowledgement comes because feedback in a packet of its own leaves ahead of it.
    fn behind_feedback(&self, links: &[LinkSpec]) -> u64 {
        let answer = if self.collects(true) { self.answer(links.len()) } else { 0 };
        if self.feedback.by == Return::Acknowledgement || answer == 0 {
            return 0;
        }
        let ack = self.ack(links);
        let (mut free, mut end) = (0_u64, 0_u64);
        for (feedback, ack) in self.back(links, self.sizes.feedback(answer)).iter().zip(&ack) {
            free = free.saturating_add(*feedback);
            end = end.max(free).saturating_add(*ack);
        }
        end - ack.iter().fold(0, |sum: u64, &time| sum.saturating_add(time))
    }

    /// Bytes of the answer to a packet over so many links. What the receiver computes from two packets, one alone does not
    /// bring.
    fn answer(&self, links: usize) -> u32 {
        let bytes = match self.answer {
            FeedbackContent::Records => self.section(links.saturating_sub(1)),
            FeedbackContent::BusiestLink => link_codec::LEN as u32,
            FeedbackContent::Loads => links.saturating_sub(1) as u32,
            FeedbackContent::Window | FeedbackContent::Nothing => 0,
        };
        let is_sealed = bytes > 0 && self.feedback.seal.is_some();
        bytes + if is_sealed { seal::TAG_LEN as u32 } else { 0 }
    }

    fn time(&self, (rate, _): &LinkSpec, frame: u32) -> u64 {
        match self.rounding() {
            Rounding::Exact => rate.tx_picos(frame + self.gap),
            Rounding::Nearest | Rounding::Floored => rate.tx_time(frame + self.gap, self.rounding()).0,
        }
    }

    /// How many of the units that times are added up in make a nanosecond.
    fn ticks_per_nano(&self) -> u64 {
        match self.rounding() {
            Rounding::Exact => 1_000,
            Rounding::Nearest | Rounding::Floored => 1,
        }
    }

    fn ticks(&self, time: Nanos) -> u64 {
        time.0.saturating_mul(self.ticks_per_nano())
    }

    /// A sum of times, rounded up.
    fn nanos(&self, ticks: u64) -> Nanos {
        Nanos(ticks.div_ceil(self.ticks_per_nano()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeSettings;
    use crate::reference_faults::ReferenceFaults;
    use crate::telemetry::{Form, Reference};

    /// These links there and back, whose switches all stamp or none.
    pub(super) fn path(links: &[LinkSpec], stamped: bool) -> UnloadedPath {
        let way = |(place, &(rate, delay)): (usize, &LinkSpec)| UnloadedLink {
            rate,
            delay,
            records: if stamped { place as u8 } else { 0 },
        };
        let there = links.iter().enumerate().map(way).collect();
        let back = links.iter().rev().enumerate().map(way).collect();
        UnloadedPath { there, back, base_rtt: Nanos(9_000), window: 0, most: BitRate(u64::MAX) }
    }

    /// Two links of 1 Gb/s, on which a byte takes 8 ns, and no delay. Feedback of 88 bytes leaves ahead of the
    /// acknowledgement of 60, which waits for it at the first link; of a flow of two packets the first alone collects.
    #[test]
    fn feedback_in_a_packet_of_its_own_delays_the_last_acknowledgement() {
        let host = NodeSettings::default().host();
        let links = [(BitRate::gbps(1), Nanos(0)); 2];
        let time = |feedback, size| {
            let host = HostConfig { layout: Layout::new(Reference { multiplier: 1 }), feedback, ..host.clone() };
            UnloadedFlow::new(&host, 0, true).completion(&path(&links, true), size)
        };
        let plain = FeedbackConfig::default();
        let sealed = FeedbackConfig { seal: Some([7; 16]), ..plain };
        assert_eq!(time(plain, 1_000), Nanos(8 * (2 * 1_090 + 2 * 88)));
        assert_eq!(time(sealed, 1_000), Nanos(8 * (2 * 1_090 + 2 * 92)));
        let alone = FeedbackConfig { by: Return::Notification, sampling: Sampling::OncePerRtt, ..plain };
        assert_eq!(time(alone, 1_000), Nanos(8 * (2 * 1_090 + 2 * 88 + 60)));
        assert_eq!(
            time(FeedbackConfig { by: Return::Notification, ..sealed }, 1_000),
            Nanos(8 * (2 * 1_090 + 2 * 92 + 60))
        );
        assert_eq!(time(alone, 2_000), Nanos(8 * (2 * 1_090 + 1_048 + 2 * 60)));
        let without = FeedbackConfig { content: FeedbackContent::Nothing, by: Return::Notification, ..sealed };
        assert_eq!(time(without, 1_000), Nanos(8 * (2 * 1_090 + 2 * 60)), "nothing comes back, sealed or not");
    }

    /// Packets of 1090 bytes at 1 Gb/s.
    #[test]
    fn req_12_a_lone_flow_collects_at_these_intervals() {
        let host = NodeSettings::default().host();
        let interval = |sampling| {
            let host =
                HostConfig { feedback: FeedbackConfig { sampling, ..FeedbackConfig::default() }, ..host.clone() };
            UnloadedFlow::new(&host, 0, false).sampling_interval(&[(BitRate::gbps(1), Nanos(0)); 2], Nanos(9_000))
        };
        assert_eq!([Sampling::EveryPacket, Sampling::Never].map(interval), [Nanos(0); 2]);
        assert_eq!(interval(Sampling::EveryNth(8)), Nanos(8 * 8 * 1_048));
        assert_eq!([Sampling::OncePerRtt, Sampling::OnCongestion, Sampling::Probes].map(interval), [Nanos(9_000); 3]);
    }

    /// Two links of 100 Gb/s and 1 us. There 1,048 bytes and 42 of telemetry, back 46 and 42.
    #[test]
    fn req_09_t_counts_headers_telemetry_and_the_acknowledgement() {
        let host = NodeSettings::default().host();
        let links = [(BitRate::gbps(100), Nanos(1_000)); 2];
        let host = HostConfig { layout: Layout::new(Reference { multiplier: 1 }), ..host };
        let flow = UnloadedFlow::new(&host, 0, true);
        let metrics =
            PathMetrics { delay: Nanos(2_000), transmission: Nanos(160), bottleneck: BitRate::gbps(100), links: 2 };
        let t = |flow: &UnloadedFlow| flow.base_rtt(&metrics, &links);
        assert_eq!(t(&flow), Nanos(4_189), "2 * 87.2 and 2 * 7.04 ns, rounded up once");
        let growing = UnloadedFlow { layout: Layout::new(Form::Paper), gap: 20, ..flow.clone() };
        assert_eq!(t(&growing), Nanos(4_185), "85.6 and 86.24 ns for 1,070 and 1,078 bytes; 2 * 6.4 for 80 back");
        let path = path(&links, true);
        let none = HostConfig { feedback: FeedbackConfig::NONE, ..host };
        let plain = UnloadedFlow::new(&none, 0, true);
        assert_eq!(t(&plain), Nanos(4_000 + 2 * 84 + 2 * 5));
        let faults = ReferenceFaults { payload_base_rtt: true, ..ReferenceFaults::NONE };
        let transport = TransportConfig { faults, ..flow.transport };
        assert_eq!(t(&UnloadedFlow { transport, ..flow.clone() }), Nanos(4_160), "the 2019 simulator's");
        let transport = TransportConfig { base_rtt: Some(Nanos(5_000)), ..transport };
        assert_eq!(t(&UnloadedFlow { transport, ..flow.clone() }), Nanos(5_000));
        assert_eq!(plain.completion(&path, 1), Nanos(4_000 + 2 * 4 + 2 * 5), "49 bytes take 3.92 ns");
        assert_eq!(plain.completion(&path, 10_000), Nanos(4_933), "11 * 83.84 and 2 * 4.96 ns");
        let unstamped = super::tests::path(&links, false);
        assert_eq!(
            growing.completion(&unstamped, 1_000),
            Nanos(4_000 + 2 * 86 + 2 * 7),
            "1,070 bytes twice, each link by itself"
        );
        assert_eq!(
            flow.without_answers(false).completion(&path, 1_000),
            Nanos(4_000 + 2 * 88 + 2 * 5),
            "46 bytes back"
        );
        let datagrams = plain.clone().unacknowledged();
        assert_eq!((t(&datagrams), datagrams.completion(&path, 10_000)), (t(&plain), Nanos(2_000 + 923)));
    }
}
