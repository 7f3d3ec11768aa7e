// SPDX-License-Identifier: GPL-2.0-only
//! The flows of a scenario, one after the other.

use crate::ffi::FlowSpec;
use crate::scenario::Scenario;
use hpcc_formats::error::InputError;
use hpcc_formats::scenario::Flow;

pub struct Flows {
    rest: Box<dyn Iterator<Item = Result<(u32, Flow), InputError>>>,
    /// Flows that were taken.
    taken: u32,
    error: String,
}

const END: FlowSpec =
    FlowSpec { present: false, index: 0, group: 0, src: 0, dst: 0, priority: 0, dport: 0, size_bytes: 0, start_ns: 0 };

pub fn open_flows(scenario: &Scenario) -> Box<Flows> {
    Box::new(Flows { rest: Box::new(scenario.get().flows.walk_groups()), taken: 0, error: String::new() })
}

impl Flows {
    pub fn next(&mut self) -> FlowSpec {
        let (group, flow) = match self.rest.next() {
            Some(Ok(flow)) => flow,
            Some(Err(error)) => {
                self.error = format!("{error} (the file was changed during the run)");
                return END;
            }
            None => return END,
        };
        let index = self.taken;
        self.taken += 1;
        FlowSpec {
            present: true,
            index,
            group,
            src: flow.src,
            dst: flow.dst,
            priority: flow.priority,
            dport: flow.dport,
            size_bytes: flow.size,
            start_ns: flow.start.0,
        }
    }

    pub fn error(&self) -> String {
        self.error.clone()
    }
}
