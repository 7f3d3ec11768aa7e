// SPDX-License-Identifier: GPL-2.0-only
//! The flows of a scenario, one after the other.

use crate::scenario::Scenario;
use hpcc_formats::error::InputError;
use hpcc_formats::flows::Flow;

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_formats::flows::Flow`; the end of the flows unless `present`.
    #[derive(Clone, Copy, Default)]
    struct FlowSpec {
        present: bool,
        /// Its place in the scenario.
        index: u32,
        /// Number of its group.
        group: u32,
        src: u32,
        dst: u32,
        priority: u8,
        dport: u16,
        size_bytes: u64,
        start_ns: u64,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/scenario.rs.h");
        type Scenario = crate::scenario::Scenario;
    }

    extern "Rust" {
        /// The flows of a scenario that have not been taken yet.
        #[derive(ExternType)]
        type Flows;
        fn open_flows(scenario: &Scenario) -> Box<Flows>;
        /// Takes the next flow, by ascending start, or says why the flows end too early: a file was changed after it had
        /// been checked.
        fn next(self: &mut Flows) -> Result<FlowSpec>;
    }
}

use ffi::FlowSpec;

pub struct Flows {
    rest: Box<dyn Iterator<Item = Result<(u32, Flow), InputError>>>,
    /// Flows that were taken.
    taken: u32,
}

pub fn open_flows(scenario: &Scenario) -> Box<Flows> {
    Box::new(Flows { rest: Box::new(scenario.get().flows.walk_groups()), taken: 0 })
}

impl Flows {
    pub fn next(&mut self) -> Result<FlowSpec, String> {
        let Some(flow) = self.rest.next() else { return Ok(FlowSpec::default()) };
        let (group, flow) = flow.map_err(|error| format!("{error} (the file was changed during the run)"))?;
        let index = self.taken;
        self.taken += 1;
        Ok(FlowSpec {
            present: true,
            index,
            group,
            src: flow.src,
            dst: flow.dst,
            priority: flow.priority,
            dport: flow.dport,
            size_bytes: flow.size,
            start_ns: flow.start.0,
        })
    }
}
