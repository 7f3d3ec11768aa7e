// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of a path that the next ones are compared with (L in the drafts' algorithm).

use super::{Hop, HopStack, MAX_HOPS};
use crate::units::Nanos;

/// The last records of a path.
#[derive(Clone, Debug, Default)]
pub struct LastHops {
    hops: [Hop; MAX_HOPS],
    /// Hops of the path; 0 before the first packet.
    len: usize,
    path: u64,
    /// The path's digest behind each hop, where hops have ids.
    digests: [u64; MAX_HOPS],
    kept_at: Nanos,
    /// Records may be compared if no more time than this lies between their arrivals.
    horizon: Nanos,
    /// Times that records took the place of others that they could not be compared with.
    restarts: u64,
}

impl LastHops {
    /// Whether a packet's records may be compared with these: they are of the same path (REQ-22), and no counter can
    /// have wrapped unseen. Equal path ids do not prove an equal path, for an XOR collides; another number of hops
    /// tells some of these.
    #[inline]
    pub fn continue_in(&self, now: Nanos, stack: &HopStack) -> bool {
        self.is_path_of(stack) && now - self.kept_at <= self.horizon
    }

    /// Whether a packet came by the same path, as far as its records can tell.
    #[inline]
    pub fn is_path_of(&self, stack: &HopStack) -> bool {
        stack.hops().len() == self.len && stack.path == self.path
    }

    /// Whether these are records of the path's first hops, as a switch reports them, and may be compared. Only where
    /// hops have ids.
    pub fn begin_with(&self, now: Nanos, stack: &HopStack) -> bool {
        let last = stack.hops().len().checked_sub(1).filter(|&last| last < self.len);
        let same = last.and_then(|last| self.digests.get(last)).is_some_and(|&digest| digest == stack.path);
        same && now - self.kept_at <= self.horizon
    }

    /// How many hops the path has; 0 before the first records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Each hop's last record and the one that follows.
    #[inline]
    pub fn pairs<'a>(&'a self, stack: &'a HopStack) -> impl Iterator<Item = (&'a Hop, &'a Hop)> {
        self.hops.iter().zip(stack.hops())
    }

    /// Each hop's last record, to be replaced, and the one that follows; the packet came at `now`.
    #[inline]
    pub fn renew<'a>(&'a mut self, now: Nanos, stack: &'a HopStack) -> impl Iterator<Item = (&'a mut Hop, &'a Hop)> {
        self.kept_at = now;
        self.hops.iter_mut().zip(stack.hops())
    }

    /// Times that records took the place of others that they could not be compared with.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Begins anew with a packet's records.
    pub fn restart(&mut self, now: Nanos, stack: &HopStack) {
        self.restarts += u64::from(!self.is_empty());
        self.len = stack.hops().len();
        self.path = stack.path;
        self.digests = stack.digests;
        self.horizon = stack.hops().iter().map(|hop| stack.modulus.horizon(hop)).min().unwrap_or_default();
        self.keep(now, stack);
    }

    /// Keeps the next records of the same path.
    #[inline]
    pub fn keep(&mut self, now: Nanos, stack: &HopStack) {
        for (last, hop) in self.renew(now, stack) {
            *last = *hop;
        }
    }
}
