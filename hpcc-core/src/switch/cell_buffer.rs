// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet memory in cells, by a [`BufferPlan`]: what came in is accounted to its port and priority, and to its queue.
//!
//! A frame of a group takes the group's reserve first, then the pool up to its threshold, and - where it is lossless -
//! headroom.
//! With the cell that reaches the threshold the group pauses its sender.

use super::buffer_plan::{BufferPlan, BufferProfile, PortPlace, Threshold};
use super::{Admission, PRIORITIES};
use crate::units::BitRate;
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::named! {
    /// Why a frame finds no room.
    pub enum NoRoom {
        /// The lossy group that it came in by has its part of the pool.
        Group = "group",
        /// Its queue has.
        Queue = "queue",
        /// The lossless group that it came in by has filled its headroom.
        Headroom = "headroom",
        /// The groups that share headroom have filled that.
        HeadroomPool = "headroom_pool",
    }
}

/// How many cells of its pool an account may have.
#[derive(Clone, Copy, Debug)]
enum Share {
    Dynamic(i8),
    Static(u32),
}

impl Share {
    fn of(self, free: u32) -> u32 {
        match self {
            Share::Static(cells) => cells,
            Share::Dynamic(n @ ..0) => free >> n.unsigned_abs().min(31),
            Share::Dynamic(n) => u32::try_from(u64::from(free) << n.min(31)).unwrap_or(u32::MAX),
        }
    }
}

/// Cells of a group or of a queue.
#[derive(Clone, Copy, Debug)]
struct Account {
    pool: usize,
    reserve: u32,
    share: Share,
    /// `None`: it is never paused.
    headroom: Option<u32>,
    xon: u32,
    xon_offset: u32,
    /// In reserve and pool.
    used: u32,
    headroom_used: u32,
    is_paused: bool,
}

impl Account {
    /// One with these limits; without any it is all reserve.
    fn new(plan: &BufferPlan, profile: Option<&BufferProfile>) -> Account {
        let limits = |profile: &BufferProfile| Account {
            pool: profile.pool,
            reserve: plan.cells(profile.reserve),
            share: match profile.threshold {
                Threshold::Dynamic(n) => Share::Dynamic(n),
                Threshold::Static(bytes) => Share::Static(plan.whole_cells(bytes)),
            },
            headroom: profile.xoff.map(|bytes| plan.cells(bytes)),
            xon: plan.whole_cells(profile.xon),
            xon_offset: plan.cells(profile.xon_offset),
            used: 0,
            headroom_used: 0,
            is_paused: false,
        };
        let endless = Account {
            pool: 0,
            reserve: u32::MAX,
            share: Share::Static(0),
            headroom: None,
            xon: 0,
            xon_offset: 0,
            used: 0,
            headroom_used: 0,
            is_paused: false,
        };
        profile.map_or(endless, limits)
    }

    /// Cells of the pool.
    fn shared(&self) -> u32 {
        self.used.saturating_sub(self.reserve)
    }

    /// How many cells of the pool it takes more for so many cells, if it may have them.
    fn more(&self, pool: &Pool, cells: u32) -> Option<u32> {
        let shared = (self.used + cells).saturating_sub(self.reserve);
        let more = shared - self.shared();
        let free = pool.free();
        (more == 0 || more <= free && shared <= self.share.of(free)).then_some(more)
    }

    /// Whether all is in use that it may have without headroom.
    fn is_full(&self, pool: &Pool) -> bool {
        self.used >= self.reserve && self.shared() >= self.share.of(pool.free())
    }

    /// Takes cells out of reserve and pool; returns how many were the pool's.
    fn free(&mut self, cells: u32) -> u32 {
        let before = self.shared();
        self.used = self.used.saturating_sub(cells);
        before - self.shared()
    }

    /// Whether a paused sender may go on. It is so neither with cells in headroom, for there would be too little for the next
    /// pause, nor with a group that is as full as when it paused.
    fn may_resume(&self, pool: &Pool) -> bool {
        let most = self.reserve.saturating_add(self.share.of(pool.free())).saturating_sub(self.xon_offset);
        let is_below = self.used == 0 || self.used <= self.xon.max(most) && !self.is_full(pool);
        self.is_paused && self.headroom_used == 0 && is_below
    }
}

