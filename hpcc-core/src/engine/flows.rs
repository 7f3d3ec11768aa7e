// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows from their request to their completion.

use super::agenda::Item;
use super::alarms::Duty;
use super::events::{EventKind, Order};
use super::fifo::Fifo;
use super::groups::NOBODY;
use super::paths::KnownPath;
use super::state::Engine;
use super::traffic::{
    Completion, FlowOptions, FlowRequest, LISTED, Owner, PLACES, PairKey, Posted, Receiving, Sending, Started, WAITING,
};
use crate::address::{host_address, ipv6};
use crate::cc::FlowLimits;
use crate::simulated_frame::wire_queue_pair;
use crate::switch::{FlowKey, PRIORITIES};
use crate::transport::{ReceiverSpec, SenderSpec};
use crate::units::Nanos;
use crate::workload::Message;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// So many different limits of flows are known again: most flows of a network are alike.
const SHARED_LIMITS: usize = 16;

/// Whether a flow may share its queue pair: all messages of a job that do have the same options.
fn is_common(options: FlowOptions, message: Option<&Message>) -> bool {
    message.is_some() || options == FlowOptions::NONE
}

impl Engine {
    /// Flows that are to begin, sorted by start.
    pub fn add_flows(&mut self, flows: impl IntoIterator<Item = FlowRequest>) {
        let before = self.flows.requests.len();
        if before == 0 {
            // A list that is given away is not copied: there may be millions.
            self.flows.requests = flows.into_iter().collect::<Vec<_>>().into();
        } else {
            self.flows.requests.extend(flows);
        }
        self.flows.added += (self.flows.requests.len() - before) as u64;
        self.schedule_due();
    }

    /// Schedules the next flow's start.
    fn schedule_due(&mut self) {
        if let Some(request) = self.flows.requests.front() {
            let start = request.start;
            self.agenda_at(start, Item::Due);
        }
    }

    pub(super) fn agenda_at(&mut self, at: Nanos, item: Item) {
        let rank = self.reserve_item();
        self.add_item(at, rank, item);
    }

    /// The rank of an item. Where nodes run by themselves it is compared with other items only, and all parts have the same.
    pub(super) fn reserve_item(&mut self) -> u64 {
        if self.is_canonical() { self.all.agenda.reserve() } else { self.events.reserve() }
    }

    pub(super) fn add_item(&mut self, at: Nanos, rank: u64, item: Item) {
        let place = self.all.agenda.add(rank, item);
        let at = at.max(self.events.now()).0;
        if self.groups.running != NOBODY && self.is_single_file() && at < self.events.end() {
            return self.events.add(at, EventKind::Agenda(place), &self.all);
        }
        self.all.agenda.wait(at, place);
    }

    /// Flows come due. Each begins by two more events, as applications do in the 2019 simulator: the order of events
    /// within this nanosecond depends on them.
    pub(super) fn on_due(&mut self) {
        let now = self.events.now();
        while self.flows.requests.front().is_some_and(|request| request.start <= now) {
            let Some(request) = self.flows.requests.pop_front() else { break };
            self.agenda_at(now, Item::Application(request));
        }
        self.schedule_due();
    }

    /// What the controller of a flow by a port is given.
    fn limits(&mut self, nic: u16, request: &FlowRequest) -> Option<Arc<FlowLimits>> {
        let host = self.nodes.host(request.src);
        let (rtt, bdp, links) = self.fabric.path_limits(request.src, request.dst, host.traffic.global_rtt);
        let limits = host.core.flow_limits(nic.into(), request.options.rate, rtt, bdp, links)?;
        if let Some(known) = self.flows.limits.iter().find(|known| **known == limits) {
            return Some(Arc::clone(known));
        }
        self.flows.limits.truncate(SHARED_LIMITS - 1);
        self.flows.limits.insert(0, Arc::clone(&limits));
        Some(limits)
    }

