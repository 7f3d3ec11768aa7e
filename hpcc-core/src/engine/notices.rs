// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notifications by switches (Fast CNP), and telemetry that leaves a domain.

use super::frame::Frame;
use super::nodes::{HostNode, SwitchNode};
use super::observer::Event;
use super::state::Engine;
use crate::address::{host_address, ipv6};
use crate::balance::Tag;
use crate::cc::Origin;
use crate::fast_cnp::option::MAX_HEADER;
use crate::fast_cnp::{self, Crossing, Decision, Flow, LeavingData, Received, Refusal};
use crate::frame::{Encapsulation, PacketKind};
use crate::ids::{FrameId, PortId};
use crate::roce::Bth;
use crate::simulated_frame::{ETHERNET, SimulatedFrame, wire_queue_pair};
use crate::switch::Route;
use crate::transport::AckResult;
use alloc::vec::Vec;

/// Bytes of an Ethernet header and of the check sequence, and the least that a frame with them has.
const ETHERNET_OVERHEAD: u32 = 14 + 4;
const ETHERNET_MINIMUM: u32 = 64;

impl Engine {
    /// A frame that leaves a switch with a border or an agent is stamped. Returns whether to mark it.
    #[cold]
    pub(super) fn depart_with_extras(&mut self, p: PortId, f: FrameId, marked: bool) -> bool {
        let now = self.events.now();
        let port = &self.all.ports[p];
        let (node, egress) = (port.node, port.number);
        if self.nodes.switch(node).extras.as_ref().is_some_and(|extras| extras.tags) {
            self.tell_balancer(node, egress, f, |balancer, passing| balancer.on_departure(passing));
        }
        let SwitchNode { extras: Some(extras), .. } = self.nodes.switch(node) else { return marked };
        let port = &self.all.ports[p];
        let (frame, section) = self.all.frames.with_section(f);
        let telemetry = &mut section[..usize::from(frame.telemetry_len)];
        if let Some(border) = extras.border.as_mut().filter(|_| frame.kind.has_telemetry()) {
            let is_answer = !frame.collects();
            border.hide(egress, is_answer, telemetry);
        }
        let Some(notifier) = &mut extras.agent else { return marked };
        let (mut mark, size) = (marked, frame.size);
        let mut sends = false;
        if frame.kind == PacketKind::Data && notifier.is_enabled {
            let dest_qp = wire_queue_pair(frame.queue_pair);
            let [source, destination] = [frame.src, frame.dst].map(|host| ipv6(host_address(host)));
            let queue = port.queued_of(&self.all.frames, self.all.frames.get(f).priority);
            let data = LeavingData { now, flow: Flow { source, destination, dest_qp }, queue, marked };
            let verdict = notifier.agent.on_data(egress.into(), &data, self.chance.rngs.leaving(p));
            mark = marked && verdict.may_mark;
            match verdict.decision {
                Decision::Send => sends = true,
                Decision::Suppressed(why) => self.tell(node, egress, Event::Withheld(why), Some(f)),
            }
        }
        if sends {
            self.notify_sender(node, f);
        }
        if let SwitchNode { extras: Some(extras), .. } = self.nodes.switch(node)
            && let Some(notifier) = &mut extras.agent
        {
            notifier.agent.on_sent(egress.into(), now, size);
        }
        mark
    }

    /// A switch tells the sender of a data frame that it has met congestion.
    fn notify_sender(&mut self, node: u32, data: FrameId) {
        let f = self.all.frames.take();
        let of = *self.all.frames.get(data);
        *self.all.frames.get_mut(f) = Frame {
            kind: PacketKind::FastCnp,
            src: node,
            dst: of.src,
            sport: of.sport,
            dport: of.dport,
            queue_pair: of.queue_pair,
            ..Frame::default()
        };
        let switch = self.nodes.switch(node);
        let mut header = [0; MAX_HEADER];
        let Some(notifier) = switch.extras.as_ref().and_then(|extras| extras.agent.as_ref()) else { return };
        let section = self.all.frames.section(data);
        let options = notifier.agent.options(ipv6(host_address(of.dst)), notifier.encapsulation, section, &mut header);
        let len = self.all.frames.put(f, options);
        self.all.frames.get_mut(f).size = switch.sizes.cnp(len as u32);
        self.tell(node, 0, Event::Notified, Some(f));
        if !self.attackers.is_empty() {
            self.show_notification(node, f);
        }
        self.send_from_switch(node, f, Tag::Nothing);
    }

