// SPDX-License-Identifier: MIT OR Apache-2.0
//! ConWeave at the receivers' leaf: packets are put in order.

use super::flows::Flows;
use super::{Conweave, Header, Role};
use crate::balance::{Errands, Fate, FlowKey, Passing, Tag};
use crate::ids::FrameId;
use crate::units::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A flow at its receiver's leaf.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    epoch: u32,
    /// Whether packets pass without waiting for earlier ones.
    is_ordered: bool,
    /// The newest packet of the epoch on its first path: when it came to the sender's leaf, and here.
    before: Option<(Nanos, Nanos)>,
}

/// Packets of a flow held back until earlier ones arrive.
#[derive(Debug)]
pub(super) struct Waiting {
    pub frames: Vec<FrameId>,
    pub until: Nanos,
    pub tail: Nanos,
}

/// State of the receivers' leaf.
#[derive(Debug)]
pub struct Receiver {
    config: Conweave,
    incoming: Flows<Incoming>,
    pub(super) waiting: BTreeMap<FlowKey, Waiting>,
    /// When `waiting` is to be checked next.
    wake: Option<Nanos>,
}

impl Receiver {
    pub fn new(config: &Conweave) -> Receiver {
        Receiver { config: config.clone(), incoming: Flows::default(), waiting: BTreeMap::new(), wake: None }
    }

    /// A packet has come to the leaf of its receiver.
    pub fn receive(&mut self, passing: &Passing<'_>, header: &Header, errands: &mut Errands) -> Fate {
        let &Passing { now, key, frame, is_marked, .. } = passing;
        let known = self.incoming.get(&key).map(|(_, flow)| flow);
        if known.is_some_and(|flow| flow.epoch > header.epoch) {
            return Fate::GoesOn;
        }
        let answer = |role| Tag::Conweave(Header { role, ..*header });
        if is_marked {
            errands.answers.push(answer(Role::Notify));
        }
        let mut flow = known.filter(|flow| flow.epoch == header.epoch).unwrap_or_else(|| {
            self.release(&key, errands);
            Incoming { epoch: header.epoch, is_ordered: false, before: None }
        });
        let mut fate = Fate::GoesOn;
        if header.role == Role::Rerouted {
            if !flow.is_ordered && passing.may_wait {
                fate = self.wait(passing, header, &mut flow, errands);
            }
        } else if header.role == Role::Tail {
            errands.answers.push(answer(Role::TailReply));
            flow.is_ordered = true;
            if passing.may_wait && self.waiting.contains_key(&key) {
                errands.released.push(frame);
                fate = Fate::Waits;
            }
            self.release(&key, errands);
        } else {
            if header.role == Role::Init {
                errands.answers.push(answer(Role::InitReply));
            }
            flow.before = Some((header.sent, now));
            if let Some(waiting) = self.waiting.get_mut(&key) {
                waiting.until = self.config.due(waiting.tail, header.sent, now);
                let until = waiting.until;
                self.look_at(until, errands);
            }
        }
        self.incoming.put(key, now, flow, self.config.conweave_expiry);
        fate
    }

    /// A packet has overtaken others of its epoch.
    fn wait(&mut self, passing: &Passing<'_>, header: &Header, flow: &mut Incoming, errands: &mut Errands) -> Fate {
        let &Passing { now, key, frame, .. } = passing;
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.frames.push(frame);
            return Fate::Waits;
        }
        if self.config.conweave_queues.is_some_and(|most| self.waiting.len() >= most as usize) {
            flow.is_ordered = true;
            return Fate::GoesOn;
        }
        let config = &self.config;
        let until = match flow.before {
            Some((sent, came)) => config.due(header.tail, sent, came),
            None => now + config.conweave_default_wait + config.conweave_flush_extra,
        };
        self.waiting.insert(key, Waiting { frames: Vec::from([frame]), until, tail: header.tail });
        self.look_at(until, errands);
        Fate::Waits
    }

    /// Releases the held packets of a flow.
    fn release(&mut self, key: &FlowKey, errands: &mut Errands) {
        if let Some(waiting) = self.waiting.remove(key) {
            errands.released.extend(waiting.frames);
        }
    }

    /// A time has come at which to look at what waits.
    pub fn on_timeout(&mut self, now: Nanos, errands: &mut Errands) {
        if self.wake.is_none_or(|wake| now < wake) {
            return;
        }
        self.wake = None;
        let due = self.waiting.iter().filter(|(_, waiting)| waiting.until <= now);
        for key in due.map(|(&key, _)| key).collect::<Vec<_>>() {
            self.release(&key, errands);
            if let Some(flow) = self.incoming.get_mut(&key) {
                flow.is_ordered = true;
            }
        }
        if let Some(first) = self.waiting.values().map(|waiting| waiting.until).min() {
            self.look_at(first, errands);
        }
    }

    fn look_at(&mut self, at: Nanos, errands: &mut Errands) {
        if self.wake.is_none_or(|wake| at < wake) {
            self.wake = Some(at);
            errands.wake = Some(at);
        }
    }
}

impl Conweave {
    /// When to wait no longer for a packet that came to the sender's leaf at `tail`: one that came there at `sent` came here at `came`.
    fn due(&self, tail: Nanos, sent: Nanos, came: Nanos) -> Nanos {
        came + Nanos(tail.0.saturating_sub(sent.0)) + self.conweave_flush_extra
    }
}
