// SPDX-License-Identifier: GPL-2.0-only
//! `[receive]`, or `[[receive]]` for hosts that differ.

use super::document::Document;
use super::keys::{Read, Tables, keys};
use super::plain::Given;
use super::source::Entry;
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::{Input, SettingError};
use hpcc_core::topology::Network;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::error::InputError;

const SECTION: &str = "receive";

keys! {
    /// Of a rate that changes.
    Scheduled {
        /// Simulated time from which on hosts take frames at this rate; the first is 0.
        time: Nanos;
        /// The rate.
        rate: BitRate;
    }
    /// What a section may hold in place of a plain setting.
    Rates {
        /// Rates with the times from which on they hold, in place of one rate.
        rate: Option<Tables<Scheduled>> {"{ time = \"1ms\", rate = \"20Gbps\" }"};
    }
}

/// Where the sections behind the first were given.
pub(super) struct Others(Vec<Given>);

/// Reads all sections.
pub(super) fn read(
    document: &mut Document<'_>,
    settings: &mut NodeSettings,
    given: &mut Given,
) -> Result<Others, InputError> {
    let Some(all) = document.section(SECTION) else { return Ok(Others(Vec::new())) };
    let sections = all.elements().unwrap_or_else(|| vec![all]);
    let mut others = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        if index == 0 {
            read_one(section, settings, given)?;
            continue;
        }
        let (mut other, mut own) = (NodeSettings::default(), Given::default());
        read_one(section, &mut other, &mut own)?;
        if !other.receive.is_any() {
            let (key, given) = ("receive.hosts", &other.receive.hosts);
            let message = format!("hosts is \"{given}\" in a [[receive]] behind the first; expected some hosts");
            return Err(own.place(document, SECTION, "hosts").key_error(key, message));
        }
        settings.other_receivers.push(other.receive);
        others.push(own);
    }
    Ok(Others(others))
}

fn read_one(section: &Entry<'_>, settings: &mut NodeSettings, given: &mut Given) -> Result<(), InputError> {
    given.add_section(SECTION, section.place());
    let is_list = |entry: &Entry<'_>| entry.key == "rate" && entry.elements().is_some();
    let (rates, entries): (Vec<_>, Vec<_>) = section.section()?.into_iter().partition(is_list);
    given.read(settings, SECTION, None, entries)?;
    let Some(list) = rates.first() else { return Ok(()) };
    if given.has(SECTION, "schedule") {
        let message = format!("the value is {}, and there is a schedule, too; expected one of them", list.written());
        return Err(list.error(SECTION, message));
    }
    let (rate, schedule) = scheduled(list)?;
    for (key, value) in [("rate", rate), ("schedule", schedule)] {
        settings.set(SECTION, None, key, Input::Text(&value)).map_err(|wrong| match wrong {
            SettingError::Value(message) => list.error(SECTION, message),
            SettingError::Unknown => list.error(SECTION, "there is no such setting"),
        })?;
    }
    Ok(())
}

/// The rate at first, and those that follow, from a list of times and rates.
fn scheduled(list: &Entry<'_>) -> Result<(String, String), InputError> {
    let rates: Read<Rates> = Read::new(SECTION, list.place(), vec![list.clone()])?;
    let mut steps = rates.rate.iter().flat_map(|steps| &steps.0).map(|step| (step.time, step.rate));
    match steps.next() {
        Some((Nanos(0), rate)) => {
            let later: Vec<String> = steps.map(|(time, rate)| format!("{}ns {rate}", time.0)).collect();
            Ok((rate.to_string(), if later.is_empty() { "none".into() } else { later.join(", ") }))
        }
        Some(_) | None => {
            let message = format!("{} does not begin with time 0; expected the rate at first", list.written());
            Err(list.error(SECTION, message))
        }
    }
}

impl Others {
    /// Checks settings, once all is resolved, by their own places.
    pub fn check(&self, document: &Document<'_>, settings: &NodeSettings, network: &Network) -> Result<(), InputError> {
        for (given, receive) in self.0.iter().zip(&settings.other_receivers) {
            let alone = NodeSettings { receive: receive.clone(), other_receivers: Vec::new(), ..settings.clone() };
            given.check(document, (&alone, &alone), network)?;
        }
        Ok(())
    }
}
