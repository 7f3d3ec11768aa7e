// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of telemetry's byte layout.

use super::ioam::hpcc::Profile;
use super::{Layout, MAX_HOPS, Reads, pint, reference};
use crate::settings::{Conflict, Named};
use crate::topology::Network;
use crate::units::BitRate;
use crate::wire::WireProfile;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

crate::named! {
    /// The layouts by their names in configurations: [`Layout`] without its parameters.
    pub enum LayoutName {
        /// No telemetry.
        None = "none",
        /// [`Layout::Reference`].
        Reference = "reference",
        /// [`Layout::Paper`].
        Paper = "paper",
        /// [`Layout::Draft`].
        Draft = "draft",
        /// [`Layout::IntMd`].
        IntMd = "int_md",
        /// [`Layout::Ifa`].
        Ifa = "ifa",
        /// [`Layout::Ioam`] with [`Profile::Full`].
        Ioam = "ioam",
        /// [`Layout::Ioam`] with [`Profile::Slim`].
        IoamSlim = "ioam_slim",
        /// [`Layout::Timestamp`].
        Timestamp = "timestamp",
        /// [`Layout::Pint`].
        Pint = "pint",
    }
}

crate::settings! {
    /// How telemetry is laid out in a frame.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LayoutSettings {
        /// Byte layout of telemetry; `auto`: what the algorithm reads, for records `paper`, or `int_md` where `paper` has
        /// no code for a link's rate. The same at all nodes. `ioam` and `ioam_slim` need IPv6.
        #[change = "Choose `int_md`, `ifa` or `ioam` for the bytes of real switches, `paper` or `draft` for those of the \
            proposals."]
        pub layout: Option<LayoutName> = None;
        /// Factor of the layout's units of 128 bytes sent and 80 bytes queued; `auto`: 1 for each 25 Gb/s of the fastest
        /// host link, at most `transport.mtu` / 128.
        #[change = "A larger value lets counters wrap later and is coarser; a smaller one is finer and wraps sooner."]
        pub multiplier: Option<u32> {1..=u32::MAX} = None => layout = "reference";
        /// Most hops that are reported, at most 8 with `ioam`; `auto`: 15, with IOAM, whose sender makes room for them,
        /// 5.
        #[change = "With IOAM set it to the longest path: packets are shorter with fewer hops, and hops beyond it are \
            not reported."]
        pub hops: Option<u8> {1..=MAX_HOPS as u8} = None => layout = "int_md" | "ifa" | "ioam" | "ioam_slim";
        /// Factor between two neighbouring codes of PINT's utilisation.
        #[change = "A smaller value is finer, and takes two bytes below 1.05; a larger one is coarser."]
        pub log_base: f64 {1.001..=2.0} = 1.05 => layout = "pint";
    }
}

impl Reads {
    /// The layouts that tell it, unless the user chooses another one: the first that can tell all link rates.
    fn usual_layouts(self) -> &'static [LayoutName] {
        match self {
            Reads::Nothing => &[LayoutName::None],
            Reads::Records => &[LayoutName::Paper, LayoutName::IntMd],
            Reads::SendTime => &[LayoutName::Timestamp],
            Reads::Utilisation => &[LayoutName::Pint],
        }
    }
}

/// Hops for which a sender makes room in IOAM by default: a three-tier network has so many.
const IOAM_HOPS: u8 = 5;

/// The layout for an algorithm that reads this: the first of the usual ones that can tell the rates of all links of switches.
fn usual(reads: Reads, network: &Network) -> LayoutName {
    let usual = reads.usual_layouts();
    let tells_all = |&&name: &&LayoutName| network.switch_rates().all(|rate| Layout::from(name).tells(rate));
    usual.iter().find(tells_all).or(usual.last()).copied().unwrap_or(LayoutName::None)
}

/// Facts of a layout's records.
struct Facts {
    has_records: bool,
    names_links: bool,
    tells_paths: bool,
    most_hops: Option<u8>,
}

