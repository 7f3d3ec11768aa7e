// SPDX-License-Identifier: GPL-2.0-only
//! The flow file.

use super::tokens::{Token, Tokens};
use crate::error::InputError;
use crate::place::Place;
use crate::scenario::Flow;
use hpcc_core::units::{Nanos, Rounding};
use std::path::Path;

/// The flows and the place of each.
pub(crate) fn read(path: &Path, rounding: Rounding) -> Result<Vec<(Flow, Place)>, InputError> {
    let text = crate::text::read(path)?;
    parse(Place::file(path).at(1), &text, rounding)
}

pub(super) fn parse(file: Place, text: &str, rounding: Rounding) -> Result<Vec<(Flow, Place)>, InputError> {
    let mut tokens = Tokens::new(file, text);
    let count = tokens.expect("the number of flows")?.integer("the number of flows", u64::MAX)?;
    // Nothing is allocated for the announced count: the file may not hold that many.
    let mut flows: Vec<(Flow, Place)> = Vec::new();
    for index in 1..=count {
        let (flow, place) = flow(&mut tokens, &format!("of flow {index} of {count}"), rounding)?;
        if let Some((earlier, _)) = flows.last().filter(|(earlier, _)| earlier.start > flow.start) {
            return Err(place.error(format!(
                "flow {index} starts at {} ns, before the previous one ({} ns); expected flows sorted by start time",
                flow.start.0, earlier.start.0
            )));
        }
        flows.push((flow, place));
    }
    tokens.finish(&format!("the {count} flows that the first line announces"))?;
    Ok(flows)
}

fn flow(tokens: &mut Tokens<'_>, which: &str, rounding: Rounding) -> Result<(Flow, Place), InputError> {
    let mut next = |field: &str| {
        let what = format!("the {field} {which}");
        tokens.expect(&what).map(|token| (token, what))
    };
    let integer = |(token, what): (Token<'_>, String), max: u64| token.integer(&what, max);
    let source = next("source")?;
    let place = source.0.place.clone();
    let src = integer(source, u64::from(u32::MAX))? as u32;
    let dst = integer(next("destination")?, u64::from(u32::MAX))? as u32;
    let priority = integer(next("priority")?, 7)? as u8;
    let dport = integer(next("destination port")?, u64::from(u16::MAX))? as u16;
    let size = integer(next("size")?, u64::from(u32::MAX))?;
    let (start, what) = next("start time")?;
    let start = Nanos::from_seconds(start.float(&what)?, rounding);
    Ok((Flow { src, dst, priority, dport, size, start }, place))
}
