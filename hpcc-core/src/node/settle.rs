// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a network whose hosts and switches are set one by one, as programs do it: those that are of the network are held
//! once, and each node has the others of its kind.

use super::{LinkRates, Located, NodeSettings, in_section, lowest_rate};
use crate::cc::Reads;
use crate::settings::{Conflict, Named, Settings};
use crate::topology::Network;
use crate::topology::paths::FlowPaths;
use crate::transport::feedback::FeedbackContent;
use crate::transport::{CongestionNotification, IpVersion, Protocol};
use alloc::format;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A switch.
    Switch,
    /// A host with RDMA.
    Host,
    /// A host whose packets are its stack's, of at most so many bytes, IP header included.
    Stack(Protocol, IpVersion, u32),
}

/// A node as it was set.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is.
    pub kind: Kind,
    /// Its settings. What is of the network, or of nodes of another kind, counts for nothing.
    pub settings: Rc<NodeSettings>,
}

/// What is wrong, and at which node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The node's place.
    pub node: usize,
    /// The setting and what is wrong.
    pub wrong: Located,
}

/// What a network runs by.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// The settings of each node, [resolved](NodeSettings::resolve) and checked; nodes that are alike share them.
    pub nodes: Vec<Rc<NodeSettings>>,
    /// The place of the host whose algorithm decides what telemetry is.
    pub main: usize,
}

impl Given {
    /// Greater for a host, or switch, that rather stands for all: one with RDMA, one that knows and reads telemetry.
    fn authority(&self) -> (bool, bool, bool) {
        let is_read = self.settings.control.chosen().needs().reads != Reads::Nothing;
        (self.kind == Kind::Host, self.settings.knows_telemetry(self.kind == Kind::Switch), is_read)
    }
}

/// Settles what is left to the simulator at these nodes of a network, for which `shared` holds, and checks all. A switch goes by the
/// settings of one host, and a host by those of one switch.
///
/// # Errors
/// The first contradiction.
pub fn settle(network: &Network, shared: &NodeSettings, nodes: &[Given]) -> Result<Settled, Misfit> {
    let first = |is_switch: bool| {
        let places = (0..nodes.len()).rev().filter(|&place| (nodes[place].kind == Kind::Switch) == is_switch);
        places.max_by_key(|&place| nodes[place].authority())
    };
    let (host, a_switch) = (first(false), first(true));
    let Some(main) = host.or(a_switch) else { return Ok(Settled::default()) };
    let (host, a_switch) = (&nodes[main], &nodes[a_switch.unwrap_or(main)]);
    let of_main = whole(shared, host, &a_switch.settings);
    let mut layout = shared.layout.clone();
    layout.resolve(of_main.needs().reads, &ways(network, &of_main, nodes), of_main.transport.mtu.0);
    let reads_none = |settings: &NodeSettings| settings.needs().reads == Reads::Nothing;
    let rates = LinkRates::of(network);
    let marked = nodes.iter().find(|node| node.kind == Kind::Host && node.settings.reads_marks());
    let make = |given: &Given| {
        let mut own = match given.kind {
            Kind::Switch => whole(shared, host, &given.settings),
            Kind::Host | Kind::Stack(..) => whole(shared, given, &a_switch.settings),
        };
        if let Some(marked) = marked.filter(|_| given.kind == Kind::Switch) {
            own.mark_for(marked.settings.control.chosen());
        }
        // Packets of hosts that read no telemetry have none, unless somebody asks for it.
        let is_other = given.kind != Kind::Switch && reads_none(&own) != reads_none(&of_main);
        if !(shared.layout.is_auto() && is_other) {
            own.layout = layout.clone();
        }
        own.resolve(network);
        own.check(network)?;
        match given.kind {
            Kind::Switch => own.check_thresholds(&rates)?,
            Kind::Host => lowest_rate(own.control.chosen(), &rates).map_err(in_section("congestion_control"))?,
            Kind::Stack(..) => {}
        }
        Ok(own)
    };
    let mut links = vec![Vec::new(); nodes.len()];
    for link in &network.links {
        [link.a, link.b].into_iter().for_each(|end| links[end as usize].push(*link));
    }
    let mut known: Vec<(&Given, Rc<NodeSettings>)> = Vec::new();
    let mut settled = Vec::with_capacity(nodes.len());
    for (place, given) in nodes.iter().enumerate() {
        let misfit = |wrong| Misfit { node: place, wrong };
        let is_same =
            |(other, _): &&(&Given, _)| other.kind == given.kind && Rc::ptr_eq(&other.settings, &given.settings);
        let own = match known.iter().rev().find(is_same) {
            Some((_, own)) => Rc::clone(own),
            None => {
                let own = Rc::new(make(given).map_err(misfit)?);
                known.push((given, Rc::clone(&own)));
                own
            }
        };
        let (index, links) = (place as u32, &links[place]);
        if given.kind == Kind::Switch {
            // Sockets of a stack get their congestion control later, and it may read no telemetry.
            let mut told = links.iter().filter(|_| host.kind == Kind::Host);
            told.try_for_each(|link| own.check_link(link)).map_err(misfit)?;
            own.check_memory(index, links.iter().map(|link| (link.rate, link.delay))).map_err(misfit)?;
        } else {
            own.check_notified(index, network).map_err(misfit)?;
        }
        settled.push(own);
    }
    check_answers(nodes, &settled)?;
    Ok(Settled { nodes: settled, main })
}

