// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks on what steers senders: on notifications by switches, and on the telemetry that comes back (the
//! security considerations of draft-xiao-rtgwg-rocev2-fast-cnp-01 and draft-miao-rtgwg-hpccplus-00); and on what RoCEv2 trusts
//! anyway, acknowledgements, congestion notification packets and pauses.
//!
//! An attacker is a node. It sends frames of its own, which the network treats as any others, or it changes what passes
//! it. It knows the flows of its victims - addresses, ports, queue pairs - and no key.
//!
//! | module | does |
//! | --- | --- |
//! | [`settings`] | which attacks there are, and what each needs |
//! | [`forge`] | frames that an attacker makes up |
//! | [`alter`] | telemetry that it changes |
//!
//! What stands against them is elsewhere: [`Acceptor`](crate::fast_cnp::Acceptor), [`Border`](crate::fast_cnp::Border),
//! [`Capabilities`](crate::fast_cnp::Capabilities), [`seal`](crate::telemetry::seal),
//! [`FeedbackGuard`](crate::telemetry::FeedbackGuard).

pub mod alter;
pub mod forge;
pub mod settings;
#[cfg(test)]
mod tests;

pub use forge::{Forged, KnownFlow};
pub use settings::{Acknowledged, Aim, AttackKind, AttackSettings, Claim};

use crate::fast_cnp::OptionTypes;
use crate::frame::PacketKind;
use crate::node::NodeSettings;
use crate::settings::Conflict;
use crate::telemetry::seal::TAG_LEN;
use crate::topology::{Network, NodeSet};
use crate::transport::NOTIFICATION_PRIORITY;
use crate::transport::feedback::FeedbackContent;
use crate::units::{BitRate, Nanos, Rounding};
use alloc::vec::Vec;
use alter::Alteration;
use forge::Forger;

/// The queue pairs of no flow: the simulation's are small numbers.
const NO_QUEUE_PAIR: u32 = 0x80_0000;

/// A frame that passes the attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// What it is for.
    pub kind: PacketKind,
    /// Node whose address is its source.
    pub src: u32,
    /// Node that it is for.
    pub dst: u32,
    /// UDP source port.
    pub sport: u16,
    /// Queue pair at its destination.
    pub queue_pair: u32,
    /// Number of the traffic that its flow belongs to, where that is known.
    pub traffic: Option<u32>,
    /// Whether its receiver answers a sender by it.
    pub is_answer: bool,
    /// Whether a switch has marked it, if it is a packet of data.
    pub is_marked: bool,
    /// Bytes of telemetry or destination options at its front.
    pub len: usize,
}

/// What becomes of a frame that passes an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    GoesOn,
    /// It goes on after so long.
    Waits(Nanos),
    /// It does not.
    Ends,
}

/// An attack in progress.
#[derive(Clone, Debug)]
pub struct Attack {
    settings: AttackSettings,
    victims: NodeSet,
    victim_list: Vec<u32>,
    /// Numbers of the traffic whose flows alone are attacked.
    traffic: Option<Vec<u32>>,
    switches: Vec<u32>,
    at_host: bool,
    /// How many links the attacker has.
    links: u64,
    forger: Forger,
    alteration: Alteration,
    answer: FeedbackContent,
    /// Bytes of a seal, which cannot be made without the key.
    seal_len: usize,
    /// Bytes of the seal of the whole answer, behind it.
    answer_seal_len: usize,
    /// The last frame that the attacker saw, to send it again.
    seen: Option<Forged>,
    sent: u64,
    altered: u64,
    /// Answers that passed and might have been dropped.
    answers: u64,
}

impl Attack {
    /// The attack in a network of nodes with these settings, all of them resolved and checked. `traffic` has the
    /// numbers of the groups that [`AttackSettings::traffic`] names.
    ///
    /// # Errors
    /// As [`AttackSettings::check`].
    pub fn new(
        settings: &AttackSettings,
        network: &Network,
        nodes: &NodeSettings,
        traffic: Option<Vec<u32>>,
    ) -> Result<Self, Conflict> {
        settings.check(network, nodes)?;
        let victims = settings.victims(network)?;
        let feedback = nodes.feedback.config();
        let layout = nodes.layout();
        let types: OptionTypes = nodes.fast_cnp.types();
        let claim = if settings.kind == AttackKind::ForgedFastCnp { Claim::Busy } else { settings.claim };
        Ok(Attack {
            settings: settings.clone(),
            victim_list: victims.iter().collect(),
            victims,
            traffic,
            switches: network.switches().filter(|&other| other != settings.from).collect(),
            at_host: network.is_host(settings.from),
            links: network.links.iter().filter(|link| link.a == settings.from || link.b == settings.from).count()
                as u64,
            forger: Forger {
                types,
                encapsulation: layout.encapsulation(),
                sizes: nodes.wire.profile.sizes(),
                ack_priority: nodes.transport().ack_priority,
                cnp_priority: nodes.transport().notification_priority(),
            },
            alteration: Alteration::new(claim, layout),
            answer: feedback.answer_to(&nodes.needs()),
            seal_len: if feedback.seal.is_some() { TAG_LEN } else { 0 },
            answer_seal_len: if nodes.transport().seal.is_some() { TAG_LEN } else { 0 },
            seen: None,
            sent: 0,
            altered: 0,
            answers: 0,
        })
    }

