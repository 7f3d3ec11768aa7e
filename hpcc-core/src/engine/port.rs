// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of a link: the queues before it, its transmission, and what the far end has paused.

use super::credits::Credits;
use super::frames::Frames;
use super::retry::Retry;
use crate::frame::PacketKind;
use crate::ids::{FrameId, PortId};
use crate::recurrence::recurs;
use crate::switch::{Backlog, PRIORITIES, Scheduler};
use crate::units::{BitRate, ExactNanos, LinkClock, Nanos, Rounding};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem::offset_of;

/// A port. What each frame touches stands first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Port {
    /// When the present or last transmission ends, and the place of that among events.
    pub end_at: u64,
    pub end_rank: u64,
    pub delay: Nanos,
    /// Nanoseconds of a short and of a long frame of these bytes.
    times: [u32; 2],
    sizes: [u16; 2],
    pub number: u16,
    /// Whether times have parts of nanoseconds.
    is_exact: bool,
    /// It is up, and its link leaves to it what it sends next.
    pub is_free: bool,
    pub node: u32,
    /// Place of the port at the other end, and its node.
    pub peer: PortId,
    pub peer_node: u32,
    /// Bytes that wait, all queues.
    pub queued: u32,
    /// An event will end the transmission.
    pub is_busy: bool,
    pub is_up: bool,
    /// An observer sees its frames.
    pub is_watched: bool,
    /// The owner: a host has more to send than what waits here.
    pub is_host: bool,
    has_scheduler: bool,
    /// Which queues have frames; bits.
    pub waiting: u8,
    /// Which priorities are paused; bits.
    pub paused: u8,
    last_served: u8,
    // What frames that waited touch.
    /// Parts of a nanosecond that the times of a short and of a long frame have besides.
    parts: [u32; 2],
    clock: LinkClock,
    queues: [VecDeque<FrameId>; PRIORITIES],
    /// Priorities that are paused and whose frames are dropped; bits.
    pub dropping: u8,
    /// Which queue is next; `None`: in turn.
    scheduler: Option<Box<Scheduler>>,
    /// When the pacer of a host's port wakes up, and the place of that among events; `u64::MAX`: never.
    pub wake_at: u64,
    pub wake_rank: u64,
    /// Bytes that it has sent, if it is a host's.
    pub sent: u64,
    /// What comes here arrives; the nodes at both ends may not know that it does not.
    pub is_whole: bool,
    /// Which generator says what is lost on its way here.
    pub loss: Option<u32>,
    /// Which says what comes here with wrong bits.
    pub noise: Option<u32>,
    /// Whether the program judges what comes here.
    pub is_judged: bool,
    /// Frames that these have spoilt.
    pub errors: u64,
    pub rate: BitRate,
    /// What its link sends again, if it does.
    pub retry: Option<Box<Retry>>,
    /// What it may send to the switch at the far end, if that gives credits.
    pub credits: Option<Box<Credits>>,
    /// Bytes for which a frame occupies the link besides its own.
    gap: u32,
    rounding: Rounding,
}

const _: () = assert!(offset_of!(Port, parts) == 64);

/// Most frames that are loaded ahead.
const SOON: usize = 12;
/// Frames below this size are short.
const LONG: u32 = 256;

impl Port {
    pub fn new(node: u32, number: u16, peer_node: u32, (rate, delay): (BitRate, Nanos)) -> Port {
        Port {
            end_at: 0,
            end_rank: 0,
            delay,
            times: [0; 2],
            sizes: [0; 2],
            number,
            is_exact: false,
            is_free: true,
            parts: [0; 2],
            clock: LinkClock::new(rate, Rounding::Nearest, 1),
            node,
            peer: PortId::default(),
            peer_node,
            queued: 0,
            is_busy: false,
            is_up: true,
            is_watched: false,
            is_host: false,
            has_scheduler: false,
            waiting: 0,
            paused: 0,
            last_served: 0,
            queues: [const { VecDeque::new() }; PRIORITIES],
            dropping: 0,
            scheduler: None,
            wake_at: u64::MAX,
            wake_rank: 0,
            sent: 0,
            is_whole: true,
            loss: None,
            noise: None,
            is_judged: false,
            errors: 0,
            retry: None,
            credits: None,
            rate,
            gap: 0,
            rounding: Rounding::Nearest,
        }
    }

    /// Its queues are served by classes.
    pub fn serve_by(&mut self, scheduler: Scheduler) {
        (self.scheduler, self.has_scheduler) = (Some(Box::new(scheduler)), true);
    }

    /// Its link fails or comes up.
    pub fn set_up(&mut self, up: bool) {
        self.is_up = up;
        self.is_free = up && self.retry.as_ref().is_none_or(|retry| !retry.has_port);
    }