impl LayoutName {
    fn facts(self) -> Facts {
        let (has_records, names_links, tells_paths, most_hops) = match self {
            LayoutName::None | LayoutName::Timestamp | LayoutName::Pint => (false, false, false, None),
            LayoutName::Reference => (true, false, false, None),
            LayoutName::Paper | LayoutName::Draft => (true, false, true, None),
            LayoutName::IntMd | LayoutName::Ifa => (true, true, true, Some(MAX_HOPS)),
            LayoutName::Ioam => (true, true, true, Some(Profile::Full.max_hops())),
            LayoutName::IoamSlim => (true, false, true, Some(Profile::Slim.max_hops())),
        };
        Facts { has_records, names_links, tells_paths, most_hops: most_hops.map(|most| most as u8) }
    }

    /// Whether its frames carry a record of each hop.
    pub fn has_records(self) -> bool {
        self.facts().has_records
    }

    /// The layouts whose frames carry a record of each hop.
    pub fn with_records() -> impl Iterator<Item = LayoutName> {
        Self::ALL.iter().copied().filter(|name| name.has_records())
    }

    /// Whether each record says which link it is of, by switch and port, so that a path's other hops may be missing.
    pub fn names_links(self) -> bool {
        self.facts().names_links
    }

    /// Whether records tell which path they are of, by more than its number of hops.
    pub fn tells_paths(self) -> bool {
        self.facts().tells_paths
    }

    /// Most hops that it reports; `None` if that is not for the user to choose.
    fn most_hops(self) -> Option<u8> {
        self.facts().most_hops
    }

    fn is_ioam(self) -> bool {
        matches!(self, LayoutName::Ioam | LayoutName::IoamSlim)
    }

    /// The layout with these parameters; `wide_pint`: PINT takes two bytes in any case.
    fn layout(self, multiplier: u32, hops: u8, log_base: f64, wide_pint: bool) -> Layout {
        match self {
            LayoutName::None => Layout::None,
            LayoutName::Reference => Layout::Reference { multiplier },
            LayoutName::Paper => Layout::Paper,
            LayoutName::Draft => Layout::Draft,
            LayoutName::IntMd => Layout::IntMd { hops },
            LayoutName::Ifa => Layout::Ifa { hops, sojourn: false },
            LayoutName::Ioam => Layout::Ioam { profile: Profile::Full, hops },
            LayoutName::IoamSlim => Layout::Ioam { profile: Profile::Slim, hops },
            LayoutName::Timestamp => Layout::Timestamp,
            LayoutName::Pint => Layout::pint(log_base, wide_pint),
        }
    }
}

impl From<LayoutName> for Layout {
    /// The layout with all hops, units of 1, and the usual base.
    fn from(name: LayoutName) -> Layout {
        LayoutSettings { layout: Some(name), ..LayoutSettings::default() }.config(false)
    }
}

impl LayoutSettings {
    /// Settles what was left to the simulator, for an algorithm that reads this in this network, whose full packets have
    /// `mtu` bytes of payload.
    pub fn resolve(&mut self, reads: Reads, network: &Network, mtu: u64) {
        let layout = *self.layout.get_or_insert_with(|| usual(reads, network));
        let fastest = network.host_rates().max().map_or(0, |rate| rate.0);
        let multiplier = (fastest / BitRate::gbps(25).0).min(mtu / reference::TX_UNIT).max(1);
        self.multiplier.get_or_insert(u32::try_from(multiplier).unwrap_or(u32::MAX));
        self.hops.get_or_insert(if layout.is_ioam() { IOAM_HOPS } else { MAX_HOPS as u8 });
    }

