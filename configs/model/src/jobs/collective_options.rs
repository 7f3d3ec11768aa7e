// SPDX-License-Identifier: GPL-2.0-only
//! How collectives are done.

use super::{Protocol, Tuning};
use crate::job::Trial;
use hpcc_core::settings::Named;
use hpcc_core::units::Nanos;
use hpcc_core::workload::collective::{self, Collective, Kind, Layout, Order, PATTERNS, Parts, Pattern, Plan};
use std::sync::Arc;

/// Of all ranks of a collective together: each takes some 200 bytes.
const MOST_UNDER_WAY: u64 = 1 << 22;
/// Between all ranks of a collective: each takes some 3 kB when it is used.
const MOST_PAIRS: u64 = 1 << 24;

/// How a collective is done.
#[derive(Clone, Debug)]
pub struct CollectiveOptions {
    /// The name of the algorithm; `None`: the usual one; `auto`: the model's; `fastest`: the usual one, until it is tried.
    pub algorithm: Option<String>,
    /// `None`: whole messages, or what the model chooses.
    pub protocol: Option<Protocol>,
    /// `None`: as many as the smallest server has NICs, where the algorithm leaves servers by one in each channel.
    pub channels: Option<u16>,
    /// `None`: NCCL's pieces, where pieces can follow each other.
    pub chunk: Option<u64>,
    /// Chunks of a channel that may be on their way from a rank to the next; at least 1.
    pub depth: u32,
    /// Messages of a rank that may be on their way in an exchange; at least 1, or [`Self::ALL_AT_ONCE`].
    pub window: u32,
    /// In an all-to-all the n-th rank gets as much as n to the power of minus this.
    pub skew: f64,
    /// What the model of NCCL chooses by.
    pub tuning: Tuning,
}

impl Default for CollectiveOptions {
    fn default() -> CollectiveOptions {
        CollectiveOptions {
            algorithm: None,
            protocol: None,
            channels: None,
            chunk: None,
            depth: 8,
            window: CollectiveOptions::ALL_AT_ONCE,
            skew: 0.0,
            tuning: Tuning::default(),
        }
    }
}

/// The algorithm that the model chooses.
const AUTO: &str = "auto";
/// The algorithm that is the soonest when it is tried.
const FASTEST: &str = "fastest";
/// Messages of NCCL: an eighth of its buffer of 4 MiB.
pub const STEP: u64 = 512 << 10;

impl CollectiveOptions {
    /// A chunk that is all the data of a channel.
    pub const ONE_PIECE: u64 = u64::MAX;
    /// A window that bounds nothing.
    pub const ALL_AT_ONCE: u32 = u32::MAX;