    /// Whether its link chooses what it sends next.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.is_up && !self.is_free
    }

    /// Its link chooses what it sends next, or leaves that to it.
    pub fn leave_to_link(&mut self, has_port: bool) {
        if let Some(retry) = &mut self.retry {
            retry.has_port = has_port;
        }
        self.set_up(self.is_up);
    }

    /// Priorities that the far end pauses by PFC; bits.
    pub fn paused_by_pfc(&self) -> u8 {
        self.credits.as_ref().map_or(self.paused, |credits| credits.paused)
    }

    /// The far end pauses these priorities, and no others.
    pub fn set_paused_by_pfc(&mut self, paused: u8) {
        self.paused = self.credits.as_mut().map_or(paused, |credits| credits.pause(paused));
    }

    /// The link has another rate from the next frame on.
    pub fn set_rate(&mut self, rate: BitRate) {
        (self.rate, self.sizes) = (rate, [0; 2]);
        self.clock = LinkClock::new(rate, self.rounding, u32::MAX);
    }

    /// How long frames take on the link.
    pub fn measure(&mut self, gap: u32, rounding: Rounding) {
        (self.gap, self.rounding, self.is_exact) = (gap, rounding, rounding == Rounding::Exact);
        self.clock = LinkClock::new(self.rate, rounding, u32::MAX);
    }

    /// Whether a frame of this priority would leave at once if the port is idle.
    #[inline]
    pub fn is_open(&self, priority: u8) -> bool {
        self.waiting == 0 && self.is_free && !self.is_watched && !self.has_scheduler && self.paused >> priority & 1 == 0
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
    pub fn enqueue(&mut self, frames: &Frames, frame: FrameId, queue: u8) {
        self.queued += frames.get(frame).size;
        self.queues[usize::from(queue & 7)].push_back(frame);
        self.waiting |= 1 << (queue & 7);
    }

    /// Queues that begin with a packet of a host's stack; bits.
    pub fn packets(&self, frames: &Frames) -> u8 {
        let is_packet = |queue: &VecDeque<FrameId>| queue.front().is_some_and(|&f| frames.get(f).is_of_stack());
        self.queues.iter().rev().fold(0, |bits, queue| bits << 1 | u8::from(is_packet(queue)))
    }

    /// Bytes that wait in a queue.
    pub fn queued_of(&self, frames: &Frames, queue: u8) -> u64 {
        if self.waiting == 1 << (queue & 7) {
            return self.queued.into();
        }
        self.queues[usize::from(queue & 7)].iter().map(|&frame| u64::from(frames.get(frame).size)).sum()
    }

    /// Loads the frames that may leave within a window of so many nanoseconds: these loads do not wait for each other.
    #[inline]
    pub fn load(&self, window: u64, frames: &Frames) -> u32 {
        if self.waiting == 0 {
            return 0;
        }
        // Queue 0 has short frames, and is empty soon.
        let waiting = &self.queues[7 - self.waiting.leading_zeros() as usize];
        let soon = window as usize / self.times[1].max(1) as usize + 1;
        waiting.iter().take(soon.min(SOON)).fold(0, |sum, &frame| sum ^ frames.load(frame))
    }

    /// Takes the frame that leaves next.
    #[inline]
    pub fn dequeue(&mut self, frames: &Frames) -> Option<FrameId> {
        self.dequeue_of(u8::MAX, frames)
    }

    /// The same of these queues alone; bits, all of them where queues are served by classes.
    #[inline]
    pub fn dequeue_of(&mut self, queues: u8, frames: &Frames) -> Option<FrameId> {
        let (waiting, mut queue) = (self.waiting & queues, 0);
        if waiting & 1 == 0 {
            let ready = waiting & !self.paused;
            if ready == 0 {
                return None;
            }
            queue = if self.has_scheduler { self.next_by_class(frames) } else { self.next_in_turn(ready) };
            self.last_served = queue;
        }
        self.pop(frames, queue)
    }

    /// Takes a frame of any queue, paused or not, for the link has failed.
    pub fn dequeue_any(&mut self, frames: &Frames) -> Option<FrameId> {
        let paused = core::mem::take(&mut self.paused);
        let frame = self.dequeue(frames);
        self.paused = paused;
        frame
    }

    /// Bytes that wait in a queue and came in by a port.
    pub fn bytes_from(&self, frames: &Frames, queue: u8, ingress: u16) -> u64 {
        let waiting = self.queues[usize::from(queue & 7)].iter().map(|&frame| frames.get(frame));
        waiting.filter(|frame| frame.ingress == ingress).map(|frame| u64::from(frame.size)).sum()
    }

    /// Where the frames of a queue came in, by their order.
    pub fn ingresses(&self, frames: &Frames, queue: u8) -> impl Iterator<Item = u16> {
        self.queues[usize::from(queue & 7)].iter().map(|&frame| frames.get(frame).ingress)
    }

    /// Takes the first frame of a queue.
    #[inline]
    pub fn pop(&mut self, frames: &Frames, queue: u8) -> Option<FrameId> {
        let waiting = &mut self.queues[usize::from(queue & 7)];
        let frame = waiting.pop_front()?;
        if waiting.is_empty() {
            self.waiting &= !(1 << (queue & 7));
        }
        self.queued -= frames.get(frame).size;
        Some(frame)
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
            *bytes = queue.front().map_or(0, |&frame| frames.get(frame).size);
        }
        self.scheduler.as_mut().and_then(|scheduler| scheduler.next(&backlog)).unwrap_or(self.last_served)
    }

    /// Takes the first pause or resume that waits.
    pub fn take_pfc(&mut self, frames: &Frames) -> Option<FrameId> {
        let waiting = &mut self.queues[0];
        let place = waiting.iter().position(|&frame| frames.get(frame).kind == PacketKind::Pfc)?;
        let pfc = waiting.remove(place)?;
        self.waiting &= !u8::from(waiting.is_empty());
        self.queued -= frames.get(pfc).size;
        Some(pfc)
    }

    /// Takes the last frame of a queue, if it is data.
    #[cold]
    pub fn take_last_data(&mut self, frames: &Frames, queue: u8) -> Option<FrameId> {
        let waiting = &mut self.queues[usize::from(queue & 7)];
        let last = *waiting.back().filter(|&&frame| frames.get(frame).kind == PacketKind::Data)?;
        waiting.pop_back();
        if waiting.is_empty() {
            self.waiting &= !(1 << (queue & 7));
        }
        self.queued -= frames.get(last).size;
        Some(last)
    }

    /// When a frame that leaves now begins: as soon as the last one ended, to parts of nanoseconds, where it follows at once.
    #[inline]
    pub fn begins(&self, now: Nanos) -> ExactNanos {
        if self.is_exact && now.0 == self.end_at { self.clock.begins(now) } else { now.into() }
    }

    /// A frame leaves now: until when it occupies the link.
    #[inline]
    pub fn send(&mut self, now: Nanos, size: u32) {
        let kind = usize::from(size >= LONG);
        let is_known = u32::from(self.sizes[kind]) == size;
        let mut nanos = if is_known { self.times[kind].into() } else { self.measure_frame(size, kind) };
        if self.is_exact {
            nanos = self.clock.pass(now.0 == self.end_at, (nanos, self.parts[kind]));
        }
        self.end_at = now.0 + nanos;
    }

    /// Whole nanoseconds of a size that is not known; parts of one are kept.
    fn measure_frame(&mut self, size: u32, kind: usize) -> u64 {
        let (nanos, parts) = self.clock.time(self.rate, size + self.gap, self.rounding);
        self.parts[kind] = parts;
        let known = u16::try_from(size).ok().zip(u32::try_from(nanos).ok());
        (self.sizes[kind], self.times[kind]) = known.unwrap_or_default();
        nanos
    }
}

