// SPDX-License-Identifier: GPL-2.0-only
//! Checks that need more than one part of a scenario: flows against the network, switches against links.

mod flows;
mod settings;

pub(super) use flows::{flows, note_idle_flows};
pub(super) use settings::settings;
