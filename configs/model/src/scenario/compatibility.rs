// SPDX-License-Identifier: GPL-2.0-only
//! `[compatibility]`: which of the 2019 simulator's faults a run repeats. TOML and overrides of `config.txt` share
//! these keys; they are in lower case, so that they cannot be keys of the 2019 simulator.

use crate::error::suggestion;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::{self, Kind, Setting};
use serde_json::{Value, json};

/// The section, and what its keys begin with on the command line.
pub const SECTION: &str = "compatibility";
/// The key that sets all switches.
pub const PROFILE: &str = "profile";
const CORRECT: &str = "correct";
const REFERENCE: &str = "reference";
/// When to change a switch.
const CHANGE: &str = "Turn it on to repeat the 2019 simulator's numbers, or to see the fault's part in them.";

/// A profile, and the switches that were set by name.
#[derive(Clone, Debug)]
pub struct Compatibility {
    profile: ReferenceFaults,
    single: Vec<(String, bool)>,
}

impl Compatibility {
    /// What this profile repeats, before single keys change it.
    pub fn new(profile: ReferenceFaults) -> Compatibility {
        Compatibility { profile, single: Vec::new() }
    }

    /// Sets the profile. The error is a sentence for the user.
    pub fn set_profile(&mut self, name: &str) -> Result<(), String> {
        self.profile = match name {
            CORRECT => ReferenceFaults::NONE,
            REFERENCE => ReferenceFaults::REFERENCE,
            _ => return Err(format!("unknown profile \"{name}\"{}", suggestion(name, &[CORRECT, REFERENCE]))),
        };
        Ok(())
    }

    /// Sets one switch, whatever the profile says. The error is a sentence for the user.
    pub fn set(&mut self, name: &str, on: bool) -> Result<(), String> {
        if !ReferenceFaults::NAMES.contains(&name) {
            let known = [ReferenceFaults::NAMES, &[PROFILE]].concat();
            return Err(format!("unknown key {name} in [{SECTION}]{}", suggestion(name, &known)));
        }
        self.single.push((name.into(), on));
        Ok(())
    }

    /// Which faults are repeated.
    pub fn faults(&self) -> ReferenceFaults {
        let mut faults = self.profile;
        for (name, on) in &self.single {
            if let Some(fault) = faults.get_mut(name) {
                *fault = *on;
            }
        }
        faults
    }
}

/// The keys of the section: the profile, and each fault.
pub fn settings() -> Vec<Setting> {
    let setting = |key, kind, default, help: &str| Setting {
        key,
        kind,
        auto: false,
        default,
        condition: None,
        of_network: false,
        assumed: None,
        help: help.into(),
    };
    let words = Kind::Choice([CORRECT, REFERENCE].map(String::from).into());
    let help = "Faults of the 2019 simulator that are repeated: none (`correct`), or all (`reference`). Take `reference` to \
                compare with its numbers; the other keys correct or repeat single faults.";
    let mut settings = vec![setting(PROFILE, words, settings::Value::Word(CORRECT.into()), help)];
    let faults = ReferenceFaults::NAMES.iter().zip(ReferenceFaults::help());
    settings.extend(faults.map(|(name, help)| {
        let help = format!("{help} {CHANGE}");
        setting(name, Kind::Switch, settings::Value::Switch(false), &help)
    }));
    settings
}

/// The echo of a run's switches: the profile that most of them are of, and each.
pub(super) fn effective(faults: &ReferenceFaults) -> Value {
    let apart = |profile: &ReferenceFaults| faults.iter().zip(profile.iter()).filter(|(own, its)| own != its).count();
    let is_near = apart(&ReferenceFaults::REFERENCE) < apart(&ReferenceFaults::NONE);
    let mut echo = json!({ PROFILE: if is_near { REFERENCE } else { CORRECT } });
    for (name, on) in faults.iter() {
        echo[name] = json!(on);
    }
    echo
}
