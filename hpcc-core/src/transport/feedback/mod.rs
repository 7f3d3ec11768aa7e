// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a flow's telemetry comes back to its sender (draft-miao-rtgwg-hpccplus-00, sections 6.2, 6.3.2, 7.1 and 9.1).
//!
//! ```text
//! sender                      switches        receiver                          sender
//! Listener: which packets  -> stamp them ->   Reporting: what goes back, and -> Listener: is it true?
//! collect (Sampling)                          in what (FeedbackContent, Return)          the controller hears it
//! ```
//! A host without any of it, which echoes the records of every packet in its acknowledgement, spends no time here.

mod accumulated;
mod listener;
mod reporting;
mod settings;
mod silence;
#[cfg(test)]
mod tests;

pub use accumulated::len as accumulated_len;
pub use listener::{Decoder, Listener, Rejected};
pub use reporting::{Arrived, Reporting};
pub use settings::{FeedbackSettings, SamplingMode};
pub use silence::Silence;

use super::path_probes::PathConfig;
use crate::cc::Needs;
use crate::settings::{Conflict, Named};
use crate::switch::Classes;
use crate::telemetry::{Layout, Reads, Sampling, link_codec, seal};
use alloc::vec::Vec;

/// What goes back for a packet that collected telemetry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedbackContent {
    /// All of its records (REQ-03).
    #[default]
    Records,
    /// The record of the most loaded link (REQ-17).
    BusiestLink,
    /// The load of each link, without what it was computed from (REQ-25).
    Loads,
    /// The window that the receiver computed, once in T (REQ-04, REQ-19).
    Window,
    /// Nothing: a receiver that does not know telemetry.
    Nothing,
}

/// A window is no choice: it follows from the algorithm.
impl Named for FeedbackContent {
    const ALL: &'static [FeedbackContent] =
        &[FeedbackContent::Records, FeedbackContent::BusiestLink, FeedbackContent::Loads, FeedbackContent::Nothing];
    const NAMES: &'static [&'static str] = &["records", "busiest_link", "loads", "none"];

    fn name(self) -> &'static str {
        match self {
            FeedbackContent::Records => "records",
            FeedbackContent::BusiestLink => "busiest_link",
            FeedbackContent::Loads => "loads",
            FeedbackContent::Window => "window",
            FeedbackContent::Nothing => "none",
        }
    }
}

crate::named!(field FeedbackContent);

crate::named! {
    /// In what (REQ-16).
    #[derive(Default)]
    pub enum Return {
        /// In the next acknowledgement: the newest answer, where one acknowledgement is for several packets.
        #[default]
        Acknowledgement = "ack",
        /// In a packet of its own, one for each answer.
        Notification = "notification",
    }
}

/// Most bytes of telemetry in a frame, on its way there or back, sealed or not, with the records of so many packets in an
/// acknowledgement, which may be sealed itself.
pub fn room(layout: &Layout, records_per_ack: u8, is_sealed: bool) -> usize {
    room_after(usize::MAX, layout, records_per_ack, is_sealed)
}

/// The same where no frame passes more than so many switches.
pub fn room_after(hops: usize, layout: &Layout, records_per_ack: u8, is_sealed: bool) -> usize {
    let most = layout.len_after(hops.min(layout.max_hops().unwrap_or(0)));
    let seal = if is_sealed { seal::TAG_LEN } else { 0 };
    if layout.max_hops().is_none() {
        return most + seal;
    }
    let accumulated = if records_per_ack > 1 { accumulated::len(records_per_ack.into(), most) } else { 0 };
    most.max(link_codec::LEN).max(accumulated) + seal::TAG_LEN + seal
}

/// The most [`room`] that a frame of the simulator may have, in bytes.
const MOST_ROOM: usize = 2_040;

