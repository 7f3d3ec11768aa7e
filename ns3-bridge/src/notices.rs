// SPDX-License-Identifier: GPL-2.0-only
//! What C++ is told of a network under way, once the event is over in which it happens.

use crate::frame::ffi::Frame;
use crate::network::{Network, control_state};
use hpcc_core::engine::{self, Event, Observer, Place, Sight};
use hpcc_core::fast_cnp::{Crossing, Refusal, Suppression};
use hpcc_core::ids::FrameId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cxx::bridge(namespace = "hpcc")]
pub(crate) mod ffi {
    /// `hpcc_core::engine::Sight` and `Event`.
    #[derive(Clone, Copy, Debug)]
    enum NoticeKind {
        /// The far end pauses a priority (`queue`) or, unless `flag`, resumes it.
        Pause,
        /// A frame begins to leave.
        Departure,
        /// It has arrived.
        Arrival,
        /// It joins a queue.
        Enqueue,
        /// It leaves its queue or, as data of a host, its queue pair.
        Dequeue,
        /// It has waited, and was dropped, because the link failed.
        LinkDrop,
        /// It was lost on its way here.
        Lost,
        /// The switch as a whole drops it.
        Drop,
        /// The control of a queue pair has heard something.
        Control,
        /// A packet of a queue pair is acknowledged after `value` ns.
        Rtt,
        /// The packet of a queue pair that begins with byte `value` is sent again.
        Resend,
        /// The retransmission timer of a queue pair has fired, and bytes are taken for lost.
        Timeout,
        /// A switch marks the frame.
        Marked,
        /// A notification by the receiver has come for a queue pair.
        Cnp,
        /// A switch has sent a notification.
        Notified,
        /// A frame met congestion, but its sender is not notified: for the reason `value` of `fast_cnp_withheld`.
        Withheld,
        /// Host `value` said that it does not understand notifications.
        Learnt,
        /// The edge of a domain has dropped a notification, on its way in if `flag`.
        Stopped,
        /// A notification about a queue pair is believed.
        Accepted,
        /// It is not: for the reason `value` of `fast_cnp_refusals`.
        Refused,
        /// A queue pair takes the UDP source port `value`.
        Migrated,
        /// A packet of a host's stack has come.
        Packet,
    }

    /// Something that has happened now.
    #[derive(Clone, Debug)]
    struct Notice {
        kind: NoticeKind,
        node: u32,
        port: u16,
        queue: u8,
        flag: bool,
        /// Bytes in that queue.
        queued: u64,
        queue_pair: u32,
        value: u64,
        control: ControlState,
        /// Place of the frame among all.
        id: u32,
        frame: Frame,
        section: Vec<u8>,
    }

    /// What there is to tell.
    struct Turn {
        /// Why the engine pauses.
        pause: Pause,
        now_ns: u64,
        /// Why the run cannot go on; empty if it can.
        fault: String,
        notices: Vec<Notice>,
        /// Flows that have finished.
        ended: Vec<FlowEnd>,
    }

    unsafe extern "C++" {
        include!("ns3-bridge/src/frame.rs.h");
        include!("ns3-bridge/src/network.rs.h");
        type Frame = crate::frame::ffi::Frame;
        type ControlState = crate::network::ffi::ControlState;
        type FlowEnd = crate::network::ffi::FlowEnd;
        type Network = crate::network::Network;
        type Pause = crate::network::ffi::Pause;
    }

    extern "Rust" {
        /// Runs all that happens before a time, unless something is to be told. `takes_flows`: also of flows that have finished.
        fn run(network: &Network, until_ns: u64, takes_flows: bool) -> Turn;
        /// Takes what has happened since the last call.
        fn take_told(network: &Network, takes_flows: bool) -> Turn;
        /// Names of the reasons for which notifications are withheld.
        fn fast_cnp_withheld() -> Vec<String>;
        /// Names of the reasons for which they are refused.
        fn fast_cnp_refusals() -> Vec<String>;
    }
}

use ffi::{Notice, NoticeKind, Pause, Turn};

/// What has happened and was not taken yet.
#[derive(Clone, Default)]
pub struct Notices(Arc<Mutex<Vec<Notice>>>);

pub fn run(network: &Network, until_ns: u64, takes_flows: bool) -> Turn {
    let pause = network.run(until_ns);
    Turn { pause, ..take_told(network, takes_flows) }
}

