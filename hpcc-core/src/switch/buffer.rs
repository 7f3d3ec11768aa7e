// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet memory: lossless, lossy, by credits, or divided as a plan says.

use super::cell_buffer::{CellBuffer, NoRoom};
use super::credit_buffer::CreditBuffer;
use super::lossy_buffer::LossyBuffer;
use super::{Admission, BufferMode, Priorities, SharedBuffer, SwitchConfig};
use crate::recurrence::{Recurs, Walk};
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;

/// Packet memory.
#[derive(Clone, Debug)]
pub(super) enum Buffer {
    Lossless(SharedBuffer),
    Rarer(Rarer),
}

/// The rarer kinds: a third kind beside them would make the record of each switch longer.
#[derive(Clone, Debug)]
pub(super) enum Rarer {
    Lossy(LossyBuffer),
    Credit(CreditBuffer),
    Cells(Box<CellBuffer>),
}

impl Buffer {
    /// An empty memory of switch `id` between ports of these rates and delays.
    pub fn new(id: u32, config: &SwitchConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) -> Self {
        let rates = ports.iter().map(|&(rate, _)| rate);
        if let Some(plan) = &config.plan {
            return Buffer::Rarer(Rarer::Cells(Box::new(CellBuffer::new(plan, id, rates))));
        }
        match config.mode {
            BufferMode::Lossless => {
                let buffer = SharedBuffer::new(config.buffer_bytes, config.pause, host_rate, ports);
                let (lossy, alpha) = config.lossy.unwrap_or((Priorities::NONE, 1.0));
                Buffer::Lossless(buffer.with_classes(lossy, alpha, &config.alphas, host_rate, rates))
            }
            BufferMode::Lossy { alpha } => {
                let alphas = config.alphas.map(|own| own.unwrap_or(alpha));
                Buffer::Rarer(Rarer::Lossy(LossyBuffer::new(config.buffer_bytes, alphas)))
            }
            BufferMode::Credit { limit, largest } => {
                Buffer::Rarer(Rarer::Credit(CreditBuffer::new(limit, largest, ports)))
            }
        }
    }

    /// A frame came in by `ingress` for a queue of `queue` bytes at `egress`; without that it waits in no queue.
    #[inline(always)]
    pub fn admit(
        &mut self,
        ingress: usize,
        egress: Option<usize>,
        queue: u32,
        priority: usize,
        size: u32,
    ) -> Admission {
        match self {
            Buffer::Lossless(buffer) => buffer.admit(ingress, queue, priority, size),
            Buffer::Rarer(Rarer::Lossy(buffer)) => buffer.admit(priority, queue, size),
            Buffer::Rarer(Rarer::Credit(buffer)) => buffer.admit(ingress, priority, size),
            Buffer::Rarer(Rarer::Cells(buffer)) => buffer.admit(ingress, egress, priority, size),
        }
    }

    /// Whether a frame that comes in by `ingress` and waits in no queue is not dropped.
    pub fn has_room(&self, ingress: usize, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.has_room(ingress, 0, priority, size),
            Buffer::Rarer(Rarer::Lossy(buffer)) => buffer.has_room(priority, 0, size),
            Buffer::Rarer(Rarer::Credit(_)) => true,
            Buffer::Rarer(Rarer::Cells(buffer)) => buffer.has_room(ingress, None, priority, size),
        }
    }

    /// Whether a frame that comes and goes at once leaves all accounts as they are, pauses and resumes nobody, and is not
    /// dropped.
    #[inline]
    pub fn can_cut_through(&self, ingress: usize, egress: usize, queue: u32, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.can_cut_through(ingress, priority, size),
            Buffer::Rarer(Rarer::Lossy(buffer)) => buffer.has_room(priority, queue, size),
            // Its credits are given back where it is released.
            Buffer::Rarer(Rarer::Credit(_)) => false,
            Buffer::Rarer(Rarer::Cells(buffer)) => buffer.can_cut_through(ingress, egress, priority, size),
        }
    }

    /// A frame that was admitted without a queue waits at `egress`.
    pub fn join(&mut self, egress: usize, priority: usize, size: u32) {
        if let Buffer::Rarer(Rarer::Cells(buffer)) = self {
            buffer.join(egress, priority, size);
        }
    }

    /// The priorities whose sender at a port is paused: bit n stands for priority n.
    pub fn paused(&self, port: usize) -> u8 {
        match self {
            Buffer::Lossless(buffer) => buffer.paused(port),
            Buffer::Rarer(Rarer::Lossy(_) | Rarer::Credit(_)) => 0,
            Buffer::Rarer(Rarer::Cells(buffer)) => buffer.paused(port),
        }
    }

    /// The priorities whose sender at a port waits for this memory: it is paused, or has no credits for a frame.
    pub fn stops(&self, port: usize) -> u8 {
        if let Buffer::Rarer(Rarer::Credit(buffer)) = self { buffer.exhausted(port) } else { self.paused(port) }
    }

    /// Why the last frame that was dropped found no room, if memory is divided by a plan.
    pub fn refused(&self) -> Option<NoRoom> {
        if let Buffer::Rarer(Rarer::Cells(buffer)) = self { Some(buffer.refused()) } else { None }
    }

    /// A frame that had come in by `ingress` left, from `egress` if it waited in a queue. Returns whether its sender is to be told:
    /// it was paused and may go on, or gets its credits back.
    #[inline]
    pub fn release(&mut self, ingress: usize, egress: Option<usize>, priority: usize, size: u32) -> bool {
        match self {
            Buffer::Lossless(buffer) => buffer.release(ingress, priority, size),
            Buffer::Rarer(Rarer::Lossy(buffer)) => {
                buffer.release(size);
                false
            }
            Buffer::Rarer(Rarer::Credit(buffer)) => buffer.release(ingress, priority, size),
            Buffer::Rarer(Rarer::Cells(buffer)) => buffer.release(ingress, egress, priority, size),
        }
    }
}

impl Recurs for Buffer {
    fn walk(&mut self, walk: &mut Walk) {
        match self {
            Buffer::Lossless(buffer) => walk.part(buffer),
            Buffer::Rarer(Rarer::Lossy(buffer)) => walk.part(buffer),
            Buffer::Rarer(Rarer::Credit(_)) => walk.refuse("credits of links"),
            Buffer::Rarer(Rarer::Cells(_)) => walk.refuse("memory that is divided by a plan"),
        }
    }
}
