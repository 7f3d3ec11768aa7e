// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet memory that all ports of a switch share: admission, dynamic pause threshold, headroom.
//!
//! Bytes are accounted to the port and priority that they came in by. These may use a small reserve, then
//! their dynamic share of what is free, and - after the pause that exceeding the share sends - their headroom,
//! which covers what is still on the wire. Reserve and headroom are kept from the start, so that a switch never holds more than
//! its memory.

use super::{ByPriority, Priorities};
use crate::pfc::PRIORITIES;
use crate::recurrence::recurs;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;

/// Bytes that each ingress port and priority may use before it draws on the shared part.
pub const RESERVE: u32 = 4096;
/// A paused upstream resumes when its share is this far below the threshold.
pub(super) const RESUME_OFFSET: u32 = 3 * 1024;
/// A port at the host's rate pauses at 1/8 of the free buffer.
pub(super) const SHARE_SHIFT: u8 = 3;

/// Bytes of a PFC frame on a link, preamble and gap included.
const PFC_FRAME: u128 = 84;

/// What a user sets of pauses; where nothing is set it follows from the links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseConfig {
    /// Bytes that each port keeps for what arrives in a priority after its pause.
    pub headroom: Option<u32>,
    /// Bytes of the largest frame; 0: headroom that follows from links does not count frames.
    pub frame: u32,
    /// Most shared bytes of a port's priority before it pauses its sender, also while more are free.
    pub threshold: Option<u32>,
    /// For which each port keeps reserve and headroom; frames come in these only, or in priority 0.
    pub priorities: Priorities,
}

impl PauseConfig {
    /// What a port of this rate and delay keeps for what arrives in a priority after its pause, in bytes: as it is set, or three times what
    /// fits on the link in one direction, and at least what may come.
    ///
    /// That is the frame for which there was no room, what is on the link and what follows while the pause is on its way -
    /// the port ends a frame first, then sends the pause -, and the frame that the peer has begun by then.
    pub fn headroom(&self, rate: BitRate, delay: Nanos) -> u32 {
        self.headroom.unwrap_or_else(|| {
            let on_the_link = u128::from(rate.0) * u128::from(delay.0) / 8 / 1_000_000_000;
            let may_come = match self.frame {
                0 => 0,
                frame => 2 * on_the_link + 3 * u128::from(frame) + PFC_FRAME,
            };
            u32::try_from((3 * on_the_link).max(may_come)).unwrap_or(u32::MAX)
        })
    }
}

/// Usage by what came in through one port. Most frames look at its first cache line alone.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Ingress {
    /// Bytes in reserve and shared part.
    used: [u32; PRIORITIES],
    headroom: u32,
    /// By priority: which part of the free memory, as a power of 2, it may take before it is paused.
    share_shift: [u8; PRIORITIES],
    /// Bit n: priority n is paused.
    paused: u8,
    /// Bit n: priority n uses headroom.
    in_headroom: u8,
    headroom_used: [u32; PRIORITIES],
    /// Bit n: priority n is never paused.
    lossy: u8,
    /// A queue of such a priority loses frames that would make it longer than so many times what is free.
    alphas: Box<[f64; PRIORITIES]>,
}

impl Ingress {
    #[inline]
    fn shared(&self, priority: usize) -> u32 {
        self.used[priority].saturating_sub(RESERVE)
    }

    #[inline]
    fn headroom_used(&self, priority: usize) -> u32 {
        if self.in_headroom >> priority & 1 == 0 { 0 } else { self.headroom_used[priority] }
    }

    #[inline]
    fn set_headroom_used(&mut self, priority: usize, bytes: u32) {
        self.headroom_used[priority] = bytes;
        set_bit(&mut self.in_headroom, priority, bytes > 0);
    }

    fn is_lossy(&self, priority: usize) -> bool {
        self.lossy >> priority & 1 != 0
    }

    #[inline]
    fn is_paused(&self, priority: usize) -> bool {
        self.paused >> priority & 1 != 0
    }

    /// Whether its sender is paused, or it uses headroom: seldom.
    #[inline]
    fn needs_care(&self, priority: usize) -> bool {
        (self.paused | self.in_headroom) >> priority & 1 != 0
    }

