// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of an attack, and which attacks there can be.

use crate::cc::{Effect, Signal};
use crate::node::NodeSettings;
use crate::pfc::DATA_PRIORITY;
use crate::settings::{Conflict, Named};
use crate::switch::{BufferKind, SwitchSettings};
use crate::telemetry::Reads;
use crate::topology::{Network, NodeSet};
use crate::transport::feedback::FeedbackContent;
use crate::units::{BitRate, Nanos};
use alloc::format;
use alloc::string::{String, ToString};

crate::named! {
    /// What an attacker does.
    #[derive(Default)]
    pub enum AttackKind {
        /// Sends Fast CNPs about flows of the victims, as if a switch had met congestion.
        #[default]
        ForgedFastCnp = "forged_fast_cnp",
        /// A switch sends the last genuine Fast CNP to a victim that it saw again and again.
        ReplayedFastCnp = "replayed_fast_cnp",
        /// Sends Fast CNPs about flows that there are not: before all other frames, and never paused.
        FloodedFastCnp = "flooded_fast_cnp",
        /// Tells each switch by ICMPv6, in the name of the victims, that they do not understand Fast CNPs.
        SpoofedIcmpv6 = "spoofed_icmpv6",
        /// A switch changes what comes back to the victims.
        TamperedFeedback = "tampered_feedback",
        /// A switch removes feedback on its way to the victims; a receiver removes the telemetry of their packets.
        StrippedFeedback = "stripped_feedback",
        /// A receiver changes the telemetry of the victims' packets before it answers, and before it seals the answer.
        LyingFeedback = "lying_feedback",
        /// A switch drops answers of receivers on their way back to the victims: acknowledgements, telemetry, CNPs.
        DroppedFeedback = "dropped_feedback",
        /// A switch holds those answers back for a time.
        DelayedFeedback = "delayed_feedback",
        /// A switch clears the marks in the victims' packets that pass it, and sets none; a receiver conceals them.
        BleachedEcn = "bleached_ecn",
        /// Acknowledges bytes of the victims' flows in the name of their receivers.
        ForgedAck = "forged_ack",
        /// Says in the name of the receivers that the victims' first bytes are missing.
        ForgedNack = "forged_nack",
        /// Sends the victims congestion notification packets in the name of the receivers.
        ForgedCnp = "forged_cnp",
        /// Pauses all its neighbours, as if it had no room for their frames.
        ForgedPfc = "forged_pfc",
    }
}

crate::named! {
    /// What forged acknowledgements acknowledge.
    #[derive(Default)]
    pub enum Acknowledged {
        /// All bytes of the flow, sent or not.
        #[default]
        All = "all",
        /// All that the flow has sent so far.
        Sent = "sent",
    }
}

crate::named! {
    /// What changed records say of every link.
    #[derive(Default)]
    pub enum Claim {
        /// No queue, and a sixteenth of what was sent since the attack began.
        #[default]
        Idle = "idle",
        /// A queue of 5 MB.
        Busy = "busy",
    }
}