    /// The settings of the attack.
    pub fn settings(&self) -> &AttackSettings {
        &self.settings
    }

    /// Whether frames that pass the attacker must be shown to [`Attack::on_frame`].
    pub fn watches(&self) -> bool {
        self.copies() || self.settings.kind == AttackKind::ReplayedFastCnp || !self.settings.kind.sends()
    }

    /// Whether it forges notifications with the records of packets that pass.
    fn copies(&self) -> bool {
        self.settings.kind == AttackKind::ForgedFastCnp && self.settings.records
    }

    /// Whether a host's flows of this traffic are attacked.
    pub fn is_victim(&self, host: u32, traffic: u32) -> bool {
        self.victims.contains(host) && self.is_attacked(Some(traffic))
    }

    fn is_attacked(&self, traffic: Option<u32>) -> bool {
        let Some(attacked) = &self.traffic else { return true };
        traffic.is_some_and(|traffic| attacked.contains(&traffic))
    }

    /// Frames sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Frames changed, held back or dropped.
    pub fn altered(&self) -> u64 {
        self.altered
    }

    /// The time between two frames of this size.
    pub fn interval(&self, size: u32) -> Nanos {
        let BitRate(rate) = self.settings.rate;
        BitRate(rate.max(1)).tx_time(size, Rounding::Nearest).max(Nanos(1))
    }

    /// Whether [`Attack::forge`] needs the flows in progress, which take long to list.
    pub fn needs_flows(&self) -> bool {
        self.settings.kind.names_flows() && self.settings.kind != AttackKind::ReplayedFastCnp && !self.copies()
    }

    /// The next frame that the attacker sends; `flows` are the victims' flows in progress. `None` while there is
    /// nothing to attack.
    pub fn forge(&mut self, flows: &[KnownFlow]) -> Option<Forged> {
        let from = self.settings.from;
        let turn = self.sent;
        let source = self.settings.spoofed_source.unwrap_or(from);
        let forged = match self.settings.kind {
            AttackKind::ForgedFastCnp if self.copies() => self.seen.clone(),
            AttackKind::ForgedFastCnp => pick(flows, turn).map(|flow| self.forger.notification(source, flow, &[])),
            AttackKind::ReplayedFastCnp => self.seen.clone(),
            AttackKind::FloodedFastCnp => pick(&self.victim_list, turn).map(|&victim| {
                let queue_pair = NO_QUEUE_PAIR | turn as u32 & (NO_QUEUE_PAIR - 1);
                let none = KnownFlow { src: victim, dst: from, sport: 0, queue_pair, sender: 0, end: 0, sent: 0 };
                self.forger.notification(source, &none, &[])
            }),
            AttackKind::SpoofedIcmpv6 => pick(flows, turn).and_then(|flow| {
                let switch = pick(&self.switches, turn / flows.len() as u64)?;
                self.forger.complaint(*switch, flow)
            }),
            AttackKind::ForgedAck => pick(flows, turn).map(|flow| {
                let seq = match self.settings.acknowledged {
                    Acknowledged::All => flow.end,
                    Acknowledged::Sent => flow.sent,
                };
                self.forger.answer(PacketKind::Ack, flow, seq)
            }),
            // An old byte is enough: whoever is to send it again goes back to the first that is not acknowledged.
            AttackKind::ForgedNack => pick(flows, turn).map(|flow| self.forger.answer(PacketKind::Nack, flow, 0)),
            AttackKind::ForgedCnp => pick(flows, turn).map(|flow| self.forger.answer(PacketKind::Cnp, flow, 0)),
            AttackKind::ForgedPfc => Some(self.forger.pause(from, self.settings.priority)),
            AttackKind::TamperedFeedback
            | AttackKind::StrippedFeedback
            | AttackKind::LyingFeedback
            | AttackKind::DroppedFeedback
            | AttackKind::DelayedFeedback
            | AttackKind::BleachedEcn => None,
        };
        let copies = if self.settings.kind == AttackKind::ForgedPfc { self.links } else { 1 };
        self.sent += if forged.is_some() { copies } else { 0 };
        forged
    }

    /// The priority that neighbours resume as the attack ends: a pause of this simulator lasts until then; a real one
    /// would have to be renewed.
    pub fn resume(&self) -> Option<u8> {
        (self.settings.kind == AttackKind::ForgedPfc).then_some(self.settings.priority)
    }

