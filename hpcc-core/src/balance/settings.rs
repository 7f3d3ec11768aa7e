// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which scheme, at which switches, with which parameters.

use super::{Choice, EcmpBalancer, Errands, Fate, LoadBalancer, Passing, Scheme, all};
use crate::priorities::Priorities;
use crate::random::Integers;
use crate::settings::{Conflict, Input, Kind, Setting, SettingError, Settings, Value};
use crate::topology::{Network, NodeSet};
use crate::units::Nanos;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The key of the choice.
const KEY: &str = "scheme";

crate::settings! {
    /// Where a scheme holds.
    #[derive(Clone, Debug, PartialEq)]
    struct Where {
        /// Switches at which the scheme holds; at the others `ecmp`. All, switches, or numbers and ranges.
        #[change = "Name those of one tier to balance there alone."]
        pub switches: String = "all".to_string();
        /// Priorities whose data the scheme balances, such as `1, 2`; that of others goes by `ecmp`. `auto`: all.
        #[change = "Set it to spray bulk data, and keep other classes in order."]
        pub priorities: Option<Priorities> = None;
    }
}

/// Load balancing: which scheme, where, and the parameters of each.
#[derive(Clone, Debug)]
pub struct LoadBalancingSettings {
    /// At least one.
    schemes: Vec<Box<dyn Scheme>>,
    chosen: usize,
    place: Where,
    finder: SchemeFinder,
}

/// Finds a scheme outside this crate by a name that is none of its own. The error ends the sentence "expected one of ..., or ...":
/// what else a name may be, and why this one is not that; empty if there is nothing else.
pub type SchemeFinder = fn(&str) -> Result<Box<dyn Scheme>, String>;

impl LoadBalancingSettings {
    /// The schemes of this crate, and others besides.
    pub fn with(foreign: Vec<Box<dyn Scheme>>) -> Self {
        LoadBalancingSettings {
            schemes: all().into_iter().chain(foreign).collect(),
            ..LoadBalancingSettings::default()
        }
    }

    /// The schemes of this crate, and those that `finder` finds when they are asked for.
    pub fn finding(finder: SchemeFinder) -> Self {
        LoadBalancingSettings { finder, ..LoadBalancingSettings::default() }
    }

    /// The place of the scheme of this name, or what the [`SchemeFinder`] says.
    fn find(&mut self, name: &str) -> Result<usize, String> {
        if let Some(known) = self.schemes.iter().position(|scheme| scheme.name() == name) {
            return Ok(known);
        }
        self.schemes.push((self.finder)(name)?);
        Ok(self.schemes.len() - 1)
    }

    /// The chosen scheme.
    pub fn chosen(&self) -> &dyn Scheme {
        self.schemes[self.chosen].as_ref()
    }

    /// Whether all packets of a flow take one path until routes change.
    pub fn keeps(&self) -> bool {
        self.chosen().keeps()
    }

    /// Whether all packets of a flow of this priority do, or of any.
    pub fn keeps_priority(&self, priority: Option<u8>) -> bool {
        let is_apart = |(all, own): (&Priorities, u8)| !all.serve(own);
        self.keeps() || self.place.priorities.as_ref().zip(priority).is_some_and(is_apart)
    }

    /// Of each node, whether packets of one flow may leave it by several ports; empty: of none.
    pub fn parting(&self, network: &Network) -> Vec<bool> {
        if self.keeps() {
            return Vec::new();
        }
        let Ok(at) = self.switches(network) else { return Vec::new() };
        (0..network.nodes.len() as u32).map(|node| at.contains(node)).collect()
    }

    /// The same of a switch that these settings are of.
    pub fn parts(&self, network: &Network, switch: u32) -> bool {
        !self.keeps() && self.switches(network).is_ok_and(|at| at.contains(switch))
    }

    /// Whether the scheme balances data of a priority; that of others goes by `ecmp`.
    pub fn serves(&self, priority: u8) -> bool {
        self.place.priorities.is_none_or(|priorities| priorities.serve(priority))
    }

    /// Checks settings against each other and the network.
    ///
    /// # Errors
    /// The first that contradicts another one.
    pub fn check(&self, network: &Network) -> Result<(), Conflict> {
        let at = self.switches(network)?;
        if self.chosen().tags() && network.switches().any(|switch| !at.contains(switch)) {
            let name = self.chosen().name();
            let message =
                format!("at scheme = \"{name}\" switches tell each other by what packets carry; expected \"all\"");
            return Err(Conflict::new("switches", message));
        }
        self.chosen().check()
    }

