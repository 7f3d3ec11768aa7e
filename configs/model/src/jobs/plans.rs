// SPDX-License-Identifier: GPL-2.0-only
//! The collectives of a job of graphs: which of them are one, and how each is done.

use super::CollectiveOptions;
use hpcc_core::settings::Named;
use hpcc_core::workload::collective::{Collective, Kind, Plan};
use std::collections::HashMap;
use std::sync::Arc;

/// A key, and what is wrong with it.
pub type Wrong = (&'static str, String);

/// Whom a collective is among. Groups of each kind have queue pairs of their own, as NCCL's communicators have, so that long messages
/// of one do not stand before those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    Tensor,
    Data,
    Expert,
    /// Data-parallel copies of the same experts.
    DataOfExperts,
    Context,
    /// The stages with the table of tokens.
    Tables,
    /// Those of one server that divide experts.
    ExpertOfServer,
}

/// What a collective is to do.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub kind: Kind,
    pub size: u64,
    /// Each rank gets back what it has sent in such an exchange.
    pub is_return: bool,
}

impl From<(Kind, u64)> for Asked {
    fn from((kind, size): (Kind, u64)) -> Asked {
        Asked { kind, size, is_return: false }
    }
}

/// Plans by the place of a collective in the order that all its ranks have, and by those ranks.
pub struct Plans<'a> {
    ways: &'a dyn Fn(Kind) -> CollectiveOptions,
    known: HashMap<(u32, Arc<[u32]>), u32>,
    list: Vec<Plan>,
}

impl<'a> Plans<'a> {
    /// None yet; `ways` says how each kind is done.
    pub fn new(ways: &'a dyn Fn(Kind) -> CollectiveOptions) -> Plans<'a> {
        Plans { ways, known: HashMap::new(), list: Vec::new() }
    }

    /// What a rank of a group does in a collective that is the `order`-th for all of the group; `None` of a rank alone.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub fn collective(
        &mut self,
        order: u32,
        (of, group): (Group, Arc<[u32]>),
        rank: u32,
        what: impl Into<Asked>,
    ) -> Result<Option<Collective>, Wrong> {
        let Asked { kind, size, is_return } = what.into();
        if group.len() < 2 {
            return Ok(None);
        }
        let place = group.iter().position(|member| *member == rank).unwrap_or_default() as u32;
        let next = self.list.len() as u32;
        let number = *self.known.entry((order, group.clone())).or_insert(next);
        if number == next {
            if next == Plan::MOST {
                return Err(("kind", format!("there are more than {} collectives", Plan::MOST)));
            }
            let ways = (self.ways)(kind);
            let plan = ways.plan(kind, group, size, number);
            let plan = plan.map_err(|(key, why)| (if key == "algorithm" { kind.name() } else { key }, why))?;
            let parts = plan.parts.clone().map(|parts| if is_return { Arc::new(parts.returned()) } else { parts });
            self.list.push(Plan { first_channel: ways.channels_of(of as usize), parts, ..plan });
        }
        Ok(Some(Collective::new(self.list[number as usize].clone(), place)))
    }

    /// How many ranks of a group each server has, if these are as many, and neighbours in the group.
    pub fn per_server(&self, group: &[u32]) -> Option<u32> {
        let layout = |group: &[u32]| (self.ways)(Kind::AllToAll).tuning.layout(group);
        let count = layout(group)?.per_server()?;
        let is_one = |part: &[u32]| part.len() < 2 || layout(part).is_some_and(|of_part| of_part.servers() == 1);
        group.chunks(count as usize).all(is_one).then_some(count)
    }

    /// All of them, by number.
    pub fn finish(self) -> Vec<Plan> {
        self.list
    }
}
