// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sender sends again under selective repeat, after IRN (Mittal et al., SIGCOMM 2018).
//!
//! Each negative acknowledgement names the first missing byte and the packet that came instead. What lies before
//! the furthest packet that came, and did not come itself, is lost; it is sent again once. Where packets overtake each other, so
//! many may come before it. What is lost twice
//! is found by the timeout. After a timeout the first missing packet goes first, alone; only when its
//! acknowledgement comes is the rest of what was in flight taken for lost too, which makes the recovery of a
//! lost tail one round trip long and a timeout in error cheap.

use super::{Progress, Repair};
use crate::transport::packet_set::PacketSet;
use crate::transport::receiver::{Data, Receiver, Reply};
use crate::transport::{Ack, TransportConfig};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Each packet that comes early is acknowledged by itself.
pub struct Method;

impl super::Method for Method {
    const NAME: &'static str = "selective_repeat";
    const KEEPS: bool = true;

    fn repair() -> Box<dyn Repair> {
        Box::<SelectiveRepeat>::default()
    }

    fn on_early(receiver: &mut Receiver, config: &TransportConfig, _: Nanos, data: &Data) -> Reply {
        match receiver.keep(config, data.seq, data.payload) {
            true => Reply::SelectiveNack { missing: receiver.expected(), arrived: data.seq },
            false => Reply::Silence,
        }
    }
}

/// Which packets of a flow arrived out of order, and which wait to be sent again.
#[derive(Clone, Debug, Default)]
pub struct SelectiveRepeat {
    arrived: PacketSet,
    /// How many packets arrived behind `counted`, before which nothing is missing.
    pub(super) ahead: u64,
    counted: u64,
    /// Everything before this byte arrived, was sent again, or is not known to be lost.
    next: u64,
    /// What did not arrive before this byte is lost.
    lost_until: u64,
    /// End of what was in flight at the last timeout.
    timeout_end: u64,
    /// Packets whose headers alone arrived, by their first bytes: those that wait to be sent again, and all that are known.
    cut: VecDeque<u64>,
    known_cut: PacketSet,
}

impl SelectiveRepeat {
    /// The first byte of the packet to send again, if there is one.
    #[inline]
    pub(super) fn lost(&self) -> Option<u64> {
        self.cut.front().copied().or((self.next < self.lost_until).then_some(self.next))
    }

    /// The lost packet that begins with byte `seq` is sent again; `first_missing` is the first unacknowledged byte.
    pub(super) fn resent(&mut self, first_missing: u64, seq: u64, mtu: u32) {
        if self.cut.front() == Some(&seq) {
            self.cut.pop_front();
        } else {
            self.next = seq.saturating_add(mtu.into());
        }
        self.settle(first_missing, mtu);
    }

    /// An acknowledgement: `first_missing` is what it left unacknowledged, `moved` says whether that is news, and
    /// `selective` is the first byte of the packet that arrived out of order.
    pub(super) fn hear(&mut self, first_missing: u64, moved: bool, selective: Option<u64>, config: &TransportConfig) {
        let mtu = u64::from(config.mtu);
        self.pass(first_missing / mtu);
        if moved && first_missing < self.timeout_end {
            self.lost_until = self.lost_until.max(self.timeout_end);
        }
        if let Some(seq) = selective {
            self.arrive(first_missing, seq, config);
        }
        self.settle(first_missing, config.mtu);
    }

    /// The packet that begins with byte `seq` has arrived out of order. Returns whether that is news.
    pub(super) fn arrive(&mut self, first_missing: u64, seq: u64, config: &TransportConfig) -> bool {
        let mtu = u64::from(config.mtu);
        let is_new = seq > first_missing && self.arrived.insert(first_missing / mtu, seq / mtu);
        self.ahead += u64::from(is_new);
        if seq > first_missing {
            self.lost_until = self.lost_until.max(seq.saturating_sub(mtu * u64::from(config.reorder_window)));
        }
        is_new
    }

    /// Bytes in flight that are not: packets of them have arrived, as many as may overtake another one at most.
    fn ahead(&self, config: &TransportConfig) -> u64 {
        self.ahead.min(config.reorder_window.into()) * u64::from(config.mtu)
    }

    /// The packet that begins with byte `seq` has arrived without its payload: it is sent again, alone.
    pub(super) fn on_trimmed(&mut self, first_missing: u64, seq: u64, mtu: u32) {
        let packet = seq / u64::from(mtu);
        if seq >= first_missing && !self.arrived.contains(packet) && !self.cut.contains(&seq) {
            self.cut.push_back(seq);
            self.known_cut.insert(first_missing / u64::from(mtu), packet);
            self.settle(first_missing, mtu);
        }
    }

    /// No packet before this one is missing any more.
    fn pass(&mut self, first_missing: u64) {
        if self.ahead > 0 {
            let passed = (self.counted..first_missing).filter(|&packet| self.arrived.contains(packet)).count();
            self.ahead = self.ahead.saturating_sub(passed as u64);
        }
        self.counted = first_missing;
    }

    /// Nothing was acknowledged for too long; the bytes from `first_missing` to `snd_nxt` are in flight.
    pub(super) fn time_out(&mut self, first_missing: u64, snd_nxt: u64) {
        self.next = first_missing;
        (self.cut, self.known_cut) = Default::default();
        self.lost_until = self.lost_until.max(first_missing + 1);
        self.timeout_end = snd_nxt;
    }