crate::settings! {
    /// An attack: its kind, attacker, victims and time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AttackSettings {
        /// What the attacker does; required in a file.
        #[change = "The first four need `fast_cnp.enabled`, the next three telemetry that comes back, `bleached_ecn` senders \
            that go by marks, `forged_nack` a sender that goes back, `forged_cnp` an algorithm that reacts, `forged_pfc` \
            switches that pause."]
        pub kind: AttackKind = AttackKind::ForgedFastCnp;
        /// Number of the node that attacks; required in a file.
        #[change = "`tampered_feedback`, `dropped_feedback`, `delayed_feedback` and `replayed_fast_cnp` need a switch that the \
            flows pass, `lying_feedback` the host that receives them."]
        pub from: u32 = 0;
        /// Hosts whose flows are attacked, as senders. Hosts, or numbers and ranges.
        #[change = "Name some to compare their flows with the others in one run."]
        pub victims: String = "hosts".to_string()
            => kind = "forged_fast_cnp" | "replayed_fast_cnp" | "flooded_fast_cnp" | "spoofed_icmpv6" | "tampered_feedback"
                | "stripped_feedback" | "lying_feedback" | "dropped_feedback" | "delayed_feedback" | "bleached_ecn"
                | "forged_ack" | "forged_nack" | "forged_cnp";
        /// Names of the `[[traffic]]` sections whose flows are attacked, such as `long, short`; `auto`: all.
        #[change = "Name some to attack a part of a host's flows."]
        pub traffic: Option<String> = None
            => kind = "forged_fast_cnp" | "spoofed_icmpv6" | "tampered_feedback" | "stripped_feedback" | "lying_feedback"
                | "dropped_feedback" | "delayed_feedback" | "bleached_ecn" | "forged_ack" | "forged_nack" | "forged_cnp";
        /// Simulated time at which the attack begins.
        #[change = "Raise it to see the flows before it as well."]
        pub start: Nanos {Nanos(0)..=Nanos::LONGEST} = Nanos(0);
        /// Simulated time at which the attack ends, later than `start`; `auto`: with the last flow.
        #[change = "Set it to see whether flows recover."]
        pub stop: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Rate of the attacker's frames, with `forged_pfc` on each of its links. At most what the slowest link of `from`
        /// carries.
        #[change = "Raise it to attack more flows, or each more often; limits of senders (`fast_cnp.accept_interval`) \
            bound the effect on one flow."]
        pub rate: BitRate {BitRate(1_000)..=BitRate(u64::MAX)} = BitRate(100_000_000)
            => kind = "forged_fast_cnp" | "replayed_fast_cnp" | "flooded_fast_cnp" | "spoofed_icmpv6" | "forged_ack"
                | "forged_nack" | "forged_cnp" | "forged_pfc";
        /// Node whose address the attacker's frames have as their source; `auto`: its own.
        #[change = "Set it to get past an access list (`fast_cnp.accept_from`)."]
        pub spoofed_source: Option<u32> = None => kind = "forged_fast_cnp" | "flooded_fast_cnp";
        /// Whether a switch also copies the IOAM records of the victims' last packet. They get a queue of 5 MB at each
        /// link.
        #[change = "Turn it on to attack algorithms that react to records only."]
        pub records: bool = false => kind = "forged_fast_cnp";
        /// What changed records say of every link: no queue and a sixteenth of the bytes (`idle`), or a queue of 5 MB
        /// (`busy`). Telemetry with one value for the path gets the least load that it can tell, or the largest.
        #[change = "Choose `idle` to make flows send too much, `busy` to slow them down."]
        pub claim: Claim = Claim::Idle => kind = "tampered_feedback" | "lying_feedback";
        /// Share of the answers that are dropped, at equal distances.
        #[change = "Lower it to see how senders fare with some of their feedback."]
        pub share: f64 {0.0..=1.0} = 1.0 => kind = "dropped_feedback";
        /// How long each answer is held back.
        #[change = "Compare it with the round-trip time; beyond the timeout packets are sent again."]
        pub delay: Nanos {Nanos(1)..=Nanos::LONGEST} = Nanos(100_000) => kind = "delayed_feedback";
        /// What forged acknowledgements acknowledge: all bytes of the flow (`all`), or those sent so far (`sent`). `sent`
        /// takes a view of the flow's packets.
        #[change = "Choose `sent` to attack senders that ignore acknowledgements of bytes that they have not sent."]
        pub acknowledged: Acknowledged = Acknowledged::All => kind = "forged_ack";
        /// Priority that is paused, until the attack ends.
        #[change = "Set it where the flows to be stopped have another priority."]
        pub priority: u8 {1..=7} = DATA_PRIORITY => kind = "forged_pfc";
    }
}

/// A flow that an attack may be aimed at.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    /// Name of the traffic that a flow is of.
    pub traffic: &'a str,
    /// Its sender.
    pub src: u32,
    /// Its receiver.
    pub dst: u32,
    /// When it starts.
    pub start: Nanos,
}

/// The target of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Fast CNPs, and who sends them.
    Notifications,
    /// Telemetry that comes back.
    Telemetry,
    /// Whatever receivers answer.
    Answers,
    /// Marks of switches.
    Marks,
    /// Packets of RoCEv2 itself.
    Transport,
}

impl AttackKind {
    /// The target of this kind.
    fn target(self) -> Target {
        match self {
            AttackKind::ForgedFastCnp
            | AttackKind::ReplayedFastCnp
            | AttackKind::FloodedFastCnp
            | AttackKind::SpoofedIcmpv6 => Target::Notifications,
            AttackKind::TamperedFeedback | AttackKind::StrippedFeedback | AttackKind::LyingFeedback => {
                Target::Telemetry
            }
            AttackKind::DroppedFeedback | AttackKind::DelayedFeedback => Target::Answers,
            AttackKind::BleachedEcn => Target::Marks,
            AttackKind::ForgedAck | AttackKind::ForgedNack | AttackKind::ForgedCnp | AttackKind::ForgedPfc => {
                Target::Transport
            }
        }
    }

    /// Whether the attacker sends frames of its own; otherwise it changes what passes.
    pub fn sends(self) -> bool {
        matches!(self.target(), Target::Notifications | Target::Transport)
    }

    /// Whether its frames name a queue pair of a victim's flow.
    pub fn names_flows(self) -> bool {
        matches!(
            self,
            AttackKind::ForgedFastCnp
                | AttackKind::ReplayedFastCnp
                | AttackKind::SpoofedIcmpv6
                | AttackKind::ForgedAck
                | AttackKind::ForgedNack
                | AttackKind::ForgedCnp
        )
    }

