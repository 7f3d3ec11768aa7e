// SPDX-License-Identifier: GPL-2.0-only
//! A scenario that was read but not yet checked, with the place that each part came from.

use crate::error::InputError;
use crate::flows::Traffic;
use crate::place::Place;
use crate::scenario::Scenario;

/// A setting to blame in an error: its key, and where it was given.
#[derive(Clone, Debug)]
pub struct Blame {
    /// Where it was given.
    pub place: Place,
    /// Its dotted path.
    pub key: String,
}

impl Blame {
    /// A key at a place.
    pub fn new(place: Place, key: impl Into<String>) -> Blame {
        Blame { place, key: key.into() }
    }

    /// An error that blames it.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        self.place.key_error(self.key.clone(), message)
    }
}

/// Where the parts came from that are checked against each other.
#[derive(Debug)]
pub struct Places {
    /// One for each link of the network.
    pub links: Vec<Place>,
    /// Of each entry of degraded links.
    pub degraded: Vec<Place>,
    /// The place of the network's description, if no links are listed.
    pub network: Option<Place>,
    /// The stop time.
    pub stop: Blame,
    /// The size of switches' memory.
    pub buffer: Blame,
    /// Profiles of switches' memory.
    pub groups: Blame,
    /// Thresholds of marks.
    pub ecn: Blame,
    /// How telemetry is laid out.
    pub layout: Blame,
    /// The base round-trip time.
    pub base_rtt: Blame,
    /// The least timeout of TCP.
    pub tcp_timeout: Blame,
    /// The least rate of a flow.
    pub min_rate: Blame,
    /// Flows whose control is recorded.
    pub control_flows: Blame,
    /// What may leave flows without control; `None`: such flows run, as in the 2019 simulator's files.
    pub control: Option<Control>,
}

/// Settings that may leave a flow without control.
#[derive(Debug)]
pub struct Control {
    /// How many hops have room in telemetry.
    pub hops: Blame,
    /// Which packets carry it.
    pub every: Blame,
}

/// A scenario before its parts are checked against each other.
#[derive(Debug)]
pub struct Draft {
    /// Everything but the flows.
    pub scenario: Scenario,
    /// Where the flows come from, in the order of the input.
    pub flows: Vec<Traffic>,
    /// Where its parts came from.
    pub places: Places,
}
