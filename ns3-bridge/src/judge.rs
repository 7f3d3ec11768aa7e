// SPDX-License-Identifier: GPL-2.0-only
//! ns-3's models of errors (`ns3::ErrorModel`), which decide what arrives at ports.

use hpcc_core::engine::FrameJudge;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    unsafe extern "C++" {
        include!("model/receive-errors.h");

        /// Whether the model at a port of a network, an `EngineNetwork` by its address, takes a frame of so many bytes for corrupt.
        fn is_corrupt(network: usize, node: u32, port: u16, bytes: u32) -> bool;
    }
}

/// The models at the ports of an `EngineNetwork`, which is at this address as long as its engine runs.
pub struct Models(pub usize);

impl FrameJudge for Models {
    fn spoils(&mut self, node: u32, port: u16, bytes: u32) -> bool {
        ffi::is_corrupt(self.0, node, port, bytes)
    }
}
