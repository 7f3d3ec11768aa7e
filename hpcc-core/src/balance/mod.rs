// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load balancing: which of several next hops a frame takes at a switch.
//!
//! A [`Scheme`] is a name with parameters, a [`LoadBalancer`] what it does at one switch. One file and one line in [`all`] for each.

mod adaptive;
mod conga;
mod conweave;
mod drill;
mod ecmp;
mod flowlet;
mod oblivious;
mod random;
mod settings;
#[cfg(test)]
mod testing;

pub use adaptive::Adaptive;
pub use conga::Conga;
pub use conweave::Conweave;
pub use drill::Drill;
pub use ecmp::{Ecmp, EcmpBalancer, FlowKey, HOST_SEED};
pub use flowlet::Flowlet;
pub use oblivious::Oblivious;
pub use random::Random;
pub use settings::{LoadBalancingSettings, SchemeFinder};

use crate::ids::FrameId;
use crate::random::Integers;
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
        Box::<Conweave>::default(),
    ]
}

/// A way to balance load, and its parameters.
pub trait Scheme: Send + Settings + CloneScheme + Debug {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &'static str;

    /// What it does at a switch of a network.
    fn start(&self, network: &Network, switch: u32) -> Box<dyn LoadBalancer>;

    /// Whether what it starts [keeps](LoadBalancer::keeps) flows to their ports.
    fn keeps(&self) -> bool {
        self.start(&Network::default(), 0).keeps()
    }

    /// Whether what it starts [tags](LoadBalancer::tags) frames.
    fn tags(&self) -> bool {
        self.start(&Network::default(), 0).tags()
    }

    /// Whether what it starts is a [program's](LoadBalancer::is_programmed).
    fn is_programmed(&self) -> bool {
        false
    }

    /// Whether it does what switches do without any setting.
    fn is_plain(&self) -> bool {
        false
    }

    /// Whether hosts get packets in order though a flow takes several paths.
    fn keeps_order(&self) -> bool {
        false
    }

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

    /// Whether it is a program's, which has a clock of its own: that has to be right in each of its calls.
    fn is_programmed(&self) -> bool {
        false
    }

    /// A frame comes in. If it goes on and has a choice, [`LoadBalancer::choose`] is asked next.
    fn on_arrival(&mut self, _: &mut Passing<'_>, _: &mut Errands) -> Fate {
        Fate::GoesOn
    }

    /// A frame leaves.
    fn on_departure(&mut self, _: &mut Passing<'_>) {}

    /// A time has come that [it asked for](Errands::wake).
    fn on_timeout(&mut self, _now: Nanos, _: &mut Errands) {}

    /// The one of at least two next hops that a frame takes.
    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16;
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
    /// Its addresses and ports.
    pub key: FlowKey,
    /// Its priority.
    pub priority: u8,
    /// Its id, by which a balancer that keeps it [gives it back](Errands::released).
    pub frame: FrameId,
    /// Whether it is a whole packet that the scheme is for: neither an answer nor headers without payload.
    pub is_balanced: bool,
    /// Whether a switch has marked it (ECN).
    pub is_marked: bool,
    /// Whether the switch has memory for it.
    pub may_wait: bool,
    /// Ports on shortest paths.
    pub hops: &'a [u16],
    /// What it carries.
    pub tag: &'a mut Tag,
    /// Random numbers of the switch.
    pub rand: &'a mut Integers,
}

/// What frames carry for load balancing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Tag {
    /// Nothing.
    #[default]
    Nothing,
    /// Loads.
    Conga(conga::Header),
    /// Epoch and path.
    Conweave(conweave::Header),
}

/// What becomes of a frame that has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is routed.
    GoesOn,
    /// The balancer keeps it.
    Waits,
    /// It was for the balancer.
    Ends,
}

/// What a switch does for its balancer besides.
#[derive(Debug, Default)]
pub struct Errands {
    /// Frames that were kept and go on now, in this order, ahead of one that has come in.
    pub released: Vec<FrameId>,
    /// Answers to the frame that has come in carry these to where that is from.
    pub answers: Vec<Tag>,
    /// When to call [`LoadBalancer::on_timeout`], besides what was asked for before.
    pub wake: Option<Nanos>,
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

/// The switch of each host, as a switch sees it: of several it is the nearest.
fn leaves(network: &Network, switch: u32) -> Vec<u32> {
    let mut leaves = vec![u32::MAX; network.nodes.len()];
    for link in &network.links {
        for (host, other) in [(link.a, link.b), (link.b, link.a)] {
            if network.is_host(host) && leaves[host as usize] != switch {
                leaves[host as usize] = other;
            }
        }
    }
    leaves
}

/// One of several, each as likely as the others.
fn any<T: Copy>(of: &[T], rand: &mut Integers) -> T {
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
