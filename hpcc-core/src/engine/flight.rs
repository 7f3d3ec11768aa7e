// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frames on their way over one direction of a link.

use super::frames::Frames;
use crate::ids::FrameId;
use alloc::vec::Vec;

/// A frame on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InFlight {
    /// When it arrives.
    pub at: u64,
    /// When it was put on its link, among all events that were added.
    pub rank: u64,
    pub frame: FrameId,
}

/// The frames on their way to a port, in the order in which they arrive: a ring of times and places.
#[derive(Default)]
pub(super) struct Flight {
    /// The port is of another part of the network, or its link has rules of its own.
    pub has_rules: bool,
    entries: Vec<InFlight>,
    first: usize,
    count: usize,
}

/// Frames of a ring that was never full.
const FEW: usize = 16;

impl Flight {
    /// The first frame.
    #[inline]
    pub fn first(&self) -> Option<&InFlight> {
        self.entries.get(self.first).filter(|_| self.count > 0)
    }

    /// When the first frame arrives.
    #[inline]
    pub fn first_at(&self) -> Option<u64> {
        self.first().map(|first| first.at)
    }

    /// A frame leaves a node. Returns whether it is the only one.
    #[inline]
    pub fn push(&mut self, frame: InFlight) -> bool {
        if self.count == self.entries.len() {
            self.grow();
        }
        let last = (self.first + self.count) & (self.entries.len() - 1);
        self.count += 1;
        self.entries[last] = frame;
        self.count == 1
    }

    #[cold]
    fn grow(&mut self) {
        let more = FEW.max(self.entries.len());
        self.entries.rotate_left(self.first);
        self.entries.resize(self.entries.len() + more, InFlight::default());
        self.first = 0;
    }

    /// The first frame, of which there is one, comes to a node. Also returns when the next arrives.
    #[inline]
    pub fn pop(&mut self) -> (FrameId, Option<u64>) {
        let InFlight { frame, .. } = self.entries[self.first];
        self.first = (self.first + 1) & (self.entries.len() - 1);
        self.count -= 1;
        (frame, self.first_at())
    }

    /// Loads the frames that arrive before `end`: these loads do not wait for each other.
    #[inline]
    pub fn load(&self, end: u64, frames: &Frames) -> u32 {
        let mut sum = 0;
        for place in 0..self.count {
            let InFlight { at, frame, .. } = self.entries[(self.first + place) & (self.entries.len() - 1)];
            if at >= end {
                break;
            }
            sum ^= frames.load(frame);
        }
        sum
    }
}

impl Flight {
    /// All frames, in the order in which they arrive, to be changed.
    pub fn each(&mut self) -> impl Iterator<Item = &mut InFlight> {
        let (front, back) = self.entries.split_at_mut(self.first);
        let behind = back.len().min(self.count);
        back[..behind].iter_mut().chain(front[..self.count - behind].iter_mut())
    }
}
