// SPDX-License-Identifier: GPL-2.0-only
//! Classes of hosts against the flows that there are: hosts serve by them what they send themselves.

use crate::error::InputError;
use crate::flow::Flow;
use crate::flows::{FlowTotals, Traffic};
use crate::scenario::Places;
use hpcc_core::switch::Priorities;

/// The priorities in which flows are sent.
#[derive(Default)]
pub(super) struct Sent(Priorities);

impl Sent {
    /// Those that random traffic names, whether or not this seed brings any flow of it.
    pub fn new(traffic: &[Traffic]) -> Sent {
        let offers = traffic.iter().filter_map(|traffic| traffic.offer.as_ref());
        Sent(offers.fold(Priorities::NONE, |sent, offer| sent.with(offer.priority)))
    }

    /// Looks at a flow.
    pub fn see(&mut self, flow: &Flow) {
        self.0 = self.0.with(flow.priority);
    }

    /// Refuses a class in which no flow is sent: it would have no effect. Without any flow nothing has, of which a note tells.
    pub fn settle(&self, totals: &FlowTotals, places: &Places) -> Result<(), InputError> {
        let idle = places.classes.iter().find(|(priority, _)| totals.count > 0 && !self.0.serve(*priority));
        let Some((priority, place)) = idle else { return Ok(()) };
        Err(place.error(format!(
            "no flow is sent in priority {priority}, and its class has no effect; expected classes of priorities that [[traffic]] names, \
             here {}",
            self.0
        )))
    }
}
