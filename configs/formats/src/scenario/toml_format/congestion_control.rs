// SPDX-License-Identifier: GPL-2.0-only
//! `[congestion_control]`: the algorithm, and the keys that it alone decides upon.

use super::document::{Document, Kinded};
use super::values::{Between, Bounded, Fraction, Interval, Probability, Rate, Size};
use crate::error::{InputError, suggestion};
use crate::place::Place;
use hpcc_core::cc::hpcc_plus::{AdditiveIncrease, WindowLaw};
use hpcc_core::cc::{
    Algorithm, ControlLaw, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, HpccPlusConfig, RxHpccConfig,
    TimelyConfig,
};
use hpcc_core::quirks::Quirks;
use hpcc_core::telemetry::Layout;
use hpcc_core::units::BitRate;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use toml::Spanned;

const SECTION: &str = "congestion_control";
const ALGORITHMS: &[&str] = &["hpcc", "hpcc_plus", "rx_hpcc", "hpcc_pint", "dcqcn", "timely", "dctcp", "none"];
const DEFAULT: &str = "hpcc";
const DEFAULT_LOG_BASE: f64 = 1.05;

/// `[congestion_control]`.
pub(super) struct Control {
    pub algorithm: Algorithm,
    /// The telemetry that the algorithm reads; `None` if it leaves a choice.
    pub layout: Option<Layout>,
    pub min_rate_place: Place,
    /// Set if there are parameters, but no algorithm.
    pub note: Option<String>,
}

type MinRate = Option<Spanned<Rate>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HpccKeys {
    eta: Option<Fraction<4>>,
    max_stage: Option<u32>,
    additive_increase: Option<Rate>,
    min_rate: MinRate,
    fast_react: Option<bool>,
    multi_rate: Option<bool>,
    sampled_feedback: Option<bool>,
}