    /// Moves on to the next packet that is not known to have arrived.
    pub(super) fn settle(&mut self, first_missing: u64, mtu: u32) {
        self.next = self.next.max(first_missing);
        if !self.cut.is_empty() {
            self.cut.retain(|&seq| seq >= first_missing);
        }
        let is_settled = |packet| self.arrived.contains(packet) || self.known_cut.contains(packet);
        while self.next < self.lost_until && is_settled(self.next / u64::from(mtu)) {
            self.next += u64::from(mtu);
        }
    }
}

impl Repair for SelectiveRepeat {
    fn lost(&self) -> Option<u64> {
        self.lost()
    }

    fn on_resent(&mut self, seq: u64, sent: &Progress, config: &TransportConfig) {
        self.resent(sent.first_missing, seq, config.mtu);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, moved: bool, sent: &Progress, config: &TransportConfig) -> bool {
        self.hear(sent.first_missing, moved, ack.selective, config);
        if let Some(trimmed) = ack.trimmed {
            self.on_trimmed(sent.first_missing, trimmed.seq, config.mtu);
        }
        false
    }

    fn ahead(&self, config: &TransportConfig) -> u64 {
        self.ahead(config)
    }

    fn on_timeout(&mut self, sent: &Progress) -> bool {
        self.time_out(sent.first_missing, sent.next);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Recovery;
    use alloc::vec::Vec;

    /// So many packets may overtake another one.
    fn config(reorder_window: u32) -> TransportConfig {
        TransportConfig { recovery: Recovery::SelectiveRepeat, reorder_window, ..TransportConfig::default() }
    }

    /// Sends again all that is lost.
    fn resend(state: &mut SelectiveRepeat, first_missing: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        while let Some(seq) = state.lost() {
            sent.push(seq);
            state.resent(first_missing, seq, 1000);
        }
        sent
    }

    /// What is remembered slides along: 70 000 packets on as at the start.
    #[test]
    fn holes_are_found_however_long_the_flow_is() {
        for start in [0, 70_000_000] {
            let mut state = SelectiveRepeat::default();
            state.hear(start, start > 0, None, &config(0));
            state.hear(start, false, Some(start + 2000), &config(0));
            assert_eq!(resend(&mut state, start), [start, start + 1000]);
            state.hear(start, false, Some(start + 4000), &config(0));
            assert_eq!(resend(&mut state, start), [start + 3000]);
        }
    }

    /// Packet 2 is cut, then 4 arrives, which makes 0, 1 and 3 late. What is cut again is sent again; after a timeout everything may be.
    #[test]
    fn a_packet_that_is_cut_is_sent_again_alone_and_once_for_each_cut() {
        let config = config(0);
        let mut state = SelectiveRepeat::default();
        let cut = |state: &mut SelectiveRepeat| {
            state.on_trimmed(0, 2000, 1000);
            state.on_trimmed(0, 2000, 1000);
            resend(state, 0)
        };
        assert_eq!(cut(&mut state), [2000]);
        assert_eq!(cut(&mut state), [2000]);
        state.hear(0, false, Some(4000), &config);
        assert_eq!(resend(&mut state, 0), [0, 1000, 3000]);
        state.on_trimmed(0, 4000, 1000);
        assert_eq!(state.lost(), None, "it has arrived");
        state.time_out(0, 5000);
        assert_eq!(resend(&mut state, 0), [0, 1000, 2000, 3000], "whatever became of them");
        state.on_trimmed(0, 3000, 1000);
        state.hear(4000, true, None, &config);
        assert_eq!(state.lost(), None, "it has come meanwhile");
    }

    /// Packets 0 and 2 are missing; each is lost when the fourth packet behind it comes, and not before.
    #[test]
    fn a_packet_counts_as_lost_when_more_than_the_window_have_overtaken_it() {
        let config = config(3);
        let mut state = SelectiveRepeat::default();
        let mut lost = |packet: u64| {
            state.hear(0, false, Some(1000 * packet), &config);
            resend(&mut state, 0)
        };
        assert_eq!([1, 3, 4, 5, 6, 7].map(&mut lost), [&[][..], &[], &[0], &[], &[2000], &[]]);
    }

    /// They leave room for others, but for no more than may overtake one.
    #[test]
    fn packets_that_arrived_are_counted_until_they_are_passed() {
        let config = config(3);
        let mut state = SelectiveRepeat::default();
        let mut ahead = |first_missing: u64, selective: Option<u64>| {
            state.hear(1000 * first_missing, first_missing > 0, selective.map(|packet| 1000 * packet), &config);
            state.ahead(&config)
        };
        let arrivals = [1, 2, 2, 64, 66].map(|packet| ahead(0, Some(packet)));
        assert_eq!(arrivals, [1000, 2000, 2000, 3000, 3000], "one came twice");
        assert_eq!([ahead(3, None), ahead(65, None), ahead(67, None)], [2000, 1000, 0]);
        assert_eq!([ahead(67, Some(69)), ahead(70, None)], [1000, 0], "and again");
    }
}
