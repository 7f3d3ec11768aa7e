// SPDX-License-Identifier: GPL-2.0-only
//! CC_MODE, the keys that belong to each controller, and the telemetry that it reads.
//!
//! Defaults are those that the 2019 simulator compiles in, which are not those of its presets.

use super::settings::Settings;
use hpcc_core::cc::{
    Algorithm, ControlLaw, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, LineRate, Reads, TimelyConfig, timely,
};
use hpcc_core::settings::{Input, Settings as _};
use hpcc_core::telemetry::LayoutSettings;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_model::error::InputError;

const DEFAULT_MODE: u64 = 1;

/// Reads the congestion control of CC_MODE and its parameters.
pub(super) fn read(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<Box<dyn Algorithm>, InputError> {
    let mode = settings.u64("CC_MODE", DEFAULT_MODE, u64::from(u32::MAX))?;
    if mode == DEFAULT_MODE && settings.word("CC_MODE").is_none() {
        notes.push("CC_MODE is not given: 1, DCQCN, by default".into());
    }
    Ok(match mode {
        1 => Box::new(dcqcn(settings, notes)?),
        3 => Box::new(hpcc(settings)?),
        7 => Box::new(timely(settings)?),
        8 => Box::new(dctcp(settings, notes)?),
        10 => Box::new(hpcc_pint(settings)?),
        _ => {
            notes.push(format!("CC_MODE {mode} names no controller: flows send at line rate"));
            Box::new(LineRate)
        }
    })
}

/// The telemetry that the controller reads; frames carry no other.
pub(super) fn layout(settings: &Settings<'_>, reads: Reads) -> Result<LayoutSettings, InputError> {
    let multiplier = settings.u32("INT_MULTI", 1)?;
    if multiplier == 0 {
        return Err(settings.error("INT_MULTI", "INT_MULTI is 0; expected at least 1"));
    }
    let mut layout = if reads == Reads::Records { LayoutSettings::of("reference") } else { LayoutSettings::default() };
    layout.shared.multiplier = Some(multiplier);
    if reads == Reads::Utilisation {
        let base = settings.float("PINT_LOG_BASE", 1.05)?;
        let refuse = |_| settings.error("PINT_LOG_BASE", format!("PINT_LOG_BASE is {base}; expected 1.001 to 2"));
        layout.set("log_base", Input::Real(base)).map_err(refuse)?;
    }
    Ok(layout)
}

fn hpcc(settings: &Settings<'_>) -> Result<HpccConfig, InputError> {
    Ok(HpccConfig {
        law: control_law(settings)?,
        fast_react: settings.flag("FAST_REACT", true)?,
        multi_rate: settings.flag("MULTI_RATE", true)?,
        sampled_feedback: settings.flag("SAMPLE_FEEDBACK", false)?,
    })
}

fn hpcc_pint(settings: &Settings<'_>) -> Result<HpccPintConfig, InputError> {
    let sample_probability = settings.probability("PINT_PROB", 1.0)?;
    if sample_probability < HpccPintConfig::LEAST_PROBABILITY {
        let message = format!("PINT_PROB is {sample_probability}; expected at least 1/65536, or no rate ever changes");
        return Err(settings.error("PINT_PROB", message));
    }
    Ok(HpccPintConfig { law: control_law(settings)?, sample_probability })
}

fn control_law(settings: &Settings<'_>) -> Result<ControlLaw, InputError> {
    let eta = settings.float("U_TARGET", 0.95)?;
    if eta <= 0.0 || eta > 2.0 {
        return Err(settings.error("U_TARGET", format!("U_TARGET is {eta}; expected more than 0 and at most 2")));
    }
    Ok(ControlLaw {
        eta,
        max_stage: settings.u32("MI_THRESH", 5)?,
        additive_increase: Some(settings.rate("RATE_AI", BitRate(0))?),
        min_rate: min_rate(settings)?,
    })
}

fn dcqcn(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<DcqcnConfig, InputError> {
    Ok(DcqcnConfig {
        gain: gain(settings, notes)?,
        alpha_interval: micros(settings, "ALPHA_RESUME_INTERVAL", 55.0)?,
        decrease_interval: micros(settings, "RATE_DECREASE_INTERVAL", 4.0)?,
        increase_interval: increase_interval(settings)?,
        fast_recovery: settings.u32("FAST_RECOVERY_TIMES", 5)?,
        additive_increase: Some(settings.rate("RATE_AI", BitRate(0))?),
        hyper_increase: Some(settings.rate("RATE_HAI", BitRate(0))?),
        clamp_target: settings.flag("CLAMP_TARGET_RATE", false)?,
        min_rate: min_rate(settings)?,
        ..DcqcnConfig::default()
    })
}

/// Where nothing is marked no notification ever comes, upon which the timer would begin.
fn increase_interval(settings: &Settings<'_>) -> Result<Nanos, InputError> {
    const KEY: &str = "RP_TIMER";
    let is_idle = !settings.flag("ENABLE_QCN", true)? && settings.float(KEY, 0.0)? < 1.0;
    if is_idle { Ok(DcqcnConfig::default().increase_interval) } else { micros(settings, KEY, 0.0) }
}

fn timely(settings: &Settings<'_>) -> Result<TimelyConfig, InputError> {
    Ok(TimelyConfig {
        additive_increase: Some(settings.rate("RATE_AI", BitRate(0))?),
        hyper_increase: Some(settings.rate("RATE_HAI", BitRate(0))?),
        min_rate: min_rate(settings)?,
        low: Some(timely::LOW),
        high: Some(timely::HIGH),
        min_rtt: Some(timely::MIN_RTT),
        ..TimelyConfig::default()
    })
}

fn dctcp(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<DctcpConfig, InputError> {
    Ok(DctcpConfig {
        gain: gain(settings, notes)?,
        additive_increase: Some(settings.rate("DCTCP_RATE_AI", BitRate::gbps(1))?),
        min_rate: min_rate(settings)?,
    })
}

fn min_rate(settings: &Settings<'_>) -> Result<Option<BitRate>, InputError> {
    settings.rate("MIN_RATE", BitRate::mbps(100)).map(Some)
}

/// The 2019 simulator means 1/16 by default, but divides integers.
fn gain(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<f64, InputError> {
    let gain = settings.probability("EWMA_GAIN", 0.0)?;
    if gain == 0.0 {
        notes.push("EWMA_GAIN is 0 (its default): alpha stays 1, every cut halves the rate".into());
    }
    Ok(gain)
}

/// An interval in microseconds, whose fraction the 2019 simulator drops.
fn micros(settings: &Settings<'_>, key: &str, default: f64) -> Result<Nanos, InputError> {
    let value = settings.float(key, default)?;
    let whole = value.trunc();
    if !(1.0..=1e9).contains(&whole) {
        let default = if settings.word(key).is_none() { " (its default)" } else { "" };
        return Err(settings.error(
            key,
            format!(
                "{key} is {value}{default}; expected 1 to 1000000000 microseconds, of which fractions do not count"
            ),
        ));
    }
    Ok(Nanos(whole as u64 * 1_000))
}
