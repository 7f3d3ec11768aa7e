// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending queue pairs: from their opening to their last message, and the ports that they leave by.

use super::{Host, PostResult};
use crate::address::host_address;
use crate::cc::{Armed, FlowLimits, Steers};
use crate::switch::{FlowKey, HOST_SEED};
use crate::telemetry::Reads;
use crate::transport::entropy::Entropies;
use crate::transport::feedback::Listener;
use crate::transport::flow::{NicRules, SenderSpec, flow_id};
use crate::transport::queue_pair::QueuePair;
use crate::transport::sender::Sender;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::sync::Arc;

impl Host {
    fn limits(&self, port: BitRate, most: BitRate, base_rtt: Nanos, bdp: u64, hops: u8) -> FlowLimits {
        let line_rate = port.min(most);
        let transport = &self.rules.transport;
        let window = transport.first_window(line_rate, base_rtt, bdp);
        // What fits on the path at line rate, even if no window holds the flow to it.
        let no_window = window == 0 && !transport.faults.windowless_hpcc;
        let path_bytes = if no_window { line_rate.bytes_in(base_rtt) } else { window };
        FlowLimits {
            line_rate,
            most,
            base_rtt,
            window,
            path_bytes,
            mtu: transport.mtu,
            hops,
            some_hops: self.rules.feedback.some_hops,
            faults: transport.faults,
        }
    }

    /// What the controller of a flow by port `nic` is given, which may send at `most` at most; `base_rtt` is T, `bdp` the bandwidth-delay product of its path in
    /// bytes, `hops` the links on its path. `None` if there is no such port.
    pub fn flow_limits(
        &self,
        nic: usize,
        most: BitRate,
        base_rtt: Nanos,
        bdp: u64,
        hops: u8,
    ) -> Option<Arc<FlowLimits>> {
        let port = self.nics.get(nic)?.line_rate;
        Some(Arc::new(self.limits(port, most, base_rtt, bdp, hops)))
    }

    /// Starts a flow of `size` bytes on port `nic` with these [limits](Host::flow_limits). Returns the queue pair's key, or `None` if there is no such port or no room for another queue pair.
    pub fn open_sender(
        &mut self,
        now: Nanos,
        nic: usize,
        spec: SenderSpec,
        size: u64,
        limits: Arc<FlowLimits>,
    ) -> Option<u32> {
        self.open_controlled(now, nic, spec, size, limits, None)
    }

