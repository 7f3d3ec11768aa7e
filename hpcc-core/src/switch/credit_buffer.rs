// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet memory of a switch whose neighbours have credits for it: each port has its own for each priority, and no frame comes
//! for which there is no room.

use super::{Admission, PRIORITIES};
use crate::units::{BitRate, Nanos};
use crate::wire::in_a_round_trip;
use alloc::boxed::Box;

/// Bytes that came in by a port and are still here.
#[derive(Clone, Debug)]
struct Ingress {
    used: [u32; PRIORITIES],
    /// With more of a priority, its sender's credits may not suffice for a frame.
    most: u32,
}

/// Accounting of a switch's packet memory by ingress port and priority.
#[derive(Clone, Debug)]
pub struct CreditBuffer {
    ports: Box<[Ingress]>,
}

impl CreditBuffer {
    /// Memory with a limit for each port and priority, or what links of these rates and delays need, for frames of at most `largest`
    /// bytes.
    pub fn new(limit: Option<u64>, largest: u32, ports: &[(BitRate, Nanos)]) -> Self {
        let ingress = |&link: &(BitRate, Nanos)| {
            let limit = limit.unwrap_or_else(|| in_a_round_trip(largest.into(), link));
            let most = u32::try_from(limit).unwrap_or(u32::MAX).saturating_sub(largest);
            Ingress { used: [0; PRIORITIES], most }
        };
        CreditBuffer { ports: ports.iter().map(ingress).collect() }
    }

    /// A frame of `size` bytes came in.
    pub fn admit(&mut self, ingress: usize, priority: usize, size: u32) -> Admission {
        self.ports[ingress].used[priority] += size;
        Admission::Admit { pause: false }
    }

    /// It left. Returns that its sender is to be told.
    pub fn release(&mut self, ingress: usize, priority: usize, size: u32) -> bool {
        // An attacker's frames have not come in.
        let used = &mut self.ports[ingress].used[priority];
        *used = used.saturating_sub(size);
        true
    }

    /// The priorities of which so much is here that the sender's credits do not suffice for a frame: bit n stands for priority n.
    pub fn exhausted(&self, ingress: usize) -> u8 {
        let Ingress { used, most } = &self.ports[ingress];
        used.iter().rev().fold(0, |bits, used| bits << 1 | u8::from(used > most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_are_exhausted_when_the_largest_frame_does_not_fit() {
        let mut buffer = CreditBuffer::new(Some(3_000), 1_000, &[(BitRate::gbps(8), Nanos(0)); 2]);
        buffer.admit(1, 3, 2_000);
        assert_eq!([0, 1].map(|port| buffer.exhausted(port)), [0, 0]);
        buffer.admit(1, 3, 1);
        assert_eq!([0, 1].map(|port| buffer.exhausted(port)), [0, 1 << 3]);
        assert!(buffer.release(1, 3, 2_001));
        assert_eq!(buffer.exhausted(1), 0);
    }
}