/// The ways of packets between such nodes. What holds for all is that of the main host.
fn ways<'a>(network: &'a Network, of_main: &NodeSettings, nodes: &[Given]) -> FlowPaths<'a> {
    let changes_ports = |node: &Given| node.settings.changes_ports(of_main.fast_cnp.enabled);
    let any = nodes.iter().any(|node| node.kind != Kind::Switch && changes_ports(node));
    let is_switch = |(_, node): &(u32, &Given)| node.kind == Kind::Switch;
    let parts = |(place, node)| any || is_switch(&(place, node)) && node.settings.load_balancing.parts(network, place);
    let is_blind = |node: &Given| !node.settings.switch.stamp_telemetry;
    let blind = (0..).zip(nodes).filter(|node| is_switch(node) && is_blind(node.1));
    FlowPaths {
        parting: (0..).zip(nodes).map(parts).collect(),
        blind: blind.map(|(place, _)| place).collect(),
        ..of_main.ways(network)
    }
}

/// All settings that a node goes by: the network's, those of a host and its packets, and those of a switch.
fn whole(shared: &NodeSettings, host: &Given, a_switch: &NodeSettings) -> NodeSettings {
    let mut settings = NodeSettings {
        faults: shared.faults.clone(),
        wire: shared.wire,
        layout: shared.layout.clone(),
        host_transport: shared.host_transport.clone(),
        fast_cnp: shared.fast_cnp.clone(),
        switch: a_switch.switch.clone(),
        load_balancing: a_switch.load_balancing.clone(),
        ecn_thresholds: a_switch.ecn_thresholds.clone(),
        buffer_plan: a_switch.buffer_plan.clone(),
        fast_cnp_switch: a_switch.fast_cnp_switch.clone(),
        ..(*host.settings).clone()
    };
    settings.transport.share(&shared.transport);
    settings.feedback.share(&shared.feedback);
    settings.switch.share(&shared.switch);
    if let Kind::Stack(protocol, ip, bytes) = host.kind {
        settings.carry_packets(protocol, ip, bytes);
    }
    settings
}

/// A host reads what others answer: those that do, do it in one way.
fn check_answers(nodes: &[Given], settled: &[Rc<NodeSettings>]) -> Result<(), Misfit> {
    let contents = (0..).zip(nodes).zip(settled).filter(|((_, given), _)| given.kind == Kind::Host);
    let mut answers = contents
        .map(|((node, _), own)| (node, own.feedback.content))
        .filter(|&(_, content)| content != FeedbackContent::Nothing);
    let Some((first, usual)) = answers.next() else { return Ok(()) };
    let Some((node, other)) = answers.find(|&(_, content)| content != usual) else { return Ok(()) };
    let message = format!(
        "host {first} answers \"{}\", and this one \"{}\"; expected the same, or none",
        usual.name(),
        other.name()
    );
    Err(Misfit { node, wrong: in_section("telemetry")(Conflict::new("content", message)) })
}

