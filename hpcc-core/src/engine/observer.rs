// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an observer may see of a network under way, and what it amounts to.

use super::frame::Frame;
use super::holds::Hold;
use crate::counters::counters;
use crate::fast_cnp::{Crossing, Refusal, Suppression};
use crate::frame::PacketKind;
use crate::ids::FrameId;
use crate::recurrence::recurs;
use crate::settings::Named;
use crate::switch::NoRoom;
use crate::units::{BitRate, Nanos};

/// What happens to a frame at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It begins to leave.
    Departure,
    /// It has arrived.
    Arrival,
    /// It joins a queue.
    Enqueue,
    /// It leaves its queue or, as data of a host, its queue pair.
    Dequeue,
    /// It has waited, and was dropped, because the link failed.
    LinkDrop,
    /// It was on its way here when the link failed, or was sent before that was noticed.
    Lost,
    /// It was lost by chance on its way here.
    Chance,
    /// The switch as a whole drops it: no buffer, no route, or the end of its hop limit.
    Drop,
}

/// Where and when that is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The present time.
    pub now: Nanos,
    /// The node.
    pub node: u32,
    /// Whether it is a switch.
    pub is_switch: bool,
    /// The port, counted from 0.
    pub port: u16,
    /// The queue of the frame there, 0 where it has none.
    pub queue: u8,
    /// Bytes in that queue.
    pub queued: u64,
}

/// What happens at a watched node besides.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Feedback, a notification or a timer has reached the congestion control of a queue pair.
    Control(u32, ControlState),
    /// A packet of a queue pair that was sent once is acknowledged after this time.
    Rtt(u32, Nanos),
    /// A packet of a queue pair, by its first byte, is sent again.
    Resend(u32, u64),
    /// The retransmission timer of a queue pair has fired, and bytes are taken for lost.
    Timeout(u32),
    /// A switch marks the frame as having met congestion.
    Marked,
    /// A notification by the receiver has come for a queue pair.
    Cnp(u32),
    /// A switch has sent a notification, which is the frame.
    Notified,
    /// A frame met congestion, but its sender is not notified.
    Withheld(Suppression),
    /// A host said that it does not understand notifications.
    Learnt(u32),
    /// The edge of a domain has dropped the frame, a notification.
    Stopped(Crossing),
    /// The frame, a notification about a queue pair, is believed.
    Accepted(u32),
    /// It is not.
    Refused(Refusal),
    /// A queue pair takes another UDP source port.
    Migrated(u32, u16),
    /// The frame, a packet of a host's stack, has come; its place among all frames.
    Packet(FrameId),
}

/// Who watches. It cannot change anything.
pub trait Observer: Send {
    /// The far end of a port pauses or resumes a priority, or the link comes up, upon which none is paused.
    fn on_pause(&mut self, place: &Place, priority: u8, pause: bool);
    /// A node pauses or resumes the far end of a port; told if [asked for](super::Engine::watch_holds).
    fn on_hold(&mut self, _: &Hold) {}
    /// Something happens to a frame, which has this place among all, at a watched port.
    fn on_frame(&mut self, sight: Sight, place: &Place, id: FrameId, frame: &Frame, section: &[u8]);
    /// Something else happens at a port of a watched node, perhaps to a frame.
    fn on_event(&mut self, _event: &Event, _place: &Place, _frame: Option<(&Frame, &[u8])>) {}
}

/// What congestion control has made of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControlState {
    /// Sending rate.
    pub rate: BitRate,
    /// Window in bytes; 0 where it is unbounded.
    pub window: u64,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// U of the busiest link as the algorithm reckons it; `None` where it does not.
    pub utilisation: Option<f64>,
    /// Place on the path of the link that U was last moved by, 0 for the first switch's.
    pub bottleneck: Option<u8>,
    /// Whether rate or window have ever moved, or never will, for the algorithm decides nothing.
    pub is_steered: bool,
}

