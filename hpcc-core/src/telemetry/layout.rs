// SPDX-License-Identifier: MIT OR Apache-2.0
//! A format in use. The algorithm never asks which one it runs on.

use super::codec::{Codec, Room};
use super::encapsulation::Encapsulation;
use super::{HopStack, MAX_HOPS, Modulus, Reads, Telemetry, Unusable, all};
use crate::settings::Settings;
use crate::topology::paths::PathName;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use core::any::Any;
use core::fmt;
use core::ops::Deref;

/// How telemetry is laid out in a packet.
#[derive(Clone, Debug)]
pub struct Layout {
    codec: Arc<dyn Codec>,
    initial_len: usize,
}

/// No telemetry.
#[derive(Clone, Debug)]
pub struct Nothing;

impl Settings for Nothing {}

impl Codec for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn tells(&self) -> Reads {
        Reads::Nothing
    }

    fn encapsulation(&self) -> Option<Encapsulation> {
        None
    }

    fn len_after(&self, _: usize) -> usize {
        0
    }

    fn read<'a>(&self, _: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        Err(Unusable)
    }
}

impl From<Box<dyn Codec>> for Layout {
    fn from(codec: Box<dyn Codec>) -> Layout {
        Layout { initial_len: codec.len_after(0), codec: codec.into() }
    }
}

impl Deref for Layout {
    type Target = dyn Codec;

    fn deref(&self) -> &dyn Codec {
        self.codec.as_ref()
    }
}

impl Layout {
    /// The layout of a codec.
    pub fn new(codec: impl Codec) -> Layout {
        Layout::from(Box::new(codec) as Box<dyn Codec>)
    }

    /// No telemetry.
    pub fn none() -> Layout {
        Layout::new(Nothing)
    }

    /// The formats of this crate with all hops, units of 1, and the usual parameters.
    pub fn all() -> impl Iterator<Item = Layout> {
        all().into_iter().map(|codec| codec.fitted(&Room { multiplier: 1, hops: MAX_HOPS as u8, wide_pint: false }))
    }

    /// Those of them with a record of each hop.
    pub fn with_records() -> impl Iterator<Item = Layout> {
        Layout::all().filter(|layout| layout.tells() == Reads::Records)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Layout> {
        Layout::all().find(|layout| layout.name() == name)
    }

    /// The codec, if it is of this type.
    pub fn codec<T: Codec>(&self) -> Option<&T> {
        (self.codec.as_ref() as &dyn Any).downcast_ref()
    }

    /// How many hops it can report one by one; `None` if it does not carry records of hops.
    pub fn max_hops(&self) -> Option<usize> {
        self.records().map(|records| records.most)
    }

    /// Where its counters wrap; `None` if it does not carry records of hops.
    pub fn modulus(&self) -> Option<Modulus> {
        self.records().map(|records| records.modulus)
    }

    /// Whether it can tell that a link has this rate, if it carries rates.
    pub fn tells_rate(&self, rate: BitRate) -> bool {
        self.records().is_none_or(|records| records.tells_any_rate || records.rates.contains(&rate))
    }

    /// What records name of the path that they are of; `None` without records.
    pub fn path_name(&self) -> Option<PathName> {
        self.records().map(|records| records.paths)
    }

    /// Whether records tell which path they are of, by more than its number of hops.
    pub fn tells_paths(&self) -> bool {
        self.path_name().is_some_and(|name| name != PathName::Length)
    }

    /// Whether each record says which link it is of.
    pub fn names_links(&self) -> bool {
        self.path_name() == Some(PathName::Links)
    }

    /// Whether a section can be changed to tell another load.
    pub fn takes_claims(&self) -> bool {
        let mut section = vec![0; self.initial_len];
        self.prepare(&mut section, Nanos(0));
        self.records().is_some() || self.claim(&mut section, false)
    }

    /// Most bytes of a section.
    pub fn max_len(&self) -> usize {
        self.len_after(self.max_hops().unwrap_or(0))
    }

    /// Bytes of the section after so many hops, as far as there is room for them.
    pub fn len_after(&self, hops: usize) -> usize {
        self.codec.len_after(hops.min(self.max_hops().unwrap_or(0)))
    }

    /// Bytes of the section when it leaves the sender.
    #[inline]
    pub fn initial_len(&self) -> usize {
        self.initial_len
    }

    /// Writes the section of a packet that is sent at `now` into the front of `section` and returns its length
    /// (REQ-21). A `section` that is too short is left alone and has length 0.
    #[inline]
    pub fn prepare(&self, section: &mut [u8], now: Nanos) -> usize {
        let Some(bytes) = section.get_mut(..self.initial_len).filter(|bytes| !bytes.is_empty()) else { return 0 };
        self.codec.prepare(bytes, now);
        self.initial_len
    }

    /// Decodes a section; records of hops into `stack`. [`Telemetry::Nothing`] if the bytes are no section of
    /// this layout, or if hops are missing from it.
    #[inline]
    pub fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Telemetry<'a> {
        self.codec.read(section, stack).unwrap_or(Telemetry::Nothing)
    }
}

impl PartialEq for Layout {
    /// Layouts are the same if they are told alike.
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.parameters()) == (other.name(), other.parameters())
    }
}

impl fmt::Display for Layout {
    /// Its name and parameters, on which nodes must agree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: String = self.parameters();
        let room = if parameters.is_empty() { "" } else { " (" };
        write!(f, "\"{}\"{room}{parameters}{}", self.name(), if room.is_empty() { "" } else { ")" })
    }
}
