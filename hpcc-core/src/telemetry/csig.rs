// SPDX-License-Identifier: MIT OR Apache-2.0
//! CSIG: a tag with one value between MAC addresses and IP header, as a VLAN has one. Each switch compares the value with its
//! own and replaces it, so that the bottleneck's survives (draft-ravi-ippm-csig).
//!
//! ```text
//! compact, uec    EtherType (16) | t (3) | r (1) | s (5) | lm (6) | d (1)              4 bytes
//! compact, pins   EtherType (16) | t (3) | r (1) | s (5) | lm (7)                      4 bytes
//! wide            EtherType (16) | lm (15) | d (1) | t (4) | s (20) | r (8)            8 bytes
//! ```
//! | t | signal | survives | a unit of s, compact | wide |
//! | --- | --- | --- | --- | --- |
//! | 0 | bandwidth that a port has free | least | 2^34 bit/s | 2^20 bit/s |
//! | 1 | its share of the port's rate | least | 1/32 | 2^-20 |
//! | 2 | time in the switch | most | 1,024 ns | 1 ns |
//! | 3 | queue, as the time that the port takes for it | most | 1,024 ns | 1 ns |
//!
//! lm is the low bits of the id of the switch that wrote last. A switch that trims a packet compares its own value then, and sets d;
//! from there on the tag is left alone. Without d (`pins`) later switches go on comparing. The bits are those of UEC's text for SAI
//! (14 July 2026) and of the packet library of SONiC PINS (23 April 2026), as FBOSS tests them. The EtherType of the wide tag and the
//! units of s, which operators configure, are this project's. s is rounded down, and saturates.

use super::codec::{Codec, Meter};
use super::encapsulation::{CSIG_ETHER_TYPES, Encapsulation};
use super::{HopStack, Reads, Signal, Snapshot, Telemetry, Unusable};
use crate::random::Integers;
use crate::settings::Named;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

crate::named! {
    /// The two tags.
    #[derive(Default)]
    pub enum TagSize {
        /// 4 bytes, with a value of 5 bits.
        #[default]
        Compact = "compact",
        /// 8 bytes, with a value of 20 bits.
        Wide = "wide",
    }
}

crate::named! {
    /// The bits of the compact tag.
    #[derive(Default)]
    pub enum TagBits {
        /// With one that tells that the packet was trimmed.
        #[default]
        Uec = "uec",
        /// Without it.
        Pins = "pins",
    }
}

crate::named! {
    /// What a packet is sent to ask for.
    #[derive(Default)]
    pub enum Asked {
        /// The free bandwidth.
        Available = "available",
        /// The free share.
        Share = "share",
        /// The time in a switch.
        Delay = "delay",
        /// The queue.
        Queue = "queue",
        /// Free share and queue, which make HPCC's U, each in one half of the packets.
        #[default]
        Load = "load",
    }
}

crate::settings! {
    /// A tag.
    #[derive(Clone, Debug)]
    pub struct Csig {
        /// Tag of CSIG: `compact`, 4 bytes with a value of 5 bits, or `wide`, 8 bytes with one of 20 bits.
        #[change = "Choose `wide` to see what the bands of the compact tag cost."]
        pub csig_size: TagSize = TagSize::Compact => layout = "csig";
        /// Bits of the compact tag: `uec` has one for trimmed packets, as Ultra Ethernet has it, `pins` has that bit for the last
        /// switch, as SONiC PINS and FBOSS have it.
        #[change = "Choose `pins` to compare captures with switches that run these."]
        pub csig_bits: TagBits = TagBits::Uec => layout = "csig";
        /// Signal of CSIG: the least bandwidth that a port of the path has free (`available`), the same as a share of its rate
        /// (`share`), the longest time in a switch (`delay`) or queue by port rate (`queue`); `load` is `share` in one half of
        /// the packets and `queue` in the other, by their send times.
        #[change = "HPCC++ reads `load`, Swift and NSCC read `delay` or `queue`."]
        pub csig_signal: Asked = Asked::Load => layout = "csig";
        /// Time over which a switch measures what a port sends; the first interval begins with the first frame.
        #[change = "Deployed switches have 256us, many round trips; a shorter one tells a sender more of its own doing."]
        pub csig_interval: Nanos {Nanos(100)..=Nanos::LONGEST} = Nanos(256_000) => layout = "csig";
        /// Neighbours of switches that know no CSIG: the tag is taken off what goes to them. None, all, hosts, switches, or numbers and
        /// ranges.
        #[change = "Name receivers without CSIG; their senders hear nothing of the network by it."]
        pub csig_strip: String = "none".to_string() => layout = "csig";
    }
}

