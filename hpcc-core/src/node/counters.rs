// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether telemetry comes back before its counters may wrap.
//!
//! Two records tell how much a link sent between them only if no counter can have wrapped unseen. Where they always lie
//! further apart, an algorithm would hear nothing for ever: such a combination is refused.

use super::{Located, NodeSettings, in_section};
use crate::settings::Conflict;
use crate::telemetry::{Hop, Layout, Reads, relative};
use crate::topology::routes::PathMetrics;
use crate::transport::LinkSpec;
use crate::units::Nanos;
use alloc::format;
use alloc::vec::Vec;

impl NodeSettings {
    /// Whether samples are many enough to need no look at paths.
    pub fn samples_often(&self) -> bool {
        self.needs().reads != Reads::Records || !self.feedback.config().sampling.is_sparse()
    }

    /// Checks the layout of telemetry against how often flows sample it on these paths, and on others that they look at,
    /// once all is resolved and checked.
    ///
    /// # Errors
    /// The path with the longest time between samples, if counters may always wrap within it, and the layouts whose would
    /// not.
    pub fn check_counters(&self, paths: impl Iterator<Item = (PathMetrics, Vec<LinkSpec>)>) -> Result<(), Located> {
        let looks = self.feedback.config().paths.look_every();
        if self.samples_often() && looks.is_none() {
            return Ok(());
        }
        let flow = self.unloaded_flow();
        let paths = self.round_trips(&flow, paths);
        let sampled = |(t, links): &(Nanos, Vec<LinkSpec>)| flow.sampling_interval(links, *t);
        let looked = |(t, _): &(Nanos, Vec<LinkSpec>)| Nanos(t.0.saturating_mul(looks.unwrap_or(0)));
        if !self.samples_often() {
            self.check_interval("samples", &paths, sampled)?;
        }
        self.check_interval("probes of a path (telemetry.paths, telemetry.path_interval)", &paths, looked)
    }

    /// Refuses what comes back of each path with this time between, if counters may always wrap within it.
    fn check_interval(
        &self,
        what: &str,
        paths: &[(Nanos, Vec<LinkSpec>)],
        interval: impl Fn(&(Nanos, Vec<LinkSpec>)) -> Nanos,
    ) -> Result<(), Located> {
        let hides = self.hides_telemetry();
        let serves = |layout: &Layout| paths.iter().all(|path| interval(path) <= horizon(layout, &path.1, hides));
        if serves(&self.layout()) {
            return Ok(());
        }
        let most = paths.iter().map(&interval).max().unwrap_or_default();
        Err(in_section("telemetry")(self.too_rare(what, most, serves)))
    }

    fn too_rare(&self, what: &str, interval: Nanos, serves: impl Fn(&Layout) -> bool) -> Conflict {
        let tells = |layout: &Layout| layout.tells_paths() || self.feedback.paths == 1;
        let able = self.layout.able(self.needs().reads, self.wire.profile);
        let works = able.filter(|layout| layout.records().is_some() && tells(layout) && serves(layout));
        let names: Vec<&str> = works.map(|layout| layout.name()).collect();
        let expected = if names.is_empty() { what.into() } else { format!("{}, or {what}", names.join(", ")) };
        let name = self.layout().name();
        let message = format!(
            "{what} are {interval} apart, and counters of layout = \"{name}\" may wrap unseen in that time, so that the flow \
             would learn nothing; expected {expected} more often"
        );
        Conflict::new("layout", message)
    }
}

/// The longest time between two records that can be compared on every link, of which a border may [hide](relative) the rates.
fn horizon(layout: &Layout, links: &[LinkSpec], hides: bool) -> Nanos {
    let modulus = layout.modulus().unwrap_or_default();
    let told = relative::rate(layout).filter(|_| hides);
    let of_link = |&(rate, _): &LinkSpec| modulus.horizon(&Hop { rate: told.unwrap_or(rate), ..Hop::default() });
    links.iter().map(of_link).min().unwrap_or_default()
}
