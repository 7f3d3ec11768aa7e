// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch at the border of a domain, which makes telemetry that leaves it [relative] (REQ-64;
//! draft-miao-rtgwg-hpccplus-00, section 9.1): records of data and probes on their way to another domain, and records
//! that answers take back to a sender there.

use super::{Located, NodeSettings, in_section};
use crate::settings::Conflict;
use crate::telemetry::encapsulation::Encapsulation;
use crate::telemetry::seal::TAG_LEN;
use crate::telemetry::{HopStack, Layout, relative};
use crate::topology::{Network, NodeSet};
use crate::transport::feedback::{FeedbackConfig, FeedbackContent};
use alloc::format;
use alloc::vec::Vec;

/// What a border switch makes of telemetry.
#[derive(Clone, Debug)]
pub struct TelemetryBorder {
    /// Of each port, whether it leads out of the domain.
    ports: Vec<bool>,
    layout: Layout,
    feedback: FeedbackConfig,
    answer: FeedbackContent,
    /// Bytes of the seal behind what an answer brings.
    seal_len: usize,
    stack: HopStack,
}

impl TelemetryBorder {
    /// A frame leaves by port `egress` with this telemetry: a section that collects records, or an answer.
    pub fn hide(&mut self, egress: u16, is_answer: bool, bytes: &mut [u8]) {
        if !self.ports.get(usize::from(egress)).is_some_and(|&leads_out| leads_out) {
            return;
        }
        let TelemetryBorder { layout, feedback, answer, seal_len, stack, .. } = self;
        if !is_answer {
            return relative::section(layout, bytes, stack);
        }
        let Some(bytes) = bytes.len().checked_sub(*seal_len).and_then(|len| bytes.get_mut(..len)) else { return };
        match answer {
            FeedbackContent::Records => {
                feedback.for_sections(bytes, |section| relative::section(layout, section, stack))
            }
            FeedbackContent::BusiestLink => {
                // An answer that holds no record of a link has nothing to hide.
                let _ = relative::link(layout, bytes);
            }
            FeedbackContent::Loads | FeedbackContent::Window | FeedbackContent::Nothing => {}
        }
    }
}

/// Domains that others hide from: a node hides from the nodes of each that it is not in itself.
struct Domains(Vec<NodeSet>);

impl Domains {
    fn hides(&self, network: &Network, near: u32, far: u32) -> bool {
        let hides = |domain: &NodeSet| domain.contains(far) && !domain.contains(near);
        !network.is_host(near) && self.0.iter().any(hides)
    }
}

impl NodeSettings {
    /// Domains from which switches hide what records tell.
    fn hidden_from(&self, network: &Network) -> Result<Domains, Conflict> {
        let domain = |text| NodeSet::parse(text, network).map_err(|message| Conflict::new(KEY, message));
        self.switch.telemetry_hidden_from.split(';').map(domain).collect::<Result<_, _>>().map(Domains)
    }

    /// Whether any switch hides what records tell.
    pub(super) fn hides_telemetry(&self) -> bool {
        !matches!(self.switch.telemetry_hidden_from.trim(), "" | "none")
    }

    /// Checks whether what must be hidden can be, once all is resolved.
    ///
    /// # Errors
    /// The setting that is in the way.
    pub(super) fn check_border(&self, network: &Network, feedback: &FeedbackConfig) -> Result<(), Located> {
        let outside = self.hidden_from(network).map_err(in_section("switch"))?;
        if !self.hides_telemetry() {
            return Ok(());
        }
        let ends = network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        if !ends.into_iter().any(|(near, far)| outside.hides(network, near, far)) {
            let message = format!(
                "no switch is next to {}; expected neighbours of a switch that is not among them",
                self.switch.telemetry_hidden_from
            );
            return Err(in_section("switch")(Conflict::new(KEY, message)));
        }
        let refuse = |section, key, what: &str| {
            let message = format!("{what}, but switch.{KEY} makes records relative");
            Err(in_section(section)(Conflict::new(key, message)))
        };
        let layout = self.layout();
        if layout.records().is_none() {
            let able: Vec<&str> = Layout::with_records().map(|layout| layout.name()).collect();
            let what = format!("layout = \"{}\" has no records; expected {}", layout.name(), able.join(", "));
            return refuse("telemetry", "layout", &what);
        }
        if feedback.seal.is_some() {
            return refuse("telemetry", "seal", "a switch has no key, and what it changes breaks the seal");
        }
        if feedback.guard {
            return refuse("telemetry", "guard", "the guard compares what links sent with what the flow did");
        }
        self.check_border_notifications(self.fast_cnp.enabled).map_err(in_section("fast_cnp"))
    }