    /// A flow begins. Nothing happens if its destination cannot be reached, or a host has no room for another queue pair.
    pub(super) fn start_flow(&mut self, request: FlowRequest, message: Option<Message>) {
        let request = FlowRequest { start: self.events.now(), ..request };
        self.windows.begin(self.events.now());
        let FlowRequest { src, options, .. } = request;
        if self.nodes.host(src).is_stack {
            // The program's stack carries it.
            self.flows.started.push(Started { request, sport: 0, queue_pair: 0, first_seq: 0 });
            return self.tell_program();
        }
        if self.nodes.host(src).other.is_some() {
            return self.post_to_other(request, message.as_ref());
        }
        if let Some(message) = &message
            && self.waits_to_open(&request, message)
        {
            return;
        }
        // Whatever comes now stands behind those that wait.
        self.open_all(src);
        let key = self.pair_key(&request, message.as_ref());
        let traffic = &mut self.nodes.host(src).traffic;
        let shared = traffic.shareable.get(&key).copied();
        match shared.filter(|_| traffic.shares_queue_pairs(message.is_some()) && is_common(options, message.as_ref())) {
            Some(queue_pair) if self.parts.is_own(src) => self.post(queue_pair, request, message.as_ref()),
            Some(_) => {}
            None => match self.open_queue_pair(&request, message.as_ref()) {
                Ok(None) => {}
                Ok(Some((queue_pair, sport, nic))) => {
                    self.note_start(Started { request, sport, queue_pair, first_seq: 0 });
                    if options.stop < Nanos(u64::MAX) {
                        self.schedule(src, Duty::Stop(queue_pair), options.stop);
                    }
                    let p = self.port_id(src, nic);
                    self.try_send(p);
                }
                Err(why) => self.refuse(request, why),
            },
        }
    }

    /// A flow has begun at a host of the engine.
    pub(super) fn note_start(&mut self, started: Started) {
        self.flows.turns += 1;
        self.flows.started.push(started);
        if self.program.sees_flows {
            self.tell_program();
        }
    }

    /// The first message of a queue pair that nobody sees or shares waits until it is its turn at its port: a job may begin a
    /// million at once.
    fn waits_to_open(&mut self, request: &FlowRequest, message: &Message) -> bool {
        // The port that was found when the job began may lead nowhere by now.
        if self.version > 0 {
            return false;
        }
        let &FlowRequest { src, priority, start, .. } = request;
        let key = self.pair_key(request, Some(message));
        let host = self.nodes.host(src);
        let Some((nic, sport, is_posted)) = host.traffic.unseen(key).filter(|_| self.parts.is_own(src)) else {
            return false;
        };
        if is_posted || !host.core.wait_to_open(nic.into(), priority) {
            return false;
        }
        host.traffic.wait_to_open(nic, key, *message, start);
        self.note_start(Started { request: *request, sport, queue_pair: WAITING, first_seq: 0 });
        let p = self.port_id(src, nic);
        self.try_send(p);
        true
    }

    /// Opens all that wait at a host's ports.
    fn open_all(&mut self, src: u32) {
        for nic in 0..self.nodes.host(src).traffic.unopened.len() as u16 {
            while self.open_next(src, nic) {}
        }
    }

    /// It is the turn of the first queue pair of those that wait at a port. Returns whether there was one.
    pub(super) fn open_next(&mut self, src: u32, nic: u16) -> bool {
        let host = self.nodes.host(src);
        let Some((message, start, is_last)) = host.traffic.next_unopened(nic) else { return false };
        if is_last {
            host.core.all_are_open(nic.into());
        }
        let request = FlowRequest { start, ..FlowRequest::of(&message) };
        if let Err(why) = self.open_queue_pair(&request, Some(&message)) {
            self.refuse(request, why);
        }
        true
    }

    fn pair_key(&self, request: &FlowRequest, message: Option<&Message>) -> PairKey {
        let job = message.and_then(|message| self.work.jobs.job_at(message.from));
        PairKey::of(request, job.unwrap_or(LISTED))
    }

