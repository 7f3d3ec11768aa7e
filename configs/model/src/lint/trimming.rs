// SPDX-License-Identifier: GPL-2.0-only
//! Packets that are cut to little avail.

use super::Pass;
use crate::scenario::Scenario;
use hpcc_core::switch::{Overflow, Service};

/// Cut packets that are nearly as long as whole ones: where many senders meet, they fill the link for nothing.
pub(super) fn long_cuts(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let (switch, whole) = (&scenario.settings.switch, u64::from(scenario.settings.full_frame()));
    let size = switch.trim_size.filter(|size| switch.overflow == Overflow::Trim && 2 * size.0 > whole);
    let note = |size| {
        format!(
            "switch.trim_size = {size} leaves more than half of a packet of {whole} bytes: cut packets fill a link like whole ones, and \
             an incast may never end; expected such as 128B"
        )
    };
    size.into_iter().map(|size| note(size.0)).collect()
}

/// Headers in a queue that is served only while all others are empty.
pub(super) fn waiting_headers(scenario: &Scenario, _: &Pass) -> Vec<String> {
    let switch = &scenario.settings.switch;
    let queue = switch.trim_queue;
    let Some(classes) = (*switch.classes).filter(|_| switch.overflow == Overflow::Trim && queue > 0) else {
        return Vec::new();
    };
    let is_left = classes.services().get(queue as usize) == Some(&Service::Leftover);
    let note = || {
        format!(
            "headers of cut packets wait in queue {queue} (switch.trim_queue), which switch.classes leaves out: they leave only while \
             nothing else may; expected such as \"{queue}:strict\" in front"
        )
    };
    is_left.then(note).into_iter().collect()
}
