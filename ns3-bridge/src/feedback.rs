// SPDX-License-Identifier: GPL-2.0-only
//! How telemetry comes back, there and back.

use crate::ffi::{ControlParameters, FeedbackParameters, WireParameters};
use hpcc_core::cc::{Algorithm, MAX_PATHS};
use hpcc_core::telemetry::Sampling;
use hpcc_core::telemetry::seal::key_of;
use hpcc_core::transport::feedback::{Answer, FeedbackConfig, Return};
use hpcc_core::transport::path_probes::PathConfig;

impl FeedbackParameters {
    /// The configuration, or what is wrong with a name.
    pub fn config(&self) -> Result<FeedbackConfig, String> {
        let sampling = Sampling::from_name(&self.packets, self.every)
            .ok_or_else(|| unknown("telemetry packets", &self.packets, &Sampling::NAMES))?;
        let answer = find(&Answer::NAMES, "telemetry answer", &self.answer)?;
        let by = find(&Return::NAMES, "telemetry feedback", &self.by)?;
        if !(1..=MAX_PATHS).contains(&usize::from(self.paths)) || self.path_interval == 0 {
            return Err(format!("a flow chooses from 1 to {MAX_PATHS} paths, and probes them some T apart"));
        }
        let paths = PathConfig { candidates: self.paths, interval: self.path_interval };
        Ok(FeedbackConfig { sampling, answer, by, guard: self.guard, seal: self.key()?, paths })
    }

    fn key(&self) -> Result<Option<[u8; 16]>, String> {
        if self.seal.is_empty() {
            return Ok(None);
        }
        key_of(&self.seal).map(Some).ok_or_else(|| "a seal's key has 32 hexadecimal digits".into())
    }
}

impl From<&FeedbackConfig> for FeedbackParameters {
    fn from(config: &FeedbackConfig) -> Self {
        let (packets, every) = config.sampling.name();
        FeedbackParameters {
            packets: packets.into(),
            every,
            answer: name_of(&Answer::NAMES, config.answer),
            by: name_of(&Return::NAMES, config.by),
            guard: config.guard,
            seal: config.seal.map_or_else(String::new, |key| format!("{:032x}", u128::from_be_bytes(key))),
            paths: config.paths.candidates,
            path_interval: config.paths.interval,
        }
    }
}

fn find<T: Copy>(names: &[(&str, T)], what: &str, name: &str) -> Result<T, String> {
    let known: Vec<&str> = names.iter().map(|&(known, _)| known).collect();
    names.iter().find(|(known, _)| *known == name).map(|&(_, value)| value).ok_or_else(|| unknown(what, name, &known))
}

fn name_of<T: Copy + PartialEq>(names: &[(&str, T)], value: T) -> String {
    names.iter().find(|&&(_, known)| known == value).map_or_else(String::new, |&(name, _)| name.into())
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} \"{name}\"; there are: {}", known.join(", "))
}

pub fn feedback_error(feedback: &FeedbackParameters, control: &ControlParameters, wire: &WireParameters) -> String {
    match feedback.config() {
        Err(error) => error,
        Ok(config) => config
            .unsuitable(&Algorithm::from(control), &wire.layout())
            .map_or_else(String::new, |(setting, needs)| format!("telemetry setting \"{setting}\" {needs}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_comes_back_as_it_went() {
        for config in [
            FeedbackConfig::default(),
            FeedbackConfig {
                sampling: Sampling::EveryNth(8),
                answer: Answer::BusiestLink,
                by: Return::Notification,
                guard: true,
                seal: Some([7; 16]),
                paths: PathConfig { candidates: 4, interval: 10 },
            },
            FeedbackConfig { sampling: Sampling::Probes, answer: Answer::Loads, ..FeedbackConfig::default() },
        ] {
            assert_eq!(FeedbackParameters::from(&config).config(), Ok(config));
        }
    }

    #[test]
    fn wrong_names_and_keys_are_refused() {
        let good = FeedbackParameters::from(&FeedbackConfig::default());
        let refused = |bad: FeedbackParameters| bad.config().expect_err("refused");
        assert_eq!(
            refused(FeedbackParameters { answer: "window".into(), ..good.clone() }),
            "unknown telemetry answer \"window\"; there are: records, busiest_link, loads, none"
        );
        assert!(refused(FeedbackParameters { packets: "each".into(), ..good.clone() }).contains("there are: all, nth"));
        assert!(refused(FeedbackParameters { by: "mail".into(), ..good.clone() }).contains("ack, notification"));
        assert!(refused(FeedbackParameters { paths: 9, ..good.clone() }).contains("1 to 8 paths"));
        for seal in ["12", "+000000000000000000000000000000f", "000000000000000000000000000000fg"] {
            assert!(refused(FeedbackParameters { seal: seal.into(), ..good.clone() }).contains("32 hexadecimal"));
        }
    }
}