    fn post(&mut self, queue_pair: u32, request: FlowRequest, message: Option<&Message>) {
        let now = self.events.now();
        let host = self.nodes.host(request.src);
        let Some(result) = host.core.post(now, queue_pair, request.size) else {
            let FlowRequest { src, dst, size, .. } = request;
            let why =
                format!("host {src} has no sequence numbers left for {size} bytes on one queue pair to host {dst}");
            return self.refuse(request, why);
        };
        let Some(sending) = host.traffic.get(queue_pair) else { return };
        sending.left = sending.left.and_then(|left| left.checked_sub(1));
        let (sport, receiver, first_seq) = (sending.sport, sending.receiver, result.message.start);
        let (FlowRequest { size, start, .. }, owner) = (request, Owner::of(&request, message));
        sending.messages.push_back(Posted { size, start, first_seq, owner });
        self.note_start(Started { request, sport, queue_pair, first_seq });
        if let Some(message) = message {
            self.announce((receiver, result.message.end()), message);
        }
        self.schedule_timers(request.src, queue_pair, result.armed);
        let p = self.port_id(request.src, result.nic as u16);
        self.try_send(p);
    }

    /// A flow cannot begin, and the run not go on.
    pub(super) fn refuse(&mut self, request: FlowRequest, why: String) {
        if self.parts.is_own(request.src) {
            self.flows.refused.push(request);
        }
        self.fail(why);
    }

    /// The run cannot go on.
    pub(super) fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    /// The receiving end of the queue pair of a flow, or of a job's message.
    pub(super) fn open_receiving(&mut self, request: &FlowRequest, is_of_job: bool) -> Result<Receiving, String> {
        let no_room = |host: u32| format!("host {host} has no room for another queue pair");
        let &FlowRequest { src, dst, dport, options, .. } = request;
        let wraps = self.flows.wraps_ports;
        let sport = self.nodes.host(dst).traffic.take_port(src, wraps);
        let key = self.wire_key(src, dst, sport, dport);
        let host = self.nodes.host(src);
        let nic = host.core.port_of(&key, dst, options.nic);
        let nic = nic.or_else(|| self.fabric.port_of_the_start(src, &key, dst));
        let nic = nic.ok_or_else(|| format!("host {dst} cannot be reached from host {src}"))?;
        let limits = self.limits(nic, request).ok_or_else(|| no_room(src))?;
        let host = self.nodes.host(src);
        let (echo_interval, is_shared) =
            (host.core.echo_interval(options.control), host.core.transport().shares_queue_pairs(is_of_job));
        let peer = self.nodes.host(dst);
        let spec = ReceiverSpec { src, dst, limits: Arc::clone(&limits), echo_interval, is_shared };
        let receiver = peer.core.open_receiver(&spec).ok_or_else(|| no_room(dst))?;
        peer.traffic.note_source(receiver, src, sport);
        Ok(Receiving { receiver, sport, nic, limits })
    }

    /// A prepared queue pair by the port that leads to its destination now: links may have changed since the job began.
    fn on_present_routes(&mut self, receiving: Receiving, request: &FlowRequest) -> Receiving {
        if self.version == 0 {
            return receiving;
        }
        let &FlowRequest { src, dst, dport, options, .. } = request;
        let key = self.wire_key(src, dst, receiving.sport, dport);
        let Some(nic) = self.nodes.host(src).core.port_of(&key, dst, options.nic) else { return receiving };
        let limits = self.limits(nic, request).unwrap_or_else(|| Arc::clone(&receiving.limits));
        Receiving { nic, limits, ..receiving }
    }

