// SPDX-License-Identifier: GPL-2.0-only
//! Scenarios in TOML. `configs/quickstart.toml` is an annotated example.
//!
//! | section | says |
//! | --- | --- |
//! | `[compatibility]` | which of the reference's faults are repeated |
//! | `[run]` | seed, stop time |
//! | `[topology]` | nodes and links; `kind` selects a generator, a file or an inline list |
//! | `[congestion_control]` | algorithm and its parameters |
//! | `[telemetry]` | byte layout, which packets collect it, how it comes back |
//! | `[wire]` | headers of every frame |
//! | `[transport]` | packets, windows, acknowledgements |
//! | `[switch]` | buffer, ECN |
//! | `[[traffic]]` | flows; `kind` selects one flow, a pattern, a file or a random process |
//! | `[legacy]` | nodes that know nothing of telemetry |
//! | `[failures]` | links that fail during the run |
//! | `[fast_cnp]` | congestion notifications by switches |
//! | `[monitor]` | time series |

mod classes;
mod compatibility;
mod congestion_control;
mod document;
mod failures;
mod fast_cnp;
mod legacy;
mod settings;
mod telemetry;
mod topology;
mod traffic;
mod values;

#[cfg(test)]
mod tests;

use super::{Blame, Draft, Places, Scenario, name_of};
use crate::error::{InputError, suggestion};
use crate::flows::FlowList;
use document::{Document, Source};
use std::path::Path;
use toml::Spanned;

const SECTIONS: &[&str] = &[
    "compatibility",
    "run",
    "topology",
    "congestion_control",
    "telemetry",
    "wire",
    "transport",
    "switch",
    "traffic",
    "legacy",
    "failures",
    "fast_cnp",
    "monitor",
];

/// Reads a scenario. Overrides are `dotted.path=VALUE`.
pub(super) fn read(path: &Path, text: &str, overrides: &[String]) -> Result<Draft, InputError> {
    let source = Source::new(path, text, overrides)?;
    let mut document = Document::parse(&source)?;
    document.check_sections(SECTIONS)?;
    let quirks = compatibility::compatibility(&mut document)?;
    let run = settings::run(&mut document)?;
    let topology = topology::read(&mut document, path)?;
    let control = congestion_control::congestion_control(&mut document, quirks)?;
    let wire = settings::wire(&mut document)?;
    let telemetry = telemetry::telemetry(&mut document, &topology.network, &control, wire.profile)?;
    let switch = settings::switch(&mut document, &topology.network, &control.algorithm, quirks)?;
    let transport = settings::transport(&mut document, &control.algorithm, &topology.network, &switch.config)?;
    let flows = traffic::read(&mut document, path, &topology.network, run.seed, quirks.rounding())?;
    let legacy = legacy::read(&mut document, &topology.network)?;
    let link_failures = failures::read(&mut document, &topology.network)?;
    let fast_cnp = fast_cnp::read(&mut document, &topology.network, wire.profile)?;
    let monitor = settings::monitor(&mut document, topology.network.nodes.len(), wire.profile)?;
    let places = Places {
        links: topology.links,
        stop: Blame::new(run.stop_place, "run.stop"),
        buffer: Blame::new(switch.buffer_place, "switch.buffer"),
        ecn: Blame::new(switch.ecn_place, "switch.ecn_thresholds"),
        scope: Blame::new(switch.scope_place, "switch.telemetry_scope"),
        min_rate: Blame::new(control.min_rate_place, "congestion_control.min_rate"),
    };
    let dropped = document.dropped.then(|| {
        "another algorithm than the file's: what [congestion_control] and [telemetry] say there does not count".into()
    });
    let scenario = Scenario {
        name: name_of(path),
        seed: run.seed,
        stop: run.stop,
        network: topology.network,
        flows: FlowList::default(),
        algorithm: control.algorithm,
        layout: telemetry.layout,
        feedback: telemetry.feedback,
        wire: wire.profile,
        frame_gap: wire.frame_gap,
        pause_time: Scenario::PAUSE_TIME,
        transport,
        switch: switch.config,
        default_loss: topology.default_loss,
        legacy,
        link_failures,
        fast_cnp,
        monitor,
        notes: control.note.into_iter().chain(dropped).collect(),
    };
    Ok(Draft { scenario, flows, places })
}

/// The value of a name; `None` if there is no name.
fn named<T: Copy>(
    document: &Document<'_>,
    name: Option<&Spanned<String>>,
    key: &str,
    names: &[(&'static str, T)],
) -> Result<Option<T>, InputError> {
    let Some(name) = name else { return Ok(None) };
    if let Some(&(_, value)) = names.iter().find(|(known, _)| known == name.get_ref()) {
        return Ok(Some(value));
    }
    let known: Vec<&str> = names.iter().map(|&(known, _)| known).collect();
    let what = key.rsplit('.').next().unwrap_or(key);
    let message = format!("unknown {what} \"{}\"{}", name.get_ref(), suggestion(name.get_ref(), &known));
    Err(document.place(name.span()).key_error(key, message))
}