    /// Whether frames carry what balancers tell each other.
    pub fn tags(&self) -> bool {
        self.chosen().tags()
    }

    /// What a switch does; `None`: as without any setting.
    ///
    /// # Errors
    /// If the switches cannot be read.
    pub fn balancer(&self, network: &Network, switch: u32) -> Result<Option<Box<dyn LoadBalancer>>, Conflict> {
        if !self.switches(network)?.contains(switch) {
            return Ok(None);
        }
        let scheme = self.chosen().start(network, switch);
        Ok(Some(match self.place.priorities {
            Some(priorities) if !scheme.keeps() => Box::new(OfPriorities { priorities, scheme, switch }),
            _ => scheme,
        }))
    }

    fn names(&self) -> Vec<String> {
        self.schemes.iter().map(|scheme| scheme.name().into()).collect()
    }

    fn switches(&self, network: &Network) -> Result<NodeSet, Conflict> {
        NodeSet::parse_switches(&self.place.switches, network).map_err(|message| Conflict::new("switches", message))
    }
}

impl Default for LoadBalancingSettings {
    fn default() -> Self {
        LoadBalancingSettings { schemes: all(), chosen: 0, place: Where::default(), finder: |_| Err(String::new()) }
    }
}

impl PartialEq for LoadBalancingSettings {
    fn eq(&self, other: &Self) -> bool {
        self.list().iter().all(|setting| self.get(setting.key) == other.get(setting.key))
    }
}

impl Settings for LoadBalancingSettings {
    fn list(&self) -> Vec<Setting> {
        let names = self.names();
        let help = "How a switch chooses among equally short paths for a packet; answers go by `ecmp`. Change it to compare \
                    schemes: all but `ecmp` and `conweave` bring packets out of order, which `transport.recovery` = `selective_repeat` \
                    takes best."
            .into();
        let default = Value::Word(names.first().cloned().unwrap_or_default());
        let choice = Setting {
            key: KEY,
            kind: Kind::Choice(names),
            auto: false,
            default,
            condition: None,
            of_network: false,
            assumed: Some("what switches do without further configuration: a flow keeps to one path, chosen by a hash"),
            help,
        };
        let of_schemes = self.schemes.iter().flat_map(|scheme| scheme.list());
        [choice].into_iter().chain(self.place.list()).chain(of_schemes).collect()
    }

    fn get(&self, key: &str) -> Option<Value> {
        if key == KEY {
            return Some(Value::Word(self.chosen().name().into()));
        }
        self.place.get(key).or_else(|| self.schemes.iter().find_map(|scheme| scheme.get(key)))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        if key == KEY {
            let place = match input {
                Input::Text(name) => self.find(name),
                Input::Switch(_) | Input::Whole(_) | Input::Large(_) | Input::Real(_) => Err(String::new()),
            };
            self.chosen = place.map_err(|others| {
                let or = if others.is_empty() { "" } else { ", or " };
                let names = Kind::Choice(self.names()).expected();
                SettingError::Value(format!("the value is {}; expected one of {names}{or}{others}", input.shown()))
            })?;
            return Ok(());
        }
        let places = [&mut self.place as &mut dyn Settings].into_iter();
        for settings in places.chain(self.schemes.iter_mut().map(|scheme| scheme.as_mut() as &mut dyn Settings)) {
            match settings.set(key, input) {
                Err(SettingError::Unknown) => {}
                known => return known,
            }
        }
        Err(SettingError::Unknown)
    }
}

/// A scheme for data of some priorities; others go as if there were none.
#[derive(Debug)]
struct OfPriorities {
    priorities: Priorities,
    scheme: Box<dyn LoadBalancer>,
    switch: u32,
}

impl LoadBalancer for OfPriorities {
    fn tags(&self) -> bool {
        self.scheme.tags()
    }

    fn is_programmed(&self) -> bool {
        self.scheme.is_programmed()
    }

    fn on_arrival(&mut self, passing: &mut Passing<'_>, errands: &mut Errands) -> Fate {
        passing.is_balanced &= self.priorities.serve(passing.priority);
        self.scheme.on_arrival(passing, errands)
    }

    fn on_timeout(&mut self, now: Nanos, errands: &mut Errands) {
        self.scheme.on_timeout(now, errands);
    }

    fn on_departure(&mut self, passing: &mut Passing<'_>) {
        self.scheme.on_departure(passing);
    }

