// SPDX-License-Identifier: MIT OR Apache-2.0
//! All frames of a network by their places, with their telemetry sections; and those that leave a part of it.

use super::flight::InFlight;
use super::frame::Frame;
use super::paths::{KNOWN, UNKNOWN};
use crate::balance::Tag;
use crate::host_transport::PacketHeader;
use crate::ids::{FrameId, Id, PortId};
use crate::units::Nanos;
use alloc::vec::Vec;

/// Bytes of a section that stand beside their frame.
const SHORT: usize = 48;

/// A frame, and its telemetry section where that fits: two cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    frame: Frame,
    #[cfg_attr(feature = "serde", serde(with = "serde_bytes"))]
    section: [u8; SHORT],
}

const _: () = assert!(size_of::<Entry>() == 128);

impl Entry {
    fn forget_path(&mut self) {
        self.frame.ports = [UNKNOWN; KNOWN];
    }
}

/// All frames of a network, and their telemetry sections.
pub(super) struct Frames {
    entries: Vec<Entry>,
    /// The sections, where they may be longer.
    sections: Vec<u8>,
    /// Room for each section.
    room: usize,
    /// What frames carry for load balancing, if anything: as far as anybody has asked.
    tags: Vec<Tag>,
    /// The frame that was released last is taken first, for it is in the cache.
    free: Vec<FrameId>,
}

impl Frames {
    /// None, with room for sections of so many bytes.
    pub fn new(room: usize) -> Frames {
        Frames { entries: Vec::new(), sections: Vec::new(), room, tags: Vec::new(), free: Vec::new() }
    }

    /// A frame, whose fields are those of its last use.
    #[inline]
    pub fn take(&mut self) -> FrameId {
        self.free.pop().unwrap_or_else(|| self.add())
    }

    #[cold]
    fn add(&mut self) -> FrameId {
        self.entries.push(Entry { frame: Frame::default(), section: [0; SHORT] });
        if self.room > SHORT {
            self.sections.resize(self.entries.len() * self.room, 0);
        }
        FrameId(self.entries.len() as u32 - 1)
    }

    #[inline]
    pub fn release(&mut self, frame: FrameId) {
        self.free.push(frame);
    }

    #[inline]
    pub fn get(&self, frame: FrameId) -> &Frame {
        &self.entries[frame.place()].frame
    }

    #[inline]
    pub fn get_mut(&mut self, frame: FrameId) -> &mut Frame {
        &mut self.entries[frame.place()].frame
    }

    /// What a transport keeps in a frame for itself, where hosts have another than queue pairs, with telemetry at its front.
    pub fn header(&mut self, frame: FrameId) -> &mut PacketHeader {
        &mut self.entries[frame.place()].section
    }

    /// A frame with its section and room behind it.
    #[inline]
    pub fn with_section(&mut self, frame: FrameId) -> (&mut Frame, &mut [u8]) {
        let entry = &mut self.entries[frame.place()];
        if self.room <= SHORT {
            return (&mut entry.frame, &mut entry.section[..self.room]);
        }
        let start = frame.place() * self.room;
        (&mut entry.frame, &mut self.sections[start..start + self.room])
    }

    /// Loads all lines of a frame.
    #[inline]
    pub fn load(&self, frame: FrameId) -> u32 {
        let entry = &self.entries[frame.place()];
        let section = if self.room <= SHORT { entry.section[0] } else { self.sections[frame.place() * self.room] };
        entry.frame.size ^ u32::from(section)
    }

    /// Sections need so much room from now on.
    pub fn widen(&mut self, room: usize) {
        let mut wider = Frames { room, entries: core::mem::take(&mut self.entries), ..Frames::new(room) };
        (wider.free, wider.tags) = (core::mem::take(&mut self.free), core::mem::take(&mut self.tags));
        wider.sections.resize(if room > SHORT { wider.entries.len() * room } else { 0 }, 0);
        for frame in (0..wider.entries.len() as u32).map(FrameId) {
            let section = if self.room <= SHORT {
                wider.entries[frame.place()].section.into()
            } else {
                Vec::from(&self.sections[frame.place() * self.room..][..self.room])
            };
            wider.with_section(frame).1[..section.len()].copy_from_slice(&section);
        }
        *self = wider;
    }

