// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of a path that the next ones are compared with (L in the drafts' algorithm).

use super::{Hop, HopStack};
use crate::units::Nanos;
use alloc::boxed::Box;

/// The last record of a hop.
#[derive(Clone, Copy, Debug, Default)]
struct StoredHop {
    hop: Hop,
    /// The path's digest behind it, where hops have ids.
    digest: u64,
}

/// The last records of a path. A job has millions of flows: they take no more room than the path has hops.
#[derive(Clone, Debug, Default)]
pub struct LastHops {
    /// As many as the longest path so far; `len` of them count.
    hops: Box<[StoredHop]>,
    /// Hops of the path; 0 before the first packet.
    len: u32,
    path: u64,
    kept_at: Nanos,
    /// Records may be compared if no more time than this lies between their arrivals.
    horizon: Nanos,
    /// Times that records took the place of others that they could not be compared with.
    restarts: u32,
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
        stack.hops().len() == self.len() && stack.path == self.path
    }

    /// Whether these are records of the path's first hops, as a switch reports them, and may be compared. Only where
    /// hops have ids.
    pub fn begin_with(&self, now: Nanos, stack: &HopStack) -> bool {
        let last = stack.hops().len().checked_sub(1).filter(|&last| last < self.len());
        let same = last.and_then(|last| self.hops.get(last)).is_some_and(|kept| kept.digest == stack.path);
        same && now - self.kept_at <= self.horizon
    }

    /// How many hops the path has; 0 before the first records.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Each hop's last record and the one that follows.
    #[inline]
    pub fn pairs<'a>(&'a self, stack: &'a HopStack) -> impl Iterator<Item = (&'a Hop, &'a Hop)> {
        self.hops.iter().map(|kept| &kept.hop).zip(stack.hops())
    }

    /// Each hop's last record, to be replaced, and the one that follows; the packet came at `now`.
    #[inline]
    pub fn renew<'a>(&'a mut self, now: Nanos, stack: &'a HopStack) -> impl Iterator<Item = (&'a mut Hop, &'a Hop)> {
        self.kept_at = now;
        if stack.hops().len() > self.hops.len() {
            self.make_room(stack.hops().len());
        }
        self.hops.iter_mut().map(|kept| &mut kept.hop).zip(stack.hops())
    }

    /// Times that records took the place of others that they could not be compared with.
    pub fn restarts(&self) -> u64 {
        self.restarts.into()
    }

    /// Begins anew with a packet's records.
    pub fn restart(&mut self, now: Nanos, stack: &HopStack) {
        self.restarts = self.restarts.saturating_add((!self.is_empty()).into());
        self.len = stack.hops().len() as u32;
        self.path = stack.path;
        self.horizon = stack.hops().iter().map(|hop| stack.modulus.horizon(hop)).min().unwrap_or_default();
        self.keep(now, stack);
        for (kept, &digest) in self.hops.iter_mut().zip(&stack.digests) {
            kept.digest = digest;
        }
    }

    #[cold]
    fn make_room(&mut self, hops: usize) {
        let mut kept = core::mem::take(&mut self.hops).into_vec();
        kept.reserve_exact(hops - kept.len());
        kept.resize(hops, StoredHop::default());
        self.hops = kept.into_boxed_slice();
    }

    /// Keeps the next records of the same path.
    #[inline]
    pub fn keep(&mut self, now: Nanos, stack: &HopStack) {
        for (last, hop) in self.renew(now, stack) {
            *last = *hop;
        }
    }
}
