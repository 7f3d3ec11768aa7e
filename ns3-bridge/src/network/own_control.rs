// SPDX-License-Identifier: GPL-2.0-only
//! Congestion controls of single flows, in place of their host's.

use super::{Network, follow_program};
use crate::settings::{Settings, told};
use hpcc_core::cc::Algorithm;
use hpcc_core::node::{LinkRates, NodeSettings, lowest_rate};
use hpcc_core::settings::{Conflict, Input, SettingError, camel_case};

/// A name, and values by name.
struct Text<'a> {
    name: &'a str,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Text<'a> {
    /// Reads `NAME`, or `NAME[KEY=VALUE|KEY=VALUE]` as ns-3 writes factories of objects.
    fn read(text: &'a str) -> Result<Text<'a>, String> {
        let wrong = || {
            format!("\"{text}\" is no congestion control; expected its name, or name[Attribute=value|Attribute=value]")
        };
        let Some((name, rest)) = text.split_once('[') else { return Ok(Text { name: text, values: Vec::new() }) };
        let list = rest.strip_suffix(']').ok_or_else(wrong)?;
        let values =
            list.split('|').filter(|value| !value.is_empty()).map(|value| value.split_once('=').ok_or_else(wrong));
        Ok(Text { name, values: values.collect::<Result<_, _>>()? })
    }
}

/// The algorithm that a text names, of those that a host has: its parameters are the host's unless the text says otherwise.
fn find(settings: &NodeSettings, text: &str) -> Result<Box<dyn Algorithm>, String> {
    let Text { name, values } = Text::read(text)?;
    let others = |others: String| {
        let or = if others.is_empty() { "" } else { ", or " };
        let known: Vec<String> = settings.control.names().iter().map(|name| format!("\"{name}\"")).collect();
        format!("there is no congestion control \"{name}\"; expected one of {}{or}{others}", known.join(", "))
    };
    let mut algorithm = settings.control.named(name).map_err(others)?;
    for (attribute, value) in values {
        let known = algorithm
            .list()
            .into_iter()
            .find(|setting| setting.key == attribute || camel_case(setting.key) == attribute);
        let setting = known.ok_or_else(|| format!("{name} has no attribute {attribute}"))?;
        let input = Input::parse(&setting, value).map_err(|wrong| format!("{attribute} of {name}: {wrong}"))?;
        algorithm.set(setting.key, input).map_err(|wrong| match wrong {
            SettingError::Unknown => format!("{name} has no attribute {attribute}"),
            SettingError::Value(message) => format!("{attribute} of {name}: {message}"),
        })?;
    }
    Ok(algorithm)
}

impl Network {
    /// Refuses a congestion control that the network, or the host with these settings, does not serve.
    fn check_control(&self, settings: &NodeSettings, algorithm: &dyn Algorithm) -> Result<(), String> {
        let name = algorithm.name();
        let host = settings.needs();
        let needs = algorithm.needs();
        if needs.tcp {
            return Err(format!("{name} is a congestion control of TCP; expected one of RDMA"));
        }
        if needs.receiver != host.receiver {
            return Err(format!(
                "{name} is computed by receivers for all flows of a network; expected it at hosts, not for a flow"
            ));
        }
        let mut own = settings.clone();
        own.control.choose(algorithm.clone_algorithm());
        let located = |conflict: Conflict| format!("{}: {}", conflict.key, conflict.message);
        own.check(&self.network).map_err(told)?;
        own.check_notifications(own.fast_cnp.enabled).map_err(told)?;
        lowest_rate(algorithm, &LinkRates::of(&self.network)).map_err(located)
    }

    pub fn add_control(&self, host: u32, settings: &Settings, control: &str) -> Result<i32, String> {
        let algorithm = find(&settings.node, control)?;
        self.check_control(&settings.node, algorithm.as_ref())?;
        let calls_program = algorithm.needs().program;
        let mut engine = self.engine();
        if calls_program {
            follow_program(&mut engine);
        }
        Ok(engine.add_control(host, algorithm).into())
    }

    pub fn controller(&self, host: u32, queue_pair: u32) -> usize {
        let object = self.engine().with_controller(host, queue_pair, |controller| controller.object());
        object.flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::settings::Value;

    #[test]
    fn a_text_names_an_algorithm_and_its_parameters() {
        let host = NodeSettings::default();
        let own = find(&host, "hpcc_plus[Eta=0.9|max_stage=3]").expect("an algorithm");
        assert_eq!(
            (own.name(), own.get("eta"), own.get("max_stage")),
            ("hpcc_plus", Some(Value::Real(0.9)), Some(Value::Count(3)))
        );
        assert_eq!(find(&host, "dcqcn").expect("an algorithm").name(), "dcqcn");
        for (text, told) in [
            ("hpcc_plus[Eta", "expected its name, or name[Attribute=value|Attribute=value]"),
            ("hpcc_plus[Eta]", "expected its name"),
            ("hpcc_plus[Eat=1]", "has no attribute Eat"),
            ("hpcc_plus[Eta=7]", "Eta of hpcc_plus: "),
            ("nope", "expected one of \"hpcc\", "),
        ] {
            let wrong = find(&host, text).expect_err(text);
            assert!(wrong.contains(told), "{wrong}");
        }
    }
}