    /// The algorithm of a kind. An error is a key and what is wrong with it.
    pub fn pattern(&self, kind: Kind) -> Result<&'static Pattern, (&'static str, String)> {
        let name = self.algorithm.as_deref().filter(|name| ![AUTO, FASTEST].contains(name));
        collective::find(kind, name).ok_or_else(|| {
            let names = PATTERNS.iter().filter(|pattern| pattern.kind == kind).map(|pattern| pattern.name);
            let message = format!(
                "{} has no algorithm \"{}\"; expected auto, fastest, or one of {}",
                kind.name(),
                self.algorithm.as_deref().unwrap_or_default(),
                names.collect::<Vec<_>>().join(", ")
            );
            ("algorithm", message)
        })
    }

    /// The first channel of a job's n-th communicator, counted from 0; those of its plain messages come before.
    pub fn channels_of(&self, communicator: usize) -> u16 {
        let most = self.channels.unwrap_or_else(|| self.tuning.most_channels());
        (communicator as u16).wrapping_add(1).wrapping_mul(most)
    }

    /// The plan of a collective. An error is a key and what is wrong with it.
    pub fn plan(&self, kind: Kind, group: Arc<[u32]>, size: u64, number: u32) -> Result<Plan, (&'static str, String)> {
        let ranks = group.len() as u32;
        let is_auto = self.algorithm.as_deref().is_some_and(CollectiveOptions::is_auto);
        let chosen = if is_auto { self.tuning.choose(kind, &group, size) } else { None };
        let (pattern, protocol) = chosen.map_or_else(|| Ok((self.pattern(kind)?, Protocol::Simple)), Ok)?;
        let protocol = self.protocol.unwrap_or(protocol);
        if let Some(why) = (pattern.refuses)(ranks) {
            return Err(("algorithm", format!("{} of {ranks} ranks cannot be done: {why}", pattern.name)));
        }
        let layout = self.tuning.layout(&group).filter(|_| pattern.order != Order::Listed);
        if pattern.in_servers && layout.as_ref().and_then(Layout::per_server).is_none() {
            let why = "the switches of servers take part; expected [servers], and as many ranks in each, at least 2";
            return Err(("algorithm", format!("{} of {ranks} ranks cannot be done: {why}", pattern.name)));
        }
        let per_server = layout.as_ref().map_or(1, Layout::fewest);
        let steps = (pattern.steps)(ranks, per_server);
        if steps > Collective::MOST_STEPS {
            return Err(("ranks", format!("{ranks} ranks take more steps than {}", Collective::MOST_STEPS)));
        }
        let usual_channels = self.usual_channels(pattern, layout.as_ref(), ranks);
        let channels = self.channels.unwrap_or(usual_channels);
        // A single step has nothing that a piece could overtake.
        let is_piped = pattern.is_chain && steps > 1;
        let nccl = || if is_piped { self.step(pattern, (channels, ranks), size) } else { CollectiveOptions::ONE_PIECE };
        let of_profile = self.tuning.profiles().piece(pattern, protocol, (ranks, per_server), channels);
        let of_profile = of_profile.filter(|_| is_piped).map(|piece| piece.max(least_piece(pattern, channels, size)));
        let usual = || of_profile.unwrap_or_else(nccl);
        let chunk = self.chunk.unwrap_or_else(usual);
        let pieces = size.div_ceil(u64::from(channels)).div_ceil(chunk);
        if pieces > u64::from(Collective::MOST_PIECES / pattern.ways) {
            let most = Collective::MOST_PIECES / pattern.ways;
            return Err(("chunk", format!("{pieces} pieces of a channel are too many; expected at most {most}")));
        }
        let at_once = if pattern.is_chain { 1 } else { self.window.min(steps) };
        let of_channel = u64::from(pattern.ways) * pieces.clamp(1, self.depth.into()) * u64::from(at_once);
        let under_way = of_channel * u64::from(channels) * u64::from(ranks);
        if under_way > MOST_UNDER_WAY {
            let message = format!("{under_way} steps may be under way at once; expected at most {MOST_UNDER_WAY}");
            return Err((if pattern.is_chain { "depth" } else { "window" }, message));
        }
        let pairs = u64::from(ranks) * u64::from(steps.min(ranks)) * u64::from(channels);
        if !pattern.is_chain && pairs > MOST_PAIRS {
            let message = format!("there would be {pairs} queue pairs; expected at most {MOST_PAIRS}");
            return Err(("ranks", message));
        }
        let channels = if kind == Kind::Barrier { 1 } else { channels };
        let &CollectiveOptions { depth, window, .. } = self;
        let shape = layout.as_ref().map(|layout| (layout.servers(), per_server));
        let hardware = self.tuning.costs(pattern, protocol, shape, (channels, usual_channels));
        Ok(Plan {
            pattern,
            group,
            layout: layout.map(Arc::new),
            size,
            parts: (kind == Kind::AllToAll && self.skew > 0.0).then(|| Arc::new(Parts::new(&[self.weights(ranks)]))),
            wire: protocol.wire(),
            channels,
            first_channel: 0,
            chunk,
            depth,
            window,
            iterations: 1,
            gap: Nanos(0),
            number,
            hardware,
        })
    }

    /// All ways to do a collective as these plans do it, if the algorithm is to be the fastest of several. Which protocol is the
    /// fastest is no question: flags are bytes, and here they save no time.
    pub fn trials<'a>(&'a self, plans: impl IntoIterator<Item = &'a Plan> + 'a) -> impl Iterator<Item = Trial> + 'a {
        let is_asked = self.algorithm.as_deref() == Some(FASTEST);
        plans.into_iter().filter(move |_| is_asked).filter_map(|plan| {
            let way = |pattern: &Pattern| {
                let ways = CollectiveOptions { algorithm: Some(pattern.name.into()), ..self.clone() };
                let own = ways.plan(plan.pattern.kind, plan.group.clone(), plan.size, plan.number).ok()?;
                let &Plan { first_channel, iterations, gap, .. } = plan;
                Some(Plan { first_channel, iterations, gap, parts: plan.parts.clone(), ..own })
            };
            let of_kind = PATTERNS.iter().filter(|pattern| pattern.kind == plan.pattern.kind);
            let plans: Vec<Plan> = of_kind.filter_map(way).collect();
            (plans.len() > 1).then_some(Trial(plans))
        })
    }

    /// Whether an algorithm of this name is what the model chooses.
    pub fn is_auto(name: &str) -> bool {
        name == AUTO
    }

    /// The channels of a collective by default: fewer than NICs where so many would be too much at once.
    fn usual_channels(&self, pattern: &Pattern, layout: Option<&Layout>, ranks: u32) -> u16 {
        let room = MOST_UNDER_WAY / (u64::from(pattern.ways) * u64::from(ranks));
        u64::from(pattern.channels(layout).max(self.tuning.channels_inside(layout))).min(room).max(1) as u16
    }

    /// NCCL's pieces: longer ones where there would be too many. The ranks of a ring divide a piece.
    fn step(&self, pattern: &Pattern, (channels, ranks): (u16, u32), size: u64) -> u64 {
        let is_divided = matches!(pattern.kind, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter);
        let blocks = if pattern.name == "ring" && is_divided { ranks } else { 1 };
        let ways = u64::from(pattern.ways);
        let room = MOST_UNDER_WAY / (ways * u64::from(channels) * u64::from(ranks));
        let most = if room < u64::from(self.depth) { room.max(1) } else { u64::from(Collective::MOST_PIECES) / ways };
        (STEP * u64::from(blocks)).max(size.div_ceil(u64::from(channels)).div_ceil(most))
    }

    /// How popular each rank is.
    fn weights(&self, ranks: u32) -> Vec<u64> {
        /// Of the first.
        const WHOLE: f64 = (1_u64 << 32) as f64;
        (1..=ranks).map(|place| (WHOLE * f64::from(place).powf(-self.skew)).round() as u64).collect()
    }
}

