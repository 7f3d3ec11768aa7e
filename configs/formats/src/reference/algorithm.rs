// SPDX-License-Identifier: GPL-2.0-only
//! CC_MODE and the keys that belong to HPCC.

use super::settings::Settings;
use crate::error::InputError;
use hpcc_core::cc::{Algorithm, HpccConfig};
use hpcc_core::units::BitRate;

const DEFAULT_MODE: u64 = 1;

/// The controller, with the reference's own defaults (which are not those of its HPCC preset).
pub(super) fn read(settings: &Settings<'_>, notes: &mut Vec<String>) -> Result<Algorithm, InputError> {
    let mode = settings.u64("CC_MODE", DEFAULT_MODE, u64::from(u32::MAX))?;
    let config = hpcc(settings)?;
    match mode {
        3 => Ok(Algorithm::Hpcc(config)),
        1 => Err(unavailable(settings, mode, "DCQCN")),
        7 => Err(unavailable(settings, mode, "TIMELY")),
        8 => Err(unavailable(settings, mode, "DCTCP")),
        10 => Err(unavailable(settings, mode, "HPCC-PINT")),
        _ => {
            notes.push(format!("CC_MODE {mode} names no controller: flows send at line rate"));
            Ok(Algorithm::LineRate)
        }
    }
}

fn unavailable(settings: &Settings<'_>, mode: u64, name: &str) -> InputError {
    let default = if settings.word("CC_MODE").is_none() { " (the default, for CC_MODE is not given)" } else { "" };
    settings.error(
        "CC_MODE",
        format!(
            "CC_MODE {mode}{default} is {name}, which is not available in this version; expected 3 (HPCC), \
                 or a number that names no controller, such as 0, for line rate"
        ),
    )
}

fn hpcc(settings: &Settings<'_>) -> Result<HpccConfig, InputError> {
    let eta = settings.float("U_TARGET", 0.95)?;
    if eta <= 0.0 || eta > 2.0 {
        return Err(settings.error("U_TARGET", format!("U_TARGET is {eta}; expected more than 0 and at most 2")));
    }
    Ok(HpccConfig {
        eta,
        max_stage: settings.u32("MI_THRESH", 5)?,
        additive_increase: settings.rate("RATE_AI", BitRate(0))?,
        min_rate: settings.rate("MIN_RATE", BitRate::mbps(100))?,
        fast_react: settings.flag("FAST_REACT", true)?,
        multi_rate: settings.flag("MULTI_RATE", true)?,
        sampled_feedback: settings.flag("SAMPLE_FEEDBACK", false)?,
    })
}
