// SPDX-License-Identifier: MIT OR Apache-2.0
//! The windows of time at whose ends closed queue pairs are forgotten: they follow from when the first flow began, and not from what
//! the clock shows or from how a network is cut into parts.

use super::state::Engine;
use crate::units::Nanos;

/// The present window.
pub(super) struct Windows {
    length: Nanos,
    /// When the first of them began: with the first flow.
    origin: Option<Nanos>,
    end: Nanos,
}

impl Windows {
    /// Windows of this length.
    pub fn new(length: Nanos) -> Windows {
        Windows { length: length.max(Nanos(1)), origin: None, end: Nanos(0) }
    }

    pub fn end(&self) -> Nanos {
        self.end
    }

    /// A flow or a job begins.
    pub fn begin(&mut self, now: Nanos) {
        if self.origin.is_none() {
            (self.origin, self.end) = (Some(now), now);
        }
    }

    /// The window that has this time becomes the present one.
    fn go_to(&mut self, next: Nanos) {
        let origin = self.origin.unwrap_or(next);
        self.end = Nanos(origin.0 + ((next.0 - origin.0) / self.length.0 + 1) * self.length.0);
    }
}

impl Engine {
    pub(super) fn end_window(&mut self, next: Nanos) {
        // The key that was freed last is used first: the order must not depend on who closes what.
        self.flows.closings.sort_unstable();
        for (host, receiver) in core::mem::take(&mut self.flows.closings) {
            self.close_receiver(host, receiver);
        }
        self.windows.go_to(next);
    }
}