    /// Room for a section.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The section of a frame.
    #[inline]
    pub fn section(&self, frame: FrameId) -> &[u8] {
        let entry = &self.entries[frame.place()];
        let len = usize::from(entry.frame.telemetry_len);
        if self.room <= SHORT { &entry.section[..len] } else { &self.sections[frame.place() * self.room..][..len] }
    }

    /// These bytes become the section of a frame; returns their length, 0 without room.
    pub fn put(&mut self, frame: FrameId, bytes: &[u8]) -> usize {
        let (entry, room) = self.with_section(frame);
        let front = room.get_mut(..bytes.len());
        let len = front.as_ref().map_or(0, |front| front.len());
        if let Some(front) = front {
            front.copy_from_slice(bytes);
        }
        entry.telemetry_len = len as u16;
        len
    }

    /// Routes have changed: frames on their way are routed anew.
    pub fn forget_paths(&mut self) {
        self.entries.iter_mut().for_each(Entry::forget_path);
    }

    /// A frame, and what it carries for load balancing.
    pub fn with_tag(&mut self, frame: FrameId) -> (&Frame, &mut Tag) {
        let place = frame.place();
        if self.tags.len() <= place {
            self.tags.resize(self.entries.len(), Tag::default());
        }
        (&self.entries[place].frame, &mut self.tags[place])
    }

    /// A frame carries this, if any does.
    pub fn set_tag(&mut self, frame: FrameId, tag: Tag) {
        if tag != Tag::Nothing || !self.tags.is_empty() {
            *self.with_tag(frame).1 = tag;
        }
    }

    /// Copies a section of so many bytes from one frame to another.
    pub fn copy_section(&mut self, from: FrameId, to: FrameId, len: usize) {
        if self.room <= SHORT {
            self.entries[to.place()].section = self.entries[from.place()].section;
            return;
        }
        let (start, end) = (from.place() * self.room, to.place() * self.room);
        self.sections.copy_within(start..start + len, end);
    }
}

/// Frames on their way from one part of a network to another, as they are.
#[derive(Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Crossings {
    /// When each arrives, and at which port.
    entries: Vec<(u64, PortId, Entry, Tag)>,
    #[cfg_attr(feature = "serde", serde(with = "serde_bytes"))]
    sections: Vec<u8>,
}

impl Crossings {
    /// How many.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the first of them arrives.
    pub fn first_at(&self) -> Option<Nanos> {
        self.entries.iter().map(|&(at, ..)| Nanos(at)).min()
    }

    /// Routes have changed: they are routed anew.
    pub fn forget_paths(&mut self) {
        self.entries.iter_mut().for_each(|(_, _, entry, _)| entry.forget_path());
    }

    /// A frame leaves this part.
    pub fn load(&mut self, frames: &mut Frames, frame: FrameId, at: u64, port: PortId) {
        let tag = frames.tags.get(frame.place()).copied().unwrap_or_default();
        self.entries.push((at, port, frames.entries[frame.place()], tag));
        if frames.room > SHORT {
            self.sections.extend_from_slice(&frames.sections[frame.place() * frames.room..][..frames.room]);
        }
        frames.release(frame);
    }

    /// All frames come to this part; `arrive` is given each with its port.
    pub fn unload(&mut self, frames: &mut Frames, mut arrive: impl FnMut(PortId, InFlight)) {
        for (place, (at, port, entry, tag)) in self.entries.drain(..).enumerate() {
            let frame = frames.take();
            frames.entries[frame.place()] = entry;
            frames.set_tag(frame, tag);
            if frames.room > SHORT {
                let room = frames.room;
                frames.sections[frame.place() * room..][..room].copy_from_slice(&self.sections[place * room..][..room]);
            }
            arrive(port, InFlight { at, rank: 0, frame });
        }
        self.sections.clear();
    }
}
