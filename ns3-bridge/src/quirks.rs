// SPDX-License-Identifier: GPL-2.0-only
//! The reference's faults, there and back, and by name.

use crate::ffi::{NamedQuirks, Quirks};
use cxx::CxxString;
use hpcc_core::quirks::Quirks as CoreQuirks;

const ALL: &str = "all";
const NONE: &str = "none";

impl From<CoreQuirks> for Quirks {
    fn from(q: CoreQuirks) -> Self {
        Quirks {
            floored_times: q.floored_times,
            missed_wakeups: q.missed_wakeups,
            stale_round_robin: q.stale_round_robin,
            windowless_hpcc: q.windowless_hpcc,
            acks_queue_with_data: q.acks_queue_with_data,
            lossy_pfc: q.lossy_pfc,
            notify_every_mark: q.notify_every_mark,
            leak_buffer_on_link_down: q.leak_buffer_on_link_down,
            wide_pint: q.wide_pint,
            shared_chance: q.shared_chance,
            nack_late_packets: q.nack_late_packets,
            wrapping_in_flight: q.wrapping_in_flight,
            infinite_rate_is_zero: q.infinite_rate_is_zero,
            metrics_of_the_start: q.metrics_of_the_start,
            wrapping_window: q.wrapping_window,
            last_parallel_link: q.last_parallel_link,
            narrow_switch_settings: q.narrow_switch_settings,
            whole_pause_time: q.whole_pause_time,
            data_in_queue_0: q.data_in_queue_0,
            untraced_overflow: q.untraced_overflow,
        }
    }
}

impl From<&Quirks> for CoreQuirks {
    fn from(q: &Quirks) -> Self {
        CoreQuirks {
            floored_times: q.floored_times,
            missed_wakeups: q.missed_wakeups,
            stale_round_robin: q.stale_round_robin,
            windowless_hpcc: q.windowless_hpcc,
            acks_queue_with_data: q.acks_queue_with_data,
            lossy_pfc: q.lossy_pfc,
            notify_every_mark: q.notify_every_mark,
            leak_buffer_on_link_down: q.leak_buffer_on_link_down,
            wide_pint: q.wide_pint,
            shared_chance: q.shared_chance,
            nack_late_packets: q.nack_late_packets,
            wrapping_in_flight: q.wrapping_in_flight,
            infinite_rate_is_zero: q.infinite_rate_is_zero,
            metrics_of_the_start: q.metrics_of_the_start,
            wrapping_window: q.wrapping_window,
            last_parallel_link: q.last_parallel_link,
            narrow_switch_settings: q.narrow_switch_settings,
            whole_pause_time: q.whole_pause_time,
            data_in_queue_0: q.data_in_queue_0,
            untraced_overflow: q.untraced_overflow,
        }
    }
}

pub fn read_quirks(names: &CxxString) -> NamedQuirks {
    let read = parse(&names.to_string_lossy());
    let error = read.as_ref().err().cloned().unwrap_or_default();
    NamedQuirks { error, quirks: read.unwrap_or_default().into() }
}

fn parse(names: &str) -> Result<CoreQuirks, String> {
    let mut quirks = CoreQuirks::NONE;
    for name in names.split(',').map(str::trim) {
        match (name, quirks.get_mut(name)) {
            (ALL, _) => quirks = CoreQuirks::REFERENCE,
            (NONE | "", _) => {}
            (_, Some(quirk)) => *quirk = true,
            (_, None) => {
                let known = CoreQuirks::NAMES.join(", ");
                return Err(format!("unknown fault \"{name}\"; there are: {ALL}, {NONE}, {known}"));
            }
        }
    }
    Ok(quirks)
}

/// The text that [`parse`] reads back.
pub fn names(quirks: &CoreQuirks) -> String {
    match *quirks {
        CoreQuirks::NONE => NONE.into(),
        CoreQuirks::REFERENCE => ALL.into(),
        _ => quirks.iter().filter(|(_, on)| *on).map(|(name, _)| name).collect::<Vec<_>>().join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_back_as_they_went() {
        let some = CoreQuirks { missed_wakeups: true, wide_pint: true, ..CoreQuirks::NONE };
        for quirks in [CoreQuirks::NONE, CoreQuirks::REFERENCE, some] {
            assert_eq!(parse(&names(&quirks)), Ok(quirks));
            assert_eq!(CoreQuirks::from(&Quirks::from(quirks)), quirks);
        }
        assert_eq!(parse(" missed_wakeups, wide_pint "), Ok(some));
        assert!(parse("missed_wakeup").expect_err("unknown").contains("missed_wakeups"));
    }
}