/// Shorter pieces would be too many.
fn least_piece(pattern: &Pattern, channels: u16, size: u64) -> u64 {
    size.div_ceil(u64::from(channels)).div_ceil(u64::from(Collective::MOST_PIECES / pattern.ways))
}

#[cfg(test)]
mod tests {
    use super::super::tuning::tests::tuning;
    use super::*;

    /// The channels and the chunk of a collective of these ranks in servers of 8, of which nobody says anything.
    fn usual(kind: Kind, algorithm: &str, ranks: impl IntoIterator<Item = u32>) -> (u16, u64) {
        let ways = CollectiveOptions {
            algorithm: Some(algorithm.into()),
            tuning: tuning(64, Some(8)),
            ..CollectiveOptions::default()
        };
        let plan = ways.plan(kind, ranks.into_iter().collect(), 1 << 30, 0).expect("a plan");
        (plan.channels, plan.chunk)
    }

    #[test]
    fn rings_and_trees_have_a_channel_for_each_nic_of_the_smallest_server() {
        assert_eq!(usual(Kind::AllReduce, "ring", 0..64), (8, 64 * STEP));
        assert_eq!(usual(Kind::AllGather, "ring", 0..16), (8, 16 * STEP));
        assert_eq!(usual(Kind::AllReduce, "tree", 0..16), (8, STEP));
        assert_eq!(usual(Kind::AllReduce, "nvls_tree", 0..16), (8, STEP));
        assert_eq!(usual(Kind::Broadcast, "ring", 0..16), (8, STEP));
        assert_eq!(usual(Kind::AllReduce, "ring", 0..11), (3, 11 * STEP), "three ranks in the other server");
        assert_eq!(usual(Kind::AllReduce, "ring", 0..8), (1, 8 * STEP), "one server");
        assert_eq!(usual(Kind::AllReduce, "ring", (0..64).step_by(8)), (1, 8 * STEP), "one rank in each");
    }

    #[test]
    fn ranks_as_they_are_numbered_have_one_channel() {
        assert_eq!(usual(Kind::AllReduce, "halving_doubling", 0..16), (1, STEP));
        assert_eq!(usual(Kind::AllGather, "pat", 0..16), (1, STEP));
        for (kind, name) in [(Kind::AllToAll, "direct"), (Kind::AllGather, "direct"), (Kind::SendReceive, "ring")] {
            assert_eq!(usual(kind, name, 0..16), (1, CollectiveOptions::ONE_PIECE), "{name}");
        }
    }

    /// Communicators of a job keep apart, whatever channels each of them has.
    #[test]
    fn channels_of_communicators_do_not_meet() {
        let ways = CollectiveOptions { tuning: tuning(64, Some(8)), ..CollectiveOptions::default() };
        assert_eq!((ways.channels_of(0), ways.channels_of(1)), (8, 16));
        assert_eq!(CollectiveOptions { channels: Some(3), ..ways }.channels_of(1), 6);
        assert_eq!(CollectiveOptions::default().channels_of(1), 2, "no servers");
    }

    /// What nobody asked for is never too much.
    #[test]
    fn usual_ways_are_never_refused() {
        let tuning = tuning(1 << 16, Some(256));
        let ways = CollectiveOptions { algorithm: Some("tree".into()), tuning, ..CollectiveOptions::default() };
        let plan = ways.plan(Kind::AllReduce, (0..1 << 16).collect(), 1 << 40, 0).expect("a plan");
        assert_eq!((plan.channels, plan.pattern.ways), (32, 2));
    }
}