/// One of the four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Available,
    Share,
    Delay,
    Queue,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Available, Kind::Share, Kind::Delay, Kind::Queue];

    /// Whether the least value survives.
    fn least(self) -> bool {
        matches!(self, Kind::Available | Kind::Share)
    }

    /// Bits below the unit of s in values of bit/s, 2^-20 or ns.
    fn below(self, size: TagSize) -> u32 {
        match (self, size) {
            (Kind::Available, TagSize::Compact) => 34,
            (Kind::Available, TagSize::Wide) => 20,
            (Kind::Share, TagSize::Compact) => SHARE_BITS - 5,
            (Kind::Delay | Kind::Queue, TagSize::Compact) => 10,
            (Kind::Share | Kind::Delay | Kind::Queue, TagSize::Wide) => 0,
        }
    }
}

const SHARE_BITS: u32 = 20;
const SECOND: u128 = 1_000_000_000;

/// A tag behind its EtherType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    kind: Kind,
    cut: bool,
    value: u32,
    place: u32,
}

impl TagSize {
    /// Bytes of the tag.
    pub const fn bytes(self) -> usize {
        match self {
            TagSize::Compact => 4,
            TagSize::Wide => 8,
        }
    }

    const fn value_bits(self) -> u32 {
        match self {
            TagSize::Compact => 5,
            TagSize::Wide => 20,
        }
    }

    const fn most(self) -> u32 {
        (1 << self.value_bits()) - 1
    }

    /// The EtherType with which it begins.
    pub const fn ether_type(self) -> u16 {
        let [compact, wide] = CSIG_ETHER_TYPES;
        match self {
            TagSize::Compact => compact,
            TagSize::Wide => wide,
        }
    }

    /// The band of a value.
    fn band(self, kind: Kind, value: u64) -> u32 {
        u32::try_from(value >> kind.below(self)).unwrap_or(u32::MAX).min(self.most())
    }
}

/// A tag's size and bits.
#[derive(Clone, Copy, Debug)]
struct Form {
    size: TagSize,
    bits: TagBits,
}

impl Form {
    fn parse(self, section: &[u8]) -> Option<Tag> {
        let (ether_type, fields) = section.split_first_chunk()?;
        if section.len() != self.size.bytes() || u16::from_be_bytes(*ether_type) != self.size.ether_type() {
            return None;
        }
        let bits = fields.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        let (kind, value, place, cut) = match (self.size, self.bits) {
            (TagSize::Compact, TagBits::Uec) => (bits >> 13, bits >> 7, bits >> 1 & 0x3f, bits & 1 != 0),
            (TagSize::Compact, TagBits::Pins) => (bits >> 13, bits >> 7, bits & 0x7f, false),
            (TagSize::Wide, _) => (bits >> 28 & 0xf, bits >> 8, bits >> 33, bits >> 32 & 1 != 0),
        };
        let kind = *Kind::ALL.get(kind as usize)?;
        Some(Tag { kind, cut, value: value as u32 & self.size.most(), place: place as u32 })
    }

    fn emit(self, tag: Tag, section: &mut [u8]) {
        let (kind, value, place) = (tag.kind as u64, u64::from(tag.value), u64::from(tag.place));
        let cut = u64::from(tag.cut);
        let fields = match (self.size, self.bits) {
            (TagSize::Compact, TagBits::Uec) => kind << 13 | value << 7 | (place & 0x3f) << 1 | cut,
            (TagSize::Compact, TagBits::Pins) => kind << 13 | value << 7 | place & 0x7f,
            (TagSize::Wide, _) => (place & 0x7fff) << 33 | cut << 32 | kind << 28 | value << 8,
        };
        let word = u64::from(self.size.ether_type()) << (8 * (self.size.bytes() - 2)) | fields;
        let bytes = word.to_be_bytes();
        section.iter_mut().rev().zip(bytes.iter().rev()).for_each(|(to, from)| *to = *from);
    }
}

