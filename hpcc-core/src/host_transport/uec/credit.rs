// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCC, the congestion control of receivers, at its sender: what it may send, and how much it asks for.

/// Bytes of the unit of credit.
pub const QUANTUM: i64 = 256;

/// The credit of a sender, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    credit: i64,
    /// Most credit that it may hold: the first window.
    most: i64,
    /// Quanta granted so far.
    granted: i64,
    /// Whether it still sends the first window, before any grant.
    pub is_speculating: bool,
}

impl Credit {
    /// A new flow may send a window of `first` bytes before any grant.
    pub fn new(first: i64) -> Credit {
        Credit { credit: first, most: first, granted: 0, is_speculating: true }
    }

    /// Whether a packet may leave: with any credit, which may so become negative.
    pub fn may_send(&self) -> bool {
        self.credit > 0
    }

    /// A packet of `bytes` bytes leaves.
    pub fn spend(&mut self, bytes: u32) {
        self.credit -= i64::from(bytes);
    }

    /// The receiver has answered: credit that it did not grant is void.
    pub fn stop_speculating(&mut self) {
        if core::mem::take(&mut self.is_speculating) {
            self.credit = self.credit.min(0);
        }
    }

    /// The receiver has granted `granted` quanta since the start.
    pub fn on_pull(&mut self, granted: i64) {
        let more = (granted - self.granted).max(0);
        self.granted += more;
        self.credit = (self.credit + more * QUANTUM).min(self.most);
    }

    /// What the receiver should grant in all, in quanta, for one of `senders` of a host that has `backlog` bytes to send, at most
    /// `cap` of them at a time.
    pub fn target(&self, backlog: i64, cap: Option<i64>, mtu: u32, senders: usize) -> i64 {
        let mut wanted = backlog.min(cap.unwrap_or(i64::MAX)).min(self.most) - self.credit;
        if self.is_speculating && backlog > 0 {
            // However much it has, or a short flow would wait for a grant at its end.
            wanted = wanted.max(mtu.into());
        }
        wanted /= senders.max(1) as i64;
        (wanted + self.granted * QUANTUM + QUANTUM - 1).div_euclid(QUANTUM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_window_is_a_speculation() {
        let mut credit = Credit::new(10_000);
        credit.spend(4_000);
        assert!(credit.may_send());
        credit.stop_speculating();
        assert!(!credit.may_send());
        credit.on_pull(16);
        credit.stop_speculating();
        assert!(credit.may_send(), "a grant stays");
        credit.spend(4_150);
        assert!(!credit.may_send());
        credit.on_pull(10);
        credit.on_pull(16);
        assert!(!credit.may_send(), "grants are told in all");
        credit.on_pull(17);
        assert!(credit.may_send(), "any credit is enough: 256 - 54");
        credit.on_pull(10_000);
        assert_eq!(credit.credit, 10_000);
    }

    #[test]
    fn a_sender_asks_for_what_it_lacks() {
        let mut credit = Credit::new(10_000);
        assert_eq!(credit.target(50_000, None, 4_150, 1), 17, "at least a packet, while it speculates");
        credit.spend(4_150);
        credit.stop_speculating();
        assert_eq!(credit.target(50_000, None, 4_150, 1), 40, "10,000 of 256 bytes");
        assert_eq!(credit.target(2_000, None, 4_150, 1), 8);
        assert_eq!(credit.target(50_000, Some(5_000), 4_150, 1), 20, "bounded by a window");
        assert_eq!(credit.target(50_000, None, 4_150, 4), 10, "one of four");
        credit.on_pull(20);
        assert_eq!(credit.target(50_000, None, 4_150, 1), 40, "of which 20 were granted");
        assert_eq!(credit.target(0, None, 4_150, 1), 0, "less than it has");
    }
}