    fn choose(&mut self, choice: &Choice<'_>, rand: &mut Integers) -> u16 {
        if self.priorities.serve(choice.priority) {
            return self.scheme.choose(choice, rand);
        }
        EcmpBalancer { seed: self.switch, weighted: false }.choose(choice, rand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::FlowKey;
    use crate::balance::testing::Given;
    use crate::testing::{node_with, star};
    use alloc::collections::BTreeSet;

    #[test]
    fn a_scheme_is_chosen_by_its_name() {
        let mut settings = LoadBalancingSettings::default();
        assert!(settings.keeps() && settings == LoadBalancingSettings::default());
        settings.set(KEY, Input::Text("random")).expect("a name");
        assert_eq!(settings.get(KEY), Some(Value::Word("random".into())));
        assert!(!settings.keeps() && settings != LoadBalancingSettings::default());
        let wrong = settings.set(KEY, Input::Text("nope"));
        assert!(matches!(wrong, Err(SettingError::Value(text)) if text.contains("one of \"ecmp\", \"random\"")));
        assert_eq!(settings.set("nope", Input::Text("1")), Err(SettingError::Unknown));
    }

    /// Of a flow in priority 3 packets take all four hops, of the same in priority 4 the one that the hash of its key chooses.
    #[test]
    fn a_scheme_balances_the_priorities_that_it_is_given() {
        let node = node_with(&[("load_balancing", "scheme", "random"), ("load_balancing", "priorities", "3")]);
        let mut balancer = node.load_balancing.balancer(&star(), 3).expect("switches").expect("one");
        assert!(!balancer.keeps());
        let (ports, mut rand) = (Given::default(), Integers::new(1));
        let mut taken = |priority, sport| {
            let key = &FlowKey { sport, ..FlowKey::default() };
            let choice = Choice { now: Nanos(0), dst: 1, key, priority, hops: &[2, 3, 5, 7], ports: &ports };
            (0..100).map(|_| balancer.choose(&choice, &mut rand)).collect::<BTreeSet<u16>>()
        };
        assert_eq!(taken(3, 1).len(), 4);
        for sport in 0..20 {
            let hashed = FlowKey { sport, ..FlowKey::default() }.choose(3, &[2, 3, 5, 7]).expect("hops");
            assert_eq!(taken(4, sport), BTreeSet::from([hashed]));
        }
    }

    /// Front ends tell them apart by their keys alone.
    #[test]
    fn no_two_schemes_have_a_parameter_of_the_same_name() {
        let list = LoadBalancingSettings::default().list();
        let keys: BTreeSet<&str> = list.iter().map(|setting| setting.key).collect();
        assert_eq!(keys.len(), list.len());
        for scheme in all() {
            for setting in scheme.list() {
                assert_eq!(setting.condition.map(|condition| condition.key), Some(KEY), "{}", setting.key);
            }
        }
    }

    #[test]
    fn a_finder_is_asked_for_other_names() {
        let finder: SchemeFinder = |name| match name {
            "mine" => Ok(Box::new(crate::balance::Random)),
            _ => Err(format!("a colour; {name} is none")),
        };
        let mut settings = LoadBalancingSettings::finding(finder);
        assert_eq!(settings.set(KEY, Input::Text("mine")), Ok(()));
        assert!(!settings.keeps(), "what was found is chosen");
        let wrong = settings.set(KEY, Input::Text("nope"));
        assert!(matches!(wrong, Err(SettingError::Value(text)) if text.ends_with(", or a colour; nope is none")));
    }

    #[test]
    fn a_flow_chooses_among_paths_only_where_it_has_one() {
        let check = |scheme| {
            let mut node = node_with(&[("load_balancing", "scheme", scheme)]);
            node.feedback.paths = 2;
            node.resolve(&star());
            node.check(&star()).map_err(|wrong| (wrong.section, wrong.conflict.key))
        };
        assert_eq!((check("ecmp"), check("drill")), (Ok(()), Err(("load_balancing", "scheme"))));
    }

    #[test]
    fn a_scheme_holds_where_it_is_said_to() {
        let at = |switches: &str| {
            let sets = [("load_balancing", "scheme", "random"), ("load_balancing", "switches", switches)];
            node_with(&sets).load_balancing
        };
        let has = |switches: &str| at(switches).balancer(&star(), 3).map(|balancer| balancer.is_some());
        assert_eq!([has("all"), has("3"), has("none")], [Ok(true), Ok(true), Ok(false)]);
        for none in ["77", "2"] {
            assert_eq!(has(none).map_err(|conflict| conflict.key), Err("switches"), "{none}: no node, or a host");
        }
    }
}
