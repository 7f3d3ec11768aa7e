// SPDX-License-Identifier: GPL-2.0-only
//! What a host's NICs hold if it takes what arrives slowly; declared with the host.

use crate::host::Host;
use crate::host::ffi::Arrival;
use hpcc_core::transport::receive;
use hpcc_core::units::Nanos;

impl Host {
    pub fn receives_slowly(&mut self) -> bool {
        self.core().receive_buffer(0).is_some()
    }

    pub fn rx_enqueue(&mut self, nic: u16, priority: u8, bytes: u32) -> Arrival {
        match self.core().receive_buffer(nic.into()).map(|buffer| buffer.rx_enqueue(priority, bytes)) {
            Some(receive::Arrival::Held { pause: false }) => Arrival::Held,
            Some(receive::Arrival::Held { pause: true }) => Arrival::HeldAndPauses,
            Some(receive::Arrival::Dropped) | None => Arrival::Dropped,
        }
    }

    pub fn rx_start(&mut self, now_ns: u64, nic: u16, bytes: u32) -> u64 {
        self.core().receive_buffer(nic.into()).map_or(0, |buffer| buffer.rx_start(Nanos(now_ns), bytes).0)
    }

    pub fn rx_done(&mut self, nic: u16, bytes: u32) -> u8 {
        self.core().receive_buffer(nic.into()).map_or(0, |buffer| buffer.rx_done(bytes))
    }

    pub fn forget_pauses(&mut self, nic: u16) {
        if let Some(buffer) = self.core().receive_buffer(nic.into()) {
            buffer.forget_pauses();
        }
    }
}