/// Of `hpcc_plus` and `rx_hpcc`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HpccPlusKeys {
    eta: Option<Fraction<4>>,
    max_stage: Option<u32>,
    expected_flows: Option<Bounded<1, { u32::MAX }>>,
    additive_increase: Option<Spanned<Size>>,
    min_rate: MinRate,
    count_flows: Option<Spanned<bool>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HpccPintKeys {
    eta: Option<Fraction<4>>,
    max_stage: Option<u32>,
    additive_increase: Option<Rate>,
    min_rate: MinRate,
    sample_probability: Option<Spanned<Fraction<2>>>,
    log_base: Option<Between<1_001, 2_000>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DcqcnKeys {
    gain: Option<Probability>,
    alpha_interval: Option<Interval>,
    decrease_interval: Option<Interval>,
    increase_interval: Option<Interval>,
    fast_recovery: Option<u32>,
    additive_increase: Option<Rate>,
    hyper_increase: Option<Rate>,
    clamp_target: Option<bool>,
    notification_interval: Option<Interval>,
    min_rate: MinRate,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelyKeys {
    additive_increase: Option<Rate>,
    hyper_increase: Option<Rate>,
    hyper_after: Option<u32>,
    min_rate: MinRate,
    weight: Option<Probability>,
    decrease: Option<Probability>,
    low: Option<Spanned<Interval>>,
    high: Option<Interval>,
    min_rtt: Option<Interval>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DctcpKeys {
    gain: Option<Probability>,
    additive_increase: Option<Rate>,
    min_rate: MinRate,
}

pub(super) fn congestion_control(document: &mut Document<'_>, quirks: Quirks) -> Result<Control, InputError> {
    let section = document.chosen(SECTION, "algorithm", DEFAULT)?;
    match section.kind.as_str() {
        "hpcc" => hpcc(document, section),
        "hpcc_plus" => hpcc_plus(document, section),
        "rx_hpcc" => rx_hpcc(document, section),
        "hpcc_pint" => hpcc_pint(document, section, quirks),
        "dcqcn" => dcqcn(document, section),
        "timely" => timely(document, section),
        "dctcp" => dctcp(document, section),
        "none" => none(document, section),
        name => {
            let message = format!("unknown algorithm \"{name}\"{}", suggestion(name, ALGORITHMS));
            Err(section.kind_place.key_error("congestion_control.algorithm", message))
        }
    }
}

/// The keys of an algorithm; an error for any other says whose keys these are.
fn keys<T: DeserializeOwned>(document: &Document<'_>, section: Kinded<'_>) -> Result<T, InputError> {
    let algorithm = section.kind.clone();
    document.keys_of(SECTION, section).map_err(|error| match error.message.starts_with("unknown key") {
        true => InputError { message: format!("{} (algorithm = \"{algorithm}\")", error.message), ..error },
        false => error,
    })
}

/// The rate, and the place to blame if the network cannot do with it.
fn min_rate(document: &Document<'_>, place: Place, key: Option<&Spanned<Rate>>, default: BitRate) -> (BitRate, Place) {
    match key {
        None => (default, place),
        Some(rate) => (rate.get_ref().0, document.place(rate.span())),
    }
}

fn or(rate: Option<Rate>, default: BitRate) -> BitRate {
    rate.map_or(default, |rate| rate.0)
}

fn hpcc(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let (place, default) = (section.place.clone(), HpccConfig::default());
    let keys: HpccKeys = keys(document, section)?;
    let (min_rate, min_rate_place) = min_rate(document, place, keys.min_rate.as_ref(), default.min_rate);
    let algorithm = Algorithm::Hpcc(HpccConfig {
        eta: keys.eta.map_or(default.eta, |eta| eta.0),
        max_stage: keys.max_stage.unwrap_or(default.max_stage),
        additive_increase: or(keys.additive_increase, default.additive_increase),
        min_rate,
        fast_react: keys.fast_react.unwrap_or(default.fast_react),
        multi_rate: keys.multi_rate.unwrap_or(default.multi_rate),
        sampled_feedback: keys.sampled_feedback.unwrap_or(default.sampled_feedback),
    });
    Ok(Control { algorithm, layout: None, min_rate_place, note: None })
}

fn hpcc_plus(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let place = section.place.clone();
    let keys: HpccPlusKeys = keys(document, section)?;
    if let Some(count_flows) = &keys.count_flows {
        let message = "count_flows belongs to algorithm = \"rx_hpcc\"";
        return Err(document.place(count_flows.span()).key_error("congestion_control.count_flows", message));
    }
    let (law, min_rate_place) = window_law(document, place, &keys)?;
    Ok(Control { algorithm: Algorithm::HpccPlus(HpccPlusConfig { law }), layout: None, min_rate_place, note: None })
}

fn rx_hpcc(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let place = section.place.clone();
    let keys: HpccPlusKeys = keys(document, section)?;
    let count_flows = keys.count_flows.as_ref().is_some_and(|count| *count.get_ref());
    if let Some(bytes) = keys.additive_increase.as_ref().filter(|_| count_flows) {
        let message = "additive_increase and count_flows exclude each other: one follows from the other";
        return Err(document.place(bytes.span()).key_error("congestion_control.additive_increase", message));
    }
    let (law, min_rate_place) = window_law(document, place, &keys)?;
    let algorithm = Algorithm::RxHpcc(RxHpccConfig { hpcc: HpccPlusConfig { law }, count_flows });
    Ok(Control { algorithm, layout: None, min_rate_place, note: None })
}

fn window_law(document: &Document<'_>, place: Place, keys: &HpccPlusKeys) -> Result<(WindowLaw, Place), InputError> {
    let default = WindowLaw::default();
    let additive_increase = match (&keys.expected_flows, &keys.additive_increase) {
        (None, None) => default.additive_increase,
        (Some(flows), None) => AdditiveIncrease::Flows(flows.0),
        (None, Some(bytes)) => AdditiveIncrease::Bytes(bytes.get_ref().0),
        (Some(_), Some(bytes)) => {
            let message = "additive_increase and expected_flows exclude each other: one follows from the other";
            return Err(document.place(bytes.span()).key_error("congestion_control.additive_increase", message));
        }
    };
    let (min_rate, min_rate_place) = min_rate(document, place, keys.min_rate.as_ref(), default.min_rate);
    let law = WindowLaw {
        eta: keys.eta.as_ref().map_or(default.eta, |eta| eta.0),
        max_stage: keys.max_stage.unwrap_or(default.max_stage),
        additive_increase,
        min_rate,
    };
    Ok((law, min_rate_place))
}

fn hpcc_pint(document: &Document<'_>, section: Kinded<'_>, quirks: Quirks) -> Result<Control, InputError> {
    let (place, default) = (section.place.clone(), HpccPintConfig::default());
    let keys: HpccPintKeys = keys(document, section)?;
    let (min_rate, min_rate_place) = min_rate(document, place, keys.min_rate.as_ref(), default.law.min_rate);
    let law = ControlLaw {
        eta: keys.eta.map_or(default.law.eta, |eta| eta.0),
        max_stage: keys.max_stage.unwrap_or(default.law.max_stage),
        additive_increase: or(keys.additive_increase, default.law.additive_increase),
        min_rate,
    };
    let sample_probability = match keys.sample_probability {
        None => default.sample_probability,
        Some(given) if given.get_ref().0 < HpccPintConfig::LEAST_PROBABILITY => {
            let message = format!("sample_probability is {}; expected at least 1/65536", given.get_ref().0);
            return Err(document.place(given.span()).key_error("congestion_control.sample_probability", message));
        }
        Some(given) => given.get_ref().0,
    };
    let algorithm = Algorithm::HpccPint(HpccPintConfig { law, sample_probability });
    let layout = Some(Layout::pint(keys.log_base.map_or(DEFAULT_LOG_BASE, |base| base.0), quirks.wide_pint));
    Ok(Control { algorithm, layout, min_rate_place, note: None })
}

fn dcqcn(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let (place, default) = (section.place.clone(), DcqcnConfig::default());
    let keys: DcqcnKeys = keys(document, section)?;
    let (min_rate, min_rate_place) = min_rate(document, place, keys.min_rate.as_ref(), default.min_rate);
    let interval = |key: Option<Interval>, default| key.map_or(default, |interval| interval.0);
    let algorithm = Algorithm::Dcqcn(DcqcnConfig {
        gain: keys.gain.map_or(default.gain, |gain| gain.0),
        alpha_interval: interval(keys.alpha_interval, default.alpha_interval),
        decrease_interval: interval(keys.decrease_interval, default.decrease_interval),
        increase_interval: interval(keys.increase_interval, default.increase_interval),
        fast_recovery: keys.fast_recovery.unwrap_or(default.fast_recovery),
        additive_increase: or(keys.additive_increase, default.additive_increase),
        hyper_increase: or(keys.hyper_increase, default.hyper_increase),
        clamp_target: keys.clamp_target.unwrap_or(default.clamp_target),
        notification_interval: interval(keys.notification_interval, default.notification_interval),
        min_rate,
    });
    Ok(Control { algorithm, layout: Some(Layout::None), min_rate_place, note: None })
}

fn timely(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let (place, default) = (section.place.clone(), TimelyConfig::default());
    let keys: TimelyKeys = keys(document, section)?;
    let (min_rate, min_rate_place) = min_rate(document, place.clone(), keys.min_rate.as_ref(), default.min_rate);
    let low_place = keys.low.as_ref().map_or(place, |low| document.place(low.span()));
    let low = keys.low.map_or(default.low, |low| low.into_inner().0);
    let high = keys.high.map_or(default.high, |high| high.0);
    if low > high {
        let message = format!("low is {low}, more than high, {high}; expected at most that");
        return Err(low_place.key_error("congestion_control.low", message));
    }
    let algorithm = Algorithm::Timely(TimelyConfig {
        additive_increase: or(keys.additive_increase, default.additive_increase),
        hyper_increase: or(keys.hyper_increase, default.hyper_increase),
        hyper_after: keys.hyper_after.unwrap_or(default.hyper_after),
        min_rate,
        weight: keys.weight.map_or(default.weight, |weight| weight.0),
        decrease: keys.decrease.map_or(default.decrease, |decrease| decrease.0),
        low,
        high,
        min_rtt: keys.min_rtt.map_or(default.min_rtt, |rtt| rtt.0),
    });
    Ok(Control { algorithm, layout: Some(Layout::Timestamp), min_rate_place, note: None })
}

fn dctcp(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let (place, default) = (section.place.clone(), DctcpConfig::default());
    let keys: DctcpKeys = keys(document, section)?;
    let (min_rate, min_rate_place) = min_rate(document, place, keys.min_rate.as_ref(), default.min_rate);
    let algorithm = Algorithm::Dctcp(DctcpConfig {
        gain: keys.gain.map_or(default.gain, |gain| gain.0),
        additive_increase: or(keys.additive_increase, default.additive_increase),
        min_rate,
    });
    Ok(Control { algorithm, layout: Some(Layout::None), min_rate_place, note: None })
}

/// Comparing with `--set congestion_control.algorithm=none` should not need another file, so parameters are
/// no errors here.
fn none(document: &Document<'_>, section: Kinded<'_>) -> Result<Control, InputError> {
    let min_rate_place = section.place.clone();
    let keys: BTreeMap<String, IgnoredAny> = document.keys_of(SECTION, section)?;
    let names: Vec<&str> = keys.keys().map(String::as_str).collect();
    let note = (!names.is_empty()).then(|| format!("algorithm = \"none\" has no use for {}", names.join(", ")));
    Ok(Control { algorithm: Algorithm::LineRate, layout: Some(Layout::None), min_rate_place, note })
}
