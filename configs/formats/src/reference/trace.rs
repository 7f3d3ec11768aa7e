// SPDX-License-Identifier: GPL-2.0-only
//! The list of nodes whose packets are traced.

use super::tokens::Tokens;
use crate::error::InputError;
use crate::place::Place;
use std::path::Path;

/// The ids in the file, whether or not such nodes exist.
pub(crate) fn read(path: &Path) -> Result<Vec<u64>, InputError> {
    let text = crate::text::read(path)?;
    parse(Place::file(path).at(1), &text)
}

pub(super) fn parse(file: Place, text: &str) -> Result<Vec<u64>, InputError> {
    let mut tokens = Tokens::new(file, text);
    let count = tokens.expect("the number of nodes")?.integer("the number of nodes", u64::MAX)?;
    let mut nodes = Vec::new();
    for index in 1..=count {
        let what = format!("traced node {index} of {count}");
        nodes.push(tokens.expect(&what)?.integer(&what, u64::MAX)?);
    }
    tokens.finish(&format!("the {count} nodes that the first line announces"))?;
    Ok(nodes)
}