    /// Opens a queue pair for a first message, which may be sent from its start on: also if it waited to be opened. Returns its key,
    /// source port and port; nothing if that is for another part.
    fn open_queue_pair(
        &mut self,
        request: &FlowRequest,
        message: Option<&Message>,
    ) -> Result<Option<(u32, u16, u16)>, String> {
        let &FlowRequest { src, dst, priority, dport, size, start, options, .. } = request;
        let is_common = is_common(options, message);
        let key = self.pair_key(request, message);
        let traffic = &mut self.nodes.host(src).traffic;
        let prepared = if is_common { traffic.take_prepared(key) } else { None };
        let (receiving, count) = match prepared {
            Some((receiving, count)) => (self.on_present_routes(receiving, request), count),
            None => (self.open_receiving(request, message.is_some())?, None),
        };
        if !self.parts.is_own(src) {
            // Its queue pair is opened in its own part.
            if is_common {
                self.nodes.host(src).traffic.shareable.insert(key, 0);
            }
            return Ok(None);
        }
        let Receiving { receiver, sport, nic, limits } = receiving;
        let spec = SenderSpec { src, dst, sport, dport, priority, receiver };
        let leads = !self.fabric.table(src).next_hops(dst).is_empty();
        let host = self.nodes.host(src);
        let queue_pair = host
            .core
            .open_controlled(start, nic.into(), spec, size, limits, options.control)
            .ok_or_else(|| format!("host {src} has no room for another queue pair"))?;
        host.core.keep_to(queue_pair, options.nic);
        if !leads {
            host.core.cut_off(queue_pair);
        }
        let shares = host.traffic.shares_queue_pairs(message.is_some());
        if shares {
            host.core.share(queue_pair);
        }
        let traffic = &mut host.traffic;
        // Flows that share a source port have keys of their own: this adds to the bits of the priority.
        let mut flow_key = u64::from(host_address(dst)) << 32 | u64::from(sport) << 16 | u64::from(priority);
        while traffic.by_flow_key.contains(flow_key) {
            flow_key += PRIORITIES as u64;
        }
        traffic.by_flow_key.insert(flow_key, queue_pair);
        if shares && is_common {
            traffic.shareable.insert(key, queue_pair);
        }
        let place = (queue_pair & PLACES) as usize;
        if traffic.sending.len() <= place {
            traffic.sending.resize_with(place + 1, || None);
        }
        traffic.sending[place] = Some(Sending {
            key: queue_pair,
            messages: Fifo::of(Posted { size, start, first_seq: 0, owner: Owner::of(request, message) }),
            left: count.and_then(|count| count.checked_sub(1)),
            sport,
            dst,
            dport,
            priority,
            options: (options != FlowOptions::NONE).then(|| Box::new(options)),
            receiver,
            flow_key,
            timers: Default::default(),
            path: KnownPath::default(),
        });
        if host.notices.is_enabled {
            let destination = ipv6(host_address(dst));
            host.notices.agent.connect(destination, wire_queue_pair(receiver), queue_pair);
        }
        let armed = host.core.take_armed(queue_pair);
        if let Some(message) = message {
            self.announce((receiver, size), message);
        }
        self.schedule_timers(src, queue_pair, armed);
        Ok(Some((queue_pair, sport, nic)))
    }

    /// A flow that has a queue pair for itself sends its last packet now, if it is still under way. Returns whether it has one.
    pub fn stop_now(&mut self, host: u32, queue_pair: u32) -> bool {
        let traffic = &self.nodes.host(host).traffic;
        let has_own = !traffic.shareable.values().any(|&shared| shared == queue_pair);
        if has_own {
            self.stop_flow(host, queue_pair);
        }
        has_own
    }

    /// A flow sends its last packet, if it is still under way.
    pub(super) fn stop_flow(&mut self, node: u32, queue_pair: u32) {
        let host = self.nodes.host(node);
        let Some((nic, size)) = host.core.stop(queue_pair) else { return };
        if let Some(posted) = host.traffic.get(queue_pair).and_then(|sending| sending.messages.front_mut()) {
            posted.size = size;
        }
        let p = self.port_id(node, nic as u16);
        self.try_send(p);
    }

    fn wire_key(&mut self, src: u32, dst: u32, sport: u16, dport: u16) -> FlowKey {
        let dport = self.nodes.host(src).wire_port.unwrap_or(dport);
        FlowKey { src_address: host_address(src), dst_address: host_address(dst), sport, dport }
    }

