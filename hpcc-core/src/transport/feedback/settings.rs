// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of telemetry's way back.

use super::{Answer, FeedbackConfig, Return};
use crate::cc::MAX_PATHS;
use crate::settings::Conflict;
use crate::telemetry::Sampling;
use crate::telemetry::seal::key_of;
use crate::transport::path_probes::PathConfig;
use alloc::string::String;

crate::named! {
    /// Which packets collect telemetry: [`Sampling`] without its parameter.
    #[derive(Default)]
    pub enum Packets {
        /// Every data packet.
        #[default]
        All = "all",
        /// One in so many.
        Nth = "nth",
        /// One in T.
        Rtt = "rtt",
        /// One in T, and all for one T after the flow slowed down.
        Congestion = "congestion",
        /// Packets of their own, one in T.
        Probes = "probes",
        /// Nothing is sent back.
        Nothing = "none",
    }
}

crate::settings! {
    /// How telemetry is collected and comes back.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FeedbackSettings {
        /// Which packets of a flow collect telemetry: `rtt` is one in T, `congestion` the same and all for one T after the flow
        /// slowed down, `probes` are packets of their own, one in T.
        pub packets: Packets = Packets::All;
        /// One packet in so many collects.
        pub every: u32 {1..=1_000_000} = 8 => packets = "nth";
        /// What comes back: all records, the busiest link's (`hpcc_plus`), one byte of load for each link (`hpcc_plus`), or
        /// nothing; the same at all hosts.
        pub answer: Answer = Answer::Records;
        /// In what it comes back: the next acknowledgement, or a packet of its own; the same at all hosts.
        pub feedback: Return = Return::Acknowledgement;
        /// Packets of which an acknowledgement brings the records, at most, where `transport.ack_every` makes it stand for several:
        /// 1 is the newest; more needs `hpcc_plus`. The same at all hosts.
        pub records_per_ack: u8 {1..=MOST_PER_ACK} = 1 => feedback = "ack";
        /// Whether notifications acknowledge what has arrived, as acknowledgements that are delayed will. The same at all
        /// hosts.
        pub notification_acks: bool = false => feedback = "notification";
        /// Whether the sender rejects records that cannot be true.
        pub guard: bool = false;
        /// Key with which receivers seal what goes back, 32 hexadecimal digits; the same at all hosts.
        pub seal: String = String::new();
        /// Paths, by UDP source ports, that a flow chooses from by telemetry; 1: it stays on its own. The same at all hosts.
        pub paths: u8 {1..=MAX_PATHS as u8} = 1;
        /// Time between two probes of other paths, in base round-trip times.
        pub path_interval: u32 {1..=1_000_000} = 5;
    }
}

/// Most packets of which an acknowledgement brings the records.
const MOST_PER_ACK: u8 = 16;

impl FeedbackSettings {
    /// Of a host that knows nothing of telemetry.
    pub fn none() -> Self {
        FeedbackSettings { packets: Packets::Nothing, answer: Answer::Nothing, ..FeedbackSettings::default() }
    }

    /// What hosts run by.
    ///
    /// # Errors
    /// If the seal is no key.
    pub fn config(&self) -> Result<FeedbackConfig, Conflict> {
        let refuse = || Conflict::new("seal", "expected a key of 32 hexadecimal digits".into());
        let key = || key_of(&self.seal).ok_or_else(refuse).map(Some);
        Ok(FeedbackConfig {
            sampling: match self.packets {
                Packets::All => Sampling::EveryPacket,
                Packets::Nth => Sampling::EveryNth(self.every),
                Packets::Rtt => Sampling::OncePerRtt,
                Packets::Congestion => Sampling::OnCongestion,
                Packets::Probes => Sampling::Probes,
                Packets::Nothing => Sampling::Never,
            },
            answer: self.answer,
            by: self.feedback,
            records_per_ack: self.records_per_ack,
            notification_acks: self.notification_acks,
            guard: self.guard,
            seal: if self.seal.is_empty() { None } else { key()? },
            paths: PathConfig { candidates: self.paths, interval: self.path_interval },
            some_hops: false,
            classes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: FeedbackSettings) -> Result<FeedbackConfig, &'static str> {
        settings.config().map_err(|conflict| conflict.key)
    }

    #[test]
    fn hosts_run_by_what_is_set() {
        let settings = FeedbackSettings {
            packets: Packets::Nth,
            every: 9,
            answer: Answer::Loads,
            feedback: Return::Notification,
            guard: true,
            seal: "000102030405060708090a0b0c0d0e0f".into(),
            paths: 2,
            path_interval: 7,
            records_per_ack: 3,
            notification_acks: true,
        };
        let expected = FeedbackConfig {
            sampling: Sampling::EveryNth(9),
            answer: Answer::Loads,
            by: Return::Notification,
            guard: true,
            seal: Some(core::array::from_fn(|n| n as u8)),
            paths: PathConfig { candidates: 2, interval: 7 },
            records_per_ack: 3,
            notification_acks: true,
            some_hops: false,
            classes: None,
        };
        assert_eq!(config(settings), Ok(expected));
        assert_eq!(config(FeedbackSettings { seal: "00".into(), ..FeedbackSettings::default() }), Err("seal"));
        assert_eq!(config(FeedbackSettings::default()), Ok(FeedbackConfig::default()));
    }

    #[test]
    fn a_host_that_knows_nothing_of_telemetry_neither_collects_nor_answers() {
        let expected =
            FeedbackConfig { sampling: Sampling::Never, answer: Answer::Nothing, ..FeedbackConfig::default() };
        assert_eq!(config(FeedbackSettings::none()), Ok(expected));
    }
}
