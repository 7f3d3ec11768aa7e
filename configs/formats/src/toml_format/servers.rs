// SPDX-License-Identifier: GPL-2.0-only
//! `[servers]`: hosts that are the GPUs of servers, for jobs.

use super::document::Document;
use super::keys::{Read, keys};
use super::rails;
use crate::error::InputError;
use crate::flows::{FlowSource, Traffic};
use crate::jobs::hardware::Profiles;
use crate::place::Place;
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::Servers;

const SECTION: &str = "servers";

keys! {
    Gpus {
        /// Hosts of each server: the first so many, the next so many, and so on. Each is a GPU with a NIC of its own.
        gpus: u32 {1..=u32::MAX};
        /// Rate at which each GPU sends to others of its server, such as NVLink's.
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
    place: Place,
}

/// The servers, if there are any.
/// With a GPU's profile a step takes that one's time, in place of the links' latency.
pub(super) fn read(
    document: &mut Document<'_>,
    network: &Network,
    profiles: Profiles,
) -> Result<Option<Given>, InputError> {
    let Some(section) = document.section(SECTION) else { return Ok(None) };
    let keys: Read<Gpus> = Read::of(SECTION, &section)?;
    let pxn = keys.pxn.unwrap_or_else(|| rails::are_own(network, keys.gpus));
    let latency = if profiles.gpu().is_some() { Nanos(0) } else { keys.latency };
    let servers = Servers { gpus: keys.gpus, rate: keys.rate, latency, pxn };
    let hosts = network.hosts().count() as u32;
    if !hosts.is_multiple_of(servers.gpus) || network.hosts().any(|host| host >= hosts) {
        let message = format!(
            "{hosts} hosts are no servers of {} GPUs; expected a multiple, and hosts that are the first nodes",
            servers.gpus
        );
        return Err(keys.origin.error(&["gpus"], message));
    }
    if servers.rate == BitRate(0) {
        return Err(keys.origin.error(&["rate"], "the rate is 0; expected more"));
    }
    Ok(Some(Given { servers, pxn_is_usual: keys.pxn.is_none(), place: section.place() }))
}

/// The servers, which are of no use without jobs.
pub(super) fn check(servers: Option<Given>, flows: &[Traffic]) -> Result<Option<Servers>, InputError> {
    let Some(Given { servers, place, .. }) = servers else { return Ok(None) };
    if !flows.iter().any(|traffic| matches!(traffic.source, FlowSource::Job { .. })) {
        let message = "servers are for jobs, and no [[traffic]] is one; expected such as kind = \"collective\"";
        return Err(place.key_error(SECTION, message));
    }
    Ok(Some(servers))
}
