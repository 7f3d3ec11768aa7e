// SPDX-License-Identifier: GPL-2.0-only
//! Load balancing that is written in C++ (`ns3::QbbLoadBalancer`), as a scheme of the core.

use crate::congestion_ops::{Class, kept};
use hpcc_core::balance::{Choice, FlowKey, LoadBalancer, Scheme};
use hpcc_core::random::Integers;
use hpcc_core::topology::Network;
use std::fmt;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    /// `hpcc_core::balance::Choice`, without the ports.
    #[derive(Clone, Copy)]
    struct BalancerChoice {
        now_ns: u64,
        dst: u32,
        src_address: u32,
        dst_address: u32,
        sport: u16,
        dport: u16,
        priority: u8,
    }

    /// A next hop.
    #[derive(Clone, Copy)]
    struct BalancerHop {
        port: u16,
        queued_bytes: u32,
        rate_bps: u64,
        is_paused: bool,
    }

    extern "Rust" {
        /// Random numbers of the port by which a packet has come.
        type Draws<'a>;
        /// The next one.
        // SAFETY: whoever has them has them for the time of a call.
        unsafe fn draw<'a>(self: &mut Draws<'a>) -> u32;
        /// The hash by which switches choose among paths.
        fn hash_flow(src_address: u32, dst_address: u32, sport: u16, dport: u16, seed: u32) -> u32;
    }

    unsafe extern "C++" {
        include!("model/core-load-balancer.h");

        /// What balances load at one switch.
        type CoreLoadBalancer;
        fn is_load_balancer(name: &str) -> bool;
        /// Why a name belongs to no such class.
        fn why_no_load_balancer(name: &str) -> String;
        /// Attributes that differ from their initial values are given as name and value by turns.
        fn new_load_balancer(name: &str, attributes: &[String], switch_index: u32) -> UniquePtr<CoreLoadBalancer>;
        fn choose(
            self: Pin<&mut CoreLoadBalancer>,
            choice: &BalancerChoice,
            hops: &[BalancerHop],
            draws: &mut Draws,
        ) -> u16;
    }
}

use ffi::{BalancerChoice, BalancerHop, CoreLoadBalancer};

pub struct Draws<'a>(&'a mut Integers);

impl Draws<'_> {
    fn draw(&mut self) -> u32 {
        self.0.draw()
    }
}

pub fn hash_flow(src_address: u32, dst_address: u32, sport: u16, dport: u16, seed: u32) -> u32 {
    FlowKey { src_address, dst_address, sport, dport }.hash(seed)
}

/// The scheme of a registered class; the error says which names there are besides the core's.
pub fn find(name: &str) -> Result<Box<dyn Scheme>, String> {
    if ffi::is_load_balancer(name) {
        return Ok(Box::new(Class::of_attributes(name)));
    }
    let expected = "the name of a class derived from ns3::QbbLoadBalancer";
    if !name.contains("::") {
        return Err(expected.into());
    }
    Err(format!("{expected}; {}", ffi::why_no_load_balancer(name)))
}

impl Scheme for Class {
    fn name(&self) -> &'static str {
        kept(self.class_name())
    }

    fn start(&self, _: &Network, switch: u32) -> Box<dyn LoadBalancer> {
        let attributes: Vec<String> =
            self.changed().into_iter().flat_map(|attribute| [attribute.name, attribute.value]).collect();
        let object = ffi::new_load_balancer(self.class_name(), &attributes, switch);
        Box::new(OfProgram { object, hops: Vec::new() })
    }

    fn keeps(&self) -> bool {
        false
    }

    fn tags(&self) -> bool {
        false
    }

    fn is_programmed(&self) -> bool {
        true
    }
}

/// An object of the program at one switch.
struct OfProgram {
    object: cxx::UniquePtr<CoreLoadBalancer>,
    /// Used again for each packet.
    hops: Vec<BalancerHop>,
}

// SAFETY: ns-3 runs in one thread, and a switch of its program never leaves it.
unsafe impl Send for OfProgram {}

impl fmt::Debug for OfProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfProgram").finish_non_exhaustive()
    }
}

impl LoadBalancer for OfProgram {
    fn is_programmed(&self) -> bool {
        true
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        let &Choice { now, dst, key, priority, hops, ports } = choice;
        let hop = |&port: &u16| BalancerHop {
            port,
            queued_bytes: ports.queued(port),
            rate_bps: ports.rate(port).0,
            is_paused: ports.is_paused(port, priority),
        };
        self.hops.clear();
        self.hops.extend(hops.iter().map(hop));
        let &FlowKey { src_address, dst_address, sport, dport } = key;
        let told = BalancerChoice { now_ns: now.0, dst, src_address, dst_address, sport, dport, priority };
        self.object.pin_mut().choose(&told, &self.hops, &mut Draws(rand))
    }
}
