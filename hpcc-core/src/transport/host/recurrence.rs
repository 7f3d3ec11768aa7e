// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a host recurs. Its flows are known by numbers that the caller gives them.

use super::Host;
use crate::recurrence::Walk;
use crate::reference_faults::ReferenceFaults;
use crate::transport::flow::NicRules;
use crate::transport::message;
use crate::transport::posted::Message;
use crate::transport::queue_pair::QueuePair;
use crate::transport::slab::place_of;

impl Host {
    /// Walks over all that changes; `sending` numbers the flow of a place among sending queue pairs, `receiving` of a place among
    /// receiving ones.
    pub(crate) fn walk(
        &mut self,
        walk: &mut Walk,
        sending: impl Fn(usize) -> usize,
        receiving: impl Fn(usize) -> usize,
    ) {
        let Host {
            nics,
            senders,
            receivers,
            routes: _,
            flows,
            counters,
            rules,
            algorithm: _,
            own_controls: _,
            decoder: _,
            receive,
            seal,
        } = self;
        refuse_rules(rules, walk);
        walk.absent(receive);
        walk.absent(seal);
        flows.iter().for_each(|flow_count| walk.absent(flow_count));
        walk.part(&mut nics[..]);
        walk.steady(&counters.resent);
        walk.steady(&counters.timeouts);
        walk.count(counters);
        walk.plain(&senders.places());
        for (place, key, sender) in senders.placed_mut() {
            if walk.is_over() {
                return;
            }
            walk.flow(sending(place));
            walk.plain(&key);
            // Nothing changes one that is finished, but a flow that begins.
            walk.plain(&sender.qp.is_finished());
            if !sender.qp.is_finished() {
                walk.part(sender);
            }
        }
        walk.plain(&receivers.places());
        for (place, key, inbound) in receivers.placed_mut() {
            if walk.is_over() {
                return;
            }
            walk.flow(receiving(place));
            walk.plain(&key);
            walk.part(inbound);
        }
    }

    /// The flows that begin here: the place of each sending queue pair, its destination and the place of its receiving one there.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, u32, usize)> + '_ {
        self.senders.placed().map(|(place, sender)| (place, sender.spec.dst, place_of(sender.spec.receiver)))
    }

    /// After how many more periods, in each of which the flow of a place sends as many bytes as `moves` says, a packet would be the
    /// last of its message, or open one. `None` if such a packet is in flight or, where that has run, is of the last period.
    pub(crate) fn periods_left(&self, moves: impl Fn(usize) -> u64, has_run: bool) -> Option<u64> {
        let mut least = u64::MAX;
        for (place, sender) in self.senders.placed() {
            let moves = moves(place);
            if moves > 0 {
                least = least.min(periods_left(&sender.qp, &self.rules, moves, has_run)?);
            }
        }
        Some(least)
    }
}

fn periods_left(qp: &QueuePair, rules: &NicRules, moves: u64, has_run: bool) -> Option<u64> {
    let next = qp.snd_nxt();
    let Message { start, size, .. } = qp.message(next);
    // All that was in flight when the period began is of the same message.
    let acked = qp.acked().checked_sub(if has_run { moves } else { 0 })?;
    if acked < start || next >= start + size {
        return None;
    }
    // A frame that opens a message is longer than others.
    let opening = match rules.sizes.first_overhead {
        0 => u64::MAX,
        _ if message::opens(acked - start, rules.transport.mtu) => return None,
        _ => start + message::next_opening(acked - start, rules.transport.mtu),
    };
    if opening < next {
        return None;
    }
    opening.min(start + size - 1).checked_sub(next).map(|left| left / moves)
}

/// What hosts run by and is not known to recur.
fn refuse_rules(rules: &NicRules, walk: &mut Walk) {
    let NicRules { transport, sizes: _, layout: _, feedback: _, needs, answer: _ } = rules;
    if transport.faults != ReferenceFaults::NONE {
        walk.refuse("faults of the 2019 simulator");
    }
    // Below its offset a receiver acknowledges by bytes, and not by packets.
    if transport.ack_every == 0 && transport.ack_offset > 1 {
        walk.refuse("transport.ack_offset above 1");
    }
    if needs.sent || needs.program {
        walk.refuse("a congestion control that hears of each packet");
    }
}
