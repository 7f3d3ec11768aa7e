// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of a byte layout. The algorithm never asks which one it runs on.

use super::compact::{self, Form};
use super::{HopStack, Snapshot, Telemetry, Unusable, pint, reference, speed, timestamp};
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

/// Parameters of the layouts; each counts for those that it names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutOptions {
    /// [`Layout::Reference`]: factor of its units, at least 1.
    pub multiplier: u32,
    /// [`Layout::Pint`]: base of its codes, above 1.
    pub log_base: f64,
    /// [`Layout::Pint`]: whether it takes two bytes in any case.
    pub wide_pint: bool,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions { multiplier: 1, log_base: 1.05, wide_pint: false }
    }
}

impl Layout {
    /// The names of all layouts in configurations.
    pub const NAMES: [&str; 6] = ["none", "reference", "paper", "draft", "timestamp", "pint"];

    /// The layout of that name.
    pub fn from_name(name: &str, options: &LayoutOptions) -> Option<Layout> {
        Some(match name {
            "none" => Layout::None,
            "reference" => Layout::Reference { multiplier: options.multiplier },
            "paper" => Layout::Paper,
            "draft" => Layout::Draft,
            "timestamp" => Layout::Timestamp,
            "pint" => Layout::pint(options.log_base, options.wide_pint),
            _ => return None,
        })
    }

    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Layout::None => "none",
            Layout::Reference { .. } => "reference",
            Layout::Paper => "paper",
            Layout::Draft => "draft",
            Layout::Timestamp => "timestamp",
            Layout::Pint { .. } => "pint",
        }
    }

    /// What [`Layout::from_name`] needs besides the name to make it again.
    pub fn options(&self) -> LayoutOptions {
        let default = LayoutOptions::default();
        match *self {
            Layout::Reference { multiplier } => LayoutOptions { multiplier, ..default },
            Layout::Pint { log_base, bytes } => {
                LayoutOptions { log_base, wide_pint: usize::from(bytes) == pint::MAX_LEN, ..default }
            }
            _ => default,
        }
    }

    /// PINT with powers of a base, which must be above 1, in as many bytes as they need, or in two (`wide`).
    pub fn pint(log_base: f64, wide: bool) -> Layout {
        let bytes = if wide { pint::MAX_LEN } else { pint::bytes(log_base) };
        Layout::Pint { log_base, bytes: bytes as u8 }
    }

    /// Whether the layout has a code for this link rate.
    pub fn covers(&self, rate: BitRate) -> bool {
        match self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => true,
            Layout::Reference { .. } => reference::code(rate).is_some(),
            Layout::Paper | Layout::Draft => speed::code(rate).is_some(),
        }
    }

    /// Bytes of the section when it leaves the sender.
    #[inline]
    pub fn initial_len(&self) -> usize {
        match self {
            Layout::None => 0,
            Layout::Reference { .. } => reference::LEN,
            Layout::Paper => compact::header_len(Form::Paper),
            Layout::Draft => compact::header_len(Form::Draft),
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
        match self {
            Layout::Timestamp => timestamp::prepare(bytes, now),
            _ => bytes.fill(0),
        }
        len
    }

    /// Adds a hop to the section in the first `len` bytes of `section` and returns its new length.
    ///
    /// Where the layout has no room or no code for the hop the section stays as it is; so it does where a
    /// record of the hop is not what the layout carries.
    #[inline]
    pub fn stamp(&self, section: &mut [u8], len: usize, snapshot: &Snapshot) -> usize {
        match *self {
            Layout::None | Layout::Timestamp | Layout::Pint { .. } => len,
            Layout::Reference { multiplier } => reference::stamp(section, len, snapshot, multiplier),
            Layout::Paper => compact::stamp(Form::Paper, section, len, snapshot),
            Layout::Draft => compact::stamp(Form::Draft, section, len, snapshot),
        }
    }

    /// Decodes a section; records of hops into `stack`. [`Telemetry::Nothing`] if the bytes are no section of
    /// this layout, or if hops are missing from it.
    #[inline]
    pub fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Telemetry<'a> {
        let read = match *self {
            Layout::None => Err(Unusable),
            Layout::Reference { multiplier } => {
                reference::read(section, multiplier, stack).map(|()| Telemetry::Hops(stack))
            }
            Layout::Paper => compact::read(Form::Paper, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Draft => compact::read(Form::Draft, section, stack).map(|()| Telemetry::Hops(stack)),
            Layout::Timestamp => timestamp::read(section).map(Telemetry::SentAt),
            Layout::Pint { log_base, .. } => {
                pint::read(section).map(|power| Telemetry::Utilisation(pint::utilisation(log_base, power)))
            }
        };
        read.unwrap_or(Telemetry::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_layouts_and_back() {
        for options in [LayoutOptions::default(), LayoutOptions { multiplier: 4, log_base: 1.01, wide_pint: true }] {
            for name in Layout::NAMES {
                let layout = Layout::from_name(name, &options).expect(name);
                assert_eq!(layout.name(), name);
                assert_eq!(Layout::from_name(name, &layout.options()), Some(layout));
            }
        }
        assert_eq!(Layout::from_name("int", &LayoutOptions::default()), None);
    }
}
