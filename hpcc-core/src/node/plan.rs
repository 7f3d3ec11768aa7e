// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan of switches' packet memory against the other settings and the ports of switches.

use super::{Located, NodeSettings, in_section};
use crate::settings::{Conflict, Named};
use crate::switch::{BufferKind, BufferPlan, Overflow, PortPlace, Priorities, USUAL_HEADERS};
use crate::units::{BitRate, Bytes};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl NodeSettings {
    /// Switches divide their memory so. The priorities of the plan are lossless or lossy as its groups are.
    ///
    /// # Errors
    /// If priorities were set that are other ones.
    pub fn divide(&mut self, plan: BufferPlan) -> Result<(), Conflict> {
        let (lossless, lossy) = plan.priorities();
        let lossy = Some(lossy).filter(|&lossy| lossy != Priorities::NONE);
        let given = (self.switch.pfc_priorities, self.switch.lossy_priorities);
        if given.0.is_some_and(|given| given != lossless) {
            return Err(Conflict::new("pfc_priorities", other_than("with xoff", lossless)));
        }
        if given.1.is_some() && given.1 != lossy {
            return Err(Conflict::new(
                "lossy_priorities",
                other_than("without xoff", lossy.unwrap_or(Priorities::NONE)),
            ));
        }
        (self.switch.pfc_priorities, self.switch.lossy_priorities) = (Some(lossless), lossy);
        // A queue with a profile trims where that has no room.
        if self.switch.overflow == Overflow::Trim && !plan.queues.is_empty() && self.switch.trim_threshold.is_none() {
            self.switch.trim_headers.get_or_insert(Bytes(USUAL_HEADERS));
            self.switch.trim_threshold = Some(Bytes(u32::MAX.into()));
        }
        self.buffer_plan = Some(Arc::new(plan));
        Ok(())
    }

    pub(super) fn check_plan(&self) -> Result<(), Located> {
        let Some(plan) = &self.buffer_plan else { return Ok(()) };
        if self.switch.mode != BufferKind::Lossless {
            let message = format!(
                "mode = \"{}\" has no groups; expected \"lossless\", and buffer_profiles without xoff where nothing is paused",
                self.switch.mode.name()
            );
            return Err(in_section("switch")(Conflict::new("mode", message)));
        }
        if self.faults().short_headroom || self.faults().leak_buffer_on_link_down {
            let message = "buffer_groups exclude the 2019 simulator's short_headroom and leak_buffer_on_link_down";
            return Err(in_section("switch")(Conflict::new("buffer_groups", message.into())));
        }
        plan.check(self.largest_frame()).map_err(in_section("switch"))
    }

    /// The same for a switch with this number and ports of these rates.
    pub(super) fn check_ports(
        &self,
        plan: &BufferPlan,
        switch: u32,
        rates: impl Iterator<Item = BitRate>,
    ) -> Result<(), Located> {
        let ports: Vec<PortPlace> = (0..).zip(rates).map(|(port, rate)| PortPlace { switch, port, rate }).collect();
        plan.check_switch(self.switch.buffer.0, &ports).map_err(in_section("switch"))
    }
}

fn other_than(what: &str, priorities: Priorities) -> String {
    format!("buffer_groups {what} are of priorities {priorities}; expected these, or no such key")
}
