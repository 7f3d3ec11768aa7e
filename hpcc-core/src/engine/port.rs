// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of a link: the queues before it, its transmission, and what the far end has paused.

use super::frame::{Frames, NO_FRAME};
use crate::switch::{Backlog, PRIORITIES, Scheduler};
use crate::units::{BitRate, Nanos, PICOS, Rounding};
use alloc::boxed::Box;

/// Frames that wait, first and last; linked through themselves.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// What became of a port's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames sent.
    pub frames: u64,
    /// Bytes sent that only telemetry needs.
    pub telemetry_bytes: u64,
    /// Frames that were lost on their way here.
    pub lost: u64,
    /// Pauses that the far end has sent.
    pub pauses: u64,
}

/// A port. What each frame touches stands first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// When the present or last transmission ends, and the place of that among events.
    pub end_at: u64,
    pub end_rank: u64,
    /// An event will end the transmission.
    pub is_busy: bool,
    pub is_up: bool,
    /// An observer sees its frames.
    pub is_watched: bool,
    /// Which queues have frames; bits.
    pub waiting: u8,
    /// Which priorities are paused; bits.
    pub paused: u8,
    last_served: u8,
    /// The owner: a host has more to send than what waits here.
    pub is_host: bool,
    pub number: u16,
    pub node: u32,
    pub peer: u32,
    pub peer_port: u16,
    /// Picoseconds by which the last transmission ended late, where rates are exact.
    late: u16,
    /// Bytes that wait, all queues.
    pub queued: u32,
    /// Times of a long and of a short frame: bytes, and nanoseconds or, where rates are exact, picoseconds.
    known: [(u32, u32); 2],
    queues: [Queue; PRIORITIES],
    pub delay: Nanos,
    /// Which queue is next; `None`: in turn.
    pub scheduler: Option<Box<Scheduler>>,
    /// Which generator says what is lost on its way here.
    pub loss: Option<u32>,
    pub counters: PortCounters,
    pub rate: BitRate,
    /// Bytes for which a frame occupies the link besides its own.
    gap: u32,
    rounding: Rounding,
}

/// Frames below this size are short.
const LONG: u32 = 256;

impl Port {
    pub fn new(node: u32, number: u16, (peer, peer_port): (u32, u16), (rate, delay): (BitRate, Nanos)) -> Port {
        Port {
            end_at: 0,
            end_rank: 0,
            is_busy: false,
            is_up: true,
            is_watched: false,
            waiting: 0,
            paused: 0,
            last_served: 0,
            is_host: false,
            number,
            node,
            peer,
            peer_port,
            late: 0,
            queued: 0,
            known: [(0, 0); 2],
            queues: [Queue { head: NO_FRAME, tail: NO_FRAME }; PRIORITIES],
            rate,
            delay,
            gap: 0,
            rounding: Rounding::Nearest,
            scheduler: None,
            loss: None,
            counters: PortCounters::default(),
        }
    }

    /// How long frames take on the link.
    pub fn measure(&mut self, gap: u32, rounding: Rounding) {
        (self.gap, self.rounding) = (gap, rounding);
    }

    /// Whether a frame of this priority would leave at once if the port is idle.
    #[inline]
    pub fn is_open(&self, priority: u8) -> bool {
        self.waiting == 0
            && self.is_up
            && !self.is_watched
            && self.scheduler.is_none()
            && self.paused >> priority & 1 == 0
    }

    /// A frame leaves that has waited in no queue.
    #[inline]
    pub fn let_pass(&mut self, priority: u8) {
        self.is_busy = true;
        // Queue 0 is served before all others, and not by turns.
        if priority != 0 {
            self.last_served = priority;
        }
    }

    #[inline]
    pub fn enqueue(&mut self, frames: &mut Frames, frame: u32, queue: u8) {
        let bit = 1 << (queue & 7);
        let queue = &mut self.queues[usize::from(queue & 7)];
        let entry = frames.get_mut(frame);
        entry.next = NO_FRAME;
        self.queued += entry.size;
        if self.waiting & bit == 0 {
            queue.head = frame;
        } else {
            frames.get_mut(queue.tail).next = frame;
        }
        queue.tail = frame;
        self.waiting |= bit;
    }