    /// A note for the user if [`resolve`](LayoutSettings::resolve) did not choose the usual layout.
    pub fn note(&self, reads: Reads, network: &Network) -> Option<String> {
        let (layout, usual) = (self.layout?, *reads.usual_layouts().first()?);
        let untold = network.switch_rates().find(|&rate| !Layout::from(usual).tells(rate))?;
        let [bytes, fewer] = [layout, usual].map(|name| Layout::from(name).len_after(3));
        (layout != usual).then(|| {
            format!(
                "telemetry.layout is \"{}\": records of \"{}\" cannot tell a link of {untold}. Behind three switches a packet has \
                 {bytes} bytes of telemetry, not {fewer}",
                layout.name(),
                usual.name()
            )
        })
    }

    /// Checks the layout against what the algorithm reads and what frames look like.
    ///
    /// # Errors
    /// If the algorithm cannot do with it, or frames cannot carry it.
    pub fn check(&self, algorithm: &str, reads: Reads, wire: WireProfile) -> Result<(), Conflict> {
        let Some(layout) = self.layout else { return Ok(()) };
        let name = layout.name();
        if !reads.is_in(&self.config(false)) {
            let able = self.able(reads, wire);
            let message = format!(
                "congestion control \"{algorithm}\" cannot work with telemetry layout \"{name}\"; expected {able}"
            );
            return Err(Conflict::new("layout", message));
        }
        if layout.is_ioam() && wire == WireProfile::RoceV4 {
            let message = format!("layout = \"{name}\" is an IPv6 option; expected wire.profile = \"rocev2_ipv6\"");
            return Err(Conflict::new("layout", message));
        }
        Ok(())
    }

    /// How many hops another layout would report to an algorithm that reads this, in such frames; 0 if it could not serve.
    pub fn able_with(&self, layout: LayoutName, reads: Reads, wire: WireProfile) -> usize {
        let other = LayoutSettings { layout: Some(layout), hops: layout.most_hops(), ..*self };
        let serves = other.check("", reads, wire).is_ok();
        if serves { other.config(false).max_hops().unwrap_or(0) } else { 0 }
    }

    /// The layouts that an algorithm can read and such frames can carry, as errors list them.
    fn able(&self, reads: Reads, wire: WireProfile) -> String {
        let says = |name: LayoutName| reads.is_in(&LayoutSettings { layout: Some(name), ..*self }.config(false));
        let fits = |name: LayoutName| !(name.is_ioam() && wire == WireProfile::RoceV4);
        let names: Vec<String> = LayoutName::ALL
            .iter()
            .filter(|&&name| says(name) && fits(name))
            .map(|name| format!("\"{}\"", name.name()))
            .collect();
        names.join(" or ")
    }

    /// The layout, once all is [settled](LayoutSettings::resolve).
    pub fn config(&self, wide_pint: bool) -> Layout {
        let name = self.layout.unwrap_or(LayoutName::None);
        let most = name.most_hops().unwrap_or(MAX_HOPS as u8);
        let hops = self.hops.unwrap_or(most).min(most);
        name.layout(self.multiplier.unwrap_or(1), hops, self.log_base, wide_pint)
    }
}

impl Layout {
    /// Its name in configurations.
    pub fn name(&self) -> LayoutName {
        match self {
            Layout::None => LayoutName::None,
            Layout::Reference { .. } => LayoutName::Reference,
            Layout::Paper => LayoutName::Paper,
            Layout::Draft => LayoutName::Draft,
            Layout::IntMd { .. } => LayoutName::IntMd,
            Layout::Ifa { .. } => LayoutName::Ifa,
            Layout::Ioam { profile: Profile::Full, .. } => LayoutName::Ioam,
            Layout::Ioam { profile: Profile::Slim, .. } => LayoutName::IoamSlim,
            Layout::Timestamp => LayoutName::Timestamp,
            Layout::Pint { .. } => LayoutName::Pint,
        }
    }

    /// PINT with powers of a base, which must be above 1, in as many bytes as they need, or in two (`wide`).
    pub fn pint(log_base: f64, wide: bool) -> Layout {
        let bytes = if wide { pint::MAX_LEN } else { pint::bytes(log_base) };
        Layout::Pint { log_base, bytes: bytes as u8 }
    }
}

