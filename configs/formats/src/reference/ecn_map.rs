// SPDX-License-Identifier: GPL-2.0-only
//! KMIN_MAP, KMAX_MAP and PMAX_MAP.

use super::settings::{Settings, keyed, narrow};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::topology::Network;
use hpcc_core::units::BitRate;
use hpcc_model::error::InputError;
use hpcc_model::words::Token;
use std::collections::{BTreeMap, BTreeSet};

/// Thresholds are given in units of this many bytes.
const KILOBYTE: u64 = 1000;

/// The maps.
const KEYS: [&str; 3] = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"];

/// The first map that lacks the rate of a link; if none does, the first one.
pub(super) fn lacking(settings: &Settings<'_>, network: &Network) -> &'static str {
    let has = |key: &str, rate: BitRate| {
        let rates = settings.words(key).unwrap_or_default().iter().skip(1).step_by(2);
        rates.filter_map(|word| word.text.parse().ok()).any(|known: u64| known == rate.0)
    };
    let lacks = |key: &&str| network.links.iter().any(|link| !has(key, link.rate));
    KEYS.into_iter().find(lacks).unwrap_or(KEYS[0])
}

/// One entry for each link rate that all three maps mention; as [`announced_pairs`] has it also for those of ports that are
/// in more pairs than a map announces.
///
/// [`announced_pairs`]: hpcc_core::reference_faults::ReferenceFaults::announced_pairs
pub(super) fn read(
    settings: &Settings<'_>,
    network: &Network,
    notes: &mut Vec<String>,
) -> Result<Vec<EcnThreshold>, InputError> {
    let rates_of_ports: BTreeSet<BitRate> = network.switch_rates().collect();
    let kilobytes = |what: &str, word: &Token<'_>| word.integer(what, u64::from(u32::MAX));
    let kmin = map(settings, "KMIN_MAP", kilobytes)?;
    let kmax = map(settings, "KMAX_MAP", kilobytes)?;
    let pmax = map(settings, "PMAX_MAP", |what, word| word.probability(what))?;
    let mut thresholds = Vec::new();
    let rates: BTreeSet<BitRate> = kmin.keys().chain(kmax.keys()).chain(pmax.keys()).copied().collect();
    for rate in rates {
        let found = [kmin.contains_key(&rate), kmax.contains_key(&rate), pmax.contains_key(&rate)];
        let lacking: Vec<&str> = KEYS.into_iter().zip(found).filter(|(_, found)| !found).map(|(key, _)| key).collect();
        if lacking.iter().any(|key| !settings.is_shortened(key))
            || !lacking.is_empty() && !rates_of_ports.contains(&rate)
        {
            continue;
        }
        if !lacking.is_empty() {
            notes.push(format!("{} announces no value for {rate}: 0, as in the 2019 simulator", lacking.join(" and ")));
        }
        let kmin = kmin.get(&rate).copied().unwrap_or_default();
        let (kmax, pmax) = (kmax.get(&rate).copied().unwrap_or_default(), pmax.get(&rate).copied().unwrap_or_default());
        if kmin > kmax {
            let found = format!("KMIN_MAP has {kmin} kB for {rate}, more than the {kmax} kB of KMAX_MAP");
            return Err(settings.error("KMIN_MAP", format!("{found}; expected at most that")));
        }
        let mut bytes = |key, kilobytes| narrow(settings, notes, key, kilobytes * KILOBYTE);
        let (kmin, kmax) = (bytes("KMIN_MAP", kmin), bytes("KMAX_MAP", kmax));
        thresholds.push(EcnThreshold { rate, kmin, kmax, pmax });
    }
    Ok(thresholds)
}

/// What the packets are that the DCQCN authors' simulator counts queues in.
const PACKET: f64 = 1030.0;
/// `KMAX` of at least this is in bytes.
const BYTES: f64 = 20_000.0;

/// The thresholds of all ports, whatever their rates, by `KMIN`, `KMAX` and `PMAX` of the DCQCN authors' simulator.
pub(super) fn of_all(
    marking: [Option<f64>; 3],
    network: &Network,
    notes: &mut Vec<String>,
) -> Option<Vec<EcnThreshold>> {
    let [Some(kmin), Some(kmax), Some(pmax)] = marking else { return None };
    let unit = if kmax < BYTES { PACKET } else { 1.0 };
    let name = if kmax < BYTES { "packets of 1030 bytes" } else { "bytes" };
    notes.push(format!("KMIN {kmin} and KMAX {kmax} are {name}, for ports of all rates"));
    let rates: BTreeSet<BitRate> = network.links.iter().map(|link| link.rate).collect();
    let bytes = |count: f64| (count * unit) as u64;
    let threshold = |rate| EcnThreshold { rate, kmin: bytes(kmin), kmax: bytes(kmax), pmax: pmax.min(1.0) };
    Some(rates.into_iter().map(threshold).collect())
}

fn map<T>(
    settings: &Settings<'_>,
    key: &str,
    parse: impl Fn(&str, &Token<'_>) -> Result<T, InputError>,
) -> Result<BTreeMap<BitRate, T>, InputError> {
    let Some(words) = settings.words(key) else { return Ok(BTreeMap::new()) };
    let mut map = BTreeMap::new();
    for pair in words.get(1..).unwrap_or_default().chunks_exact(2) {
        let rate = pair[0].integer(format!("a link rate of {key}"), u64::MAX).map_err(|error| keyed(key, error))?;
        let value = parse(&format!("a value of {key}"), &pair[1]).map_err(|error| keyed(key, error))?;
        map.insert(BitRate(rate), value);
    }
    Ok(map)
}
