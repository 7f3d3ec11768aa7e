// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets of a flow alone, one after the other, as the simulator sends, stamps and acknowledges them.
//!
//! A packet starts on a link when it is there and the link is free. What a packet meets therefore follows from when each link is
//! free, and from a few numbers of its sender and receiver. Sooner or later these repeat, but for a delay; then the rest of
//! the packets is skipped, so that a long flow takes no longer to reckon than a short one.

use super::UnloadedFlow;
use crate::telemetry::{Sampler, Sampling, seal};
use crate::transport::feedback::{FeedbackContent, Return, accumulated_len};
use crate::transport::message;
use crate::units::{BitRate, LinkClock, Nanos, Rounding};
use alloc::vec::Vec;

/// A link of a flow's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnloadedLink {
    /// Bits per second.
    pub rate: BitRate,
    /// Its propagation delay.
    pub delay: Nanos,
    /// Switches before it that add a record to the packets that pass.
    pub records: u8,
}

/// What a flow alone finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnloadedPath {
    /// The links to its destination.
    pub there: Vec<UnloadedLink>,
    /// The links of the way back.
    pub back: Vec<UnloadedLink>,
    /// T, as the flow's sender and receiver are told.
    pub base_rtt: Nanos,
    /// The window that it begins with, 0 for none.
    pub window: u64,
    /// Rate limit of the flow; it counts below its link's rate.
    pub most: BitRate,
}

impl UnloadedPath {
    /// The pace of its sender as a link before all others, if that is slower than the first.
    pub(super) fn pace(&self) -> Option<UnloadedLink> {
        let first = self.there.first().filter(|first| self.most < first.rate)?;
        Some(UnloadedLink { rate: self.most, delay: Nanos(0), ..*first })
    }
}

/// Up to here every message of a flow opens with its longer header; further on they are too many to be reckoned one by one, and
/// make a flow longer by less than 10^-7.
const LAST_OPENING: u64 = 1 << 44;
/// Parts of a nanosecond that are told apart: exact times of all rates of whole Mb/s repeat themselves after fewer frames.
const MOST_PARTS: u32 = 1 << 20;

/// A link, or the pace of a sender, and when it is free.
#[derive(Clone, Copy, Debug)]
struct Lane {
    link: UnloadedLink,
    free: Nanos,
    clock: LinkClock,
    /// Parts of nanoseconds for which it has been sending.
    sending: u128,
    /// The last size, and its time.
    last: (u32, (u64, u32)),
}

impl Lane {
    fn new(link: &UnloadedLink, rounding: Rounding) -> Lane {
        let clock = LinkClock::new(link.rate, rounding, MOST_PARTS);
        Lane { link: *link, free: Nanos(0), clock, sending: 0, last: (0, (0, 0)) }
    }

    /// A frame that occupies it for so many bytes is there at `ready`; returns when it has arrived at the other end.
    fn pass(&mut self, ready: Nanos, bytes: u32, rounding: Rounding) -> Nanos {
        if self.last.0 != bytes {
            self.last = (bytes, self.clock.time(self.link.rate, bytes, rounding));
        }
        let (start, time) = (ready.max(self.free), self.last.1);
        // A frame that follows at once begins when the last one ended exactly.
        self.free = start + Nanos(self.clock.pass(start == self.free, time));
        self.sending = self.sending.saturating_add(self.parts(Nanos(time.0)) + u128::from(time.1));
        self.free + self.link.delay
    }

    /// A time in parts of its clock.
    fn parts(&self, time: Nanos) -> u128 {
        u128::from(time.0) * u128::from(self.clock.denominator())
    }

    /// Time since an `earlier` state, if busy throughout or, where fed more slowly, as far ahead as what `comes`.
    fn ahead(&self, earlier: &Lane, comes: Option<Nanos>) -> Option<Nanos> {
        let (time, sending) = (self.free - earlier.free, self.sending - earlier.sending);
        let least = self.parts(comes.unwrap_or(time));
        let expected = if sending == 0 { 0 } else { sending.max(least) };
        (self.clock == earlier.clock && self.parts(time) == expected).then_some(time)
    }
}

/// What a receiver keeps of telemetry that it has not sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PendingFeedback {
    /// Bytes of the newest answer.
    answer: u32,
    /// Sections, where acknowledgements bring several.
    sections: u8,
    /// Whether it knows records that it can compare the next ones with.
    compares: bool,
    /// When its last round of T began.
    round: Nanos,
}