impl NodeSettings {
    /// Checks what a host does about notifications.
    fn check_notified(&self, node: u32, network: &Network) -> Result<(), Located> {
        let acceptor = self.fast_cnp_host.acceptor(&self.fast_cnp, node, network);
        self.check_notifications(acceptor.map_err(in_section("fast_cnp"))?.enabled)?;
        match self.transport.congestion_notification {
            CongestionNotification::FastCnp => {
                self.fast_cnp_host.check_receivers(&self.fast_cnp, network).map_err(in_section("transport"))
            }
            CongestionNotification::Echo | CongestionNotification::Packet => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Owner;
    use crate::settings::{Input, Kind as ValueKind, Setting, Value};
    use crate::testing::node_with;
    use crate::units::{BitRate, Nanos};
    use alloc::string::String;

    /// What a node is, and its values by section and key.
    type Set<'a> = (Kind, &'a [(&'a str, &'a str, &'a str)]);

    const SWITCH: Set<'_> = (Kind::Switch, &[]);

    /// Two hosts at 400 Gb/s on a switch, with these values.
    fn settled(shared: &[(&str, &str, &str)], nodes: [Set<'_>; 3]) -> Result<Settled, (usize, &'static str)> {
        let network = crate::testing::network(2, 1, &[(0, 2, 400), (1, 2, 400)]);
        let given = nodes.map(|(kind, values)| Given { kind, settings: Rc::new(node_with(values)) });
        settle(&network, &node_with(shared), &given).map_err(|misfit| (misfit.node, misfit.wrong.conflict.key))
    }

    /// What a text may say.
    fn text_of(key: &str) -> &'static str {
        match key {
            "classes" => "3:strict",
            "class_alpha" => "3:1",
            "class_ecn" => "3:none",
            "seal" => "000102030405060708090a0b0c0d0e0f",
            "schedule" => "1ms 20Gbps",
            "reference_faults" => "all",
            _ => "1",
        }
    }

    /// A value of a setting that is not its default.
    fn other(setting: &Setting) -> String {
        let values = match &setting.kind {
            ValueKind::Switch => [true, false].map(Value::Switch).into(),
            ValueKind::Choice(words) => words.iter().cloned().map(Value::Word).collect(),
            ValueKind::Count { least, .. } => [*least, least + 1].map(Value::Count).to_vec(),
            ValueKind::Real { least, most } => [*least, *most].map(Value::Real).into(),
            ValueKind::Bytes { least, .. } => [*least, least + 1].map(Value::Bytes).into(),
            ValueKind::Time { least, .. } => [*least, least + 1].map(|time| Value::Time(Nanos(time))).into(),
            ValueKind::Rate { least, .. } => [*least, least + 1].map(|rate| Value::Rate(BitRate(rate))).into(),
            ValueKind::Text => [text_of(setting.key), "2"].map(|text| Value::Text(text.into())).into(),
        };
        values.into_iter().find(|value| *value != setting.default).expect(setting.key).text()
    }

    #[test]
    fn what_is_of_the_network_is_the_same_at_all_nodes_and_the_rest_is_not() {
        let (defaults, mut shared) = (NodeSettings::default(), NodeSettings::default());
        let parts = defaults.parts();
        let all = || parts.iter().flat_map(|part| part.settings.list().into_iter().map(move |setting| (part, setting)));
        for (part, setting) in all() {
            let text = other(&setting);
            let input = Input::parse(&setting, &text).expect(setting.key);
            shared.set(part.section, part.algorithm, setting.key, input).expect(setting.key);
        }
        let node = Given { kind: Kind::Host, settings: Rc::new(defaults.clone()) };
        let whole = whole(&shared, &node, &defaults);
        for (part, setting) in all() {
            let value = |of: &NodeSettings| of.get(part.section, part.algorithm, setting.key);
            assert_ne!(value(&shared), value(&defaults), "{}", setting.key);
            let expected = if part.owner_of(&setting) == Owner::Network { &shared } else { &defaults };
            assert_eq!(value(&whole), value(expected), "{}.{}", part.section, setting.key);
        }
    }

    #[test]
    fn the_layout_is_that_of_a_host_that_reads_telemetry() {
        let dcqcn: &[_] = &[("congestion_control", "algorithm", "dcqcn")];
        let layouts = |hosts: [&[_]; 2]| {
            let found = settled(&[], [(Kind::Host, hosts[0]), (Kind::Host, hosts[1]), SWITCH]);
            found.map(|found| found.nodes.iter().map(|node| node.layout().name()).collect::<Vec<_>>())
        };
        assert_eq!(layouts([&[], &[]]), Ok(vec!["paper"; 3]));
        assert_eq!(layouts([dcqcn, dcqcn]), Ok(vec!["none"; 3]));
        assert_eq!(layouts([dcqcn, &[]]), Ok(vec!["none", "paper", "paper"]));
        let timely: &[_] = &[("congestion_control", "algorithm", "timely")];
        assert_eq!(layouts([&[], timely]), Err((1, "layout")), "two that read other things");
    }

    #[test]
    fn stacks_count_telemetry_as_other_hosts_do() {
        let stack: Set<'_> = (Kind::Stack(Protocol::Tcp, IpVersion::V4, 9_000), &[]);
        for (first, multiplier) in [((Kind::Host, [].as_slice()), 7), (stack, 16)] {
            let found = settled(&[], [first, stack, SWITCH]).expect("settled");
            assert!(found.nodes.iter().all(|node| node.layout.shared.multiplier == Some(multiplier)));
            assert_eq!(found.nodes[1].transport.mtu.0, 8_948);
        }
    }

    #[test]
    fn switches_mark_for_hosts_that_read_marks() {
        let dctcp: &[_] = &[("congestion_control", "algorithm", "dctcp")];
        for (other, kmin) in [(dctcp, 300_000), (&[], 400_000)] {
            let found = settled(&[], [(Kind::Host, &[]), (Kind::Host, other), SWITCH]).expect("settled");
            assert_eq!(found.nodes[2].switch.ecn_kmin.map(|kmin| kmin.0), Some(kmin));
        }
    }

    #[test]
    fn nodes_that_were_set_alike_share_their_settings() {
        let network = crate::testing::network(2, 1, &[(0, 2, 100), (1, 2, 100)]);
        let settings = Rc::new(NodeSettings::default());
        let nodes = [Kind::Host, Kind::Host, Kind::Switch].map(|kind| Given { kind, settings: Rc::clone(&settings) });
        let found = settle(&network, &settings, &nodes).expect("settled").nodes;
        assert!(Rc::ptr_eq(&found[0], &found[1]) && !Rc::ptr_eq(&found[0], &found[2]));
        assert!(settle(&network, &settings, &[]).expect("nothing").nodes.is_empty());
    }

    #[test]
    fn what_a_node_cannot_do_is_told_of_it() {
        let hosts = |own| settled(&[], [(Kind::Host, &[]), (Kind::Host, own), SWITCH]).err();
        let plus = ("congestion_control", "algorithm", "hpcc_plus");
        let answers = |content| {
            let other: &[_] = &[plus, ("telemetry", "content", content)];
            settled(&[], [(Kind::Host, &[plus]), (Kind::Host, other), SWITCH]).err()
        };
        assert_eq!((answers("loads"), answers("records")), (Some((1, "content")), None));
        assert_eq!(hosts(&[("telemetry", "content", "none")]), None, "a host without telemetry");
        assert_eq!(hosts(&[("transport", "congestion_notification", "fast_cnp")]), Some((1, "enabled")));
        let switches = |own| settled(&[], [(Kind::Host, &[]), (Kind::Host, &[]), (Kind::Switch, own)]).err();
        assert_eq!(switches(&[("switch", "buffer", "10KB")]), Some((2, "buffer")));
    }
}