    /// Whether a host can do it only to flows that it receives.
    pub fn needs_receiver(self) -> bool {
        matches!(
            self,
            AttackKind::StrippedFeedback | AttackKind::LyingFeedback | AttackKind::BleachedEcn | AttackKind::ForgedPfc
        )
    }

    /// Whether it can be done to a host's own flows.
    fn may_hit_itself(self) -> bool {
        matches!(self, AttackKind::SpoofedIcmpv6 | AttackKind::ForgedPfc)
    }
}

impl AttackSettings {
    /// Whether it can hit such a flow, if the flow's packets pass the attacker. A host hits no flow of its own, except
    /// that it complains of one.
    pub fn aims_at(&self, victims: &NodeSet, flow: &Aim<'_>, network: &Network) -> bool {
        let is_attacked = self.traffic().is_none_or(|mut names| names.any(|name| name == flow.traffic));
        let is_early = self.stop.is_none_or(|stop| flow.start < stop);
        let is_near = if self.kind.needs_receiver() {
            !network.is_host(self.from) || flow.dst == self.from
        } else {
            self.kind.may_hit_itself() || flow.src != self.from
        };
        victims.contains(flow.src) && is_attacked && is_early && is_near
    }

    /// The names of the traffic whose flows alone are attacked; `None`: all.
    pub fn traffic(&self) -> Option<impl Iterator<Item = &str>> {
        self.traffic.as_deref().map(|names| names.split(',').map(str::trim))
    }

    /// The victims.
    ///
    /// # Errors
    /// If the text names no set of hosts, or none.
    pub fn victims(&self, network: &Network) -> Result<NodeSet, Conflict> {
        let refuse = |message| Conflict::new("victims", message);
        let victims = NodeSet::parse(&self.victims, network).map_err(refuse)?;
        if let Some(node) = victims.iter().find(|&node| !network.is_host(node)) {
            return Err(refuse(format!("node {node} is a switch; expected hosts, which send the flows")));
        }
        if victims.iter().next().is_none() {
            return Err(refuse("there are no victims; expected hosts".into()));
        }
        Ok(victims)
    }

    /// Checks whether there can be such an attack in a network of nodes with these settings, all of them resolved and
    /// checked.
    ///
    /// # Errors
    /// The first key that makes it impossible, with what was expected.
    pub fn check(&self, network: &Network, nodes: &NodeSettings) -> Result<(), Conflict> {
        if nodes.protocol.protocol.is_of_stack() {
            let message = "attackers act on what RDMA hosts send and believe; expected transport.protocol = \"rdma\"";
            return Err(Conflict::new("kind", message.into()));
        }
        self.nodes(network)?;
        let victims = self.victims(network)?;
        if !self.kind.may_hit_itself() && victims.iter().all(|victim| victim == self.from) {
            let message = format!("host {} would attack itself; expected other hosts", self.from);
            return Err(Conflict::new("victims", message));
        }
        if let Some(stop) = self.stop.filter(|&stop| stop <= self.start) {
            return Err(Conflict::new(
                "stop",
                format!("the attack ends at {stop}; expected later than {}", self.start),
            ));
        }
        if self.kind.sends() {
            self.link(network)?;
        }
        self.queue_pairs(nodes)?;
        match self.kind.target() {
            Target::Notifications => self.notifications(nodes),
            Target::Telemetry => self.telemetry(nodes),
            Target::Answers => Ok(()),
            Target::Marks => self.marks(nodes),
            Target::Transport => self.transport(nodes),
        }
    }

    /// Whether hosts have the queue pairs by which an attacker knows flows.
    fn queue_pairs(&self, nodes: &NodeSettings) -> Result<(), Conflict> {
        let transport = &nodes.host_transport;
        if transport.is_queue_pairs() {
            return Ok(());
        }
        let name = transport.chosen().name();
        let key = if self.kind.names_flows() {
            "kind"
        } else if self.traffic.is_some() {
            "traffic"
        } else {
            return Ok(());
        };
        let message = format!(
            "attackers know flows by RoCE's queue pairs, which \"{name}\" has not; expected transport.kind = \"roce\""
        );
        Err(Conflict::new(key, message))
    }

    /// Whether anybody goes by marks.
    fn marks(&self, nodes: &NodeSettings) -> Result<(), Conflict> {
        if nodes.reads_marks() {
            return Ok(());
        }
        let message = "nobody goes by marks here; expected an algorithm or a transport that does";
        Err(Conflict::new("kind", message.into()))
    }

