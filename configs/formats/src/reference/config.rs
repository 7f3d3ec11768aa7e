// SPDX-License-Identifier: GPL-2.0-only
//! `config.txt`: from its keys to a scenario.

use super::descendant::{Descendant, Remark, TomlKey};
use super::export::{self, Files};
use super::settings::{SKIP_UNKNOWN, Settings, narrow};
use super::topology::TopologyFile;
use super::{algorithm, ecn_map, keys, topology, trace};
use crate::toml_format;
use hpcc_core::engine::LinkFailure;
use hpcc_core::node::NodeSettings;
use hpcc_core::reference_faults::FaultSettings;
use hpcc_core::settings::Value;
use hpcc_core::switch::SwitchSettings;
use hpcc_core::topology::Network;
use hpcc_core::transport::{Recovery, TransportSettings};
use hpcc_core::units::{Bytes, Nanos};
use hpcc_model::draft::{Draft, Places};
use hpcc_model::error::{InputError, nearest};
use hpcc_model::flow_file::{FlowFile, FlowForm};
use hpcc_model::flows::{FlowList, FlowSource, Traffic};
use hpcc_model::results::CaptureFormat;
use hpcc_model::scenario::{EventOrder, Legacy, Monitor, OnDeadlock, QueueHistogram, Scenario, SkipMode, name_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The 2019 simulator has no seed of its own; its generators start from 1.
const SEED: u64 = 1;

/// Runs with more flows than this record no time series.
const MAX_FLOWS_IN_SERIES: u64 = 64;

/// Reads a configuration and the files that it names. Overrides are `KEY=VALUE`, or keys of TOML as
/// `dotted.path=VALUE`.
pub(crate) fn read(path: &Path, text: &str, overrides: &[String], defaults: NodeSettings) -> Result<Draft, InputError> {
    recognise(path, text)?;
    let mut settings = Settings::parse(path, text, overrides)?;
    let keys = std::mem::take(&mut settings.toml);
    let Config { mut draft, files, keys: own, remarks } = configuration(path, &mut settings, false)?;
    draft.scenario.notes.splice(0..0, remarks.into_iter().filter_map(|(kind, text)| note(kind, text)));
    if keys.is_empty() && own.is_empty() {
        let Scenario { settings, network, .. } = &mut draft.scenario;
        settings.resolve(network);
        return Ok(draft);
    }
    let text = export::toml(&draft.scenario, &files, &own);
    let mut read = toml_format::read_as(path, &text, &keys, defaults, true).map_err(|error| of_toml(path, error))?;
    if !keys.iter().any(|key| key.trim_start().starts_with("monitor.trace_nodes")) {
        // TOML has each node once.
        read.scenario.monitor.trace_nodes = std::mem::take(&mut draft.scenario.monitor.trace_nodes);
    }
    let places = if read.scenario.network == draft.scenario.network { draft.places } else { read.places };
    let notes = [draft.scenario.notes, read.scenario.notes].concat();
    Ok(Draft { scenario: Scenario { notes, ..read.scenario }, places, ..read })
}

/// A configuration as a scenario in TOML, and what is to be said of that. `place` gives a file the name that the TOML has
/// for it. The flows may be missing.
///
/// # Errors
/// As those of a configuration that is run.
pub fn import(
    path: &Path,
    overrides: &[String],
    place: impl Fn(&Path) -> PathBuf,
) -> Result<(String, Vec<(Remark, String)>), InputError> {
    let text = hpcc_model::text::read(path)?;
    recognise(path, &text)?;
    let skip = SKIP_UNKNOWN.to_owned();
    let overrides: Vec<String> = overrides.iter().cloned().chain([skip]).collect();
    let mut settings = Settings::parse(path, &text, &overrides)?;
    if let Some(key) = settings.toml.first() {
        return Err(
            hpcc_model::place::Place::command_line().error(format!("{key}: expected a key of {}", path.display()))
        );
    }
    let Config { draft, mut files, keys, mut remarks } = configuration(path, &mut settings, true)?;
    files.topology = place(&files.topology);
    files.flows = files.flows.map(|flows| place(&flows));
    remarks.extend(draft.scenario.notes.iter().map(|note| (Remark::Guessed, note.clone())));
    Ok((export::toml(&draft.scenario, &files, &keys), remarks))
}

/// What a remark is to those who run the file; what makes no difference is nothing to them.
fn note(kind: Remark, text: String) -> Option<String> {
    match kind {
        Remark::Taken | Remark::Idle => None,
        Remark::Dropped => Some(format!("dropped: {text}")),
        Remark::Guessed => Some(text),
    }
}

/// The line is none of the file's.
fn of_toml(path: &Path, error: InputError) -> InputError {
    if error.file != path {
        return error;
    }
    let message = format!("{} (in the TOML that ./hpcc import {} writes)", error.without_place(), path.display());
    InputError::new(path, None, message)
}

/// A configuration whose settings are not resolved yet.
struct Config {
    draft: Draft,
    files: Files,
    /// Keys of TOML that its own keys have become.
    keys: Vec<TomlKey>,
    remarks: Vec<(Remark, String)>,
}

fn configuration(path: &Path, settings: &mut Settings<'_>, imports: bool) -> Result<Config, InputError> {
    let mut descendant = std::mem::take(&mut settings.descendant);
    descendant.finish();
    let Descendant { mut keys, mut remarks, last_start, marking, .. } = descendant;
    let settings = &*settings;
    check_unused(settings)?;
    let mut notes = Vec::new();
    let algorithm = algorithm::read(settings, &mut notes)?;
    if algorithm.name() != "dcqcn" {
        keys.retain(|(section, ..)| *section != "congestion_control");
    }
    let transport = transport(settings, algorithm.name(), &mut notes)?;
    let layout = algorithm::layout(settings, algorithm.needs().reads)?;
    let mut node = NodeSettings {
        faults: FaultSettings::of(settings.faults()),
        transport,
        layout,
        switch: switch(settings, &mut notes)?,
        ..NodeSettings::default()
    };
    node.control.choose(algorithm);
    let stop = stop(settings, last_start.as_deref(), &mut notes)?;
    let default_loss = settings.probability("ERROR_RATE_PER_LINK", 0.0)?;
    let topology_path = input(path, settings, "TOPOLOGY_FILE", &mut notes)?;
    let TopologyFile { network, links, note, .. } = topology::read(&topology_path, settings.faults().rounding())?;
    notes.extend(note);
    node.ecn_thresholds = match ecn_map::of_all(marking, &network, &mut notes) {
        None => Some(ecn_map::read(settings, &network, &mut notes)?),
        thresholds => thresholds,
    };
    let mut flows = Vec::new();
    let (mut flow_count, mut flow_path, mut columns) = (0, None, None);
    match input(path, settings, "FLOW_FILE", &mut notes) {
        Err(error) if imports => {
            remarks.push((Remark::Dropped, format!("{}: add a [[traffic]]", error.without_place())))
        }
        found => {
            let found = found?;
            let form = FlowForm { columns: None, mtu: node.transport.mtu, rounding: settings.faults().rounding() };
            let (file, count) = FlowFile::new(&found, form)?;
            if imports {
                notes.extend(file.guess());
            }
            columns = file.foreign_columns();
            flows.push(Traffic { group: "file".into(), source: FlowSource::File(file), offer: None });
            (flow_count, flow_path) = (count, Some(found));
        }
    }
    let trace_nodes = trace_nodes(path, settings, network.nodes.len(), &mut notes)?;
    let monitor = Monitor { trace_nodes, ..monitor(settings, flow_count, &mut notes)? };
    let link_failures = link_down(settings, &network)?;
    if settings.faults().last_parallel_link {
        notes.extend(parallel_links(&network));
    }
    let places = places(settings, links, &network);
    let scenario = Scenario {
        name: name_of(path),
        seed: SEED,
        order: EventOrder::Insertion,
        stop,
        network,
        flows: FlowList::default(),
        settings: node,
        legacy: Legacy::default(),
        borders: Vec::new(),
        attacks: Vec::new(),
        default_loss,
        servers: None,
        link_failures,
        degraded: Vec::new(),
        storms: Vec::new(),
        on_deadlock: OnDeadlock::default(),
        skip: SkipMode::default(),
        monitor,
        notes,
        findings: Vec::new(),
        assumed: Vec::new(),
    };
    let files = Files { topology: topology_path, flows: flow_path, columns };
    Ok(Config { draft: Draft { scenario, flows, places }, files, keys, remarks })
}

/// Whether a file has lines that begin with keys: what is a configuration among other files of a folder.
pub fn is_configuration(path: &Path) -> bool {
    const ENOUGH: usize = 3;
    let is_key = |line: &str| line.split_whitespace().next().is_some_and(|word| keys::values(word).is_some());
    let text = hpcc_model::text::read(path).unwrap_or_default();
    !crate::kind::is_toml(path, &text) && text.lines().filter(|line| is_key(line)).take(ENOUGH).count() == ENOUGH
}

/// Refuses a file that seems to be something else, for which a list of keys would be no help.
fn recognise(path: &Path, text: &str) -> Result<(), InputError> {
    let refuse = |message: &str| Err(InputError::new(path, None, message));
    let Some(first) = text.split_whitespace().next() else {
        return refuse("is empty; expected a scenario in TOML, or a config.txt of the 2019 simulator");
    };
    let is_key = |word: &str| keys::values(word).is_some();
    if first.starts_with('#') || nearest(first, &keys::all()).is_some() || text.split_whitespace().any(is_key) {
        return Ok(());
    }
    refuse("no scenario: it is neither TOML nor has a key of the 2019 simulator's config.txt")
}

fn places(settings: &Settings<'_>, links: Vec<hpcc_model::place::Place>, network: &Network) -> Places {
    Places {
        degraded: Vec::new(),
        network: None,
        links,
        stop: settings.blame("SIMULATOR_STOP_TIME"),
        buffer: settings.blame("BUFFER_SIZE"),
        groups: settings.blame("BUFFER_SIZE"),
        ecn: settings.blame(ecn_map::lacking(settings, network)),
        layout: settings.blame("CC_MODE"),
        base_rtt: settings.blame("CC_MODE"),
        tcp_timeout: settings.blame("CC_MODE"),
        min_rate: settings.blame("MIN_RATE"),
        // No key of the 2019 simulator's names any.
        control_flows: settings.blame("FLOW_FILE"),
        control: None,
    }
}

/// Values that another controller would read, or none, must still be of their kind: a typing error there is an error all the same.
fn check_unused(settings: &Settings<'_>) -> Result<(), InputError> {
    for key in keys::CONTROLLER_NUMBERS {
        settings.float(key, 0.0)?;
    }
    for key in keys::CONTROLLER_RATES {
        settings.rate(key, Default::default())?;
    }
    Ok(())
}

/// The 2019 simulator cuts it to whole microseconds, and takes a pause of 0 for a resume.
fn pause_time(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<Nanos, InputError> {
    const KEY: &str = "PAUSE_TIME";
    let micros = settings.float(KEY, 5.0)?;
    let whole = if settings.faults().whole_pause_time { micros.floor() } else { micros.ceil() };
    if whole > f64::from(u32::MAX) {
        return Err(settings.error(KEY, format!("{KEY} is {micros}; expected at most {} microseconds", u32::MAX)));
    }
    if whole == 0.0 {
        if !settings.faults().whole_pause_time {
            return Err(settings.error(KEY, format!("{KEY} is 0, which would turn pauses into resumes; expected more")));
        }
        notes.push(format!("{KEY} {micros} counts as 0: every pause is a resume, and buffers overflow"));
    }
    Ok(Nanos(whole as u64 * Nanos::MICROSECOND.0))
}

/// Links that the 2019 simulator does not use.
fn parallel_links(network: &Network) -> Option<String> {
    let unused = network.superseded_links().len();
    (unused > 0).then(|| {
        format!("{unused} links of the topology are not used: of several between two nodes only the last one is")
    })
}

/// LINK_DOWN is a time in microseconds after the first 2 s, and the two nodes of a link. Time 0 is off.
fn link_down(settings: &Settings<'_>, network: &Network) -> Result<Vec<LinkFailure>, InputError> {
    let mut values = [0; 3];
    for (value, word) in values.iter_mut().zip(settings.words(keys::LINK_DOWN).unwrap_or_default()) {
        let integer = word.integer("a value of LINK_DOWN", u64::from(u32::MAX));
        *value = integer.map_err(|error| super::settings::keyed(keys::LINK_DOWN, error))?;
    }
    let [micros, a, b] = values;
    if micros == 0 {
        return Ok(Vec::new());
    }
    let time = Nanos(2 * Nanos::SECOND.0 + micros * Nanos::MICROSECOND.0);
    let links = network.links_between(a as u32, b as u32);
    if links.is_empty() {
        return Err(
            settings.error(keys::LINK_DOWN, format!("LINK_DOWN names nodes {a} and {b}, which no link connects"))
        );
    }
    Ok(vec![LinkFailure { time, links, ..LinkFailure::default() }])
}

fn transport(
    settings: &Settings<'_>,
    algorithm: &str,
    notes: &mut Vec<String>,
) -> Result<TransportSettings, InputError> {
    let mtu = settings.u32("PACKET_PAYLOAD_SIZE", 1000)?;
    if !(1..=9000).contains(&mtu) {
        return Err(
            settings.error("PACKET_PAYLOAD_SIZE", format!("PACKET_PAYLOAD_SIZE is {mtu}; expected 1 to 9000 bytes"))
        );
    }
    let window = settings.flag("HAS_WIN", true)?;
    if !window && settings.faults().windowless_hpcc && algorithm == "hpcc" {
        notes.push("HAS_WIN 0: HPCC divides by a window of 0 as in the 2019 simulator; its rates mean nothing".into());
    }
    let recovery = if settings.flag("L2_BACK_TO_ZERO", false)? { Recovery::GoBackZero } else { Recovery::GoBackN };
    let ack_offset = ack_offset(settings)?;
    Ok(TransportSettings {
        mtu: Bytes(mtu.into()),
        recovery,
        chunk: Bytes(chunk(settings, recovery, ack_offset)?.into()),
        ack_offset: Bytes(ack_offset.into()),
        timeout: Some(Nanos(0)),
        window: Some(window),
        variable_window: settings.flag("VAR_WIN", false)?,
        global_rtt: settings.flag("GLOBAL_T", true)?,
        rate_bound: settings.flag("RATE_BOUND", true)?,
        ack_priority: Some(if settings.flag("ACK_HIGH_PRIO", false)? { 0 } else { 3 }),
        ..TransportSettings::default()
    })
}

fn ack_offset(settings: &Settings<'_>) -> Result<u32, InputError> {
    match settings.u32("L2_ACK_INTERVAL", 0)? {
        0 => Err(settings.error(
            "L2_ACK_INTERVAL",
            "L2_ACK_INTERVAL is 0 (its default), with which no flow ever completes; expected at least 1",
        )),
        bytes => Ok(bytes),
    }
}

/// Left out, the chunk only matters to receivers that skip acknowledgements and to go-back-to-zero.
fn chunk(settings: &Settings<'_>, recovery: Recovery, ack_offset: u32) -> Result<u32, InputError> {
    let needed = settings.word("L2_CHUNK_SIZE").is_some() || recovery == Recovery::GoBackZero || ack_offset > 1;
    match settings.u32("L2_CHUNK_SIZE", 0)? {
        0 if needed => {
            Err(settings.error("L2_CHUNK_SIZE", "L2_CHUNK_SIZE is 0 (its default); expected at least 1 byte"))
        }
        0 => Ok(1),
        bytes => Ok(bytes),
    }
}

fn switch(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<SwitchSettings, InputError> {
    let mebibytes = settings.u64("BUFFER_SIZE", 16, u64::from(u32::MAX))?;
    Ok(SwitchSettings {
        buffer: Bytes(narrow(settings, notes, "BUFFER_SIZE", mebibytes << 20)),
        pause_time: pause_time(settings, notes)?,
        ecn: settings.flag("ENABLE_QCN", true)?,
        ..SwitchSettings::default()
    })
}

/// Descendants write years for "no end", or have the time when the last flow starts.
fn stop(settings: &Settings<'_>, last_start: Option<&str>, notes: &mut Vec<String>) -> Result<Nanos, InputError> {
    const KEY: &str = "SIMULATOR_STOP_TIME";
    /// Time that is left to flows that started last, as one descendant does.
    const AFTER_LAST_START: f64 = 10.0;
    let rounding = settings.faults().rounding();
    if let (None, Some(start)) = (settings.word(KEY), last_start.and_then(|start| start.parse::<f64>().ok())) {
        let stop = start + AFTER_LAST_START;
        notes.push(format!("{KEY} is missing: {stop} s, {AFTER_LAST_START} s behind FLOWGEN_STOP_TIME"));
        return Ok(Nanos::from_seconds(stop, rounding));
    }
    let seconds = settings.float(KEY, 3.01)?;
    let stop = Nanos::from_seconds(seconds, rounding);
    if stop > Nanos::LONGEST {
        notes.push(format!(
            "{KEY} is {seconds} s: the run ends with its last flow, or after {}",
            Value::Time(Nanos::LONGEST).pretty()
        ));
    }
    Ok(stop.min(Nanos::LONGEST))
}

/// Beside the 2019 simulator's histogram, small runs get the time series that plots need.
fn monitor(settings: &Settings<'_>, flows: u64, notes: &mut Vec<String>) -> Result<Monitor, InputError> {
    let mut time = |key: &str, default| match settings.word(key) {
        // Descendants write seconds.
        Some(word) if word.text.contains('.') => {
            notes.push(format!("{key} {} is in seconds", word.text));
            settings.seconds(key, Nanos(default), settings.faults().rounding())
        }
        _ => settings.u64(key, default, u64::MAX).map(Nanos),
    };
    let (start, end) = (time("QLEN_MON_START", 2_000_000_000)?, time("QLEN_MON_END", 2_100_000_000)?);
    // The first sample is taken even if it is past the end, but only shows where it is printed.
    let shows = end > start || start.0.is_multiple_of(QueueHistogram::PRINT_INTERVAL.0);
    let queue_histogram = shows.then_some(QueueHistogram { start, end });
    let series = |interval| (flows <= MAX_FLOWS_IN_SERIES).then_some(interval);
    let queue_interval = series(Nanos::MICROSECOND);
    let goodput_interval = series(Nanos(10 * Nanos::MICROSECOND.0));
    Ok(Monitor {
        queue_histogram,
        queue_interval,
        goodput_interval,
        sent_interval: None,
        control_interval: None,
        pauses: false,
        control_flows: Vec::new(),
        timeline: false,
        trace_nodes: Vec::new(),
        capture_nodes: Vec::new(),
        capture_format: CaptureFormat::Pcap,
    })
}

/// The nodes to trace. Their list is checked even where tracing is off.
fn trace_nodes(
    path: &Path,
    settings: &Settings<'_>,
    nodes: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>, InputError> {
    let enabled = settings.flag("ENABLE_TRACE", true)?;
    if settings.word("TRACE_FILE").is_none() {
        return Ok(Vec::new());
    }
    let file = match input(path, settings, "TRACE_FILE", notes) {
        Ok(file) => file,
        Err(gone) => {
            notes.push(format!("{}: nothing is traced", gone.message));
            return Ok(Vec::new());
        }
    };
    let (listed, note) = trace::read(&file)?;
    notes.extend(note);
    let present: Vec<u32> = listed.iter().filter(|&&id| id < nodes as u64).map(|&id| id as u32).collect();
    let absent = listed.len() - present.len();
    if present.iter().collect::<BTreeSet<_>>().len() < present.len() && enabled {
        notes.push("TRACE_FILE names nodes more than once: each of their records is written as often".into());
    }
    if absent > 0 {
        notes.push(format!("TRACE_FILE lists {absent} nodes that the topology does not have"));
    }
    Ok(if enabled { present } else { Vec::new() })
}

/// The path of an input file that a key names: from the folder of the configuration, or one above it, as in a clone of the
/// 2019 simulator, whose files are named from a folder above; then from the working folder. Files that moved are looked
/// for beside the configuration.
fn input(config: &Path, settings: &Settings<'_>, key: &str, notes: &mut Vec<String>) -> Result<PathBuf, InputError> {
    let Some(word) = settings.word(key) else {
        return Err(
            settings.error(key, format!("{key} is missing; expected the name of a file, here or by --set {key}=FILE"))
        );
    };
    let name = Path::new(word.text);
    let folder = std::path::absolute(config).unwrap_or_else(|_| config.to_owned());
    let beside = config.parent().unwrap_or(Path::new(""));
    let above = folder.ancestors().skip(2).map(|folder| folder.join(name));
    let found = std::iter::once(beside.join(name)).chain(above).chain([name.to_owned()]).find(|path| path.is_file());
    if let Some(found) = found {
        return Ok(found);
    }
    let moved = name.file_name().map(|name| beside.join(name)).filter(|path| path.is_file());
    let Some(moved) = moved else {
        let expected = "expected it in the folder of the file, or in one above";
        return Err(
            settings.error(key, format!("{key} names \"{}\", but there is no such file; {expected}", word.text))
        );
    };
    notes.push(format!("{key}: there is no {}; {} is taken", word.text, moved.display()));
    Ok(moved)
}
