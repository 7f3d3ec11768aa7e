// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 2019 simulator's faults, each behind a switch of its own.
//!
//! A fault here is what no device and no paper does: it changes results, and it is kept only so that the
//! 2019 simulator's numbers can be repeated. [`ReferenceFaults::NONE`] is right and the default;
//! [`ReferenceFaults::REFERENCE`] repeats them all. Scenarios set the switches in `[compatibility]`, programs by the
//! attribute `ReferenceFaults`;
//! `./hpcc explain compatibility` tells the effect of each.

use crate::settings::__private::sentence;
use crate::settings::{FromText, Written};
use crate::units::Rounding;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Makes [`ReferenceFaults`] from one line for each switch.
macro_rules! faults {
    ($($(#[doc = $help:literal])+ $name:ident,)*) => {
        /// Which of the 2019 simulator's faults are repeated.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct ReferenceFaults {
            $($(#[doc = $help])+ pub $name: bool,)*
        }

        impl ReferenceFaults {
            /// None: the behaviour that is right.
            pub const NONE: ReferenceFaults = ReferenceFaults { $($name: false,)* };
            /// All: the 2019 simulator's behaviour.
            pub const REFERENCE: ReferenceFaults = ReferenceFaults { $($name: true,)* };
            /// The names of the switches.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// What each does, in the same order.
            pub fn help() -> Vec<String> {
                [$(sentence(&[$($help),+]),)*].into()
            }

            /// The switch of this name, `None` if there is none.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            /// Name and state of each switch.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

faults! {
    /// Times are floored through a binary fraction: 1000 bytes at 100 Gb/s take 79 ns, links are 1 % too fast.
    floored_times,
    /// A host plans no wake-up while a blocked queue pair's time has passed: others wait for an unrelated event.
    missed_wakeups,
    /// The round robin forgets its place when queue pairs are removed, and begins anew when a link fails anywhere: some are
    /// skipped, some favoured.
    stale_round_robin,
    /// HPCC without a window divides by 0: after its first queue a flow stays at the lowest rate.
    windowless_hpcc,
    /// HPCC compares a packet's records with the last ones of any path: a flow that changes its path falls to the lowest rate.
    blind_to_paths,
    /// Switches queue acknowledgements with data whatever their priority: they wait and are paused.
    acks_queue_with_data,
    /// Random loss takes PFC frames too: a lost resume pauses a port for ever.
    lossy_pfc,
    /// DCQCN's receiver notifies of every marked packet: alpha and cuts are larger.
    notify_every_mark,
    /// A link that fails keeps the bytes of its dropped frames: the buffer shrinks for good; its ports stay paused.
    leak_buffer_on_link_down,
    /// PINT always takes two bytes, also where its codes need one.
    wide_pint,
    /// All nodes draw from one sequence: a change anywhere changes every later draw.
    shared_rng,
    /// A packet that arrives after the end of its flow is answered by a useless NACK.
    nack_late_packets,
    /// An acknowledgement beyond a rewound `snd_nxt` makes the bytes in flight huge: a flow sends nothing until the next
    /// NACK, and DCTCP ignores nearly all marks.
    wrapping_in_flight,
    /// A utilisation of almost 0 gives a rate of 0: the flow falls to the lowest rate.
    infinite_rate_is_zero,
    /// With `global_rtt` off, a flow that starts after a link failed has round-trip time and window of the path before; one that
    /// moves to a slower port may keep the rate of before.
    metrics_of_the_start,
    /// The window has 32 bits, its products with the rate and of rate and T 64: large windows wrap, and flows stall or are slow.
    wrapping_window,
    /// The rate scales a window that is already the slowest link's: a flow cannot fill a path that is narrower than its
    /// sender's port.
    narrow_window,
    /// The base round-trip time T counts the payload only: HPCC's windows are too small.
    payload_base_rtt,
    /// The ideal completion time charges a full packet on each link, and no telemetry: small flows are faster than ideal,
    /// large ones slower. It wraps: above 2.3 GB flows seem slow.
    rough_ideal_fct,
    /// Behind source port 65535 comes 0, and ports in use are given again: ECMP gives such flows other paths.
    wrapping_ports,
    /// Of several links between two nodes only the last is used.
    last_parallel_link,
    /// Buffer and ECN thresholds of a `config.txt` are bytes in 32 bits: larger ones wrap.
    narrow_switch_settings,
    /// Of an ECN map of a `config.txt` only the announced pairs count, further ones are 0; a map that is given twice adds up.
    announced_pairs,
    /// A `config.txt` has no comments: keys in them are set.
    comments_set_keys,
    /// A port keeps headroom for one priority and counts no frames: over short or slow links frames are dropped in spite
    /// of PFC.
    short_headroom,
    /// PAUSE_TIME is cut to whole microseconds: below 1 every pause is a resume.
    whole_pause_time,
    /// Data may have priority 0, the switches' queue of PFC frames: it is neither accounted, marked nor paused.
    data_in_queue_0,
    /// The packet trace lacks packets that a full buffer or a missing route drops.
    untraced_overflow,
}

crate::settings! {
    /// The faults as one text.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FaultSettings {
        /// Faults of the 2019 simulator that are repeated: none, all, or names with commas between them.
        #[change = "Set it to compare with that simulator's numbers, or to see the effect of one fault."]
        pub reference_faults: Written<ReferenceFaults> = Written::new(NO_NAME, ReferenceFaults::NONE);
    }
}

/// The text for none.
const NO_NAME: &str = "none";
/// The text for all.
const ALL_NAMES: &str = "all";

impl FaultSettings {
    /// The settings that repeat these faults.
    pub fn of(faults: ReferenceFaults) -> FaultSettings {
        let text: String = match faults {
            ReferenceFaults::NONE => NO_NAME.into(),
            ReferenceFaults::REFERENCE => ALL_NAMES.into(),
            ReferenceFaults { .. } => {
                faults.iter().filter(|(_, on)| *on).map(|(name, _)| name).collect::<Vec<_>>().join(",")
            }
        };
        FaultSettings { reference_faults: Written::new(text, faults) }
    }
}

impl FromText for ReferenceFaults {
    fn from_text(text: &str) -> Result<Self, String> {
        let mut faults = ReferenceFaults::NONE;
        for name in text.split(',').map(str::trim) {
            match (name, faults.get_mut(name)) {
                (ALL_NAMES, _) => faults = ReferenceFaults::REFERENCE,
                (NO_NAME | "", _) => {}
                (_, Some(fault)) => *fault = true,
                (_, None) => {
                    let known = ReferenceFaults::NAMES.join(", ");
                    return Err(format!("unknown fault \"{name}\"; expected {ALL_NAMES}, {NO_NAME}, {known}"));
                }
            }
        }
        Ok(faults)
    }
}

impl ReferenceFaults {
    /// How times are rounded.
    #[inline]
    pub const fn rounding(&self) -> Rounding {
        if self.floored_times { Rounding::Floored } else { Rounding::Nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn every_switch_has_a_name_and_the_profiles_are_all_or_nothing() {
        let mut faults = ReferenceFaults::default();
        assert_eq!(faults, ReferenceFaults::NONE);
        for name in ReferenceFaults::NAMES {
            *faults.get_mut(name).expect("its own name") = true;
        }
        assert_eq!(faults, ReferenceFaults::REFERENCE);
        assert!(faults.iter().all(|(name, on)| on && ReferenceFaults::NAMES.contains(&name)));
        assert_eq!(faults.get_mut("no_such_fault"), None);
    }

    #[test]
    fn faults_come_back_as_they_went() {
        let some = ReferenceFaults { missed_wakeups: true, wide_pint: true, ..ReferenceFaults::NONE };
        for faults in [ReferenceFaults::NONE, ReferenceFaults::REFERENCE, some] {
            let text = FaultSettings::of(faults).get("reference_faults").expect("a setting").text();
            assert_eq!(ReferenceFaults::from_text(&text), Ok(faults));
        }
        assert_eq!(ReferenceFaults::from_text(" missed_wakeups, wide_pint "), Ok(some));
        let unknown = ReferenceFaults::from_text("missed_wakeup").expect_err("unknown");
        assert!(unknown.contains("missed_wakeups"));
    }
}