    /// Frees bytes of reserve and shared part; returns how many were shared.
    #[inline]
    fn free(&mut self, priority: usize, size: u32) -> u32 {
        let from_shared = size.min(self.shared(priority));
        self.used[priority] = self.used[priority].saturating_sub(size);
        from_shared
    }
}

#[inline]
fn set_bit(bits: &mut u8, place: usize, value: bool) {
    *bits = *bits & !(1 << place) | u8::from(value) << place;
}

/// Whether a frame finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It does not; it is dropped.
    Drop,
    /// It does. `pause`: its priority's upstream must be paused.
    Admit {
        /// Send a PFC pause out of the ingress port.
        pause: bool,
    },
}

/// Accounting of a switch's packet memory.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    ports: Box<[Ingress]>,
    /// Bytes that the dynamic thresholds share out.
    sharable: u32,
    shared_used: u32,
    /// Most that a threshold is.
    most: u32,
}

impl SharedBuffer {
    /// What ports of these rates and delays keep for their priorities, in bytes: headroom and reserve.
    pub fn kept(pause: PauseConfig, ports: impl Iterator<Item = (BitRate, Nanos)>) -> u64 {
        let of_one = |(rate, delay)| u64::from(pause.headroom(rate, delay)) + u64::from(RESERVE);
        u64::from(pause.priorities.count()) * ports.map(of_one).sum::<u64>()
    }

