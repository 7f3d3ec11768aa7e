// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a host's flows react to every notification that may reach them. A switch that notifies does not mark, so a flow
//! that ignored notifications would have no congestion control at all.

use super::{Located, NodeSettings, in_section};
use crate::cc::{Effect, Reaction, Signal};
use crate::settings::Conflict;
use crate::telemetry::encapsulation::Encapsulation;
use crate::transport::CongestionNotification;
use crate::transport::feedback::SamplingMode;
use alloc::format;
use alloc::string::String;

impl NodeSettings {
    /// Checks the congestion control of a host against the notifications that are sent to it; `by_switches` says whether
    /// switches notify it ([`FastCnpHostSettings::acceptor`](crate::fast_cnp::FastCnpHostSettings::acceptor)).
    ///
    /// # Errors
    /// If it does nothing about some of them: what to set instead.
    pub fn check_notifications(&self, by_switches: bool) -> Result<(), Located> {
        let (name, reaction) = (self.control.chosen().name(), self.needs().reaction);
        match self.transport.congestion_notification {
            CongestionNotification::Echo | CongestionNotification::FastCnp => {}
            CongestionNotification::Packet => {
                let nothing = reaction.to(Signal::ReceiverCnp) == Effect::Nothing;
                let message =
                    || format!("{name} does not react to notification packets of receivers; expected \"ack\"");
                refuse_if(nothing, "congestion_notification", message).map_err(in_section("transport"))?;
            }
        }
        let fast = by_switches || self.transport.congestion_notification == CongestionNotification::FastCnp;
        if fast { self.check_switches(name, reaction).map_err(in_section("fast_cnp")) } else { Ok(()) }
    }

    fn check_switches(&self, name: &str, reaction: Reaction) -> Result<(), Conflict> {
        let ignores = |signal| reaction.to(signal) == Effect::Nothing;
        refuse_if(ignores(Signal::FastCnpWithRecords), "enabled", || {
            format!(
                "{name} does not react to notifications by switches; expected its hosts in fast_cnp.incapable (switches mark \
                 their packets), or enabled = false"
            )
        })?;
        refuse_if(ignores(Signal::FastCnp) && !self.notified_of_records(), "enabled", || {
            format!(
                "{name} reacts only to the records that notifications bring, and these bring none; expected \
                 telemetry.layout = \"ioam\", telemetry.sampling other than \"probes\" and \"none\", and no telemetry.seal, \
                 or its hosts in fast_cnp.incapable"
            )
        })
    }

    /// Whether notifications by switches bring records that the controller may hear: data packets have an IOAM trace to
    /// copy, and nobody asks for a seal, which switches have no key for.
    fn notified_of_records(&self) -> bool {
        let collect = match self.feedback.sampling {
            SamplingMode::All | SamplingMode::Nth | SamplingMode::Rtt | SamplingMode::Congestion => true,
            SamplingMode::Probes | SamplingMode::Nothing => false,
        };
        self.layout().encapsulation() == Some(Encapsulation::HopByHop) && collect && self.feedback.seal.is_none()
    }
}

fn refuse_if(nothing: bool, key: &'static str, message: impl FnOnce() -> String) -> Result<(), Conflict> {
    if nothing { Err(Conflict::new(key, message())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Named;

    fn node(algorithm: &str, layout: &str, packets: &str, notification: &str) -> NodeSettings {
        crate::testing::node_with(&[
            ("congestion_control", "algorithm", algorithm),
            ("telemetry", "layout", layout),
            ("telemetry", "sampling", packets),
            ("transport", "congestion_notification", notification),
        ])
    }

    /// The whole table, by algorithm: what it does about a receiver's CNP, option 1 and option 2.
    #[test]
    fn every_algorithm_reacts_or_is_refused() {
        use Effect::{Half, Load, Mark, Nothing};
        let table = [
            ("hpcc", [Nothing, Nothing, Load]),
            ("hpcc_plus", [Half, Half, Load]),
            ("rx_hpcc", [Half, Half, Load]),
            ("hpcc_pint", [Nothing; 3]),
            ("dcqcn", [Mark; 3]),
            ("timely", [Nothing; 3]),
            ("dctcp", [Nothing; 3]),
            ("power_tcp", [Nothing; 3]),
            ("theta_power_tcp", [Nothing; 3]),
            ("swift", [Nothing; 3]),
            ("strack", [Nothing; 3]),
            ("bolt", [Nothing; 3]),
            ("none", [Nothing; 3]),
        ];
        let known: alloc::vec::Vec<String> = crate::cc::all().iter().map(|known| known.name().into()).collect();
        assert_eq!(known, table.map(|(name, _)| name), "a line for each algorithm");
        for (name, effects) in table {
            let reaction = node(name, "ioam", "all", "ack").needs().reaction;
            let signals = [Signal::ReceiverCnp, Signal::FastCnp, Signal::FastCnpWithRecords];
            assert_eq!(signals.map(|signal| reaction.to(signal)), effects, "{name}");
            let runs = |layout, packets, notification, by_switches| {
                node(name, layout, packets, notification).check_notifications(by_switches).is_ok()
            };
            assert!(runs("ioam", "all", "ack", false), "{name}: nobody notifies");
            assert_eq!(runs("ioam", "all", "cnp", false), effects[0] != Nothing, "{name}");
            for (layout, packets) in [("ioam", "probes"), ("int_md", "all")] {
                assert_eq!(runs(layout, packets, "ack", true), effects[1] != Nothing, "{name}, {layout}, {packets}");
            }
            assert_eq!(runs("ioam", "nth", "ack", true), effects[2] != Nothing, "{name}");
        }
    }

    #[test]
    fn reasons_name_what_to_set() {
        let wrong = |node: NodeSettings, by_switches| {
            alloc::format!("{}", node.check_notifications(by_switches).expect_err("deaf"))
        };
        let dctcp = wrong(node("dctcp", "none", "all", "ack"), true);
        assert!(
            dctcp
                .starts_with("fast_cnp.enabled: dctcp does not react to notifications by switches; expected its hosts")
        );
        let mut sealed = node("hpcc", "ioam", "all", "ack");
        assert_eq!(sealed.check_notifications(true), Ok(()));
        sealed.feedback.seal = crate::settings::Written::new("00112233445566778899aabbccddeeff", Some([7; 16]));
        assert!(wrong(sealed, true).contains("and no telemetry.seal"));
        let echo = CongestionNotification::Echo.name();
        let cnp = wrong(node("swift", "none", "all", "cnp"), false);
        assert!(cnp.ends_with(&alloc::format!("of receivers; expected \"{echo}\"")), "{cnp}");
    }
}
