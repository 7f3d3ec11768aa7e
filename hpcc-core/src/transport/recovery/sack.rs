// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acknowledgements that bring a bitmap of the packets around the one that came early (SACK), as in Ultra Ethernet and TCP
//! (RFC 2018): a lost acknowledgement costs nothing, for the next has its bits.
//!
//! A packet is lost when more than the window of reordering has arrived behind it, as under selective repeat. So is one that was
//! sent again, when as many have arrived that were sent for the first time after it: what is lost twice needs no timeout.

use super::selective_repeat::SelectiveRepeat;
use super::{Progress, Repair};
use crate::transport::receiver::{Data, Receiver, Reply};
use crate::transport::{Ack, TransportConfig};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

/// Packets of a bitmap.
pub const BITS: u64 = u64::BITS as u64;
/// Bytes of a bitmap.
pub const LEN: usize = size_of::<u64>();

/// Packets that have arrived ahead of their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// The first byte of the packet that bit 0 stands for.
    pub first: u64,
    /// Bit n: the n-th packet from that one on has arrived.
    pub bits: u64,
}

impl Sack {
    /// The first bytes of its packets.
    pub fn packets(self, mtu: u32) -> impl DoubleEndedIterator<Item = u64> {
        let set = (0..BITS).filter(move |bit| self.bits >> bit & 1 != 0);
        set.map(move |bit| self.first.saturating_add(bit * u64::from(mtu)))
    }
}

/// Each packet that comes early brings back a bitmap.
pub struct Method;

impl super::Method for Method {
    const NAME: &'static str = "sack";
    const KEEPS: bool = true;
    const DELIVERS_EARLY: bool = true;
    const ANSWER_BYTES: usize = LEN;

    fn repair() -> Box<dyn Repair> {
        Box::<Bitmaps>::default()
    }

    fn on_early(receiver: &mut Receiver, config: &TransportConfig, _: Nanos, data: &Data) -> Reply {
        if !receiver.keep(config, data.seq, data.payload) {
            return Reply::Silence;
        }
        let (missing, mtu) = (receiver.expected(), u64::from(config.mtu.max(1)));
        let base = missing.div_ceil(mtu);
        let first = base + (data.seq / mtu - base) / BITS * BITS;
        let bit = |n: u64| u64::from(receiver.has_kept(first + n)) << n;
        Reply::Sack { missing, sack: Sack { first: first * mtu, bits: (0..BITS).map(bit).sum() } }
    }
}

/// What a sender knows by bitmaps.
#[derive(Debug, Default)]
struct Bitmaps {
    holes: SelectiveRepeat,
    /// Packets that were sent again, with the byte that was next then: what arrives from there on was sent later.
    again: BTreeMap<u64, u64>,
    /// The same in the order of that byte, which only grows; what has arrived since is still among them.
    order: VecDeque<(u64, u64)>,
    /// End of the furthest packet that has arrived.
    furthest: u64,
}

impl Repair for Bitmaps {
    fn lost(&self) -> Option<u64> {
        self.holes.lost()
    }

    fn on_resent(&mut self, seq: u64, sent: &Progress, config: &TransportConfig) {
        self.again.insert(seq, sent.next);
        self.order.push_back((seq, sent.next));
        self.holes.resent(sent.first_missing, seq, config.mtu);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, moved: bool, sent: &Progress, config: &TransportConfig) -> bool {
        let (first_missing, mtu) = (sent.first_missing, config.mtu);
        let packets = ack.sack.into_iter().flat_map(|sack| sack.packets(mtu));
        for seq in packets.filter(|&seq| seq > first_missing) {
            self.again.remove(&seq);
            if self.holes.arrive(first_missing, seq, config) {
                self.furthest = self.furthest.max(seq + u64::from(mtu));
            }
        }
        while let Some(first) = self.again.first_entry().filter(|first| *first.key() < first_missing) {
            first.remove();
        }
        self.holes.hear(first_missing, moved, None, config);
        if let Some(trimmed) = ack.trimmed {
            self.again.remove(&trimmed.seq);
            self.holes.on_trimmed(first_missing, trimmed.seq, mtu);
        }
        let tolerance = u64::from(config.reorder_window) * u64::from(mtu);
        while let Some(&(seq, later)) = self.order.front()
            && self.furthest > later.saturating_add(tolerance)
        {
            self.order.pop_front();
            if self.again.get(&seq) == Some(&later) {
                self.again.remove(&seq);
                self.holes.on_trimmed(first_missing, seq, mtu);
            }
        }
        false
    }

    /// All of them, so that packets follow that tell of what is lost twice.
    fn ahead(&self, config: &TransportConfig) -> u64 {
        self.holes.ahead * u64::from(config.mtu)
    }

