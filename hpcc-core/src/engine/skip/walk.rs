// SPDX-License-Identifier: MIT OR Apache-2.0
//! All of a network that changes, for walks over it.

use super::numbers::Numbers;
use super::order::subject;
use crate::engine::frame::{Detail, Frame};
use crate::engine::frames::Frames;
use crate::engine::observer::Totals;
use crate::engine::state::{Arenas, Engine};
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::recurrence::{Plain, Walk};
use crate::units::Nanos;
use alloc::vec::Vec;

impl Engine {
    /// Walks over all that changes, what tells most first: most cuts differ early.
    pub(super) fn walk(&mut self, walk: &mut Walk) {
        let numbers = core::mem::take(&mut self.skip.numbers);
        self.walk_rest(walk);
        self.walk_nodes(&numbers, walk);
        if !walk.is_over() {
            self.walk_links(&numbers, walk);
        }
        if !walk.is_over() {
            self.walk_alarms(walk);
        }
        self.skip.numbers = numbers;
    }

    /// What is of no node and no link.
    fn walk_rest(&mut self, walk: &mut Walk) {
        let Engine {
            // How time goes on follows from what is to happen, which is looked at by itself.
            events,
            groups: _,
            windows: _,
            // Whoever runs a part, serves a program or attacks is refused before.
            parts: _,
            attackers: _,
            program: _,
            checks_arrivals,
            // Nodes, links and alarms have walks of their own; the agenda bounds leaps.
            all: _,
            nodes: _,
            first_port: _,
            fabric: _,
            version,
            most_room: _,
            chance,
            watchdogs,
            quanta,
            flows,
            work,
            // Who watches cannot change anything, and samples are told by a log.
            watchers: _,
            spares,
            announces_links: _,
            skip: _,
            pause,
            fault,
            events_run,
            totals,
        } = self;
        if !events.are_over() {
            walk.differ();
        }
        walk.absent(pause);
        walk.absent(fault);
        walk.absent(checks_arrivals);
        walk.absent(spares);
        walk.plain(version);
        walk.count(events_run);
        walk_totals(totals, walk);
        walk.part(flows);
        walk.part(work);
        walk.part(watchdogs);
        walk.part(quanta);
        walk.part(chance);
    }

    fn walk_nodes(&mut self, numbers: &Numbers, walk: &mut Walk) {
        for node in 0..self.first_port.len() as u32 {
            if walk.is_over() {
                return;
            }
            if self.nodes.seat(node).is_switch {
                let switch = self.nodes.switch(node);
                if !switch.core.keeps() {
                    walk.refuse("a load balancer that chooses for each packet");
                }
                walk.part(switch);
                continue;
            }
            let host = self.nodes.host(node);
            walk.part(host);
            if !walk.is_over() {
                let receiving = |place| numbers.receiving(node, place);
                host.core.walk(walk, |place| numbers.sending(node, place), receiving);
            }
        }
    }

    /// Ports, and the frames that wait there or are on their way.
    fn walk_links(&mut self, numbers: &Numbers, walk: &mut Walk) {
        let Arenas { ports, flights, frames, alarms: _, agenda: _ } = &mut self.all;
        ports.iter_mut().for_each(|port| walk.part(port));
        for flight in flights.iter_mut() {
            if walk.is_over() {
                return;
            }
            let mut on_their_way = Vec::new();
            for frame in flight.each() {
                walk.moves(&mut frame.at);
                on_their_way.push(frame.frame);
            }
            walk.plain(&on_their_way.len());
            walk_frames(&on_their_way, frames, numbers, walk);
        }
        for p in 0..ports.len() as u32 {
            let port = &ports[PortId(p)];
            if port.waiting == 0 || walk.is_over() {
                continue;
            }
            let mut waiting = Vec::new();
            for (queue, frame) in port.waiting_frames() {
                walk.plain(&queue);
                waiting.push(frame);
            }
            walk.plain(&waiting.len());
            walk_frames(&waiting, frames, numbers, walk);
        }
    }

