// SPDX-License-Identifier: MIT OR Apache-2.0
//! An egress port's account: its rate, what waits, and which queue lengths mark a frame.

use super::{ByPriority, Head, PRIORITIES, SwitchConfig, TrimConfig};
use crate::balance::Ports;
use crate::ecn::EcnThreshold;
use crate::random::Rng;
use crate::recurrence::recurs;
use crate::telemetry::Snapshot;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A port's rate and counters: what each frame touches, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct EgressPort {
    pub rate: BitRate,
    /// Bytes that left, all frames.
    pub tx_bytes: u64,
    /// Bytes that wait, by priority; of priority 0 headers of cut packets alone are accounted.
    pub queued: [u32; PRIORITIES],
    /// Up to so many bytes behind it in its queue no frame is marked; most queues never have more.
    unmarked: u32,
    /// Place of the ECN threshold that says what is marked beyond, in the switch's list.
    ecn: u16,
    /// Bytes beyond which data in a queue is cut, and headers are dropped.
    pub most_data: u32,
    pub most_headers: u32,
}

const _: () = assert!(size_of::<EgressPort>() == 64);

impl EgressPort {
    /// A port that has sent nothing. It marks by the threshold for its rate; without one, never.
    pub fn new(rate: BitRate, marks: &Marks, trimming: Option<&TrimConfig>) -> Self {
        let (most_data, most_headers) = trimming.map_or((u32::MAX, 0), |trimming| trimming.limits(rate));
        let ecn = (0..).zip(&marks.thresholds).find(|(_, threshold)| threshold.rate == rate);
        EgressPort {
            rate,
            tx_bytes: 0,
            queued: [0; PRIORITIES],
            unmarked: marks.least(rate, ecn.map(|(_, ecn)| ecn)),
            ecn: ecn.map_or(0, |(place, _)| place),
            most_data,
            most_headers,
        }
    }

    pub fn set_rate(&mut self, rate: BitRate, marks: &Marks) {
        (self.rate, self.unmarked) = (rate, marks.least(rate, marks.thresholds.get(usize::from(self.ecn))));
    }

    /// Whether a frame of a priority that leaves so many bytes of its queue behind is marked.
    #[inline]
    pub fn marks(&self, marks: &Marks, priority: usize, queue: u32, rng: &mut Rng) -> bool {
        queue > self.unmarked && self.may_mark(marks, priority, queue, rng)
    }

    fn may_mark(&self, marks: &Marks, priority: usize, queue: u32, rng: &mut Rng) -> bool {
        let own = marks.classes.as_ref().and_then(|classes| classes[priority]).map(|own| own.scaled(self.rate));
        let threshold = own.or_else(|| marks.thresholds.get(usize::from(self.ecn)).copied());
        threshold.is_some_and(|threshold| threshold.marks(queue.into(), || rng.marks.uniform()))
    }

    /// What telemetry may report of it.
    #[inline]
    pub fn snapshot(&self, switch_id: u32, egress: u16, now: Nanos, head: &Head) -> Snapshot {
        Snapshot {
            switch_id,
            ingress: head.ingress,
            egress,
            queue: head.priority,
            hop_limit: head.hop_limit,
            rate: self.rate,
            arrived: head.arrived,
            now,
            tx_bytes: self.tx_bytes,
            qlen: head.queue,
        }
    }
}

/// When frames are marked.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// By the rate of a port.
    pub thresholds: Vec<EcnThreshold>,
    /// Of priorities that have their own.
    classes: Option<Box<ByPriority<EcnThreshold>>>,
}

impl Marks {
    /// Up to so many bytes of a queue no frame is marked at a port of this rate, which has this threshold.
    pub fn least(&self, rate: BitRate, ecn: Option<&EcnThreshold>) -> u32 {
        let of_classes = self.classes.iter().flat_map(|classes| classes.iter().flatten());
        let least = of_classes.map(|own| own.scaled(rate).kmin).chain(ecn.map(|ecn| ecn.kmin)).min();
        least.map_or(u32::MAX, |kmin| u32::try_from(kmin).unwrap_or(u32::MAX))
    }

    pub fn new(config: &SwitchConfig) -> Marks {
        if !config.ecn {
            return Marks::default();
        }
        let own = config.class_ecn;
        let classes = own.iter().any(Option::is_some).then(|| Box::new(own));
        Marks { thresholds: config.ecn_thresholds.clone(), classes }
    }
}

/// What is known of all ports.
pub(super) struct View<'a> {
    pub ports: &'a [EgressPort],
    /// What each may not send, as bits.
    pub paused: &'a [u8],
}

impl Ports for View<'_> {
    fn queued(&self, port: u16) -> u32 {
        self.ports[usize::from(port)].queued.iter().sum()
    }

    fn rate(&self, port: u16) -> BitRate {
        self.ports[usize::from(port)].rate
    }

    fn is_paused(&self, port: u16, priority: u8) -> bool {
        self.paused[usize::from(port)] >> (priority & 7) & 1 != 0
    }
}

recurs! {
    EgressPort {
        rate: constant,
        tx_bytes: count,
        queued: plain,
        unmarked: constant,
        ecn: constant,
        most_data: constant,
        most_headers: constant,
    }
}