    /// Loads what each frame touches.
    #[inline]
    pub fn load(&self) -> u32 {
        self.queued ^ self.queues[0].head ^ self.counters.frames as u32
    }

    /// The head of its first queue.
    #[inline]
    pub fn head(&self) -> Option<u32> {
        (self.waiting != 0).then(|| self.queues[self.waiting.trailing_zeros() as usize].head)
    }

    /// Bytes that wait in a queue.
    pub fn queued_of(&self, frames: &Frames, queue: u8) -> u64 {
        let mut place = self.queues[usize::from(queue & 7)].head;
        let mut bytes = 0;
        while self.waiting >> (queue & 7) & 1 != 0 && place != NO_FRAME {
            let frame = frames.get(place);
            (bytes, place) = (bytes + u64::from(frame.size), frame.next);
        }
        bytes
    }

    /// Takes the frame that leaves next.
    #[inline]
    pub fn dequeue(&mut self, frames: &Frames) -> Option<u32> {
        let mut queue = 0;
        if self.waiting & 1 == 0 {
            let ready = self.waiting & !self.paused;
            if ready == 0 {
                return None;
            }
            queue = if self.scheduler.is_some() { self.next_by_class(frames) } else { self.next_in_turn(ready) };
            self.last_served = queue;
        }
        Some(self.pop(frames, queue))
    }

    /// Takes a frame of any queue, paused or not, for the link has failed.
    pub fn dequeue_any(&mut self, frames: &Frames) -> Option<u32> {
        let paused = core::mem::take(&mut self.paused);
        let frame = self.dequeue(frames);
        self.paused = paused;
        frame
    }

    #[inline]
    fn pop(&mut self, frames: &Frames, queue: u8) -> u32 {
        let place = &mut self.queues[usize::from(queue & 7)];
        let frame = place.head;
        let entry = frames.get(frame);
        place.head = entry.next;
        self.queued -= entry.size;
        if place.head == NO_FRAME {
            self.waiting &= !(1 << (queue & 7));
        }
        frame
    }

    /// The first ready queue behind the one that was served last, round to itself.
    #[inline]
    fn next_in_turn(&self, ready: u8) -> u8 {
        let turn = u32::from(self.last_served) + 1;
        let twice = (u32::from(ready) | u32::from(ready) << PRIORITIES) >> turn;
        ((turn + twice.trailing_zeros()) % PRIORITIES as u32) as u8
    }

    fn next_by_class(&mut self, frames: &Frames) -> u8 {
        let mut backlog = Backlog { paused: self.paused, ..Backlog::default() };
        for (queue, bytes) in self.queues.iter().zip(&mut backlog.heads).skip(1) {
            *bytes = if queue.head == NO_FRAME { 0 } else { frames.get(queue.head).size };
        }
        self.scheduler.as_mut().and_then(|scheduler| scheduler.next(&backlog)).unwrap_or(self.last_served)
    }

    /// How long a frame that leaves now occupies the link.
    #[inline]
    pub fn tx_time(&mut self, now: u64, size: u32) -> u64 {
        let known = &mut self.known[usize::from(size >= LONG)];
        if known.0 != size {
            let time = match self.rounding {
                Rounding::Exact => self.rate.tx_picos(size + self.gap),
                Rounding::Nearest | Rounding::Floored => self.rate.tx_time(size + self.gap, self.rounding).0,
            };
            let Ok(short) = u32::try_from(time) else { return self.settle(now, time) };
            *known = (size, short);
        }
        let time = known.1.into();
        self.settle(now, time)
    }

    #[inline]
    fn settle(&mut self, now: u64, time: u64) -> u64 {
        if self.rounding != Rounding::Exact {
            return time;
        }
        // A frame that follows at once has begun when the last one ended exactly.
        let late = if now == self.end_at { u64::from(self.late) } else { 0 };
        let nanos = time.saturating_sub(late).div_ceil(PICOS);
        self.late = (nanos * PICOS + late - time) as u16;
        nanos
    }
}
