// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sender sends again under selective repeat, after IRN (Mittal et al., SIGCOMM 2018).
//!
//! Each negative acknowledgement names the first missing byte and the packet that came instead. What lies before
//! the furthest packet that came, and did not come itself, is lost; it is sent again once. What is lost twice
//! is found by the timeout. After a timeout the first missing packet goes first, alone; only when its
//! acknowledgement comes is the rest of what was in flight taken for lost too, which makes the recovery of a
//! lost tail one round trip long and a timeout in error cheap.

use super::packet_set::PacketSet;

/// Which packets of a flow arrived out of order, and which wait to be sent again.
#[derive(Clone, Debug, Default)]
pub struct SelectiveRepeat {
    arrived: PacketSet,
    /// Everything before this byte arrived, was sent again, or is not known to be lost.
    next: u64,
    /// What did not arrive before this byte is lost.
    lost_until: u64,
    /// End of what was in flight at the last timeout.
    timeout_end: u64,
}

impl SelectiveRepeat {
    /// The first byte of the packet to send again, if there is one.
    #[inline]
    pub fn lost(&self) -> Option<u64> {
        (self.next < self.lost_until).then_some(self.next)
    }

    /// The lost packet that begins with byte `seq` is sent again; `first_missing` is the first unacknowledged byte.
    pub fn on_resent(&mut self, first_missing: u64, seq: u64, mtu: u32) {
        self.next = seq.saturating_add(mtu.into());
        self.settle(first_missing, mtu);
    }

    /// An acknowledgement: `first_missing` is what it left unacknowledged, `moved` says whether that is news, and
    /// `selective` is the first byte of the packet that arrived out of order.
    pub fn on_ack(&mut self, first_missing: u64, moved: bool, selective: Option<u64>, mtu: u32) {
        if moved && first_missing < self.timeout_end {
            self.lost_until = self.lost_until.max(self.timeout_end);
        }
        if let Some(seq) = selective.filter(|&seq| seq > first_missing) {
            self.arrived.insert(first_missing / u64::from(mtu), seq / u64::from(mtu));
            self.lost_until = self.lost_until.max(seq);
        }
        self.settle(first_missing, mtu);
    }

    /// Nothing was acknowledged for too long; the bytes from `first_missing` to `snd_nxt` are in flight.
    pub fn on_timeout(&mut self, first_missing: u64, snd_nxt: u64) {
        self.next = first_missing;
        self.lost_until = self.lost_until.max(first_missing + 1);
        self.timeout_end = snd_nxt;
    }

    /// Moves on to the next packet that is not known to have arrived.
    fn settle(&mut self, first_missing: u64, mtu: u32) {
        self.next = self.next.max(first_missing);
        while self.next < self.lost_until && self.arrived.contains(self.next / u64::from(mtu)) {
            self.next += u64::from(mtu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Sends again all that is lost.
    fn resend(state: &mut SelectiveRepeat, first_missing: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        while let Some(seq) = state.lost() {
            sent.push(seq);
            state.on_resent(first_missing, seq, 1000);
        }
        sent
    }

    /// What is remembered slides along: 70 000 packets on as at the start.
    #[test]
    fn holes_are_found_however_long_the_flow_is() {
        for start in [0, 70_000_000] {
            let mut state = SelectiveRepeat::default();
            state.on_ack(start, start > 0, None, 1000);
            state.on_ack(start, false, Some(start + 2000), 1000);
            assert_eq!(resend(&mut state, start), [start, start + 1000]);
            state.on_ack(start, false, Some(start + 4000), 1000);
            assert_eq!(resend(&mut state, start), [start + 3000]);
        }
    }
}
