// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of the telemetry format.

use super::codec::{Codec, Room};
use super::encapsulation::Encapsulation;
use super::{Layout, MAX_HOPS, Reads, all, reference};
use crate::settings::{Conflict, Input, Kind, Setting, SettingError, Settings, Value};
use crate::topology::Network;
use crate::topology::paths::{FlowPaths, PathIdentity};
use crate::units::BitRate;
use crate::wire::WireProfile;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The key of the choice.
const KEY: &str = "layout";

crate::settings! {
    /// What several formats have.
    #[derive(Clone, Copy, Debug)]
    pub struct SharedSettings {
        /// Factor of the format's units of 128 bytes sent and 80 bytes queued; `auto`: 1 for each 25 Gb/s of the fastest
        /// host link, at most `transport.mtu` / 128.
        #[change = "A larger value lets counters wrap later and is coarser; a smaller one is finer and wraps sooner."]
        pub multiplier: Option<u32> {1..=u32::MAX} = None => layout = "reference";
        /// Most hops that are reported, at most 8 with `ioam`; `auto`: 15, with IOAM, whose sender makes room for them,
        /// 5.
        #[change = "With IOAM set it to the longest path: packets are shorter with fewer hops, and hops beyond it are \
            not reported."]
        pub hops: Option<u8> {1..=MAX_HOPS as u8} = None => layout = "int_md" | "ifa" | "ioam" | "ioam_slim";
    }
}

/// How telemetry is laid out in a frame: which format, and the parameters of each.
#[derive(Clone, Debug)]
pub struct LayoutSettings {
    codecs: Vec<Box<dyn Codec>>,
    /// Which of them; `None`: left to the simulator.
    chosen: Option<usize>,
    /// What several of them have.
    pub shared: SharedSettings,
    /// Why it is not the usual one, where the simulator chose.
    instead: Option<String>,
    /// Whether paths of the network can be told apart, and by which ids, once that was searched.
    told: Option<PathIdentity>,
}

impl Reads {
    /// The layouts that tell it, unless the user chooses another one: the first that can tell all link rates, and apart the paths
    /// that packets of a flow take.
    fn usual_layouts(self) -> &'static [&'static str] {
        match self {
            Reads::Nothing => &["none"],
            Reads::Records => &["paper", "int_md"],
            Reads::SendTime => &["timestamp"],
            Reads::Utilisation => &["pint"],
            Reads::Load | Reads::Delay => &["csig"],
            Reads::Bolt => &["bolt"],
        }
    }
}

/// Hops for which a sender that makes the room itself makes it by default: a three-tier network has so many.
const USUAL_ROOM: u8 = 5;

/// Names as errors list them.
pub fn listed(layouts: impl Iterator<Item = Layout>, between: &str) -> String {
    layouts.map(|layout| format!("\"{}\"", layout.name())).collect::<Vec<_>>().join(between)
}

impl LayoutSettings {
    /// The formats of this crate, and others besides.
    pub fn with(foreign: Vec<Box<dyn Codec>>) -> Self {
        LayoutSettings { codecs: all().into_iter().chain(foreign).collect(), ..LayoutSettings::default() }
    }

    /// The format of this name, which is known.
    pub fn of(name: &str) -> Self {
        let mut settings = LayoutSettings::default();
        settings.chosen = settings.place(name);
        settings
    }

    /// Whether the choice is left to the simulator.
    pub fn is_auto(&self) -> bool {
        self.chosen.is_none()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.codecs.iter().position(|codec| codec.name() == name)
    }

    fn kind(&self) -> Kind {
        Kind::Choice(self.codecs.iter().map(|codec| codec.name().into()).collect())
    }

    /// A codec with these parameters; `wide_pint`: PINT takes two bytes in any case.
    fn fitted(&self, codec: &dyn Codec, wide_pint: bool) -> Layout {
        let hops = self.shared.hops.unwrap_or(MAX_HOPS as u8);
        codec.fitted(&Room { multiplier: self.shared.multiplier.unwrap_or(1), hops, wide_pint })
    }

    /// All formats with these parameters.
    pub fn layouts(&self) -> impl Iterator<Item = Layout> {
        self.codecs.iter().map(|codec| self.fitted(codec.as_ref(), false))
    }

    /// Those that an algorithm which reads this can work with, and such frames can carry.
    pub fn able(&self, reads: Reads, wire: WireProfile) -> impl Iterator<Item = Layout> {
        self.layouts().filter(move |layout| reads.is_in(layout) && fits(layout, wire))
    }