    /// Whether the nodes are there, and of the kind that can do it.
    fn nodes(&self, network: &Network) -> Result<(), Conflict> {
        let count = network.nodes.len();
        for (key, node) in [("from", Some(self.from)), ("spoofed_source", self.spoofed_source)] {
            if let Some(node) = node.filter(|&node| node as usize >= count) {
                let most = count.saturating_sub(1);
                return Err(Conflict::new(key, format!("there is no node {node}; expected 0 to {most}")));
            }
        }
        let copies = self.kind == AttackKind::ForgedFastCnp && self.records;
        let needs_switch = copies
            || matches!(
                self.kind,
                AttackKind::ReplayedFastCnp
                    | AttackKind::TamperedFeedback
                    | AttackKind::DroppedFeedback
                    | AttackKind::DelayedFeedback
            );
        let (from, is_host) = (self.from, network.is_host(self.from));
        if needs_switch && is_host {
            let message = format!("node {from} is a host, which others' packets do not pass; expected a switch");
            return Err(Conflict::new("from", message));
        }
        if self.kind == AttackKind::LyingFeedback && !is_host {
            let message = format!("node {from} is a switch, and receivers lie; expected a host");
            return Err(Conflict::new("from", message));
        }
        Ok(())
    }

    /// Whether a link carries the attacker's frames.
    fn link(&self, network: &Network) -> Result<(), Conflict> {
        let own = network.links.iter().filter(|link| link.a == self.from || link.b == self.from);
        match own.map(|link| link.rate).min() {
            None => Err(Conflict::new("from", format!("node {} has no link; expected one that has", self.from))),
            Some(most) if self.rate > most => {
                let message = format!("the slowest link of node {} carries {most}; expected at most that", self.from);
                Err(Conflict::new("rate", message))
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether there are notifications to attack.
    fn notifications(&self, nodes: &NodeSettings) -> Result<(), Conflict> {
        if !nodes.fast_cnp.enabled {
            let message = "there is no Fast CNP here to attack; expected fast_cnp.enabled = true";
            return Err(Conflict::new("kind", message.into()));
        }
        let layout = nodes.layout();
        if self.records && layout.encapsulation() != Some(crate::frame::Encapsulation::HopByHop) {
            let message =
                "data packets bring no IOAM records to copy; expected telemetry.layout = \"ioam\" or \"ioam_slim\"";
            return Err(Conflict::new("records", message.into()));
        }
        Ok(())
    }

    /// Whether anybody does anything about such frames of the transport.
    fn transport(&self, nodes: &NodeSettings) -> Result<(), Conflict> {
        let refuse = |message| Err(Conflict::new("kind", message));
        let algorithm = nodes.control.chosen().name();
        let goes_back = !nodes.transport.recovery.keeps;
        if self.kind == AttackKind::ForgedNack && !goes_back {
            let message = "senders do not go back; expected transport.recovery = \"go_back_n\"";
            return refuse(message.into());
        }
        let reacts = nodes.needs().reaction.to(Signal::ReceiverCnp) != Effect::Nothing;
        if self.kind == AttackKind::ForgedCnp && !reacts {
            return refuse(format!(
                "{algorithm} does not react to notification packets of receivers; expected an algorithm that does"
            ));
        }
        if self.kind == AttackKind::ForgedPfc { self.pauses(&nodes.switch) } else { Ok(()) }
    }

    /// Whether switches pause the attacked priority.
    fn pauses(&self, switch: &SwitchSettings) -> Result<(), Conflict> {
        if switch.mode != BufferKind::Lossless {
            let message = "nobody pauses here; expected switch.mode = \"lossless\"";
            return Err(Conflict::new("kind", message.into()));
        }
        let paused = switch.pfc_priorities.unwrap_or_default();
        if paused.serve(self.priority) {
            return Ok(());
        }
        let message = format!("priority {} is never paused here; expected one of {paused}", self.priority);
        Err(Conflict::new("priority", message))
    }

    /// Whether telemetry comes back, and a claim can be written over it.
    fn telemetry(&self, nodes: &NodeSettings) -> Result<(), Conflict> {
        let refuse = |message| Err(Conflict::new("kind", message));
        let feedback = nodes.feedback.config();
        let layout = nodes.layout();
        let needs = nodes.needs();
        if needs.reads == Reads::Nothing || feedback.answer_to(&needs) == FeedbackContent::Nothing {
            let algorithm = nodes.control.chosen().name();
            return refuse(format!("no telemetry comes back to {algorithm}; expected an algorithm that reads some"));
        }
        if self.kind != AttackKind::StrippedFeedback && !layout.takes_claims() {
            let name = nodes.layout().name();
            return refuse(format!(
                "telemetry of layout \"{name}\" tells nothing of a link's load that could be changed; expected {}, or another layout",
                AttackKind::StrippedFeedback.name()
            ));
        }
        Ok(())
    }
}