pub fn take_told(network: &Network, takes_flows: bool) -> Turn {
    Turn {
        pause: Pause::Completion,
        now_ns: network.now_ns(),
        fault: network.take_fault(),
        notices: std::mem::take(&mut network.notices().all()),
        ended: if takes_flows { network.take_ended() } else { Vec::new() },
    }
}

fn names<T>(reasons: &[(&str, T)]) -> Vec<String> {
    reasons.iter().map(|(name, _)| (*name).into()).collect()
}

pub fn fast_cnp_withheld() -> Vec<String> {
    names(&Suppression::WITHHELD)
}

pub fn fast_cnp_refusals() -> Vec<String> {
    names(&Refusal::NAMES)
}

/// The place of a reason.
fn place<T: PartialEq>(reasons: &[(&str, T)], why: &T) -> Option<u64> {
    reasons.iter().position(|(_, reason)| reason == why).map(|place| place as u64)
}

impl Notices {
    fn all(&self) -> MutexGuard<'_, Vec<Notice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn notice(kind: NoticeKind, at: &Place, frame: &engine::Frame, section: &[u8]) -> Notice {
    Notice {
        kind,
        node: at.node,
        port: at.port,
        queue: at.queue,
        flag: false,
        queued: at.queued,
        queue_pair: 0,
        value: 0,
        control: control_state(&engine::ControlState::default()),
        id: 0,
        frame: Frame::from(frame),
        section: section.to_vec(),
    }
}

impl Observer for Notices {
    fn on_pause(&mut self, place: &Place, priority: u8, pause: bool) {
        let told = notice(NoticeKind::Pause, place, &engine::Frame::default(), &[]);
        self.all().push(Notice { queue: priority, flag: pause, ..told });
    }

    fn on_frame(&mut self, sight: Sight, place: &Place, id: FrameId, frame: &engine::Frame, section: &[u8]) {
        let kind = match sight {
            Sight::Departure => NoticeKind::Departure,
            Sight::Arrival => NoticeKind::Arrival,
            Sight::Enqueue => NoticeKind::Enqueue,
            Sight::Dequeue => NoticeKind::Dequeue,
            Sight::LinkDrop => NoticeKind::LinkDrop,
            Sight::Lost | Sight::Chance => NoticeKind::Lost,
            Sight::Drop => NoticeKind::Drop,
        };
        self.all().push(Notice { id: id.0, ..notice(kind, place, frame, section) });
    }

    fn on_event(&mut self, event: &Event, at: &Place, frame: Option<(&engine::Frame, &[u8])>) {
        let none = engine::Frame::default();
        let (frame, section) = frame.unwrap_or((&none, &[]));
        let of = |kind| notice(kind, at, frame, section);
        let told = match *event {
            Event::Control(queue_pair, ref state) => {
                Notice { queue_pair, control: control_state(state), ..of(NoticeKind::Control) }
            }
            Event::Rtt(queue_pair, rtt) => Notice { queue_pair, value: rtt.0, ..of(NoticeKind::Rtt) },
            Event::Resend(queue_pair, value) => Notice { queue_pair, value, ..of(NoticeKind::Resend) },
            Event::Timeout(queue_pair) => Notice { queue_pair, ..of(NoticeKind::Timeout) },
            Event::Marked => of(NoticeKind::Marked),
            Event::Cnp(queue_pair) => Notice { queue_pair, ..of(NoticeKind::Cnp) },
            Event::Notified => of(NoticeKind::Notified),
            Event::Withheld(why) => match place(&Suppression::WITHHELD, &why) {
                Some(value) => Notice { value, ..of(NoticeKind::Withheld) },
                None => return,
            },
            Event::Learnt(host) => Notice { value: host.into(), ..of(NoticeKind::Learnt) },
            Event::Stopped(crossing) => Notice { flag: crossing == Crossing::Inbound, ..of(NoticeKind::Stopped) },
            Event::Accepted(queue_pair) => Notice { queue_pair, ..of(NoticeKind::Accepted) },
            Event::Refused(why) => match place(&Refusal::NAMES, &why) {
                Some(value) => Notice { value, ..of(NoticeKind::Refused) },
                None => return,
            },
            Event::Migrated(queue_pair, sport) => {
                Notice { queue_pair, value: sport.into(), ..of(NoticeKind::Migrated) }
            }
            Event::Packet(id) => Notice { id: id.0, ..of(NoticeKind::Packet) },
        };
        self.all().push(told);
    }
}
