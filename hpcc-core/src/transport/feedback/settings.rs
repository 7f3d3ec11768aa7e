// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of telemetry's way back.

use super::{FeedbackConfig, FeedbackContent, Return};
use crate::cc::MAX_PATHS;
use crate::settings::Written;
use crate::telemetry::Sampling;
use crate::transport::path_probes::PathConfig;

crate::named! {
    /// Which packets collect telemetry: [`Sampling`] without its parameter.
    #[derive(Default)]
    pub enum SamplingMode {
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
        /// Packets that collect telemetry: all, one in `every` (`nth`), one in each T (`rtt`), the same and all for one T
        /// after the flow slowed down (`congestion`), one in each T without payload (`probes`), or none.
        #[change = "Fewer save bytes and work at switches and senders; flows learn of congestion later."]
        pub sampling: SamplingMode = SamplingMode::All;
        /// One data packet in so many collects telemetry, beginning with the first.
        #[change = "A larger value saves bytes; senders hear of queues later."]
        pub every: u32 {1..=1_000_000} = 8 => sampling = "nth";
        /// Answer to the sender: all records, the busiest link's record, one byte of load for each link, or none;
        /// `busiest_link` and `loads` need `hpcc_plus`. The same at all hosts that answer.
        #[change = "Choose `busiest_link` for answers of one size, `loads` for the shortest, which tell neither \
            capacities nor queues."]
        pub content: FeedbackContent = FeedbackContent::Records;
        /// What brings the answer: the next acknowledgement, or a packet of its own.
        #[change = "Choose `notification` where acknowledgements are rare (`transport.ack_every`)."]
        #[network]
        pub return_path: Return = Return::Acknowledgement;
        /// Packets whose records an acknowledgement for several packets brings; 1 is the newest, more needs `hpcc_plus`.
        /// Acknowledgements stand for several packets with `transport.ack_every`.
        #[change = "A larger value gives the sender the samples in between; acknowledgements are longer."]
        #[network]
        pub records_per_ack: u8 {1..=MOST_PER_ACK} = 1 => return_path = "ack";
        /// Whether notifications also acknowledge, ahead of delayed acknowledgements.
        #[change = "Turn it on where `transport.ack_every` is large and windows run out before an acknowledgement."]
        #[network]
        pub notification_acks: bool = false => return_path = "notification";
        /// Whether the sender rejects records that cannot be true, such as a link that sent less than the flow itself.
        #[change = "Turn it on against receivers or switches that lie; without attackers it changes nothing."]
        pub guard: bool = false;
        /// Key of 32 hexadecimal digits with which receivers authenticate answers; empty: they do not.
        #[change = "Set it against attackers on the way back; each answer is 4 bytes longer."]
        #[network]
        pub seal: Written<Option<[u8; 16]>> = Written::default();
        /// Number of T without believable feedback after which a flow halves rate and window; 0: never; `auto`: 4 with
        /// `guard` or `seal`, otherwise 0. It halves them again in each further T. Only time in which packets are
        /// acknowledged counts.
        #[change = "Lower it to lose less to attackers; raise it where honest feedback is rarer."]
        pub decay_after: Option<u32> {0..=1_000_000} = None;
        /// Paths, by UDP source ports, among which a flow chooses by telemetry; 1: it stays on one.
        /// More need a format whose records distinguish paths, any but `reference`.
        #[change = "Raise it where hashes load equal paths unevenly; each further path costs probes."]
        #[network]
        pub paths: u8 {1..=MAX_PATHS as u8} = 1;
        /// Number of T between two probes of other paths.
        #[change = "A smaller value finds a better path sooner and costs more probes."]
        pub path_interval: u32 {1..=1_000_000} = 5 => paths = "2" | "3" | "4" | "5" | "6" | "7" | "8";
    }
}

/// [`FeedbackSettings::decay_after`] with a defence that throws feedback away.
const DECAY_AFTER: u32 = 4;

/// Most packets of which an acknowledgement brings the records.
const MOST_PER_ACK: u8 = 16;

impl FeedbackSettings {
    /// Of a host that knows nothing of telemetry.
    pub fn none() -> Self {
        FeedbackSettings {
            sampling: SamplingMode::Nothing,
            content: FeedbackContent::Nothing,
            ..FeedbackSettings::default()
        }
    }

    /// Whether packets collect telemetry or bring it back.
    pub fn is_any(&self) -> bool {
        (self.sampling, self.content) != (SamplingMode::Nothing, FeedbackContent::Nothing)
    }

    /// What hosts run by.
    pub fn config(&self) -> FeedbackConfig {
        let rejects = self.guard || self.seal.is_some();
        FeedbackConfig {
            sampling: match self.sampling {
                SamplingMode::All => Sampling::EveryPacket,
                SamplingMode::Nth => Sampling::EveryNth(self.every),
                SamplingMode::Rtt => Sampling::OncePerRtt,
                SamplingMode::Congestion => Sampling::OnCongestion,
                SamplingMode::Probes => Sampling::Probes,
                SamplingMode::Nothing => Sampling::Never,
            },
            content: self.content,
            by: self.return_path,
            records_per_ack: self.records_per_ack,
            notification_acks: self.notification_acks,
            guard: self.guard,
            seal: *self.seal,
            decay_after: self.decay_after.unwrap_or(if rejects { DECAY_AFTER } else { 0 }),
            paths: PathConfig { candidates: self.paths, interval: self.path_interval },
            ack_every: 0,
            some_hops: false,
            classes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn an_interval_counts_where_there_are_several_paths() {
        let counts = |paths| {
            let settings = FeedbackSettings { paths, ..FeedbackSettings::default() };
            settings.list().iter().find(|setting| setting.key == "path_interval").expect("a setting").counts(&settings)
        };
        assert!((1..=MAX_PATHS as u8).all(|paths| counts(paths) == (paths > 1)));
    }

    #[test]
    fn a_host_that_knows_nothing_of_telemetry_neither_collects_nor_answers() {
        let expected = FeedbackConfig {
            sampling: Sampling::Never,
            content: FeedbackContent::Nothing,
            ..FeedbackConfig::default()
        };
        assert_eq!(FeedbackSettings::none().config(), expected);
    }
}