impl fmt::Display for Layout {
    /// Its name and parameters, on which nodes must agree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.name().name())?;
        match self {
            Layout::None | Layout::Paper | Layout::Draft | Layout::Timestamp => Ok(()),
            Layout::Reference { multiplier } => write!(f, " (multiplier {multiplier})"),
            Layout::IntMd { hops } | Layout::Ioam { hops, .. } => write!(f, " (hops {hops})"),
            Layout::Ifa { hops, sojourn } => write!(f, " (hops {hops}{})", if *sojourn { ", sojourn" } else { "" }),
            Layout::Pint { log_base, bytes } => write!(f, " (log_base {log_base}, {bytes} bytes)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{MAX_SECTION, Snapshot};

    use crate::units::Nanos;

    #[test]
    fn names_lead_to_layouts_and_back() {
        for &name in LayoutName::ALL {
            for hops in [None, Some(7)] {
                let mut settings = LayoutSettings { layout: Some(name), hops, ..LayoutSettings::default() };
                settings.resolve(Reads::Nothing, &Network::default(), 1_000);
                let layout = settings.config(false);
                assert_eq!((layout.name(), layout.max_hops().is_some()), (name, name.has_records()));
                let mut section = [0; MAX_SECTION];
                let mut len = layout.prepare(&mut section, Nanos(0));
                for hop in 0..layout.max_hops().unwrap_or(1) {
                    assert_eq!(layout.len_after(hop), len, "{name:?} after {hop} hops");
                    len = layout.stamp(&mut section, len, &Snapshot::IDLE);
                }
                assert_eq!(layout.max_len(), len, "{name:?}");
            }
        }
    }

    #[test]
    fn layouts_are_told_with_what_nodes_must_agree_upon() {
        let told = |layout: Layout| alloc::string::ToString::to_string(&layout);
        assert_eq!(told(Layout::Paper), "\"paper\"");
        assert_eq!(told(Layout::Reference { multiplier: 4 }), "\"reference\" (multiplier 4)");
        assert_eq!(told(Layout::IntMd { hops: 6 }), "\"int_md\" (hops 6)");
        assert_eq!(told(Layout::Ifa { hops: 6, sojourn: true }), "\"ifa\" (hops 6, sojourn)");
        assert_eq!(told(Layout::pint(1.05, true)), "\"pint\" (log_base 1.05, 2 bytes)");
    }

    #[test]
    fn units_are_as_fine_as_a_full_packet() {
        let multiplier = |gigabits, mtu| {
            let network = crate::testing::network(1, 1, &[(0, 1, gigabits)]);
            let mut settings = LayoutSettings::default();
            settings.resolve(Reads::Records, &network, mtu);
            settings.multiplier
        };
        assert_eq!([25, 100, 200, 400].map(|rate| multiplier(rate, 1_000)), [1, 4, 7, 7].map(Some));
        assert_eq!([1, 256, 1_024, 9_000].map(|mtu| multiplier(400, mtu)), [1, 2, 8, 16].map(Some));
    }

    #[test]
    fn each_reader_gets_a_layout_that_it_can_read() {
        for reads in [Reads::Nothing, Reads::Records, Reads::SendTime, Reads::Utilisation] {
            let mut settings = LayoutSettings::default();
            settings.resolve(reads, &Network::default(), 1_000);
            assert_eq!(settings.check("any", reads, WireProfile::Reference), Ok(()));
        }
        let paper = LayoutSettings { layout: Some(LayoutName::Paper), ..LayoutSettings::default() };
        let wrong = paper.check("timely", Reads::SendTime, WireProfile::Reference).expect_err("no send time");
        assert!(wrong.message.ends_with("expected \"timestamp\""), "{}", wrong.message);
    }
}
