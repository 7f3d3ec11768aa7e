// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch for tests of schemes.

use super::{Choice, FlowKey, LoadBalancer, Passing, Ports, Scheme, Tag};
use crate::ids::FrameId;
use crate::random::Integers;
use crate::topology::Network;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;

/// A scheme at switch 9, whose ports are as a test says.
pub struct Bench {
    balancer: Box<dyn LoadBalancer>,
    pub rand: Integers,
    pub ports: Given,
}

/// Ports, of which those that a test does not name are idle.
#[derive(Default)]
pub struct Given {
    pub queued: [u32; 16],
    pub slow: [bool; 16],
    pub paused: [bool; 16],
}

impl Ports for Given {
    fn queued(&self, port: u16) -> u32 {
        self.queued[usize::from(port)]
    }

    fn rate(&self, port: u16) -> BitRate {
        BitRate::gbps(if self.slow[usize::from(port)] { 100 } else { 400 })
    }

    fn is_paused(&self, port: u16, priority: u8) -> bool {
        priority == 3 && self.paused[usize::from(port)]
    }
}

impl Bench {
    pub fn new(scheme: &dyn Scheme) -> Bench {
        Bench { balancer: scheme.start(&Network::default(), 9), rand: Integers::new(1), ports: Given::default() }
    }

    /// A packet of the flow with this source port to node 1.
    pub fn choose(&mut self, now: u64, sport: u16, hops: &[u16]) -> u16 {
        self.choose_to(now, sport, hops, 1)
    }

    pub fn choose_to(&mut self, now: u64, sport: u16, hops: &[u16], dst: u32) -> u16 {
        let key = &FlowKey { sport, ..FlowKey::default() };
        let choice = Choice { now: Nanos(now), dst, key, priority: 3, hops, ports: &self.ports };
        self.balancer.choose(&choice, &mut self.rand)
    }
}

/// A packet from one host to another at a port, with next hops 1 and 2.
pub fn passing<'a>(
    now: u64,
    (src, dst): (u32, u32),
    port: u16,
    tag: &'a mut Tag,
    rand: &'a mut Integers,
) -> Passing<'a> {
    let key = FlowKey { src_address: src, dst_address: dst, sport: 10, dport: 20 };
    Passing {
        now: Nanos(now),
        src,
        dst,
        port,
        size: 1_000,
        key,
        priority: 3,
        frame: FrameId(0),
        is_balanced: true,
        is_marked: false,
        may_wait: true,
        hops: &[1, 2],
        tag,
        rand,
    }
}