/// How telemetry comes back; the same at both ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedbackConfig {
    /// Which packets collect telemetry. Answers to [probes](Sampling::Probes) are always packets of their own.
    pub sampling: Sampling,
    /// What goes back, except where the algorithm is Rx-HPCC.
    pub content: FeedbackContent,
    /// The frame that carries it back.
    pub by: Return,
    /// Packets of which an acknowledgement brings the records, at most; 1: the newest alone.
    pub records_per_ack: u8,
    /// Whether notifications acknowledge what has arrived (REQ-61).
    pub notification_acks: bool,
    /// Whether the sender rejects records that cannot be true (REQ-27).
    pub guard: bool,
    /// The key with which answers are [sealed](seal), if they are (REQ-26).
    pub seal: Option<[u8; 16]>,
    /// Base round-trip times that a flow waits for feedback before it [slows down](Silence); 0: for ever.
    pub decay_after: u32,
    /// Paths that a flow chooses from (REQ-30).
    pub paths: PathConfig,
    /// Bytes by which an acknowledgement may be ahead of the packet whose answer it brings
    /// ([`TransportConfig::ack_every`](crate::transport::TransportConfig::ack_every)).
    pub ack_every: u32,
    /// Whether switches may leave their records out of some packets (REQ-60).
    pub some_hops: bool,
    /// The classes against whose shares switches report, if they do (REQ-29).
    pub classes: Option<Classes>,
}

impl Default for FeedbackConfig {
    /// The defaults of [`FeedbackSettings`].
    fn default() -> Self {
        FeedbackConfig {
            sampling: Sampling::EveryPacket,
            content: FeedbackContent::Records,
            paths: PathConfig::default(),
            ..FeedbackConfig::NONE
        }
    }
}

impl FeedbackConfig {
    /// Of a host that knows nothing of telemetry: neither its flows collect any, nor does it answer.
    pub const NONE: FeedbackConfig = FeedbackConfig {
        sampling: Sampling::Never,
        content: FeedbackContent::Nothing,
        by: Return::Acknowledgement,
        records_per_ack: 1,
        notification_acks: false,
        guard: false,
        seal: None,
        decay_after: 0,
        paths: PathConfig { candidates: 1, interval: 1 },
        ack_every: 0,
        some_hops: false,
        classes: None,
    };

    /// What goes back under an algorithm with these needs.
    pub fn answer_to(&self, needs: &Needs) -> FeedbackContent {
        let by_receiver = needs.receiver.is_some() && self.content != FeedbackContent::Nothing;
        if by_receiver { FeedbackContent::Window } else { self.content }
    }

    /// How many T lie between two probes of a flow, if it sends any.
    pub fn probes_every(&self) -> Option<u32> {
        let of_paths = (self.paths.candidates > 1).then_some(self.paths.interval.max(1));
        if self.sampling == Sampling::Probes { Some(1) } else { of_paths }
    }

    /// Whether the acknowledgement of a packet echoes its section, and that is all.
    pub fn is_echo(&self, needs: &Needs) -> bool {
        let plain = self.sampling == Sampling::EveryPacket && self.by == Return::Acknowledgement;
        plain
            && self.answer_to(needs) == FeedbackContent::Records
            && !self.accumulates()
            && !self.guard
            && self.seal.is_none()
            && self.decay_after == 0
            && self.paths.candidates <= 1
    }

    /// Refuses more in acknowledgements, or in their place, than an algorithm or the other settings can do with.
    fn check_acknowledgements(&self, needs: &Needs, layout: &Layout) -> Result<(), Conflict> {
        let refuse = |key, what: &str| Err(Conflict::new(key, alloc::format!("{key} {what}")));
        if self.accumulates() {
            if self.answer_to(needs) != FeedbackContent::Records || !needs.accumulates {
                return refuse("records_per_ack", "above 1 needs the algorithm hpcc_plus and content = \"records\"");
            }
            if self.guard {
                return refuse(
                    "records_per_ack",
                    "above 1 excludes guard, which compares records with acknowledged bytes",
                );
            }
            self.check_room(layout)?;
        }
        if self.notification_acks && self.sampling == Sampling::Probes {
            let what = "cannot be with sampling = \"probes\": answers to probes stand for bytes that were sent";
            return refuse("notification_acks", what);
        }
        Ok(())
    }

