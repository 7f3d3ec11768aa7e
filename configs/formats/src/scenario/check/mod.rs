// SPDX-License-Identifier: GPL-2.0-only
//! Checks that need more than one part of a scenario: flows against the network, switches against links.

mod attacked;
mod bordered;
mod control;
mod crowded;
mod cut_off;
mod feedback;
mod flows;
mod frames;
mod hops;
mod memory;
mod overbooked;
mod oversubscribed;
mod priorities;
mod progress;
mod protocol;
mod qos;
mod settings;
mod silent;
mod traces;
mod watched;

pub(super) use flows::flows;
pub(crate) use flows::host;
pub(super) use memory::{estimate, memory};
pub use overbooked::Overbooked;
pub use oversubscribed::Oversubscribed;
pub(super) use settings::{buffer, note_losses, note_paths, settings};
pub(super) use watched::watched_flows;
