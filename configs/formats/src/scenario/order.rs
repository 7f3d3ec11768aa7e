// SPDX-License-Identifier: GPL-2.0-only
//! Which of several events of the same nanosecond runs first.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// Which of several events of the same nanosecond runs first. Both are as good a model of a network; they differ in what
/// can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventOrder {
    /// The one that was scheduled first, as in the reference simulator; one process only.
    Insertion,
    /// By node, then frames that arrive by port, then what the node itself has scheduled: the same however many processes
    /// share the run.
    #[default]
    Canonical,
}

/// Not derived, for an error of a number to say what was expected.
impl<'de> Deserialize<'de> for EventOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Order)
    }
}

struct Order;

impl Visitor<'_> for Order {
    type Value = EventOrder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"insertion\" or \"canonical\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<EventOrder, E> {
        match text {
            "insertion" => Ok(EventOrder::Insertion),
            "canonical" => Ok(EventOrder::Canonical),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}