    fn on_timeout(&mut self, sent: &Progress) -> bool {
        (self.again, self.order) = Default::default();
        self.holes.time_out(sent.first_missing, sent.next);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Recovery;
    use alloc::vec::Vec;

    fn config(reorder_window: u32) -> TransportConfig {
        TransportConfig { recovery: Recovery::Sack, reorder_window, ..TransportConfig::default() }
    }

    fn arrive(receiver: &mut Receiver, packet: u64) -> Reply {
        let data = Data { seq: 1_000 * packet, payload: 1_000, ..Data::default() };
        receiver.answer(&config(0), Nanos(0), Nanos(0), &data).reply
    }

    /// Packets 0 and 64 are missing; those of the second bitmap are told apart from those of the first.
    #[test]
    fn a_bitmap_has_the_packets_around_the_one_that_came() {
        let mut receiver = Receiver::default();
        let told = |missing: u64, first: u64, bits| Reply::Sack {
            missing: 1_000 * missing,
            sack: Sack { first: 1_000 * first, bits },
        };
        assert_eq!(arrive(&mut receiver, 1), told(0, 0, 0b10));
        assert_eq!(arrive(&mut receiver, 3), told(0, 0, 0b1010));
        assert_eq!(arrive(&mut receiver, 65), told(0, 64, 0b10));
        assert_eq!(arrive(&mut receiver, 3), told(0, 0, 0b1010), "twice");
        assert_eq!(arrive(&mut receiver, 0), Reply::Ack(2_000));
        assert_eq!(arrive(&mut receiver, 67), told(2, 66, 0b10));
        let last = Sack { first: 5_000, bits: 1 << 63 | 1 };
        assert_eq!(last.packets(1_000).collect::<Vec<_>>(), [5_000, 68_000]);
        assert!(receiver.has_arrived(&config(0), 0, 2_000) && !receiver.has_arrived(&config(0), 2_000, 4_000));
        assert!(receiver.has_arrived(&config(0), 3_000, 3_500) && !receiver.has_arrived(&config(0), 65_000, 66_001));
    }

    struct Sender {
        repair: Bitmaps,
        config: TransportConfig,
        sent: Progress,
    }

    impl Sender {
        fn new(reorder_window: u32, next: u64) -> Sender {
            let sent = Progress { first_missing: 0, next: 1_000 * next };
            Sender { repair: Bitmaps::default(), config: config(reorder_window), sent }
        }

        /// What is sent again after these packets have arrived.
        fn hear(&mut self, packets: &[u64]) -> Vec<u64> {
            let sack = Sack { first: 0, bits: packets.iter().map(|packet| 1 << packet).sum() };
            let ack = Ack { sack: Some(sack), ..Ack::default() };
            assert!(!self.repair.on_ack(&ack, true, &self.sent, &self.config));
            let mut again = Vec::new();
            while let Some(seq) = self.repair.lost() {
                again.push(seq / 1_000);
                self.repair.on_resent(seq, &self.sent, &self.config);
            }
            again
        }
    }

    /// Of ten packets 0, 2 and 5 are lost. 2 is lost again, as 10 shows, which leaves behind it.
    #[test]
    fn what_is_lost_twice_is_sent_again_without_a_timeout() {
        let mut sender = Sender::new(0, 10);
        assert_eq!(sender.hear(&[1, 3, 4]), [0, 2], "the bits of acknowledgements that were lost");
        assert_eq!(sender.hear(&[1, 3, 4, 6]), [5]);
        sender.sent.first_missing = 2_000;
        assert!(sender.hear(&[3, 4, 5, 6, 7, 8, 9]).is_empty());
        sender.sent.next = 12_000;
        assert_eq!(sender.hear(&[10]), [2], "and not 0 and 5, which have come");
        assert!(sender.hear(&[10, 11]).is_empty(), "11 was sent before that");
        sender.sent.next = 13_000;
        assert_eq!(sender.hear(&[12]), [2]);
        assert_eq!(sender.repair.ahead(&sender.config), 10_000, "3 to 12 take no room in the window");
    }

    #[test]
    fn as_many_as_the_window_may_overtake_a_packet() {
        let mut sender = Sender::new(3, 10);
        assert_eq!([&[1][..], &[1, 2, 3], &[4]].map(|packets| sender.hear(packets)), [&[][..], &[], &[0]]);
        assert_eq!(sender.repair.ahead(&sender.config), 4_000);
        sender.sent.next = 20_000;
        let again = [&[10][..], &[11], &[12], &[13]].map(|packets| sender.hear(packets));
        assert_eq!(again, [&[5, 6][..], &[7], &[8], &[0, 9]]);
        sender.repair.on_timeout(&sender.sent);
        assert_eq!(sender.hear(&[14])[0], 0, "from the first missing one on");
    }
}
