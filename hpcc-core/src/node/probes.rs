// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether probes leave a flow's data room on its links (REQ-14).
//!
//! A probe leaves ahead of data. One in T is no load where T is a round trip; where a file asks for a T of less than a packet's
//! time on a link, probes come faster than the link can send them, and data never leaves: such a T is refused.

use super::{Located, NodeSettings, in_section};
use crate::settings::Conflict;
use crate::topology::routes::PathMetrics;
use crate::transport::LinkSpec;
use crate::units::Nanos;
use alloc::format;
use alloc::vec::Vec;

impl NodeSettings {
    /// How many T lie between two probes of a flow, if it sends any.
    fn probes_every(&self) -> Option<u32> {
        self.feedback.config().probes_every()
    }

    /// Checks T against the time that probes take on these paths, once all is resolved and checked.
    ///
    /// # Errors
    /// If probes would fill a link; says what the least T is.
    pub fn check_probes(&self, paths: impl Iterator<Item = (PathMetrics, Vec<LinkSpec>)>) -> Result<(), Located> {
        let Some(every) = self.probes_every() else { return Ok(()) };
        let flow = self.unloaded_flow();
        let tight = |(t, links): (Nanos, Vec<LinkSpec>)| {
            let room = flow.probe_room(links.iter().map(|&(rate, _)| rate));
            (t.0.saturating_mul(every.into()) < room.0).then(|| (room.0.div_ceil(every.into()), t))
        };
        let Some((least, t)) = self.round_trips(&flow, paths).into_iter().filter_map(tight).max() else {
            return Ok(());
        };
        let message = format!(
            "T is {t}, and probes so often would leave data no room: on a path's slowest link a full packet and a probe take \
             longer; expected at least {}, or fewer probes (telemetry.sampling, telemetry.path_interval)",
            Nanos(least)
        );
        Err(in_section("transport")(Conflict::new("base_rtt", message)))
    }
}
