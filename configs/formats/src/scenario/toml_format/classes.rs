// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service of `[switch]`, and what telemetry reports of them.

use super::document::Document;
use super::named;
use super::values::Size;
use crate::error::InputError;
use hpcc_core::switch::{Classes, MAX_QUANTUM, PRIORITIES, ReportConfig, Scope, Service, Wait};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassKeys {
    priority: Spanned<u8>,
    quantum: Option<Spanned<Size>>,
    #[serde(default)]
    strict: bool,
}

/// How queues are served; `None`: in turn.
pub(super) fn classes(document: &Document<'_>, list: Vec<Spanned<ClassKeys>>) -> Result<Option<Classes>, InputError> {
    if list.is_empty() {
        return Ok(None);
    }
    let mut classes = Vec::new();
    for entry in list {
        let place = document.place(entry.span());
        let ClassKeys { priority, quantum, strict } = entry.into_inner();
        let service = match (quantum, strict) {
            (None, true) => Service::Strict,
            (Some(quantum), false) => {
                let bytes = u32::try_from(quantum.get_ref().0).ok().filter(|bytes| (1..=MAX_QUANTUM).contains(bytes));
                let quantum = bytes.ok_or_else(|| {
                    let message = format!("the quantum has {} bytes; expected 1 to {MAX_QUANTUM}", quantum.get_ref().0);
                    document.place(quantum.span()).key_error("switch.classes.quantum", message)
                })?;
                Service::Weighted { quantum }
            }
            _ => return Err(place.key_error("switch.classes", "a class has a quantum, or strict = true; expected one")),
        };
        classes.push((priority, service));
    }
    let listed = classes.iter().map(|(priority, service)| (*priority.get_ref(), *service));
    Classes::new(listed).map(Some).map_err(|wrong| {
        let again = classes.iter().rev().find(|(priority, _)| *priority.get_ref() == wrong);
        let span = again.map(|(priority, _)| priority.span()).unwrap_or_default();
        let message = format!("class {wrong} is named twice, or is no priority from 1 to {}", PRIORITIES - 1);
        document.place(span).key_error("switch.classes.priority", message)
    })
}

/// What telemetry reports of a port.
pub(super) fn report(
    document: &Document<'_>,
    scope: Option<Spanned<String>>,
    wait: Option<Spanned<String>>,
    has_classes: bool,
) -> Result<ReportConfig, InputError> {
    let report = ReportConfig {
        scope: named(document, scope.as_ref(), "switch.telemetry_scope", &Scope::NAMES)?.unwrap_or_default(),
        wait: named(document, wait.as_ref(), "switch.telemetry_queue", &Wait::NAMES)?.unwrap_or_default(),
    };
    if let Some(scope) = scope.filter(|_| report.scope == Scope::Queue && !has_classes) {
        let message = "telemetry_scope = \"queue\" needs classes, of which the share of a queue follows";
        return Err(document.place(scope.span()).key_error("switch.telemetry_scope", message));
    }
    Ok(report)
}
