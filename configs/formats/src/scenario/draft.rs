// SPDX-License-Identifier: GPL-2.0-only
//! A scenario that was read but not yet checked, with the place that each part came from.

use super::{Flow, Scenario, check};
use crate::error::InputError;
use crate::place::Place;

/// A setting to blame in an error: its key, and where it was given.
#[derive(Clone, Debug)]
pub(crate) struct Blame {
    pub place: Place,
    pub key: String,
}

impl Blame {
    pub fn new(place: Place, key: impl Into<String>) -> Blame {
        Blame { place, key: key.into() }
    }

    pub fn error(&self, message: impl Into<String>) -> InputError {
        self.place.key_error(self.key.clone(), message)
    }
}

/// Where the parts came from that are checked against each other.
#[derive(Debug)]
pub(crate) struct Places {
    /// One for each link of the network.
    pub links: Vec<Place>,
    pub stop: Blame,
    pub buffer: Blame,
    pub ecn: Blame,
    pub min_rate: Blame,
}

/// A scenario before its parts are checked against each other.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Everything but the flows.
    pub scenario: Scenario,
    /// Flows in the order of the input.
    pub flows: Vec<(Flow, Place)>,
    pub places: Places,
}

impl Draft {
    /// Checks the parts against each other and puts the flows in order.
    pub fn finish(mut self) -> Result<Scenario, InputError> {
        check::settings(&mut self.scenario, &self.places)?;
        check::flows(&self.scenario, &self.flows)?;
        self.flows.sort_by_key(|(flow, _)| flow.start);
        self.scenario.flows = self.flows.into_iter().map(|(flow, _)| flow).collect();
        check::note_idle_flows(&mut self.scenario);
        check::note_long_paths(&mut self.scenario);
        check::note_losses(&mut self.scenario);
        Ok(self.scenario)
    }
}
