// SPDX-License-Identifier: MIT OR Apache-2.0
//! A congestion control of the simulator's own TCP: chosen here as an algorithm is, at work in the simulator.

use super::{Algorithm, CongestionControl, FlowLimits, LineRate, Needs};
use crate::ecn::EcnThreshold;
use crate::settings::{Input, Setting, SettingError, Settings, Value};
use crate::units::BitRate;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

/// A class of the simulator's TCP, with its known attributes.
#[derive(Clone, Debug)]
pub struct TcpClass<S> {
    name: String,
    attributes: S,
}

impl<S> TcpClass<S> {
    /// The class of this name.
    pub fn new(name: &str, attributes: S) -> Self {
        TcpClass { name: name.into(), attributes }
    }
}

impl<S: Settings> Settings for TcpClass<S> {
    fn list(&self) -> Vec<Setting> {
        self.attributes.list()
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.attributes.get(key)
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        self.attributes.set(key, input)
    }
}

impl<S: Settings + Clone + Debug + Send + 'static> Algorithm for TcpClass<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &'static str {
        "a congestion control of the simulator's TCP"
    }

    /// RDMA flows alone are started here, and `NodeSettings::check` lets none of them have this algorithm.
    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        LineRate.start(limits)
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { tcp: true, ecn: Some(EcnThreshold::USUAL), ..Needs::default() }
    }
}
