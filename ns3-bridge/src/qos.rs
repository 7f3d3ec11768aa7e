// SPDX-License-Identifier: GPL-2.0-only
//! Classes of service, and what telemetry reports of them.

use crate::ffi::QosParameters;
use hpcc_core::switch::{self, Backlog, Classes, PRIORITIES, ReportConfig, Scope, Service, SwitchConfig, Wait};

pub struct Scheduler(switch::Scheduler);

impl QosParameters {
    /// How queues are served, if not in turn.
    pub fn classes(&self) -> Result<Option<Classes>, String> {
        if self.classes.is_empty() {
            return Ok(None);
        }
        Classes::parse(&self.classes).map(Some)
    }

    /// What telemetry reports.
    pub fn report(&self) -> Result<ReportConfig, String> {
        let known = |names: &[&str]| names.join(", ");
        let scope = Scope::NAMES.iter().find(|(name, _)| *name == self.scope).ok_or_else(|| {
            format!(
                "unknown telemetry scope \"{}\"; there are: {}",
                self.scope,
                known(&Scope::NAMES.map(|(name, _)| name))
            )
        })?;
        let wait = Wait::NAMES.iter().find(|(name, _)| *name == self.wait).ok_or_else(|| {
            format!(
                "unknown telemetry queue \"{}\"; there are: {}",
                self.wait,
                known(&Wait::NAMES.map(|(name, _)| name))
            )
        })?;
        Ok(ReportConfig { scope: scope.1, wait: wait.1 })
    }
}

impl From<&SwitchConfig> for QosParameters {
    fn from(config: &SwitchConfig) -> Self {
        let ReportConfig { scope, wait } = config.report;
        QosParameters {
            classes: config.classes.map_or_else(String::new, |classes| classes.text()),
            scope: Scope::NAMES.iter().find(|(_, known)| *known == scope).map_or("", |&(name, _)| name).into(),
            wait: Wait::NAMES.iter().find(|(_, known)| *known == wait).map_or("", |&(name, _)| name).into(),
        }
    }
}

pub fn qos_error(qos: &QosParameters) -> String {
    match (qos.classes(), qos.report()) {
        (Err(error), _) | (_, Err(error)) => error,
        (Ok(None), Ok(ReportConfig { scope: Scope::Queue, .. })) => {
            "telemetry scope \"queue\" needs classes, of which the share of a queue follows".into()
        }
        _ => String::new(),
    }
}

pub fn new_scheduler(qos: &QosParameters) -> Box<Scheduler> {
    // C++ asks for qos_error() first, and for a scheduler only where there are classes.
    let services = qos.classes().ok().flatten().map_or([Service::Strict; PRIORITIES], |classes| classes.services());
    Box::new(Scheduler(switch::Scheduler::new(services)))
}

impl Scheduler {
    pub fn next(&mut self, heads: &[u32; PRIORITIES], paused: u8) -> i32 {
        self.0.next(&Backlog { heads: *heads, paused }).map_or(-1, i32::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qos(classes: &str, scope: &str, wait: &str) -> QosParameters {
        QosParameters { classes: classes.into(), scope: scope.into(), wait: wait.into() }
    }

    #[test]
    fn settings_come_back_as_they_went() {
        let classes = Classes::parse("3:3000,5:strict").ok();
        let report = ReportConfig { scope: Scope::Queue, wait: Wait::Sojourn };
        let parameters = QosParameters::from(&SwitchConfig { classes, report, ..SwitchConfig::default() });
        assert_eq!((parameters.classes(), parameters.report()), (Ok(classes), Ok(report)));
        assert_eq!(qos_error(&parameters), "");
        assert_eq!(qos_error(&QosParameters::from(&SwitchConfig::default())), "");
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(qos_error(&qos("3:0", "port", "length")).contains("no list of classes"));
        assert!(qos_error(&qos("", "class", "length")).contains("there are: port, queue"));
        assert!(qos_error(&qos("", "port", "time")).contains("there are: length, sojourn"));
        assert!(qos_error(&qos("", "queue", "length")).contains("needs classes"));
    }
}