    /// Sends a frame that begins at a switch.
    pub(super) fn send_from_switch(&mut self, node: u32, f: FrameId, tag: Tag) {
        self.touch(node);
        self.all.frames.set_tag(f, tag);
        let frame = self.all.frames.get(f);
        // The hop limit of a frame that begins here counts from the next switch.
        let priority = frame.priority;
        let Route::To { egress, .. } = self.route(node, f) else {
            return self.drop_without_route(node, f);
        };
        if !self.passes(node, egress, f, Crossing::Outbound) {
            return self.all.frames.release(f);
        }
        let p = self.port_id(node, egress);
        self.enqueue(p, f, priority);
        self.try_send(p);
    }

    /// Whether a frame may cross a port, which may be at the edge of the domain. The border reads bytes, as on the wire: it
    /// recognises a notification by its option.
    fn passes(&mut self, node: u32, port: u16, f: FrameId, crossing: Crossing) -> bool {
        let SwitchNode { extras: Some(extras), .. } = self.nodes.switch(node) else { return true };
        let Some(notifier) = &mut extras.agent else { return true };
        if !notifier.outside.get(usize::from(port)).is_some_and(|&outside| outside) {
            return true;
        }
        let bytes = bytes_of(self.all.frames.get(f), self.all.frames.section(f), notifier.encapsulation);
        let passes = notifier.border.passes(bytes.get(ETHERNET..).unwrap_or_default(), crossing);
        if !passes {
            self.tell(node, port, Event::Stopped(crossing), Some(f));
        }
        passes
    }

    /// A frame comes in to a switch with an agent. Returns whether it goes on.
    #[cold]
    pub(super) fn receive_with_extras(&mut self, node: u32, f: FrameId) -> bool {
        let now = self.events.now();
        let tags = self.nodes.switch(node).extras.as_ref().is_some_and(|extras| extras.tags);
        if tags && !self.arrive_at_balancer(node, f) {
            return false;
        }
        let frame = self.all.frames.get(f);
        let (dst, ingress, kind) = (frame.dst, frame.ingress, frame.kind);
        if matches!(kind, PacketKind::FastCnp | PacketKind::Icmpv6) {
            let leaves = match self.route(node, f) {
                Route::To { egress, .. } => Some(egress),
                Route::None | Route::Expired => None,
            };
            let passes = self.passes(node, ingress, f, Crossing::Inbound)
                && leaves.is_none_or(|egress| self.passes(node, egress, f, Crossing::Outbound));
            if !passes {
                self.give_back(node, f);
                self.all.frames.release(f);
                return false;
            }
        }
        if dst != node {
            return true;
        }
        if let SwitchNode { extras: Some(extras), learnt, .. } = self.nodes.switch(node)
            && let Some(notifier) = extras.agent.as_mut().filter(|_| kind == PacketKind::Icmpv6)
        {
            let told = notifier.agent.learn(now, self.all.frames.section(f)).is_some();
            *learnt += u64::from(told);
            if told {
                let host = self.all.frames.get(f).src;
                self.tell(node, ingress, Event::Learnt(host), None);
            }
        }
        self.give_back(node, f);
        self.all.frames.release(f);
        false
    }

