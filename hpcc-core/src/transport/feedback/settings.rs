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
        /// Which packets of a flow collect telemetry: all, one in `every` (`nth`), one in T (`rtt`), the same and all for one T
        /// after the flow slowed down (`congestion`), packets of their own, one in T (`probes`), or none.
        #[change = "Take fewer to save bytes on the way and work at switches and senders; flows then learn of congestion \
            later."]
        pub packets: Packets = Packets::All;
        /// One data packet in so many collects telemetry, the first included.
        #[change = "A larger value saves more bytes; the sender hears of a queue later, and less often."]
        pub every: u32 {1..=1_000_000} = 8 => packets = "nth";
        /// What comes back to the sender: all records, the busiest link's, one byte of load for each link, or nothing; the same
        /// at all hosts. `busiest_link` and `loads` need `hpcc_plus`.
        #[change = "Choose `busiest_link` for answers of one size, `loads` for the smallest that tell no capacities or queues."]
        pub answer: Answer = Answer::Records;
        /// In what the answer comes back: the next acknowledgement, or a packet of its own; the same at all hosts.
        #[change = "Choose `notification` where acknowledgements are rare (`transport.ack_every`) and feedback should not wait \
            for them; it costs a packet each."]
        pub feedback: Return = Return::Acknowledgement;
        /// Most packets whose records one acknowledgement brings, where `transport.ack_every` makes it stand for several; 1 is
        /// the newest. More needs `hpcc_plus`. The same at all hosts.
        #[change = "Raise it to give the sender the samples between two acknowledgements as well, at the cost of longer \
            acknowledgements."]
        pub records_per_ack: u8 {1..=MOST_PER_ACK} = 1 => feedback = "ack";
        /// Whether notifications also acknowledge what has arrived, ahead of acknowledgements that are delayed. The same at all
        /// hosts.
        #[change = "Turn it on where `transport.ack_every` is large and windows run out before the next acknowledgement."]
        pub notification_acks: bool = false => feedback = "notification";
        /// Whether the sender rejects records that cannot be true, such as a link that sent less than the flow itself did.
        #[change = "Turn it on to study receivers or switches that lie; without attackers it changes nothing and costs some \
            computation."]
        pub guard: bool = false;
        /// Key with which receivers seal what goes back, as 32 hexadecimal digits, so that nobody on the way can change it; the
        /// same at all hosts. Empty: no seal.
        #[change = "Set it to study attackers on the way back; each answer is 4 bytes longer."]
        pub seal: String = String::new();
        /// Base round-trip times without feedback that can be believed, while packets are acknowledged, after which a flow halves
        /// its rate and window, and once more in each further one, down to the least rate of its algorithm; 0: never. `auto`: 4
        /// with `guard` or `seal`, otherwise 0.
        #[change = "Lower it to lose less to whoever spoils feedback, raise it where feedback is rarer than that; set it to \
            slow down flows whose telemetry is taken out where nothing else is checked."]
        pub decay_after: Option<u32> {0..=1_000_000} = None;
        /// How many paths, by UDP source ports, a flow chooses from by telemetry; 1: it stays on its own. The same at all
        /// hosts. More need a layout whose records tell paths apart: any but `reference`.
        #[change = "Raise it where several paths are equally long and hashes load them unevenly; each further path costs \
            probes."]
        pub paths: u8 {1..=MAX_PATHS as u8} = 1;
        /// Base round-trip times between two probes of other paths.
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
        FeedbackSettings { packets: Packets::Nothing, answer: Answer::Nothing, ..FeedbackSettings::default() }
    }

    /// Whether packets collect telemetry or bring it back.
    pub fn is_any(&self) -> bool {
        (self.packets, self.answer) != (Packets::Nothing, Answer::Nothing)
    }

    /// What hosts run by.
    ///
    /// # Errors
    /// If the seal is no key.
    pub fn config(&self) -> Result<FeedbackConfig, Conflict> {
        let refuse = || Conflict::new("seal", "expected a key of 32 hexadecimal digits".into());
        let key = || key_of(&self.seal).ok_or_else(refuse).map(Some);
        let rejects = self.guard || !self.seal.is_empty();
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
            decay_after: self.decay_after.unwrap_or(if rejects { DECAY_AFTER } else { 0 }),
            paths: PathConfig { candidates: self.paths, interval: self.path_interval },
            ack_every: 0,
            some_hops: false,
            classes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn config(settings: FeedbackSettings) -> Result<FeedbackConfig, &'static str> {
        settings.config().map_err(|conflict| conflict.key)
    }

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
        let expected =
            FeedbackConfig { sampling: Sampling::Never, answer: Answer::Nothing, ..FeedbackConfig::default() };
        assert_eq!(config(FeedbackSettings::none()), Ok(expected));
    }
}
