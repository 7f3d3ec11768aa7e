// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames against the priorities for which lossless switches keep memory.

use super::{Located, NodeSettings, in_section};
use crate::settings::Conflict;
use crate::switch::{BufferKind, Priorities};
use alloc::format;

impl NodeSettings {
    /// The priorities for each of which ports of switches keep memory. `None`: they keep none by priority, as lossy switches and
    /// those of the 2019 simulator do.
    pub fn pfc_priorities(&self) -> Option<Priorities> {
        let keeps = match self.switch.mode {
            BufferKind::Lossless => !self.faults().short_headroom,
            BufferKind::Lossy => false,
            BufferKind::Credit => true,
        };
        keeps.then(|| self.switch.pfc_priorities.unwrap_or_default())
    }

    /// The priorities that frames may have beside 0; `None`: any.
    pub fn priorities(&self) -> Option<Priorities> {
        let lossy = self.switch.lossy_priorities.unwrap_or(Priorities::NONE);
        self.pfc_priorities().map(|paused| paused.and(lossy))
    }

    pub(super) fn check_priorities(&self) -> Result<(), Located> {
        if self.switch.pfc_priorities.is_none() || !self.faults().short_headroom {
            return Ok(());
        }
        let message =
            "pfc_priorities exclude the 2019 simulator's short_headroom, by which a port keeps memory for one of them";
        Err(in_section("switch")(Conflict::new("pfc_priorities", message.into())))
    }
}

/// Checks that ports keep memory for what has a priority; `what` begins a sentence, such as `the flow has`.
///
/// # Errors
/// If they keep none.
pub fn check_priority(kept: Priorities, what: &str, priority: u8) -> Result<(), Located> {
    if kept.serve(priority) {
        return Ok(());
    }
    let message =
        format!("{what} priority {priority}, for which switches keep no memory; expected {priority} beside {kept}");
    Err(in_section("switch")(Conflict::new("pfc_priorities", message)))
}

/// The same of the frames of a flow, and of what answers them.
///
/// # Errors
/// If switches keep no memory for one of them.
pub fn check_flow(kept: Priorities, priority: u8, answers: u8) -> Result<(), Located> {
    check_priority(kept, "the flow has", priority)?;
    check_priority(kept, "its acknowledgements have", answers)
}

/// The same of the CNPs of a flow's receiver.
///
/// # Errors
/// If switches keep no memory for them.
pub fn check_notifications(kept: Priorities, priority: u8) -> Result<(), Located> {
    check_priority(kept, "its CNPs have", priority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference_faults::{FaultSettings, ReferenceFaults};

    fn settings(mode: BufferKind, short_headroom: bool) -> NodeSettings {
        let faults = FaultSettings::of(ReferenceFaults { short_headroom, ..ReferenceFaults::NONE });
        let mut settings = NodeSettings { faults, ..NodeSettings::default() };
        settings.switch.mode = mode;
        settings
    }

    #[test]
    fn lossless_switches_keep_memory_by_priority_and_no_others() {
        let kept = |mode, short_headroom| settings(mode, short_headroom).pfc_priorities();
        assert_eq!(kept(BufferKind::Lossless, false), Some(Priorities::NONE.with(3)));
        assert_eq!((kept(BufferKind::Lossless, true), kept(BufferKind::Lossy, false)), (None, None));
    }

    #[test]
    fn priorities_are_not_named_where_one_counts_for_all() {
        let blamed = |short_headroom, list| {
            let mut settings = settings(BufferKind::Lossless, short_headroom);
            settings.switch.pfc_priorities = list;
            settings.check_priorities().map_err(|wrong| wrong.conflict.key)
        };
        let some = Some(Priorities::default());
        assert_eq!(
            (blamed(true, some), blamed(true, None), blamed(false, some)),
            (Err("pfc_priorities"), Ok(()), Ok(()))
        );
    }

    #[test]
    fn what_finds_no_memory_is_refused() {
        let check = |priority, answers| {
            let kept = Priorities::default().with(4);
            check_flow(kept, priority, answers).map_err(|wrong| wrong.conflict.message)
        };
        assert_eq!([(0, 0), (3, 4), (4, 0)].map(|(priority, answers)| check(priority, answers)), [const { Ok(()) }; 3]);
        let refused =
            |what| Err(alloc::format!("{what} priority 5, for which switches keep no memory; expected 5 beside 3, 4"));
        assert_eq!((check(5, 3), check(3, 5)), (refused("the flow has"), refused("its acknowledgements have")));
    }
}
