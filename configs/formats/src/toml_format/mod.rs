// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios in TOML. `configs/quickstart.toml` is an annotated example.
//!
//! | section | says |
//! | --- | --- |
//! | `[compatibility]` | which of the 2019 simulator's faults are repeated |
//! | `[run]` | seed, stop time, order of events |
//! | `[topology]` | nodes and links; `kind` selects a generator, a file or an inline list |
//! | `[congestion_control]` | algorithm and its parameters |
//! | `[telemetry]` | format, which packets collect it, how it comes back |
//! | `[wire]` | headers of every frame |
//! | `[transport]` | packets, windows, acknowledgements |
//! | `[receive]` | hosts that take what arrives slowly |
//! | `[switch]` | buffer, ECN |
//! | `[load_balancing]` | which of several paths a packet takes |
//! | `[[traffic]]` | flows; `kind` selects one flow, a pattern, a file or a random process |
//! | `[legacy]` | nodes that know nothing of telemetry |
//! | `[servers]` | hosts that are the GPUs of servers |
//! | `[gpu]`, `[nic]` | profiles of hardware that jobs run on |
//! | `[failures]` | links that fail during the run |
//! | `[fast_cnp]` | congestion notifications by switches |
//! | `[[attack]]` | who attacks whom |
//! | `[monitor]` | time series |

mod another;
mod assign;
mod attack;
mod buffer;
mod collective;
mod compatibility;
mod congestion_control;
mod document;
mod failures;
mod fast_cnp;
mod hardware;
mod inference;
mod job_file;
mod keys;
mod legacy;
mod placement;
mod plain;
mod rails;
mod receive;
mod remarks;
mod schema;
mod servers;
mod settings;
mod source;
mod switch_profile;
mod topology;
mod traffic;
mod uneven;

pub use schema::scenario as schema;

#[cfg(test)]
pub(crate) mod tests;

use another::Another;
use document::Document;
use hpcc_core::node::{Located, NodeSettings};
use hpcc_core::reference_faults::{FaultSettings, ReferenceFaults};
use hpcc_core::transport::QueuePairs;
use hpcc_model::draft::{Blame, Control, Draft, Places};
use hpcc_model::error::InputError;
use hpcc_model::flows::FlowList;
use hpcc_model::scenario::{DegradedLinks, Scenario, name_of, ways};
use keys::Read;
use plain::Given;
use source::Source;
use std::path::Path;
use switch_profile::Laid;

const SECTIONS: &[&str] = &[
    "compatibility",
    "run",
    "topology",
    "congestion_control",
    "telemetry",
    "wire",
    "transport",
    "receive",
    "switch",
    "load_balancing",
    "traffic",
    "servers",
    "gpu",
    "nic",
    "legacy",
    "failures",
    "fast_cnp",
    "attack",
    "monitor",
];

/// Reads a scenario. Overrides are `dotted.path=VALUE`.
pub(super) fn read(path: &Path, text: &str, overrides: &[String], defaults: NodeSettings) -> Result<Draft, InputError> {
    read_as(path, text, overrides, defaults, false)
}

/// The same of a text that stands for a configuration of the 2019 simulator, which accepts flows that nothing controls:
/// it is only told. So it is where all of the 2019 simulator's faults are repeated.
pub(super) fn read_as(
    path: &Path,
    text: &str,
    overrides: &[String],
    defaults: NodeSettings,
    is_configuration: bool,
) -> Result<Draft, InputError> {
    let Laid { overrides, elsewhere, left_out } = switch_profile::overrides(path, text, overrides);
    let source = Source::new(path, text, &overrides, elsewhere)?;
    let mut another = Another::of(&source, &defaults);
    loop {
        match read_without(&another, path, &source, defaults.clone(), is_configuration) {
            Ok(mut draft) => {
                draft.scenario.notes.extend(another.note());
                draft.scenario.notes.extend(left_out);
                return Ok(draft);
            }
            Err(error) => another.drop_for(error)?,
        }
    }
}

