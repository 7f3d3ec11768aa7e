// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet memory of a switch without PFC: a queue that takes more than its share loses frames.
//!
//! All of the memory is shared, for there is no headroom to keep. A queue may hold `alpha` times what is free
//! (the dynamic threshold of Choudhury and Hahne, 1998); the HPCC paper's runs without PFC use alpha = 1.

use super::{Admission, PRIORITIES};
use crate::recurrence::recurs;
use alloc::boxed::Box;

/// Accounting of a switch's packet memory by egress queue.
#[derive(Clone, Debug)]
pub struct LossyBuffer {
    free: u64,
    /// By priority.
    alphas: Box<[f64; PRIORITIES]>,
}

impl LossyBuffer {
    /// Memory of so many bytes, and the share of a queue of each priority.
    pub fn new(bytes: u64, alphas: [f64; PRIORITIES]) -> Self {
        LossyBuffer { free: bytes, alphas: Box::new(alphas) }
    }

    /// Whether a queue of `queue` bytes of a priority may take a frame of `size` bytes.
    #[inline]
    pub fn has_room(&self, priority: usize, queue: u32, size: u32) -> bool {
        let size = u64::from(size);
        let threshold = (self.alphas[priority] * self.free as f64) as u64;
        size <= self.free && u64::from(queue) + size <= threshold
    }

    /// A frame of `size` bytes is to join a queue of `queue` bytes.
    #[inline]
    pub fn admit(&mut self, priority: usize, queue: u32, size: u32) -> Admission {
        if !self.has_room(priority, queue, size) {
            return Admission::Drop;
        }
        self.free -= u64::from(size);
        Admission::Admit { pause: false }
    }

    /// A frame of `size` bytes left.
    #[inline]
    pub fn release(&mut self, size: u32) {
        self.free += u64::from(size);
    }
}

recurs! { LossyBuffer { free: plain, alphas: constant, } }

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills one queue; returns its bytes.
    fn fill(buffer: &mut LossyBuffer) -> u32 {
        let mut queue = 0;
        while buffer.admit(3, queue, 1_000) != Admission::Drop {
            queue += 1_000;
        }
        queue
    }

    #[test]
    fn alpha_sets_the_share_of_a_queue() {
        assert_eq!(fill(&mut LossyBuffer::new(1_000_000, [1.0; PRIORITIES])), 500_000);
        assert_eq!(fill(&mut LossyBuffer::new(900_000, [0.125; PRIORITIES])), 100_000);
        assert_eq!(fill(&mut LossyBuffer::new(10_000, [100.0; PRIORITIES])), 10_000);
    }

    #[test]
    fn a_queue_may_be_as_long_as_its_share() {
        let admit = |queue| LossyBuffer::new(4_000, [0.5; PRIORITIES]).admit(3, queue, 1_000);
        assert_eq!((admit(1_000), admit(1_001)), (Admission::Admit { pause: false }, Admission::Drop));
    }

    #[test]
    fn a_second_queue_shares_what_is_left() {
        let mut buffer = LossyBuffer::new(1_000_000, [1.0; PRIORITIES]);
        fill(&mut buffer);
        assert_eq!(fill(&mut buffer), 250_000);
        for _ in 0..750 {
            buffer.release(1_000);
        }
        assert_eq!(buffer.free, 1_000_000);
    }
}
