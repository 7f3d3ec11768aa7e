// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow alone in the network: how long it takes at line rate, to the nanosecond.
//!
//! Nothing else is on its path, and its sender waits neither for a window nor for a controller. The time of a flow of one
//! full packet is the base round-trip time T (REQ-09, REQ-62), with headers, telemetry and the acknowledgement; that of any
//! other flow is its ideal completion time.

use super::HostConfig;
use super::feedback::{Answer, FeedbackConfig, Return};
use crate::telemetry::{Layout, Sampling, link_codec, seal};
use crate::topology::routes::PathMetrics;
use crate::units::{BitRate, Nanos, Rounding};
use crate::wire::FrameSizes;
use alloc::vec::Vec;

/// What the frames of a flow weigh, which nothing but itself slows down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoneFlow {
    mtu: u32,
    sizes: FrameSizes,
    layout: Layout,
    /// Whether switches stamp telemetry.
    stamped: bool,
    feedback: FeedbackConfig,
    answer: Answer,
    /// Bytes for which a frame occupies a link besides its own.
    gap: u32,
    rounding: Rounding,
    /// T as the user gives it.
    given: Option<Nanos>,
    /// T as the reference computes it.
    payload_only: bool,
    /// Whether it ends when its last byte is acknowledged; if not, when that has arrived.
    acknowledged: bool,
}

/// A link: its rate and its propagation delay.
pub type LinkSpec = (BitRate, Nanos);

/// A frame's times on the links of a path, in [`LoneFlow::ticks`].
type Times = Vec<u64>;

impl LoneFlow {
    /// A flow of a host with this configuration. A frame occupies a link for `gap` bytes more than it has; `stamped`: the
    /// switches stamp telemetry.
    pub fn new(host: &HostConfig, gap: u32, stamped: bool) -> Self {
        LoneFlow {
            mtu: host.transport.mtu.max(1),
            sizes: host.sizes,
            layout: host.layout,
            stamped,
            feedback: host.feedback,
            answer: host.feedback.answer_to(&host.algorithm.needs()),
            gap,
            rounding: host.transport.rounding(),
            given: host.transport.base_rtt,
            payload_only: host.transport.quirks.payload_base_rtt,
            acknowledged: true,
        }
    }

    /// The same flow if nothing acknowledges it: it ends when its last byte has arrived.
    pub fn unacknowledged(self) -> Self {
        LoneFlow { acknowledged: false, ..self }
    }

    /// The same flow where switches leave records out, be it some of them or of some packets: it meets none that adds one, so
    /// that its time is none that another path, or other traffic, would make shorter.
    pub fn without_records(self) -> Self {
        LoneFlow { stamped: false, ..self }
    }

    /// The same flow to a host that answers no telemetry.
    pub fn without_answers(self) -> Self {
        LoneFlow { answer: Answer::Nothing, ..self }
    }

    /// T on a path: as it was given, or from the start of a full packet to the end of its acknowledgement.
    pub fn base_rtt(&self, path: &PathMetrics, links: &[LinkSpec]) -> Nanos {
        let computed = || {
            let there_and_back = LoneFlow { acknowledged: true, ..*self };
            if self.payload_only { path.rtt() } else { there_and_back.transfer(links, self.mtu.into()) }
        };
        self.given.unwrap_or_else(computed)
    }

    /// The time between two packets of a flow at line rate on such a path that collect telemetry, where T is `base_rtt`;
    /// a flow that is slower waits longer.
    pub fn sampling_interval(&self, links: &[LinkSpec], base_rtt: Nanos) -> Nanos {
        match self.feedback.sampling {
            Sampling::EveryPacket | Sampling::Never => Nanos(0),
            Sampling::EveryNth(every) => {
                let packet = self.data(links, self.mtu, false).first().copied().unwrap_or_default();
                self.nanos(packet.saturating_mul(every.into()))
            }
            Sampling::OncePerRtt | Sampling::OnCongestion | Sampling::Probes => base_rtt,
        }
    }

    /// The time of a flow of `size` bytes, above 0, from its start on: that of its connection, if it has one, and that of its
    /// bytes.
    pub fn completion(&self, links: &[LinkSpec], size: u64) -> Nanos {
        let opening = links.iter().map(|link| 2 * (self.time(link, self.sizes.opening) + self.ticks(link.1)));
        let opens = if self.sizes.opening > 0 { opening.fold(0, u64::saturating_add) } else { 0 };
        self.transfer(links, size) + self.nanos(opens)
    }