/// Reads a scenario, but for the keys of its file that another algorithm has no use for.
fn read_without(
    another: &Another,
    path: &Path,
    source: &Source<'_>,
    defaults: NodeSettings,
    is_configuration: bool,
) -> Result<Draft, InputError> {
    let mut document = Document::parse(source, another.dropped())?;
    document.check_sections(SECTIONS)?;
    let faults = compatibility::compatibility(&mut document)?;
    let of_reference = is_configuration || faults == ReferenceFaults::REFERENCE;
    let run = settings::run(&mut document)?;
    let has_jobs = traffic::has_jobs(&document);
    let topology = topology::read(&mut document, path, faults.rounding(), has_jobs)?;
    let (mut settings, mut given) = (defaults, Given::default());
    settings.faults = FaultSettings::of(faults);
    let note = congestion_control::read(&mut document, &mut settings, &mut given, another.is_chosen())?;
    let receivers = receive::read(&mut document, &mut settings, &mut given)?;
    for section in ["wire", "telemetry", "transport", "load_balancing"] {
        let _: Read<()> = given.section(&mut document, &mut settings, section)?;
    }
    let lists = given.section(&mut document, &mut settings, "switch")?;
    settings.ecn_thresholds = settings::thresholds(&lists)?.or(settings.ecn_thresholds);
    let is_of_profile =
        |key: &str| lists.origin.place(&[key]).is_beside(&source.elsewhere) && lists.profile.profile.is_some();
    let own = settings.ecn_thresholds.as_mut().filter(|_| is_of_profile("ecn_thresholds"));
    let unused = own.and_then(|own| switch_profile::keep_used(own, &topology.network));
    let thresholds = lists.origin.place(&["ecn_thresholds"]);
    switch_profile::check(path, &lists.profile, &lists.origin)?;
    let groups = Blame::new(lists.origin.place(&["buffer_groups"]), "switch.buffer_groups");
    buffer::KEYS.iter().for_each(|key| given.add_key("switch", key, lists.origin.place(&[key])));
    if let Some(plan) = buffer::read(&lists.buffer, &lists.origin, &topology.network, is_of_profile)? {
        let section = "switch";
        settings.divide(plan).map_err(|conflict| given.error(&document, &Located { section, conflict }))?;
    }
    let lists = given.section(&mut document, &mut settings, "fast_cnp")?;
    let (borders, border_place) = fast_cnp::borders(&lists, &topology.network, settings.wire.profile)?;
    if borders.is_empty() && given.has("fast_cnp", "border_side") {
        let place = given.place(&document, "fast_cnp", "border_side");
        return Err(place.key_error("fast_cnp.border_side", "border_side without borders; expected both"));
    }
    if has_jobs && settings.protocol.protocol.is_of_stack() {
        let place = given.place(&document, "transport", "protocol");
        return Err(place.key_error("transport.protocol", "messages of jobs go by RDMA; expected \"rdma\""));
    }
    let hardware = hardware::read(&mut document)?;
    let servers = servers::read(&mut document, &topology, hardware.profiles)?;
    let transport = &settings.transport;
    if has_jobs && transport.queue_pairs == QueuePairs::Auto && transport.recovery.to_chunks {
        let place = given.place(&document, "transport", "recovery");
        let message = "recovery = \"go_back_zero\" goes back into messages that have finished, for those of a job share queue pairs; \
                       expected another recovery, or transport.queue_pairs = \"per_flow\"";
        return Err(place.key_error("transport.recovery", message));
    }
    let legacy = legacy::read(&mut document, &topology.network, &settings)?;
    legacy.mark(&topology.network, &mut settings);
    let transport = settings.transport.clone();
    let (link_failures, (degraded, degraded_places), storms) =
        failures::read(&mut document, &topology.network, &settings.load_balancing)?;
    // Links that become worse are others by then, which telemetry has to tell, too.
    let mut told = topology.network.clone();
    let worse = |degraded: &DegradedLinks| {
        degraded.links.iter().map(|&link| degraded.of(&topology.network, link)).collect::<Vec<_>>()
    };
    told.links.extend(degraded.iter().flat_map(worse));
    let is_auto = settings.layout.is_auto();
    let ways = ways(&topology.network, &settings, &link_failures, legacy.nodes());
    settings.layout.choose(settings.needs().reads, &told, &ways);
    settings.resolve(&topology.network);
    let layout = is_auto.then(|| settings.layout.note(settings.needs().reads)).flatten();
    let legacy = legacy.settle(&transport, &settings, &topology.network);
    receivers.check(&document, &settings, &topology.network)?;
    given.check(&document, (&settings, legacy.tcp().unwrap_or(&settings)), &topology.network)?;
    let notifies = settings.fast_cnp.enabled;
    let other = border_place.as_ref().map(|place| ("borders", place));
    let off = given.check_on("fast_cnp", ("enabled", notifies, "true"), other)?;
    let none_slow = given.check_on("receive", ("hosts", settings.receivers().next().is_some(), "HOSTS"), None)?;
    let (flows, told) = traffic::read(
        &mut document,
        path,
        &topology.network,
        (servers.as_ref(), hardware.profiles),
        run.seed,
        (faults.rounding(), transport.mtu),
    )?;
    let servers = servers::check(servers, &flows)?;
    let raw = hardware.check(&flows)?;
    let attacks = attack::read(&mut document, &topology.network, &settings, &flows)?;
    let (monitor, control_flows) = settings::monitor(&mut document, &topology.network, &settings, &legacy)?;
    let blame = |section: &str, key: &str| Blame::new(given.place(&document, section, key), format!("{section}.{key}"));
    let places = Places {
        network: topology.section,
        links: topology.links,
        degraded: degraded_places,
        stop: Blame::new(run.origin.place(&["stop"]), "run.stop"),
        buffer: blame("switch", "buffer"),
        groups,
        ecn: Blame::new(thresholds, "switch.ecn_thresholds".to_string()),
        layout: blame("telemetry", "layout"),
        base_rtt: blame("transport", "base_rtt"),
        tcp_timeout: blame("transport", "tcp_timeout"),
        min_rate: blame("congestion_control", "min_rate"),
        control_flows,
        control: (!of_reference)
            .then(|| Control { hops: blame("telemetry", "hops"), every: blame("telemetry", "every") }),
    };
    let (window, buffer) = (window(&settings), buffer::note(&settings));
    let mut scenario = Scenario {
        name: name_of(path),
        seed: run.seed,
        order: run.order,
        stop: run.stop,
        network: topology.network,
        flows: FlowList::default(),
        settings,
        default_loss: topology.default_loss,
        legacy,
        servers,
        link_failures,
        degraded,
        storms,
        on_deadlock: run.on_deadlock,
        skip: run.skip,
        borders,
        attacks,
        monitor,
        notes: [note, unused, window, buffer, off, none_slow, layout, topology.note, hardware.note()]
            .into_iter()
            .flatten()
            .chain(told.notes)
            .collect(),
        findings: Vec::new(),
        assumed: Vec::new(),
    };
    let assumed = [given.assumed(&scenario.settings), source.assumed.take(), told.assumed, raw].concat();
    scenario.assumed = assumed;
    legacy::borders(&scenario).map_err(|wrong| given.error(&document, &wrong))?;
    match fast_cnp::control(&scenario) {
        Err(Located { conflict, .. }) if of_reference => scenario.notes.push(conflict.message),
        checked => checked.map_err(|wrong| given.error(&document, &wrong))?,
    }
    Ok(Draft { scenario, flows, places })
}

/// The 2019 simulator's HPCC divides by the window.
fn window(settings: &NodeSettings) -> Option<String> {
    let divides = settings.faults().windowless_hpcc && settings.control.chosen().name() == "hpcc";
    let is_zero = settings.transport.window == Some(false) && divides;
    is_zero.then(|| "without a window HPCC divides by 0, as in the 2019 simulator: its rates mean nothing".into())
}
