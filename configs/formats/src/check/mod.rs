// SPDX-License-Identifier: GPL-2.0-only
//! Errors that need more than one part of a scenario: flows against the network, switches against links.

mod control;
mod flows;
mod memory;
mod priorities;
mod progress;
mod settings;

pub(crate) use flows::flows;
pub use memory::estimate as memory_estimate;
pub(crate) use memory::memory;
pub(crate) use settings::{buffer, settings};
