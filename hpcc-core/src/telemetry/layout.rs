// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of a byte layout. The algorithm never asks which one it runs on.

use super::compact::{self, Form};
use super::encapsulation::{Encapsulation, IFA_PROTOCOL, INT_MARK, SectionLen, TELEMETRY_MARK};
use super::ifa::hpcc as ifa;
use super::int_md::hpcc as int_md;
use super::ioam::hpcc::{self as ioam, Profile};
use super::{Hop, HopStack, MAX_HOPS, Modulus, Snapshot, Telemetry, Unusable, pint, reference, speed, timestamp};
use crate::units::{BitRate, Nanos};

/// How telemetry is laid out in a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// No telemetry.
    None,
    /// The reference simulator's: five 64-bit hop words, then a 16-bit hop count; always 42 bytes.
    Reference {
        /// INT_MULTI: multiplies the units of 128 bytes (txBytes) and 80 bytes (qlen). At least 1.
        multiplier: u32,
    },
    /// The HPCC paper's figure 7: nHop and pathID, then one 64-bit word for each hop passed so far.
    Paper,
    /// The HPCC++ draft's figure 4: the paper's, with a header padded to 32 bits.
    Draft,
    /// P4 INT v2.1 INT-MD with metadata of HPCC's own domain; see [`super::int_md::hpcc`].
    IntMd {
        /// Most hops, 1 to 15.
        hops: u8,
    },
    /// IFA 2.0 with HPCC's opaque words; see [`super::ifa::hpcc`].
    Ifa {
        /// Most hops, 1 to 15.
        hops: u8,
        /// Whether a hop's time in the switch, which has a field of its own, is read for its queue.
        sojourn: bool,
    },
    /// A pre-allocated IOAM trace in an IPv6 hop-by-hop header; see [`super::ioam::hpcc`].
    Ioam {
        /// The profile of records.
        profile: Profile,
        /// Hops that it has room for, 1 to [`Profile::max_hops`].
        hops: u8,
    },
    /// The sender's clock: 8 bytes, which switches leave alone.
    Timestamp,
    /// The busiest hop's utilisation as a power of a base; see [`Layout::pint`].
    Pint {
        /// The base, above 1.
        log_base: f64,
        /// Bytes of the section, 1 or 2.
        bytes: u8,
    },
}

