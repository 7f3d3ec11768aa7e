// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that know no CSIG, for which switches take its tag off.

use super::{Located, NodeSettings, in_section};
use crate::settings::Conflict;
use crate::telemetry::Csig;
use crate::topology::{Network, NodeSet};

impl NodeSettings {
    /// The nodes to which a switch sends nothing with telemetry.
    ///
    /// # Errors
    /// If the setting names something else.
    pub fn stripped(&self, network: &Network) -> Result<NodeSet, Located> {
        let layout = self.stamped_layout();
        let named = layout.codec::<Csig>().map_or("none", |csig| &csig.csig_strip);
        NodeSet::parse(named, network).map_err(|message| in_section("telemetry")(Conflict::new("csig_strip", message)))
    }
}