impl Csig {
    fn form(&self) -> Form {
        Form { size: self.csig_size, bits: self.csig_bits }
    }
}

impl Codec for Csig {
    fn name(&self) -> &'static str {
        "csig"
    }

    fn parameters(&self) -> String {
        format!("{}, {}, {}", self.csig_size.name(), self.csig_signal.name(), self.csig_interval)
    }

    fn tells(&self) -> Reads {
        match self.csig_signal {
            Asked::Available | Asked::Share => Reads::Nothing,
            Asked::Delay | Asked::Queue => Reads::Delay,
            Asked::Load => Reads::Load,
        }
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        Some(Encapsulation::Tag { ether_type: self.csig_size.ether_type() })
    }

    fn by_sojourn(&self) -> Option<super::Layout> {
        (self.csig_signal == Asked::Delay).then(|| super::Layout::new(self.clone()))
    }

    fn len_after(&self, _: usize) -> usize {
        self.csig_size.bytes()
    }

    fn prepare(&self, section: &mut [u8], now: Nanos) {
        let kind = match self.csig_signal {
            Asked::Available => Kind::Available,
            Asked::Share => Kind::Share,
            Asked::Delay => Kind::Delay,
            Asked::Queue => Kind::Queue,
            // Packets leave at regular times: one bit of them would choose one signal for all.
            Asked::Load if now.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0 => Kind::Share,
            Asked::Load => Kind::Queue,
        };
        let value = if kind.least() { self.csig_size.most() } else { 0 };
        self.form().emit(Tag { kind, cut: false, value, place: 0 }, section);
    }

    fn meter(&self, ports: &[BitRate], _: Nanos) -> Option<Box<dyn Meter>> {
        let (form, interval) = (self.form(), self.csig_interval.0.max(1));
        let ports =
            ports.iter().map(|&rate| Port { rate, interval, first: None, number: 0, sent: 0, before: 0 }).collect();
        Some(Box::new(Ports { form, ports }))
    }

    fn claim(&self, section: &mut [u8], busy: bool) -> bool {
        let form = self.form();
        let Some(tag) = form.parse(section) else { return false };
        let value = if tag.kind.least() == busy { 0 } else { form.size.most() };
        form.emit(Tag { value, ..tag }, section);
        true
    }

    fn read<'a>(&self, section: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        let Tag { kind, value, .. } = self.form().parse(section).ok_or(Unusable)?;
        let value = u64::from(value) << kind.below(self.csig_size);
        Ok(Telemetry::Signal(match kind {
            Kind::Available => Signal::Available(BitRate(value)),
            Kind::Share => Signal::Share(value as f64 / f64::from(1 << SHARE_BITS)),
            Kind::Delay => Signal::Delay(Nanos(value)),
            Kind::Queue => Signal::Queue(Nanos(value)),
        }))
    }
}

/// The ports of a switch.
#[derive(Debug)]
struct Ports {
    form: Form,
    ports: Vec<Port>,
}

/// What a port sent in the present interval and in the one before.
#[derive(Debug)]
struct Port {
    rate: BitRate,
    interval: u64,
    /// When the first interval began: with the first frame.
    first: Option<Nanos>,
    number: u64,
    sent: u64,
    before: u64,
}

impl Port {
    fn turn(&mut self, now: Nanos) {
        let first = *self.first.get_or_insert(now);
        let number = now.saturating_sub(first).0 / self.interval;
        if number != self.number {
            self.before = if number == self.number + 1 { self.sent } else { 0 };
            (self.number, self.sent) = (number, 0);
        }
    }

    /// Unused bandwidth in the last interval, in bits per second.
    fn available(&self) -> u64 {
        let used = u128::from(self.before) * 8 * SECOND / u128::from(self.interval);
        self.rate.0.saturating_sub(u64::try_from(used).unwrap_or(u64::MAX))
    }

    /// Unused bandwidth as a share of the rate, scaled by 2^`SHARE_BITS`.
    fn share(&self) -> u64 {
        ((u128::from(self.available()) << SHARE_BITS) / u128::from(self.rate.0.max(1))) as u64
    }
}