    /// The first message of a queue pair has finished.
    pub(super) fn finish_first(&mut self, node: u32, queue_pair: u32) {
        let now = self.events.now();
        let is_steered = self.control(node, queue_pair).is_steered;
        let traffic = &mut self.nodes.host(node).traffic;
        let Some(sending) = traffic.get(queue_pair) else { return };
        let Some(posted) = sending.messages.pop_front() else { return };
        let request = sending.request(node, &posted);
        let is_last = sending.messages.is_empty() && sending.left == Some(0);
        let (sport, receiver) = (sending.sport, sending.receiver);
        let is_listed = matches!(posted.owner, Owner::Listed(_));
        let shares = traffic.shares_queue_pairs(!is_listed);
        if let Some(rtts) = &mut self.flows.rtts {
            rtts.remove(&request.id);
        }
        let completion = Completion { request, sport, duration: now - request.start, is_steered };
        if self.attackers.is_deceiving {
            self.deceive(completion, (queue_pair, posted.first_seq + request.size), receiver, is_listed);
        } else {
            self.complete(completion, is_listed);
        }
        if !shares {
            self.close_queue_pair(node, queue_pair);
        } else if is_last && self.nodes.host(node).core.let_go(queue_pair) {
            let job = match posted.owner {
                Owner::Job(sent) => self.work.jobs.job_at(sent.from).unwrap_or(LISTED),
                Owner::Listed(_) => LISTED,
            };
            self.nodes.host(node).traffic.shareable.remove(&PairKey::of(&request, job));
            self.close_queue_pair(node, queue_pair);
        }
        if let Owner::Job(message) = posted.owner {
            self.message_sent(&message);
        }
    }

    /// A flow has finished: one that was listed, or a message of a job.
    pub(super) fn complete(&mut self, flow: Completion, is_listed: bool) {
        self.flows.turns += 1;
        self.flows.completed.push(flow);
        self.tell_program();
        self.flows.finished += u64::from(is_listed);
    }

    fn close_queue_pair(&mut self, node: u32, queue_pair: u32) {
        let host = self.nodes.host(node);
        let Some(closed) = host.traffic.sending[(queue_pair & PLACES) as usize].take() else { return };
        if host.notices.is_enabled {
            host.notices.agent.disconnect(ipv6(host_address(closed.dst)), wire_queue_pair(closed.receiver));
        }
        host.traffic.by_flow_key.remove(closed.flow_key);
        for alarm in closed.timers.into_iter().filter_map(|mut timer| timer.take()) {
            self.all.alarms.call_off(alarm);
        }
        if !self.awaits_rest(closed.dst, closed.receiver) {
            self.part_from(closed.dst, closed.receiver);
        }
    }

    /// Nothing more comes to a receiving queue pair.
    pub(super) fn part_from(&mut self, node: u32, receiver: u32) {
        if self.events.order() == Order::Canonical {
            self.flows.closings.push((node, receiver));
            self.parts.tell_closing(node, receiver);
        } else {
            self.close_receiver(node, receiver);
        }
    }

    pub(super) fn close_receiver(&mut self, node: u32, receiver: u32) {
        let host = self.nodes.host(node);
        host.traffic.close_receiving(receiver);
        host.core.close_receiver(receiver);
    }

    /// A host's queue pairs go by new routes. Those that leave by the same port as before keep their turn there: a link may have
    /// failed anywhere. (In the 2019 simulator all begin anew.)
    pub(super) fn reroute_host(&mut self, node: u32) {
        let now = self.events.now();
        self.open_all(node);
        let table = self.fabric.table(node);
        let host = self.nodes.host(node);
        host.core.set_routes(table);
        let begin_anew = host.core.transport().faults.stale_round_robin;
        if begin_anew {
            host.core.clear_ports();
        }
        for queue_pair in host.traffic.queue_pairs() {
            let host = self.nodes.host(node);
            let Some(&mut Sending { dst, dport, .. }) = host.traffic.get(queue_pair) else { continue };
            let sport = host.core.source_port(queue_pair).unwrap_or_default();
            let key = self.wire_key(node, dst, sport, dport);
            let host = self.nodes.host(node);
            if !begin_anew && !host.core.leave_port(queue_pair, &key) {
                continue;
            }
            let Some(port) = host.core.reassign(queue_pair, &key) else { continue };
            let armed = host.core.resume_timer(now, queue_pair);
            self.schedule_timers(node, queue_pair, armed);
            let p = self.port_id(node, port);
            self.try_send(p);
        }
        self.reroute_other(node);
    }
}
