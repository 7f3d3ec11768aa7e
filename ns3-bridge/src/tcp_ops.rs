// SPDX-License-Identifier: GPL-2.0-only
//! Congestion control of ns-3's own TCP (`ns3::TcpCongestionOps`), as an algorithm that can be chosen.

use crate::congestion_ops::Class;
use hpcc_core::cc::{Algorithm, CongestionControl, FlowLimits, LineRate, Needs};
use hpcc_core::settings::{Input, Setting, SettingError, Settings, Value};
use hpcc_core::units::BitRate;

/// A class that controls TCP flows. It does so in ns-3: here are its name and the values of its attributes.
#[derive(Clone, Debug)]
pub struct TcpAlgorithm(Class);

impl TcpAlgorithm {
    pub fn new(class: Class) -> TcpAlgorithm {
        TcpAlgorithm(class)
    }
}

impl Settings for TcpAlgorithm {
    fn list(&self) -> Vec<Setting> {
        self.0.list()
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.0.get(key)
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        self.0.set(key, input)
    }
}

impl Algorithm for TcpAlgorithm {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn summary(&self) -> &str {
        "a congestion control of ns-3's TCP"
    }

    /// RDMA flows alone are started here, and `NodeSettings::check` lets none of them have this algorithm.
    fn start(&self, limits: FlowLimits) -> Box<dyn CongestionControl> {
        LineRate.start(limits)
    }

    fn min_rate(&self) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { tcp: true, ..Needs::default() }
    }
}
