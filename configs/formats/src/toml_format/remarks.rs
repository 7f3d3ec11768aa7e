// SPDX-License-Identifier: GPL-2.0-only
//! What a run tells of collectives that nobody has said all of: defaults that decide how fast they are.

use super::collective::Messages;
use super::traffic::Context;
use hpcc_core::settings::Named;
use hpcc_core::workload::collective::{Order, Plan};
use hpcc_model::jobs::hardware::Profiles;
use hpcc_model::jobs::{Cpu, Gpu, STEP};
use hpcc_model::scenario::Assumed;

/// What a note of them begins with.
pub(crate) const DEFAULTS: &str = "by default collectives are done as NCCL does them, with ";

/// What is told beside the traffic.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    pub notes: Vec<String>,
    pub assumed: Vec<Assumed>,
}

impl Messages {
    /// Tells which ways collectives take by default, and how to set them.
    pub fn tell(&self, plans: &[Plan], is_auto: bool, context: &Context<'_>) {
        if plans.is_empty() {
            return;
        }
        let mut told = context.told.borrow_mut();
        let pxn = || "servers.pxn = true".to_owned();
        let ways = [
            self.channels_told(plans, context.profiles),
            self.chunk_told(plans, context.profiles),
            context.has_usual_pxn.then(pxn),
        ];
        let mut ways: Vec<String> = ways.into_iter().flatten().collect();
        if is_auto {
            let assumed = self.machines(context.origin.name(), context.profiles);
            ways.extend(assumed.iter().map(|one| format!("{} = {}", one.key, one.value)));
            told.assumed.extend(assumed);
        }
        let note = format!("{DEFAULTS}{}; these keys set other ways", ways.join(", "));
        if !ways.is_empty() && !told.notes.contains(&note) {
            told.notes.push(note);
        }
    }

    fn channels_told(&self, plans: &[Plan], profiles: Profiles) -> Option<String> {
        let lines = plans.iter().filter(|plan| plan.pattern.order != Order::Listed).map(|plan| plan.channels);
        let (least, most) = (lines.clone().min()?, lines.max()?);
        let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let why = match most {
            1 => "",
            _ if profiles.gpu().is_some() => " (the NICs of the smallest server, or what NCCL finds in one)",
            _ => " (the NICs of the smallest server)",
        };
        self.channels.is_none().then(|| format!("channels = {count}{why}"))
    }

    fn chunk_told(&self, plans: &[Plan], profiles: Profiles) -> Option<String> {
        let is_cut = self.chunk.is_none() && plans.iter().any(|plan| plan.chunk < u64::MAX);
        let pieces = || match profiles.gpu() {
            Some(_) => "the slices that gpu.profile has".into(),
            None => format!("pieces of {} KiB", STEP >> 10),
        };
        is_cut.then(|| format!("chunk such that data is cut into {}", pieces()))
    }

    /// The machines that the model of `auto` takes, where nobody names them.
    fn machines(&self, section: &str, profiles: Profiles) -> Vec<Assumed> {
        let assumed = |key: &str, value: &str| Assumed {
            key: format!("{section}.{key}"),
            value: value.into(),
            reason: "the machines whose figures the model of auto has".into(),
        };
        let gpu = (self.gpu.is_none() && profiles.gpu().is_none()).then(|| assumed("gpu", Gpu::default().name()));
        let cpu = self.cpu.is_none().then(|| assumed("cpu", Cpu::default().name()));
        [gpu, cpu].into_iter().flatten().collect()
    }
}