/// Cells that accounts share.
#[derive(Clone, Copy, Debug)]
struct Pool {
    size: u32,
    used: u32,
    /// `None`: each group has its own headroom.
    headroom: Option<u32>,
    headroom_used: u32,
}

impl Pool {
    fn free(&self) -> u32 {
        self.size.saturating_sub(self.used)
    }

    fn has_headroom(&self, cells: u32) -> bool {
        self.headroom.is_none_or(|headroom| self.headroom_used + cells <= headroom)
    }
}

/// Where a frame finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// In its group's reserve and so many cells of the pool.
    Pool(u32),
    Headroom,
}

/// Accounting of a switch's packet memory in cells. What every frame calls is apart, so that the usual memory's share of those calls
/// stays within its callers.
#[derive(Clone, Debug)]
pub struct CellBuffer {
    cell: u32,
    pools: Box<[Pool]>,
    /// By port and priority.
    groups: Box<[Account]>,
    queues: Box<[Account]>,
    /// Why the last frame that was refused found no room.
    refused: NoRoom,
}

fn place(port: usize, priority: usize) -> usize {
    port * PRIORITIES + priority
}

impl CellBuffer {
    /// Empty memory of a switch with ports of these rates.
    pub fn new(plan: &BufferPlan, switch: u32, rates: impl Iterator<Item = BitRate>) -> CellBuffer {
        let ports: Vec<PortPlace> = (0..).zip(rates).map(|(port, rate)| PortPlace { switch, port, rate }).collect();
        let pairs = || ports.iter().flat_map(|port| (0..PRIORITIES as u8).map(move |priority| (port, priority)));
        let pool = |pool: &super::BufferPool| Pool {
            size: plan.whole_cells(pool.size),
            used: 0,
            headroom: pool.xoff.map(|bytes| plan.whole_cells(bytes)),
            headroom_used: 0,
        };
        CellBuffer {
            cell: plan.cell,
            pools: plan.pools.iter().map(pool).collect(),
            groups: pairs().map(|(port, priority)| Account::new(plan, plan.group(port, priority))).collect(),
            queues: pairs().map(|(port, priority)| Account::new(plan, plan.queue(port, priority))).collect(),
            refused: NoRoom::Group,
        }
    }

    fn cells(&self, size: u32) -> u32 {
        size.div_ceil(self.cell)
    }

    fn room_of_group(&self, ingress: usize, priority: usize, cells: u32) -> Result<Room, NoRoom> {
        let group = &self.groups[place(ingress, priority)];
        let pool = &self.pools[group.pool];
        if let Some(more) = group.more(pool, cells) {
            return Ok(Room::Pool(more));
        }
        let headroom = group.headroom.ok_or(NoRoom::Group)?;
        if group.headroom_used + cells > headroom {
            return Err(NoRoom::Headroom);
        }
        if pool.has_headroom(cells) { Ok(Room::Headroom) } else { Err(NoRoom::HeadroomPool) }
    }

    /// Where a frame finds room in its group, and how many cells its queue takes of its pool.
    fn room(&self, ingress: usize, egress: Option<usize>, priority: usize, size: u32) -> Result<(Room, u32), NoRoom> {
        let cells = self.cells(size);
        let room = self.room_of_group(ingress, priority, cells)?;
        let Some(egress) = egress else { return Ok((room, 0)) };
        let queue = &self.queues[place(egress, priority)];
        Ok((room, queue.more(&self.pools[queue.pool], cells).ok_or(NoRoom::Queue)?))
    }

    /// Whether a frame is not dropped; without an egress port it waits in no queue.
    pub fn has_room(&self, ingress: usize, egress: Option<usize>, priority: usize, size: u32) -> bool {
        self.room(ingress, egress, priority, size).is_ok()
    }

