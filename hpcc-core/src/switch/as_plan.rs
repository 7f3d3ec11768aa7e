// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a switch without pools as pools and profiles: what an operator's switch would be configured with.

use super::shared_buffer::{RESERVE, RESUME_OFFSET, SHARE_SHIFT, SharedBuffer, halvings, share_shift};
use super::{
    BufferMode, BufferPlan, BufferPool, BufferProfile, PRIORITIES, Priorities, ProfileUse, Side, SwitchConfig,
    Threshold,
};
use crate::units::{BitRate, Nanos};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Places of the pools in the plan.
const INGRESS: usize = 0;
const EGRESS: usize = 1;
/// How often 1 is halved for the least share of hardware.
const LEAST_SHARE: u8 = 7;
/// Exponents that hardware has.
const EXPONENTS: core::ops::RangeInclusive<i8> = -7..=4;

/// A plan and what it leaves out, a sentence each.
#[derive(Clone, Debug, PartialEq)]
pub struct AsPlan {
    /// The plan, in cells of a byte.
    pub plan: BufferPlan,
    /// What pools and profiles cannot say.
    pub left_out: Vec<String>,
}

impl AsPlan {
    /// The memory of a switch between ports of these rates and delays; that of its own [plan](SwitchConfig::plan), if it has one.
    /// `host_rate` is the rate of the network's hosts.
    pub fn of(config: &SwitchConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) -> AsPlan {
        if let Some(plan) = &config.plan {
            return AsPlan { plan: (**plan).clone(), left_out: Vec::new() };
        }
        let size = match config.mode {
            BufferMode::Lossless => {
                SharedBuffer::sharable(config.buffer_bytes, config.pause, ports).unwrap_or(0).into()
            }
            BufferMode::Lossy { .. } | BufferMode::Credit { .. } => config.buffer_bytes,
        };
        let mut found = AsPlan { plan: empty(size), left_out: Vec::new() };
        if config.mode == BufferMode::Lossless {
            found.add_paused(config, host_rate, ports);
        }
        if let BufferMode::Credit { .. } = config.mode {
            found.left_out.push("mode = \"credit\": ports have PFC or nothing".to_string());
        }
        found.add_lossy(config, size);
        found
    }

    /// Groups that pause their senders: a profile for each headroom and share.
    fn add_paused(&mut self, config: &SwitchConfig, host_rate: BitRate, ports: &[(BitRate, Nanos)]) {
        for (number, &(rate, delay)) in (0..).zip(ports) {
            for priority in (1..PRIORITIES as u8).filter(|&priority| config.pause.priorities.serve(priority)) {
                let own = config.alphas[usize::from(priority)].map_or(SHARE_SHIFT, halvings);
                let shift = share_shift(own, rate, host_rate);
                if shift > LEAST_SHARE {
                    self.left_out.push(format!(
                        "alpha 2^-{shift} of priority {priority}: profiles have 2^n with n from -7 to 4; -{LEAST_SHARE} is nearest"
                    ));
                }
                let headroom = config.pause.headroom(rate, delay);
                let profile = BufferProfile {
                    name: format!("pg_lossless_{headroom}_{shift}"),
                    pool: INGRESS,
                    reserve: RESERVE.into(),
                    threshold: Threshold::Dynamic(-(shift.min(LEAST_SHARE) as i8)),
                    xoff: Some(headroom.into()),
                    // With nothing shared it always resumes.
                    xon: RESERVE.into(),
                    xon_offset: RESUME_OFFSET.into(),
                };
                let profile = self.profile(profile);
                let groups = &mut self.plan.groups;
                match groups.iter_mut().find(|one| one.profile == profile && one.priorities == only(priority)) {
                    Some(ProfileUse { ports: Some(ports), .. }) => ports.push(number),
                    _ => groups.push(ProfileUse { ports: Some(vec![number]), ..everywhere(priority, profile) }),
                }
            }
        }
        if let Some(threshold) = config.pause.threshold {
            self.left_out
                .push(format!("pause_threshold = {threshold}: a profile has a dynamic threshold or a static one"));
        }
    }

    /// Groups and queues that lose frames.
    fn add_lossy(&mut self, config: &SwitchConfig, size: u64) {
        let (lossy, usual) = match config.mode {
            BufferMode::Lossy { alpha } => (Priorities::ALL, alpha),
            BufferMode::Lossless | BufferMode::Credit { .. } => config.lossy.unwrap_or((Priorities::NONE, 1.0)),
        };
        for priority in (1..PRIORITIES as u8).filter(|&priority| lossy.serve(priority)) {
            let whole = profile("pg_lossy".to_string(), INGRESS, Threshold::Static(size));
            let whole = self.profile(whole);
            self.plan.groups.push(everywhere(priority, whole));
            let alpha = config.alphas[usize::from(priority)].unwrap_or(usual);
            let exponent = self.exponent(priority, alpha);
            let queue = profile(format!("q_lossy_{exponent}"), EGRESS, Threshold::Dynamic(exponent));
            let queue = self.profile(queue);
            self.plan.queues.push(everywhere(priority, queue));
        }
    }

    /// The nearest n with alpha = 2^n.
    fn exponent(&mut self, priority: u8, alpha: f64) -> i8 {
        let exact = libm::log2(alpha);
        let nearest = (libm::round(exact) as i8).clamp(*EXPONENTS.start(), *EXPONENTS.end());
        if exact != f64::from(nearest) {
            self.left_out.push(format!(
                "alpha {alpha} of priority {priority}: profiles have 2^n with n from -7 to 4; {nearest} is nearest"
            ));
        }
        nearest
    }

    /// The place of such a profile, which is added if it is not there.
    fn profile(&mut self, profile: BufferProfile) -> usize {
        let profiles = &mut self.plan.profiles;
        profiles.iter().position(|known| *known == profile).unwrap_or_else(|| {
            profiles.push(profile);
            profiles.len() - 1
        })
    }
}

fn empty(size: u64) -> BufferPlan {
    let pool = |name: &str, side| BufferPool { name: name.into(), side, size, xoff: None };
    BufferPlan {
        cell: 1,
        pools: vec![pool("ingress_pool", Side::Ingress), pool("egress_pool", Side::Egress)],
        profiles: Vec::new(),
        groups: Vec::new(),
        queues: Vec::new(),
    }
}

fn profile(name: String, pool: usize, threshold: Threshold) -> BufferProfile {
    BufferProfile { name, pool, reserve: 0, threshold, xoff: None, xon: 0, xon_offset: 0 }
}

fn only(priority: u8) -> Priorities {
    Priorities::NONE.with(priority)
}

fn everywhere(priority: u8, profile: usize) -> ProfileUse {
    ProfileUse { priorities: only(priority), profile, rate: None, switches: None, ports: None }
}
