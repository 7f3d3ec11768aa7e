// SPDX-License-Identifier: MIT OR Apache-2.0
//! How operators divide a switch's packet memory: pools, and profiles of priority groups and queues, in the terms of
//! SONiC and SAI.
//!
//! Hardware counts cells. A pool is what its groups share; reserves and headroom stand beside it.

use super::{PRIORITIES, Priorities};
use crate::settings::Conflict;
use crate::units::BitRate;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

crate::named! {
    /// Which account a pool is of: each frame is in one of each side.
    pub enum Side {
        /// By the port and priority that frames came in by.
        Ingress = "ingress",
        /// By the queue that they leave from.
        Egress = "egress",
    }
}

/// Memory that groups or queues share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPool {
    /// As profiles name it.
    pub name: String,
    /// Of which account.
    pub side: Side,
    /// Bytes to share.
    pub size: u64,
    /// Bytes of headroom that all lossless groups of the pool have together; `None`: each has its own.
    pub xoff: Option<u64>,
}

/// How much of a pool a group or a queue may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// 2^n times what is free.
    Dynamic(i8),
    /// So many bytes.
    Static(u64),
}

/// The limits of a group or of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferProfile {
    /// As its uses name it.
    pub name: String,
    /// Place of its pool in the plan.
    pub pool: usize,
    /// Bytes of its own, ahead of the pool's.
    pub reserve: u64,
    /// How much of the pool it may have.
    pub threshold: Threshold,
    /// Bytes for what comes after the pause; `None`: it is lossy, and never paused.
    pub xoff: Option<u64>,
    /// Bytes down to which a paused group always resumes.
    pub xon: u64,
    /// Bytes below its limit at which a paused group resumes.
    pub xon_offset: u64,
}

/// Where a profile holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileUse {
    /// For these priorities.
    pub priorities: Priorities,
    /// Place of the profile in the plan.
    pub profile: usize,
    /// At ports of this rate; `None`: of any.
    pub rate: Option<BitRate>,
    /// At these switches; `None`: at all.
    pub switches: Option<Vec<u32>>,
    /// At ports of these numbers; `None`: at all.
    pub ports: Option<Vec<u16>>,
}

impl ProfileUse {
    fn is_for(&self, place: &PortPlace, priority: u8) -> bool {
        priority > 0 && self.priorities.serve(priority) && self.is_at(place)
    }

    /// Whether it is for a port, of whatever priority.
    pub fn is_at(&self, place: &PortPlace) -> bool {
        self.rate.is_none_or(|rate| rate == place.rate)
            && self.switches.as_ref().is_none_or(|switches| switches.contains(&place.switch))
            && self.ports.as_ref().is_none_or(|ports| ports.contains(&place.port))
    }
}

/// A port of a switch.
#[derive(Clone, Copy, Debug)]
pub struct PortPlace {
    /// Number of the switch.
    pub switch: u32,
    /// Number of the port there, from 0.
    pub port: u16,
    /// Its rate.
    pub rate: BitRate,
}

/// How the packet memory of all switches is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPlan {
    /// Bytes of a cell.
    pub cell: u32,
    /// Pools.
    pub pools: Vec<BufferPool>,
    /// Profiles of these pools.
    pub profiles: Vec<BufferProfile>,
    /// Profiles of priority groups; of several that fit the last one holds.
    pub groups: Vec<ProfileUse>,
    /// The same of queues; one that none fits has no limit.
    pub queues: Vec<ProfileUse>,
}

