// SPDX-License-Identifier: GPL-2.0-only
//! `[servers]`: hosts that are the GPUs of servers, for jobs.

use super::document::Document;
use super::keys::{Read, keys};
use super::rails;
use super::topology::Topology;
use crate::reference::Nvlink;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::Servers;
use hpcc_model::error::InputError;
use hpcc_model::flows::{FlowSource, Traffic};
use hpcc_model::jobs::hardware::Profiles;
use hpcc_model::place::Place;

const SECTION: &str = "servers";

/// GPUs of a NIC: more would be a slip of the keyboard.
const MOST_SHARING: u32 = 64;

keys! {
    Gpus {
        /// Number of GPUs of each server; servers have GPUs in the order of their numbers.
        gpus: u32 {1..=u32::MAX};
        /// Number of NICs of each server, which are hosts: one for each GPU, or fewer, each shared by the same number
        /// of neighbouring GPUs. By default the rails of a topology that has them, else one for each GPU.
        nics: Option<u32> {1..=u32::MAX};
        /// Rate at which each GPU sends to others of its server, such as NVLink's: by all NVSwitches together.
        rate: BitRate;
        /// Time from the last byte's departure from a GPU to its arrival at another one of the server.
        latency: Nanos;
        /// Whether a message to another place of another server goes to the GPU at that place of its own server first, which sends
        /// it by its rail: NCCL's PXN. By default it does where each place has switches of its own.
        #[assumed = "as NCCL: where each GPU of a server has a switch of its own"]
        pxn: Option<bool>;
    }
}

/// The servers of a scenario.
pub(super) struct Given {
    pub servers: Servers,
    /// Whether nobody said if there is PXN.
    pub pxn_is_usual: bool,
    /// The section; `None`: a file of the network has them.
    place: Option<Place>,
}

/// The servers, if there are any.
/// With a GPU's profile a step takes that one's time, in place of the links' latency.
pub(super) fn read(
    document: &mut Document<'_>,
    topology: &Topology,
    profiles: Profiles,
) -> Result<Option<Given>, InputError> {
    let network = &topology.network;
    let latency_of = |links: Nanos| if profiles.gpu().is_some() { Nanos(0) } else { links };
    let Some(section) = document.section(SECTION) else {
        let of_file = |nvlink: &Nvlink| {
            let &Nvlink { gpus, rate, latency } = nvlink;
            let (latency, pxn) = (latency_of(latency), rails::are_own(network, gpus));
            Given { servers: Servers { gpus, nics: gpus, rate, latency, pxn }, pxn_is_usual: true, place: None }
        };
        return Ok(topology.nvlink.as_ref().map(of_file));
    };
    let keys: Read<Gpus> = Read::of(SECTION, &section)?;
    let nics = nics(&keys, topology.rails)?;
    let pxn = keys.pxn.unwrap_or_else(|| rails::are_own(network, nics));
    let servers = Servers { gpus: keys.gpus, nics, rate: keys.rate, latency: latency_of(keys.latency), pxn };
    let hosts = network.hosts().count() as u32;
    if !hosts.is_multiple_of(nics) || network.hosts().any(|host| host >= hosts) {
        let (what, key) = if nics == keys.gpus { ("GPUs", "gpus") } else { ("NICs", "nics") };
        let message = format!(
            "{hosts} hosts are no servers of {nics} {what}; expected a multiple, and hosts that are the first nodes"
        );
        return Err(keys.origin.error(&[key, "gpus"], message));
    }
    if servers.rate == BitRate(0) {
        return Err(keys.origin.error(&["rate"], "the rate is 0; expected more"));
    }
    Ok(Some(Given { servers, pxn_is_usual: keys.pxn.is_none(), place: Some(section.place()) }))
}

/// NICs of a server, which its GPUs share in equal numbers; `rails`: so many the topology says.
fn nics(keys: &Read<Gpus>, rails: Option<u32>) -> Result<u32, InputError> {
    let nics = keys.nics.or(rails).unwrap_or(keys.gpus);
    if let Some(rails) = rails.filter(|&rails| rails != nics) {
        let message = format!("servers of [topology] have {rails} rails, and these {nics} NICs; expected as many");
        return Err(keys.origin.error(&["nics"], message));
    }
    if keys.gpus / nics > MOST_SHARING {
        let message = format!("{} GPUs share {nics} NICs; expected at most {MOST_SHARING} a NIC", keys.gpus);
        return Err(keys.origin.error(&["gpus"], message));
    }
    if !keys.gpus.is_multiple_of(nics) {
        let of = if keys.nics.is_some() { "" } else { ", the rails of [topology]" };
        let message = format!(
            "{} GPUs cannot share {nics} NICs{of}; expected a multiple (several NICs of one GPU are links of one host)",
            keys.gpus
        );
        return Err(keys.origin.error(&["gpus"], message));
    }
    Ok(nics)
}

/// The servers, which are of no use without jobs.
pub(super) fn check(servers: Option<Given>, flows: &[Traffic]) -> Result<Option<Servers>, InputError> {
    let Some(Given { servers, place, .. }) = servers else { return Ok(None) };
    let has_jobs = flows.iter().any(|traffic| matches!(traffic.source, FlowSource::Job { .. }));
    if let Some(place) = place.filter(|_| !has_jobs) {
        let message = "servers are for jobs, and no [[traffic]] is one; expected such as kind = \"collective\"";
        return Err(place.key_error(SECTION, message));
    }
    Ok(Some(servers))
}
