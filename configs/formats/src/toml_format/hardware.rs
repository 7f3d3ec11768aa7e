// SPDX-License-Identifier: GPL-2.0-only
//! `[gpu]` and `[nic]`: which hardware jobs run on.

use super::document::Document;
use super::keys::{Read, keys};
use hpcc_core::settings::Named;
use hpcc_model::error::InputError;
use hpcc_model::flows::{FlowSource, Traffic};
use hpcc_model::jobs::hardware::{GpuProfile, NicProfile, Profiles};
use hpcc_model::place::Place;
use hpcc_model::scenario::Assumed;

keys! {
    OfGpu {
        /// What kernels, copies and reductions of jobs cost, as measured on such GPUs; by default `none`: they take no time, and
        /// times are the network's alone. `./hpcc explain profile h100` has the figures and their sources.
        profile: Option<GpuProfile>;
    }
    OfNic {
        /// What a message of a job to another server costs its NIC and its proxy, as measured; by default `none`: no time.
        profile: Option<NicProfile>;
    }
}

/// The profiles of a scenario.
pub(super) struct Given {
    pub profiles: Profiles,
    /// Which of them are asked for, and where.
    gpu: Option<Place>,
    nic: Option<Place>,
}

/// The profiles that the sections name.
pub(super) fn read(document: &mut Document<'_>) -> Result<Given, InputError> {
    let gpu = document.section("gpu").map(|entry| Read::<OfGpu>::of("gpu", &entry)).transpose()?;
    let nic = document.section("nic").map(|entry| Read::<OfNic>::of("nic", &entry)).transpose()?;
    let [of_gpu, of_nic] = [gpu.as_ref().map(|gpu| &gpu.origin), nic.as_ref().map(|nic| &nic.origin)]
        .map(|origin| origin.map(|origin| origin.place(&["profile"])));
    let (gpu, nic) = (gpu.and_then(|gpu| gpu.profile), nic.and_then(|nic| nic.profile));
    let profiles = Profiles { gpu: gpu.unwrap_or_default(), nic: nic.unwrap_or_default() };
    Ok(Given { profiles, gpu: of_gpu.filter(|_| gpu.is_some()), nic: of_nic.filter(|_| nic.is_some()) })
}

impl Given {
    /// Refuses profiles without jobs, which alone they are for. Returns what jobs assume where nobody names their hardware.
    pub fn check(&self, flows: &[Traffic]) -> Result<Vec<Assumed>, InputError> {
        if !flows.iter().any(|traffic| matches!(traffic.source, FlowSource::Job { .. })) {
            let mut asked = [("gpu.profile", &self.gpu), ("nic.profile", &self.nic)].into_iter();
            let message = "profiles are for jobs, and no [[traffic]] is one; expected such as kind = \"collective\"";
            let wrong = asked.find_map(|(key, place)| Some(place.as_ref()?.key_error(key, message)));
            return wrong.map_or(Ok(Vec::new()), Err);
        }
        let assumed = |key: &str, place: &Option<Place>, reason: &str| {
            let (key, value) = (key.into(), GpuProfile::None.name().into());
            place.is_none().then(|| Assumed { key, value, reason: reason.into() })
        };
        let gpu = assumed("gpu.profile", &self.gpu, "times of jobs are the network's: kernels and copies take none");
        let nic = assumed("nic.profile", &self.nic, "NICs and proxies take no time of a message");
        Ok([gpu, nic].into_iter().flatten().collect())
    }

    /// What a run tells of times that are not the network's alone.
    pub fn note(&self) -> Option<String> {
        let Profiles { gpu, nic } = self.profiles;
        let latency = if gpu == GpuProfile::None { "" } else { ", steps within servers in place of servers.latency" };
        let names = format!("gpu.profile = {} and nic.profile = {}", gpu.name(), nic.name());
        let is_any = self.profiles != Profiles::default();
        is_any.then(|| {
            format!("times of jobs hold what hardware takes, with {names}{latency}; none: the network's alone")
        })
    }
}