    /// The same of a flow with a congestion control [of its own](Host::add_control), if that is one.
    pub fn open_controlled(
        &mut self,
        now: Nanos,
        nic: usize,
        spec: SenderSpec,
        size: u64,
        limits: Arc<FlowLimits>,
        own: Option<u16>,
    ) -> Option<u32> {
        self.nics.get(nic)?;
        let (algorithm, needs) = self.control(own);
        let NicRules { transport, feedback, .. } = &*self.rules;
        let controller = algorithm.start(Arc::clone(&limits));
        let mut qp = QueuePair::new(transport, size, spec.priority, Arc::clone(&limits), controller, now);
        if own.is_some() && needs.steers == Steers::Nothing {
            qp.goes_unsteered();
        }
        let listener = (!feedback.is_echo(needs)).then(|| {
            let flow = flow_id(spec.src, spec.dst, spec.receiver);
            let least = algorithm.min_rate(limits.line_rate).filter(|_| needs.reads != Reads::Nothing);
            Box::new(Listener::new(feedback, &limits, flow, spec.sport, spec.priority, least))
        });
        let (reaction, send_times) = (needs.reaction, needs.rtt.then(Box::default));
        let SenderSpec { src, dst, sport, dport, .. } = spec;
        let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport };
        let entropies = Entropies::of(transport, key).map(Box::new);
        let (nic_of_own, seat) = (None, 0);
        let nic_number = nic as u32;
        let sender = Sender {
            qp,
            spec,
            nic: nic_number,
            nic_of_own,
            seat,
            opened: now,
            listener,
            send_times,
            entropies,
            reaction,
        };
        let key = self.senders.insert(sender)?;
        let seat = self.nics.get_mut(nic)?.add(key);
        self.senders.get_mut(key)?.seat = seat;
        Some(key)
    }

    /// A queue pair of this priority will be opened when it is its turn at port `nic`, which [`Host::poll`] tells: so that one
    /// which has sent nothing takes no room. Returns whether it may wait: not where a turn depends on more than the order.
    pub fn wait_to_open(&mut self, nic: usize, priority: u8) -> bool {
        let faults = &self.rules.transport.faults;
        let keeps_order = !faults.stale_round_robin && !faults.missed_wakeups;
        let port = self.nics.get_mut(nic).filter(|_| keeps_order);
        port.map(|port| port.wait_to_open(priority)).is_some()
    }

    /// All flows that waited at a port are open.
    pub fn all_are_open(&mut self, nic: usize) {
        if let Some(port) = self.nics.get_mut(nic) {
            port.all_are_open();
        }
    }

    /// Measures round-trip times of all flows from now on, also of those whose controller does not go by them.
    pub fn measure_rtts(&mut self) {
        Arc::make_mut(&mut self.rules).needs.rtt = true;
        for sender in self.senders.iter_mut() {
            sender.send_times.get_or_insert_default();
        }
    }

    /// The round-trip time that the last acknowledgement of a queue pair told, once: of the newest packet that it
    /// acknowledged and that was sent once.
    pub fn take_rtt(&mut self, queue_pair: u32) -> Option<Nanos> {
        self.senders.get_mut(queue_pair)?.send_times.as_mut()?.take_newest()
    }

    /// A flow leaves by this port, while it leads to its destination.
    pub fn keep_to(&mut self, queue_pair: u32, nic: Option<u8>) {
        if let Some(sender) = self.senders.get_mut(queue_pair) {
            sender.nic_of_own = nic;
        }
    }

    /// Flows share a queue pair that was just opened, whatever
    /// [`queue_pairs`](crate::transport::TransportConfig::queue_pairs) says of flows that are of no job.
    pub fn share(&mut self, queue_pair: u32) {
        if let Some(sender) = self.senders.get_mut(queue_pair) {
            sender.qp.share();
        }
    }

    /// A flow that has a queue pair for itself sends one more packet, and is complete with that. Returns its port and what
    /// then is its size; `None` if it is not under way.
    pub fn stop(&mut self, queue_pair: u32) -> Option<(usize, u64)> {
        let sender = self.senders.get_mut(queue_pair).filter(|sender| !sender.qp.is_finished())?;
        Some((sender.nic(), sender.qp.stop(&self.rules.transport)))
    }

    /// A flow that was just opened has no way, for links have failed: it waits until it is [reassigned](Host::reassign) to a
    /// port.
    pub fn cut_off(&mut self, queue_pair: u32) {
        let Some(sender) = self.senders.get_mut(queue_pair) else { return };
        sender.qp.is_cut_off = true;
        if let Some(nic) = self.nics.get_mut(sender.nic()) {
            nic.remove(queue_pair);
        }
    }

    /// Posts a message of `size` bytes on a queue pair that [`Host::open_sender`] has opened. `None` if there is none with this
    /// key, flows do not share queue pairs, or its sequence numbers do not reach to the message's end.
    pub fn post(&mut self, now: Nanos, queue_pair: u32, size: u64) -> Option<PostResult> {
        let sender = self.senders.get_mut(queue_pair)?;
        let message = sender.qp.post(&self.rules.transport, now, size)?;
        let nic = sender.nic();
        if !sender.qp.is_cut_off {
            let port = self.nics.get_mut(nic)?;
            port.ask(sender.seat);
            sender.seat = port.add_again(queue_pair).unwrap_or(sender.seat);
        }
        Some(PostResult { nic, message, armed: sender.due_timers() })
    }

    /// Takes all flows from their ports; those that have finished are forgotten, but not queue pairs that flows share.
    pub fn clear_ports(&mut self) {
        for nic in &mut self.nics {
            nic.clear(&mut self.senders);
        }
    }

    /// Takes a flow from its port if its route leads to another one now, or to none, or leads somewhere again. Returns whether it
    /// does, and the flow is to be [reassigned](Host::reassign).
    pub fn leave_port(&mut self, queue_pair: u32, key: &FlowKey) -> bool {
        let Some(sender) = self.senders.get(queue_pair) else { return false };
        let present = u16::try_from(sender.nic()).ok().filter(|_| !sender.qp.is_cut_off);
        if self.port_of(key, sender.spec.dst, sender.nic_of_own) == present {
            return false;
        }
        let nic = sender.nic();
        if let Some(nic) = self.nics.get_mut(nic) {
            nic.remove(queue_pair);
        }
        true
    }

    /// Gives a flow to the port that its route leads to now; returns the port, or `None` if there is no route.
    pub fn reassign(&mut self, queue_pair: u32, key: &FlowKey) -> Option<u16> {
        let sender = self.senders.get(queue_pair)?;
        let port = self.port_of(key, sender.spec.dst, sender.nic_of_own);
        self.senders.get_mut(queue_pair)?.qp.is_cut_off = port.is_none();
        let port = port?;
        let nic = self.nics.get_mut(usize::from(port))?;
        let seat = nic.add(queue_pair);
        let sender = self.senders.get_mut(queue_pair)?;
        sender.seat = seat;
        if core::mem::replace(&mut sender.nic, port.into()) != u32::from(port) {
            sender.qp.on_port(nic.line_rate);
        }
        Some(port)
    }

    /// Arms the timer that stayed away while a flow was cut off and had nothing in flight, if there is one.
    pub fn resume_timer(&mut self, now: Nanos, queue_pair: u32) -> Armed {
        self.senders.get_mut(queue_pair).map_or(Armed(0), |sender| sender.qp.resume_timer(now))
    }

    /// The port, counted from 0, by which frames of a flow leave for host `dst`.
    #[inline]
    pub fn route(&self, key: &FlowKey, dst: u32) -> Option<u16> {
        key.choose(HOST_SEED, self.routes.next_hops(dst))
    }

    /// The same for a flow with a port of its own, while that leads there.
    pub fn port_of(&self, key: &FlowKey, dst: u32, own: Option<u8>) -> Option<u16> {
        let own = own.map(u16::from).filter(|own| self.routes.next_hops(dst).contains(own));
        own.or_else(|| self.route(key, dst))
    }

    /// Takes a flow that has another source port now to the port that frames with it leave by, and returns that.
    pub(super) fn follow_path(&mut self, queue_pair: u32) -> Option<usize> {
        let sender = self.senders.get(queue_pair)?;
        let old = sender.nic();
        let new = self.port_of_spec(&sender.spec, sender.nic_of_own).unwrap_or(old);
        if old != new {
            self.nics.get_mut(old)?.remove(queue_pair);
            let nic = self.nics.get_mut(new)?;
            let seat = nic.add(queue_pair);
            let sender = self.senders.get_mut(queue_pair)?;
            (sender.nic, sender.seat) = (new as u32, seat);
            sender.qp.on_port(nic.line_rate);
        }
        Some(new)
    }

    /// The port by which frames leave that name these nodes and ports, of a flow with a port of its own or without.
    pub(super) fn port_of_spec(&self, spec: &SenderSpec, own: Option<u8>) -> Option<usize> {
        let &SenderSpec { src, dst, sport, dport, .. } = spec;
        let key = FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport };
        self.port_of(&key, dst, own).map(usize::from)
    }

    /// The last message of a queue pair that flows share has finished, and no other will follow. Returns whether the queue pair is
    /// over: not if something was sent again, and may still arrive and be answered.
    pub fn let_go(&mut self, queue_pair: u32) -> bool {
        if self.counters.resent > 0 {
            return false;
        }
        let Some(sender) = self.senders.get_mut(queue_pair) else { return false };
        self.counters.baseline_resets += sender.qp.controller().baseline_resets();
        sender.qp.end_messages();
        let nic = sender.nic();
        if let Some(port) = self.nics.get_mut(nic) {
            port.let_go(&mut self.senders);
        }
        true
    }

    /// The sending queue pair under `key`, until some time after it finished.
    pub fn sender(&self, key: u32) -> Option<&QueuePair> {
        self.senders.get(key).map(|sender| &sender.qp)
    }

    /// Whether there is, or was, a sending queue pair in the place of `key`.
    pub fn knows(&self, key: u32) -> bool {
        self.senders.has_place(key)
    }

    /// Timers of a flow that were armed when it was opened.
    pub fn take_armed(&mut self, queue_pair: u32) -> Armed {
        self.senders.get_mut(queue_pair).map_or(Armed(0), |sender| sender.qp.take_armed())
    }

    /// Places for queue pairs, sending and receiving, in use or not: the most that there ever were at a time.
    pub fn places(&self) -> (usize, usize) {
        (self.senders.places(), self.receivers.places())
    }

    /// Queue pairs, sending and receiving, that have a place now.
    pub fn queue_pairs(&self) -> (usize, usize) {
        (self.senders.len(), self.receivers.len())
    }
}