impl Ports {
    /// The tag with this port's value, if it is the bottleneck's; `None` if there is none, or others have to leave it alone.
    fn compare(&mut self, section: &[u8], snapshot: &Snapshot, queue: u64) -> Option<Tag> {
        let tag = self.form.parse(section).filter(|tag| !tag.cut)?;
        let port = self.ports.get_mut(usize::from(snapshot.egress))?;
        port.turn(snapshot.now);
        let own = self.form.size.band(
            tag.kind,
            match tag.kind {
                Kind::Available => port.available(),
                Kind::Share => port.share(),
                Kind::Delay => snapshot.now.saturating_sub(snapshot.arrived).0,
                Kind::Queue => port.rate.time_for(queue).0,
            },
        );
        let replaces = if tag.kind.least() { own < tag.value } else { own > tag.value };
        Some(if replaces { Tag { value: own, place: snapshot.switch_id, ..tag } } else { tag })
    }
}

impl Meter for Ports {
    fn sent(&mut self, port: u16, now: Nanos, size: u32) {
        if let Some(port) = self.ports.get_mut(usize::from(port)) {
            port.turn(now);
            port.sent += u64::from(size);
        }
    }

    fn stamp(&mut self, section: &mut [u8], snapshot: &Snapshot, queue: u64, _: &mut Integers) {
        if let Some(tag) = self.compare(section, snapshot, queue) {
            self.form.emit(tag, section);
        }
    }

