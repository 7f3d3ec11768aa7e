// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion controls that single flows have in place of their host's.

use super::Host;
use crate::cc::{Algorithm, Needs};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// A congestion control, and its needs where telemetry has the host's layout.
#[derive(Debug)]
pub(super) struct Control {
    pub algorithm: Box<dyn Algorithm>,
    pub needs: Needs,
}

impl Host {
    /// Flows may have this congestion control in place of the host's from now on. It gets the round-trip times, calls and clock that
    /// it needs; window, telemetry and acknowledgements are the host's. Returns its number, the same for the same parameters.
    pub fn add_control(&mut self, algorithm: Box<dyn Algorithm>) -> u16 {
        if let Some(known) = self.own_controls.iter().position(|own| *own.algorithm == *algorithm) {
            return known as u16;
        }
        let needs = algorithm.needs().with(&self.rules.layout);
        let all = &mut Arc::make_mut(&mut self.rules).needs;
        all.rtt |= needs.rtt;
        all.sent |= needs.sent;
        all.program |= needs.program;
        self.own_controls.push(Control { algorithm, needs });
        (self.own_controls.len() - 1) as u16
    }

    /// The congestion control of this number, or the host's.
    pub(super) fn control(&self, own: Option<u16>) -> (&dyn Algorithm, &Needs) {
        let own = own.and_then(|number| self.own_controls.get(usize::from(number)));
        own.map_or((self.algorithm.as_ref(), &self.rules.needs), |own| (own.algorithm.as_ref(), &own.needs))
    }
}
