// SPDX-License-Identifier: GPL-2.0-only
//! A scenario that was read but not yet checked, with the place that each part came from.

use crate::error::InputError;
use crate::flows::Traffic;
use crate::place::Place;
use crate::scenario::Scenario;

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
    /// Of each entry of degraded links.
    pub degraded: Vec<Place>,
    /// The place of the network's description, if no links are listed.
    pub network: Option<Place>,
    pub stop: Blame,
    pub buffer: Blame,
    /// Profiles of switches' memory.
    pub groups: Blame,
    pub ecn: Blame,
    pub layout: Blame,
    pub base_rtt: Blame,
    pub tcp_timeout: Blame,
    pub min_rate: Blame,
    pub control_flows: Blame,
    /// What may leave flows without control; `None`: such flows run, as in the 2019 simulator's files.
    pub control: Option<Control>,
}

/// Settings that may leave a flow without control.
#[derive(Debug)]
pub(crate) struct Control {
    pub hops: Blame,
    pub every: Blame,
}

/// A scenario before its parts are checked against each other.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Everything but the flows.
    pub scenario: Scenario,
    /// Where the flows come from, in the order of the input.
    pub flows: Vec<Traffic>,
    pub places: Places,
}
