// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet memory, lossless or lossy.

use super::lossy_buffer::LossyBuffer;
use super::{Admission, BufferMode, Priorities, SharedBuffer, SwitchConfig};
use crate::units::{BitRate, Nanos};

/// Packet memory.
#[derive(Clone, Debug)]
pub(super) enum Buffer {
    Lossless(SharedBuffer),
    Lossy(LossyBuffer),
}

impl Buffer {
    /// An empty memory between ports of these rates and delays.
    pub fn new(config: &SwitchConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) -> Self {
        match config.mode {
            BufferMode::Lossless => {
                let buffer = SharedBuffer::new(config.buffer_bytes, config.pause, host_rate, ports);
                let (lossy, alpha) = config.lossy.unwrap_or((Priorities::NONE, 1.0));
                let rates = ports.iter().map(|&(rate, _)| rate);
                Buffer::Lossless(buffer.with_classes(lossy, alpha, &config.alphas, host_rate, rates))
            }
            BufferMode::Lossy { alpha } => {
                let alphas = config.alphas.map(|own| own.unwrap_or(alpha));
                Buffer::Lossy(LossyBuffer::new(config.buffer_bytes, alphas))
            }
        }
    }

    /// A frame came in by `ingress` for a queue of `queue` bytes.
    #[inline]
    pub fn admit(&mut self, ingress: usize, queue: u32, priority: usize, size: u32) -> Admission {
        match self {
            Buffer::Lossless(buffer) => buffer.admit(ingress, queue, priority, size),
            Buffer::Lossy(buffer) => buffer.admit(priority, queue, size),
        }
    }

    /// Whether a frame that comes in by `ingress` for a queue of `queue` bytes is not dropped.
    pub fn has_room(&self, ingress: usize, queue: u32, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.has_room(ingress, queue, priority, size),
            Buffer::Lossy(buffer) => buffer.has_room(priority, queue, size),
        }
    }

    /// Whether a frame that comes and goes at once leaves all accounts as they are, pauses and resumes nobody, and is not
    /// dropped.
    #[inline]
    pub fn can_cut_through(&self, ingress: usize, queue: u32, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.can_cut_through(ingress, priority, size),
            Buffer::Lossy(buffer) => buffer.has_room(priority, queue, size),
        }
    }

    /// A frame that had come in by `ingress` left. Returns whether a paused upstream may go on.
    #[inline]
    pub fn release(&mut self, ingress: usize, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.release(ingress, priority, size),
            Buffer::Lossy(buffer) => {
                buffer.release(size);
                false
            }
        }
    }
}