    /// A frame passes the attacker, which may change it; `bytes` begin with its telemetry or destination options.
    pub fn on_frame(&mut self, now: Nanos, frame: &mut Passing, bytes: &mut [u8]) -> Fate {
        if !self.is_attacked(frame.traffic) {
            return Fate::GoesOn;
        }
        let from_victim = self.victims.contains(frame.src);
        let to_victim = self.victims.contains(frame.dst);
        match self.settings.kind {
            AttackKind::ForgedFastCnp if from_victim && brings_telemetry(frame.kind) => {
                self.remember_packet(frame, &bytes[..frame.len.min(bytes.len())]);
            }
            AttackKind::ReplayedFastCnp if to_victim && frame.kind == PacketKind::FastCnp => {
                self.remember_notification(frame, &bytes[..frame.len.min(bytes.len())]);
            }
            AttackKind::TamperedFeedback | AttackKind::StrippedFeedback | AttackKind::LyingFeedback => {
                let brings = from_victim && brings_telemetry(frame.kind);
                let returns = to_victim && returns_telemetry(frame.kind);
                if self.is_on(now) && if self.at_host { brings } else { returns } {
                    frame.len = self.change(frame, bytes, frame.len);
                }
            }
            AttackKind::DroppedFeedback if self.is_on(now) && to_victim && frame.is_answer => {
                if self.drops_next() {
                    self.altered += 1;
                    return Fate::Ends;
                }
            }
            AttackKind::DelayedFeedback if self.is_on(now) && to_victim && frame.is_answer => {
                self.altered += 1;
                return Fate::Waits(self.settings.delay);
            }
            AttackKind::BleachedEcn if self.is_on(now) && from_victim && frame.is_marked => {
                self.altered += 1;
                frame.is_marked = false;
            }
            AttackKind::ForgedFastCnp
            | AttackKind::ReplayedFastCnp
            | AttackKind::FloodedFastCnp
            | AttackKind::SpoofedIcmpv6
            | AttackKind::DroppedFeedback
            | AttackKind::DelayedFeedback
            | AttackKind::BleachedEcn
            | AttackKind::ForgedAck
            | AttackKind::ForgedNack
            | AttackKind::ForgedCnp
            | AttackKind::ForgedPfc => {}
        }
        Fate::GoesOn
    }

    /// Whether the next answer is one of the share that is dropped.
    fn drops_next(&mut self) -> bool {
        let dropped = |answers: u64| libm::floor(answers as f64 * self.settings.share) as u64;
        let before = dropped(self.answers);
        self.answers += 1;
        dropped(self.answers) > before
    }

    fn is_on(&self, now: Nanos) -> bool {
        now >= self.settings.start && self.settings.stop.is_none_or(|stop| now < stop)
    }

    /// Changes the telemetry of a frame. Returns how many bytes of it there are then.
    fn change(&mut self, frame: &Passing, bytes: &mut [u8], len: usize) -> usize {
        if len == 0 || len > bytes.len() {
            return len;
        }
        // At the receiver itself the answer has no seal yet.
        let whole = if self.at_host { 0 } else { self.answer_seal_len.min(len) };
        if self.settings.kind == AttackKind::StrippedFeedback {
            self.altered += 1;
            // The seal of the transport is not of telemetry: the acknowledgement counts.
            bytes.copy_within(len - whole..len, 0);
            return whole;
        }
        let (answer, seal) =
            if self.at_host { (FeedbackContent::Records, 0) } else { (self.answer, self.seal_len + whole) };
        if let Some(section) = bytes.get_mut(..len.saturating_sub(seal)) {
            let changed = self.alteration.apply((frame.dst, frame.queue_pair), answer, section);
            self.altered += u64::from(changed);
        }
        len
    }

    /// The notification that a switch would send about a victim's packet if all links before it had long queues.
    fn remember_packet(&mut self, frame: &Passing, section: &[u8]) {
        let mut section = section.to_vec();
        let &Passing { src, dst, sport, queue_pair, .. } = frame;
        self.alteration.apply((dst, queue_pair), FeedbackContent::Records, &mut section);
        let source = self.settings.spoofed_source.unwrap_or(self.settings.from);
        let flow = KnownFlow { src, dst, sport, queue_pair, sender: 0, end: 0, sent: 0 };
        self.seen = Some(self.forger.notification(source, &flow, &section));
    }

    fn remember_notification(&mut self, frame: &Passing, options: &[u8]) {
        let &Passing { kind, src, dst, sport, queue_pair, .. } = frame;
        let size = self.forger.sizes.cnp(options.len() as u32);
        let (seq, priority) = (0, NOTIFICATION_PRIORITY);
        self.seen = Some(Forged { kind, src, dst, sport, queue_pair, seq, priority, section: options.to_vec(), size });
    }
}

/// Each in turn.
fn pick<T>(list: &[T], turn: u64) -> Option<&T> {
    list.get((turn % (list.len() as u64).max(1)) as usize)
}

/// Whether frames of a kind collect telemetry on their way to the receiver.
fn brings_telemetry(kind: PacketKind) -> bool {
    matches!(kind, PacketKind::Data | PacketKind::Probe)
}

/// Whether frames of a kind bring telemetry back to the sender.
fn returns_telemetry(kind: PacketKind) -> bool {
    kind.has_telemetry() && !brings_telemetry(kind)
}
