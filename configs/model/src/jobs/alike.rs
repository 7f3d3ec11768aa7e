// SPDX-License-Identifier: GPL-2.0-only
//! Collectives of a job that are alike: the same ranks do the same with as many bytes. One of them stands for all.

use hpcc_core::workload::collective::Plan;
use std::collections::HashMap;
use std::sync::Arc;

/// The collectives of a job by class.
#[derive(Debug)]
pub struct Alike {
    /// The class of each, by number.
    pub class: Vec<u32>,
    /// The number of the first one of each class, and how many it has.
    pub classes: Vec<(u32, u64)>,
}

impl Alike {
    /// Finds them.
    pub fn new(plans: &[Plan]) -> Alike {
        let (mut known, mut classes) = (HashMap::new(), Vec::<(u32, u64)>::new());
        let class_of = |(plan, number): (&Plan, u32)| {
            let parts = plan.parts.as_ref().map(Arc::as_ptr);
            let ways =
                (std::ptr::from_ref(plan.pattern), plan.channels, plan.chunk, plan.depth, plan.window, plan.wire);
            let next = classes.len() as u32;
            let class = *known.entry((plan.group.clone(), plan.size, parts, ways, plan.iterations)).or_insert(next);
            if class == next {
                classes.push((number, 0));
            }
            classes[class as usize].1 += 1;
            class
        };
        let class = plans.iter().zip(0..).map(class_of).collect();
        Alike { class, classes }
    }
}