    /// Refuses notifications that copy records, where they may leave the domain.
    fn check_border_notifications(&self, notifies: bool) -> Result<(), Conflict> {
        if notifies && self.layout().encapsulation() == Some(Encapsulation::HopByHop) {
            let message = format!(
                "notifications copy IOAM's records, which switch.{KEY} would not hide; expected false, or another telemetry.layout"
            );
            return Err(Conflict::new("enabled", message));
        }
        Ok(())
    }

    /// What a switch with these settings, resolved and checked, hides; `None` if it is no border. `notifies` says whether it
    /// sends Fast CNPs.
    ///
    /// # Errors
    /// If it could not hide all, or knows nothing of telemetry.
    pub fn border(&self, node: u32, network: &Network, notifies: bool) -> Result<Option<TelemetryBorder>, Located> {
        if !self.hides_telemetry() || network.is_host(node) {
            return Ok(None);
        }
        let outside = self.hidden_from(network).map_err(in_section("switch"))?;
        let ends = network.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        let own = ends.filter(|&(near, _)| near == node);
        let ports: Vec<bool> = own.map(|(_, far)| outside.hides(network, node, far)).collect();
        if !ports.contains(&true) {
            return Ok(None);
        }
        if !self.switch.stamp_telemetry {
            let message = format!(
                "switch {node} knows nothing of telemetry, and hides nothing from its neighbours; expected one that does"
            );
            return Err(in_section("switch")(Conflict::new(KEY, message)));
        }
        self.check_border_notifications(notifies).map_err(in_section("fast_cnp"))?;
        let feedback = self.feedback();
        let answer = feedback.answer_to(&self.needs());
        let seal_len = if self.transport.seal.is_some() { TAG_LEN } else { 0 };
        Ok(Some(TelemetryBorder {
            ports,
            layout: self.layout(),
            feedback,
            answer,
            seal_len,
            stack: HopStack::default(),
        }))
    }
}

