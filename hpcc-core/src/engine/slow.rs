// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that take what arrives slowly: their NICs hold data and probes, pause the far end by PFC, or drop.

use super::alarms::Duty;
use super::nodes::Held;
use super::state::Engine;
use crate::ids::{FrameId, PortId};
use crate::transport::receive::Arrival;
use alloc::vec::Vec;

impl Engine {
    /// A frame waits until the host takes it. Probes stay behind the data that was sent before them.
    pub(super) fn rx_enqueue(&mut self, node: u32, f: FrameId) {
        let frame = self.all.frames.get(f);
        let (port, priority, size) = (frame.ingress, frame.priority, frame.size);
        let host = self.nodes.host(node);
        let Some(buffer) = host.core.receive_buffer(port.into()) else { return self.all.frames.release(f) };
        match buffer.rx_enqueue(priority, size) {
            Arrival::Dropped => return self.all.frames.release(f),
            Arrival::Held { pause: true } => self.change_pause(node, port, priority, |held| held.full |= 1 << priority),
            Arrival::Held { pause: false } => {}
        }
        let held = &mut self.nodes.host(node).held[usize::from(port)];
        held.frames.push_back(f);
        if held.frames.len() == 1 {
            self.rx_start(node, port);
        }
    }

    fn rx_start(&mut self, node: u32, port: u16) {
        let now = self.events.now();
        let host = self.nodes.host(node);
        let Some(&first) = host.held[usize::from(port)].frames.front() else { return };
        let size = self.all.frames.get(first).size;
        let Some(buffer) = host.core.receive_buffer(port.into()) else { return };
        let time = buffer.rx_start(now, size);
        self.schedule(node, Duty::Received(port), now + time);
    }

    /// The host has taken the first frame that a port holds.
    pub(super) fn rx_done(&mut self, node: u32, port: u16) {
        let host = self.nodes.host(node);
        let Some(f) = host.held[usize::from(port)].frames.pop_front() else { return };
        let size = self.all.frames.get(f).size;
        let resumed = host.core.receive_buffer(port.into()).map_or(0, |buffer| buffer.rx_done(size));
        for priority in (0..8).filter(|priority| resumed >> priority & 1 != 0) {
            self.change_pause(node, port, priority, |held| held.full &= !(1 << priority));
        }
        self.rx_start(node, port);
        self.take_in(node, f);
    }

    /// A NIC has a reason more to pause, or one less; the far end is told if that makes a difference.
    pub(super) fn change_pause(&mut self, node: u32, port: u16, priority: u8, change: impl FnOnce(&mut Held)) {
        let held = &mut self.nodes.host(node).held[usize::from(port)];
        let before = held.pauses(priority);
        change(held);
        let pause = held.pauses(priority);
        if pause != before && self.all.ports[self.port_id(node, port)].is_up {
            self.send_nic_pfc(node, port, priority, pause);
        }
    }

    /// The link of a host has come up: the far end has forgotten the pauses that are in force here.
    pub(super) fn repeat_nic_pauses(&mut self, p: PortId) {
        let (node, port) = (self.all.ports[p].node, self.all.ports[p].number);
        for priority in self.nic_pauses(node, port) {
            self.send_nic_pfc(node, port, priority, true);
        }
        self.try_send(p);
    }

    fn nic_pauses(&mut self, node: u32, port: u16) -> Vec<u8> {
        let held = self.nodes.host(node).held.get(usize::from(port));
        held.map_or_else(Vec::new, |held| (0..8).filter(|&priority| held.pauses(priority)).collect())
    }

    fn send_nic_pfc(&mut self, node: u32, port: u16, priority: u8, pause: bool) {
        self.hold(node, port, priority, pause);
        self.put_nic_pfc(self.port_id(node, port), priority, pause);
    }

    /// The same, of which nobody is told.
    pub(super) fn put_nic_pfc(&mut self, p: PortId, priority: u8, pause: bool) {
        self.note_sent_pause(p, priority, pause);
        let (node, port) = (self.all.ports[p].node, self.all.ports[p].number);
        let size = self.nodes.host(node).pfc_bytes;
        let pfc = self.pfc(p, size, priority, pause);
        let f = self.all.frames.take();
        *self.all.frames.get_mut(f) = pfc;
        self.nodes.host(node).held[usize::from(port)].pfcs.push_back(f);
        self.try_send(p);
        self.pass_pfc(p);
    }

    /// The link of a slow receiver's port has failed.
    pub(super) fn forget_held(&mut self, node: u32, port: u16) {
        for priority in self.nic_pauses(node, port) {
            self.hold(node, port, priority, false);
        }
        let host = self.nodes.host(node);
        let Some(held) = host.held.get_mut(usize::from(port)) else { return };
        held.full = 0;
        for f in held.pfcs.drain(..) {
            self.all.frames.release(f);
        }
        if let Some(buffer) = host.core.receive_buffer(port.into()) {
            buffer.forget_pauses();
        }
    }
}
