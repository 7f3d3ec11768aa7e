// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery: how losses are found and repaired.
//!
//! A [`Method`] says what a receiver does with a packet that comes early, and makes the [`Repair`] of each sending queue pair. One
//! file and one line in the list below for each.

mod go_back;
mod sack;
mod selective_repeat;

pub use sack::Sack;

use super::receiver::{Data, Receiver, Reply};
use super::{Ack, TransportConfig};
use crate::recurrence::{Recurs, Walk};
use crate::settings::Named;
use crate::units::Nanos;
use alloc::boxed::Box;
use core::fmt;

/// Lists all; the first is the default.
macro_rules! recoveries {
    ($($(#[$meta:meta])* $name:ident = $method:path;)+) => {
        #[expect(non_upper_case_globals, reason = "they are a closed set to all but this list")]
        impl Recovery {
            $($(#[$meta])* pub const $name: Recovery = Recovery::of::<$method>();)+
        }

        impl Named for Recovery {
            const ALL: &'static [Self] = &[$(Recovery::$name),+];
            const NAMES: &'static [&'static str] = &[$(Recovery::$name.name),+];

            fn name(self) -> &'static str {
                self.name
            }
        }
    };
}

recoveries! {
    /// Resume at the first missing byte.
    GoBackN = go_back::GoBackN;
    /// Resume at the last multiple of [`TransportConfig::chunk`].
    GoBackZero = go_back::GoBackZero;
    /// Keep what comes early, and retransmit only what is missing (IRN: Mittal et al., SIGCOMM 2018).
    SelectiveRepeat = selective_repeat::Method;
    /// The same, where each packet that comes early brings back a bitmap of those around it, and messages are delivered when they
    /// are whole, in any order.
    Sack = sack::Method;
}

/// A way to find and repair losses, at both ends of a flow.
pub trait Method {
    /// Its name in configurations.
    const NAME: &'static str;
    /// Whether receivers keep packets that come early. Senders then repeat single packets, and hear of every acknowledgement.
    const KEEPS: bool = false;
    /// Whether both ends resume at the last multiple of [`TransportConfig::chunk`].
    const TO_CHUNKS: bool = false;
    /// Whether receivers deliver a message that is whole before the messages before it are.
    const DELIVERS_EARLY: bool = false;
    /// Bytes that an answer brings behind its telemetry, at most.
    const ANSWER_BYTES: usize = 0;

    /// The repair of a queue pair that has lost nothing.
    fn repair() -> Box<dyn Repair>;

    /// A packet comes early: others before it are missing.
    fn on_early(receiver: &mut Receiver, config: &TransportConfig, now: Nanos, data: &Data) -> Reply;
}

/// What a sending queue pair knows of its losses.
pub trait Repair: Send + fmt::Debug {
    /// The first byte of the packet to send again, if there is one.
    fn lost(&self) -> Option<u64> {
        None
    }

    /// The lost packet that begins with byte `seq` is sent again.
    fn on_resent(&mut self, _seq: u64, _sent: &Progress, _config: &TransportConfig) {}

    /// Takes in an acknowledgement: each where the method [keeps](Method::KEEPS), else negative ones. Returns whether sending
    /// resumes at the first missing byte.
    fn on_ack(&mut self, ack: &Ack<'_>, moved: bool, sent: &Progress, config: &TransportConfig) -> bool;

    /// Bytes that have arrived ahead of their turn, and leave room in the window for others.
    fn ahead(&self, _config: &TransportConfig) -> u64 {
        0
    }

    /// Nothing was acknowledged for too long. Returns whether sending resumes at the first missing byte.
    fn on_timeout(&mut self, _sent: &Progress) -> bool {
        true
    }

    /// Its state, where that is known to [recur](crate::recurrence); one that says nothing is never skipped.
    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        None
    }
}

/// How far a sending queue pair is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The first unacknowledged byte.
    pub first_missing: u64,
    /// The byte that is sent next.
    pub next: u64,
}

/// A [`Method`] that is chosen.
#[derive(Clone, Copy)]
pub struct Recovery {
    /// [`Method::NAME`].
    pub name: &'static str,
    /// [`Method::KEEPS`].
    pub keeps: bool,
    /// [`Method::TO_CHUNKS`].
    pub to_chunks: bool,
    /// [`Method::DELIVERS_EARLY`].
    pub delivers_early: bool,
    /// [`Method::ANSWER_BYTES`].
    pub answer_bytes: usize,
    /// [`Method::repair`].
    pub repair: fn() -> Box<dyn Repair>,
    /// [`Method::on_early`].
    pub on_early: fn(&mut Receiver, &TransportConfig, Nanos, &Data) -> Reply,
}

impl Recovery {
    /// That of a method, in this crate or another.
    pub const fn of<M: Method>() -> Recovery {
        Recovery {
            name: M::NAME,
            keeps: M::KEEPS,
            to_chunks: M::TO_CHUNKS,
            delivers_early: M::DELIVERS_EARLY,
            answer_bytes: M::ANSWER_BYTES,
            repair: M::repair,
            on_early: M::on_early,
        }
    }
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery::ALL[0]
    }
}

impl PartialEq for Recovery {
    fn eq(&self, other: &Recovery) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

crate::named!(field Recovery);

impl Walk {
    /// The state of a repair: the same, if it says that it recurs.
    pub fn repair(&mut self, repair: &mut Box<dyn Repair>) {
        match repair.recurring() {
            Some(state) => self.part(state),
            None => self.refuse("a recovery whose state is not known to recur"),
        }
    }
}