/// The setting.
const KEY: &str = "telemetry_hidden_from";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Hop, LinkRecord, Snapshot, link_codec};
    use crate::testing::{node_with, records, stamped};
    use crate::topology::{Link, NodeKind};
    use crate::units::{BitRate, Nanos};

    /// Host 0, switches 1 and 2, host 3, in a row.
    fn row() -> Network {
        use NodeKind::{Host, Switch};
        let link = |a, b| Link { a, b, rate: BitRate::gbps(100), delay: Nanos(1_000), loss: 0.0 };
        Network {
            nodes: Vec::from([Host, Switch, Switch, Host]),
            links: Vec::from([link(0, 1), link(1, 2), link(2, 3)]),
        }
    }

    fn node(sets: &[(&str, &str, &str)]) -> NodeSettings {
        let base = [
            ("congestion_control", "algorithm", "hpcc_plus"),
            ("telemetry", "layout", "int_md"),
            ("switch", KEY, "2-3"),
        ];
        let mut node = node_with(&[&base, sets].concat());
        node.resolve(&row());
        node
    }

    fn section() -> Vec<u8> {
        stamped(&Layout::named("int_md").expect("known"), [Snapshot { tx_bytes: 1_000, qlen: 50, ..Snapshot::IDLE }])
    }

    fn rates(bytes: &[u8]) -> Vec<BitRate> {
        records(&Layout::named("int_md").expect("known"), bytes).hops().iter().map(|hop| hop.rate).collect()
    }

    #[test]
    fn req_64_two_domains_hide_from_each_other() {
        let hides =
            |domains, switch| node(&[("switch", KEY, domains)]).border(switch, &row(), false).expect("able").is_some();
        for (domains, expected) in [("2-3", [true, false]), ("0-1", [false, true]), ("0-1; 2-3", [true, true])] {
            assert_eq!([1, 2].map(|switch| hides(domains, switch)), expected, "{domains}");
        }
    }

    /// Switch 1 hides what leaves by its second port, switch 2 hides nothing from its neighbours.
    #[test]
    fn req_64_the_switch_inside_hides_from_the_one_outside() {
        let mut border = node(&[]).border(1, &row(), false).expect("able").expect("a border");
        let mut told = Vec::new();
        for egress in 0..3 {
            let mut bytes = section();
            border.hide(egress, false, &mut bytes);
            told.extend(rates(&bytes));
        }
        assert_eq!(told, [100, 800, 100].map(BitRate::gbps));
        assert!(node(&[]).border(2, &row(), false).expect("able").is_none());
    }

    /// The seal of the transport stands behind the records, and stays.
    #[test]
    fn records_of_a_sealed_answer_are_hidden() {
        let sealed = [("transport", "seal", "000102030405060708090a0b0c0d0e0f")];
        let mut border = node(&sealed).border(1, &row(), false).expect("able").expect("a border");
        let mut bytes = [section(), Vec::from([9; TAG_LEN])].concat();
        border.hide(1, true, &mut bytes);
        let (records, tag) = bytes.split_at(bytes.len() - TAG_LEN);
        assert_eq!((rates(records), tag), (Vec::from([BitRate::gbps(800)]), &[9; TAG_LEN][..]));
    }

    #[test]
    fn req_64_answers_are_made_relative_by_what_they_are() {
        let layout = Layout::named("int_md").expect("known");
        let hop = Hop { rate: BitRate::gbps(100), ts: 5, tx_bytes: 1_000, qlen: 50 };
        let modulus = layout.modulus().expect("counters");
        let link = link_codec::emit(&LinkRecord { path: 1, place: 0, hop, modulus });
        let hidden = |sets: &[(&str, &str, &str)], mut bytes: Vec<u8>| {
            let mut border = node(sets).border(1, &row(), false).expect("able").expect("a border");
            border.hide(1, true, &mut bytes);
            bytes
        };
        assert_eq!(rates(&hidden(&[], section())), [BitRate::gbps(800)]);
        let busiest = hidden(&[("telemetry", "content", "busiest_link")], link.to_vec());
        let rate = link_codec::read(&busiest, modulus).map(|record| record.hop.rate);
        assert_eq!(rate, Ok(BitRate::gbps(800)));
        for answer in ["loads", "none"] {
            assert_eq!(hidden(&[("telemetry", "content", answer)], section()), section(), "{answer}");
        }
        let length = (section().len() as u16).to_be_bytes();
        let two = [&length[..], &section(), &length, &section()].concat();
        let several = [("transport", "ack_every", "4KB"), ("telemetry", "records_per_ack", "2")];
        let relative = hidden(&[], section());
        assert_eq!(hidden(&several, two), [&length[..], &relative, &length, &relative].concat());
    }

    #[test]
    fn what_would_not_be_hidden_is_refused() {
        let blamed = |sets: &[(&str, &str, &str)]| node(sets).check(&row()).map_err(|wrong| wrong.conflict.key);
        assert_eq!(blamed(&[]), Ok(()));
        let key = "00112233445566778899aabbccddeeff";
        for (section, name, value, expected) in [
            ("telemetry", "seal", key, "seal"),
            ("telemetry", "guard", "true", "guard"),
            ("switch", KEY, "all", KEY),
            ("switch", KEY, "0,9", KEY),
        ] {
            assert_eq!(blamed(&[(section, name, value)]), Err(expected), "{name} = {value}");
        }
        let timely = [("congestion_control", "algorithm", "timely"), ("telemetry", "layout", "timestamp")];
        assert_eq!(blamed(&timely), Err("layout"));
        let ioam =
            [("wire", "profile", "rocev2_ipv6"), ("telemetry", "layout", "ioam"), ("fast_cnp", "enabled", "true")];
        assert_eq!((blamed(&ioam[..2]), blamed(&ioam)), (Ok(()), Err("enabled")));
        let border =
            |sets, notifies| node(sets).border(1, &row(), notifies).map(|_| ()).map_err(|wrong| wrong.conflict.key);
        assert_eq!((border(&ioam[..2], false), border(&ioam[..2], true)), (Ok(()), Err("enabled")));
        assert_eq!(border(&[("switch", "stamp_telemetry", "false")], false), Err(KEY));
    }
}