/// Everything that the next packet's times depend on.
#[derive(Clone, Debug)]
struct State {
    /// First byte of the next packet.
    seq: u64,
    /// End of the last packet whose acknowledgement was asked for.
    requested: u64,
    /// What its sender's pace lets leave, where it has one of its own. At line rate that is whatever the first link does.
    pace: Option<Lane>,
    sampler: Sampler,
    kept: PendingFeedback,
    /// Links there, then back.
    lanes: Vec<Lane>,
}

/// A flow under way.
pub struct Run<'a> {
    flow: &'a UnloadedFlow,
    path: &'a UnloadedPath,
    size: u64,
    state: State,
    finished: Option<Nanos>,
}

/// How far a state is ahead of one that it repeats.
struct Period {
    /// Sequence numbers.
    bytes: u64,
    /// Time on each link.
    times: Vec<Nanos>,
}

/// An earlier state, and packets that it is compared with the states of.
struct Mark {
    state: State,
    age: u32,
    until: u32,
}

impl<'a> Run<'a> {
    /// A flow of `size` bytes, above 0.
    pub fn new(flow: &'a UnloadedFlow, path: &'a UnloadedPath, size: u64) -> Run<'a> {
        // Probes that fill a link leave no ideal time: there is one without them.
        let is_filled = flow.sampling == Sampling::Probes
            && path.base_rtt < flow.probe_room(path.there.iter().map(|link| link.rate));
        let sampling = if is_filled { Sampling::Never } else { flow.sampling };
        let state = State {
            seq: 0,
            requested: 0,
            pace: path.pace().map(|pace| Lane::new(&pace, flow.rounding())),
            sampler: Sampler::new(sampling, path.base_rtt),
            kept: PendingFeedback::default(),
            lanes: path.there.iter().chain(&path.back).map(|link| Lane::new(link, flow.rounding())).collect(),
        };
        Run { flow, path, size, state, finished: None }
    }

    /// When it is finished, and how many of its packets were reckoned for that: all, unless it `skips`.
    pub fn finish(mut self, skips: bool) -> (Nanos, u64) {
        let (mut mark, mut sent) = (None, 0);
        while self.state.seq < self.size {
            self.send();
            sent += 1;
            mark = if skips { self.skip(mark) } else { None };
        }
        (self.finished.unwrap_or_default(), sent)
    }

    fn mtu(&self) -> u64 {
        self.flow.transport.mtu.max(1).into()
    }

    /// The next packet leaves, arrives, and is answered.
    fn send(&mut self) {
        self.send_probes();
        let now = self.state.free();
        let State { seq, ref mut sampler, .. } = self.state;
        let collects = sampler.on_data(now);
        let payload = (self.size - seq).min(self.mtu()) as u32;
        let first = self.opens(seq);
        self.pace(now, self.data(payload, first, collects, 0));
        let arrived = self.there(now, |run, records| run.data(payload, first, collects, records));
        self.state.seq = seq + u64::from(payload);
        self.answer(arrived, collects);
    }

    /// Probes leave ahead of a packet if they are due when it could.
    fn send_probes(&mut self) {
        loop {
            let now = self.state.free();
            let Some(due) = self.state.sampler.poll_timeout().filter(|&due| due <= now) else { return };
            // A packet is always in flight until the flow is finished.
            self.state.sampler.on_timeout(due, 1);
            let arrived = self.there(due, |run, records| run.data(0, false, true, records));
            let feedback = self.report(arrived, true);
            if feedback > 0 {
                self.back(arrived, self.flow.sizes.feedback(self.sealed(feedback)));
            }
        }
    }

    /// Bytes of a data frame or probe that has passed so many switches which add a record.
    fn data(&self, payload: u32, first: bool, collects: bool, records: u8) -> u32 {
        let section = if collects { self.flow.layout.len_after(records.into()) as u32 } else { 0 };
        self.flow.sizes.data(payload, first, section)
    }

    /// A frame of `frame` bytes leaves now: when the next may.
    fn pace(&mut self, now: Nanos, frame: u32) {
        let (bytes, rounding) = (frame + self.flow.gap, self.flow.rounding());
        if let Some(pace) = &mut self.state.pace {
            // As the queue pair keeps its pace where a port is less than a nanosecond late.
            let port = self.state.lanes.first().filter(|port| port.free == now);
            let begins = port.map_or(now.into(), |port| port.clock.begins(now));
            let is_kept = rounding == Rounding::Exact && begins.is_within_a_nanosecond_of(pace.clock.begins(pace.free));
            pace.pass(if is_kept { pace.free } else { now }, bytes, rounding);
        }
    }

    /// When a frame that is ready at `at` has arrived, of a length that depends on the records in it.
    fn there(&mut self, at: Nanos, frame: impl Fn(&Self, u8) -> u32) -> Nanos {
        let mut at = at;
        for place in 0..self.path.there.len() {
            let bytes = frame(self, self.state.lanes[place].link.records) + self.flow.gap;
            at = self.state.lanes[place].pass(at, bytes, self.flow.rounding());
        }
        at
    }

    /// The same of a frame on its way back.
    fn back(&mut self, at: Nanos, frame: u32) -> Nanos {
        let (bytes, rounding) = (frame + self.flow.gap, self.flow.rounding());
        self.state.lanes[self.path.there.len()..].iter_mut().fold(at, |at, lane| lane.pass(at, bytes, rounding))
    }

    /// A packet has arrived, which ends before the next one begins.
    fn answer(&mut self, arrived: Nanos, collects: bool) {
        let is_last = self.state.seq >= self.size;
        if !self.flow.is_acknowledged {
            self.finished = is_last.then_some(arrived);
            return;
        }
        let acks = self.acknowledges(is_last);
        let answer = self.report(arrived, collects);
        let mut ack = 0;
        if self.flow.feedback.by == Return::Notification {
            if answer > 0 {
                let heard = self.back(arrived, self.flow.sizes.feedback(self.sealed(answer)));
                if is_last && self.flow.feedback.notification_acks {
                    self.finished = Some(heard);
                }
            }
        } else {
            ack = self.keep(answer, acks);
        }
        if acks {
            let heard = self.back(arrived, self.flow.sizes.ack(ack));
            if is_last {
                self.finished.get_or_insert(heard);
            }
        }
    }

    /// Whether the packet before the next one is acknowledged. The last one is: a flow without that never ends.
    fn acknowledges(&mut self, is_last: bool) -> bool {
        let (transport, end) = (&self.flow.transport, self.state.seq);
        if transport.ack_every == 0 {
            return is_last || transport.acknowledges(end);
        }
        let asks = is_last || end >= self.state.requested.saturating_add(transport.asks_every(self.path.window));
        if asks {
            self.state.requested = end;
        }
        asks
    }

    /// Bytes of the receiver's answer to telemetry, without its seal.
    fn report(&mut self, now: Nanos, collects: bool) -> u32 {
        let records = self.path.there.last().map_or(0, |link| usize::from(link.records));
        let UnloadedFlow { answer, layout, .. } = self.flow;
        let has_records = collects && records > 0 && layout.max_hops().is_some_and(|most| records <= most);
        let kept = &mut self.state.kept;
        match answer {
            FeedbackContent::Records if collects => layout.len_after(records) as u32,
            FeedbackContent::BusiestLink if has_records => crate::telemetry::link_codec::LEN as u32,
            FeedbackContent::Loads if has_records => {
                if core::mem::replace(&mut kept.compares, true) {
                    records as u32
                } else {
                    0
                }
            }
            FeedbackContent::Window if has_records => {
                let commits = kept.compares && now > kept.round + self.path.base_rtt;
                if commits || !core::mem::replace(&mut kept.compares, true) {
                    kept.round = now;
                }
                if commits { size_of::<u32>() as u32 } else { 0 }
            }
            FeedbackContent::Records
            | FeedbackContent::BusiestLink
            | FeedbackContent::Loads
            | FeedbackContent::Window
            | FeedbackContent::Nothing => 0,
        }
    }

    /// Bytes of telemetry in the acknowledgement of a packet with this answer; it is kept if there is none.
    fn keep(&mut self, answer: u32, acks: bool) -> u32 {
        let UnloadedFlow { feedback, layout, is_echo, .. } = self.flow;
        let kept = &mut self.state.kept;
        if *is_echo {
            return answer;
        }
        if feedback.accumulates() {
            kept.sections = (kept.sections + u8::from(answer > 0)).min(feedback.records_per_ack);
            let records = self.path.there.last().map_or(0, |link| usize::from(link.records));
            kept.answer = accumulated_len(kept.sections.into(), layout.len_after(records)) as u32;
        } else if answer > 0 {
            kept.answer = answer;
        }
        if !acks {
            return 0;
        }
        let answer = core::mem::take(&mut kept.answer);
        kept.sections = 0;
        self.sealed(answer)
    }

    fn sealed(&self, answer: u32) -> u32 {
        answer + if self.flow.feedback.seal.is_some() { seal::TAG_LEN as u32 } else { 0 }
    }

    /// Whether a packet opens a message.
    fn opens(&self, seq: u64) -> bool {
        seq <= LAST_OPENING && message::opens(seq, self.flow.transport.mtu.max(1))
    }

    /// Whole packets from the next one on that neither open a message nor end the flow.
    fn alike(&self) -> u64 {
        let State { seq, .. } = self.state;
        if self.opens(seq) {
            return 0;
        }
        let last = (self.size - 1) / self.mtu() * self.mtu();
        let opening = message::next_opening(seq, self.flow.transport.mtu.max(1));
        let end = if opening <= LAST_OPENING { last.min(opening) } else { last };
        end.saturating_sub(seq) / self.mtu()
    }

    /// Skips packets if the state repeats a marked one. The mark moves on so that a state before which nothing repeats is left
    /// behind, and no period is too long.
    fn skip(&mut self, mark: Option<Mark>) -> Option<Mark> {
        let alike = self.alike();
        if alike == 0 {
            return None;
        }
        let Some(mut mark) = mark else { return Some(Mark { state: self.state.clone(), age: 0, until: 1 }) };
        mark.age += 1;
        if let Some(period) = self.period(&mark.state) {
            let times = alike / u64::from(mark.age);
            self.state.advance(&period, times, self.path.there.len());
            return None;
        }
        if mark.age < mark.until {
            return Some(mark);
        }
        Some(Mark { state: self.state.clone(), age: 0, until: mark.until.saturating_mul(2) })
    }

    /// How far the state is ahead of an earlier one, if all that follows repeats what followed then.
    ///
    fn period(&self, earlier: &State) -> Option<Period> {
        let State { seq, requested, pace, sampler, kept, lanes } = &self.state;
        let bytes = seq - earlier.seq;
        let transport = &self.flow.transport;
        if transport.ack_every == 0 && earlier.seq < transport.ack_offset.into()
            || transport.ack_every > 0 && requested.wrapping_sub(earlier.requested) != bytes
        {
            return None;
        }
        let mut times: Vec<Nanos> = Vec::with_capacity(lanes.len());
        let lead = lanes.first()?.free - earlier.lanes.first()?.free;
        let (mut comes, mut arrives) = (None, lead);
        if let (Some(pace), Some(before)) = (pace, &earlier.pace) {
            comes = Some(pace.ahead(before, None)?);
        }
        for (place, (lane, before)) in lanes.iter().zip(&earlier.lanes).enumerate() {
            let time = lane.ahead(before, comes)?;
            times.push(time);
            if lane.sending > before.sending {
                comes = Some(time);
            }
            if place < self.path.there.len() {
                arrives = time;
            }
        }
        let repeats = *sampler == earlier.sampler.later(lead) && *kept == earlier.kept.later(arrives);
        repeats.then_some(Period { bytes, times })
    }
}

impl PendingFeedback {
    fn later(&self, by: Nanos) -> PendingFeedback {
        PendingFeedback { round: if self.round > Nanos(0) { self.round + by } else { self.round }, ..*self }
    }
}

impl State {
    /// When the first link and the pace let the next frame leave.
    fn free(&self) -> Nanos {
        self.lanes.first().into_iter().chain(&self.pace).map(|lane| lane.free).max().unwrap_or_default()
    }

    /// The same state so many periods later; `there` links lead to the destination.
    fn advance(&mut self, period: &Period, times: u64, there: usize) {
        let so_long = |time: Nanos| Nanos(time.0.saturating_mul(times));
        let lead = period.times.first().copied().unwrap_or_default();
        self.seq += period.bytes * times;
        self.requested += period.bytes * times;
        if let Some(pace) = &mut self.pace {
            pace.free += so_long(lead);
        }
        self.sampler = self.sampler.later(so_long(lead));
        let arrives = there.checked_sub(1).and_then(|last| period.times.get(last)).copied().unwrap_or_default();
        self.kept = self.kept.later(so_long(arrives));
        for (lane, &time) in self.lanes.iter_mut().zip(&period.times) {
            lane.free += so_long(time);
        }
    }
}