    fn cut(&mut self, section: &mut [u8], snapshot: &Snapshot, queue: u64) {
        if let Some(tag) = self.compare(section, snapshot, queue) {
            self.form.emit(Tag { cut: true, ..tag }, section);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Layout;

    const AT: Snapshot = Snapshot { now: Nanos(2_000), arrived: Nanos(2_000), egress: 0, ..Snapshot::IDLE };

    fn rand() -> Integers {
        Integers::new(1)
    }

    fn csig(csig_size: TagSize, csig_signal: Asked) -> Csig {
        Csig { csig_size, csig_signal, csig_interval: Nanos(1_000), ..Csig::default() }
    }

    /// A tag as it leaves, and what a sender reads after a change to it.
    fn read(csig: &Csig, change: impl FnOnce(&mut [u8])) -> Telemetry<'static> {
        let mut section = [0; 8];
        let len = Layout::new(csig.clone()).prepare(&mut section, Nanos(0));
        change(&mut section[..len]);
        let Ok(Telemetry::Signal(signal)) = csig.read(&section[..len], &mut HopStack::default()) else {
            panic!("a tag")
        };
        Telemetry::Signal(signal)
    }

    #[test]
    fn tags_have_these_bytes() {
        let form = |size, bits| Form { size, bits };
        let (uec, pins) = (form(TagSize::Compact, TagBits::Uec), form(TagSize::Compact, TagBits::Pins));
        // A frame of FBOSS's tests.
        let told = Tag { kind: Kind::Share, cut: false, value: 0x17, place: 5 };
        assert_eq!(pins.parse(&[0x99, 0x00, 0x2b, 0x85]), Some(told));
        let mut compact = [0; 4];
        pins.emit(told, &mut compact);
        assert_eq!(compact, [0x99, 0x00, 0x2b, 0x85]);
        assert_eq!(uec.parse(&compact), Some(Tag { cut: true, place: 2, ..told }), "d is the low bit of lm");
        let tag = Tag { kind: Kind::Queue, cut: true, value: 0x15, place: 0x81 };
        uec.emit(tag, &mut compact);
        assert_eq!(compact, [0x99, 0x00, 0b0110_1010, 0b1000_0011]);
        assert_eq!(uec.parse(&compact), Some(Tag { place: 1, ..tag }));
        let mut wide = [0; 8];
        let tag = Tag { kind: Kind::Share, cut: true, value: 0xa_bcde, place: 0x2345 };
        for form in TagBits::ALL.iter().map(|&bits| form(TagSize::Wide, bits)) {
            form.emit(tag, &mut wide);
            assert_eq!(wide, [0x99, 0x01, 0x46, 0x8b, 0x1a, 0xbc, 0xde, 0x00]);
            assert_eq!(form.parse(&wide), Some(tag));
            assert_eq!((form.parse(&wide[..7]), uec.parse(&wide[..4])), (None, None));
        }
        assert_eq!(uec.parse(&[0x99, 0, 0xff, 0xff]), None, "signal 7 is none");
    }

    /// Ports of 100 and 25 Gb/s: 5,000 and 2,500 bytes in the interval before are 40 and 20 Gb/s.
    #[test]
    fn the_bottleneck_survives() {
        let pass = |csig: &Csig, order: [u16; 2]| {
            let mut meter = csig.meter(&[BitRate::gbps(100), BitRate::gbps(25)], Nanos(0)).expect("ports");
            meter.sent(0, Nanos(1_000), 5_000);
            meter.sent(1, Nanos(1_000), 2_500);
            read(csig, |section| {
                for egress in order {
                    let (queue, waited) = if egress == 0 { (25_000, 100) } else { (12_500, 5_000) };
                    let arrived = Nanos(8_000 - waited);
                    let at = Snapshot { egress, now: Nanos(8_000), arrived, ..AT };
                    let at = if matches!(csig.csig_signal, Asked::Delay) {
                        at
                    } else {
                        Snapshot { now: Nanos(2_000), ..at }
                    };
                    meter.stamp(section, &at, queue, &mut rand());
                }
            })
        };
        for order in [[0, 1], [1, 0]] {
            let told = |size, signal| {
                let Telemetry::Signal(signal) = pass(&csig(size, signal), order) else { panic!("a signal") };
                signal
            };
            let (compact, wide) = (TagSize::Compact, TagSize::Wide);
            assert_eq!(told(wide, Asked::Available), Signal::Available(BitRate(5_000_000_000 >> 20 << 20)));
            assert_eq!(told(compact, Asked::Available), Signal::Available(BitRate(0)), "less than 17 Gb/s");
            assert_eq!(told(wide, Asked::Share), Signal::Share(f64::from((1 << 20) / 5) / f64::from(1 << 20)));
            assert_eq!(told(compact, Asked::Share), Signal::Share(6.0 / 32.0));
            assert_eq!(told(wide, Asked::Queue), Signal::Queue(Nanos(4_000)), "12,500 bytes at 25 Gb/s");
            assert_eq!(told(compact, Asked::Queue), Signal::Queue(Nanos(3 * 1_024)));
            assert_eq!(told(wide, Asked::Delay), Signal::Delay(Nanos(5_000)));
        }
    }

    #[test]
    fn an_interval_counts_until_the_next_has_ended() {
        let mut port =
            Port { rate: BitRate::gbps(100), interval: 1_000, first: Some(Nanos(0)), number: 0, sent: 0, before: 0 };
        port.sent = 10_000;
        let mut available = |now| {
            port.turn(Nanos(now));
            port.available() / 1_000_000_000
        };
        assert_eq!([999, 1_000, 1_999, 2_000].map(&mut available), [100, 20, 20, 100]);
        port.sent = 10_000;
        port.turn(Nanos(4_500));
        assert_eq!(port.available(), 100_000_000_000, "an interval lies between");
    }

    /// 50,000 bytes are 3.9 bands of 1,024 ns at 100 Gb/s, 100,000 are 7.8.
    #[test]
    fn a_cut_packet_keeps_the_value_of_where_it_was_cut() {
        let csig = csig(TagSize::Compact, Asked::Queue);
        let mut meter = csig.meter(&[BitRate::gbps(100)], Nanos(0)).expect("ports");
        let mut of = |cut| {
            read(&csig, |section| {
                if cut {
                    meter.cut(section, &AT, 50_000);
                    assert_eq!(section, [0x99, 0x00, 0x61, 0x8f], "signal 3, band 3, switch 7, d");
                    meter.cut(section, &AT, 200_000);
                }
                meter.stamp(section, &AT, 100_000, &mut rand());
            })
        };
        assert_eq!(of(true), Telemetry::Signal(Signal::Queue(Nanos(3 * 1_024))));
        assert_eq!(of(false), Telemetry::Signal(Signal::Queue(Nanos(7 * 1_024))));
    }

    #[test]
    fn a_load_is_asked_for_in_two_halves() {
        let csig = csig(TagSize::Compact, Asked::Load);
        let shares = (0..1_000).filter(|n| {
            let mut section = [0; 4];
            csig.prepare(&mut section, Nanos(n * 84));
            csig.form().parse(&section).is_some_and(|tag| tag.kind == Kind::Share)
        });
        assert!((450..550).contains(&shares.count()));
    }
}