// Which of several events of a nanosecond comes first is told by whoever knows them all: see `skip::order`. What frames take is
// measured anew for each size.
recurs! {
    Port {
        end_at: past,
        end_rank: elsewhere,
        delay: constant,
        times: derived,
        sizes: derived,
        number: constant,
        is_exact: constant,
        is_free: plain,
        node: constant,
        peer: constant,
        peer_node: constant,
        queued: plain,
        is_busy: plain,
        is_up: plain,
        is_watched: absent,
        is_host: constant,
        has_scheduler: absent,
        waiting: plain,
        paused: absent,
        last_served: plain,
        parts: derived,
        clock: part,
        queues: elsewhere,
        dropping: absent,
        scheduler: absent,
        wake_at: wake,
        wake_rank: elsewhere,
        sent: count,
        is_whole: plain,
        loss: absent,
        noise: absent,
        is_judged: absent,
        errors: steady,
        retry: absent,
        credits: absent,
        rate: plain,
        gap: constant,
        rounding: constant,
    }
}

impl Port {
    /// The frames that wait here, queue by queue.
    pub fn waiting_frames(&self) -> impl Iterator<Item = (usize, FrameId)> + '_ {
        let numbered = self.queues.iter().enumerate();
        numbered.flat_map(|(queue, frames)| frames.iter().map(move |&frame| (queue, frame)))
    }

    /// Nanoseconds of the long frame that was sent last; 0 before the first.
    pub fn long_frame(&self) -> u64 {
        self.times[1].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::frame::Frame;
    use alloc::vec::Vec;

    #[test]
    fn queue_0_leaves_first_then_the_others_in_turn() {
        let (mut frames, mut port) = (Frames::new(0), Port::new(0, 0, 1, (BitRate::gbps(100), Nanos(0))));
        let mut enqueue = |port: &mut Port, queue| {
            let f = frames.take();
            *frames.get_mut(f) = Frame { priority: queue, size: 1_000, ..Frame::default() };
            port.enqueue(&frames, f, queue);
        };
        [7, 3, 3, 3, 5, 5, 0, 0, 1].into_iter().for_each(|queue| enqueue(&mut port, queue));
        let mut order = Vec::new();
        port.paused = 1 << 5;
        for n in 0..9 {
            if n == 4 {
                port.paused = 0;
            }
            order.extend(port.dequeue(&frames).map(|f| frames.get(f).priority));
        }
        assert_eq!(order, [0, 0, 1, 3, 5, 7, 3, 5, 3], "5 is paused until the fifth");
        assert_eq!((port.queued, port.waiting), (0, 0));
    }
}