    /// Chooses the format for an algorithm that reads this: the first of the usual ones of which nothing is in the way.
    fn choose_usual(&mut self, reads: Reads, network: &Network, ways: &FlowPaths<'_>) {
        for name in reads.usual_layouts() {
            let Some(place) = self.place(name) else { continue };
            self.chosen = Some(place);
            let layout = self.config(false);
            let untold = network.switch_rates().find(|&rate| !layout.tells_rate(rate));
            self.told = layout.path_name().filter(|_| untold.is_none()).map(|name| ways.tell(name));
            let of_rate = untold.map(|rate| format!("cannot tell a link of {rate}"));
            let Some(wrong) = of_rate.or_else(|| self.told.as_ref()?.complaint()) else { return };
            self.instead.get_or_insert_with(|| format!("records of \"{name}\" {wrong}"));
        }
    }

    /// Chooses a format, if that was left to the simulator: one that can tell the links of this network, and apart the ways that
    /// packets of a flow take, for an algorithm that reads this. Gives switches the ids by which paths differ.
    pub fn choose(&mut self, reads: Reads, network: &Network, ways: &FlowPaths<'_>) {
        if self.chosen.is_none() {
            self.choose_usual(reads, network, ways);
        }
        if self.told.is_none() && reads == Reads::Records {
            self.told = self.config(false).path_name().map(|name| ways.tell(name));
        }
    }

    /// Whether it was searched which paths records tell apart.
    pub fn is_judged(&self) -> bool {
        self.told.is_some()
    }

    /// The ids of nodes by which paths differ, where their numbers do not do.
    pub fn ids(&self) -> Option<&[u16]> {
        match &self.told {
            Some(PathIdentity::Apart(ids)) => ids.as_deref(),
            Some(PathIdentity::Alike(_) | PathIdentity::Unknown) | None => None,
        }
    }

    /// The id by which records know a switch.
    pub fn id(&self, switch: u32) -> u32 {
        self.ids().and_then(|ids| ids.get(switch as usize)).map_or(switch, |&id| id.into())
    }

    /// Settles what was left to the simulator, for an algorithm that reads this in this network, whose full packets have
    /// `mtu` bytes of payload and go these ways.
    pub fn resolve(&mut self, reads: Reads, ways: &FlowPaths<'_>, mtu: u64) {
        let network = ways.network;
        self.choose(reads, network, ways);
        let fastest = network.host_rates().max().map_or(0, |rate| rate.0);
        let multiplier = (fastest / BitRate::gbps(25).0).min(mtu / reference::TX_UNIT).max(1);
        self.shared.multiplier.get_or_insert(u32::try_from(multiplier).unwrap_or(u32::MAX));
        let bytes = |hops| {
            let shared = SharedSettings { hops: Some(hops), ..self.shared };
            LayoutSettings { shared, ..self.clone() }.config(false).initial_len()
        };
        let usual = if bytes(1) < bytes(USUAL_ROOM) { USUAL_ROOM } else { MAX_HOPS as u8 };
        self.shared.hops.get_or_insert(usual);
    }

    /// A note for the user if [`choose`](LayoutSettings::choose) did not take the usual layout.
    pub fn note(&self, reads: Reads) -> Option<String> {
        let (layout, usual) = (self.config(false), Layout::named(reads.usual_layouts().first()?)?);
        let why = self.instead.as_ref()?;
        (layout.name() != usual.name()).then(|| {
            format!(
                "telemetry.layout is \"{}\": {why}. Behind three switches a packet has {} bytes of telemetry, not {}",
                layout.name(),
                layout.len_after(3),
                usual.len_after(3)
            )
        })
    }

    /// Checks the layout against what the algorithm reads and what frames look like.
    ///
    /// # Errors
    /// If the algorithm cannot do with it, or frames cannot carry it.
    pub fn check(&self, algorithm: &str, reads: Reads, wire: WireProfile) -> Result<(), Conflict> {
        let layout = self.config(false);
        let name = layout.name();
        if self.is_auto() {
            return Ok(());
        }
        if !reads.is_in(&layout) {
            let able = listed(self.able(reads, wire), " or ");
            let message = format!(
                "congestion control \"{algorithm}\" cannot work with telemetry layout \"{name}\"; expected {able}"
            );
            return Err(Conflict::new(KEY, message));
        }
        if !fits(&layout, wire) {
            let message = format!("layout = \"{name}\" is an IPv6 option; expected wire.profile = \"rocev2_ipv6\"");
            return Err(Conflict::new(KEY, message));
        }
        Ok(())
    }

    /// The layout, once all is [settled](LayoutSettings::resolve).
    pub fn config(&self, wide_pint: bool) -> Layout {
        let chosen = self.chosen.and_then(|chosen| self.codecs.get(chosen));
        chosen.map_or_else(Layout::none, |codec| self.fitted(codec.as_ref(), wide_pint))
    }
}

/// Whether such frames can carry it.
fn fits(layout: &Layout, wire: WireProfile) -> bool {
    layout.encapsulation() != Some(Encapsulation::HopByHop) || wire != WireProfile::RoceV4
}

impl Default for LayoutSettings {
    fn default() -> Self {
        LayoutSettings { codecs: all(), chosen: None, shared: SharedSettings::default(), instead: None, told: None }
    }
}

