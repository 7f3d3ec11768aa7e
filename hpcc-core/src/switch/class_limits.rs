// SPDX-License-Identifier: MIT OR Apache-2.0
//! What some priorities have for themselves at a switch: their part of its memory, and when their frames are marked.

use super::PRIORITIES;
use crate::ecn::EcnThreshold;
use crate::settings::{FromText, quantity};
use crate::units::BitRate;
use alloc::format;
use alloc::string::String;

/// Something of each priority that has it for itself.
pub type ByPriority<T> = [Option<T>; PRIORITIES];

/// Reads `PRIORITY:VALUE` with commas between; none in an empty text.
fn parse<T: Copy>(text: &str, example: &str, value: impl Fn(&str) -> Option<T>) -> Result<ByPriority<T>, String> {
    let mut all = [None; PRIORITIES];
    for part in text.split(',').filter(|_| !text.trim().is_empty()) {
        let (priority, told) = part.split_once(':').unwrap_or((part, ""));
        let place = priority.trim().parse::<usize>().ok().filter(|&priority| priority > 0);
        let place = place.and_then(|priority| all.get_mut(priority)).filter(|place| place.is_none());
        match (place, value(told.trim())) {
            (Some(place), found @ Some(_)) => *place = found,
            _ => {
                return Err(format!(
                    "\"{}\" in \"{text}\" is none; expected such as \"{example}\", each priority once",
                    part.trim()
                ));
            }
        }
    }
    Ok(all)
}

/// Alphas, such as `1:2, 3:0.125`.
impl FromText for ByPriority<f64> {
    fn from_text(text: &str) -> Result<Self, String> {
        let value = |told: &str| told.parse().ok().filter(|alpha| (0.001..=1000.0).contains(alpha));
        parse(text, "1:2, 3:0.125", value)
    }
}

/// Thresholds of marks at ports of 100 Gb/s, such as `3:100KB 400KB 0.2, 4:none`.
impl FromText for ByPriority<EcnThreshold> {
    fn from_text(text: &str) -> Result<Self, String> {
        let value = |told: &str| {
            let rate = BitRate::gbps(100);
            if told == "none" {
                return Some(EcnThreshold { rate, kmin: u64::MAX, kmax: u64::MAX, pmax: 0.0 });
            }
            let mut words = told.split_whitespace();
            let mut size = || quantity::size(words.next()?).ok();
            let (kmin, kmax) = (size()?, size()?);
            let threshold = EcnThreshold { rate, kmin, kmax, pmax: words.next()?.parse().ok()? };
            (words.next().is_none() && threshold.check().is_ok()).then_some(threshold)
        };
        parse(text, "3:100KB 400KB 0.2, 4:none", value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alphas(text: &str) -> Result<ByPriority<f64>, String> {
        FromText::from_text(text)
    }

    fn ecn(text: &str) -> Result<ByPriority<EcnThreshold>, String> {
        FromText::from_text(text)
    }

    #[test]
    fn texts_name_priorities_and_what_they_have() {
        assert_eq!(alphas(""), Ok([None; PRIORITIES]));
        let found = alphas("1:2, 3 : 0.125").expect("two");
        assert_eq!((found[1], found[2], found[3]), (Some(2.0), None, Some(0.125)));
        let found = ecn("3:100KB 400KB 0.2, 4:none").expect("two");
        assert_eq!(found[3].map(|own| (own.kmin, own.kmax, own.pmax)), Some((100_000, 400_000, 0.2)));
        assert!(!found[4].expect("none").marks(u64::from(u32::MAX), || 0.0));
        for wrong in ["3", "3:", "0:1", "8:1", "3:1,3:2", "3:0", "x:1", "3:1 2"] {
            assert!(alphas(wrong).is_err(), "{wrong}");
        }
        for wrong in ["3:1KB", "3:2KB 1KB 0.2", "3:1KB 2KB 2", "3:1KB 2KB 0.2 1", "3:non"] {
            assert!(ecn(wrong).is_err(), "{wrong}");
        }
    }
}