impl Layout {
    /// How many hops it can report one by one; `None` if it does not carry records of hops.
    pub fn max_hops(&self) -> Option<usize> {
        match *self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => None,
            Layout::Reference { .. } => Some(reference::SLOTS),
            Layout::Paper | Layout::Draft => Some(MAX_HOPS),
            Layout::IntMd { hops } | Layout::Ifa { hops, .. } | Layout::Ioam { hops, .. } => Some(usize::from(hops)),
        }
    }

    /// Where its counters wrap; `None` if it does not carry records of hops.
    pub const fn modulus(&self) -> Option<Modulus> {
        match *self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => None,
            Layout::Reference { multiplier } => Some(reference::modulus(multiplier)),
            Layout::Paper | Layout::Draft => Some(compact::MODULUS),
            Layout::IntMd { .. } => Some(int_md::MODULUS),
            Layout::Ifa { .. } => Some(ifa::MODULUS),
            Layout::Ioam { profile, .. } => Some(profile.modulus()),
        }
    }

    /// Bytes sent that its counters take for one, where that is for the user to choose.
    pub fn tx_unit(&self) -> Option<u64> {
        let Layout::Reference { multiplier } = *self else { return None };
        Some(reference::TX_UNIT * u64::from(multiplier.max(1)))
    }

    /// Whether it can tell that a link has this rate, if it carries rates.
    pub fn tells(&self, rate: BitRate) -> bool {
        let tells_any = matches!(self, Layout::IntMd { .. } | Layout::Ioam { profile: Profile::Full, .. });
        tells_any || self.rates().is_none_or(|rates| rates.contains(&rate))
    }

    /// The link rates that it has a code for; `None` if it carries no rates.
    pub fn rates(&self) -> Option<&'static [BitRate]> {
        match self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => None,
            Layout::Reference { .. } => Some(&reference::RATES),
            Layout::Paper | Layout::Draft | Layout::IntMd { .. } | Layout::Ifa { .. } | Layout::Ioam { .. } => {
                Some(&speed::RATES)
            }
        }
    }

    /// Where the section travels; `None` for a layout that has none.
    pub fn encapsulation(&self) -> Option<Encapsulation> {
        match self {
            Layout::None => None,
            Layout::IntMd { .. } => Some(Encapsulation::Marked { mark: INT_MARK }),
            Layout::Ifa { .. } => Some(Encapsulation::Ifa { protocol: IFA_PROTOCOL }),
            Layout::Ioam { .. } => Some(Encapsulation::HopByHop),
            Layout::Reference { .. } | Layout::Paper | Layout::Draft | Layout::Timestamp | Layout::Pint { .. } => {
                Some(Encapsulation::Marked { mark: TELEMETRY_MARK })
            }
        }
    }

    /// How long a section is, as a reader of frames has to be told.
    pub fn section_len(&self) -> SectionLen {
        match self {
            Layout::Paper => SectionLen::Compact { header: compact::header_len(Form::Paper) as u8 },
            Layout::Draft => SectionLen::Compact { header: compact::header_len(Form::Draft) as u8 },
            Layout::IntMd { .. } => SectionLen::IntMd,
            Layout::None
            | Layout::Reference { .. }
            | Layout::Ifa { .. }
            | Layout::Ioam { .. }
            | Layout::Timestamp
            | Layout::Pint { .. } => SectionLen::Fixed(self.initial_len() as u16),
        }
    }

    /// Most bytes of a section.
    pub fn max_len(&self) -> usize {
        self.len_after(self.max_hops().unwrap_or(0))
    }

    /// Bytes of the section after so many hops.
    pub fn len_after(&self, hops: usize) -> usize {
        let each = match self {
            Layout::Paper | Layout::Draft => compact::HOP_LEN,
            Layout::IntMd { .. } => int_md::HOP_LEN,
            Layout::Ifa { .. } => super::ifa::metadata::LEN,
            Layout::None | Layout::Reference { .. } | Layout::Ioam { .. } | Layout::Timestamp | Layout::Pint { .. } => {
                0
            }
        };
        self.initial_len() + each * hops.min(self.max_hops().unwrap_or(0))
    }

    /// Whether it says when a packet came into a switch, so that a time in the switch needs no place of the queue's.
    pub fn tells_arrival(&self) -> bool {
        matches!(self, Layout::Ifa { .. })
    }

    /// The layout whose reader takes a hop's time in the switch for its queue, where it has a field for that.
    pub fn by_sojourn(self) -> Layout {
        if let Layout::Ifa { hops, .. } = self { Layout::Ifa { hops, sojourn: true } } else { self }
    }

    /// Bytes of the section when it leaves the sender.
    #[inline]
    pub fn initial_len(&self) -> usize {
        match self {
            Layout::None => 0,
            Layout::Reference { .. } => reference::LEN,
            Layout::Paper => compact::header_len(Form::Paper),
            Layout::Draft => compact::header_len(Form::Draft),
            Layout::IntMd { .. } => int_md::initial_len(),
            Layout::Ifa { .. } => ifa::initial_len(),
            Layout::Ioam { profile, hops } => ioam::initial_len(*profile, *hops),
            Layout::Timestamp => timestamp::LEN,
            Layout::Pint { bytes, .. } => usize::from(*bytes),
        }
    }

    /// Writes the section of a packet that is sent at `now` into the front of `section` and returns its length
    /// (REQ-21). A `section` that is too short is left alone and has length 0.
    #[inline]
    pub fn prepare(&self, section: &mut [u8], now: Nanos) -> usize {
        let len = self.initial_len();
        let Some(bytes) = section.get_mut(..len) else { return 0 };
        match *self {
            Layout::Timestamp => timestamp::prepare(bytes, now),
            Layout::IntMd { hops } => return int_md::prepare(hops, bytes),
            Layout::Ifa { hops, .. } => return ifa::prepare(hops, bytes),
            Layout::Ioam { profile, hops } => return ioam::prepare(profile, hops, bytes),
            Layout::None | Layout::Reference { .. } | Layout::Paper | Layout::Draft | Layout::Pint { .. } => {
                bytes.fill(0)
            }
        }
        len
    }

    /// Writes the DSCP that the packet has without telemetry to where the section keeps it, if it does.
    #[inline]
    pub fn keep_dscp(&self, section: &mut [u8], dscp: u8) {
        if let Layout::IntMd { .. } = self {
            int_md::keep_dscp(section, dscp);
        }
    }

    /// Adds a hop to the section in the first `len` bytes of `section` and returns its new length.
    ///
    /// Where the layout has no room for the hop, or no code for its link rate, the section says so, or at least does
    /// not read as complete; it stays as it is where a record of the hop is not what the layout carries.
    pub fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        match *self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => len,
            Layout::Reference { multiplier } => reference::stamp(section, len, snapshot, multiplier),
            Layout::Paper => compact::stamp(Form::Paper, section, len, snapshot),
            Layout::Draft => compact::stamp(Form::Draft, section, len, snapshot),
            Layout::IntMd { .. } => int_md::stamp(section, len, snapshot),
            Layout::Ifa { .. } => ifa::stamp(section, len, snapshot),
            Layout::Ioam { .. } => ioam::stamp(section, len, snapshot),
        }
    }

    /// Overwrites rates, queues and sent bytes of a section's first records with those of `hops`; all else stays. A
    /// rate without a code stays as it is, a queue beyond its field is written as the longest, and a counter wraps.
    pub fn overwrite(&self, section: &mut [u8], hops: &[Hop]) {
        match *self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => {}
            Layout::Reference { multiplier } => reference::overwrite(section, hops, multiplier),
            Layout::Paper => compact::overwrite(Form::Paper, section, hops),
            Layout::Draft => compact::overwrite(Form::Draft, section, hops),
            Layout::IntMd { .. } => int_md::overwrite(section, hops),
            Layout::Ifa { sojourn, .. } => ifa::overwrite(sojourn, section, hops),
            Layout::Ioam { profile, .. } => ioam::overwrite(profile, section, hops),
        }
    }

    /// Decodes a section; records of hops into `stack`. [`Telemetry::Nothing`] if the bytes are no section of
    /// this layout, or if hops are missing from it.
    #[inline]
    pub fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Telemetry<'a> {
        let read = match *self {
            Layout::None => Err(Unusable),
            Layout::Reference { multiplier } => reference::read(section, multiplier, stack),
            Layout::Paper => compact::read(Form::Paper, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Draft => compact::read(Form::Draft, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::IntMd { .. } => int_md::read(section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Ifa { sojourn, .. } => ifa::read(sojourn, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Ioam { profile, .. } => ioam::read(profile, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Timestamp => timestamp::read(section).map(Telemetry::SentAt),
            Layout::Pint { log_base, .. } => {
                let power = pint::read(section);
                power.and_then(|power| pint::utilisation(log_base, power)).map(Telemetry::Utilisation)
            }
        };
        read.unwrap_or(Telemetry::Nothing)
    }
}