    /// A notification has come to a host. Links of the simulation lose frames and do not damage them, so that the ICRC is right.
    pub(super) fn on_fast_cnp(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let frame = self.all.frames.get(f);
        let p = self.port_id(node, frame.ingress);
        let HostNode { core, notices, .. } = self.nodes.host(node);
        let received = Received {
            now,
            source: ipv6(host_address(frame.src)),
            destination_options: self.all.frames.section(f),
            bth: Bth::cnp(wire_queue_pair(frame.queue_pair)),
            icrc_is_right: true,
        };
        let accepted = match notices.agent.on_notification(&received) {
            Ok(accepted) => accepted,
            Err(why) => {
                self.tell(node, 0, Event::Refused(why), Some(f));
                if why == Refusal::Disabled {
                    self.report_unknown(node, f);
                }
                return self.all.frames.release(f);
            }
        };
        let (queue_pair, origin): (u32, Origin) = (accepted.queue_pair, accepted.origin);
        let result = core.on_notification(now, queue_pair, origin, accepted.trace.as_ref());
        let port = core.source_port(queue_pair).unwrap_or_default();
        let rng = self.chance.rngs.arriving(p);
        let moved = notices.agent.migration(now, queue_pair, origin, port, || rng.marks.uniform());
        if let Some(sport) = moved {
            core.set_source_port(queue_pair, sport);
        }
        if let (Err(why), None) = (result, moved) {
            notices.agent.had_no_effect(&accepted, why);
        }
        self.tell(node, 0, Event::Accepted(queue_pair), Some(f));
        if let Some(sport) = moved {
            self.tell(node, 0, Event::Migrated(queue_pair, sport), None);
        }
        self.all.frames.release(f);
        let result = result.ok().map(|notified| AckResult { nic: notified.nic, finished: 0, armed: notified.armed });
        self.take_result(node, queue_pair, result);
    }

    /// A host answers a notification that it does not understand.
    fn report_unknown(&mut self, node: u32, f: FrameId) {
        let now = self.events.now();
        let notices = &mut self.nodes.host(node).notices;
        if notices.is_enabled || !notices.has_bytes {
            return;
        }
        let bytes = bytes_of(self.all.frames.get(f), self.all.frames.section(f), notices.encapsulation);
        let Some(report) = notices.agent.report(now, bytes.get(ETHERNET..).unwrap_or_default()) else { return };
        if report.len() > self.all.frames.room() {
            return;
        }
        let answer = self.make_answer(node, f, PacketKind::Icmpv6, 0);
        self.all.frames.put(answer, &report);
        self.all.frames.get_mut(answer).size = ETHERNET_MINIMUM.max(ETHERNET_OVERHEAD + report.len() as u32);
        let port = self.port_back(node, f);
        self.send_back(node, answer, port);
    }

    /// Makes a receiver's notification one by Fast CNP, if that is how it notifies.
    pub(super) fn fill_notice(&mut self, node: u32, data: FrameId, cnp: FrameId) -> bool {
        let HostNode { core, notices, .. } = self.nodes.host(node);
        if !notices.notifies {
            return false;
        }
        let of = *self.all.frames.get(data);
        let mut header = [0; MAX_HEADER];
        let section = self.all.frames.section(data);
        let options =
            fast_cnp::packet::options(notices.address, notices.encapsulation, section, &notices.types, &mut header);
        let len = self.all.frames.put(cnp, options);
        let frame = self.all.frames.get_mut(cnp);
        (frame.kind, frame.sport, frame.dport) = (PacketKind::FastCnp, of.sport, of.dport);
        (frame.queue_pair, frame.reply_queue_pair) = (of.queue_pair, 0);
        frame.size = core.notification_bytes(len as u32);
        true
    }
}

/// A frame over IPv6 as bytes.
fn bytes_of(frame: &Frame, section: &[u8], encapsulation: Option<Encapsulation>) -> Vec<u8> {
    let frame = SimulatedFrame { ipv6: true, ..frame.on_wire() };
    frame.bytes(encapsulation, section).unwrap_or_default()
}