    /// Refuses the records of more packets than a frame has room for.
    fn check_room(&self, layout: &Layout) -> Result<(), Conflict> {
        let fits = |&count: &u8| room(layout, count, true) <= MOST_ROOM;
        if fits(&self.records_per_ack) {
            return Ok(());
        }
        let most = (1..self.records_per_ack).rev().find(fits).unwrap_or(1);
        let message = alloc::format!(
            "records_per_ack is {}, but records of {} hops leave room for {most} packets; expected at most that, or fewer hops",
            self.records_per_ack,
            layout.max_hops().unwrap_or(0)
        );
        Err(Conflict::new("records_per_ack", message))
    }

    /// Refuses what needs all records of a path where switches leave some out.
    fn check_some_hops(&self, needs: &Needs, layout: &Layout) -> Result<(), Conflict> {
        let refuse = |key, what: &str| {
            let message =
                alloc::format!("{what}, but switch.telemetry_records leaves hops out; expected \"all\" there");
            Err(Conflict::new(key, message))
        };
        if !self.some_hops {
            return Ok(());
        }
        if !layout.names_links() {
            let name = layout.name();
            let able = Layout::with_records().filter(Layout::names_links);
            let able: Vec<&str> = able.map(|layout| layout.name()).collect();
            let message = alloc::format!(
                "switch.telemetry_records leaves hops out, and records of layout = \"{name}\" do not say which link they are \
                 of; expected {}",
                able.join(", ")
            );
            return Err(Conflict::new("layout", message));
        }
        if needs.reads == Reads::Records && !needs.some_hops {
            return refuse("layout", "the congestion control compares records of all hops");
        }
        match self.content {
            FeedbackContent::BusiestLink | FeedbackContent::Loads => {
                return refuse("content", "the receiver compares records of all hops");
            }
            FeedbackContent::Records | FeedbackContent::Window | FeedbackContent::Nothing => {}
        }
        if self.guard {
            return refuse("guard", "the guard compares records of all hops");
        }
        if self.paths.candidates > 1 {
            return refuse("paths", "paths are told apart by all of their hops");
        }
        Ok(())
    }

    /// Refuses a choice of paths whose records all look like those of one path.
    fn check_paths(&self, layout: &Layout) -> Result<(), Conflict> {
        if self.paths.candidates <= 1 || layout.records().is_none() || layout.tells_paths() {
            return Ok(());
        }
        let able = Layout::with_records().filter(Layout::tells_paths);
        let able: Vec<&str> = able.map(|layout| layout.name()).collect();
        let message = alloc::format!(
            "paths are told apart by their records, and those of layout = \"{}\" do not say which path they are of; expected layout = {}",
            layout.name(),
            able.join(" or ")
        );
        Err(Conflict::new("paths", message))
    }

    /// Checks these settings against the needs of an algorithm and a layout.
    ///
    /// # Errors
    /// The first that cannot work, by its key in [`FeedbackSettings`].
    pub fn check(&self, needs: &Needs, layout: &Layout) -> Result<(), Conflict> {
        let refuse = |key: &'static str, what: &str| Err(Conflict::new(key, alloc::format!("{key} {what}")));
        let looks_at_records = "looks at records: needs content = \"records\" and a sender that computes the window";
        let has_answer = self.answer_to(needs) == FeedbackContent::Records;
        if self.paths.candidates > 1 && !has_answer {
            return refuse("paths", looks_at_records);
        }
        if matches!(self.content, FeedbackContent::BusiestLink | FeedbackContent::Loads) && !needs.digests {
            return refuse("content", "needs the algorithm hpcc_plus, with link_rate = \"tx\"");
        }
        if self.guard && !has_answer {
            return refuse("guard", looks_at_records);
        }
        self.check_paths(layout)?;
        self.check_some_hops(needs, layout)?;
        self.check_acknowledgements(needs, layout)?;
        let plain = FeedbackConfig::default();
        let set = [
            ("sampling", self.sampling != plain.sampling && self.sampling != Sampling::Never),
            ("return_path", self.by != plain.by),
            ("guard", self.guard),
            ("seal", self.seal.is_some()),
            ("paths", self.paths.candidates > 1),
        ];
        match set.into_iter().find(|&(_, is_set)| is_set && layout.max_hops().is_none()) {
            Some((key, _)) => refuse(key, "needs a telemetry layout with a record of each hop"),
            None => Ok(()),
        }
    }
}
