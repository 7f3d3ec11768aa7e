// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load balancing: which of several next hops a frame takes at a switch.
//!
//! A [`Scheme`] is a name with parameters, a [`LoadBalancer`] what it does at one switch. One file and one line in [`all`] for each.

mod adaptive;
mod conga;
mod drill;
mod ecmp;
mod flowlet;
mod oblivious;
mod random;
mod settings;
#[cfg(test)]
mod testing;

pub use adaptive::Adaptive;
pub use conga::{Conga, Tag};
pub use drill::Drill;
pub use ecmp::{Ecmp, EcmpBalancer, FlowKey, HOST_SEED};
pub use flowlet::Flowlet;
pub use oblivious::Oblivious;
pub use random::Random;
pub use settings::LoadBalancingSettings;

use crate::random::GlibcRand;
use crate::settings::{Conflict, Settings};
use crate::topology::Network;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;

/// All schemes; the first is the default.
pub fn all() -> Vec<Box<dyn Scheme>> {
    vec![
        Box::<Ecmp>::default(),
        Box::new(Random),
        Box::new(Oblivious),
        Box::<Flowlet>::default(),
        Box::<Drill>::default(),
        Box::<Adaptive>::default(),
        Box::<Conga>::default(),
    ]
}

/// A way to balance load, and its parameters.
pub trait Scheme: Send + Settings + CloneScheme + Debug {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &'static str;

    /// What it does at a switch of a network.
    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer>;

    /// Checks parameters against each other.
    ///
    /// # Errors
    /// The first that contradicts another one.
    fn check(&self) -> Result<(), Conflict> {
        Ok(())
    }
}

/// What a switch decides by.
pub trait LoadBalancer: Send + Debug {
    /// Whether all frames of a flow leave by one port until routes change. Such a choice depends on nothing but the flow's key and
    /// the next hops, is kept by who asks, and holds for answers as well; other schemes are asked about data alone.
    fn keeps(&self) -> bool {
        false
    }

    /// Whether frames carry a [`Tag`], and it hears of each that comes and goes.
    fn tags(&self) -> bool {
        false
    }

    /// A frame comes in, before it is routed.
    fn on_arrival(&mut self, _: &mut Passing<'_>) {}

    /// A frame leaves.
    fn on_departure(&mut self, _: &mut Passing<'_>) {}

    /// The one of at least two next hops that a frame takes.
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut GlibcRand) -> u16;
}

/// A frame that has come in, and where it may go.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The present time.
    pub now: Nanos,
    /// The node that it goes to.
    pub dst: u32,
    /// Its addresses and ports.
    pub key: &'a FlowKey,
    /// Its priority.
    pub priority: u8,
    /// Ports on shortest paths.
    pub hops: &'a [u16],
    /// What is known of all ports.
    pub ports: &'a dyn Ports,
}

/// A frame that comes to a switch or leaves it.
#[derive(Debug)]
pub struct Passing<'a> {
    /// The present time.
    pub now: Nanos,
    /// The node that it is from.
    pub src: u32,
    /// The node that it goes to.
    pub dst: u32,
    /// The port by which it comes or leaves.
    pub port: u16,
    /// Its bytes on the link.
    pub size: u32,
    /// What it carries.
    pub tag: &'a mut Tag,
}

/// The ports of a switch.
pub trait Ports {
    /// Bytes that wait at a port, without the frame that is leaving.
    fn queued(&self, port: u16) -> u32;
    /// The rate of its link.
    fn rate(&self, port: u16) -> BitRate;
    /// Whether the far end pauses a priority.
    fn is_paused(&self, port: u16, priority: u8) -> bool;
}

/// One of several, each as likely as the others.
fn any<T: Copy>(of: &[T], rand: &mut GlibcRand) -> T {
    of[rand.draw() as usize % of.len()]
}

/// Cloning behind `dyn Scheme`; every scheme that is [`Clone`] has it.
pub trait CloneScheme {
    /// A scheme with the same parameters.
    fn clone_scheme(&self) -> Box<dyn Scheme>;
}

impl<T: Scheme + Clone + 'static> CloneScheme for T {
    fn clone_scheme(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Scheme> {
    fn clone(&self) -> Self {
        self.as_ref().clone_scheme()
    }
}