    /// The time of `size` bytes, above 0, whose packets are acknowledged one by one if they are at all. Of a flow that collects
    /// telemetry with some of its packets only the first is taken to collect; of its messages of 1 GiB only the first to
    /// open with a longer header.
    fn transfer(&self, links: &[LinkSpec], size: u64) -> Nanos {
        let packets = size.div_ceil(self.mtu.into()).max(1);
        let last = size - (packets - 1) * u64::from(self.mtu);
        let last = u32::try_from(last).unwrap_or(self.mtu);
        // A packet's acknowledgement goes on where the packet has ended: both are one way over twice as many links.
        let back = |first| if self.acknowledged { self.ack(links, first) } else { Times::new() };
        let round = |payload, first| [self.data(links, payload, first), back(first)].concat();
        let sending = match packets {
            1 => round(last, true).iter().sum(),
            _ => pipelined(&round(self.mtu, true), &round(self.mtu, false), packets - 2, &round(last, false)),
        };
        let delays = links.iter().map(|&(_, delay)| self.ticks(delay)).fold(0, u64::saturating_add);
        let ways = if self.acknowledged { 2 } else { 1 };
        let behind = if self.acknowledged { self.behind_feedback(links, packets == 1) } else { 0 };
        self.nanos(delays.saturating_mul(ways).saturating_add(sending).saturating_add(behind))
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

    /// The times of an acknowledgement on its way back.
    fn ack(&self, links: &[LinkSpec], first: bool) -> Times {
        let answer = match self.feedback.by {
            Return::Acknowledgement if self.collects(first) => self.answer(links.len()),
            Return::Acknowledgement | Return::Notification => 0,
        };
        links.iter().rev().map(|link| self.time(link, self.sizes.ack(answer))).collect()
    }

    /// How much later the last acknowledgement comes because feedback in a packet of its own leaves ahead of it.
    fn behind_feedback(&self, links: &[LinkSpec], first: bool) -> u64 {
        let answer = if self.collects(first) { self.answer(links.len()) } else { 0 };
        if self.feedback.by == Return::Acknowledgement || answer == 0 {
            return 0;
        }
        let ack = self.ack(links, first);
        let feedback: Times = links.iter().rev().map(|link| self.time(link, self.sizes.feedback(answer))).collect();
        pipelined(&feedback, &[], 0, &ack) - ack.iter().sum::<u64>()
    }

    /// Bytes of the answer to a packet over so many links. What the receiver computes from two packets, one alone does not
    /// bring.
    fn answer(&self, links: usize) -> u32 {
        let bytes = match self.answer {
            Answer::Records => self.section(links.saturating_sub(1)),
            Answer::BusiestLink => link_codec::LEN as u32,
            Answer::Loads => links.saturating_sub(1) as u32,
            Answer::Window | Answer::Nothing => 0,
        };
        let is_sealed = bytes > 0 && self.feedback.seal.is_some();
        bytes + if is_sealed { seal::TAG_LEN as u32 } else { 0 }
    }

    fn time(&self, (rate, _): &LinkSpec, frame: u32) -> u64 {
        match self.rounding {
            Rounding::Exact => rate.tx_picos(frame + self.gap),
            Rounding::Nearest | Rounding::Floored => rate.tx_time(frame + self.gap, self.rounding).0,
        }
    }

    /// How many of the units that times are added up in make a nanosecond.
    fn ticks_per_nano(&self) -> u64 {
        match self.rounding {
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

/// From the start of the first packet to the end of the last on the last link, without propagation delays: `first`, then
/// `count` times `middle`, then `last`, each stored and forwarded.
///
/// A packet starts on a link when it is there and the link is free. So the end is the longest way through packets and
/// links that goes on, step by step, to the next packet or to the next link: the first packet up to some link, the middle
/// ones over as many links as they take, most of them on the slowest of those, and the last packet from there on.
fn pipelined(first: &[u64], middle: &[u64], count: u64, last: &[u64]) -> u64 {
    let mut longest = 0;
    let mut before = 0_u64;
    for from in 0..first.len() {
        before = before.saturating_add(first[from]);
        let (mut over, mut slowest) = (0_u64, 0);
        for to in from..first.len() {
            if count > 0 {
                over = over.saturating_add(middle[to]);
                slowest = slowest.max(middle[to]);
            }
            let queued = slowest.saturating_mul(count.saturating_sub(1));
            let after = last[to..].iter().fold(0_u64, |sum, &time| sum.saturating_add(time));
            longest = longest.max(before.saturating_add(over).saturating_add(queued).saturating_add(after));
            if count == 0 {
                break;
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeSettings;
    use proptest::prelude::*;

    /// What the same packets take one after the other.
    fn simulated(packets: &[&[u64]]) -> u64 {
        let mut free = alloc::vec![0; packets[0].len()];
        for times in packets {
            let mut ready = 0;
            for (free, time) in free.iter_mut().zip(*times) {
                *free = ready.max(*free) + time;
                ready = *free;
            }
        }
        free[free.len() - 1]
    }

    proptest! {
        #[test]
        fn the_longest_way_is_what_a_simulation_gives(
            links in prop::collection::vec((1u64..500, 1u64..500, 1u64..500), 1..8),
            count in 0u64..12,
        ) {
            let times = |which: fn(&(u64, u64, u64)) -> u64| -> Times { links.iter().map(which).collect() };
            let (first, middle, last) = (times(|t| t.0), times(|t| t.1), times(|t| t.2));
            let mut packets: Vec<&[u64]> = alloc::vec![&first];
            packets.extend((0..count).map(|_| &middle[..]));
            packets.push(&last);
            prop_assert_eq!(pipelined(&first, &middle, count, &last), simulated(&packets));
        }
    }

    /// Two links of 1 Gb/s, on which a byte takes 8 ns, and no delay. Feedback of 88 bytes leaves ahead of the
    /// acknowledgement of 60, which waits for it at the first link; of a flow of two packets the first alone collects.
    #[test]
    fn feedback_in_a_packet_of_its_own_delays_the_last_acknowledgement() {
        let host = NodeSettings::default().host().expect("the defaults");
        let links = [(BitRate::gbps(1), Nanos(0)); 2];
        let time = |feedback, size| {
            let host = HostConfig { layout: Layout::Reference { multiplier: 1 }, feedback, ..host.clone() };
            LoneFlow::new(&host, 0, true).completion(&links, size)
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
        let without = FeedbackConfig { answer: Answer::Nothing, by: Return::Notification, ..sealed };
        assert_eq!(time(without, 1_000), Nanos(8 * (2 * 1_090 + 2 * 60)), "nothing comes back, sealed or not");
    }

    /// Packets of 1090 bytes at 1 Gb/s.
    #[test]
    fn req_12_a_lone_flow_collects_at_these_intervals() {
        let host = NodeSettings::default().host().expect("the defaults");
        let interval = |sampling| {
            let host =
                HostConfig { feedback: FeedbackConfig { sampling, ..FeedbackConfig::default() }, ..host.clone() };
            LoneFlow::new(&host, 0, false).sampling_interval(&[(BitRate::gbps(1), Nanos(0)); 2], Nanos(9_000))
        };
        assert_eq!([Sampling::EveryPacket, Sampling::Never].map(interval), [Nanos(0); 2]);
        assert_eq!(interval(Sampling::EveryNth(8)), Nanos(8 * 8 * 1_048));
        assert_eq!([Sampling::OncePerRtt, Sampling::OnCongestion, Sampling::Probes].map(interval), [Nanos(9_000); 3]);
    }

    /// Two links of 100 Gb/s and 1 us. There 1,048 bytes and 42 of telemetry, back 46 and 42.
    #[test]
    fn req_09_t_counts_headers_telemetry_and_the_acknowledgement() {
        let host = NodeSettings::default().host().expect("the defaults");
        let links = [(BitRate::gbps(100), Nanos(1_000)); 2];
        let host = HostConfig { layout: Layout::Reference { multiplier: 1 }, ..host };
        let flow = LoneFlow::new(&host, 0, true);
        let path =
            PathMetrics { delay: Nanos(2_000), transmission: Nanos(160), bottleneck: BitRate::gbps(100), links: 2 };
        let t = |flow: LoneFlow| flow.base_rtt(&path, &links);
        assert_eq!(t(flow), Nanos(4_000 + 2 * 87 + 2 * 7));
        let growing = LoneFlow { layout: Layout::Paper, gap: 20, ..flow };
        assert_eq!(t(growing), Nanos(4_000 + 86 + 86 + 2 * 6), "1,070 and 1,078 bytes; 80 back");
        let plain = LoneFlow { feedback: FeedbackConfig::NONE, ..flow };
        assert_eq!(t(plain), Nanos(4_000 + 2 * 84 + 2 * 5));
        assert_eq!(t(LoneFlow { payload_only: true, ..flow }), Nanos(4_160), "the reference's");
        assert_eq!(t(LoneFlow { given: Some(Nanos(5_000)), payload_only: true, ..flow }), Nanos(5_000));
        assert_eq!(plain.completion(&links, 1), Nanos(4_000 + 2 * 4 + 2 * 5), "49 bytes take 3.92 ns");
        assert_eq!(plain.completion(&links, 10_000), Nanos(4_000 + 11 * 84 + 2 * 5));
        let unstamped = growing.without_records();
        assert_eq!(unstamped.completion(&links, 1_000), Nanos(4_000 + 2 * 86 + 2 * 6), "1,070 bytes twice");
        assert_eq!(flow.without_answers().completion(&links, 1_000), Nanos(4_000 + 2 * 87 + 2 * 5), "46 back");
        let datagrams = plain.unacknowledged();
        assert_eq!((t(datagrams), datagrams.completion(&links, 10_000)), (t(plain), Nanos(2_000 + 11 * 84)));
    }
}