    /// Whether a frame that comes and goes at once pauses and resumes nobody, and is not dropped.
    #[inline(never)]
    pub fn can_cut_through(&self, ingress: usize, egress: usize, priority: usize, size: u32) -> bool {
        let group = &self.groups[place(ingress, priority)];
        let Ok((Room::Pool(more), _)) = self.room(ingress, Some(egress), priority, size) else { return false };
        let with = Account { used: group.used + self.cells(size), ..*group };
        let pool = Pool { used: self.pools[group.pool].used + more, ..self.pools[group.pool] };
        !group.is_paused && (group.headroom.is_none() || !with.is_full(&pool))
    }

    /// A frame came in.
    #[inline(never)]
    pub fn admit(&mut self, ingress: usize, egress: Option<usize>, priority: usize, size: u32) -> Admission {
        let room = match self.room(ingress, egress, priority, size) {
            Ok((room, _)) => room,
            Err(why) => {
                self.refused = why;
                return Admission::Drop;
            }
        };
        if let Some(egress) = egress {
            self.join(egress, priority, size);
        }
        let cells = self.cells(size);
        let group = &mut self.groups[place(ingress, priority)];
        let pool = &mut self.pools[group.pool];
        match room {
            Room::Pool(more) => {
                group.used += cells;
                pool.used += more;
            }
            Room::Headroom => {
                group.headroom_used += cells;
                pool.headroom_used += cells;
            }
        }
        let is_over = group.headroom.is_some() && (group.headroom_used > 0 || group.is_full(pool));
        let pause = is_over && !group.is_paused;
        group.is_paused |= pause;
        Admission::Admit { pause }
    }

    /// A frame that has been admitted without a queue waits in one, however long that is.
    pub fn join(&mut self, egress: usize, priority: usize, size: u32) {
        let cells = self.cells(size);
        let queue = &mut self.queues[place(egress, priority)];
        let before = queue.shared();
        queue.used += cells;
        self.pools[queue.pool].used += queue.shared() - before;
    }

    /// A frame left; headroom is freed first. Returns whether a paused upstream may go on; if so it counts as resumed.
    #[inline(never)]
    pub fn release(&mut self, ingress: usize, egress: Option<usize>, priority: usize, size: u32) -> bool {
        let cells = self.cells(size);
        if let Some(egress) = egress {
            let queue = &mut self.queues[place(egress, priority)];
            self.pools[queue.pool].used -= queue.free(cells);
        }
        let group = &mut self.groups[place(ingress, priority)];
        let pool = &mut self.pools[group.pool];
        let from_headroom = group.headroom_used.min(cells);
        group.headroom_used -= from_headroom;
        pool.headroom_used -= from_headroom;
        pool.used -= group.free(cells - from_headroom);
        let resume = group.may_resume(pool);
        group.is_paused &= !resume;
        resume
    }

    /// The priorities whose sender at a port is paused: bit n stands for priority n.
    pub fn paused(&self, port: usize) -> u8 {
        let groups = &self.groups[place(port, 0)..place(port + 1, 0)];
        (0..).zip(groups).fold(0, |bits, (priority, group)| bits | u8::from(group.is_paused) << priority)
    }

    /// Why the last frame that was refused found no room.
    pub fn refused(&self) -> NoRoom {
        self.refused
    }
}

#[cfg(test)]
impl CellBuffer {
    /// Cells in use: of pools and their headroom, of groups and theirs, of queues.
    pub(super) fn accounts(&self) -> [Vec<(u32, u32)>; 3] {
        let of = |accounts: &[Account]| accounts.iter().map(|of| (of.used, of.headroom_used)).collect();
        let pools = self.pools.iter().map(|pool| (pool.used, pool.headroom_used)).collect();
        [pools, of(&self.groups), of(&self.queues)]
    }

    /// Whether pools have what groups and queues took of them, and no more than there is.
    pub(super) fn is_sound(&self) -> bool {
        let accounts = || self.groups.iter().chain(&self.queues);
        (0..).zip(&self.pools).all(|(place, pool)| {
            let of_pool = || accounts().filter(|account| account.pool == place);
            let (used, headroom) = (of_pool().map(Account::shared).sum(), of_pool().map(|of| of.headroom_used).sum());
            (pool.used, pool.headroom_used) == (used, headroom)
                && pool.used <= pool.size
                && pool.headroom.is_none_or(|most| headroom <= most)
        })
    }
}
