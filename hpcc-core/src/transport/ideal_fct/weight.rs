// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the frames of a flow weigh together: its bytes and those of its answers, where only sums count.

use super::UnloadedFlow;
use crate::telemetry::Sampling;
use crate::transport::feedback::Return;

impl UnloadedFlow {
    /// Bytes for which a message of `size` bytes occupies a link behind so many switches that add a record: headers, telemetry
    /// and gaps included.
    pub fn bytes_on_link(&self, size: u64, records: u8) -> f64 {
        let mtu = u64::from(self.transport.mtu.max(1));
        let (full, last) = (size / mtu, size % mtu);
        let telemetry = f64::from(self.section(records.into())) * self.collecting();
        let frame = |payload: u64| f64::from(self.sizes.data(payload as u32, false, 0) + self.gap) + telemetry;
        let last = if last > 0 { frame(last) } else { 0.0 };
        full as f64 * frame(mtu) + last + f64::from(self.sizes.first_overhead)
    }

    /// Bytes of its answers on each link back over so many links, for each byte of its own on its first link.
    pub fn answer_share(&self, links: usize) -> f64 {
        let mtu = self.transport.mtu.max(1);
        let packet = self.bytes_on_link(u64::from(mtu) << 20, 0) / f64::from(1 << 20);
        let every = f64::from(self.transport.ack_every.max(mtu)) / f64::from(mtu);
        let answer = f64::from(self.answer(links)) * self.collecting();
        let gap = f64::from(self.gap);
        let frames = match self.feedback.by {
            Return::Acknowledgement => (f64::from(self.sizes.ack(0)) + gap + answer) / every,
            Return::Notification => {
                (f64::from(self.sizes.ack(0)) + gap) / every
                    + (f64::from(self.sizes.feedback(0)) + gap) * self.notifying()
                    + answer
            }
        };
        if self.is_acknowledged { frames / packet } else { 0.0 }
    }

    /// The part of packets that collect telemetry. Those that do once in a while are too few to count.
    fn collecting(&self) -> f64 {
        match self.sampling {
            Sampling::EveryPacket => 1.0,
            Sampling::EveryNth(every) => 1.0 / f64::from(every.max(1)),
            Sampling::OncePerRtt | Sampling::OnCongestion | Sampling::Probes | Sampling::Never => 0.0,
        }
    }

    /// The part of packets that have an answer of their own besides.
    fn notifying(&self) -> f64 {
        if self.answer(1) > 0 { self.collecting() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeSettings;
    use crate::telemetry::Sampling;
    use crate::transport::HostConfig;
    use crate::transport::feedback::FeedbackConfig;

    /// Packets of 1,048 bytes, each answered by 60, and 20 between frames.
    #[test]
    fn a_message_weighs_what_its_frames_do() {
        let feedback = FeedbackConfig { sampling: Sampling::Never, ..FeedbackConfig::NONE };
        let host = HostConfig { feedback, ..NodeSettings::default().host() };
        let flow = UnloadedFlow::new(&host, 20, false);
        assert_eq!(flow.bytes_on_link(2_500, 3), 2.0 * 1_068.0 + 568.0);
        assert!((flow.answer_share(4) - 80.0 / 1_068.0).abs() < 1e-9, "{}", flow.answer_share(4));
    }
}
