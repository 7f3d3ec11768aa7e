// SPDX-License-Identifier: GPL-2.0-only
//! The borders of `[fast_cnp]`, and whether hosts react to notifications; all else there is plain.

#[cfg(test)]
mod tests;

use super::keys::{List, Read, keys};
use hpcc_core::node::Located;
use hpcc_core::topology::{Network, NodeKind};
use hpcc_core::transport::CongestionNotification;
use hpcc_core::wire::WireProfile;
use hpcc_model::error::InputError;
use hpcc_model::place::Place;
use hpcc_model::scenario::{FastCnpBorder, Scenario};

keys! {
    /// What `[fast_cnp]` holds besides plain settings.
    Lists {
        /// Links that lead out of the domain, as a list of [switch, node at the other end]. Give it to keep
        /// notifications, and the answers to them, from crossing these links.
        borders: Option<List<([u32; 2], Place)>> {"[4, 0]"};
    }
}

/// The links that lead out of the domain, and where they are listed.
pub(super) fn borders(
    lists: &Read<Lists>,
    network: &Network,
    wire: WireProfile,
) -> Result<(Vec<FastCnpBorder>, Option<Place>), InputError> {
    let pairs = lists.borders.as_ref().map_or(&[][..], |pairs| &pairs.0);
    let place = pairs.first().map(|(_, place)| place.clone());
    if let Some(place) = place.as_ref().filter(|_| wire != WireProfile::RoceV6) {
        let message = "no notification comes but over IPv6; expected wire.profile = \"rocev2_ipv6\"";
        return Err(place.key_error("fast_cnp.borders", message));
    }
    let borders: Result<_, _> = pairs.iter().map(|(pair, place)| border(*pair, place, network)).collect();
    Ok((borders?, place))
}

/// Checks that something controls the flows of every host, be it notifications, to which all must react that they may reach.
pub(super) fn control(scenario: &Scenario) -> Result<(), Located> {
    let notified = scenario.settings.fast_cnp.notified(&scenario.network);
    let notified = notified.map_err(|conflict| Located { section: "fast_cnp", conflict })?;
    if scenario.transport().notification == CongestionNotification::FastCnp {
        let checked = scenario.settings.fast_cnp_host.check_receivers(&scenario.settings.fast_cnp, &scenario.network);
        checked.map_err(|conflict| Located { section: "transport", conflict })?;
    }
    let (legacy, others): (Vec<u32>, Vec<u32>) =
        scenario.network.hosts().partition(|host| scenario.legacy.nodes.contains(host));
    for hosts in [others, legacy] {
        let Some(&first) = hosts.first() else { continue };
        let by_switches = hosts.iter().any(|&host| notified.contains(host));
        scenario.node_settings(first).check_control(by_switches)?;
    }
    Ok(())
}

fn border([node, outside]: [u32; 2], place: &Place, network: &Network) -> Result<FastCnpBorder, InputError> {
    let linked = network.links.iter().any(|link| [(link.a, link.b), (link.b, link.a)].contains(&(node, outside)));
    if network.nodes.get(node as usize) != Some(&NodeKind::Switch) || !linked {
        let message = format!("[{node}, {outside}] is no border; expected a switch, and a node that it has a link to");
        return Err(place.key_error("fast_cnp.borders", message));
    }
    Ok(FastCnpBorder { node, outside })
}