    /// Alarms: those of queue pairs may go off once in a period, others end it. Where none is known to, all end it.
    fn walk_alarms(&mut self, walk: &mut Walk) {
        if walk.knows_period() && !self.skip.order.has_moving_alarm() {
            self.groups.alarms().for_each(|(at, _)| walk.end_at(Nanos(at)));
            return walk.leave_rest();
        }
        let mut all = self.groups.take_alarms();
        all.sort_unstable_by_key(|&(_, at, _, id)| self.sorted((at, id)));
        walk.plain(&all.len());
        for (_, at, _, id) in &mut all {
            let alarm = self.all.alarms.get(*id);
            let (subject, recurs) = subject(alarm.duty);
            walk.plain(&alarm.node);
            walk.plain(&alarm.is_off);
            walk.plain(&subject);
            if recurs || alarm.is_off { walk.until(at) } else { walk.stays(at) }
        }
        self.groups.put_alarms(all);
    }
}

fn walk_totals(totals: &mut Totals, walk: &mut Walk) {
    let Totals {
        frames,
        drops,
        marks,
        trims,
        trims_at_last_hop,
        resumes_by_own_port,
        headers_lost,
        marks_lost,
        pauses_sent,
        source_pauses,
        no_room,
        failed_link_drops,
        losses,
        failed_link_losses,
        link_nacks,
        link_resends,
        credit_waits,
        credit_wait_ns,
        telemetry_bytes,
    } = totals;
    walk.count(frames);
    walk.count(telemetry_bytes);
    let drops = [drops, trims, trims_at_last_hop, headers_lost, marks_lost, failed_link_drops];
    drops.into_iter().for_each(|count| walk.steady(count));
    [marks, losses, failed_link_losses, link_nacks, link_resends].into_iter().for_each(|count| walk.steady(count));
    [credit_waits, credit_wait_ns].into_iter().for_each(|count| walk.steady(count));
    [resumes_by_own_port, pauses_sent, source_pauses].into_iter().for_each(|count| walk.steady(count));
    walk.steady(no_room);
}

fn walk_frames(ids: &[FrameId], frames: &mut Frames, numbers: &Numbers, walk: &mut Walk) {
    for &frame in ids {
        if walk.is_over() {
            return;
        }
        walk_frame(frames.get_mut(frame), numbers, walk);
    }
}

fn walk_frame(frame: &mut Frame, numbers: &Numbers, walk: &mut Walk) {
    let Frame {
        at,
        ports,
        seq,
        size,
        payload,
        src,
        dst,
        queue_pair,
        reply_queue_pair,
        ingress,
        telemetry_len,
        sport,
        dport,
        kind,
        priority,
        hop_limit,
        passed,
        congestion_marked,
        congestion_echo,
        ack_requested,
        detail,
        flow_bytes,
        earlier_packets,
        earlier_writes,
    } = frame;
    let sender = match kind {
        PacketKind::Data => (*src, *reply_queue_pair),
        PacketKind::Ack | PacketKind::Cnp => (*dst, *queue_pair),
        PacketKind::Nack
        | PacketKind::Trimmed
        | PacketKind::Probe
        | PacketKind::Feedback
        | PacketKind::FastCnp
        | PacketKind::Icmpv6
        | PacketKind::Pfc => return walk.refuse("frames that are neither data nor acknowledgements"),
    };
    let Some(flow) = numbers.of_frame(sender.0, sender.1) else {
        return walk.refuse("frames of no queue pair");
    };
    if *telemetry_len > 0 {
        return walk.refuse("telemetry");
    }
    walk.flow(flow);
    walk.moves(at);
    if *kind == PacketKind::Cnp {
        walk.plain(seq);
    } else {
        walk.sequence(seq);
    }
    let bits = [*congestion_marked, *congestion_echo, *ack_requested].map(u8::from);
    // Those tell the packet's number on the wire, which nobody looks at.
    walk.derived(earlier_packets);
    walk.derived(earlier_writes);
    walk.plain(&[*size, *payload, *src, *dst, *queue_pair, *reply_queue_pair]);
    walk.plain(&[*ingress, *sport, *dport]);
    walk.plain(&u64::from_le_bytes(*ports));
    walk.plain(&u64::from_le_bytes([*kind as u8, *priority, *hop_limit, *passed, bits[0], bits[1], bits[2], 0]));
    walk.plain(flow_bytes);
    walk.plain(detail);
}

impl Plain for Detail {
    fn words(&self, show: &mut impl FnMut(u64)) {
        show(match self {
            Detail::None => 0,
            Detail::Pause => 1,
            Detail::Trimmed { at_last_hop } => 2 + u64::from(*at_last_hop),
            Detail::Bitmap => 4,
            Detail::Forged => 5,
            Detail::BySwitch => 6,
            Detail::Credits => 7,
        });
    }
}