impl BufferPlan {
    /// Cells that bytes fill, the last one perhaps in part.
    pub fn cells(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.cell))).unwrap_or(u32::MAX)
    }

    /// Whole cells in so many bytes.
    pub fn whole_cells(&self, bytes: u64) -> u32 {
        u32::try_from(bytes / u64::from(self.cell)).unwrap_or(u32::MAX)
    }

    /// The profile of a priority group.
    pub fn group(&self, place: &PortPlace, priority: u8) -> Option<&BufferProfile> {
        self.profile(&self.groups, place, priority)
    }

    /// The profile of a queue.
    pub fn queue(&self, place: &PortPlace, priority: u8) -> Option<&BufferProfile> {
        self.profile(&self.queues, place, priority)
    }

    fn profile(&self, uses: &[ProfileUse], place: &PortPlace, priority: u8) -> Option<&BufferProfile> {
        let found = uses.iter().rev().find(|found| found.is_for(place, priority))?;
        Some(&self.profiles[found.profile])
    }

    /// Priorities whose groups are paused, and those whose groups lose frames.
    pub fn priorities(&self) -> (Priorities, Priorities) {
        let of = |is_lossless: bool| {
            let uses = self.groups.iter().filter(|found| self.profiles[found.profile].xoff.is_some() == is_lossless);
            uses.fold(Priorities::NONE, |all, found| all.and(found.priorities))
        };
        (of(true), of(false))
    }

    /// Bytes of a switch's memory that are spoken for: ingress pools, reserves and headroom.
    pub fn needed(&self, ports: &[PortPlace]) -> u64 {
        let pools = self.pools.iter().filter(|pool| pool.side == Side::Ingress);
        let pools = pools.map(|pool| pool.size + pool.xoff.unwrap_or(0));
        pools.sum::<u64>() + ports.iter().flat_map(|place| self.own(place)).sum::<u64>()
    }

    /// What each group of a port keeps for itself.
    fn own<'a>(&'a self, place: &'a PortPlace) -> impl Iterator<Item = u64> + 'a {
        let groups = (1..PRIORITIES as u8).filter_map(|priority| self.group(place, priority));
        groups.map(|profile| {
            let is_shared = self.pools[profile.pool].xoff.is_some();
            profile.reserve + profile.xoff.filter(|_| !is_shared).unwrap_or(0)
        })
    }

    /// Checks the plan against itself, and against the largest frame.
    ///
    /// # Errors
    /// The first thing that cannot be.
    pub fn check(&self, largest_frame: u64) -> Result<(), Conflict> {
        self.pools.iter().try_for_each(|pool| self.check_pool(pool, largest_frame))?;
        self.profiles.iter().try_for_each(|profile| self.check_profile(profile, largest_frame))?;
        self.check_sides("buffer_groups", &self.groups, Side::Ingress)?;
        self.check_sides("buffer_queues", &self.queues, Side::Egress)?;
        let (lossless, lossy) = self.priorities();
        if lossless.without(lossy) != lossless {
            let message = format!(
                "priorities {lossless} have groups with xoff, and {lossy} groups without; expected each priority to be \
                 lossless at all ports, or at none"
            );
            return Err(Conflict::new("buffer_groups", message));
        }
        Ok(())
    }

    fn check_pool(&self, pool: &BufferPool, largest_frame: u64) -> Result<(), Conflict> {
        let BufferPool { name, size, .. } = pool;
        if self.whole_cells(*size) == 0 {
            let message = format!("pool \"{name}\" has {size} bytes, less than a cell; expected {} or more", self.cell);
            return Err(Conflict::new("buffer_pools", message));
        }
        if pool.side == Side::Egress && pool.xoff.is_some() {
            let message = format!("pool \"{name}\" is of egress, where nothing is paused; expected no xoff");
            return Err(Conflict::new("buffer_pools", message));
        }
        // Not even the first packet behind a pause would find room there.
        if let Some(xoff) = pool.xoff.filter(|&xoff| self.whole_cells(xoff) < self.cells(largest_frame)) {
            let message = format!(
                "pool \"{name}\" has an xoff of {xoff} bytes, less than a packet takes; expected {} or more, or no xoff, for \
                 headroom of each group",
                self.bytes_of(largest_frame)
            );
            return Err(Conflict::new("buffer_pools", message));
        }
        Ok(())
    }

    /// Bytes of the cells that so many bytes take.
    fn bytes_of(&self, bytes: u64) -> u64 {
        u64::from(self.cells(bytes)) * u64::from(self.cell)
    }

    /// The most cells that a group or a queue ever has, headroom apart: its reserve, and its share of an empty pool.
    fn most(&self, profile: &BufferProfile) -> u64 {
        let size = u64::from(self.whole_cells(self.pools[profile.pool].size));
        let share = match profile.threshold {
            Threshold::Static(bytes) => u64::from(self.whole_cells(bytes)),
            Threshold::Dynamic(n @ ..0) => size >> n.unsigned_abs().min(31),
            Threshold::Dynamic(n) => size << n.min(31),
        };
        u64::from(self.cells(profile.reserve)) + share.min(size)
    }

    fn check_profile(&self, profile: &BufferProfile, largest_frame: u64) -> Result<(), Conflict> {
        let BufferProfile { name, xoff, xon, xon_offset, .. } = profile;
        let pool = &self.pools[profile.pool];
        let most = self.most(profile);
        let most_bytes = most * u64::from(self.cell);
        // In whole cells, as the threshold is: the same number of bytes is not above it.
        let above = |bytes: u64| u64::from(self.whole_cells(bytes)) > most;
        let wrong = if pool.side == Side::Egress && xoff.is_some() {
            format!("is of egress pool \"{}\", where nothing is paused; expected no xoff", pool.name)
        } else if xoff.is_none() && (*xon > 0 || *xon_offset > 0) {
            "has xon or xon_offset, but pauses nobody; expected xoff beside them".to_string()
        } else if let Some(xoff) = xoff.filter(|&xoff| xoff < largest_frame) {
            format!("has an xoff of {xoff} bytes, less than a packet; expected {largest_frame} or more")
        } else if above(*xon) {
            format!(
                "has an xon of {xon} bytes, more than its reserve and threshold, {most_bytes}; expected at most that"
            )
        } else if above(*xon_offset) {
            format!(
                "has an xon_offset of {xon_offset} bytes, more than its reserve and threshold, {most_bytes}; expected at most \
                 that"
            )
        } else if xoff.is_none() && most < u64::from(self.cells(largest_frame)) {
            // A lossless group without room pauses at once, and has headroom; a lossy one loses all.
            format!(
                "has room for {most_bytes} bytes by its reserve and threshold, less than a packet takes; expected {} or more",
                self.bytes_of(largest_frame)
            )
        } else {
            return Ok(());
        };
        Err(Conflict::new("buffer_profiles", format!("profile \"{name}\" {wrong}")))
    }

    fn check_sides(&self, key: &'static str, uses: &[ProfileUse], side: Side) -> Result<(), Conflict> {
        let profiles = uses.iter().map(|found| &self.profiles[found.profile]);
        let Some(wrong) = profiles.into_iter().find(|profile| self.pools[profile.pool].side != side) else {
            return Ok(());
        };
        let (name, pool) = (&wrong.name, &self.pools[wrong.pool].name);
        let message = match side {
            Side::Ingress => {
                format!("profile \"{name}\" is of egress pool \"{pool}\"; expected one of an ingress pool")
            }
            Side::Egress => format!("profile \"{name}\" is of ingress pool \"{pool}\"; expected one of an egress pool"),
        };
        Err(Conflict::new(key, message))
    }

    /// Checks that a switch has memory for what its ports keep, and a profile for each group.
    ///
    /// # Errors
    /// If it has not: a key and what is wrong.
    pub fn check_switch(&self, memory: u64, ports: &[PortPlace]) -> Result<(), Conflict> {
        let (lossless, lossy) = self.priorities();
        let used = (1..PRIORITIES as u8).filter(|&priority| lossless.and(lossy).serve(priority));
        let pairs = used.flat_map(|priority| ports.iter().map(move |place| (place, priority)));
        if let Some((place, priority)) =
            pairs.into_iter().find(|&(place, priority)| self.group(place, priority).is_none())
        {
            let (&PortPlace { switch, rate, .. }, port) = (place, u32::from(place.port) + 1);
            let message = format!(
                "priority {priority} has no profile at port {port} of switch {switch}, which runs at {rate}; expected one"
            );
            return Err(Conflict::new("buffer_groups", message));
        }
        let needed = self.needed(ports);
        if needed <= memory {
            return Ok(());
        }
        let message = format!(
            "the buffer has {memory} bytes, but ingress pools, headroom and reserves of switch {}'s ports take {needed}; \
             expected at least that much",
            ports.first().map_or(0, |place| place.switch)
        );
        Err(Conflict::new("buffer", message))
    }

    /// Lossless priorities whose queues have a limit below the pool: beyond it they lose frames in spite of PFC.
    pub fn limited_queues(&self) -> Priorities {
        let (lossless, _) = self.priorities();
        let limits = |profile: &BufferProfile| match profile.threshold {
            Threshold::Dynamic(_) => true,
            Threshold::Static(bytes) => bytes < self.pools[profile.pool].size,
        };
        let limited = self.queues.iter().filter(|found| limits(&self.profiles[found.profile]));
        let limited = limited.fold(Priorities::NONE, |all, found| all.and(found.priorities));
        limited.without(limited.without(lossless))
    }
}