counters! {
    /// What the nodes of a network did.
    pub struct Totals {
        /// Frames put on links.
        pub frames: u64,
        /// Frames that switches dropped.
        pub drops: u64,
        /// Data frames that they marked.
        pub marks: u64,
        /// Packets that they cut to their headers.
        pub trims: u64,
        /// Of them, those that were to leave for their host.
        pub trims_at_last_hop: u64,
        /// Resumes that a switch sent out of the very port whose next frame was their reason, as that had come in there.
        pub resumes_by_own_port: u64,
        /// Headers of such packets that were dropped, or lost on links.
        pub headers_lost: u64,
        /// Marks on frames, and on answers to them, that were dropped or lost.
        pub marks_lost: u64,
        /// Pauses that nodes sent, repeated ones too.
        pub pauses_sent: u64,
        /// Pauses that switches asked sources for.
        pub source_pauses: u64,
        /// Frames for which a switch had no room, by the reasons of [`NoRoom`], where its memory is divided by a plan.
        pub no_room: [u64; NoRoom::NAMES.len()],
        /// Of the drops, frames that waited for a link that failed, were to leave by it, or have no route left.
        pub failed_link_drops: u64,
        /// Frames that were lost on links.
        pub losses: u64,
        /// Of them, those on links that had failed.
        pub failed_link_losses: u64,
        /// Frames that links lost and asked for again.
        pub link_nacks: u64,
        /// Frames that links sent again.
        pub link_resends: u64,
        /// How often a port was idle until credits came, and sent then.
        pub credit_waits: u64,
        /// For how many nanoseconds.
        pub credit_wait_ns: u64,
        /// Bytes on links that only telemetry needs.
        pub telemetry_bytes: u64,
    }
}

/// What a port sent, and what was lost on its way there; counted for programs only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Frames sent.
    pub frames: u64,
    /// Bytes sent that only telemetry needs.
    pub telemetry_bytes: u64,
    /// Frames that were lost on the way here.
    pub losses: u64,
}

/// What a switch dropped and marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounts {
    /// Frames for which there was no buffer.
    pub overflows: u64,
    /// Those that waited for a link which failed, or came for it before routes had changed.
    pub link_drops: u64,
    /// Those without a route.
    pub unroutable: u64,
    /// Those at the end of their hop limit.
    pub expired: u64,
    /// Data frames marked.
    pub marks: u64,
}

impl SwitchCounts {
    /// All frames dropped.
    pub fn drops(&self) -> u64 {
        self.overflows + self.link_drops + self.unroutable + self.expired
    }
}

impl Totals {
    /// A frame is dropped, or lost on a link.
    pub(super) fn lose(&mut self, frame: &Frame) {
        self.headers_lost += u64::from(frame.kind == PacketKind::Trimmed);
        self.marks_lost += u64::from(frame.tells_mark());
    }
}

counters! {
    /// What agents of Fast CNP did.
    pub struct NoticeTotals {
        /// Notifications sent by switches.
        pub sent: u64,
        /// Withheld, by the reasons of [`Suppression::WITHHELD`].
        pub withheld: [u64; Suppression::WITHHELD.len()],
        /// Frames that were not marked, for their sender is notified.
        pub unmarked: u64,
        /// Believed and acted on.
        pub accepted: u64,
        /// Believed without effect, by the reasons of [`NoEffect::NAMES`](crate::cc::NoEffect::NAMES).
        pub without_effect: [u64; crate::cc::NoEffect::NAMES.len()],
        /// Not believed, by the reasons of [`Refusal::NAMES`].
        pub refused: [u64; Refusal::NAMES.len()],
        /// Flows that took another path.
        pub migrations: u64,
        /// ICMPv6 packets that hosts sent about notifications.
        pub reports: u64,
        /// Of them, those from which a switch learnt that a sender does not understand notifications.
        pub learnt: u64,
        /// Those about notifications that nobody sent.
        pub unasked: u64,
        /// Flows and senders that had to make room in memories while they still counted.
        pub forgotten: u64,
        /// Notifications dropped at the edge of the domain, on their way in.
        pub dropped_inbound: u64,
        /// On their way out.
        pub dropped_outbound: u64,
    }
}

recurs! { SwitchCounts { overflows: steady, link_drops: steady, unroutable: steady, expired: steady, marks: count, } }
