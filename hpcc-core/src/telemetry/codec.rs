// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a telemetry format is: its name and parameters, what it is able to tell, and its bytes.

use super::encapsulation::{Encapsulation, SectionLen, TELEMETRY_MARK};
use super::{Hop, HopStack, Layout, Modulus, Reads, Snapshot, Telemetry, Unusable};
use crate::random::Integers;
use crate::settings::Settings;
use crate::topology::paths::PathName;
use crate::units::{BitRate, Nanos};
use alloc::boxed::Box;
use alloc::string::String;
use core::any::Any;
use core::fmt::Debug;

/// A telemetry format with its parameters. One file and one line in [`all`](super::all) for each.
pub trait Codec: Settings + CloneCodec + Any + Debug + Send + Sync {
    /// Its name in configurations, in snake case.
    fn name(&self) -> &'static str;

    /// What is read of its sections.
    fn tells(&self) -> Reads;

    /// Bytes of a section after so many hops, of which there is room for all.
    fn len_after(&self, hops: usize) -> usize;

    /// Decodes a section; records of hops into `stack`.
    ///
    /// # Errors
    /// If the bytes are no section of this format, or if hops are missing from it.
    fn read<'a>(&self, section: &[u8], stack: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable>;

    /// Facts of its records of hops; `None` if it has none.
    fn records(&self) -> Option<Records> {
        None
    }

    /// The layout with this room.
    fn fitted(&self, _: &Room) -> Layout {
        self.boxed().into()
    }

    /// Its parameters for people, where it has any on which nodes must agree.
    fn parameters(&self) -> String {
        String::new()
    }

    /// Where the section travels; `None` if there is none.
    fn encapsulation(&self) -> Option<Encapsulation> {
        Some(Encapsulation::Marked { mark: TELEMETRY_MARK })
    }

    /// How long a section is, as a reader of frames has to be told.
    fn section_len(&self) -> SectionLen {
        SectionLen::Fixed(self.len_after(0) as u16)
    }

    /// The layout whose reader takes a hop's time in the switch for its queue, if it says when a packet came into a switch.
    fn by_sojourn(&self) -> Option<Layout> {
        None
    }

    /// Writes the section of a packet that is sent at `now` into bytes of the length that it has then (REQ-21).
    fn prepare(&self, section: &mut [u8], _: Nanos) {
        section.fill(0);
    }

    /// Writes the DSCP that the packet has without telemetry to where the section keeps it, if it does.
    fn keep_dscp(&self, _: &mut [u8], _: u8) {}

    /// Writes what the sender's controller says of a packet into its section.
    fn label(&self, _: &mut [u8], _: u8) {}

    /// Adds a hop to the section in the first `len` bytes of `section` and returns its new length.
    ///
    /// Where there is no room for the hop, or no code for its link rate, the section says so, or at least does not read as
    /// complete.
    fn stamp(&self, _: &mut [u8], len: usize, _: &Snapshot) -> usize {
        len
    }

    /// What a switch with ports of these rates keeps to stamp by, where a snapshot does not say all; T is the longest of
    /// the network.
    fn meter(&self, _: &[BitRate], _: Nanos) -> Option<Box<dyn Meter>> {
        None
    }

    /// Overwrites rates, queues and sent bytes of a section's first records with those of `hops`; all else stays. A
    /// rate without a code stays as it is, a queue beyond its field is written as the longest, and a counter wraps.
    fn overwrite(&self, _: &mut [u8], _: &[Hop]) {}

    /// Writes into a section with one value for the whole path the least load that it can tell or, if `busy`, the largest.
    /// Returns whether it has such a value.
    fn claim(&self, _: &mut [u8], _busy: bool) -> bool {
        false
    }
}

/// What a switch keeps of its ports for a format that tells more than a [`Snapshot`].
pub trait Meter: Debug + Send {
    /// A frame of `size` bytes has left a port.
    fn sent(&mut self, _port: u16, _now: Nanos, _size: u32) {}

    /// Adds this hop to a section as it leaves; `queue` is the port's, whatever records tell of.
    fn stamp(&mut self, _section: &mut [u8], _snapshot: &Snapshot, _queue: u64, _rand: &mut Integers) {}

    /// A packet that was to wait here has been cut; its headers go on.
    fn cut(&mut self, _section: &mut [u8], _snapshot: &Snapshot, _queue: u64) {}

    /// Whether it looks at data packets as they come, too.
    fn meets(&self) -> bool {
        false
    }

    /// A data packet has come, and is to wait at a port. Returns how many bytes of `answer` go back to its sender at once.
    fn meet(&mut self, _section: &mut [u8], _at: &Met, _answer: &mut [u8]) -> usize {
        0
    }
}

/// A data packet that has come to a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The present time.
    pub now: Nanos,
    /// The port by which it will leave.
    pub port: u16,
    /// Its bytes.
    pub size: u32,
    /// Bytes that wait there.
    pub queue: u64,
}

/// Facts of a format with a record of each hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Records {
    /// How many hops it can report.
    pub most: usize,
    /// Where its counters wrap.
    pub modulus: Modulus,
    /// The link rates that it has a code for.
    pub rates: &'static [BitRate],
    /// Whether it can tell any other as well.
    pub tells_any_rate: bool,
    /// What records name of the path that they are of. Where it is [each link](PathName::Links), a path's other hops may be
    /// missing.
    pub paths: PathName,
    /// Bytes sent that its counters take for one, where that is for the user to choose.
    pub tx_unit: Option<u64>,
}

/// What users set of all formats, as far as it means something to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Factor of the units, at least 1.
    pub multiplier: u32,
    /// Most hops that are reported, 1 to 15.
    pub hops: u8,
    /// Whether PINT takes two bytes in any case.
    pub wide_pint: bool,
}

/// Cloning behind `dyn Codec`; every codec that is [`Clone`] has it.
pub trait CloneCodec {
    /// A codec with the same parameters.
    fn boxed(&self) -> Box<dyn Codec>;
}

impl<T: Codec + Clone> CloneCodec for T {
    fn boxed(&self) -> Box<dyn Codec> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Codec> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}
