// SPDX-License-Identifier: MIT OR Apache-2.0
//! What nodes of a network must have the same, where each has settings of its own.

use super::NodeSettings;
use crate::settings::Value;
use crate::transport::feedback::FeedbackContent;
use alloc::string::String;

/// Nodes that must have settings the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Hosts and switches.
    Nodes,
    /// Hosts.
    Hosts,
    /// Switches.
    Switches,
}

/// A setting that two nodes should have the same, and have not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The section of files that it is in.
    pub section: &'static str,
    /// Its name.
    pub key: &'static str,
    /// Its value at the one.
    pub own: String,
    /// Its value at the other.
    pub other: String,
}

type Key = (&'static str, &'static str);

const FAULTS: Key = ("compatibility", "reference_faults");
const ACK_EVERY: Key = ("transport", "ack_every");
const MTU: Key = ("transport", "mtu");
/// What frames look like.
const OF_NODES: [Key; 3] = [("wire", "profile"), ("wire", "preamble_and_gap"), ("wire", "exact_rates")];
/// What both ends of a flow do.
const OF_HOSTS: [Key; 3] = [("transport", "kind"), ("transport", "recovery"), ("transport", "seal")];
/// How telemetry comes back, where it does.
const OF_ANSWERS: [Key; 6] = [
    ("telemetry", "content"),
    ("telemetry", "return_path"),
    ("telemetry", "records_per_ack"),
    ("telemetry", "notification_acks"),
    ("telemetry", "seal"),
    ("telemetry", "paths"),
];
/// What senders know of all records.
const OF_SWITCHES: [Key; 3] =
    [("switch", "telemetry_records"), ("switch", "telemetry_scope"), ("switch", "telemetry_queue")];

impl NodeSettings {
    /// What differs from another node's settings and must not, once both are [resolved](NodeSettings::resolve); if several, one
    /// of them. The layout of telemetry is no part of it: a node may have [none](NodeSettings::stamped_layout).
    pub fn difference(&self, other: &NodeSettings, among: Among) -> Option<Difference> {
        let find = |keys: &[Key]| keys.iter().find_map(|&key| self.differing(other, key));
        match among {
            // Names of faults may be in any order.
            Among::Nodes if self.faults() != other.faults() => self.differing(other, FAULTS),
            Among::Nodes => find(&OF_NODES),
            Among::Hosts => find(&OF_HOSTS).or_else(|| self.differing_flows(other)).or_else(|| {
                let answers = [self, other].iter().all(|node| node.feedback.content != FeedbackContent::Nothing);
                find(&OF_ANSWERS).filter(|_| answers)
            }),
            Among::Switches => find(&OF_SWITCHES),
        }
    }

    /// What the ends of a flow count differently.
    fn differing_flows(&self, other: &NodeSettings) -> Option<Difference> {
        let asks = |node: &NodeSettings| node.transport.ack_every.0 > 0;
        if asks(self) != asks(other) {
            return self.differing(other, ACK_EVERY);
        }
        // A receiver that keeps what arrives out of order counts packets.
        if self.transport.recovery.keeps { self.differing(other, MTU) } else { None }
    }

    fn differing(&self, other: &NodeSettings, (section, key): Key) -> Option<Difference> {
        let value = |node: &NodeSettings| node.get(section, None, key).unwrap_or(Value::Auto);
        let (own, other) = (value(self), value(other));
        (own != other).then(|| Difference { section, key, own: own.pretty(), other: other.pretty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Input;
    use crate::topology::Network;

    /// The key that two nodes differ in of which one has these values.
    fn differs(among: Among, values: &[(&str, &str, &str)]) -> Option<&'static str> {
        let [mut own, mut other] = [NodeSettings::default(), NodeSettings::default()];
        for &(section, key, text) in values {
            own.set(section, None, key, Input::Text(text)).expect("a value");
        }
        for node in [&mut own, &mut other] {
            node.resolve(&Network::default());
        }
        own.difference(&other, among).map(|difference| difference.key)
    }

    #[test]
    fn what_must_be_the_same_is_named() {
        for (among, section, key, text) in [
            (Among::Nodes, "compatibility", "reference_faults", "lossy_pfc"),
            (Among::Nodes, "wire", "profile", "rocev2_ipv4"),
            (Among::Hosts, "transport", "recovery", "go_back_zero"),
            (Among::Hosts, "transport", "ack_every", "64KB"),
            (Among::Hosts, "telemetry", "content", "loads"),
            (Among::Hosts, "telemetry", "seal", "000102030405060708090a0b0c0d0e0f"),
            (Among::Hosts, "transport", "seal", "000102030405060708090a0b0c0d0e0f"),
            (Among::Switches, "switch", "telemetry_records", "interval"),
        ] {
            assert_eq!(differs(among, &[(section, key, text)]), Some(key), "{among:?}");
            assert_eq!(differs(among, &[]), None, "{among:?}");
        }
    }

    #[test]
    fn what_may_differ_is_left_alone() {
        let faults = [("compatibility", "reference_faults", " none")];
        assert_eq!(differs(Among::Nodes, &faults), None, "the same in other words");
        assert_eq!(differs(Among::Hosts, &[("telemetry", "content", "none")]), None, "a host without telemetry");
        assert_eq!(differs(Among::Hosts, &[("transport", "mtu", "4KB")]), None, "a flow has one sender");
        let [mut own, mut other] = [NodeSettings::default(), NodeSettings::default()];
        for (node, mtu) in [(&mut own, "1KB"), (&mut other, "4KB")] {
            node.set("transport", None, "recovery", Input::Text("selective_repeat")).expect("a value");
            node.set("transport", None, "mtu", Input::Text(mtu)).expect("a value");
        }
        let found = own.difference(&other, Among::Hosts).map(|found| (found.key, found.own, found.other));
        assert_eq!(found, Some(("mtu", "1KB".into(), "4KB".into())), "unless packets are counted");
    }
}