    /// The part of `buffer_bytes` that is left to share, or `None` if what these ports keep leaves nothing.
    pub fn sharable(buffer_bytes: u64, pause: PauseConfig, ports: &[(BitRate, Nanos)]) -> Option<u32> {
        let kept = Self::kept(pause, ports.iter().copied());
        buffer_bytes.checked_sub(kept).filter(|&left| left > 0).map(|left| u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Memory for ports of these rates and delays. `host_rate` is the rate of the network's hosts: faster
    /// ports may use a larger share. Without anything left to share every port lives on its reserve.
    pub fn new(buffer_bytes: u64, pause: PauseConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) -> Self {
        let ingress = |&(rate, delay): &(BitRate, Nanos)| Ingress {
            used: [0; PRIORITIES],
            headroom: pause.headroom(rate, delay),
            share_shift: [share_shift(SHARE_SHIFT, rate, host_rate); PRIORITIES],
            paused: 0,
            in_headroom: 0,
            headroom_used: [0; PRIORITIES],
            lossy: 0,
            alphas: Box::new([1.0; PRIORITIES]),
        };
        SharedBuffer {
            ports: ports.iter().map(ingress).collect(),
            sharable: Self::sharable(buffer_bytes, pause, ports).unwrap_or(0),
            shared_used: 0,
            most: pause.threshold.unwrap_or(u32::MAX),
        }
    }

    /// The same, where some priorities are never paused. They count as in headroom, so that only frames of theirs take longer
    /// to be admitted. Some priorities have an alpha of their own, which is a power of 2 of those that are paused.
    #[must_use]
    pub fn with_classes(
        mut self,
        lossy: Priorities,
        alpha: f64,
        own: &ByPriority<f64>,
        host_rate: BitRate,
        rates: impl Iterator<Item = BitRate>,
    ) -> Self {
        for (ingress, rate) in self.ports.iter_mut().zip(rates) {
            ingress.lossy = lossy.bits();
            *ingress.alphas = own.map(|own| own.unwrap_or(alpha));
            ingress.in_headroom |= lossy.bits();
            for (shift, own) in ingress.share_shift.iter_mut().zip(own) {
                *shift = own.map_or(*shift, |alpha| share_shift(halvings(alpha), rate, host_rate));
            }
        }
        self
    }

    /// The dynamic threshold of a port's priority while so many bytes of the shared part are used.
    #[inline]
    fn threshold(&self, port: &Ingress, priority: usize, shared_used: u32) -> u32 {
        (self.sharable.saturating_sub(shared_used) >> port.share_shift[priority]).min(self.most)
    }

    /// The priorities whose sender at a port is paused: bit n stands for priority n.
    pub fn paused(&self, port: usize) -> u8 {
        self.ports[port].paused
    }

    /// Whether a frame of `size` bytes that comes and goes at once pauses and resumes nobody, and is not dropped. It leaves all
    /// accounts as they are then.
    #[inline]
    pub fn can_cut_through(&self, port: usize, priority: usize, size: u32) -> bool {
        let ingress = &self.ports[port];
        let used = ingress.used[priority] + size;
        let shared_used = self.shared_used + used.saturating_sub(RESERVE).min(size);
        let below = size + ingress.shared(priority) < self.threshold(ingress, priority, shared_used);
        below && !ingress.needs_care(priority)
    }

    /// Whether a frame of `size` bytes that comes in for a queue of `queue` bytes is not dropped.
    #[inline]
    pub fn has_room(&self, port: usize, queue: u32, priority: usize, size: u32) -> bool {
        let ingress = &self.ports[port];
        if ingress.is_lossy(priority) {
            let free = self.sharable.saturating_sub(self.shared_used);
            return size <= free && f64::from(queue) + f64::from(size) <= ingress.alphas[priority] * f64::from(free);
        }
        size + ingress.headroom_used(priority) <= ingress.headroom
            || size + ingress.shared(priority) <= self.threshold(ingress, priority, self.shared_used)
    }

    /// A frame of `size` bytes came in for a queue of `queue` bytes.
    #[inline]
    pub fn admit(&mut self, port: usize, queue: u32, priority: usize, size: u32) -> Admission {
        if !self.can_cut_through(port, priority, size) {
            return self.admit_with_care(port, queue, priority, size);
        }
        let used = &mut self.ports[port].used[priority];
        *used += size;
        self.shared_used += used.saturating_sub(RESERVE).min(size);
        Admission::Admit { pause: false }
    }

    /// The same where the frame may use headroom, pause its sender or be dropped.
    #[cold]
    fn admit_with_care(&mut self, port: usize, queue: u32, priority: usize, size: u32) -> Admission {
        if !self.has_room(port, queue, priority, size) {
            return Admission::Drop;
        }
        let threshold = self.threshold(&self.ports[port], priority, self.shared_used);
        let ingress = &mut self.ports[port];
        if ingress.is_lossy(priority) {
            ingress.used[priority] += size;
            self.shared_used += size;
            return Admission::Admit { pause: false };
        }
        let headroom_used = ingress.headroom_used(priority);
        let used = ingress.used[priority] + size;
        let shared = used.saturating_sub(RESERVE);
        if shared > threshold {
            ingress.set_headroom_used(priority, headroom_used + size);
        } else {
            ingress.used[priority] = used;
            self.shared_used += shared.min(size);
        }
        let threshold = self.threshold(&self.ports[port], priority, self.shared_used);
        let ingress = &mut self.ports[port];
        let over = ingress.headroom_used(priority) > 0 || ingress.shared(priority) >= threshold;
        let pause = over && !ingress.is_paused(priority);
        if pause {
            set_bit(&mut ingress.paused, priority, true);
        }
        Admission::Admit { pause }
    }

    /// A frame of `size` bytes that had come in by `port` left; headroom is freed first. Returns whether a paused upstream may
    /// go on; if so it counts as resumed.
    #[inline]
    pub fn release(&mut self, port: usize, priority: usize, size: u32) -> bool {
        let ingress = &mut self.ports[port];
        if ingress.needs_care(priority) {
            return self.release_with_care(port, priority, size);
        }
        self.shared_used -= ingress.free(priority, size);
        false
    }

    /// The same where headroom is used, or the sender is paused.
    #[cold]
    fn release_with_care(&mut self, port: usize, priority: usize, size: u32) -> bool {
        if self.ports[port].is_lossy(priority) {
            self.ports[port].used[priority] -= size;
            self.shared_used -= size;
            return false;
        }
        let ingress = &mut self.ports[port];
        let headroom_used = ingress.headroom_used(priority);
        let from_headroom = headroom_used.min(size);
        ingress.set_headroom_used(priority, headroom_used - from_headroom);
        self.shared_used -= ingress.free(priority, size - from_headroom);
        self.take_resume(port, priority)
    }

    /// Whether a paused upstream may go on; if so it counts as resumed.
    fn take_resume(&mut self, port: usize, priority: usize) -> bool {
        let threshold = self.threshold(&self.ports[port], priority, self.shared_used);
        let ingress = &mut self.ports[port];
        let shared = ingress.shared(priority);
        let below = shared == 0 || shared.saturating_add(RESUME_OFFSET) <= threshold;
        let resume = ingress.is_paused(priority) && ingress.headroom_used(priority) == 0 && below;
        if resume {
            set_bit(&mut ingress.paused, priority, false);
        }
        resume
    }
}

/// How often 1 is halved for this share, a power of 2.
pub fn halvings(mut share: f64) -> u8 {
    let mut shift = 0;
    while share < 1.0 && shift < 16 {
        share *= 2.0;
        shift += 1;
    }
    shift
}

/// The share doubles with each doubling of the rate over the hosts'.
pub(super) fn share_shift(mut shift: u8, rate: BitRate, host_rate: BitRate) -> u8 {
    let mut rate = rate.0;
    while rate > host_rate.0 && shift > 0 {
        rate /= 2;
        shift -= 1;
    }
    shift
}

// Pauses end with the frames that they are for: nothing recurs while there are any.
recurs! {
    Ingress {
        used: plain,
        headroom: constant,
        share_shift: constant,
        paused: absent,
        in_headroom: plain,
        headroom_used: plain,
        lossy: constant,
        alphas: constant,
    }
}
recurs! { SharedBuffer { ports: part, sharable: constant, shared_used: plain, most: constant, } }

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BY_LINK: PauseConfig =
        PauseConfig { headroom: None, frame: 0, threshold: None, priorities: Priorities::NONE.with(3) };
    const G100: (BitRate, Nanos) = (BitRate::gbps(100), Nanos(1_000));

    fn buffer(bytes: u64, ports: usize) -> SharedBuffer {
        SharedBuffer::new(bytes, BY_LINK, BitRate::gbps(100), &alloc::vec![G100; ports])
    }

    /// The 2019 simulator printed headroom 37500 and shift 3 for 100 Gb/s and 1 us.
    #[test]
    fn headroom_and_share_follow_the_link() {
        assert_eq!(BY_LINK.headroom(G100.0, G100.1), 37_500);
        assert_eq!(share_shift(SHARE_SHIFT, BitRate::gbps(100), BitRate::gbps(100)), 3);
        assert_eq!(share_shift(SHARE_SHIFT, BitRate::gbps(400), BitRate::gbps(100)), 1);
        assert_eq!(
            share_shift(SHARE_SHIFT, BitRate::gbps(1_600), BitRate::gbps(100)),
            0,
            "no port has more than all that is free"
        );
        assert_eq!(SharedBuffer::sharable(32 << 20, BY_LINK, &[G100; 3]), Some((32 << 20) - 3 * (37_500 + 4096)));
        assert_eq!(SharedBuffer::sharable(1000, BY_LINK, &[G100]), None);
        assert_eq!([41_596, 41_597].map(|bytes| SharedBuffer::sharable(bytes, BY_LINK, &[G100])), [None, Some(1)]);
        assert_eq!(SharedBuffer::sharable(1 << 40, BY_LINK, &[G100]), Some(u32::MAX), "all that can be counted");
    }

    /// One port of a switch that shares out 10 000 bytes, which uses `shared` of them and `headroom_used` of a headroom
    /// of 1000 bytes in priority 3, and is paused. Its threshold is what it does not use.
    fn in_use(sharable: u32, shared: u32, headroom_used: u32) -> SharedBuffer {
        let of_three = |value| core::array::from_fn(|priority| if priority == 3 { value } else { 0 });
        let port = Ingress {
            used: of_three(RESERVE + shared),
            headroom: 1_000,
            share_shift: [0; PRIORITIES],
            paused: u8::MAX,
            in_headroom: u8::from(headroom_used > 0) << 3,
            headroom_used: of_three(headroom_used),
            lossy: 0,
            alphas: Box::new([1.0; PRIORITIES]),
        };
        SharedBuffer { ports: Box::new([port]), sharable, shared_used: shared, most: u32::MAX }
    }

    /// 4000 bytes are used of a share that is 6000 then: 2000 more are the share, one more is not.
    #[test]
    fn a_frame_may_fill_the_share_and_the_headroom_to_the_last_byte() {
        let admits = |headroom_used, size| {
            let mut buffer = in_use(10_000, 4_000, headroom_used);
            let admitted = buffer.admit(0, 0, 3, size) != Admission::Drop;
            let Ingress { used, headroom_used, .. } = &buffer.ports[0];
            (admitted, used[3] - RESERVE, headroom_used[3])
        };
        assert_eq!(admits(1_000, 2_000), (true, 6_000, 1_000));
        assert_eq!(admits(1_000, 2_001), (false, 4_000, 1_000));
        assert_eq!((in_use(10_000, 10_000, 0).admit(0, 0, 3, 1_000)), Admission::Admit { pause: false });
        assert_eq!((in_use(10_000, 10_000, 0).admit(0, 0, 3, 1_001)), Admission::Drop);
    }

    #[test]
    fn a_frame_that_leaves_frees_headroom_before_the_share() {
        let mut buffer = in_use(10_000, 4_000, 400);
        buffer.release(0, 3, 1_000);
        let Ingress { used, headroom_used, .. } = &buffer.ports[0];
        assert_eq!((used[3] - RESERVE, headroom_used[3], buffer.shared_used), (3_400, 0, 3_400));
    }

    /// 3072 bytes below the threshold, or with nothing shared; and only without anything in the headroom.
    #[test]
    fn a_paused_port_resumes_well_below_its_threshold() {
        let resumes = |sharable, shared, headroom| in_use(sharable, shared, headroom).take_resume(0, 3);
        assert_eq!((resumes(100, 0, 0), resumes(100, 0, 1)), (true, false));
        assert_eq!((resumes(10_000, 3_464, 0), resumes(10_000, 3_465, 0)), (true, false));
        assert!(!resumes(10_000, 3_464, 1));
    }

    /// 20,000 bytes and the reserve of 4,096 are passed with the 23rd frame of 1,090; 5,000 bytes of headroom hold four more,
    /// with the one that caused the pause.
    #[test]
    fn a_port_pauses_at_the_threshold_and_has_the_headroom_that_are_set() {
        let pause = PauseConfig { headroom: Some(5_000), threshold: Some(20_000), ..BY_LINK };
        let mut buffer = SharedBuffer::new(1 << 20, pause, BitRate::gbps(100), &[G100; 9]);
        let mut count = |wanted| (0..).take_while(|_| buffer.admit(0, 0, 3, 1_090) == wanted).count();
        assert_eq!(count(Admission::Admit { pause: false }), 22);
        assert_eq!(count(Admission::Admit { pause: false }), 3);
        assert_eq!((buffer.paused(0), buffer.paused(1)), (1 << 3, 0));
        assert_eq!(SharedBuffer::sharable(1 << 20, pause, &[G100; 9]), Some((1 << 20) - 9 * (5_000 + RESERVE)));
    }

    #[test]
    fn what_comes_in_goes_out() {
        let mut buffer = buffer(1 << 20, 9);
        let mut held = Vec::new();
        for n in 0..400usize {
            let (port, priority, size) = (n % 9, 1 + n % 7, 60 + (n as u32 * 131) % 1400);
            if buffer.admit(port, 0, priority, size) != Admission::Drop {
                held.push((port, priority, size));
            }
        }
        for (port, priority, size) in held {
            buffer.release(port, priority, size);
        }
        assert_eq!(buffer.shared_used, 0);
        for port in &buffer.ports {
            assert_eq!((port.used, port.headroom_used), ([0; PRIORITIES], [0; PRIORITIES]));
        }
    }

    /// The same frames, once by the short ways where these are taken and once with care throughout, through a buffer that is
    /// nearly always too small.
    #[test]
    fn the_short_way_does_what_care_does() {
        let pause = PauseConfig { headroom: Some(5_000), ..BY_LINK };
        let mut short = SharedBuffer::new(100_000, pause, BitRate::gbps(100), &[G100; 3]);
        let mut careful = short.clone();
        let mut held = Vec::new();
        let (mut chance, mut pauses, mut drops, mut resumes) = (1u32, 0, 0, 0);
        for _ in 0..20_000 {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (port, priority, size) =
                ((chance >> 8) as usize % 3, 1 + (chance >> 12) as usize % 3, 60 + (chance >> 16) % 1_400);
            if chance >> 31 == 0 || held.is_empty() {
                let admission = short.admit(port, 0, priority, size);
                assert_eq!(careful.admit_with_care(port, 0, priority, size), admission);
                drops += usize::from(admission == Admission::Drop);
                pauses += usize::from(admission == Admission::Admit { pause: true });
                if admission != Admission::Drop {
                    held.push((port, priority, size));
                }
            } else {
                let (port, priority, size) = held.swap_remove((chance >> 4) as usize % held.len());
                let resume = short.release(port, priority, size);
                assert_eq!(careful.release_with_care(port, priority, size), resume);
                resumes += usize::from(resume);
            }
            let state = |buffer: &SharedBuffer| alloc::format!("{buffer:?}");
            assert_eq!(state(&short), state(&careful));
        }
        assert!(pauses > 50 && resumes > 50 && drops > 50, "{pauses} {resumes} {drops}");
    }

    /// Seven priorities fill both ports, each to its share and its headroom. Where memory is kept for one of them, as in the
    /// 2019 simulator, the switch holds more than it has.
    #[test]
    fn what_priorities_keep_is_part_of_the_memory() {
        let all = (1..PRIORITIES as u8).fold(Priorities::NONE, Priorities::with);
        let held = |memory: u32, priorities| {
            let pause = PauseConfig { priorities, ..BY_LINK };
            let mut buffer = SharedBuffer::new(memory.into(), pause, BitRate::gbps(100), &[G100; 2]);
            let pairs = || (0..2).flat_map(|port| (1..PRIORITIES).map(move |priority| (port, priority)));
            let frames = (0..2_000).flat_map(|_| pairs());
            let admitted = frames.filter(|&(port, of)| buffer.admit(port, 0, of, 1_000) != Admission::Drop).count();
            1_000 * admitted as u32
        };
        // With nothing left to share, and with much.
        for memory in [14 * (37_500 + RESERVE), 1 << 20] {
            let (of_one, of_all) = (held(memory, Priorities::default()), held(memory, all));
            assert!(of_one > memory, "{of_one} of {memory}");
            assert!(of_all <= memory && of_all > memory * 3 / 4, "{of_all} of {memory}");
        }
    }

    /// 5 takes half of what is free, and then loses frames; 3 is paused and loses none.
    #[test]
    fn lossy_priorities_are_dropped_and_never_paused_beside_lossless_ones() {
        let mut buffer = buffer(1 << 20, 2).with_classes(
            Priorities::NONE.with(5),
            1.0,
            &[None; PRIORITIES],
            G100.0,
            [G100.0; 2].into_iter(),
        );
        let sharable = buffer.sharable;
        let mut queue = 0;
        while buffer.admit(0, queue, 5, 1_000) == (Admission::Admit { pause: false }) {
            queue += 1_000;
        }
        assert!((sharable / 2..sharable / 2 + 1_000).contains(&queue), "{queue} of {sharable}");
        assert_eq!((buffer.shared_used, buffer.paused(0)), (queue, 0));
        assert_eq!(buffer.admit(0, 0, 5, 1_000), Admission::Admit { pause: false }, "another, shorter queue");
        let mut admitted = 0;
        let paused = (0..).find(|_| {
            admitted += 1;
            buffer.admit(1, 0, 3, 1_000) == Admission::Admit { pause: true }
        });
        assert!(paused.is_some() && buffer.paused(1) == 1 << 3);
        let rest = (0..37).filter(|_| buffer.admit(1, 0, 3, 1_000) != Admission::Drop).count();
        assert!(rest > 30, "the headroom takes what comes after the pause");
        for _ in 0..queue / 1_000 + 1 {
            assert!(!buffer.release(0, 5, 1_000));
        }
        let lossless = admitted + rest as u32;
        let resumed = (0..lossless).filter(|_| buffer.release(1, 3, 1_000)).count();
        assert_eq!((resumed, buffer.shared_used, buffer.paused(1)), (1, 0, 0));
    }
}
