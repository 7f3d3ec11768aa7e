// SPDX-License-Identifier: MIT OR Apache-2.0
//! RoCE: queue pairs, which the engine runs itself.

use super::{Endpoint, HostSetup, HostTransport};
use crate::settings::Settings;
use alloc::boxed::Box;

/// Queue pairs of RoCE.
#[derive(Clone, Copy, Debug)]
pub struct Roce;

impl Settings for Roce {}

impl HostTransport for Roce {
    fn name(&self) -> &'static str {
        "roce"
    }

    fn start(&self, _: &HostSetup<'_>) -> Option<Box<dyn Endpoint>> {
        None
    }

    fn is_controlled(&self) -> bool {
        true
    }
}
