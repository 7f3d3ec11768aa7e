// SPDX-License-Identifier: GPL-2.0-only
//! What only the engine of hpcc-core can do, and not the ns-3 module yet: the one list of it.

use super::document::Document;
use super::traffic;

/// What of a scenario that is, if anything, as the subject of a sentence.
pub(super) fn core_only(document: &Document<'_>) -> Option<&'static str> {
    let list = [
        (traffic::has_jobs(document), "a job, whose messages wait for others,"),
        (traffic::has_options(document), "a flow without end, or with nic, rate or stop of its own,"),
    ];
    list.into_iter().find_map(|(is_there, what)| is_there.then_some(what))
}