impl PartialEq for LayoutSettings {
    fn eq(&self, other: &Self) -> bool {
        self.list().iter().all(|setting| self.get(setting.key) == other.get(setting.key))
    }
}

impl Settings for LayoutSettings {
    fn list(&self) -> Vec<Setting> {
        let help = "Telemetry format; `auto`: what the algorithm reads, for records `paper`, or `int_md` where `paper` has no \
                    code for a link's rate, or cannot distinguish the paths that packets of a flow take. `ioam` and \
                    `ioam_slim` need IPv6. Choose `int_md`, \
                    `ifa` or `ioam` for the bytes of real switches, `paper` or `draft` for those of the proposals."
            .into();
        let choice = Setting {
            key: KEY,
            kind: self.kind(),
            auto: true,
            default: Value::Auto,
            condition: None,
            of_network: false,
            assumed: Some("what the algorithm reads, in a format that can distinguish this network's links"),
            help,
        };
        let of_codecs = self.codecs.iter().flat_map(|codec| codec.list());
        [choice].into_iter().chain(self.shared.list()).chain(of_codecs).collect()
    }

    fn get(&self, key: &str) -> Option<Value> {
        if key == KEY {
            let chosen = self.chosen.and_then(|chosen| self.codecs.get(chosen));
            return Some(chosen.map_or(Value::Auto, |codec| Value::Word(codec.name().into())));
        }
        self.shared.get(key).or_else(|| self.codecs.iter().find_map(|codec| codec.get(key)))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        if key == KEY {
            let named = if let Input::Text(name) = input { self.place(name) } else { None };
            if named.is_none() && input != Input::Text(&Value::Auto.text()) {
                let expected = self.kind().expected();
                return Err(SettingError::Value(format!("the value is {}; expected one of {expected}", input.shown())));
            }
            (self.chosen, self.told, self.instead) = (named, None, None);
            return Ok(());
        }
        let of_codecs = self.codecs.iter_mut().map(|codec| codec.as_mut() as &mut dyn Settings);
        for settings in [&mut self.shared as &mut dyn Settings].into_iter().chain(of_codecs) {
            match settings.set(key, input) {
                Err(SettingError::Unknown) => {}
                known => return known,
            }
        }
        Err(SettingError::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Form, Ifa, IntMd, MAX_SECTION, Pint, Reference, Snapshot};
    use crate::units::Nanos;
    use alloc::string::ToString;

    #[test]
    fn names_lead_to_layouts_and_back() {
        for name in Layout::all().map(|layout| layout.name()) {
            for hops in [None, Some(7)] {
                let mut settings = LayoutSettings::of(name);
                settings.shared.hops = hops;
                settings.resolve(Reads::Nothing, &FlowPaths::single(&Network::default()), 1_000);
                let layout = settings.config(false);
                assert_eq!((layout.name(), layout.max_hops().is_some()), (name, layout.tells() == Reads::Records));
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
        let told = |codec: &dyn Codec| Layout::from(codec.boxed()).to_string();
        assert_eq!(told(&Form::Paper), "\"paper\"");
        assert_eq!(told(&Reference { multiplier: 4 }), "\"reference\" (multiplier 4)");
        assert_eq!(told(&IntMd { hops: 6 }), "\"int_md\" (hops 6)");
        assert_eq!(told(&Ifa { hops: 6, sojourn: true }), "\"ifa\" (hops 6, sojourn)");
        assert_eq!(told(&Pint::new(1.05, true)), "\"pint\" (log_base 1.05, 2 bytes)");
    }

    #[test]
    fn units_are_as_fine_as_a_full_packet() {
        let multiplier = |gigabits, mtu| {
            let network = crate::testing::network(1, 1, &[(0, 1, gigabits)]);
            let mut settings = LayoutSettings::default();
            settings.resolve(Reads::Records, &FlowPaths::single(&network), mtu);
            settings.shared.multiplier
        };
        assert_eq!([25, 100, 200, 400].map(|rate| multiplier(rate, 1_000)), [1, 4, 7, 7].map(Some));
        assert_eq!([1, 256, 1_024, 9_000].map(|mtu| multiplier(400, mtu)), [1, 2, 8, 16].map(Some));
    }

    #[test]
    fn each_reader_gets_a_layout_that_it_can_read() {
        for reads in [Reads::Nothing, Reads::Records, Reads::SendTime, Reads::Utilisation] {
            let mut settings = LayoutSettings::default();
            settings.resolve(reads, &FlowPaths::single(&Network::default()), 1_000);
            assert_eq!(settings.check("any", reads, WireProfile::Reference), Ok(()));
        }
        let paper = LayoutSettings::of("paper");
        let wrong = paper.check("timely", Reads::SendTime, WireProfile::Reference).expect_err("no send time");
        assert!(wrong.message.ends_with("expected \"timestamp\""), "{}", wrong.message);
    }
}
